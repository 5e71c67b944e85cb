"""Importing finished work into a study's database: workers, judgments, pay and labels."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from random import Random, SystemRandom
from typing import Any, TypeVar

from chorale.engine.payouts import add_payout
from chorale.engine.running import RunningStage, Study
from chorale.engine.settling import settle_finished
from chorale.exchange.imported_files import CURRENCY, StagedBatch
from chorale.model import GoldRecord, Judgment, money_text
from chorale.protocol import trust
from chorale.store import Tx, events, importing, labels, payments
from chorale.store.codec import as_text
from chorale.store.importing import AddedWork, NewWorker, PaidEach
from chorale.store.payments import ELSEWHERE, PLANNED, SETTLED, NewPayment

T = TypeVar("T")
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
_ITEMS_AT_ONCE = 2_000
_STEP = 2_000

Progress = Callable[[int, int, str], None]
"""Called with the amount done, the total, and the unit."""
_People = dict[tuple[str, str], tuple[int, str]]
"""Worker number and pseudonym, by panel and panel ID."""


def bring_in_work(study: Study, batches: Mapping[str, StagedBatch], progress: Progress) -> None:
    """Import every batch into the stage with its name."""
    people: _People = {}
    for name, staged in batches.items():
        study.store.write(
            partial(_add, study=study, stage=study.stage(name), staged=staged, people=people, progress=progress)
        ).result()
    study.store.write(partial(_note_paid, study=study)).result()


def _note_paid(tx: Tx, study: Study) -> None:
    """Record that everybody was paid elsewhere, so that the study does not owe them the money and pay twice."""
    accounts = [account for account in payments.accounts(tx) if account.owed]
    if not accounts:
        return
    lines = [NewPayment(account.worker_id, account.owed, account.newest_entry) for account in accounts]
    payout_id, now = add_payout(tx, study, ELSEWHERE, None, lines), study.clock()
    payments.move_payout(tx, payout_id, PLANNED, SETTLED, sent_at=now, settled_at=now)
    # In parts, because a statement has a maximum number of values.
    for part in _parts(payment.id for payment in payments.payments_in(tx, payout_id)):
        payments.note_reported(tx, part, now)
    events.record(tx, now, "payout", {"payout": payout_id, "state": SETTLED})


def _add(tx: Tx, study: Study, stage: RunningStage, staged: StagedBatch, people: _People, progress: Progress) -> None:
    now = study.clock()
    here = _add_people(tx, staged, people, now)
    staged.staging.rewrite_answers(partial(_answer, stage, staged))
    staged.staging.number_workers((here_number, number) for here_number, (number, _) in here.items())
    paid = None
    if staged.reward:
        paid = PaidEach(staged.reward, f"an answer in {stage.name}, {money_text(staged.reward, CURRENCY)} each")
    total = staged.totals.judgments
    added = importing.add_done_work(
        tx,
        stage.id,
        stage.task.version,
        staged.staging,
        total,
        now,
        paid,
        lambda done: progress(done, total, "judgments imported"),
    )
    evidence: dict[str, Any] = {
        "file": staged.batch.name,
        "sha256": staged.batch.digest,
        "notes": list(staged.notes),
        "left_out": dict(staged.left_out),
    }
    events.record(tx, now, "imported", evidence, stage_id=stage.id)
    _label(tx, study, stage, staged, {number: name for number, (_, name) in here.items()}, added, progress)


def _add_people(tx: Tx, staged: StagedBatch, people: _People, now: int) -> dict[int, tuple[int, str]]:
    """Add new workers; returns number and pseudonym of all workers in the batch, by their numbers in it."""
    panel = staged.batch.panel
    came = {name: (number, first) for number, name, first in staged.staging.workers(now)}
    # Random, so that a pseudonym reveals neither the id nor the position in the file.
    rng: Random = SystemRandom()
    new = [
        NewWorker("w-" + "".join(rng.choices(_ALPHABET, k=10)), panel, name, came[name][1])
        for name in rng.sample(sorted(came), len(came))
        if (panel, name) not in people
    ]
    for number, worker in zip(importing.add_workers(tx, new), new, strict=True):
        people[panel, worker.external_id] = number, worker.pseudonym
    return {number: people[panel, name] for name, (number, _) in came.items()}


def _answer(stage: RunningStage, staged: StagedBatch, given: Sequence[Any]) -> str:
    """The submitted values in the format of the stage's task."""
    fields = staged.batch.fields
    if staged.kind is not None:
        raw = staged.kind.answer_of([field.title for field in fields], given)
    else:
        raw = {field.name: value for field, value in zip(fields, given, strict=True) if value is not None}
    return as_text(stage.task.shape.parse_answer(raw))


def _label(
    tx: Tx,
    study: Study,
    stage: RunningStage,
    staged: StagedBatch,
    pseudonyms: Mapping[int, str],
    added: AddedWork,
    progress: Progress,
) -> None:
    """Aggregate the judgments into labels."""
    # There is no gold, so all workers have the same trust.
    whole = trust(GoldRecord(), None)
    judged = (
        [Judgment(pseudonyms[worker], answer, whole, added.before + place) for _, place, worker, answer in given]
        for _, given in groupby(staged.staging.by_item(), itemgetter(0))
    )
    start = added.first_item
    for part in _parts(counted(judged, staged.totals.items, "items labelled", progress)):
        items = labels.items_between(tx, start, start + len(part))
        settle_finished(tx, study, stage, list(zip(items, part, strict=True)))
        start += len(part)


def _parts(values: Iterable[T]) -> Iterator[list[T]]:
    iterator = iter(values)
    while part := list(islice(iterator, _ITEMS_AT_ONCE)):
        yield part


def counted(values: Iterable[T], total: int, activity: str, progress: Progress) -> Iterator[T]:
    """Yield the values, and report their number from time to time."""
    for number, value in enumerate(values):
        if number % _STEP == 0:
            progress(number, total, activity)
        yield value
