"""A stand-in for Prolific: a real HTTP server that behaves like the parts of its interface that Chorale uses.

Written from its public documentation: paging, rate limits, the shapes of its errors, what can be done once and what
twice. Above all, asking it twice to pay pays twice. Every request and every answer is checked by `prolific_schema`.
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

from prolific_schema import ERROR, OPERATIONS, mistakes

TOKEN = "a-token-of-the-stand-in"
FEE = Decimal("0.3333")
WORKSPACE = "62fce6fff0a78eb4f3ebc09c"


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
    currency: str = "USD"
    secrets: dict[str, str] = field(default_factory=dict)
    """What notifications are signed with, by workspace."""
    subscriptions: dict[str, dict[str, Any]] = field(default_factory=dict)
    refused_actions: set[str] = field(default_factory=set)
    """Actions of completion codes that the workspace does not have."""
    mistakes: list[str] = field(default_factory=list)
    """Requests and answers that are not as the interface is described."""
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
                "return_requested": None,
                "bonuses": [],
            }
            return made

    def finish(self, submission_id: str, code: str) -> None:
        """Somebody enters a code: what follows is what the study's code says."""
        found = self.submissions[submission_id]
        found |= {"status": "AWAITING REVIEW", "entered_code": code, "completed_at": "2026-11-01T10:09:00Z"}
        for known in self.studies[found["study_id"]]["completion_codes"]:
            kinds = {action["action"] for action in known["actions"]} if known["code"] == code else set()
            if "FIXED_SCREEN_OUT_PAYMENT" in kinds:
                found["status"] = "SCREENED OUT"
            elif "REQUEST_RETURN" in kinds:
                found["return_requested"] = "2026-11-01T10:09:00Z"

    def bonuses_of(self, participant: str) -> int:
        return sum(cents for one, cents in self.paid if self.submissions[one]["participant"] == participant)


Act = Callable[[StandIn, Request, Any], Any]


def _studies(world: StandIn, request: Request, body: Any) -> Any:
    if request.method == "GET":
        short = ("id", "name", "internal_name", "status", "total_available_places", "reward")
        return _page(request, [{name: one.get(name) for name in short} for one in world.studies.values()])
    if "{{%PROLIFIC_PID%}}" not in body["external_study_url"]:
        raise Refuse(400, "Bad request", {"external_study_url": ["The participant's id is not in it."]})
    codes = [one["code"] for one in body["completion_codes"]]
    if len(set(codes)) < len(codes):
        raise Refuse(400, "Bad request", {"completion_codes": ["Codes must be unique."]})
    _check_codes(world, body)
    made = {"project": "63fce6fff0a78eb4f3ebc0aa", **body, "id": world.new_id(), "status": "UNPUBLISHED"}
    world.studies[made["id"]] = made
    return made


def _check_codes(world: StandIn, body: Any) -> None:
    for action in (action for code in body["completion_codes"] for action in code["actions"]):
        if action["action"] in world.refused_actions:
            raise Refuse(400, "Bad request", {"completion_codes": [f"{action['action']} is not available."]})
        if action.get("fixed_screen_out_reward", 0) >= body.get("reward", 10**9):
            raise Refuse(400, "Bad request", {"completion_codes": ["Must be less than the study reward."]})


def _study(world: StandIn, request: Request, body: Any) -> Any:
    found = _found(world.studies, request.path_params["id"])
    if request.method == "PATCH":
        published = {"total_available_places", "internal_name", "completion_codes", "submissions_config"}
        if found["status"] != "UNPUBLISHED" and set(body) - published:
            raise Refuse(400, "Bad request", "Only places can be changed once a study is published.")
        places = body.get("total_available_places", found["total_available_places"])
        if found["status"] != "UNPUBLISHED" and places < found["total_available_places"]:
            raise Refuse(400, "Bad request", {"total_available_places": ["Places can only be added."]})
        if found["status"] == "COMPLETED" and places > found["total_available_places"]:
            found["status"] = "ACTIVE"
        found |= body
    return found


