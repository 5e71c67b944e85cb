"""Accounts of one person in several studies on a server, and access to each of them with one sign-in.

An account belongs to a study: its name, password and state are in that study's database, and nothing done in one study
changes an account in another. A sign-in tries the password in every study, and grants access where it is correct. Each
study signs its grants with its own key.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import TypeVar

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from chorale.engine import team as members
from chorale.engine.running import Study
from chorale.model.logins import login_of
from chorale.model.problems import UnavailableError, UserError
from chorale.store import Tx, epochs, requesters, team
from chorale.web import staff
from chorale.web.arriving import signed_in_worker
from chorale.web.doorkeeper import DEVICE_SECONDS, Doorkeeper, TryKeys
from chorale.web.links import OWNER
from chorale.web.serving import OwnedStudy, Site
from chorale.web.sessions import FRONT_COOKIE, STAFF_SECONDS, WORKER_SECONDS, Grant

T = TypeVar("T")
MEMBER = "member"
FRONT_DEVICE_COOKIE = "chorale_front_device"
MOST_STUDIES = 20
"""Maximum number of studies whose grants fit into a cookie."""
_BETWEEN, _WITHIN = "|", "~"


@dataclass(frozen=True, slots=True)
class Account:
    """An account in one study: of an annotator, an owner, or an expert or viewer with a link."""

    study: str
    """The study's name on the server."""
    kind: str
    """`member`, or the role in the console."""
    id: int
    name: str
    password_hash: str | None
    version: int
    epoch: str

    @property
    def grant(self) -> Grant:
        return Grant(self.kind, self.id, self.version, self.epoch)


