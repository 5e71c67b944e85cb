"""The costs of a study, as papers report them: per result, per annotation, per arm; with and without training.

All costs include fees. Excluded work (of a removed worker or a withdrawn item) is still paid, and is listed
separately.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from chorale.engine.running import RunningStage, Study
from chorale.model import StageSettings, money_text
from chorale.monitor.outcomes import stage_results
from chorale.store import Tx, ledger, responses
from chorale.store.arms import arms_by_worker
from chorale.store.stages import released_by_stage

RESULT = "accepted label"
"""The default name of a result; tasks can define another."""


@dataclass(frozen=True, slots=True)
class Spending:
    """The costs of one worker in one stage."""

    worker: str
    stage: str
    paid: int
    fees: int
    """Platform fees; of a model, the cost of its calls."""
    discarded: int
    """The part paid for excluded annotations."""

    @property
    def cost(self) -> int:
        return self.paid + self.fees

    @property
    def wasted(self) -> float:
        """The cost of excluded annotations, including their share of fees."""
        return self.cost * self.discarded / self.paid if self.paid else 0.0


@dataclass(frozen=True, slots=True)
class CostTerms:
    """Costs in minor units; None if the divisor is 0."""

    cost: int
    fees: int
    """The part that is platform fees and model calls."""
    training: int
    """The part in stages that train and select people."""
    discarded: int
    """The part for excluded annotations."""
    results: int
    """Number of accepted results, in the study's unit."""
    answers: int
    """Number of annotations in the final stages."""
    per_result: float | None
    per_result_without_training: float | None
    per_result_without_discarded: float | None
    """Without training and excluded annotations."""
    per_answer: float | None
    per_answer_without_training: float | None
    per_answer_without_discarded: float | None
    paid_per_answer: float | None
    """Pay per annotation without fees, as papers often report it."""
    paid_per_answer_without_training: float | None
    unit: str = RESULT
    """The name of a result."""


@dataclass(frozen=True, slots=True)
class ArmCosts:
    """The costs of a trial's arms. Costs by arm and shared costs add up to the total."""

    own: Mapping[str, CostTerms]
    """By arm: the costs of its own stages, and its results."""
    shared: CostTerms
    """Shared costs, such as validating the answers of all arms."""
    shared_stages: Mapping[str, int]
    """Shared costs by stage."""
    shared_by: Mapping[str, int]
    """Shared costs by the arm of the worker. The rest are costs of people without an arm, such as experts."""


def cost_terms(spent: Sequence[Spending], training_in: frozenset[str], released: int, answers: int) -> CostTerms:
    """Relate the costs to the results. `training_in` are the names of the stages that train people."""
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
    """The number of accepted results of a study, and their name.

    If items contain several units, such as questions, the kept units are the results.
    """
    last = final_stages(study)
    kept = [unit for stage in last if (unit := _kept(tx, study, stage)) is not None]
    names = {name for name, _ in kept}
    if len(names) == 1 and len(kept) == len(last):
        return sum(count for _, count in kept), names.pop()
    released = released_by_stage(tx)
    return sum(released.get(stage.name, 0) for stage in last), RESULT


def _kept(tx: Tx, study: Study, stage: RunningStage) -> tuple[str, int] | None:
    """The name and number of kept units in a stage; None if its results are items."""
    for export in stage.task.exports:
        if export.released is not None and export.tally is not None:
            way, name = export.released
            tally = export.tally(stage_results(tx, study, stage))
            return (name, tally[way]) if way in tally else None
    return None


def _kept_by_arm(tx: Tx, study: Study, arms: Sequence[str]) -> tuple[str, Mapping[str, int]] | None:
    """The name of the study's kept units, and how many each arm's people made; None if its results are items."""
    for stage in final_stages(study):
        for export in stage.task.exports:
            way, name = export.released or (None, "")
            by_arm = export.by_arm
            measure = next((one for one in by_arm.measures if one.name == way), None) if by_arm else None
            if by_arm is not None and measure is not None:
                rows = export.rows(stage_results(tx, study, stage))
                kept = Counter(row[by_arm.arm] for row in rows if measure.value(row))
                return name, {arm: kept[arm] for arm in arms}
    return None


