"""Check model calls: their exact costs, their ledger entries, and the answers stored for them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from chorale.audit.earnings import earnings_text
from chorale.model import is_model
from chorale.model.money import money_text
from chorale.model.plural import plural
from chorale.protocol import calls_due
from chorale.store import Tx, calls, model_tasks
from chorale.store.calls import CallState
from chorale.store.model_tasks import NO_JUDGMENTS, TaskState
from chorale.store.participations import ParticipationSummary

_Paid = Mapping[tuple[str, str], tuple[int, int]]


def call_differences(tx: Tx, standings: Sequence[ParticipationSummary], paid: _Paid, currency: str) -> Iterator[str]:
    """Recompute the cost of every call, the sums, and the whole minor units that were booked."""
    exact: defaultdict[tuple[str, str], int] = defaultdict(int)
    amounts = partial(earnings_text, currency=currency)
    for call in calls.all_calls(tx):
        name = f"call {call.id} of {call.worker} in {call.stage}"
        if call.state == CallState.DONE:
            again = (call.input_tokens or 0) * call.input_price + (call.output_tokens or 0) * call.output_price
            exact[call.worker, call.stage] += again
            if call.cost != again:
                yield f"{name}: cost stored {call.cost}, recomputed {again} (billionths of a minor unit)"
        elif call.cost is not None:
            yield f"{name}: has a cost, but is {call.state}"
    stored = {(row.worker, row.stage): row for row in calls.costs(tx)}
    for worker, stage in sorted({*exact, *stored}):
        row, again = stored.get((worker, stage)), exact[worker, stage]
        name = f"calls of {worker} in {stage}"
        if (row.exact if row else 0) != again:
            yield f"{name}: cost stored {row.exact if row else 0}, recomputed {again} (billionths of a minor unit)"
        if (row.booked if row else 0) != calls_due(again, 0):
            yield f"{name}: booked {row.booked if row else 0}, recomputed {calls_due(again, 0)}"
    for standing in standings:
        if is_model(standing.worker):
            name = f"{standing.worker} in {standing.stage}"
            in_ledger = paid.get((standing.stage, standing.worker), (0, 0))
            due, shown = calls_due(exact[standing.worker, standing.stage], 0), (standing.earned, standing.fees)
            if in_ledger != (0, due):
                yield f"{name}: the ledger has {amounts(*in_ledger)}, but its calls cost {money_text(due, currency)}"
            if shown != in_ledger:
                yield f"{name}: stored {amounts(*shown)}, the ledger has {amounts(*in_ledger)}"
    yield from _task_differences(tx)


def _task_differences(tx: Tx) -> Iterator[str]:
    """Check the answers of models: each has a call, and exactly those that count were submitted, unchanged."""
    done = Counter(call.task_id for call in calls.finished(tx))
    responses = model_tasks.with_responses(tx)
    for task in model_tasks.all_tasks(tx):
        name = f"{task.worker} on item {task.item} of {task.stage}"
        if task.state == TaskState.ANSWERED:
            if not done[task.id]:
                yield f"{name}: has an answer, but no call"
            if (task.response_id is None) != (task.kind in NO_JUDGMENTS):
                yield f"{name}: is {task.kind}, but has response {task.response_id}"
            elif responses.get(task.response_id or 0, task.answer) != task.answer:
                yield f"{name}: the stored answer differs from the submitted one"
        elif task.answer is not None:
            yield f"{name}: is {task.state}, but has an answer"


def unknown_calls(tx: Tx) -> Iterator[str]:
    """Requests whose answer was never stored."""
    unknown = sum(row.calls for row in calls.summaries(tx) if row.state in (CallState.UNKNOWN, CallState.SENT))
    if unknown:
        yield f"what {plural(unknown, 'model call', 'model calls')} without a stored answer cost"
