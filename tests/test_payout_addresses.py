"""Where people want to be paid, files for those who pay them, PayPal, and payments that fail and are paid again."""

import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from chorale.audit.money import payment_differences
from chorale.audit.verify import verify
from chorale.cli import app
from chorale.engine import failed_payments, paypal_payouts
from chorale.engine.forgetting import ErasureRequest, erase
from chorale.engine.opening import open_study
from chorale.engine.payout_addresses import KEY_VARIABLE, address_of, addresses_for, leave_address, unreadable_addresses
from chorale.engine.payouts import books
from chorale.engine.running import Study
from chorale.exchange import payout_files
from chorale.model import Refusal, UserError
from chorale.platforms.paypal import PayPal
from chorale.store import messages, payments
from chorale.web.app import create_app
from crowd import Person, do, look
from paypal_stand_in import CLIENT_ID, SECRET, StandIn, paypal_stand_in
from small_study import write_small_study


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_small_study(tmp_path, applications=30, judgments="1")
    settings = tmp_path / "study.toml"
    settings.write_text(settings.read_text().replace("[pay]", '[pay]\nmethods = ["paypal", "wise", "gift-card"]'))
    return tmp_path


@pytest.fixture
def study(folder: Path) -> Iterator[Study]:
    opened = open_study(folder)
    yield opened
    opened.close()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setattr("chorale.platforms.paypal.FIRST_PAUSE", 0.001)
    with paypal_stand_in() as running:
        monkeypatch.setenv("CHORALE_PAYPAL_URL", running.address)
        monkeypatch.setenv("PAYPAL_CLIENT_ID", CLIENT_ID)
        monkeypatch.setenv("PAYPAL_SECRET", SECRET)
        yield running
        assert running.complaints == []


def earn(study: Study, name: str, method: str | None = "paypal", answers: int = 2) -> Person:
    """Somebody who has earned 3 cents an answer and, unless they left none, has an address."""
    person = Person(study, name)
    for _ in range(answers):
        person.judge()
    if method is not None:
        do(study, leave_address, person.id, method, f"{name}@example.org", f"{name.title()} B.")
    return person


def pay(study: Study, world: StandIn, **how: Any) -> Any:
    with PayPal(CLIENT_ID, SECRET, world.address) as client:
        return paypal_payouts.pay_by_paypal(study, client, **how)


def owed(study: Study) -> int:
    now = look(study, lambda tx: books(tx, study))
    assert now.earned + now.ahead == now.rewarded + now.paid + now.owed
    assert look(study, lambda tx: [*payment_differences(tx)]) == []
    return now.owed


