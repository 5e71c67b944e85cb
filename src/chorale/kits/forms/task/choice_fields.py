"""Choice fields: one option, several options, a level of a scale, or a side of a pair."""

from collections.abc import Mapping
from random import Random
from typing import Any, ClassVar

from chorale.contract.fields import FieldKind, Scale, StudioControl
from chorale.kits.forms.task import studio
from chorale.kits.forms.task.fields import FormField, Votes, corrected
from chorale.kits.forms.task.invalid import invalid
from chorale.kits.forms.task.settings import SAME, FieldSettings, Kind
from chorale.metrics.aggregation import trust_weighted_share
from chorale.model import Payload
from chorale.model.plural import plural
from chorale.model.wording import quoted, worded


class ChoiceField(FormField):
    """A choice, a level of a scale or a side of a pair."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.CHOICE, Kind.LIKERT, Kind.PAIR)

    @property
    def kind(self) -> FieldKind:
        return FieldKind.RATING if self.settings.kind is Kind.LIKERT else FieldKind.LABEL

    @property
    def scale(self) -> Scale:
        return Scale.ORDINAL if self.settings.kind is Kind.LIKERT else Scale.NOMINAL

    @property
    def options(self) -> tuple[tuple[Any, str], ...]:
        match self.settings.kind:
            case Kind.LIKERT:
                return tuple(levels_of(self.settings))
            case Kind.PAIR:
                same = ((SAME, self.settings.same),) if self.settings.same else ()
                return (*((side, side) for side in self.settings.sides or ()), *same)
        return super().options

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.settings.answers)}

    def parse(self, raw: Any) -> str | int:
        for answer in self.settings.answers:
            # In Python True equals 1, but it is not a level of a scale.
            if type(raw) is type(answer) and raw == answer:
                return answer
        raise invalid(f"is not one of {', '.join(map(str, self.settings.answers))}", raw)

    def mistake(self, value: str | int, gold: str | int) -> str | None:
        near = self._steps(value, gold) <= (self.settings.tolerance or 0)
        return None if value == gold or near else corrected(str(value), str(gold))

    def _steps(self, left: str | int, right: str | int) -> float:
        """Distance of two levels. Answers that are not levels have the maximum distance."""
        if isinstance(left, int) and isinstance(right, int):
            return abs(left - right)
        return 0 if left == right else float("inf")

    def distance(self, left: str | int, right: str | int) -> float:
        return min(1.0, self._steps(left, right) / (self.settings.scale - 1))

    def combine(self, votes: Votes, draw: int) -> tuple[Any, float]:
        share = trust_weighted_share(votes, draw)
        if share is None:
            raise ValueError("no votes to aggregate")
        return share.answer, share.confidence

    def guess(self, _view: Mapping[str, Any], rng: Random | None) -> str | int:
        return rng.choice(self.settings.answers) if rng else self.settings.answers[0]

    def order(self, item: Payload) -> tuple[list[str], bool]:
        return (list(self.settings.sides), True) if self.settings.sides else super().order(item)

    def words(self, value: str | int, item: Payload) -> str:
        named: str = dict(self.options).get(value, str(value))
        match self.settings.kind:
            case Kind.LIKERT:
                return f"{value} ({named})" if named else str(value)
            case Kind.PAIR if value != SAME:
                return quoted(item[str(value)])
        return named

    def in_words(self, value: str | int, _item: Payload) -> str | int:
        return value

    def studio(self) -> StudioControl:
        if self.settings.kind is Kind.LIKERT:
            return studio.rating(self.settings.name, self.settings.scale)
        return studio.choices(self.settings.name, self.options, several=False)


class ChoicesField(FormField):
    """Any number of options, in the order of the form."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.CHOICES,)
    kind = FieldKind.LABELS
    scale = Scale.SET

    @property
    def _values(self) -> list[str]:
        return [option.value for option in self.settings.options or ()]

    @property
    def _most(self) -> int:
        return self.settings.most or len(self._values)

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": {"enum": self._values}, "uniqueItems": True}

    def parse(self, raw: Any) -> list[str]:
        values = self._values
        if not isinstance(raw, list) or not all(isinstance(value, str) for value in raw):
            raise invalid("is not a list of options", raw)
        unknown = [value for value in raw if value not in values]
        if unknown:
            raise invalid(f"has an option that is not one of {', '.join(values)}", unknown[0])
        if len(set(raw)) < len(raw):
            raise invalid("has the same option twice", raw)
        if not self._allowed(len(raw)):
            raise ValueError(f"has {plural(len(raw), 'option', 'options')} but must have {self._bounds()}")
        return [value for value in values if value in raw]

    def _allowed(self, count: int) -> bool:
        if count == 0 and self.settings.none is not None:
            return True
        return self.settings.least <= count <= self._most

    def _bounds(self) -> str:
        bounds = f"from {self.settings.least} to {self._most}"
        return bounds if self.settings.none is None else f"none or {bounds}"

    def mistake(self, value: list[str], gold: list[str]) -> str | None:
        return None if value == gold else corrected(_words(value), _words(gold))

    def distance(self, left: list[str], right: list[str]) -> float:
        first, second = set(left), set(right)
        return 1 - len(first & second) / len(first | second) if first or second else 0.0

    def combine(self, votes: Votes, draw: int) -> tuple[list[str], float]:
        """Every option with a majority, weighted by worker quality. The confidence is that of the least certain option.

        If their number is not allowed, the most frequent options are used.
        """
        weight = sum(trust for _, trust in votes)
        shares = {option: sum(trust for value, trust in votes if option in value) / weight for option in self._values}
        # Ties are resolved in random order, or in form order without random numbers.
        order = Random(draw).sample(self._values, len(self._values)) if draw else self._values
        ranked = sorted(order, key=lambda option: -shares[option])
        count = sum(share > 0.5 for share in shares.values())
        if not self._allowed(count):
            count = self.settings.least if count < self.settings.least else self.settings.most or count
        chosen = set(ranked[:count])
        agreed = min(share if option in chosen else 1 - share for option, share in shares.items())
        return [option for option in self._values if option in chosen], agreed

    def guess(self, _view: Mapping[str, Any], rng: Random | None) -> list[str]:
        values = self._values
        if rng is None:
            return values[: self.settings.least]
        counts = [count for count in range(min(self._most, self.settings.least + 2) + 1) if self._allowed(count)]
        chosen = rng.sample(values, rng.choice(counts))
        return [value for value in values if value in chosen]

    def rules(self) -> dict[str, Any]:
        return {"min": self.settings.least, "max": self._most}

    def words(self, value: list[str], _item: Payload) -> str:
        labels = dict(self.options)
        return ", ".join(labels.get(each, each) for each in value) or self.settings.none or worded("none")

    def in_words(self, value: list[str], _item: Payload) -> list[str]:
        return value

    def rows(self, value: list[str], _item: Payload) -> list[dict[str, Any]]:
        return [{"value": each} for each in value]

    def studio(self) -> StudioControl:
        return studio.choices(self.settings.name, self.options, several=True)


def levels_of(field: FieldSettings) -> list[tuple[int, str]]:
    """The levels of a scale, each with its label, if any."""
    if field.kind not in (Kind.LIKERT, Kind.MATRIX):
        return []
    count, labels = field.scale, field.labels or ()
    ends = {1: labels[0], count: labels[-1]} if len(labels) == 2 else dict(enumerate(labels, 1))
    return [(level, ends.get(level, "")) for level in range(1, count + 1)]


def _words(values: list[str]) -> str:
    return ", ".join(values) or "none"
