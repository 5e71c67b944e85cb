"""The ledger: earnings, the platform's fees, and the remaining budget."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from chorale.engine.running import RunningStage, Study
from chorale.model import EntryKind, GoldRecord, Participation, money_text
from chorale.model.plural import plural
from chorale.protocol import CALL_UNIT, calls_due, fee_due, fee_on, gold_bonus, length_pay, part_of_round, parts_bonus
from chorale.store import Tx, assignments, calls, events, gates, ledger, offering, participations, settings, workers

BUDGET_REACHED = "budget reached"
"""The event logged when the budget no longer covers an item."""


class Booked(NamedTuple):
    earned: int
    fee: int
    exact_fee: int


NOTHING = Booked(0, 0, 0)


class Amount(NamedTuple):
    """A ledger entry to be booked."""

    cause: str
    kind: EntryKind
    amount: int
    reason: str


def earned_by(
    stage: RunningStage, currency: str, response_id: int, parts: int, record: GoldRecord | None, words: int = 0
) -> list[Amount]:
    """The amounts a response earns.

    `record` is the worker's gold record after it, if it was gold in production. `words` is the length of its item, if
    pay depends on it.
    """
    pay, gold = stage.settings.pay, stage.settings.gold
    amounts = []
    if base := item_pay(stage, words):
        reason = _for_judgment(stage.name, base, currency, None if pay.by_length is None else words)
        amounts.append(Amount(f"response:{response_id}:base", EntryKind.BASE, base, reason))
    if pay.parts is not None and (further := parts_bonus(parts, pay.parts)):
        included = f", {pay.parts.beyond} of them included in the base pay" if pay.parts.beyond else ""
        reason = f"bonus for {plural(parts, 'part', 'parts')}{included}"
        amounts.append(Amount(f"response:{response_id}:parts", EntryKind.BONUS, further, reason))
    if record is not None and gold is not None and (well := gold_bonus(record, gold.bonus, stage.parts_of_gold)):
        reason = "correct answers to gold"
        amounts.append(Amount(f"response:{response_id}:gold", EntryKind.BONUS, well, reason))
    return amounts


def item_pay(stage: RunningStage, words: int) -> int:
    """The pay for an item with this number of words, whatever the answer."""
    pay = stage.settings.pay
    return pay.per_judgment + length_pay(words, pay.by_length)


@lru_cache(maxsize=10_000)
def _for_judgment(stage: str, amount: int, currency: str, words: int | None) -> str:
    if words is None:
        return f"an answer in {stage}, {money_text(amount, currency)} each"
    return f"an answer in {stage}, {money_text(amount, currency)} for {words:,} words"


def for_round(tx: Tx, stage: RunningStage, worker_id: int, response_id: int, answered: int) -> list[Amount]:
    """The amount an answer earns in a round that is paid as a whole, by its position: the last answer earns the whole
    amount. If a gate has ended the round, the finished part is paid, including an item still held.
    """
    size, whole = stage.round_size, stage.settings.pay.finished
    if size is None or not whole or answered > size:
        return []
    if not gates.closed_gates(tx).isdisjoint(stage.closed_by):
        cause = f"unfinished:{stage.name}:{worker_id}:{response_id}:bonus"
        amount = for_part(stage, answered) - for_part(stage, answered - 1)
        reason = f"an answer in {stage.name} that was submitted after it ended"
        return [Amount(cause, EntryKind.BONUS, amount, reason)] if amount else []
    if answered < size:
        return []
    return [Amount(f"response:{response_id}:finished", EntryKind.BONUS, whole, f"finished {stage.name}")]


def for_part(stage: RunningStage, answered: int) -> int:
    """The pay for this number of answers in a round that is paid as a whole."""
    return part_of_round(stage.settings.pay.finished, answered, stage.round_size) if stage.round_size else 0


def is_for_finishing(cause: str) -> bool:
    """Whether a payment was for a round, complete or in part, or for grading."""
    kind, _, rest = cause.partition(":")
    return kind in {"grading", "unfinished"} or (kind == "response" and rest.endswith(":finished"))


def book(
    tx: Tx, study: Study, stage: RunningStage, record: Participation, amounts: Sequence[Amount], now: int
) -> Booked:
    """Book amounts in the ledger, with the platform's fee."""
    for entry in amounts:
        ledger.add_entry(tx, entry.cause, now, record.worker_id, stage.id, entry.kind, entry.amount, entry.reason)
    earned = sum(one.amount for one in amounts)
    percent = _fee_percent(tx, study, record.worker_id)
    exact_fee = fee_on(earned, percent)
    fee = fee_due(record.exact_fees + exact_fee, record.fees)
    if fee:
        ledger.add_entry(
            tx,
            f"{amounts[0].cause.rpartition(':')[0]}:fee",
            now,
            record.worker_id,
            stage.id,
            EntryKind.FEE,
            fee,
            f"{percent:g}% platform fee (rounded cumulatively)",
        )
    return Booked(earned, fee, exact_fee)


