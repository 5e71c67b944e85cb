"""Evidence of answers that were pasted or written by a model.

It is shown to people, and decides nothing automatically.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, NamedTuple

from chorale.contract.fields import Scale
from chorale.engine.running import RunningStage, Study
from chorale.model import is_model
from chorale.store import Tx, model_tasks, writing
from chorale.store.codec import answer_from_text
from chorale.store.writing import WrittenRow
from chorale.text.alike import words_of
from chorale.text.near_duplicates import near_duplicates

FEWEST_WORDS = 4
"""Shorter texts are often similar without being copied."""


class WrittenEvidence(NamedTuple):
    """Evidence on whether a worker wrote an answer themselves."""

    row: WrittenRow
    closeness: float | None
    """Maximum similarity to the study's models on the same item: the fraction of shared words."""
    near_copies: int
    """Number of other workers who wrote nearly the same."""


@dataclass(frozen=True, slots=True)
class WriterEvidence:
    """The statistics of all answers of a worker in a stage."""

    stage: str
    answers: int
    characters: float
    """Mean number of characters of free text."""
    pasted: float
    """Mean fraction of pasted characters."""
    mostly_pasted: int
    """Number of answers of which more than half was pasted."""
    typed_per_minute: float | None
    """Characters per minute of typing."""
    rhythm: float | None
    """Median variation of typing rhythm: near 0 if it is as regular as a program's."""
    left: float
    """Fraction of answers before which the page was left."""
    away_seconds: float
    """Mean time away from the page, for answers before which the page was left."""
    closeness: float | None
    """Median similarity to the study's models."""
    near_copies: int
    """Number of answers that nearly equal another worker's."""


def evidence(tx: Tx, study: Study) -> Iterator[WrittenEvidence]:
    """The evidence of every answer with a writing record."""
    rows = [row for row in writing.written(tx) if row.stage in study.stages and not is_model(row.worker)]
    texts = [_text(study.stage(row.stage), row.answer) for row in rows]
    by_models = _model_words(tx, study)
    copies = _near_copies(rows, texts)
    for place, (row, text) in enumerate(zip(rows, texts, strict=True)):
        words = frozenset(words_of(text))
        others = by_models.get((row.stage, row.item), ())
        near = max((_shared(words, other) for other in others), default=None) if len(words) >= FEWEST_WORDS else None
        yield WrittenEvidence(row, near, copies.get(place, 0))


def worker_evidence(tx: Tx, study: Study, pseudonym: str) -> list[WriterEvidence]:
    """The evidence on a worker, by stage; empty if the study does not record how people write."""
    if study.settings.writing is None:
        return []
    by_stage: defaultdict[str, list[WrittenEvidence]] = defaultdict(list)
    for written in evidence(tx, study):
        if written.row.worker == pseudonym:
            by_stage[written.row.stage].append(written)
    return [_of_stage(stage, found) for stage, found in by_stage.items()]


def _of_stage(stage: str, evidence_of_stage: Sequence[WrittenEvidence]) -> WriterEvidence:
    numbers = [one.row.numbers for one in evidence_of_stage]
    typed = sum(one.characters * (1 - one.pasted) for one in numbers)
    minutes = sum(one.typing_ms for one in numbers) / 60_000
    rhythms = [one.rhythm for one in numbers if one.rhythm is not None]
    near = [one.closeness for one in evidence_of_stage if one.closeness is not None]
    away = [one.away_ms / 1000 for one in numbers if one.left]
    return WriterEvidence(
        stage=stage,
        answers=len(evidence_of_stage),
        characters=fmean(one.characters for one in numbers),
        pasted=fmean(one.pasted for one in numbers),
        mostly_pasted=sum(one.pasted > 0.5 for one in numbers),
        typed_per_minute=typed / minutes if minutes else None,
        rhythm=median(rhythms) if rhythms else None,
        left=len(away) / len(numbers),
        away_seconds=fmean(away) if away else 0.0,
        closeness=median(near) if near else None,
        near_copies=sum(one.near_copies > 0 for one in evidence_of_stage),
    )


def _text(stage: RunningStage, answer: str) -> str:
    """The free text of an answer."""
    value: Any = answer_from_text(answer)
    if isinstance(value, str):
        return value if stage.task.shape.choices is None else ""
    names = [field.name for field in stage.task.shape.fields if field.scale is Scale.TEXT]
    return " ".join(str(value[name]) for name in names if isinstance(value, dict) and value.get(name))


def _model_words(tx: Tx, study: Study) -> dict[tuple[str, str], list[frozenset[str]]]:
    """The words of models' answers, by stage and item."""
    words_by_item: defaultdict[tuple[str, str], list[frozenset[str]]] = defaultdict(list)
    for row in model_tasks.answers(tx):
        if row.answer is not None and row.stage in study.stages:
            words = frozenset(words_of(_text(study.stage(row.stage), row.answer)))
            if len(words) >= FEWEST_WORDS:
                words_by_item[row.stage, row.item].append(words)
    return words_by_item


def _near_copies(rows: Sequence[WrittenRow], texts: Sequence[str]) -> dict[int, int]:
    """The number of other workers who wrote nearly the same, by answer."""
    long = [place for place, text in enumerate(texts) if len(words_of(text)) >= FEWEST_WORDS]
    copies: dict[int, int] = {}
    for cluster in near_duplicates([texts[place] for place in long]):
        places = [long[number] for number in cluster]
        workers = {rows[place].worker for place in places}
        copies |= {place: len(workers) - 1 for place in places if len(workers) > 1}
    return copies


def _shared(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right)


def writing_rows(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """One row per answer with a writing record."""
    for written in evidence(tx, study):
        row = written.row
        yield {
            "response": row.response_id,
            "stage": row.stage,
            "item": row.item,
            "worker": row.worker,
            **row.numbers._asdict(),
            "model_closeness": written.closeness,
            "near_copies": written.near_copies,
        }
