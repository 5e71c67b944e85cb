"""A simulated crowd that works through the site's HTTP API like real people, in simulated time.

Functions define how its people answer and how long they take.
"""

import asyncio
import secrets
import ssl
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Any

import httpx2 as httpx

from chorale.model import Answer, ArrivalSettings

POLL_SECONDS = 30.0
# How many times people without work check for new work before they leave.
PATIENCE = 12
READING_SECONDS = 4.0
TRIES = 8
FIRST_RETRY_SECONDS = 0.25
LONGEST_RETRY_SECONDS = 5.0
WORTH_RETRYING = frozenset({408, 425, 429})
FINAL = frozenset({"dropped", "limit"})
MAY_CHANGE = frozenset({"wait", "paused"})
STATES = {"lease_ended": "lease_ended", "no_such_stage": "locked"}
"""Refusals that are not errors, with the state that each stands for. Stages of other arms are refused as unknown."""


class SimulatedTime:
    """A clock that stops while anybody waits for the site, and jumps to the next action.

    So a site sees the same times on a busy machine as on an idle one. People act one after the other.
    """

    def __init__(self, start: int) -> None:
        self._now = float(start)
        self._queue: list[tuple[float, int, asyncio.Event]] = []
        self._order = count()
        self._idle = asyncio.Event()

    def __call__(self) -> int:
        """Milliseconds since 1970 UTC, as a study's clock."""
        return int(self._now)

    async def pass_by(self, seconds: float) -> None:
        """Wait for some simulated seconds, while others act."""
        woken = asyncio.Event()
        heappush(self._queue, (self._now + seconds * 1000, next(self._order), woken))
        self._idle.set()
        await woken.wait()

    async def run(self, visits: Sequence[Coroutine[Any, Any, None]]) -> None:
        """Run visits to their ends, one step of one visit at a time. The first error ends them all."""
        self._idle = asyncio.Event()
        try:
            async with asyncio.TaskGroup() as group:
                for visit in visits:
                    self._idle.clear()
                    group.create_task(visit).add_done_callback(lambda _: self._idle.set())
                    await self._idle.wait()
                while self._queue:
                    self._now, _, woken = heappop(self._queue)
                    self._idle.clear()
                    woken.set()
                    await self._idle.wait()
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            self._queue.clear()


@dataclass(frozen=True, slots=True)
class CrowdMember:
    external_id: str
    """Their ID on the recruitment platform."""
    answer: Callable[[str, Mapping[str, Any]], Answer]
    """From a stage's name and an item's view to an answer."""
    seconds: Callable[[str], float]
    """The time for the next item of a stage."""
    link: str | None = None
    """The path of their invitation. Without one they join by the platform's URL parameters."""
    cookies: Mapping[str, str] = field(default_factory=dict)
    """The cookies of somebody who is already signed in, such as an expert, and neither joins nor consents."""
    after: float = 0.0
    """Seconds until they join."""
    stages: Sequence[str] | None = None
    """The stages they look at. Default: all of the site."""
    forget: Callable[[str], object] = str
    """Forgets the latest answer in a stage, so that it is not copied. Default: nothing is copied."""


@dataclass(frozen=True, slots=True)
class CrowdSite:
    """The site a crowd works on."""

    base_url: str
    arrival: ArrivalSettings
    stages: Sequence[str]
    """The names of its stages, in order."""
    time: SimulatedTime
    """The clock of the site's study."""


class CrowdError(Exception):
    """The site refused what the crowd sent."""


class InvalidAnswerError(CrowdError):
    """The site refused an answer."""


async def run_crowd(place: CrowdSite, people: Sequence[CrowdMember], on_submitted: Callable[[], None]) -> None:
    """Let everybody work until no work is left; `on_submitted` is called for every accepted answer."""
    # Created once: loading certificates takes longer than a visit.
    certificates = ssl.create_default_context()
    await place.time.run([_visit(place, person, certificates, on_submitted) for person in people])


async def _visit(
    place: CrowdSite, person: CrowdMember, certificates: ssl.SSLContext, on_submitted: Callable[[], None]
) -> None:
    async with httpx.AsyncClient(
        base_url=place.base_url,
        verify=certificates,
        # Ignore proxy settings between the crowd and its site.
        trust_env=False,
        timeout=60,
        limits=httpx.Limits(max_connections=1),
        cookies=dict(person.cookies),
    ) as client:
        visit = _Visit(place, person, client, on_submitted)
        await place.time.pass_by(person.after)
        await visit.arrive()
        await visit.work()


