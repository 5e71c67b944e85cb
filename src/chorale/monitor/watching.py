"""Alarms about abuse: gold shown too often, skipping, and workers who act together."""

from collections import defaultdict
from collections.abc import Iterator

from chorale.engine.running import RunningStage, Study
from chorale.model import GoldRecord
from chorale.model.plural import plural
from chorale.monitor.alarm import Alarm
from chorale.monitor.sense import senseless_answers
from chorale.protocol import gold_counts
from chorale.protocol.suspicion import Given, good_at_gold_only, groups_of, in_step, skippers
from chorale.store import Tx
from chorale.store.codec import as_text, from_text
from chorale.store.watching import Habits, complete_answers, gold_turns, habits


def suspicions(tx: Tx, study: Study) -> list[Alarm]:
    """All alarms of this module."""
    return [
        *gold_is_worn_out(tx, study),
        *skipping(tx, study),
        *acting_together(tx, study),
        *senseless_answers(tx, study),
    ]


def gold_is_worn_out(tx: Tx, study: Study) -> Iterator[Alarm]:
    """Stages whose gold items were shown to more workers than other items."""
    for stage_id, shown in gold_turns(tx).items():
        stage = _stage(study, stage_id)
        rule = None if stage is None else stage.settings.gold
        if stage is None or rule is None or rule.share == 0 or shown.turns == 0:
            continue
        yield Alarm(
            "gold-worn",
            f"The gold of “{stage.settings.title}” is used up: all gold was shown as often as other items and is now "
            f"shown more often ({plural(shown.gold, 'gold item', 'gold items')})",
            "Add gold to the gold file of the study and restart the site. Workers who exchange information can "
            "recognise gold that is shown more often than other items.",
            stages=(stage.name,),
        )


def skipping(tx: Tx, study: Study) -> Iterator[Alarm]:
    """Workers who leave far more items unanswered than others."""
    for stage, records in _by_stage(tx, study):
        suspects = skippers({one.worker: (one.skipped, one.answered) for one in records if one.answered + one.skipped})
        if suspects:
            worst = suspects[0]
            yield Alarm(
                "skipping",
                f"{plural(len(suspects), 'worker skips', 'workers skip')} far more than others in "
                f"“{stage.settings.title}”: {worst.worker} left {worst.skipped} of {worst.served} items "
                f"unanswered (median of the other workers: {worst.usual:.0%})",
                "Check the unanswered items: workers skipped them, or the time was up. If workers avoid hard items "
                "or gold, lower `skips` in study.toml.",
                tuple(one.worker for one in suspects),
                stages=(stage.name,),
            )


def acting_together(tx: Tx, study: Study) -> Iterator[Alarm]:
    """Workers who answer like each other and unlike others, or answer only gold well. Slow: it reads all answers."""
    for stage, records in _by_stage(tx, study):
        given = [_in_choices(stage, one) for one in complete_answers(tx, stage.id)]
        for group in groups_of(in_step(given)):
            yield Alarm(
                "collusion",
                f"{len(group)} workers agree with each other in “{stage.settings.title}” far more than with everyone "
                "else",
                "Compare their answers and times. Remove workers who copy from each other.",
                group,
                stages=(stage.name,),
                serious=True,
            )
        suspects = good_at_gold_only(given, {one.worker: _gold_of(stage, one) for one in records})
        if suspects:
            worst = suspects[0]
            yield Alarm(
                "gold-only",
                f"{plural(len(suspects), 'worker answers', 'workers answer')} gold well and other items badly in "
                f"“{stage.settings.title}”: {worst.worker} has a gold accuracy of {worst.gold:.0%} and agrees with "
                f"{worst.agreed:.0%} of labels (other workers: {worst.usual:.0%})",
                "Workers may recognise gold. Check their answers, add new gold, and remove workers who recognise gold.",
                tuple(one.worker for one in suspects),
                stages=(stage.name,),
                serious=True,
            )


def _gold_of(stage: RunningStage, given: Habits) -> tuple[int, int]:
    record = GoldRecord(given.gold_right, given.gold_answered, given.gold_recent)
    return gold_counts(record, stage.settings.gold)


def _in_choices(stage: RunningStage, given: Given) -> Given:
    """An answer and its label reduced to chosen options: spans and texts are hardly ever identical."""
    names = [field.name for field in stage.task.shape.compared if field.item is None]
    if not names:
        return given
    answer, label = (from_text(text) for text in (given.answer, given.label))
    return given._replace(
        answer=as_text({name: answer.get(name) for name in names}),
        label=as_text({name: label.get(name) for name in names}),
    )


def _stage(study: Study, stage_id: int) -> RunningStage | None:
    return next((stage for stage in study.stages.values() if stage.id == stage_id), None)


def _by_stage(tx: Tx, study: Study) -> Iterator[tuple[RunningStage, list[Habits]]]:
    """The work of everyone in each stage that has items and is not for experts only."""
    by_stage: dict[int, list[Habits]] = defaultdict(list)
    for worker_habits in habits(tx):
        by_stage[worker_habits.stage_id].append(worker_habits)
    for stage_id, records in sorted(by_stage.items()):
        stage = _stage(study, stage_id)
        if stage is not None and stage.round_size is None and not stage.is_for_experts:
            yield stage, records
