"""Paying by PayPal in the console, against a stand-in for PayPal."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from chorale.engine.opening import open_study
from chorale.engine.payout_addresses import addresses_for
from chorale.engine.running import Study
from chorale.store import payments
from crowd import Person, look
from paypal_stand_in import StandIn
from test_console_acts import as_owner
from test_console_payments import PAY, confirmed, owed
from test_payout_addresses import earn, folder, world  # noqa: F401 - fixtures


@pytest.fixture
def study(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:  # noqa: F811
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))
    with closing(open_study(folder)) as opened:
        yield opened


def test_people_are_paid_by_paypal_once_after_a_confirmation(study: Study, world: StandIn) -> None:  # noqa: F811
    earn(study, "ada"), earn(study, "bo", answers=3), earn(study, "di", None)
    client = as_owner(study)
    assert "PayPal" in client.get("/console/payments").text
    asked = client.post(PAY, data={"way": "paypal", "format": "paypal"}).text
    assert "2 people" in asked and "$0.15" in asked and world.requests == 0, "nothing is paid before it is confirmed"
    form = confirmed(asked)
    done = [client.post(PAY, data=form).headers["location"] for _ in range(2)]
    assert done == ["/console/payments?done=paid-paypal&n=1", "/console/payments?done=paid-nothing"]
    assert world.paid() == {"ada@example.org": 6, "bo@example.org": 9} and world.requests == 1
    assert owed(study) == 6, "di has left no address"
    page = client.get(done[0]).text
    assert "Payouts sent to PayPal: 1." in page and "ada@" not in page
    assert look(study, addresses_for) == {}, "addresses are erased once the money has arrived"


def test_two_clicks_at_once_pay_once(study: Study, world: StandIn) -> None:  # noqa: F811
    earn(study, "ada")
    client = as_owner(study)
    form = confirmed(client.post(PAY, data={"way": "paypal", "format": "paypal"}).text)
    with ThreadPoolExecutor(2) as both:
        answers = [*both.map(lambda _: client.post(PAY, data=form).status_code, range(2))]
    assert set(answers) <= {200, 303} and world.paid() == {"ada@example.org": 6} and owed(study) == 0


def test_what_paypal_refuses_or_fails_is_shown_and_paid_later(study: Study, world: StandIn) -> None:  # noqa: F811
    ada: Person = earn(study, "ada")
    client = as_owner(study)

    def pay(**more: str) -> str:
        asked = client.post(PAY, data={"way": "paypal", "format": "paypal", **more})
        return client.post(PAY, data=confirmed(asked.text), follow_redirects=True).text

    world.refuse = True
    assert "Sender has insufficient funds. No payment was made." in pay() and world.paid() == {}
    world.refuse, world.states["ada@example.org"] = False, "FAILED"
    pay()
    assert owed(study) == 6 and ada.pseudonym in client.get("/console/payments").text
    world.states.clear()
    pay(retry="true")
    assert owed(study) == 0
    assert [row.state for row in look(study, payments.payouts)][-1] == "settled"


def test_without_keys_of_paypal_it_is_not_offered(
    study: Study,
    world: StandIn,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    earn(study, "ada")
    monkeypatch.delenv("PAYPAL_SECRET")
    client = as_owner(study)
    assert client.post(PAY, data={"way": "paypal", "format": "paypal"}).headers["location"].endswith("paid-nothing")
    assert world.requests == 0 and "PayPal mass payment file" in client.get("/console/payments").text
