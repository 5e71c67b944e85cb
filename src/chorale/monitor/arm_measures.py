"""Observations for comparing arms: one for every worker or every item, with its arm."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from chorale.engine.running import Study
from chorale.metrics import Metric, Statistics, UnpairedComparison, ratio
from chorale.metrics.adjustment import holm
from chorale.metrics.resampling import Resampling
from chorale.model import PlannedOutcome, Standing
from chorale.monitor.costs import final_stages_of_arm
from chorale.monitor.outcomes import stage_results
from chorale.monitor.status import gold_of
from chorale.store import Tx, grades, participations
from chorale.store.arms import arms_by_worker
from chorale.store.participations import ParticipationSummary

_MEAN = Metric(lambda sums: {"mean": ratio(sums[..., 0], sums[..., 1])}, wholes=lambda sums: {"mean": sums[..., 1]})


class Observation(NamedTuple):
    arm: str
    worker: str
    item: str
    value: float
    of: float = 1.0
    """The number of values that `value` is the sum of."""


class ArmComparison(NamedTuple):
    arm: str
    against: str
    compared: UnpairedComparison
    p: float
    """The p-value by the planned test."""
    adjusted: float
    """The p-value adjusted by Holm's method for the number of compared arms."""


class ComparedArms(NamedTuple):
    """A planned outcome in every arm, with the comparisons."""

    planned: PlannedOutcome
    means: Mapping[str, float | None]
    units: Mapping[str, int]
    comparisons: Sequence[ArmComparison]


def compare_arms(tx: Tx, study: Study, planned: PlannedOutcome, resampling: Resampling) -> ComparedArms:
    """The mean of every arm, and its difference from the reference arm."""
    names = () if study.settings.arms is None else study.settings.arms.names
    against = planned.against or names[0]
    sides = _by_unit(observations(tx, study, planned.outcome), planned, names)
    first = sides[against]
    others = [name for name in names if name != against and len(sides[name].items) and len(first.items)]
    compared = {name: resampling.compare_apart((sides[name], _MEAN), (first, _MEAN))["mean"] for name in others}
    p = [one.p_permutation if planned.test == "permutation" else one.p_bootstrap for one in compared.values()]
    return ComparedArms(
        planned,
        {name: _MEAN.scores(side)["mean"] if len(side.items) else None for name, side in sides.items()},
        {name: len(side.items) for name, side in sides.items()},
        [
            ArmComparison(name, against, compared[name], raw, adjusted)
            for name, raw, adjusted in zip(compared, p, holm(p), strict=True)
        ],
    )


def _by_unit(seen: Sequence[Observation], planned: PlannedOutcome, arms: Sequence[str]) -> dict[str, Statistics]:
    """For every arm, the sum and the count of each unit."""
    units: dict[str, dict[str, tuple[float, float]]] = {arm: {} for arm in arms}
    for observation in seen:
        unit = observation.worker if planned.unit == "worker" else f"{observation.worker}/{observation.item}"
        value, of = units[observation.arm].get(unit, (0.0, 0.0))
        units[observation.arm][unit] = value + observation.value, of + observation.of
    return {
        arm: Statistics(tuple(sorted(mine)), np.array([mine[unit] for unit in sorted(mine)]).reshape(-1, 2))
        for arm, mine in units.items()
    }


def observations(tx: Tx, study: Study, outcome: str) -> list[Observation]:
    """The observations of an outcome, for all workers in arms."""
    measure = _OF_EVERY_STUDY.get(outcome)
    return list(_of_tables(tx, study, outcome) if measure is None else measure(tx, study))


def _of_tables(tx: Tx, study: Study, outcome: str) -> Iterator[Observation]:
    """The observations from tasks' tables that have the measure."""
    for stage in study.stages.values():
        for export in stage.task.exports:
            by_arm = export.by_arm
            measure = next((one for one in by_arm.measures if one.name == outcome), None) if by_arm else None
            if by_arm is None or measure is None:
                continue
            for row in export.rows(stage_results(tx, study, stage)):
                value = measure.value(row)
                if row[by_arm.arm] is not None and value is not None:
                    yield Observation(row[by_arm.arm], row[by_arm.worker], row[by_arm.item], value)


def _retained(tx: Tx, study: Study) -> Iterator[Observation]:
    final = {arm: {stage.name for stage in final_stages_of_arm(study, arm)} for arm in _names(study)}
    there: dict[str, set[str]] = defaultdict(set)
    removed: set[str] = set()
    for row in participations.participation_summaries(tx):
        if lost_to_arm(study, row):
            removed.add(row.worker)
        if row.answered:
            there[row.worker].add(row.stage)
    for worker, arm in sorted(arms_by_worker(tx).items()):
        reached = worker not in removed and bool(there[worker] & final[arm] if final[arm] else there[worker])
        yield Observation(arm, worker, worker, float(reached))


def lost_to_arm(study: Study, row: ParticipationSummary) -> bool:
    """Whether a removal ends somebody's work for their arm.

    In shared stages that judge the answers of all arms, such as a validation, work belongs to no arm.
    """
    stage = study.stage(row.stage).settings
    judges_arms = not stage.arms and any(study.stage(source).settings.arms for source in stage.sources)
    return row.standing == Standing.DROPPED and not judges_arms


def _graded(tx: Tx, study: Study) -> Iterator[Observation]:
    for arm in _names(study):
        yield from arm_grades(tx, study, arm)[0]


def arm_grades(tx: Tx, study: Study, arm: str) -> tuple[list[Observation], str]:
    """The grades of an arm's workers in its last graded stage, and the title of that stage.

    Later stages may be validated instead of graded. Every worker counts once, whatever the number of graded answers.
    """
    arms = arms_by_worker(tx)
    for stage in reversed([stage for stage in study.stages.values() if arm in stage.settings.arms]):
        answers = [one for one in grades.graded_answers(tx, [stage.id]) if arms.get(one.worker) == arm]
        count = Counter(one.worker for one in answers)
        if answers:
            seen = [
                Observation(arm, one.worker, str(one.response_id), one.score / count[one.worker], 1 / count[one.worker])
                for one in answers
            ]
            return seen, stage.settings.title
    return [], ""


def _gold(tx: Tx, study: Study) -> Iterator[Observation]:
    """Gold accuracy, without quizzes of only some arms: these quizzes have different, often easier questions."""
    arms, names = arms_by_worker(tx), set(_names(study))
    for row in participations.participation_summaries(tx):
        settings = study.stage(row.stage).settings
        is_quiz_of_some = settings.round is not None and settings.arms and set(settings.arms) != names
        right, answered = gold_of(study, row)
        if row.worker in arms and answered and not is_quiz_of_some:
            yield Observation(arms[row.worker], row.worker, row.stage, right, answered)


def _names(study: Study) -> tuple[str, ...]:
    return () if study.settings.arms is None else study.settings.arms.names


_OF_EVERY_STUDY: Mapping[str, Callable[[Tx, Study], Iterator[Observation]]] = {
    "retained": _retained,
    "grade": _graded,
    "gold": _gold,
}
