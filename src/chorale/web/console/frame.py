"""What every page of the console shares."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute

from chorale.files.answer_text import answer_text
from chorale.model import Refusal, UserError
from chorale.monitor.event_words import event_name
from chorale.web.console import texts
from chorale.web.console.answers import field_inputs
from chorale.web.console.navigation import Page, place_of, sections
from chorale.web.invalid import invalid_input
from chorale.web.links import EXPERT, OWNER, VIEWER
from chorale.web.serving import Site
from chorale.web.staff import staff_only

# PostgreSQL stores every character but this one.
NO_NUL = r"^[^\x00]*$"
Reason = Annotated[str, Form(max_length=1000, pattern=NO_NUL)]
MOST_COLUMNS = 9
"""Maximum number of columns of a table that the style sheet can hide."""
MOST_TABS = 8
"""Maximum number of stages that a page shows as tabs; more are in a menu."""
Everywhere = Annotated[str, Form(max_length=3)]
"""`yes` if an action applies to all studies that the owner has on this server; empty for this study only."""
WHY_NEEDED = "Enter a reason. It is kept in the activity log."
_NO_SUCH_STAGE = "This study has no stage of this name. The Overview page lists all stages."
# The notice on a page after an action sent the browser back to it.
NOTICES = {
    "paused": "The stage is paused. Answers to items already assigned are still accepted.",
    "resumed": "The stage is open again.",
    "study-closed": "The study is paused. Stages paused: {n}. Answers to items already assigned are still accepted.",
    "study-reopened": "The study is resumed. Stages resumed: {n}.",
    "gold": "The item is gold now.",
    "all-gold": "{n} items are gold now.",
    "gate-closed": "The gate is closed. Bonuses are booked and messages are written.",
    "message-sent": "Message sent.",
    "all-written": "Messages sent: {n}.",
    "bonuses": "Bonuses in the ledger: {n}.",
    "all-qualified": "Qualifications granted: {n}.",
    "all-removed": "Workers removed: {n}. They keep what they earned.",
    "all-sent": "Items sent to the review queue: {n}.",
    "all-retired": "Gold items retired: {n}. Answers so far stay graded.",
    "links-revoked": "Links revoked: {n}. People who already joined keep access.",
    "message-was-sent": "This message was already sent.",
    "bonus": "The bonus is in the ledger.",
    "qualified": "Qualification granted.",
    "was-qualified": "The worker already has this qualification.",
    "removed": "The worker is removed from the stage. They keep what they earned.",
    "disqualified": "The qualification is revoked. The worker keeps what they earned.",
    "sent": "The item is in the review queue.",
    "was-sent": "The item is already in the review queue.",
    "expert-answered": "Your answer is saved with the item.",
    "corrected": "The gold answer is corrected. Everything that depends on it was recomputed.",
    "correcting": "The gold answer is corrected. Everything that depends on it is being recomputed.",
    "revoked": "The link is revoked. All its sessions have ended.",
    "revoked-everywhere": "The link is revoked, and all its sessions have ended. Studies: {n}.",
    "deactivated": "The account is deactivated. Its sessions have ended.",
    "deactivated-everywhere": "The account is deactivated, and its sessions have ended. Studies: {n}.",
    "payout-marked": "The payout is marked as paid. Failed amounts are owed again.",
    "paid-prolific": "Payouts sent to Prolific: {n}.",
    "paid-paypal": "Payouts sent to PayPal: {n}.",
    "paid-nothing": "Nothing to pay this way. Everything due was already paid or is in progress.",
    "pay-file": "Payout {n} is ready. Download its file below, pay the people in it, then mark it as paid.",
    "published": "The study is published on Prolific.",
    "study-pause": "Recruiting is paused on Prolific. People who have started can finish.",
    "study-start": "Recruiting continues on Prolific.",
    "study-stop": "Recruiting has ended on Prolific. Add places to reopen it.",
    "places": "The study has {n} places now.",
    "synced": "Synchronised with Prolific.",
    "submissions-approve": "Approved: {n}.",
    "submissions-reject": "Rejected: {n}.",
    "submissions-return": "Asked to return: {n}.",
    "submissions-unreject": "Rejections withdrawn: {n}.",
    "submissions-message": "Message sent. Submissions: {n}.",
    "already-done": "This was already done.",
    "decided": "Decision saved as the final label. This is the next item.",
    "decided-in-part": "Decision saved. The label is not accepted yet, because a field that you kept has a confidence "
    "below the threshold. To decide this field too, undo the decision under “Latest decisions” first.",
    "undone": "The decision is undone, and the label is updated.",
    "password": "The password is changed. All other sessions have ended.",
    "report-started": "The report is being created. You can leave this page.",
    "report-running": "A report is already being created.",
}
_WORDS = (
    texts.when,
    texts.minute,
    texts.span,
    texts.share,
    texts.gold_accuracy,
    texts.answer_parts,
    texts.answer_beside_item,
    texts.brief_text,
    texts.gold_beside_item,
    texts.item_text,
    texts.stored_parts,
    texts.as_json,
    texts.from_json,
)
TEXTS: dict[str, Any] = {write.__name__: write for write in (*_WORDS, answer_text, event_name, field_inputs)}


class Console:
    """The console's pages, as the person signed in may see them."""

    def __init__(self, site: Site, pages_of_kits: Sequence[Page] = ()) -> None:
        self.site = site
        self._pages_of_kits = pages_of_kits
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
        staff, here = getattr(request.state, "staff", None), request.url.path
        sections_shown = [] if staff is None else sections(self.site.study, staff.role, self._pages_of_kits)
        section_here, page_here = place_of(sections_shown, context.pop("under", here))
        shown = {
            **TEXTS,
            "evidence": partial(texts.evidence, arms=context.get("arms_seen", False)),
            "staff": staff,
            "sections": sections_shown,
            "section_here": section_here,
            "page_here": page_here,
            "may_change": getattr(staff, "role", None) == OWNER,
            "notice": _notice(request),
            "hidden_columns": partial(hidden_columns, request),
            "query_string": request.url.query,
            "problem": None,
            "most_tabs": MOST_TABS,
            "stages": list(self.site.study.stages.values()),
            "has_arms": self.site.study.settings.arms is not None,
            **context,
        }
        name = template if template.endswith(".html") else f"console/{template}.html"
        return self.site.pages.page(name, status, english=True, **shown)

    def live_page(self, request: Request, template: str, status: int = 200, **context: Any) -> Response:
        """A page with a part that changes; `?part=live` asks for that part alone."""
        part = "_live" if request.query_params.get("part") == "live" else ""
        return self.page(request, f"{template}{part}", status, **context)

    def problem(self, request: Request, status: int, message: str) -> Response:
        return self.page(request, "problem", status, message=message)


def hidden_columns(request: Request, table: str) -> list[int]:
    """The numbers of the hidden columns of a table, from 2: the first column is always shown."""
    kept = request.cookies.get(f"columns-{table}", "").split(".")
    return [number for number in range(2, MOST_COLUMNS + 1) if str(number) in kept]


def on_mistake(
    page: Callable[..., Awaitable[Response]], console: Console, request: Request, *args: Any, **context: Any
) -> None:
    """Show the page again with the error message if the block raises a UserError."""
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
    # The address can be edited, so only a number is taken from it.
    return text and text.format(n=count if count.isascii() and count.isdigit() and len(count) < 9 else "some")


def console_route(console: Console) -> type[APIRoute]:
    """Routes that show errors on a page of the console."""

    class ConsoleRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def handled(request: Request) -> Response:
                try:
                    return await _handled(handle, request)
                except UserError as error:
                    return console.problem(request, 422, str(error))
                except RequestValidationError as error:
                    return console.problem(request, 422, invalid_input(error))
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
    # The refusal's own words are for workers.
    message = _NO_SUCH_STAGE if refusal.code == "no_such_stage" else refusal.message
    return console.problem(request, refusal.status, message)
