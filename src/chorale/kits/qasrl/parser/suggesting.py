"""Questions of a parser as suggestions for question writers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chorale.kits.qasrl.grammar import NotAQuestion, machine
from chorale.kits.qasrl.parser.answering import parsed_items
from chorale.kits.qasrl.parser.parsing import ParsedVerb, QasrlParser
from chorale.text.tagger import Tagger

THRESHOLD = 0.08
"""Lower than for parsing, because writers can ignore a wrong suggestion."""
_MOST = 6


def with_suggestions(
    rows: Sequence[Mapping[str, Any]], parser: QasrlParser, tagger: Tagger
) -> Iterator[dict[str, Any]]:
    """Rows of an items file, each with the parser's questions about its verb, likeliest first."""
    for row, parsed in parsed_items(rows, parser, tagger, THRESHOLD):
        yield {**row, "suggested": ranked(parsed, row.get("prepositions", ()))}


def ranked(parsed: ParsedVerb, prepositions: Sequence[str] = ()) -> list[str]:
    """The questions that the page accepts, likeliest first."""
    built = machine(parsed.verb.forms, tuple(prepositions))
    ordered = sorted(parsed.questions, key=lambda question: -question.right)
    taken = (one.text for one in ordered if not isinstance(built.parse(one.text), NotAQuestion))
    return list(dict.fromkeys(taken))[:_MOST]
