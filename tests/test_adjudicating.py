"""Review: a decision is the label, field by field, with its reason; what rests on the label follows it."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from chorale.audit.verify import verify
from chorale.engine import adjudicating, undoing
from chorale.engine.forgetting import BY_REQUESTER, ErasureRequest, forget
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.exchange.export import write_export
from chorale.exchange.export_fields import label_cells, tidy_labels
from chorale.metrics.resampling import Resampling
from chorale.model import UserError
from chorale.report import ReportOptions, study_report
from chorale.store import events
from chorale.store.items import all_items, find_item
from chorale.store.judgments_in_order import JudgmentsInOrder
from chorale.store.responses import all_responses
from chorale.web.app import create_app
from chorale.web.console.review import _first_to_decide
from chorale.web.console.texts import answer_parts, brief_text
from chorale.web.links import staff_link_path, study_sessions
from comments_study import comments_study
from crowd import Person, do, look, tamper
from mcq_study import write_mcq_study
from small_study import write_small_study
from test_console import browser, runs, set_up
from test_form import field_toml, read_table, write_form_study

COUNT = 12


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    opened = comments_study(tmp_path, count=COUNT)
    yield opened
    opened.close()


def item_of(study: Study, key: str) -> Any:
    return look(study, lambda tx: find_item(tx, "main", key))


def agreement(study: Study, folder: Path) -> Any:
    found = study_report(study, folder, folder, ReportOptions(charts=False), Resampling(False))
    return {section.name: section.json for section in found.sections}


def test_a_decision_is_the_label_and_agreement_stays(study: Study, tmp_path: Path) -> None:
    stage = study.stage("main")
    before = agreement(study, tmp_path)
    (case,) = [look(study, lambda tx: adjudicating.next_case(tx, study, stage, "disagreeing"))]
    assert case is not None and case.answers == 5
    key, old = case.item.key, case.item
    decision = {"class": "hateful", "spans": [{"start": 2, "end": 4, "label": "hateful"}]}
    do(study, adjudicating.decide, stage, key, decision, "It threatens.", "rae")
    item = item_of(study, key)
    assert {name: item.answer[name] for name in decision} == decision
    assert item.answer["severity"] == old.answer["severity"], "what was not decided stays as it was"
    do(study, adjudicating.decide, stage, key, {"severity": 5}, "A threat is the worst.", "rae")
    item = item_of(study, key)
    assert (item.answer["class"], item.answer["severity"], item.confidence, item.released) == ("hateful", 5, 1.0, True)
    (second, first) = look(study, lambda tx: events.recent(tx, 10, kinds=("adjudicated",)))
    assert first.evidence["reason"] == "It threatens." and first.evidence["before"] == dict(old.answer)
    assert second.evidence["decision"] == {**decision, "severity": 5}
    assert look(study, lambda tx: verify(tx, study)).differences == []
    after = agreement(study, tmp_path)
    for name in ("coefficients", "by_distance"):
        assert [one["value"] for one in after["agreement"][name]] == [one["value"] for one in before["agreement"][name]]
    assert after["fields"]["compared"] == before["fields"]["compared"], "confidence is that of the judgments"
    (reviewed,) = after["fields"]["reviewed"]
    assert (reviewed["stage"], reviewed["items"]) == ("main", 1)
    made = study_report(study, tmp_path, tmp_path, ReportOptions(charts=False), Resampling(False))
    page = "".join(str(part) for section in made.sections for part in section.parts)
    assert "Reviewers decided 1 label and changed 1 of them. The total number of accepted labels" in page
    assert "changed 1 of them. Agreement was measured on the annotations before the review." in page
    waiting = look(study, lambda tx: adjudicating.next_case(tx, study, stage, "all"))
    assert waiting is not None and waiting.item.key != key and waiting.left == COUNT - 1


def test_a_decision_of_somebody_else_is_not_replaced_unseen(study: Study) -> None:
    stage = study.stage("main")
    case = look(study, lambda tx: adjudicating.next_case(tx, study, stage, "disagreeing"))
    assert case is not None and case.decision == 0
    key = case.item.key
    for _ in range(2):  # a double click
        do(study, adjudicating.decide, stage, key, {"class": "hateful"}, "It threatens.", "rae", case.decision)
    assert len(look(study, lambda tx: events.recent(tx, 10, kinds=("adjudicated",)))) == 1
    with pytest.raises(UserError, match=r"was decided by rae in the meantime: .*hateful.* Save again to replace"):
        do(study, adjudicating.decide, stage, key, {"class": "rude"}, "Only rude.", "sam", case.decision)
    assert item_of(study, key).answer["class"] == "hateful"
    seen = look(study, lambda tx: adjudicating.next_case(tx, study, stage, "all", again=key))
    assert seen is not None
    do(study, adjudicating.decide, stage, key, {"class": "rude"}, "Only rude.", "sam", seen.decision)
    assert item_of(study, key).answer["class"] == "rude"


@pytest.mark.parametrize(
    ("decision", "reason", "told"),
    [
        ({}, "x", "Decide at least one field"),
        ({"class": "rude"}, " ", "Enter a reason"),
        ({"class": "nasty"}, "x", "`class` is not one of fine, rude, hateful"),
        ({"spans": [{"start": 0, "end": 99, "label": "rude"}]}, "x", "beyond the"),
        ({"tone": "rude"}, "x", "only the form's fields, but has 'tone'"),
    ],
)
def test_a_decision_that_can_not_be_is_refused(study: Study, decision: Any, reason: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        do(study, adjudicating.decide, study.stage("main"), "c001", decision, reason, "rae")
    assert item_of(study, "c001").decision is None


def test_an_undone_decision_gives_back_what_was_before_it(study: Study, tmp_path: Path) -> None:
    stage, before = study.stage("main"), item_of(study, "c001")
    do(study, adjudicating.decide, stage, "c001", {"class": "hateful"}, "It threatens.", "rae")
    first = item_of(study, "c001")
    do(study, adjudicating.decide, stage, "c001", {"class": "fine"}, "It jokes.", "rae")
    second, one = look(study, lambda tx: events.recent(tx, 10, kinds=("adjudicated",)))
    with pytest.raises(UserError, match="already undone"):
        do(study, undoing.undo, stage, "c001", one.id, "wrong", "rae")
    with pytest.raises(UserError, match="Enter a reason"):
        do(study, undoing.undo, stage, "c001", second.id, " ", "rae")
    do(study, undoing.undo, stage, "c001", second.id, "It does not.", "rae")
    assert item_of(study, "c001") == first
    with pytest.raises(UserError, match="already undone"):
        do(study, undoing.undo, stage, "c001", second.id, "pressed twice", "rae")
    (listed,) = look(study, lambda tx: undoing.latest_decisions(tx, stage))
    assert (listed.number, listed.by, listed.fields) == (one.id, "rae", ("class",))
    assert look(study, lambda tx: verify(tx, study)).differences == []
    do(study, undoing.undo, stage, "c001", one.id, "Nor does it threaten.", "rae")
    assert item_of(study, "c001") == before
    assert look(study, lambda tx: undoing.latest_decisions(tx, stage)) == ()
    assert look(study, lambda tx: verify(tx, study)).differences == []
    assert agreement(study, tmp_path)["fields"]["reviewed"] == []
    assert len(look(study, lambda tx: events.recent(tx, 10, kinds=("adjudicated",)))) == 4, "the record has all"
    # A decision after that stands by itself.
    do(study, adjudicating.decide, stage, "c001", {"class": "rude"}, "It insults.", "rae")
    assert item_of(study, "c001").decision == {"class": "rude"}


def test_items_made_of_a_decided_label_go_with_the_decision(tmp_path: Path) -> None:
    write_small_study(tmp_path, applications=1, judgments="2", gold=2)
    with closing(open_study(tmp_path)) as study:
        for number in range(4):
            person = Person(study, f"person-{number}")
            person.submit(person.next(), "yes" if number % 2 else "no")
        stage, keys = study.stage("meaningful"), ("a00000:lhs", "a00000:rhs")

        def states() -> list[str]:
            return [str(item.state) for item in look(study, lambda tx: list(all_items(tx, "entailment")))]

        assert states() == []
        for key in keys:
            do(study, adjudicating.decide, stage, key, {"answer": "yes"}, "It means something.", "rae")
        assert states() == ["open"]
        last, _ = look(study, lambda tx: events.recent(tx, 10, kinds=("adjudicated",)))
        do(study, undoing.undo, stage, keys[1], last.id, "It does not.", "rae")
        assert states() == ["withdrawn"]
        assert look(study, lambda tx: verify(tx, study)).differences == []


@runs
async def test_a_reviewer_undoes_a_decision_on_a_page(study: Study) -> None:
    do(study, adjudicating.decide, study.stage("main"), "c001", {"class": "hateful"}, "<b>It</b> threatens.", "rae")
    async with browser(create_app(study)) as client:
        await client.get(staff_link_path(study_sessions(study), "expert", "rae"))
        page = await client.get("/console/review/main/decided")
        assert "&lt;b&gt;It" in page.text and "c001" in page.text
        number = re.findall(r'name="number" value="(\d+)"', page.text)[0]
        sent = {"key": "c001", "number": number, "reason": ""}
        assert (await client.post("/console/review/main/undo", data=sent)).status_code == 422
        for status in (303, 422):
            again = await client.post("/console/review/main/undo", data={**sent, "reason": "It does not."})
            assert again.status_code == status, "pressed twice, it is undone once"
    assert item_of(study, "c001").decision is None


def test_verify_finds_a_decision_that_nobody_made(study: Study) -> None:
    tamper(study, """UPDATE item SET decision = '{"class":"fine"}' WHERE key = 'c001'""")
    told = "\n".join(look(study, lambda tx: verify(tx, study)).differences)
    assert "item c001 of main: decision {'class': 'fine'} stored, None in the log" in told
    assert "item c001 of main: answer" in told


def test_the_sample_is_random_and_the_same_every_time(study: Study) -> None:
    stage = study.stage("main").under(study.stage("main").settings.model_copy(update={"review_sample": 0.5}))
    ranks = {f"c{number:03d}": adjudicating.sample_rank(study, stage, f"c{number:03d}") for number in range(COUNT)}
    drawn = sorted((key for key in ranks if ranks[key] < 2**63), key=ranks.__getitem__)
    assert 1 < len(drawn) < COUNT and drawn != sorted(drawn)
    seen: list[str] = []
    while case := look(study, lambda tx: adjudicating.next_case(tx, study, stage, "sampled")):
        assert case.left == len(drawn) - len(seen)
        seen.append(case.item.key)
        do(study, adjudicating.decide, stage, case.item.key, {"severity": 2}, "Mild.", "rae")
    assert seen == drawn, "all of the sample, in its own order and not by confidence"


def test_items_outside_the_sample_do_not_keep_others_from_it(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, only the least confident items were looked at, and those that were not sampled stayed there."""
    monkeypatch.setattr(adjudicating, "_AT_ONCE", 1)
    last = max(look(study, lambda tx: list(all_items(tx, "main"))), key=lambda item: (item.confidence or 0, item.key))
    monkeypatch.setattr(adjudicating, "sample_rank", lambda _study, _stage, key: 0 if key == last.key else 2**64 - 1)
    case = look(study, lambda tx: adjudicating.next_case(tx, study, study.stage("main"), "sampled"))
    assert case is not None and (case.item.key, case.left) == (last.key, 1)


