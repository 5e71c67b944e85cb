"""Nobody is trained, and paid for it, when no work is left for them; and everybody knows before they begin."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from chorale.audit.verify import verify
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.visit import StageVisit, parts_for
from chorale.engine.work import Offer
from chorale.folder.reading import load_folder
from chorale.protocol import Reason, State
from chorale.protocol.training import RemainingWork, expected_each, places_left, work_behind
from chorale.web.app import create_app
from conftest import ManualClock
from crowd import Person, look
from protocol_study import ROUND, write_protocol_study

NO_WORK = "This training is closed, because all the work it prepares for is done."


@pytest.fixture
def study(tmp_path: Path, database: str | None, clock: ManualClock) -> Iterator[Study]:
    """Two stages of two items each, of which nobody gets more than one: work for two people."""
    yield from _opened(tmp_path, database, clock)


def _opened(tmp_path: Path, database: str | None, clock: ManualClock, **settings: object) -> Iterator[Study]:
    write_protocol_study(tmp_path / "study", items=1, **settings)  # type: ignore[arg-type]
    file = tmp_path / "study" / "study.toml"
    file.write_text(file.read_text().replace("judgments = 1\n", "judgments = 1\nmax_per_worker = 1\n"))
    with closing(open_study(tmp_path / "study", database, clock)) as study:
        yield study


def _parts(person: Person) -> list[StageVisit]:
    return look(person.study, lambda tx: list(parts_for(tx, person.study, person.id)))


def training_of(person: Person) -> StageVisit:
    return next(part for part in _parts(person) if part.stage.name == "training")


def right(offer: Offer) -> str:
    assert offer.view is not None
    return "no" if int(offer.view["phrase"].split()[-1]) % 2 else "yes"


def train(person: Person, answers: int = ROUND) -> int:
    """Answer so many of the round, all of them right; how many it was."""
    for number in range(answers):
        offer = person.next("training")
        if offer.lease is None:
            return number
        person.submit(offer, right(offer))
    return answers


def test_training_ends_with_the_work_it_is_for(study: Study, clock: ManualClock) -> None:
    workers = [Person(study, f"person-{number}") for number in range(2)]
    late, begun = Person(study, "late"), Person(study, "begun")
    assert train(begun, 1) == 1
    for person in workers:
        assert train(person) == ROUND
    for person in workers:
        for stage in ("work-a", "work-b"):
            person.judge("yes", stage)
    # Both stages are done by two people. Who has begun may finish and is paid; nobody else may begin.
    assert training_of(begun).state is State.AVAILABLE
    assert train(begun) == ROUND - 1
    assert train(late) == 0
    part = training_of(late)
    assert (part.state, part.situation.reason, part.message) == (State.LOCKED, Reason.NO_WORK_LEFT, NO_WORK)
    assert late.next("training").message == NO_WORK
    found = look(study, lambda tx: verify(tx, study))
    assert found.differences == []
    assert training_of(begun).earned == 2 * ROUND


def test_places_are_the_people_that_the_work_still_needs(study: Study, clock: ManualClock) -> None:
    # Two places in each stage, one for each worker: two people, and half as many more who may fail.
    people = [Person(study, f"person-{number}") for number in range(5)]
    for number, person in enumerate(people[:3]):
        assert training_of(person).situation.places == 3 - number
        assert train(person, 1) == 1
    part = training_of(people[3])
    assert (part.state, part.situation.reason) == (State.LOCKED, Reason.NO_PLACES)
    assert people[3].next("training").status == "locked"
    # Those who have not been seen for as long as an item may be held no longer count.
    clock.pass_minutes(31)
    assert train(people[3], 1) == 1
    assert train(people[0]) == ROUND - 1


def test_those_who_fail_make_room(study: Study) -> None:
    people = [Person(study, f"person-{number}") for number in range(4)]
    for person in people[:3]:
        train(person, 1)
    assert training_of(people[3]).state is State.LOCKED
    for _ in range(ROUND - 1):
        offer = people[0].next("training")
        people[0].submit(offer, "yes" if right(offer) == "no" else "no")
    assert training_of(people[3]).situation.places == 1


def test_two_who_enter_at_once_do_not_share_a_place(study: Study) -> None:
    people = [Person(study, f"person-{number}") for number in range(12)]
    with ThreadPoolExecutor(12) as pool:
        offers = list(pool.map(lambda person: person.next("training"), people))
    assert sum(offer.lease is not None for offer in offers) == 3


def test_with_arms_only_the_work_of_their_arm_counts(tmp_path: Path, clock: ManualClock) -> None:
    arms = '[arms]\nnames = ["left", "right"]\n'
    for study in _opened(tmp_path, None, clock, arms=arms, arms_of=('"left"', '"right"')):
        people = [Person(study, f"person-{number}") for number in range(20)]
        admitted = [person for person in people if train(person, 1)]
        names = []
        for person in admitted:
            names += [part.stage.name for part in _parts(person) if part.stage.name != "training"]
        assert sorted(names) == ["work-a"] * 3 + ["work-b"] * 3


def test_a_gate_that_picks_the_best_admits_everybody_while_work_is_left(tmp_path: Path, clock: ManualClock) -> None:
    for study in _opened(tmp_path, None, clock, gate="top_share = 0.5"):
        assert all(train(Person(study, f"person-{number}"), 1) for number in range(8))


def test_a_round_that_leads_nowhere_admits_everybody(tmp_path: Path, clock: ManualClock) -> None:
    for study in _opened(tmp_path, None, clock, entry=""):
        people = [Person(study, f"person-{number}") for number in range(6)]
        assert all(train(person, 1) for person in people)
        assert work_behind(study.settings, study.settings.stage[0]).work == ()


def test_the_start_page_says_how_many_places_are_left(tmp_path: Path, clock: ManualClock) -> None:
    for study in _opened(tmp_path, None, clock):
        with TestClient(create_app(study), base_url="https://testserver") as site:
            site.get("/join", params={"PROLIFIC_PID": "somebody", "STUDY_ID": "s", "SESSION_ID": "v"})
            page = site.post("/consent", data={"agree": "yes"}).text
            assert "3 places left" in page


def test_the_start_page_says_that_no_work_is_left(tmp_path: Path, clock: ManualClock) -> None:
    for study in _opened(tmp_path, None, clock):
        with TestClient(create_app(study), base_url="https://testserver") as site:
            site.get("/join", params={"PROLIFIC_PID": "late", "STUDY_ID": "s", "SESSION_ID": "v"})
            page = site.post("/consent", data={"agree": "yes"}).text
            assert page.count("Opens later") == 2 and "No work left" not in page
            for number in range(2):
                person = Person(study, f"person-{number}")
                train(person)
                for stage in ("work-a", "work-b"):
                    person.judge("yes", stage)
            page = site.get("/").text
            assert page.count("No work left") == 3 and NO_WORK in page
            assert "Opens later" not in page and "Finish “Training” first" not in page


def test_stages_behind_several_rounds_are_found(tmp_path: Path) -> None:
    write_protocol_study(
        tmp_path,
        extra='[[stage]]\nname = "second"\ntitle = "Second"\ntask = "rules-meaningful"\nguidelines = "guidelines.md"\n'
        'round = { file = "round.jsonl" }\nentry = { qualifications = ["trained"] }\n'
        '[[gate]]\nname = "twice"\nstage = "second"\nthreshold = 0.5\n',
        entry='qualifications = ["twice"]',
    )
    settings = load_folder(tmp_path).settings
    behind = work_behind(settings, settings.stage[0])
    assert (behind.rounds, behind.work) == (("training", "second"), ("work-a", "work-b"))
    assert (behind.gates, behind.qualifications) == (("trained", "twice"), ("twice",))


def test_what_is_needed_goes_by_what_people_do() -> None:
    assert [
        expected_each(None, 4, 40),
        expected_each(None, 5, 40),
        expected_each(6, 0, 0),
        expected_each(6, 5, 40),
    ] == [*(1.0, 8.0, 6.0, 6)]
    assert RemainingWork(places=30, people=3, each=8.0).needed == 4
    assert RemainingWork(places=3, people=3, each=8.0).needed == 3
    assert (
        places_left({(): [RemainingWork(30, 3, 8.0), RemainingWork(8, 1, 8.0)]}, able=1, in_training=2, factor=1.5) == 3
    )
    assert (
        places_left(
            {("a",): [RemainingWork(1, 1, 1)], ("b",): [RemainingWork(1, 1, 1)]}, able=0, in_training=0, factor=1.0
        )
        == 2
    )