class Accounts:
    """The accounts in the databases of all studies on a server."""

    def __init__(self) -> None:
        self.sites: dict[str, Site] = {}
        self.passwords = staff.Passwords()
        self._doorkeepers: dict[str, Doorkeeper] = {}

    def add(self, name: str, site: Site) -> None:
        self.sites[name] = site
        self._doorkeepers[name] = Doorkeeper(site.study.store, site.study.clock, site.set_cookie, is_team=True)

    def remove(self, name: str) -> None:
        """Remove a study that is not served."""
        del self.sites[name], self._doorkeepers[name]

    async def with_password(self, request: Request, password: str, *names: str) -> list[Account]:
        """The accounts with these names and this password; raises TooManyTriesError after too many attempts."""
        accounts = {(one.study, one.kind): one for name in names for one in await self._named(name)}
        return await self._with_password(request, names[0], password, list(accounts.values()))

    async def password_hash(self, request: Request, study: str, login: str, password: str) -> str | None:
        right = await self._with_password(request, login, password, await self._elsewhere(study, login))
        return right[0].password_hash if right else None

    async def _elsewhere(self, study: str, login: str) -> list[Account]:
        """The accounts of an annotator in all studies except one."""
        accounts = await self._named(login)
        return [account for account in accounts if account.kind == MEMBER and account.study != study]

    async def _with_password(
        self, request: Request, name: str, password: str, accounts: list[Account]
    ) -> list[Account]:
        devices, login = self._known_devices(request, accounts), login_of(name)
        async with AsyncExitStack() as trying:
            # In every study, even if nobody has this name: timing must not reveal which names exist.
            counting = [
                trying.enter_async_context(each.counted(request, login, devices[study]))
                for study, each in self._doorkeepers.items()
            ]
            counted = await asyncio.gather(*counting, return_exceptions=True)
            noted = {study: self._counted(study, keys) for study, keys in zip(self._doorkeepers, counted, strict=True)}
            hashes = {account.password_hash for account in accounts} - {None}
            matching = {one for one in hashes or {None} if await self.passwords.matches(one, password)}
        right = [account for account in accounts if account.password_hash in matching]
        if right:
            # Failed attempts stay counted: a successful sign-in to one account must not allow more guesses at another.
            guessed_at = {one.study for one in accounts if one.password_hash not in (None, *matching)}
            forgetting = (
                self._where_it_can(study, self._doorkeepers[study].forget(keys))
                for study, keys in noted.items()
                if keys is not None and study not in guessed_at
            )
            await asyncio.gather(*forgetting)
        return right

    def _counted(self, study: str, keys: TryKeys | BaseException) -> TryKeys | None:
        """The keys by which an attempt was counted in a study; None if its database is unavailable."""
        if isinstance(keys, UnavailableError):
            self.sites[study].outages.failed(keys)
            return None
        if isinstance(keys, BaseException):
            raise keys
        return keys

    async def _named(self, name: str) -> list[Account]:
        by_study = await asyncio.gather(*(self._read(study, _named, study, name) for study in self.sites))
        return [account for some in by_study for account in some or ()]

    async def _read(self, study: str, work: Callable[..., T], *args: object) -> T | None:
        return await self._where_it_can(study, self.sites[study].read(work, *args))

    async def _where_it_can(self, study: str, work: Awaitable[T]) -> T | None:
        """The result of work in a study's database; None if it is unavailable, so that other studies still work."""
        try:
            return await work
        except UnavailableError as error:
            self.sites[study].outages.failed(error)
            return None

    def _known_devices(self, request: Request, accounts: Iterable[Account]) -> dict[str, str | None]:
        """By study, the device cookie of a browser that was signed in to all of these accounts there.

        In a study without such accounts, there is nothing to guess, so a browser known elsewhere counts as known.
        """
        cookie = request.cookies.get(FRONT_DEVICE_COOKIE, "")
        known = {(study, grant.kind, grant.id): token for study, grant, token in self._granted(cookie, DEVICE_SECONDS)}
        tokens: dict[str, list[str | None]] = {}
        for account in accounts:
            if account.password_hash is not None:
                tokens.setdefault(account.study, []).append(known.get((account.study, account.kind, account.id)))
        devices = {study: of_accounts[0] for study, of_accounts in tokens.items() if all(of_accounts)}
        anywhere = next(iter(devices.values()), None)
        return {study: devices.get(study) if study in tokens else anywhere for study in self.sites}

    def _granted(self, cookie: str, seconds: int) -> list[tuple[str, Grant, str]]:
        """The grants in a cookie that were signed by their studies."""
        granted = []
        for part in cookie.split(_BETWEEN)[: 2 * MOST_STUDIES]:
            study, _, token = part.partition(_WITHIN)
            site = self.sites.get(study)
            grant = None if site is None else site.sessions.front(token, seconds)
            if grant is not None and site is not None:
                # Console grants expire after the same time as console sessions.
                is_over = (
                    grant.kind != MEMBER and seconds == WORKER_SECONDS and not site.sessions.front(token, STAFF_SECONDS)
                )
                granted += [] if is_over else [(study, grant, token)]
        return granted

    async def signed_in(self, request: Request) -> list[Account]:
        """The accounts that a browser is signed in to, except those whose sessions were ended."""
        granted = self._granted(request.cookies.get(FRONT_COOKIE, ""), WORKER_SECONDS)
        accounts = await asyncio.gather(
            *(self._read(study, _granted_account, study, grant) for study, grant, _ in granted)
        )
        return [account for account in accounts if account is not None]

    def remember(self, response: Response, accounts: Iterable[Account], *, secure: bool) -> Response:
        """Sign a browser in to these accounts, and remember the device after it signs out."""
        cookie = self._cookie(accounts)
        for name, seconds in ((FRONT_COOKIE, WORKER_SECONDS), (FRONT_DEVICE_COOKIE, DEVICE_SECONDS)):
            response.set_cookie(name, cookie, seconds, httponly=True, samesite="lax", secure=secure)
        return response

    def _cookie(self, accounts: Iterable[Account]) -> str:
        return _BETWEEN.join(
            f"{account.study}{_WITHIN}{self.sites[account.study].sessions.front_token(account.grant)}"
            for account in accounts
        )

    async def remember_link(self, request: Request, response: Response, study: str, name: str) -> None:
        """Add a study to the front page of a browser that has opened the study by a link.

        A browser that is signed in with another name is not changed.
        """
        site = self.sites[study]
        row = await site.read(_requester, name)
        account = None if row is None else await site.read(_of_staff, study, row)
        known = await self.signed_in(request)
        if account is None or any(login_of(one.name) != login_of(name) for one in known):
            return
        others = [one for one in known if (one.study, one.kind) != (study, account.kind)]
        cookie = self._cookie([*others, account])
        response.set_cookie(
            FRONT_COOKIE, cookie, WORKER_SECONDS, httponly=True, samesite="lax", secure=site.secure_cookies
        )

    async def is_member(self, request: Request, study: str) -> bool:
        """Whether an annotator of a study is signed in at the front page with this browser."""
        return any((one.study, one.kind) == (study, MEMBER) for one in await self.signed_in(request))

    async def owned(self, request: Request, study: str) -> list[OwnedStudy]:
        """The other studies whose owner is signed in with this browser."""
        signed_in = await self.signed_in(request)
        owners = {one.study: one.name for one in signed_in if one.kind == OWNER and one.study != study}
        titles = {name: self.sites[name].study.settings.study.title for name in owners}
        return sorted((OwnedStudy(name, titles[name], by) for name, by in owners.items()), key=lambda one: one.title)

    async def deactivate_in(self, studies: Iterable[OwnedStudy], name: str, reason: str) -> int:
        """Deactivate an annotator in the owner's studies; returns the number of studies with an account."""
        done = 0
        for study in studies:
            # A study without this name is not an error.
            with suppress(UserError):
                done += await self.sites[study.name].write(members.deactivate, name, study.owner, reason)
        return done

    async def revoke_in(self, studies: Iterable[OwnedStudy], name: str, role: str, reason: str) -> int:
        """Revoke a console link in the owner's studies; returns the number of studies with one."""
        return sum([await self.sites[study.name].write(_revoked, name, role, study.owner, reason) for study in studies])

    async def enter(self, account: Account, path: str) -> Response:
        """Redirect a person to a path of a study, with a session there."""
        site = self.sites[account.study]
        if account.kind == MEMBER:
            session = await site.write(members.sign_in, account.name, account.version)
            return signed_in_worker(site, session, site.url(path))
        row = await site.read(_requester_by_id, account.id)
        if row is None:
            return RedirectResponse("/", 303)
        return await staff.signed_in(site, row, site.url(path))

    async def sign_out(self, accounts: Iterable[Account]) -> None:
        """End all sessions of these accounts, on all devices."""
        for account in accounts:
            end = members.end_sessions if account.kind == MEMBER else staff.end_sessions
            await self.sites[account.study].write(end, _login(account))

    async def change_password(self, accounts: Iterable[Account], password_hash: str) -> list[Account]:
        """Change the password of these accounts, and end their sessions; returns the updated accounts."""
        changed = []
        for account in accounts:
            site = self.sites[account.study]
            if account.kind == MEMBER:
                await site.write(members.change_password, account.name, account.version, password_hash)
            else:
                await site.write(staff.change_password, account.name, password_hash)
            changed += [one for one in await site.read(_named, account.study, account.name) if one.kind == account.kind]
        return changed


