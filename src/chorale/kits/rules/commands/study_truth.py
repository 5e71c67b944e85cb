"""Results against what is known: how well did the crowd do?"""

from collections.abc import Iterable, Mapping
from typing import Any

from chorale.folder.plan import plan_stage
from chorale.folder.reading import StudyFolder
from chorale.kits.rules.tasks.entailment import Application, ApplicationOutcome, MeaninglessLeft, application_outcome
from chorale.kits.rules.tasks.meaningful import RULES_MEANINGFUL
from chorale.model import Answer, Label
from chorale.rehearsal.simulated import Knowledge


class StudyTruth:
    """What a study folder says of the right answers, in its gold and in the truth it rehearses with."""

    def __init__(self, folder: StudyFolder) -> None:
        self._folder = folder
        self._known = {
            content.settings.name: Knowledge(
                [(content.task.form.view(row.item.payload), row.answer) for row in content.gold]
                + [(row.view, row.answer) for row in content.truth]
            )
            for content in folder.stages
        }

    def answer(self, stage: str, view: Mapping[str, Any]) -> Answer | None:
        return self._known[stage].get(view)

    def expected_submissions(self) -> int:
        """About how many answers it takes, if every item that should be derived is."""
        plans = (
            plan_stage(content, {content.settings.name: len(content.items) or len(content.truth)}, 0.0)
            for content in self._folder.stages
        )
        return sum(plan.judgments + plan.gold_answers for plan in plans)

    def accuracy(self, judged: Iterable[Application]) -> float | None:
        """The share of judged rule applications that came out as they should; None of none."""
        right = [self._outcome(each) is each.outcome for each in judged]
        return sum(right) / len(right) if right else None

    def _outcome(self, application: Application) -> ApplicationOutcome:
        phrases = [content for content in self._folder.stages if content.task is RULES_MEANINGFUL]
        names = [content.settings.name for content in self._folder.stages if content not in phrases]
        lhs, rhs = application.payload["lhs"], application.payload["rhs"]
        return application_outcome(
            self._label(phrases[0].settings.name, {"phrase": lhs}),
            self._label(phrases[0].settings.name, {"phrase": rhs}),
            self._label(names[0], {"lhs": lhs, "rhs": rhs}),
            1.0,
            MeaninglessLeft.SET_ASIDE,
        )[0]

    def _label(self, stage: str, view: Mapping[str, Any]) -> Label | None:
        answer = self.answer(stage, view)
        return None if answer is None else Label(answer, 1.0, 1, released=True)
