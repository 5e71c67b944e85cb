"""Recompute all derived values from the recorded answers, and report differences from the database."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from chorale.audit.append_only import protection_differences
from chorale.audit.consents import consent_differences
from chorale.audit.decisions import decision_differences
from chorale.audit.draws import (
    answers_drawn,
    arm_differences,
    drawing_differences,
    entry_differences,
    sample_differences,
)
from chorale.audit.earnings import PayRecords, gold_score, pay_differences
from chorale.audit.erasures import erasure_differences, not_recomputed
from chorale.audit.first_passes import first_differences
from chorale.audit.grades import grade_differences, kept_bonuses
from chorale.audit.identities import identities_checked, identity_differences, unchecked_identities
from chorale.audit.managing import GoldThen, counting_again, dropped_by_hand, given_by_hand
from chorale.audit.models import call_differences, unknown_calls
from chorale.audit.money import currency_differences, fees_then, payment_differences, unchecked_payments
from chorale.audit.parts import AuditPart
from chorale.audit.protocol import Bonuses, verify_gates
from chorale.audit.showing import shown_differences, unchecked_showing
from chorale.audit.suggestions import suggestion_differences
from chorale.engine.combining import outcome
from chorale.engine.decisions import decided_in_console, still_to_review
from chorale.engine.derived_items import derived_items
from chorale.engine.quality import counted_by, qualities, shared_items
from chorale.engine.running import RunningStage, Study
from chorale.engine.settings_history import History
from chorale.engine.waiting import is_waiting
from chorale.model import (
    AssignmentKind,
    Event,
    GoldRecord,
    Item,
    ItemState,
    Judgment,
    Response,
    SourceItem,
    StageSettings,
    Standing,
    is_model,
)
from chorale.model.plural import plural
from chorale.protocol import (
    WorkerQuality,
    gold_after,
    review_quality,
    review_worker,
    trust,
)
from chorale.registry import blaming, loaded_parts
from chorale.store import Tx, erasing, events, first_pass, ledger, participations, remaining
from chorale.store.codec import as_text
from chorale.store.first_pass import FirstLabel
from chorale.store.items import all_items, live_leases
from chorale.store.lengths import all_words
from chorale.store.participations import ParticipationSummary
from chorale.store.responses import all_responses, impossible_durations

TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Verification:
    checked: dict[str, int]
    """Number of recomputed values, by kind."""
    differences: list[str]
    unchecked: list[str] = field(default_factory=list)
    """Questions that the records cannot answer."""

    @property
    def conclusion(self) -> str:
        """The outcome in one sentence."""
        if self.differences:
            return f"{plural(len(self.differences), 'difference', 'differences')} found."
        return "Everything that could be checked agrees." if self.unchecked else "Everything agrees."


def verify(tx: Tx, study: Study) -> Verification:
    """Recompute gold accuracy, status, labels, confidence and pay from responses, gold and settings."""
    responses = list(all_responses(tx, to_keep=True, erased=True))
    silent = erasing.without_answers(tx)
    standings = participations.participation_summaries(tx)
    paid = ledger.paid_by_participation(tx)
    history = History(tx)
    parts: dict[str, AuditPart] = loaded_parts(lambda kit: kit.audit, study.task_names)
    messages = tuple(cause for part in parts.values() for cause in part.messages)
    gone = remaining.erased_answers(tx)
    (bonuses, cut_off), differences = verify_gates(tx, study, history.study_at, messages)
    elsewhere = _add_bonuses(tx, study, parts, history, bonuses)
    books = _pay_records(tx, study, history, paid, gone)
    by_hand, reinstated = dropped_by_hand(tx), counting_again(tx)
    differences += arm_differences(tx, study, history.study_at, standings)
    differences += entry_differences(tx, history.study_at, standings)
    differences += sample_differences(tx, study, history.study_at)
    by_quality, of_quality = quality_drops(
        tx, study, history.stage_at, {one.stage for one in responses if one.id in gone}
    )
    differences += of_quality
    by_worker: dict[tuple[str, str], list[Response]] = defaultdict(list)
    for response in responses:
        by_worker[response.stage, response.worker].append(response)
    differences += drawing_differences(tx, study, history.study_at, by_worker)
    dropped_otherwise = by_quality | by_hand
    for row in standings:
        stage = study.stage(row.stage)
        given = by_worker[row.stage, row.worker]
        if row.worker in silent:
            differences += _kept_differences(row, given, elsewhere, paid)
            continue
        otherwise = (row.stage, row.worker) in dropped_otherwise
        differences += _worker_differences(stage, row, given, elsewhere, history, otherwise, gone)
        beside, answered_then = bonuses[row.stage, row.worker], cut_off.get((row.stage, row.worker))
        if is_model(row.worker):
            continue  # a model's answers earn nothing, and the cost of its calls is recomputed below
        differences += pay_differences(stage, row, given, books, beside, answered_then)
    there = [response for response in responses if response.id not in gone]
    judged = {stage.name: _counted(stage, there, standings) for stage in study.stages.values()}
    items, of_items = _item_differences(tx, study, judged, history, reinstated)
    differences += [*of_items, *decision_differences(tx, study)]
    differences += [*grade_differences(tx, study, responses, judged, gone), *_duration_differences(tx)]
    differences += [*consent_differences(tx), *erasure_differences(tx, study), *shown_differences(tx, study)]
    differences += protection_differences(tx)
    differences += [*_of_kits(tx, parts), *call_differences(tx, standings, paid, books.currency)]
    differences += [*first_differences(tx, study, history), *suggestion_differences(tx, study, history)]
    differences += [*payment_differences(tx), *currency_differences(tx, study), *identity_differences(tx)]
    return Verification(
        {
            "responses": len(responses),
            "pairs of worker and stage": len(standings),
            "items": items,
            "ledger entries": sum(1 for _ in ledger.ledger_lines(tx)),
            **identities_checked(tx),
        },
        differences,
        [*_unchecked(tx), *not_recomputed(tx, study, silent, gone), *unchecked_showing(tx, study)],
    )


def _add_bonuses(
    tx: Tx, study: Study, parts: Mapping[str, AuditPart], history: History, bonuses: Bonuses
) -> Mapping[tuple[str, str], int]:
    """Add payments by kits, by hand and for kept parts of answers, and the time worked outside of items."""
    elsewhere: Counter[tuple[str, str]] = Counter()
    for kit, part in parts.items():
        with blaming(f"audit of the kit `{kit}`"):
            part.add_pay(tx, study, bonuses)
            elsewhere.update({} if part.worked is None else part.worked(tx, study))
    for stage_name, worker, at, amount in (*given_by_hand(tx), *kept_bonuses(tx, history.study_at)):
        bonuses[stage_name, worker].append((at, amount))
    return elsewhere


def _of_kits(tx: Tx, parts: Mapping[str, AuditPart]) -> Iterator[str]:
    for kit, part in parts.items():
        with blaming(f"audit of the kit `{kit}`"):
            yield from part.differences(tx)


def _unchecked(tx: Tx) -> Iterator[str]:
    yield from unchecked_identities(tx)
    yield from unknown_calls(tx)
    yield from unchecked_payments(tx)


def _item_differences(
    tx: Tx,
    study: Study,
    judged: dict[str, dict[str, list[Judgment]]],
    history: History,
    reinstated: set[tuple[str, str]],
) -> tuple[int, list[str]]:
    """The number of items, and differences in labels, places and derived items."""
    items = 0
    differences: list[str] = []
    live = live_leases(tx)
    for stage in study.stages.values():
        most = history.most_judgments(stage.name)
        first = first_pass.of_stage(tx, stage.id) if stage.asks_model_first else {}
        for item in all_items(tx, stage.name):
            items += 1
            differences += _label_differences(stage, item, judged[stage.name][item.key], first.get(item.key))
            again = sum((stage.name, one.worker) in reinstated for one in judged[stage.name][item.key])
            differences += _place_differences(item, live.get(item.id, 0), most + again)
        differences += _derived_differences(tx, study, stage, judged)
    return items, differences


def _kept_differences(
    row: ParticipationSummary,
    given: list[Response],
    elsewhere: Mapping[tuple[str, str], int],
    paid: dict[tuple[str, str], tuple[int, int]],
) -> Iterator[str]:
    """Check the remaining records of workers whose answers were erased: number of answers, time and money."""
    in_ledger = paid.get((row.stage, row.worker), (0, 0))
    for quantity, stored, again in (
        ("answers", row.answered, len(given)),
        ("gold answers", row.gold_answered, sum(one.kind != AssignmentKind.PRODUCTION for one in given)),
        ("time worked", row.worked_ms, _time_worked(row, given, elsewhere)),
        ("status", row.standing, Standing.DROPPED),
        ("earnings and fees", (row.earned, row.fees), in_ledger),
    ):
        if stored != again:
            yield f"worker {row.worker} in {row.stage}: {quantity} stored {stored}, recomputed {again}"


def _time_worked(row: ParticipationSummary, given: list[Response], elsewhere: Mapping[tuple[str, str], int]) -> int:
    """The time a worker spent in a stage, on answers and on other work."""
    return sum(response.duration_ms for response in given) + elsewhere.get((row.stage, row.worker), 0)


def _pay_records(
    tx: Tx, study: Study, history: History, paid: Mapping[tuple[str, str], tuple[int, int]], gone: Collection[int]
) -> PayRecords:
    recorded, words, fees = ledger.for_responses(tx, gone), all_words(tx), fees_then(tx, study, history)
    return PayRecords(history, paid, GoldThen.of(tx), words, fees, recorded, study.settings.pay.currency)


def _worker_differences(
    stage: RunningStage,
    row: ParticipationSummary,
    given: list[Response],
    elsewhere: Mapping[tuple[str, str], int],
    history: History,
    dropped_otherwise: bool,
    gone: Collection[int],
) -> Iterator[str]:
    name = f"worker {row.worker} in {row.stage}"
    graded = [response for response in given if response.kind != AssignmentKind.PRODUCTION]
    record, then, should_drop = GoldRecord(), stage, dropped_otherwise
    for response in graded:
        score = gold_score(stage, response, response.gold_answer, gone)
        if response.gold_answer is None and response.id not in gone:
            yield f"{name}: response {response.id} is stored as an answer to gold, but its item has no gold answer"
        if response.gold_score is None or abs(score - response.gold_score) > TOLERANCE:
            yield f"{name}: response {response.id} was graded {response.gold_score}, recomputed {score}"
        then = then.under(history.stage_at(response.submitted_at, stage.name))
        rule = then.settings.gold
        record = gold_after(record, then.gold_marks(score), rule)
        should_drop = should_drop or (rule is not None and review_worker(record, rule).dropped)
    for quantity, stored, again in (
        ("answers", row.answered, len(given)),
        ("gold answers", row.gold_answered, len(graded)),
        ("correct gold answers", row.gold_right, record.right),
        ("latest gold answers", row.gold_recent, record.recent),
        ("time worked", row.worked_ms, _time_worked(row, given, elsewhere)),
        ("status", row.standing, Standing.DROPPED if should_drop else Standing.ACTIVE),
    ):
        if stored != again:
            yield f"{name}: {quantity} stored {stored}, recomputed {again}"


def _duration_differences(tx: Tx) -> Iterator[str]:
    """Responses whose duration exceeds the time their workers held the items. Hourly wages depend on these times."""
    for row in impossible_durations(tx):
        stored = f"worker {row.worker} in {row.stage}: response {row.id} has {row.duration_ms} ms of work stored"
        yield f"{stored}, but only {row.held_ms} ms passed between assignment and submission"


def _counted(
    stage: RunningStage, responses: list[Response], standings: list[ParticipationSummary]
) -> dict[str, list[Judgment]]:
    trusted = {
        row.worker: trust(GoldRecord(row.gold_right, row.gold_answered, row.gold_recent), stage.settings.gold)
        for row in standings
        if row.stage == stage.name
    }
    judged: dict[str, list[Judgment]] = defaultdict(list)
    for response in responses:
        if response.stage == stage.name and response.counts:
            judged[response.item].append(
                Judgment(response.worker, response.answer, trusted[response.worker], response.id)
            )
    return judged


def _label_differences(
    stage: RunningStage, item: Item, judgments: list[Judgment], first: FirstLabel | None
) -> Iterator[str]:
    decided = None if item.decision is None else as_text(item.decision)
    combined, decision = outcome(stage, item.key, judgments, sampled=item.sampled, decided=decided, first=first)
    answer = None if combined is None else combined.answer
    confidence = None if combined is None else combined.confidence
    state = decision.state
    name = f"item {item.key} of {stage.name}"
    if item.judgments != len(judgments):
        yield f"{name}: number of judgments {item.judgments} stored, {len(judgments)} recomputed"
    # An item made from an erased answer is empty, and so may its label be.
    emptied = item.state == ItemState.WITHDRAWN and not item.payload
    if item.answer != answer and not (emptied and item.answer is None):
        yield f"{name}: answer {item.answer!r} stored, {answer!r} recomputed"
    if abs((item.confidence or 0.0) - (confidence or 0.0)) > TOLERANCE:
        yield f"{name}: confidence {item.confidence} stored, {confidence} recomputed"
    if item.state not in (state, ItemState.WITHDRAWN) or item.released != decision.released:
        yield (
            f"{name}: state {item.state}, accepted={item.released} stored; state {state}, "
            f"accepted={decision.released} recomputed"
        )


def _place_differences(item: Item, live: int, most: int) -> Iterator[str]:
    """Check that the taken places of an item match its counted judgments and the workers who hold it."""
    name = f"item {item.key} of {item.stage}"
    judgments = plural(item.judgments, "judgment", "judgments")
    counts = f"{judgments} and {plural(live, 'open assignment', 'open assignments')}"
    if item.taken != item.judgments + live:
        yield f"{name}: {item.taken} places stored as taken, but {counts}"
    if item.judgments + live > most:
        yield f"{name}: {counts}, but at most {most} judgments were requested"


def _derived_differences(
    tx: Tx, study: Study, stage: RunningStage, judged: dict[str, dict[str, list[Judgment]]]
) -> list[str]:
    """Check that a derived stage has exactly the items that follow from its source stages."""
    if not stage.settings.sources:
        return []
    seed = study.settings.study.seed
    wanted: set[str] = set()
    drawn = None if stage.per_worker is None else answers_drawn(tx, stage.name)
    states = {item.key: item.state for item in all_items(tx, stage.name)}
    for name in () if is_waiting(tx, stage) else stage.settings.sources:
        groups: dict[str, list[SourceItem]] = defaultdict(list)
        complete: set[int] = set()
        decided: set[int] = set()
        for item in all_items(tx, name):
            groups[item.group].append(replace(item.as_source(), judgments=tuple(judged[name][item.key])))
            if item.state == ItemState.COMPLETE:
                complete.add(item.id)
            if item.decision is not None and stage.settings.decides_sources:
                decided.add(item.id)
        by_console = decided_in_console(tx, decided)
        for sources in groups.values():
            made = derived_items(stage, study.stage(name), sources, complete, seed)
            items = {new.key: new for new in made if drawn is None or new.response in drawn}
            wanted |= still_to_review(items, by_console, states).keys()
    present = {key for key, state in states.items() if state != ItemState.WITHDRAWN}
    earlier = ", ".join(stage.settings.sources)
    return [f"item {key} of {stage.name}: follows from {earlier}, but does not exist" for key in wanted - present] + [
        f"item {key} of {stage.name}: exists, but does not follow from {earlier}" for key in present - wanted
    ]


def quality_drops(
    tx: Tx, study: Study, stage_at: Callable[[int, str], StageSettings], erased_in: set[str]
) -> tuple[set[tuple[str, str]], list[str]]:
    """Stage and worker of removals by worker quality, and differences from the logged evidence.

    `erased_in` are the stages with erased answers.
    """
    drops = [
        event for event in reversed(events.recent(tx, 1_000_000, kinds=("dropped",))) if event.stage and event.worker
    ]
    by_basis: defaultdict[tuple[str, int, int], list[Event]] = defaultdict(list)
    for event in drops:
        if event.evidence.get("rule") == "quality":
            by_basis[str(event.stage), int(event.evidence["upto"]), int(event.evidence["events"])].append(event)
    dropped: set[tuple[str, str]] = set()
    differences: list[str] = []
    for (name, upto, last), recorded_events in by_basis.items():
        stage = study.stage(name)
        if name in erased_in:
            # Quality compares all workers, so answers erased since had an influence.
            dropped.update((name, str(event.worker)) for event in recorded_events)
            continue
        answers = counted_by(tx, stage, upto, last)
        again = qualities(stage, answers)
        shared = shared_items(answers)
        places = {} if again is None else {worker: place for place, worker in enumerate(again.workers)}
        for event in recorded_events:
            worker = str(event.worker)
            dropped.add((name, worker))
            place = places.get(worker)
            if again is None or place is None:
                differences.append(f"worker {worker} in {name}: removed because of a quality that can't be recomputed")
                continue
            values = (float(again.wqs[place]), float(again.wwa[place]), float(again.wua[place]))
            quality = WorkerQuality(*values, shared.get(worker, 0))
            rule = stage_at(event.at, name).quality
            verdict = None if rule is None else review_quality(quality, rule)
            if verdict is None or not verdict.dropped or abs(quality.wqs - event.evidence["wqs"]) > TOLERANCE:
                differences.append(
                    f"worker {worker} in {name}: removed at a quality of {event.evidence['wqs']}, "
                    f"recomputed {quality.wqs}"
                )
    return dropped, differences
