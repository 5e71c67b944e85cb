"""Which judged applications of rules count, and what became of the others."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from chorale.files.source import MOST_PROBLEMS
from chorale.kits.rules.files.rules import JudgedApplication, JudgedFile
from chorale.metrics.score_table import ScoreTable
from chorale.model import Problem, UserError
from chorale.model.plural import plural

Meaningless = Literal["out", "count"]
"""What becomes of an application whose left side means nothing: left out, or counted as not entailing."""


@dataclass(frozen=True, slots=True, eq=False)
class Usable:
    """The applications that count, and what was left out."""

    applications: tuple[JudgedApplication, ...]
    counts: Mapping[str, int]
    notes: tuple[str, ...]

    @property
    def entails(self) -> NDArray[np.bool_]:
        return np.array([application.entails for application in self.applications], dtype=np.bool_)

    def columns(self) -> dict[str, dict[str, str]]:
        """What applications may be resampled together by."""
        sides = [(str(number), each.rule) for number, each in enumerate(self.applications)]
        return {
            "rule": {item: f"{rule.lhs} -> {rule.rhs}" for item, rule in sides},
            "lhs": {item: rule.lhs for item, rule in sides},
            "rhs": {item: rule.rhs for item, rule in sides},
        }

    def table(self) -> ScoreTable:
        return ScoreTable("Judged applications", ("what became of them", "number#"), list(self.counts.items()))


def usable_applications(
    files: Mapping[str, JudgedFile], min_confidence: float, meaningless: Meaningless = "out"
) -> Usable:
    """Of all files together: confident enough, and each once. One that was judged both ways is a mistake."""
    notes = [note for file in files.values() for note in file.notes]
    kept: list[JudgedApplication] = []
    first_judged: dict[Any, tuple[bool, str, int | None]] = {}
    problems: list[Problem] = []
    unsure = repeated = without_meaning = 0
    for name, file in files.items():
        for application in file.applications:
            if application.confidence is not None and application.confidence < min_confidence:
                unsure += 1
                continue
            key = (application.rule, application.phrases)
            if application.phrases is not None and key in first_judged:
                before, where, line = first_judged[key]
                if before == application.entails:
                    repeated += 1
                else:
                    problems.append(
                        _both_ways(application, name, f"line {line}" if where == name else f"{where}:{line}")
                    )
                continue
            first_judged[key] = (application.entails, name, application.line)
            without_meaning += application.meaningless
            if not application.meaningless or meaningless == "count":
                kept.append(application)
    if problems:
        raise UserError("The judged applications contradict each other", problems[:MOST_PROBLEMS])
    notes += _left_out(unsure, repeated, without_meaning, min_confidence, meaningless)
    if not kept:
        raise UserError("No judged application is left. Lower --min-confidence, or check the files.")
    entailing = sum(application.entails for application in kept)
    if not entailing:
        notes.append("No application was judged as entailing: recall, F1 and area are 0 by convention.")
    counts = {
        "entailing": entailing,
        "not entailing": len(kept) - entailing,
        f"left side meaningless, {'left out' if meaningless == 'out' else 'counted as not entailing'}": without_meaning,
        "left out: confidence too low": unsure,
        "left out: there already": repeated,
    }
    return Usable(tuple(kept), counts, tuple(notes))


def _left_out(
    unsure: int, repeated: int, without_meaning: int, min_confidence: float, meaningless: Meaningless
) -> Iterator[str]:
    if unsure:
        yield f"{plural(unsure, 'application', 'applications')} left out: confidence below {min_confidence:g}."
    if repeated:
        again = plural(repeated, "application left out: it is", "applications left out: they are")
        yield f"{again} there already, judged the same."
    if without_meaning:
        became = "left out" if meaningless == "out" else "counted as not entailing"
        yield f"{plural(without_meaning, 'application', 'applications')} {became}: the left side means nothing."


def _both_ways(application: JudgedApplication, name: str, where: str) -> Problem:
    lhs, rhs = application.phrases or ("", "")
    message = f"has an application that was judged the other way in {where}"
    return Problem(name, application.line, message, "Keep one of the two.", f"{lhs!r} → {rhs!r}")
