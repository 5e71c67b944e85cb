"""Validated questions in the format of Nangia et al. (2021), which `chorale evaluate mcq` reads."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from chorale.contract.exporting import RowMeasure, RowMeasures, StageResults, TaskExport
from chorale.kits.questions.files.columns import INVALID, WrittenQuestion, questions_in
from chorale.kits.questions.tasks.shared import CONTENT, PUBLISHED, published
from chorale.model import SourceItem

_FEWEST_VOTES = 2
WAYS = "kept", "discarded: no majority", "discarded: the majority finds it invalid", "unfinished"


def _validated(stage: StageResults) -> Iterator[tuple[SourceItem, WrittenQuestion, dict[str, str]]]:
    """Every question with its item and the answers of all validators."""
    for item in stage.items:
        judgments = stage.judgments(item)
        for question in questions_in(item.payload):
            yield item, question, {one.worker: one.answer[f"answer_{question.number}"] for one in judgments}


def _rows(stage: StageResults) -> Iterator[Mapping[str, Any]]:
    for item, question, votes in _validated(stage):
        yield _row(stage, item, question, votes)


def _row(stage: StageResults, item: SourceItem, question: WrittenQuestion, votes: Mapping[str, str]) -> dict[str, Any]:
    origin = stage.origin(item)
    passage = str(item.payload.get("passage_id") or (origin.item if origin else item.key))
    return {
        **published(question, item.payload, passage, item.key, origin.worker if origin else None),
        "validation_data": [
            {
                "worker_answer": vote if vote != INVALID else f"option{len(question.options) + 1}",
                "unanswerable": vote == INVALID,
                "worker_id": worker,
            }
            for worker, vote in votes.items()
        ],
        "validation_way": len(votes),
        "model_predictions": [],
        "protocol": (origin.arm or origin.stage) if origin else None,
        "majority": majority(votes.values(), question.right),
    }


def majority(votes: Iterable[str], right: str | None) -> str | None:
    """The answer of more than half of validators and writer, or None.

    >>> majority(["option1", "option2"], "option1")
    'option1'
    """
    counts = Counter([*votes, *([right] if right else [])])
    answer, most = counts.most_common(1)[0] if counts else (None, 0)
    return answer if 2 * most > counts.total() else None


def _tally(stage: StageResults) -> Mapping[str, int]:
    """Number of kept questions, and of others by reason; empty if the items come from a file, as in training rounds."""
    if stage.sources is None:
        return {}
    kept, unclear, invalid, unfinished = WAYS
    counts: Counter[str] = Counter()
    for item, question, votes in _validated(stage):
        answer = majority(votes.values(), question.right)
        decided = unclear if answer is None else invalid if answer == INVALID else kept
        counts[unfinished if item.label is None else decided] += 1
    return {way: counts[way] for way in WAYS}


def _was_kept(row: Mapping[str, Any]) -> float | None:
    """None for a question with fewer than two answers."""
    return None if row["validation_way"] < _FEWEST_VOTES else float(row["majority"] not in (None, INVALID))


def _is_agreed(row: Mapping[str, Any]) -> float | None:
    """The fraction of validators who give the gold answer of a kept question."""
    if not _was_kept(row):
        return None
    votes = [INVALID if vote["unanswerable"] else vote["worker_answer"] for vote in row["validation_data"]]
    return votes.count(row["majority"]) / len(votes)


BY_ARM = RowMeasures(
    arm="protocol",
    worker="worker_id",
    item="passage_id",
    measures=(
        RowMeasure("kept", "fraction of questions kept", _was_kept),
        RowMeasure("agreement", "fraction of validators who give the gold answer of a kept question", _is_agreed),
    ),
)
RELEASED_TABLE = TaskExport(
    name="mcq",
    summary="every question with its validations, as in Nangia et al. (2021), one JSON object per line",
    file_name="mcq.jsonl",
    columns=(*PUBLISHED, "validation_data", "validation_way", "model_predictions", "protocol", "majority"),
    rows=_rows,
    describes=CONTENT,
    tally=_tally,
    released=(WAYS[0], "kept question"),
    by_arm=BY_ARM,
)
