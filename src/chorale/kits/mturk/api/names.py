"""IDs in the format that scripts expect: capital letters and digits."""

import re
from hashlib import sha256
from random import Random

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_PSEUDONYM = re.compile(r"w-([2-9a-hj-km-np-z]{4,40})")
_WORKER = re.compile(r"A([2-9A-HJ-KM-NP-Z]{4,40})")
NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""Assignment ID of a page in preview."""


def new_id(rng: Random) -> str:
    """A random ID of 30 characters, as on Mechanical Turk."""
    return "3" + "".join(rng.choices(_ALPHABET, k=29))


def id_from(*parts: str) -> str:
    """A deterministic ID derived from its parts."""
    digest = int.from_bytes(sha256("\0".join(parts).encode()).digest(), "big")
    signs = ""
    for _ in range(29):
        digest, place = divmod(digest, len(_ALPHABET))
        signs += _ALPHABET[place]
    return "3" + signs


def group_id(type_name: str) -> str:
    """ID of the group that lists the HITs of a type."""
    return id_from("group", type_name)


def worker_id(pseudonym: str) -> str:
    """A worker's pseudonym as a worker ID.

    >>> worker_id("w-abc234defg")
    'AABC234DEFG'
    """
    match = _PSEUDONYM.fullmatch(pseudonym)
    if match is None:
        raise ValueError(f"{pseudonym!r} is not a pseudonym")
    return f"A{match[1].upper()}"


def pseudonym(worker: str) -> str | None:
    """The pseudonym of a worker ID, or None if it is not valid.

    >>> pseudonym("AABC234DEFG"), pseudonym("A1")
    ('w-abc234defg', None)
    """
    match = _WORKER.fullmatch(worker)
    return None if match is None else f"w-{match[1].lower()}"
