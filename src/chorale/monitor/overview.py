"""A running study at a glance: progress, cost, agreement, and alarms."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import cast

from chorale.engine.closing_pay import beyond_budget
from chorale.engine.gates import gates_beyond_budget
from chorale.engine.paying import stopped
from chorale.engine.running import Study
from chorale.model import Event, GoldRecord, JudgmentSettings, Standing, money_text
from chorale.model.plural import plural
from chorale.monitor.alarm import Alarm
from chorale.monitor.event_words import in_words
from chorale.monitor.hurried import hurried_workers
from chorale.monitor.sense import senseless_answers
from chorale.monitor.status import RoundStatus, StageCondition, conditions, round_statuses, why_dropped
from chorale.monitor.watching import acting_together, gold_is_worn_out, skipping
from chorale.protocol import WageSummary, trust, wage_summary
from chorale.store import Tx, calls, console, events, participations
from chorale.store.console import DroppedRow, GoldMet, WorkDone
from chorale.store.stages import StageCounts, stage_tallies

HOUR_MS = 3_600_000
_CHECK_AGAIN = 1.05
STARVED_AFTER_MS = HOUR_MS
DROPPED_WITHIN_MS = 24 * HOUR_MS
PARTS = 24
LABELS_IN_PART = 20
PAIRS_IN_LABEL = 10
GOLD_LOOKED_AT = 2_000
WRONG_AFTER, WRONG_BELOW = 5, 0.5
"""If gold has this many answers and most of them are wrong, the gold itself is probably wrong."""
EASY_AFTER, EASY_ABOVE = 50, 0.98
"""Gold that nobody gets wrong does not distinguish careful workers from careless ones."""
MOST_DROPPED = 20
_TO_CHECK = {
    None: "Check that the gold is correct.",
    "quality": "Check that the minimum worker quality (quality.floor) is not too high.",
}
"""What to check, by the rule that removed a worker. The key is None for removals by gold accuracy."""
RECENT_EVENTS = 12
MOST_DRAWS = 1_000


@dataclass(frozen=True, slots=True)
class AgreementPart:
    """Agreement on the labels of a period."""

    at: int
    agreement: float
    labels: int


@dataclass(frozen=True, slots=True)
class StageView:
    counts: StageCounts
    title: str
    planned: int
    """The minimum number of annotations that the stage's items need."""
    wage: WageSummary
    condition: StageCondition
    round: RoundStatus | None = None
    """The progress of a training round, which has no items to complete."""

    @property
    def is_done(self) -> bool:
        """Whether the stage gets no more annotations. If a gate has ended the stage, items may be left."""
        return (self.counts.complete == self.counts.items or bool(self.condition.ended_by)) and not self.counts.live


@dataclass(frozen=True, slots=True)
class Overview:
    stages: list[StageView]
    spent: int
    bonuses: int
    fees: int
    """Platform fees."""
    model_calls: int
    """The cost of calls to models."""
    budget: int | None
    wage: WageSummary
    agreement: list[AgreementPart]
    alarms: list[Alarm]
    dropped: list[tuple[DroppedRow, str]]
    """The latest removed workers, with the reason."""
    dropped_total: int
    passed: Mapping[str, int]
    """Number of people who passed, by gate."""
    recent: list[Event]
    imported: bool
    """Whether the study was imported."""

    @property
    def planned(self) -> int:
        """The sum over stages of the minimum or the existing number of annotations, whichever is larger."""
        return sum(max(stage.planned, stage.counts.judgments) for stage in self.stages)

    @property
    def judgments(self) -> int:
        return sum(stage.counts.judgments for stage in self.stages)

    @property
    def answers_in_rounds(self) -> int:
        """Paid answers in training rounds, which do not count as annotations."""
        return sum(stage.counts.answers for stage in self.stages if stage.round is not None)

    @property
    def phase(self) -> str:
        """new (nobody has joined), running, finished or imported."""
        if self.imported:
            return "imported"
        counts = [stage.counts for stage in self.stages]
        if not any(one.workers or one.live for one in counts):
            return "new"
        judged = [stage for stage in self.stages if stage.counts.items]
        return "finished" if judged and all(stage.is_done for stage in judged) else "running"


