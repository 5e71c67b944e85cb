"""Middleware for all requests and responses: size limits, same-origin check, security headers."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chorale.web.bare_refusals import bare_refusal

MOST_BYTES = 256 * 1024
TOO_LARGE = f"The request is larger than {MOST_BYTES // 1024} kB. Send less."
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def content_policy(*, framed: bool, media: bool, hosts: Sequence[str] = ()) -> str:
    """The content security policy of a page with frames or media, possibly from other servers."""
    policy = CONTENT_SECURITY_POLICY
    if media:
        allowed = " ".join(("'self'", *hosts))
        policy = policy.replace("img-src 'self' data:", f"img-src {allowed} data:") + f"; media-src {allowed}"
    return f"{policy}; frame-src 'self'" if framed else policy


HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Guard:
    """Refuse oversized bodies and cross-site changes; add the security headers."""

    def __init__(self, app: ASGIApp, from_frames: frozenset[str] = frozenset()) -> None:
        self.app = app
        self._from_frames = from_frames

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = _refusal(scope["method"], scope["path"] in self._from_frames, headers)
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send))
            return
        await self.app(scope, _limited(receive), _with_headers(send))


def _refusal(method: str, from_frame: bool, headers: Headers) -> Response | None:
    length = headers.get("content-length", "0")
    if not length.isdecimal():
        return bare_refusal(headers, 400, "bad_request", "The Content-Length header is not a number.")
    if int(length) > MOST_BYTES:
        return bare_refusal(headers, 413, "too_large", TOO_LARGE)
    if method not in SAFE and not from_frame and not _same_origin(headers):
        return bare_refusal(
            headers, 403, "cross_site", "This request came from another site. Open the page here and try again."
        )
    return None


def _same_origin(headers: Headers) -> bool:
    """Whether a request has the same origin. Programs that send no origin can't abuse a browser's session."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    try:
        return origin is None or urlsplit(origin).netloc == headers.get("host", "")
    except ValueError:  # not an address
        return False


def _limited(receive: Receive) -> Receive:
    """Count the bytes received, since a chunked body has no declared length."""
    received = 0

    async def counting() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MOST_BYTES:
            raise HTTPException(413, TOO_LARGE)
        return message

    return counting


def _with_headers(send: Send) -> Send:
    async def secured(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return secured
