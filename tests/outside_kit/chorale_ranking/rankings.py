"""Rankings, best first: how they are written, how far two agree, and how many become one."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import fsum

Ranking = Sequence[str]


def parse_ranking(text: str) -> tuple[str, ...]:
    """`b>a>c` as names; ValueError if one is missing or there twice."""
    names = tuple(name.strip() for name in text.split(">"))
    if not all(names) or len(set(names)) != len(names):
        raise ValueError(f"{text!r} is not a ranking such as b>a>c")
    return names


def pairs(ranking: Ranking) -> set[tuple[str, str]]:
    """Every two texts, the better one first."""
    return set(combinations(ranking, 2))


def agreement(left: Ranking, right: Ranking) -> float:
    """The share of pairs that two rankings order alike, from 0 to 1."""
    ours, theirs = pairs(left), pairs(right)
    most = max(len(ours), len(theirs))
    return len(ours & theirs) / most if most else 1.0


def kendall_tau(left: Ranking, right: Ranking) -> float:
    """Kendall's tau of two rankings of the same texts, from −1 to 1."""
    return 2 * agreement(left, right) - 1


def borda_points(votes: Iterable[tuple[Ranking, float]]) -> Mapping[str, float]:
    """The points of every text: a vote gives one, times its weight, for each text ranked below."""
    given: dict[str, list[float]] = {}
    for ranking, weight in votes:
        for place, name in enumerate(ranking):
            given.setdefault(name, []).append(weight * (len(ranking) - 1 - place))
    # Exact sums do not depend on the order of votes.
    return {name: fsum(points) for name, points in given.items()}


def borda_ranking(points: Mapping[str, float]) -> list[str]:
    """The text with most points first; of equals, the one whose name sorts first."""
    return sorted(points, key=lambda name: (-points[name], name))
