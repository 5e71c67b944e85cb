"""What has changed in a study since somebody last looked at their start page."""

from collections.abc import Iterable

from chorale.engine.running import Study
from chorale.protocol import State
from chorale.rehearsal.connections import rests_on
from chorale.rehearsal.person import Person
from chorale.store.gates import verdicts_so_far


class ChangeCounter:
    """Counts whatever may give somebody something to do, so that people who wait need not look each time."""

    def __init__(self, study: Study) -> None:
        self.count = 0
        self._study = study
        self._rests_on = {name: rests_on(study, name) for name in study.stages}
        self._answered_at = dict.fromkeys(study.stages, 0)
        """By stage: the count when somebody last answered there."""
        self._everywhere_at = 0
        """The count when something last happened that may be felt in any stage."""
        self._verdicts_at = -1
        """The count when it was last looked up how often gates have decided about somebody."""
        self._verdicts = 0

    def answered(self, stage: str) -> None:
        self.count += 1
        self._answered_at[stage] = self.count

    def everywhere(self) -> None:
        """Count something that may give anybody something to do, wherever they wait."""
        self.count += 1
        self._everywhere_at = self.count

    def spread(self, *, ahead: int = 0) -> None:
        """Let the latest change be felt in any stage; with `ahead` 1, the next one."""
        self._everywhere_at = self.count + ahead

    def verdicts(self) -> int:
        """How often gates have decided about somebody."""
        if self._verdicts_at != self.count:
            self._verdicts_at = self.count
            self._verdicts = self._study.store.read(verdicts_so_far).result()
        return self._verdicts

    def concern(self, person: Person, stages: Iterable[str]) -> bool:
        """Whether anything has happened, since somebody last looked, that these parts of theirs may feel.

        A stage in which nothing is open to them goes by the answers in it and in those its items come from.
        """
        since, answered_at = person.looked_at, self._answered_at
        return self.are_more_than_answers(person, stages) or any(
            answered_at[source] > since for name in stages for source in self._rests_on[name]
        )

    def are_more_than_answers(self, person: Person, stages: Iterable[str]) -> bool:
        """Whether these parts go by more than answers, or something else has happened since somebody last looked."""
        states = person.states
        return self._everywhere_at > person.looked_at or any(states[name] is not State.WAITING for name in stages)