def overview(tx: Tx, study: Study) -> Overview:
    counts = [one for one in stage_tallies(tx, study.round_sizes, study.also_working) if one.name in study.stages]
    imported = bool(events.recent(tx, 1, kinds=("imported",)))
    unpaid = {stage.id for stage in study.stages.values() if stage.is_by_colleagues}
    # A file without payments does not mean that nothing was paid.
    unpaid |= {one.stage_id for one in counts if imported and not one.paid}
    worked = [row for row in console.worked(tx) if row.stage_id not in unpaid]
    short = stopped(tx, study)
    states = conditions(tx, study, counts, short)
    stages = _stage_views(study, counts, worked, _drawn_for_more(tx, study), round_statuses(tx, study), states)
    wage = wage_summary(_by_worker(worked))
    gone = console.dropped(tx, MOST_DROPPED)
    model_calls = sum(row.booked for row in calls.costs(tx))
    return Overview(
        stages=stages,
        spent=sum(one.paid + one.fees for one in counts),
        bonuses=console.bonuses(tx),
        fees=sum(one.fees for one in counts) - model_calls,
        model_calls=model_calls,
        budget=study.settings.pay.budget,
        wage=wage,
        agreement=agreement_over_time(tx, study),
        alarms=sorted(alarms(tx, study, stages, worked, wage, gone, short), key=lambda alarm: not alarm.serious),
        dropped=[(one, why_dropped(one.evidence)) for one in gone],
        dropped_total=sum(one.dropped for one in counts),
        passed=console.passed_gates(tx),
        recent=in_words(tx, study, events.recent(tx, RECENT_EVENTS)),
        imported=imported,
    )


def _drawn_for_more(tx: Tx, study: Study) -> Counter[str]:
    """Number of items sampled for a different number of annotations, by stage."""
    drawn: Counter[str] = Counter()
    if any(stage.settings.judgments.sample is not None for stage in study.stages.values()):
        for event in events.recent(tx, MOST_DRAWS, kinds=("sampled",)):
            drawn[event.stage or ""] += len(event.evidence["items"])
    return drawn


def _planned(rule: JudgmentSettings, items: int, drawn: int) -> int:
    more = 0 if rule.sample is None else rule.sample.judgments - rule.min
    return items * rule.min + drawn * more


def _stage_views(
    study: Study,
    counts: Sequence[StageCounts],
    worked: Sequence[WorkDone],
    drawn: Mapping[str, int],
    rounds: Mapping[str, RoundStatus],
    states: Mapping[str, StageCondition],
) -> list[StageView]:
    paid: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in worked:
        paid[row.stage_id].append((row.earned, row.worked_ms))
    return [
        StageView(
            tally,
            study.stage(tally.name).settings.title,
            _planned(study.stage(tally.name).settings.judgments, tally.items, drawn.get(tally.name, 0)),
            wage_summary(paid[tally.stage_id]),
            states[tally.name],
            rounds.get(tally.name),
        )
        for tally in counts
    ]


def _by_worker(worked: Sequence[WorkDone]) -> list[tuple[int, int]]:
    sums: dict[int, tuple[int, int]] = {}
    for row in worked:
        earned, time = sums.get(row.worker_id, (0, 0))
        sums[row.worker_id] = earned + row.earned, time + row.worked_ms
    return list(sums.values())


def agreement_over_time(tx: Tx, study: Study) -> list[AgreementPart]:
    """Agreement between answers to the same item over time, from a sample of labels of each period."""
    agreement = []
    for rows in console.labels_over_time(tx, PARTS, LABELS_IN_PART):
        values = []
        for _, stage_id, evidence in rows:
            distance = study.stage_by_id(stage_id).task.combining.distance
            answers = [one["answer"] for one in evidence["judgments"]]
            pairs = list(combinations(answers, 2))[:PAIRS_IN_LABEL]
            if pairs:
                values.append(1 - fmean(distance(left, right) for left, right in pairs))
        if values:
            agreement.append(AgreementPart(rows[-1][0], fmean(values), len(values)))
    return agreement


