"""What a study has of people who did HITs: given back, erased and copied like everything else of them."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from chorale.cli import app
from chorale.engine.opening import open_study
from chorale.engine.retention import act, due
from turk import Market, open_market

SAID = "a colour of their own"
DAY = 86_400_000


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    with open_market(tmp_path_factory.mktemp("market") / "study") as opened:
        yield opened


def folder_of(market: Market) -> str:
    return str(market.site.database.parent)


def dump(market: Market) -> str:
    """Everything in the database."""
    with closing(sqlite3.connect(market.site.database)) as connection:
        return "\n".join(connection.iterdump())


def test_who_leaves_holds_no_hit_and_what_they_send_later_is_not_stored(market: Market) -> None:
    """Before, a HIT stayed theirs until its time limit, and an answer that was on its way was stored after all."""
    ada, hit = market.worker("leaves"), market.hit(MaxAssignments=1)["HITId"]
    held = ada.accept(hit)
    assert ada.http.post("/withdraw", data={"sure": "yes"}).status_code == 200
    assert ada.submit(held, colour=SAID).status_code == 409
    assert SAID not in dump(market)
    market.worker("comes-after").do(hit)
    assert CliRunner().invoke(app, ["verify", folder_of(market)]).exit_code == 0


def test_a_copy_of_a_persons_data_has_their_hits(market: Market, tmp_path: Path) -> None:
    ada, out = market.worker("copied"), tmp_path / "person.json"
    ada.do(market.hit()["HITId"], colour=SAID)
    assert CliRunner().invoke(app, ["person", folder_of(market), ada.pseudonym, "--export", str(out)]).exit_code == 0
    [hit] = json.loads(out.read_text())["hits"]
    assert SAID in hit["answer"] and hit["state"] == "submitted"


@pytest.mark.parametrize(
    ("days", "expected"), [(60, {"bo": (True, False)}), (40, {"ada": (True, True), "bo": (True, False)})]
)
def test_retention_counts_hits_as_work(tmp_path: Path, days: int, expected: dict[str, tuple[bool, bool]]) -> None:
    """Before, days counted from joining, however long people did HITs, and answers to HITs were never due."""
    with open_market(tmp_path / "study") as market:
        people = {name: market.worker(name) for name in ("ada", "bo")}
        people["ada"].do(market.hit()["HITId"], colour=SAID)
    with closing(sqlite3.connect(market.site.database)) as connection, connection:
        connection.execute(f"UPDATE worker SET arrived_at = arrived_at - {100 * DAY}")
        connection.execute(f"UPDATE worker_session SET began_at = began_at - {100 * DAY}")
        connection.execute(f"UPDATE mturk_assignment SET submitted_at = submitted_at - {50 * DAY}")
    names = {turker.pseudonym: name for name, turker in people.items()}
    with closing(open_study(tmp_path / "study")) as opened:
        rule = opened.settings.retention.model_copy(update={"identities_days": days, "answers_days": days})
        study = replace(opened, settings=opened.settings.model_copy(update={"retention": rule}))
        listed = study.store.look(lambda tx: due(tx, study))
        assert {names[one.worker]: (one.identity, one.answers) for one in listed} == expected
        act(study)
        assert study.store.look(lambda tx: due(tx, study)) == []
    assert (SAID in dump(market)) is ("ada" not in expected)
