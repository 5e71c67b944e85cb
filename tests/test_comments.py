"""300 comments with a class, a span, a scale and a reason: every number about them is that of a field.

What Chorale says is compared with what pandas and krippendorff make of the same answers.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any
from xml.etree import ElementTree

import krippendorff
import pandas as pd
import pytest
from click.testing import CliRunner

import chorale
from chorale.cli.program import app
from chorale.contract.answer_words import item_words
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.started import started_study
from chorale.exchange.export import write_export
from chorale.metrics.resampling import Resampling
from chorale.model import UserError
from chorale.monitor.tables import candidates_table
from chorale.report import ReportOptions, study_report
from chorale.store.items import ItemsWanted, all_items, item_ids
from chorale.store.responses import counted_responses
from comments_study import CLASSES, COMMENTS, PEOPLE, comments_study
from crowd import look


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    opened = comments_study(tmp_path_factory.mktemp("comments"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def answers(study: Study) -> pd.DataFrame:
    """Every answer, with a column for each field."""
    given = look(study, lambda tx: list(counted_responses(tx, "main")))
    frame = pd.DataFrame([{"item": row.item, "worker": row.worker, **row.answer} for row in given])
    assert len(frame) == COMMENTS * PEOPLE
    return frame.sort_values(["item", "worker"])


@pytest.fixture(scope="module")
def report(study: Study, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("report")
    found = study_report(study, folder, folder, ReportOptions(charts=False), Resampling(False))
    assert "compared as text" not in str(found.sections), "spans are compared by their distance"
    return {section.name: section.json for section in found.sections}


def alpha(answers: pd.DataFrame, field: str, level: Any, values: list[Any]) -> float:
    coded = answers.assign(code=answers[field].map(values.index))
    table = coded.pivot(index="worker", columns="item", values="code").to_numpy(dtype=float)
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement=level))


def tokens(spans: list[dict[str, Any]]) -> frozenset[tuple[int, str]]:
    return frozenset((token, span["label"]) for span in spans for token in range(span["start"], span["end"]))


def apart(left: list[dict[str, Any]], right: list[dict[str, Any]]) -> float:
    first, second = tokens(left), tokens(right)
    return 1 - 2 * len(first & second) / (len(first) + len(second)) if first or second else 0.0


def alpha_of_spans(answers: pd.DataFrame) -> float:
    """By the definition: 1 − the mean distance within items over that between all answers."""
    kinds = answers["spans"].map(json.dumps)
    values = {text: json.loads(text) for text in kinds.unique()}
    counts = kinds.value_counts()
    n = len(kinds)
    expected = sum(
        2 * counts[left] * counts[right] * apart(values[left], values[right])
        for left, right in combinations(counts.index, 2)
    ) / (n * (n - 1))
    within = answers.groupby("item")["spans"].apply(
        lambda given: sum(apart(left, right) for left, right in combinations(given, 2)) * 2 / (len(given) - 1)
    )
    return float(1 - float(within.sum()) / n / expected)


def test_agreement_is_that_of_each_field(report: dict[str, Any], answers: pd.DataFrame) -> None:
    found = {one["question"]: (one["coefficient"], one["value"]) for one in report["agreement"]["coefficients"]}
    assert found == {
        "main: class": ("Krippendorff's α (nominal)", pytest.approx(alpha(answers, "class", "nominal", [*CLASSES]))),
        "main: spans": ("Krippendorff's α (distance between spans)", pytest.approx(alpha_of_spans(answers))),
        "main: severity": (
            "Krippendorff's α (ordinal)",
            pytest.approx(alpha(answers, "severity", "ordinal", [1, 2, 3, 4, 5])),
        ),
    }
    assert found["main: class"][1] > 0.85, "the class is agreed on, whatever the reasons say"
    near = {one["field"]: one["value"] for one in report["agreement"]["by_distance"]}
    pairs = [pair for _, given in answers.groupby("item")["severity"] for pair in combinations(given, 2)]
    assert near["severity"] == pytest.approx(fmean(1 - abs(left - right) / 4 for left, right in pairs))
    assert set(near) == {"class", "spans", "severity"}


def test_unanimous_and_confidence_are_those_of_each_field(report: dict[str, Any], answers: pd.DataFrame) -> None:
    found = {one["field"]: one for one in report["disagreement"]["unanimous"]}
    for field, name in (("class", "class"), ("severity", "severity")):
        same = (answers.groupby("item")[field].nunique() == 1).sum()
        assert found[name]["unanimous"] == same
    same = (answers.assign(spans=answers["spans"].map(json.dumps)).groupby("item")["spans"].nunique() == 1).sum()
    assert (found["spans"]["unanimous"], found["spans"]["items"]) == (same, COMMENTS)
    shares = answers.groupby("item")["class"].agg(lambda given: given.value_counts(normalize=True).max())
    fields = {one["field"]: one for one in report["fields"]["compared"]}
    assert fields["class"]["confidence"] == pytest.approx(float(shares.mean()))
    assert fields["class"]["accepted"] == (shares >= 0.7).sum()
    assert fields["class"]["unanimous"] == found["class"]["unanimous"] > 200
    assert all(one["decides"] for one in fields.values())


def test_a_worker_is_compared_with_the_result_of_each_field(report: dict[str, Any], answers: pd.DataFrame) -> None:
    # Ties are decided for the first by name here, where they are drawn there: they share the same number of answers.
    shares = answers.groupby("item")["class"].transform(lambda given: given == given.mode()[0])
    fields = {one["field"]: one for one in report["fields"]["compared"]}
    expected = shares.groupby(answers["worker"]).mean().mean()
    assert fields["class"]["as_the_result"] == pytest.approx(float(expected), abs=1e-9)


def test_free_text_is_counted_and_never_compared(report: dict[str, Any], answers: pd.DataFrame) -> None:
    (written,) = report["fields"]["text"]
    assert (written["field"], written["answers"], written["people"]) == ("reason", COMMENTS * PEOPLE, PEOPLE)
    assert written["different"] == answers["reason"].nunique()
    assert written["clusters"] == [], "nobody wrote what somebody else did"
    compared = [one["field"] for one in (*report["agreement"]["by_distance"], *report["fields"]["compared"])]
    assert "reason" not in compared and "main: reason" not in [
        one["question"] for one in report["aggregation"]["methods"]
    ]


# Exports


@pytest.fixture(scope="module")
def exported(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exports")
    names = {"csv": "responses.csv", "jsonl": "responses.jsonl", "parquet": "responses.parquet"}
    names |= {name: f"{name}.csv" for name in ("crowdkit", "labels", "tidy", "tidy-labels", "form", "form-answers")}
    names |= {"labelstudio": "tasks.json", "huggingface": "dataset"}
    for name, file in names.items():
        write_export(study, name, folder / file)
    return folder


JUDGMENTS = ("crowdkit.csv", "responses.csv", "responses.jsonl", "responses.parquet", "form-answers.csv")


@pytest.mark.parametrize("name", JUDGMENTS)
def test_what_is_exported_can_be_read_field_by_field(exported: Path, report: dict[str, Any], name: str) -> None:
    found = {one["question"].removeprefix("main: "): one["value"] for one in report["agreement"]["coefficients"]}
    path = exported / name
    assert chorale.alpha(path, label="class", ci=False).value == pytest.approx(found["class"])
    assert chorale.alpha(path, label="severity", level="ordinal", ci=False).value == pytest.approx(found["severity"])
    spans = chorale.alpha(path, label="spans", sep="json", distance="span", empty="nothing marked", ci=False)
    assert spans.json["n_judgments"] == COMMENTS * PEOPLE and 0 < (spans.value or 0) < 1
    with pytest.raises(UserError) as refused:
        chorale.alpha(path, ci=False)
    assert "Choose one with `label`" in str(refused.value) or "`label`" in str(refused.value)
    assert "class" in str(refused.value)


@pytest.mark.parametrize("name", ["labels.csv", "tidy.csv", "tidy-labels.csv", "form.csv", "tasks.json"])
def test_what_has_no_judgments_says_what_to_use_instead(exported: Path, name: str) -> None:
    with pytest.raises(UserError, match="`crowdkit` export of the study"):
        chorale.alpha(exported / name, ci=False)


def test_tidy_rows_have_the_text_and_every_span_in_tokens_and_characters(exported: Path, answers: pd.DataFrame) -> None:
    tidy = pd.read_csv(exported / "tidy.csv")
    counts = tidy.groupby("field").size()
    assert (counts["class"], counts["severity"], counts["reason"]) == (len(answers),) * 3
    spans = tidy[(tidy["field"] == "spans") & tidy["value"].notna()]
    assert len(spans) == answers["spans"].map(len).sum()
    for row in spans.head(50).itertuples():
        text = row._12  # the column `item.text`
        assert text[int(row.start_character) : int(row.end_character)] == row.value
    labels = pd.read_csv(exported / "tidy-labels.csv")
    sure = labels[labels["field"] == "class"].set_index("item")
    assert sure["accepted"].sum() == (sure["confidence"] >= 0.7).sum()
    results = pd.read_csv(exported / "labels.csv").set_index("item")
    assert (results["label.class"] == sure["value"]).all() and results["item.text"].notna().all()


def test_label_studio_gets_regions_and_a_configuration_that_fits(exported: Path, answers: pd.DataFrame) -> None:
    config = ElementTree.parse(exported / "tasks.xml").getroot()
    controls = {tag.attrib["name"]: tag for tag in config if "toName" in tag.attrib}
    assert {name: tag.tag for name, tag in controls.items()} == {
        "class": "Choices",
        "spans": "Labels",
        "severity": "Rating",
        "reason": "TextArea",
    }
    objects = {tag.attrib["name"]: tag for tag in config if "value" in tag.attrib and tag.tag == "Text"}
    tasks = json.loads((exported / "tasks.json").read_text("utf-8"))
    assert sum(len(task["annotations"]) for task in tasks) == len(answers)
    regions = 0
    for task in tasks:
        for one in (result for made in task["annotations"] for result in made["result"]):
            assert one["type"] == controls[one["from_name"]].tag.lower()
            shown = task["data"][objects[one["to_name"]].attrib["value"].removeprefix("$")]
            if one["type"] == "labels":
                regions += 1
                assert shown[one["value"]["start"] : one["value"]["end"]] == one["value"]["text"]
    assert regions == answers["spans"].map(len).sum()


def test_the_dataset_has_its_fields_as_columns_and_as_rows(exported: Path, answers: pd.DataFrame) -> None:
    responses = pd.read_parquet(exported / "dataset/data/responses.parquet")
    assert sorted(responses["answer.class"]) == sorted(answers["class"]) and responses["item.text"].notna().all()
    assert "config_name: fields" in (exported / "dataset/README.md").read_text("utf-8")
    assert len(pd.read_parquet(exported / "dataset/data/fields.parquet")) == len(pd.read_csv(exported / "tidy.csv"))


def test_a_study_comes_back_from_label_studio(exported: Path, study: Study, tmp_path: Path) -> None:
    """The same items, answers and labels; people get other pseudonyms."""
    command = ["import", "labelstudio", str(exported / "tasks.json"), "--config", str(exported / "tasks.xml")]
    ran = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "again")])
    assert ran.exit_code == 0 and "1,500 judgments of 300 items by 5 workers" in ran.output, ran.output
    again = open_study(tmp_path / "again")

    def answers_of(opened: Study, stage: str) -> dict[str, list[str]]:
        by_item: dict[str, list[str]] = {}
        for row in look(opened, lambda tx: list(counted_responses(tx, stage))):
            by_item.setdefault(row.item, []).append(json.dumps(row.answer, sort_keys=True))
        return {item: sorted(given) for item, given in by_item.items()}

    def labels_of(opened: Study, stage: str) -> dict[str, Any]:
        # Ties are drawn by the name of the stage and the study's seed.
        items = look(opened, lambda tx: list(all_items(tx, stage)))
        return {item.key: (dict(item.payload), item.answer) for item in items if (item.confidence or 0) > 0.5}

    try:
        assert answers_of(again, "tasks") == answers_of(study, "main")
        found, wanted = labels_of(again, "tasks"), labels_of(study, "main")
        assert found == wanted and len(wanted) > 250
    finally:
        again.close()


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ("<View>", "is not valid XML"),
        ('<View><Text name="t" value="$text"/></View>', "has no control such as"),
        (
            '<View><Choices name="c" toName="t"><Choice value="a"/></Choices></View>',
            "has no supported display tag",
        ),
        ('<View><Text name="t" value="$text"/><Brush name="b" toName="t"/></View>', "<Brush>, which is not supported"),
        (
            '<View><Text name="t" value="$text"/><Rating name="r" toName="t" perRegion="true"/></View>',
            "has the control <Rating> with perRegion",
        ),
        ('<!DOCTYPE x [<!ENTITY a "b">]><View/>', "has a document type, an entity or CDATA"),
    ],
)
def test_a_configuration_that_is_no_form_is_refused(tmp_path: Path, config: str, told: str) -> None:
    (tmp_path / "tasks.json").write_text("[]", "utf-8")
    (tmp_path / "config.xml").write_text(config, "utf-8")
    command = ["import", "labelstudio", str(tmp_path / "tasks.json"), "--config", str(tmp_path / "config.xml")]
    ran = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "again")])
    assert ran.exit_code != 0 and told in str(ran.exception) + ran.output and not (tmp_path / "again").exists()


STUDIO = """<View>
<Text name="text" value="$text"/><Image name="image" value="$image"/><Audio name="sound" value="$sound"/>
<Text name="one" value="$one"/><Text name="two" value="$two"/>
<Number name="count" toName="text" min="0" max="9" step="1"/>
<DateTime name="day" toName="text" only="date"/>
<Pairwise name="better" toName="one,two"/>
<RectangleLabels name="things" toName="image"><Label value="cat"/><Label value="dog"/></RectangleLabels>
<Polygon name="outline" toName="image"/>
<Labels name="sounds" toName="sound"><Label value="bell"/><Label value="voice"/></Labels>
<Labels name="names" toName="text"><Label value="person"/><Label value="place"/></Labels>
<Relations><Relation value="in"/></Relations>
</View>"""


def test_regions_relations_numbers_and_comparisons_come_from_label_studio(tmp_path: Path) -> None:
    def result(name: str, kind: str, value: dict[str, Any], **more: str) -> dict[str, Any]:
        return {"from_name": name, "to_name": "x", "type": kind, "value": value, **more}

    corners = [[10, 10], [50, 10], [50, 60]]
    box = {"x": 10, "y": 20, "width": 30, "height": 40, "rotation": 0, "rectanglelabels": ["dog"]}
    ada = {"start": 0, "end": 3, "text": "Ada", "labels": ["person"]}
    made = [
        result("count", "number", {"number": 4}),
        result("day", "datetime", {"datetime": "2024-05-31"}),
        result("better", "pairwise", {"selected": "right"}),
        result("things", "rectanglelabels", box),
        result("outline", "polygon", {"points": corners}),
        result("sounds", "labels", {"start": 0.5, "end": 1.25, "labels": ["bell"]}),
        result("names", "labels", ada, id="r1"),
        result("names", "labels", {"start": 7, "end": 11, "text": "Oslo", "labels": ["place"]}, id="r2"),
        {"type": "relation", "from_id": "r1", "to_id": "r2", "direction": "right", "labels": ["in"]},
        {"type": "relation", "from_id": "r2", "to_id": "r1", "direction": "right"},
    ]
    data = {"text": "Ada in Oslo", "one": "A", "two": "B", "image": "/data/upload/2/a.png"}
    data["sound"] = "https://media.example.org/a.wav"
    (tmp_path / "data/upload/2").mkdir(parents=True)
    (tmp_path / "data/upload/2/a.png").write_bytes(b"a picture")
    task = {
        "id": 7,
        "data": data,
        "annotations": [{"completed_by": 1, "result": made}, {"completed_by": 2, "result": []}],
    }
    (tmp_path / "tasks.json").write_text(json.dumps([task]), "utf-8")
    (tmp_path / "config.xml").write_text(STUDIO, "utf-8")
    command = ["import", "labelstudio", str(tmp_path / "tasks.json"), "--config", str(tmp_path / "config.xml")]
    ran = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "made")])
    assert ran.exit_code == 0, ran.output + str(ran.exception)
    with started_study(tmp_path / "made", None) as study:
        given = look(study, lambda tx: [row.answer for row in counted_responses(tx, "tasks")])
        assert study.stages["tasks"].settings.options["hosts"] == ["https://media.example.org"]
    assert (tmp_path / "made/data/upload/2/a.png").read_bytes() == b"a picture"
    full = max(given, key=len)
    assert full == {
        "count": 4,
        "day": "2024-05-31",
        "better": "two",
        "things": [{"x": 0.1, "y": 0.2, "width": 0.3, "height": 0.4, "label": "dog"}],
        "outline": [{"points": [[0.1, 0.1], [0.5, 0.1], [0.5, 0.6]]}],
        "sounds": [{"start": 0.5, "end": 1.25, "label": "bell"}],
        "names": {
            "spans": [{"start": 0, "end": 1, "label": "person"}, {"start": 2, "end": 3, "label": "place"}],
            "relations": [{"from": 0, "to": 1, "label": "in"}],
        },
    }
    assert min(given, key=len) == {"things": [], "outline": [], "sounds": [], "names": {"spans": [], "relations": []}}


def test_the_terminal_lists_texts_without_data_for_the_page(study: Study) -> None:
    """The tokens of a text are for the form's script."""
    stage = study.stages["main"]
    item = look(study, lambda tx: next(iter(all_items(tx, "main"))))
    row = {"item": item.key, "words": "x" * 200, "confidence": 1.0, "judgments": 3}
    table = candidates_table([{**row, "text": item_words(stage.task, item.payload, 160)}])
    cells = [str(cell) for column in table.columns for cell in column.cells]
    assert not any("{" in cell for cell in cells)
    assert "x" * 79 + "…" in cells


def test_the_console_lists_items_without_what_people_wrote(study: Study, answers: pd.DataFrame) -> None:
    """Nobody gives the same reason, and that makes no item a divided one."""
    stage = study.stages["main"]
    columns = answers[["class", "spans", "severity"]].astype(str).agg("|".join, axis=1)
    alike = columns.groupby(answers["item"]).nunique().eq(1)
    wanted = ItemsWanted(stage.id, disagreement="unanimous", written=("reason",))
    assert len(look(study, lambda tx: item_ids(tx, wanted, 1000))) == int(alike.sum()) > 0
    assert look(study, lambda tx: item_ids(tx, replace(wanted, written=()), 1000)) == []
