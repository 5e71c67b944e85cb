"""The work of models in a study: calls, cost, gold and confidence, and their answers compared with people's."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from chorale.contract.fields import FieldKind
from chorale.engine.models.answering import counted_faults
from chorale.engine.running import RunningStage, Study
from chorale.metrics.replacing.calibration import Bin, expected_calibration_error, reliability
from chorale.metrics.score_table import ScoreTable
from chorale.model import MODEL_PREFIX, UserError, is_model
from chorale.model.money import exact_money_text
from chorale.store import Tx, calls, model_tasks
from chorale.store.calls import CallState
from chorale.store.codec import from_text
from chorale.store.model_tasks import NO_JUDGMENTS, TaskState
from chorale.store.participations import participation_summaries
from chorale.store.responses import counted_responses


def name_of(pseudonym: str) -> str:
    """A model's name in the study file."""
    return pseudonym.removeprefix(MODEL_PREFIX)


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The record of a model in a stage."""

    model: str
    stage: str
    role: str
    versions: tuple[str, ...]
    """Model versions, as reported by servers."""
    began_on: str
    ended_on: str
    """Dates of the first and the last call."""
    prompts: str
    """The SHA-256 of all prompts' sorted hashes: equal for equal prompts."""
    answered: int
    skipped: int
    calls: int
    outcomes: Mapping[str, int]
    faults: Mapping[str, int]
    input_tokens: int
    output_tokens: int
    seconds: float
    """The mean time of a call."""
    cost: int
    """In billionths of a minor unit."""
    gold_right: int
    gold_answered: int
    removed: bool
    diagram: tuple[Bin, ...]
    """Gold accuracy by confidence; empty if there is no confidence."""

    @property
    def calibration_error(self) -> float | None:
        return expected_calibration_error(self.diagram)

    def as_json(self) -> dict[str, Any]:
        kept = {name: getattr(self, name) for name in self.__slots__ if name != "diagram"}
        diagram = [one._asdict() for one in self.diagram]
        return {**kept, "calibration_error": self.calibration_error, "reliability": diagram}


def model_records(tx: Tx, study: Study) -> list[ModelRecord]:
    """The records of all models in all stages, in the order of the stages."""
    of_calls: defaultdict[tuple[str, str], list[calls.CallSummary]] = defaultdict(list)
    for row in calls.summaries(tx):
        of_calls[row.worker, row.stage].append(row)
    ended: Counter[tuple[str, str, str]] = Counter()
    for task in model_tasks.all_tasks(tx):
        ended[task.worker, task.stage, task.state] += 1
    versions, faults = calls.versions(tx), counted_faults(calls.faults_met(tx))
    prompts = calls.prompt_digests(tx)
    standings = {(row.worker, row.stage): row for row in participation_summaries(tx)}
    sure = _confidence_on_gold(tx, study)
    records = []
    for (worker, stage), rows in of_calls.items():
        standing = standings[worker, stage]
        done = [row for row in rows if row.state == CallState.DONE]
        count = sum(row.calls for row in done)
        pairs = sure.get((worker, stage), [])
        records.append(
            ModelRecord(
                model=name_of(worker),
                stage=stage,
                role=_role(study, stage),
                versions=tuple(versions.get((worker, stage), ())),
                began_on=_day(min(row.first_at for row in rows)),
                ended_on=_day(max(row.last_at for row in rows)),
                prompts=prompts[worker, stage],
                answered=ended[worker, stage, TaskState.ANSWERED],
                skipped=ended[worker, stage, TaskState.SKIPPED],
                calls=sum(row.calls for row in rows),
                outcomes={str(row.outcome or row.state): row.calls for row in rows},
                faults=faults.get((worker, stage), {}),
                input_tokens=sum(row.input_tokens for row in done),
                output_tokens=sum(row.output_tokens for row in done),
                seconds=sum(row.latency_ms for row in done) / 1000 / max(1, count),
                cost=sum(row.cost for row in done),
                gold_right=standing.gold_right,
                gold_answered=standing.gold_answered,
                removed=standing.standing == "dropped",
                diagram=tuple(reliability([one for one, _ in pairs], [right for _, right in pairs])),
            )
        )
    return records


def _role(study: Study, stage: str) -> str:
    running = study.stages.get(stage)
    if running is None or running.round_size is not None:
        return "round"
    rule = running.settings.models
    return "beside" if rule is None else rule.role


def _day(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).date().isoformat()


