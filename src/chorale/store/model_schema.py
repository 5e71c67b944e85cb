"""The tables of models that annotate: what each was asked about, and every request that was made."""

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, Table, Text, UniqueConstraint

from chorale.store.schema import Id, metadata

# An item that a model was given. Its answer stands here; only what counts like a worker's is a response as well.
model_task = Table(
    "model_task",
    metadata,
    Column("id", Id, primary_key=True),
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    Column("stage_id", Id, ForeignKey("stage.id"), nullable=False),
    Column("item_id", Id, ForeignKey("item.id"), nullable=False),
    # Training, qualification, gold or production; or beside, kept apart from all labels.
    Column("kind", Text, nullable=False),
    # Asked, answered, skipped, or failed: to be asked again in another run.
    Column("state", Text, nullable=False),
    Column("taken_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Column("answer", Text),
    # As the model states it or as its samples agree; not calibrated.
    Column("confidence", Double),
    Column("response_id", Id, ForeignKey("response.id")),
    # The last guard of the promise that no model answers an item twice.
    UniqueConstraint("worker_id", "item_id"),
    Index("ix_model_task_stage", "stage_id", "worker_id", "state"),
    Index("ix_model_task_item", "item_id"),
)

model_call = Table(
    "model_call",
    metadata,
    Column("id", Id, primary_key=True),
    Column("task_id", Id, ForeignKey("model_task.id"), nullable=False),
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    Column("stage_id", Id, ForeignKey("stage.id"), nullable=False),
    # Ask, correct (sent back with the reason), sample, or try: one whose answer was lost.
    Column("purpose", Text, nullable=False),
    # Planned, sent, done or unknown: it was sent, and no answer was read or stored.
    Column("state", Text, nullable=False),
    Column("model", Text, nullable=False),
    # The model as the server names it in its answer.
    Column("version", Text),
    Column("prompt_sha256", Text, nullable=False),
    Column("planned_at", BigInteger, nullable=False),
    Column("sent_at", BigInteger),
    Column("done_at", BigInteger),
    # What came of it: answer, unparsable, refusal, empty, cut, timeout, busy, server, unreachable,
    # rejected or declined.
    Column("outcome", Text),
    Column("reason", Text),
    Column("output", Text),
    # How often the request was sent, and how often each fault was met on the way, as JSON.
    Column("tries", Integer, nullable=False, server_default="0"),
    Column("faults", Text, nullable=False, server_default="{}"),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("latency_ms", BigInteger),
    Column("confidence", Double),
    # Prices of a million tokens in thousandths of a minor unit, and amounts in billionths of a minor unit.
    Column("input_price", BigInteger, nullable=False),
    Column("output_price", BigInteger, nullable=False),
    Column("reserved", BigInteger, nullable=False),
    Column("cost", BigInteger),
    Index("ix_model_call_task", "task_id"),
    Index("ix_model_call_open", "state", "worker_id"),
)

# The exact cost of a model's calls in a stage, and what of it the ledger has.
model_cost = Table(
    "model_cost",
    metadata,
    Column("worker_id", Id, ForeignKey("worker.id"), primary_key=True),
    Column("stage_id", Id, ForeignKey("stage.id"), primary_key=True),
    Column("exact", BigInteger, nullable=False),
    Column("booked", BigInteger, nullable=False),
)
