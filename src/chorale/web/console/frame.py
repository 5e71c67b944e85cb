"""What every page of the console shares."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute

from chorale.engine.running import Study
from chorale.files.answer_text import answer_text
from chorale.model import EXPERT as EXPERT_QUALIFICATION
from chorale.model import Refusal, UserError
from chorale.web.console import texts
from chorale.web.links import EXPERT, OWNER, VIEWER
from chorale.web.serving import Site
from chorale.web.staff import staff_only

# PostgreSQL stores every character but this one.
NO_NUL = r"^[^\x00]*$"
Reason = Annotated[str, Form(max_length=1000, pattern=NO_NUL)]
WHY_NEEDED = "Say why: the reason is kept with the study."
# What a page says after an action sent the browser back to it.
NOTICES = {
    "paused": "The stage is paused. Answers to items already given out are still taken.",
    "resumed": "The stage is open again.",
    "gold": "The item is gold now. Workers who have not seen it will meet it.",
    "all-gold": "{n} items are gold now. Workers who have not seen them will meet them.",
    "retired": "The gold is retired. Answers given so far stay graded.",
    "gate-closed": "The gate is closed. Bonuses are booked and messages written.",
    "message-sent": "The message is sent.",
    "all-written": "The message is sent. Workers who get it: {n}.",
    "message-was-sent": "Somebody has sent that message already.",
    "bonus": "The bonus is in the ledger.",
    "qualified": "The qualification is given.",
    "was-qualified": "They have that qualification already.",
    "disqualified": "Done. What they have earned stays theirs.",
    "sent": "The item waits at the experts' desk.",
    "was-sent": "The item waits at the experts' desk already.",
    "expert-answered": "Your answer is kept with the item.",
    "corrected": "The gold is corrected, and everything that depended on it is computed again.",
    "correcting": "The gold is corrected. Everything that depended on it is being computed again: that takes a while.",
    "revoked": "The link is revoked, and every session by it has ended.",
    "deactivated": "The account is deactivated, and its sessions have ended.",
    "payout-marked": "The payout is marked. What failed is owed again.",
    "link-revoked": "The link lets nobody in any more. Whoever is in stays in.",
    "study-pause": "Recruiting is paused on Prolific. People who have begun can finish.",
    "study-start": "Prolific recruits again.",
    "study-stop": "Recruiting has ended on Prolific. More places open it again.",
    "places": "The study has {n} places now.",
    "submissions-approve": "Approved: {n}.",
    "submissions-reject": "Rejected: {n}.",
    "submissions-return": "Asked for a return: {n}.",
    "submissions-unreject": "Rejections taken back: {n}.",
    "submissions-message": "The message is sent. Submissions of people who get it: {n}.",
    "submissions-again": "That was done already.",
    "decided": "The decision is the label now. This is the next item.",
    "undone": "The decision is undone. The label is what it was before.",
    "password": "The password is changed. Every other session has ended.",
}
_WORDS = (
    texts.when,
    texts.minute,
    texts.span,
    texts.share,
    texts.answer_beside_item,
    texts.brief_text,
    texts.gold_beside_item,
    texts.item_text,
    texts.as_json,
    texts.from_json,
    texts.pretty,
)
TEXTS: dict[str, Any] = {write.__name__: write for write in (*_WORDS, answer_text)}
_RECRUITING_TABS = (("/console/recruiting", "People"), ("/console/recruiting/paying", "Paying"))
_SUBMISSIONS_TAB = ("/console/recruiting/submissions", "Submissions")


class Console:
    """The console's pages, as the person signed in may see them."""

    def __init__(self, site: Site, more_recruiting_tabs: Sequence[tuple[str, str]] = ()) -> None:
        self.site = site
        prolific = () if site.study.settings.prolific is None else (_SUBMISSIONS_TAB,)
        self._recruiting_tabs = (*_RECRUITING_TABS, *prolific, *more_recruiting_tabs)
        self.to_see = self.router(OWNER, VIEWER)
        self.for_owner = self.router(OWNER)
        self.for_experts = self.router(OWNER, EXPERT)

    def router(self, *roles: str) -> APIRouter:
        """A router all of whose routes are for these roles only."""
        return APIRouter(
            prefix="/console",
            dependencies=[Depends(staff_only(self.site, *roles))],
            include_in_schema=False,
            route_class=console_route(self),
        )

    def page(self, request: Request, template: str, status: int = 200, **context: Any) -> Response:
        """A page of the console by its name, or of a kit by the path of its template."""
        shown = {
            **TEXTS,
            "evidence": partial(texts.evidence, arms=context.get("arms_seen", False)),
            "staff": getattr(request.state, "staff", None),
            "here": request.url.path,
            "may_change": getattr(getattr(request.state, "staff", None), "role", None) == OWNER,
            "notice": _notice(request),
            "problem": None,
            "stages": list(self.site.study.stages.values()),
            "has_protocol": has_protocol(self.site.study),
            "recruiting_tabs": self._recruiting_tabs,
            "has_arms": self.site.study.settings.arms is not None,
            "has_choices": any(
                stage.task.combining.chosen is not None or stage.task.shape.compared
                for stage in self.site.study.stages.values()
            ),
            **context,
        }
        name = template if template.endswith(".html") else f"console/{template}.html"
        return self.site.pages.page(name, status, **shown)

    def live_page(self, request: Request, template: str, status: int = 200, **context: Any) -> Response:
        """A page with a part that changes; `?part=live` asks for that part alone."""
        part = "_live" if request.query_params.get("part") == "live" else ""
        return self.page(request, f"{template}{part}", status, **context)

    def problem(self, request: Request, status: int, message: str) -> Response:
        return self.page(request, "problem", status, message=message)


