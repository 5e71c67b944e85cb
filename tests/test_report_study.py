"""The report on a study: one page, every number of which can be computed again."""

import csv
import hashlib
import json
import re
import sqlite3
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner, Result

from browsing import CHROMIUM, PHONE, WIDER_THAN_SCREEN, barriers, open_chromium
from chorale.cli import app
from chorale.engine.entering import EXPERTS_PANEL, arrive_as_expert
from chorale.engine.opening import open_study
from chorale.engine.settling import settle_everything
from chorale.engine.work import Offer
from chorale.exchange.export import write_export
from chorale.folder.reading import load_folder
from chorale.folder.templates import create_study
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import ScoreTable
from chorale.model import StageSettings
from chorale.model.plural import plural
from chorale.monitor.arm_outcomes import arm_outcomes
from chorale.monitor.costs import study_costs
from chorale.monitor.status import status, summary
from chorale.rehearsal import FORECAST_FILE, Crowd, Forecast, Rehearsal, Variation, read_crowd
from chorale.rehearsal.measuring import measure
from chorale.rehearsal.simulated import CrowdSettings, KindSettings
from chorale.report import ReportOptions, report_page, study_report
from chorale.report.costs import planned_section
from chorale.report.people import funnel_section
from chorale.report.protocol import judgments_in_words, protocol_diagram, protocol_section
from chorale.store.workers import attendees
from conftest import ManualClock
from crowd import Person, do, gold_answer, is_gold, look, people, work_through
from protocol_study import write_protocol_study
from small_study import write_small_study
from svg_pictures import boxes, links_behind_boxes, overlapping_texts, texts_outside
from test_console_gates import as_owner
from test_mcq_tasks import perform, small
from writing_study import write_graded_study

