"""Human performance as a command tells it: people, models and the gap between them, section by section."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from chorale.evaluate.mcq import (
    ALPHA_VARIANTS,
    SECTIONS,
    AlphaVariant,
    McqMeasures,
    Ties,
    UnpairedComparison,
    compare_unpaired,
    mcq_alpha,
    measure_mcq,
)
from chorale.formats.mcq_files import MISSING, McqQuestions
from chorale.formats.wording import many
from chorale.model import UserError
from chorale.report.drawing import Drawing
from chorale.report.scoring import Cell, Scored, ScoreTable, comparison_table, shown_interval
from chorale.scores import Comparison, Interval, signature

_Found = TypeVar("_Found", Comparison, UnpairedComparison)
_TITLES = {
    "all": "all kept",
    "resampled": "with votes left",
    "high": "high agreement",
    "unanimous": "unanimous",
}
_ALPHAS = {
    "with-writer": "all questions, the writer's answer as one more vote",
    "kept": "kept questions, validators only",
}


@dataclass(frozen=True, slots=True)
class NamedQuestions:
    name: str
    """As the result calls the file."""
    questions: McqQuestions
    digest: str


@dataclass(frozen=True, slots=True)
class McqOptions:
    ties: Ties = "share"
    drawn: int = 4
    alpha: AlphaVariant = "with-writer"


@dataclass(frozen=True, slots=True)
class _Measured:
    file: NamedQuestions
    measures: McqMeasures
    scores: Mapping[str, float]
    over_draws: Mapping[str, Interval]
    ci: Mapping[str, Interval] | None


def score_mcq(
    files: Sequence[NamedQuestions], options: McqOptions, drawing: Drawing, against: NamedQuestions | None = None
) -> Scored:
    """The measures of every file; with `against`, the first file compared with another."""
    if against is not None and len(files) != 1:
        raise UserError("--against compares one file with another. Name one file before it.")
    _check_names([*files, *([] if against is None else [against])])
    measured = [_measured(file, options, drawing) for file in files]
    tables = [table for one in measured for table in _tables(one, options)]
    json: dict[str, Any] = {"files": {one.file.name: _json(one, options) for one in measured}}
    notes = [note for one in measured for note in _notes(one)]
    if against is not None:
        table, compared, note = _compared(measured[0], against, options, drawing)
        tables.append(table)
        json["against"] = {"file": against.name, "scores": compared}
        notes.append(note)
    return Scored(json, tables, _signature(files, against, options, drawing), notes)


def _check_names(files: Sequence[NamedQuestions]) -> None:
    names = [file.name for file in files]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UserError(f"Two files are called {twice}: results go by the file's name. Rename one of them.")


def _measured(file: NamedQuestions, options: McqOptions, drawing: Drawing) -> _Measured:
    questions = file.questions
    if not questions.votes.any() and not questions.models:
        raise UserError(f"{file.name} has neither validations nor predictions: there is nothing to measure in it.")
    measures = measure_mcq(questions, drawn=options.drawn, ties=options.ties)
    over_draws = measures.resampled(draws=drawing.resamples, seed=drawing.seed, progress=drawing.progress)
    ci = None
    if drawing.ci:
        ci = drawing.intervals(measures.statistics, measures.metric)
    return _Measured(file, measures, measures.scores(), over_draws, ci)


def _json(one: _Measured, options: McqOptions) -> dict[str, Any]:
    def value(name: str, section: str) -> dict[str, Any] | None:
        if not one.scores[f"kept {section}"]:
            return None
        key = f"{name} {section}"
        found: dict[str, Any] = {"accuracy": one.scores[key], "interval": one.over_draws[key].as_list()}
        if one.ci is not None:
            found["ci"] = one.ci[key].as_list()
        return found

    sections = [section for section in SECTIONS if section != "all"]
    kept = one.scores["kept all"]
    alphas = {variant: mcq_alpha(one.file.questions, variant, drawn=options.drawn) for variant in ALPHA_VARIANTS}
    return {
        "questions": len(one.file.questions),
        "kept": kept,
        "discarded": len(one.file.questions) - kept,
        "sections": {
            section: {
                "kept": one.scores[f"kept {section}"],
                "interval": one.over_draws[f"kept {section}"].as_list(),
            }
            for section in SECTIONS
        },
        "human": {section: value("human", section) for section in sections},
        "models": {name: {section: value(name, section) for section in SECTIONS} for name in one.measures.models},
        "gap": {
            name: {section: _as_gap(value(f"gap {name}", section)) for section in sections}
            for name in one.measures.models
        },
        "runs": {stem: list(names) for stem, names in one.measures.runs.items()},
        "alpha": {
            "printed": options.alpha,
            **{variant: {"all": found.all, "resampled": found.resampled} for variant, found in alphas.items()},
        },
        "artifacts": {
            "longest_answer": value("longest", "all"),
            "answer_words": float(np.nanmean(one.file.questions.words)),
        },
    }


def _as_gap(value: dict[str, Any] | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {"gap" if key == "accuracy" else key: found for key, found in value.items()}


def _tables(one: _Measured, options: McqOptions) -> Iterable[ScoreTable]:
    columns = ("questions", "who", "how many#", "accuracy#", "over draws#", "gap#", "gap over draws#")
    with_ci = one.ci is not None
    shown = (*columns[:5], "95% interval#", *columns[5:]) if with_ci else columns
    rows: list[list[Cell]] = []
    for section in SECTIONS:
        kept = one.scores[f"kept {section}"]
        if not kept:
            continue
        names = [*(["human"] if section != "all" else []), *_shown_models(one.measures)]
        if not names:
            rows.append([_TITLES[section], "", round(kept, 1), *([None] * (len(shown) - 3))])
        for number, name in enumerate(names):
            rows.append([_TITLES[section] if not number else "", name, None if number else f"{kept:.1f}"])
            rows[-1] += _score_cells(one, name, section)
    yield ScoreTable(f"Human performance: {one.file.name}", shown, rows)
    found = mcq_alpha(one.file.questions, options.alpha, drawn=options.drawn)
    yield ScoreTable(
        "Agreement of validators",
        ("questions", "Krippendorff's alpha#", "of what"),
        [("all", found.all, _ALPHAS[options.alpha]), ("with votes left", found.resampled, "")],
    )


def _shown_models(measures: McqMeasures) -> list[str]:
    """Means instead of their runs; `--json` has both."""
    single = {run for runs in measures.runs.values() for run in runs}
    return [name for name in measures.models if name not in single]


def _score_cells(one: _Measured, name: str, section: str) -> list[Cell]:
    key, gap = f"{name} {section}", f"gap {name} {section}"
    cells: list[Cell] = [one.scores[key], shown_interval(one.over_draws[key])]
    if one.ci is not None:
        cells.append(shown_interval(one.ci[key]))
    if gap in one.scores:
        return [*cells, one.scores[gap], shown_interval(one.over_draws[gap])]
    return [*cells, None, ""]


def _compared(
    one: _Measured, against: NamedQuestions, options: McqOptions, drawing: Drawing
) -> tuple[ScoreTable, dict[str, Any], str]:
    if not against.questions.votes.any() and not against.questions.models:
        raise UserError(f"{against.name} has neither validations nor predictions: there is nothing to compare with.")
    other = measure_mcq(against.questions, drawn=options.drawn, ties=options.ties)
    names = (one.file.name, against.name)
    same_questions = one.file.questions.ids == against.questions.ids and one.measures.models == other.models
    if same_questions:
        paired = drawing.compare(one.measures.statistics, other.statistics, one.measures.metric)
        kept = _wanted(paired, one.scores, other.scores())
        shown = {name: found for name, found in kept.items() if _is_shown(name, one)}
        table = comparison_table(f"{names[0]} against {names[1]}, question by question", names, shown)
        note = "Both files have the same questions: the comparison is paired."
        return table, {name: found.as_dict() for name, found in kept.items()}, note
    unpaired = compare_unpaired(one.measures, other, resamples=drawing.resamples, seed=drawing.seed)
    found_unpaired = _wanted(unpaired, one.scores, other.scores())
    table = _unpaired_table(names, {name: found_unpaired[name] for name in found_unpaired if _is_shown(name, one)})
    note = "The files have different questions, so nothing can be paired: each was drawn from on its own."
    return table, {name: found.as_dict() for name, found in found_unpaired.items()}, note


def _is_shown(score: str, one: _Measured) -> bool:
    who = score.rpartition(" ")[0].removeprefix("gap ")
    return who in ("human", "longest", *_shown_models(one.measures))


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


def _notes(one: _Measured) -> Iterable[str]:
    name, questions = one.file.name, one.file.questions
    if not one.measures.n_resampled:
        yield f"{name}: no question has votes left after those for the gold answer, so there is no human performance."
    else:
        yield f"{name}: values are means over all ways to draw the gold votes; “over draws” holds 95% of single draws."
    for section in SECTIONS:
        if one.measures.n_resampled and not one.scores[f"kept {section}"]:
            yield f"{name}: no question is in the section “{_TITLES[section]}”; it has no scores."
    for model, answers in questions.models.items():
        if missing := int((answers == MISSING).sum()):
            yield f"{name}: {model} did not answer {many(missing, 'question', 'questions')}, left out of its accuracy."
    for stem, runs in one.measures.runs.items():
        yield f"{name}: {stem} is the mean of {len(runs)} runs: {', '.join(runs)}."


def _signature(
    files: Sequence[NamedQuestions], against: NamedQuestions | None, options: McqOptions, drawing: Drawing
) -> str:
    settings = {
        "gold-votes": options.drawn,
        "ties": options.ties,
        "alpha": options.alpha,
        "ci": drawing.ci,
        "resamples": drawing.resamples,
        "seed": drawing.seed,
    }
    inputs = {f"file/{file.name}": file.digest for file in files}
    return signature("mcq", settings, inputs if against is None else {**inputs, "against": against.digest})
