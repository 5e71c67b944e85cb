"""Talking to Prolific over HTTP: with patience, and without ever asking twice for what must happen once.

What can be asked again without harm is, after a lost connection, a server's failure or a rate limit. What can't (to
pay) is asked again only if the first request surely was not taken: there was no connection, or a rate limit turned it
away. Otherwise it raises `InDoubtError`, and whoever asked finds out from what Prolific reports.
"""

import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

import httpx2 as httpx

from chorale.model import UserError

ADDRESS = "https://api.prolific.com"
PAGE = 100
MOST_GROUPS = 1_000
TRIES = 6
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
BUSY = 429
TIMED_OUT = 408


class RefusedError(UserError):
    """Prolific refused a request."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class InDoubtError(UserError):
    """Prolific may or may not have done what it was asked to."""


@dataclass(frozen=True, slots=True)
class RemoteStudy:
    """A study as Prolific has it."""

    id: str
    status: str
    places: int
    total_cost: int | None
    """Rewards and fees of all places, in minor units."""
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reported:
    """A submission as Prolific has it."""

    id: str
    study_id: str
    participant: str
    status: str
    code: str | None
    bonuses: tuple[int, ...] = ()
    """In minor units. Told only when one submission is asked for."""


@dataclass(frozen=True, slots=True)
class BonusBatch:
    """BonusBatch that are set up, and not paid yet."""

    id: str
    amount: int | None
    total: int | None
    """With fees and taxes, in minor units."""


class Prolific:
    """Prolific's interface, for one token. The token goes into a header of every request and nowhere else."""

    def __init__(
        self,
        token: str,
        address: str = ADDRESS,
        *,
        tries: int = TRIES,
        timeout: float = 30.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._address = address.rstrip("/")
        self._tries = tries
        self._sleep = sleep
        if not (token.isascii() and token.isprintable()):
            raise UserError("The token has letters that no token of Prolific's has. Copy it again.")
        headers = {"Authorization": f"Token {token}"}
        self._client = httpx.Client(
            base_url=f"{self._address}/api/v1", headers=headers, timeout=timeout, verify=_certificates()
        )

    def __enter__(self) -> "Prolific":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def me(self) -> Mapping[str, Any]:
        """The account the token belongs to."""
        return self._ask("GET", "/users/me/")

    # Studies

    def study(self, study_id: str) -> RemoteStudy:
        return _study(self._ask("GET", f"/studies/{_safe(study_id)}/"))

    def study_named(self, marker: str) -> RemoteStudy | None:
        """The study of that internal name, if there is one."""
        for study in self._pages("/studies/", {}):
            if study.get("internal_name") == marker:
                return self.study(_id(study))
        return None

    def create_study(self, body: Mapping[str, Any]) -> RemoteStudy:
        return _study(self._ask("POST", "/studies/", body, once=True))

    def change_study(self, study_id: str, changes: Mapping[str, Any]) -> RemoteStudy:
        return _study(self._ask("PATCH", f"/studies/{_safe(study_id)}/", changes))

    def publish(self, study_id: str) -> RemoteStudy:
        return _study(self._ask("POST", f"/studies/{_safe(study_id)}/transition/", {"action": "PUBLISH"}))

    # Submissions

    def submissions(self, study_id: str) -> Iterator[Reported]:
        for submission in self._pages("/submissions/", {"study": study_id}):
            yield _reported({**submission, "study_id": submission.get("study_id", study_id)})

    def submission(self, submission_id: str) -> Reported:
        return _reported(self._ask("GET", f"/submissions/{_safe(submission_id)}/"))

    def approve(self, submission_ids: Sequence[str]) -> None:
        """Approving what is approved changes nothing."""
        self._ask("POST", "/submissions/bulk-approve/", {"submission_ids": list(submission_ids)})

    def reject(self, submission_id: str, reason: str, category: str) -> None:
        body = {"action": "REJECT", "message": reason, "rejection_category": category}
        self._ask("POST", f"/submissions/{_safe(submission_id)}/transition/", body)

    # Money

    def set_up_bonuses(self, study_id: str, bonuses: Sequence[tuple[str, int]]) -> BonusBatch:
        """Name bonuses, by submission and amount in minor units. Nothing is paid yet, so it can be done again."""
        lines = "\n".join(f"{submission_id},{Decimal(amount) / 100:.2f}" for submission_id, amount in bonuses)
        answer = self._ask("POST", "/submissions/bonus-payments/", {"study_id": study_id, "csv_bonuses": lines})
        return BonusBatch(_id(answer), _minor(answer.get("amount")), _minor(answer.get("total_amount")))

    def pay_bonuses(self, bonuses_id: str) -> None:
        """Pay what was set up. Asked twice, Prolific pays twice."""
        self._ask("POST", f"/bulk-bonus-payments/{_safe(bonuses_id)}/pay/", {}, once=True)

    # People

    def workspace_of(self, project: str | None) -> str:
        """The workspace a project is in; without one, the only workspace of the account."""
        if project is not None:
            workspaces = [self._ask("GET", f"/projects/{_safe(project)}/").get("workspace")]
        else:
            workspaces = [row.get("id") for row in _rows(self._ask("GET", "/workspaces/"))]
        if len(workspaces) == 1 and isinstance(workspaces[0], str):
            return workspaces[0]
        raise UserError(
            f"The account has {len(workspaces)} workspaces on Prolific. Say with `project` in [prolific] where "
            "studies are to be made."
        )

    def create_group(self, name: str, workspace: str) -> str:
        return _id(self._ask("POST", "/participant-groups/", {"name": name, "workspace_id": workspace}, once=True))

    def group_named(self, name: str, workspace: str) -> str | None:
        # Groups are paged in another way than everything else.
        for group in self._pages("/participant-groups/", {"workspace_id": workspace, "limit": str(MOST_GROUPS)}):
            if group.get("name") == name:
                return _id(group)
        return None

    def group_members(self, group_id: str) -> set[str]:
        answer = self._ask("GET", f"/participant-groups/{_safe(group_id)}/participants/")
        return {str(one.get("participant_id", "")) for one in _rows(answer)}

    def add_to_group(self, group_id: str, participants: Sequence[str]) -> None:
        """Adding who is in changes nothing."""
        body = {"participant_ids": list(participants)}
        self._ask("POST", f"/participant-groups/{_safe(group_id)}/participants/", body)

    def message(self, participant: str, study_id: str, body: str) -> None:
        self._ask("POST", "/messages/", {"recipient_id": participant, "study_id": study_id, "body": body}, once=True)

    def messages_with(self, participant: str) -> list[str]:
        """Messages to and from a participant, as far back as Prolific lists them."""
        answer = self._ask("GET", "/messages/", parameters={"user_id": participant})
        return [str(one.get("body", "")) for one in _rows(answer)]

    # How it is asked

    def _pages(self, path: str, parameters: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
        page = 1
        while True:
            asked = {**parameters, "page": str(page), "page_size": str(PAGE)}
            answer = self._ask("GET", path, parameters=asked)
            yield from _rows(answer)
            following = (answer.get("_links") or {}).get("next") or {}
            if not following.get("href"):
                return
            page += 1

    def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        parameters: Mapping[str, str] | None = None,
        once: bool = False,
    ) -> dict[str, Any]:
        pause = FIRST_PAUSE
        for attempt in range(1, self._tries + 1):
            last = attempt == self._tries
            try:
                response = self._client.request(method, path, json=body, params=parameters)
            except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout):
                if last:
                    raise self._unreachable() from None
            except httpx.TransportError:
                if once:
                    raise InDoubtError(_IN_DOUBT) from None
                if last:
                    raise self._unreachable() from None
            else:
                if response.status_code == BUSY and not last:
                    pause = _asked_to_wait(response, pause)
                elif once and (response.is_server_error or response.status_code == TIMED_OUT):
                    raise InDoubtError(_IN_DOUBT)
                elif not response.is_server_error or last:
                    return self._understood(response)
            self._sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        raise AssertionError("unreachable")

    def _understood(self, response: httpx.Response) -> dict[str, Any]:
        if response.is_success:
            if not response.content:
                return {}
            try:
                body = response.json()
            except ValueError:
                body = None
            if isinstance(body, dict):
                return body
            if isinstance(body, str):
                return {}  # "It is being done", in words: to pay and to approve are answered so
            raise InDoubtError(
                f"{self._address} answered, but not as Prolific does. Check the address, or whether a proxy is between."
            )
        status = response.status_code
        if status == 401:
            raise RefusedError(
                "Prolific does not know this token. Make a new one there, or check that it was copied whole.", status
            )
        if response.is_server_error or status == BUSY:
            raise UserError(f"Prolific can't answer now ({status}). Nothing was changed; try again later.")
        raise RefusedError(f"Prolific refused ({status}): {_why(response)}", status)

    def _unreachable(self) -> UserError:
        return UserError(
            f"Prolific can't be reached at {self._address}. Check the connection and try again; nothing is lost."
        )