TRANSITIONS = {
    ("UNPUBLISHED", "PUBLISH"): "ACTIVE",
    ("ACTIVE", "PAUSE"): "PAUSED",
    ("ACTIVE", "STOP"): "COMPLETED",
    ("PAUSED", "START"): "ACTIVE",
    ("PAUSED", "STOP"): "COMPLETED",
}


def _transition_study(world: StandIn, request: Request, body: Any) -> Any:
    found = _found(world.studies, request.path_params["id"])
    after = TRANSITIONS.get((found["status"], body["action"]))
    if after is None:
        raise Refuse(400, "Bad request", f"Can't {body['action']} a study that is {found['status']}.")
    found["status"] = after
    return found


def _test_study(world: StandIn, request: Request, _body: Any) -> Any:
    found = _found(world.studies, request.path_params["id"])
    if found["status"] != "UNPUBLISHED":
        raise Refuse(400, "Bad request", "Only a draft can be tested.")
    made = {**found, "id": world.new_id(), "status": "ACTIVE", "internal_name": None}
    world.studies[made["id"]] = made
    return {"study_id": made["id"], "study_url": f"https://app.prolific.com/studies/{made['id']}"}


def _cost(_world: StandIn, _request: Request, body: Any) -> Any:
    return {"total_cost": float(round(Decimal(body["reward"]) * body["total_available_places"] * (1 + FEE)))}


def _submissions(world: StandIn, request: Request, _body: Any) -> Any:
    wanted = request.query_params.get("study")
    listed = [one for one in world.submissions.values() if one["study_id"] == wanted]
    names = ("id", "status", "started_at", "completed_at", "return_requested")
    return _page(
        request,
        [
            {name: one[name] for name in names}
            | {"participant_id": one["participant"], "study_code": one["entered_code"], "has_siblings": False}
            for one in listed
        ],
    )


def _submission(world: StandIn, request: Request, _body: Any) -> Any:
    found = _found(world.submissions, request.path_params["id"])
    now = time.monotonic()
    shown = [cents for cents, at in found["bonuses"] if at <= now]
    return {**{name: value for name, value in found.items() if name != "bonuses"}, "bonus_payments": shown}


def _transition_submission(world: StandIn, request: Request, body: Any) -> Any:
    found = _found(world.submissions, request.path_params["id"])
    before, after = {
        "APPROVE": ("AWAITING REVIEW", "APPROVED"),
        "REJECT": ("AWAITING REVIEW", "REJECTED"),
        "UNREJECT": ("REJECTED", "AWAITING REVIEW"),
    }[body["action"]]
    if found["status"] not in (before, after):
        raise Refuse(400, "Bad request", f"A submission that is {found['status']} can't be {after}.")
    found["status"] = after
    return {name: value for name, value in found.items() if name not in ("bonuses", "return_requested")}


def _request_return(world: StandIn, request: Request, body: Any) -> Any:
    found = _found(world.submissions, request.path_params["id"])
    found["return_requested"] = "2026-11-01T11:00:00Z"
    world.messages.append(
        {"recipient_id": found["participant"], "study_id": found["study_id"], "body": body["request_return_reasons"][0]}
    )
    return {name: found[name] for name in ("id", "status", "participant", "return_requested")}


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
        about = {"id": "m", "sender_id": "researcher", "sent_at": "2026-11-01T10:00:00Z", "channel_id": "c"}
        return {"results": [{**about, "body": one["body"]} for one in world.messages if one["recipient_id"] == user]}
    world.messages.append({name: body[name] for name in ("recipient_id", "study_id", "body")})
    return None


def _bulk_messages(world: StandIn, _request: Request, body: Any) -> Any:
    for one in body["ids"]:
        world.messages.append({"recipient_id": one, "study_id": body["study_id"], "body": body["body"]})


def _secrets(world: StandIn, request: Request, body: Any) -> Any:
    if request.method == "GET":
        workspace = request.query_params["workspace_id"]
        known = world.secrets.get(workspace)
        return {"results": [] if known is None else [{"id": "s", "value": known, "workspace_id": workspace}]}
    world.secrets[body["workspace_id"]] = f"secret-{world.new_id()}"
    return {"id": "s", "value": world.secrets[body["workspace_id"]], "workspace_id": body["workspace_id"]}


