"""Routes of the design page and its preview, which is the real work page but stores nothing."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from types import SimpleNamespace
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from chorale.contract.errors import AnswerError
from chorale.contract.exporting import Seeds
from chorale.engine.first_answers import invalid_answer
from chorale.folder.reading import StageContent
from chorale.model import NewItem, Refusal, UserError, money_text
from chorale.web.bodies import FirstAnswer, Submission
from chorale.web.design.drafts import MOST_PREVIEWED, Designer, Edit, Tried, saved_digest
from chorale.web.media import dressed, sent_media
from chorale.web.pages import Pages
from chorale.web.pay_words import bonus_texts
from chorale.web.security import content_policy
from chorale.web.worker import form_page

_A_DAY_MS = 24 * 3_600_000
_NOBODY = SimpleNamespace(pseudonym="preview")


class Desk:
    """A design session: the current draft, and the item shown in each preview."""

    def __init__(self, designer: Designer, pages: Pages, base: str, after_saving: str = "") -> None:
        self.designer = designer
        self.pages = pages
        self.base = base
        """The path of the design page."""
        self.after_saving = after_saving
        """How to apply a saved form."""
        self.preview = _Preview(designer, f"{base}/preview")

    def page(self, back: str | None = None) -> Response:
        """The design page, with a link back to another one."""
        directory = self.designer.directory.name
        page = self.pages.page("design.html", english=True, base=self.base, directory=directory, back=back)
        page.headers["Content-Security-Policy"] = content_policy(framed=True, media=False)
        return page


DeskOf = Callable[[Request], Awaitable[Desk]]
"""Finds the design session of a request."""


class DesignRoute(APIRoute):
    """Routes for the design page's script, which return problems as JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except Refusal as refusal:
                return design_error(refusal.status, refusal.code, refusal.message)
            except UserError as error:
                return design_error(422, "invalid", str(error))
            except RequestValidationError as error:
                first = error.errors()[0]
                where = ".".join(str(part) for part in first["loc"] if part != "body") or "the request"
                return design_error(422, "invalid_request", f"{where}: {first['msg']}")

        return handled


def design_error(status: int, code: str, message: str) -> Response:
    return JSONResponse({"error": {"code": code, "message": message}}, status)


def add_design_routes(router: APIRouter, desk_of: DeskOf) -> None:
    """Add the routes of the design page. The router's class should be `DesignRoute`."""
    own_desk = Annotated[Desk, Depends(desk_of)]

    @router.get("/design/state", include_in_schema=False)
    async def state(desk: own_desk) -> Response:
        return JSONResponse(await asyncio.to_thread(desk.designer.state))

    @router.post("/design/draft", include_in_schema=False)
    async def draft(desk: own_desk, edit: Edit) -> Response:
        """Check options; previews show them if they are valid."""
        tried = await asyncio.to_thread(desk.designer.try_out, edit)
        return JSONResponse(_reply(desk.designer, tried))

    @router.post("/design/save", include_in_schema=False)
    async def save(desk: own_desk, edit: Edit) -> Response:
        """Write options to the study file. If the reply says that they are saved, they are on disk."""
        tried = await asyncio.to_thread(desk.designer.save, edit)
        more = {"saved": tried.saved, "digest": saved_digest(tried), "note": desk.after_saving}
        return JSONResponse({**_reply(desk.designer, tried), **more})

    _add_preview(router, own_desk)


def _reply(designer: Designer, tried: Tried) -> dict[str, Any]:
    return {
        "status": "ok",
        "problems": tried.problems_in_options(),
        "elsewhere": tried.other_problems(),
        "shown": tried.can_be_shown,
        "version": designer.version,
    }


