"""Predicates: verbs in a sentence that QA-SRL asks about."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_serializer, model_validator
from pydantic_core.core_schema import SerializerFunctionWrapHandler

from chorale.kits.qasrl.files.tokens import tokens_in
from chorale.kits.qasrl.grammar import NotAQuestion, machine
from chorale.kits.qasrl.grammar.machine import LONGEST_QUESTION
from chorale.model import Payload
from chorale.model.plural import plural
from chorale.text.attested import similar_verbs
from chorale.text.inflections import VerbForms, variants_of

MOST_TOKENS = 500
MOST_SUGGESTED = 10
"""Maximum number of parser questions per item."""
MOST_VARIANTS = 5
"""Maximum number of variants of a form."""


def _in_one(word: str) -> str:
    """Published files separate tokens by spaces. A space inside a token would shift all later answers."""
    if tokens_in(word) != (word,):
        raise ValueError(f"has a token that contains a space: {word!r}. Split it into two tokens, or remove the space")
    return word


_Word = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_in_one)]
_Form = Annotated[str, Field(min_length=1, max_length=60, pattern=r"\S")]
_Variants = Annotated[tuple[_Form, ...], Field(max_length=MOST_VARIANTS)]
_FormName = Literal["stem", "presentSingular3rd", "presentParticiple", "past", "pastParticiple"]
_Preposition = Annotated[str, Field(min_length=1, max_length=25, pattern=r"^[a-z]+(?:-[a-z]+)*$")]
_Question = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]
_ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", "``": "“", "''": "”"}
_NO_SPACE_BEFORE = re.compile(r"(?:[.,;:!?%)\]}…”’]|'|''|-RRB-|-RSB-|n['’]t|['’](?:s|S|re|ve|ll|d|m)|\.\.\.)")
_NO_SPACE_AFTER = frozenset("([{$£€“‘`#") | {"``", "-LRB-", "-LSB-"}


class StrictModel(BaseModel):
    """Immutable, without extra fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Forms(StrictModel):
    """The five forms of a verb, named as in the QA-SRL Bank."""

    stem: _Form
    presentSingular3rd: _Form  # noqa: N815 - the Bank's name
    presentParticiple: _Form  # noqa: N815 - the Bank's name
    past: _Form
    pastParticiple: _Form  # noqa: N815 - the Bank's name