class _Visit:
    """One person in one browser."""

    def __init__(
        self, place: CrowdSite, person: CrowdMember, client: httpx.AsyncClient, on_submitted: Callable[[], None]
    ) -> None:
        self._place = place
        self._person = person
        self._client = client
        self._on_submitted = on_submitted

    async def arrive(self) -> None:
        if self._person.cookies:
            return
        for response in (
            await self._join(),
            await self._send("POST", "/consent", data={"agree": "yes"}),
        ):
            if response.is_error:
                raise CrowdError(f"{response.request.url.path} answered {response.status_code}: {response.text[:200]}")

    async def _join(self) -> httpx.Response:
        if self._person.link is not None:
            return await self._send("GET", self._person.link)
        arrival = self._place.arrival
        visit = {
            arrival.worker_parameter: self._person.external_id,
            arrival.study_parameter: arrival.study_id or "simulated",
            arrival.session_parameter: secrets.token_hex(12),
        }
        return await self._send("GET", "/join", params=visit)

    async def work(self) -> None:
        """Go from stage to stage, and stay as long as there may be more to do in one of them."""
        stages = list(self._place.stages if self._person.stages is None else self._person.stages)
        looked_in_vain = 0
        while looked_in_vain < PATIENCE:
            outcomes = {stage: await self._work_in(stage) for stage in stages}
            if not any(status in MAY_CHANGE for status, _ in outcomes.values()):
                return
            stages = [stage for stage, (status, _) in outcomes.items() if status not in FINAL]
            looked_in_vain = 0 if any(answered for _, answered in outcomes.values()) else looked_in_vain + 1
            await self._place.time.pass_by(POLL_SECONDS)

    async def _work_in(self, stage: str) -> tuple[str, int]:
        """Answer items until there are no more; returns the reason and the number of answers."""
        answered = 0
        while True:
            offer = await self._ask(f"/api/stages/{stage}/next")
            if offer["status"] != "item":
                return offer["status"], answered
            await self._answer(stage, offer["assignment"])
            answered += 1

    async def _answer(self, stage: str, assignment: Mapping[str, Any]) -> None:
        seconds = self._person.seconds(stage)
        await self._take(seconds)
        try:
            outcome = await self._submit(stage, assignment, seconds)
        except InvalidAnswerError:
            # An answer copied from another item need not fit this one.
            self._person.forget(stage)
            outcome = await self._submit(stage, assignment, seconds)
        if outcome["status"] == "lease_ended":
            return
        self._on_submitted()
        if outcome["feedback"] is not None:
            await self._take(READING_SECONDS)

    async def _submit(self, stage: str, assignment: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        answer = await self._answer_to(stage, assignment)
        if answer is None:
            return {"status": "lease_ended"}
        return await self._ask(
            f"/api/assignments/{assignment['id']}/submit",
            {
                "key": secrets.token_urlsafe(16),
                "answer": answer,
                "duration_ms": round(seconds * 1000),
            },
        )

    async def _answer_to(self, stage: str, assignment: Mapping[str, Any]) -> Answer | None:
        """The answer, in two steps if the form has two; None if the time limit has passed."""
        answer, step = self._person.answer(stage, assignment["item"]), assignment["first"]
        if step is None:
            return answer
        first = {name: answer[name] for name in step["fields"]}
        revealed = await self._ask(f"/api/assignments/{assignment['id']}/first", {"answer": first})
        if revealed["status"] == "lease_ended":
            return None
        return {**self._person.answer(stage, revealed["item"]), **revealed["first"]}

    async def _take(self, seconds: float) -> None:
        await self._place.time.pass_by(seconds)

    async def _ask(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The API's reply. Every refusal is an error, except those in `STATES`."""
        response = await self._send("POST", path, json=body)
        answer: dict[str, Any] = response.json()
        if response.is_success:
            return answer
        if answer["error"]["code"] in STATES:
            return {"status": STATES[answer["error"]["code"]]}
        kind = InvalidAnswerError if answer["error"]["code"] == "invalid_answer" else CrowdError
        raise kind(f"{path} answered {response.status_code}: {answer['error']['message']}")

    async def _send(self, method: str, path: str, **content: Any) -> httpx.Response:
        """Send a request as the page does: repeatedly with the same key, until there is a usable answer."""
        pause = FIRST_RETRY_SECONDS
        for _ in range(TRIES):
            try:
                response = await self._client.request(method, path, **content)
            except httpx.TransportError:
                pass
            else:
                if not response.is_server_error and response.status_code not in WORTH_RETRYING:
                    return response
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_RETRY_SECONDS)
        raise CrowdError(f"the site at {self._place.base_url} can't be reached")
