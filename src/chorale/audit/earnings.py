"""Recompute everybody's earnings from their answers and the settings at that time."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from chorale.audit.managing import GoldThen
from chorale.engine.paying import earned_by, for_part
from chorale.engine.running import RunningStage
from chorale.engine.settings_history import History
from chorale.model import AssignmentKind, GoldRecord, Response
from chorale.model.money import money_text
from chorale.protocol import fee_due, fee_on, gold_after
from chorale.store.participations import ParticipationSummary


@dataclass(frozen=True, slots=True)
class PayRecords:
    """The data for recomputing pay, in addition to answers."""

    history: History
    paid: Mapping[tuple[str, str], tuple[int, int]]
    """Earnings and fees in the ledger, by stage and worker."""
    gold_then: GoldThen
    words: Mapping[int, int]
    """Number of words that an item shows, if it is paid by length."""
    fee_then: Callable[[str, int], float]
    recorded: Mapping[int, int]
    """Ledger amounts for erased answers, by response."""
    currency: str


def gold_score(stage: RunningStage, response: Response, expected: Any, gone: Collection[int]) -> float:
    """The gold score of an answer; the stored score if the answer was erased, or its item has no gold answer."""
    if response.id in gone or expected is None:
        return response.gold_score or 0.0
    return stage.task.grading.grade(response.answer, expected).score


def pay_differences(
    stage: RunningStage,
    row: ParticipationSummary,
    given: list[Response],
    books: PayRecords,
    bonuses: list[tuple[int, int]],
    cut_off: int | None,
) -> Iterator[str]:
    """Recompute the pay of every response, by the rates and gold in force when it was submitted, and every bonus.

    `cut_off` is the number of answers a worker had given when a gate ended their round.
    """
    record, then, payments = GoldRecord(), stage, list(bonuses)
    corrected = any(response.item_id in books.gold_then.changes for response in given)
    for number, response in enumerate(given, 1):
        then = then.under(books.history.stage_at(response.submitted_at, row.stage))
        if response.kind != AssignmentKind.PRODUCTION:
            if corrected:
                record = _record_then(stage, given[:number], books)
            else:
                score = gold_score(stage, response, response.gold_answer, books.recorded)
                record = gold_after(record, then.gold_marks(score), then.settings.gold)
        earned = _earned(then, stage, response, record, books)
        payments.append((response.submitted_at, earned + _for_round(then, number, cut_off)))
    earned = sum(amount for _, amount in payments)
    fee_then = partial(books.fee_then, row.worker)
    fees = fee_due(sum(fee_on(amount, fee_then(at)) for at, amount in payments), 0)
    name = f"worker {row.worker} in {row.stage}"
    in_ledger = books.paid.get((row.stage, row.worker), (0, 0))
    amounts = partial(earnings_text, currency=books.currency)
    if in_ledger != (earned, fees):
        yield f"{name}: the ledger has {amounts(*in_ledger)}, recomputed {amounts(earned, fees)}"
    if (row.earned, row.fees) != in_ledger:
        yield f"{name}: stored {amounts(row.earned, row.fees)}, the ledger has {amounts(*in_ledger)}"


def earnings_text(earned: int, fees: int, *, currency: str) -> str:
    """Earnings with fees, for messages.

    >>> earnings_text(126, 42, currency="USD")
    '$1.26 and fees of $0.42'
    """
    return f"{money_text(earned, currency)} and fees of {money_text(fees, currency)}"


def _earned(then: RunningStage, stage: RunningStage, response: Response, record: GoldRecord, books: PayRecords) -> int:
    if response.id in books.recorded:
        return books.recorded[response.id]
    met = record if response.kind == AssignmentKind.GOLD else None
    length = books.words.get(response.item_id, 0)
    parts = stage.task.grading.parts(response.answer)
    return sum(one.amount for one in earned_by(then, "", response.id, parts, met, length))


def _for_round(stage: RunningStage, number: int, cut_off: int | None) -> int:
    """The amount earned by the answer at this position in a round that is paid as a whole."""
    if cut_off is None:
        return stage.settings.pay.finished if number == stage.round_size else 0
    # Earlier answers were paid when the gate closed.
    return for_part(stage, number) - for_part(stage, number - 1) if number > cut_off else 0


def _record_then(stage: RunningStage, given: list[Response], books: PayRecords) -> GoldRecord:
    """A worker's gold record after the last of these answers, by the gold of that time."""
    record, then = GoldRecord(), stage
    moment = given[-1].submitted_at
    for response in given:
        if response.kind != AssignmentKind.PRODUCTION:
            expected = books.gold_then.answer(response.item_id, moment, response.gold_answer)
            then = then.under(books.history.stage_at(response.submitted_at, stage.name))
            score = gold_score(stage, response, expected, books.recorded)
            record = gold_after(record, then.gold_marks(score), then.settings.gold)
    return record
