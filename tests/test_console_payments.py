"""Paying in the console: what is confirmed is paid, once, whatever is clicked twice."""

import csv
import io
import re
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner
from starlette.testclient import TestClient

from chorale.cli import app
from chorale.engine import managing, payouts
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.unknown_payouts import note_unknown_payouts
from chorale.model import UserError
from chorale.platforms.prolific import Prolific
from chorale.store import Tx, epochs, events
from chorale.store import payments as store_payments
from chorale.store.settings import mark_simulated
from chorale.web.app import create_app
from chorale.web.console import payments as console_payments
from chorale.web.links import setup_link_path
from crowd import look, people
from prolific_stand_in import TOKEN, StandIn, stand_in
from prolific_study import come, write_prolific_study
from small_study import write_small_study
from test_console import PASSWORD
from test_console_acts import as_owner

PAY = "/console/payments/pay"
SITE = "https://study.example.org"


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))
    write_small_study(tmp_path / "study")
    opened = open_study(tmp_path / "study")
    for person in people(opened, 3):
        person.judge()
    yield opened
    opened.close()


def owed(study: Study) -> int:
    return look(study, lambda tx: payouts.books(tx, study)).owed


def confirmed(page: str) -> dict[str, str]:
    """The fields of a page that asks for confirmation."""
    form = page[page.index('action="/console/payments/pay"') :]
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form[: form.index("</form>")]))


def listed(page: str) -> list[str]:
    """The workers in the table of balances, from the first row on."""
    table = page[page.index('aria-label="Balances due"') :].split("</table>", maxsplit=1)[0]
    return re.findall(r'href="/console/workers/([\w-]+)"', table)


def test_balances_are_found_by_worker_and_sorted_by_amount(study: Study) -> None:
    client = as_owner(study)
    first, second, last = listed(client.get("/console/payments").text)
    act = managing.Act("maya", "good work", "bonus-0001")
    study.store.write(lambda tx: managing.give_bonus(tx, study, second, study.stage("meaningful"), 100, act)).result()
    assert listed(client.get("/console/payments?order=owed").text) == [second, first, last]
    assert listed(client.get(f"/console/payments?find={last[2:].upper()}").text) == [last]
    assert "Nobody with a balance matches this filter" in client.get("/console/payments?find=w-nobody").text


def test_a_file_is_prepared_after_a_confirmation_downloaded_again_and_marked(study: Study) -> None:
    client, before = as_owner(study), owed(study)
    assert before > 0 and "Plain CSV file" in client.get("/console/payments").text
    asked = client.post(PAY, data={"way": "file", "format": "plain"})
    assert "Prepare a payout file for 3 people?" in asked.text and owed(study) == before, "nothing is paid yet"
    form = confirmed(asked.text)
    done = [client.post(PAY, data=form).headers["location"] for _ in range(2)]
    assert done == ["/console/payments?done=pay-file&n=1", "/console/payments?done=paid-nothing"]
    assert owed(study) == 0 and len(look(study, store_payments.payouts)) == 1
    files = [client.get("/console/payments/1/file") for _ in range(2)]
    assert files[0].content == files[1].content
    rows = list(csv.DictReader(io.StringIO(files[0].text)))
    assert len(rows) == 3 and {row["payout"] for row in rows} == {"1"}
    assert len(look(study, lambda tx: events.recent(tx, 9, kinds=("payout file downloaded",)))) == 2
    assert "1 payout file is not marked as paid" in client.get("/console").text
    client.post("/console/payments/mark", data={"number": "1", "failed": rows[0]["worker"], "reason": "closed account"})
    assert owed(study) == before // 3, "what failed is owed again"
    assert "not marked as paid" not in client.get("/console").text


def test_an_amount_that_has_changed_since_is_confirmed_again(study: Study) -> None:
    client = as_owner(study)
    form = confirmed(client.post(PAY, data={"way": "file", "format": "plain"}).text)
    people(study, 4)[3].judge()
    again = client.post(PAY, data=form)
    assert again.status_code == 200 and "has changed since you last saw it" in again.text
    assert look(study, store_payments.payouts) == []
    assert client.post(PAY, data=confirmed(again.text)).headers["location"].endswith("n=1")


