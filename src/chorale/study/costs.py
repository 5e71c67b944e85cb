"""What a study has cost, in the terms papers report: per result, per valid answer, per arm; with training and without.

Fees are part of every cost. Work that does not count (its worker was dropped, or its item withdrawn) is paid all the
same, and is told apart.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chorale.store import Tx, arm_rows, ledger, response_rows, stage_rows
from chorale.study.running import RunningStage, Study


@dataclass(frozen=True, slots=True)
class Spending:
    """What one worker had in one stage."""

    worker: str
    stage: str
    paid: int
    fees: int
    discarded: int
    """Of what was paid: for answers that do not count."""

    @property
    def cost(self) -> int:
        return self.paid + self.fees

    @property
    def wasted(self) -> float:
        """What the answers that do not count cost, with their part of the fees."""
        return self.cost * self.discarded / self.paid if self.paid else 0.0


@dataclass(frozen=True, slots=True)
class CostTerms:
    """Costs in minor units; None where there is nothing to divide by."""

    cost: int
    training: int
    """Of that: in stages that are there to train and choose people."""
    discarded: int
    """Of that: for answers that do not count."""
    results: int
    """Results that are released."""
    answers: int
    """Answers that count, where results come from."""
    per_result: float | None
    per_result_without_training: float | None
    per_result_without_discarded: float | None
    """Without training, and without work that does not count."""
    per_answer: float | None
    per_answer_without_training: float | None
    per_answer_without_discarded: float | None


def cost_terms(spent: Sequence[Spending], training_in: frozenset[str], released: int, answers: int) -> CostTerms:
    """Put what was spent against what came of it. `training_in` are the names of the stages that train people."""
    cost = sum(one.cost for one in spent)
    training = sum(one.cost for one in spent if one.stage in training_in)
    discarded = round(sum(one.wasted for one in spent if one.stage not in training_in))

    def per(what: int, amount: int) -> float | None:
        return amount / what if what else None

    bare = cost - training
    return CostTerms(
        cost=cost,
        training=training,
        discarded=discarded,
        results=released,
        answers=answers,
        per_result=per(released, cost),
        per_result_without_training=per(released, bare),
        per_result_without_discarded=per(released, bare - discarded),
        per_answer=per(answers, cost),
        per_answer_without_training=per(answers, bare),
        per_answer_without_discarded=per(answers, bare - discarded),
    )


def study_costs(tx: Tx, study: Study) -> CostTerms:
    """The costs of the whole study. Its results are those of its final stages."""
    spent, answers = _spent(tx)
    return cost_terms(spent, training_stages(study), *_yield(final_stages(study), stage_rows.released(tx), answers))


def final_stages(study: Study) -> list[RunningStage]:
    """The stages a study's results are of: nothing but grading and looking at samples follows on them."""
    return _last(study, list(study.stages.values()))


def _last(study: Study, among: Sequence[RunningStage]) -> list[RunningStage]:
    last = [stage for stage in among if _is_last(stage, among)]
    training = training_stages(study)
    return [stage for stage in last if stage.name not in training] or last


def final_stages_of_arm(study: Study, arm: str) -> list[RunningStage]:
    """The last of the stages that are an arm's own: what is made there is what the arm was for."""
    return _last(study, [stage for stage in study.stages.values() if stage.settings.arms == (arm,)])


def arm_costs(tx: Tx, study: Study) -> dict[str, CostTerms]:
    """The costs of every arm: all its workers had anywhere, against what came of the stages that are its own."""
    if study.settings.arms is None:
        return {}
    spent, answers = _spent(tx)
    arms, released, training = arm_rows.arms(tx), stage_rows.released(tx), training_stages(study)
    found = {}
    for arm in study.settings.arms.names:
        mine = [one for one in spent if arms.get(one.worker) == arm]
        found[arm] = cost_terms(mine, training, *_yield(final_stages_of_arm(study, arm), released, answers))
    return found


def training_stages(study: Study) -> frozenset[str]:
    """The stages that are there to train and choose people.

    These are rounds, the stages whose answers let people go on to others, and the grading of what was done there.
    """
    asked_for = {name for stage in study.stages.values() for name in stage.settings.entry.qualifications}
    if study.settings.arms is not None and study.settings.arms.after is not None:
        asked_for.add(study.settings.arms.after)
    found = {name for name, stage in study.stages.items() if stage.round_size is not None}
    for gate in study.gates.values():
        promoted = {gate.settings.promote.to} if gate.settings.promote is not None else set()
        if asked_for & {gate.name, *promoted}:
            found.update(gate.settings.stage)
    graded = {
        name
        for name, stage in study.stages.items()
        if stage.settings.grades and found.issuperset(stage.settings.sources)
    }
    return frozenset(found | graded)


def _is_last(stage: RunningStage, among: Sequence[RunningStage]) -> bool:
    if stage.round_size is not None or _looks_after_others(stage):
        return False
    return not any(stage.name in later.settings.sources and not _looks_after_others(later) for later in among)


def _looks_after_others(stage: RunningStage) -> bool:
    """Whether a stage is there for the work of other stages, as grading and monitoring are."""
    items = stage.settings.items
    return stage.settings.grades or (items is not None and items.sample < 1)


def _yield(stages: Sequence[RunningStage], released: Mapping[str, int], answers: Mapping[str, int]) -> tuple[int, int]:
    """Released results, and answers that count, of some stages."""
    names = {stage.name for stage in stages}
    return sum(released.get(name, 0) for name in names), sum(answers.get(name, 0) for name in names)


def _spent(tx: Tx) -> tuple[list[Spending], Mapping[str, int]]:
    """What everybody had where; and how many answers count, by stage."""
    unused = response_rows.not_counted(tx)
    discarded: dict[tuple[str, str], int] = defaultdict(int)
    for stage, worker, cause, amount in ledger.paid_to_people(tx) if unused else ():
        if _response_of(cause) in unused:
            discarded[stage, worker] += amount
    paid = ledger.paid_by_participation(tx)
    spent = [Spending(worker, stage, *paid[stage, worker], discarded[stage, worker]) for stage, worker in paid]
    return spent, response_rows.count_counted(tx)


def _response_of(cause: str) -> int | None:
    kind, _, rest = cause.partition(":")
    return int(rest.partition(":")[0]) if kind == "response" else None
