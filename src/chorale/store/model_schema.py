"""The tables of models that annotate: what each was asked about, and every request that was made."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from chorale.store.schema import Id, metadata

# An item that a model was given. Its answer stands here; only what counts like a worker's is a response as well.
model_task = Table(
    "model_task",
    metadata,
    Column("id", Id, primary_key=True),
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    Column("stage_id", Id, ForeignKey("stage.id"), nullable=False),
    Column("item_id", Id, ForeignKey("item.id"), nullable=False),
    # Training, qualification, gold or production; or what is no judgment: beside (kept apart from all labels), first
    # (the label where people are not asked) or suggest (shown to workers).
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

# How a model's confidence was made believable at some time: by which gold, and what came of it.
model_calibration = Table(
    "model_calibration",
    metadata,
    Column("id", Id, primary_key=True),
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    Column("stage_id", Id, ForeignKey("stage.id"), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("slope", Double, nullable=False),
    Column("offset", Double, nullable=False),
    # How many answers to gold it rests on, and the last grade that was known.
    Column("answers", Integer, nullable=False),
    Column("last_grade", BigInteger, nullable=False),
    Index("ix_model_calibration_stage", "stage_id", "worker_id"),
)

# Whether people are asked about an item that a model has answered first, and with which probability they were to be.
first_pass = Table(
    "first_pass",
    metadata,
    Column("item_id", Id, ForeignKey("item.id"), primary_key=True, autoincrement=False),
    Column("stage_id", Id, ForeignKey("stage.id"), nullable=False),
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    Column("task_id", Id, ForeignKey("model_task.id")),
    Column("calibration_id", Id, ForeignKey("model_calibration.id")),
    Column("at", BigInteger, nullable=False),
    # Calibrated.
    Column("confidence", Double),
    Column("probability", Double, nullable=False),
    Column("asked", Boolean, nullable=False),
    Column("why", Text, nullable=False),
    Index("ix_first_pass_stage", "stage_id", "worker_id"),
)

# What a worker was shown as a suggestion of a model; also a wrong one, where the study asks for some.
suggestion = Table(
    "suggestion",
    metadata,
    Column("assignment_id", Id, ForeignKey("assignment.id"), primary_key=True, autoincrement=False),
    Column("task_id", Id, ForeignKey("model_task.id"), nullable=False),
    Column("answer", Text, nullable=False),
    Column("wrong_on_purpose", Boolean, nullable=False),
    Column("at", BigInteger, nullable=False),
)

# How an answer was written, in numbers that the page counts: where the study file and the consent form say so.
writing = Table(
    "writing",
    metadata,
    Column("response_id", Id, ForeignKey("response.id"), primary_key=True, autoincrement=False),
    # Characters of the free text in the answer, and how many of those that were put in were pasted.
    Column("characters", Integer, nullable=False),
    Column("pasted", Double, nullable=False),
    # Time between the first and the last change of the text, pauses over two seconds left out.
    Column("typing_ms", BigInteger, nullable=False),
    # Standard deviation over mean of the times between changes; none with fewer than five.
    Column("rhythm", Double),
    # How often, and how long, the page was left between the item and the answer.
    Column("left", Integer, nullable=False),
    Column("away_ms", BigInteger, nullable=False),
)
