"""Labelled spans of a text, and relations between them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any, ClassVar

from chorale.contract.fields import FieldKind, Scale, StudioControl
from chorale.kits.forms.task.fields import FormField, Votes
from chorale.kits.forms.task.invalid import invalid
from chorale.kits.forms.task.quoted_spans import span_at
from chorale.kits.forms.task.settings import Kind, RelationSettings
from chorale.kits.forms.task.span_fields import Span, SpanField, by_span, f1
from chorale.kits.forms.task.studio_relations import relation_labels
from chorale.kits.forms.task.tokens import excerpt
from chorale.model import Payload
from chorale.model.wording import joined, quoted

MOST_RELATIONS = 500
ENOUGH = 0.8
Graph = Mapping[str, Any]
"""`spans`, and `relations` between them by their positions in that list."""
Place = tuple[int, int, str]
Triple = tuple[Place, str, Place]


class RelationField(FormField):
    """Spans in text order, and relations between them."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.RELATIONS,)
    columns: ClassVar[tuple[str, ...]] = (
        "relation",
        "from_text",
        "from_label",
        "from_start",
        "from_end",
        "to_text",
        "to_label",
        "to_start",
        "to_end",
    )
    kind = FieldKind.RELATIONS
    scale = Scale.RELATIONS

    @property
    def _spans(self) -> SpanField:
        return SpanField(self.settings)

    @property
    def _column(self) -> str:
        return self.settings.item or ""

    @property
    def relations(self) -> dict[str, RelationSettings]:
        return {relation.value: relation for relation in self.settings.relations or ()}

    def schema(self) -> dict[str, Any]:
        place = {"type": "integer", "minimum": 0}
        parts = {"from": place, "to": place, "label": {"enum": list(self.relations)}}
        relation = {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}
        lists = {"spans": self._spans.schema(), "relations": {"type": "array", "items": relation}}
        return {"type": "object", "properties": lists, "required": list(lists), "additionalProperties": False}

    def parse(self, raw: Any) -> dict[str, Any]:
        if not isinstance(raw, dict) or raw.keys() != {"spans", "relations"}:
            raise invalid("is not an object with `spans` and `relations`", raw)
        spans = self._spans.parse(raw["spans"])
        return {"spans": spans, "relations": self._relations(raw["relations"], self._places(raw["spans"], spans))}

    def _places(self, given: Sequence[Span], spans: Sequence[Span]) -> list[tuple[int, str]]:
        """Positions of the sorted spans, with their labels."""
        return [(spans.index(span), span["label"]) for span in given]

    def _relations(self, raw: Any, places: Sequence[tuple[int, str]]) -> list[dict[str, Any]]:
        if not isinstance(raw, list) or len(raw) > MOST_RELATIONS:
            raise invalid(f"has `relations` that are not a list of up to {MOST_RELATIONS} relations", raw)
        relations = []
        for each in raw:
            if not isinstance(each, dict) or each.keys() != {"from", "to", "label"}:
                raise invalid("has a relation whose keys are not exactly `from`, `to` and `label`", each)
            ends = [each["from"], each["to"]]
            if any(type(end) is not int or not 0 <= end < len(places) for end in ends):
                raise invalid("has a relation that does not connect two of the spans", each)
            if ends[0] == ends[1]:
                raise invalid("has a relation from a span to itself", each)
            (start, start_label), (end, end_label) = (places[number] for number in ends)
            self._check_ends(each["label"], start_label, end_label)
            relations.append({"from": start, "to": end, "label": each["label"]})
        relations.sort(key=lambda relation: (relation["from"], relation["to"], relation["label"]))
        for left, right in pairwise(relations):
            if left == right:
                raise invalid("has the same relation twice", left)
        return relations

    def _check_ends(self, name: Any, start: str, end: str) -> None:
        relation = self.relations.get(name) if isinstance(name, str) else None
        if relation is None:
            raise invalid(f"has a relation that is not one of {', '.join(self.relations)}", name)
        if relation.from_ is not None and start not in relation.from_:
            known = ", ".join(relation.from_)
            raise ValueError(f"has a relation `{name}` from {start}, but it may only start from {known}")
        if relation.to is not None and end not in relation.to:
            raise ValueError(f"has a relation `{name}` to {end}, but it may only lead to {', '.join(relation.to)}")

    def parse_gold(self, raw: Any) -> dict[str, Any]:
        """Spans may be quotations, which `located` finds in the item. Relations name spans by list position."""
        if not isinstance(raw, dict) or raw.keys() != {"spans", "relations"}:
            raise invalid("is not an object with `spans` and `relations`", raw)
        given = self._spans.parse_gold(raw["spans"])
        if not isinstance(raw["relations"], list) or not all(isinstance(each, dict) for each in raw["relations"]):
            raise invalid("has relations that are not a list of objects", raw["relations"])
        is_quoted = any("text" in span for span in given)
        return {"spans": given, "relations": raw["relations"]} if is_quoted else self.parse(raw)

    def located(self, gold: Graph, item: Payload) -> Graph:
        spans = [dict(span_at(each, item[self._column])) for each in gold["spans"]]
        return self.parse({"spans": spans, "relations": [dict(each) for each in gold["relations"]]})

    def misfit(self, value: Graph, item: Payload) -> str | None:
        return self._spans.misfit(value["spans"], item)

    def alike(self, left: Graph, right: Graph) -> float:
        """Mean of two F1 scores: of labelled tokens, and of relations between equal spans.

        Only the first if neither has relations.
        """
        spans = f1(left["spans"], right["spans"])
        first, second = triples(left), triples(right)
        if not first and not second:
            return spans
        return (spans + 2 * len(first & second) / (len(first) + len(second))) / 2

    def mistake(self, value: Graph, gold: Graph) -> str | None:
        alike, enough = self.alike(value, gold), self.settings.enough or ENOUGH
        return None if alike >= enough else f"different spans or relations than gold: F1 {alike:.2f}, below {enough:g}"

    def distance(self, left: Graph, right: Graph) -> float:
        return 0.0 if left == right else 1 - self.alike(left, right) or 1e-6

    def combine(self, votes: Votes, _draw: int) -> tuple[dict[str, Any], float]:
        """Spans marked by more than half of the workers, weighted by quality, and relations with a majority between
        them.
        """
        whole = sum(trust for _, trust in votes)
        spans = by_span([(value["spans"], trust) for value, trust in votes])
        if not self.settings.overlap:
            spans = _apart(spans)
        places = {_place(span): number for number, span in enumerate(spans)}
        weights: dict[Triple, float] = defaultdict(float)
        for value, trust in votes:
            for triple in triples(value):
                weights[triple] += trust
        kept = [
            {"from": places[start], "to": places[end], "label": label}
            for (start, label, end), weight in sorted(weights.items())
            if weight > whole / 2 and start in places and end in places
        ]
        result = {"spans": spans, "relations": sorted(kept, key=lambda each: (each["from"], each["to"], each["label"]))}
        return result, sum(trust * self.alike(value, result) for value, trust in votes) / whole

    def guess(self, view: Mapping[str, Any], rng: Random | None) -> dict[str, Any]:
        spans = self._spans.guess(view, rng)
        drawn = []
        for start in range(len(spans) - 1):
            for name in self.relations:
                try:
                    self._check_ends(name, spans[start]["label"], spans[start + 1]["label"])
                except ValueError:
                    continue
                drawn.append({"from": start, "to": start + 1, "label": name})
                break
        chosen = [each for each in drawn if rng is None or rng.random() < 0.5]
        return self.parse({"spans": spans, "relations": chosen})

    def cell(self, value: Graph, item: Payload) -> dict[str, Any]:
        """Spans with their text, and relations as triples of texts."""
        texts = [excerpt(item[self._column], span["start"], span["end"]) for span in value["spans"]]
        return {
            "spans": self._spans.cell(value["spans"], item),
            "relations": [
                {**each, "from_text": texts[each["from"]], "to_text": texts[each["to"]]} for each in value["relations"]
            ],
        }

    def rows(self, value: Graph, item: Payload) -> list[dict[str, Any]]:
        """One row per relation, and per span without relations."""
        spans = self._spans.cell(value["spans"], item)
        related = [
            {"relation": each["label"], **_end("from", spans[each["from"]]), **_end("to", spans[each["to"]])}
            for each in value["relations"]
        ]
        joined = {each[end] for each in value["relations"] for end in ("from", "to")}
        return related + [_end("from", span) for number, span in enumerate(spans) if number not in joined]

    def label(self, value: Graph) -> list[str]:
        shown = {_place(span): ":".join(map(str, _place(span))) for span in value["spans"]}
        return [
            *shown.values(),
            *(f"{shown[start]}>{name}>{shown[end]}" for start, name, end in sorted(triples(value))),
        ]

    def words(self, value: Graph, item: Payload) -> str:
        texts = [excerpt(item[self._column], span["start"], span["end"]) for span in value["spans"]]
        drawn = [
            joined(
                quoted(texts[each["from"]]), self.relations[each["label"]].label, quoted(texts[each["to"]]), by=" → "
            )
            for each in value["relations"]
        ]
        return joined(self._spans.words(value["spans"], item), *drawn, by="; ")

    def studio(self) -> StudioControl:
        return relation_labels(self.settings.name, self._column, self.options, tuple(self.relations))

    def view(self, item: Payload) -> dict[str, Any]:
        return self._spans.view(item)

    def rules(self) -> dict[str, Any]:
        known = [
            {"value": each.value, "label": each.label, "from": each.from_, "to": each.to}
            for each in self.relations.values()
        ]
        return {**self._spans.rules(), "relations": known}


def triples(value: Graph) -> set[Triple]:
    """Relations by the spans they connect instead of span numbers."""
    places = [_place(span) for span in value["spans"]]
    return {(places[each["from"]], each["label"], places[each["to"]]) for each in value["relations"]}


def _place(span: Span) -> Place:
    return span["start"], span["end"], span["label"]


def _end(name: str, span: Span) -> dict[str, Any]:
    return {f"{name}_{part}": span[part] for part in ("text", "label", "start", "end")}


def _apart(spans: Sequence[Span]) -> list[Span]:
    """Removes spans that overlap an earlier span."""
    kept: list[Span] = []
    for span in spans:
        if not kept or kept[-1]["end"] <= span["start"]:
            kept.append(span)
    return kept
