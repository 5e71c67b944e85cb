"""Rankings of options or of texts of the item, best first."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from random import Random
from typing import Any, ClassVar

from chorale.contract.fields import FieldKind, Scale, StudioControl
from chorale.kits.forms.task import studio_parts
from chorale.kits.forms.task.fields import FormField, Votes, corrected
from chorale.kits.forms.task.invalid import invalid
from chorale.kits.forms.task.settings import Kind
from chorale.model import Payload
from chorale.model.wording import joined, quoted


class RankingField(FormField):
    """A complete ranking."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.RANKING,)
    columns: ClassVar[tuple[str, ...]] = ("rank", "value")
    kind = FieldKind.RANKING
    scale = Scale.RANKS

    @property
    def options(self) -> tuple[tuple[Any, str], ...]:
        return super().options or tuple((side, side) for side in self.settings.sides or ())

    @property
    def _values(self) -> list[str]:
        return [value for value, _ in self.options]

    def schema(self) -> dict[str, Any]:
        values = self._values
        items = {"enum": values}
        return {
            "type": "array",
            "items": items,
            "uniqueItems": True,
            "minItems": len(values),
            "maxItems": len(values),
        }

    def parse(self, raw: Any) -> list[str]:
        if not isinstance(raw, list) or not all(isinstance(value, str) for value in raw):
            raise invalid("is not a list of the ranked options", raw)
        if sorted(raw) != sorted(self._values):
            raise invalid(f"must have each of {', '.join(self._values)} once", raw)
        return list(raw)

    def mistake(self, value: Sequence[str], gold: Sequence[str]) -> str | None:
        alike, enough = 1 - self.distance(value, gold), self.settings.enough or 1.0
        if alike >= enough - 1e-9:
            return None
        reason = corrected(" > ".join(value), " > ".join(gold))
        return f"{reason}: {alike:.2f} of the pairs are in the correct order, below {enough:g}"

    def distance(self, left: Sequence[str], right: Sequence[str]) -> float:
        """Fraction of pairs in opposite order (Kendall's distance)."""
        place = {value: number for number, value in enumerate(right)}
        pairs = list(combinations(left, 2))
        return sum(place[first] > place[second] for first, second in pairs) / len(pairs)

    def combine(self, votes: Votes, draw: int) -> tuple[list[str], float]:
        """Order by mean rank, weighted by worker quality (Borda). The confidence is the mean fraction of pairs in the
        same order.
        """
        whole = sum(trust for _, trust in votes)
        ranks = {value: sum(trust * order.index(value) for order, trust in votes) for value in self._values}
        shuffled = Random(draw).sample(self._values, len(self._values)) if draw else self._values
        result = sorted(shuffled, key=lambda value: round(ranks[value] / whole, 9))
        return result, sum(trust * (1 - self.distance(order, result)) for order, trust in votes) / whole

    def guess(self, _view: Mapping[str, Any], rng: Random | None) -> list[str]:
        return rng.sample(self._values, len(self._values)) if rng else self._values

    def order(self, _item: Payload) -> tuple[list[str], bool]:
        return self._values, self.settings.sides is not None

    def words(self, value: Sequence[str], item: Payload) -> str:
        labels = dict(self.options)
        shown = [quoted(item[each]) if self.settings.sides else labels[each] for each in value]
        return joined(*(joined(f"{rank}.", text) for rank, text in enumerate(shown, 1)), by=", ")

    def in_words(self, value: Sequence[str], _item: Payload) -> list[str]:
        return list(value)

    def rows(self, value: Sequence[str], _item: Payload) -> list[dict[str, Any]]:
        return [{"rank": rank, "value": each} for rank, each in enumerate(value, 1)]

    def studio(self) -> StudioControl:
        return studio_parts.ranker(self.settings.name, self._titles)

    def _titles(self, item: Payload) -> dict[str, str]:
        """The ranked texts, by value."""
        return {value: str(item[value]) if self.settings.sides else label for value, label in self.options}
