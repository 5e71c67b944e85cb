"""Downloads of a study's data in every format that `chorale export` has."""

import asyncio
import shutil
import tempfile
from itertools import takewhile
from pathlib import Path as FilePath
from typing import Annotated

from fastapi import Path, Request, Response
from fastapi.responses import FileResponse
from starlette.types import Receive, Scope, Send

from chorale.engine.running import Study
from chorale.exchange.export import export_file_name, export_formats, note_export, write_export
from chorale.exchange.export_folders import FOLDERS
from chorale.model import Refusal
from chorale.store import Tx
from chorale.store.writing import any_written
from chorale.web.console.frame import Console

GROUPS = {
    "Labels": ("labels", "tidy-labels"),
    "Annotations": ("csv", "jsonl", "parquet", "tidy", "grades", "writing"),
    "People and pay": ("workers", "ledger", "qualifications", "arms", "consents", "messages"),
    "Models": ("calls", "model-answers", "suggestions"),
}
"""Formats that every study has, as the page lists them."""
OTHERS = "Formats for other tools"
FormatInPath = Annotated[str, Path(pattern=r"^[a-z][a-z0-9-]{0,39}$")]


class Download(FileResponse):
    """Sends a file and removes the folder it was made in, even if the browser disconnects half-way."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            shutil.rmtree(FilePath(self.path).parent, ignore_errors=True)


def _formats(study: Study) -> dict[str, str]:
    """The names of all formats, each with what it contains."""
    of_folders = {name: f"{kind.summary} (a zip file)" for name, kind in FOLDERS.items()}
    return {**export_formats(study), **of_folders}


def _empty_formats(tx: Tx, study: Study) -> set[str]:
    """Formats that are empty in this study: about models if it has none, about typing if it was never recorded."""
    settings = study.settings
    typed = settings.writing or any_written(tx)
    return (set() if settings.model else set(GROUPS["Models"])) | (set() if typed else {"writing"})


def _grouped(tx: Tx, study: Study) -> dict[str, dict[str, str]]:
    """All formats by what they are about, the labels first, without those that stay empty in this study."""
    empty = _empty_formats(tx, study)
    formats = {name: summary for name, summary in _formats(study).items() if name not in empty}
    named = {title: {name: formats.pop(name) for name in names if name in formats} for title, names in GROUPS.items()}
    # The tables of the study's tasks come before those of every study.
    of_tasks = takewhile(lambda name: name not in GROUPS["Annotations"], _formats(study))
    named["Labels"] |= {name: formats.pop(name) for name in list(of_tasks) if name in formats}
    return {title: group for title, group in {**named, OTHERS: formats}.items() if group}


def _written(study: Study, format_name: str) -> FilePath:
    folder = FilePath(tempfile.mkdtemp(prefix="chorale-export-"))
    try:
        path = folder / export_file_name(study, format_name)
        write_export(study, format_name, path)
        if path.is_dir():
            path = FilePath(shutil.make_archive(str(path), "zip", folder, path.name))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return path


def add_export_routes(console: Console) -> None:
    router, study = console.for_owner, console.site.study

    @router.get("/export")
    async def formats(request: Request) -> Response:
        return console.page(request, "export", groups=await console.site.read(_grouped))

    @router.get("/export/{name}")
    async def download(request: Request, name: FormatInPath) -> Response:
        if name not in _formats(study):
            raise Refusal("not_found", f"There is no export format {name}. The export page lists all formats.", 404)
        path = await asyncio.to_thread(_written, study, name)
        await console.site.write(note_export, name, request.state.staff.name)
        return Download(path, filename=path.name, media_type="application/octet-stream")