def _fee_percent(tx: Tx, study: Study, worker_id: int) -> float:
    """The platform's fee on a worker's earnings; 0 for people who did not come from the platform."""
    percent = study.settings.pay.fee_percent
    if percent and study.fees_by_platform and workers.panel_of(tx, worker_id) != study.settings.arrival.panel:
        return 0
    return percent


def pay_bonus(tx: Tx, study: Study, stage: RunningStage, worker_id: int, cause: str, amount: int, reason: str) -> None:
    """Book a bonus that is not for a single response. The cause ensures that it is booked once."""
    record = participations.participation_of(tx, stage.id, worker_id, lock=True)
    if record is None:
        raise RuntimeError(f"a bonus for a worker without a participation in {stage.name}")
    paid = book(tx, study, stage, record, [Amount(f"{cause}:bonus", EntryKind.BONUS, amount, reason)], study.clock())
    participations.add_earnings(tx, stage.id, worker_id, paid.earned, paid.fee, paid.exact_fee)


def most_for_one(study: Study, stage: RunningStage) -> int:
    """The maximum amount that one answer can cost, without fees.

    If the task has no maximum number of parts, the study file's list of amounts limits the pay for parts. The amount
    includes what other people earn by this answer. For example, a grader's answer can complete the grades of a worker,
    and a gate that decides about each worker then pays its bonus at once.
    """
    pay, gold = stage.settings.pay, stage.settings.gold
    bonus = 0
    if gold is not None and gold.bonus is not None:
        bonus = gold.bonus.amount * -(-(stage.parts_of_gold or 1) // gold.bonus.of)
    most = stage.task.grading.most_parts
    listed = sum(pay.parts.amounts) if pay.parts is not None else 0
    parts = listed if most is None else parts_bonus(most, pay.parts)
    about = {stage.name, *stage.settings.graded_stages}
    rules = [gate.settings for gate in study.gates.values()]
    passing = sum(rule.bonus for rule in rules if rule.decides_each and about & set(rule.stage))
    finishing = pay.finished if stage.round_size is not None else 0
    length = 0 if pay.by_length is None else pay.by_length.most
    return pay.per_judgment + length + bonus + parts + finishing + passing + _most_for_kept(study, stage)


def _most_for_kept(study: Study, stage: RunningStage) -> int:
    """The maximum that an answer can earn for the workers whose answers its item was made from."""
    total = 0
    for name in stage.settings.sources if stage.settings.grades_sources else ():
        earlier = study.stage(name)
        kept, most = earlier.settings.pay.kept, earlier.task.grading.most_parts
        if kept is not None:
            each = sum(kept.amounts) if most is None else parts_bonus(most, kept)
            total += each * earlier.settings.judgments.max
    return total


def _promised(tx: Tx, study: Study) -> tuple[int, int]:
    """The maximum that all held items and kits' other work can earn, and the number of payments."""
    out = assignments.live_by_stage(tx)
    most = sum(most_for_one(study, stage) * out.get(stage.id, 0) for stage in study.stages.values())
    # For the answer, and for passing a gate by it.
    payments = 2 * sum(out.values())
    for part in study.work_parts.values():
        if part.promised is not None:
            more, more_payments = part.promised(tx, study.clock())
            most, payments = most + more, payments + more_payments
    return most, payments


def _committed(tx: Tx) -> int:
    """The amount paid so far, plus the maximum cost of model calls whose cost is not known yet."""
    return participations.spent(tx) - (-calls.reserved(tx) // CALL_UNIT)


def book_call(tx: Tx, study: Study, stage: RunningStage, worker_id: int, call_id: int, cost: int) -> None:
    """Add the exact cost of a call, and book whole minor units of the sum that are not booked yet."""
    if not cost:
        return
    before = calls.cost_of(tx, worker_id, stage.id)
    exact = before.exact + cost
    due = calls_due(exact, before.booked)
    calls.set_cost(tx, worker_id, stage.id, calls.ModelCost(exact, before.booked + due))
    if due:
        reason = "model calls (rounded cumulatively)"
        cause = f"call:{call_id}:model"
        ledger.add_entry(tx, cause, study.clock(), worker_id, stage.id, EntryKind.MODEL, due, reason)
        participations.add_earnings(tx, stage.id, worker_id, 0, due, 0)


def allows(tx: Tx, study: Study, stage: RunningStage) -> bool:
    """Whether the budget covers one more item of the stage, in addition to all payments and held items.

    The first time it does not, an event is logged.
    """
    budget = study.settings.pay.budget
    if budget is None:
        return True
    out, payments = _promised(tx, study)
    more = out + most_for_one(study, stage)
    spent = _committed(tx)
    enough = spent + _with_fee(study, more, payments + 2) <= budget
    if not enough:
        _note_budget_reached(tx, study, budget, spent, more)
    return enough


def _note_budget_reached(tx: Tx, study: Study, budget: int, spent: int, promised: int) -> None:
    if settings.setting_value(tx, BUDGET_REACHED) != str(budget):
        settings.set_setting(tx, BUDGET_REACHED, str(budget))
        evidence = {"budget": budget, "spent": spent, "promised": promised}
        events.record(tx, study.clock(), BUDGET_REACHED, evidence)


class CallBudget:
    """The remaining budget for calls, reduced as they are planned."""

    def __init__(self, tx: Tx, study: Study) -> None:
        self._tx, self._study = tx, study
        room = left(tx, study)
        self._room = None if room is None else room * CALL_UNIT

    def takes(self, cost: int) -> bool:
        """Whether it covers a call of at most this cost. If so, the amount is reserved; if not, an event is logged."""
        if self._room is None:
            return True
        if cost <= self._room:
            self._room -= cost
            return True
        spent, (out, _) = _committed(self._tx), _promised(self._tx, self._study)
        _note_budget_reached(self._tx, self._study, self._study.settings.pay.budget or 0, spent, out)
        return False


def covers(tx: Tx, study: Study, amount: int, payments: int) -> bool:
    """Whether the budget covers immediate payments, in addition to the maximum earnings of held items."""
    return not lacking(tx, study, amount, payments)


def lacking(tx: Tx, study: Study, amount: int, payments: int) -> int:
    """The amount by which payments would exceed the budget; 0 if it covers them or there is none."""
    budget = study.settings.pay.budget
    if budget is None:
        return 0
    out, more = _promised(tx, study)
    return max(_committed(tx) + _with_fee(study, amount + out, payments + more) - budget, 0)


def is_covered(tx: Tx, study: Study, stage: RunningStage) -> bool:
    """Whether the budget currently covers one more item of the stage."""
    return study.settings.pay.budget is None or covers(tx, study, most_for_one(study, stage), 2)


def stopped(tx: Tx, study: Study) -> tuple[str, ...]:
    """The stages that need answers but assign no items because the budget is used up.

    Stages ended by a gate need none.
    """
    if study.settings.pay.budget is None:
        return ()
    closed, with_open_items = gates.closed_gates(tx), offering.stages_with_open_items(tx)
    going_on = [stage for stage in study.stages.values() if closed.isdisjoint(stage.closed_by)]
    wanting = {stage.name for stage in going_on if stage.id in with_open_items}
    if wanting or all(stage.round_size is not None for stage in going_on):
        # A round has no items to complete: it needs people as long as the stages after it have work.
        wanting |= {stage.name for stage in going_on if stage.round_size is not None}
    return tuple(stage.name for stage in going_on if stage.name in wanting and not is_covered(tx, study, stage))


def left(tx: Tx, study: Study) -> int | None:
    """The remaining budget after all payments and reservations; None if there is no budget."""
    budget = study.settings.pay.budget
    if budget is None:
        return None
    return budget - _committed(tx) - _with_fee(study, *_promised(tx, study))


def _with_fee(study: Study, amount: int, payments: int) -> int:
    """An amount with its maximum fees, which are rounded per worker and stage."""
    percent = study.settings.pay.fee_percent
    return amount + (fee_due(fee_on(amount, percent), 0) + payments if percent else 0)
