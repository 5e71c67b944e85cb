"""What Chorale exports, its other commands read with the right numbers, or refuse with the option to use."""

import csv
import json
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from chorale.cli.program import app
from chorale.engine.opening import open_study
from chorale.engine.started import started_study
from chorale.exchange.export import write_export
from chorale.exchange.importing import import_files
from chorale.files.batch_files import BatchOptions
from chorale.metrics.resampling import Resampling
from chorale.report import ReportOptions, study_report
from chorale.store.responses import counted_responses
from crowd import Person, look
from test_form import field_toml

OPTIONS = ["law", "tax|duty", "NA", "[]"]
GIVEN = [[], ["law"], ["tax|duty"], ["law", "tax|duty"], ["NA"], ["[]", "law"]]
STUDY = """\
study = { title = "Topics", contact = "team@example.org", consent = "text.md", seed = 3 }
arrival = { worker_pattern = "[a-z0-9-]+" }
pay = { currency = "EUR" }

[[stage]]
name = "main"
title = "Topics"
task = "form"
guidelines = "text.md"
items = { file = "items.csv" }
judgments = 3
pay = { per_judgment = 5, expected_seconds = 20 }
[stage.options]
shows = [{ item = "text" }]
"""
FILES = {
    "crowdkit": "crowdkit.csv",
    "csv": "responses.csv",
    "jsonl": "responses.jsonl",
    "parquet": "responses.parquet",
    "form-answers": "form-answers.csv",
    "mturk": "batch_results.csv",
    "tidy": "tidy.csv",
}


def masi(left: set[str], right: set[str]) -> float:
    if left == right:
        return 0.0
    within = 2 / 3 if left <= right or right <= left else 1 / 3 if left & right else 0
    return 1 - len(left & right) / len(left | right) * within


def alpha(answers: dict[str, list[set[str]]]) -> float:
    every = [given for of_item in answers.values() for given in of_item]
    observed = sum(2 * sum(masi(*pair) for pair in combinations(given, 2)) / 2 for given in answers.values())
    expected = 2 * sum(masi(*pair) for pair in combinations(every, 2)) / (len(every) - 1)
    return 1 - observed / expected


def answer(number: int, person: int) -> dict[str, Any]:
    """Topics that mostly agree, marks, and one of three short texts."""
    topics = GIVEN[(number + (person == 2) * (number % 3)) % len(GIVEN)]
    ordered = [option for option in OPTIONS if option in topics]
    marks = [{"start": 0, "end": 1 + (person + number) % 2}] if number % 3 else []
    given = {"topics": ordered, "marks": marks, "why": ("ok", "fine", "unclear")[(number + person) % 3]}
    return given if number % 2 and person else {**given, "sure": 1 + number % 3}


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """The folder with the exports, and Krippendorff's α of the topics."""
    folder = tmp_path_factory.mktemp("topics")
    (folder / "text.md").write_text("Read.\n")
    rows = "".join(f"i{number:02d},Text number {number}\n" for number in range(12))
    (folder / "items.csv").write_text(f"id,text\n{rows}")
    fields = (
        field_toml(name="topics", kind="choices", ask="Which?", options=OPTIONS, min=0)
        + field_toml(name="marks", kind="spans", ask="Where?", item="text", min=0)
        + field_toml(name="why", kind="text", ask="Why?")
        + field_toml(name="sure", kind="likert", ask="Sure?", levels=3, required=False)
    )
    (folder / "study.toml").write_text(STUDY + fields)
    answers: dict[str, list[set[str]]] = {}
    with closing(open_study(folder)) as study:
        for person in range(3):
            worker = Person(study, f"person-{person}")
            while (offer := worker.next("main")).lease is not None:
                number = int((offer.view or {})["text"].split()[-1])
                given = answer(number, person)
                answers.setdefault(f"i{number:02d}", []).append(set(given["topics"]))
                worker.submit(offer, given, f"key-{person:04d}-{number:04d}")
        for name, file in FILES.items():
            write_export(study, name, folder / file)
    return folder, alpha(answers)


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    return result.exit_code, result.output if result.exception is None else f"{result.output}{result.exception}"


TABLES = [file for name, file in FILES.items() if name != "tidy"]


