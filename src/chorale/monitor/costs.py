"""What a study has cost, in the terms papers report: per result, per valid answer, per arm; with training and without.

Fees are part of every cost. Work that does not count (its worker was dropped, or its item withdrawn) is paid all the
same, and is listed separately.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from chorale.engine.running import RunningStage, Study
from chorale.model import StageSettings, money_text
from chorale.monitor.outcomes import stage_results
from chorale.store import Tx, ledger, responses
from chorale.store.arms import arms_by_worker
from chorale.store.stages import released_by_stage

RESULT = "accepted label"
"""What one result of a study is called, unless its tasks say otherwise."""


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
    fees: int
    """Of that: what panels charge on top of what people get."""
    training: int
    """Of that: in stages that are there to train and choose people."""
    discarded: int
    """Of that: for answers that do not count."""
    results: int
    """Results that are released, in the unit that the study is for."""
    answers: int
    """Answers that count, where results come from."""
    per_result: float | None
    per_result_without_training: float | None
    per_result_without_discarded: float | None
    """Without training, and without work that does not count."""
    per_answer: float | None
    per_answer_without_training: float | None
    per_answer_without_discarded: float | None
    paid_per_answer: float | None
    """What people got for each, without fees, as papers tend to report it."""
    paid_per_answer_without_training: float | None
    unit: str = RESULT
    """What one of the results is called."""


@dataclass(frozen=True, slots=True)
class ArmCosts:
    """What the arms of a trial cost: what was spent for each of them, and what is shared, are all that was spent."""

    own: Mapping[str, CostTerms]
    """Of every arm: what was spent in stages that are for it, against what came of the last of them."""
    shared: CostTerms
    """What is no arm's own, such as validating what all arms made."""
    shared_stages: Mapping[str, int]
    """Of that, by stage."""
    shared_by: Mapping[str, int]
    """Of that, what the people of every arm had. The rest is of people in no arm, such as experts."""


def cost_terms(spent: Sequence[Spending], training_in: frozenset[str], released: int, answers: int) -> CostTerms:
    """Compare what was spent with the results. `training_in` are the names of the stages that train people."""
    cost = sum(one.cost for one in spent)
    training = sum(one.cost for one in spent if one.stage in training_in)
    discarded = round(sum(one.wasted for one in spent if one.stage not in training_in))

    def per(count: int, amount: int) -> float | None:
        return amount / count if count else None

    bare = cost - training
    fees = sum(one.fees for one in spent)
    fees_of_training = sum(one.fees for one in spent if one.stage in training_in)
    return CostTerms(
        cost=cost,
        fees=fees,
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
        paid_per_answer=per(answers, cost - fees),
        paid_per_answer_without_training=per(answers, bare - (fees - fees_of_training)),
    )


def study_costs(tx: Tx, study: Study) -> CostTerms:
    """The costs of the whole study. Its results are those of its final stages."""
    spent, answers = _spent(tx)
    results, unit = study_results(tx, study)
    answered = sum(answers.get(stage.name, 0) for stage in final_stages(study))
    return replace(cost_terms(spent, training_stages(study), results, answered), unit=unit)


def study_results(tx: Tx, study: Study) -> tuple[int, str]:
    """How many results a study releases, and what one of them is called.

    An item may hold several things that the study is for, of which some are kept: these are its results then.
    """
    last = final_stages(study)
    kept = [unit for stage in last if (unit := _kept(tx, study, stage)) is not None]
    names = {name for name, _ in kept}
    if len(names) == 1 and len(kept) == len(last):
        return sum(count for _, count in kept), names.pop()
    released = released_by_stage(tx)
    return sum(released.get(stage.name, 0) for stage in last), RESULT


def _kept(tx: Tx, study: Study, stage: RunningStage) -> tuple[str, int] | None:
    """What one of the things is called that a stage decides on, and how many are kept; None if it is about items."""
    for export in stage.task.exports:
        if export.released is not None and export.tally is not None:
            way, name = export.released
            tally = export.tally(stage_results(tx, study, stage))
            return (name, tally[way]) if way in tally else None
    return None


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


