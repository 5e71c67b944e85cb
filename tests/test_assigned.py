"""Items for given people: who gets them, who does not, what `check` refuses, and what `verify` sees."""

import csv
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

from chorale.audit.verify import verify
from chorale.engine import entering, forgetting, team, work
from chorale.engine.opening import open_study
from chorale.engine.own_progress import own_progress
from chorale.engine.running import Study
from chorale.engine.visit import visit
from chorale.folder.reading import check_folder, load_folder
from chorale.model import Refusal
from chorale.monitor.measured import people_without_account
from chorale.protocol import Reason
from chorale.rehearsal.crowd_file import read_crowd
from chorale.rehearsal.preparing import Rehearsal
from chorale.store.team import PANEL
from chorale.web.app import create_app
from chorale.web.sessions import WORKER_COOKIE
from cookies import worker_cookie
from crowd import Person, do, look
from small_study import write_small_study
from test_cli import chorale

if TYPE_CHECKING:
    from conftest import ManualClock

STAGE = "meaningful"


class Member(Person):
    """Somebody of the team."""

    def __init__(self, study: Study, name: str) -> None:
        self.study = study
        arrived = do(study, entering.arrive, PANEL, name.casefold(), {})
        self.id, self.pseudonym = arrived.id, arrived.pseudonym
        do(study, entering.consent, self.id)


def write(folder: Path, rows: list[tuple[str, str]], header: tuple[str, str] = ("item", "annotator")) -> None:
    with (folder / "assigned.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def write_study(
    folder: Path, rows: list[tuple[str, str]], judgments: str = "2", applications: int = 4, share: float = 0.0
) -> None:
    write_small_study(folder, applications=applications, judgments=judgments, gold=8, share=share)
    settings = (folder / "study.toml").read_text()
    named = 'items = { file = "items.jsonl", assigned = "assigned.csv" }'
    (folder / "study.toml").write_text(settings.replace('items = { file = "items.jsonl" }', named))
    write(folder, rows)


