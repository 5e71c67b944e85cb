"""Guesses the subject, object and particle of a verb from the words of a sentence.

The rules are few and general; docs/questions.md describes the sentences they were chosen on. They only rank
suggestions: annotators decide.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from chorale.kits.qasrl.grammar.table import table
from chorale.text.inflections import VerbForms

_MARKS = re.compile(r"[^A-Za-z0-9]+")
_NAME = re.compile(r"[A-Z]")
_DIGIT = re.compile(r"[0-9]")
_FARTHEST_PARTICLE = 5


class Arguments(NamedTuple):
    """Probable arguments of a question about the verb."""

    subject: str
    """*someone* or *something*."""
    object: str
    """*someone*, *something* or empty."""
    particle: str
    """*off* in *called off*; empty for most verbs."""
    object_after_particle: bool = False
    """Whether an object follows the particle: *called off something*, not *called something off*."""


def arguments_in(tokens: Sequence[str], verb_index: int, forms: VerbForms) -> Arguments:
    """Probable arguments of an active question, given the sentence.

    >>> from chorale.text.inflections import inflect
    >>> arguments_in("The mayor called off the meeting .".split(), 2, inflect("call"))
    Arguments(subject='someone', object='something', particle='off', object_after_particle=True)
    """
    if is_before_noun(tokens, verb_index):
        return Arguments("something", "", "")
    subject = _subject_kind(tokens, verb_index, forms)
    place = _particle_place(tokens, verb_index)
    if place is None:
        return Arguments(subject, _object(tokens, verb_index, forms), "")
    particle = tokens[place].lower()
    if place == verb_index + 1:
        patient = _object(tokens, place, forms)
        return Arguments(subject, patient, particle, object_after_particle=True)
    return Arguments(subject, _object(tokens, verb_index, forms), particle)


def is_person_subject(tokens: Sequence[str], verb_index: int, forms: VerbForms) -> bool:
    """Whether the patient of a passive verb is a person, judging by the verb and the words before it."""
    subject = subject_of(tokens, verb_index).lower()
    known = table()["sentence"]
    return _is_person(subject) or (forms.stem in known["toPeople"] and subject not in known["things"])


def is_passive_alone(tokens: Sequence[str], verb_index: int, forms: VerbForms) -> bool:
    """Whether a form like *cut* without an auxiliary is a participle: *stone quarried in Tura*.

    It is if *by* follows, or if no object follows and no person or name precedes it.
    """
    if word_at(tokens, verb_index + 1) == "by" or is_before_noun(tokens, verb_index):
        return True
    place = _particle_place(tokens, verb_index)
    behind = verb_index + 2 if place == verb_index + 1 else verb_index + 1
    subject = subject_of(tokens, verb_index)
    if forms.stem in table()["sentence"]["reporting"] or _kind(subject) == "someone":
        return False
    if subject.lower() in table()["sentence"]["things"] or _begins_object(tokens, behind):
        return False
    return not (subject and _following_object(tokens, behind - 1, forms))


def is_before_noun(tokens: Sequence[str], verb_index: int) -> bool:
    """Whether the verb form modifies a following noun: *the recommended list*, *a boiling kettle*."""
    at = verb_index - 1
    while at > 0 and is_made_adverb(tokens[at].lower()):
        at -= 1
    known = table()["sentence"]
    return word_at(tokens, at) in known["determiners"] and word_at(tokens, verb_index + 1) not in known["determiners"]


def has_passive(forms: VerbForms) -> bool:
    """Whether the verb has a passive: *What is been?* and *What is had?* are not questions."""
    known = table()["sentence"]
    return not any(forms.stem in known[name] for name in ("linking", "withoutObject", "withoutPassive"))


def word_at(tokens: Sequence[str], place: int) -> str:
    return tokens[place].lower() if 0 <= place < len(tokens) else ""


def is_mark(word: str) -> bool:
    return _MARKS.fullmatch(word) is not None


def _is_preposition(word: str) -> bool:
    return word in table()["groups"]["preposition"]


def is_name(token: str) -> bool:
    return _NAME.match(token) is not None


def is_number(word: str) -> bool:
    return _DIGIT.match(word) is not None


def ends_noun(word: str) -> bool:
    """Whether a noun phrase ends before the word."""
    known = table()["sentence"]
    return _is_preposition(word) or is_mark(word) or word in known["boundaries"] or word in known["auxiliaries"]


def is_helper(word: str) -> bool:
    known = table()["sentence"]
    is_known = word in known["auxiliaries"] or word in known["negations"] or word in known["skipped"]
    return is_known or is_made_adverb(word)


def is_made_adverb(word: str) -> bool:
    """Whether the word is an adverb by its ending: *quickly*, and not *family*."""
    return word.endswith("ly") and word not in table()["sentence"]["notAdverbs"]


def _is_adverb(word: str) -> bool:
    return is_made_adverb(word) or word in table()["sentence"]["adverbs"]


def _is_person(word: str) -> bool:
    known = table()["sentence"]
    if word in known["people"] or word.removesuffix("s") in known["people"]:
        return True
    is_agent = len(word) > 4 and word.removesuffix("s").endswith(tuple(known["personEndings"]))
    return is_agent and word.removesuffix("s") not in known["notPeople"]


def _kind(word: str) -> str:
    """*someone* for people and names, *something* for other words; empty without a word."""
    if not word:
        return ""
    if word.lower() in table()["sentence"]["things"]:
        return "something"
    return "someone" if _is_person(word.lower()) or _NAME.match(word) else "something"


def _subject_kind(tokens: Sequence[str], verb_index: int, forms: VerbForms) -> str:
    """*someone* or *something*: decided by the verb if possible, otherwise by the words before it."""
    known = table()["sentence"]
    head = subject_of(tokens, verb_index)
    if forms.stem in known["ofThings"] and not _is_person(head.lower()):
        return "something"
    if forms.stem in known["ofPeople"] and head.lower() not in known["things"]:
        return "someone"
    return _kind(head) or _earlier_kind(tokens, verb_index)


def subject_of(tokens: Sequence[str], verb_index: int) -> str:
    """The probable head of the verb's own subject, or empty."""
    known = table()["sentence"]
    if word_at(tokens, verb_index - 1) == "to":
        return ""
    place = verb_index - 1
    while place >= 0 and is_helper(tokens[place].lower()):
        place -= 1
    last = word_at(tokens, place)
    if last == "that" and place > 0:
        return tokens[place - 1]
    if last in known["pronouns"] or last in known["things"]:
        return last
    if not last or is_mark(last) or last in known["boundaries"] or _is_preposition(last):
        return ""
    start = place
    while start > 0 and not is_mark(tokens[start - 1]) and tokens[start - 1].lower() not in known["boundaries"]:
        start -= 1
    # *the roof of the mill*: the roof.
    head = next((at - 1 for at in range(start + 1, place) if tokens[at].lower() == "of"), place)
    # The capital of a first word does not make it a name: *Plants grow* is about things.
    return tokens[head].lower() if head == 0 and tokens[head].endswith("s") else tokens[head]