def final_stages(study: Study) -> list[RunningStage]:
    """The stages with the study's results: only grading and review of samples come after them."""
    return _last(study, list(study.stages.values()))


def _last(study: Study, among: Sequence[RunningStage]) -> list[RunningStage]:
    last = [stage for stage in among if _is_last(stage, among)]
    training = training_stages(study)
    return [stage for stage in last if stage.name not in training] or last


def final_stages_of_arm(study: Study, arm: str) -> list[RunningStage]:
    """The last of an arm's own stages, which has the arm's results."""
    return _last(study, [stage for stage in study.stages.values() if stage.settings.arms == (arm,)])


def arm_costs(tx: Tx, study: Study) -> ArmCosts:
    """The costs of every arm, compared with its results; and costs shared by several arms.

    An arm's results are the kept units by the arm's people, or else the accepted labels of the arm's last own stage.
    """
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
    kept = _kept_by_arm(tx, study, names)
    own = {}
    for arm in names:
        labels, answered = _yield(final_stages_of_arm(study, arm), released, answers)
        unit, results = (RESULT, labels) if kept is None else (kept[0], kept[1][arm])
        own[arm] = replace(cost_terms(by_arm[arm], training, results, answered), unit=unit)
    return ArmCosts(
        own=own,
        shared=cost_terms(shared, training, released=0, answers=0),
        shared_stages={name: by_stage[name] for name in study.stages if name in by_stage},
        shared_by={arm: sum(one.cost for one in shared if arms.get(one.worker) == arm) for arm in names},
    )


def _arms_served(study: Study, name: str, training: frozenset[str]) -> frozenset[str]:
    """The arms that a stage serves: none if it judges several arms' answers or is for everybody.

    The arms of the stage's workers do not decide this, since all workers may validate the answers of all arms.
    """
    stage = study.stages[name].settings
    if stage.arms or name not in training:
        return _own_arms(stage)
    if not stage.sources:
        return _arms_led_to(study, name)
    graded = frozenset[str]().union(*(_arms_served(study, source, training) for source in stage.sources))
    return graded if len(graded) == 1 else frozenset()


def _own_arms(stage: StageSettings) -> frozenset[str]:
    """The arms named by a stage, unless workers of one arm judge another arm's answers there."""
    return frozenset(stage.arms if len(stage.arms) == 1 or not stage.sources else ())


def _arms_led_to(study: Study, training: str) -> frozenset[str]:
    """The arms whose own stages require this training, which all arms share; none if arms are assigned after it."""
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

    These are rounds, stages whose answers qualify people for others, and the grading of these answers.
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
    """Whether a stage serves other stages, as grading, monitoring and review do."""
    items = stage.settings.items
    return stage.settings.grades or stage.settings.decides_sources or (items is not None and items.sample < 1)


def _yield(stages: Sequence[RunningStage], released: Mapping[str, int], answers: Mapping[str, int]) -> tuple[int, int]:
    """Accepted labels and annotations of some stages."""
    names = {stage.name for stage in stages}
    return sum(released.get(name, 0) for name in names), sum(answers.get(name, 0) for name in names)


def _spent(tx: Tx) -> tuple[list[Spending], Mapping[str, int]]:
    """Costs by worker and stage, and the number of annotations by stage."""
    unused = responses.not_counted(tx)
    discarded: dict[tuple[str, str], int] = defaultdict(int)
    for stage, worker, cause, amount in ledger.paid_to_people(tx) if unused else ():
        if _response_of(cause) in unused:
            discarded[stage, worker] += amount
    paid = ledger.paid_by_participation(tx)
    spent = [Spending(worker, stage, *paid[stage, worker], discarded[stage, worker]) for stage, worker in paid]
    return spent, responses.count_counted(tx)


def money_or_nothing(amount: float | None, currency: str) -> str:
    """A cost as text; empty if it is None."""
    return "" if amount is None else money_text(round(amount), currency)


def _response_of(cause: str) -> int | None:
    kind, _, rest = cause.partition(":")
    return int(rest.partition(":")[0]) if kind == "response" else None
