"""State shared by all routes: the open study, its pages and sessions, and async access to the store."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple, Protocol, TypeVar

from fastapi import Request, Response

from chorale.engine import sessions
from chorale.engine.running import Study
from chorale.model import Refusal
from chorale.model.wording import worded
from chorale.platforms.prolific import Prolific
from chorale.store.sessions import SessionClaim
from chorale.web.outages import Outages
from chorale.web.pages import Pages
from chorale.web.sessions import WORKER_COOKIE, Sessions
from chorale.web.signed_links import SignedLinks

T = TypeVar("T")
PAGE_OF = "x-chorale-worker"


def nobody() -> Refusal:
    """The refusal of requests without a session."""
    message = worded("You are not signed in. Open your link again. Everything you submitted is saved.")
    return Refusal("signed_out", message, 401)


class OwnedStudy(NamedTuple):
    """Another study on the server, with its owner's name."""

    name: str
    title: str
    owner: str


class OtherAccounts(Protocol):
    """Accounts in other studies on the same server."""

    async def password_hash(self, request: Request, study: str, login: str, password: str) -> str | None:
        """The password hash of an account in another study, if this is the correct password."""
        ...

    async def remember_link(self, request: Request, response: Response, study: str, name: str) -> None:
        """Add a study to the front page of a browser that has opened the study's console by a link."""
        ...

    async def is_member(self, request: Request, study: str) -> bool:
        """Whether an annotator of a study is signed in at the front page with this browser."""
        ...

    async def owned(self, request: Request, study: str) -> list[OwnedStudy]:
        """The other studies whose owner is signed in with this browser."""
        ...

    async def deactivate_in(self, studies: Iterable[OwnedStudy], name: str, reason: str) -> int:
        """Deactivate an annotator in other studies; returns the number of studies with an account."""
        ...

    async def revoke_in(self, studies: Iterable[OwnedStudy], name: str, role: str, reason: str) -> int:
        """Revoke the link of an expert or viewer in other studies; returns the number of studies with one."""
        ...


@dataclass(frozen=True)
class Site:
    study: Study
    pages: Pages
    sessions: Sessions
    public_url: str | None
    """The public address of the site, if known; otherwise, the address of the request."""
    prolific: Prolific | None = None
    """A Prolific client to verify arrivals; None without a token."""
    open_by_url: bool = True
    """Whether people can join by a platform's link."""
    signed_links: SignedLinks | None = None
    """The verifier of signed links, if the study uses them."""
    folder: Path | None = None
    """The study's folder; None if it is not available here."""
    outages: Outages = field(default_factory=Outages)
    """Outages of the database, for the log."""
    process: str = field(default_factory=lambda: token_hex(8))
    """This server's name among those that use the database."""
    root: str = ""
    """The path prefix: `/NAME` for one of several studies, empty for a single study."""
    other_accounts: OtherAccounts | None = None
    """Accounts in other studies on the same server."""

    @property
    def secure_cookies(self) -> bool:
        """Whether cookies are sent only over an encrypted connection."""
        return self.public_url is not None and self.public_url.startswith("https:")

    def set_cookie(self, response: Response, name: str, value: str, seconds: int) -> None:
        response.set_cookie(
            name, value, seconds, path=self.root or "/", httponly=True, samesite="lax", secure=self.secure_cookies
        )

    def delete_cookie(self, response: Response, name: str) -> None:
        response.delete_cookie(name, path=self.root or "/", httponly=True, samesite="lax", secure=self.secure_cookies)

    def base_url(self, request: Request) -> str:
        return self.public_url or str(request.base_url).rstrip("/") + self.root

    @property
    def name_on_server(self) -> str:
        """The study's name on a server with several studies."""
        return self.root.removeprefix("/")

    async def owned_elsewhere(self, request: Request) -> list[OwnedStudy]:
        """The other studies on this server that the signed-in person also owns."""
        return [] if self.other_accounts is None else await self.other_accounts.owned(request, self.name_on_server)

    async def is_member_here(self, request: Request) -> bool:
        """Whether the front page of the server has an annotator of this study signed in with this browser."""
        return self.other_accounts is not None and await self.other_accounts.is_member(request, self.name_on_server)

    def url(self, path: str) -> str:
        """A path of this study with its prefix on the server."""
        return self.root + path

    async def write(self, work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Run `work(tx, study, …)` in a transaction; the result is on disk when this returns."""
        return await asyncio.wrap_future(self.study.store.write(lambda tx: work(tx, self.study, *args, **kwargs)))

    async def read(self, work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        return await asyncio.wrap_future(self.study.store.read(lambda tx: work(tx, self.study, *args, **kwargs)))

    async def write_as(self, request: Request, work: Callable[..., T], *args: Any) -> T:
        """Run `work(tx, study, worker, …)` for the requesting worker, in the transaction that checks their session."""
        return await self.write(sessions.as_worker, self.claim(request), work, *args)

    async def read_as(self, request: Request, work: Callable[..., T], *args: Any) -> T:
        return await self.read(sessions.as_worker, self.claim(request), work, *args)

    def claim(self, request: Request) -> SessionClaim:
        """The claimed worker of a request, to be checked in the transaction that acts for them.

        Only signed cookies count.
        """
        session = self.sessions.worker(request.cookies.get(WORKER_COOKIE))
        if session is None:
            raise nobody()
        # A page names its worker. On a shared device, another worker may have signed in since it was opened, and the
        # answer on it is not theirs.
        if request.headers.get(PAGE_OF, session.pseudonym) != session.pseudonym:
            raise Refusal(
                "signed_out",
                worded(
                    "Someone else has signed in on this device. Open your own link again. Your answers are kept here."
                ),
                401,
            )
        return session
