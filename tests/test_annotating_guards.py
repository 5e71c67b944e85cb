"""What models must not cost or break: paid calls that get lost, and stages that only people can do."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chorale.audit.verify import verify
from chorale.engine import submitting
from chorale.engine.models.running import ModelRun, annotate, chosen_models
from chorale.engine.models.stages import stages_of
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.folder.reading import check_folder
from chorale.model import Refusal, UserError
from chorale.platforms.models import server as http_server
from chorale.store import calls
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
    ("write", "stage", "why"), [(_mcq, "grade", "after a first answer"), (write_media_study, "only", "file name only")]
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
