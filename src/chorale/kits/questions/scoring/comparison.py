"""Two sets of questions compared, as a command tells it."""

from collections.abc import Mapping
from typing import Any, TypeVar

from chorale.kits.questions.metrics import compare_unpaired, mcq_alpha, measure_mcq
from chorale.kits.questions.scoring.measured import McqOptions, Measured, NamedQuestions, shown_models
from chorale.metrics import Comparison, Metric, Statistics
from chorale.metrics.comparison import UnpairedComparison, compare_apart
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import ScoreTable, comparison_table, shown_interval
from chorale.model import UserError

_Comparison = TypeVar("_Comparison", Comparison, UnpairedComparison)
_Evidence = tuple[Statistics, Metric]


def compared_with(
    ours_measured: Measured, against: NamedQuestions, options: McqOptions, resampling: Resampling
) -> tuple[ScoreTable, dict[str, Any], str]:
    """A table, what `--json` prints, and whether questions could be paired."""
    if not against.questions.votes.any() and not against.questions.models:
        raise UserError(f"{against.name} has neither validations nor predictions: there is nothing to compare with.")
    other = measure_mcq(against.questions, drawn=options.drawn, ties=options.ties)
    names = (ours_measured.file.name, against.name)
    same_questions = (
        ours_measured.file.questions.ids == against.questions.ids and ours_measured.measures.models == other.models
    )
    if same_questions:
        paired = resampling.compare(ours_measured.measures.statistics, other.statistics, ours_measured.measures.metric)
        kept = _wanted(paired, ours_measured.scores, other.scores())
        kept |= {
            f"alpha {name}": resampling.compare(ours[0], theirs[0], ours[1])["value"]
            for name, (ours, theirs) in _alphas(ours_measured, against, options).items()
        }
        shown = {name: comparison for name, comparison in kept.items() if _is_shown(name, ours_measured)}
        table = comparison_table(f"{names[0]} against {names[1]}, question by question", names, shown)
        note = "Both files have the same questions: the comparison is paired."
        return table, {name: comparison.as_dict() for name, comparison in kept.items()}, note
    unpaired = compare_unpaired(ours_measured.measures, other, resamples=resampling.resamples, seed=resampling.seed)
    kept_unpaired = _wanted(unpaired, ours_measured.scores, other.scores())
    kept_unpaired |= {
        f"alpha {name}": compare_apart(*both, resamples=resampling.resamples, seed=resampling.seed)["value"]
        for name, both in _alphas(ours_measured, against, options).items()
    }
    table = _unpaired_table(
        names, {name: kept_unpaired[name] for name in kept_unpaired if _is_shown(name, ours_measured)}
    )
    note = "The files have different questions, so nothing can be paired: each was drawn from on its own."
    return table, {name: comparison.as_dict() for name, comparison in kept_unpaired.items()}, note


def _alphas(measured: Measured, against: NamedQuestions, options: McqOptions) -> dict[str, tuple[_Evidence, _Evidence]]:
    """What α rests on in both files, for the questions where both have one."""
    most = max(measured.file.questions.invalid, against.questions.invalid)
    ours, theirs = (
        mcq_alpha(questions, options.alpha, drawn=options.drawn, options=most).evidence
        for questions in (measured.file.questions, against.questions)
    )
    return {name: (ours[name], theirs[name]) for name in ours if name in theirs}


def _is_shown(score: str, measured: Measured) -> bool:
    who = score.rpartition(" ")[0].removeprefix("gap ")
    return who in ("human", "longest", "alpha", *shown_models(measured.measures))


def _wanted(
    compared: Mapping[str, _Comparison], ours: Mapping[str, float], theirs: Mapping[str, float]
) -> dict[str, _Comparison]:
    """Accuracies and gaps of sections that have questions in both files."""
    return {
        name: comparison
        for name, comparison in compared.items()
        if not name.startswith("kept ")
        and ours[f"kept {name.rpartition(' ')[2]}"]
        and theirs[f"kept {name.rpartition(' ')[2]}"]
    }


def _unpaired_table(names: tuple[str, str], compared: Mapping[str, UnpairedComparison]) -> ScoreTable:
    columns = ("score", f"{names[0]}#", f"{names[1]}#", "difference#", "95% interval#", "p bootstrap#")
    rows = [
        (
            name,
            comparison.first,
            comparison.second,
            comparison.difference,
            shown_interval(comparison.interval),
            comparison.p_bootstrap,
        )
        for name, comparison in compared.items()
    ]
    return ScoreTable(f"{names[0]} against {names[1]}, different questions", columns, rows)
