"""Written questions, one per line, in the columns of the intermediate rounds of Nangia et al. (2021)."""

from collections.abc import Iterator, Mapping
from typing import Any

from chorale.contract.exporting import StageResults, TaskExport
from chorale.kits.questions.files.columns import questions_in
from chorale.kits.questions.metrics.wording import alike_places, is_generic, is_trivial
from chorale.kits.questions.tasks.shared import CONTENT, PUBLISHED, published

REPEATED = "the same question by this writer"
GENERIC = "could be asked of any text"
COPIED = "nearly the same explanation by this writer"
TRIVIAL = "the explanation says nothing about this question"
LENGTHS = "the correct option is by far the longest"
_FAR = 2.0


def _rows(stage: StageResults) -> Iterator[Mapping[str, Any]]:
    rows = [
        published(question, item.payload, passage, f"{item.key}/{judgment.response}", judgment.worker)
        | {"protocol": stage.arm(judgment.worker)}
        for item in stage.items
        for passage in (str(item.payload.get("passage_id") or item.key),)
        for judgment in stage.judgments(item)
        for question in questions_in(judgment.answer)
    ]
    for row, flags in zip(rows, flags_of(rows), strict=True):
        yield {**row, "flags": flags}


def flags_of(rows: list[dict[str, Any]]) -> list[list[str]]:
    """Flags of each question for expert review. They do not restrict the writers."""
    workers = [row["worker_id"] for row in rows]
    repeated = alike_places([row["question"] for row in rows], workers)
    copied = alike_places([row["justification"] or "" for row in rows], workers)
    by_question = []
    for place, row in enumerate(rows):
        flags = [REPEATED] if repeated[place] else []
        flags += [GENERIC] if is_generic(row["question"]) else []
        flags += [COPIED] if copied[place] else []
        about = "\n".join((row["document"], row["question"], *row["options"]))
        if row["justification"] and is_trivial(row["justification"], about):
            flags.append(TRIVIAL)
        lengths = [len(option.split()) for option in row["options"]]
        right = lengths.pop(int(row["gold_answer"].removeprefix("option")) - 1)
        if right >= _FAR * max(lengths):
            flags.append(LENGTHS)
        by_question.append(flags)
    return by_question


WRITTEN_TABLE = TaskExport(
    name="mcq-written",
    summary="every question as it was written, with flags for experts, one JSON object per line",
    file_name="mcq-written.jsonl",
    columns=(*PUBLISHED, "protocol", "flags"),
    rows=_rows,
    describes=CONTENT,
)
