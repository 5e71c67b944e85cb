"""Review by workers: a stage whose labels decide the items of an earlier one."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chorale.audit.verify import verify
from chorale.engine import adjudicating, undoing
from chorale.engine.forgetting import BY_REQUESTER, ErasureRequest, forget
from chorale.engine.managing import Act, end_work, qualify
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.settling import settle_everything
from chorale.folder.reading import load_folder
from chorale.metrics.resampling import Resampling
from chorale.model import ItemState, UserError
from chorale.monitor.costs import final_stages, study_costs
from chorale.rehearsal import rehearse
from chorale.report import ReportOptions, study_report
from chorale.store import events
from chorale.store.items import all_items, find_item
from chorale.store.ledger import ledger_lines
from chorale.store.responses import all_responses
from comments_study import answer_comments, write_comments_study
from crowd import Person, do, look, tamper

COUNT = 12
REVIEW = """
[[stage]]
name = "review"
title = "Review comments"
task = "form"
guidelines = "text.md"
options_from = "main"
decides_sources = true
items = { from = "main", of = "together", below = 1 }
judgments = 1
entry = { qualifications = ["invited-review"] }
pay = { per_judgment = 25 }
options = { review = "Why did you decide so?" }
"""


def write_review_study(folder: Path, review: str = REVIEW, **settings: Any) -> None:
    write_comments_study(folder, **{"count": COUNT, **settings})
    file = folder / "study.toml"
    file.write_text(file.read_text() + review)


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    write_review_study(tmp_path)
    opened = open_study(tmp_path)
    answer_comments(opened, count=COUNT)
    yield opened
    opened.close()


def reviewer(study: Study, name: str = "rae") -> Person:
    person = Person(study, name)
    do(study, qualify, person.pseudonym, "invited-review", Act("owner", "careful work", "promoted"))
    return person


def items(study: Study, stage: str) -> dict[str, Any]:
    return {one.key: one for one in look(study, lambda tx: list(all_items(tx, stage)))}


def decided(study: Study, key: str) -> Any:
    return look(study, lambda tx: find_item(tx, "main", key))


def no_differences(study: Study) -> bool:
    found = look(study, lambda tx: verify(tx, study)).differences
    assert found == []
    return True


ANSWER = {"class": "hateful", "spans": [], "severity": 5, "review_reason": "It threatens somebody."}


def test_a_promoted_worker_decides_and_is_paid(study: Study) -> None:
    before = {key: item.confidence for key, item in items(study, "main").items()}
    waiting = items(study, "review")
    assert {key.split("/")[0] for key in waiting} == {key for key, sure in before.items() if sure < 1}
    ann = Person(study, "ann")
    assert ann.next("review").lease is None, "only who was promoted reviews"
    rae = reviewer(study)
    offer = rae.next("review")
    assert offer.lease is not None and offer.view is not None
    given = offer.view["answers_given"]
    assert len(given) == 5 and {"class", "spans", "severity", "reason"} >= set(given[0])
    people = {row.worker for row in look(study, lambda tx: list(all_responses(tx, stage_name="main")))}
    shown = json.dumps([{**one, "reason": None} for one in given])
    assert not any(name in shown for name in people), "answers are without names"
    assert any(one["spans"]["words"].startswith("“") for one in given if one.get("spans"))
    key = offer.lease.item_key.split("/")[0]
    outcome = rae.submit(offer, ANSWER)
    assert outcome is not None
    item = decided(study, key)
    assert {name: item.answer[name] for name in ("class", "spans", "severity")} == {
        name: ANSWER[name] for name in ("class", "spans", "severity")
    }
    assert (item.confidence, item.released) == (1.0, True)
    (event,) = look(study, lambda tx: events.recent(tx, 5, kinds=("adjudicated",)))
    assert event.evidence["reason"] == "It threatens somebody." and event.evidence["by"] == "Review comments"
    assert event.evidence["reviewed_in"] == ["review", offer.lease.item_key]
    assert event.evidence["before"]["class"] != "" and event.evidence["confidence"] == before[key]
    (entry,) = look(study, lambda tx: list(ledger_lines(tx, limit=9, pseudonym=rae.pseudonym)))
    assert (entry.stage, entry.amount) == ("review", 25)
    assert items(study, "review")[offer.lease.item_key].state == ItemState.COMPLETE, "it stays, though it is decided"
    assert no_differences(study)


def test_the_results_of_a_study_are_the_labels_that_were_reviewed(study: Study) -> None:
    """Before, only labels of the review stage were results, so each seemed to cost as much as all of the work."""
    assert [stage.name for stage in final_stages(study)] == ["main"]
    accepted = sum(item.released for item in items(study, "main").values())
    costs = look(study, lambda tx: study_costs(tx, study))
    assert (costs.results, costs.answers) == (accepted, 5 * COUNT) and accepted > 0


def test_nothing_is_filled_in_for_reviewers(tmp_path: Path) -> None:
    """They decide between people's answers, and a model's suggestion is none of them."""
    write_review_study(tmp_path)
    file = tmp_path / "study.toml"
    options = 'options = ["fine", "rude", "hateful"]\n'
    file.write_text(file.read_text().replace(options, f'{options}prefill = "source"\n', 1))
    rows = tmp_path / "comments.csv"
    rows.write_text(rows.read_text().replace(",forum", ",rude"))
    main, review = load_folder(tmp_path).stages
    payload = main.items[0].payload
    assert "source" in main.task.form.view(payload) and "source" not in review.task.form.view(payload)


def test_agreement_and_confidence_before_the_review_stay_reported(study: Study, tmp_path: Path) -> None:
    def found() -> dict[str, Any]:
        page = study_report(study, tmp_path, tmp_path, ReportOptions(charts=False), Resampling(False))
        return {section.name: section.json for section in page.sections}

    before = found()
    rae = reviewer(study)
    while (offer := rae.next("review")).lease is not None:
        rae.submit(offer, ANSWER)
    after = found()
    ours = [one for one in after["fields"]["compared"] if one["stage"] == "main"]
    assert ours == before["fields"]["compared"]
    (reviewed,) = after["fields"]["reviewed"]
    assert (reviewed["stage"], reviewed["items"]) == ("main", len(items(study, "review")))
    assert no_differences(study)


def test_nobody_reviews_what_they_annotated(study: Study) -> None:
    annotator = Person(study, "person-0")
    do(study, qualify, annotator.pseudonym, "invited-review", Act("owner", "promoted", "promoted"))
    assert annotator.next("review").lease is None
    assert reviewer(study).next("review").lease is not None


def test_a_decision_in_the_console_comes_first_and_can_be_undone(study: Study) -> None:
    rae, stage = reviewer(study), study.stage("main")
    offer = rae.next("review")
    assert offer.lease is not None
    key = offer.lease.item_key.split("/")[0]
    do(study, adjudicating.decide, stage, key, {"class": "fine"}, "A joke.", "owner")
    rae.submit(offer, ANSWER)
    assert decided(study, key).decision == {"class": "fine"}
    assert no_differences(study)
    second = rae.next("review")
    assert second.lease is not None
    other = second.lease.item_key.split("/")[0]
    rae.submit(second, ANSWER)
    (event,) = [
        one for one in look(study, lambda tx: events.recent(tx, 9, kinds=("adjudicated",))) if one.item == other
    ]
    do(study, undoing.undo, stage, other, event.id, "Not convincing.", "owner")
    assert decided(study, other).decision is None
    assert no_differences(study)


def state_of(study: Study, key: str) -> str:
    return str(items(study, "review")[key].state)


def test_an_item_decided_in_the_console_is_not_reviewed_until_that_is_undone(study: Study) -> None:
    stage, reviews = study.stage("main"), items(study, "review")
    key = sorted(reviews)[0]
    source = key.split("/")[0]
    do(study, adjudicating.decide, stage, source, {"class": "fine"}, "A joke.", "owner")
    assert state_of(study, key) == ItemState.WITHDRAWN
    rae, seen = reviewer(study), set()
    while (offer := rae.next("review")).lease is not None:
        seen.add(offer.lease.item_key)
        rae.submit(offer, ANSWER)
    assert seen == reviews.keys() - {key}, "nobody is paid to review it"
    assert no_differences(study)
    (event,) = [
        one for one in look(study, lambda tx: events.recent(tx, 99, kinds=("adjudicated",))) if one.item == source
    ]
    do(study, undoing.undo, stage, source, event.id, "Not a joke.", "owner")
    assert state_of(study, key) == ItemState.OPEN
    offer = rae.next("review")
    assert offer.lease is not None and offer.lease.item_key == key
    rae.submit(offer, ANSWER)
    assert decided(study, source).decision["class"] == "hateful"
    assert no_differences(study)


def test_a_review_finished_meanwhile_counts_once_the_console_undoes_its_decision(study: Study) -> None:
    rae, stage = reviewer(study), study.stage("main")
    offer = rae.next("review")
    assert offer.lease is not None
    key = offer.lease.item_key
    source = key.split("/")[0]
    do(study, adjudicating.decide, stage, source, {"class": "fine"}, "A joke.", "owner")
    assert state_of(study, key) == ItemState.WITHDRAWN
    rae.submit(offer, ANSWER)
    assert decided(study, source).decision == {"class": "fine"} and no_differences(study)
    (last,) = look(study, lambda tx: undoing.latest_decisions(tx, stage))
    do(study, undoing.undo, stage, source, last.number, "Not a joke.", "owner")
    assert decided(study, source).decision == {name: ANSWER[name] for name in ("class", "spans", "severity")}
    assert state_of(study, key) == ItemState.COMPLETE and no_differences(study)


def test_a_complete_review_stays_when_the_console_decides_otherwise(study: Study) -> None:
    rae = reviewer(study)
    offer = rae.next("review")
    assert offer.lease is not None
    rae.submit(offer, ANSWER)
    key = offer.lease.item_key
    source = key.split("/")[0]
    do(study, adjudicating.decide, study.stage("main"), source, {"class": "fine"}, "A joke.", "owner")
    assert state_of(study, key) == ItemState.COMPLETE and decided(study, source).decision["class"] == "fine"
    assert no_differences(study)
    # Without its reviewer it would be open again, but nobody needs it now.
    do(study, end_work, rae.pseudonym, study.stage("review"), Act("owner", "careless", "end"))
    settle_everything(study)
    assert state_of(study, key) == ItemState.WITHDRAWN and decided(study, source).decision["class"] == "fine"
    assert no_differences(study)


def test_a_removed_reviewers_decision_does_not_return_when_the_console_undoes_its_own(study: Study) -> None:
    """Before, the console's decision kept the reviewer's other fields, and its undo brought all of them back."""
    rae, stage = reviewer(study), study.stage("main")
    offer = rae.next("review")
    assert offer.lease is not None
    key = offer.lease.item_key
    source = key.split("/")[0]
    before = decided(study, source)
    rae.submit(offer, ANSWER)
    do(study, adjudicating.decide, stage, source, {"severity": 2}, "Mild.", "owner")
    assert decided(study, source).decision == {"class": "hateful", "spans": [], "severity": 2}
    do(study, end_work, rae.pseudonym, study.stage("review"), Act("owner", "careless", "end"))
    settle_everything(study)
    assert decided(study, source).decision == {"severity": 2}, "the console decided nothing else"
    assert state_of(study, key) == ItemState.WITHDRAWN and no_differences(study)
    (last,) = look(study, lambda tx: undoing.latest_decisions(tx, stage))
    assert last.fields == ("severity",)
    do(study, undoing.undo, stage, source, last.number, "Not mild.", "owner")
    after = decided(study, source)
    assert (after.decision, after.answer, after.confidence) == (None, before.answer, before.confidence)
    assert state_of(study, key) == ItemState.OPEN and no_differences(study)


def test_verify_notices_a_decision_whose_review_is_open_again(study: Study) -> None:
    rae = reviewer(study)
    offer = rae.next("review")
    assert offer.lease is not None
    rae.submit(offer, ANSWER)
    key = offer.lease.item_key
    do(study, adjudicating.decide, study.stage("main"), key.split("/")[0], {"severity": 2}, "Mild.", "owner")
    tamper(study, f"UPDATE item SET state = 'open' WHERE key = '{key}'")
    found = look(study, lambda tx: verify(tx, study)).differences
    assert any("but its review has" in one for one in found), found


def test_a_removed_reviewer_decides_nothing(study: Study) -> None:
    rae = reviewer(study)
    offer = rae.next("review")
    assert offer.lease is not None
    key = offer.lease.item_key.split("/")[0]
    before = decided(study, key)
    rae.submit(offer, ANSWER)
    assert decided(study, key).confidence == 1.0
    do(study, end_work, rae.pseudonym, study.stage("review"), Act("owner", "careless", "end"))
    settle_everything(study)
    after = decided(study, key)
    assert (after.decision, after.answer, after.confidence) == (None, before.answer, before.confidence)
    assert no_differences(study)
    sam = reviewer(study, "sam")
    again = sam.next("review")
    assert again.lease is not None


def test_two_reviewers_who_disagree_decide_nothing(tmp_path: Path) -> None:
    write_review_study(tmp_path, REVIEW.replace("judgments = 1", "judgments = 2"))
    study = open_study(tmp_path)
    answer_comments(study, count=COUNT)
    first, second = reviewer(study), reviewer(study, "sam")
    offer = first.next("review")
    assert offer.lease is not None
    first.submit(offer, ANSWER)
    for _ in range(len(items(study, "review"))):
        other = second.next("review")
        assert other.lease is not None
        second.submit(other, {**ANSWER, "class": "fine"}, f"key-{other.lease.token[:12]}")
    assert decided(study, offer.lease.item_key.split("/")[0]).decision is None
    assert no_differences(study)
    study.close()


def test_an_erased_reviewers_reason_is_erased(study: Study) -> None:
    rae = reviewer(study)
    offer = rae.next("review")
    rae.submit(offer, {**ANSWER, "review_reason": "Only Rae would put it like this."})
    forget(study, rae.id, ErasureRequest(BY_REQUESTER, answers=True, even_unpaid=True))
    for event in look(study, lambda tx: events.recent(tx, 1000)):
        assert "Only Rae" not in json.dumps(event.evidence), event
    assert no_differences(study)


def test_verify_notices_a_decision_that_its_review_does_not_support(study: Study) -> None:
    rae = reviewer(study)
    offer = rae.next("review")
    assert offer.lease is not None
    rae.submit(offer, ANSWER)
    wrong = json.dumps({**ANSWER, "class": "fine", "review_reason": ["It threatens somebody."]})
    tamper(study, f"UPDATE item SET label = '{wrong}' WHERE key = '{offer.lease.item_key}'")
    found = look(study, lambda tx: verify(tx, study)).differences
    assert any("but its review has" in one for one in found), found


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("below = 1", "of = 1", "of"),
        (', of = "together", below = 1', "", 'needs items made `of = "together"`'),
        ('of = "together", below = 1', 'of = "answers", below = 1', '`below` needs `of = "together"`'),
        ('options_from = "main"', "", "fields"),
        (
            'options = { review = "Why did you decide so?" }',
            'options = { review = "Why?", hidden = ["class", "spans", "severity"] }',
            "has no effect",
        ),
    ],
)
def test_check_refuses_a_review_that_cannot_decide(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in REVIEW
    write_review_study(tmp_path, REVIEW.replace(old, new))
    with pytest.raises(UserError, match="problem") as caught:
        load_folder(tmp_path)
    assert message in str(caught.value), caught.value


def test_check_refuses_fields_that_differ(tmp_path: Path) -> None:
    other = REVIEW.replace('options_from = "main"\n', "") + (
        '[[stage.options.fields]]\nname = "class"\nkind = "choice"\nask = "What?"\noptions = ["good", "bad"]\n'
    )
    write_review_study(tmp_path, other.replace("options = {", "[stage.options]\n").replace('so?" }', 'so?"'))
    with pytest.raises(UserError, match="class differs in shape"):
        load_folder(tmp_path)


def test_simulated_reviewers_take_what_most_said(tmp_path: Path) -> None:
    write_review_study(tmp_path / "study", REVIEW.replace('entry = { qualifications = ["invited-review"] }\n', ""))
    found = rehearse(tmp_path / "study", seeds=1, processes=1, keep=tmp_path / "kept")
    assert found
    study = open_study(tmp_path / "kept")
    by_item = {key.split("/")[0]: item for key, item in items(study, "review").items() if item.released}
    assert by_item and all(decided(study, key).answer["class"] == one.answer["class"] for key, one in by_item.items())
    assert no_differences(study)
    study.close()