class PredicateItem(StrictModel):
    """A row of an items file, and the item made from it."""

    sentence_id: str = Field(min_length=1, max_length=200, pattern=r"\S")
    tokens: tuple[_Word, ...] = Field(min_length=1, max_length=MOST_TOKENS)
    verb_index: int = Field(ge=0)
    verb: str = Field(default="", max_length=200)
    """The word in the sentence, unless the row sets another."""
    forms: Forms
    variants: dict[_FormName, _Variants] = Field(default_factory=dict)
    """Spelling variants of a form that questions may also use: pled for pleaded."""
    prepositions: tuple[_Preposition, ...] = Field(default=(), max_length=20)
    """Prepositions of the sentence in lower case, allowed in questions in addition to the usual ones."""
    suggested: tuple[_Question, ...] = Field(default=(), max_length=MOST_SUGGESTED)
    """Questions of a parser that the page suggests first, likeliest first."""

    @model_serializer(mode="wrap")
    def _without_empty_fields(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keeps items unchanged that were stored before variants and suggestions existed."""
        dumped: dict[str, Any] = dump(self)
        for name in ("variants", "suggested"):
            if not dumped[name]:
                del dumped[name]
        return dumped

    @model_validator(mode="after")
    def _with_questions_of_its_verb(self) -> "PredicateItem":
        forms = forms_of(self.model_dump())
        for question in self.suggested:
            parsed = machine(forms, self.prepositions).parse(question)
            if isinstance(parsed, NotAQuestion):
                raise ValueError(
                    f"suggests {question!r}, which is not a valid question about the verb: {parsed.reason}"
                )
        return self

    @model_validator(mode="after")
    def _of_the_sentence(self) -> "PredicateItem":
        there = {token.lower() for token in self.tokens}
        strange = next((word for word in self.prepositions if word not in there), None)
        if strange is not None:
            raise ValueError(f"has a preposition that is not in the sentence: {strange!r}. Remove it.")
        return self

    @model_validator(mode="before")
    @classmethod
    def _with_its_verb(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        tokens, index = values.get("tokens"), values.get("verb_index")
        if not isinstance(tokens, list | tuple) or not isinstance(index, int) or isinstance(index, bool) or index < 0:
            return values
        if index >= len(tokens):
            raise ValueError(
                f"has an invalid verb_index: {index}. The sentence has {plural(len(tokens), 'token', 'tokens')}, so "
                f"the verb_index must be from 0 to {len(tokens) - 1}."
            )
        return values if values.get("verb") else {**values, "verb": str(tokens[index])}


EXAMPLE = {
    "sentence_id": "example:1",
    "tokens": ["The", "twins", "sold", "lemonade", "at", "noon", "."],
    "verb_index": 2,
    "verb": "sold",
    "forms": VerbForms("sell", "sells", "selling", "sold", "sold").as_bank(),
}
"""The predicate of the tasks' examples, as a row of an items file."""


def forms_of(item: Payload) -> VerbForms:
    """The verb forms in the format of the grammar."""
    return VerbForms.from_bank(item["forms"], item.get("variants"))


def with_variants(forms: VerbForms, word: str) -> dict[str, dict[str, list[str]]]:
    """The field `variants` of a row: other spellings of the verb's forms.

    For a verb that no dictionary has, they include other possible stems, because the stem is only a guess.

    >>> with_variants(VerbForms("zolon", "zolons", "zoloning", "zoloned", "zoloned"), "zoloned")
    {'variants': {'stem': ['zolone'], 'presentSingular3rd': ['zolones']}}
    """
    variants = {name: list(spellings) for name, spellings in variants_of(forms).items()}
    own = forms.as_bank()
    for other in similar_verbs(word, forms.stem):
        for name, spelling in other.as_bank().items():
            spellings = variants.get(name, [])
            if spelling not in (own[name], *spellings) and len(spellings) < MOST_VARIANTS:
                variants[name] = [*spellings, spelling]
    return {"variants": variants} if variants else {}


def prepositions_of(item: Payload) -> tuple[str, ...]:
    """Prepositions of the sentence, allowed in addition to the usual ones. Items of earlier versions have none."""
    return tuple(item.get("prepositions", ()))


def pieces(tokens: Sequence[str]) -> list[str]:
    """Alternating tokens and gaps of the sentence in normal spelling.

    >>> "".join(pieces(["Do", "n't", "go", "(", "yet", ")", "."]))
    "Don't go (yet)."
    """
    cut: list[str] = []
    for number, token in enumerate(tokens):
        following = tokens[number + 1] if number + 1 < len(tokens) else None
        glued = following is None or token in _NO_SPACE_AFTER or _NO_SPACE_BEFORE.fullmatch(following)
        cut += [_ESCAPES.get(token, token), "" if glued else " "]
    return cut


def excerpt(tokens: Sequence[str], span: Sequence[int]) -> str:
    """The text of a span in normal spelling."""
    return "".join(pieces(tokens)[2 * span[0] : 2 * span[1] - 1])


def caption(item: Payload) -> str:
    """The sentence with its verb in brackets, as one line of plain text.

    >>> caption({"tokens": ["Snow", "fell", "."], "verb_index": 1})
    'Snow [fell].'
    """
    cut = pieces(item["tokens"])
    cut[2 * item["verb_index"]] = f"[{cut[2 * item['verb_index']]}]"
    return "".join(cut)


def view_of(item: Payload) -> dict[str, Any]:
    """The data of a predicate for all pages."""
    return {
        "pieces": pieces(item["tokens"]),
        "tokens": list(item["tokens"]),
        "verb_index": item["verb_index"],
        "verb": item["verb"],
        "forms": dict(item["forms"]),
        "variants": {name: list(spellings) for name, spellings in item.get("variants", {}).items()},
        "prepositions": list(prepositions_of(item)),
        "suggested": list(item.get("suggested", ())),
    }


def only_predicate(item: Mapping[str, Any]) -> dict[str, Any]:
    """The predicate fields of an item that has more fields."""
    return {name: item[name] for name in PredicateItem.model_fields if name in item}
