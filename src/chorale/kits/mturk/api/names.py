"""Ids in the shape scripts expect: capital letters and digits."""

import re
from hashlib import sha256
from random import Random

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_PSEUDONYM = re.compile(r"w-([2-9a-hj-km-np-z]{4,40})")
_WORKER = re.compile(r"A([2-9A-HJ-KM-NP-Z]{4,40})")
NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""What a page gets for an assignment id while somebody only looks at it."""


def new_id(rng: Random) -> str:
    """An id that nobody can guess: 30 signs, as Mechanical Turk's are."""
    return "3" + "".join(rng.choices(_ALPHABET, k=29))


def id_from(*parts: str) -> str:
    """An id that is the same whenever it is made from the same parts."""
    digest = int.from_bytes(sha256("\0".join(parts).encode()).digest(), "big")
    signs = ""
    for _ in range(29):
        digest, place = divmod(digest, len(_ALPHABET))
        signs += _ALPHABET[place]
    return "3" + signs


def group_id(type_name: str) -> str:
    """The id of the group that a type's HITs are listed in."""
    return id_from("group", type_name)


def worker_id(pseudonym: str) -> str:
    """A worker's pseudonym, spelled like a worker's id.

    >>> worker_id("w-abc234defg")
    'AABC234DEFG'
    """
    match = _PSEUDONYM.fullmatch(pseudonym)
    if match is None:
        raise ValueError(f"{pseudonym!r} is not a pseudonym")
    return f"A{match[1].upper()}"


def pseudonym(worker: str) -> str | None:
    """The pseudonym behind a worker's id; None if it can't be one.

    >>> pseudonym("AABC234DEFG"), pseudonym("A1")
    ('w-abc234defg', None)
    """
    match = _WORKER.fullmatch(worker)
    return None if match is None else f"w-{match[1].lower()}"