def has_protocol(study: Study) -> bool:
    """Whether there is anything to decide between stages, or to do for experts in them."""
    return bool(study.gates) or any(
        EXPERT_QUALIFICATION in stage.entry.qualifications for stage in study.settings.stage
    )


def on_mistake(
    page: Callable[..., Awaitable[Response]], console: Console, request: Request, *args: Any, **context: Any
) -> None:
    """Have a page shown again, with what is wrong, if what follows ends in a UserError."""
    request.state.again = partial(page, console, request, *args, **context)


def back_to(path: str, done: str, n: int | None = None) -> Response:
    count = {} if n is None else {"n": n}
    return RedirectResponse(f"{path}?{urlencode({'done': done, **count})}", 303)


def item_address(stage: str, key: str, done: str = "") -> str:
    """The page of an item."""
    return f"/console/items/one?{urlencode({'stage': stage, 'key': key, **({'done': done} if done else {})})}"


def _notice(request: Request) -> str | None:
    text = NOTICES.get(request.query_params.get("done", ""))
    count = request.query_params.get("n", "")
    # The address can be edited: nothing but a number gets from there onto the page.
    return text and text.format(n=count if count.isascii() and count.isdigit() and len(count) < 9 else "The")


def console_route(console: Console) -> type[APIRoute]:
    """Routes that answer a mistake with a page of the console."""

    class ConsoleRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def handled(request: Request) -> Response:
                try:
                    return await _handled(handle, request)
                except UserError as error:
                    return console.problem(request, 422, str(error))
                except RequestValidationError as error:
                    first = error.errors()[0]
                    return console.problem(request, 422, f"{first['loc'][-1]}: {first['msg']}.")
                except Refusal as refusal:
                    return _refused(console, request, refusal)

            return handled

    return ConsoleRoute


async def _handled(handle: Callable[[Request], Awaitable[Response]], request: Request) -> Response:
    try:
        return await handle(request)
    except UserError as error:
        if (again := getattr(request.state, "again", None)) is None:
            raise
        shown: Response = await again(code=422, problem=error.message)
        return shown


def _refused(console: Console, request: Request, refusal: Refusal) -> Response:
    asks_for_page = request.method == "GET" and "part" not in request.query_params
    if refusal.code == "signed_out" and asks_for_page:
        here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/login?{urlencode({'next': here})}", 303)
    return console.problem(request, refusal.status, refusal.message)
