"""Analysis of written texts for the command line: lengths, overlap, types of questions, explanations."""

from collections.abc import Mapping, Sequence
from typing import Any

from chorale.kits.questions.files.questions import McqQuestions
from chorale.kits.questions.metrics import McqMeasures, measure_mcq
from chorale.kits.questions.metrics.artifacts import (
    EXPLANATION_SHARES,
    by_place,
    first_less_second,
    measure_explanations,
    measure_written,
    option_lengths,
    repeated_questions,
)
from chorale.kits.questions.scoring.measured import McqOptions, McqSection, NamedQuestions
from chorale.metrics import UnpairedComparison
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import (
    Cell,
    ScoreTable,
    adjusted_p_values,
    jsonable,
    shown_ends,
    test_columns,
)

MOST_WORDS = 30
_TESTS = {
    "p_bootstrap": "p bootstrap#",
    "p_permutation": "p permutation#",
    "p_holm": "p permutation, Holm#",
    "p_bh": "p permutation, BH#",
}


def written_section(files: Sequence[NamedQuestions], options: McqOptions, resampling: Resampling) -> McqSection:
    """Analyses every file. With several files, each is compared with the first."""
    by_file = {file.name: _of_file(file, options, resampling) for file in files}
    tables = [_measures_table(by_file, resampling)]
    explained = {name: one["explanations"] for name, one in by_file.items() if one["explanations"]}
    if explained:
        tables.append(_explanations_table(explained))
    if any(one["by_place"] for one in by_file.values()):
        tables.append(_places_table(by_file, resampling))
    json: dict[str, Any] = {"files": by_file}
    notes = []
    if len(files) > 1:
        json["compared"], table = _compared(files, options, resampling)
        tables.append(table)
    if explained:
        notes.append("Explanations are compared and judged automatically. Read a sample before you remove any of them.")
    return McqSection("written", json, tables, notes)


def _of_file(file: NamedQuestions, options: McqOptions, resampling: Resampling) -> dict[str, Any]:
    resampling = options.clustered(resampling, file.questions)
    statistics, metric = measure_written(file.questions)
    scores = metric.scores(statistics)
    ci = resampling.intervals(statistics, metric) if resampling.ci else {}
    right, wrong = option_lengths(file.questions, MOST_WORDS)
    texts = file.questions.texts
    measures = measure_mcq(file.questions, drawn=options.drawn, ties=options.ties)
    return {
        "scores": {
            name: {"value": value, **({"ci": ci[name].as_list()} if name in ci else {})}
            for name, value in scores.items()
        },
        "repeated_questions": repeated_questions(texts) if any(text.writer for text in texts) else None,
        "explanations": _explained(file.questions, resampling),
        "by_place": {
            model: {str(place): value for place, value in values.items()}
            for model, values in by_place(file.questions, measures).items()
        },
        **({"first_less_second": _places(file, measures, resampling)} if resampling.ci else {}),
        "lengths": {"right": right.tolist(), "wrong": wrong.tolist()},
    }


def _places(file: NamedQuestions, measures: McqMeasures, resampling: Resampling) -> dict[str, Any]:
    compared = jsonable(first_less_second(file.questions, measures, resampling))
    return {
        model: {name: value for name, value in one.items() if name not in ("value", "other")}
        for model, one in compared.items()
    }


def _explained(questions: McqQuestions, resampling: Resampling) -> dict[str, Any] | None:
    measured = measure_explanations(questions)
    if measured is None:
        return None
    statistics, metric = measured
    json: dict[str, Any] = {"count": len(statistics.items), **metric.scores(statistics)}
    if resampling.ci:
        json["ci"] = jsonable(resampling.intervals(statistics, metric))
    return json


def _measures_table(by_file: Mapping[str, Mapping[str, Any]], resampling: Resampling) -> ScoreTable:
    names = list(dict.fromkeys(name for file in by_file.values() for name in file["scores"]))
    columns = ["measure"]
    for name in by_file:
        columns += [f"{name}#", *([f"{name}, 95% interval#"] if resampling.ci else [])]
    rows: list[list[Cell]] = []
    for name in names:
        row: list[Cell] = [name]
        for file in by_file.values():
            score = file["scores"].get(name)
            row.append(None if score is None else score["value"])
            if resampling.ci:
                row.append("" if score is None else shown_ends(score["ci"], 3))
        rows.append(row)
    if any(file["repeated_questions"] is not None for file in by_file.values()):
        row = ["asked again by the same writer"]
        for file in by_file.values():
            row += [file["repeated_questions"], *([""] if resampling.ci else [])]
        rows.append(row)
    return ScoreTable("Written questions", tuple(columns), rows, digits=3)


def _explanations_table(explained: Mapping[str, Mapping[str, Any]]) -> ScoreTable:
    columns = ("file", "explanations#", "similar#", "similar, same writer#", "trivial#", "similar and trivial#")
    rows: list[list[Cell]] = []
    for name, file in explained.items():
        rows.append([name, int(file["count"]), *(file[share] for share in EXPLANATION_SHARES)])
        if "ci" in file:
            rows.append(["  95% interval", "", *(shown_ends(file["ci"][each], 3) for each in EXPLANATION_SHARES)])
    return ScoreTable("Explanations (fractions)", columns, rows, digits=3)


def _places_table(by_file: Mapping[str, Mapping[str, Any]], resampling: Resampling) -> ScoreTable:
    rows: list[tuple[Cell, ...]] = []
    for name, file in by_file.items():
        for model, values in file["by_place"].items():
            first, second = values.get("1"), values.get("2")
            if first is not None and second is not None:
                drawn: tuple[Cell, ...] = ()
                if resampling.ci:
                    comparison = file["first_less_second"][model]
                    drawn = (shown_ends(comparison["ci"]), *(comparison.get(name) for name in _TESTS))
                rows.append((name, model, first, second, first - second, *drawn))
    columns = ("file", "model", "first#", "second#", "difference#")
    return ScoreTable(
        "Accuracy on the first and the second question about a passage",
        (*columns, "95% interval#", *_TESTS.values()) if resampling.ci else columns,
        rows,
    )


def _compared(
    files: Sequence[NamedQuestions], options: McqOptions, resampling: Resampling
) -> tuple[dict[str, Any], ScoreTable]:
    """Compares every other file with the first. Each file is resampled separately."""
    first = measure_written(files[0].questions)
    compared: dict[tuple[str, str], UnpairedComparison] = {}
    for file in files[1:]:
        clusters = options.clusters(file.questions), options.clusters(files[0].questions)
        scores = resampling.compare_apart(measure_written(file.questions), first, clusters)
        compared |= {(file.name, name): comparison for name, comparison in scores.items()}
    columns, cells = test_columns(list(compared.values()), 3)
    rows: list[tuple[Cell, ...]] = [
        (*names, comparison.difference, *tests)
        for (names, comparison), tests in zip(compared.items(), cells, strict=True)
    ]
    json: dict[str, Any] = {file.name: {} for file in files[1:]}
    adjusted = adjusted_p_values(list(compared.values()))
    for ((file_name, name), comparison), more in zip(compared.items(), adjusted, strict=True):
        json[file_name][name] = {**comparison.as_dict(), **more}
    title = f"Written questions: difference from {files[0].name}"
    table = ScoreTable(title, ("file", "measure", "difference#", *columns), rows, digits=3)
    return {"with": files[0].name, "files": json}, table
