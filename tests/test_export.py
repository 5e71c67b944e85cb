"""What leaves a study, on both databases."""

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars
import pytest

from chorale.engine.running import Study
from chorale.engine.settling import settle_everything
from chorale.engine.work import Offer
from chorale.exchange.export import (
    export_file_name,
    export_formats,
    write_export,
)
from chorale.files.tables import unescape_cell
from chorale.model import UserError
from chorale.monitor.outcomes import tallies
from chorale.monitor.status import summary
from chorale.store import participations
from chorale.store.items import all_items
from conftest import ManualClock, StudyMaker
from crowd import Person, do, gold_answer, is_gold, look, people, work_through

HOSTILE = ('=cmd|" /C calc"!A1\t"quoted"\n[red]', "-1+1 \x1b[31m<script>alert(1)</script>,;\u2028")


def answer_to(person: Person, offer: Offer) -> str:
    """Right on gold. Application 1 has a meaningless left side, 2 a meaningless right side; 3 does not follow."""
    assert offer.view is not None
    if is_gold(offer):
        return gold_answer(offer)
    number = int(offer.view.get("rhs", offer.view.get("phrase", "")).split()[-1])
    if "rhs" in offer.view:
        return "no" if number == 3 else "yes"
    side = "lhs" if "paint" in offer.view["phrase"] else "rhs"
    if (number, side) in ((1, "lhs"), (2, "rhs")):
        return "no"
    # Application 4 splits the crowd.
    return "no" if number == 4 and person.id % 2 else "yes"


def judged(make_study: StudyMaker, answer: Callable[[Person, Offer], str] = answer_to, **settings: Any) -> Study:
    study = make_study(**{"applications": 6, "share": 0.3, "gold": 6, **settings})
    everyone = people(study, 8)
    for stage in ("meaningful", "entailment"):
        work_through(everyone, answer, stage)
    return study


def exported(study: Study, format_name: str, folder: Path) -> tuple[Path, int]:
    path = folder / export_file_name(study, format_name)
    return path, write_export(study, format_name, path)


