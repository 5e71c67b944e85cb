"""The output of a parser as the answers of a model in a study: questions about the verb of each item."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chorale.kits.qasrl.grammar import NotAQuestion, machine
from chorale.kits.qasrl.parser.parsing import ParsedVerb, QasrlParser, SentenceToParse
from chorale.kits.qasrl.tasks.shared.answers import MOST_QUESTIONS
from chorale.kits.qasrl.tasks.shared.predicates import view_of
from chorale.kits.qasrl.tasks.shared.prompting import WRITING
from chorale.text.inflections import VerbForms
from chorale.text.predicates import Predicate
from chorale.text.tagger import Tagger


def parsed_items(
    rows: Sequence[Mapping[str, Any]],
    parser: QasrlParser,
    tagger: Tagger,
    threshold: float,
    question_threshold: float = 0.0,
) -> Iterator[tuple[Mapping[str, Any], ParsedVerb]]:
    """Every row of an items file, with the parser's questions about its verb."""
    verbs = [Predicate(row["verb_index"], VerbForms.from_bank(row["forms"], row.get("variants"))) for row in rows]
    analysed = tagger.analyse(row["tokens"] for row in rows)
    asked = (
        SentenceToParse(str(row["id"]), sentence, (verb,))
        for row, sentence, verb in zip(rows, analysed, verbs, strict=True)
    )
    yield from zip(rows, parser.parse(asked, threshold, question_threshold), strict=True)


def recorded_answer(row: Mapping[str, Any], parsed: ParsedVerb, stage: str) -> dict[str, Any]:
    """A row of recorded answers for `[[model]] answers`. Only the likeliest questions are kept."""
    view = view_of(row)
    built = machine(parsed.verb.forms, tuple(view["prepositions"]))
    legal = [one for one in parsed.questions if not isinstance(built.parse(one.text), NotAQuestion)]
    likeliest = sorted(legal, key=lambda one: -one.right)[:MOST_QUESTIONS]
    answer = [{"question": one.text, "answers": sorted(map(list, one.spans))} for one in likeliest]
    if WRITING.write is None:
        raise RuntimeError("the writing task has no answer format for models")
    return {"stage": stage, "item": str(row["id"]), "output": {"answer": WRITING.write(view, answer)}}
