"""Settings for learning rules."""

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
"""With less memory, Python and its libraries would take too large a part of it."""


@dataclass(frozen=True, slots=True)
class Pruning:
    """Pruning thresholds. Mutual information is computed before pruning."""

    min_predicate: int = 10
    """Predicates with fewer extractions are left out."""
    min_filler: int = 1
    """Fillers that occur less often in a slot are left out there."""
    max_predicates: int = 1000
    """Fillers in more slots than this, over all predicates, are left out: they are expensive and uninformative."""
    min_shared: int = 1
    """Minimum number of common fillers in each slot of two predicates."""
    min_score: float = 0.01
    """Rules with a lower score are not written."""


@dataclass(frozen=True, slots=True)
class Resources:
    """Computing resources. They do not change the result."""

    engine: str = "duckdb"
    memory: int = 4 * 2**30
    """Memory limit of the embedded engine in bytes. Other data go to disk."""
    threads: int = 2
    buckets: int | None = None
    """Number of partitions of the pairs. None: chosen by the number of pairs and the memory."""


def methods_of(text: str) -> tuple[Method, ...]:
    """Parses methods separated by commas, in the order of `METHODS`.

    >>> methods_of("binc, dirt")
    ('dirt', 'binc')
    """
    named = [part.strip().lower() for part in text.split(",")]
    for name in named:
        if name not in METHODS:
            raise UserError(f"Invalid --method {name!r}. Use one or more of {', '.join(METHODS)}, separated by commas.")
    return tuple(method for method in METHODS if method in named)


def bytes_of(text: str) -> int:
    """Parses a size such as 4GB or 1500 MB, in units of 1024.

    >>> bytes_of("1.5GB")
    1610612736
    """
    match = _SIZE.fullmatch(text.strip())
    size = 0 if match is None else int(float(match["number"]) * _UNITS[match["unit"].upper()])
    if size < _SMALLEST:
        raise UserError(f"--memory takes a size of at least 1GB, such as 4GB (found {text!r}).")
    return size