_STRANGE = "Prolific answered in a way that this Chorale does not know. Update Chorale; nothing was changed here."
_IN_DOUBT = "The connection to Prolific broke off, and it is not known whether it did what it was asked to."


@cache
def _certificates() -> ssl.SSLContext:
    """Read once: that takes longer than a request."""
    return ssl.create_default_context()


def _asked_to_wait(response: httpx.Response, otherwise: float) -> float:
    asked = response.headers.get("retry-after", "")
    return min(float(asked), LONGEST_PAUSE) if asked.isdigit() else otherwise


def _why(response: httpx.Response) -> str:
    """What Prolific says is wrong. Its errors come in several shapes."""
    try:
        body = response.json()
    except ValueError:
        return "it gives no reason."
    error = body.get("error", body) if isinstance(body, dict) else body
    detail = error.get("detail", error.get("title", error)) if isinstance(error, dict) else error
    return _flat(detail)[:500]


def _flat(detail: object) -> str:
    match detail:
        case dict():
            return "; ".join(f"{key}: {_flat(value)}" for key, value in detail.items())
        case list():
            return ", ".join(map(_flat, detail))
    return str(detail)


def _study(fields: Mapping[str, Any]) -> RemoteStudy:
    return RemoteStudy(
        _id(fields),
        str(fields.get("status", "")),
        _minor(fields.get("total_available_places")) or 0,
        _minor(fields.get("total_cost")),
        fields,
    )


