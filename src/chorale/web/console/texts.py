"""How the console writes times, shares, answers and evidence."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from chorale.contract.answer_words import answer_words, field_lines, item_words
from chorale.engine.running import RunningStage
from chorale.files.answer_text import answer_text
from chorale.model import Event
from chorale.monitor.event_words import evidence_name

SUMMARY_CHARACTERS = 160
_DIGEST = re.compile("[0-9a-f]{64}")


def when(at: int) -> Markup:
    """A time in UTC as HTML: the minute is visible, the tooltip adds the second, and programs read `datetime`."""
    moment = datetime.fromtimestamp(at / 1000, UTC)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
        moment.strftime("%Y-%m-%d %H:%M:%S UTC"),
        moment.strftime("%Y-%m-%d %H:%M"),
    )


def minute(at: int) -> str:
    """A time in UTC as plain text, to the minute."""
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M")


def span(milliseconds: int) -> str:
    """How long something took.

    >>> span(8_400), span(192_000), span(7_380_000)
    ('8.4 s', '3 min 12 s', '2 h 3 min')
    """
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def share(value: float | None) -> str:
    """A confidence, an agreement or a grade."""
    return "–" if value is None else f"{value:.2f}"


def gold_accuracy(right: int, answered: int) -> str:
    """Gold accuracy, with the number of correct answers and of all answers to gold.

    >>> gold_accuracy(8, 10), gold_accuracy(0, 0)
    ('0.80 (8 of 10)', 'no gold yet')
    """
    return f"{right / answered:.2f} ({right} of {answered})" if answered else "no gold yet"


def item_text(stage: RunningStage, payload: Mapping[str, Any]) -> str:
    """What workers see of an item, in one line."""
    return item_words(stage.task, payload, SUMMARY_CHARACTERS)


def stored_parts(stage: RunningStage, payload: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The columns of an item, if workers do not see all of them."""
    if stage.task.explaining.caption is None and set(payload) <= set(stage.task.form.view(payload)):
        return []
    return [(name.replace("_", " "), answer_text(value)) for name, value in payload.items() if value is not None]


def _cut(text: str) -> str:
    return text if len(text) <= SUMMARY_CHARACTERS else f"{text[:SUMMARY_CHARACTERS]}…"


def answer_beside_item(stage: RunningStage, payload: Mapping[str, Any], answer: Any) -> str:
    """An answer next to its item: in the task's words for both, if it has any; otherwise field by field."""
    if stage.task.shape.fields:
        return answer_words(stage.task, payload, answer, between="\n")
    if stage.task.explaining.quote is not None and isinstance(answer, Mapping):
        return stage.task.explaining.quote(payload, answer)
    if stage.task.explaining.caption is None:
        if isinstance(answer, dict) and len(answer) > 1:
            return "\n".join(f"{name}: {_cut(answer_text(value))}" for name, value in answer.items())
        return answer_text(answer)
    presented = stage.task.explaining.present(payload, answer)
    return "\n".join(map(answer_text, presented.values())) if isinstance(presented, dict) else answer_text(presented)


def answer_parts(
    stage: RunningStage, payload: Mapping[str, Any], answer: Any, *, gold: bool = False
) -> str | list[tuple[str, str]]:
    """An answer as pairs of a field's name and its value in words; one text if the answer has no fields."""
    if stage.task.shape.fields and isinstance(answer, Mapping) and len(stage.task.shape.fields) > 1:
        lines = field_lines(stage.task, payload, answer, gold=gold)
        return [(name.replace("_", " "), words) for name, words in lines]
    explaining = stage.task.explaining
    if isinstance(answer, Mapping) and len(answer) > 1 and not (explaining.caption or explaining.quote):
        return [(str(name).replace("_", " "), answer_text(value)) for name, value in answer.items()]
    return gold_beside_item(stage, payload, answer) if gold else answer_beside_item(stage, payload, answer)


def brief_text(stage: RunningStage, payload: Mapping[str, Any], answer: Any) -> str:
    """A short text for an answer: its compared fields, without free text."""
    if stage.task.shape.compared:
        return _cut(answer_words(stage.task, payload, stage.task.shape.without_texts(answer)))
    return _cut(answer_beside_item(stage, payload, answer))


def gold_beside_item(stage: RunningStage, payload: Mapping[str, Any], gold: Any) -> str:
    """A gold answer next to its item, in the task's words."""
    if stage.task.shape.fields:
        return answer_words(stage.task, payload, gold, gold=True, between="\n")
    return answer_beside_item(stage, payload, gold)


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def from_json(text: str) -> Any:
    return json.loads(text)


def evidence(event: Event, *, arms: bool) -> list[tuple[str, str]]:
    """The names and texts of an event's evidence. Arms are hidden unless `arms` is true."""
    if arms:
        shown = event.evidence
    elif event.kind == "arm":
        # With the number and the seed, the assignment can be repeated.
        shown = {"arm": "hidden until you open the Arms page"}
    else:
        shown = {name: value for name, value in event.evidence.items() if name not in ("arm", "arms")}
    # The page names the event's worker itself.
    beside = {name: value for name, value in shown.items() if (name, value) != ("worker", event.worker)}
    return [(evidence_name(name), _moment_or_text(name, value)) for name, value in beside.items()]


def _moment_or_text(name: str, value: Any) -> str:
    """Moments are stored in milliseconds, under names that end in `_at`."""
    return f"{minute(value)} UTC" if name.endswith("_at") and type(value) is int else _evidence_text(value)


def _evidence_text(value: Any) -> str:
    match value:
        case str() if _DIGEST.fullmatch(value):
            return f"{value[:12]}…"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.3g}"
        case None:
            return "none"
        case list() if value and all(isinstance(one, dict) for one in value):
            return "\n".join(map(_evidence_text, value))
        case list():
            return "; ".join(map(_evidence_text, value)) or "none"
        case {"worker": worker, "answer": answer, **rest}:
            # The trust of an annotation is its weight: the worker's gold accuracy, or 1 in a stage without gold.
            named = {("weight" if name == "trust" else evidence_name(str(name))): inner for name, inner in rest.items()}
            more = ", ".join(f"{name} {_evidence_text(inner)}" for name, inner in named.items())
            return f"{worker}: {_evidence_text(answer)}" + (f" ({more})" if more else "")
        case dict():
            return ", ".join(f"{evidence_name(str(name))} {_evidence_text(inner)}" for name, inner in value.items())
    return answer_text(value)
