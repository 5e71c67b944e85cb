"""Rehearsals with models: the roles `first` and `worker` against people alone, always the same by a seed."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from chorale.cli.program import app
from chorale.folder.reading import load_folder
from chorale.model import UserError
from chorale.rehearsal import Forecasts, parse_vary, read_crowd, rehearse
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
    assert "model calls" in printed.output


@pytest.fixture
def suggesting(tmp_path: Path) -> Path:
    """Two arms, of which one sees what the model says: "rude" about everything."""
    write_suggesting_study(tmp_path / "arms", items=40, gold=40, wrong=0.5)
    (tmp_path / "arms" / "rehearsal.toml").write_text(
        'workers = 20\n[[kind]]\nname = "good"\nshare = 1\nability = 0.95\nkeeps_right = 0.9\nkeeps_wrong = 0.5\n'
        "suggested_pace = 0.5\n"
    )
    return tmp_path / "arms"


def shown(forecasts: Forecasts) -> dict[str, dict[str, float]]:
    """The means of what suggestions do, by measure."""
    found = forecasts.as_json()["variations"][0]["suggestions"]["main"]
    return {what: {side: one["mean"] for side, one in sides.items()} for what, sides in found.items()}


def test_what_suggestions_do_to_people_is_rehearsed_with_arms(suggesting: Path) -> None:
    measured = shown(forecast(suggesting, seeds=3))
    seconds = measured["seconds per answer"]
    assert seconds["with_suggestion"] == pytest.approx(0.5 * seconds["without"], rel=0.2)
    wrong = measured["gives the model's answer, where it is wrong by gold"]
    # Half of the wrong suggestions are kept; alone, one answer in twenty is the wrong one.
    assert wrong["with_suggestion"] == pytest.approx(0.5 + 0.5 * 0.05, abs=0.1)
    assert wrong["without"] == pytest.approx(0.05, abs=0.06)
    right = measured["correct by gold"]
    assert right["with_suggestion"] < right["without"] - 0.1, "wrong suggestions on purpose do harm"


def test_people_who_check_everything_are_not_harmed(suggesting: Path) -> None:
    text = (suggesting / "rehearsal.toml").read_text().replace("keeps_wrong = 0.5", "keeps_wrong = 0")
    (suggesting / "rehearsal.toml").write_text(text)
    wrong = shown(forecast(suggesting))["gives the model's answer, where it is wrong by gold"]
    assert wrong["with_suggestion"] == pytest.approx(0.05, abs=0.06)


def test_a_kept_run_has_the_same_comparison_in_its_report(suggesting: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    done = CliRunner().invoke(
        app, ["rehearse", str(suggesting), "--seeds", "1", "--keep", str(kept)], env={"COLUMNS": "200"}
    )
    assert done.exit_code == 0, done.output
    assert "Suggestions in main" in done.output
    report = CliRunner().invoke(app, ["report", str(kept), "--arms", "--json", "--no-charts"])
    [wrong] = [
        one
        for one in json.loads(report.output)["models"]["suggestions"]["main"]
        if one["measure"] == "gives the model's answer, where it is wrong by gold"
    ]
    assert wrong["with_suggestion"] > wrong["without"] + 0.2
    assert wrong["compared"] is not None


def test_people_can_be_made_to_err_like_recorded_answers(folder: Path) -> None:
    def says(number: int) -> str:
        right = "rude" if number % 2 else "kind"
        return right if number % 4 else {"rude": "kind", "kind": "rude"}[right]

    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text[: text.index('\n[[stage.options.fields]]\nname = "why"')])
    rows = [{"stage": "main", "item": f"i{n}", "output": {"answer": {"tone": says(n)}}} for n in range(80)]
    write_rows(folder / "answers.jsonl", rows)
    fitted = forecast(folder, fit=folder / "answers.jsonl", vary=[parse_vary("main.models.role=beside")])
    assert any("80 recorded answers have a mean score of 0.75" in note for note in fitted.notes)
    crowd = read_crowd(load_folder(folder), fit=folder / "answers.jsonl")
    [model] = crowd.fitted
    assert model.confusion["kind"] == pytest.approx({"kind": 0.5, "rude": 0.5})
    assert model.confusion["rude"] == pytest.approx({"rude": 1.0})
    (folder / "rehearsal.toml").write_text('[[kind]]\nname = "like it"\nshare = 1\nanswers = "answers.jsonl"\n')
    [kind] = read_crowd(load_folder(folder)).settings.kind
    assert kind.abilities == {"main": (0.75, 0.75)}


def test_recorded_answers_that_nothing_is_known_of_are_refused(folder: Path) -> None:
    write_rows(folder / "answers.jsonl", [{"stage": "main", "item": "other", "output": {"answer": {"tone": "rude"}}}])
    with pytest.raises(UserError, match="no recorded answer is about an item with a known correct answer"):
        forecast(folder, fit=folder / "answers.jsonl")


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
