"""Answers: fields of a form as XML for scripts, and tests scored with their answer key."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape

from chorale.kits.mturk.api.errors import bad_xml
from chorale.kits.mturk.api.markup import LARGEST, child, children, kind_of, parsed, text_of, whole_number
from chorale.kits.mturk.api.questions import FormQuestion, QuestionForm
from chorale.model.plural import plural

SCHEMA = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"
OTHER = ":other"
"""Suffix of the field for free text, after the identifier of the question."""
Fields = Sequence[tuple[str, str]]
"""Names and values as sent by a form. A name may occur more than once."""
_ESCAPED = re.compile(r"(?:%u[0-9A-Fa-f]{4})+")


def fields_of_address(query: str) -> Fields:
    """The fields of an answer in a URL, encoded in UTF-8 or with JavaScript's old `escape`.

    >>> fields_of_address("a=caf%C3%A9&b="), fields_of_address("a=caf%E9%20%u2013%20%uD83C%uDF0A")
    ([('a', 'café'), ('b', '')], [('a', 'café – 🌊')])
    """
    whole = _ESCAPED.sub(lambda run: bytes.fromhex(run[0].replace("%u", "")).decode("utf-16-be", "replace"), query)
    try:
        return parse_qsl(whole, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        return parse_qsl(whole, keep_blank_values=True, encoding="latin-1")


def joined(fields: Fields) -> dict[str, str]:
    """Fields with all values of a name joined by |, as in batch files."""
    together: dict[str, list[str]] = {}
    for name, value in fields:
        together.setdefault(name, []).append(value)
    return {name: "|".join(values) for name, values in together.items()}


def answers_xml(fields: Mapping[str, str], form: QuestionForm | None = None) -> str:
    """The answers to a page or form as QuestionFormAnswers, without empty fields."""
    parts = (
        [_free_text(name, value) for name, value in fields.items() if value != ""]
        if form is None
        else [_form_answer(asked, fields) for asked in form.asked if _is_answered(asked, fields)]
    )
    inside = "".join(parts)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<QuestionFormAnswers xmlns="{SCHEMA}">{inside}</QuestionFormAnswers>'
    )


def fields_in(answer: str) -> dict[str, str]:
    """The fields of a QuestionFormAnswers document."""
    fields: dict[str, str] = {}
    for answered in children(parsed("Answer", answer), "Answer"):
        chosen = [(part.text or "") for part in children(answered, "SelectionIdentifier", "OtherSelectionText")]
        written = child(answered, "FreeText")
        fields[text_of(answered, "QuestionIdentifier")] = (
            "|".join(chosen) if chosen else "" if written is None else written.text or ""
        )
    return fields


def _answer(name: str, inside: str) -> str:
    return f"<Answer><QuestionIdentifier>{_clean(name)}</QuestionIdentifier>{inside}</Answer>"


def _free_text(name: str, value: str) -> str:
    return _answer(name, f"<FreeText>{_clean(value)}</FreeText>")


def _is_answered(asked: FormQuestion, fields: Mapping[str, str]) -> bool:
    return any(fields.get(name, "") != "" for name in (asked.identifier, asked.identifier + OTHER))


def _form_answer(asked: FormQuestion, fields: Mapping[str, str]) -> str:
    value = fields.get(asked.identifier, "")
    if asked.choices is None:
        return _free_text(asked.identifier, value)
    chosen = [f"<SelectionIdentifier>{_clean(one)}</SelectionIdentifier>" for one in value.split("|") if one]
    if other := fields.get(asked.identifier + OTHER):
        chosen.append(f"<OtherSelectionText>{_clean(other)}</OtherSelectionText>")
    return _answer(asked.identifier, "".join(chosen))


def _clean(text: str) -> str:
    """Removes control characters that XML cannot represent."""
    kept = "".join(sign for sign in text if sign in "\t\n\r" or (sign >= " " and sign not in "\ufffe\uffff"))
    # XML readers would convert a carriage return to a line break.
    return escape(kept, {"\r": "&#13;"})


def misfit(form: QuestionForm, fields: Mapping[str, str]) -> str | None:
    """The reason why answers to a form are invalid, or None."""
    for asked in form.asked:
        wrong = _wrong_with(asked, fields)
        if wrong is not None:
            return f"{asked.name or asked.identifier}: {wrong}"
    return None


def _wrong_with(asked: FormQuestion, fields: Mapping[str, str]) -> str | None:
    value = fields.get(asked.identifier, "")
    if asked.choices is None:
        return _wrong_text(asked, value.strip())
    chosen = [one for one in value.split("|") if one]
    count = len(chosen) + bool(fields.get(asked.identifier + OTHER))
    fewest = max(asked.fewest, 1 if asked.required else 0)
    known = {choice.identifier for choice in asked.choices}
    if not set(chosen) <= known:
        return "this is not one of the choices"
    if count < fewest:
        return "choose an answer" if fewest == 1 else f"choose at least {fewest} answers"
    return f"choose at most {plural(asked.most, 'answer', 'answers')}" if count > asked.most else None


def _wrong_text(asked: FormQuestion, value: str) -> str | None:
    if not value:
        return "write an answer" if asked.required else None
    shortest, longest = asked.length
    if len(value) < shortest:
        return f"write at least {shortest} characters"
    if longest is not None and len(value) > longest:
        return f"write at most {plural(longest, 'character', 'characters')}"
    if asked.numeric is not None:
        return _wrong_number(asked.numeric, value)
    # Patterns from requesters could take very long, so they are only checked in the browser.
    return None


def _wrong_number(bounds: tuple[float | None, float | None], value: str) -> str | None:
    try:
        given = float(value)
    except ValueError:
        return "write a number"
    low, high = bounds
    if not math.isfinite(given) or (low is not None and given < low) or (high is not None and given > high):
        return f"write a number from {low:g}" if high is None and low is not None else "the number is out of range"
    return None


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """Scores of the answers to a test."""

    options: Mapping[str, Sequence[tuple[frozenset[str], int]]]
    """By question: sets of choices with the score for exactly these choices."""
    otherwise: Mapping[str, int]
    mapping: Element | None

    def score(self, answers: Mapping[str, str]) -> int:
        """The qualification value for these answers."""
        total = 0
        for question, options in self.options.items():
            given = frozenset(one for one in answers.get(question, "").split("|") if one)
            total += next((worth for chosen, worth in options if chosen == given), self.otherwise.get(question, 0))
        value = total if self.mapping is None else _mapped(self.mapping, total)
        return max(-LARGEST, min(LARGEST, value))


def read_answer_key(text: str) -> AnswerKey:
    root = parsed("AnswerKey", text)
    if kind_of(root) != "AnswerKey":
        raise bad_xml("AnswerKey", f"is {kind_of(root)!r}")
    options: dict[str, list[tuple[frozenset[str], int]]] = {}
    otherwise: dict[str, int] = {}
    for question in children(root, "Question"):
        name = text_of(question, "QuestionIdentifier")
        options[name] = [
            (
                frozenset((one.text or "").strip() for one in children(option, "SelectionIdentifier")),
                _number(option, "AnswerScore"),
            )
            for option in children(question, "AnswerOption")
        ]
        if child(question, "DefaultScore") is not None:
            otherwise[name] = _number(question, "DefaultScore")
    mapping = child(root, "QualificationValueMapping")
    value_mapping = None if mapping is None else next(iter(mapping), None)
    if value_mapping is not None:
        _mapped(value_mapping, 0)  # An invalid mapping fails here, not after a worker has taken the test.
    return AnswerKey(options, otherwise, value_mapping)


def _number(element: Element, name: str) -> int:
    return whole_number(text_of(element, name), "AnswerKey", name)


def _mapped(mapping: Element, total: int) -> int:
    match kind_of(mapping):
        case "PercentageMapping":
            most = _number(mapping, "MaximumSummedScore")
            if most <= 0:
                raise bad_xml("AnswerKey", "has a MaximumSummedScore that is not above 0")
            return round(100 * total / most)
        case "ScaleMapping":
            try:
                multiplier = float(text_of(mapping, "SummedScoreMultiplier"))
            except ValueError:
                multiplier = math.inf
            if not abs(multiplier) <= LARGEST:
                raise bad_xml("AnswerKey", "has a SummedScoreMultiplier that is not a valid number")
            return round(total * multiplier)
        case "RangeMapping":
            for scores in children(mapping, "SummedScoreRange"):
                if _number(scores, "InclusiveLowerBound") <= total <= _number(scores, "InclusiveUpperBound"):
                    return _number(scores, "QualificationValue")
            return _number(mapping, "OutOfRangeQualificationValue")
        case other:
            raise bad_xml("AnswerKey", f"has the unsupported value mapping {other!r}")
