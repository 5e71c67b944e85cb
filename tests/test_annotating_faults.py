"""Models at work where something is unusual: lost tries and the budget, long lines, skipped items, orders."""

import asyncio
import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from chorale.audit.verify import verify
from chorale.cli.program import app
from chorale.engine.models.running import Preview, annotate, chosen_models, previews
from chorale.engine.models.stages import order_for
from chorale.engine.models.taking import reserve
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.model import ModelSettings
from chorale.platforms.models import ModelRequest
from chorale.platforms.models import program as programs
from chorale.platforms.models import server as http_server
from chorale.platforms.models.exchange import ChatMessage
from chorale.platforms.models.openai import OpenAi
from chorale.store import calls, model_tasks
from model_stand_in import ModelStandIn, model_stand_in
from small_study import write_small_study
from suggesting_study import write_suggesting_study


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between tries of a request."""
    monkeypatch.setattr(http_server, "FIRST_PAUSE", 0.01)


@pytest.fixture
def server() -> Iterator[ModelStandIn]:
    with model_stand_in() as world:
        yield world


def made(folder: Path, server: ModelStandIn, model: str = "", pay: str = "", **settings: Any) -> Study:
    write_small_study(folder, **{"applications": 4, "gold": 2, "floor": 0.0, **settings})
    text = (folder / "study.toml").read_text().replace("[pay]", f"[pay]\n{pay}")
    (folder / "study.toml").write_text(f"{text}\n[[model]]\nname = 'm1'\nendpoint = '{server.address}'\n{model}")
    return open_study(folder)


def run(study: Study, folder: Path, **settings: Any) -> Any:
    return asyncio.run(annotate(study, folder, chosen_models(study, None), "meaningful", **settings))[0].counts


def test_a_try_that_was_lost_is_repeated_only_within_the_budget(tmp_path: Path, server: ModelStandIn) -> None:
    prices = "input_price = 1000000\noutput_price = 0\nat_once = 1\n"
    study = made(tmp_path, server, prices)
    with_budget = study.store.look(lambda tx: previews(tx, study, chosen_models(study, None), "meaningful", 1, 1))
    one = reserve(study.settings.model[0], with_budget[0].prompts[0]) / 1e9
    study.close()
    text = (tmp_path / "study.toml").read_text().replace("[pay]", f"[pay]\nbudget = {int(one * 1.5)}")
    (tmp_path / "study.toml").write_text(text)
    server.faults.extend(["unreadable", "unreadable"])
    study = open_study(tmp_path)
    counts = run(study, tmp_path)
    assert server.served == 1, "the budget covers one try, and its answer was lost"
    kept = study.store.look(lambda tx: list(calls.all_calls(tx)))
    assert [call.state for call in kept if call.state != "planned"] == ["unknown"]
    assert "not cover another attempt" in str(kept[0].reason)
    assert counts.answered == 0
    assert study.store.look(lambda tx: verify(tx, study)).differences == []
    study.close()


def test_lost_tries_are_on_record_once(tmp_path: Path, server: ModelStandIn) -> None:
    study = made(tmp_path, server, "input_price = 10\nat_once = 1\n", "budget = 100000")
    server.faults.extend(["unreadable", "unreadable", "ok"])
    run(study, tmp_path, limit=1)
    kept = study.store.look(lambda tx: [(call.purpose, call.state) for call in calls.all_calls(tx)])
    assert sorted(kept) == [("ask", "done"), ("try", "unknown"), ("try", "unknown")]
    study.close()


def test_skipped_items_are_asked_about_again_if_wanted(tmp_path: Path, server: ModelStandIn) -> None:
    study = made(tmp_path, server, "at_once = 1\n")
    server.faults.extend(["refusal", "ok"])
    assert run(study, tmp_path).skipped == 1
    assert run(study, tmp_path).items == 0
    study.close()
    printed = CliRunner().invoke(app, ["annotate", str(tmp_path), "--stage", "meaningful", "--retry-skipped", "--json"])
    assert json.loads(printed.output)["runs"][0]["answered"] == 1
    study = open_study(tmp_path)
    assert {row.state for row in study.store.look(lambda tx: list(model_tasks.answers(tx)))} == {"answered"}
    assert study.store.look(lambda tx: verify(tx, study)).differences == []
    study.close()


def test_at_most_is_the_sum_over_all_items(tmp_path: Path, server: ModelStandIn) -> None:
    study = made(
        tmp_path, server, "input_price = 100\noutput_price = 100\n", share=0.2, texts=("a", "a very long one " * 40)
    )
    models = chosen_models(study, None)
    [whole] = study.store.look(lambda tx: previews(tx, study, models, "meaningful", None, 100))
    assert (whole.items, len(whole.prompts)) == (8, 8)

    def first(number: int) -> Preview:
        return study.store.look(lambda tx: previews(tx, study, models, "meaningful", number, 1))[0]

    single = [first(number) for number in range(1, 9)]
    assert single[-1].at_most < whole.at_most, "gold comes on top"
    steps = [after.at_most - before.at_most for before, after in pairwise(single)]
    assert len(set(steps)) > 1, "not a mean times their number"
    study.close()


def test_an_unreachable_server_is_named(tmp_path: Path, server: ModelStandIn) -> None:
    study = made(tmp_path, server, "tries = 1\n", applications=12)
    gone = study.settings.model[0].model_copy(update={"endpoint": "http://127.0.0.1:9/v1"})
    counts = asyncio.run(annotate(study, tmp_path, [gone], "meaningful"))[0].counts
    assert "http://127.0.0.1:9/v1" in str(counts.ended_by)
    study.close()


def test_servers_that_want_another_name_for_the_limit() -> None:
    settings: dict[str, Any] = {"name": "m", "endpoint": "http://localhost/v1", "max_tokens": 77}
    asked = ModelRequest("s", [ChatMessage("user", "u")], {}, "main", "i1", "")
    _, body = OpenAi(ModelSettings(**settings, limit_name="max_completion_tokens")).request(asked)
    assert body["max_completion_tokens"] == 77 and "max_tokens" not in body
    _, body = OpenAi(ModelSettings(**settings)).request(asked)
    assert body["max_tokens"] == 77 and "max_completion_tokens" not in body


PROGRAM = """
import json, sys
for number, line in enumerate(sys.stdin):
    asked = json.loads(line)
    if number == 0:
        print("x" * 300_000, flush=True)
    print(json.dumps({"id": asked["id"], "output": {"answer": "yes"}}), flush=True)