def chorale(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result.output


def table(file: Path) -> list[list[str]]:
    return [*csv.reader(file.read_text("utf-8").splitlines())]


# Addresses


def test_an_address_is_encrypted_and_bound_to_its_worker(study: Study, folder: Path) -> None:
    ada, bo = earn(study, "ada"), earn(study, "bo")
    assert look(study, lambda tx: address_of(tx, ada.id))[:3] == ("paypal", "ada@example.org", "Ada B.")  # type: ignore[index]
    with closing(sqlite3.connect(folder / "study.db")) as database, database:
        rows = dict(database.execute("SELECT worker_id, sealed FROM payout_address").fetchall())
        assert not any("example" in sealed for sealed in rows.values())
        database.execute("UPDATE payout_address SET sealed = ? WHERE worker_id = ?", (rows[ada.id], bo.id))
    with pytest.raises(UserError, match="can't be decrypted"):
        look(study, lambda tx: address_of(tx, bo.id))


def test_with_a_key_outside_the_database_a_copy_shows_no_address(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "from the safe")
    ada = earn(study, "ada")
    assert look(study, lambda tx: addresses_for(tx, "paypal"))[ada.id].email == "ada@example.org"
    monkeypatch.delenv(KEY_VARIABLE)
    with pytest.raises(UserError, match=KEY_VARIABLE):
        look(study, lambda tx: address_of(tx, ada.id))
    assert look(study, addresses_for) == {} and look(study, unreadable_addresses) == {ada.id}


@pytest.mark.parametrize(
    ("method", "email", "name"),
    [
        ("bitcoin", "a@example.org", ""),
        ("paypal", "nobody", ""),
        ("paypal", "=1+1@example.org", ""),
        ("wise", "a@example.org", " "),
        ("paypal", "a@example.org\nb@example.org", ""),
        ("paypal", "a" * 116 + "@example.org", ""),
        ("paypal", "ä@example.org", ""),
    ],
)
def test_an_address_that_nobody_can_be_paid_to_is_refused(study: Study, method: str, email: str, name: str) -> None:
    ada = earn(study, "ada", None)
    with pytest.raises(Refusal):
        do(study, leave_address, ada.id, method, email, name)


def test_people_leave_replace_and_erase_their_address_on_a_page(study: Study) -> None:
    with TestClient(create_app(study)) as client:
        assert client.get("/payment").status_code == 401
        client.get("/join", params={"PROLIFIC_PID": "somebody"})
        client.post("/consent", data={"agree": "yes"})
        assert 'href="/payment"' in client.get("/").text
        sent = {"method": "wise", "email": "ada@example.org", "name": "Ada B."}
        assert "ada@example.org" in client.post("/payment", data=sent).text
        assert client.post("/payment", data={**sent, "email": "x"}).status_code == 422
        assert "ada@example.org" not in client.post("/payment/erase").text
        assert look(study, addresses_for) == {}


def test_a_study_whose_platform_pays_asks_for_no_address(tmp_path: Path) -> None:
    write_small_study(tmp_path)
    study = open_study(tmp_path)
    with TestClient(create_app(study)) as client:
        assert client.get("/payment").status_code == 404
    study.close()


def test_a_copy_of_somebody_s_data_has_their_address(folder: Path, study: Study) -> None:
    ada = earn(study, "ada")
    chorale("person", folder, ada.pseudonym, "--export", folder / "ada.json")
    known = json.loads((folder / "ada.json").read_text("utf-8"))["payout_address"]
    assert known == {"method": "paypal", "email": "ada@example.org", "name": "Ada B."}


def test_a_copy_of_somebody_s_data_can_do_without_their_address(
    folder: Path, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, one address that could not be decrypted held back all other data."""
    ada = earn(study, "ada")
    monkeypatch.setenv(KEY_VARIABLE, "another key, given too late")
    result = CliRunner().invoke(app, ["person", str(folder), ada.pseudonym])
    known = json.loads(result.stdout)
    assert "can't be decrypted" in known["payout_address"]["unreadable"] and known["answers"]
    assert "can't be decrypted" in result.stderr and "The export has everything else." in result.stderr


def test_an_address_goes_with_its_worker(study: Study) -> None:
    ada = earn(study, "ada")
    do(study, erase, ada.id, ErasureRequest("the test", answers=False, even_unpaid=True))
    assert look(study, addresses_for) == {}


# Files


def test_files_are_made_as_paypal_wise_and_vendors_take_them(folder: Path, study: Study) -> None:
    for name, method in (("ada", "paypal"), ("bo", "wise"), ("cy", "gift-card"), ("di", None)):
        earn(study, name, method)
    names = {person: Person(study, person).pseudonym for person in ("ada", "bo", "cy", "di")}

    def written(how: str) -> list[list[str]]:
        chorale("pay", folder, "--yes", "--file", folder / f"{how}.csv", "--format", how)
        return table(folder / f"{how}.csv")

    title = study.settings.study.title
    assert written("paypal") == [["ada@example.org", "0.06", "USD", names["ada"], title, "PAYPAL"]]
    header, row = written("wise")
    assert dict(zip(header, row, strict=True)) == {
        "name": "Bo B.",
        "recipientEmail": "bo@example.org",
        "paymentReference": f"{title[:20]} {names['bo']}",
        "receiverType": "PERSON",
        "amountCurrency": "target",
        "amount": "0.06",
        "sourceCurrency": "USD",
        "targetCurrency": "USD",
    }
    assert written("gift-card")[1][:4] == ["Cy B.", "cy@example.org", "0.06", "USD"]
    header, row = written("plain")
    assert dict(zip(header, row, strict=True)) == {
        **dict.fromkeys(("link", "method", "pay_to", "name"), ""),
        "payout": "4",
        "worker": names["di"],
        "panel": "prolific",
        "id": "di",
        "amount": "0.06",
        "currency": "USD",
    }
    assert owed(study) == 0


def test_workers_read_of_a_failed_payment_in_the_language_of_the_study(folder: Path) -> None:
    settings = folder / "study.toml"
    settings.write_text(settings.read_text().replace("[study]\n", '[study]\nlanguage = "de"\n', 1))
    with closing(open_study(folder)) as study:
        ada = earn(study, "ada")
        chorale("pay", folder, "--yes", "--file", folder / "pay.csv", "--format", "paypal")
        chorale("pay", folder, "--paid", 1, "--failed", ada.pseudonym)
        [message] = look(study, lambda tx: messages.messages_to(tx, ada.id))
    assert message.title == "Eine Zahlung ist fehlgeschlagen"
    assert "0,06" in message.body and "](/payment)" in message.body


def test_a_file_is_marked_as_paid_and_what_failed_is_paid_again(folder: Path, study: Study) -> None:
    ada, bo = earn(study, "ada"), earn(study, "bo")
    file = folder / "pay.csv"
    chorale("pay", folder, "--yes", "--file", file, "--format", "paypal")
    assert "has no payment to w-nobody" in chorale("pay", folder, "--paid", 1, "--failed", "w-nobody", code=2)
    for _ in range(2):
        chorale("pay", folder, "--paid", 1, "--failed", bo.pseudonym)
    chorale("pay", folder, "--paid", 1)  # changes nothing any more
    assert owed(study) == 6
    assert [*look(study, addresses_for)] == [bo.id]  # ada has everything, so hers is erased
    [message] = look(study, lambda tx: messages.messages_to(tx, bo.id))
    assert message.title == "A payment failed" and not look(study, lambda tx: messages.messages_to(tx, ada.id))

    file.unlink()
    bo.judge()  # 3 cents more: another payment
    said = chorale("pay", folder, "--yes", "--file", file, "--format", "paypal")
    assert [row[1] for row in table(file)] == ["0.03"]  # the same address would fail again
    assert "on hold until their workers enter another address: 1. Add --retry" in " ".join(said.split())
    do(study, leave_address, bo.id, "paypal", "bo@elsewhere.example", "")
    chorale("pay", folder, "--yes", "--file", file, "--force", "--format", "paypal")
    assert [row[:2] for row in table(file)] == [["bo@elsewhere.example", "0.06"]]
    assert owed(study) == 0
    chorale("pay", folder, "--paid", 3)
    [receipt] = [
        one for one in json.loads(chorale("pay", folder, "--receipts", "--json"))["payouts"] if one["payout"] == 3
    ]
    assert (receipt["state"], receipt["amount"], receipt["payments"][0]["failed"]) == ("settled", 6, None)


def test_failed_payments_are_kept_for_good(folder: Path, study: Study) -> None:
    bo = earn(study, "bo")
    chorale("pay", folder, "--yes", "--file", folder / "pay.csv")
    chorale("pay", folder, "--paid", 1, "--failed", bo.pseudonym)
    with closing(sqlite3.connect(folder / "study.db")) as database:
        for statement in ("DELETE FROM payment_failure", "UPDATE payment_failure SET reason = ''"):
            with pytest.raises(sqlite3.IntegrityError, match="kept for good"):
                database.execute(statement)


def test_the_file_names_the_link_as_the_list_of_links_does(folder: Path, study: Study) -> None:
    links = json.loads(chorale("invite", folder, "--count", 2, "--json"))["links"]
    with TestClient(create_app(study)) as client:
        client.get(links[1].partition(":8000")[2])
        client.post("/consent", data={"agree": "yes"})
        offer = client.post("/api/stages/meaningful/next", json={}).json()
        sent = {"key": "key-00000001", "answer": "yes", "duration_ms": 1000}
        client.post(f"/api/assignments/{offer['assignment']['id']}/submit", json=sent)
    chorale("pay", folder, "--yes", "--file", folder / "pay.csv")
    header, cells = table(folder / "pay.csv")
    row = dict(zip(header, cells, strict=True))
    [used] = [
        one["id"] for one in json.loads(chorale("invite", folder, "--list", "--json"))["invitations"] if one["uses"]
    ]
    assert (row["link"], row["panel"]) == (str(used), "invitation")


def test_a_file_that_was_not_written_leaves_out_who_is_paid_another_way_by_now(folder: Path, study: Study) -> None:
    ada, _ = earn(study, "ada"), earn(study, "bo")
    do(study, payout_files.plan_file, "paypal")  # stopped here
    do(study, leave_address, ada.id, "wise", "ada@example.org", "Ada B.")
    said = chorale("pay", folder, "--yes", "--file", folder / "plain.csv", "--format", "gift-card")
    assert "The file of payout 1 was not written" in said and "--format paypal" in said
    for how, amounts in (("paypal", ["0.06"]), ("wise", ["amount", "0.06"])):
        chorale("pay", folder, "--yes", "--file", folder / f"{how}.csv", "--format", how)
        assert [row[1 if how == "paypal" else 5] for row in table(folder / f"{how}.csv")] == amounts
    chorale("pay", folder, "--paid", 1)
    assert owed(study) == 0 and look(study, lambda tx: {*addresses_for(tx)}) == {ada.id}


def test_a_file_that_was_not_written_ends_if_everybody_in_it_is_paid_another_way(folder: Path, study: Study) -> None:
    ada = earn(study, "ada")
    do(study, payout_files.plan_file, "paypal")  # stopped here
    do(study, leave_address, ada.id, "wise", "ada@example.org", "Ada B.")
    for how in ("paypal", "wise"):
        chorale("pay", folder, "--yes", "--file", folder / f"{how}.csv", "--format", how)
    assert not (folder / "paypal.csv").exists() and len(table(folder / "wise.csv")) == 2
    assert [row.state for row in look(study, payments.payouts)] == ["settled", "sent"] and owed(study) == 0


def test_what_staff_wrote_about_a_failed_payment_is_erased_with_its_worker(folder: Path, study: Study) -> None:
    ada = earn(study, "ada")
    chorale("pay", folder, "--yes", "--file", folder / "pay.csv", "--format", "paypal")
    do(study, failed_payments.mark, 1, [ada.pseudonym], "staff", "Jane Doe closed jane@doe.example")
    written = "SELECT count(*) FROM event WHERE evidence LIKE '%jane@doe%'"
    with closing(sqlite3.connect(folder / "study.db")) as database:
        assert database.execute(written).fetchone() == (1,)
        assert database.execute("SELECT reason FROM payment_failure").fetchall() == [(failed_payments.BY_HAND,)]
        do(study, erase, ada.id, ErasureRequest("the test", answers=True, even_unpaid=True))
        assert database.execute(written).fetchone() == (0,)


# PayPal


def test_paypal_pays_everybody_who_wants_it_once(study: Study, world: StandIn) -> None:
    ada, _, di = earn(study, "ada"), earn(study, "bo", answers=3), earn(study, "di", None)
    done = pay(study, world)
    assert (done.amount, done.in_doubt, done.refused) == (15, [], [])
    assert world.paid() == {"ada@example.org": 6, "bo@example.org": 9}
    assert owed(study) == 6  # di's
    assert [*look(study, addresses_for)] == []
    assert pay(study, world).amount == 0 and world.requests == 1
    [row] = look(study, payments.payouts)
    assert (row.state, row.external_id, row.charged) == ("settled", "BATCH1", 15 + 50)
    ada.judge()
    do(study, leave_address, ada.id, "paypal", "ada@example.org", "")
    assert pay(study, world).amount == 3 and owed(study) == 6 and di.id


def test_what_paypal_fails_is_owed_again_and_paid_to_another_address(
    folder: Path, world: StandIn, database: str | None
) -> None:
    study = open_study(folder, database)
    ada, _ = earn(study, "ada"), earn(study, "bo")
    world.states = {"ada@example.org": "FAILED", "bo@example.org": "UNCLAIMED"}
    pay(study, world)
    assert owed(study) == 6
    [(reason, _)] = look(study, payments.failures).values()
    assert reason == "PayPal reports RECEIVER_ACCOUNT_LOCKED"  # its message has the address in it
    assert look(study, lambda tx: verify(tx, study)).differences == []
    assert pay(study, world).amount == 0  # the address is the same, and bo may still claim it
    do(study, leave_address, ada.id, "paypal", "ada@elsewhere.example", "")
    assert pay(study, world).amount == 6
    world.states["bo@example.org"] = "RETURNED"
    assert pay(study, world).amount == 0 and owed(study) == 6
    world.states.clear()
    assert pay(study, world, retry=True).amount == 6
    assert owed(study) == 0
    study.close()


@pytest.mark.parametrize(("before", "after"), [(1, 0), (0, 1), (50, 0), (0, 50), (1, 1)])
def test_a_lost_connection_neither_pays_twice_nor_forgets(
    study: Study, world: StandIn, before: int, after: int
) -> None:
    earn(study, "ada")
    world.lose_before, world.lose_after = before, after
    first = pay(study, world)
    world.lose_before = world.lose_after = 0
    if before > 1:
        assert [row.state for row in first.in_doubt] == ["paying"]
    pay(study, world)
    assert world.paid() == {"ada@example.org": 6} and len(world.batches) == 1
    assert [row.state for row in look(study, payments.payouts)] == ["settled"]
    assert owed(study) == 0


def test_a_refused_payout_is_planned_again_however_late(study: Study, world: StandIn) -> None:
    earn(study, "ada")
    world.refuse = True
    assert "insufficient funds" in pay(study, world).refused[0]
    assert [row.state for row in look(study, payments.payouts)] == ["planned"]
    assert owed(study) == 0  # nothing else pays it meanwhile
    world.refuse = False
    later = later_by(study, 40 * failed_payments.DAY)
    assert pay(later, world).amount == 6 and world.paid() == {"ada@example.org": 6}


def later_by(study: Study, milliseconds: int) -> Study:
    return replace(study, clock=lambda: study.clock() + milliseconds)


def test_a_refusal_does_not_end_the_doubt_of_an_earlier_request(study: Study, world: StandIn) -> None:
    ada = earn(study, "ada")
    world.lose_before = 50  # nobody here knows whether PayPal has taken it
    pay(study, world)
    world.lose_before, world.refuse = 0, True
    assert [row.state for row in pay(study, world).in_doubt] == ["paying"]
    do(study, leave_address, ada.id, "wise", "ada@example.org", "Ada B.")
    assert [row.state for row in pay(study, world).in_doubt] == ["paying"] and owed(study) == 0


def test_a_refusal_after_a_lost_answer_is_no_proof(
    study: Study, world: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = earn(study, "ada")
    taken, refused = world.create, (422, {"name": "INSUFFICIENT_FUNDS", "message": "The money is gone"})

    def lose_then_refuse(body: Any) -> Any:
        return refused if world.batches else taken(body) and None

    monkeypatch.setattr(world, "create", lose_then_refuse)
    assert [row.state for row in pay(study, world).in_doubt] == ["paying"]
    monkeypatch.setattr(world, "create", taken)
    do(study, leave_address, ada.id, "wise", "ada@example.org", "Ada B.")
    pay(study, world)
    assert world.paid() == {"ada@example.org": 6} and owed(study) == 0


def test_a_list_that_lacks_payments_fails_none_of_them(study: Study, world: StandIn) -> None:
    ada = earn(study, "ada")
    world.show_items = False
    pay(study, world)
    assert look(study, payments.failures) == {} and owed(study) == 0
    do(study, leave_address, ada.id, "paypal", "ada@elsewhere.example", "")
    pay(study, world)
    world.show_items = True
    pay(study, world)
    assert world.paid() == {"ada@example.org": 6}
    assert [row.state for row in look(study, payments.payouts)] == ["settled"]


def test_an_address_that_paypal_refuses_fails_alone(
    study: Study, world: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    earn(study, "bo")
    eve = earn(study, "eve", None)
    monkeypatch.setattr("chorale.engine.payout_addresses.LONGEST_RECEIVER", 254)  # as it was once
    do(study, leave_address, eve.id, "paypal", "e" * 200 + "@example.org", "")
    assert pay(study, world).refused == []
    assert len(world.complaints) == 1
    world.complaints.clear()
    assert world.paid() == {"bo@example.org": 6} and owed(study) == 6
    do(study, leave_address, eve.id, "paypal", "eve@example.org", "")
    pay(study, world)
    assert world.paid() == {"bo@example.org": 6, "eve@example.org": 6} and owed(study) == 0


def test_somebody_alone_in_a_refused_payout_can_change_how_they_are_paid(
    folder: Path, study: Study, world: StandIn
) -> None:
    ada = earn(study, "ada")
    world.refuse = True
    pay(study, world)
    do(study, leave_address, ada.id, "wise", "ada@example.org", "Ada B.")
    done = pay(study, world)
    assert (done.in_doubt, done.refused, owed(study)) == ([], [], 6)
    chorale("pay", folder, "--yes", "--file", folder / "wise.csv", "--format", "wise")
    assert [row[5] for row in table(folder / "wise.csv")] == ["amount", "0.06"] and owed(study) == 0


def test_a_batch_that_paypal_does_not_show_stops_nobody_else(study: Study, world: StandIn) -> None:
    earn(study, "ada")
    world.states["ada@example.org"] = "UNCLAIMED"
    pay(study, world)
    world.batches.clear()
    earn(study, "bo")
    assert "does not show" in pay(study, world).unreported[0]
    assert world.paid() == {"bo@example.org": 6}


def test_a_failure_to_give_a_token_is_asked_about_again(study: Study, world: StandIn) -> None:
    earn(study, "ada")
    world.no_token = 2
    pay(study, world)
    assert world.paid() == {"ada@example.org": 6}


def test_a_payout_in_doubt_is_marked_by_hand(folder: Path, study: Study, world: StandIn) -> None:
    ada, _ = earn(study, "ada"), earn(study, "bo")
    world.lose_before = 50
    pay(study, world)
    assert "10 minutes ago" in chorale("pay", folder, "--paid", 1, code=2)
    late = later_by(study, 40 * failed_payments.DAY)
    do(late, failed_payments.mark, 1, [ada.pseudonym], "the test")
    assert [row.state for row in look(study, payments.payouts)] == ["settled"] and owed(study) == 6


def test_a_payout_that_paypal_still_reports_is_not_marked_by_hand(study: Study, world: StandIn) -> None:
    ada = earn(study, "ada")
    world.states["ada@example.org"] = "UNCLAIMED"
    pay(study, world)
    with pytest.raises(UserError, match="32 days after"):
        do(later_by(study, 20 * failed_payments.DAY), failed_payments.mark, 1, [], "the test")
    do(later_by(study, 33 * failed_payments.DAY), failed_payments.mark, 1, [ada.pseudonym], "the test")
    assert owed(study) == 6


def test_an_address_that_can_not_be_decrypted_stops_nobody_else(
    folder: Path, study: Study, world: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    earn(study, "ada")
    monkeypatch.setenv(KEY_VARIABLE, "lost")
    bo = earn(study, "bo")
    monkeypatch.delenv(KEY_VARIABLE)
    assert f"addresses of {bo.pseudonym} can't be decrypted" in chorale("pay", folder, "--yes", "--paypal")
    assert world.paid() == {"ada@example.org": 6} and owed(study) == 6


def test_a_missing_key_fails_no_payment(study: Study, world: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "the key")
    earn(study, "ada")
    world.refuse = True
    pay(study, world)
    world.refuse = False
    monkeypatch.delenv(KEY_VARIABLE)
    pay(study, world)
    assert look(study, payments.failures) == {}
    monkeypatch.setenv(KEY_VARIABLE, "the key")
    assert pay(study, world).amount == 6


def test_what_paypal_may_have_forgotten_is_not_asked_for_again(study: Study, world: StandIn) -> None:
    earn(study, "ada")
    world.lose_before = 50
    pay(study, world)
    asked, world.lose_before = world.requests, 0
    later = study.clock() + 29 * failed_payments.DAY
    assert [row.state for row in pay(replace(study, clock=lambda: later), world).in_doubt] == ["paying"]
    assert world.requests == asked


def test_somebody_who_takes_their_address_back_in_between_is_owed_again(study: Study, world: StandIn) -> None:
    ada, _ = earn(study, "ada"), earn(study, "bo")
    world.lose_before = 50
    pay(study, world)
    world.lose_before = 0
    do(study, erase, ada.id, ErasureRequest("the test", answers=False, even_unpaid=True))
    pay(study, world)
    assert world.paid() == {"bo@example.org": 6}
    assert [reason for reason, _ in look(study, payments.failures).values()] == [failed_payments.NO_ADDRESS]


def test_a_batch_of_another_sender_is_not_taken_for_ours(
    study: Study, world: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    earn(study, "ada")
    world.batches["BATCH9"] = {
        "header": {"sender_batch_id": "somebody else's"},
        "items": [{"receiver": "x@example.org", "amount": {"currency": "USD", "value": "1.00"}}],
    }
    link = {"href": f"{world.address}/v1/payments/payouts/BATCH9"}
    refusal = 400, {"name": "USER_BUSINESS_ERROR", "message": "No", "links": [link]}
    monkeypatch.setattr(world, "create", lambda _: refusal)
    assert pay(study, world).in_doubt and look(study, payments.payouts)[0].state == "paying"


KILLED = """
import sys
from pathlib import Path
from chorale.cli import main
sys.argv = ["chorale", "pay", sys.argv[1], "--yes", "--paypal"]
main()
"""


@pytest.mark.slow
def test_killed_at_any_moment_nobody_is_paid_twice_and_nobody_forgotten(folder: Path, world: StandIn) -> None:
    study = open_study(folder)
    expected: dict[str, int] = {}
    for number in range(4):
        earn(study, f"p{number}", answers=number + 1)
        expected[f"p{number}@example.org"] = 3 * (number + 1)
    study.close()
    moments = [(0, 1), (1, 0), (0, 0), (0, 2)]
    for turn in range(8):
        world.lose_before, world.lose_after = moments[turn % len(moments)]
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(folder)], env={**os.environ})
        before, ends = world.requests, time.monotonic() + 60
        while world.requests == before and process.poll() is None and time.monotonic() < ends:
            time.sleep(0.005)
        time.sleep(0.01 * (turn % 4))
        process.send_signal(signal.SIGKILL)
        process.wait()
    world.lose_before = world.lose_after = 0
    study = open_study(folder)
    pay(study, world)
    assert world.paid() == expected and owed(study) == 0
    study.close()


def test_two_at_once_pay_once(study: Study, world: StandIn) -> None:
    for number in range(3):
        earn(study, f"p{number}")
    both = [threading.Thread(target=pay, args=(study, world)) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    pay(study, world)
    assert world.paid() == {f"p{number}@example.org": 6 for number in range(3)} and owed(study) == 0


def test_the_command_pays_by_paypal_and_names_what_is_missing(
    folder: Path, study: Study, world: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    earn(study, "ada")
    assert json.loads(chorale("pay", folder, "--yes", "--paypal", "--json"))["done"]["paypal"]["amount"] == 6
    assert world.paid() == {"ada@example.org": 6}
    monkeypatch.delenv("PAYPAL_SECRET")
    assert "PAYPAL_SECRET" in chorale("pay", folder, "--yes", "--paypal", code=2)


def test_a_payout_that_paypal_has_settled_can_not_be_marked(study: Study, world: StandIn) -> None:
    earn(study, "ada")
    pay(study, world)
    for number, why in ((1, "its state is settled"), (7, "No payout by file")):
        with pytest.raises(UserError, match=why):
            do(study, failed_payments.mark, number, [], "the test")
