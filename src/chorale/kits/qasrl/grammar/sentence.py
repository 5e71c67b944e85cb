"""Properties of a verb, derived from the words next to it, to rank likely questions first."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile

from chorale.kits.qasrl.grammar.arguments import has_passive, is_made_adverb, is_mark, is_passive_alone
from chorale.kits.qasrl.grammar.slots import Slots, contractions
from chorale.kits.qasrl.grammar.table import table
from chorale.text.inflections import VerbForms

_WINDOW = 4
_OBLIGED = "have to"
"""The kind of *had* in *had to give*, which does not form a perfect."""


@dataclass(frozen=True, slots=True)
class Clause:
    """Tense, aspect, negation and voice of the verb, which a question copies from the sentence."""

    tense: str = "past"
    perfect: bool = False
    progressive: bool = False
    negated: bool = False
    passive: bool = False

    @classmethod
    def of(cls, slots: Slots) -> "Clause":
        return cls(slots.tense, slots.is_perfect, slots.is_progressive, slots.is_negated, slots.is_passive)


def clause_in(tokens: Sequence[str], verb_index: int, forms: VerbForms) -> Clause:
    """Derives tense, voice and negation from the verb form and the auxiliaries before it.

    >>> from chorale.text.inflections import inflect
    >>> clause_in("It has not been cut".split(), 4, inflect("cut"))
    Clause(tense='present', perfect=True, progressive=False, negated=True, passive=True)
    """
    if not 0 <= verb_index < len(tokens):
        return Clause()
    known = table()["sentence"]
    helpers: dict[str, str] = {}
    nearest, negated, following = "", False, ""
    for token in reversed(tokens[max(0, verb_index - _WINDOW) : verb_index]):
        word = token.lower()
        helper = known["auxiliaries"].get(word)
        negated = negated or word in known["negations"]
        if helper is not None:
            kind = _OBLIGED if (helper[0], following) == ("have", "to") else helper[0]
            nearest = nearest or kind
            helpers.setdefault(kind, helper[1])
        elif word not in known["negations"] and word not in known["skipped"] and not is_made_adverb(word):
            break
        following = word
    word = tokens[verb_index].lower()
    is_certain = word not in (forms.past, forms.stem)
    alone = not nearest and (is_certain or is_passive_alone(tokens, verb_index, forms))
    return _clause(word, nearest, helpers, negated, forms, alone=alone)


def _clause(
    word: str, nearest: str, helpers: dict[str, str], negated: bool, forms: VerbForms, *, alone: bool
) -> Clause:
    """`alone`: whether the form is a participle although no auxiliary shows it."""
    of_be = nearest in ("be", "been", "being")
    is_active = word == forms.present_participle
    passive = has_passive(forms) and not is_active and word == forms.past_participle and (of_be or alone)
    progressive = of_be if is_active else passive and nearest == "being"
    is_present = not nearest and word in (forms.stem, forms.present_singular_3rd) and word != forms.past
    tenses = [tense for tense in helpers.values() if tense] or ["present" if is_present else "past"]
    return Clause(helpers.get("modal", tenses[-1]), "have" in helpers, progressive, negated, passive)


def prepositions_in(tokens: Sequence[str], verb_index: int, more: Sequence[str] = ()) -> tuple[str, ...]:
    """Prepositions after the verb in its clause, nearest first; all in the sentence if the verb's position is unknown.

    `more` are additional words that count as prepositions.

    >>> prepositions_in("In May she sold it to a friend , and went to sea in June".split(), 3)
    ('to',)
    """
    words = [token.lower() for token in tokens]
    after = words
    if 0 <= verb_index < len(words):
        after = list(takewhile(lambda word: not _ends_clause(word), words[verb_index + 1 :]))
    known = {*table()["groups"]["preposition"], *map(str.lower, more)}
    return tuple(dict.fromkeys(word for word in after if word in known))


def _ends_clause(word: str) -> bool:
    """Whether the word is punctuation or a word like *and* or *than*.

    *As* does not end a clause here, because published questions ask for words after it.
    """
    return is_mark(word) or (word in table()["sentence"]["boundaries"] and word != "as")


def conjugated(clause: Clause, *, inverted: bool) -> tuple[str, str]:
    """The auxiliary and the verb slot. Inverted: a subject stands between them, as in *did someone cut*.

    >>> conjugated(Clause("past"), inverted=True), conjugated(Clause("will", passive=True), inverted=False)
    (('did', 'stem'), ('will', 'be pastParticiple'))
    """
    is_modal = clause.tense not in ("present", "past")
    # The grammar has no questions with *has been being cut* or *might be being cut*.
    progressive = clause.progressive and not (clause.passive and (is_modal or clause.perfect))
    helpers = ["have"] * clause.perfect + ["be"] * progressive + ["be"] * clause.passive
    needs_form = [*(["pastParticiple"] * clause.perfect), *(["presentParticiple"] * progressive),
                  *(["pastParticiple"] * clause.passive)]  # fmt: skip
    if is_modal:
        aux, needs_form, rest = clause.tense, ["stem", *needs_form], helpers
    elif helpers:
        aux, rest = _finite()[helpers[0], clause.tense], helpers[1:]
    elif inverted or clause.negated:
        aux, needs_form, rest = _finite()["do", clause.tense], ["stem"], []
    else:
        return "", "past" if clause.tense == "past" else "presentSingular3rd"
    forms_of_be = {"stem": "be", "pastParticiple": "been", "presentParticiple": "being"}
    words = ["have" if helper == "have" else forms_of_be[form] for helper, form in zip(rest, needs_form, strict=False)]
    if clause.negated and aux in contractions():
        aux = contractions()[aux]
    elif clause.negated:
        words = ["not", *words]
    return aux, " ".join([*words, needs_form[-1]])


@cache
def _finite() -> dict[tuple[str, str], str]:
    """The form of an auxiliary in a tense: *was* for *be* in the past."""
    return {
        (form["kind"], form["tense"]): aux
        for aux, form in table()["auxiliaries"].items()
        if "negated" not in form and form["kind"] != "modal"
    }