HOSTILE = ("</script><img src=x onerror=alert(1)>", "=1+1 & <b>bold</b>")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def answer_to(person: Person, offer: Offer) -> str:
    assert offer.view is not None
    if is_gold(offer):
        return "yes" if person.id == 2 and gold_answer(offer) == "no" else gold_answer(offer)
    number = int(offer.view.get("rhs", offer.view.get("phrase", "")).split()[-1])
    if "rhs" in offer.view:
        return "no" if number % 3 == 0 or (number in (2, 7) and person.id % 2) else "yes"
    return "no" if number == 1 or (number in (4, 5) and person.id % 2) else "yes"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that was worked through, with somebody dropped and a disputed item."""
    place = tmp_path_factory.mktemp("report") / "study"
    write_small_study(place, applications=12, share=0.4, gold=12, after=1, fee_percent=20, texts=HOSTILE)
    clock, rng = ManualClock(), Random(11)
    study = open_study(place, clock=clock)

    def answer(person: Person, offer: Offer) -> str:
        clock.pass_minutes(0.1 + person.id / 100)
        return answer_to(person, offer)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chorale.engine.offering.secret_number", lambda study: rng.getrandbits(62))
        everyone = people(study, 8)
        for stage in ("meaningful", "entailment"):
            work_through(everyone, answer, stage)
    # As a site does every few seconds: what is settled already is not settled again.
    settle_everything(study)
    study.close()
    return place


@pytest.fixture(scope="module")
def numbers(folder: Path) -> dict[str, Any]:
    """What `--json` says of it."""
    return told(folder)


def run(*arguments: object, code: int = 0) -> Result:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == code, done.output
    return done


def told(folder: Path, *options: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("report", folder, "--json", "--resamples", 200, *options).stdout)
    return found


def table(folder: Path, format_name: str, out: Path) -> list[dict[str, str]]:
    run("export", folder, "--format", format_name, "--out", out)
    with out.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_number_is_what_verify_and_the_exports_say(folder: Path, numbers: dict[str, Any], tmp_path: Path) -> None:
    found = numbers
    verified = json.loads(run("verify", folder, "--json").stdout)
    assert found["verification"] == {name: verified[name] for name in ("checked", "differences", "unchecked")}
    assert found["verification"]["differences"] == []
    status = json.loads(run("status", folder, "--json").stdout)
    assert found["costs"]["ledger"] == status["ledger"]
    assert {name: found["costs"][name] for name in status["costs"]} == status["costs"]
    responses = table(folder, "csv", tmp_path / "responses.csv")
    labels = table(folder, "labels", tmp_path / "labels.csv")
    ledger = table(folder, "ledger", tmp_path / "ledger.csv")
    assert len(responses) == verified["checked"]["responses"]
    assert found["costs"]["spent"] == sum(int(row["amount"]) for row in ledger)
    for stage in found["funnel"]["stages"]:
        here = [row for row in responses if row["stage"] == stage["name"]]
        items = [row for row in labels if row["stage"] == stage["name"]]
        counted = [row for row in here if row["counts"] == "true" and row["item_state"] != "withdrawn"]
        assert stage["judgments"] == len(counted)
        assert stage["gold_answers"] == sum(row["kind"] == "gold" for row in here)
        assert stage["items"] == len(items)
        assert stage["released"] == sum(row["released"] == "true" for row in items)
        assert stage["workers"] == len({row["worker"] for row in here})
    assert sum(stage["dropped"] for stage in found["funnel"]["stages"]) == found["workers"]["dropped"] > 0


def test_agreement_is_what_the_command_says_of_the_same_judgments(
    folder: Path, numbers: dict[str, Any], tmp_path: Path
) -> None:
    rows = table(folder, "crowdkit", tmp_path / "crowdkit.csv")
    for one in numbers["agreement"]["coefficients"]:
        file = tmp_path / "stage.csv"
        with file.open("w", encoding="utf-8", newline="") as target:
            writer = csv.DictWriter(target, ["task", "worker", "label"])
            writer.writeheader()
            writer.writerows(row for row in rows if row["task"].startswith(f"{one['question']}/"))
        again = json.loads(run("agreement", file, "--json", "--ci", "--resamples", 200).stdout)
        assert one["value"] == again["value"]
        assert one["judgments"] == again["n_judgments"]
        assert (one["ci"] is None) == (again["ci"] is None)


def test_the_paragraph_on_methods_has_only_numbers_that_were_computed(numbers: dict[str, Any]) -> None:
    found = numbers
    paragraph = " ".join(found["methods"].values())
    whole = json.dumps({**found, "croissant": None, "methods": None})
    known = {number.rstrip(",") for number in _NUMBER.findall(whole)}
    money = (found["costs"]["spent"], found["costs"]["ledger"]["fee"], round(found["costs"]["per_result"]))
    known |= {f"{amount / 100:.2f}" for amount in (*money, found["workers"]["hourly_wage"]["median"])}
    for one in (*found["agreement"]["coefficients"], *found["agreement"]["by_distance"]):
        known |= {f"{value:.2f}" for value in (one["value"], *(one["ci"] or ()))} | {"95"}
    stages = found["funnel"]["stages"]
    known |= {
        str(sum(stage[name] for stage in stages)) for name in ("judgments", "gold_answers", "dropped", "discarded")
    }
    known |= {
        str(len(stages)),
        "0.7",
        "0.1",
        "0",
        "200",
        f"{100 * found['results']['results'] / found['results']['decided']:.1f}",
    }
    known |= {f"{amount / 100:.2f}" for amount in (4, found["workers"]["hourly_wage"]["tenth_percentile"])}
    told_numbers = [number.replace(",", "") for number in _NUMBER.findall(paragraph)]
    assert len(told_numbers) > 15
    assert [number for number in told_numbers if number not in known] == []


def test_the_page_stands_alone_and_nothing_in_it_is_markup_from_outside(folder: Path, tmp_path: Path) -> None:
    page_file = tmp_path / "report.html"
    run("report", folder, "--out", page_file, "--no-charts", "--resamples", 100)
    page = page_file.read_text("utf-8")
    assert "<img src=x" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert len(re.findall(r"<script", page)) == 1
    metadata = re.search(r'<script type="application/ld\+json">(.*?)</script>', page, re.DOTALL)
    assert metadata is not None
    assert json.loads(metadata[1])["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    outside = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r'(?:src|href)="(?!#|data:)', outside)
    assert "@page { size: A4" in page


def test_nobody_can_be_told_from_a_report(folder: Path, numbers: dict[str, Any], tmp_path: Path) -> None:
    with closing(sqlite3.connect(folder / "study.db")) as database:
        pseudonyms = [name for (name,) in database.execute("SELECT pseudonym FROM worker")]
        ids = [name for (name,) in database.execute("SELECT external_id FROM worker_identity")]
    run("report", folder, "--out", tmp_path / "report.html", "--no-charts", "--resamples", 100)
    page = (tmp_path / "report.html").read_text("utf-8") + json.dumps(numbers)
    assert pseudonyms
    assert ids
    assert [name for name in (*pseudonyms, *ids) if re.search(rf"\b{re.escape(name)}\b", page)] == []


def test_the_data_card_describes_the_files_beside_it(folder: Path, tmp_path: Path) -> None:
    card = tmp_path / "card"
    run("report", folder, "--data-card", card, "--license", "CC-BY-4.0", "--no-charts", "--resamples", 100)
    with closing(sqlite3.connect(folder / "study.db")) as database:
        exports = database.execute("SELECT evidence FROM event WHERE kind = 'exported'").fetchall()
    assert [json.loads(evidence)["format"] for (evidence,) in exports][-1:] == ["dataset"]
    metadata = json.loads((card / "croissant.json").read_text("utf-8"))
    assert metadata["license"] == "CC-BY-4.0"
    files = {one["@id"]: one for one in metadata["distribution"]}
    assert {path.name for path in card.iterdir()} == {*files, "croissant.json"}
    for name, one in files.items():
        raw = (card / name).read_bytes()
        assert one["sha256"] == hashlib.sha256(raw).hexdigest()
        assert one["contentSize"] == f"{len(raw)} B"
    with (card / "labels.csv").open(encoding="utf-8", newline="") as file:
        columns = set(csv.DictReader(file).fieldnames or ())
    first = json.loads((card / "responses.jsonl").read_text("utf-8").splitlines()[0])
    assert set(files) == {"applications.tsv", "labels.csv", "responses.jsonl"}
    for records, there in (("labels", columns), ("responses", set(first))):
        fields = next(one["field"] for one in metadata["recordSet"] if one["@id"] == records)
        assert {one["name"] for one in fields} <= there
        # Readers of Croissant make a table of JSON lines too: there are columns, and no paths.
        assert all(one["source"]["extract"] == {"column": one["name"]} for one in fields)
    content = {
        one["name"]: one["description"]
        for records in metadata["recordSet"]
        if records["@id"] == "applications"
        for one in records["field"]
    }
    assert content["rhs"] == "Right phrase of the application."
    assert "is not empty" in run("report", folder, "--data-card", card, code=2).stderr


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the reader's own packages are behind each other's
def test_the_reader_of_croissant_reads_every_row(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    run("report", folder, "--data-card", tmp_path / "card", "--no-charts", "--resamples", 100)
    monkeypatch.chdir(tmp_path / "card")
    dataset = mlcroissant.Dataset(jsonld="croissant.json")
    for records in ("labels", "responses"):
        rows = sum(1 for _ in dataset.records(record_set=records))
        said = next(one for one in dataset.metadata.record_sets if one.uuid == records).description
        assert said.endswith(f"{rows:,} rows.") and rows


@pytest.mark.slow
def test_no_line_of_the_diagram_runs_behind_a_box(tmp_path: Path) -> None:
    create_study(tmp_path / "trial", "mcq-trial")
    study = open_study(tmp_path / "trial")
    try:
        drawn = protocol_diagram(study)
    finally:
        study.close()
    assert len(boxes(drawn)) == len(study.stages) + len(study.gates) > 25
    assert links_behind_boxes(drawn) == []
    assert texts_outside(drawn) == []
    assert overlapping_texts(drawn) == []


def test_numbers_that_were_tampered_with_are_told(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "study"
    copy.mkdir()
    for path in folder.iterdir():
        if path.suffix in {".toml", ".md", ".jsonl", ".db"}:
            (copy / path.name).write_bytes(path.read_bytes())
    with closing(sqlite3.connect(copy / "study.db")) as database:
        database.execute("UPDATE item SET confidence = 0.123 WHERE key = 'a00002:lhs'")
        database.commit()
    found = told(copy)
    assert any("a00002:lhs" in difference for difference in found["verification"]["differences"])
    assert any("differ" in note for note in found["notes"])


def test_a_forecast_that_was_kept_stands_beside_what_came_of_it(
    folder: Path, numbers: dict[str, Any], tmp_path: Path
) -> None:
    forecast = {
        "variations": [
            {
                "runs": 3,
                "cost": {"mean": 100.0, "low": 90.0, "high": 110.0},
                "arrived": {"mean": 9.0, "low": 9.0, "high": 9.0},
                "stages": {"meaningful": {"released": {"mean": 0.5, "low": 0.4, "high": 2.0}}},
            }
        ]
    }
    kept = folder / FORECAST_FILE
    assert numbers["planned"]["planned"] is None
    try:
        kept.write_text(json.dumps(forecast))
        planned = told(folder)["planned"]
        assert planned["planned"]["cost"] == {"mean": 100.0, "low": 90.0, "high": 110.0}
        assert planned["planned"]["stages.meaningful.released"]["mean"] == 0.5
        assert planned["actual"]["cost"] == numbers["costs"]["spent"]
        run("report", folder, "--out", tmp_path / "report.html", "--no-charts", "--resamples", 100)
        page = (tmp_path / "report.html").read_text("utf-8")
        assert "Planned and actual</caption>" in page
        assert planned["on_record"] is None
        assert "whether it was made before the study is unknown" in page
        kept.write_text("[]")
        assert "is not a forecast" in run("report", folder, "--json", code=2).stderr
    finally:
        kept.unlink()


@pytest.mark.parametrize("kind", ["with experts", "with people who come too late"])
def test_a_study_that_did_what_its_rehearsal_did_differs_from_the_plan_in_nothing(tmp_path: Path, kind: str) -> None:
    if kind == "with experts":
        write_graded_study(tmp_path)
        crowd = Crowd(CrowdSettings(workers=8, per_hour=1_000, experts=2, kind=(KindSettings(name="able", share=1),)))
    else:
        write_small_study(tmp_path, applications=3)
        crowd = Crowd(CrowdSettings(workers=30, per_hour=60, kind=(KindSettings(name="able", share=1),)))
    rehearsal = Rehearsal(load_folder(tmp_path), crowd)
    study, performance = rehearsal.perform(1)
    planned = look(study, lambda tx: measure(tx, study, performance, rehearsal.known, 1))
    told_by_rehearsal = {"variations": [Forecast(Variation({}, ""), [planned]).as_json()]}
    (tmp_path / FORECAST_FILE).write_text(json.dumps(told_by_rehearsal))
    came = look(study, lambda tx: attendees(tx, EXPERTS_PANEL))
    section = look(
        study,
        lambda tx: planned_section(tx, study, tmp_path, status(tx, study), study_costs(tx, study), came),
    )
    rows = next(part.rows for part in section.parts if isinstance(part, ScoreTable))
    assert {"people who joined before the last answer", "people who worked", "answers by people"} <= {
        row[0] for row in rows
    }
    assert [row for row in rows if row[-1] != "yes" or row[1] != row[3]] == []
    text = " ".join(part for part in section.parts if isinstance(part, str))
    assert "The forecast comes from 1 simulated run" in text
    if kind == "with experts":
        assert came.experts == 2 and planned.active == 8
        funnel = look(study, lambda tx: funnel_section(tx, study, status(tx, study), came)).json
        assert (funnel["arrived"], funnel["worked"], funnel["experts"]) == (8, 8, 2)
        graded = sum(one.answers for one in look(study, lambda tx: status(tx, study)).stages if "grades" in one.name)
        assert f"They gave {graded} answers (2 experts)." in text
    else:
        assert came.experts == 0 and (came.in_time or 0) < came.arrived == 30
    study.close()
    rehearsal.close()


def test_experts_are_told_apart_from_those_who_came(tmp_path: Path, database: str | None, clock: ManualClock) -> None:
    write = write_graded_study(tmp_path)
    study = open_study(tmp_path, database, clock)
    do(study, arrive_as_expert, "ada")
    clock.pass_minutes(60)
    assert look(study, lambda tx: attendees(tx, EXPERTS_PANEL)).arrived == 0
    began = clock()
    write(study)
    clock.pass_minutes(1)
    Person(study, "too late")
    came = look(study, lambda tx: attendees(tx, EXPERTS_PANEL))
    assert (came.arrived, came.consented, came.in_time, came.experts) == (2, 2, 1, 1)
    assert came.first_at == began, "an expert may look at their desk long before anybody comes"
    study.close()


def test_a_sample_of_every_source_is_told_as_one_of_each() -> None:
    stage = {"name": "a", "title": "A", "task": "form", "guidelines": "g.md", "items": {"from": ["b", "c"]}}

    def told_of(sample: dict[str, Any], **changes: Any) -> str:
        judgments = {"min": 2, "max": 2, "sample": {**sample, "judgments": 5}}
        return judgments_in_words(StageSettings.model_validate({**stage, **changes, "judgments": judgments}))

    assert told_of({"items": 3}) == "2 annotations (5 for a random sample of 3 items per source)"
    of_the_file = told_of({"items": 3}, items={"file": "i.jsonl"})
    assert of_the_file == "2 annotations (5 for a random sample of 3 items)"
    assert told_of({"share": 0.3}) == "2 annotations (5 for a random sample of 30%)"


def test_who_is_dropped_by_the_latest_gold_can_be_understood(tmp_path: Path, database: str | None) -> None:
    write_small_study(tmp_path, share=0.5, floor=0.5, after=3, gold=12, applications=20)
    settings = tmp_path / "study.toml"
    settings.write_text(settings.read_text().replace("after = 3\n", "after = 3\nwindow = 4\n"))
    study = open_study(tmp_path, database)
    worker, given = Person(study, "a"), 0
    while (offer := worker.next()).lease is not None:
        right = gold_answer(offer) if is_gold(offer) else "yes"
        given += is_gold(offer)
        worker.submit(offer, right if not is_gold(offer) or given <= 3 else {"yes": "no", "no": "yes"}[right])
    now = look(study, lambda tx: status(tx, study))
    assert [one.reason for one in now.dropped] == ["gold accuracy 0.25 below 0.50 (3 of 6 correct, 1 of the last 4)"]
    protocol = protocol_section(study).json
    rule = "orkers with a gold accuracy below 0.5 over the latest 4 gold answers, after 3 gold answers"
    assert f"{rule} are removed" in " ".join(protocol["stages"]["meaningful"])
    data = tmp_path / "data"
    data.mkdir()
    found = study_report(study, tmp_path, data, ReportOptions(charts=False), Resampling(ci=True, resamples=100))
    assert f"the rule was to remove w{rule}" in found.as_json()["methods"]["People, pay and quality control"]
    study.close()


def test_the_protocol_says_whether_an_expert_reads_messages_before_they_are_sent(tmp_path: Path) -> None:
    for name, review in (("read", "\nreview = true"), ("unread", "")):
        write_protocol_study(tmp_path / name, gate=f"threshold = 0.75{review}")
        study = open_study(tmp_path / name)
        told_of_gate = " ".join(protocol_section(study).json["gates"]["trained"])
        assert ("which an expert approves before it is sent" in told_of_gate) == bool(review)
        study.close()


def test_arms_are_told_apart_only_if_asked_for(tmp_path: Path) -> None:
    write_protocol_study(tmp_path / "study")
    open_study(tmp_path / "study").close()
    found = told(tmp_path / "study")
    assert "arms" not in found["costs"]
    assert found["protocol"]["gates"]
    assert found["funnel"]["worked"] == 0
    with closing(sqlite3.connect(tmp_path / "study" / "study.db")) as database:
        looked = "SELECT count(*) FROM event WHERE kind = 'arms shown'"
        assert database.execute(looked).fetchone() == (0,)
    if found["protocol"]["arms"]:
        assert "arms" in told(tmp_path / "study", "--arms")["costs"]
        with closing(sqlite3.connect(tmp_path / "study" / "study.db")) as database:
            assert database.execute(looked).fetchone() == (1,)


def test_a_form_is_reported_before_any_item_is_complete(tmp_path: Path) -> None:
    create_study(tmp_path / "study", "gallery/sentiment")
    rows = [json.loads(line) for line in (tmp_path / "study" / "gold.jsonl").read_text("utf-8").splitlines()]
    known = {row["review"]: row["answer"] for row in rows}

    def submit(person: Person, offer: Offer) -> None:
        assert offer.view is not None
        person.submit(offer, known.get(offer.view["review"], {"sentiment": "positive", "strength": 50}))

    study = open_study(tmp_path / "study")
    for person in people(study, 2):
        while (offer := person.next("main")).lease is not None:
            submit(person, offer)
    study.close()
    found = told(tmp_path / "study")
    # Everybody agrees, but three annotations are needed: no item has a label, and nothing is accepted.
    assert {one["items"] for one in found["fields"]["compared"]} == {0}
    assert found["results"]["questions"] == []
    study = open_study(tmp_path / "study")
    last = Person(study, "last")
    while not study.store.read(lambda tx: status(tx, study)).result().stages[0].complete:
        submit(last, last.next("main"))
    study.close()
    found = told(tmp_path / "study")
    assert {(one["items"], one["accepted"]) for one in found["results"]["questions"]} == {(1, 1)}


def test_what_can_not_be_written_is_refused_before_any_work(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Use .html, .pdf, .md or .tex." in run("report", folder, "--out", tmp_path / "report.txt", code=2).stderr
    assert "no folder" in run("report", folder, "--pdf", tmp_path / "no" / "report.pdf", code=2).stderr
    assert "has no arms" in run("report", folder, "--arms", "--json", code=2).stderr
    monkeypatch.setattr("chorale.report.printing.shutil.which", lambda _name: None)
    for option in ("--pdf", "--appendix", "--out"):
        refused = run("report", folder, option, tmp_path / "report.pdf", code=2).stderr
        assert "apt install chromium" in refused and "print it as a PDF" in refused
    assert "There is no report format `doc`" in run("report", folder, "--format", "doc", code=2).stderr
    assert not list(tmp_path.iterdir())


def test_charts_are_drawn_unless_left_out(folder: Path, tmp_path: Path) -> None:
    for name, options in (("with", ()), ("without", ("--no-charts",))):
        run("report", folder, "--out", tmp_path / f"{name}.html", "--resamples", 100, *options)
    drawn, plain = ((tmp_path / f"{name}.html").read_text("utf-8") for name in ("with", "without"))
    assert (drawn.count("<svg "), plain.count("<svg ")) == (4, 1)
    assert drawn.count("<figcaption>") == drawn.count("<svg ")
    assert drawn.count("<table>") == plain.count("<table>")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_the_page_with_charts_is_legible_and_loads_nothing(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    run("report", folder, "--out", file, "--resamples", 100)
    forecast = tmp_path / "forecast.html"
    run("rehearse", folder, "--seeds", 1, "--workers", 8, "--processes", 1, "--out", forecast)
    wrong: list[str] = []
    with open_chromium() as browser:
        for options in ({"viewport": {"width": 1200, "height": 900}}, PHONE):
            page = browser.new_page(**options, bypass_csp=True)
            page.on("console", lambda message: wrong.append(message.text))
            page.on(
                "request",
                lambda request: wrong.append(request.url) if request.url[:5] not in ("file:", "data:") else None,
            )
            page.goto(file.as_uri())
            assert page.evaluate(WIDER_THAN_SCREEN) <= 0
            assert barriers(page) == ""
            drawn = page.evaluate("[...document.querySelectorAll('figure svg')].map((one) => one.clientWidth)")
            # The participant flow and the diagram of stages are as wide as their boxes need; charts fill the line.
            assert len(drawn) == 4 and sorted(drawn)[2:] == [640, 640]
            page.close()
        page = browser.new_page(**PHONE, bypass_csp=True)
        page.goto(forecast.as_uri())
        assert page.evaluate(WIDER_THAN_SCREEN) <= 0
        assert barriers(page) == ""
        # Pictures scroll sideways where the screen is narrow: their letters stay as large as the numbers.
        label = page.locator("figure svg text").first.bounding_box()
        assert label is not None and label["height"] > 10
    assert wrong == []


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_a_report_prints_to_a4(folder: Path, tmp_path: Path) -> None:
    run("report", folder, "--pdf", tmp_path / "report.pdf", "--resamples", 100)
    raw = (tmp_path / "report.pdf").read_bytes()
    assert raw.startswith(b"%PDF-")
    boxes = {tuple(float(value) for value in box.split()) for box in re.findall(rb"/MediaBox ?\[([^\]]*)\]", raw)}
    assert boxes
    assert all(abs(box[2] - 595) < 2 and abs(box[3] - 842) < 2 for box in boxes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("template", "section"), [("rules", "rules"), ("qasrl", "qasrl"), ("frames", "frames"), ("form", None)]
)
def test_every_template_can_be_reported_with_what_its_task_has_to_say(
    template: str, section: str | None, tmp_path: Path
) -> None:
    create_study(tmp_path / "study", template)
    folder = load_folder(tmp_path / "study")
    rehearsal = Rehearsal(folder, read_crowd(folder, 34, None))
    study, _ = rehearsal.perform(3)
    try:
        told = study_report(
            study, tmp_path / "study", tmp_path, ReportOptions(charts=False), Resampling(ci=True, resamples=100)
        )
    finally:
        study.close()
        rehearsal.close()
    found = told.as_json()
    assert found["verification"]["differences"] == []
    assert found["agreement"]["by_distance"]
    methods = " ".join(found["methods"].values())
    assert "greement" in methods or "Krippendorff" in methods
    assert " 0 items" not in methods and methods.startswith("All people in this study were simulated")
    decided = {name: one for name, one in found["funnel"]["gates"].items() if one["passed"]}
    assert bool(decided) == (template == "qasrl")
    for name, one in decided.items():
        scored = plural(one["passed"] + one["not_passed"], "person", "people")
        assert f"{one['passed']} of {scored} passed the gate {name}." in methods
    page = report_page(told)
    if section is not None:
        assert found[section]
        assert f'<section id="{section}"' in page
    # As pseudonyms are made.
    assert not re.search(r"\bw-[2-9a-z]{10}\b", page)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_no_figure_of_a_long_protocol_is_longer_or_wider_than_a_printed_page(tmp_path: Path) -> None:
    study, _, rehearsal = perform(small(tmp_path / "study"), experts=1.0, graders=0.8, seed=1, workers=40)
    try:
        found = study_report(study, tmp_path / "study", tmp_path, ReportOptions(), Resampling(ci=True, resamples=100))
    finally:
        study.close()
        rehearsal.close()
    (tmp_path / "report.html").write_text(report_page(found), "utf-8")
    millimetre = 96 / 25.4
    with open_chromium() as browser:
        page = browser.new_page(viewport={"width": int(178 * millimetre), "height": 900})
        page.emulate_media(media="print")
        page.goto((tmp_path / "report.html").as_uri())
        sizes = page.evaluate("[...document.querySelectorAll('figure')].map((one) => one.offsetHeight)")
        assert len(sizes) >= 4 and max(sizes) < 235 * millimetre
        assert page.evaluate(WIDER_THAN_SCREEN) <= 0


@pytest.mark.slow
def test_a_trial_is_reported_arm_by_arm_only_if_asked_for(tmp_path: Path) -> None:
    study, _, rehearsal = perform(small(tmp_path / "study"), experts=1.0, graders=0.8, seed=1, workers=40)
    resampling = Resampling(ci=True, resamples=100)
    try:
        hidden, shown = (
            study_report(
                study, tmp_path / "study", tmp_path, ReportOptions(charts=False, arms=arms), resampling
            ).as_json()
            for arms in (False, True)
        )
        exports = {"mcq": "mcq-validation", "responses": "jsonl", "ledger": "ledger"}
        files = {name: tmp_path / f"{name}.{'csv' if name == 'ledger' else 'jsonl'}" for name in exports}
        for name, export in exports.items():
            write_export(study, export, files[name])
        console = study.store.read(lambda tx: arm_outcomes(tx, study)).result()
        status_now = study.store.read(lambda tx: summary(tx, study, arms=True)).result()["arms"]
    finally:
        study.close()
        rehearsal.close()
    assert hidden["questions"] is None
    assert set(shown["costs"]["arms"]) == set(shown["questions"]["files"])
    assert len(shown["costs"]["arms"]) == 4
    # The command says of the study's exports what the report says of the study.
    options = ["--by-arm", "--written", "--ci", "--resamples", "100", "--json"]
    given = ["--responses", files["responses"], "--ledger", files["ledger"]]
    command = json.loads(run("evaluate", "mcq", files["mcq"], *given, *options).stdout)
    for part in ("files", "written", "costs"):
        assert command[part] == shown["questions"][part], part
    # Console, `chorale status` and report have one cost of an arm.
    for outcome in console:
        terms = asdict(outcome.costs)
        assert status_now["costs"][outcome.name] == terms
        assert shown["costs"]["arms"][outcome.name] == {"workers": outcome.people, **terms}
        for by_arm in (shown["costs"]["shared"]["by_arm"], status_now["shared"]["by_arm"]):
            assert by_arm[outcome.name] == outcome.shared


MONITORED = """
[study]
title = "Sizes"
contact = "sizes@example.org"
consent = "text.md"

