"""Span fields: a list of token spans of a text, with optional labels."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any, ClassVar

from chorale.contract.fields import FieldKind, Scale, StudioControl
from chorale.kits.forms.task.fields import FormField, Votes
from chorale.kits.forms.task.invalid import invalid
from chorale.kits.forms.task.quoted_spans import quoted_span, span_at
from chorale.kits.forms.task.settings import PIECES, Kind, Match
from chorale.kits.forms.task.studio_spans import span_labels
from chorale.kits.forms.task.tokens import characters, excerpt, pieces, runs_together, tokens
from chorale.model import Payload
from chorale.model.plural import plural
from chorale.model.wording import joined, quoted, worded

Span = dict[str, Any]
MOST_SPANS = 500
LONGEST_TEXT = 100_000
USUAL_MATCH = Match.F1
ENOUGH = 0.8


class SpanField(FormField):
    """Spans of a text of the item."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.SPANS,)
    columns: ClassVar[tuple[str, ...]] = ("value", "label", "start", "end", "start_character", "end_character")
    kind = FieldKind.SPANS
    scale = Scale.SPANS

    @property
    def _labels(self) -> tuple[str, ...]:
        return tuple(option.value for option in self.settings.options or ())

    @property
    def _item(self) -> str:
        return self.settings.item or ""

    def schema(self) -> dict[str, Any]:
        number = {"type": "integer", "minimum": 0}
        parts: dict[str, Any] = {"start": number, "end": number}
        if self._labels:
            parts["label"] = {"enum": list(self._labels)}
        span = {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}
        return {"type": "array", "items": span}

    def parse(self, raw: Any) -> list[Span]:
        if not isinstance(raw, list) or len(raw) > MOST_SPANS:
            raise invalid(f"is not a list of up to {MOST_SPANS} spans", raw)
        spans = self.in_order(raw)
        self.count(len(spans))
        return spans

    def in_order(self, raw: list[Any]) -> list[Span]:
        """Spans of one text in order."""
        spans = sorted((self._span(each) for each in raw), key=_order)
        for left, right in pairwise(spans):
            if left == right:
                raise invalid("has the same span twice", left)
        for left, right in pairwise(spans):
            if not self.settings.overlap and right["start"] < left["end"]:
                raise invalid("has spans that overlap", [left, right])
        return spans

    def count(self, number: int) -> None:
        """Rejects too few or too many spans."""
        least, most = self.settings.least, self.settings.most
        if number < least:
            raise ValueError(f"has {plural(number, 'span', 'spans')} but must have at least {least}")
        if most is not None and number > most:
            raise ValueError(f"has {plural(number, 'span', 'spans')} but must have at most {most}")

    def _span(self, raw: Any) -> Span:
        wanted = {"start", "end", "label"} if self._labels else {"start", "end"}
        if not isinstance(raw, dict) or raw.keys() != wanted:
            raise invalid(f"has a span whose keys are not exactly {', '.join(sorted(wanted, reverse=True))}", raw)
        start, end = raw["start"], raw["end"]
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= LONGEST_TEXT:
            raise invalid("has a span whose end is not after its start", raw)
        if not self._labels:
            return {"start": start, "end": end}
        if raw["label"] not in self._labels:
            raise invalid(f"has a span whose label is not one of {', '.join(self._labels)}", raw["label"])
        return {"start": start, "end": end, "label": raw["label"]}

    def parse_gold(self, raw: Any) -> list[Any]:
        """Spans in tokens, or as quotations that `located` finds in the item."""
        if not isinstance(raw, list) or len(raw) > MOST_SPANS:
            raise invalid(f"is not a list of up to {MOST_SPANS} spans or quotations", raw)
        quoted = [quoted_span(each, self._labels) for each in raw]
        if all(quote is None for quote in quoted):
            return self.parse(raw)
        return [self._span(each) if quote is None else quote for each, quote in zip(raw, quoted, strict=True)]

    def located(self, gold: list[Any], item: Payload) -> list[Span]:
        return self.parse([span_at(each, item[self._item]) for each in gold])

    def doubt(self, item: Payload) -> str | None:
        text = item[self._item]
        if isinstance(text, str) and runs_together(text):
            return (
                f"`{self._item}` has no spaces between words, so spans are marked by character ({len(tokens(text))} "
                "characters). To mark words, set `tokenizer` or use a list of tokens"
            )
        return None

    def misfit(self, value: list[Span], item: Payload) -> str | None:
        count = len(tokens(item[self._item]))
        if any(span["end"] > count for span in value):
            return f"has a span beyond the {plural(count, 'token', 'tokens')} of the text"
        return None

    def mistake(self, value: list[Span], gold: list[Span]) -> str | None:
        match, enough = self.settings.match or USUAL_MATCH, self.settings.enough or ENOUGH
        if match is Match.EXACT:
            return None if value == gold else "different spans than gold"
        alike = f1(value, gold) if match is Match.F1 else iou(value, gold)
        return None if alike >= enough else f"different spans than gold: {match} {alike:.2f}, below {enough:g}"

    def distance(self, left: list[Span], right: list[Span]) -> float:
        if left == right:
            return 0.0
        # The same tokens may be divided into spans in different ways.
        return 1 - f1(left, right) or 1 / (1 + len(_tokens(left)))

    def combine(self, votes: Votes, _draw: int) -> tuple[list[Span], float]:
        """Spans marked by the majority, weighted by worker quality. The confidence is the mean F1 of the answers with
        them.
        """
        spans = by_span(votes) if self.settings.overlap else _by_token(votes)
        most = self.settings.most
        if most is not None and len(spans) > most:
            kept = sorted(spans, key=lambda span: (-_support(span, votes), _order(span)))[:most]
            spans = sorted(kept, key=_order)
        weight = sum(trust for _, trust in votes)
        return spans, sum(trust * f1(value, spans) for value, trust in votes) / weight

    def guess(self, view: Mapping[str, Any], rng: Random | None) -> list[Span]:
        count = len(view[PIECES][self._item]) // 2
        wanted = max(1, self.settings.least)
        if rng is None:
            label = "".join(self._labels[:1])
            return [_span(start, start + 1, label) for start in range(min(wanted, count))]
        # Every span has its own range, so that spans do not overlap.
        wanted = min(count, rng.randint(wanted, max(wanted, min(self.settings.most or wanted + 1, wanted + 1))))
        edges = [count * number // wanted for number in range(wanted + 1)]
        spans = []
        for low, high in pairwise(edges):
            start = rng.randrange(low, high)
            end = rng.randint(start + 1, min(high, start + 4))
            spans.append(_span(start, end, "".join(rng.sample(self._labels, min(1, len(self._labels))))))
        return spans

    def cell(self, value: list[Span], item: Payload) -> list[Span]:
        text = item[self._item]
        return [
            {
                **span,
                "start_character": (place := characters(text, span["start"], span["end"]))[0],
                "end_character": place[1],
                "text": excerpt(text, span["start"], span["end"]),
            }
            for span in value
        ]

    def rows(self, value: list[Span], item: Payload) -> list[dict[str, Any]]:
        return [{"value": span.pop("text"), **span} for span in self.cell(value, item)]

    def label(self, value: list[Span]) -> list[str]:
        """Spans for `chorale agreement --distance span`: `start:end:label`."""
        return [":".join(map(str, (span["start"], span["end"], *filter(None, [span.get("label")])))) for span in value]

    def marks(self, value: list[Span]) -> list[str]:
        """The marked tokens with their labels."""
        return [f"{token} {label}".strip() for token, label in sorted(_tokens(value))]

    def words(self, value: list[Span], item: Payload) -> str:
        labels = dict(self.options)
        shown = [
            joined(quoted(text), f"({labels.get(span['label'], span['label'])})") if "label" in span else quoted(text)
            for span in value
            for text in [excerpt(item[self._item], span["start"], span["end"])]
        ]
        return joined(*shown, by=", ") or worded("nothing")

    def in_words(self, value: list[Span], item: Payload) -> list[str]:
        return [
            f"{each['text']} ({each['label']})" if "label" in each else each["text"] for each in self.cell(value, item)
        ]

    def view(self, item: Payload) -> dict[str, Any]:
        return {PIECES: {self._item: pieces(item[self._item])}}

    def rules(self) -> dict[str, Any]:
        bounds = {"min": self.settings.least, "max": self.settings.most, "overlap": self.settings.overlap}
        return {**bounds, "item": self._item, "labels": [list(each) for each in self.options]}

    def studio(self) -> StudioControl:
        return span_labels(self.settings.name, self._item, self.options)


def f1(left: Sequence[Span], right: Sequence[Span]) -> float:
    """F1 of labelled tokens. Two empty answers are equal."""
    first, second = _tokens(left), _tokens(right)
    return 2 * len(first & second) / (len(first) + len(second)) if first or second else 1.0


def iou(left: Sequence[Span], right: Sequence[Span]) -> float:
    """Intersection over union of labelled tokens."""
    first, second = _tokens(left), _tokens(right)
    return len(first & second) / len(first | second) if first or second else 1.0


def _tokens(spans: Sequence[Span]) -> set[tuple[int, str]]:
    return {(token, span.get("label", "")) for span in spans for token in range(span["start"], span["end"])}


def _order(span: Span) -> tuple[int, int, str]:
    return span["start"], span["end"], span.get("label", "")


def by_span(votes: Votes) -> list[Span]:
    """Exact spans with a majority. Tokens cannot distinguish nested spans."""
    weights: dict[tuple[int, int, str], float] = defaultdict(float)
    for value, trust in votes:
        for span in value:
            weights[_order(span)] += trust
    half = _half(votes)
    return [_span(*order) for order, weight in sorted(weights.items()) if weight > half]


def _by_token(votes: Votes) -> list[Span]:
    """Runs of tokens with the same majority label, split where most workers who marked both neighbours started a new
    span.
    """
    marked: dict[tuple[int, str], float] = defaultdict(float)
    begun: dict[tuple[int, str], float] = defaultdict(float)
    for value, trust in votes:
        for place in _tokens(value):
            marked[place] += trust
        for span in value:
            begun[span["start"], span.get("label", "")] += trust
    half = _half(votes)
    spans: list[Span] = []
    for (token, label), weight in sorted(marked.items()):
        if weight <= half:
            continue
        last = spans[-1] if spans else None
        goes_on = last is not None and last["end"] == token and last.get("label", "") == label
        if last is not None and goes_on and begun[token, label] <= weight / 2:
            last["end"] = token + 1
        else:
            spans.append(_span(token, token + 1, label))
    return spans


def _half(votes: Votes) -> float:
    """Threshold of a majority."""
    return sum(trust for _, trust in votes) / 2


def _support(span: Span, votes: Votes) -> float:
    """Mean weight of the tokens of a span."""
    wanted = _tokens([span])
    return sum(trust * len(wanted & _tokens(value)) for value, trust in votes) / len(wanted)


def _span(start: int, end: int, label: str) -> Span:
    return {"start": start, "end": end, "label": label} if label else {"start": start, "end": end}
