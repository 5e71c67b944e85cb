"""Valid contents of the cells of a QA-SRL table, and error messages for invalid cells."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from chorale.files.shortening import shortened
from chorale.kits.qasrl.files.table import VerbQuestion
from chorale.model.plural import plural

SEPARATOR = "~!~"
"""Separator between several answers or names in one cell."""
NUMBER = "[0-9]{1,6}"
INDEX = f"^{NUMBER}$"
RANGES = f"^{NUMBER}:{NUMBER}(?:{SEPARATOR}{NUMBER}:{NUMBER})*$"
TRUTH = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
_BE = frozenset({"be", "been", "being", "am", "is", "are", "was", "were"})


class Flaw(NamedTuple):
    message: str
    fix: str
    value: str
    outside: bool = False
    """Whether an answer is outside its sentence. A system's answer can still be scored as an error."""


def flaws(cells: Mapping[str, str], length: int | None) -> Iterator[Flaw]:
    """All errors of a row with stripped cells. `length` is the number of tokens of the sentence, if known."""
    if not cells["qasrl_id"]:
        yield Flaw("has no sentence ID", "Fill in qasrl_id.", "an empty cell")
    index = cells["verb_idx"]
    if not re.match(INDEX, index):
        fix = "Write the position of the verb's token, counted from 0."
        yield Flaw("has a verb_idx that is not a token position", fix, shortened(index))
    elif length is not None and int(index) >= length:
        fix = f"The sentence has {plural(length, 'token', 'tokens')}, so the last position is {length - 1}."
        yield Flaw("has a verb_idx outside the sentence", fix, index)
    for name in ("is_negated", "is_passive"):
        if cells[name] and cells[name].lower() not in TRUTH:
            yield Flaw(
                f"has a value for {name} that is neither True nor False", "Write True or False.", shortened(cells[name])
            )
    yield from _flaws_of_answers(cells, length)


def _flaws_of_answers(cells: Mapping[str, str], length: int | None) -> Iterator[Flaw]:
    question, ranges = cells["question"], cells["answer_range"]
    if not question and not ranges:
        return
    if not question:
        yield Flaw("has answers without a question", "Write the question, or leave both empty.", shortened(ranges))
    elif not cells["wh"]:
        yield Flaw("has a question without a wh-word", "Fill in wh.", shortened(question))
    if not ranges:
        fix = "Write the tokens as first:last+1, or leave the question empty too if there is nothing to ask."
        yield Flaw("has a question without answers", fix, shortened(question))
    elif not re.match(RANGES, ranges):
        fix = f"Write the tokens as first:last+1, and separate answers with {SEPARATOR}, e.g. 3:5{SEPARATOR}7:9."
        yield Flaw("has an invalid answer_range", fix, shortened(ranges))
    else:
        for text in ranges.split(SEPARATOR):
            start, end = map(int, text.split(":"))
            if start >= end:
                fix = "Write the first token, a colon, and the token after the last token."
                yield Flaw("has an answer that ends before it begins", fix, text)
            elif length is not None and end > length:
                fix = f"The sentence has {plural(length, 'token', 'tokens')}, so an answer ends at {length} at most."
                yield Flaw("has an answer outside the sentence", fix, text, outside=True)


def question_of(cells: Mapping[str, str]) -> VerbQuestion:
    """The question of a valid row. If the file lacks voice or negation, they are derived from the verb phrase."""
    negated, passive = (TRUTH.get(cells[name].lower()) for name in ("is_negated", "is_passive"))
    aux = cells["aux"].lower()
    return VerbQuestion.of(
        cells["question"],
        cells,
        negated=is_negated(aux, cells["question"]) if negated is None else negated,
        passive=is_passive(aux, _verb_words(cells)) if passive is None else passive,
    )


def _verb_words(cells: Mapping[str, str]) -> str:
    """The words of the verb slot: as parsers write them (`been said`), or with the prefix of the gold standard."""
    inflection = {"PresentParticiple": "…ing"}.get(cells.get("verb_slot_inflection", ""), "…")
    form = cells.get("verb_form", "") or inflection
    return f"{cells.get('verb_prefix', '').replace(SEPARATOR, ' ')} {form}"


def is_negated(aux: str, question: str) -> bool:
    """Whether the auxiliary or the question is negated.

    >>> is_negated("hasn't", "Who hasn't confessed?"), is_negated("did", "Who did someone see?")
    (True, False)
    """
    return aux.endswith(("n't", "not")) or " not " in question.lower()


def is_passive(aux: str, verb: str) -> bool:
    """Whether a form of be directly precedes the verb, and the verb is not an -ing form.

    >>> is_passive("might", "be arrested"), is_passive("was", "saying"), is_passive("is", "said")
    (True, False, True)
    """
    words = [word.removesuffix("n't") for word in f"{aux} {verb}".lower().split() if word not in ("_", "not")]
    return len(words) > 1 and words[-2] in _BE and not words[-1].endswith("ing")
