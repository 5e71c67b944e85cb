"""Addresses: where the site listens, and the base of the links for workers."""

import errno
import re
import socket
from urllib.parse import urlsplit

from chorale.model import UserError

_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}  # noqa: S104 - what such a host is called here


def reserve(host: str, port: int) -> socket.socket:
    """Bind a socket to the address, so that no other process can take it.

    It does not listen yet: connections are refused until the site can answer them. SO_REUSEADDR must be set before
    listening, because connections of an earlier site may linger at the address.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror:
        raise UserError(f"{host!r} is not an address of this machine. Use --host 127.0.0.1 or 0.0.0.0.") from None
    # The second attempt is for an address where connections of an earlier site still linger. Two sockets with
    # SO_REUSEADDR can both be bound to an address, so the option is switched off again after binding.
    for reuse in (False, True):
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
            bound.bind(address)
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, False)
        except OSError as error:
            bound.close()
            if reuse or error.errno != errno.EADDRINUSE:
                raise UserError(why_not(error, host, port)) from None
        else:
            break
    return bound


def why_not(error: OSError, host: str, port: int) -> str:
    """The reason why a site can't listen at the address, and what to do."""
    if error.errno == errno.EADDRINUSE:
        return f"port {port} of {host} is in use. Stop what is using it, or choose another one with --port."
    if error.errno == errno.EACCES:
        return f"port {port} needs special permission. Choose a port above 1023 with --port."
    return f"can't listen on {host}, port {port}: {error.strerror}. Choose others with --host and --port."


def port_of(bound: socket.socket) -> int:
    return int(bound.getsockname()[1])


def is_preview(public_url: str | None, host: str) -> bool:
    """Whether a site can be reached only from this computer."""
    name = host if public_url is None else urlsplit(public_url).hostname or ""
    return name == "localhost" or name.startswith("127.") or name == "::1"


def local_url(host: str, port: int) -> str:
    """The URL at which this machine reaches a site that listens at the address."""
    name = _ANYWHERE.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}"


def checked_public_url(address: str) -> str:
    """The site's public address, without a trailing slash."""
    return _checked(address, "Write it like https://study.example.org, without a path.", r"/?")


def checked_study_url(address: str) -> str:
    """The address of one study. On a server with several studies, it ends with the study's name."""
    return _checked(
        address, "Write it like https://study.example.org, or https://study.example.org/NAME.", r"(?:/[\w-]+)?/?"
    )


def study_url(address: str, recorded: str | None) -> str:
    """The named address, as the base of a study's links.

    `recorded` is the address at which the study was last served. The path of `recorded` is added to a named address
    without a path, since a server with several studies has a path for each.
    """
    named = checked_study_url(address)
    return named if urlsplit(named).path else named + urlsplit(recorded or "").path


def _checked(address: str, like: str, path: str) -> str:
    mistake = UserError(f"{address!r} is not the address of a site. {like}")
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port  # urlsplit parses the port only here, and it may not be a number
    except ValueError:
        raise mistake from None
    more = not re.fullmatch(path, parts.path, re.ASCII) or parts.query or parts.fragment
    # No user name or password, and no spaces: people paste these links elsewhere.
    if parts.scheme not in ("http", "https") or not host or more or not re.fullmatch(r"[\w.:\[\]-]+", parts.netloc):
        raise mistake
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