def _earlier_kind(tokens: Sequence[str], verb_index: int) -> str:
    """For a verb without its own subject: the kind of the nearest informative word before it."""
    before = tokens[: max(0, verb_index)]
    for token in reversed(before):
        if _is_person(token.lower()):
            return "someone"
        if token.lower() in ("it", "which"):
            return "something"
    return "someone" if any(_NAME.match(token) for token in before[1:]) or not tokens else "something"


def _begins_object(tokens: Sequence[str], place: int) -> bool:
    """Whether an object probably begins here: an article, number, name, pronoun, clause or quotation."""
    known = table()["sentence"]
    word = word_at(tokens, place)
    return bool(word) and (
        word in known["determiners"]
        or word in known["objectPeople"]
        or word in known["complements"]
        or word in known["quotes"]
        or _NAME.match(tokens[place]) is not None
        or _DIGIT.match(word) is not None
    )


def _object(tokens: Sequence[str], place: int, forms: VerbForms) -> str:
    """The probable object of a verb that ends at this position."""
    known = table()["sentence"]
    seen = _following_object(tokens, place, forms)
    # *take* always has an object, but *take off* may have none.
    if not seen and forms.stem in known["withObject"] and word_at(tokens, place) not in known["particles"]:
        seen = "something"
    return "someone" if seen and forms.stem in known["toPeople"] else seen


def _following_object(tokens: Sequence[str], place: int, forms: VerbForms) -> str:
    """The probable object after the word at this position."""
    known = table()["sentence"]
    if forms.stem in known["withoutObject"]:
        return ""
    while _is_adverb(word_at(tokens, place + 1)):
        place += 1
    word = word_at(tokens, place + 1)
    if word in known["objectPeople"]:
        return "someone"
    if forms.stem in known["reporting"] or forms.stem in known["linking"]:
        return "something"
    if not _begins_object(tokens, place + 1) and (
        not word or word in known["notObjects"] or is_helper(word) or _is_preposition(word) or is_mark(word)
    ):
        return ""
    if _NAME.match(tokens[place + 1]):
        after = next((at for at in range(place + 2, len(tokens)) if not _NAME.match(tokens[at])), len(tokens))
        return "someone" if after - place > 2 else "something"
    return "something"


def _particle_place(tokens: Sequence[str], verb_index: int) -> int | None:
    """Position of the verb's particle: after the verb (*called off*) or after a short object (*put the fire out*)."""
    if not 0 <= verb_index < len(tokens):
        return None
    known = table()["sentence"]
    following = word_at(tokens, verb_index + 1)
    if following in known["particles"]:
        return verb_index + 1
    if following in known["particlesAtEnd"] and _closes(tokens, verb_index + 2):
        return verb_index + 1
    for place in range(verb_index + 1, min(len(tokens), verb_index + 1 + _FARTHEST_PARTICLE)):
        word = word_at(tokens, place)
        if word in known["particles"] and _closes(tokens, place + 1):
            return place
        if is_mark(word) or word in known["boundaries"] or _is_preposition(word):
            return None
    return None


def _closes(tokens: Sequence[str], place: int) -> bool:
    word = word_at(tokens, place)
    return not word or is_mark(word) or word in table()["sentence"]["boundaries"] or _is_preposition(word)
