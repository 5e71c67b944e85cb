"""What every arm of a trial came to in a performance."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from chorale.engine.running import Study
from chorale.monitor.costs import arm_costs, final_stages_of_arm
from chorale.protocol import wage_summary
from chorale.store import Tx, arms, responses
from chorale.store.participations import ParticipationSummary


@dataclass(frozen=True, slots=True)
class ArmRun:
    """An arm after a performance. What it was for is what is made in the last of its own stages."""

    name: str
    people: int
    """Who were put in it."""
    reached: int
    """Of them, who worked in the last of its own stages."""
    answers: int
    """What they made there, as far as it counts."""
    quality: float | None
    """The mean quality of that: the score by what somebody who never errs would have made."""
    cost: int
    """Of the stages that are its own; see `study.costs`."""
    cost_per_answer: float | None
    cost_without_training: float | None
    """Of an answer, without what was paid for training and choosing people."""
    shared: int
    """What its people had in stages that are no arm's own, such as validating what all arms made."""
    wage: int | None
    """Median, in minor units an hour."""

    @property
    def staying(self) -> float | None:
        return self.reached / self.people if self.people else None


def measure_arms(
    tx: Tx, study: Study, standings: Iterable[ParticipationSummary], qualities: Mapping[str, Sequence[float]]
) -> tuple[ArmRun, ...]:
    """Every arm of a study that has some; `qualities` are those of the answers that count, by stage."""
    if study.settings.arms is None:
        return ()
    counts, of = arms.arm_counts(tx), arms.arms_by_worker(tx)
    costs = arm_costs(tx, study)
    paid: dict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    reached: dict[str, set[str]] = defaultdict(set)
    final = {arm: {stage.name for stage in final_stages_of_arm(study, arm)} for arm in study.settings.arms.names}
    for row in standings:
        arm = of.get(row.worker)
        if arm is None or not row.answered:
            continue
        earned, worked = paid[arm].get(row.worker, (0, 0))
        paid[arm][row.worker] = earned + row.earned, worked + row.worked_ms
        if row.stage in final[arm]:
            reached[arm].add(row.worker)
    return tuple(
        ArmRun(
            name=arm,
            people=counts.get(arm, 0),
            reached=len(reached[arm]),
            answers=costs.own[arm].answers,
            quality=mean_quality(final[arm], qualities),
            cost=costs.own[arm].cost,
            cost_per_answer=costs.own[arm].per_answer,
            cost_without_training=costs.own[arm].per_answer_without_training,
            shared=costs.shared_by[arm],
            wage=wage_summary(list(paid[arm].values())).median,
        )
        for arm in study.settings.arms.names
    )


def qualities_that_count(tx: Tx, qualities: Mapping[int, float]) -> dict[str, list[float]]:
    """By stage, how good the answers are that count, of those whose quality is known; that is given by response."""
    if not qualities:
        return {}
    return {
        name: [qualities[one] for one in given if one in qualities] for name, given in responses.counted_ids(tx).items()
    }


def mean_quality(stages: Collection[str], qualities: Mapping[str, Sequence[float]]) -> float | None:
    """How good the answers are that count in some stages; None if nothing is known of them."""
    scores = [one for name in sorted(stages) for one in qualities.get(name, ())]
    return fmean(scores) if scores else None