def test_later_stages_follow_a_decision(tmp_path: Path) -> None:
    """Items are made from results: of one that a reviewer changes, another item is made."""
    later = """
[[stage]]
name = "later"
title = "Grade"
task = "form"
guidelines = "text.md"
items = { from = "only", of = "together" }
judgments = 1
[[stage.options.fields]]
name = "fit"
kind = "choice"
ask = "Does it fit?"
options = ["yes", "no"]
"""
    fields = field_toml(name="tone", kind="choice", ask="Which?", options=["kind", "rude"])
    rows = json.dumps({"id": "i1", "text": "Wait here."}) + "\n"
    write_form_study(tmp_path, fields + later, rows=rows, extra="judgments = 2\nrelease_confidence = 0.9")
    opened = open_study(tmp_path)
    for name, tone in (("ada", "kind"), ("ben", "rude")):
        (person := Person(opened, name)).submit(person.next("only"), {"tone": tone})
    (item,) = look(opened, lambda tx: list(all_items(tx, "only")))
    assert not item.released
    do(opened, adjudicating.decide, opened.stage("only"), "i1", {"tone": "rude"}, "It orders.", "rae")
    (item,) = look(opened, lambda tx: list(all_items(tx, "only")))
    assert item.released and item.answer == {"tone": "rude"} and item.confidence == 1
    (decision,) = look(opened, lambda tx: events.recent(tx, 10, kinds=("adjudicated",)))
    do(opened, undoing.undo, opened.stage("only"), "i1", decision.id, "It does not.", "rae")
    (item,) = look(opened, lambda tx: list(all_items(tx, "only")))
    assert not item.released and item.decision is None and (item.confidence or 0) < 0.9
    assert look(opened, lambda tx: verify(tx, opened)).differences == []
    do(opened, adjudicating.decide, opened.stage("only"), "i1", {"tone": "rude"}, "It does.", "rae")
    (item,) = look(opened, lambda tx: list(all_items(tx, "only")))
    assert item.released
    assert look(opened, lambda tx: verify(tx, opened)).differences == []
    opened.close()


