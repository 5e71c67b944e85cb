"""Best–worst scaling: the best and the worst of a few texts of the item."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, ClassVar

from chorale.contract.fields import FieldKind, Scale, StudioControl
from chorale.files.shortening import shortened
from chorale.kits.forms.task import studio_parts
from chorale.kits.forms.task.fields import FormField, Votes, corrected
from chorale.kits.forms.task.invalid import invalid
from chorale.kits.forms.task.settings import Kind
from chorale.model import Payload
from chorale.model.wording import worded

BEST, WORST = "best", "worst"
Picked = Mapping[str, str]


class BestWorstField(FormField):
    """IDs of the best and the worst text of a tuple."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.BEST_WORST,)
    columns: ClassVar[tuple[str, ...]] = ("role", "value", "text")
    kind = FieldKind.OTHER
    scale = Scale.OTHER

    @property
    def _item(self) -> str:
        return self.settings.item or ""

    @property
    def headings(self) -> dict[str, str]:
        return {BEST: self.settings.best or worded("Best"), WORST: self.settings.worst or worded("Worst")}

    def texts(self, item: Payload) -> dict[str, str]:
        """The texts of the tuple, by ID."""
        return {each["id"]: each["text"] for each in item[self._item]}

    def schema(self) -> dict[str, Any]:
        parts = {BEST: {"type": "string"}, WORST: {"type": "string"}}
        return {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}

    def parse(self, raw: Any) -> dict[str, str]:
        if not isinstance(raw, dict) or raw.keys() != {BEST, WORST}:
            raise invalid("is not an object with `best` and `worst`", raw)
        if not all(isinstance(value, str) for value in raw.values()):
            raise invalid("has an ID that is not text", raw)
        if raw[BEST] == raw[WORST]:
            raise invalid("has the same text as best and worst", raw[BEST])
        return {BEST: raw[BEST], WORST: raw[WORST]}

    def misfit(self, value: Picked, item: Payload) -> str | None:
        known = self.texts(item)
        unknown = [each for each in value.values() if each not in known]
        return f"has {shortened(unknown[0])}, which is not in the tuple ({', '.join(known)})" if unknown else None

    def mistake(self, value: Picked, gold: Picked) -> str | None:
        wrong = [role for role in (BEST, WORST) if value[role] != gold[role]]
        return "; ".join(f"{role}: {corrected(value[role], gold[role])}" for role in wrong) or None

    def distance(self, left: Picked, right: Picked) -> float:
        return sum(left[role] != right[role] for role in (BEST, WORST)) / 2

    def combine(self, votes: Votes, draw: int) -> tuple[dict[str, str], float]:
        """The texts chosen most often as best and as worst, weighted by worker quality, never the same for both."""
        whole = sum(trust for _, trust in votes)
        shares: dict[tuple[str, str], float] = defaultdict(float)
        for value, trust in votes:
            for role in (BEST, WORST):
                shares[role, value[role]] += trust / whole
        # Ties are resolved randomly, or by ID without random numbers.
        names = sorted({name for _, name in shares})
        order = {name: place for place, name in enumerate(Random(draw).sample(names, len(names)) if draw else names)}
        first, second = sorted(
            (max(((shares[role, name], -order[name], role, name) for name in names)) for role in (BEST, WORST)),
            reverse=True,
        )
        chosen = {first[2]: first[3]}
        _, _, role, _ = second
        rest = max((shares[role, name], -order[name], name) for name in names if name != first[3])
        chosen[role] = rest[2]
        return {BEST: chosen[BEST], WORST: chosen[WORST]}, min(first[0], rest[0])

    def guess(self, view: Mapping[str, Any], rng: Random | None) -> dict[str, str]:
        ids = [each["id"] for each in view[self._item]]
        best, worst = rng.sample(ids, 2) if rng else (ids[0], ids[-1])
        return {BEST: best, WORST: worst}

    def order(self, item: Payload) -> tuple[list[str], bool]:
        return list(self.texts(item)), True

    def words(self, value: Picked, item: Payload) -> str:
        texts = self.texts(item)
        return worded(
            "{best}: “{best_text}”; {worst}: “{worst_text}”",
            **self.headings,
            best_text=texts[value[BEST]],
            worst_text=texts[value[WORST]],
        )

    def label(self, value: Picked) -> list[str]:
        return [f"{role}:{value[role]}" for role in (BEST, WORST)]

    def rows(self, value: Picked, item: Payload) -> list[dict[str, Any]]:
        texts = self.texts(item)
        return [{"role": role, "value": value[role], "text": texts[value[role]]} for role in (BEST, WORST)]

    def studio(self) -> StudioControl:
        return studio_parts.best_and_worst(self.settings.name, self.headings, self.texts)

    def view(self, item: Payload) -> dict[str, Any]:
        return {self._item: [{"id": each["id"], "text": each["text"]} for each in item[self._item]]}

    def rules(self) -> dict[str, Any]:
        # Without headings of the study, the page uses its own, in the language of the study.
        return {"item": self._item, BEST: self.settings.best, WORST: self.settings.worst}


def preferences(votes: Sequence[tuple[Sequence[str], Picked]]) -> list[tuple[str, str]]:
    """Pairwise preferences implied by the answers, preferred text first: the best beats all others, and all beat the
    worst.
    """
    pairs = []
    for shown, value in votes:
        for other in shown:
            if other != value[BEST]:
                pairs.append((value[BEST], other))
            if other not in (value[BEST], value[WORST]):
                pairs.append((other, value[WORST]))
    return pairs
