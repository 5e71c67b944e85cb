"""The seven slots of a question, and the properties of the verb that follow from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Self

from chorale.kits.qasrl.grammar.table import table
from chorale.text.inflections import KEYS, VerbForms

_BANK = {"wh": "wh", "aux": "aux", "subj": "subj", "verb": "verb", "obj": "obj", "prep": "prep", "misc": "obj2"}
_EMPTY = "_"
_SEPARATOR = "~!~"


class Slots(NamedTuple):
    """The values of the slots; an empty slot is an empty string. The verb is given as a form: `been pastParticiple`."""

    wh: str
    aux: str = ""
    subj: str = ""
    verb: str = "stem"
    obj: str = ""
    prep: str = ""
    misc: str = ""

    @classmethod
    def from_bank(cls, slots: Mapping[str, str]) -> Self:
        """Builds slots from `questionSlots` of the QA-SRL Bank, where `_` is empty and `misc` is called `obj2`."""
        return cls(**{ours: "" if slots[theirs] == _EMPTY else slots[theirs] for ours, theirs in _BANK.items()})

    def as_bank(self) -> dict[str, str]:
        return {theirs: getattr(self, ours) or _EMPTY for ours, theirs in _BANK.items()}

    @property
    def tense(self) -> str:
        """`present`, `past`, or the modal."""
        if self.aux:
            return str(table()["auxiliaries"][self.aux]["tense"])
        return "past" if self.verb == "past" else "present"

    @property
    def is_perfect(self) -> bool:
        return self._kind == "have" or "have" in self.verb.split()

    @property
    def is_progressive(self) -> bool:
        return not {"presentParticiple", "being"}.isdisjoint(self.verb.split())

    @property
    def is_negated(self) -> bool:
        return "not" in self.verb.split() or (self.aux != "" and "negated" in table()["auxiliaries"][self.aux])

    @property
    def is_passive(self) -> bool:
        before, form = self._verb_parts
        return form == "pastParticiple" and (before[-1] in ("be", "been", "being") if before else self._kind == "be")

    @property
    def _kind(self) -> str:
        return str(table()["auxiliaries"][self.aux]["kind"]) if self.aux else ""

    @property
    def _verb_parts(self) -> tuple[list[str], str]:
        *before, form = self.verb.split()
        return [word for word in before if word != "not"], form

    def as_gold_standard(self, forms: VerbForms) -> dict[str, str]:
        """The columns of the gold standard's CSV (Roit et al. 2020), which splits some slots differently.

        Its verb form is the first of the five with the same spelling, *to do something* is a preposition with an
        object, *has not* becomes `hasn't`, and *it* becomes something.
        """
        *before, form = self.verb.split()
        aux = self.aux
        if "not" in before and self.aux in contractions():
            aux = contractions()[self.aux]
            before.remove("not")
        spelt = forms.as_bank()[form]
        inflection = next(name for name, text in forms.as_bank().items() if text == spelt)
        act = self.misc.split()
        moved = act[:-1] if len(act) > 1 else []
        return {
            "wh": self.wh,
            "aux": aux,
            "subj": "something" if self.subj == "it" else self.subj,
            "obj": self.obj,
            "obj2": act[-1] if act else "",
            "prep": " ".join([*self.prep.split(), *moved]),
            "verb_prefix": _SEPARATOR.join(before),
            "verb_slot_inflection": inflection[0].upper() + inflection[1:],
            "is_passive": str(self.is_passive),
            "is_negated": str(self.is_negated),
        }

    def asked_for(self) -> str:
        """The role the question asks for: `subject`, `object`, `second object`, `prep …`, `act …` or its wh-word.

        The subject is the agent: *What was cut?* asks for the object, like *What did someone cut?*.
        """
        if self.wh not in table()["groups"]["argument"]:
            return self.wh
        if not self.subj:
            return "object" if self.is_passive else "subject"
        if self.misc in table()["groups"]["open act"]:
            return f"act {self.prep}".strip()
        if self.prep and not self.misc:
            return "subject" if self.is_passive and self.prep == "by" else f"prep {self.prep}"
        return "second object" if self.is_passive else "object"

    def role(self) -> str:
        """The role the question asks for, with the preposition of *where*. Each role is paid once.

        Tense, voice, negation and the other slots do not make a different role.
        """
        asked = self.asked_for()
        is_argument = self.wh in table()["groups"]["argument"]
        return asked if is_argument or not self.prep or self.is_passive else f"{asked} {self.prep}"

    def key(self) -> str:
        """Equal for questions that ask for the same role. Tense, voice and the kind of agent do not matter.

        The other slots do, because they may change the question (*Who cut?*, *Who cut something?*).
        """
        role = self.asked_for()
        prep, misc = self.prep, self.misc
        if self.is_passive and prep == "by":
            prep = misc = ""
        patient = self.subj if self.is_passive and role != "object" else self.obj
        return "|".join((self.wh, role, patient, prep, misc, "not" if self.is_negated else ""))


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed question."""

    slots: Slots
    text: str
    """Normalised text: one capital letter, single spaces, a question mark."""

    @property
    def tense(self) -> str:
        return self.slots.tense

    @property
    def is_perfect(self) -> bool:
        return self.slots.is_perfect

    @property
    def is_progressive(self) -> bool:
        return self.slots.is_progressive

    @property
    def is_negated(self) -> bool:
        return self.slots.is_negated

    @property
    def is_passive(self) -> bool:
        return self.slots.is_passive

    @property
    def key(self) -> str:
        return self.slots.key()


@dataclass(frozen=True, slots=True)
class NotAQuestion:
    """The reason why a text is not a valid question."""

    reason: str
    """Explanation in plain words for the writer."""
    position: int
    """Position of the first character that is wrong."""


@cache
def contractions() -> Mapping[str, str]:
    """Negates an auxiliary: *has* becomes *hasn't*."""
    return {one["negated"]: aux for aux, one in table()["auxiliaries"].items() if "negated" in one}


def render(slots: Slots, forms: VerbForms) -> str:
    """Renders the text of a question.

    >>> from chorale.text.inflections import inflect
    >>> render(Slots("what", "might", "someone", "have pastParticiple", prep="with"), inflect("cut"))
    'What might someone have cut with?'
    """
    return as_question(" ".join(text for text in slots._replace(verb=spelt(slots.verb, forms)) if text))


def as_question(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}?"


def spelt(verb: str, forms: VerbForms) -> str:
    """The verb slot with the inflected form instead of the name of the form."""
    of_name = dict(zip(KEYS, forms.all(), strict=True))
    return " ".join(of_name.get(word, word) for word in verb.split())


def all_spelt(verb: str, forms: VerbForms) -> list[str]:
    """The verb slot with the inflected form, then with each of its variants."""
    *before, form = verb.split()
    variants = [" ".join([*before, spelling]) for name, spelling in forms.variants if name == form]
    return [spelt(verb, forms), *variants]