def _lately(tx: Tx, study: Study, check: Callable[[Tx, Study], Iterator[Alarm]]) -> list[Alarm]:
    """Slow alarms, cached for pages that are opened often: recomputed after 5% more answers."""
    answers = participations.answers(tx)
    checked_at, alarms = study.memory.get(check.__name__, (None, []))
    if checked_at is None or not checked_at <= answers < checked_at * _CHECK_AGAIN:
        alarms = list(check(tx, study))
        study.memory[check.__name__] = (answers, alarms)
    return cast(list[Alarm], alarms)


def alarms(
    tx: Tx,
    study: Study,
    stages: Sequence[StageView],
    worked: Sequence[WorkDone],
    wage: WageSummary,
    gone: Sequence[DroppedRow],
    short: tuple[str, ...],
) -> Iterator[Alarm]:
    """Alarms of a study. `short` are the stages that the budget does not cover any more."""
    yield from wage_alarms(study, stages, wage)
    lowest_correct = {stage.id: stage.lowest_correct for stage in study.stages.values()}
    yield from gold_alarms(study, console.gold_met(tx, GOLD_LOOKED_AT, lowest_correct))
    yield from gold_is_worn_out(tx, study)
    yield from _worker_alarms(study, {one.counts.stage_id for one in stages if one.is_done}, worked, gone)
    yield from skipping(tx, study)
    yield from _lately(tx, study, acting_together)
    yield from fast_alarms(tx, study, worked)
    yield from _lately(tx, study, senseless_answers)
    people = {one.counts.name: one.counts.workers for one in stages}
    for name, missing in gates_beyond_budget(tx, study, people).items():
        title, advice = beyond_budget(study, name, missing)
        yield Alarm("gate", title.removesuffix("."), advice, stages=study.gates[name].settings.stage, serious=True)
    if short:
        titles = _quoted([one.title for one in stages if one.counts.name in short])
        advice = "Raise `pay.budget` in study.toml and restart the site."
        yield Alarm("budget", f"The budget does not cover another item of {titles}", advice, stages=short, serious=True)
    yield from _starved(tx, study, [one for one in stages if one.condition.state == "open"])


def _quoted(titles: Sequence[str]) -> str:
    """Titles in quotes, for use inside a sentence."""
    return ", ".join(f"“{title}”" for title in titles)


def wage_alarms(study: Study, stages: Sequence[StageView], wage: WageSummary) -> Iterator[Alarm]:
    pay = study.settings.pay
    minimum, least = pay.minimum_hourly, f"your minimum of {money_text(pay.minimum_hourly, pay.currency)} an hour"
    low = [one for one in stages if one.wage.median is not None and one.wage.median < minimum]
    names = tuple(one.counts.name for one in low)
    if wage.median is not None and wage.median < minimum:
        advice = "Raise the pay, and pay a bonus to those who worked so far."
        yield Alarm("wage", f"The median wage is below {least}", advice, stages=names, serious=True)
    elif low:
        advice = "Raise the pay of this stage." if len(low) == 1 else "Raise the pay of these stages."
        # Stages of several arms can have one title.
        titles = dict.fromkeys(one.title for one in low)
        yield Alarm("wage", f"The median wage is below {least} in {_quoted(list(titles))}", advice, stages=names)
    elif wage.tenth_percentile is not None and wage.tenth_percentile < minimum:
        advice = "Check the slowest workers. A bonus can make up for items that take long."
        yield Alarm("wage", f"At least one worker in ten earns less than {least}", advice)


