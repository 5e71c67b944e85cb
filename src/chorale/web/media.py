"""Serves pictures, audio and video of the study folder to workers whose items show them; renders Markdown safely."""

from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse

from chorale.contract.task import Form
from chorale.engine.running import Study
from chorale.model import Refusal
from chorale.model.wording import worded
from chorale.store import Tx
from chorale.web.pages import strangers_markdown
from chorale.web.serving import Site

TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
    ".wav": "audio/wav",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".m4a": "audio/mp4",
    ".flac": "audio/flac",
    ".opus": "audio/ogg",
    ".mp4": "video/mp4",
    ".webm": "video/webm",
    ".ogv": "video/ogg",
}
"""The only file types that are served, whatever an item names."""
RENDERED = "rendered"


def dressed(form: Form, view: Mapping[str, Any], address: Callable[[str], str]) -> Mapping[str, Any]:
    """A view for the page: files of the study folder as URLs, and Markdown also as HTML."""
    if not form.media and not form.markdown:
        return view
    named = {name: view[name] for name in form.media if isinstance(view.get(name), str)}
    files = {name: place if "://" in place else address(place) for name, place in named.items()}
    html = {name: strangers_markdown(view[name]) for name in form.markdown if isinstance(view.get(name), str)}
    return {**view, **files, **({RENDERED: html} if html else {})}


def dressed_details(details: Any, address: Callable[[str], str], say: Callable[[str], str]) -> Any:
    """A task's feedback on a wrong answer, translated, with files of the study folder (named `media`) as URLs."""
    if isinstance(details, Mapping):
        return {
            name: address(value)
            if name == "media" and isinstance(value, str) and "://" not in value
            else dressed_details(value, address, say)
            for name, value in details.items()
        }
    if isinstance(details, list | tuple):
        return [dressed_details(each, address, say) for each in details]
    return say(details) if isinstance(details, str) else details


def worker_address(site: Site, worker_id: int, place: str) -> str:
    """A URL of a file that only this worker can open."""
    return site.url(f"/media/{site.sessions.media_token(worker_id, place)}/{quote(PurePosixPath(place).name)}")


def add_media_routes(router: APIRouter, site: Site) -> None:
    @router.get("/media/{token}/{name}", include_in_schema=False)
    async def media_file(request: Request, token: str, name: str) -> FileResponse:
        """A file, or a range of it, for the worker who got its URL, while their session is valid."""
        claimed = site.sessions.media(token)
        worker_id = await site.read_as(request, _same)
        if claimed is None or claimed[0] != worker_id or PurePosixPath(claimed[1]).name != name:
            raise _not_found()
        return sent_media(site.folder, claimed[1])


def sent_media(folder: Path | None, place: str) -> FileResponse:
    """The response with a file that an item names; Refusal if it can't be served."""
    file = None if folder is None else file_within(folder, place)
    if file is None:
        raise _not_found()
    headers = {
        "Cache-Control": "private, max-age=86400",
        # A browser treats an SVG that is opened directly as a page.
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    }
    return FileResponse(file, media_type=TYPES[file.suffix.lower()], headers=headers)


def file_within(folder: Path, place: str) -> Path | None:
    """The file an item names, if its type is served and it is inside the folder after resolving links."""
    root = folder.resolve()
    try:
        file = (root / place).resolve(strict=True)
    except (OSError, ValueError):
        return None
    inside = file.is_relative_to(root) and not any(part.startswith(".") for part in file.relative_to(root).parts)
    return file if inside and file.is_file() and file.suffix.lower() in TYPES else None


def _same(_tx: Tx, _study: Study, worker_id: int) -> int:
    return worker_id


def _not_found() -> Refusal:
    return Refusal("not_found", worded("This file does not exist."), 404)
