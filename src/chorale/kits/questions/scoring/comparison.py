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

_Found = TypeVar("_Found", Comparison, UnpairedComparison)
_Evidence = tuple[Statistics, Metric]


def compared_with(
    one: Measured, against: NamedQuestions, options: McqOptions, resampling: Resampling
) -> tuple[ScoreTable, dict[str, Any], str]:
    """A table, what `--json` prints, and whether questions could be paired."""
    if not against.questions.votes.any() and not against.questions.models:
        raise UserError(f"{against.name} has neither validations nor predictions: there is nothing to compare with.")
    other = measure_mcq(against.questions, drawn=options.drawn, ties=options.ties)
    names = (one.file.name, against.name)
    same_questions = one.file.questions.ids == against.questions.ids and one.measures.models == other.models
    if same_questions:
        paired = resampling.compare(one.measures.statistics, other.statistics, one.measures.metric)
        kept = _wanted(paired, one.scores, other.scores())
        kept |= {
            f"alpha {name}": resampling.compare(ours[0], theirs[0], ours[1])["value"]
            for name, (ours, theirs) in _alphas(one, against, options).items()
        }
        shown = {name: found for name, found in kept.items() if _is_shown(name, one)}
        table = comparison_table(f"{names[0]} against {names[1]}, question by question", names, shown)
        note = "Both files have the same questions: the comparison is paired."
        return table, {name: found.as_dict() for name, found in kept.items()}, note
    unpaired = compare_unpaired(one.measures, other, resamples=resampling.resamples, seed=resampling.seed)
    found_unpaired = _wanted(unpaired, one.scores, other.scores())
    found_unpaired |= {
        f"alpha {name}": compare_apart(*both, resamples=resampling.resamples, seed=resampling.seed)["value"]
        for name, both in _alphas(one, against, options).items()
    }
    table = _unpaired_table(names, {name: found_unpaired[name] for name in found_unpaired if _is_shown(name, one)})
    note = "The files have different questions, so nothing can be paired: each was drawn from on its own."
    return table, {name: found.as_dict() for name, found in found_unpaired.items()}, note


def _alphas(one: Measured, against: NamedQuestions, options: McqOptions) -> dict[str, tuple[_Evidence, _Evidence]]:
    """What α rests on in both files, for the questions where both have one."""
    most = max(one.file.questions.invalid, against.questions.invalid)
    ours, theirs = (
        mcq_alpha(questions, options.alpha, drawn=options.drawn, options=most).evidence
        for questions in (one.file.questions, against.questions)
    )
    return {name: (ours[name], theirs[name]) for name in ours if name in theirs}


def _is_shown(score: str, one: Measured) -> bool:
    who = score.rpartition(" ")[0].removeprefix("gap ")
    return who in ("human", "longest", "alpha", *shown_models(one.measures))


def _wanted(
    compared: Mapping[str, _Found], ours: Mapping[str, float], theirs: Mapping[str, float]
) -> dict[str, _Found]:
    """Accuracies and gaps of sections that have questions in both files."""
    return {
        name: found
        for name, found in compared.items()
        if not name.startswith("kept ")
        and ours[f"kept {name.rpartition(' ')[2]}"]
        and theirs[f"kept {name.rpartition(' ')[2]}"]
    }


def _unpaired_table(names: tuple[str, str], compared: Mapping[str, UnpairedComparison]) -> ScoreTable:
    columns = ("score", f"{names[0]}#", f"{names[1]}#", "difference#", "95% interval#", "p bootstrap#")
    rows = [
        (name, one.first, one.second, one.difference, shown_interval(one.interval), one.p_bootstrap)
        for name, one in compared.items()
    ]
    return ScoreTable(f"{names[0]} against {names[1]}, different questions", columns, rows)
