"""QA-SRL scores for the command line: one system against a gold standard, optionally compared with another system."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from chorale.kits.qasrl.files import QuestionAnswers, joined
from chorale.kits.qasrl.metrics import MEASURES, Alignment, QuestionRule, Rules, align, counts, metric, statistics
from chorale.metrics import Comparison, Counts, Interval, Statistics, signature
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, comparison_table, jsonable, shown_interval
from chorale.metrics.signatures import Setting
from chorale.model import Problem, UserError
from chorale.model.plural import plural

SCORES = ("precision", "recall", "f1")
NAMES = {"ua": "UA", "la": "LA", "role": "role"}
_MOST = 20
_QUESTIONS: Mapping[QuestionRule, str] = {
    "assigned": (
        "Extra questions about an argument count as errors in LA and role (--questions assigned): {charged:,} here. "
        "The gold standard's own script ignores them (--questions authors)."
    ),
    "any": (
        "Extra questions are not errors in LA and role (--questions any), so asking more questions about an argument "
        "can only raise LA."
    ),
    "authors": (
        "LA and role use one question per argument (--questions authors), like the gold standard's own script. The "
        "script's choice varies between runs, which affects LA for {undecided:,} matched arguments."
    ),
}
_SAME_TEXTS = "Use files with the same texts, split into the same tokens."


@dataclass(frozen=True, slots=True)
class QasrlOptions:
    """What to compute, and the options for reading files."""

    rules: Rules = field(default_factory=Rules)
    average: Literal["micro", "macro"] = "micro"
    reading: Mapping[str, Setting] | None = None
    """Options for some formats only, for the signature."""
    per_verb: bool = False

    def settings(self) -> dict[str, Setting]:
        rules = self.rules
        return {
            "iou": rules.iou,
            "redundant": rules.redundant,
            "link": rules.link if rules.redundant else None,
            "modality": rules.modality,
            "questions": rules.questions,
            "average": self.average,
            "extra-verbs": rules.extra_verbs,
            **(self.reading or {}),
        }


def score_qasrl(
    system: QuestionAnswers,
    gold: QuestionAnswers,
    options: QasrlOptions,
    resampling: Resampling,
    against: QuestionAnswers | None = None,
) -> tuple[Score, Alignment]:
    """UA, LA and role of a system with the requested extras, and the alignment they are computed from."""
    check_pair(system, gold)
    alignment = align(system, gold, options.rules)
    per_verb = statistics(alignment)
    by = metric(options.average)
    scores, sums = by.scores(per_verb), counts(per_verb)
    around = resampling.intervals(per_verb, by) if resampling.ci else {}
    json: dict[str, Any] = {name: measure_json(name, sums[name], scores, around) for name in MEASURES}
    json["verbs"] = _verbs(system, gold, alignment)
    mean = ", mean over verbs" if options.average == "macro" else ""
    title = f"{Path(system.name).name} against {Path(gold.name).name}{mean}"
    tables = [measures_table(title, sums, scores, around)]
    notes = [*file_notes(system), *file_notes(gold), *_notes(alignment, sums), *_lacking(system, json["verbs"])]
    notes += resampling.notes(per_verb.items, compared=against is not None)
    inputs = {"system": system.digest, "gold": gold.digest}
    if options.per_verb:
        json["per_verb"] = per_verb_json(per_verb)
    compared: Mapping[str, Comparison] = {}
    if against is not None:
        check_pair(against, gold)
        inputs["against"] = against.digest
        other = statistics(align(against, gold, options.rules))
        compared = resampling.compare(*same_items(per_verb, other), by)
        json["against"] = {"file": against.name, "scores": jsonable(compared)}
        tables.append(comparison_table("Is the difference significant?", _two_names(system, against), compared))
        notes += [*file_notes(against), *_lacking(against, _verbs(against, gold, alignment))]
    settings = {**options.settings(), **resampling.settings(compared=against is not None)}
    line = signature("qasrl", settings, inputs)
    scored = Score(json, tables, line, notes, values=scores, intervals=around, tests=compared, main="ua_f1")
    return scored, alignment


def measure_json(
    name: str, sums: Counts, scores: Mapping[str, float], around: Mapping[str, Interval]
) -> dict[str, Any]:
    """One measure for `--json`: counts, fractions, and optional intervals."""
    return {"tp": sums.tp, "fp": sums.fp, "fn": sums.fn, **fractions_json(name, scores, around)}


def fractions_json(name: str, scores: Mapping[str, float], around: Mapping[str, Interval]) -> dict[str, Any]:
    numbers: dict[str, Any] = {score: scores[f"{name}_{score}"] for score in SCORES}
    if around:
        numbers["ci"] = {score: around[f"{name}_{score}"].as_list() for score in SCORES}
    return numbers


def measures_table(
    title: str,
    sums: Mapping[str, Counts],
    scores: Mapping[str, float],
    around: Mapping[str, Interval],
    measures: Sequence[str] = MEASURES,
) -> ScoreTable:
    rows: dict[str, list[Cell]] = {
        name: [NAMES[name], sums[name].tp, sums[name].fp, sums[name].fn] for name in measures
    }
    return fractions_table(title, ("measure", "TP#", "FP#", "FN#"), rows, scores, around)


def fractions_table(
    title: str,
    columns: tuple[str, ...],
    rows: Mapping[str, Sequence[Cell]],
    scores: Mapping[str, float],
    around: Mapping[str, Interval],
) -> ScoreTable:
    """A table of precision, recall and F1. `rows` has the first cells of each row, by the prefix of its scores."""
    interval = ["95% interval#"] * bool(around)
    shown = []
    for name, cells in rows.items():
        row = [*cells]
        for score in (f"{name}_{each}" for each in SCORES):
            row += [scores[score], shown_interval(around[score])] if around else [scores[score]]
        shown.append(row)
    return ScoreTable(title, (*columns, "precision#", *interval, "recall#", *interval, "F1#", *interval), shown)


def per_verb_json(per_verb: Statistics) -> dict[str, dict[str, dict[str, int]]]:
    """The counts of every verb."""
    return {
        item: {
            name: {kind: int(row[3 * place + at]) for at, kind in enumerate(("tp", "fp", "fn"))}
            for place, name in enumerate(MEASURES)
        }
        for item, row in zip(per_verb.items, per_verb.rows, strict=True)
    }


def same_items(first: Statistics, second: Statistics) -> tuple[Statistics, Statistics]:
    """Both statistics over the same verbs. A verb missing from one of them has zero counts there."""
    items = tuple(sorted(set(first.items) | set(second.items)))
    place = {item: number for number, item in enumerate(items)}
    filled = []
    for each in (first, second):
        rows = np.zeros((len(items), each.rows.shape[1]))
        rows[[place[item] for item in each.items]] = each.rows
        filled.append(Statistics(items, rows))
    return filled[0], filled[1]


def _two_names(system: QuestionAnswers, other: QuestionAnswers) -> tuple[str, str]:
    names = Path(system.name).name, Path(other.name).name
    return names if names[0] != names[1] else (system.name, other.name)


# Checks that the files fit together, and notes about them


def check_pair(system: QuestionAnswers, gold: QuestionAnswers) -> None:
    """Raises an error if two files cannot be about the same verbs."""
    joined([(gold.name, gold.sentences), (system.name, system.sentences)])
    if not len(gold.rows.verb):
        problem = Problem(gold.name, None, "has no verbs to score against", "Check the file name.")
        raise UserError(f"{gold.name} can't be used", [problem])
    words = dict(zip(gold.verbs, gold.words, strict=True))
    if len(system.rows.verb) and not words.keys() & set(system.verbs):
        message = f"has no verb in common with {gold.name}: the first verbs are {system.verbs[0]} and {gold.verbs[0]}"
        problem = Problem(system.name, None, message, "Use the same sentence IDs and verb_idx in both files.")
        raise UserError("The files have different verbs", [problem])
    problems = [
        Problem(
            system.name,
            None,
            message,
            f"{_SAME_TEXTS} The column verb must have the word of the sentence, or be empty.",
        )
        for message in _other_words(system, words, gold.name)
    ]
    if problems:
        raise UserError("The files have different sentences", problems[:_MOST])


def _other_words(system: QuestionAnswers, words: Mapping[Any, str], name: str) -> Iterator[str]:
    for verb, word in zip(system.verbs, system.words, strict=True):
        there = words.get(verb, "")
        if word and there and word.casefold() != there.casefold():
            yield f"has the verb {word!r} at token {verb.token} of {verb.sentence}, but {name} has {there!r}"


def file_notes(table: QuestionAnswers) -> list[str]:
    return [f"{Path(table.name).name}: {note}" for note in table.notes]


def _verbs(system: QuestionAnswers, gold: QuestionAnswers, alignment: Alignment) -> dict[str, int]:
    of_system, of_gold = system.verbs_with_rows(), gold.verbs_with_rows()
    return {
        "scored": len(alignment.verbs),
        "gold": len(of_gold),
        "system": len(of_system),
        "only_in_gold": len(of_gold - of_system),
        "only_in_system": alignment.extra_verbs,
    }


def _notes(alignment: Alignment, sums: Mapping[str, Counts]) -> Iterator[str]:
    if alignment.extra_verbs and not alignment.rules.extra_verbs:
        yield (
            f"{plural(alignment.extra_verbs, 'verb is', 'verbs are')} only in the system's output and not counted. "
            "Use --include-extra-verbs to count the arguments of such verbs as errors."
        )
    repeated = _repeated(alignment)
    if repeated:
        yield (
            f"The gold repeats questions about a verb ({plural(repeated, 'extra row', 'extra rows')}). As in the "
            "authors' script, each row counts but only one can be matched, so role recall cannot reach 1."
        )
    compared = alignment.questions
    charged = int(compared.extra.sum() - np.count_nonzero(~compared.equivalent))
    yield _QUESTIONS[alignment.rules.questions].format(charged=charged, undecided=compared.undecided)
    if not sums["ua"].tp + sums["ua"].fp:
        yield "The system has no answers for the gold verbs: its precision is 0 by definition."
    if not sums["ua"].tp + sums["ua"].fn:
        yield "The gold has no answers: recall is 0 by definition."


def _lacking(system: QuestionAnswers, verbs: Mapping[str, int]) -> Iterator[str]:
    """Warns about missing verbs, because an interrupted parser looks like one with low recall."""
    if verbs["only_in_gold"]:
        yield (
            f"{Path(system.name).name} lacks {verbs['only_in_gold']:,} of the gold's "
            f"{plural(verbs['gold'], 'verb', 'verbs')}. The arguments of missing verbs count as missed."
        )


def _repeated(alignment: Alignment) -> int:
    """Number of gold rows that repeat a question of another row of the same verb."""
    table = alignment.gold.table
    there = table.rows.question >= 0
    texts: dict[str, int] = {}
    text = np.array([texts.setdefault(question.text, len(texts)) for question in table.questions], dtype=np.int64)
    asked = np.sort(table.rows.verb[there] * len(texts) + text[table.rows.question[there]])
    return int(np.count_nonzero(asked[1:] == asked[:-1]))
