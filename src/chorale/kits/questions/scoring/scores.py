"""Human performance for the command line: people, models and the gap between them, by section."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from chorale.kits.questions.files.questions import MISSING
from chorale.kits.questions.metrics import SECTIONS, AlphaVariant
from chorale.kits.questions.scoring.arms_table import SECTION_TITLES, arms_table
from chorale.kits.questions.scoring.comparison import compared_with
from chorale.kits.questions.scoring.measured import (
    McqOptions,
    MeasuredQuestions,
    NamedQuestions,
    check_names,
    measured,
    shown_models,
)
from chorale.metrics import Interval, signature
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, jsonable, shown_interval
from chorale.model.plural import plural

_ALPHAS = {
    "with-writer": "all questions, including the writer's vote",
    "kept": "kept questions, validators only",
}


def score_mcq(
    files: Sequence[NamedQuestions], options: McqOptions, resampling: Resampling, against: NamedQuestions | None = None
) -> Score:
    """Measures of every file. With `against`, every file is compared with that one, which may be one of `files`."""
    everything = [*files, *([] if against is None or any(file is against for file in files) else [against])]
    check_names(everything)
    measured_files = [measured(file, options, resampling) for file in files]
    tables = [arms_table(measured_files)] if len(measured_files) > 1 else []
    tables += [table for file_measured in measured_files for table in _tables(file_measured, options)]
    json: dict[str, Any] = {
        "files": {file_measured.file.name: _json(file_measured, options) for file_measured in measured_files}
    }
    notes = [note for file_measured in measured_files for note in _notes(file_measured)]
    if resampling.ci or against is not None:
        notes += [unit_note(file, options) for file in everything]
    if against is not None:
        compared = {}
        rivals = [file_measured for file_measured in measured_files if file_measured.file is not against]
        for file_measured in rivals:
            table, compared[file_measured.file.name], note = compared_with(file_measured, against, options, resampling)
            tables.append(table)
            notes.append(note if len(rivals) == 1 else f"{file_measured.file.name} against {against.name}: {note}")
        only = {"scores": next(iter(compared.values()))} if len(compared) == 1 else {}
        json["against"] = {"file": against.name, **only, "files": compared}
    values: dict[str, float | None] = {}
    around: dict[str, Interval] = {}
    for file_measured in measured_files:
        before = "" if len(measured_files) == 1 else f"{file_measured.file.name}: "
        values |= {f"{before}{name}": value for name, value in file_measured.scores.items()}
        around |= {f"{before}{name}": interval for name, interval in (file_measured.ci or {}).items()}
    main = next((name for name in values if name.endswith("human resampled")), "")
    line = _signature(files, against, options, resampling)
    return Score(json, tables, line, notes, values=values, intervals=around, main=main)


def _json(measured: MeasuredQuestions, options: McqOptions) -> dict[str, Any]:
    def value(name: str, section: str, called: str = "accuracy") -> dict[str, Any] | None:
        if not measured.scores[f"kept {section}"]:
            return None
        key = f"{name} {section}"
        json: dict[str, Any] = {called: measured.scores[key], "interval": measured.over_draws[key].as_list()}
        if measured.ci is not None:
            json["ci"] = measured.ci[key].as_list()
        if name in measured.measures.runs:
            json["deviation"] = _deviation(measured, name, section)
        return json

    sections = [section for section in SECTIONS if section != "all"]
    kept = measured.scores["kept all"]
    return {
        "questions": len(measured.file.questions),
        "kept": kept,
        "discarded": len(measured.file.questions) - kept,
        "sections": {
            section: {
                "kept": measured.scores[f"kept {section}"],
                "interval": measured.over_draws[f"kept {section}"].as_list(),
            }
            for section in SECTIONS
        },
        "human": {section: value("human", section) for section in sections},
        "models": {name: {section: value(name, section) for section in SECTIONS} for name in measured.measures.models},
        "gap": {
            name: {section: value(f"gap {name}", section, "gap") for section in sections}
            for name in measured.measures.models
        },
        "runs": {stem: list(names) for stem, names in measured.measures.runs.items()},
        "alpha": {"printed": options.alpha, **{variant: _alpha_json(measured, variant) for variant in measured.alphas}},
        "artifacts": {
            "longest_answer": value("longest", "all"),
            "answer_words": float(np.nanmean(measured.file.questions.words)),
        },
    }


def _alpha_json(measured: MeasuredQuestions, variant: AlphaVariant) -> dict[str, Any]:
    alpha = measured.alphas[variant]
    json: dict[str, Any] = {"all": alpha.all, "resampled": alpha.resampled}
    if variant in measured.alpha_ci:
        json["ci"] = jsonable(measured.alpha_ci[variant])
    return json


def _tables(measured: MeasuredQuestions, options: McqOptions) -> Iterable[ScoreTable]:
    with_ci = measured.ci is not None
    shown = (
        *("questions", "who", "N#", "accuracy#"),
        *(("deviation over runs#",) if measured.measures.runs else ()),
        "over samples#",
        *(("95% interval#",) if with_ci else ()),
        *("gap#", "gap over samples#"),
        *(("gap's 95% interval#",) if with_ci else ()),
    )
    rows: list[list[Cell]] = []
    for section in SECTIONS:
        kept = measured.scores[f"kept {section}"]
        if not kept:
            continue
        names = [*(["human"] if section != "all" else []), *shown_models(measured.measures)]
        if not names:
            rows.append([SECTION_TITLES[section], "", f"{kept:,.1f}", *([None] * (len(shown) - 3))])
        for number, name in enumerate(names):
            rows.append([SECTION_TITLES[section] if not number else "", name, None if number else f"{kept:,.1f}"])
            rows[-1] += _score_cells(measured, name, section)
    yield ScoreTable(f"Human performance: {measured.file.name}", shown, rows)
    yield _alpha_table(measured, options)


def _alpha_table(measured: MeasuredQuestions, options: McqOptions) -> ScoreTable:
    alpha, around = measured.alphas[options.alpha], measured.alpha_ci.get(options.alpha)
    with_ci = ("95% interval#",) if around is not None else ()
    rows: list[list[Cell]] = [["all", alpha.all], ["with votes left", alpha.resampled]]
    for row, name, variant in zip(rows, ("all", "resampled"), (_ALPHAS[options.alpha], ""), strict=True):
        row.extend([variant] if around is None else [shown_interval(around.get(name)), variant])
    return ScoreTable("Agreement of validators", ("questions", "Krippendorff's alpha#", *with_ci, "votes"), rows)


def _deviation(measured: MeasuredQuestions, name: str, section: str) -> float | None:
    """Sample standard deviation over the runs of a model; None for a single run."""
    runs = measured.measures.runs.get(name)
    return float(np.std([measured.scores[f"{run} {section}"] for run in runs], ddof=1)) if runs else None


def _score_cells(measured: MeasuredQuestions, name: str, section: str) -> list[Cell]:
    key, gap = f"{name} {section}", f"gap {name} {section}"
    cells: list[Cell] = [measured.scores[key]]
    if measured.measures.runs:
        cells.append(_deviation(measured, name, section))
    cells.append(shown_interval(measured.over_draws[key]))
    if measured.ci is not None:
        cells.append(shown_interval(measured.ci[key]))
    if gap not in measured.scores:
        return [*cells, None, "", *([""] if measured.ci is not None else [])]
    around = [] if measured.ci is None else [shown_interval(measured.ci[gap])]
    return [*cells, measured.scores[gap], shown_interval(measured.over_draws[gap]), *around]


def _notes(measured: MeasuredQuestions) -> Iterable[str]:
    name, questions = measured.file.name, measured.file.questions
    if not measured.measures.n_resampled:
        yield f"{name}: no human performance, because all votes of every question were used for its gold answer."
    else:
        yield (
            f"{name}: each score is the mean over all possible choices of gold votes. The column “over samples” is the "
            "interval that contains 95% of the scores of single random choices."
        )
    for section in SECTIONS:
        if measured.measures.n_resampled and not measured.scores[f"kept {section}"]:
            yield f"{name}: no scores for the section “{SECTION_TITLES[section]}”, because it has no questions."
    for model, answers in questions.models.items():
        if missing := int((answers == MISSING).sum()):
            unanswered = plural(missing, "question", "questions")
            yield f"{name}: {model} did not answer {unanswered}, which are left out of its accuracy."
    for stem, runs in measured.measures.runs.items():
        yield f"{name}: {stem} is the mean of {len(runs)} runs: {', '.join(runs)}."


def unit_note(file: NamedQuestions, options: McqOptions) -> str:
    """Note on the resampling unit."""
    clusters = options.clusters(file.questions)
    if clusters is not None:
        return clusters.note(file.questions.ids, about=f"{file.name}: ")
    if options.cluster:
        return f"{file.name}: resampled by question."
    return (
        f"{file.name}: resampled by question, because not every question has a worker_id. If writers wrote several "
        "questions, intervals are too narrow and p-values too small."
    )


def _clustered_by(file: NamedQuestions, options: McqOptions) -> tuple[str, ...]:
    clusters = options.clusters(file.questions)
    return () if clusters is None else clusters.names


def _signature(
    files: Sequence[NamedQuestions], against: NamedQuestions | None, options: McqOptions, resampling: Resampling
) -> str:
    clustered = tuple(dict.fromkeys(name for file in files for name in _clustered_by(file, options)))
    settings = {
        "gold-votes": options.drawn,
        "ties": options.ties,
        "alpha": options.alpha,
        "ci": resampling.ci,
        "cluster": (clustered or "question_id") if resampling.ci or against is not None else None,
        "resamples": resampling.resamples,
        "seed": resampling.seed,
        **{name: value for name, value in options.more.items() if value},
    }
    inputs = {**{f"file/{file.name}": file.digest for file in files}, **options.inputs}
    return signature("mcq", settings, inputs if against is None else {**inputs, "against": against.digest})