@runs
async def test_an_empty_sample_is_explained_by_its_size(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    # All items are complete, so waiting for more of them would not help.
    monkeypatch.setattr(adjudicating, "sample_rank", lambda *_: 2**64 - 1)
    async with browser(create_app(study)) as client:
        await client.get(staff_link_path(study_sessions(study), "expert", "rae"))
        page = (await client.get("/console/review/main?queue=sampled")).text
    assert "The random sample is 10% of the complete items" in page
    assert "once they are complete" not in page


def test_review_begins_with_a_stage_on_which_people_disagree(tmp_path: Path) -> None:
    """Before, it began with the first stage, although nothing was to be decided there."""
    folder = write_mcq_study(tmp_path / "study")
    settings = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(settings.replace("judgments = 50", "judgments = 2"))
    with closing(open_study(folder)) as opened:
        stages = list(opened.stages.values())
        assert look(opened, lambda tx: _first_to_decide(tx, opened, stages)) is stages[0]
        for number in (1, 2):
            person = Person(opened, f"person-{number}")
            for _ in range(4):
                answer = {"answer_1": f"option{number}", "answer_2": "option1"}
                person.submit(person.next("validate"), answer)
        assert look(opened, lambda tx: _first_to_decide(tx, opened, stages)).name == "validate" != stages[0].name


def test_an_answer_is_in_words_where_its_task_has_some(tmp_path: Path) -> None:
    """Before, the tables of items and gold showed “answer_1: option4”."""
    with closing(open_study(write_mcq_study(tmp_path / "study"))) as opened:
        stage = opened.stage("validate")
        item = look(opened, lambda tx: find_item(tx, "validate", "validate0"))
        assert item is not None
        answer = {"answer_1": "option1", "answer_2": "invalid"}
        words = answer_parts(stage, item.payload, answer, gold=True)
        assert words == brief_text(stage, item.payload, answer)
        assert words == f"question 1: option a “{item.payload['options_1'][0]}” · question 2: “no correct option”"


@runs
async def test_a_reviewer_decides_on_a_page_without_names(study: Study) -> None:
    app = create_app(study)
    async with browser(app) as client:
        await client.get(staff_link_path(study_sessions(study), "expert", "rae"))
        page = (await client.get("/console/review/main?queue=disagreeing")).text
        case = look(study, lambda tx: adjudicating.next_case(tx, study, study.stage("main"), "disagreeing"))
        assert case is not None and f'Item <span class="mono">{case.item.key}</span>' in page
        table = page.split("Answers side by side")[1].split("<form")[0]
        offered = [option.words for option in case.fields[0].options]
        assert offered == ["fine", "rude", "hateful"], "also those that nobody chose, in the order of the form"
        assert 'name="other-class"' not in page and 'name="other-spans"' in page
        assert "Answer 5" in table and "“" in table and "start" not in table
        people = {one.worker for one in look(study, lambda tx: list(all_responses(tx, stage_name="main")))}
        assert not any(f">{name}<" in page for name in people)
        sent = {"key": case.item.key, "queue": "disagreeing", "field-class": '"rude"', "reason": "It is an order."}
        no_reason = await client.post("/console/review/main", data={**sent, "reason": ""})
        assert no_reason.status_code == 422 and "Enter a reason" in no_reason.text
        made = await client.post("/console/review/main", data=sent)
        in_part = "" if item_of(study, case.item.key).released else "-in-part"
        assert made.headers["location"] == f"/console/review/main?queue=disagreeing&done=decided{in_part}"
        assert item_of(study, case.item.key).decision == {"class": "rude"}
        typed = {
            "key": case.item.key,
            "queue": "all",
            "field-severity": "other",
            "other-severity": "2",
            "reason": "Mild.",
        }
        assert (await client.post("/console/review/main", data=typed)).status_code == 303
        assert item_of(study, case.item.key).decision == {"class": "rude", "severity": 2}
        (event,) = look(study, lambda tx: events.recent(tx, 1, kinds=("adjudicated",)))
        assert event.evidence["by"] == "rae"
    async with browser(app) as client:
        assert (await client.get("/console/review/main")).status_code in (303, 401, 403)
        await set_up(client, study)
        item_page = (await client.get(f"/console/items/one?stage=main&key={case.item.key}")).text
        assert "Mild." in item_page and "Decided by a reviewer" in item_page


def test_spans_can_be_quoted_instead_of_counted(tmp_path: Path) -> None:
    """Before, other words than those that people marked had to be counted in tokens."""
    fields = field_toml(name="words", kind="spans", ask="Which?", item="text")
    row = json.dumps({"id": "i1", "text": "Wait here, you."})
    write_form_study(tmp_path, fields, rows=f"{row}\n", extra="judgments = 1")
    with closing(open_study(tmp_path)) as study:
        (person := Person(study, "ada")).submit(person.next("only"), {"words": [{"start": 0, "end": 1}]})
        stage = study.stage("only")
        for quoted, spans in (("you", [(3, 4)]), (["Wait here", "you"], [(0, 2), (3, 4)])):
            do(study, adjudicating.decide, stage, "i1", {"words": quoted}, "It is an order.", "rae")
            (item,) = look(study, lambda tx: list(all_items(tx, "only")))
            assert [(span["start"], span["end"]) for span in item.answer["words"]] == spans
        with pytest.raises(UserError, match="which is not in the text"):
            do(study, adjudicating.decide, stage, "i1", {"words": "there"}, "It is an order.", "rae")
        assert look(study, lambda tx: verify(tx, study)).differences == []


@runs
async def test_labelled_spans_are_typed_as_a_label_and_words(tmp_path: Path) -> None:
    """Before, only JSON with quotations and labels was accepted."""
    fields = field_toml(name="parts", kind="spans", ask="Which?", item="text", options=["order", "name"])
    row = json.dumps({"id": "i1", "text": "Wait here, you."})
    write_form_study(tmp_path, fields, rows=f"{row}\n", extra="judgments = 1")
    with closing(open_study(tmp_path)) as study:
        (person := Person(study, "ada")).submit(
            person.next("only"), {"parts": [{"start": 0, "end": 1, "label": "order"}]}
        )
        async with browser(create_app(study)) as client:
            await client.get(staff_link_path(study_sessions(study), "expert", "rae"))
            shown = (await client.get("/console/review/only?queue=all")).text
            assert "<code>order: words of the text</code>. Labels: order, name" in shown
            sent = {"key": "i1", "queue": "all", "field-parts": "other", "reason": "It is an order."}
            page = await client.post("/console/review/only", data={**sent, "other-parts": "order: Wait here\nyou"})
            assert page.status_code == 422 and "does not begin with a label and a colon" in page.text
            assert "order: Wait here\nyou</textarea>" in page.text, "what was typed is kept"
            typed = {**sent, "other-parts": "order: Wait here\r\n\r\n name : you"}
            assert (await client.post("/console/review/only", data=typed)).status_code == 303
        (item,) = look(study, lambda tx: list(all_items(tx, "only")))
        assert item.answer["parts"] == [
            {"start": 0, "end": 2, "label": "order"},
            {"start": 3, "end": 4, "label": "name"},
        ]
        assert look(study, lambda tx: verify(tx, study)).differences == []


def test_decisions_are_in_the_table_of_final_labels(study: Study, tmp_path: Path) -> None:
    """Before, the export `form` had the aggregated values, and decisions were only in `labels`."""
    stage = study.stage("main")
    case = look(study, lambda tx: adjudicating.next_case(tx, study, stage, "disagreeing"))
    assert case is not None
    key, decided = case.item.key, next(one for one in ("fine", "rude", "hateful") if one != case.item.answer["class"])
    do(study, adjudicating.decide, stage, key, {"class": decided}, "Seen.", "rae")
    tables = {}
    for name in ("form", "labels"):
        write_export(study, name, tmp_path / f"{name}.csv")
        tables[name] = {row["item"]: row for row in read_table(tmp_path / f"{name}.csv")}
    assert (tables["form"][key]["class"], tables["form"][key]["class_confidence"]) == (decided, "1.0")
    for item, row in tables["form"].items():
        label = tables["labels"][item]
        for field in ("class", "severity", "reason"):
            assert row[field] == label[f"label.{field}"], (item, field)
            assert row[f"{field}_confidence"] == label[f"label.{field}.confidence"], (item, field)


def test_what_a_decision_makes_inapplicable_is_in_no_table(tmp_path: Path) -> None:
    asked = 'shown_if = { field = "tone", is = "rude" }\n'
    fields = field_toml(name="tone", kind="choice", ask="How?", options=["fine", "rude"])
    fields += field_toml(name="why", kind="choice", ask="Why?", options=["order", "insult"]) + asked
    write_form_study(tmp_path, fields, rows='{"id": "i1", "text": "Wait here, you."}\n', extra="judgments = 1")
    with closing(open_study(tmp_path)) as study:
        (person := Person(study, "ada")).submit(person.next("only"), {"tone": "rude", "why": "order"})
        do(study, adjudicating.decide, study.stage("only"), "i1", {"tone": "fine"}, "A joke.", "rae")
        for name, prefix, end in (("form", "", "_confidence"), ("labels", "label.", ".confidence")):
            write_export(study, name, tmp_path / f"{name}.csv")
            (row,) = read_table(tmp_path / f"{name}.csv")
            assert [row[f"{prefix}tone"], row[f"{prefix}tone{end}"]] == ["fine", "1.0"]
            assert [row[f"{prefix}why"], row[f"{prefix}why{end}"]] == ["", ""], name


def test_decided_relations_are_exported(tmp_path: Path) -> None:
    fields = field_toml(name="links", kind="relations", ask="Which?", item="text", options=["person", "place"])
    fields += 'relations = ["in"]\n'
    write_form_study(tmp_path, fields, rows='{"id": "i1", "text": "Ada in Rome"}\n', extra="judgments = 1")
    spans = [{"start": 0, "end": 1, "label": "person"}, {"start": 2, "end": 3, "label": "place"}]
    with closing(open_study(tmp_path)) as study:
        (person := Person(study, "ada")).submit(person.next("only"), {"links": {"spans": spans, "relations": []}})
        linked = {"spans": spans, "relations": [{"from": 0, "to": 1, "label": "in"}]}
        do(study, adjudicating.decide, study.stage("only"), "i1", {"links": linked}, "She is.", "rae")
        assert write_export(study, "triples", tmp_path / "triples.csv") == 1
        (row,) = read_table(tmp_path / "triples.csv")
        assert (row["from_text"], row["relation"], row["to_text"]) == ("Ada", "in", "Rome")


@runs
async def test_several_options_are_typed_with_commas(tmp_path: Path) -> None:
    """Before, only a JSON list was accepted, which no page mentioned."""
    fields = field_toml(name="topics", kind="choices", ask="Which?", options=["law", "people"], min=0)
    fields = fields.replace('"law"', '{ value = "law", label = "The law" }')
    row = json.dumps({"id": "i1", "text": "Wait here, you."})
    write_form_study(tmp_path, fields, rows=f"{row}\n", extra="judgments = 1")
    with closing(open_study(tmp_path)) as study:
        (person := Person(study, "ada")).submit(person.next("only"), {"topics": ["law"]})
        async with browser(create_app(study)) as client:
            await client.get(staff_link_path(study_sessions(study), "expert", "rae"))
            shown = (await client.get("/console/review/only?queue=all")).text
            assert "Other options, separated by commas (The law, people)" in shown
            sent = {"key": "i1", "queue": "all", "field-topics": "other", "reason": "Both."}
            page = await client.post("/console/review/only", data={**sent, "other-topics": "law, towns"})
            assert page.status_code == 422 and "Type options separated by commas: The law, people." in page.text
            for typed, chosen in (("people, The law", ["law", "people"]), ("people", ["people"]), ("none", [])):
                done = await client.post("/console/review/only", data={**sent, "other-topics": typed})
                assert done.status_code == 303, typed
                (item,) = look(study, lambda tx: list(all_items(tx, "only")))
                assert item.answer["topics"] == chosen


def test_words_that_occur_twice_are_typed_with_a_number(tmp_path: Path) -> None:
    """Before, no text could name the second of two, and the error showed a Python object."""
    fields = field_toml(name="words", kind="spans", ask="Which?", item="text", min=0)
    row = json.dumps({"id": "i1", "text": "Rule #2 is a rule and a rule"})
    write_form_study(tmp_path, fields, rows=f"{row}\n", extra="judgments = 1")
    with closing(open_study(tmp_path)) as study:
        (person := Person(study, "ada")).submit(person.next("only"), {"words": [{"start": 0, "end": 1}]})
        stage = study.stage("only")

        def decided(typed: str) -> list[tuple[int, int]]:
            do(study, adjudicating.decide, stage, "i1", {"words": typed}, "Seen.", "rae")
            (item,) = look(study, lambda tx: list(all_items(tx, "only")))
            return [(span["start"], span["end"]) for span in item.answer["words"]]

        with pytest.raises(UserError, match=r"Add the number of the occurrence you mean: `words #2`\.") as caught:
            decided("a rule")
        assert "{" not in str(caught.value)
        assert (decided("a rule #1"), decided("a rule #2")) == ([(4, 6)], [(7, 9)])
        assert decided("Rule #2") == [(0, 3)], "words of the text, not a number"
        assert decided("none") == []


@runs
async def test_after_a_mistake_the_same_item_is_shown_again(study: Study) -> None:
    """Before, the first item of the queue was shown, and what was filled in for another would have decided it."""
    stage = study.stage("main")
    first = look(study, lambda tx: adjudicating.next_case(tx, study, stage, "all"))
    assert first is not None
    second = look(study, lambda tx: adjudicating.next_case(tx, study, stage, "all", first.item.key))
    assert second is not None and second.item.key != first.item.key
    async with browser(create_app(study)) as client:
        await client.get(staff_link_path(study_sessions(study), "expert", "rae"))
        sent = {"key": second.item.key, "queue": "all", "field-class": '"rude"', "reason": ""}
        page = await client.post("/console/review/main", data=sent)
        assert page.status_code == 422 and f'name="key" value="{second.item.key}"' in page.text
        assert 'value="&#34;rude&#34;" checked' in page.text
        page = await client.post("/console/review/main", data={**sent, "key": "nowhere", "reason": "So."})
        assert page.status_code == 422 and f'name="key" value="{first.item.key}"' in page.text
        assert 'value="&#34;rude&#34;" checked' not in page.text


@runs
async def test_quality_has_a_page_for_every_compared_field(study: Study) -> None:
    async with browser(create_app(study)) as client:
        await set_up(client, study)
        pages = {
            name: await client.get(f"/console/quality/main?field={name}") for name in ("class", "spans", "severity")
        }
        assert all(page.status_code == 200 and "WQS" in page.text for page in pages.values())
        assert "hateful" in pages["class"].text and "field=reason" not in pages["class"].text
        assert "2 rude" not in pages["spans"].text
        assert len({page.text.split("Workers (WQS)")[1].split("</table>")[0] for page in pages.values()}) == 3
        assert (await client.get("/console/quality")).text.count("aria-current") >= 2
        live = await client.get("/console/quality/main?field=spans&part=live")
        assert live.status_code == 200 and "<html" not in live.text


def depending_study(folder: Path, judgments: int = 3) -> Study:
    """A class, and what is asked after one of its answers."""
    fields = field_toml(name="tone", kind="choice", ask="Which?", options=["kind", "rude", "1"])
    fields += field_toml(name="how", kind="choice", ask="How?", options=["loud", "sly"])
    fields += 'shown_if = { field = "tone", is = "rude" }\n'
    fields += field_toml(name="why", kind="text", ask="Why?")
    rows = json.dumps({"id": "i1", "text": "Wait here."}) + "\n"
    extra = f"judgments = {{ min = {judgments}, max = {judgments} }}\nrelease_confidence = 0.9"
    write_form_study(folder, fields, rows=rows, extra=extra)
    return open_study(folder)


def test_a_field_that_others_depend_on_can_be_decided(tmp_path: Path) -> None:
    """Before, the field that is no longer asked stayed in the answer, and the decision was refused."""
    with closing(depending_study(tmp_path)) as study:
        stage = study.stage("only")
        for name, tone in (("ada", "rude"), ("ben", "rude"), ("cy", "kind")):
            how = {"how": "sly"} if tone == "rude" else {}
            (person := Person(study, name)).submit(person.next("only"), {"tone": tone, **how, "why": name})
        do(study, adjudicating.decide, stage, "i1", {"how": "loud"}, "It shouts.", "rae")
        do(study, adjudicating.decide, stage, "i1", {"tone": "kind"}, "It asks.", "rae")
        (item,) = look(study, lambda tx: list(all_items(tx, "only")))
        assert item.decision == {"tone": "kind"} and item.released and "how" not in item.answer
        with pytest.raises(UserError, match="must not have `how`"):
            do(study, adjudicating.decide, stage, "i1", {"how": "sly"}, "It shouts.", "rae")
        do(study, adjudicating.decide, stage, "i1", {"tone": "rude", "how": "sly"}, "It is rude.", "rae")
        (item,) = look(study, lambda tx: list(all_items(tx, "only")))
        assert (item.answer["tone"], item.answer["how"]) == ("rude", "sly")
        assert look(study, lambda tx: verify(tx, study)).differences == []


def test_a_decided_item_keeps_its_other_fields_when_a_judgment_goes(tmp_path: Path) -> None:
    with closing(depending_study(tmp_path, judgments=2)) as study:
        ada, ben = Person(study, "ada"), Person(study, "ben")
        ada.submit(ada.next("only"), {"tone": "kind", "why": "It asks."})
        ben.submit(ben.next("only"), {"tone": "rude", "how": "sly", "why": "It orders."})
        do(study, adjudicating.decide, study.stage("only"), "i1", {"tone": "kind"}, "It asks.", "rae")
        forget(study, ben.id, ErasureRequest(BY_REQUESTER, answers=True, even_unpaid=True))
        (item,) = look(study, lambda tx: list(all_items(tx, "only")))
        assert item.answer == {"tone": "kind", "why": "It asks."} and item.released
        assert look(study, lambda tx: verify(tx, study)).differences == []


def test_what_a_reviewer_decided_is_exported_as_certain(tmp_path: Path) -> None:
    with closing(depending_study(tmp_path, judgments=2)) as study:
        for name, tone in (("ada", "kind"), ("ben", "1")):
            (person := Person(study, name)).submit(person.next("only"), {"tone": tone, "why": name})
        rows = {row["field"]: row for row in look(study, lambda tx: list(tidy_labels(tx, study)))}
        assert (rows["tone"]["confidence"], rows["tone"]["accepted"], rows["tone"]["decided"]) == (0.5, False, False)
        do(study, adjudicating.decide, study.stage("only"), "i1", {"tone": "kind"}, "It asks.", "rae")
        rows = {row["field"]: row for row in look(study, lambda tx: list(tidy_labels(tx, study)))}
        assert (rows["tone"]["confidence"], rows["tone"]["accepted"], rows["tone"]["decided"]) == (1.0, True, True)
        assert (rows["why"]["confidence"], rows["why"]["decided"]) == (None, False)
        (item,) = look(study, lambda tx: list(all_items(tx, "only")))
        row = look(study, lambda tx: label_cells(study.stage("only"), item, JudgmentsInOrder(tx, None)))
        assert row["label.tone.confidence"] == 1.0


@runs
async def test_what_a_reviewer_types_is_a_text_where_the_field_holds_one(tmp_path: Path) -> None:
    with closing(depending_study(tmp_path, judgments=1)) as study:
        (person := Person(study, "ada")).submit(person.next("only"), {"tone": "kind", "why": "It asks."})
        async with browser(create_app(study)) as client:
            await client.get(staff_link_path(study_sessions(study), "expert", "rae"))
            sent = {"key": "i1", "queue": "all", "reason": "So.", "field-tone": "other", "field-why": "other"}
            typed = {**sent, "other-tone": "1", "other-why": "true"}
            assert (await client.post("/console/review/only", data=typed)).status_code == 303
            (item,) = look(study, lambda tx: list(all_items(tx, "only")))
            assert item.decision == {"tone": "1", "why": "true"}
            quoted = {**sent, "other-tone": '"kind"', "other-why": '"12"'}
            assert (await client.post("/console/review/only", data=quoted)).status_code == 303
            (item,) = look(study, lambda tx: list(all_items(tx, "only")))
            assert item.decision == {"tone": "kind", "why": "12"}
            for deep in ({"field-tone": "[" * 9000}, {"other-tone": "[" * 9000}):
                assert (await client.post("/console/review/only", data={**quoted, **deep})).status_code == 422


@runs
async def test_decisions_are_listed_when_their_item_has_lost_its_label(tmp_path: Path) -> None:
    """An item is open again after the removal of somebody who judged it; the page failed."""
    fields = field_toml(name="tone", kind="choice", ask="Which?", options=["kind", "rude"])
    write_form_study(tmp_path, fields, extra="judgments = 1")
    with closing(open_study(tmp_path)) as study:
        (person := Person(study, "ada")).submit(person.next("only"), {"tone": "kind"})
        do(study, adjudicating.decide, study.stage("only"), "i1", {"tone": "rude"}, "It threatens.", "rae")
        study.store.do(lambda tx: tx.execute(text("UPDATE item SET label = NULL, state = 'open'")))
        async with browser(create_app(study)) as client:
            await client.get(staff_link_path(study_sessions(study), "expert", "rae"))
            page = await client.get("/console/review/only/decided")
            assert (page.status_code, "no label yet" in page.text) == (200, True)


@runs
async def test_a_reviewer_reads_that_a_field_they_kept_holds_an_item_back(tmp_path: Path) -> None:
    fields = "".join(field_toml(name=name, kind="choice", ask="?", options=["a", "b"]) for name in ("one", "two"))
    write_form_study(tmp_path / "study", fields, extra="judgments = 3\nrelease_confidence = 0.9")
    study = open_study(tmp_path / "study")
    for number in range(3):
        person, value = Person(study, f"p{number}"), "a" if number else "b"
        person.submit(person.next("only"), {"one": value, "two": value})
    case = look(study, lambda tx: adjudicating.next_case(tx, study, study.stage("only"), "disagreeing"))
    assert case is not None
    async with browser(create_app(study)) as client:
        await client.get(staff_link_path(study_sessions(study), "expert", "rae"))
        sent = {"key": case.item.key, "queue": "all", "reason": "It is.", "field-one": '"a"'}
        partly = await client.post("/console/review/only", data=sent, follow_redirects=True)
        assert "a field that you kept has a confidence below the threshold" in unescape(partly.text)
        whole = await client.post("/console/review/only", data={**sent, "field-two": '"b"'}, follow_redirects=True)
        assert "Decision saved as the final label" in whole.text
    study.close()
