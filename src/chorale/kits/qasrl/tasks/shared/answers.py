"""Questions with their answers: the data format, and checks that need the sentence."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from chorale.kits.qasrl.files import Qa, VerbQuestion
from chorale.kits.qasrl.grammar import NotAQuestion, Parsed, Slots, parse
from chorale.kits.qasrl.tasks.shared.predicates import StrictModel, excerpt, forms_of, prepositions_of
from chorale.model import Answer, Payload

MOST_QUESTIONS = 40
MOST_ANSWERS = 40
MOST_ANSWERS_TOGETHER = 200
"""Maximum for all questions about a verb, because comparing annotators takes cubic time."""
LONGEST_QUESTION = 200
NOTHING_TO_ASK = "Nothing to ask about this word."
"""Text for an answer without questions."""
_parsed = lru_cache(20_000)(parse)
"""Cached, because a question is parsed when it is checked, stored and exported."""


def _in_order(spans: Any) -> Any:
    """Distinct spans in sentence order."""
    if not isinstance(spans, list | tuple):
        return spans
    try:
        return sorted({(start, end) for start, end in spans})
    except (TypeError, ValueError):
        raise ValueError(
            "must have answers as pairs of whole numbers: the first word, and the word after the last"
        ) from None


Place = Annotated[int, Field(strict=True, ge=0, le=10_000)]
Spans = Annotated[tuple[tuple[Place, Place], ...], BeforeValidator(_in_order), Field(max_length=MOST_ANSWERS)]


def _apart(spans: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """In a sorted list, only adjacent spans need to be compared."""
    if any(start < end for (_, end), (start, _) in pairwise(spans)):
        raise ValueError("has overlapping answers: mark each word in only one answer per question")
    return spans


OwnSpans = Annotated[Spans, AfterValidator(_apart)]
"""Answer spans of one person for one question. Spans in gold may come from several people and overlap."""


class AskedSlots(StrictModel):
    """The seven slots of a question and the derived properties of the verb. The server fills them in."""

    wh: str = Field(max_length=60)
    aux: str = Field(default="", max_length=60)
    subj: str = Field(default="", max_length=60)
    verb: str = Field(default="", max_length=120)
    obj: str = Field(default="", max_length=60)
    prep: str = Field(default="", max_length=60)
    obj2: str = Field(default="", max_length=60)
    is_negated: bool = False
    is_passive: bool = False


class QuestionAnswer(StrictModel):
    """A question with its answer spans: the first token, and the token after the last."""

    question: str = Field(min_length=1, max_length=LONGEST_QUESTION, pattern=r"\S")
    answers: Spans
    slots: AskedSlots | None = None


class OwnQuestionAnswer(QuestionAnswer):
    """The question in the writer's own words."""

    answers: OwnSpans


class UnaskableError(ValueError):
    """A question that the grammar rejects, with the reason in plain words."""


def misfit(given: Answer, item: Payload) -> str | None:
    """The first error in questions and answers about a predicate, or None."""
    asked: dict[str, int] = {}
    answers = 0
    for number, qa in enumerate(given, 1):
        answers += len(qa["answers"])
        wrong = misplaced(qa["answers"], item) or (None if qa["answers"] else "has no answer: mark it in the sentence")
        if answers > MOST_ANSWERS_TOGETHER:
            wrong = f"has too many answers: all questions together may have at most {MOST_ANSWERS_TOGETHER}"
        if wrong is None:
            parsed = _parsed(qa["question"], forms_of(item), prepositions_of(item))
            if isinstance(parsed, NotAQuestion):
                wrong = f"is not accepted: {parsed.reason}"
            elif asked.setdefault(parsed.text, number) != number:
                wrong = f"is the same as question {asked[parsed.text]}: ask each question only once"
        if wrong is not None:
            return f"is invalid: question {number} {wrong}"
    return None


