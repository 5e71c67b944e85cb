"""Gold spans as quotations of the text, without token counts."""

from collections.abc import Sequence
from typing import Any

from chorale.files.shortening import shortened
from chorale.kits.forms.task.invalid import invalid
from chorale.kits.forms.task.tokens import excerpt, quoted_tokens
from chorale.model.plain_words import InvalidValueError
from chorale.model.plural import plural


def quoted_span(raw: Any, labels: Sequence[str]) -> dict[str, Any] | None:
    """A quotation as an object with `text`, `occurrence` and `label`; None for a span in tokens."""
    if isinstance(raw, str):
        raw = {"text": raw}
    if not isinstance(raw, dict) or "text" not in raw or "start" in raw:
        return None
    given = {"occurrence": None, **raw}
    wanted = {"text", "occurrence", "label"} if labels else {"text", "occurrence"}
    if given.keys() != wanted:
        label = f', "label": "{labels[0]}"' if labels else ""
        example = f'{{"text": "some words"{label}}}'
        raise invalid(f"has a quotation that is not like {example}, with or without `occurrence`", raw)
    if not isinstance(given["text"], str) or not given["text"].strip():
        raise invalid("has a quotation that is not text", given["text"])
    occurrence = given["occurrence"]
    if occurrence is not None and (type(occurrence) is not int or occurrence < 1):
        raise invalid("has an `occurrence` that is not a positive whole number", occurrence)
    if labels and given["label"] not in labels:
        raise invalid(f"has a quotation whose label is not one of {', '.join(labels)}", given["label"])
    return given


def span_at(given: dict[str, Any], text: str | Sequence[str]) -> dict[str, Any]:
    """The span of a quotation in tokens. Raises ValueError if the quotation is missing or ambiguous."""
    labelled = {"label": given["label"]} if "label" in given else {}
    if "start" in given:
        if "text" in given and excerpt(text, given["start"], given["end"]) != given["text"]:
            place = f"{given['start']}–{given['end']}"
            raise InvalidValueError(f"has a span ({place}) whose text is not {shortened(given['text'])}")
        return {"start": given["start"], "end": given["end"], **labelled}
    places, quote = quoted_tokens(text, given["text"]), shortened(given["text"])
    if not places:
        whole = "".join(text) if isinstance(text, str) else " ".join(text)
        if given["text"].strip() in whole:
            problem = f"quotes {quote}, which begins or ends within a word of the text"
            raise InvalidValueError(problem, fix="Quote whole words.")
        raise InvalidValueError(f"quotes {quote}, which is not in the text", fix="Copy it exactly from the text.")
    number = given["occurrence"]
    if number is None and len(places) > 1:
        times = plural(len(places), "time", "times")
        fix = f"Add `occurrence`, from 1 to {len(places)}."
        raise InvalidValueError(f"quotes {quote}, which occurs in the text {times}", fix=fix)
    if number is not None and number > len(places):
        times = plural(len(places), "time", "times")
        raise InvalidValueError(f"has occurrence {number} of {quote}, which occurs in the text only {times}")
    start, end = places[(number or 1) - 1]
    return {"start": start, "end": end, **labelled}
