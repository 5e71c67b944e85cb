"""Cost per question in each arm: writing, training of the writers, and expert time.

Follows Nangia et al. (2021, section 3, "Cost"): platform fees and validation are excluded, and questions of
intermediate rounds are discarded, so they count as training.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chorale.kits.questions.files.study_exports import PaidAmount, Worked

WRITING, GRADING, VALIDATING = "mcq-write", "mcq-grade", "mcq-validate"
_FEE = "fee"
HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class QuestionCosts:
    """Costs of an arm, in the smallest unit of the currency."""

    questions: int
    """Number of questions written in the last stage, which are validated."""
    writers: int
    writing: int
    training: int
    """All other payments to its workers, except for validation."""
    expert_seconds: float
    """Time that experts spent grading its questions."""

    def per_question(self, *, training: bool = True, hourly: float = 0) -> float | None:
        if not self.questions:
            return None
        whole = self.writing + (self.training + self.expert_seconds / HOUR * hourly if training else 0)
        return whole / self.questions


def costs_by_arm(worked: Sequence[Worked], paid: Sequence[PaidAmount]) -> Mapping[str, QuestionCosts]:
    """Costs of every arm. People without an arm are experts."""
    by_response = {answer.response: answer for answer in worked}
    arms = {answer.worker: answer.arm for answer in worked if answer.arm is not None}

    def source(answer: Worked) -> Worked | None:
        """The key of an item made from an answer ends in the number of the answer."""
        return by_response.get(answer.item.rpartition("/")[2])

    final = {written.stage for answer in worked if answer.task == VALIDATING and (written := source(answer))}
    validating = {answer.stage for answer in worked if answer.task == VALIDATING}
    questions: dict[str, int] = defaultdict(int)
    writers: dict[str, set[str]] = defaultdict(set)
    seconds: dict[str, float] = defaultdict(float)
    for answer in worked:
        if answer.task == WRITING and answer.stage in final and answer.arm is not None:
            questions[answer.arm] += answer.questions
            writers[answer.arm].add(answer.worker)
        elif answer.task == GRADING and answer.arm is None:
            graded = source(answer)
            if graded is not None and graded.arm is not None:
                seconds[graded.arm] += answer.seconds
    writing: dict[str, int] = defaultdict(int)
    training: dict[str, int] = defaultdict(int)
    for line in paid:
        arm = arms.get(line.worker)
        if arm is None or line.kind == _FEE or line.stage in validating:
            continue
        (writing if line.stage in final else training)[arm] += line.amount
    return {
        arm: QuestionCosts(questions[arm], len(writers[arm]), writing[arm], training[arm], seconds[arm])
        for arm in sorted(set(arms.values()))
    }
