"""Work that was done elsewhere becomes a finished study: all of it, or nothing."""

import csv
import gzip
import io
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from chorale.cli import app

TURK = (
    "HITId",
    "WorkerId",
    "AssignmentStatus",
    "SubmitTime",
    "WorkTimeInSeconds",
    "Reward",
    "Input.text",
    "Answer.tone",
)


def run(*arguments: object, code: int = 0) -> Result:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == code, done.output
    return done


def write(path: Path, columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> Path:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([columns, *rows])
    raw = text.getvalue().encode("utf-8")
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


def turk_rows() -> list[tuple[object, ...]]:
    """Three people on four messages; the third never agrees, and one piece of work was rejected."""
    rows: list[tuple[object, ...]] = []
    for hit in range(4):
        for person in range(3):
            tone = "rude" if person == 2 or hit == 0 else "kind"
            when = f"Mon Sep 25 09:{hit:02}:{person:02} PDT 2017"
            text = f"message {hit} =1+1 <b>"
            rows.append((f"HIT{hit}", f"A{person}SECRET", "Approved", when, 30 + person, "$0.07", text, tone))
    rows.append(
        ("HIT0", "A9SECRET", "Rejected", "Mon Sep 25 10:00:00 PDT 2017", 1, "$0.07", "message 0 =1+1 <b>", "kind")
    )
    return rows


def test_a_batch_of_mechanical_turk_becomes_a_study_with_everything(tmp_path: Path) -> None:
    file = write(tmp_path / "Batch_17_batch_results.csv.gz", TURK, turk_rows())
    study = tmp_path / "old"
    done = json.loads(run("import", file, "--out", study, "--title", "Old tones", "--json").stdout)
    assert done["stages"] == {"batch-17": {"judgments": 12, "items": 4, "workers": 3}}
    assert any("“rejected” in the column AssignmentStatus" in note for note in done["notes"])
    assert json.loads(run("verify", study, "--json").stdout)["ok"]
    told = json.loads(run("status", study, "--json").stdout)
    [stage] = told["stages"]
    assert (stage["items"], stage["complete"], stage["judgments"], stage["workers"]) == (4, 4, 12, 3)
    assert told["ledger"] == {"base": 12 * 7, "bonus": 0, "fee": 0, "model": 0}
    # They were paid where they worked, and must not be paid again.
    assert "in payouts $0.84, owed $0.00." in run("pay", study).stdout
    with closing(sqlite3.connect(study / "study.db")) as database:
        [(state, people)] = database.execute(
            "SELECT state, COUNT(reported_at) FROM payout JOIN payment ON payout_id = payout.id GROUP BY state"
        )
    assert (state, people) == ("settled", 3)
    assert "Hourly wage" in run("status", study).stdout
    run("export", study, "--format", "jsonl", "--out", tmp_path / "responses.jsonl")
    text = (tmp_path / "responses.jsonl").read_text("utf-8")
    assert "SECRET" not in text
    rows = [json.loads(line) for line in text.splitlines()]
    assert rows[0]["submitted_at"] == "2017-09-25T16:00:00.000Z"
    assert {row["duration_ms"] for row in rows} == {30_000, 31_000, 32_000}
    labels = {row["item"]: (row["item_label"], row["payload"]["text"]) for row in rows}
    assert labels["HIT0"] == ({"label": "rude"}, "message 0 =1+1 <b>")
    assert labels["HIT3"][0] == {"label": "kind"}
    run("check", study)
    report = json.loads(run("report", study, "--json", "--resamples", 100).stdout)
    assert "imported into Chorale" in report["methods"]["Design"]
    assert report["verification"]["differences"] == []
    assert report["disagreement"]["examples"]["batch-17"][0]["answers"] == "2 × kind; 1 × rude"
    [alpha] = report["agreement"]["coefficients"]
    write(tmp_path / "triples.csv", ("task", "worker", "label"), [(row[0], row[1], row[7]) for row in turk_rows()[:-1]])
    assert alpha["value"] == json.loads(run("agreement", tmp_path / "triples.csv", "--json").stdout)["value"]


def report_of(directory: Path, file: Path, *options: object) -> tuple[str, dict[str, Any]]:
    """The report on an imported file, as text and as JSON."""
    run("import", file, "--out", directory / "old", *options)
    run("report", directory / "old", "--out", directory / "report.html", "--resamples", 100)
    numbers: dict[str, Any] = json.loads(run("report", directory / "old", "--json", "--resamples", 100).stdout)
    return (directory / "report.html").read_text("utf-8"), numbers


def test_the_report_counts_what_the_import_left_out(tmp_path: Path) -> None:
    again, empty = list(turk_rows()[5]), list(turk_rows()[0])
    empty[1], empty[-1] = "A7SECRET", ""
    page, report = report_of(tmp_path, write(tmp_path / "b.csv", TURK, [*turk_rows(), tuple(again), tuple(empty)]))
    assert report["funnel"]["left_out"] == {"rejected": 1, "repeated": 1, "empty": 1}
    rejected = "1 judgment that was rejected on Mechanical Turk was left out at import."
    analysis = report["methods"]["Labels, agreement and exclusions"]
    assert rejected in analysis and "1 row without an answer was left out at import." in analysis
    assert "No other annotation was excluded." in analysis and "No annotation was excluded" not in analysis
    assert "0 workers, 0 annotations; left out at import: 3 judgments" in page
    flow = page[page.index('id="flow"') : page.index('id="costs"')]
    assert rejected in flow


def test_a_renamed_column_is_named(tmp_path: Path) -> None:
    columns = ("HITId", "WorkerId", "Input.id", "Input.text", "Answer.Q1")
    rows: list[tuple[object, ...]] = [
        (f"h{task}", worker, f"s{task}", f"text {task}", "yes") for task in range(3) for worker in ("A1", "A2")
    ]
    file = write(tmp_path / "batch.csv", columns, rows)
    told = " ".join(run("import", file, "--out", tmp_path / "study").stderr.split())
    assert "'id' is now 'item_id'. To take the item IDs from 'id', name that column of your file with --task." in told
    by_id = run("import", file, "--task", "Input.id", "--out", tmp_path / "by-id")
    assert "item_id" not in by_id.stderr
    assert json.loads((tmp_path / "by-id" / "batch.jsonl").read_text().splitlines()[0])["id"] == "s0"


def test_cancelled_annotations_of_label_studio_are_counted(tmp_path: Path) -> None:
    choices = '<Choices name="c" toName="t"><Choice value="a"/><Choice value="b"/></Choices>'
    (tmp_path / "config.xml").write_text(f'<View><Text name="t" value="$text"/>{choices}</View>')
    choice = {"from_name": "c", "to_name": "t", "type": "choices", "value": {"choices": ["a"]}}
    made = [
        {"completed_by": person, "was_cancelled": person == 3, "result": [] if person == 3 else [choice]}
        for person in (1, 2, 3)
    ]
    tasks = [{"id": number, "data": {"text": f"text {number}"}, "annotations": made} for number in range(2)]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    from_studio = ("import", "labelstudio", tmp_path / "tasks.json", "--config", tmp_path / "config.xml")
    assert "Left out: 2 cancelled annotations." in run(*from_studio, "--out", tmp_path / "study").stderr
    report = CliRunner().invoke(app, ["report", str(tmp_path / "study"), "--out", str(tmp_path / "report.md")])
    assert report.exit_code == 0, report.output
    assert "2 annotations that were cancelled in Label Studio were left out" in (tmp_path / "report.md").read_text()


def test_a_report_on_all_judgments_leaves_nothing_out(tmp_path: Path) -> None:
    page, report = report_of(tmp_path, write(tmp_path / "b.csv", TURK, turk_rows()), "--keep-rejected")
    assert report["funnel"]["left_out"] == {} and "left out at import" not in page
    assert "No annotation was excluded." in report["methods"]["Labels, agreement and exclusions"]


def test_the_participant_flow_of_a_file_has_no_consent(tmp_path: Path) -> None:
    page, _ = report_of(tmp_path, write(tmp_path / "b.csv", TURK, turk_rows()))
    flow = page[page.index('id="flow"') : page.index('id="costs"')]
    assert "in the file: 3 people" in flow
    assert "gave consent" not in page and "joined" not in flow


def test_the_costs_of_a_file_are_without_fees(tmp_path: Path) -> None:
    page, report = report_of(tmp_path, write(tmp_path / "b.csv", TURK, turk_rows()))
    assert "total cost, without fees" in page and "fees included" not in page
    assert "$0.84 (without fees)" in page
    sentence = "Fees are not included, because the imported file does not have them."
    assert sentence in report["methods"]["People, pay and quality control"]
    assert sentence in page[page.index('id="costs"') : page.index('id="data-card"')]


@pytest.mark.parametrize(("rows", "number"), [(12, "3 annotations"), (11, "2 to 3 annotations")])
def test_the_report_on_a_file_has_the_numbers_of_annotations_of_its_items(
    tmp_path: Path, rows: int, number: str
) -> None:
    _, report = report_of(tmp_path, write(tmp_path / "b.csv", TURK, turk_rows()[:rows]))
    assert f"In b (task form), each of 4 items has {number}." in report["methods"]["Design"]
    assert f"Every item has {number}." in report["protocol"]["stages"]["b"]


def test_the_report_says_how_empty_answers_count(tmp_path: Path) -> None:
    """Of three people, one remarks on every message and a second one on the first two."""
    rows = [
        (*row, ("easy" if place % 2 else "hard") if place % 3 == 0 or place in (1, 4) else "")
        for place, row in enumerate(turk_rows()[:12])
    ]
    page, report = report_of(tmp_path, write(tmp_path / "b.csv", (*TURK, "Answer.remark"), rows))
    questions = {one["question"]: one for one in report["results"]["questions"]}
    remark = questions["b: remark"]
    assert (questions["b: tone"]["empty"], remark["empty"]) == (0, 6)
    assert (remark["items"], remark["left_empty"], remark["with_several_answers"]) == (2, 2, 2)
    assert "Questions that some annotations leave empty: b: remark. For the confidence, an empty optional field" in page
    methods = report["aggregation"]["methods"]
    assert {one["compared"] for one in methods if one["question"] == "b: remark"} == {"2 items"}
    assert ">2 items<" in page[page.index("both have a label for them") :]


def test_where_no_time_is_known_nobody_is_said_not_to_have_worked(tmp_path: Path) -> None:
    file = write(tmp_path / "plain.csv", ("task", "worker", "label"), [("t1", "ann", "yes"), ("t1", "bob", "no")])
    run("import", file, "--out", tmp_path / "old")
    said = run("status", tmp_path / "old").stdout
    assert "Hourly wage unknown" in said and "Nobody has worked" not in said


def test_single_judgments_are_counted_in_the_singular(tmp_path: Path) -> None:
    table = write(tmp_path / "one.csv", ("task", "worker", "label"), [("t1", "ann", "yes")])
    assert "one: 1 judgment of 1 item by 1 worker." in run("import", table, "--out", tmp_path / "study").output


def test_people_who_are_in_several_files_are_the_same(tmp_path: Path) -> None:
    columns = ("task", "worker", "label")
    files = [
        write(tmp_path / f"{name}.csv", columns, [(f"{name}{number}", who, "yes") for number in "12" for who in people])
        for name, people in (("first", ("ann", "bob")), ("second", ("bob", "ann")), ("third", ("bob", "cem")))
    ]
    run("import", *files, "--out", tmp_path / "old")
    assert json.loads(run("verify", tmp_path / "old", "--json").stdout)["ok"]
    with closing(sqlite3.connect(tmp_path / "old" / "study.db")) as database:
        assert database.execute("SELECT count(*) FROM worker").fetchone() == (3,)


def test_platform_ids_are_kept_apart_and_pseudonyms_do_not_tell_them(tmp_path: Path) -> None:
    file = write(tmp_path / "batch.csv", TURK, turk_rows())
    for name in ("one", "two"):
        run("import", file, "--out", tmp_path / name)
    found = []
    for name in ("one", "two"):
        with closing(sqlite3.connect(tmp_path / name / "study.db")) as database:
            query = "SELECT external_id, pseudonym FROM worker JOIN worker_identity ON worker_id = worker.id"
            found.append(dict(database.execute(query).fetchall()))
    assert set(found[0]) == {"A0SECRET", "A1SECRET", "A2SECRET"}
    assert not set(found[0].values()) & set(found[1].values())


def test_pay_that_is_not_known_is_not_reported_as_zero(tmp_path: Path) -> None:
    rows = turk_rows()
    rows[0] = (*rows[0][:5], "$0.09", *rows[0][6:])
    study = tmp_path / "old"
    done = run("import", write(tmp_path / "turk.csv", TURK, rows), "--out", study)
    assert "pay is not recorded" in done.output
    said = run("status", study).stdout
    assert "No cost is recorded." in said and "Hourly wage unknown" in said
    page = tmp_path / "report.html"
    run("report", study, "--out", page)
    text = page.read_text("utf-8")
    assert "Costs and hourly pay are not known" in text and "$0.00" not in text
    numbers = json.loads(run("report", study, "--json", "--out", tmp_path / "again.html").stdout)
    assert numbers["costs"]["cost"] is None and numbers["results"]["cost_per_result"] is None


def test_rejected_work_is_left_out_if_the_column_of_workers_was_renamed(tmp_path: Path) -> None:
    columns = tuple("anonymous" if name == "WorkerId" else name for name in TURK)
    file = write(tmp_path / "turk.csv", columns, turk_rows())
    done = run("import", file, "--worker", "anonymous", "--out", tmp_path / "old", "--json")
    assert json.loads(done.stdout)["stages"]["turk"]["judgments"] == 12


@pytest.mark.parametrize("extra", ["AssignmentStatus", "_tainted"])
def test_tables_with_a_column_of_rejected_work_stay_tables(tmp_path: Path, extra: str) -> None:
    columns = ("task", "worker", "label", extra, "Reward", "SubmitTime")
    rows: list[tuple[object, ...]] = [
        (f"t{task}", f"w{worker}", "x|xx", "true", "high", "week 3") for task in range(3) for worker in range(3)
    ]
    done = run("import", write(tmp_path / "plain.csv", columns, rows), "--out", tmp_path / "old", "--json")
    assert json.loads(done.stdout)["stages"]["plain"]["judgments"] == 9


def test_files_without_their_column_of_rejected_work_keep_times_and_pay(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [(*row[:2], *row[3:]) for row in turk_rows() if row[2] != "Rejected"]
    turk = write(tmp_path / "turk.csv", tuple(name for name in TURK if name != "AssignmentStatus"), rows)
    columns = ("_unit_id", "_worker_id", "_created_at", "_started_at", "tone", "sentence")
    times = ("3/24/2016 17:57:02", "3/24/2016 17:56:23")
    units: list[tuple[object, ...]] = [
        (unit, f"w{number}", *times, "ab"[number], "Text") for unit in range(2) for number in range(2)
    ]
    appen = write(tmp_path / "appen.csv", columns, units)
    for file, duration, base in ((turk, 30_000, 12 * 7), (appen, 39_000, 0)):
        study = tmp_path / file.stem
        run("import", file, "--out", study)
        assert json.loads(run("status", study, "--json").stdout)["ledger"]["base"] == base
        out = tmp_path / f"{file.stem}.jsonl"
        run("export", study, "--format", "jsonl", "--out", out)
        first = json.loads(out.read_text("utf-8").splitlines()[0])
        assert first["duration_ms"] == duration
        assert not {"SubmitTime", "Reward"} & set(first["payload"])


def test_appen_and_tables_with_sets_of_labels(tmp_path: Path) -> None:
    columns = (
        "_unit_id",
        "_worker_id",
        "_created_at",
        "_started_at",
        "_tainted",
        "_trust",
        "picked",
        "sentence",
        "x_gold",
    )
    rows: list[tuple[object, ...]] = [
        (1, "w1", "3/24/2016 17:57:02", "3/24/2016 17:56:23", "false", 0.9, "a|b", "Some text", ""),
        (1, "w2", "3/24/2016 18:00:00", "3/24/2016 17:59:00", "false", 0.9, "b", "Some text", "gold"),
        (2, "w2", "3/24/2016 18:10:00", "3/24/2016 18:09:00", "false", 0.9, "a", "Other", ""),
        (2, "w3", "3/24/2016 18:10:00", "3/24/2016 18:09:00", "true", 0.1, "b", "Other", ""),
    ]
    appen = write(tmp_path / "f1.csv", columns, rows)
    table = tmp_path / "table.jsonl"
    table.write_text("".join(json.dumps({"task": f"t{n}", "worker": "w1", "picked": ["a"]}) + "\n" for n in range(2)))
    done = json.loads(
        run("import", appen, table, "--label", "picked", "--sep", "|", "--out", tmp_path / "s", "--json").stdout
    )
    assert [one["judgments"] for one in done["stages"].values()] == [3, 2]
    assert json.loads(run("verify", tmp_path / "s", "--json").stdout)["ok"]
    run("export", tmp_path / "s", "--format", "jsonl", "--out", tmp_path / "out.jsonl")
    first = json.loads((tmp_path / "out.jsonl").read_text("utf-8").splitlines()[0])
    assert (first["answer"], first["payload"], first["duration_ms"]) == (
        {"label": ["a", "b"]},
        {"sentence": "Some text"},
        39_000,
    )


def several_columns() -> list[tuple[object, ...]]:
    """Four people on five messages: what they ticked, a remark of some, and a hidden field that repeats the message."""
    return [
        (
            f"HIT{hit}",
            f"A{person}",
            "Approved",
            "Mon Sep 25 09:39:11 PDT 2017",
            30,
            "$0.07",
            f"Message {hit}",
            "angry|sad" if person == hit else "sad",
            "" if person else f"Remark {hit} | really",
            f"MESSAGE {hit} ",
        )
        for hit in range(5)
        for person in range(4)
    ]


SEVERAL = (*TURK[:-1], "Answer.Moods ticked", "Answer.confidence", "Answer.shown")


def test_all_columns_that_people_filled_in_are_fields(tmp_path: Path) -> None:
    file = write(tmp_path / "batch.csv", SEVERAL, several_columns())
    done = json.loads(run("import", file, "--out", tmp_path / "s", "--json").stdout)
    assert done["stages"] == {"batch": {"judgments": 20, "items": 5, "workers": 4}}
    [note] = done["notes"]
    assert (
        "Each of the 2 answer columns becomes a field: 'Moods ticked' (several options), 'confidence' (free text)."
        in note
    )
    assert "All fields except free text count toward a label's confidence." in note
    assert note.endswith("To import one column only, use --label NAME.")
    assert json.loads(run("verify", tmp_path / "s", "--json").stdout)["ok"]
    run("export", tmp_path / "s", "--format", "label-studio", "--out", tmp_path / "tasks.json")
    first = json.loads((tmp_path / "tasks.json").read_text("utf-8"))[0]
    assert (first["data"]["text"], "shown" in first["data"]) == ("Message 0", False)
    results = {one["from_name"]: one["value"] for one in first["annotations"][0]["result"]}
    assert results == {
        "moods_ticked": {"choices": ["angry", "sad"]},
        "confidence_given": {"text": ["Remark 0 | really"]},
    }
    own = {one["from_name"]: one["value"] for one in first["predictions"][0]["result"]}
    assert own["moods_ticked"] == {"choices": ["sad"]}
    run("export", tmp_path / "s", "--format", "mturk", "--out", tmp_path / "again.csv")
    again = json.loads(run("import", tmp_path / "again.csv", "--out", tmp_path / "s2", "--json").stdout)
    assert again["stages"]["again"]["judgments"] == 20


def test_cells_of_a_named_column_are_split_at_the_usual_separator(tmp_path: Path) -> None:
    def notes(name: str, rows: list[tuple[object, ...]], *options: object) -> list[str]:
        file = write(tmp_path / f"{name}.csv", SEVERAL, rows)
        done = run("import", file, "--label", "Moods ticked", *options, "--out", tmp_path / name, "--json")
        return list(json.loads(done.stdout)["notes"])

    short = several_columns()
    long = [(*row[:7], f"{row[7]}|{'x' * 99}", *row[8:]) for row in short]
    split = "Cells of 'Moods ticked' are split at '|' into several options. If each cell is a single label, add --sep"
    for name, rows in (("a", short), ("b", long)):
        [note] = notes(name, rows)
        assert note.startswith(f"{name}.csv: {split}")
        assert 'kind = "choices"' in (tmp_path / name / "study.toml").read_text("utf-8")
    assert notes("c", long, "--sep", "|") == []
    assert notes("d", short, "--sep", ";;") == []
    assert 'kind = "choices"' in (tmp_path / "d" / "study.toml").read_text("utf-8")
    remarks = [(*row[:7], f"{place} | {'remark ' * 20}", *row[8:]) for place, row in enumerate(short)]
    [free_text] = notes("e", remarks)
    assert "'Moods ticked' is imported as free text, which is not aggregated" in free_text


def test_a_column_that_is_mostly_empty_is_named(tmp_path: Path) -> None:
    rows = [
        (*row[:-1], "sad" if place % 3 else "glad", ("hard" if place % 2 else "easy") if place < 8 else "")
        for place, row in enumerate(several_columns())
    ]
    columns = (*SEVERAL[:-2], "Answer.my tone", "Answer.remark")
    file = write(tmp_path / "b.csv", columns, [(*row[:8], *row[-2:]) for row in rows])
    fields, empty = json.loads(run("import", file, "--out", tmp_path / "s", "--json").stdout)["notes"]
    assert "'Moods ticked' (several options), 'my tone' (choice), 'remark' (choice)." in fields
    assert "'remark' (choice) is empty in 12 of 20 judgments, but counts toward a label's confidence." in empty
    assert empty.endswith("To leave it out, import one column with --label 'Moods ticked'.")
    again = run("import", file, "--out", tmp_path / "t", "--label", "my tone", "--json").stdout
    assert json.loads(again)["notes"] == []


def test_appen_answers_are_told_from_items_by_gold_or_by_what_differs(tmp_path: Path) -> None:
    columns = ("_unit_id", "_worker_id", "_tainted", "tone", "remark", "text")
    rows: list[tuple[object, ...]] = [
        (unit, f"w{person}", "false", "kind" if person else "rude", f"remark {unit * 3 + person}", f"Text {unit}")
        for unit in range(3)
        for person in range(3)
    ]
    plain = write(tmp_path / "plain.csv", columns, rows)
    gold = write(tmp_path / "gold.csv", (*columns, "tone_gold"), [(*row, "") for row in rows])
    run("import", plain, "--out", tmp_path / "s")
    settings = (tmp_path / "s" / "study.toml").read_text("utf-8")
    assert settings.count("[[stage.options.fields]]") == 2 and '{ item = "text"' in settings
    run("import", gold, "--out", tmp_path / "t")
    assert (tmp_path / "t" / "study.toml").read_text("utf-8").count("[[stage.options.fields]]") == 1
    same = write(tmp_path / "same.csv", columns, rows[::3])
    assert "has no answer columns" in run("import", same, "--out", tmp_path / "u", code=2).stderr


def test_a_form_of_too_many_columns_asks_for_one(tmp_path: Path) -> None:
    columns = (*TURK[:-1], *(f"Answer.q{number}" for number in range(31)))
    rows = [(*row[:-1], *("ab"[(number + place) % 2] for number in range(31))) for place, row in enumerate(turk_rows())]
    file = write(tmp_path / "wide.csv", columns, rows)
    assert "wide.csv:1: has 31 answer columns" in run("import", file, "--out", tmp_path / "s", code=2).stderr
    run("import", file, "--label", "q7", "--out", tmp_path / "s")


def test_of_repeated_judgments_the_last_counts_and_free_text_is_text(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [(f"t{n % 30}", f"w{n % 7}", f"word number {n}") for n in range(120)]
    rows.append(("t0", "w0", "the last word"))
    file = write(tmp_path / "words.csv", ("task", "worker", "label"), rows)
    done = json.loads(run("import", file, "--out", tmp_path / "s", "--json").stdout)
    assert done["stages"]["words"]["judgments"] == 120
    assert "1 judgment left out" in done["notes"][0]
    run("export", tmp_path / "s", "--format", "crowdkit", "--out", tmp_path / "out.csv")
    assert "the last word" in (tmp_path / "out.csv").read_text("utf-8")


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        ({"SubmitTime": "yesterday"}, 3, "column 'SubmitTime' is not a time"),
        ({"WorkTimeInSeconds": "-4"}, 3, "column 'WorkTimeInSeconds' is not a number of seconds"),
        ({"Reward": "a lot"}, 3, "column 'Reward' is not an amount"),
        ({"WorkerId": " "}, 3, "column 'WorkerId' is empty"),
        ({"HITId": "x" * 300}, 3, "column 'HITId' is not a valid name"),
        ({"Answer.tone": "x" * 10_001}, 3, "column 'Answer.tone' has more than 10,000 characters"),
    ],
)
def test_what_is_wrong_is_told_with_row_and_column_and_nothing_is_made(
    tmp_path: Path, change: dict[str, str], line: int, message: str
) -> None:
    rows = turk_rows()
    spoiled = dict(zip(TURK, rows[1], strict=True)) | change
    rows[1] = tuple(spoiled[name] for name in TURK)
    file = write(tmp_path / "batch.csv", TURK, rows)
    error = run("import", file, "--out", tmp_path / "s", code=2).stderr
    assert f"batch.csv:{line}: {message}" in error
    assert {path.name for path in tmp_path.iterdir()} == {"batch.csv"}


def test_a_file_that_was_cut_is_refused_wherever_it_was_cut(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.csv", TURK, turk_rows()).read_bytes()
    file = tmp_path / "cut.csv"
    row = whole.index(b"HIT2,A1")
    for end in (0, 5, whole.index(b"\n") + 1, row + 3, row + 20, row + 60):
        file.write_bytes(whole[:end])
        error = run("import", file, "--out", tmp_path / "s", code=2).stderr
        assert "cut.csv" in error
        assert not (tmp_path / "s").exists()
    packed = gzip.compress(whole)
    (tmp_path / "cut.csv.gz").write_bytes(packed[: len(packed) // 2])
    assert "can't be unpacked" in run("import", tmp_path / "cut.csv.gz", "--out", tmp_path / "s", code=2).stderr


@pytest.mark.parametrize(
    ("columns", "meant"),
    [
        (("item", "annotator", "answer"), "--task 'item' --worker 'annotator' --label 'answer'"),
        (("Unit_ID", "_worker_id", "category"), "--task 'Unit_ID' --worker '_worker_id' --label 'category'"),
        (("response", "WorkerId", "tasks", "item"), "--task 'tasks' --worker 'WorkerId' --label 'response'"),
        (("one", "words", "user"), "--worker 'user'"),
    ],
)
def test_columns_with_other_usual_names_are_suggested(tmp_path: Path, columns: tuple[str, ...], meant: str) -> None:
    file = write(tmp_path / "other.csv", columns, [columns])
    for command in (("aggregate", file), ("import", file, "--out", tmp_path / "s")):
        told = " ".join(run(*command, code=2).stderr.split())
        assert " ".join(re.findall(r"Did you mean (--\S+ '\S+')\?", told)) == meant


def test_nothing_is_made_of_good_files_beside_a_bad_one(tmp_path: Path) -> None:
    good = write(tmp_path / "good.csv", TURK, turk_rows())
    bad = write(tmp_path / "bad.csv", ("one", "two"), [("a", "b")])
    assert "has no column 'task'" in run("import", good, bad, "--out", tmp_path / "s", code=2).stderr
    assert {path.name for path in tmp_path.iterdir()} == {"good.csv", "bad.csv"}
    (tmp_path / "s").mkdir()
    assert "already exists" in run("import", good, "--out", tmp_path / "s", code=2).stderr


def test_wages_leave_out_files_without_pay(tmp_path: Path) -> None:
    paid = write(tmp_path / "paid.csv", TURK, turk_rows())
    place = TURK.index("Reward")
    unpaid = [(*row[:place], *row[place + 1 :]) for row in turk_rows()]
    others = [(f"X{row[0]}", f"X{row[1]}", *row[2:]) for row in unpaid]
    bare = write(tmp_path / "bare.csv", tuple(name for name in TURK if name != "Reward"), others)
    run("import", paid, bare, "--out", tmp_path / "both")
    run("import", paid, "--out", tmp_path / "alone")
    both, alone = (json.loads(run("status", tmp_path / name, "--json").stdout) for name in ("both", "alone"))
    assert both["hourly_wage"] == alone["hourly_wage"]
    report = json.loads(run("report", tmp_path / "both", "--json", "--resamples", 100).stdout)
    assert report["workers"]["hourly_wage"] == alone["hourly_wage"]
    page = tmp_path / "report.html"
    run("report", tmp_path / "both", "--out", page, "--resamples", 100)
    assert "The pay in bare is not known: costs include no pay for these annotations." in page.read_text("utf-8")
