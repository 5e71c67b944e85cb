"""Exports for other programs: Label Studio, Mechanical Turk's batches, Hugging Face's datasets."""

import csv
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars
import pytest
from click.testing import CliRunner, Result

from chorale.cli import app
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.exchange.export import export_formats, write_export
from chorale.exchange.export_columns import response_columns, response_lines
from chorale.exchange.export_rows import response_rows
from chorale.files.batch_files import BatchOptions, read_batch
from chorale.model import UserError
from conftest import ManualClock, StudyMaker
from crowd import look, people, work_through
from small_study import write_small_study
from test_export import answer_to, judged


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    folder = tmp_path_factory.mktemp("elsewhere") / "study"
    write_small_study(folder, applications=6, share=0.3, gold=6)
    opened = open_study(folder, clock=ManualClock())
    for stage in ("meaningful", "entailment"):
        work_through(people(opened, 8), answer_to, stage)
    yield opened
    opened.close()


def run(*arguments: object, code: int = 0) -> Result:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == code, done.output
    return done


def test_columns_have_what_rows_have(make_study: StudyMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    study = judged(make_study)
    monkeypatch.setattr("chorale.exchange.export_columns.SIZE", 7)
    rows = look(study, lambda tx: list(response_rows(tx, study)))
    names = list(rows[0])
    batches = look(study, lambda tx: list(response_columns(tx, study, names)))
    assert len(batches) > 2
    turned = [dict(zip(names, values, strict=True)) for batch in batches for values in zip(*batch, strict=True)]
    for row, column in zip(rows, turned, strict=True):
        for name in names:
            value = json.loads(column[name]) if isinstance(row[name], dict | list) else column[name]
            assert value == row[name], name
    lines = look(study, lambda tx: [line for batch in response_lines(tx, study, names) for line in batch])
    assert lines == [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]


def test_progress_is_told_while_rows_are_written(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorale.exchange.export._STEP", 10)
    told: list[tuple[int, int]] = []
    rows = write_export(study, "csv", tmp_path / "out.csv", lambda done, total: told.append((done, total)))
    assert [done for done, _ in told] == list(range(10, rows + 1, 10))
    assert {total for _, total in told} == {rows}


def test_label_studio_gets_every_item_with_its_counted_answers(make_study: StudyMaker, tmp_path: Path) -> None:
    study = judged(make_study)
    count = write_export(study, "labelstudio", tmp_path / "tasks.json")
    tasks = json.loads((tmp_path / "tasks.json").read_text("utf-8"))
    assert len(tasks) == count
    write_export(study, "labels", tmp_path / "labels.csv")
    with (tmp_path / "labels.csv").open(encoding="utf-8", newline="") as file:
        labels = {(row["stage"], row["item"]): row for row in csv.DictReader(file)}
    assert {(one["data"]["chorale_stage"], one["data"]["chorale_item"]) for one in tasks} == set(labels)
    for one in tasks:
        label = labels[one["data"]["chorale_stage"], one["data"]["chorale_item"]]
        assert len(one["annotations"]) == int(label["judgments"])
        [prediction] = one["predictions"]
        assert prediction["result"][0]["value"] == {"choices": [label["label"]]}
        assert prediction["score"] == float(label["confidence"])
        assert all(each["result"][0]["type"] == "choices" for each in one["annotations"])


def test_a_batch_of_mechanical_turk_comes_back_as_it_left(study: Study, tmp_path: Path) -> None:
    count = write_export(study, "mturk", tmp_path / "batch.csv")
    batch = read_batch(tmp_path / "batch.csv", BatchOptions(), tmp_path / "batch.rows")
    found = list(batch.rows())
    assert (batch.panel, [field.title for field in batch.fields], len(found)) == ("mturk", ["answer"], count)
    rows = [row for row in look(study, lambda tx: list(response_rows(tx, study))) if row["kind"] == "production"]
    ours = {(f"{row['stage']}/{row['item']}", row["worker"]): row for row in rows}
    for row in found:
        mine = ours[row.task, row.worker]
        assert (row.given[0], row.submitted_at) == (mine["answer"], mine["submitted_at_ms"] // 1000 * 1000)


def test_a_dataset_folder_has_a_card_and_is_whole_or_not_there(study: Study, tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    rows = write_export(study, "huggingface", folder)
    card = (folder / "README.md").read_text("utf-8")
    assert card.startswith("---\npretty_name: ")
    assert polars.read_parquet(folder / "data" / "responses.parquet").height == rows
    for name in ("responses", "labels"):
        checksum = hashlib.sha256((folder / "data" / f"{name}.parquet").read_bytes()).hexdigest()
        described = f"data_files: data/{name}.parquet\n  description: SHA-256 {checksum}\n"
        assert described in card, "`datasets` shows an earlier export if the card's settings are the same"
    labels = polars.read_parquet(folder / "data" / "labels.parquet")
    assert labels.schema["confidence"] == polars.Float64
    with pytest.raises(Exception, match="already exists"):
        write_export(study, "huggingface", folder)
    with pytest.raises(Exception, match="can't be created"):
        (tmp_path / "file").write_text("")
        write_export(study, "huggingface", tmp_path / "file" / "dataset")
    assert {path.name for path in tmp_path.iterdir()} == {"dataset", "file"}
    # The site's export page sends single files.
    assert "huggingface" not in export_formats(study)


def test_a_study_without_arms_has_no_table_of_arms(study: Study, tmp_path: Path) -> None:
    assert study.settings.arms is None and "arms" not in export_formats(study)
    with pytest.raises(UserError, match=r"^This study has no arms\. It can be exported as .*labels"):
        write_export(study, "arms", tmp_path / "arms.csv")
    assert not (tmp_path / "arms.csv").exists()


def test_the_command_writes_folders_and_refuses_them_on_standard_output(study: Study, tmp_path: Path) -> None:
    folder = str(study.store.read(lambda tx: tx.engine.url.database).result())[: -len("/study.db")]
    told: dict[str, Any] = json.loads(
        run("export", folder, "--format", "huggingface", "--out", tmp_path / "set", "--json").stdout
    )
    assert told["rows"] > 0
    assert (
        "can't be written to standard output"
        in run("export", folder, "--format", "huggingface", "--out", "-", code=2).stderr
    )
    assert "huggingface" in run("export", folder, "--format", "hugingface", code=2).stderr


@pytest.mark.slow
def test_hugging_face_loads_the_folder(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    rows = write_export(study, "huggingface", tmp_path / "dataset")
    cache = str(tmp_path / "cache")
    responses = datasets.load_dataset(str(tmp_path / "dataset"), "responses", cache_dir=cache)["train"]
    assert responses.num_rows == rows
    assert {"worker", "answer", "counts"} <= set(responses.column_names)
    labels = datasets.load_dataset(str(tmp_path / "dataset"), "labels", cache_dir=cache)["train"]
    assert {"label", "confidence", "released"} <= set(labels.column_names)
