"""Somebody who takes part in a performance: what they can do, what they have seen, and where they are."""

from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

from chorale.engine.running import RunningStage
from chorale.engine.work import Offer
from chorale.model import Answer
from chorale.protocol import State
from chorale.rehearsal.simulated import WorkerModel

FOR_GOOD = frozenset({State.FINISHED, State.LOCKED, State.REMOVED, State.LIMIT})


class Exit(StrEnum):
    """Why somebody is no longer there."""

    FINISHED = "finished"
    """Nothing was left that they could do."""
    LEFT = "left"
    """They dropped out in the middle of the work."""
    GAVE_UP = "gave up"
    """They had to wait for longer than they wanted to."""


@dataclass(slots=True)
class Person:
    number: int
    model: WorkerModel
    rng: Random
    expert: bool = False
    """Whether they work in the stages of experts, and nowhere else."""
    worker_id: int = 0
    came_at: int | None = None
    stage: RunningStage | None = None
    """Where they work, or worked last."""
    offer: Offer | None = None
    seconds: float = 0.0
    """How long the item they hold takes them."""
    _accuracy: dict[str, float] = field(default_factory=dict)
    """How often they are right, by the name of a stage: where they have answered since they last learned anything."""
    errors: dict[str, float] = field(default_factory=dict)
    """By task: the share of the errors they began with that they have not learned to avoid."""
    read: set[int] = field(default_factory=set)
    """The messages they have read."""
    news: int = 0
    """How often gates had decided and experts had sent messages when they last looked."""
    previous: Answer | None = None
    answered: int = 0
    decisive: bool = False
    """Whether an answer since they last looked at their start page may have brought something about."""
    waiting_since: int | None = None
    looked_at: int = -1
    """What the study had come to when they last looked in."""
    empty: dict[str, int] = field(default_factory=dict)
    """Stages that had nothing for them although they looked open, and what the study had come to then."""
    states: dict[str, State] = field(default_factory=dict)
    """How they found each stage then."""
    waits_for: tuple[str, ...] = ()
    """Those of them that may still have something for them, when they wait."""
    entered: set[str] = field(default_factory=set)
    """Stages they were given an item in."""
    exit: Exit | None = None

    def accuracy_in(self, stage: RunningStage) -> float:
        """How often they are right in a stage by now. What was learned holds wherever the task is the same."""
        now = self._accuracy.get(stage.name)
        if now is None:
            first = self.model.accuracy_in(stage.name, stage.task.name)
            self._accuracy[stage.name] = now = 1 - (1 - first) * self.errors.get(stage.task.name, 1.0)
        return now

    def open_parts(self) -> tuple[str, ...]:
        """The stages that may still have something for them, by what they saw when they last looked."""
        return tuple(name for name, state in self.states.items() if state not in FOR_GOOD)

    def learn(self, task: str, mistakes: float) -> None:
        """Learn from a number of explained errors."""
        if mistakes > 0:
            self.errors[task] = 1 - self.model.learned(1 - self.errors.get(task, 1.0), mistakes)
            self._accuracy.clear()