def arm_costs(tx: Tx, study: Study) -> ArmCosts:
    """The costs of every arm, compared with the results of its last stage; and costs shared by several arms."""
    spent, answers = _spent(tx)
    arms, released, training = arms_by_worker(tx), released_by_stage(tx), training_stages(study)
    names = () if study.settings.arms is None else study.settings.arms.names
    served = {name: _arms_served(study, name, training).intersection(names) for name in study.stages}
    by_arm: dict[str | None, list[Spending]] = defaultdict(list)
    for spending in spent:
        theirs = (
            arms.get(spending.worker) if len(served[spending.stage]) > 1 else next(iter(served[spending.stage]), None)
        )
        by_arm[theirs if theirs in served[spending.stage] else None].append(spending)
    shared = by_arm[None]
    by_stage: dict[str, int] = defaultdict(int)
    for spending in shared:
        by_stage[spending.stage] += spending.cost
    return ArmCosts(
        own={
            arm: cost_terms(by_arm[arm], training, *_yield(final_stages_of_arm(study, arm), released, answers))
            for arm in names
        },
        shared=cost_terms(shared, training, released=0, answers=0),
        shared_stages={name: by_stage[name] for name in study.stages if name in by_stage},
        shared_by={arm: sum(one.cost for one in shared if arms.get(one.worker) == arm) for arm in names},
    )


def _arms_served(study: Study, name: str, training: frozenset[str]) -> frozenset[str]:
    """The arms that a stage is there for: none where it judges what several arms made, or is for everybody.

    Who is in which arm does not tell: all may validate what all arms made, and qualify for that.
    """
    stage = study.stages[name].settings
    if stage.arms or name not in training:
        return _own_arms(stage)
    if not stage.sources:
        return _arms_led_to(study, name)
    graded = frozenset[str]().union(*(_arms_served(study, source, training) for source in stage.sources))
    return graded if len(graded) == 1 else frozenset()


def _own_arms(stage: StageSettings) -> frozenset[str]:
    """The arms that a stage says it is for, unless it has one judge what another made."""
    return frozenset(stage.arms if len(stage.arms) == 1 or not stage.sources else ())


def _arms_led_to(study: Study, training: str) -> frozenset[str]:
    """The arms whose own stages let in who has passed a training that is for everybody; none before arms are drawn."""
    drawn_after = study.settings.arms.after if study.settings.arms is not None else None
    reached, waiting = {training}, [training]
    while waiting:
        name = waiting.pop()
        passed = [gate.settings for gate in study.gates.values() if name in gate.settings.stage]
        given = {gate.name for gate in passed} | {gate.promote.to for gate in passed if gate.promote is not None}
        if drawn_after in given:
            return frozenset()
        later = [one.name for one in study.stages.values() if given.intersection(one.settings.entry.qualifications)]
        waiting += [one for one in later if one not in reached]
        reached.update(later)
    return frozenset[str]().union(*(_own_arms(study.stages[name].settings) for name in reached))


def training_stages(study: Study) -> frozenset[str]:
    """The stages that train and select people.

    These are rounds, the stages whose answers let people go on to others, and the grading of what was done there.
    """
    asked_for = {name for stage in study.stages.values() for name in stage.settings.entry.qualifications}
    if study.settings.arms is not None and study.settings.arms.after is not None:
        asked_for.add(study.settings.arms.after)
    training = {name for name, stage in study.stages.items() if stage.round_size is not None}
    for gate in study.gates.values():
        promoted = {gate.settings.promote.to} if gate.settings.promote is not None else set()
        if asked_for & {gate.name, *promoted}:
            training.update(gate.settings.stage)
    graded = {
        name
        for name, stage in study.stages.items()
        if stage.settings.grades and training.issuperset(stage.settings.sources)
    }
    return frozenset(training | graded)


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
    unused = responses.not_counted(tx)
    discarded: dict[tuple[str, str], int] = defaultdict(int)
    for stage, worker, cause, amount in ledger.paid_to_people(tx) if unused else ():
        if _response_of(cause) in unused:
            discarded[stage, worker] += amount
    paid = ledger.paid_by_participation(tx)
    spent = [Spending(worker, stage, *paid[stage, worker], discarded[stage, worker]) for stage, worker in paid]
    return spent, responses.count_counted(tx)


def money_or_nothing(amount: float | None, currency: str) -> str:
    """Money of a term that may have nothing to divide by."""
    return "" if amount is None else money_text(round(amount), currency)


def _response_of(cause: str) -> int | None:
    kind, _, rest = cause.partition(":")
    return int(rest.partition(":")[0]) if kind == "response" else None
