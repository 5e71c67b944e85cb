"""A crowd that works through the same HTTP interface people use.

It knows nothing of what its people are like: how they answer and how long they take are functions they bring along.
"""

import asyncio
import secrets
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2 as httpx

from chorale.model import Answer, ArrivalSettings

POLL_SECONDS = 0.25
# How often people look in, with nothing to do, before they leave for good.
PATIENCE = 12
READING_SECONDS = 4.0
TRIES = 8
FIRST_RETRY_SECONDS = 0.25
LONGEST_RETRY_SECONDS = 5.0
WORTH_RETRYING = frozenset({408, 425, 429})
FOR_GOOD = frozenset({"dropped", "limit"})
MAY_CHANGE = frozenset({"wait", "paused"})


@dataclass(frozen=True, slots=True)
class CrowdMember:
    external_id: str
    """What the panel calls them."""
    answer: Callable[[str, Mapping[str, Any]], Answer]
    """From a stage's name and what a worker sees of an item to an answer."""
    seconds: Callable[[str], float]
    """How long the next item of a stage takes them."""


@dataclass(frozen=True, slots=True)
class CrowdSite:
    """The site a crowd works on."""

    base_url: str
    arrival: ArrivalSettings
    stages: Sequence[str]
    """Their names, in order."""
    speed: float = 1.0
    """How much faster than the world the site's clock runs."""


class CrowdError(Exception):
    """The site did not let the crowd work."""


async def run_crowd(place: CrowdSite, people: Sequence[CrowdMember], on_submitted: Callable[[], None]) -> None:
    """Let everybody work until they find nothing more to do; `on_submitted` is called for every accepted answer."""
    # Made once: reading the certificates takes longer than a visit.
    certificates = ssl.create_default_context()
    await asyncio.gather(*(_visit(place, person, certificates, on_submitted) for person in people))


async def _visit(
    place: CrowdSite, person: CrowdMember, certificates: ssl.SSLContext, on_submitted: Callable[[], None]
) -> None:
    async with httpx.AsyncClient(
        base_url=place.base_url,
        verify=certificates,
        # A proxy meant for the world outside has no business between the crowd and its site.
        trust_env=False,
        timeout=60,
        limits=httpx.Limits(max_connections=1),
    ) as client:
        visit = _Visit(place, person, client, on_submitted)
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
        arrival = self._place.arrival
        visit = {
            arrival.worker_parameter: self._person.external_id,
            arrival.study_parameter: arrival.study_id or "simulated",
            arrival.session_parameter: secrets.token_hex(12),
        }
        for response in (
            await self._send("GET", "/join", params=visit),
            await self._send("POST", "/consent", data={"agree": "yes"}),
        ):
            if response.is_error:
                raise CrowdError(f"{response.request.url.path} answered {response.status_code}: {response.text[:200]}")

    async def work(self) -> None:
        """Go from stage to stage, and stay as long as there may be more to do in one of them."""
        stages = list(self._place.stages)
        looked_in_vain = 0
        while looked_in_vain < PATIENCE:
            outcomes = {stage: await self._work_in(stage) for stage in stages}
            if not any(status in MAY_CHANGE for status, _ in outcomes.values()):
                return
            stages = [stage for stage, (status, _) in outcomes.items() if status not in FOR_GOOD]
            looked_in_vain = 0 if any(answered for _, answered in outcomes.values()) else looked_in_vain + 1
            await asyncio.sleep(POLL_SECONDS)

    async def _work_in(self, stage: str) -> tuple[str, int]:
        """Answer items as long as there are any; why there are no more, and how many were answered."""
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
        answer = await self._answer_to(stage, assignment)
        if answer is None:
            return
        outcome = await self._ask(
            f"/api/assignments/{assignment['id']}/submit",
            {
                "key": secrets.token_urlsafe(16),
                "answer": answer,
                "duration_ms": round(seconds * 1000),
            },
        )
        if outcome["status"] == "lease_ended":
            return
        self._on_submitted()
        if outcome["feedback"] is not None:
            await self._take(READING_SECONDS)

    async def _answer_to(self, stage: str, assignment: Mapping[str, Any]) -> Answer | None:
        """What somebody answers, in two steps where the form has two; None if their time is over."""
        answer, step = self._person.answer(stage, assignment["item"]), assignment["first"]
        if step is None:
            return answer
        first = {name: answer[name] for name in step["fields"]}
        revealed = await self._ask(f"/api/assignments/{assignment['id']}/first", {"answer": first})
        if revealed["status"] == "lease_ended":
            return None
        return {**self._person.answer(stage, revealed["item"]), **revealed["first"]}

    async def _take(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self._place.speed)

    async def _ask(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What the interface says. A lease that ended is part of working; any other refusal is not."""
        response = await self._send("POST", path, json=body)
        answer: dict[str, Any] = response.json()
        if response.is_success:
            return answer
        if answer["error"]["code"] == "lease_ended":
            return {"status": "lease_ended"}
        raise CrowdError(f"{path} answered {response.status_code}: {answer['error']['message']}")

    async def _send(self, method: str, path: str, **content: Any) -> httpx.Response:
        """Send as the page does: again and again, with the same key, until there is a usable answer."""
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
        raise CrowdError(f"the site at {self._place.base_url} can't be reached.")
