"""Studies that are exported for Label Studio and imported again: the same form, answers and agreement."""

import hashlib
import json
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from chorale.contract import Seeds
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.exchange.export import write_export
from chorale.folder.reading import load_folder
from chorale.folder.templates import create_study, template_names
from chorale.kits.forms.from_label_studio import import_label_studio
from chorale.kits.forms.task.settings import FormOptions, Kind
from chorale.metrics.resampling import Resampling
from chorale.model import UserError
from chorale.monitor.outcomes import stage_results
from chorale.rehearsal import Crowd, Rehearsal
from chorale.rehearsal.simulated import CrowdSettings, KindSettings
from chorale.report import ReportOptions, study_report
from chorale.store import Tx, events
from chorale.store.items import all_items
from chorale.store.responses import counted_responses
from crowd import look

MIXED = KindSettings(name="mixed", share=1, ability=(0.6, 0.9), dropout=0)
GALLERY = sorted(name for name in template_names() if name.startswith("gallery/"))
MORE_KINDS = """
format = 1
study = { title = "More kinds", contact = "you@example.org", consent = "consent.md" }
pay = { currency = "USD" }
[[stage]]
name = "main"
title = "More kinds"
task = "form"
guidelines = "consent.md"
judgments = 3
items = { file = "items.jsonl" }
pay = { per_judgment = 20, expected_seconds = 30 }
[stage.options]
shows = [
  { item = "picture", look = "picture", label = "What is “this”?" },
  { item = "talk", look = "dialogue" },
  { item = "one", look = "markdown" },
]
fields = [
  { name = "scale", kind = "likert", ask = "How 'clear' \\"it\\" <now>?", labels = ["no & no", "very"], levels = 7 },
  { name = "better", kind = "pair", ask = "Better?", sides = ["one", "two"], same = "About the same" },
  { name = "order", kind = "ranking", ask = "Order?", sides = ["one", "two", "three"], required = false },
  { name = "some", kind = "choices", ask = "Which?", options = ["a", { value = "b", label = "B" }], none = "None" },
  { name = "word", kind = "text", ask = "Word?", compare = true, max = 30 },
  { name = "marked", kind = "spans", ask = "Mark.", item = "tokens", required = false },
  { name = "cut", kind = "spans", ask = "Mark.", item = "spaced", tokenizer = "spaces", min = 0, overlap = true },
  { name = "turns", kind = "turn_spans", ask = "Mark.", item = "talk", min = 0 },
  { name = "each", kind = "turn_choice", ask = "Each?", item = "talk", options = ["x", "y"], required = false },
  { name = "outline", kind = "polygons", ask = "Draw.", item = "picture", min = 0, options = ["cat", "dog"] },
]
"""