def _login(account: Account) -> str:
    return login_of(account.name) if account.kind == MEMBER else account.name


def _named(tx: Tx, _study: Study, study: str, name: str) -> list[Account]:
    """The accounts with a name in a study: annotator and owner."""
    member, row = team.find(tx, login_of(name)), requesters.find_requester(tx, name)
    owner = _of_staff(tx, _study, study, row) if row is not None and row.role == OWNER else None
    return [account for account in (_of_member(tx, study, member), owner) if account is not None]


def _granted_account(tx: Tx, _study: Study, study: str, grant: Grant) -> Account | None:
    """The account of a grant, unless its sessions have ended since."""
    account = (
        _of_member(tx, study, team.find_by_id(tx, grant.id))
        if grant.kind == MEMBER
        else _of_staff(tx, _study, study, requesters.find_by_id(tx, grant.id))
    )
    return account if account is not None and account.grant == grant else None


def _of_member(tx: Tx, study: str, member: team.Member | None) -> Account | None:
    if member is None or member.deactivated_at is not None:
        return None
    mark = epochs.current(tx).mark
    return Account(study, MEMBER, member.id, member.name, member.password_hash, member.session_version, mark)


def _of_staff(tx: Tx, _study: Study, study: str, row: requesters.RequesterRow | None) -> Account | None:
    if row is None or row.revoked_at is not None:
        return None
    return Account(study, row.role, row.id, row.name, row.password_hash, row.session_version, epochs.current(tx).mark)


def _requester(tx: Tx, _study: Study, name: str) -> requesters.RequesterRow | None:
    return requesters.find_requester(tx, name)


def _requester_by_id(tx: Tx, _study: Study, number: int) -> requesters.RequesterRow | None:
    return requesters.find_by_id(tx, number)


def _revoked(tx: Tx, study: Study, name: str, role: str, by: str, reason: str) -> bool:
    asked = {(one.name, one.role) for one in staff.colleagues(tx, study) if one.state != "revoked"}
    return (name, role) in asked and staff.revoke(tx, study, name, role, by, reason)
