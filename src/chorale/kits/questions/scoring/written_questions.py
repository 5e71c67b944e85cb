"""What was written, as a command tells it: lengths, overlap, kinds of questions, explanations."""

from collections.abc import Mapping, Sequence
from typing import Any

from chorale.kits.questions.metrics import McqMeasures, measure_mcq
from chorale.kits.questions.metrics.artifacts import (
    EXPLANATION_SHARES,
    by_place,
    first_less_second,
    measure_explanations,
    measure_written,
    option_lengths,
)
from chorale.kits.questions.metrics.explanations import Explanations, explanations, repeated_questions
from chorale.kits.questions.scoring.measured import McqOptions, NamedQuestions
from chorale.kits.questions.scoring.sections import McqSection
from chorale.metrics import Interval
from chorale.metrics.comparison import compare_apart
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import Cell, ScoreTable, shown_interval

MOST_WORDS = 30


def written_section(files: Sequence[NamedQuestions], options: McqOptions, resampling: Resampling) -> McqSection:
    """All of it for every file; with several files, each compared with the first."""
    found = {file.name: _of_file(file, options, resampling) for file in files}
    tables = [_measures_table(found, resampling)]
    explained = {name: one["explanations"] for name, one in found.items() if one["explanations"]}
    if explained:
        tables.append(_explanations_table(explained))
    if any(one["by_place"] for one in found.values()):
        tables.append(_places_table(found, resampling))
    json: dict[str, Any] = {"files": found}
    notes = []
    if len(files) > 1:
        json["compared"], table = _compared(files, resampling)
        tables.append(table)
    if explained:
        notes.append("Explanations are compared and judged by rule: read some before you drop any.")
    return McqSection("written", json, tables, notes)


def _of_file(file: NamedQuestions, options: McqOptions, resampling: Resampling) -> dict[str, Any]:
    statistics, metric = measure_written(file.questions)
    scores = metric.scores(statistics)
    ci = resampling.intervals(statistics, metric) if resampling.ci else {}
    right, wrong = option_lengths(file.questions, MOST_WORDS)
    texts = file.questions.texts
    said = explanations(texts)
    measures = measure_mcq(file.questions, drawn=options.drawn, ties=options.ties)
    return {
        "scores": {
            name: {"value": value, **({"ci": ci[name].as_list()} if name in ci else {})}
            for name, value in scores.items()
        },
        "repeated_questions": repeated_questions(texts) if any(text.writer for text in texts) else None,
        "explanations": None if said is None else _as_dict(said, resampling),
        "by_place": {
            model: {str(place): value for place, value in values.items()}
            for model, values in by_place(file.questions, measures).items()
        },
        **({"first_less_second": _places(file, measures, resampling)} if resampling.ci else {}),
        "lengths": {"right": right.tolist(), "wrong": wrong.tolist()},
    }


def _places(file: NamedQuestions, measures: McqMeasures, resampling: Resampling) -> dict[str, Any]:
    found = first_less_second(file.questions, measures, resamples=resampling.resamples, seed=resampling.seed)
    return {
        model: {"difference": one.difference, "ci": one.interval.as_list(), "p_bootstrap": one.p_bootstrap}
        for model, one in found.items()
    }


def _as_dict(said: Explanations, resampling: Resampling) -> dict[str, Any]:
    shares = (said.alike, said.alike_by_worker, said.trivial, said.both)
    found: dict[str, Any] = {"count": said.count, **dict(zip(EXPLANATION_SHARES, shares, strict=True))}
    if resampling.ci:
        drawn = resampling.intervals(*measure_explanations(said))
        found["ci"] = {name: drawn[name].as_list() for name in EXPLANATION_SHARES}
    return found


def _measures_table(found: Mapping[str, Mapping[str, Any]], resampling: Resampling) -> ScoreTable:
    names = list(dict.fromkeys(name for one in found.values() for name in one["scores"]))
    columns = ["measure"]
    for name in found:
        columns += [f"{name}#", *([f"{name}, 95% interval#"] if resampling.ci else [])]
    rows: list[list[Cell]] = []
    for name in names:
        row: list[Cell] = [name]
        for one in found.values():
            score = one["scores"].get(name)
            row.append(None if score is None else score["value"])
            if resampling.ci:
                row.append("" if score is None else f"{score['ci'][0]:.3f} to {score['ci'][1]:.3f}")
        rows.append(row)
    if any(one["repeated_questions"] is not None for one in found.values()):
        row = ["asked again by the same writer"]
        for one in found.values():
            row += [one["repeated_questions"], *([""] if resampling.ci else [])]
        rows.append(row)
    return ScoreTable("What was written", tuple(columns), rows, digits=3)


def _explanations_table(explained: Mapping[str, Mapping[str, Any]]) -> ScoreTable:
    columns = ("file", "explanations#", "alike#", "alike, one writer#", "trivial#", "alike and trivial#")
    rows: list[list[Cell]] = []
    for name, one in explained.items():
        rows.append([name, int(one["count"]), *(one[share] for share in EXPLANATION_SHARES)])
        if "ci" in one:
            rows.append(
                ["  95% interval", "", *(shown_interval(Interval(*one["ci"][each]), 3) for each in EXPLANATION_SHARES)]
            )
    return ScoreTable("Explanations, as shares", columns, rows, digits=3)


def _places_table(found: Mapping[str, Mapping[str, Any]], resampling: Resampling) -> ScoreTable:
    rows: list[tuple[Cell, ...]] = []
    for name, one in found.items():
        for model, values in one["by_place"].items():
            first, second = values.get("1"), values.get("2")
            if first is not None and second is not None:
                drawn: tuple[Cell, ...] = ()
                if resampling.ci:
                    told = one["first_less_second"][model]
                    drawn = (shown_interval(Interval(*told["ci"])), told["p_bootstrap"])
                rows.append((name, model, first, second, first - second, *drawn))
    columns = ("file", "model", "first#", "second#", "difference#")
    return ScoreTable(
        "Accuracy on the first and the second question about a passage",
        (*columns, "95% interval#", "p bootstrap#") if resampling.ci else columns,
        rows,
    )


def _compared(files: Sequence[NamedQuestions], resampling: Resampling) -> tuple[dict[str, Any], ScoreTable]:
    """Every other file against the first: each is drawn from on its own."""
    first = measure_written(files[0].questions)
    json: dict[str, Any] = {}
    rows: list[tuple[Cell, ...]] = []
    for file in files[1:]:
        compared = compare_apart(
            measure_written(file.questions), first, resamples=resampling.resamples, seed=resampling.seed
        )
        json[file.name] = {name: one.as_dict() for name, one in compared.items()}
        rows += [
            (file.name, name, one.difference, shown_interval(one.interval, 3), one.p_bootstrap)
            for name, one in compared.items()
        ]
    return {"with": files[0].name, "files": json}, ScoreTable(
        f"What was written, less that of {files[0].name}",
        ("file", "measure", "difference#", "95% interval#", "p bootstrap#"),
        rows,
        digits=3,
    )
