"""QA-SRL against other references: the judges of the QA-SRL Bank, and PropBank."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chorale.files.source import digest_of
from chorale.kits.qasrl.files import Bank, QuestionAnswers, Verb, joined
from chorale.kits.qasrl.files.tokens import plain
from chorale.kits.qasrl.metrics import (
    DenseRules,
    PropBankArgument,
    PropBankPart,
    arguments_of,
    dense_metric,
    dense_statistics,
    propbank_metric,
    propbank_statistics,
)
from chorale.kits.qasrl.metrics.dense import COLUMNS
from chorale.kits.qasrl.metrics.propbank import KINDS, Holding
from chorale.kits.qasrl.scoring.scores import SCORES, file_notes, same_items
from chorale.kits.srl.files import Corpus, Sentence, tokens_under
from chorale.metrics import Comparison, Interval, Metric, Statistics, signature
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, comparison_table, jsonable, shown_interval
from chorale.metrics.signatures import Setting
from chorale.model import Problem, UserError
from chorale.model.plural import plural


def score_dense(
    system: QuestionAnswers,
    bank: Bank,
    rules: DenseRules,
    resampling: Resampling,
    against: QuestionAnswers | None = None,
) -> Score:
    """FitzGerald et al.'s measures: spans, questions and both together, by what the Bank's judges say."""
    joined([(bank.name, bank.sentences), (system.name, system.sentences)])
    _common_verbs(system, bank.name, set(bank.questions))
    per_verb = dense_statistics(system, bank, rules)
    sums = dict(zip(COLUMNS, (round(value) for value in per_verb.rows.sum(axis=0)), strict=True))
    scores = dense_metric().scores(per_verb)
    around = _intervals(per_verb, dense_metric(), resampling)
    json: dict[str, Any] = {"dense": {**scores, "counts": sums}, "verbs": len(per_verb.items)}
    if around:
        json["dense"]["ci"] = jsonable(around)
    unjudged = sums["asked"] - sums["judged"]
    notes = [
        *file_notes(system),
        *([f"Questions of the system that were never judged: {unjudged:,}."] if unjudged else []),
    ]
    settings: dict[str, Setting] = {"valid": rules.valid, "iou": rules.iou, "people-only": rules.people_only}
    inputs = {"system": system.digest, "bank": bank.digest}
    tables = [_one_by_one(f"{Path(system.name).name}, by the judges of {Path(bank.name).name}", scores, around)]
    tests: dict[str, Comparison] = {}
    if against is not None:
        other = dense_statistics(against, bank, rules)
        tests = _compared(json, tables, (system, against), same_items(per_verb, other), dense_metric(), resampling)
        inputs["against"] = against.digest
    settings |= resampling.settings(compared=against is not None)
    line = signature("qasrl-dense", settings, inputs)
    return Score(json, tables, line, notes, values=scores, intervals=around, tests=tests)


def score_propbank(
    table: QuestionAnswers,
    corpus: Corpus,
    sentences: dict[str, tuple[str, ...]],
    holding: Holding,
    resampling: Resampling,
    against: QuestionAnswers | None = None,
    reading: Mapping[str, Setting] | None = None,
) -> Score:
    """How questions and answers agree with PropBank's arguments, over the verbs that both have."""
    propbank = propbank_arguments(corpus, sentences, holding)
    _common_verbs(table, corpus.name, set(propbank))
    per_verb = propbank_statistics(table, propbank, holding)
    scores, around = propbank_metric().scores(per_verb), _intervals(per_verb, propbank_metric(), resampling)
    by_kind: dict[str, Any] = {}
    for kind in KINDS:
        by_kind[kind] = {score: scores[f"{kind}_{score}"] for score in SCORES}
        if around:
            by_kind[kind]["ci"] = {score: around[f"{kind}_{score}"].as_list() for score in SCORES}
    json: dict[str, Any] = {"propbank": by_kind, "verbs": len(per_verb.items)}
    tables = [_kinds_table(f"{Path(table.name).name} against {Path(corpus.name).name}", scores, around)]
    notes = [*file_notes(table)]
    elsewhere = len(table.verbs) - len(per_verb.items)
    if elsewhere:
        verbs = plural(elsewhere, "verb is no predicate", "verbs are no predicates")
        notes.append(f"{verbs} in {Path(corpus.name).name}: not counted.")
    inputs = {"file": table.digest, "propbank": corpus.digest, "sentences": _digest(sentences)}
    tests: dict[str, Comparison] = {}
    if against is not None:
        other = propbank_statistics(against, propbank, holding)
        tests = _compared(json, tables, (table, against), same_items(per_verb, other), propbank_metric(), resampling)
        inputs["against"] = against.digest
    settings: dict[str, Setting] = {"found-by": holding, **(reading or {})}
    settings |= resampling.settings(compared=against is not None)
    line = signature("qasrl-propbank", settings, inputs)
    return Score(json, tables, line, notes, values=scores, intervals=around, tests=tests)