def csv_rows(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def test_the_papers_table(make_study: StudyMaker, tmp_path: Path) -> None:
    study = judged(make_study)
    path, count = exported(study, "zeichner", tmp_path)
    text = path.read_text("utf-8")
    assert text.splitlines()[0] == "rule_lhs\trule_rhs\tlhs\trhs\tjudgment\tconfidence"
    assert "\r" not in text
    rows = csv_rows(path, "\t")
    assert len(rows) == count
    judgments = {int(row["lhs"].split()[-1]): (row["judgment"], row["confidence"]) for row in rows}
    assert judgments[0] == ("Yes", "1")
    assert 1 not in judgments, "set aside"
    assert judgments[2] == ("No", "1")
    assert judgments[3] == ("No", "1")
    assert all(0.7 <= float(row["confidence"]) <= 1 and len(row["confidence"]) <= 6 for row in rows)
    counts = look(study, lambda tx: tallies(tx, study))["zeichner"]
    assert counts["set aside: left side meaningless"] == 1
    assert counts["entailing"] + counts["non-entailing"] == count
    assert sum(counts.values()) == 6


def test_a_meaningless_left_side_can_count_as_non_entailing(make_study: StudyMaker, tmp_path: Path) -> None:
    path, _ = exported(judged(make_study, meaningless_lhs="non-entailing"), "zeichner", tmp_path)
    judgments = {int(row["lhs"].split()[-1]): row["judgment"] for row in csv_rows(path, "\t")}
    assert judgments[1] == "No"


def test_responses_carry_everything_in_all_three_formats(make_study: StudyMaker, tmp_path: Path) -> None:
    study = judged(make_study)
    path, count = exported(study, "jsonl", tmp_path)
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len(lines) == count > 36
    kinds = {line["kind"] for line in lines}
    assert kinds == {"production", "gold"}
    for line in lines:
        _check_response(line)
    table = csv_rows(exported(study, "csv", tmp_path)[0])
    assert [int(row["response"]) for row in table] == [line["response"] for line in lines]
    assert list(table[0]) == list(lines[0])
    assert [json.loads(row["payload"]) for row in table] == [line["payload"] for line in lines]
    frame = polars.read_parquet(exported(study, "parquet", tmp_path)[0])
    assert frame.columns == list(lines[0])
    assert frame["duration_ms"].to_list() == [line["duration_ms"] for line in lines]
    assert frame["counts"].dtype == polars.Boolean


@pytest.mark.parametrize("format_name", ["labels", "huggingface"])
def test_withdrawn_items_are_in_no_table_of_labels(make_study: StudyMaker, tmp_path: Path, format_name: str) -> None:
    """Their answers stay among the responses: they were given, and paid."""
    study = judged(make_study)
    stage = study.stage("meaningful")
    for number in range(1, 5):
        do(study, lambda tx, _, worker: participations.drop(tx, stage.id, worker), number)
    settle_everything(study)
    items = look(study, lambda tx: list(all_items(tx, "entailment")))
    withdrawn = {item.key for item in items if item.state == "withdrawn"}
    assert withdrawn
    path, _ = exported(study, format_name, tmp_path)
    rows = polars.read_parquet(path / "data" / "labels.parquet").to_dicts() if path.is_dir() else csv_rows(path)
    listed = {row["item"] for row in rows if row["stage"] == "entailment"}
    assert listed == {item.key for item in items} - withdrawn
    assert all(row["state"] != "withdrawn" for row in rows)
    responses = csv_rows(exported(study, "csv", tmp_path)[0])
    assert withdrawn <= {row["item"] for row in responses if row["stage"] == "entailment"}


def _check_response(line: Mapping[str, Any]) -> None:
    assert line["submitted_at"] == "2027-01-15T08:00:00.000Z"
    assert line["submitted_at_ms"] == 1_800_000_000_000
    assert line["worker"].startswith("w-")
    assert line["task_version"] == {"meaningful": 2, "entailment": 1}[line["stage"]]
    assert line["counts"] is (line["kind"] == "production")
    if line["kind"] == "gold":
        assert (line["gold_answer"], line["gold_score"]) == (line["answer"], 1.0)
    elif line["stage"] == "entailment":
        assert line["item_sources"] == [f"meaningful/{line['item']}:lhs", f"meaningful/{line['item']}:rhs"]
    else:
        assert line["payload"]["side"] in ("lhs", "rhs")
        assert line["item_state"] == "complete"


def test_labels_have_one_row_an_item(make_study: StudyMaker, tmp_path: Path) -> None:
    study = judged(make_study)
    path, count = exported(study, "labels", tmp_path)
    rows = csv_rows(path)
    assert len(rows) == count
    assert len({(row["stage"], row["item"]) for row in rows}) == count
    first = rows[0]
    assert (first["item"], first["label"], first["confidence"], first["judgments"]) == ("a00000:lhs", "yes", "1.0", "3")
    assert (first["released"], first["state"], first["is_gold"], first["sources"]) == (
        "true",
        "complete",
        "false",
        "[]",
    )


def test_triples_for_crowd_kit(make_study: StudyMaker, tmp_path: Path) -> None:
    study = judged(make_study)
    rows = csv_rows(exported(study, "crowdkit", tmp_path)[0])
    assert list(rows[0]) == ["task", "worker", "label"]
    assert {row["task"].split("/")[0] for row in rows} == {"meaningful", "entailment"}
    assert sum(row["task"] == "meaningful/a00000:lhs" for row in rows) == 3
    assert not any("g0" in row["task"] for row in rows), "no gold"


def test_workers_and_the_ledger(make_study: StudyMaker, clock: ManualClock, tmp_path: Path) -> None:
    def after_a_while(person: Person, offer: Offer) -> str:
        clock.pass_minutes(0.5)
        return answer_to(person, offer)

    study = judged(make_study, after_a_while, fee_percent=30)
    workers = csv_rows(exported(study, "workers", tmp_path)[0])
    assert {row["standing"] for row in workers} == {"active"}
    assert all(float(row["trust"]) in (0.6, 1.0) for row in workers)
    # Three cents for the second that people say they worked.
    assert {row["hourly_wage"] for row in workers if row["stage"] == "meaningful"} == {"10800"}
    ledger = csv_rows(exported(study, "ledger", tmp_path)[0])
    base = sum(int(line["amount"]) for line in ledger if line["kind"] == "base")
    assert base == sum(int(row["paid"]) for row in workers)
    assert {line["kind"] for line in ledger} == {"base", "fee"}
    assert look(study, lambda tx: summary(tx, study))["ledger"]["base"] == base


def test_a_dropped_workers_judgments_are_kept_and_do_not_count(make_study: StudyMaker, tmp_path: Path) -> None:
    study = make_study(applications=6, share=0.5, after=2)
    spammer = Person(study, "the-spammer")
    while spammer.next().lease is not None:
        offer = spammer.next()
        wrong = "no" if is_gold(offer) and gold_answer(offer) == "yes" else "yes"
        spammer.submit(offer, wrong)
    lines = [json.loads(line) for line in exported(study, "jsonl", tmp_path)[0].read_text("utf-8").splitlines()]
    assert any(line["kind"] == "production" for line in lines)
    assert not any(line["counts"] for line in lines)
    assert csv_rows(exported(study, "crowdkit", tmp_path)[0]) == []
    batch = csv_rows(exported(study, "mturk", tmp_path)[0])
    # Their work was paid, which is what this column says to whoever reads a batch file.
    assert {(row["AssignmentStatus"], row["Counts"]) for row in batch} == {("Approved", "no")}
    told = look(study, lambda tx: summary(tx, study))
    assert told["dropped"][0]["worker"] == spammer.pseudonym
    assert told["stages"][0]["discarded"] == sum(line["kind"] == "production" for line in lines)


def test_nothing_exported_names_a_person_to_their_panel(make_study: StudyMaker, tmp_path: Path) -> None:
    study = judged(make_study)
    for name in export_formats(study):
        if name != "parquet":
            assert "person-" not in exported(study, name, tmp_path)[0].read_text("utf-8")
    frame = polars.read_parquet(exported(study, "parquet", tmp_path)[0])
    assert "person-" not in frame.write_csv()
    assert "person-" not in json.dumps(look(study, lambda tx: summary(tx, study)))


def test_hostile_texts_are_kept_and_are_no_formulas(make_study: StudyMaker, tmp_path: Path) -> None:
    study = make_study(applications=2, texts=HOSTILE)
    everyone = people(study, 8)
    for stage in ("meaningful", "entailment"):
        work_through(everyone, lambda _person, _offer: "yes", stage)
    path, count = exported(study, "zeichner", tmp_path)
    assert count == 2
    assert len(path.read_text("utf-8").split("\n")) == 4, "a header, two lines, and nothing after the last"
    for row in csv_rows(path, "\t"):
        assert not row["lhs"].startswith("=")
        assert unescape_cell(row["lhs"]).startswith('=cmd|" /C calc"!A1 "quoted" [red]')
        assert unescape_cell(row["rhs"]).startswith("-1+1 \x1b[31m<script>")
    payloads = [
        json.loads(line)["payload"]["phrase"]
        for line in exported(study, "jsonl", tmp_path)[0].read_text("utf-8").split("\n")
        if '"meaningful"' in line
    ]
    assert f"{HOSTILE[0]} 0" in payloads
    assert f"{HOSTILE[1]} 1" in payloads
    for name in ("csv", "labels", "workers", "ledger"):
        for csv_row in csv_rows(exported(study, name, tmp_path)[0]):
            assert not any(cell.startswith(("=", "+", "@", "\t")) for cell in csv_row.values())


def test_a_study_without_work_exports_empty_tables(make_study: StudyMaker, tmp_path: Path) -> None:
    study = make_study()
    assert exported(study, "zeichner", tmp_path)[1] == 0
    assert exported(study, "jsonl", tmp_path)[1] == 0
    assert exported(study, "parquet", tmp_path)[1] == 0
    assert exported(study, "labels", tmp_path)[1] == 8
    assert look(study, lambda tx: tallies(tx, study))["zeichner"]["unfinished"] == 4


def test_the_papers_table_needs_the_papers_stages(make_study: StudyMaker, tmp_path: Path) -> None:
    study = make_study()
    only_phrases = {"meaningful": study.stage("meaningful")}
    lone = Study(study.settings, study.consent, only_phrases, study.store, study.clock)
    with pytest.raises(UserError, match="rules-entailment"):
        write_export(lone, "zeichner", tmp_path / "table.tsv")
    assert not (tmp_path / "table.tsv").exists()
    assert "zeichner" in export_formats(study)
    assert "zeichner" not in export_formats(lone)


def test_a_failed_export_leaves_what_was_there(make_study: StudyMaker, tmp_path: Path) -> None:
    study = judged(make_study)
    for name in ("jsonl", "csv", "parquet"):
        with pytest.raises(UserError, match="can't be written: No such file or directory"):
            write_export(study, name, tmp_path / "no such folder" / "file")
    with pytest.raises(UserError, match="Did you mean `jsonl`"):
        write_export(study, "jsnl", tmp_path / "file.jsonl")
    assert not list(tmp_path.glob("*.jsonl")) and not list(tmp_path.glob(".*.part"))