def test_after_a_restore_nobody_is_paid_before_somebody_has_compared(study: Study) -> None:
    def restored(tx: Tx) -> None:
        epochs.begin(tx, study.clock(), epochs.RESTORED, {"backup made at": study.clock() - 1000})
        note_unknown_payouts(tx, 2)

    study.store.write(restored).result()
    client = as_owner(study)
    asked = client.post(PAY, data={"way": "file", "format": "plain"}).text
    assert "2 payouts were made after the backup" in asked and "--after-restore" not in asked
    form = confirmed(asked)
    assert client.post(PAY, data=form).status_code == 200 and look(study, store_payments.payouts) == []
    assert client.post(PAY, data={**form, "compared": "true"}).headers["location"].endswith("n=1")


@pytest.mark.parametrize(
    "data",
    [
        {"way": "wire"},
        {"way": "file", "format": "../x"},
        {"way": "file", "amount": "-1"},
        {"way": "file", "amount": "all"},
    ],
)
def test_odd_ways_to_pay_are_refused(study: Study, data: dict[str, str]) -> None:
    assert as_owner(study).post(PAY, data=data).status_code == 422
    assert look(study, store_payments.payouts) == []


def test_ways_that_pay_nobody_are_not_offered_and_do_nothing(study: Study) -> None:
    client = as_owner(study)
    page = client.get("/console/payments").text
    assert "Wise" not in page and "Prolific" not in page
    columns = re.findall(r'<th scope="col".*?>(.*?)</th>', page)
    assert columns == ["Worker", "Source", "Earned", "Paid in payouts", "Owed", "Payment method"]
    chosen = client.get("/console/columns/balances", params={"count": 6, "show": [2, 3, 5, 6]}, follow_redirects=False)
    assert chosen.headers["location"] == "/console/payments"
    assert 'class="table table-cards hide-4"' in client.get("/console/payments").text
    assert client.post(PAY, data={"way": "prolific"}).headers["location"] == "/console/payments?done=paid-nothing"
    assert client.get("/console/payments/7/file").status_code == 404


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setattr("chorale.platforms.prolific.transport.FIRST_PAUSE", 0.01)
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))
    with stand_in() as running:
        yield running


def test_a_study_is_published_and_its_people_paid_once_after_confirmations(tmp_path: Path, world: StandIn) -> None:
    write_prolific_study(tmp_path / "study", reward=5, applications=60)
    study = open_study(tmp_path / "study")
    with closing(study), Prolific(TOKEN, world.address) as client:
        app = create_app(study, prolific=client, public_url=SITE)
        owner = TestClient(app, base_url=SITE)
        owner.post(setup_link_path(study) or "", data={"name": "maya", "password": PASSWORD, "again": PASSWORD})
        assert "Publish main …" in owner.get("/console/recruiting").text
        asked = owner.post("/console/recruiting/publish", data={"study": "main"})
        [cost] = re.findall(r'name="cost" value="(\d+)"', asked.text)
        [there] = world.studies.values()
        assert "Publish main?" in asked.text and there["status"] == "UNPUBLISHED", "nothing is published yet"
        for _ in range(2):
            done = owner.post("/console/recruiting/publish", data={"study": "main", "cost": cost})
            assert "The study is published on Prolific." in done.text
        assert there["status"] == "ACTIVE"
        visitor, code = TestClient(app, base_url=SITE), there["completion_codes"][0]["code"]
        for number in range(2):
            world.finish(come(visitor, world, there["id"], number, 3), code)
        assert "Synchronised" in owner.post("/console/recruiting/sync").text
        assert "Bonuses on Prolific" in owner.get("/console/payments").text
        form = confirmed(owner.post(PAY, data={"way": "prolific"}).text)
        assert form["amount"] == "8" and world.paid == []
        assert "Payouts sent to Prolific: 1." in owner.post(PAY, data=form).text
        assert "Nothing to pay this way" in owner.post(PAY, data=form).text
        assert sorted(cents for _, cents in world.paid) == [4, 4]


