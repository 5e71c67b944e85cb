"""Shared parts of the multiple-choice tasks: pages, answer types, aggregation, export columns."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic import BaseModel, ConfigDict, create_model

from chorale.contract.combined import Combined
from chorale.kits.questions.files.columns import WrittenQuestion
from chorale.metrics.aggregation import trust_weighted_share
from chorale.model import Judgment, Payload

_PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
STRICT = ConfigDict(extra="forbid", frozen=True)
PUBLISHED = (
    *("example_id", "question", "document", "options", "passage_id", "passage_index", "gold_answer", "justification"),
    *("question_id", "worker_id"),
)
"""Columns in which Nangia et al. (2021) published their questions."""
CONTENT = {
    "example_id": "ID of the question: the passage's ID and the question's number.",
    "passage_id": "ID of the passage.",
    "passage_index": "Number of the question in its passage.",
    "gold_answer": "The option that the writer marked as correct, such as option2.",
    "justification": "The writer's explanation of the correct option.",
    "question_id": "Unique ID of the question in this study.",
    "worker_id": "Participant ID of the writer.",
    "protocol": "Arm of the writer. In studies without arms: the stage in which the question was written, or empty.",
    "flags": "Possible problems with the question, for experts to check.",
    "validation_data": "Answers of the validators, each with the worker and whether they found the question invalid.",
    "validation_way": "Number of validators.",
    "model_predictions": "Empty list, to be filled with predictions of models.",
    "majority": "The answer with more than half of all votes (of the validators and the writer); empty if none has.",
}
"""The content of the columns, for data cards."""


def page_of(task: Path, **values: Any) -> str:
    """The page of the task in a folder next to this module."""
    return _PAGES.get_template(f"{task.name}/form.html").render(**values)


def answer_type(shape: Any) -> type[BaseModel]:
    return create_model("Answer", __config__=STRICT, answer=(shape, ...))


def combine_parts(judgments: Sequence[Judgment]) -> Combined | None:
    """Majority of each part. The confidence is that of the least certain part."""
    if not judgments:
        return None
    answer, confidence = {}, 1.0
    for name in sorted({name for judgment in judgments for name in judgment.answer}):
        votes = ((one.answer[name], one.trust) for one in judgments if name in one.answer)
        share = trust_weighted_share(votes, judgments[0].draw)
        if share is None:
            return None
        answer[name], confidence = share.answer, min(confidence, share.confidence)
    return Combined(answer, confidence)


def published(
    question: WrittenQuestion, payload: Payload, passage: str, written: str, worker: str | None
) -> dict[str, Any]:
    """A question about a passage. `written` identifies the answer or item of the question."""
    number = question.number
    values = (f"{passage}/{number}", question.text, payload["passage"], list(question.options), passage, number)
    more = (question.right, question.why, f"{written}/{number}", worker)
    return dict(zip(PUBLISHED, (*values, *more), strict=True))
