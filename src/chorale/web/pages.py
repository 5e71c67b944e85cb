"""Rendering: templates, static files, Markdown."""

import gzip
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import nh3
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markupsafe import Markup, escape
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from chorale import __version__
from chorale.folder.study_language import study_language
from chorale.model import StudySettings
from chorale.model.wording import Wording, counted, worded
from chorale.present.language import Language

HERE = Path(__file__).parent
STATIC, TEMPLATES = HERE / "static", HERE / "templates"

# Raw HTML is disabled: guidelines are written by requesters, but may quote anything.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


def _aligned_by_class(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    """A table's cell. Pages allow no styles in attributes, so a class aligns numbers to the right."""
    if tokens[index].attrs.pop("style", "") == "text-align:right":
        tokens[index].attrSet("class", "num")
    return str(renderer.renderToken(tokens, index, options, env))


for _cell in ("th_open", "td_open"):
    _MARKDOWN.add_render_rule(_cell, _aligned_by_class)


_OF_KITS: dict[str, Path] = {}
"""Folders with static files of kits, by the name under which they are served."""


def add_static(name: str, folder: Path) -> None:
    """Serve a kit's static files under `/static/NAME/`."""
    _OF_KITS[name] = folder


@cache
def static_url(path: str) -> str:
    """The URL of a static file, which changes with its content."""
    kit, _, rest = path.partition("/")
    file = _OF_KITS[kit] / rest if kit in _OF_KITS else STATIC / path
    return f"/static/{path}?v={sha256(file.read_bytes()).hexdigest()[:12]}"


@lru_cache(maxsize=500)
def markdown(text: str) -> Markup:
    """Render Markdown with raw HTML and unsafe links disabled."""
    return Markup(_MARKDOWN.render(text))  # noqa: S704 - markdown-it escapes everything with html off


# Texts of items are not trusted: images would send requests to other servers, and the output is sanitised.
_STRANGERS = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_STRANGERS.add_render_rule("image", lambda _, tokens, index, *_rest: escapeHtml(tokens[index].content))
_TAGS = frozenset({"a", "blockquote", "br", "code", "del", "em", "hr", "li", "ol", "p", "pre", "s", "strong", "ul"})
_TAGS |= {"h1", "h2", "h3", "h4", "h5", "h6", "table", "tbody", "td", "th", "thead", "tr"}


@lru_cache(maxsize=2000)
def strangers_markdown(text: str) -> str:
    """Render an item's Markdown as HTML that can't run code, load anything or imitate the page."""
    return nh3.clean(
        _STRANGERS.render(text),
        tags=set(_TAGS),
        attributes={"a": {"href"}, "ol": {"start"}, "th": {"align"}, "td": {"align"}},
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


class StaticFilesForever(StaticFiles):
    """Static files under an address that changes with their content may be cached by the browser permanently."""

    def file_response(self, full_path: Any, stat_result: Any, scope: Scope, status_code: int = 200) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        versioned = scope["query_string"].startswith(b"v=")
        # Modules import each other without a version, so browsers must revalidate them.
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if versioned else "no-cache"
        if response.status_code != 200 or Path(full_path).suffix not in _PACKED_WELL:
            return response
        kept = {name: response.headers[name] for name in ("Cache-Control", "ETag", "Last-Modified")}
        return packed(Path(full_path), Headers(scope=scope), response.media_type, kept)


_PACKED_WELL = frozenset({".js", ".css", ".svg"})
"""Text files, which gzip compresses to a quarter."""


def packed(path: Path, asked: Headers, media_type: str | None, headers: Mapping[str, str]) -> Response:
    """A static file, gzipped if the browser accepts it. Pages with secrets are never compressed."""
    kept = {**headers, "Vary": "Accept-Encoding"}
    if "gzip" not in asked.get("accept-encoding", ""):
        return Response(path.read_bytes(), media_type=media_type, headers=kept)
    body = _gzipped(path, path.stat().st_mtime_ns)
    return Response(body, media_type=media_type, headers={**kept, "Content-Encoding": "gzip"})


def packed_text(text: bytes, asked: Headers, media_type: str) -> Response:
    """A generated script, gzipped if the browser accepts it. Its URL changes with its content."""
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
    if "gzip" not in asked.get("accept-encoding", ""):
        return Response(text, media_type=media_type, headers=headers)
    return Response(_gzipped_text(text), media_type=media_type, headers={**headers, "Content-Encoding": "gzip"})


@lru_cache(maxsize=8)
def _gzipped_text(text: bytes) -> bytes:
    return gzip.compress(text, mtime=0)


@lru_cache(maxsize=256)
def _gzipped(path: Path, _changed: int) -> bytes:
    return gzip.compress(path.read_bytes(), mtime=0)


SENTENCES = "/static/sentences.js"
"""The URL of the script with translations, if pages are not in English."""


_BDI = Markup("<bdi>{}</bdi>")
"""Isolates names in another script within right-to-left text."""


class HasSettings(Protocol):
    """An open study, or one being designed."""

    @property
    def settings(self) -> StudySettings: ...


class Pages:
    """The study's templates, in the language of the study and, for the console, in English.

    Templates write `{{ root }}` before every path of the study, since one of several studies on a server has a path
    prefix.
    """

    def __init__(self, study: HasSettings, more_templates: Sequence[Path] = (), root: str = "") -> None:
        self.root = root
        self.language = study_language(study.settings)
        self.sentences = self.language.for_browser.encode()
        """The script with translations for the browser; empty for English."""
        version = sha256(self.sentences).hexdigest()[:12]
        self.sentences_url = f"{root}{SENTENCES}?v={version}" if self.sentences else None
        self._workers = self._environment(study, self.language, more_templates)
        self._console = self._environment(study, Language(), more_templates)

    def _environment(self, study: HasSettings, language: Language, more_templates: Sequence[Path]) -> Environment:
        environment = Environment(
            loader=FileSystemLoader([TEMPLATES, *more_templates]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.globals.update(
            study=study.settings.study,
            static=static_url,
            root=self.root,
            version=__version__,
            money=lambda amount: language.money(amount, study.settings.pay.currency),
            language=language,
            sentences=self.sentences_url if language.for_browser else None,
            isolated=lambda text: _BDI.format(text) if language.direction == "rtl" else text,
            say=lambda source, /, **values: _said(language, worded(source, **values)),
            say_count=lambda number, one, several, /, **values: _said(
                language, counted(number, one, several, **values)
            ),
        )
        return environment

    def text(self, template: str, *, english: bool = False, **context: Any) -> str:
        """Render a template, in the study's language or, for the console, in English."""
        return (self._console if english else self._workers).get_template(template).render(**context)

    def page(self, template: str, status: int = 200, *, english: bool = False, **context: Any) -> HTMLResponse:
        return HTMLResponse(self.text(template, english=english, status=status, **context), status)

    def error(self, status: int, title: str, message: str, what_next: str) -> HTMLResponse:
        say = self.language.translated
        return self.page("error.html", status, title=say(title), message=say(message), what_next=say(what_next))


def _said(language: Language, text: Wording) -> Markup:
    """A sentence as HTML; its values are escaped, unless they are already HTML."""
    values = {
        name: value if isinstance(value, Markup) else language.shown(value) for name, value in text.values.items()
    }
    return escape(language.template(text)).format(**values)