def test_publishing_from_an_address_that_nobody_reaches_is_refused(tmp_path: Path, world: StandIn) -> None:
    write_prolific_study(tmp_path / "study")
    study = open_study(tmp_path / "study")
    with closing(study), Prolific(TOKEN, world.address) as client:
        owner = TestClient(create_app(study, prolific=client), base_url="http://localhost:8000")
        owner.post(setup_link_path(study) or "", data={"name": "maya", "password": PASSWORD, "again": PASSWORD})
        refused = owner.post("/console/recruiting/publish", data={"study": "main"})
        assert refused.status_code == 422 and "cannot reach this computer" in refused.text and not world.studies


def _owner_of_published(study: Study, client: Prolific) -> TestClient:
    owner = TestClient(create_app(study, prolific=client, public_url=SITE), base_url=SITE)
    owner.post(setup_link_path(study) or "", data={"name": "maya", "password": PASSWORD, "again": PASSWORD})
    asked = owner.post("/console/recruiting/publish", data={"study": "main"})
    [cost] = re.findall(r'name="cost" value="(\d+)"', asked.text)
    owner.post("/console/recruiting/publish", data={"study": "main", "cost": cost})
    return owner


def test_what_prolific_approved_after_the_confirmation_is_confirmed_too(tmp_path: Path, world: StandIn) -> None:
    write_prolific_study(tmp_path / "study", reward=5, applications=60)
    with closing(open_study(tmp_path / "study")) as study, Prolific(TOKEN, world.address) as client:
        owner = _owner_of_published(study, client)
        [there] = world.studies.values()
        code = there["completion_codes"][0]["code"]
        visitor = TestClient(owner.app, base_url=SITE)
        world.finish(come(visitor, world, there["id"], 0, 3), code)
        owner.post("/console/recruiting/sync")
        form = confirmed(owner.post(PAY, data={"way": "prolific"}).text)
        world.finish(come(visitor, world, there["id"], 1, 3), code)
        again = owner.post(PAY, data=form)
        assert "has changed since you last saw it" in again.text and world.paid == []
        owner.post(PAY, data=confirmed(again.text))
        assert sorted(cents for _, cents in world.paid) == [4, 4]


def test_nobody_is_told_to_pay_simulated_people(tmp_path: Path) -> None:
    write_small_study(tmp_path / "study")
    study = open_study(tmp_path / "study")
    try:
        study.store.do(mark_simulated)
    finally:
        study.close()
    shown = CliRunner().invoke(app, ["pay", str(tmp_path / "study")]).output
    assert "so nobody is paid" in shown and "--yes" not in shown


def test_simulated_people_cost_no_real_money(tmp_path: Path, world: StandIn) -> None:
    write_prolific_study(tmp_path / "study")
    with closing(open_study(tmp_path / "study")) as study, Prolific(TOKEN, world.address) as client:
        study.store.do(mark_simulated)
        owner = TestClient(create_app(study, prolific=client, public_url=SITE), base_url=SITE)
        owner.post(setup_link_path(study) or "", data={"name": "maya", "password": PASSWORD, "again": PASSWORD})
        refused = owner.post("/console/recruiting/publish", data={"study": "main"})
        assert refused.status_code == 422 and "are simulated" in refused.text and not world.studies
        with pytest.raises(UserError, match="simulated"):
            payouts.pay_by_prolific(study, client)


def test_a_file_of_another_amount_than_was_confirmed_is_not_prepared(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody is faster between looking and writing."""
    client = as_owner(study)
    form = confirmed(client.post(PAY, data={"way": "file", "format": "plain"}).text)
    monkeypatch.setattr(console_payments, "refusal_to_pay", lambda _: people(study, 4)[3].judge() and None)
    assert client.post(PAY, data=form).status_code == 422
    assert look(study, store_payments.payouts) == []
