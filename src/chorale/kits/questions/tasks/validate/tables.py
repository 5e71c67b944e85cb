"""Validated questions in the form in which Nangia et al. (2021) published theirs: `chorale evaluate mcq` reads it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chorale.contract.exporting import StageResults, TaskExport
from chorale.kits.questions.files.columns import INVALID, WrittenQuestion, questions_in
from chorale.model import Judgment, SourceItem

WAYS = "kept", "discarded: no majority", "discarded: the majority finds it invalid", "unfinished"


def _rows(stage: StageResults) -> Iterator[Mapping[str, Any]]:
    for item in stage.items:
        judgments = stage.judgments(item)
        for question in questions_in(item.payload):
            yield _row(stage, item, question, judgments)


def _row(
    stage: StageResults, item: SourceItem, question: WrittenQuestion, judgments: Sequence[Judgment]
) -> dict[str, Any]:
    origin = stage.origin(item)
    passage = str(item.payload.get("passage_id") or (origin.item if origin else item.key))
    votes = [judgment.answer[f"answer_{question.number}"] for judgment in judgments]
    return {
        "example_id": f"{passage}/{question.number}",
        "question": question.text,
        "document": item.payload["passage"],
        "options": list(question.options),
        "passage_id": passage,
        "passage_index": question.number,
        "gold_answer": question.right,
        "justification": question.why,
        "question_id": f"{item.key}/{question.number}",
        "worker_id": origin.worker if origin else None,
        "validation_data": [
            {
                "worker_answer": vote if vote != INVALID else f"option{len(question.options) + 1}",
                "unanswerable": vote == INVALID,
                "worker_id": judgment.worker,
            }
            for judgment, vote in zip(judgments, votes, strict=True)
        ],
        "validation_way": len(votes),
        "model_predictions": [],
        "protocol": (origin.arm or origin.stage) if origin else None,
        "majority": majority(votes, question.right),
    }


def majority(votes: list[str], right: str | None) -> str | None:
    """What more than half of the validators and the writer say; None if they do not.

    >>> majority(["option1", "option2"], "option1")
    'option1'
    """
    counts = Counter([*votes, *([right] if right else [])])
    answer, most = counts.most_common(1)[0] if counts else (None, 0)
    return answer if 2 * most > counts.total() else None


def _tally(stage: StageResults) -> Mapping[str, int]:
    """How many questions are kept, and why others are not; nothing of a round, whose questions are known."""
    if stage.sources is None:
        return {}
    counts: Counter[str] = Counter()
    for item in stage.items:
        judgments = stage.judgments(item)
        for question in questions_in(item.payload):
            votes = [judgment.answer[f"answer_{question.number}"] for judgment in judgments]
            answer = majority(votes, question.right)
            kept, unclear, invalid, unfinished = WAYS
            if item.label is None:
                counts[unfinished] += 1
            elif answer is None:
                counts[unclear] += 1
            else:
                counts[invalid if answer == INVALID else kept] += 1
    return {way: counts[way] for way in WAYS}


RELEASED_TABLE = TaskExport(
    name="mcq",
    summary="every question with its validations, one JSON object a line, like Nangia et al. (2021)",
    file_name="mcq.jsonl",
    columns=(
        "example_id",
        "question",
        "document",
        "options",
        "passage_id",
        "passage_index",
        "gold_answer",
        "justification",
        "question_id",
        "worker_id",
        "validation_data",
        "validation_way",
        "model_predictions",
        "protocol",
        "majority",
    ),
    rows=_rows,
    tally=_tally,
)
