"""Small QA-SRL files for tests."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

COLUMNS = ("qasrl_id", "verb_idx", "verb", "worker_id", "question", "answer_range", "wh", "subj", "obj", "aux",
           "is_passive", "is_negated")  # fmt: skip
SENTENCE = "The cat sat on the old mat while <b>Tom</b> & Ann slept ."


def row(**cells: object) -> dict[str, str]:
    """A sound row about the cat; cells given take the place of its own."""
    sound = {
        "qasrl_id": "s1",
        "verb_idx": "2",
        "verb": "sat",
        "worker_id": "ann",
        "question": "Who sat?",
        "answer_range": "0:2",
        "wh": "who",
        "subj": "",
        "obj": "",
        "aux": "",
        "is_passive": "False",
        "is_negated": "False",
    }
    return sound | {name: str(value) for name, value in cells.items()}


def where(**cells: object) -> dict[str, str]:
    """A sound row that asks for a place."""
    asked = {
        "question": "Where did someone sit?",
        "wh": "where",
        "subj": "someone",
        "aux": "did",
        "answer_range": "3:7",
    }
    return row(**(asked | cells))


def write_rows(path: Path, rows: Iterable[Mapping[str, str]], columns: Sequence[str] | None = None) -> Path:
    listed = list(rows)
    names = list(columns or (listed[0] if listed else COLUMNS))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(listed)
    return path


def write_sentences(path: Path, sentences: Mapping[str, str]) -> Path:
    return write_rows(path, [{"qasrl_id": given, "tokens": text} for given, text in sentences.items()])


def judged(
    text: str, valid: Sequence[Sequence[tuple[int, int]] | None], source: str = "turk-1", **slots: str
) -> dict[str, Any]:
    """A question of the Bank: for every judge the spans, or None for invalid."""
    filled = {"wh": "who", "aux": "_", "subj": "_", "verb": "past", "obj": "_", "prep": "_", "obj2": "_"} | slots
    judgments: list[dict[str, Any]] = [
        {"sourceId": f"turk-{number}", "isValid": False}
        if spans is None
        else {"sourceId": f"turk-{number}", "isValid": True, "spans": [list(span) for span in spans]}
        for number, spans in enumerate(valid, 1)
    ]
    return {
        "questionString": text,
        "questionSources": [source],
        "answerJudgments": judgments,
        "questionSlots": filled,
        "tense": "past",
        "isPerfect": False,
        "isProgressive": False,
        "isNegated": False,
        "isPassive": False,
    }


def bank_line(*questions: Mapping[str, Any], given: str = "s1", verb: int = 2, text: str = SENTENCE) -> dict[str, Any]:
    entry = {"verbIndex": verb, "questionLabels": {one["questionString"]: one for one in questions}}
    return {"sentenceId": given, "sentenceTokens": text.split(), "verbEntries": {str(verb): entry}}


def write_bank(path: Path, lines: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path
