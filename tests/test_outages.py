"""When the database can't be used: what people read, and what the log says."""

import logging
from collections.abc import Callable, Iterator, Sequence

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from chorale.model.problems import UnavailableError
from chorale.web.app import create_app
from chorale.web.outages import Outages, server_problem, unavailable
from conftest import StudyMaker


@pytest.fixture
def failing_app(make_study: StudyMaker) -> FastAPI:
    app = create_app(make_study())

    async def break_down() -> None:
        raise RuntimeError("secret detail")

    async def be_away() -> None:
        raise UnavailableError("secret detail")

    for path in ("/broken", "/api/broken"):
        app.add_api_route(path, break_down, methods=["GET", "POST"])
    for path in ("/away", "/api/away"):
        app.add_api_route(path, be_away, methods=["GET", "POST"])
    # Before those that take any address.
    app.router.routes[:] = [*app.router.routes[-4:], *app.router.routes[:-4]]
    return app


@pytest.fixture
def browser(failing_app: FastAPI) -> Iterator[TestClient]:
    with TestClient(failing_app, raise_server_exceptions=False) as client:
        yield client


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("path", "status"), [("/broken", 500), ("/away", 503)])
@pytest.mark.parametrize("prefix", ["", "/api"])
def test_failures_promise_nothing_that_is_not_so(browser: TestClient, prefix: str, path: str, status: int) -> None:
    shown, sent = browser.get(prefix + path), browser.post(prefix + path)
    assert (shown.status_code, sent.status_code) == (status, status)
    for answer in (shown, sent):
        assert "secret detail" not in answer.text
        assert "is kept" not in answer.text
        assert answer.headers.get("retry-after") == ("5" if status == 503 else None)
        assert answer.headers["x-frame-options"] == "DENY"
    assert "Nothing was changed" in shown.text
    assert "may not have been saved" in sent.text


@pytest.mark.parametrize("message", [server_problem, unavailable])
def test_asking_for_the_next_item_sends_nothing_that_could_be_lost(
    message: Callable[[str, str], Sequence[str]],
) -> None:
    assert "saved" not in " ".join(message("POST", "/api/stages/main/next"))
    assert "may not have been saved" in " ".join(message("POST", "/api/stages/main/answers"))


def test_an_outage_is_a_line_a_minute_and_one_when_it_ends(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    outages = Outages(lambda: now)
    with caplog.at_level(logging.WARNING, "chorale.web"):
        outages.worked()
        for tenth in range(7 * 60 * 10):
            now = tenth / 10
            outages.failed(UnavailableError())
        now = 420.0
        outages.worked()
        outages.worked()
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0].startswith("the database can't be used")
    assert lines[1] == "no database for 60 s: 600 requests failed since the last line"
    assert len(lines) == 8
    assert lines[-1] == "the database is back after 420 s: 4200 requests failed"
