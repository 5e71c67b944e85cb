"""Paying: each amount once, whatever happens on the way, and the books add up to the cent."""

import csv
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from chorale.audit.money import payment_differences
from chorale.cli import app
from chorale.engine import payouts
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.exchange import payout_files
from chorale.platforms.prolific import Prolific
from chorale.store import ledger, payments
from chorale.web.app import create_app
from crowd import Person
from prolific_stand_in import TOKEN, StandIn, stand_in
from prolific_study import come, participant, work, write_prolific_study
from serving import PATIENCE_SECONDS
from small_study import write_small_study

SITE = "https://study.example.org"
REWARD = 5


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setattr("chorale.platforms.prolific.transport.FIRST_PAUSE", 0.01)
    with stand_in() as running:
        monkeypatch.setenv("CHORALE_PROLIFIC_URL", running.address)
        monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
        yield running


def chorale(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.output


def told(*arguments: object) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(chorale(*arguments, "--json"))
    return answer


class Open:
    """A study on Prolific where some people have worked, been approved, and are owed something."""

    def __init__(self, folder: Path, world: StandIn, people: int = 3, database: str | None = None) -> None:
        write_prolific_study(folder, reward=REWARD, applications=60)
        self.folder, self.world = folder, world
        self.study: Study = open_study(folder, database)
        self.site = TestClient(create_app(self.study))
        self.study_id = told("publish", folder, "--to", "prolific", "--public-url", SITE, "--yes")["id"]
        code = world.studies[self.study_id]["completion_codes"][0]["code"]
        self.submissions = []
        for number in range(people):
            # 3 cents an answer: 6, 9, 12 cents, less the reward of 5.
            self.submissions.append(come(self.site, world, self.study_id, number, 2 + number % 3))
            world.finish(self.submissions[-1], code)
        told("sync", folder)

    def works_more(self, number: int, answers: int = 1) -> None:
        self.site.cookies.clear()
        visit = {
            "PROLIFIC_PID": participant(number),
            "STUDY_ID": self.study_id,
            "SESSION_ID": self.submissions[number],
        }
        self.site.get("/join", params=visit)
        work(self.site, answers)

    def pay_and_resend(self) -> payouts.PayoutResult:
        """Pay, and ask again at once for what is in doubt: the stand-in takes no time to pay."""
        with Prolific(TOKEN, self.world.address) as client:
            return payouts.pay_by_prolific(self.study, client, 0)

    def ledger(self) -> int:
        totals = self.study.store.read(ledger.ledger_totals).result()
        return totals["base"] + totals["bonus"]

    def check_books(self) -> None:
        """What Prolific paid, what the books say and what the ledger says are the same, to the cent."""
        books = told("pay", self.folder)
        assert books["earned"] == self.ledger()
        assert books["earned"] + books["ahead"] == books["rewarded"] + books["paid"] + books["owed"]
        assert sum(cents for _, cents in self.world.paid) == books["paid"]
        earned = {
            row.external_id: row.earned - row.rewarded - row.owed
            for row in self.study.store.read(payments.accounts).result()
        }
        assert {one: self.world.bonuses_of(one) for one in earned} == earned

    def close(self) -> None:
        self.study.close()


@pytest.fixture
def opened(tmp_path: Path, world: StandIn) -> Iterator[Open]:
    made = Open(tmp_path / "study", world)
    yield made
    made.close()


def test_bonuses_are_shown_first_then_paid_once_and_add_up(opened: Open) -> None:
    assert "Add --yes to pay" in chorale("pay", opened.folder)
    assert chorale("pay", opened.folder, "--receipts").startswith("No payouts yet."), "not an empty table"
    assert opened.world.paid == []
    first = told("pay", opened.folder, "--yes")
    assert first["done"]["prolific"]["amount"] == (6 - 5) + (9 - 5) + (12 - 5)
    opened.check_books()
    again = told("pay", opened.folder, "--yes")
    assert (again["done"]["prolific"]["amount"], again["owed"]) == (0, 0)
    opened.works_more(0, 2)
    assert told("pay", opened.folder, "--yes")["done"]["prolific"]["amount"] == 6
    opened.check_books()
    [one, two] = told("pay", opened.folder, "--receipts")["payouts"]
    assert (one["amount"], one["charged"], one["state"], len(one["payments"])) == (12, 16, "settled", 3)
    assert two["amount"] == 6
    assert "settled" in chorale("pay", opened.folder, "--receipts")
    told("pay", opened.folder, "--yes")
    assert told("pay", opened.folder, "--receipts")["payouts"][1]["state"] == "settled"
    assert opened.study.store.read(lambda tx: list(payment_differences(tx))).result() == []
    doubled = (
        "INSERT INTO payment (payout_id, worker_id, amount, up_to_entry, bonuses_before) "
        "SELECT payout_id, worker_id, amount + 1000, up_to_entry - 1, '[]' FROM payment WHERE id = 1"
    )
    opened.study.store.write(lambda tx: tx.exec_driver_sql(doubled)).result()
    assert len(opened.study.store.read(lambda tx: list(payment_differences(tx))).result()) >= 2
    with pytest.raises(Exception, match="UNIQUE"):
        opened.study.store.write(lambda tx: tx.exec_driver_sql(doubled.replace(" - 1", ""))).result()
    with pytest.raises(Exception, match="kept for good"):
        opened.study.store.write(lambda tx: tx.exec_driver_sql("DELETE FROM payment")).result()
    with pytest.raises(Exception, match="kept for good"):
        opened.study.store.write(lambda tx: tx.exec_driver_sql("UPDATE payment SET amount = 1")).result()


@pytest.mark.slow
def test_it_is_the_same_on_postgresql(
    tmp_path: Path, world: StandIn, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHORALE_DB", postgres_url)
    opened = Open(tmp_path / "study", world, database=postgres_url)
    world.faults["POST /bulk-bonus-payments/*/pay/"] = ["lost"]
    told("pay", opened.folder, "--yes")
    opened.works_more(0, 2)
    told("pay", opened.folder, "--yes")
    told("pay", opened.folder, "--yes")
    opened.check_books()
    assert told("pay", opened.folder)["owed"] == 0
    assert opened.study.store.read(lambda tx: list(payment_differences(tx))).result() == []
    opened.close()


def test_failures_on_the_way_never_pay_twice_and_a_retry_works(opened: Open) -> None:
    paying, setting_up = "POST /bulk-bonus-payments/*/pay/", "POST /submissions/bonus-payments/"
    world = opened.world
    # Paid, but nobody heard of it, and it takes its time to be reported.
    world.pays_after = 3600
    world.faults[paying] = ["lost"]
    assert "uncertain whether" in chorale("pay", opened.folder, "--yes")
    assert told("pay", opened.folder, "--yes", "--resend", "30")["done"]["prolific"]["in_doubt"] == [1]
    # Not while another process may be asking, or Prolific be paying.
    assert "at least 10" in chorale("pay", opened.folder, "--yes", "--resend", "9", code=2)
    assert world.requests.count(paying) == 1
    # It turns up in what Prolific reports: then it is known to be paid.
    for one in world.submissions.values():
        one["bonuses"] = [(cents, 0.0) for cents, _ in one["bonuses"]]
    world.pays_after = 0
    assert opened.pay_and_resend().in_doubt == []
    assert world.requests.count(paying) == 1
    opened.check_books()
    # Set up in vain twice, then lost on its way: it never arrived, and is asked for again.
    opened.works_more(0)
    world.faults = {setting_up: ["fails", "lost"], paying: ["fails"]}
    assert told("pay", opened.folder, "--yes")["done"]["prolific"]["in_doubt"] == [2]
    assert opened.pay_and_resend().amount == 3
    opened.check_books()
    # Refused: nothing is paid, and the next try works.
    opened.works_more(1)
    world.submissions[opened.submissions[1]]["study_id"] = "f" * 24
    assert "has not taken part" in chorale("pay", opened.folder, "--yes", code=2)
    world.submissions[opened.submissions[1]]["study_id"] = opened.study_id
    assert told("pay", opened.folder, "--yes")["done"]["prolific"]["amount"] == 3
    opened.check_books()


def test_nobody_is_paid_where_prolific_may_have_paid_an_amount_it_does_not_tell(opened: Open) -> None:
    states = ("SCREENED OUT", "PARTIALLY_APPROVED", "PROCESSING")
    for submission, status in zip(opened.submissions, states, strict=True):
        opened.world.submissions[submission]["status"] = status
    told("sync", opened.folder)
    reasons = sorted(one["why_not"] for one in told("pay", opened.folder, "--yes")["due"])
    assert ["partially approved" in reasons[0], "screened out" in reasons[1], "not approved" in reasons[2]] == [
        True
    ] * 3
    assert opened.world.paid == []
    # And a submission that was cut short is settled: nothing was paid for it there.
    opened.world.submissions[opened.submissions[0]]["status"] = "TIMED_OUT"
    told("sync", opened.folder)
    assert told("pay", opened.folder, "--yes")["done"]["prolific"]["amount"] == 6
    # Lists are described with other statuses than these, which single submissions and filters have.
    opened.world.mistakes.clear()


def test_several_commands_at_once_pay_once(opened: Open) -> None:
    opened.world.pause = 0.01
    failures: list[Exception] = []

    def pay() -> None:
        try:
            with Prolific(TOKEN, opened.world.address) as client:
                payouts.pay_by_prolific(opened.study, client)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=pay) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    opened.pay_and_resend()
    opened.check_books()


def test_others_are_paid_by_a_file_each_amount_once(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_small_study(folder)
    study = open_study(folder)
    ada, bo = Person(study, "person-a"), Person(study, "person-b")
    for _ in range(3):
        ada.judge()
    bo.judge()
    file = tmp_path / "pay.csv"
    assert told("pay", folder)["payable_now"] == 12
    assert "Add --yes --file pay.csv to pay" in chorale("pay", folder)
    refused = chorale("pay", folder, "--yes", code=2)
    assert "2 people are to be paid with a file" in refused and "owed" not in refused
    # Stopped after it was written down and before the file was: the next one writes what was written down.
    number = study.store.write(lambda tx: payout_files.plan_file(tx, study)).result()
    ada.judge()
    assert told("pay", folder, "--yes", "--file", file)["done"]["file"] == {"payout": number, "people": 2, "amount": 12}
    assert file.stat().st_mode & 0o777 == 0o600, "it has platform IDs"
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert sorted((row["id"], row["amount"]) for row in rows) == [("person-a", "0.09"), ("person-b", "0.03")]
    assert "already exists" in chorale("pay", folder, "--yes", "--file", file, code=2)
    later = told("pay", folder, "--yes", "--file", file, "--force")
    assert later["done"]["file"]["amount"] == 3
    assert (later["owed"], later["paid"]) == (0, 15)
    empty = told("pay", folder, "--yes", "--file", tmp_path / "none.csv")
    assert empty["done"]["file"] is None
    totals = study.store.read(ledger.ledger_totals).result()
    assert later["paid"] == totals["base"] + totals["bonus"]
    study.close()


# Killed at any moment

_FORKER = """
import os, signal, sys
from pathlib import Path
import chorale.cli.pay, chorale.engine.payouts, chorale.engine.recruiting, chorale.engine.started
import chorale.monitor.payouts
import chorale.cli.asking, chorale.store, httpx2
folder = Path(sys.argv[1])
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            # A minute of doubt is none here: the stand-in has done what it does when it has answered or not.
            chorale.cli.pay.pay(folder, yes=True, resend=0, as_json=True)
            code = 0
        finally:
            sys.stdout.flush()
            os._exit(code)
    print(child, flush=True)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""


class Payer:
    """`chorale pay --yes` again and again, in processes that can be killed."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "payer.log"
        self.errors = self.log.open("w")
        self.forker = subprocess.Popen(
            [sys.executable, "-c", _FORKER, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=dict(os.environ),
        )

    def run(self, kill: Callable[[int], None] | None = None) -> bool:
        """Whether it came to its end. `kill` is told which process it is."""
        assert self.forker.stdin is not None
        assert self.forker.stdout is not None
        self.forker.stdin.write("go\n")
        self.forker.stdin.flush()
        lines: list[str] = []
        while not (line := self.forker.stdout.readline()).strip().isdigit():
            assert line, self.log.read_text()
        if kill is not None:
            kill(int(line))
        while (line := self.forker.stdout.readline()) != "ended\n":
            assert line, self.log.read_text()
            lines.append(line)
        return "payable_now" in "".join(lines)

    def close(self) -> None:
        assert self.forker.stdin is not None
        self.forker.stdin.close()
        self.forker.wait(20)
        assert self.forker.stdout is not None
        self.forker.stdout.close()
        self.errors.close()


SETTING_UP, PAYING = "POST /submissions/bonus-payments/", "POST /bulk-bonus-payments/*/pay/"


def test_killed_at_each_moment_that_matters_it_neither_pays_twice_nor_forgets(opened: Open) -> None:
    with closing(Payer(opened.folder)) as payer:
        for called, side in ((SETTING_UP, "before"), (SETTING_UP, "after"), (PAYING, "before"), (PAYING, "after")):
            process: Queue[int] = Queue()
            opened.world.moments[called, side] = lambda process=process: os.kill(
                process.get(timeout=PATIENCE_SECONDS), signal.SIGKILL
            )  # type: ignore[misc]
            assert not payer.run(process.put), (called, side)
            assert opened.world.moments == {}
            assert payer.run(), (called, side)
            opened.check_books()
            opened.works_more(0)
    # One never arrived and was asked for again; one was done, and was not.
    assert opened.world.requests.count(PAYING) == 4


@pytest.mark.slow
def test_killing_the_command_at_any_moment_neither_pays_twice_nor_forgets(opened: Open) -> None:
    rng, kills = random.Random(50), 50
    # Most of the time is spent where it matters: around being asked to set up and to pay.
    opened.world.lingers = dict.fromkeys((SETTING_UP, PAYING), 0.06)
    longest, died = 0.4, 0
    with closing(Payer(opened.folder)) as payer:
        for _ in range(kills):
            before = time.monotonic()
            if payer.run(partial(_kill_after, rng.uniform(0.05, longest))):
                longest = 1.1 * (time.monotonic() - before)
            else:
                died += 1
            opened.works_more(rng.randrange(3))
        opened.world.lingers = {}
        assert payer.run()
        assert payer.run()
    assert died > kills // 4, "hardly any was killed at work"
    opened.check_books()
    assert told("pay", opened.folder)["owed"] == 0


def _kill_after(seconds: float, process: int) -> None:
    time.sleep(seconds)
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
