"""A stand-in for Prolific: a real HTTP server that behaves like the parts of its interface that Chorale uses.

Written from its public documentation: paging, rate limits, the shapes of its errors, what can be done once and what
twice. Above all, asking it twice to pay pays twice.
"""

import asyncio
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import count
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

TOKEN = "a-token-of-the-stand-in"
FEE = Decimal("0.3333")
WORKSPACE = "62fce6fff0a78eb4f3ebc09c"
CATEGORIES = {"TOO_QUICKLY", "FAILED_CHECK", "LOW_EFFORT", "NO_CODE", "BAD_CODE", "OTHER", "FAILED_INSTRUCTIONS"}
REQUIRED = (
    *("name", "description", "external_study_url", "prolific_id_option", "completion_codes"),
    *("total_available_places", "estimated_completion_time", "reward", "device_compatibility"),
)


class Refuse(Exception):  # noqa: N818 - an answer, not a failure
    def __init__(self, status: int, title: str, detail: Any) -> None:
        self.body = {"error": {"status": status, "error_code": 140000 + status, "title": title, "detail": detail}}
        self.status = status


@dataclass
class StandIn:
    """What it knows. Tests may look at all of it, and change it as people on its own pages would."""

    address: str = ""
    studies: dict[str, dict[str, Any]] = field(default_factory=dict)
    submissions: dict[str, dict[str, Any]] = field(default_factory=dict)
    bulk: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    paid: list[tuple[str, int]] = field(default_factory=list)
    """Every bonus that was paid: submission and cents."""
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    workspaces: list[str] = field(default_factory=lambda: [WORKSPACE])
    messages: list[dict[str, Any]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    faults: dict[str, list[str]] = field(default_factory=dict)
    """What goes wrong with the next requests, by "METHOD /path" with ids as *: busy, fails, lost, cut or strange."""
    pays_after: float = 0.0
    """Seconds until a bonus that was paid is reported."""
    pause: float = 0.0
    """Seconds every request takes."""
    lingers: dict[str, float] = field(default_factory=dict)
    """Seconds some requests take before they are done, and again before they are answered: moments to be killed in."""
    moments: dict[tuple[str, str], Callable[[], None]] = field(default_factory=dict)
    """What is to happen once, at the moment "before" a request arrives, which it then never does, or "after" it."""
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    lock: threading.RLock = field(default_factory=threading.RLock)

    def new_id(self) -> str:
        return f"{next(self.numbers):024x}"

    def arrive(self, study_id: str, participant: str, status: str = "ACTIVE") -> str:
        """Somebody takes a place; their submission."""
        with self.lock:
            made = f"{0xABC:012x}{next(self.numbers):012x}"
            self.submissions[made] = {
                "id": made,
                "study_id": study_id,
                "participant": participant,
                "status": status,
                "started_at": "2026-11-01T10:00:00Z",
                "completed_at": None,
                "entered_code": None,
                "bonuses": [],
            }
            return made

    def finish(self, submission_id: str, code: str) -> None:
        self.submissions[submission_id] |= {"status": "AWAITING REVIEW", "entered_code": code}

    def bonuses_of(self, participant: str) -> int:
        return sum(cents for one, cents in self.paid if self.submissions[one]["participant"] == participant)


Act = Callable[[StandIn, Request, Any], Any]


def _studies(world: StandIn, request: Request, body: Any) -> Any:
    if request.method == "GET":
        short = ("id", "name", "internal_name", "status", "total_available_places", "reward")
        return _page(request, [{name: one.get(name) for name in short} for one in world.studies.values()])
    missing = {name: ["This field is required."] for name in REQUIRED if name not in body}
    if missing:
        raise Refuse(400, "Bad request", missing)
    if "{{%PROLIFIC_PID%}}" not in body["external_study_url"]:
        raise Refuse(400, "Bad request", {"external_study_url": ["The participant's id is not in it."]})
    codes = [one["code"] for one in body["completion_codes"]]
    if len(set(codes)) < len(codes):
        raise Refuse(400, "Bad request", {"completion_codes": ["Codes must be unique."]})
    made = {**body, "id": world.new_id(), "status": "UNPUBLISHED"}
    world.studies[made["id"]] = made
    return _told(made)


def _study(world: StandIn, request: Request, body: Any) -> Any:
    found = _found(world.studies, request.path_params["id"])
    if request.method == "PATCH":
        if found["status"] != "UNPUBLISHED" and set(body) - {"total_available_places", "internal_name"}:
            raise Refuse(400, "Bad request", "Only places can be changed once a study is published.")
        if found["status"] != "UNPUBLISHED" and body["total_available_places"] < found["total_available_places"]:
            raise Refuse(400, "Bad request", {"total_available_places": ["Places can only be added."]})
        found |= body
    return _told(found)


def _transition_study(world: StandIn, request: Request, body: Any) -> Any:
    found = _found(world.studies, request.path_params["id"])
    if body.get("action") != "PUBLISH" or found["status"] != "UNPUBLISHED":
        raise Refuse(400, "Bad request", f"Can't {body.get('action')} a study that is {found['status']}.")
    found["status"] = "ACTIVE"
    return _told(found)


def _told(study: dict[str, Any]) -> dict[str, Any]:
    whole = Decimal(study["reward"]) * study["total_available_places"]
    return {**study, "total_cost": float(round(whole * (1 + FEE)))}


def _submissions(world: StandIn, request: Request, _body: Any) -> Any:
    wanted = request.query_params.get("study")
    listed = [one for one in world.submissions.values() if one["study_id"] == wanted]
    names = ("id", "participant", "status", "started_at", "completed_at", "study_id", "entered_code")
    return _page(request, [{name: one[name] for name in names} for one in listed])


def _submission(world: StandIn, request: Request, _body: Any) -> Any:
    found = _found(world.submissions, request.path_params["id"])
    now = time.monotonic()
    shown = [cents for cents, at in found["bonuses"] if at <= now]
    return {**{name: value for name, value in found.items() if name != "bonuses"}, "bonus_payments": shown}


def _transition_submission(world: StandIn, request: Request, body: Any) -> Any:
    found = _found(world.submissions, request.path_params["id"])
    status = {"APPROVE": "APPROVED", "REJECT": "REJECTED"}.get(body.get("action"))
    if status is None:
        raise Refuse(400, "Bad request", {"action": ["Not a valid choice."]})
    if status == "REJECTED" and len(body.get("message", "")) < 100:
        raise Refuse(400, "Bad request", {"message": ["Ensure this field has at least 100 characters."]})
    if status == "REJECTED" and body.get("rejection_category") not in CATEGORIES:
        raise Refuse(400, "Bad request", {"rejection_category": ["Not a valid choice."]})
    if found["status"] not in ("AWAITING REVIEW", status):
        raise Refuse(400, "Bad request", f"A submission that is {found['status']} can't be {status}.")
    found["status"] = status
    return found | {"bonuses": None}


def _bulk_approve(world: StandIn, _request: Request, body: Any) -> Any:
    for one in body["submission_ids"]:
        found = _found(world.submissions, one)
        if found["status"] == "AWAITING REVIEW":
            found["status"] = "APPROVED"
    return "The request to bulk approve has been made successfully."


def _set_up_bonuses(world: StandIn, _request: Request, body: Any) -> Any:
    lines = []
    for line in body["csv_bonuses"].splitlines():
        named, _, amount = line.partition(",")
        found = world.submissions.get(named)
        if found is None or found["study_id"] != body["study_id"]:
            raise Refuse(400, "Bad request", {"csv_bonuses": [f"{named} has not taken part in the study."]})
        if not re.fullmatch(r"\d+\.\d\d", amount) or Decimal(amount) <= 0:
            raise Refuse(400, "Bad request", {"csv_bonuses": [f"{amount} is not an amount."]})
        lines.append((named, int(Decimal(amount) * 100)))
    if len(lines) > 200:
        raise Refuse(400, "Bad request", "More than 200 in one bulk payment.")
    made = world.new_id()
    world.bulk[made] = lines
    amount = sum(cents for _, cents in lines)
    fees = float(round(amount * FEE))
    return {
        "id": made,
        "study": body["study_id"],
        "amount": amount,
        "fees": fees,
        "vat": 0,
        "total_amount": amount + fees,
    }


def _pay_bonuses(world: StandIn, request: Request, _body: Any) -> Any:
    lines = _found(world.bulk, request.path_params["id"])
    at = time.monotonic() + world.pays_after
    for named, cents in lines:
        world.paid.append((named, cents))
        world.submissions[named]["bonuses"].append((cents, at))
    return f"Bulk bonus payment with ID {request.path_params['id']} is being processed asynchronously."


def _groups(world: StandIn, request: Request, body: Any) -> Any:
    if request.method == "GET":
        if request.query_params.get("workspace_id") != WORKSPACE:
            raise Refuse(400, "Bad request", {"workspace_id": ["This field is required."]})
        groups = [{"id": one["id"], "name": one["name"]} for one in world.groups.values()]
        return {"results": groups[: int(request.query_params.get("limit", "20"))]}
    if body.get("workspace_id") != WORKSPACE:
        raise Refuse(400, "Bad request", "Either a workspace or organisation ID must be specified.")
    made = {"id": world.new_id(), "name": body["name"], "participants": []}
    world.groups[made["id"]] = made
    return {"id": made["id"], "name": made["name"]}


def _group(world: StandIn, request: Request, body: Any) -> Any:
    found = _found(world.groups, request.path_params["id"])
    if request.method == "POST":
        found["participants"] += [one for one in body["participant_ids"] if one not in found["participants"]]
    return {"results": [{"participant_id": one} for one in found["participants"]]}


def _messages(world: StandIn, request: Request, body: Any) -> Any:
    if request.method == "GET":
        user = request.query_params.get("user_id")
        return {"results": [one for one in world.messages if one["recipient_id"] == user]}
    world.messages.append({name: body[name] for name in ("recipient_id", "study_id", "body")})
    return None


def _me(_world: StandIn, _request: Request, _body: Any) -> Any:
    return {"id": "researcher", "email": "owner@example.org"}


def _workspaces(world: StandIn, _request: Request, _body: Any) -> Any:
    return {"results": [{"id": one, "title": "Ours"} for one in world.workspaces]}


def _project(_world: StandIn, request: Request, _body: Any) -> Any:
    return {"id": request.path_params["id"], "title": "Studies", "workspace": WORKSPACE}


def _found(table: dict[str, Any], name: str) -> Any:
    if name not in table:
        raise Refuse(404, "Not found", "It does not exist.")
    return table[name]


def _page(request: Request, rows: list[dict[str, Any]]) -> dict[str, Any]:
    # Smaller than what is asked for, as a server may decide: who stops at the first page loses people.
    size = min(int(request.query_params.get("page_size", "20")), 7)
    page = int(request.query_params.get("page", "1"))
    more = page * size < len(rows)
    return {
        "results": rows[(page - 1) * size : page * size],
        "_links": {"next": {"href": f"…?page={page + 1}", "title": "Next"} if more else {"href": None}},
        "meta": {"count": len(rows)},
    }


def _endpoint(world: StandIn, act: Act) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        body = json.loads(await request.body() or b"{}")
        return await _run(world, act, request, body)

    return answer


async def _run(world: StandIn, act: Act, request: Request, body: Any) -> Response:
    path = re.sub(r"/[0-9a-f]{24}", "/*", request.url.path.removeprefix("/api/v1"))
    called = f"{request.method} {path}"
    await asyncio.sleep(world.pause + world.lingers.get(called, 0))
    if (then := world.moments.pop((called, "before"), None)) is not None:
        await run_in_threadpool(then)
        return Response("never arrived", 502)
    response = await run_in_threadpool(_handle, world, act, request, body, called)
    if (then := world.moments.pop((called, "after"), None)) is not None:
        await run_in_threadpool(then)
    await asyncio.sleep(world.lingers.get(called, 0))
    return response


def _handle(world: StandIn, act: Act, request: Request, body: Any, called: str) -> Response:
    with world.lock:
        world.requests.append(called)
        if request.headers.get("authorization") != f"Token {TOKEN}":
            body = Refuse(401, "Authentication error", "Invalid token.").body
            return JSONResponse(body, 401)
        fault = world.faults.get(called, [])
        wrong = fault.pop(0) if fault else None
        if wrong == "busy":
            return JSONResponse({"detail": "Request was throttled."}, 429, headers={"Retry-After": "0"})
        if wrong == "fails":
            return Response("upstream error", 502)
        try:
            told = act(world, request, body)
        except Refuse as refusal:
            return JSONResponse(refusal.body, refusal.status)
        if wrong == "lost":
            return Response("upstream error", 502)  # done, but nobody hears of it
        if wrong == "strange":
            return JSONResponse({"id": 5, "results": {"a": 1}, "bonus_payments": ["much"]})
        if wrong == "cut":
            return Response(b"{", headers={"content-length": "1000"})
        return Response(status_code=204) if told is None else JSONResponse(told)


ROUTES: dict[str, tuple[Act, list[str]]] = {
    "/users/me/": (_me, ["GET"]),
    "/workspaces/": (_workspaces, ["GET"]),
    "/projects/{id}/": (_project, ["GET"]),
    "/studies/": (_studies, ["GET", "POST"]),
    "/studies/{id}/": (_study, ["GET", "PATCH"]),
    "/studies/{id}/transition/": (_transition_study, ["POST"]),
    "/submissions/": (_submissions, ["GET"]),
    "/submissions/bulk-approve/": (_bulk_approve, ["POST"]),
    "/submissions/bonus-payments/": (_set_up_bonuses, ["POST"]),
    "/submissions/{id}/": (_submission, ["GET"]),
    "/submissions/{id}/transition/": (_transition_submission, ["POST"]),
    "/bulk-bonus-payments/{id}/pay/": (_pay_bonuses, ["POST"]),
    "/participant-groups/": (_groups, ["GET", "POST"]),
    "/participant-groups/{id}/participants/": (_group, ["GET", "POST"]),
    "/messages/": (_messages, ["GET", "POST"]),
}


@contextmanager
def stand_in() -> Iterator[StandIn]:
    """The stand-in, listening until the end."""
    world = StandIn()
    routes = [
        Route(f"/api/v1{path}", _endpoint(world, act), methods=methods) for path, (act, methods) in ROUTES.items()
    ]
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), port=0, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    world.address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    yield world
    server.should_exit = True
    thread.join()
