"""Rehearsals with models: the roles `first` and `worker` against people alone, always the same by a seed."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from chorale.cli.program import app
from chorale.model import UserError
from chorale.rehearsal import Forecasts, parse_vary, rehearse
from chorale.rehearsal.simulated.language_models import SimulatedModel, model_says
from suggesting_study import write_rows, write_suggesting_study


@pytest.fixture(autouse=True)
def same_gold_positions() -> None:
    """Not patched here: a rehearsal has gold at places of its own, the same for the same seed."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_suggesting_study(tmp_path, items=80, gold=30, arms=False, wrong=0)
    text = (tmp_path / "study.toml").read_text()
    text = text.replace('role = "suggest"', 'role = "first"\nbelow = 0.9\naudit = 0.1')
    text = text.replace(
        'answers = "recorded.jsonl"', 'answers = "recorded.jsonl"\nconfidence = "stated"\ninput_price = 100'
    )
    text = text.replace("[stage.pay]", '[stage.rehearsal]\ntruth = "truth.jsonl"\n\n[stage.pay]')
    (tmp_path / "study.toml").write_text(text)
    rows = [{"message": f"Message {n}", "answer": {"tone": "rude" if n % 2 else "kind"}} for n in range(80)]
    write_rows(tmp_path / "truth.jsonl", rows)
    crowd = '[[model]]\nname = "m1"\naccuracy = 0.9\nsureness = 1\noverconfidence = 2\n'
    (tmp_path / "rehearsal.toml").write_text(f"workers = 12\n{crowd}")
    return tmp_path


def forecast(folder: Path, **settings: Any) -> Forecasts:
    return rehearse(folder, **{"seeds": 2, "processes": 1, **settings})


def test_roles_are_forecast_against_people_alone(folder: Path) -> None:
    vary = [parse_vary("main.models.role=beside,worker,first")]
    alone, worker, first = forecast(folder, vary=vary).forecasts
    answers = [sum(run.answers for run in one.runs) for one in (alone, worker, first)]
    assert answers[2] < 0.7 * answers[0], "people are asked about a part of the items"
    assert answers[1] < answers[0], "a model's judgment takes the place of one of people's"
    assert [one.runs[0].models > 0 for one in (alone, worker, first)] == [False, True, True]
    stage = first.runs[0].stages[0]
    assert 0 < stage.by_model < stage.items == stage.complete
    assert stage.accuracy is not None and stage.accuracy > 0.85
    assert first.runs[0].cost < alone.runs[0].cost


def test_the_same_seed_gives_the_same_forecast(folder: Path) -> None:
    one, other = (json.dumps(forecast(folder).as_json()) for _ in range(2))
    assert one == other


def test_the_command_prints_what_models_do(folder: Path) -> None:
    printed = CliRunner().invoke(app, ["rehearse", str(folder), "--seeds", "1"], env={"COLUMNS": "200"})
    assert printed.exit_code == 0, printed.output
    assert "labelled by a model" in printed.output
    assert "calls of models" in printed.output


def test_a_model_that_the_study_does_not_have_is_refused(folder: Path) -> None:
    (folder / "rehearsal.toml").write_text('[[model]]\nname = "m2"\n')
    with pytest.raises(UserError) as caught:
        forecast(folder)
    assert "there is no such model" in str(caught.value.problems[0].message)


def test_a_simulated_model_is_right_as_often_as_it_says() -> None:
    rng = Random(1)
    model = SimulatedModel(name="m", accuracy=0.8, sureness=2, confusions={"a": {"c": 1}})
    said = [model_says(model, "a", ["a", "b", "c"], rng) for _ in range(4000)]
    right = [one.answer == "a" for one in said]
    assert sum(right) / 4000 == pytest.approx(0.8, abs=0.02)
    assert {one.answer for one in said} == {"a", "c"}, "wrong answers are those it confuses"
    sure = [correct for one, correct in zip(said, right, strict=True) if 0.6 < one.confidence < 0.8]
    assert sum(sure) / len(sure) == pytest.approx(0.7, abs=0.05), "calibrated"
    over = SimulatedModel(name="m", accuracy=0.8, sureness=2, overconfidence=3)
    beyond = [model_says(over, "a", ["a", "b", "c"], rng) for _ in range(4000)]
    assert sum(one.confidence for one in beyond) / 4000 > sum(one.confidence for one in said) / 4000 + 0.02
