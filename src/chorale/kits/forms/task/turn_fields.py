"""Dialogue fields: an option for each turn, or spans in turns."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, ClassVar

from chorale.contract.fields import FieldKind, Scale, StudioControl
from chorale.kits.forms.task import studio_parts
from chorale.kits.forms.task.fields import FormField, Votes, corrected
from chorale.kits.forms.task.invalid import invalid
from chorale.kits.forms.task.quoted_spans import span_at
from chorale.kits.forms.task.settings import PIECES, FieldSettings, Kind
from chorale.kits.forms.task.span_fields import LONGEST_TEXT, MOST_SPANS, Span, SpanField
from chorale.kits.forms.task.tokens import characters, excerpt, pieces, tokens
from chorale.metrics.aggregation import trust_weighted_share
from chorale.model import Payload
from chorale.model.plural import plural
from chorale.model.wording import joined, quoted, worded

MOST_TURNS = 200
ENOUGH = 0.8
_APART = LONGEST_TEXT + 1
"""Token offset between turns, so that spans of different turns never touch."""
Turn = Mapping[str, Any]


def asked_turns(settings: FieldSettings, turns: Sequence[Turn]) -> list[int]:
    """The numbers of the turns that a field asks about, from 0: all turns, or those of its speakers."""
    wanted = settings.speakers
    return [number for number, turn in enumerate(turns) if wanted is None or turn["speaker"] in wanted]


class TurnChoiceField(FormField):
    """An option for every turn."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.TURN_CHOICE,)
    columns: ClassVar[tuple[str, ...]] = ("turn", "value")
    kind = FieldKind.OTHER
    scale = Scale.OTHER

    @property
    def _item(self) -> str:
        return self.settings.item or ""

    @property
    def _values(self) -> list[str]:
        return [value for value, _ in self.options]

    def doubt(self, item: Payload) -> str | None:
        if not self.settings.required or asked_turns(self.settings, item[self._item]):
            return None
        speakers = " or ".join(self.settings.speakers or ())
        return (
            f"`{self._item}` has no turn of {speakers}, so nobody can answer `{self.settings.name}`. Leave such "
            "items out, or set `required = false`"
        )

    def schema(self) -> dict[str, Any]:
        parts = {"turn": {"type": "integer", "minimum": 0}, "value": {"enum": self._values}}
        each = {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}
        return {"type": "array", "items": each}

    def parse(self, raw: Any) -> list[dict[str, Any]]:
        if not isinstance(raw, list) or not 0 < len(raw) <= MOST_TURNS:
            raise invalid(f"is not a list of 1 to {MOST_TURNS} turns with answers", raw)
        for each in raw:
            if not isinstance(each, dict) or each.keys() != {"turn", "value"}:
                raise invalid("has a turn whose keys are not exactly `turn` and `value`", each)
            if type(each["turn"]) is not int or not 0 <= each["turn"] < MOST_TURNS:
                raise invalid(f"has a turn that is not a number from 0 to {MOST_TURNS - 1}", each["turn"])
            if each["value"] not in self._values:
                raise invalid(f"has an answer that is not one of {', '.join(self._values)}", each["value"])
        turns = [each["turn"] for each in raw]
        twice = [turn for turn in turns if turns.count(turn) > 1]
        if twice:
            raise invalid("has the same turn twice", twice[0])
        return [{"turn": each["turn"], "value": each["value"]} for each in sorted(raw, key=lambda each: each["turn"])]

    def misfit(self, value: Sequence[Turn], item: Payload) -> str | None:
        asked = asked_turns(self.settings, item[self._item])
        missing = [turn for turn in asked if turn not in _by_turn(value)]
        if self.settings.required and missing:
            return f"has no answer for turn {missing[0] + 1}"
        return self.gold_misfit(value, item)

    def gold_misfit(self, gold: Any, item: Payload) -> str | None:
        """Gold may omit turns, which are then not graded."""
        asked = asked_turns(self.settings, item[self._item])
        strange = [turn for turn in _by_turn(gold) if turn not in asked]
        return f"has turn {strange[0] + 1}, which is not asked about" if strange else None

    def mistake(self, value: Sequence[Turn], gold: Sequence[Turn]) -> str | None:
        own, enough = _by_turn(value), self.settings.enough or ENOUGH
        wrong = [each for each in gold if own.get(each["turn"]) != each["value"]]
        right = 1 - len(wrong) / len(gold)
        if right >= enough - 1e-9:
            return None
        shown = [
            f"turn {each['turn'] + 1}: {corrected(own.get(each['turn'], 'none'), each['value'])}" for each in wrong[:3]
        ]
        return f"{'; '.join(shown)}: {right:.2f} of the turns are correct, below {enough:g}"

    def distance(self, left: Sequence[Turn], right: Sequence[Turn]) -> float:
        """Fraction of turns with different answers."""
        first, second = _by_turn(left), _by_turn(right)
        turns = first.keys() | second.keys()
        return sum(first.get(turn) != second.get(turn) for turn in turns) / len(turns)

    def combine(self, votes: Votes, draw: int) -> tuple[list[dict[str, Any]], float]:
        """Aggregates turn by turn. The confidence is the mean over turns that most workers answered."""
        whole = sum(trust for _, trust in votes)
        given = [(_by_turn(value), trust) for value, trust in votes]
        result, sure = [], []
        for turn in sorted({turn for own, _ in given for turn in own}):
            of_turn = [(own[turn], trust) for own, trust in given if turn in own]
            answered = sum(trust for _, trust in of_turn) / whole
            share = trust_weighted_share(of_turn, draw) if answered > 0.5 else None
            if share is not None:
                result.append({"turn": turn, "value": share.answer})
                sure.append(share.confidence * answered)
        return result, sum(sure) / len(sure) if sure else 0.0

    def guess(self, view: Mapping[str, Any], rng: Random | None) -> list[dict[str, Any]]:
        asked = asked_turns(self.settings, view[self._item])
        return [{"turn": turn, "value": rng.choice(self._values) if rng else self._values[0]} for turn in asked]

    def completed(self, value: Sequence[Turn], view: Mapping[str, Any], rng: Random | None) -> list[dict[str, Any]]:
        """Gold, with guesses for missing turns."""
        return [
            *({**each, "value": _by_turn(value).get(each["turn"], each["value"])} for each in self.guess(view, rng))
        ]

    def words(self, value: Sequence[Turn], _item: Payload) -> str:
        labels = dict(self.options)
        return ", ".join(f"{each['turn'] + 1}: {labels[each['value']]}" for each in value)

    def label(self, value: Sequence[Turn]) -> list[str]:
        return [f"{each['turn']}:{each['value']}" for each in value]

    def rows(self, value: Sequence[Turn], _item: Payload) -> list[dict[str, Any]]:
        return [dict(each) for each in value]

    def studio(self) -> StudioControl:
        return studio_parts.turn_labels(self.settings.name, self._item, self.options)

    def view(self, item: Payload) -> dict[str, Any]:
        return {self._item: [dict(turn) for turn in item[self._item]]}

    def rules(self) -> dict[str, Any]:
        return {
            "item": self._item,
            "speakers": self.settings.speakers,
            "options": [list(each) for each in self.options],
        }


