"""Makes up answers in a simulated run, and measures their quality."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from chorale.contract.simulating import Revision
from chorale.engine.running import RunningStage, Study
from chorale.model import Answer, responses_behind
from chorale.rehearsal.connections import rated_stages
from chorale.rehearsal.person import Person
from chorale.rehearsal.simulated import AnswerSheet, ability_at
from chorale.store.assignments import Lease


class MakingUp:
    """Makes up answers from the known correct answers and from earlier simulated answers."""

    def __init__(self, study: Study, sheets: Mapping[str, AnswerSheet]) -> None:
        self.qualities: dict[int, float] = {}
        """The quality of answers that others see or that are an arm's results, by response."""
        self._sheets = sheets
        self._rated = rated_stages(study)
        self._of_rated = {name for name, stage in study.stages.items() if self._rated & {*stage.settings.sources}}
        """The stages whose items may be made from answers with a stored quality."""
        self._sources: dict[str, tuple[int, ...]] = {}
        """By item, the responses it was made from."""

    def note(self, stage: RunningStage, response_id: int, answer: Answer, truth: Answer) -> None:
        """Store the quality of an accepted answer, if it will be needed."""
        if stage.name in self._rated:
            self.qualities[response_id] = 1.0 if answer == truth else stage.task.grading.grade(answer, truth).score

    def make_up(
        self, person: Person, stage: RunningStage, lease: Lease, view: Mapping[str, Any], suggestion: Answer | None
    ) -> tuple[Answer, Answer]:
        """The answer of a perfect worker, and the answer of this worker, who may see a suggestion."""
        sheet, task = self._sheets[stage.name], stage.task
        accuracy = person.accuracy_in(stage)
        quality = self._quality_of_sources(stage, lease.item_key)
        if quality is None:
            truth, choices = sheet.prospects(lease.payload, view)
        elif task.grading.marks is not None:
            truth, choices = sheet.fair_grade(lease.payload, view, quality)
        else:
            truth, choices = sheet.prospects(lease.payload, view)
            accuracy = ability_at(accuracy, quality)
        imitate = None if task.simulating.imitate is None else partial(task.simulating.imitate, view)
        answer = person.model.answer(
            truth,
            choices,
            person.rng,
            accuracy=accuracy,
            previous=person.previous,
            imitate=imitate,
            hardness=sheet.hardness(lease.payload, view),
        )
        if suggestion is not None:
            answer = _revised(person, stage, view, Revision(suggestion, truth, answer))
        return truth, answer

    def _quality_of_sources(self, stage: RunningStage, item_key: str) -> float | None:
        """The quality of the answers that an item was made from, the best of several; None if unknown."""
        if stage.name not in self._of_rated:
            return None
        response_ids = self._sources.get(item_key)
        if response_ids is None:
            response_ids = self._sources[item_key] = responses_behind(item_key)
        if len(response_ids) == 1:
            return self.qualities.get(response_ids[0])
        return max((self.qualities[each] for each in response_ids if each in self.qualities), default=None)


def _revised(person: Person, stage: RunningStage, view: Mapping[str, Any], revision: Revision) -> Answer:
    """The answer of a worker who sees a suggestion."""
    revise = stage.task.simulating.revise
    if revise is not None:
        return revise(view, revision, person.model.keeping, person.rng)
    suggested, truth, alone = revision
    is_right = suggested == truth or stage.is_correct(stage.task.grading.grade(suggested, truth).score)
    return suggested if person.model.keeps(person.rng, is_right=is_right) else alone