def more_kinds(folder: Path) -> None:
    folder.mkdir()
    (folder / "study.toml").write_text(MORE_KINDS, "utf-8")
    (folder / "consent.md").write_text("# About\n\nA study.\n", "utf-8")
    (folder / "a.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', "utf-8")
    talk = [{"speaker": "Ann", "text": "Hello, you two."}, {"speaker": "Ben", "text": "Well: hello!"}]
    tokens = ["do", "n't", "be-", "gin", "."]
    texts = {"one": "Yes.", "two": "No.", "three": "Perhaps.", "tokens": tokens, "spaced": "Don't, please: begin."}
    with (folder / "items.jsonl").open("w", encoding="utf-8") as file:
        for number in range(5):
            row = {"id": f"i{number}", "picture": "a.svg", "talk": talk, **texts, "length": number}
            file.write(f"{json.dumps(row)}\n")


def form_of(study: Study) -> FormOptions:
    (stage,) = study.stages.values()
    return FormOptions.model_validate(stage.settings.options)


def answers_in(study: Study) -> dict[str, Counter[str]]:
    given: dict[str, Counter[str]] = {}
    for row in look(study, lambda tx: list(counted_responses(tx, "main"))):
        given.setdefault(row.item, Counter())[json.dumps(row.answer, sort_keys=True)] += 1
    return given


def items_in(study: Study) -> dict[str, Any]:
    return {item.key: item.payload for item in look(study, lambda tx: list(all_items(tx, "main")))}


def agreement_in(study: Study, folder: Path) -> dict[tuple[str, str], float]:
    """Every coefficient of the report, and the mean agreement of every field."""
    data = folder / "data of the report"
    data.mkdir()
    report = study_report(study, folder, data, ReportOptions(), Resampling(ci=False))
    (agreement,) = [section.json for section in report.sections if section.name == "agreement"]
    values = {(each["field"], each["coefficient"]): each["value"] for each in agreement["coefficients"]}
    return values | {(each["field"], "mean"): each["value"] for each in agreement["by_distance"]}


def exported(folder: Path, name: str | None) -> Study:
    """A simulated study, with its export next to its media."""
    if name is None:
        more_kinds(folder)
    else:
        create_study(folder, name)
    study, _ = Rehearsal(load_folder(folder), Crowd(CrowdSettings(workers=24, kind=(MIXED,)))).perform(1)
    write_export(study, "labelstudio", folder / "main.json")
    return study


@pytest.mark.parametrize("name", [*(pytest.param(name, marks=pytest.mark.slow) for name in GALLERY), None])
def test_a_study_comes_back_from_label_studio(tmp_path: Path, name: str | None) -> None:
    study = exported(tmp_path / "study", name)
    import_label_studio(tmp_path / "study/main.json", tmp_path / "study/main.xml", tmp_path / "again", "Again")
    again = open_study(tmp_path / "again")
    try:
        assert form_of(again) == form_of(study)
        answers = answers_in(again)
        assert answers == answers_in(study) and max(map(len, answers.values())) > 1
        items = items_in(study)
        assert items_in(again) == {key: items[key] for key in answers}
        agreement = agreement_in(again, tmp_path / "again")
        assert agreement == pytest.approx(agreement_in(study, tmp_path / "study"))
        (stage,) = again.stages.values()
        assert {field for field, _ in agreement} == {field.name for field in stage.task.shape.compared}
    finally:
        again.close()
        study.close()


def test_every_kind_of_field_is_tried(tmp_path: Path) -> None:
    more_kinds(tmp_path / "more")
    folders = [tmp_path / "more"]
    for name in GALLERY:
        folders.append(tmp_path / name)
        create_study(folders[-1], name)
    options = [load_folder(folder).settings.stage[0].options for folder in folders]
    assert {field["kind"] for each in options for field in each["fields"]} == set(Kind)


@pytest.fixture(scope="module")
def preference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("preference") / "study"
    exported(folder, "gallery/preference").close()
    return folder


def imported(tmp_path: Path, tasks: list[dict[str, Any]], config: str) -> Study:
    (tmp_path / "main.json").write_text(json.dumps(tasks), "utf-8")
    (tmp_path / "main.xml").write_text(config, "utf-8")
    import_label_studio(tmp_path / "main.json", tmp_path / "main.xml", tmp_path / "again", "Again")
    return open_study(tmp_path / "again")


def test_annotators_of_label_studio_see_controls_of_its_own(tmp_path: Path, preference: Path) -> None:
    config = ElementTree.parse(preference / "main.xml").getroot()
    assert [tag.attrib["name"] for tag in config.iter("Rating")] == ["rubric-1", "rubric-2", "rubric-3"]
    more = tmp_path / "more"
    exported(more, None).close()
    config = ElementTree.parse(more / "main.xml").getroot()
    assert {tag.tag for tag in config} >= {"Image", "Paragraphs", "Ranker", "List", "ParagraphLabels", "PolygonLabels"}
    data = json.loads((more / "main.json").read_text("utf-8"))[0]["data"]
    assert data["tokens"] == "do n't be- gin ." and data["chorale_order"][0] == {"id": "one", "title": "Yes."}


def through_label_studio(task: dict[str, Any], next_number: int) -> dict[str, Any]:
    """A task as Label Studio 1.23 returns it after an import: annotations get its own numbers and its only user."""
    kept = ("result", "was_cancelled", "ground_truth", "lead_time")
    annotations = [
        {"id": next_number + place, "completed_by": 1, "import_id": made["id"], **{name: made[name] for name in kept}}
        for place, made in enumerate(task["annotations"])
    ]
    return {"id": next_number, "data": task["data"], "meta": task["meta"], "annotations": annotations}


def test_workers_and_empty_fields_survive_label_studio(tmp_path: Path) -> None:
    """It refuses annotators that it does not know, and drops what it does not know about an annotation."""
    study = exported(tmp_path / "study", None)
    try:
        tasks = json.loads((tmp_path / "study/main.json").read_text("utf-8"))
        assert not any(
            {"completed_by", "chorale_unanswered"} & made.keys() for one in tasks for made in one["annotations"]
        )
        assert not any(made["ground_truth"] for one in tasks for made in one["annotations"]), "they are no gold"
        assert any("chorale_unanswered" in one["meta"] for one in tasks)
        (tmp_path / "a.svg").write_bytes((tmp_path / "study/a.svg").read_bytes())
        # Its numbers are those of other annotations in the export.
        returned = [through_label_studio(one, place) for place, one in enumerate(tasks)]
        returned[0]["annotations"].append({**returned[0]["annotations"][0], "id": 99, "import_id": None})
        again = imported(tmp_path, returned, (tmp_path / "study/main.xml").read_text("utf-8"))
        try:
            before, after = answers_in(study), answers_in(again)
            assert {key: given - before[key] for key, given in after.items() if given != before[key]}.keys() == {
                tasks[0]["data"]["chorale_item"]
            }, "only the new annotation is added"
            assert all(not given - after[key] for key, given in before.items())
        finally:
            again.close()
    finally:
        study.close()


@pytest.mark.parametrize("meta", ["a note", ["a note"], {"chorale_workers": ["w"], "chorale_unanswered": 3}, None, {}])
def test_metadata_of_other_programs_are_ignored(tmp_path: Path, preference: Path, meta: Any) -> None:
    """Label Studio keeps any JSON there. Before, some of it ended the import with a traceback."""
    tasks = json.loads((preference / "main.json").read_text("utf-8"))
    for task in tasks:
        task["meta"] = meta
        for number, made in enumerate(task["annotations"], 1):
            made["completed_by"] = number
    again = imported(tmp_path, tasks, (preference / "main.xml").read_text("utf-8"))
    try:
        workers = {row.worker for row in look(again, lambda tx: list(counted_responses(tx, "main")))}
        assert len(workers) == max(len(task["annotations"]) for task in tasks)
    finally:
        again.close()


def test_changes_made_in_label_studio_are_imported(tmp_path: Path, preference: Path) -> None:
    """Without an answer that was required, with another option, and with another question."""
    tasks = json.loads((preference / "main.json").read_text("utf-8"))
    made = tasks[0]["annotations"][0]["result"]
    made[:] = [each for each in made if not each["from_name"].startswith("rubric")]
    made[0]["value"]["choices"] = ["neither"]
    made.append({"from_name": "sure", "to_name": "item", "type": "rating", "value": {"rating": 2}})
    config = (preference / "main.xml").read_text("utf-8")
    config = config.replace("</Choices>", '<Choice value="neither"/></Choices>')
    config = config.replace("</View>", '<Rating name="sure" toName="item" maxRating="3"/></View>')
    again = imported(tmp_path, tasks, config)
    try:
        fields = {field.name: field for field in form_of(again).fields}
        assert list(fields) == ["better", "rubric", "why", "sure"]
        assert [option.value for option in fields["better"].options or ()][-1] == "neither"
        assert (fields["better"].required, fields["rubric"].required) == (True, False)
        answers = [json.loads(each) for given in answers_in(again).values() for each in given]
        (changed,) = [answer for answer in answers if "sure" in answer]
        assert (changed["better"], "rubric" in changed) == ("neither", False)
    finally:
        again.close()


def test_tasks_of_other_stages_are_left_out(tmp_path: Path, preference: Path) -> None:
    tasks = json.loads((preference / "main.json").read_text("utf-8"))
    tasks[0]["data"]["chorale_stage"] = "another"
    again = imported(tmp_path, tasks, (preference / "main.xml").read_text("utf-8"))
    try:
        assert len(answers_in(again)) == len(tasks) - 1
        (stage,) = again.settings.stage
        assert (stage.name, stage.title) == ("main", "main.json"), "not a file that the import made"
        (event,) = look(again, lambda tx: events.recent(tx, 1, kinds=("imported",)))
        written = (tmp_path / "main.json").read_bytes()
        assert hashlib.sha256(written).hexdigest().startswith(event.evidence["sha256"])
    finally:
        again.close()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("half", r"main.json: task \w+: the annotation of \S+ is invalid: `rubric` has no level for Easy to read"),
        ("json", "main.xml: the attribute `chorale` of <View> is not valid JSON"),
        ("kind", "main.xml does not fit a form: fields.1.kind: "),
    ],
)
def test_errors_name_the_file_and_the_place(tmp_path: Path, preference: Path, wrong: str, message: str) -> None:
    tasks = json.loads((preference / "main.json").read_text("utf-8"))
    config = (preference / "main.xml").read_text("utf-8")
    if wrong == "half":
        made = tasks[0]["annotations"][0]["result"]
        made[:] = [each for each in made if each["from_name"] != "rubric-3"]
    config = config.replace("chorale='{", "chorale='") if wrong == "json" else config
    config = config.replace("matrix", "metrics") if wrong == "kind" else config
    with pytest.raises(UserError, match=message):
        imported(tmp_path, tasks, config)
    assert not (tmp_path / "again").exists()


def test_media_must_be_next_to_the_export(tmp_path: Path) -> None:
    exported(tmp_path / "study", "gallery/image-boxes").close()
    tasks = json.loads((tmp_path / "study/main.json").read_text("utf-8"))
    with pytest.raises(UserError, match=r"not in its folder \(5 files, such as 'pictures/a.svg'\)"):
        imported(tmp_path, tasks, (tmp_path / "study/main.xml").read_text("utf-8"))


def test_nobody_knows_the_order_in_which_imported_workers_saw_the_options(tmp_path: Path, preference: Path) -> None:
    """Before, `form-answers` had an order for them that nobody saw."""
    import_label_studio(preference / "main.json", preference / "main.xml", tmp_path / "again", "Again")
    with closing(open_study(tmp_path / "again")) as again:
        (stage,) = again.stages.values()

        def seeds_of_somebody(tx: Tx) -> tuple[Seeds | None, Seeds | None]:
            results = stage_results(tx, again, stage)
            item = next(iter(results.items))
            worker = results.judgments(item)[0].worker
            return results.seeds(worker, item.key), results.seeds("somebody-else", item.key)

        imported, other = look(again, seeds_of_somebody)
        assert imported is None
        assert other is not None
