"""Whether a training round admits another worker: up to the number its next stages still need, with a reserve."""

from collections.abc import Iterable, Mapping
from math import ceil
from typing import NamedTuple

from chorale.model import EXPERT, StageSettings, StudySettings

ENOUGH_TO_GO_BY = 5
"""From so many people on, what they did on average says what others will do."""


class WorkBehind(NamedTuple):
    """Where a round leads."""

    rounds: tuple[str, ...]
    """The round itself, and those behind its gates that come before the work."""
    gates: tuple[str, ...]
    """The gates on the way."""
    qualifications: tuple[str, ...]
    """What the work asks for that these gates give."""
    work: tuple[str, ...]
    """The stages that people are trained for; none if the round leads to no work."""
    selects: bool
    """Whether a gate on the way picks the best of all: the more people try, the better."""


class RemainingWork(NamedTuple):
    """What a stage still has to assign."""

    places: int
    """Judgments that its items want and nobody holds."""
    people: int
    """Different people that one of its items still wants, at the most."""
    each: float
    """Judgments that a worker is expected to give."""

    @property
    def needed(self) -> int:
        """How many people it takes."""
        return max(self.people, ceil(self.places / max(self.each, 1)))


class Places(NamedTuple):
    left: int | None = None
    """How many more people a round admits now; None where there is no limit."""
    may_open: bool = True
    """Whether more places may open later: work is still under way."""


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
    """How many judgments a worker gives: what they may, or what others gave; one as long as nobody can tell."""
    measured = answers / people if people >= ENOUGH_TO_GO_BY else None
    if most is None:
        return 1.0 if measured is None else measured
    return float(most) if measured is None else min(most, measured)


def places_left(
    rooms: Mapping[tuple[str, ...], Iterable[RemainingWork]], able: int, in_training: int, factor: float
) -> int:
    """How many more people a round admits.

    `rooms` are by the arms that stages are for: the same people do all the work of an arm, others that of another.
    `able` are those who can work now, `in_training` those on the way, some of whom will fail.
    """
    needed = sum(max((room.needed for room in of_arms), default=0) for of_arms in rooms.values())
    return max(0, ceil(max(0, needed - able) * factor) - in_training)