def _subscriptions(world: StandIn, request: Request, body: Any) -> Any:
    if request.method == "GET":
        return {"results": [one for one in world.subscriptions.values() if one["is_enabled"]]}
    if body["workspace_id"] not in world.secrets:
        raise Refuse(400, "Bad request", "Create a secret for the workspace first.")
    made = {**body, "id": world.new_id(), "is_enabled": False}
    world.subscriptions[made["id"]] = made
    return made


def _confirm_subscription(world: StandIn, request: Request, body: Any) -> Any:
    found = _found(world.subscriptions, request.path_params["id"])
    if body["secret"] != f"confirm-{found['id']}":
        raise Refuse(400, "Bad request", "The secret is not the one that was given.")
    found["is_enabled"] = True
    return found


def _balance(world: StandIn, _request: Request, _body: Any) -> Any:
    return {"currency_code": world.currency, "total_balance": 100_000, "available_balance": 100_000}


def _me(_world: StandIn, _request: Request, _body: Any) -> Any:
    return {"id": "researcher", "email": "owner@example.org"}


def _workspaces(world: StandIn, _request: Request, _body: Any) -> Any:
    return {"results": [{"id": one, "title": "Ours"} for one in world.workspaces]}


def _project(_world: StandIn, request: Request, _body: Any) -> Any:
    return {"id": request.path_params["id"], "title": "Studies", "type": "PRIVATE", "workspace": WORKSPACE}


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
        if wrong == "strange":
            return JSONResponse({"id": 5, "results": {"a": 1}, "bonus_payments": ["much"]})
        asked, status, answered = OPERATIONS[called]
        wrong_request = [] if asked is None else mistakes(body, asked)
        if wrong_request:
            world.mistakes += [f"{called}: {one}" for one in wrong_request]
            return JSONResponse(Refuse(400, "Bad request", wrong_request).body, 400)
        try:
            told = act(world, request, body)
        except Refuse as refusal:
            world.mistakes += [f"{called} refused: {one}" for one in mistakes(refusal.body, ERROR)]
            return JSONResponse(refusal.body, refusal.status)
        if answered is not None:
            world.mistakes += [f"{called} answers: {one}" for one in mistakes(told, answered)]
        if wrong == "lost":
            return Response("upstream error", 502)  # done, but nobody hears of it
        if wrong == "cut":
            return Response(b"{", headers={"content-length": "1000"})
        if answered is None:
            return Response(status_code=status)
        confirm = {"X-Hook-Secret": f"confirm-{told['id']}"} if called == "POST /hooks/subscriptions/" else None
        return JSONResponse(told, status, headers=confirm)


ROUTES: dict[str, tuple[Act, list[str]]] = {
    "/users/me/": (_me, ["GET"]),
    "/workspaces/": (_workspaces, ["GET"]),
    "/projects/{id}/": (_project, ["GET"]),
    "/studies/": (_studies, ["GET", "POST"]),
    "/studies/{id}/": (_study, ["GET", "PATCH"]),
    "/studies/{id}/transition/": (_transition_study, ["POST"]),
    "/studies/{id}/test-study": (_test_study, ["POST"]),
    "/study-cost-calculator/": (_cost, ["POST"]),
    "/workspaces/{id}/balance/": (_balance, ["GET"]),
    "/hooks/secrets/": (_secrets, ["GET", "POST"]),
    "/hooks/subscriptions/": (_subscriptions, ["GET", "POST"]),
    "/hooks/subscriptions/{id}/": (_confirm_subscription, ["POST"]),
    "/messages/bulk/": (_bulk_messages, ["POST"]),
    "/submissions/": (_submissions, ["GET"]),
    "/submissions/bulk-approve/": (_bulk_approve, ["POST"]),
    "/submissions/bonus-payments/": (_set_up_bonuses, ["POST"]),
    "/submissions/{id}/": (_submission, ["GET"]),
    "/submissions/{id}/transition/": (_transition_submission, ["POST"]),
    "/submissions/{id}/request-return/": (_request_return, ["POST"]),
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
    assert world.mistakes == []
