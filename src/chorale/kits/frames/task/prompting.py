"""Prompts for models: the word is marked in its sentence, and the model selects from the candidates."""

from collections.abc import Mapping
from typing import Any

from chorale.contract.prompting import Prompting
from chorale.kits.frames.task.answers import LONGEST_MEANING, chosen, is_gold_table
from chorale.kits.frames.task.items import NONE

_ASK = f"""\
Which of the candidate meanings does the word between ** and ** have in the sentence? Name all frames that fit. If \
none fits, answer ["{NONE}"] alone."""
_EXPLAINED = """\
 Explain in `meaning` what the word means here, in your own words."""


def _show(view: Mapping[str, Any]) -> dict[str, Any]:
    sentence, start, word = view["sentence"], view["start"], view["word"]
    marked = f"{sentence[:start]}**{word}**{sentence[start + len(word) :]}"
    candidates = [
        {name: candidate[name] for name in ("frame", "definition", "example") if candidate.get(name)}
        for candidate in view["candidates"]
    ]
    return {"sentence": marked, "word": word, "candidates": candidates}


def _frames(view: Mapping[str, Any]) -> dict[str, Any]:
    names = [candidate["frame"] for candidate in view["candidates"]]
    return {"type": "array", "items": {"enum": [*names, NONE]}, "minItems": 1, "uniqueItems": True}


def _frames_and_meaning(view: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"frames": _frames(view), "meaning": {"type": "string", "maxLength": LONGEST_MEANING}},
        "required": ["frames", "meaning"],
        "additionalProperties": False,
    }


def _write(_view: Mapping[str, Any], answer: Any) -> list[str]:
    return list(answer["fits"] if is_gold_table(answer) else chosen(answer))


def _write_with_meaning(view: Mapping[str, Any], answer: Any) -> dict[str, Any]:
    meaning = answer.get("meaning", "") if isinstance(answer, dict) else ""
    return {"frames": _write(view, answer), "meaning": meaning}


FRAMES_ALONE = Prompting(ask=_ASK, show=_show, schema=_frames, write=_write)
FRAMES_EXPLAINED = Prompting(ask=_ASK + _EXPLAINED, show=_show, schema=_frames_and_meaning, write=_write_with_meaning)