[[stage]]
name = "main"
title = "Sizes"
task = "form"
guidelines = "text.md"
judgments = 1
items = { file = "items.jsonl" }
[stage.options]
shows = [{ item = "thing" }]
fields = [{ name = "size", kind = "choice", ask = "How large?", options = ["small", "large"] }]

[[stage]]
name = "monitor"
title = "A second look"
task = "form"
guidelines = "text.md"
judgments = 1
items = { from = "main", of = "answers", sample = 0.5 }
[stage.options]
shows = [{ item = "thing" }, { item = "size" }]
fields = [
  { name = "verdict", kind = "choice", ask = "Right?", options = ["right", "wrong"] },
  { name = "why", kind = "text", ask = "Why not?", shown_if = { field = "verdict", is = "wrong" } },
]
"""


def test_what_monitoring_found_is_told_with_what_was_wrong_and_whose_it_was(tmp_path: Path) -> None:
    place = tmp_path / "study"
    place.mkdir()
    (place / "study.toml").write_text(MONITORED)
    (place / "text.md").write_text("Look at it.\n")
    (place / "items.jsonl").write_text(
        "".join(json.dumps({"id": f"t{n}", "thing": f"thing {n}"}) + "\n" for n in range(20))
    )
    study = open_study(place)
    writer, reviewer = people(study, 2)
    work_through([writer], lambda *_: {"size": "small"}, "main")
    wrong: list[str] = []

    def review(_: Person, offer: Offer) -> dict[str, str]:
        assert offer.lease is not None
        if len(wrong) == 2:
            return {"verdict": "right"}
        wrong.append(offer.lease.item_key)
        return {"verdict": "wrong", "why": "<b>It</b> is large."}

    reviewed = work_through([reviewer], review, "monitor")
    assert 2 < reviewed < 20
    owner = as_owner(study)
    page = owner.get("/console/items/one", params={"stage": "monitor", "key": wrong[0]}).text
    assert re.search(rf'the answer of\s+<span[^>]*><a [^>]*href="/console/workers/{writer.pseudonym}"', page)
    study.close()
    found = told(place, "--no-charts")["monitoring"]["monitor"]
    assert (found["items"], found["reviewed"]) == (reviewed, reviewed)
    shares = {row["answer"]: (row["times"], row["share"]) for row in found["answers"]}
    assert shares == {"right": (reviewed - 2, 1 - 2 / reviewed), "wrong": (2, 2 / reviewed)}
    assert [row["item"] for row in found["examples"]] == sorted(wrong)
    run("report", place, "--no-charts", "--resamples", 100, "--out", tmp_path / "report.html")
    shown = (tmp_path / "report.html").read_text("utf-8")
    assert "A random 50% sample of the work in main was sent for review" in shown
    assert "&lt;b&gt;It&lt;/b&gt; is large." in shown and "<b>It" not in shown
