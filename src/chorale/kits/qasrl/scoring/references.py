"""QA-SRL against other references: the judges of the QA-SRL Bank, and PropBank."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chorale.files.source import digest_of
from chorale.kits.qasrl.files import Bank, QuestionAnswers, Verb, joined
from chorale.kits.qasrl.files.tokens import plain
from chorale.kits.qasrl.metrics import (
    DENSE_METRIC,
    PROPBANK_METRIC,
    DenseRules,
    PropBankArgument,
    PropBankPart,
    arguments_of,
    dense_statistics,
    propbank_statistics,
)
from chorale.kits.qasrl.metrics.dense import COLUMNS
from chorale.kits.qasrl.metrics.propbank import KINDS, Holding
from chorale.kits.qasrl.scoring.scores import file_notes, fractions_json, fractions_table, same_items
from chorale.kits.srl.files import Corpus, Sentence, SrlArgument, tokens_under
from chorale.metrics import Comparison, Metric, Statistics, signature
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, comparison_table, jsonable, shown_interval
from chorale.metrics.signatures import Setting
from chorale.model import Problem, UserError
from chorale.model.plural import plural

_PREPOSITIONS = frozenset({"IN", "TO", "ADP"})
_OBJECTS = frozenset({"PMOD", "IM", "SUB"})
"""Relations that attach nouns, infinitives and clauses to prepositions, “to” and conjunctions in CoNLL-2008 and 2009.
"""


def score_dense(
    system: QuestionAnswers, bank: Bank, rules: DenseRules, resampling: Resampling, against: QuestionAnswers | None
) -> Score:
    """Measures of FitzGerald et al. for spans, questions and both together, based on the Bank's judgments."""
    joined([(bank.name, bank.sentences), (system.name, system.sentences)])
    _common_verbs(system, bank.name, set(bank.questions))
    per_verb = dense_statistics(system, bank, rules)
    sums = dict(zip(COLUMNS, (round(value) for value in per_verb.rows.sum(axis=0)), strict=True))
    scored = _ReferenceScores("qasrl-dense", per_verb, DENSE_METRIC, resampling)
    scores, around = scored.scores, scored.intervals
    of_dense = {**scores, "counts": sums} | ({"ci": jsonable(around)} if around else {})
    scored.json = {"dense": of_dense, "verbs": len(per_verb.items)}
    unjudged = sums["asked"] - sums["judged"]
    scored.notes = file_notes(system)
    if unjudged:
        scored.notes.append(f"System questions that were not judged: {unjudged:,}.")
    rows: list[list[Cell]] = [
        [name.replace("_", " "), value, *([shown_interval(around[name])] if around else [])]
        for name, value in scores.items()
    ]
    title = f"{Path(system.name).name}, by the judges of {Path(bank.name).name}"
    scored.tables = [ScoreTable(title, ("score", "value#", "95% interval#")[: 3 if around else 2], rows)]
    if against is not None:
        scored.compare(system, against, dense_statistics(against, bank, rules))
    settings: dict[str, Setting] = {"valid": rules.valid, "iou": rules.iou, "people-only": rules.people_only}
    return scored.result(settings, {"system": system.digest, "bank": bank.digest}, against)


def score_propbank(
    table: QuestionAnswers,
    corpus: Corpus,
    sentences: dict[str, tuple[str, ...]],
    holding: Holding,
    resampling: Resampling,
    against: QuestionAnswers | None,
    reading: Mapping[str, Setting] | None,
) -> Score:
    """Agreement of questions and answers with PropBank arguments, over the common verbs."""
    propbank = propbank_arguments(corpus, sentences, holding)
    _common_verbs(table, corpus.name, set(propbank))
    per_verb = propbank_statistics(table, propbank, holding)
    scored = _ReferenceScores("qasrl-propbank", per_verb, PROPBANK_METRIC, resampling)
    scores, around = scored.scores, scored.intervals
    by_kind = {kind: fractions_json(kind, scores, around) for kind in KINDS}
    scored.json = {"propbank": by_kind, "verbs": len(per_verb.items)}
    title = f"{Path(table.name).name} against {Path(corpus.name).name}, mean over predicates"
    scored.tables = [fractions_table(title, ("arguments",), {kind: [kind] for kind in KINDS}, scores, around)]
    scored.notes = file_notes(table)
    elsewhere = len(table.verbs) - len(per_verb.items)
    if elsewhere:
        verbs = plural(elsewhere, "verb was", "verbs were")
        scored.notes.append(f"{verbs} left out, because {Path(corpus.name).name} has no such predicate.")
    if against is not None:
        scored.compare(table, against, propbank_statistics(against, propbank, holding))
    inputs = {"file": table.digest, "propbank": corpus.digest, "sentences": _digest(sentences)}
    return scored.result({"found-by": holding, **(reading or {})}, inputs, against)


