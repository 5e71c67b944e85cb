"""Text fields: a line, or a longer text."""

from collections.abc import Mapping
from random import Random
from typing import Any, ClassVar

from chorale.contract.fields import FieldKind, Scale, StudioControl
from chorale.kits.forms.task import studio
from chorale.kits.forms.task.fields import FormField, Votes, corrected, either
from chorale.kits.forms.task.gold_checks import GoldCheck
from chorale.kits.forms.task.invalid import invalid
from chorale.kits.forms.task.settings import LONGEST_LINE, LONGEST_TEXT, Kind
from chorale.metrics.aggregation import trust_weighted_share
from chorale.model import Payload
from chorale.model.plural import plural
from chorale.model.wording import quoted
from chorale.text.scripts import count_words

_FILLER = ("simulated", "words", "that", "say", "nothing")


class TextField(FormField):
    """Free text: collected but not aggregated, unless the study compares answers."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.TEXT, Kind.LONG_TEXT)
    kind = FieldKind.TEXT

    @property
    def scale(self) -> Scale:
        return Scale.NOMINAL if self.settings.compare else Scale.TEXT

    @property
    def most(self) -> int:
        return self.settings.most or (LONGEST_LINE if self.settings.kind is Kind.TEXT else LONGEST_TEXT)

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": self.settings.least, "maxLength": self.most}

    def parse(self, raw: Any) -> str:
        text = self._text(raw)
        if not self.settings.least <= len(text) <= self.most:
            length = plural(len(text), "character", "characters")
            raise ValueError(f"has {length} but must have {self.settings.least:,} to {self.most:,}")
        words = count_words(text)
        least, most = self.settings.min_words or 0, self.settings.max_words
        if words < least:
            raise ValueError(f"has {plural(words, 'word', 'words')} but must have at least {least}")
        if most is not None and words > most:
            raise ValueError(f"has {plural(words, 'word', 'words')} but must have at most {most}")
        return text

    def _text(self, raw: Any) -> str:
        if not isinstance(raw, str):
            raise invalid("is not text", raw)
        for character in raw:
            if "\ud800" <= character <= "\udfff" or character == "\0":
                raise invalid("has characters that can't be stored", character)
        return " ".join(raw.split()) if self.settings.kind is Kind.TEXT else raw.strip()

    def parse_gold(self, raw: Any) -> str | list[str]:
        """A correct text, or several."""
        several = isinstance(raw, list) and raw and self.check in (GoldCheck.WITHIN, GoldCheck.NONE)
        return [self.parse(each) for each in raw] if several else self.parse(raw)

    @property
    def promoted(self) -> bool:
        """Free text in a gold file is always gold. Answers of workers are gold only if the study compares them."""
        return self.settings.gold is not None and super().promoted

    def answer_by(self, gold: Any) -> Any:
        """A correct text; the first of several."""
        right = super().answer_by(gold)
        return right[0] if isinstance(right, list) else right

    def mistake(self, value: str | list[str], gold: str | list[str]) -> str | None:
        if _normal(value) & _normal(gold):
            return None
        return corrected(_one_of(value), _one_of(gold))

    def distance(self, left: str | list[str], right: str | list[str]) -> float:
        """0 or 1; for results with several texts, the fraction of texts that are not shared."""
        first, second = _normal(left), _normal(right)
        return 1 - len(first & second) / len(first | second)

    def combine(self, votes: Votes, draw: int) -> tuple[str | list[str], float | None]:
        """The only text, or all different texts as a list; no confidence. Compared texts are aggregated as labels."""
        different = {min(_normal(text)): text for text, _ in reversed(votes)}
        if self.settings.compare:
            share = trust_weighted_share([(min(_normal(text)), trust) for text, trust in votes], draw)
            if share is None:
                raise ValueError("no votes to aggregate")
            return different[str(share.answer)], share.confidence
        texts = [different[key] for key in sorted(different)]
        return (texts[0] if len(texts) == 1 else texts), None

    def guess(self, _view: Mapping[str, Any], rng: Random | None) -> str:
        wanted = max(self.settings.min_words or 1, 1)
        words = [_FILLER[number % len(_FILLER)] for number in range(wanted)]
        if rng is not None:
            words[0] = rng.choice(_FILLER)
        return " ".join(words)[: self.most].strip().ljust(self.settings.least, "x")

    def rules(self) -> dict[str, Any]:
        words = {"minWords": self.settings.min_words or 0, "maxWords": self.settings.max_words}
        return {"min": self.settings.least, "max": self.most, **words}

    def words(self, value: str | list[str], _item: Payload) -> str:
        return _one_of(value)

    def in_words(self, value: str | list[str], _item: Payload) -> str | list[str]:
        return value

    def label(self, value: str | list[str]) -> str | list[str]:
        return " | ".join(value) if isinstance(value, list) else value

    def rows(self, value: str | list[str], _item: Payload) -> list[dict[str, Any]]:
        return [{"value": text} for text in ([value] if isinstance(value, str) else value)]

    def studio(self) -> StudioControl:
        return studio.text_area(self.settings.name, self.settings.ask, written=True)


def _normal(texts: str | list[str]) -> set[str]:
    """Normalised texts for comparison, ignoring case and white space."""
    return {" ".join(text.casefold().split()) for text in ([texts] if isinstance(texts, str) else texts)}


def _one_of(texts: str | list[str]) -> str:
    return either(quoted(text) for text in ([texts] if isinstance(texts, str) else texts))