def own_misfit(given: Answer, item: Payload) -> str | None:
    """The first error in one writer's work, or None. As on the page, a writer may ask for each thing only once."""
    wrong = misfit(given, item)
    asked: dict[str, tuple[int, str]] = {}
    for number, qa in enumerate(given if wrong is None else (), 1):
        parsed = understood(qa["question"], item)
        first, text = asked.setdefault(parsed.key, (number, parsed.text))
        if first != number:
            return (
                f"is invalid: question {number} asks the same as question {first} (“{text}”): "
                f"edit question {first} if this one is better, or ask about something else"
            )
    return wrong


def as_gold(given: Answer, item: Payload) -> Answer:
    """Expert questions as stored. Several may ask for the same thing; raises ValueError if one is invalid."""
    if (wrong := misfit(given, item)) is not None:
        raise ValueError(wrong)
    return canonical(given, item)


def misplaced(spans: Iterable[Sequence[int]], item: Payload) -> str | None:
    """Error message for answers that are not in the sentence, or None."""
    length = len(item["tokens"])
    for start, end in spans:
        if start >= end:
            return f"has an answer without words: {start} to {end}"
        if end > length:
            return f"has an answer outside the sentence: {start} to {end}, but the sentence has {length} words"
    return None


def understood(question: str, item: Payload) -> Parsed:
    """Parses a question about a predicate. Raises UnaskableError if it is invalid."""
    parsed = _parsed(question, forms_of(item), prepositions_of(item))
    if isinstance(parsed, NotAQuestion):
        raise UnaskableError(parsed.reason)
    return parsed


def canonical(given: Sequence[Mapping[str, Any]], item: Payload) -> Answer:
    """The questions as normalised by the grammar, with their slots."""
    return [{**one, **_written(str(one["question"]), item)} for one in given]


def _written(question: str, item: Payload) -> dict[str, Any]:
    parsed = understood(question, item)
    slots = {name: "" if value == "_" else value for name, value in parsed.slots.as_bank().items()}
    kept = AskedSlots(**slots, is_negated=parsed.is_negated, is_passive=parsed.is_passive)
    return {"question": parsed.text, "slots": kept.model_dump(mode="json")}


def as_qas(given: Iterable[Mapping[str, Any]], worker: str = "") -> list[Qa]:
    """Stored questions and answers in the format of the measures, without those marked as redundant."""
    return [
        Qa(asked_question(stored), tuple((start, end) for start, end in stored["answers"]), worker)
        for stored in given
        if not stored.get("redundant")
    ]


def asked_question(stored: Mapping[str, Any]) -> VerbQuestion:
    """Converts a stored question. Without slots, which require the sentence, only its first word is used."""
    slots = stored.get("slots") or {}
    wh = slots.get("wh") or str(stored["question"]).split(maxsplit=1)[0].lower()
    rest = {name: slots.get(name, "") for name in ("aux", "subj", "obj", "prep", "obj2")}
    negated, passive = bool(slots.get("is_negated")), bool(slots.get("is_passive"))
    return VerbQuestion(stored["question"], wh, **rest, negated=negated, passive=passive)


def roles(given: Iterable[Mapping[str, Any]]) -> int:
    """Number of distinct roles that stored questions ask for, which is the unit of payment. Redundant questions add
    none.
    """
    return len({role_of(stored) for stored in given if not stored.get("redundant")})


def role_of(stored: Mapping[str, Any]) -> str:
    """The role that a stored question asks for, independent of tense and voice."""
    slots = stored.get("slots")
    return Slots.from_bank(slots).role() if slots else str(stored["question"])


def presented(item: Payload, given: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"questions": in_words(item, given)} if given else {"nothing": NOTHING_TO_ASK}


def in_words(item: Payload, given: Iterable[Mapping[str, Any]]) -> str:
    """Questions and answers as lines of text."""
    return "\n".join(
        f"{stored['question']} — {' / '.join(excerpt(item['tokens'], span) for span in stored['answers'])}"
        for stored in given
        if not stored.get("redundant")
    )
