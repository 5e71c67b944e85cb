"""Connections that send too slowly, too much or nothing at all are closed."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

REQUEST_SECONDS = 30.0
"""Time limit from the start of a connection, or the first byte of a request, to its last byte."""
MOST_HEADER_BYTES = 32 * 1024
DRAIN_SECONDS = 1.0
"""How long a stopping server waits for requests on open connections."""
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class _HeadersTooLargeError(Exception):
    """Stops parsing a request; `send_400_response` answers it."""


class LimitedProtocol(HttpToolsProtocol):
    """The server's protocol with time and size limits."""

    _timer: asyncio.TimerHandle | None = None
    _header_bytes: int | None = 0
    """Bytes of the current request's headers; None if no request is being read."""
    _parsed_bytes = 0
    """Bytes of the parsed address and headers, since one read may contain a complete request and part of the next."""
    _is_draining = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._header_bytes is not None:
            self._header_bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing() or self._header_bytes is None:
            return
        if self._header_bytes > MOST_HEADER_BYTES:
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def on_url(self, url: bytes) -> None:
        self._count_parsed(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count_parsed(len(name) + len(value))
        super().on_header(name, value)

    def _count_parsed(self, more: int) -> None:
        self._parsed_bytes += more
        if self._parsed_bytes > MOST_HEADER_BYTES:
            raise _HeadersTooLargeError

    def send_400_response(self, msg: str) -> None:
        if self._parsed_bytes <= MOST_HEADER_BYTES:
            super().send_400_response(msg)
            return
        self.transport.write(_TOO_LARGE)
        self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._parsed_bytes = 0
        if self._timer is None:
            self._wait_for_request()
        if self._header_bytes is None:
            self._header_bytes = 0

    def on_headers_complete(self) -> None:
        self._header_bytes = None
        super().on_headers_complete()
        if self._is_draining:
            self.cycle.keep_alive = False

    def shutdown(self) -> None:
        """Accept one more request, which may be in transit, before an idle connection is closed."""
        self._is_draining = True
        if self._is_idle():
            self.loop.call_later(DRAIN_SECONDS, self._close_if_idle)
        else:
            super().shutdown()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _close_if_idle(self) -> None:
        if self._is_idle() and not self.transport.is_closing():
            self.transport.close()

    def on_message_complete(self) -> None:
        self._stop_waiting()
        super().on_message_complete()

    def _wait_for_request(self) -> None:
        self._timer = self.loop.call_later(REQUEST_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self.transport.close()