def _reported(submission: Mapping[str, Any]) -> Reported:
    return Reported(
        id=_id(submission),
        study_id=str(submission.get("study_id") or ""),
        participant=str(submission.get("participant") or submission.get("participant_id") or ""),
        # Written with a space, an underscore or a hyphen, depending on where it is asked for.
        status=str(submission.get("status", "")).upper().replace("_", " ").replace("TIMED OUT", "TIMED-OUT"),
        code=None if submission.get("entered_code") is None else str(submission["entered_code"]),
        bonuses=tuple(_minor(bonus) or 0 for bonus in submission.get("bonus_payments") or ()),
    )


def _minor(amount: object) -> int | None:
    try:
        return round(float(amount)) if isinstance(amount, int | float | str) and amount != "" else None
    except (ValueError, OverflowError):
        raise InDoubtError(_STRANGE) from None


def _id(fields: Mapping[str, Any]) -> str:
    if not isinstance(fields.get("id"), str):
        raise InDoubtError(_STRANGE)
    return str(fields["id"])


def _rows(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if "results" not in answer:
        raise InDoubtError(_STRANGE)
    rows = answer["results"] or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InDoubtError(_STRANGE)
    return rows


def _safe(name: str) -> str:
    """A name that stays one part of an address."""
    if not name or not all(letter.isalnum() or letter in "-_" for letter in name) or not name.isascii():
        raise UserError(f"{name[:80]!r} is not an id of Prolific's.")
    return name
