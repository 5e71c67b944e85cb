"""Whether a training round admits another worker: up to the number its next stages still need, with a reserve."""

from collections.abc import Iterable, Mapping
from math import ceil
from typing import NamedTuple

from chorale.model import EXPERT, StageSettings, StudySettings

ENOUGH_TO_GO_BY = 5
"""Minimum number of people whose mean predicts what others will do."""


class WorkBehind(NamedTuple):
    """The work that a round leads to."""

    rounds: tuple[str, ...]
    """The round itself, and the later rounds before the work."""
    gates: tuple[str, ...]
    """The gates in between."""
    qualifications: tuple[str, ...]
    """The qualifications that these gates grant and the work requires."""
    work: tuple[str, ...]
    """The stages that people are trained for; empty if the round leads to no work."""
    selects: bool
    """Whether one of the gates decides about all workers together: then more candidates are always useful."""


class RemainingWork(NamedTuple):
    """The remaining work of a stage."""

    places: int
    """Number of needed judgments that nobody is working on."""
    people: int
    """Maximum number of different people that one of its items still needs."""
    each: float
    """Expected number of judgments per worker."""

    @property
    def needed(self) -> int:
        """The number of people needed."""
        return max(self.people, ceil(self.places / max(self.each, 1)))


class Places(NamedTuple):
    left: int | None = None
    """Number of further people a round admits now; None if unlimited."""
    may_open: bool = True
    """Whether more places may open later, because work is in progress."""


NO_LIMIT = Places()


def work_behind(settings: StudySettings, stage: StageSettings) -> WorkBehind:
    """The work that a round leads to, past all its gates."""
    rounds, work, gates, given = [stage], dict[str, StageSettings](), dict[str, bool](), set[str]()
    for training_round in rounds:
        for gate in settings.gate:
            if training_round.name in gate.stage:
                gates[gate.name] = gate.decides_each
                given |= {gate.name} if gate.promote is None else {gate.name, gate.promote.to}
        for later in settings.stage:
            if not _is_behind(settings, later, training_round, given):
                continue
            if later.round is None:
                work[later.name] = later
            elif later not in rounds:
                rounds.append(later)
    asked = {name for later in work.values() for name in later.entry.qualifications}
    selects = not all(gates.values())
    return WorkBehind(
        tuple(one.name for one in rounds), tuple(gates), tuple(sorted(given & asked or given)), tuple(work), selects
    )


def _is_behind(settings: StudySettings, later: StageSettings, stage: StageSettings, given: set[str]) -> bool:
    entry = later.entry
    if later is stage or EXPERT in entry.qualifications:
        return False
    by_arm = bool(later.arms) and settings.arms is not None and settings.arms.after in given
    return bool(given.intersection(entry.qualifications)) or entry.qualified_in == stage.name or by_arm


def expected_each(most: int | None, people: int, answers: int) -> float:
    """The expected number of judgments per worker: the maximum, or the measured mean if it is lower; 1 if unknown."""
    measured = answers / people if people >= ENOUGH_TO_GO_BY else None
    if most is None:
        return 1.0 if measured is None else measured
    return float(most) if measured is None else min(most, measured)


def places_left(
    rooms: Mapping[tuple[str, ...], Iterable[RemainingWork]], able: int, in_training: int, factor: float
) -> int:
    """The number of further people a round admits.

    `rooms` has the remaining work by the stages' arms: the same people do all the work of an arm. `able` is the number
    who can work now, `in_training` the number in training, some of whom will fail.
    """
    needed = sum(max((room.needed for room in of_arms), default=0) for of_arms in rooms.values())
    return max(0, ceil(max(0, needed - able) * factor) - in_training)