class TurnSpanField(SpanField):
    """Spans in the turns of a dialogue."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.TURN_SPANS,)
    columns: ClassVar[tuple[str, ...]] = ("value", "label", "turn", "start", "end", "start_character", "end_character")

    def schema(self) -> dict[str, Any]:
        whole = super().schema()
        whole["items"]["properties"] |= {"turn": {"type": "integer", "minimum": 0}}
        whole["items"]["required"] = ["turn", *whole["items"]["required"]]
        return whole

    def parse(self, raw: Any) -> list[Span]:
        if not isinstance(raw, list) or len(raw) > MOST_SPANS or not all(isinstance(each, dict) for each in raw):
            raise invalid(f"is not a list of up to {MOST_SPANS} spans", raw)
        for each in raw:
            if type(each.get("turn")) is not int or not 0 <= each["turn"] < MOST_TURNS:
                raise invalid("has a span without its turn", each)
        by_turn: dict[int, list[Span]] = {}
        for each in raw:
            by_turn.setdefault(each["turn"], []).append({name: part for name, part in each.items() if name != "turn"})
        spans = [{"turn": turn, **span} for turn in sorted(by_turn) for span in self.in_order(by_turn[turn])]
        self.count(len(spans))
        return spans

    def parse_gold(self, raw: Any) -> list[Any]:
        """Spans in tokens, or as quotations that `located` finds in their turns."""
        if not isinstance(raw, list) or not any(isinstance(each, dict) and "text" in each for each in raw):
            return self.parse(raw)
        for each in raw:
            if not isinstance(each, dict) or type(each.get("turn")) is not int:
                raise invalid("has a quotation without its turn", each)
        given = super().parse_gold([{name: part for name, part in each.items() if name != "turn"} for each in raw])
        return [{"turn": each["turn"], **span} for each, span in zip(raw, given, strict=True)]

    def located(self, gold: list[Any], item: Payload) -> list[Span]:
        turns = item[self._item]
        if any(not 0 <= each["turn"] < len(turns) for each in gold):
            raise ValueError(f"has a turn beyond the {plural(len(turns), 'turn', 'turns')} of the dialogue")
        spans = [{"turn": each["turn"], **span_at(each, turns[each["turn"]]["text"])} for each in gold]
        return self.parse(spans)

    def misfit(self, value: Sequence[Span], item: Payload) -> str | None:
        turns = item[self._item]
        asked = asked_turns(self.settings, turns)
        for span in value:
            if span["turn"] not in asked:
                return f"has a span in turn {span['turn'] + 1}, which is not asked about"
            count = len(tokens(turns[span["turn"]]["text"]))
            if span["end"] > count:
                return f"has a span beyond the {plural(count, 'token', 'tokens')} of turn {span['turn'] + 1}"
        return None

    def mistake(self, value: Sequence[Span], gold: Sequence[Span]) -> str | None:
        return super().mistake(_flat(value), _flat(gold))

    def distance(self, left: Sequence[Span], right: Sequence[Span]) -> float:
        return super().distance(_flat(left), _flat(right))

    def combine(self, votes: Votes, draw: int) -> tuple[list[Span], float]:
        spans, sure = super().combine([(_flat(value), trust) for value, trust in votes], draw)
        return [_deep(span) for span in spans], sure

    def guess(self, view: Mapping[str, Any], rng: Random | None) -> list[Span]:
        asked = asked_turns(self.settings, view[self._item])
        if not asked:
            return []
        turn = rng.choice(asked) if rng else asked[0]
        spans = super().guess({PIECES: {self._item: view[PIECES][self._item][turn]}}, rng)
        return [{"turn": turn, **span} for span in spans]

    def cell(self, value: Sequence[Span], item: Payload) -> list[Span]:
        cells = []
        for span in value:
            text = item[self._item][span["turn"]]["text"]
            first, last = characters(text, span["start"], span["end"])
            place = {"start_character": first, "end_character": last}
            cells.append({**span, **place, "text": excerpt(text, span["start"], span["end"])})
        return cells

    def label(self, value: Sequence[Span]) -> list[str]:
        return [f"{span['turn']}:{label}" for span in value for label in super(TurnSpanField, self).label([span])]

    def words(self, value: Sequence[Span], item: Payload) -> str:
        labels = dict(self.options)
        shown = [
            joined(
                f"{cell['turn'] + 1}:", quoted(cell["text"]), f"({labels[cell['label']]})" if "label" in cell else ""
            )
            for cell in self.cell(value, item)
        ]
        return joined(*shown, by=", ") or worded("nothing")

    def studio(self) -> StudioControl:
        return studio_parts.turn_spans(self.settings.name, self._item, self.options)

    def view(self, item: Payload) -> dict[str, Any]:
        turns = [dict(turn) for turn in item[self._item]]
        return {self._item: turns, PIECES: {self._item: [pieces(turn["text"]) for turn in turns]}}

    def rules(self) -> dict[str, Any]:
        return {**super().rules(), "speakers": self.settings.speakers}


def _by_turn(value: Sequence[Turn]) -> dict[int, str]:
    return {each["turn"]: each["value"] for each in value}


def _flat(spans: Sequence[Span]) -> list[Span]:
    """Spans in one long text, with an offset for every turn."""
    return [
        {
            **{name: part for name, part in span.items() if name != "turn"},
            "start": span["turn"] * _APART + span["start"],
            "end": span["turn"] * _APART + span["end"],
        }
        for span in spans
    ]


def _deep(span: Span) -> Span:
    turn = span["start"] // _APART
    return {"turn": turn, **span, "start": span["start"] - turn * _APART, "end": span["end"] - turn * _APART}
