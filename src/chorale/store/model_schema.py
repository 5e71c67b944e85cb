"""Tables of models that annotate: their items and all requests."""

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

# An item assigned to a model, with its answer. Only answers that count like a worker's are also responses.
model_task = Table(
    "model_task",
    metadata,
    Column("id", Id, primary_key=True),
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    Column("stage_id", Id, ForeignKey("stage.id"), nullable=False),
    Column("item_id", Id, ForeignKey("item.id"), nullable=False),
    # Training, qualification, gold or production; or not a judgment: beside (separate from all labels), first (the
    # label if people are not asked) or suggest (shown to workers).
    Column("kind", Text, nullable=False),
    # Asked, answered, skipped, or failed (requested again in another run).
    Column("state", Text, nullable=False),
    Column("taken_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Column("answer", Text),
    # Stated by the model or from the agreement of its samples; not calibrated.
    Column("confidence", Double),
    Column("response_id", Id, ForeignKey("response.id")),
    # The final guarantee that no model answers an item twice.
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
    # Ask, correct (returned with the reason), sample, or try (its answer was lost).
    Column("purpose", Text, nullable=False),
    # Planned, sent, done or unknown (sent without a stored answer).
    Column("state", Text, nullable=False),
    Column("model", Text, nullable=False),
    # The model's version, as reported by the server.
    Column("version", Text),
    Column("prompt_sha256", Text, nullable=False),
    Column("planned_at", BigInteger, nullable=False),
    Column("sent_at", BigInteger),
    Column("done_at", BigInteger),
    # The outcome: answer, unparsable, refusal, empty, cut, timeout, busy, server, unreachable,
    # rejected or declined.
    Column("outcome", Text),
    Column("reason", Text),
    Column("output", Text),
    # Number of attempts, and numbers of faults by kind, as JSON.
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

# The exact cost of a model's calls in a stage, and the amount booked in the ledger.
model_cost = Table(
    "model_cost",
    metadata,
    Column("worker_id", Id, ForeignKey("worker.id"), primary_key=True),
    Column("stage_id", Id, ForeignKey("stage.id"), primary_key=True),
    Column("exact", BigInteger, nullable=False),
    Column("booked", BigInteger, nullable=False),
)

# Calibrations of models' confidence: the gold used, and the result.
model_calibration = Table(
    "model_calibration",
    metadata,
    Column("id", Id, primary_key=True),
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    Column("stage_id", Id, ForeignKey("stage.id"), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("slope", Double, nullable=False),
    Column("offset", Double, nullable=False),
    # The number of gold answers used, and the last known grade.
    Column("answers", Integer, nullable=False),
    Column("last_grade", BigInteger, nullable=False),
    Index("ix_model_calibration_stage", "stage_id", "worker_id"),
)

# Decisions whether people are asked about an item that a model answered first, with their probability.
first_pass = Table(
    "first_pass",
    metadata,
    Column("item_id", Id, ForeignKey("item.id"), primary_key=True, autoincrement=False),
    Column("stage_id", Id, ForeignKey("stage.id"), nullable=False),
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    Column("task_id", Id, ForeignKey("model_task.id")),
    Column("calibration_id", Id, ForeignKey("model_calibration.id")),
    Column("at", BigInteger, nullable=False),
    # The calibrated confidence.
    Column("confidence", Double),
    Column("probability", Double, nullable=False),
    Column("asked", Boolean, nullable=False),
    Column("why", Text, nullable=False),
    Index("ix_first_pass_stage", "stage_id", "worker_id"),
)

# Suggestions shown to workers, including wrong ones on purpose.
suggestion = Table(
    "suggestion",
    metadata,
    Column("assignment_id", Id, ForeignKey("assignment.id"), primary_key=True, autoincrement=False),
    Column("task_id", Id, ForeignKey("model_task.id"), nullable=False),
    Column("answer", Text, nullable=False),
    Column("wrong_on_purpose", Boolean, nullable=False),
    Column("at", BigInteger, nullable=False),
)

# Writing statistics of answers, counted by the page if the study file and the consent form say so.
writing = Table(
    "writing",
    metadata,
    Column("response_id", Id, ForeignKey("response.id"), primary_key=True, autoincrement=False),
    # Characters of free text in the answer, and the number of pasted ones.
    Column("characters", Integer, nullable=False),
    Column("pasted", Double, nullable=False),
    # Time between the first and the last change of the text, without pauses over two seconds.
    Column("typing_ms", BigInteger, nullable=False),
    # Coefficient of variation of the times between changes; null with fewer than five.
    Column("rhythm", Double),
    # How often and how long the page was left before the answer.
    Column("left", Integer, nullable=False),
    Column("away_ms", BigInteger, nullable=False),
)
