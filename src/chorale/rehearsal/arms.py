"""What every arm of a trial came to in a performance."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from chorale.model import ItemState
from chorale.protocol import wage_summary
from chorale.store import Tx, gates, response_rows, standing_rows
from chorale.study import Study
from chorale.study.costs import arm_costs, final_stages_of_arm


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
    cost_per_answer: float | None
    cost_without_training: float | None
    """Of an answer, without what was paid for training and choosing people."""
    wage: int | None
    """Median, in minor units an hour."""

    @property
    def staying(self) -> float | None:
        return self.reached / self.people if self.people else None


def measure_arms(tx: Tx, study: Study, qualities: Mapping[int, float]) -> tuple[ArmRun, ...]:
    """Every arm of a study that has some; `qualities` are those of responses."""
    if study.settings.arms is None:
        return ()
    counts, of = gates.arm_counts(tx), gates.arms(tx)
    costs = arm_costs(tx, study)
    paid: dict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    reached: dict[str, set[str]] = defaultdict(set)
    final = {arm: {stage.name for stage in final_stages_of_arm(study, arm)} for arm in study.settings.arms.names}
    for row in standing_rows.worker_standings(tx):
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
            answers=costs[arm].answers,
            quality=mean_quality(tx, final[arm], qualities),
            cost=costs[arm].cost,
            cost_per_answer=costs[arm].per_answer,
            cost_without_training=costs[arm].per_answer_without_training,
            wage=wage_summary(list(paid[arm].values())).median,
        )
        for arm in study.settings.arms.names
    )


def mean_quality(tx: Tx, stages: set[str], qualities: Mapping[int, float]) -> float | None:
    """How good the answers are that count in some stages; None if nothing is known of them."""
    found = [
        qualities[response.id]
        for name in sorted(stages)
        for response in response_rows.all_responses(tx, stage_name=name)
        if response.counts and response.item_state != ItemState.WITHDRAWN and response.id in qualities
    ]
    return fmean(found) if found else None
