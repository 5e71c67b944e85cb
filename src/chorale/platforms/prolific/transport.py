"""HTTP requests to Prolific, with retries that never repeat what must happen once.

Idempotent requests are repeated after a lost connection, a server failure or a rate limit. Others, such as payments,
are repeated only if the first request was certainly not accepted: there was no connection, or it was rate-limited.
Otherwise `InDoubtError` is raised, and the caller checks Prolific's reports.
"""

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Self

import httpx2 as httpx

from chorale.model import UserError

ADDRESS = "https://api.prolific.com"
PAGE = 100
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


class InvalidIdError(UserError):
    """A text that cannot be an ID on Prolific."""


class InDoubtError(UserError):
    """It is unknown whether Prolific has carried out a request."""


class Transport:
    """Requests to Prolific with one token, which is used only in a request header."""

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
            raise UserError("The token has characters that Prolific's tokens do not have. Copy it again.")
        headers = {"Authorization": f"Token {token}"}
        self._client = httpx.Client(
            base_url=f"{self._address}/api/v1", headers=headers, timeout=timeout, verify=_certificates()
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def pages(self, path: str, parameters: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
        page = 1
        while True:
            asked = {**parameters, "page": str(page), "page_size": str(PAGE)}
            answer = self.ask("GET", path, parameters=asked)
            yield from rows_of(answer)
            following = (answer.get("_links") or {}).get("next") or {}
            if not following.get("href"):
                return
            page += 1

    def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        parameters: Mapping[str, str] | None = None,
        once: bool = False,
    ) -> dict[str, Any]:
        return self.understood(self.response(method, path, body, parameters=parameters, once=once))

    def response(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        parameters: Mapping[str, str] | None = None,
        once: bool = False,
    ) -> httpx.Response:
        """Send a request, and repeat it if that is safe. `once`: repeat it only if it was certainly not accepted."""
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
                    return response
            self._sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        raise AssertionError("unreachable")

    def understood(self, response: httpx.Response) -> dict[str, Any]:
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
                return {}  # a text that confirms the request, as for payments and approvals
            raise InDoubtError(
                f"{self._address} answered, but it is not Prolific's API. Check the address, and whether a proxy "
                "intercepts requests."
            )
        status = response.status_code
        if status == 401:
            raise RefusedError(
                "Prolific does not accept this token. Check that it was copied completely, or create a new one.", status
            )
        if response.is_server_error or status == BUSY:
            raise UserError(f"Prolific can't answer now ({status}). Try again later; nothing is lost.")
        raise RefusedError(f"Prolific refused ({status}): {_why(response)}", status)

    def _unreachable(self) -> UserError:
        return UserError(
            f"Prolific can't be reached at {self._address}. Check the connection and try again; nothing is lost."
        )


STRANGE = "This version of Chorale does not understand Prolific's answer. Update Chorale; nothing was changed here."
_IN_DOUBT = (
    "The connection to Prolific was lost, and it is unknown whether Prolific carried out the request. Check this on "
    "Prolific before you try again."
)


@cache
def _certificates() -> ssl.SSLContext:
    """Cached: loading certificates takes longer than a request."""
    return ssl.create_default_context()


def _asked_to_wait(response: httpx.Response, otherwise: float) -> float:
    asked = response.headers.get("retry-after", "")
    return min(float(asked), LONGEST_PAUSE) if asked.isdigit() else otherwise


def _why(response: httpx.Response) -> str:
    """Prolific's error message, which has several formats."""
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


def rows_of(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows of a list."""
    if "results" not in answer:
        raise InDoubtError(STRANGE)
    rows = answer["results"] or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InDoubtError(STRANGE)
    return rows
