"""Several studies on one server: each with its own application and database, under its own path.

A study's application sees only its own paths, as if it were alone. Paths sent to a browser have the study's prefix:
templates write `{{ root }}`, cookies are limited to it, and it is added to redirects here.
"""

import logging
import re
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from urllib.parse import urlsplit

from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chorale.model import UserError
from chorale.web.accounts import MOST_STUDIES, Accounts
from chorale.web.front import FrontOptions, create_front
from chorale.web.logs import logged_study
from chorale.web.sessions import FRONT_COOKIE

RESERVED = frozenset({"static", "sign-in", "sign-out", "enter", "password", "api", "openapi"})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_OF_FRONT = {"/sign-in": "work", "/login": "console"}
"""Pages of a study that the front page replaces, because there is one sign-in."""
_ACCOUNT = "/console/account"
_SIGNING_OUT = frozenset({"/leave", "/logout"})
log = logging.getLogger("chorale.web")


def check_names(names: Sequence[str]) -> None:
    """Refuse names of study folders that can't be used as paths."""
    if len(names) > MOST_STUDIES:
        raise UserError(f"A server can have {MOST_STUDIES} studies at most, not {len(names)}. Start a second server.")
    for name in names:
        if not _NAME.fullmatch(name) or name.lower() in RESERVED:
            raise UserError(
                f"The folder name {name[:60]!r} can't be part of an address. Use up to 40 letters, digits, - and _, "
                f"beginning with a letter or digit, and none of {', '.join(sorted(RESERVED))}."
            )
    folded = [name.lower() for name in names]
    if twice := next((name for name in names if folded.count(name.lower()) > 1), None):
        raise UserError(f"Two studies are in folders named {twice!r} and would have the same address. Rename one.")


def create_server(
    apps: Mapping[str, FastAPI], closed: Collection[str], accounts: Accounts, options: FrontOptions
) -> ASGIApp:
    """The ASGI application of several studies, by their names. `closed` are those that could not be opened."""
    served, not_served = dict(apps), set(closed)
    for name, app in apps.items():
        accounts.add(name, app.state.site)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as started:
            for name, app in apps.items():
                with logged_study(name):
                    try:
                        await started.enter_async_context(app.router.lifespan_context(app))
                    except Exception:
                        log.exception("this study could not be started, and is not served")
                        del served[name]
                        not_served.add(name)
                        accounts.remove(name)
            yield

    parts = {part.name: part for app in apps.values() for part in app.state.parts}
    return Studies(served, create_front(accounts, not_served, parts.values(), lifespan, options), accounts)


class Studies:
    """Dispatches requests to their study, and all others to the front page."""

    def __init__(self, apps: Mapping[str, FastAPI], front: FastAPI, accounts: Accounts) -> None:
        self._apps = apps
        self._front = front
        self._accounts = accounts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name, _, rest = scope["path"].removeprefix("/").partition("/") if scope["type"] == "http" else ("", "", "")
        if name not in self._apps:
            await self._front(scope, receive, send)
            return
        path = f"/{rest}"
        if scope["method"] == "GET" and path in _OF_FRONT:
            await self._front({**scope, "path": f"/sign-in/{name}/{_OF_FRONT[path]}"}, receive, send)
            return
        if scope["method"] == "GET" and path == _ACCOUNT and FRONT_COOKIE in Request(scope).cookies:
            await RedirectResponse("/password", 303)(scope, receive, send)
            return
        if scope["method"] == "POST" and path in _SIGNING_OUT:
            send = self._signing_out(Request(scope), send)
        with logged_study(name):
            # `raw_path` is not changed, since request signatures cover it.
            given = {**scope, "path": path, "headers": _own_cookies(scope)}
            await self._apps[name](given, receive, _prefixed(scope, f"/{name}", send))

    def _signing_out(self, request: Request, send: Send) -> Send:
        """Sign people out of all studies when they sign out of one, since devices may be shared."""

        async def signed_out(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < HTTPStatus.BAD_REQUEST:
                await self._accounts.sign_out(await self._accounts.signed_in(request))
                deleted = Response()
                deleted.delete_cookie(FRONT_COOKIE)
                MutableHeaders(scope=message).append("set-cookie", deleted.headers["set-cookie"])
            await send(message)

        return signed_out


def _own_cookies(scope: Scope) -> list[tuple[bytes, bytes]]:
    """The headers of a request with only the first cookie of every name, which has the longest path.

    A browser may still have one for all paths, from a time when a single study was served here.
    """
    own: dict[bytes, bytes] = {}
    others: list[tuple[bytes, bytes]] = []
    for name, value in scope["headers"]:
        if name != b"cookie":
            others.append((name, value))
            continue
        for pair in value.split(b";"):
            own.setdefault(pair.partition(b"=")[0].strip(), pair.strip())
    return [*others, (b"cookie", b"; ".join(own.values()))] if own else others


def _prefixed(scope: Scope, root: str, send: Send) -> Send:
    """Add a study's path to its application's redirects."""
    host = Headers(scope=scope).get("host", "")

    async def prefixed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            location = headers.get("location")
            if location is not None:
                headers["location"] = _under(root, location, host)
        await send(message)

    return prefixed


def _under(root: str, location: str, host: str) -> str:
    """A study's URL with its path on the server; other URLs stay unchanged.

    >>> _under("/a", "/console?done=gold", "h"), _under("/a", "http://h/console", "h"), _under("/a", "//x/y", "h")
    ('/a/console?done=gold', 'http://h/a/console', '//x/y')
    """
    parts = urlsplit(location)
    is_here = not parts.netloc or (parts.scheme in ("http", "https") and parts.netloc == host)
    return parts._replace(path=root + parts.path).geturl() if is_here and parts.path.startswith("/") else location