class _Preview:
    """The item that the preview of each stage shows."""

    def __init__(self, designer: Designer, base: str) -> None:
        self._designer = designer
        self._base = base
        self._places: dict[str, int] = {}

    def item(self, content: StageContent) -> NewItem:
        items = _items(content)
        if not items:
            raise Refusal("not_found", "There is no item to answer.", 404)
        return items[self._places.get(content.settings.name, 0) % len(items)]

    def step(self, name: str) -> None:
        self._places[name] = self._places.get(name, 0) + 1

    def progress(self, name: str) -> dict[str, Any]:
        nothing = money_text(0, self._designer.settings.pay.currency)
        return {"answered": self._places.get(name, 0), "earned": 0, "earned_text": nothing}

    def offer(self, content: StageContent) -> dict[str, Any]:
        """The current item, in the format of the work page."""
        name = content.settings.name
        if not _items(content):
            words = "This stage takes its items from another stage, so there is nothing to show here yet."
            return {"status": "done", "message": words, "progress": self.progress(name)}
        assignment = self._assignment(content, self.item(content))
        return {"status": "item", "progress": self.progress(name), "assignment": assignment, "skips_left": None}

    def _assignment(self, content: StageContent, item: NewItem) -> dict[str, Any]:
        form, name = content.task.form, content.settings.name
        seeds = Seeds.of(self._designer.settings.study.seed, name, _NOBODY.pseudonym, item.key)
        return {
            # A different name for every draft: the browser keeps unfinished answers by it, and the form may have
            # changed.
            "id": f"{self._designer.version}-{secrets.token_hex(4)}",
            "item": dressed(form, form.view(item.payload), lambda place: f"{self._base}/{name}/media/{quote(place)}"),
            "arrangement": None if form.arrange is None else form.arrange(item.payload, seeds),
            "first": None if form.reveal is None else {"fields": list(form.reveal.fields), "answer": None},
            "expires_at": _A_DAY_MS,
            "server_now": 0,
            "pay_text": None,
        }

    def page(self, pages: Pages, content: StageContent) -> Response:
        """The work page of a stage, which can be framed only by the design page."""
        # The template writes the path of one of several studies before every address.
        here = f"{self._base.removeprefix(pages.root)}/{content.settings.name}"
        urls = {f"{act}_url_pattern": f"{here}/{act}" for act in ("submit", "first", "return")}
        page = form_page(
            pages,
            content,
            {"next_url": f"{here}/next", "extend_url_pattern": "", **urls},
            worker=_NOBODY,
            answers=None,
            first_visit=False,
            home=here,
            at_desk=False,
            counts_writing=False,
            facts=[],
            bonuses=bonus_texts(content.settings.pay, self._designer.settings.pay.currency, pages.language),
        )
        policy = page.headers.get("Content-Security-Policy") or content_policy(framed=False, media=False)
        page.headers["Content-Security-Policy"] = policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
        page.headers["X-Frame-Options"] = "SAMEORIGIN"
        return page


def _add_preview(router: APIRouter, own_desk: Any) -> None:
    @router.get("/design/preview/{name}", include_in_schema=False)
    async def preview_page(desk: own_desk, name: str) -> Response:
        page: Response = desk.preview.page(desk.pages, desk.designer.stage(name))
        return page

    @router.post("/design/preview/{name}/next", include_in_schema=False)
    async def next_item(desk: own_desk, name: str) -> Response:
        return JSONResponse(desk.preview.offer(desk.designer.stage(name)))

    @router.post("/design/preview/{name}/submit", include_in_schema=False)
    async def submit(desk: own_desk, name: str, body: Submission) -> Response:
        """Check an answer as the site does, without storing it."""
        content = desk.designer.stage(name)
        try:
            content.task.shape.parse_answer(body.answer, desk.preview.item(content).payload)
        except AnswerError as error:
            raise invalid_answer(error) from None
        desk.preview.step(name)
        return JSONResponse({"status": "accepted", "feedback": None, "progress": desk.preview.progress(name)})

    @router.post("/design/preview/{name}/first", include_in_schema=False)
    async def first(desk: own_desk, name: str, body: FirstAnswer) -> Response:
        content = desk.designer.stage(name)
        shown = content.task.form.shown(desk.preview.item(content).payload)
        return JSONResponse({"status": "stored", "first": body.answer, "item": shown})

    @router.post("/design/preview/{name}/return", include_in_schema=False)
    async def skip(desk: own_desk, name: str) -> Response:
        desk.preview.step(name)
        return JSONResponse({"status": "returned"})

    @router.get("/design/preview/{name}/media/{place:path}", include_in_schema=False)
    async def media(desk: own_desk, name: str, place: str) -> Response:
        """A file, if an item of the preview names it."""
        content = desk.designer.stage(name)
        named = {item.payload.get(column) for item in _items(content) for column in content.task.form.media}
        if place not in named:
            raise Refusal("not_found", "There is no such file.", 404)
        return sent_media(desk.designer.directory, place)


def _items(content: StageContent) -> Sequence[NewItem]:
    """The items of a preview; gold if the stage has no others."""
    return content.items[:MOST_PREVIEWED] or [row.item for row in content.gold[:MOST_PREVIEWED]]