BOTH = [("a00000", "Anna"), ("a00000", "Bo"), ("a00001", "anna"), ("a00001", "BO"), ("a00001", "Cy")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_study(tmp_path / "study", BOTH)
    return tmp_path / "study"


@pytest.fixture
def study(folder: Path, database: str | None, clock: "ManualClock") -> Iterator[Study]:
    with closing(open_study(folder, database, clock)) as opened:
        yield opened


def differences(study: Study) -> list[str]:
    return look(study, lambda tx: verify(tx, study)).differences


def everything(person: Person) -> set[str]:
    """The rows of the items file that somebody answers until there is nothing left for them."""
    seen = set()
    while (offer := person.next(STAGE)).lease is not None:
        seen.add(offer.lease.item_key.partition(":")[0])
        person.submit(offer, "yes", key=f"key-{len(seen)}-{offer.progress.answered}")
    return seen


def test_items_go_to_the_people_they_are_assigned_to_and_others_to_everybody(study: Study) -> None:
    stranger, anna, cy = Person(study, "ada"), Member(study, "Anna"), Member(study, "Cy")
    assert everything(stranger) == {"a00002", "a00003"}
    assert everything(cy) == {"a00001", "a00002", "a00003"}
    assert everything(anna) >= {"a00000", "a00001"}
    assert differences(study) == []


def test_the_number_of_assigned_items_does_not_tell_how_many_were_gold(folder: Path) -> None:
    """Before, answers less assigned items were the gold items."""
    rows = [(f"a{number:05d}", name) for number in range(16) for name in ("Anna", "Bo")]
    write_study(folder, rows, applications=16, share=0.25)
    with closing(open_study(folder)) as study:
        anna = Member(study, "Anna")
        client = TestClient(create_app(study), follow_redirects=False)
        client.cookies.set(WORKER_COOKIE, worker_cookie(study, anna))
        for _ in range(2):
            # 16 and a third of that, and the same while they work.
            assert "Items assigned to you: about 22" in client.get("/progress").text
            anna.judge("yes", STAGE)


def test_who_is_assigned_nothing_is_told_that_nothing_is_left(folder: Path) -> None:
    write(folder, [(f"a{number:05d}", name) for number in range(4) for name in ("Anna", "Bo")])
    with closing(open_study(folder)) as study:
        cy = Member(study, "Cy")
        assert cy.next(STAGE).status == "none"
        part = next(
            part for part in (do(study, visit, cy.id) or pytest.fail("nobody")).stages if part.stage.name == STAGE
        )
        assert part.situation.reason is Reason.TOO_LATE, "the start page and the next item agree"
        own = do(study, own_progress, cy.id)
        assert own is not None and next(part.assigned for part in own.parts) == (0, False)
        anna = Member(study, "Anna")
        everything(anna)
        assert anna.next(STAGE).status == "done"


def test_an_item_whose_last_place_is_held_may_still_come(folder: Path) -> None:
    rows = [(f"a{number:05d}", name) for number in range(4) for name in ("Anna", "Bo", "Cy")]
    write_study(folder, rows, "1")
    with closing(open_study(folder)) as study:
        anna, bo, cy = (Member(study, name) for name in ("Anna", "Bo", "Cy"))
        # Every application is two phrases, and nobody gets both.
        everything(anna)
        held = bo.next(STAGE)
        everything(cy)
        assert bo.next(STAGE).status == "item"
        dee = Member(study, "Dee")
        assert (cy.next(STAGE).status, dee.next(STAGE).status) == ("wait", "none")
        bo.give_back(held)
        assert cy.next(STAGE).status == "item"


def test_a_changed_file_applies_to_the_next_item_and_not_to_one_that_is_held(
    folder: Path, clock: "ManualClock"
) -> None:
    with closing(open_study(folder, clock=clock)) as study:
        anna = Member(study, "Anna")
        offers = []
        for _ in range(20):
            offer = anna.next(STAGE)
            if offer.lease is None or offer.lease.item_key.startswith("a00000"):
                offers.append(offer)
                break
            anna.submit(offer, key=f"key-{offer.lease.token}")
        held = offers[0]
        assert held.lease is not None
    clock.pass_minutes(1)
    write(folder, [("a00000", "Bo"), ("a00000", "Cy"), *BOTH[2:]])
    with closing(open_study(folder, clock=clock)) as study:
        anna.study = study
        anna.submit(held, key="held-before")
        assert differences(study) == []
        dee = Member(study, "Dee")
        assert "a00000" not in everything(dee)
        assert "a00000" in everything(Member(study, "Cy"))
        assert differences(study) == []


def test_a_late_answer_to_an_item_that_is_for_others_now_is_refused(folder: Path, clock: "ManualClock") -> None:
    with closing(open_study(folder, clock=clock)) as study:
        anna, bo = Member(study, "Anna"), Member(study, "Bo")
        everything(bo)
        held = anna.next(STAGE)
        while held.lease is not None and not held.lease.item_key.startswith("a00000"):
            anna.submit(held, key=f"key-{held.lease.token}")
            held = anna.next(STAGE)
        clock.pass_minutes(600)
        do(study, work.expire_leases)
    write(folder, [("a00000", "Bo"), ("a00000", "Cy"), *BOTH[2:]])
    with closing(open_study(folder, clock=clock)) as study:
        anna.study = study
        with pytest.raises(Refusal, match="time for this question is up"):
            anna.submit(held, key="late-answer")


@pytest.mark.parametrize(
    ("rows", "header", "says"),
    [
        ([("a00000", "Anna")], ("item", "annotator"), "assigned to fewer people than the 2"),
        ([("a9", "Anna"), ("a8", "Bo")], ("item", "annotator"), "2 rows name items that the stage does not have"),
        ([("a00000", "")], ("item", "annotator"), "is empty"),
        ([("a00000", "Anna")], ("id", "annotator"), 'no column named "item" (found: id, annotator)'),
        ([("a00000", "Anna"), ("a00000", "ANNA")], ("item", "annotator"), "fewer people"),
    ],
)
def test_what_can_not_be_is_refused(
    folder: Path, rows: list[tuple[str, str]], header: tuple[str, str], says: str
) -> None:
    write(folder, rows, header)
    checked, problems = check_folder(folder)
    assert checked is None
    assert [problem for problem in problems if says in problem.message and problem.file == "assigned.csv"], problems


def test_a_file_that_is_missing_or_outside_is_refused(folder: Path) -> None:
    (folder / "assigned.csv").unlink()
    _, problems = check_folder(folder)
    assert [problem.message for problem in problems] == ["there is no such file"]


def test_people_without_an_account_are_named(folder: Path) -> None:
    with closing(open_study(folder)) as study:
        study.store.do(lambda tx: team.invite(tx, study.clock(), "Anna", "maya"))
        [note] = people_without_account(study, folder)
        assert note.startswith("bo, cy have no active account")
    assert "bo, cy have no active account" in chorale("check", folder).stdout
    with closing(open_study(folder)) as study:
        for name in ("Bo", "Cy"):
            study.store.do(lambda tx, name=name: team.invite(tx, study.clock(), name, "maya"))  # type: ignore[misc]
        assert people_without_account(study, folder) == []
        do(study, team.deactivate, "Bo", "maya", "has left")
        assert people_without_account(study, folder)[0].startswith("bo has no active account")


def test_before_the_first_start_everybody_with_items_is_without_an_account(folder: Path) -> None:
    assert not (folder / "study.db").exists()
    output = chorale("check", folder).stdout
    assert "anna, bo, cy have no active account" in output and f"chorale team {folder} --invite NAME" in output
    (folder / "study.toml").write_text(
        (folder / "study.toml").read_text("utf-8").replace(', assigned = "assigned.csv"', ""), "utf-8"
    )
    assert "account" not in chorale("check", folder).stdout


def test_verify_sees_an_answer_by_somebody_whom_the_item_was_not_for(study: Study) -> None:
    everything(Member(study, "Anna"))
    assert differences(study) == []
    renamed = text("UPDATE item_assignee SET login = 'dee' WHERE login = 'anna'")
    study.store.do(lambda tx: tx.execute(renamed).rowcount)
    assert [found for found in differences(study) if "assigned to others" in found]


def test_an_erased_person_s_items_stay_closed_and_verify_agrees(study: Study) -> None:
    anna = Member(study, "Anna")
    everything(anna)
    forgetting.forget(study, anna.id, forgetting.ErasureRequest("requester", answers=False, even_unpaid=True))
    assert differences(study) == []
    assert "a00000" not in everything(Member(study, "Dee"))


def test_a_simulation_gives_every_item_to_everybody(folder: Path) -> None:
    rehearsal = Rehearsal(load_folder(folder), read_crowd(load_folder(folder)))
    study, _ = rehearsal.perform(seed=1)
    left = look(study, lambda tx: tx.execute(text("SELECT count(*) FROM item WHERE state = 'open'")).scalar())
    assert left == 0