def propbank_arguments(
    corpus: Corpus, sentences: dict[str, tuple[str, ...]], holding: Holding
) -> dict[Verb, list[PropBankArgument]]:
    """The corpus's arguments by verb: its sentences are known by their tokens."""
    if holding == "head" and corpus.marks_spans:
        raise _refused(corpus, "marks spans and no heads", "Add --found-by span, or use a CoNLL-2009 file.")
    if holding == "span" and not corpus.marks_spans and not corpus.has_syntax:
        raise _refused(corpus, "has heads and no syntax to get spans from", "Leave out --found-by span.")
    if not sentences:
        raise _refused(corpus, "can't be linked: the sentences' tokens are not known", "Give them with --sentences.")
    ids: dict[tuple[str, ...], list[str]] = {}
    for given, tokens in sentences.items():
        ids.setdefault(tuple(map(plain, tokens)), []).append(given)
    arguments: dict[Verb, list[PropBankArgument]] = {}
    for sentence in corpus.sentences:
        for given in ids.get(tuple(map(plain, sentence.forms)), ()):
            for predicate in sentence.predicates:
                parts = [
                    (argument.label, _part(sentence, argument.first, argument.last, corpus.marks_spans))
                    for argument in predicate.arguments
                ]
                arguments[Verb(given, predicate.position)] = arguments_of(parts)
    return arguments


def _part(sentence: Sentence, first: int, last: int, marks_spans: bool) -> PropBankPart:
    """A piece of an argument; its span from the tokens under its head, where the file has only heads."""
    if marks_spans or not sentence.heads:
        return PropBankPart(first, (first, last + 1))
    under = tokens_under((first,), sentence.heads)
    return PropBankPart(first, ((under & -under).bit_length() - 1, under.bit_length()))


def _digest(sentences: dict[str, tuple[str, ...]]) -> str:
    """Of the texts that linked the two files, wherever they came from."""
    return digest_of("\n".join(f"{given} {' '.join(tokens)}" for given, tokens in sorted(sentences.items())).encode())


def _refused(corpus: Corpus, message: str, fix: str) -> UserError:
    return UserError(f"{corpus.name} can't be used", [Problem(corpus.name, None, message, fix)])


def _common_verbs(system: QuestionAnswers, name: str, verbs: set[Verb]) -> None:
    if not verbs & set(system.verbs):
        fix = "Use files about the same sentences, split into the same tokens."
        problem = Problem(system.name, None, f"has no verb in common with {name}", fix)
        raise UserError("the files are about different verbs", [problem])


def _intervals(per_verb: Statistics, by: Metric, resampling: Resampling) -> dict[str, Interval]:
    if not resampling.ci:
        return {}
    return resampling.intervals(per_verb, by)


def _compared(
    json: dict[str, Any],
    tables: list[ScoreTable],
    systems: tuple[QuestionAnswers, QuestionAnswers],
    pair: tuple[Statistics, Statistics],
    by: Metric,
    resampling: Resampling,
) -> dict[str, Comparison]:
    """The comparison itself; adds it to the JSON and the tables."""
    compared = resampling.compare(*pair, by)
    json["against"] = {"file": systems[1].name, "scores": jsonable(compared)}
    names = Path(systems[0].name).name, Path(systems[1].name).name
    tables.append(comparison_table("Is the difference more than luck?", names, compared))
    return compared


def _one_by_one(title: str, scores: dict[str, float], around: dict[str, Interval]) -> ScoreTable:
    rows: list[list[Cell]] = [[name.replace("_", " "), value] for name, value in scores.items()]
    if around:
        rows = [[*row, shown_interval(around[name])] for row, name in zip(rows, scores, strict=True)]
    return ScoreTable(title, ("score", "value#", "95% interval#")[: 3 if around else 2], rows)


def _kinds_table(title: str, scores: dict[str, float], around: dict[str, Interval]) -> ScoreTable:
    rows: list[list[Cell]] = []
    for kind in KINDS:
        row: list[Cell] = [kind]
        for score in SCORES:
            row.append(scores[f"{kind}_{score}"])
            if around:
                row.append(shown_interval(around[f"{kind}_{score}"]))
        rows.append(row)
    columns = ["arguments"]
    for score in ("precision#", "recall#", "F1#"):
        columns += [score, "95% interval#"] if around else [score]
    return ScoreTable(f"{title}, mean over predicates", tuple(columns), rows)
