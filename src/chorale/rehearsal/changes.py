"""Tracks changes of a study since a simulated worker last looked at their overview."""

from collections.abc import Iterable

from chorale.engine.running import Study
from chorale.protocol import State
from chorale.rehearsal.connections import rests_on
from chorale.rehearsal.person import Person
from chorale.store.gates import verdicts_so_far


class ChangeCounter:
    """Counts changes that may give workers something to do, so that waiting workers need not check each time."""

    def __init__(self, study: Study) -> None:
        self.count = 0
        self._study = study
        self._rests_on = {name: rests_on(study, name) for name in study.stages}
        self._answered_at = dict.fromkeys(study.stages, 0)
        """By stage: the count at the last answer there."""
        self._everywhere_at = 0
        """The count at the last change that may affect any stage."""
        self._verdicts_at = -1
        """The count when the number of gate decisions was last read."""
        self._verdicts = 0

    def answered(self, stage: str) -> None:
        self.count += 1
        self._answered_at[stage] = self.count

    def everywhere(self) -> None:
        """Count a change that may affect all waiting workers."""
        self.count += 1
        self._everywhere_at = self.count

    def spread(self, *, ahead: int = 0) -> None:
        """Count the latest change as one that may affect all stages; with `ahead=1`, the next change."""
        self._everywhere_at = self.count + ahead

    def verdicts(self) -> int:
        """The number of gate decisions."""
        if self._verdicts_at != self.count:
            self._verdicts_at = self.count
            self._verdicts = self._study.store.read(verdicts_so_far).result()
        return self._verdicts

    def concern(self, person: Person, stages: Iterable[str]) -> bool:
        """Whether anything has changed since a worker last looked that may affect these parts.

        A stage without open items depends on the answers in it and in its source stages.
        """
        since, answered_at = person.looked_at, self._answered_at
        return self.are_more_than_answers(person, stages) or any(
            answered_at[source] > since for name in stages for source in self._rests_on[name]
        )

    def are_more_than_answers(self, person: Person, stages: Iterable[str]) -> bool:
        """Whether a worker must check these parts for more than new answers.

        This is so if something else has changed since they last looked, or if they are not waiting in one of the parts.
        """
        states = person.states
        return self._everywhere_at > person.looked_at or any(states[name] is not State.WAITING for name in stages)