@pytest.mark.parametrize("file", TABLES)
def test_sets_have_the_agreement_of_the_report_or_are_refused(exports: tuple[Path, float], file: str) -> None:
    folder, expected = exports
    sep = "|" if file.startswith("batch") else "json"
    code, said = run("agreement", folder / file, "--label", "topics", "--sep", sep, "--distance", "masi", "--json")
    assert code == 0
    assert json.loads(said)["value"] == pytest.approx(expected)
    if file != "responses.jsonl":  # its lists are lists
        for command in ("agreement", "aggregate"):
            code, said = run(command, folder / file, "--label", "topics")
            assert code != 0 and f"--sep {sep}" in said.replace("'", ""), said


@pytest.mark.parametrize("file", TABLES)
def test_free_text_is_neither_compared_nor_aggregated_as_labels(exports: tuple[Path, float], file: str) -> None:
    code, said = run("agreement", exports[0] / file, "--label", "why")
    assert code != 0 and "are free text" in said and "--free-text" in said
    code, said = run("aggregate", exports[0] / file, "--label", "why")
    assert code != 0 and "labels that are free text" in said and "rover" in said
    assert run("aggregate", exports[0] / file, "--label", "why", "--method", "rover")[0] == 0


def test_rows_of_one_field_with_several_values_are_refused(exports: tuple[Path, float]) -> None:
    """Before, the last option of each answer was compared."""
    folder = exports[0]
    with (folder / "tidy.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for field, is_read in (("topics", False), ("marks", False), ("why", True)):
        part = folder / f"tidy-{field}.csv"
        with part.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(row for row in rows if row["field"] == field)
        code, said = run("agreement", part, "--task", "item", "--label", "value", "--free-text")
        assert (code == 0) is is_read
        assert is_read or "has a row for every value, not for every judgment" in said


@pytest.mark.parametrize("file", [file for file in TABLES if not file.endswith("parquet")])
@pytest.mark.parametrize("label", ["topics", "why"])
def test_imported_exports_keep_sets_and_free_text(
    exports: tuple[Path, float], tmp_path: Path, file: str, label: str
) -> None:
    """Also an option with the separator of a batch file, an answer without any option, and pay in euros."""
    folder = exports[0]
    done = import_files([folder / file], tmp_path / "again", BatchOptions(label=label), title="Again")
    (counts,) = done.stages.values()
    assert counts["judgments"] == 36
    with started_study(tmp_path / "again", None) as study:
        (stage,) = study.stages.values()
        (field,) = stage.task.shape.fields
        assert field.compared is (label == "topics")
        given = {row.item.removeprefix("main/"): row.answer["label"] for row in look(study, _counted(stage.name))}
        number = int(min(given).removeprefix("i"))
        if label == "topics":
            assert {frozenset(one) for one in given.values()} <= {frozenset(one) for one in GIVEN}
            assert any(one == [] for one in given.values()) and number == 0
    assert any("is not in dollars (found '€0.05')" in note for note in done.notes) is file.startswith("batch")


def test_imported_spans_are_text_as_hardly_any_two_are_equal(exports: tuple[Path, float], tmp_path: Path) -> None:
    for file in ("responses.csv", "batch_results.csv"):
        import_files([exports[0] / file], tmp_path / file, BatchOptions(), title="Again")
        with started_study(tmp_path / file, None) as study:
            (stage,) = study.stages.values()
            kinds = {field.name.removeprefix("answer_"): str(field.kind) for field in stage.task.shape.fields}
        assert kinds == {"topics": "labels", "marks": "text", "why": "text", "sure": "label"}


def test_the_report_counts_labels_as_the_export_does(exports: tuple[Path, float], tmp_path: Path) -> None:
    """Before, items where most people had left an optional field empty counted as labelled, and often as accepted."""
    with started_study(exports[0], None) as study:
        write_export(study, "tidy-labels", tmp_path / "exported.csv")
        report = study_report(study, exports[0], tmp_path, ReportOptions(charts=False), Resampling(False))
    labels = pd.read_csv(tmp_path / "exported.csv")
    labels = labels[labels["field"] == "sure"]
    (results,) = [section for section in report.sections if section.name == "results"]
    (sure,) = [one for one in results.json["questions"] if one["question"] == "main: sure"]
    assert (sure["items"], sure["accepted"]) == (len(labels), labels["accepted"].sum()) == (6, 6)
    assert sure["confidence"] == pytest.approx(labels["confidence"].mean())
    assert "Items without a label, because most people left the question empty: main: sure (6 items)." in str(
        results.parts
    )


def _counted(stage: str) -> Any:
    return lambda tx: list(counted_responses(tx, stage))