"""


def test_a_line_that_is_too_long_does_not_end_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_LONGEST_LINE", 64 * 1024)
    (tmp_path / "program.py").write_text(PROGRAM)

    async def asked() -> list[str]:
        settings = ModelSettings(name="m", command=(sys.executable, "program.py"), timeout_seconds=20)
        client = programs.ProgramModel(settings, tmp_path)
        request = ModelRequest("s", [ChatMessage("user", "u")], {}, "main", "i1", "")
        replies = [(await client.ask(request)).outcome.value for _ in range(2)]
        await client.close()
        return replies

    assert asyncio.run(asked()) == ["answer", "answer"]


def test_options_come_in_an_order_of_each_item_and_the_export_has_it(tmp_path: Path) -> None:
    write_suggesting_study(tmp_path, items=12, arms=False, wrong=0)
    text = (tmp_path / "study.toml").read_text()
    text = text.replace('options = ["rude", "kind"]', 'options = ["rude", "kind", "odd"]\nshuffle = true')
    (tmp_path / "study.toml").write_text(text)
    study = open_study(tmp_path)
    found = study.store.look(lambda tx: previews(tx, study, chosen_models(study, None), None, None, 20))
    orders = {prompt.user.partition("# Order")[2] for prompt in found[0].prompts}
    assert 1 < len(orders) <= 6
    asyncio.run(annotate(study, tmp_path, chosen_models(study, None)))
    out = tmp_path / "answers.csv"
    study.close()
    CliRunner().invoke(app, ["export", str(tmp_path), "--format", "model-answers", "--out", str(out)])
    assert '""tone""' in out.read_text() or "tone" in out.read_text()
    again = order_for(study, study.stage("main"), "model:m1", "i1", json.dumps({"message": "Message 1"}))
    assert again is not None and sorted(again["tone"]) == ["kind", "odd", "rude"]
