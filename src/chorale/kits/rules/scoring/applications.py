"""Selects the judged applications of rules that count, and reports the others."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chorale.files.source import MOST_PROBLEMS
from chorale.kits.rules.files.rules import JudgedApplication, JudgedFile
from chorale.metrics.score_table import ScoreTable
from chorale.model import Problem, UserError
from chorale.model.plural import plural

Meaningless = Literal["out", "count"]
"""Treatment of applications with a meaningless left side: left out, or counted as not entailing."""

Contradictions = Literal["majority", "both", "refuse"]
"""Contradictory judgments: the majority counts (ties are left out), each answer counts once, or an error is raised."""


class _Placed(NamedTuple):
    """An application with its file."""

    file: str
    application: JudgedApplication


@dataclass(frozen=True, slots=True, eq=False)
class Usable:
    """The applications that count, and counts of those left out."""

    applications: tuple[JudgedApplication, ...]
    counts: Mapping[str, int]
    notes: tuple[str, ...]

    @property
    def entails(self) -> NDArray[np.bool_]:
        return np.array([application.entails for application in self.applications], dtype=np.bool_)

    def columns(self) -> dict[str, dict[str, str]]:
        """Columns by which applications can be clustered for resampling."""
        sides = [(str(number), each.rule) for number, each in enumerate(self.applications)]
        return {
            "rule": {item: f"{rule.lhs} -> {rule.rhs}" for item, rule in sides},
            "lhs": {item: rule.lhs for item, rule in sides},
            "rhs": {item: rule.rhs for item, rule in sides},
        }

    def table(self) -> ScoreTable:
        return ScoreTable("Judged applications", ("outcome", "number#"), list(self.counts.items()))


def usable_applications(
    files: Mapping[str, JudgedFile],
    min_confidence: float,
    meaningless: Meaningless = "out",
    contradictions: Contradictions = "majority",
) -> Usable:
    """The applications of all files with enough confidence, without duplicates. `contradictions` handles contradictory
    judgments.
    """
    notes = [note for file in files.values() for note in file.notes]
    unsure = 0
    judged: dict[Any, list[_Placed]] = {}
    for name, file in files.items():
        for application in file.applications:
            if application.confidence is not None and application.confidence < min_confidence:
                unsure += 1
                continue
            # Without phrases, two rows with the same rule are two applications.
            own = application.phrases if application.phrases is not None else (name, application.line)
            judged.setdefault((application.rule, own), []).append(_Placed(name, application))
    both_ways = [placed for placed in judged.values() if len({one.application.entails for one in placed}) > 1]
    if both_ways and contradictions == "refuse":
        raise UserError("The judged applications contradict each other", _both_ways(both_ways)[:MOST_PROBLEMS])
    counted = [one for placed in judged.values() for one in _counted(placed, contradictions)]
    kept = [one for one in counted if not one.meaningless or meaningless == "count"]
    without_meaning = sum(one.meaningless for one in counted)
    undecided = sum(not _counted(placed, contradictions) for placed in both_ways)
    repeated = sum(len(placed) - 1 for placed in judged.values()) - sum(len(placed) - 1 for placed in both_ways)
    notes += _left_out(unsure, repeated, without_meaning, min_confidence, meaningless)
    notes += _contradicted(len(both_ways), undecided, contradictions)
    if not kept:
        raise UserError("No judged applications are left. Lower --min-confidence, or check the files.")
    entailing = sum(application.entails for application in kept)
    if not entailing:
        notes.append("No application was judged as entailing, so recall, F1 and area are 0 by convention.")
    counts = {
        "entailing": entailing,
        "not entailing": len(kept) - entailing,
        f"left side meaningless, {'left out' if meaningless == 'out' else 'counted as not entailing'}": without_meaning,
        "left out: confidence too low": unsure,
        "left out: duplicate": repeated,
        "left out: judged both ways equally often": undecided,
    }
    return Usable(tuple(kept), counts, tuple(notes))


def _counted(placed: Sequence[_Placed], contradictions: Contradictions) -> list[JudgedApplication]:
    """The judgments of one application that count: one, one of each value, or none."""
    first = {one.application.entails: one.application for one in reversed(placed)}
    if len(first) == 1 or contradictions == "both":
        return list(first.values())
    surplus = sum(1 if one.application.entails else -1 for one in placed)
    return [first[surplus > 0]] if surplus else []


def _contradicted(both_ways: int, undecided: int, contradictions: Contradictions) -> Iterator[str]:
    if not both_ways:
        return
    were = plural(both_ways, "application was judged", "applications were judged")
    if contradictions == "both":
        yield f"{were} both ways: each counts once as entailing and once as not (--contradictions)."
    else:
        became = f"the majority counts, and {plural(undecided, 'tie is', 'ties are')} left out"
        yield f"{were} both ways: {became} (--contradictions)."


def _left_out(
    unsure: int, repeated: int, without_meaning: int, min_confidence: float, meaningless: Meaningless
) -> Iterator[str]:
    if unsure:
        yield f"{plural(unsure, 'application', 'applications')} left out: confidence below {min_confidence:g}."
    if repeated:
        again = plural(repeated, "application left out as a duplicate", "applications left out as duplicates")
        yield f"{again} with the same judgment."
    if without_meaning:
        became = "left out" if meaningless == "out" else "counted as not entailing"
        yield f"{plural(without_meaning, 'application', 'applications')} {became}: the left side is meaningless."


def _both_ways(contradicting: Sequence[Sequence[_Placed]]) -> list[Problem]:
    problems = []
    for first, *others in contradicting:
        other = next(one for one in others if one.application.entails != first.application.entails)
        where = (
            f"line {first.application.line}" if first.file == other.file else f"{first.file}:{first.application.line}"
        )
        lhs, rhs = first.application.phrases or ("", "")
        message = f"has an application with the opposite judgment in {where}"
        fix = "Keep one of them, or use another value for --contradictions."
        problems.append(Problem(other.file, other.application.line, message, fix, f"{lhs!r} → {rhs!r}"))
    return problems
