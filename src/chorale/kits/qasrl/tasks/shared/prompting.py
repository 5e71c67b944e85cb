"""Prompts for models that ask and answer questions about a verb. Answers are quotes from the sentence."""

from collections.abc import Mapping, Sequence
from typing import Any

from chorale.contract.prompting import QUOTE_SCHEMA, Prompting, UnreadableError, as_quote, find_quote

_QUESTION = {
    "type": "string",
    "description": "A question in the format described in the instructions, ending with a question mark.",
}
_GIVEN_QUESTION = {"type": "string", "description": "The question as given, unchanged."}
_ANSWERS = {"type": "array", "items": QUOTE_SCHEMA, "description": "Every answer, quoted from the sentence."}
_WRITTEN = {"question": _QUESTION, "answers": {**_ANSWERS, "minItems": 1}}
_GRAMMAR = """\
A question has, in this order: a question word, an auxiliary, a subject, the verb, an object, a preposition and \
another object. Question words: who, what, when, where, why, how, how much, how long. All but the question word and \
the verb can be empty. Subject and objects are the placeholders someone and something; after a preposition also \
somewhere, do something or doing something. Example: "What did someone sell to someone?"."""
_WRITE = f"""\
Ask every question about the marked verb that the sentence answers, and quote the answers. Do not ask the same thing \
twice. If there is nothing to ask, answer with an empty list.

{_GRAMMAR}"""
_CONSOLIDATE = f"""\
Several writers asked questions about the marked verb (`sets`). Make one list of them that is complete and correct. \
No two questions may ask the same thing. Correct answers where necessary.

{_GRAMMAR}"""
_VALIDATE = """\
Answer each question about the marked verb by quoting the sentence. If the sentence does not answer it, or it is not a \
proper question, set `valid` to false and leave `answers` empty. Keep the order of the questions, and repeat each as \
it is."""


def _objects(properties: Mapping[str, Any]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "array", "items": schema}


def _sentence(view: Mapping[str, Any]) -> dict[str, Any]:
    pieces = list(view["pieces"])
    at = 2 * view["verb_index"]
    pieces[at] = f"**{pieces[at]}**"
    return {"sentence": "".join(pieces), "verb": view["verb"], "forms": view["forms"]}


def _with_sets(view: Mapping[str, Any]) -> dict[str, Any]:
    return {**_sentence(view), "sets": [_written(view, each) for each in view["sets"]]}


def _with_questions(view: Mapping[str, Any]) -> dict[str, Any]:
    return {**_sentence(view), "questions": view["questions"]}


def _quotes(view: Mapping[str, Any], spans: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
    return [as_quote(view["pieces"], start, end) for start, end in spans]


def _written(view: Mapping[str, Any], answer: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Stored questions in the format of a model, without the fields that the server adds."""
    kept = [{name: value for name, value in one.items() if name in ("question", "valid")} for one in answer]
    asked = [(one, stored["answers"]) for one, stored in zip(kept, answer, strict=True) if not stored.get("redundant")]
    return [{**one, "answers": _quotes(view, spans)} for one, spans in asked]


def _read(view: Mapping[str, Any], given: Any) -> list[dict[str, Any]]:
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise UnreadableError("must be a list of questions.")
    return [{**one, "answers": _spans(view, one, number)} for number, one in enumerate(given, 1)]


def _spans(view: Mapping[str, Any], qa: Mapping[str, Any], number: int) -> list[list[int]]:
    quotes = qa.get("answers", [])
    if not isinstance(quotes, list):
        raise UnreadableError(f"question {number}: `answers` must be a list of quotes.")
    try:
        return sorted(list(find_quote(view["pieces"], quote)) for quote in quotes)
    except UnreadableError as error:
        raise UnreadableError(f"question {number}: {error}") from None


WRITING = Prompting(_WRITE, _sentence, _objects(_WRITTEN), _read, _written)
CONSOLIDATING = Prompting(_CONSOLIDATE, _with_sets, _objects(_WRITTEN), _read, _written)
VALIDATING = Prompting(
    _VALIDATE,
    _with_questions,
    _objects({"question": _GIVEN_QUESTION, "valid": {"type": "boolean"}, "answers": _ANSWERS}),
    _read,
    _written,
)