class _ReferenceScores:
    """A result under construction."""

    def __init__(self, name: str, per_verb: Statistics, metric: Metric, resampling: Resampling) -> None:
        self._name, self._per_verb, self._metric, self._resampling = name, per_verb, metric, resampling
        self.scores = metric.scores(per_verb)
        self.intervals = resampling.intervals(per_verb, metric) if resampling.ci else {}
        self.json: dict[str, Any] = {}
        self.tables: list[ScoreTable] = []
        self.notes: list[str] = []
        self._tests: dict[str, Comparison] = {}

    def compare(self, system: QuestionAnswers, against: QuestionAnswers, other: Statistics) -> None:
        self._tests = self._resampling.compare(*same_items(self._per_verb, other), self._metric)
        self.json["against"] = {"file": against.name, "scores": jsonable(self._tests)}
        names = Path(system.name).name, Path(against.name).name
        self.tables.append(comparison_table("Is the difference significant?", names, self._tests))

    def result(self, settings: dict[str, Setting], inputs: dict[str, str], against: QuestionAnswers | None) -> Score:
        if against is not None:
            inputs["against"] = against.digest
        settings |= self._resampling.settings(compared=against is not None)
        self.notes += self._resampling.notes(self._per_verb.items, compared=against is not None)
        line = signature(self._name, settings, inputs)
        return Score(
            self.json, self.tables, line, self.notes, values=self.scores, intervals=self.intervals, tests=self._tests
        )


def propbank_arguments(
    corpus: Corpus, sentences: dict[str, tuple[str, ...]], holding: Holding
) -> dict[Verb, list[PropBankArgument]]:
    """The arguments of the corpus by verb. Sentences are identified by their tokens."""
    if holding != "span" and corpus.marks_spans:
        raise _refused(corpus, "marks spans, not heads", "Add --found-by span, or use a CoNLL-2009 file.")
    if holding == "span" and not corpus.marks_spans and not corpus.has_syntax:
        raise _refused(corpus, "marks heads but has no syntax to compute spans from", "Omit --found-by span.")
    if not sentences:
        raise _refused(
            corpus,
            "cannot be linked: the tokens of the sentences are unknown",
            "Use --sentences to add a file with the tokens.",
        )
    ids: dict[tuple[str, ...], list[str]] = {}
    for given, tokens in sentences.items():
        ids.setdefault(tuple(map(plain, tokens)), []).append(given)
    arguments: dict[Verb, list[PropBankArgument]] = {}
    for sentence in corpus.sentences:
        for given in ids.get(tuple(map(plain, sentence.forms)), ()):
            for predicate in sentence.predicates:
                parts = [
                    (argument.label, _part(sentence, argument, corpus, holding)) for argument in predicate.arguments
                ]
                arguments[Verb(given, predicate.position)] = arguments_of(parts)
    return arguments


def _part(sentence: Sentence, argument: SrlArgument, corpus: Corpus, holding: Holding) -> PropBankPart:
    """A piece of an argument. If the file has only heads, the span is all tokens below the head."""
    _, first, last = argument
    if corpus.marks_spans or not sentence.heads:
        return PropBankPart(first, (first, last + 1))
    under = tokens_under((first,), sentence.heads)
    span = (under & -under).bit_length() - 1, under.bit_length()
    return PropBankPart(first, span, _objects(sentence, first) if holding == "head" else ())


def _objects(sentence: Sentence, head: int) -> tuple[int, ...]:
    """The tokens below a preposition that is the head of an argument in CoNLL-2009. Does not occur in Universal
    Dependencies.
    """
    tags = {tags[head] for tags in (sentence.upos, sentence.xpos) if tags}
    if not tags & _PREPOSITIONS:
        return ()
    following = [token for token in range(head + 1, sentence.length) if sentence.heads[token] == head + 1]
    named = tuple(token for token in following if sentence.deprels and sentence.deprels[token] in _OBJECTS)
    return named or tuple(following[:1])


def _digest(sentences: dict[str, tuple[str, ...]]) -> str:
    """Digest of the texts that link the two files."""
    return digest_of("\n".join(f"{given} {' '.join(tokens)}" for given, tokens in sorted(sentences.items())).encode())


def _refused(corpus: Corpus, message: str, fix: str) -> UserError:
    return UserError(f"{corpus.name} can't be used", [Problem(corpus.name, None, message, fix)])


def _common_verbs(system: QuestionAnswers, name: str, verbs: set[Verb]) -> None:
    if not verbs & set(system.verbs):
        fix = "Use files with the same sentences, split into the same tokens."
        problem = Problem(system.name, None, f"has no verb in common with {name}", fix)
        raise UserError("The files have different verbs", [problem])
