"""Phrases that rule applications share: asked once, and never together with the phrase they are judged against."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from chorale.audit.verify import verify
from chorale.contract.asked_once import AskedOnce
from chorale.engine import gold_desk, opening
from chorale.engine.opening import bring_in_additions, open_study
from chorale.engine.running import Study
from chorale.engine.work import Offer
from chorale.folder.plan import plan_study
from chorale.folder.reading import StudyFolder, load_folder
from chorale.kits.rules.tasks.entailment import applications
from chorale.model import Item, NewItem, UserError
from chorale.monitor.outcomes import stage_results
from chorale.store import Tx
from chorale.store.items import all_items
from chorale.store.schema import stage
from conftest import ManualClock
from crowd import Person, look, people, work_through
from small_study import write_small_study

# A left phrase with two right ones; a right phrase that is the left one of another row; a pair apart.
PAIRS = [("ann buy it", "ann own it"), ("ann  buy it", "ann sell it"), ("ann own it", "ann have it"), ("x", "y")]


def shared_study(folder: Path, pairs: list[tuple[str, str]]) -> None:
    write_small_study(folder, applications=1)
    write_pairs(folder, pairs)


def write_pairs(folder: Path, pairs: list[tuple[str, str]]) -> None:
    rows = [
        {"id": f"a{number}", "rule_lhs": "p", "rule_rhs": "q", "lhs": lhs, "rhs": rhs}
        for number, (lhs, rhs) in enumerate(pairs)
    ]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@contextmanager
def opened(folder: Path) -> Iterator[Study]:
    study = open_study(folder, clock=ManualClock())
    try:
        yield study
    finally:
        study.close()


def test_groups_are_what_shared_questions_connect() -> None:
    once = AskedOnce(lambda item: item["text"], lambda item, _same: item.payload)
    texts = ["a b", "c d", "e f", "b e", "g h"]
    items = [
        NewItem(f"{row}:{side}", {"text": text}, group=str(row))
        for row, pair in enumerate(texts)
        for side, text in enumerate(pair.split())
    ]
    merged = once.merged(items)
    assert {item.payload["text"]: item.group for item in merged} == dict(
        zip("abcdefgh", ["0", "0", "1", "1", "0", "0", "4", "4"], strict=True)
    )
    assert [item.key for item in merged] == ["0:0", "0:1", "1:0", "1:1", "2:0", "2:1", "4:0", "4:1"]


def test_a_phrase_is_asked_once_and_never_beside_its_other_side(tmp_path: Path) -> None:
    shared_study(tmp_path, PAIRS)
    seen: dict[str, list[str]] = {}

    def yes(person: Person, offer: Offer) -> str:
        seen.setdefault(person.pseudonym, []).append(" ".join((offer.view or {}).values()))
        return "yes"

    with opened(tmp_path) as study:
        assert work_through(people(study, 14), yes) == 6 * 3
        phrases = [phrase for shown in seen.values() for phrase in shown]
        assert Counter(phrases) == dict.fromkeys(
            ("ann buy it", "ann have it", "ann own it", "ann sell it", "x", "y"), 3
        )
        sides = [{lhs.replace("  ", " "), rhs} for lhs, rhs in PAIRS]
        assert not [shown for shown in seen.values() for pair in sides if pair <= set(shown)]
        assert work_through(people(study, 14), yes, "entailment") == len(PAIRS) * 3
        judged = look(study, lambda tx: list(applications(stage_results(tx, study, study.stage("entailment")))))
        assert [(each.payload["lhs"], each.payload["rhs"]) for each in judged] == PAIRS
        assert {each.judgment for each in judged} == {"Yes"}
        assert look(study, lambda tx: verify(tx, study)).differences == []


def test_every_row_can_come_to_the_second_stage(tmp_path: Path) -> None:
    shared_study(tmp_path, PAIRS)
    assert [stage.items for stage in plan_study(load_folder(tmp_path)).stages] == [6, len(PAIRS)]


def test_gold_with_the_text_of_a_phrase_is_of_its_group(tmp_path: Path) -> None:
    shared_study(tmp_path, [("a gold phrase 0", "y"), *PAIRS])
    first = load_folder(tmp_path).stages[0]
    assert [(row.item.key, row.item.group) for row in first.gold][:2] == [("g0", "a0"), ("g1", "g1")]


def test_rows_added_later_share_phrases_that_were_judged(tmp_path: Path) -> None:
    shared_study(tmp_path, [*PAIRS, ("v", "w")])
    with opened(tmp_path) as study:
        work_through(people(study, 14), lambda *_: "yes")
        write_pairs(tmp_path, [*PAIRS, ("v", "w"), ("ann buy it", "ann have it"), ("x", "z")])
        bring_in_additions(study, tmp_path)
        derived = {item.key for item in look(study, lambda tx: list(all_items(tx, "entailment"))) if not item.is_gold}
        assert derived == {"a0", "a1", "a2", "a3", "a4", "a5"}  # a5 has no new phrase, a6 waits for its right one
        assert work_through(people(study, 14), lambda *_: "yes") == 3
        assert look(study, lambda tx: verify(tx, study)).differences == []
        write_pairs(tmp_path, [*PAIRS, ("v", "w"), ("ann buy it", "ann have it"), ("x", "z"), ("v", "x")])
        with pytest.raises(UserError, match="link 2 items to others with which they had no text in common"):
            bring_in_additions(study, tmp_path)


def test_a_study_that_began_before_asks_every_row_as_it_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared_study(tmp_path, PAIRS)

    def begun_earlier(_tx: Tx, folder: StudyFolder) -> StudyFolder:
        return replace(folder, stages=tuple(content.asking_all() for content in folder.stages))

    with monkeypatch.context() as earlier:
        earlier.setattr(opening, "as_begun", begun_earlier)
        with opened(tmp_path) as study:
            people(study, 1)[0].judge()
            study.store.do(lambda tx: tx.execute(stage.update().values(task_version=1)))
    for pairs in (PAIRS, [*PAIRS, ("x", "z")]):
        write_pairs(tmp_path, pairs)
        with opened(tmp_path) as study:
            items = [item for item in look(study, lambda tx: list(all_items(tx, "meaningful"))) if not item.is_gold]
            assert len(items) == 2 * len(pairs)
            assert {item.group for item in items} == {f"a{number}" for number in range(len(pairs))}
            for name in ("meaningful", "entailment"):
                work_through(people(study, 12), lambda *_: "yes", name)
            judged = look(study, lambda tx: list(applications(stage_results(tx, study, study.stage("entailment")))))
            assert [(each.key, each.judgment) for each in judged] == [(f"a{n}", "Yes") for n in range(len(pairs))]
            assert look(study, lambda tx: verify(tx, study)).differences == []
            texts = [item.payload["phrase"] for item in _unanimous(study)]
            assert sorted(texts) == sorted({lhs for lhs, _ in pairs} | {rhs for _, rhs in pairs})


def _unanimous(study: Study) -> list[Item]:
    desk = look(study, lambda tx: gold_desk.candidates(tx, study.stage("meaningful")))
    page = look(study, lambda tx: gold_desk.first_candidates(tx, study.stage("meaningful"), 50, 200))
    assert {item.key for item in page.unanimous} == {item.key for item in desk.unanimous}
    assert page.unanimous_total == len(page.unanimous)
    return desk.unanimous


def test_the_gold_desk_lists_a_phrase_once_and_none_that_is_gold(tmp_path: Path) -> None:
    shared_study(tmp_path, [("a gold phrase 0", "y"), *PAIRS])
    with opened(tmp_path) as study:
        work_through(people(study, 16), lambda *_: "yes")
        texts = Counter(item.payload["phrase"] for item in _unanimous(study))
        assert texts == Counter(["ann buy it", "ann own it", "ann sell it", "ann have it", "x", "y"])
        assert gold_desk.promote_unanimous(study, study.stage("meaningful"), "owner") == 6
        assert _unanimous(study) == []