def gold_alarms(study: Study, met: Sequence[GoldMet]) -> Iterator[Alarm]:
    names = {stage.id: stage.name for stage in study.stages.values()}
    wrong = [one for one in met if one.answered >= WRONG_AFTER and one.right < WRONG_BELOW * one.answered]
    if wrong:
        wrong.sort(key=lambda gold: (gold.right / gold.answered, gold.key))
        yield Alarm(
            "gold-wrong",
            f"Most workers answered {plural(len(wrong), 'gold item', 'gold items')} wrong",
            "The gold may be wrong. Correct wrong gold answers, and retire unclear items.",
            items=tuple((names[one.stage_id], one.key) for one in wrong if one.stage_id in names),
            stages=tuple(dict.fromkeys(names[one.stage_id] for one in wrong if one.stage_id in names)),
            serious=True,
        )
    by_stage: dict[int, list[GoldMet]] = defaultdict(list)
    for gold in met:
        by_stage[gold.stage_id].append(gold)
    for stage_id, some in sorted(by_stage.items()):
        answered, right = sum(one.answered for one in some), sum(one.right for one in some)
        if stage_id in names and answered >= EASY_AFTER and right >= EASY_ABOVE * answered:
            yield Alarm(
                "gold-easy",
                f"The gold of {_quoted([study.stage(names[stage_id]).settings.title])} is too easy:"
                f" {right} of {answered} correct",
                "It does not distinguish careful workers from careless ones. Add harder gold items that have one clear "
                "answer.",
                stages=(names[stage_id],),
            )


def _worker_alarms(
    study: Study, done: Collection[int], worked: Sequence[WorkDone], gone: Sequence[DroppedRow]
) -> Iterator[Alarm]:
    """Alarms about workers with a low gold accuracy. In stages that are done, they get no more gold."""
    low, coming = [], False
    for row in worked:
        stage = study.stage_by_id(row.stage_id)
        rule = stage.settings.gold
        if rule is None or row.standing != Standing.ACTIVE or row.gold_answered < 2:
            continue
        value = trust(GoldRecord(row.gold_right, row.gold_answered, row.gold_recent), rule)
        if value < rule.floor:
            low.append((value, row.worker))
            coming = coming or row.stage_id not in done
    if low:
        low.sort()
        advice = "Workers who are still below this minimum after `gold.after` gold answers are removed automatically."
        if not coming:
            advice = "They get no more gold, so they are not removed automatically."
        yield Alarm(
            "worker",
            f"{plural(len(low), 'worker is', 'workers are')} below the minimum gold accuracy",
            f"{advice} Check their answers, and remove them if they are careless.",
            tuple(name for _, name in low),
        )
    since = study.clock() - DROPPED_WITHIN_MS
    lately = [one for one in gone if one.at >= since]
    if lately:
        removed = tuple(dict.fromkeys(one.worker for one in lately))
        checks = dict.fromkeys(filter(None, (_TO_CHECK.get(one.evidence.get("rule")) for one in lately)))
        yield Alarm(
            "worker",
            f"{plural(len(removed), 'worker was', 'workers were')} removed within the last day",
            " ".join(("Their annotations no longer count, and others annotate these items.", *checks)),
            removed,
        )


def fast_alarms(tx: Tx, study: Study, worked: Sequence[WorkDone]) -> Iterator[Alarm]:
    by_stage = ((study.stage_by_id(row.stage_id).name, row.worker, row.answered, row.worked_ms) for row in worked)
    hurried = hurried_workers(tx, study, by_stage)
    if hurried:
        answers, names = sum(one.answers for one in hurried), dict.fromkeys(one.worker for one in hurried)
        yield Alarm(
            "worker",
            f"{plural(len(names), 'worker answers', 'workers answer')} too fast to have read the items",
            f"They gave {plural(answers, 'answer', 'answers')}, on average in less than a quarter of the estimated "
            "time. Check their answers, or remove the workers.",
            tuple(names),
            stages=tuple(dict.fromkeys(one.stage for one in hurried)),
            serious=True,
        )


def _starved(tx: Tx, study: Study, stages: Sequence[StageView]) -> Iterator[Alarm]:
    """Open stages with items that nobody is working on."""
    now = study.clock()
    for stage in stages:
        counts = stage.counts
        waiting = counts.items - counts.complete
        if not waiting or counts.live or study.stage(counts.name).round_size:
            continue
        since = console.idle_since(tx, counts.stage_id)
        if since is not None and now - since >= STARVED_AFTER_MS:
            yield Alarm(
                "starved",
                f"Nobody is working on {_quoted([stage.title])}: {plural(waiting, 'item is', 'items are')} left",
                "Invite more people, or make the entry rules of the stage less strict.",
                stages=(counts.name,),
            )
