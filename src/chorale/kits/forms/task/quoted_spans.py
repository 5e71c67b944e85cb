"""Gold spans as quotations of the text, without token counts."""

from collections.abc import Sequence
from typing import Any

from chorale.files.rows import shortened
from chorale.kits.forms.task.tokens import excerpt, quoted_tokens
from chorale.model.plural import plural


def quoted_span(raw: Any, labels: Sequence[str]) -> dict[str, Any] | None:
    """A quotation as a table of `text`, `occurrence` and `label`; None for a span in tokens."""
    if isinstance(raw, str):
        raw = {"text": raw}
    if not isinstance(raw, dict) or "text" not in raw or "start" in raw:
        return None
    given = {"occurrence": None, **raw}
    wanted = {"text", "occurrence", "label"} if labels else {"text", "occurrence"}
    if given.keys() != wanted:
        label = f', "label": "{labels[0]}"' if labels else ""
        raise ValueError(f'has a quotation that is not like {{"text": "some words"{label}}} (`occurrence` is optional)')
    if not isinstance(given["text"], str) or not given["text"].strip():
        raise ValueError("has a quotation that is not a text")
    occurrence = given["occurrence"]
    if occurrence is not None and (type(occurrence) is not int or occurrence < 1):
        raise ValueError("has an `occurrence` that is not a positive whole number")
    if labels and given["label"] not in labels:
        raise ValueError(f"has a quotation whose label is not one of {', '.join(labels)}")
    return given


def span_at(given: dict[str, Any], text: str | Sequence[str]) -> dict[str, Any]:
    """The span of a quotation in tokens. Raises ValueError if the quotation is missing or ambiguous."""
    labelled = {"label": given["label"]} if "label" in given else {}
    if "start" in given:
        if "text" in given and excerpt(text, given["start"], given["end"]) != given["text"]:
            raise ValueError(f"has a span {given['start']}–{given['end']} whose text is not {shortened(given['text'])}")
        return {"start": given["start"], "end": given["end"], **labelled}
    places, quote = quoted_tokens(text, given["text"]), shortened(given["text"])
    if not places:
        whole = "".join(text) if isinstance(text, str) else " ".join(text)
        if given["text"].strip() in whole:
            raise ValueError(f"quotes {quote}, which begins or ends within a word of the text. Quote whole words")
        raise ValueError(f"quotes {quote}, which is not in the text. Copy it exactly from the text")
    number = given["occurrence"]
    if number is None and len(places) > 1:
        times = plural(len(places), "time", "times")
        raise ValueError(f"quotes {quote}, which occurs in the text {times}. Add `occurrence`, from 1 to {len(places)}")
    if number is not None and number > len(places):
        times = plural(len(places), "time", "times")
        raise ValueError(f"has occurrence {number} of {quote}, which occurs in the text only {times}")
    start, end = places[(number or 1) - 1]
    return {"start": start, "end": end, **labelled}