def _confidence_on_gold(tx: Tx, study: Study) -> Mapping[tuple[str, str], list[tuple[float, bool]]]:
    pairs: defaultdict[tuple[str, str], list[tuple[float, bool]]] = defaultdict(list)
    for row in model_tasks.graded(tx):
        if row.confidence is not None and row.stage in study.stages:
            pairs[row.worker, row.stage].append((row.confidence, study.stage(row.stage).is_correct(row.score)))
    return pairs


# Comparison with people's answers


def label_reader(stage: RunningStage, field: str | None) -> Callable[[Any], str | None]:
    """A function from an answer to the compared label: a field of it, or all of it as JSON."""
    names = [one.name for one in stage.task.shape.fields if one.kind in (FieldKind.LABEL, FieldKind.RATING)]
    fields = [one.name for one in stage.task.shape.fields]
    if field is not None and field not in fields:
        known = f"Its fields are: {', '.join(fields)}." if fields else "Its answers have no fields."
        raise UserError(f"The stage {stage.name} has no field {field!r} (set with --label). {known}")
    if field is None and fields:
        if len(names) != 1:
            raise UserError(
                f"The stage {stage.name} has {len(names)} fields with labels. Name one with --label: "
                f"{', '.join(names or fields)}."
            )
        [field] = names
    chosen = field

    def label(answer: Any) -> str | None:
        value = answer.get(chosen) if chosen is not None else answer
        if value is None or isinstance(value, str):
            return value
        return json.dumps(value, ensure_ascii=False, sort_keys=True)

    return label


def judged_rows(tx: Tx, stage: RunningStage, field: str | None = None) -> Iterator[dict[str, str]]:
    """Counted answers of people and all answers of models to items of a stage: task, worker, kind and label."""
    label = label_reader(stage, field)
    for counted in counted_responses(tx, stage.name):
        said = label(counted.answer)
        if said is not None and not is_model(counted.worker):
            yield {"task": counted.item, "worker": counted.worker, "kind": "human", "label": said}
    for row in model_tasks.answers(tx, stage.id):
        if row.answer is not None and row.kind in (*NO_JUDGMENTS, "production"):
            said = label(from_text(row.answer))
            if said is not None:
                yield {"task": row.item, "worker": name_of(row.worker), "kind": "model", "label": said}


def own_distance(stage: RunningStage) -> Callable[[frozenset[str], frozenset[str]], float]:
    """The task's own distance, between labels that are complete answers as JSON."""

    def task(left: frozenset[str], right: frozenset[str]) -> float:
        [first], [second] = left, right
        return stage.task.combining.distance(_answer(first), _answer(second))

    return task


def _answer(label: str) -> Any:
    """The parsed answer; a text that is not JSON is the answer itself."""
    try:
        return json.loads(label)
    except ValueError:
        return label


def records_table(records: Sequence[ModelRecord], currency: str) -> ScoreTable:
    """A table of models' records, for a terminal and a report."""
    columns = (
        "model",
        "stage",
        "role",
        "answered#",
        "skipped#",
        "calls#",
        "gold correct#",
        "ECE#",
        "seconds per call#",
        "cost#",
        "cost per label#",
    )
    rows = []
    for record in records:
        gold = f"{record.gold_right}/{record.gold_answered}" + (" (removed)" if record.removed else "")
        error = record.calibration_error
        each = exact_money_text(round(record.cost / record.answered), currency) if record.answered else ""
        rows.append(
            (
                record.model,
                record.stage,
                record.role,
                record.answered,
                record.skipped,
                record.calls,
                gold,
                "" if error is None else f"{error:.3f}",
                f"{record.seconds:.2f}",
                exact_money_text(record.cost, currency),
                each,
            )
        )
    return ScoreTable("Models", columns, rows)


def reliability_table(records: Sequence[ModelRecord]) -> ScoreTable | None:
    """A table of gold accuracy by confidence; None if no model reports confidence."""
    rows = [
        (one.model, f"{part.low:.1f} to {part.high:.1f}", part.answers, round(part.confidence, 3), round(part.right, 3))
        for one in records
        for part in one.diagram
    ]
    columns = ("model", "confidence", "gold answers#", "mean confidence#", "gold accuracy#")
    return ScoreTable("Reliability: gold accuracy by confidence", columns, rows) if rows else None


def troubles_table(records: Sequence[ModelRecord]) -> ScoreTable | None:
    """A table of calls without an answer and faults of repeated requests; None if there are none."""
    rows = [
        (one.model, one.stage, what, count)
        for one in records
        for what, count in (
            *((name, count) for name, count in sorted(one.outcomes.items()) if name != "answer"),
            *((f"{name} (of all attempts)", count) for name, count in sorted(one.faults.items())),
        )
    ]
    return ScoreTable("Calls without an answer", ("model", "stage", "reason", "times#"), rows) if rows else None
