"""A participant in a simulated run: abilities, what they have seen, and their current stage."""

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
    """Why a person has left."""

    FINISHED = "finished"
    """No work was left for them."""
    LEFT = "left"
    """They dropped out in the middle of the work."""
    GAVE_UP = "gave up"
    """They waited longer than they were willing to."""


@dataclass(slots=True)
class Person:
    number: int
    model: WorkerModel
    rng: Random
    expert: bool = False
    """Whether they are an expert, who works only in stages for experts."""
    worker_id: int = 0
    came_at: int | None = None
    stage: RunningStage | None = None
    """Their current or last stage."""
    offer: Offer | None = None
    seconds: float = 0.0
    """Their time for the item they hold."""
    _accuracy: dict[str, float] = field(default_factory=dict)
    """Cached accuracy by stage, since they last learned something."""
    errors: dict[str, float] = field(default_factory=dict)
    """By task: the share of their initial errors that remains after learning."""
    read: set[int] = field(default_factory=set)
    """The messages they have read."""
    news: int = 0
    """The number of gate decisions and sent messages together when they last looked."""
    previous: Answer | None = None
    answered: int = 0
    decisive: bool = False
    """Whether an answer since they last looked at their overview may have changed something."""
    waiting_since: int | None = None
    looked_at: int = -1
    """The change count when they last checked."""
    empty: dict[str, int] = field(default_factory=dict)
    """Stages that looked open but had nothing for them, with the change count at that time."""
    states: dict[str, State] = field(default_factory=dict)
    """The state of each stage when they last looked."""
    waits_for: tuple[str, ...] = ()
    """The stages that may still have work for them, while they wait."""
    entered: set[str] = field(default_factory=set)
    """Stages in which they got an item."""
    exit: Exit | None = None

    def accuracy_in(self, stage: RunningStage) -> float:
        """Their current accuracy in a stage. Learning applies to all stages with the same task."""
        now = self._accuracy.get(stage.name)
        if now is None:
            first = self.model.accuracy_in(stage.name, stage.task.name)
            self._accuracy[stage.name] = now = 1 - (1 - first) * self.errors.get(stage.task.name, 1.0)
        return now

    def open_parts(self) -> tuple[str, ...]:
        """The stages that may still have work for them, by their last look."""
        return tuple(name for name, state in self.states.items() if state not in FOR_GOOD)

    def learn(self, task: str, mistakes: float) -> None:
        """Learn from a number of explained errors."""
        if mistakes > 0:
            self.errors[task] = 1 - self.model.learned(1 - self.errors.get(task, 1.0), mistakes)
            self._accuracy.clear()
