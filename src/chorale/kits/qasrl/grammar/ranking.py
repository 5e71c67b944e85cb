"""Ranks first questions with a small log-linear model over the words around the verb and the output of the rules.

Its weights are integers (tenths) in `question_weights.js`. The browser imports the same file, and integer sums are the
same everywhere. `python -m bench.first_questions` learns them from published questions, which docs/questions.md lists.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from chorale.kits.qasrl.grammar import arguments as rules
from chorale.kits.qasrl.grammar.arguments import Arguments
from chorale.kits.qasrl.grammar.sentence import Clause
from chorale.kits.qasrl.grammar.table import read_module, table
from chorale.text.inflections import VerbForms

WEIGHTS_MODULE = Path(__file__).with_name("question_weights.js")
_ENDINGS = ("ly", "ing", "ed", "er", "or", "ist", "ian", "ion", "ment", "ity", "ness", "s")
_LISTS = (
    "auxiliaries",
    "negations",
    "skipped",
    "determiners",
    "boundaries",
    "pronouns",
    "things",
    "objectPeople",
    "complements",
    "notObjects",
    "adverbs",
)
_TELLING = ("name", "0", "4", "5")
_FARTHEST_TELLING = 11
_LONGEST_OBJECT = 6
_OF_BE = ("be", "been", "being")


class FirstQuestion(NamedTuple):
    """Properties of the first question."""

    passive: bool
    """*What was cut?* instead of *Who cut something?*"""
    asked: str
    """*someone* for *who*, *something* for *what*."""
    object: str = ""
    """For an active question: *someone*, *something* or empty."""
    modal: bool = False
    """*Who might step down?* for *called on him to step down*."""

    def properties(self) -> tuple[bool, ...]:
        """Names of the features, in the order of the table."""
        who = self.asked == "someone"
        active = not self.passive
        return (
            active,
            self.passive,
            active and who,
            active and self.object == "someone",
            active and self.object == "something",
            self.passive and who,
            active and who and self.object == "something",
            self.modal,
        )


FIRST_QUESTIONS = tuple(
    FirstQuestion(passive, asked, patient, modal)
    for modal in (False, True)
    for passive in (False, True)
    for asked in ("someone", "something")
    for patient in (("",) if passive else ("", "someone", "something"))
)


def likeliest(
    tokens: Sequence[str], verb_index: int, forms: VerbForms, clause: Clause, guessed: Arguments
) -> FirstQuestion:
    """The likeliest first question, given the output of the rules for the sentence.

    >>> from chorale.text.inflections import inflect
    >>> sold = "The mayor sold the boat .".split(), 2, inflect("sell")
    >>> likeliest(*sold, Clause("past"), Arguments("someone", "something", ""))
    FirstQuestion(passive=False, asked='someone', object='something', modal=False)
    """
    totals = [0] * len(FIRST_QUESTIONS[0].properties())
    for cue in cues(tokens, verb_index, forms, clause, guessed, kinds_of_words()):
        for place, weight in enumerate(weights()["weights"].get(cue, ())):
            totals[place] += weight
    is_certain = clause.passive and helper_of(tokens, verb_index) in _OF_BE
    allowed = [
        question
        for question in FIRST_QUESTIONS
        if makes_sense(question, forms, clause) and (question.passive or not is_certain)
    ]
    return max(allowed, key=lambda question: sum(map(int.__mul__, totals, map(int, question.properties()))))


def makes_sense(question: FirstQuestion, forms: VerbForms, clause: Clause) -> bool:
    """Whether the question fits the verb and the tense of the sentence.

    *Who arrived something?*, *Who accused something?*, *What was remained?* and *Who became?* make no sense. A sentence
    with a modal gets a question with a modal; facts and future events get a question without.
    """
    known = table()["sentence"]
    if question.modal != is_modal(clause.tense) and (clause.tense not in ("past", "present") or clause.perfect):
        return False
    if question.passive:
        return rules.has_passive(forms)
    if forms.stem in known["linking"]:
        return question.object == "something"
    if question.object == "something" and forms.stem in known["toPeople"]:
        return False
    return not (question.object and forms.stem in known["withoutObject"])


def cues(
    tokens: Sequence[str],
    verb_index: int,
    forms: VerbForms,
    clause: Clause,
    guessed: Arguments,
    kinds: Mapping[str, int],
) -> list[str]:
    """The features of the model, each once. `kinds` maps a word to how often it answers *who*, from 0 to 5."""
    word = rules.word_at(tokens, verb_index)
    form = "+".join(key for key, spelt in forms.as_bank().items() if spelt == word)
    voice = "passive" if clause.passive else "active"
    head = rules.subject_of(tokens, verb_index)
    before, after = _near(tokens, verb_index - 1), _near(tokens, verb_index + 1)
    second_before, second_after = _near(tokens, verb_index - 2), _near(tokens, verb_index + 2)
    seen = [
        "any",
        f"form:{form}",
        f"form:{form}:{helper_of(tokens, verb_index)}",
        f"rules:{voice}:{guessed.subject}:{guessed.object}",
        f"voice:{voice}",
        f"subject:{guessed.subject}",
        f"object:{voice}:{guessed.object}",
        f"tense:{clause.tense}",
        f"before:{before}",
        f"before:{before}:{form}",
        f"after:{after}",
        f"after:{after}:{form}",
        f"second:after:{second_after}",
        f"second:before:{second_before}",
        f"both:before:{second_before}:{before}",
        f"both:after:{after}:{second_after}",
        f"verb:{forms.stem}",
        f"verb:{forms.stem}:{voice}",
        f"head:kind:{_kind(head, kinds)}:{voice}",
        f"object:kind:{_kind(_object_head(tokens, verb_index), kinds)}:{voice}",
        f"telling:{_telling(tokens, verb_index, kinds)}:{'head' if head else 'alone'}",
    ]
    if rules.word_at(tokens, verb_index + 1) == "to":
        seen.append(f"verb:{forms.stem}:to")
    if head:
        return [*seen, f"head:{_shape(head)}:{voice}", f"word:{head.lower()}"]
    seen.append(f"no:head:{voice}:{guessed.subject}")
    if rules.word_at(tokens, verb_index - 1) == "to":
        # *plans to cut it*, *in order to cut it*
        seen += [f"to:{rules.word_at(tokens, verb_index - 2)}", f"no:head:to:{_near(tokens, verb_index - 2)}"]
    return seen


def _near(tokens: Sequence[str], place: int) -> str:
    """Function words unchanged; other words by their shape."""
    word = rules.word_at(tokens, place)
    return word if word in _plain_words() else _shape(tokens[place] if word else "")


def _shape(token: str) -> str:
    word = token.lower()
    if not word or rules.is_mark(word):
        return word
    if rules.is_number(word):
        return "number"
    if rules.is_name(token):
        return "names" if word.endswith("s") else "name"
    return next((f"-{ending}" for ending in _ENDINGS if word.endswith(ending)), "word")


def helper_of(tokens: Sequence[str], verb_index: int) -> str:
    """The kind of the nearest auxiliary."""
    known = table()["sentence"]
    place = verb_index - 1
    while place >= 0 and rules.is_helper(rules.word_at(tokens, place)):
        if helper := known["auxiliaries"].get(rules.word_at(tokens, place)):
            return str(helper[0])
        place -= 1
    return ""


def _kind(token: str, kinds: Mapping[str, int]) -> str:
    if not token:
        return "none"
    if (kind := kinds.get(token.lower())) is not None:
        return str(kind)
    return "name" if rules.is_name(token) else "unknown"


def _telling(tokens: Sequence[str], verb_index: int, kinds: Mapping[str, int]) -> str:
    """The kind of the nearest word before the verb that is clearly a person, a name or a thing."""
    for place in range(verb_index - 1, max(-1, verb_index - 1 - _FARTHEST_TELLING), -1):
        word = rules.word_at(tokens, place)
        if word in table()["sentence"]["pronouns"]:
            return "pronoun"
        kind = _kind(tokens[place], kinds)
        if kind in _TELLING and word not in _plain_words():
            return kind
    return "none"


def _object_head(tokens: Sequence[str], verb_index: int) -> str:
    """The last word after the verb before a preposition, punctuation or a clause."""
    head = ""
    for token in tokens[verb_index + 1 : verb_index + 1 + _LONGEST_OBJECT]:
        if rules.ends_noun(token.lower()):
            break
        head = token
    return head


def is_modal(tense: str) -> bool:
    """Whether the tense of a `Clause` changes factuality. *Will* does not."""
    return tense not in ("past", "present", "will")


@cache
def _plain_words() -> frozenset[str]:
    known = table()["sentence"]
    return frozenset(table()["groups"]["preposition"]) | {word for name in _LISTS for word in known[name]}


@cache
def weights() -> dict[str, Any]:
    return read_module(WEIGHTS_MODULE)


@cache
def kinds_of_words() -> dict[str, int]:
    """How often each word answers *who* instead of *what*, from 0 (never) to 5 (always)."""
    return {word: kind for kind, words in enumerate(weights()["kinds"]) for word in words}


def as_module(content: Mapping[str, Any]) -> str:
    """The table as a JavaScript module, one entry per line."""
    lines = [
        f"    {json.dumps(cue)}: {json.dumps(row, separators=(',', ':'))}" for cue, row in content["weights"].items()
    ]
    kinds = ",\n".join(f"    {json.dumps(words)}" for words in content["kinds"])
    return 'export default {\n  "kinds": [\n' + kinds + '\n  ],\n  "weights": {\n' + ",\n".join(lines) + "\n  }\n};\n"
