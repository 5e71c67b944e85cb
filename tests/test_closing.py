"""Closing a gate while people work, and while others close it: paid once, and told the same by everybody."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from chorale.audit.verify import verify
from chorale.engine import offering, work
from chorale.engine.closing_pay import pay_for_parts
from chorale.engine.gates import close_gate
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.folder.plan import study_notes
from chorale.folder.reading import check_folder, load_folder
from chorale.protocol import GateVerdict
from chorale.store import gates, ledger
from conftest import ManualClock
from crowd import Person, do, look, people
from protocol_study import ROUND, write_protocol_study
from small_study import write_small_study

ANOTHER = '[[gate]]\nname = "also"\nstage = "training"\ntop_share = 1.0\n'
Maker = Callable[..., Study]


@pytest.fixture
def reopen(tmp_path: Path, database: str | None, clock: ManualClock) -> Iterator[Maker]:
    """Opens the study as it is written now, the same database every time."""
    opened: list[Study] = []

    def once(**changes: Any) -> Study:
        for study in opened:
            study.close()
        write_protocol_study(tmp_path / "study", gate="top_share = 1.0", extra=ANOTHER, **changes)
        opened[:] = [open_study(tmp_path / "study", database, clock)]
        return opened[0]

    yield once
    for study in opened:
        study.close()


def train(person: Person, answers: int) -> None:
    for _ in range(answers):
        person.judge(stage="training")


def paid(study: Study) -> list[int]:
    return sorted(line.amount for line in look(study, lambda tx: list(ledger.ledger_lines(tx))))


def differences(study: Study) -> list[str]:
    return look(study, lambda tx: verify(tx, study)).differences


class Pause:
    """Holds up the first call of a function until it is let go, or for a while."""

    def __init__(self, function: Callable[..., Any], seconds: float) -> None:
        self._function, self._seconds = function, seconds
        self.reached, self.go_on = threading.Event(), threading.Event()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.reached.is_set():
            self.reached.set()
            self.go_on.wait(self._seconds)
        return self._function(*args, **kwargs)


@contextmanager
def closing(study: Study, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Executor, Future[list[GateVerdict]]]]:
    """While the first gate closes, and has not ended its transaction for a while: threads, and what comes of it."""
    pause = Pause(pay_for_parts, 0.3)
    monkeypatch.setattr("chorale.engine.gates.pay_for_parts", pause)
    with ThreadPoolExecutor(2) as threads:
        closes = threads.submit(do, study, close_gate, study.gates["trained"], "one")
        assert pause.reached.wait(5)
        yield threads, closes


@pytest.mark.parametrize("second", ["trained", "also"])
def test_gates_that_close_at_once_pay_for_a_part_once(
    reopen: Maker, monkeypatch: pytest.MonkeyPatch, second: str
) -> None:
    study = reopen(round_pay="finished = 100")
    done, in_the_middle = people(study, 2)
    train(done, ROUND)
    train(in_the_middle, 1)
    with closing(study, monkeypatch) as (threads, first):
        other = threads.submit(do, study, close_gate, study.gates[second], "another")
        assert [len(first.result()), len(other.result())] == [1, 0 if second == "trained" else 1]
    assert look(study, gates.closed_gates) == {"trained", second}
    assert paid(study) == [25, 100]
    assert differences(study) == []


def test_nobody_gets_an_item_who_waited_while_a_gate_closed(reopen: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    study = reopen(round_pay="finished = 100")
    done, waits = people(study, 2)
    train(done, ROUND)
    train(waits, 1)
    with closing(study, monkeypatch) as (threads, _):
        offer = threads.submit(waits.next, "training")
        assert offer.result().status == "locked"
    assert differences(study) == []


def test_who_enters_a_round_in_the_moment_it_ends_is_paid_for_what_they_get(
    reopen: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = reopen(round_pay="finished = 100")
    if study.store.dialect != "postgresql":
        pytest.skip("on SQLite one comes after the other")
    done, enters = people(study, 2)
    train(done, ROUND)
    pause = Pause(offering._lease_next, 5)
    monkeypatch.setattr(offering, "_lease_next", pause)
    with ThreadPoolExecutor(1) as page:
        offer = page.submit(enters.next, "training")
        assert pause.reached.wait(5)
        do(study, close_gate, study.gates["trained"], "one")
        pause.go_on.set()
        enters.submit(offer.result())
    assert paid(study) == [25, 100]
    assert differences(study) == []


def test_a_round_that_comes_to_be_paid_after_it_was_ended_pays_for_what_comes_then(
    reopen: Maker, clock: ManualClock
) -> None:
    study = reopen(round_pay="per_judgment = 2")
    done, left, holds = people(study, 3)
    train(done, ROUND)
    train(left, 1)
    train(holds, 1)
    held = holds.next("training")
    assert held.lease is not None
    do(study, close_gate, study.gates["trained"], "one")
    clock.pass_minutes(1)
    study = reopen(round_pay="per_judgment = 2\nfinished = 100")
    clock.pass_minutes(1)
    do(study, work.submit, holds.id, held.lease.token, "yes", "key-00000009", 5)
    do(study, close_gate, study.gates["also"], "another")
    assert paid(study) == [*[2] * (ROUND + 3), 25]
    assert differences(study) == []


def test_parts_that_come_to_nothing_are_no_lines_in_the_ledger(reopen: Maker) -> None:
    study = reopen(round_pay="finished = 1")
    done, holds = people(study, 2)
    train(done, ROUND)
    train(holds, 1)
    held = holds.next("training")
    do(study, close_gate, study.gates["trained"], "one")
    holds.submit(held)
    assert paid(study) == [1, 1]
    assert differences(study) == []


# What is said of such gates beforehand


@pytest.mark.parametrize(("ties", "refused"), [("pass", False), ("draw", True)])
def test_a_gate_may_close_with_few_who_can_all_pass(tmp_path: Path, ties: str, refused: bool) -> None:
    write_protocol_study(tmp_path, gate=f'top_share = 0.5\nworkers = 2\nties = "{ties}"')
    _, problems = check_folder(tmp_path)
    found = [problem.message for problem in problems]
    assert [("can never be finished" in message) for message in found] == ([True] if refused else [])


@pytest.mark.parametrize(("applications", "told"), [(6, True), (60, False)])
def test_too_little_gold_to_qualify_by_is_noted(tmp_path: Path, applications: int, told: bool) -> None:
    entry = 'exclude_contributors = false\nqualified_in = "meaningful"\nanswered = 4'
    write_small_study(tmp_path, applications=applications, gold=8, share=0.1, entailment_extra=entry)
    notes = [note for note in study_notes(load_folder(tmp_path)) if note.startswith("few people qualify for")]
    assert len(notes) == told
    assert not told or "gives about 0.7 gold answers, and 4 are needed" in notes[0]
