"""Comparison of two sets of questions for the command line."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from chorale.kits.questions.files.questions import McqQuestions
from chorale.kits.questions.metrics import McqMeasures, mcq_alpha, measure_mcq
from chorale.kits.questions.scoring.arms_table import SECTION_TITLES
from chorale.kits.questions.scoring.measured import McqOptions, MeasuredQuestions, NamedQuestions, shown_models
from chorale.metrics import Comparison, Metric, Statistics, UnpairedComparison
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import ScoreTable, comparison_table, jsonable
from chorale.model import UserError

_Comparison = TypeVar("_Comparison", Comparison, UnpairedComparison)
_Evidence = tuple[Statistics, Metric]


def compared_with(
    measured: MeasuredQuestions, against: NamedQuestions, options: McqOptions, resampling: Resampling
) -> tuple[ScoreTable, dict[str, Any], str]:
    """A table, the data for `--json`, and a note on whether the questions are paired."""
    if not against.questions.votes.any() and not against.questions.models:
        raise UserError(f"{against.name} has neither validations nor predictions, so there is nothing to compare with.")
    names, mine = (measured.file.name, against.name), measured.file.questions
    ours, theirs = _measured_alike(measured, against.questions, options)
    alphas = _alphas(measured, against, options)
    resampling = options.clustered(resampling, mine)
    if mine.ids == against.questions.ids:
        paired = resampling.compare(ours.statistics, theirs.statistics, ours.metric)
        kept = _wanted(paired, measured.scores, theirs.scores())
        for name, (own, other) in alphas.items():
            kept[f"alpha {name}"] = resampling.compare(own[0], other[0], own[1])["value"]
        table = comparison_table(f"{names[0]} against {names[1]}, question by question", names, _shown(kept, measured))
        return table, jsonable(kept), "Both files have the same questions: the comparison is paired."
    clusters = resampling.clusters, options.clusters(against.questions)
    sides = (ours.statistics, ours.metric), (theirs.statistics, theirs.metric)
    unpaired = _wanted(resampling.compare_apart(*sides, clusters), measured.scores, theirs.scores())
    for name, (own, other) in alphas.items():
        unpaired[f"alpha {name}"] = resampling.compare_apart(own, other, clusters)["value"]
    note = "The files have different questions, so the comparison is unpaired and each file was resampled separately."
    table = comparison_table(f"{names[0]} against {names[1]}, different questions", names, _shown(unpaired, measured))
    return table, jsonable(unpaired), note


def _measured_alike(
    measured: MeasuredQuestions, against: McqQuestions, options: McqOptions
) -> tuple[McqMeasures, McqMeasures]:
    """Measures of both files, for models with answers in both."""
    mine = measured.file.questions
    common = mine.models.keys() & against.models.keys()
    ours, theirs = (
        measure_mcq(
            replace(questions, models={name: questions.models[name] for name in sorted(common)}),
            drawn=options.drawn,
            ties=options.ties,
        )
        for questions in (mine, against)
    )
    return ours, theirs


def _alphas(
    measured: MeasuredQuestions, against: NamedQuestions, options: McqOptions
) -> dict[str, tuple[_Evidence, _Evidence]]:
    """Statistics of α in both files, if it is defined in both."""
    most = max(measured.file.questions.invalid, against.questions.invalid)
    ours, theirs = (
        mcq_alpha(questions, options.alpha, drawn=options.drawn, options=most).evidence
        for questions in (measured.file.questions, against.questions)
    )
    return {name: (ours[name], theirs[name]) for name in ours if name in theirs}


def _shown(compared: Mapping[str, _Comparison], measured: MeasuredQuestions) -> dict[str, _Comparison]:
    """Named as in the other tables, and without single runs of models, which are only in `--json`."""
    known = ("human", "longest", "alpha", *shown_models(measured.measures))
    split = ((name.rpartition(" ")[0], name.rpartition(" ")[2], one) for name, one in compared.items())
    return {_title(who, section): one for who, section, one in split if who.removeprefix("gap ") in known}


def _title(who: str, section: str) -> str:
    if (who, section) == ("alpha", "all"):
        # As in the table of agreement: it may include questions that are not kept.
        return "alpha, all"
    return f"{'longest option' if who == 'longest' else who}, {SECTION_TITLES[section]}"


def _wanted(
    compared: Mapping[str, _Comparison], ours: Mapping[str, float], theirs: Mapping[str, float]
) -> dict[str, _Comparison]:
    """Accuracies and gaps of sections with questions in both files."""
    return {
        name: comparison
        for name, comparison in compared.items()
        if not name.startswith("kept ") and all(scores[f"kept {name.rpartition(' ')[2]}"] for scores in (ours, theirs))
    }
