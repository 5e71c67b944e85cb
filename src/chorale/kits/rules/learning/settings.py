"""What can be set about learning rules."""

import re
from dataclasses import dataclass
from typing import Literal, get_args

from chorale.model import UserError

Method = Literal["dirt", "cover", "binc", "global"]
METHODS: tuple[Method, ...] = get_args(Method)
LOCAL_METHODS: tuple[Method, ...] = ("dirt", "cover", "binc")
Normalisation = Literal["none", "case", "plain"]

_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[KMGT]?)i?B?", re.IGNORECASE)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SMALLEST = 2**30
"""Python and its libraries take a good part of less."""


@dataclass(frozen=True, slots=True)
class Pruning:
    """What is left out. Counts that are compared with others (mutual information) are of everything, pruned or not."""

    min_predicate: int = 10
    """Predicates with fewer extractions are left out."""
    min_filler: int = 1
    """Fillers that a slot of a predicate has fewer times are left out there."""
    max_predicates: int = 1000
    """Fillers of more slots than this, over all predicates, are left out: they cost much and tell little."""
    min_shared: int = 1
    """Both slots of two predicates must have so many fillers in common."""
    min_score: float = 0.01
    """Rules with a lower score are not written."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What the computation may use. None of it changes the result."""

    engine: str = "duckdb"
    memory: int = 4 * 2**30
    """Bytes that the embedded engine may hold; what does not fit goes to the disk."""
    threads: int = 2
    buckets: int | None = None
    """Into how many parts pairs of predicates are divided; by their number and the memory if None."""


def methods_of(text: str) -> tuple[Method, ...]:
    """Methods separated by commas, in the order of `METHODS`.

    >>> methods_of("binc, dirt")
    ('dirt', 'binc')
    """
    named = [part.strip().lower() for part in text.split(",")]
    for name in named:
        if name not in METHODS:
            raise UserError(f"--method takes {', '.join(METHODS)}, or several separated by commas (found {name!r}).")
    return tuple(method for method in METHODS if method in named)


def bytes_of(text: str) -> int:
    """A size such as 4GB or 1500 MB, in units of 1024.

    >>> bytes_of("1.5GB")
    1610612736
    """
    match = _SIZE.fullmatch(text.strip())
    size = 0 if match is None else int(float(match["number"]) * _UNITS[match["unit"].upper()])
    if size < _SMALLEST:
        raise UserError(f"--memory takes a size of at least 1GB, such as 4GB (found {text!r}).")
    return size
