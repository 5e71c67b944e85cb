"""Tables of a stage in the two published formats: the gold standard's CSV and the QA-SRL Bank's JSONL."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

from chorale.contract.exporting import StageResults, TaskExport
from chorale.kits.qasrl.files.cells import SEPARATOR
from chorale.kits.qasrl.tasks.shared.answers import understood
from chorale.kits.qasrl.tasks.shared.predicates import forms_of
from chorale.model import Judgment, Label, Payload, SourceItem, responses_behind

CSV_COLUMNS = (
    "qasrl_id", "verb_idx", "verb", "worker_id", "assign_id", "source_assign_id", "question", "is_redundant",
    "answer_range", "answer", "wh", "subj", "obj", "obj2", "aux", "prep", "verb_prefix", "is_passive", "is_negated",
    "verb_slot_inflection",
)  # fmt: skip
"""The columns of the gold standard of Roit et al. (2020), in order."""
_CONTENT = {
    "qasrl_id": "ID of the sentence.",
    "verb_idx": "Number of the verb's token in the sentence, from 0.",
    "verb": "The verb, as in the sentence.",
    "assign_id": "Number of the response; empty for an answer decided in the console.",
    "source_assign_id": "Number of the first response with this question, written Some(12), or None.",
    "question": "The question; empty for a verb without questions.",
    "is_redundant": "Whether another question already asks for the same information.",
    "answer_range": f"Tokens of the answer as start:end, end exclusive; several answers are separated by {SEPARATOR}.",
    "answer": f"Words of the answer; several answers are separated by {SEPARATOR}.",
    "wh": "Question word.",
    "subj": "Subject of the question: someone, something or empty.",
    "obj": "Object of the question: someone, something or empty.",
    "obj2": "Last slot of the question, after the preposition.",
    "aux": "Auxiliary verb of the question.",
    "prep": "Preposition of the question.",
    "verb_prefix": "Words before the verb in the question's verb slot.",
    "is_passive": "Whether the question is in the passive.",
    "is_negated": "Whether the question is negated.",
    "verb_slot_inflection": "Form of the verb in the question.",
    "source_worker_ids": f"Writers whose questions were consolidated, separated by {SEPARATOR}.",
    "tokens": "Tokens of the sentence, separated by spaces.",
    "sentenceId": "ID of the sentence.",
    "sentenceTokens": "Tokens of the sentence.",
    "verbEntries": "Verbs of the sentence by token number, with their forms, questions and answers.",
}
"""The content of the columns, for data cards."""
DECISION = "decision"
"""Used instead of a worker for answers that were decided in the console and not submitted by a worker."""
SENTENCE_COLUMNS = ("qasrl_id", "tokens", "sentence")
BANK_COLUMNS = ("sentenceId", "sentenceTokens", "verbEntries")


class VerbAnnotation(NamedTuple):
    """An annotation of a predicate."""

    item: Payload
    given: Sequence[Mapping[str, Any]]
    worker: str
    response: int
    sources: tuple[Judgment, ...] = ()
    """The annotations it was consolidated from, if any."""


def csv_rows(annotations: Iterable[VerbAnnotation]) -> Iterator[dict[str, Any]]:
    """One row per question. A predicate with nothing to ask has a row without a question."""
    for annotation in annotations:
        about = {
            "qasrl_id": annotation.item["sentence_id"],
            "verb_idx": annotation.item["verb_index"],
            "verb": annotation.item["verb"],
            "worker_id": annotation.worker,
            "assign_id": str(annotation.response or ""),
            "source_worker_ids": SEPARATOR.join(sorted(source.worker for source in annotation.sources)),
        }
        for asked in annotation.given:
            yield about | _asked_row(asked, annotation)
        if not annotation.given:
            yield about | {"is_redundant": "False"}


def _asked_row(asked: Mapping[str, Any], annotation: VerbAnnotation) -> dict[str, Any]:
    tokens = annotation.item["tokens"]
    source = _source_of(asked, annotation.sources)
    return {
        "source_assign_id": f"Some({source})" if source else "None" if annotation.sources else "",
        "question": asked["question"],
        "is_redundant": str(bool(asked.get("redundant"))),
        "answer_range": SEPARATOR.join(f"{start}:{end}" for start, end in asked["answers"]),
        "answer": SEPARATOR.join(" ".join(tokens[start:end]) for start, end in asked["answers"]),
        **understood(asked["question"], annotation.item).slots.as_gold_standard(forms_of(annotation.item)),
    }


def _source_of(asked: Mapping[str, Any], sources: Iterable[Judgment]) -> int | None:
    """The first annotation with exactly this question."""
    return next(
        (
            source.response
            for source in sorted(sources, key=lambda source: source.response)
            if any(one["question"] == asked["question"] for one in source.answer)
        ),
        None,
    )


def sentence_rows(items: Iterable[Payload]) -> Iterator[dict[str, Any]]:
    """The distinct sentences that the answers of a CSV file refer to."""
    sentences = {item["sentence_id"]: " ".join(item["tokens"]) for item in items}
    for given in sorted(sentences):
        yield {"qasrl_id": given, "tokens": sentences[given], "sentence": sentences[given]}


class BankQuestion(NamedTuple):
    """A question of the Bank with all judgments: each is a judge with spans, or with None for an invalid question."""

    item: Payload
    question: str
    sources: tuple[str, ...]
    judgments: tuple[tuple[str, tuple[tuple[int, int], ...] | None], ...]


def bank_rows(asked: Iterable[BankQuestion], items: Iterable[Payload]) -> Iterator[dict[str, Any]]:
    """One row per sentence with all its verbs, ordered by ID."""
    questions: dict[tuple[str, int], dict[str, BankQuestion]] = {}
    for question in asked:
        of_verb = questions.setdefault((question.item["sentence_id"], question.item["verb_index"]), {})
        before = of_verb.get(question.question)
        of_verb[question.question] = question if before is None else _together(before, question)
    predicates = {(item["sentence_id"], item["verb_index"]): item for item in items}
    for given, verbs in groupby(sorted(predicates), key=lambda key: key[0]):
        listed = [(predicates[key], questions.get(key, {})) for key in verbs]
        yield {
            "sentenceId": given,
            "sentenceTokens": list(listed[0][0]["tokens"]),
            "verbEntries": {
                str(item["verb_index"]): {
                    "verbIndex": item["verb_index"],
                    "verbInflectedForms": dict(item["forms"]),
                    "questionLabels": {text: _bank_question(of_verb[text]) for text in sorted(of_verb)},
                }
                for item, of_verb in listed
            },
        }


def _together(first: BankQuestion, second: BankQuestion) -> BankQuestion:
    sources = tuple(sorted({*first.sources, *second.sources}))
    return first._replace(sources=sources, judgments=(*first.judgments, *second.judgments))


def _bank_question(question: BankQuestion) -> dict[str, Any]:
    parsed = understood(question.question, question.item)
    return {
        "questionString": question.question,
        "questionSources": [f"turk-{source}" for source in question.sources],
        "answerJudgments": [
            {"sourceId": f"turk-{judge}", "isValid": spans is not None}
            | ({} if spans is None else {"spans": [list(span) for span in spans]})
            for judge, spans in sorted(set(question.judgments), key=repr)
        ],
        "questionSlots": parsed.slots.as_bank(),
        "tense": parsed.tense,
        "isPerfect": parsed.is_perfect,
        "isProgressive": parsed.is_progressive,
        "isNegated": parsed.is_negated,
        "isPassive": parsed.is_passive,
    }


# A stage's work as annotations


def everybodys(results: StageResults) -> Iterator[VerbAnnotation]:
    """All annotations of a stage that count."""
    for item, behind in behind_each(results.items, results):
        for judgment in sorted(results.judgments(item), key=lambda judgment: judgment.response):
            yield VerbAnnotation(item.payload, judgment.answer, judgment.worker, judgment.response, behind)


def behind_each(
    items: Iterable[SourceItem], results: StageResults
) -> Iterator[tuple[SourceItem, tuple[Judgment, ...]]]:
    """Every item with its source answers, whose numbers are at the end of its key."""
    sources = {source.key: source for source in results.sources or ()}
    for item in items:
        key, wanted = item.key.rpartition("/")[0], responses_behind(item.key)
        given = results.judgments(sources[key]) if key in sources else ()
        yield item, tuple(judgment for judgment in given if judgment.response in wanted)


def results_of(results: StageResults) -> Iterator[VerbAnnotation]:
    """The final annotation of each item, without redundant questions."""
    for item, behind in behind_each(results.items, results):
        given = sorted(results.judgments(item), key=lambda judgment: judgment.response)
        if item.label is not None:
            author = author_of(item.label, given)
            # Scorers would count redundant questions as roles. `everybodys` keeps them.
            settled = [asked for asked in author.answer if not asked.get("redundant")]
            yield VerbAnnotation(item.payload, settled, author.worker, author.response, behind)


def author_of(label: Label, given: Iterable[Judgment]) -> Judgment:
    """The judgment that became the label; for an answer that nobody gave, the decision made in the console."""
    decision = Judgment(DECISION, label.answer, 1.0)
    return next((judgment for judgment in given if judgment.answer == label.answer), decision)


ANNOTATORS = TaskExport(
    name="qasrl-annotators",
    summary="every worker's questions and answers, with the writers of the original questions, as CSV",
    file_name="qasrl-annotators.csv",
    columns=(*CSV_COLUMNS, "source_worker_ids"),
    rows=lambda results: csv_rows(everybodys(results)),
    describes=_CONTENT,
)
GOLD_STANDARD = TaskExport(
    name="qasrl-csv",
    summary="the final questions and answers, in the columns of the QA-SRL gold standard, as CSV",
    file_name="qasrl.csv",
    columns=CSV_COLUMNS,
    rows=lambda results: csv_rows(results_of(results)),
    describes=_CONTENT,
)


def gold_standard_of(settled: Callable[[SourceItem], Sequence[Mapping[str, Any]]]) -> TaskExport:
    """The table of final questions for stages whose result combines the answers of several people."""

    def rows(results: StageResults) -> Iterator[Mapping[str, Any]]:
        items = [item for item in results.items if item.label is not None]
        for item, writers in behind_each(items, results):
            author = writers[0] if writers else Judgment("", [], 0.0)
            yield from csv_rows([VerbAnnotation(item.payload, settled(item), author.worker, author.response)])

    return replace(GOLD_STANDARD, rows=rows)


SENTENCES = TaskExport(
    name="qasrl-sentences",
    summary="the sentences of the final questions and answers, in the columns of the QA-SRL gold standard, as CSV",
    file_name="qasrl-sentences.csv",
    columns=SENTENCE_COLUMNS,
    rows=lambda results: sentence_rows(item.payload for item in results.items),
    describes=_CONTENT,
)


def bank_table(questions: Callable[[Sequence[SourceItem], StageResults], Iterable[BankQuestion]]) -> TaskExport:
    """`questions` returns the questions of each item with their judgments, from the results of a stage."""

    def rows(results: StageResults) -> Iterator[Mapping[str, Any]]:
        items = list(results.items)
        return bank_rows(questions(items, results), [item.payload for item in items])

    return TaskExport(
        name="qasrl-bank",
        summary="questions and answers by sentence and verb, in the QA-SRL Bank's format, one JSON object per line",
        file_name="qasrl-bank.jsonl",
        columns=BANK_COLUMNS,
        rows=rows,
        describes=_CONTENT,
    )
