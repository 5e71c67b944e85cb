"""What models must not cost or break: paid calls that get lost, and stages that only people can do."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import select, update

from asking import EXPERT, FIRST_SET, write_qasrl_study
from chorale.audit.verify import verify
from chorale.engine import submitting
from chorale.engine.forgetting import BY_REQUESTER, ErasureRequest, forget, worker_to_forget
from chorale.engine.models.annotating import FIRST_DECLINED, RunCounts
from chorale.engine.models.running import ModelRun, Preview, annotate, chosen_models, previews
from chorale.engine.models.stages import stages_of
from chorale.engine.models.taking import MOST_LOST
from chorale.engine.opening import annotating_alone, open_study
from chorale.engine.running import Study
from chorale.folder.reading import check_folder
from chorale.model import Refusal, UserError
from chorale.platforms.models import server as http_server
from chorale.store import calls, model_tasks
from chorale.store.model_schema import model_task
from chorale.store.schema import item
from chorale.web.annotating import annotate_for_ever
from crowd import Person, people
from mcq_study import write_mcq_study
from model_stand_in import ModelStandIn, model_stand_in
from small_study import write_small_study
from test_media import write_study as write_media_study

MODEL = "\n[[model]]\nname = 'm1'\nendpoint = 'http://localhost:1/v1'\n"
WORKER = '[stage.models]\nrole = "worker"\n'


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "FIRST_PAUSE", 0.01)


@pytest.fixture
def server() -> Iterator[ModelStandIn]:
    with model_stand_in() as world:
        yield world


Make = Callable[..., Study]


@pytest.fixture
def make(tmp_path: Path, server: ModelStandIn) -> Iterator[Make]:
    opened: list[Study] = []

    def made(extra: str = "", stage_models: str = "", **settings: Any) -> Study:
        folder = tmp_path / "study"
        write_small_study(folder, **{"applications": 12, "gold": 6, "floor": 0.0, "share": 0.0, **settings})
        text = (folder / "study.toml").read_text().replace("[stage.gold]", f"{stage_models}[stage.gold]", 1)
        (folder / "study.toml").write_text(f"{text}\n[[model]]\nname = 'm1'\nendpoint = '{server.address}'\n{extra}")
        opened.append(open_study(folder))
        return opened[-1]

    yield made
    for study in opened:
        study.close()


def run(study: Study, **settings: Any) -> ModelRun:
    [done] = asyncio.run(annotate(study, Path(), chosen_models(study, None), **{"stage": "meaningful", **settings}))
    return done


def all_calls(study: Study) -> list[calls.CallRow]:
    return study.store.look(lambda tx: list(calls.all_calls(tx)))


def differences(study: Study) -> list[str]:
    return study.store.look(lambda tx: verify(tx, study)).differences


def _mcq(folder: Path) -> Path:
    return write_mcq_study(folder, answer_first=True)


@pytest.mark.parametrize(
    ("write", "stage", "why"),
    [(_mcq, "grade", "after a first answer"), (write_media_study, "only", "only the file name")],
)
def test_stages_that_only_people_can_do_get_no_models(
    tmp_path: Path, write: Callable[[Path], Path], stage: str, why: str
) -> None:
    folder = tmp_path / "study"
    write(folder)
    path = folder / "study.toml"
    before = path.read_text()
    path.write_text(before + MODEL)
    study = open_study(folder)
    [model] = study.settings.model
    assert stage not in [of.stage.name for of in stages_of(study, model)]
    with pytest.raises(UserError, match=why):
        stages_of(study, model, stage)
    study.close()
    title = f'name = "{stage}"\n'
    path.write_text(before.replace(title, f"{title}models = {{ use = ['m1'] }}\n") + MODEL)
    assert why in " ".join(map(str, check_folder(folder)[1]))


def test_a_call_stays_on_record_if_its_answer_cannot_be_stored(
    make: Make, server: ModelStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make("input_price = 15\nat_once = 1\n", WORKER, judgments="1")

    def refuse(*_given: Any, **_named: Any) -> Any:
        raise Refusal("invalid", "no", 400)

    with monkeypatch.context() as patched:
        patched.setattr(submitting, "submit", refuse)
        done = run(study)
    assert "could not be stored" in str(done.counts.ended_by)
    assert server.served == 1
    [paid] = [call for call in all_calls(study) if call.state == "done"]
    assert paid.cost
    assert differences(study) == []
    again = run(study)
    assert again.counts.answered == 11, "what was paid for is not asked again"
    assert server.served == 12


def test_an_item_that_the_server_declines_is_skipped_and_the_others_are_answered(
    make: Make, server: ModelStandIn
) -> None:
    study = make("at_once = 1\ninput_price = 15\n")
    server.faults.extend(["ok", "declined", "ok", "declined"])
    done = run(study)
    assert (done.counts.answered, done.counts.skipped, done.counts.failed) == (22, 2, 0)
    declined = [call for call in all_calls(study) if call.outcome == "declined"]
    assert {(call.reason, call.cost) for call in declined} == {("status 400: the prompt is too long", 0)}
    assert run(study).counts.items == 0
    assert differences(study) == []


def test_a_server_that_declines_everything_ends_the_run_and_nothing_is_lost(make: Make, server: ModelStandIn) -> None:
    study = make("at_once = 1\n")
    server.faults.extend(["declined"] * 24)
    done = run(study)
    assert server.served == FIRST_DECLINED
    assert "rejects requests: status 400" in str(done.counts.ended_by)
    server.faults.clear()
    assert run(study).counts.answered == 24


def test_tries_whose_answer_was_lost_keep_their_reservation(make: Make, server: ModelStandIn) -> None:
    study = make("at_once = 1\ntries = 2\ntimeout_seconds = 0.2\ninput_price = 15\n")
    server.slow = 0.4
    server.faults.extend(["slow", "ok", "slow", "unreadable"])
    run(study, limit=2)
    states = Counter((call.state, call.purpose, call.outcome) for call in all_calls(study))
    assert states == {
        ("unknown", "try", None): 2,
        ("done", "ask", "answer"): 1,
        ("unknown", "ask", "server error"): 1,
    }
    per_call = max(call.reserved for call in all_calls(study))
    assert 0 < study.store.look(calls.reserved) <= 3 * per_call
    assert all(call.cost is None for call in all_calls(study) if call.state == "unknown")
    assert study.store.look(calls.reserved) > 2 * min(call.reserved for call in all_calls(study))
    assert differences(study) == []


def test_an_item_whose_answer_is_lost_again_and_again_is_skipped(make: Make, server: ModelStandIn) -> None:
    study = make("at_once = 1\ntries = 1\n", applications=1)
    for _ in range(MOST_LOST):
        server.faults.extend(["unreadable"] * 2)
        assert run(study).counts.failed == 2
    assert run(study).counts.items == 0
    assert server.served == 2 * MOST_LOST
    assert {task.state for task in study.store.look(lambda tx: list(model_tasks.all_tasks(tx)))} == {"skipped"}
    assert differences(study) == []


def test_the_site_says_why_a_model_ended_and_waits_longer_each_time(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make(stage_models="[stage.models]\nrun = true\n", applications=1)
    pauses: list[float] = []
    monkeypatch.setattr("chorale.web.annotating.annotate", _failing)

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) >= 3:
            raise asyncio.CancelledError

    # Only this module's: servers of other tests in the same process sleep too.
    monkeypatch.setattr("chorale.web.annotating.asyncio", SimpleNamespace(sleep=sleep))
    with caplog.at_level("INFO"), pytest.raises(asyncio.CancelledError):
        asyncio.run(annotate_for_ever(study, tmp_path / "study", 1.0))
    assert pauses == [2.0, 4.0, 8.0]
    assert "m1 in meaningful: the server is gone" in caplog.text


async def _failing(*_given: Any, **_named: Any) -> list[ModelRun]:
    return [ModelRun("m1", "meaningful", RunCounts(failed=2, ended_by="the server is gone"))]


def test_a_model_cannot_be_forgotten(make: Make) -> None:
    study = make()
    run(study, limit=1)
    with pytest.raises(UserError, match="is a model"):
        study.store.look(lambda tx: worker_to_forget(tx, "model:m1"))


def test_one_process_runs_the_models_of_a_database_whichever_folder_it_was_opened_from(
    tmp_path: Path, database: str | None
) -> None:
    for name in ("one", "two"):
        write_small_study(tmp_path / name)
    address = database or f"sqlite:///{tmp_path / 'shared.db'}"
    first, second = (open_study(tmp_path / name, address) for name in ("one", "two"))
    with annotating_alone(first):
        with pytest.raises(UserError, match="already running"), annotating_alone(second):
            pass
    with annotating_alone(second):
        pass
    first.close()
    second.close()


@pytest.mark.parametrize("role", ["beside", "worker"])
def test_what_models_say_about_erased_answers_is_erased_too(tmp_path: Path, server: ModelStandIn, role: str) -> None:
    folder = write_qasrl_study(tmp_path / "study", 1)
    path = folder / "study.toml"
    text = path.read_text().replace('of = "answers"\n', f'of = "answers"\n\n[stage.models]\nrole = "{role}"\n')
    path.write_text(f"{text}\n[[model]]\nname = 'm1'\nendpoint = '{server.address}'\n")
    server.answer = lambda *_: {"answer": [{"question": one["question"], "valid": False} for one in FIRST_SET]}
    study = open_study(folder)
    writer = Person(study, "ada")
    writer.judge(EXPERT, "practice")
    writer.judge(FIRST_SET, "writing")
    done = run(study, stage="validation")
    assert done.counts.answered == 1
    asked = str(FIRST_SET[0]["question"])
    assert asked in str(study.store.look(lambda tx: list(model_tasks.all_tasks(tx))))
    assert asked in str(all_calls(study))
    forget(study, writer.id, ErasureRequest(BY_REQUESTER, answers=True, even_unpaid=True))
    assert asked not in str(study.store.look(lambda tx: list(model_tasks.all_tasks(tx))))
    assert asked not in str(all_calls(study))
    assert differences(study) == []
    study.close()


def test_an_unfinished_item_that_was_withdrawn_is_not_asked_about(make: Make, server: ModelStandIn) -> None:
    study = make("at_once = 1\ntries = 1\n")
    server.faults.append("500")
    assert run(study, limit=1).counts.failed == 1
    failed = select(model_task.c.item_id).where(model_task.c.state == "failed").scalar_subquery()
    study.store.do(lambda tx: tx.execute(update(item).where(item.c.id == failed).values(state="withdrawn")))
    assert run(study).counts.answered == 23


def test_a_dry_run_counts_gold_corrections_and_what_was_begun(make: Make, server: ModelStandIn) -> None:
    study = make("at_once = 1\ntries = 1\ninput_price = 15\noutput_price = 60\nmax_tokens = 40\n", share=0.3)
    server.faults.extend(["500"] * 2)
    run(study, limit=2)

    def look(limit: int | None, stage: str | None = "meaningful") -> list[Preview]:
        return study.store.look(lambda tx: previews(tx, study, study.settings.model, stage, limit, 1))

    [before] = look(None)
    assert (before.items + before.gold) == 30, "24 items and 6 gold, two of them begun"
    server.answer = lambda *_: "no JSON, and far more than it should be " * 4
    done = run(study)
    assert done.counts.cost <= before.at_most
    assert done.counts.outcomes["unparsable"] == 2 * done.counts.items


def test_a_limit_is_for_all_stages_together(make: Make, server: ModelStandIn) -> None:
    study = make(judgments="1")
    crowd = people(study, 4)
    for person in crowd:
        while (offer := person.next()).lease is not None:
            person.submit(offer, "yes")
    found = study.store.look(lambda tx: previews(tx, study, study.settings.model, None, 25, 1))
    assert [one.items for one in found] == [24, 1]
    server.answer = lambda *_: {"answer": "yes"}
    runs = asyncio.run(annotate(study, Path(), chosen_models(study, None), limit=25))
    assert [one.counts.items for one in runs] == [24, 1]
