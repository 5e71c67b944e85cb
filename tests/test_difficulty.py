"""Hard items: simulated people err together on them, as much as real ones did."""

from pathlib import Path
from random import Random
from statistics import fmean, pvariance

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from chorale.cli import app
from chorale.contract import installed_tasks
from chorale.metrics.judgments import Judgments
from chorale.rehearsal import rehearse
from chorale.rehearsal.page import forecast_page
from chorale.rehearsal.simulated import AnswerSheet, WorkerModel, draw_hardness
from chorale.rehearsal.simulated.fitting import fit_spread, fit_workers
from chorale.rehearsal.tables import forecast_notes
from small_study import write_small_study
from test_rehearsal import with_truth

LABELS = ["a", "b", "c"]


def judged(spread: float, *, items: int = 500, people: int = 8) -> list[tuple[int, str, str]]:
    """What people of different ability say about items whose difficulty has this spread."""
    rng = Random(11)
    crowd = [WorkerModel("somebody", accuracy=0.65 + 0.04 * number) for number in range(people)]
    rows = []
    for item in range(items):
        hardness = draw_hardness(spread, rng)
        for number, model in enumerate(crowd):
            rows.append((item, f"w{number}", model.answer(LABELS[item % 3], LABELS, rng, hardness=hardness)))
    return rows


def fitted(rows: list[tuple[int, str, str]]) -> float:
    judgments = Judgments.from_columns(*zip(*rows, strict=True))
    return fit_spread(judgments, fit_workers(judgments, WorkerModel("fitted")))


@given(accuracy=st.floats(0.05, 0.95), spread=st.floats(0, 2.5))
@settings(max_examples=25, deadline=None)
def test_over_all_items_everybody_is_as_good_as_before(accuracy: float, spread: float) -> None:
    rng = Random(3)
    met = [draw_hardness(spread, rng).ability(accuracy) for _ in range(4_000)]
    assert fmean(met) == pytest.approx(accuracy, abs=0.03)
    assert all(0 <= able <= 1 for able in met)


def test_who_never_errs_or_always_does_still_does() -> None:
    hard = draw_hardness(3, Random(1))
    assert (hard.ability(1.0), hard.ability(0.0)) == (1.0, 0.0)
    assert 0 <= hard.ability(1e-300) < hard.ability(1 - 1e-16) <= 1


def test_what_somebody_mistakes_things_for_stays_the_same_on_hard_items() -> None:
    model = WorkerModel("fitted", confusion={"a": {"a": 0.8, "b": 0.15, "c": 0.05}})
    rng = Random(2)
    hard = next(one for one in (draw_hardness(2, rng) for _ in range(100)) if one.ease < -1)
    said = [model.answer("a", LABELS, rng, hardness=hard) for _ in range(20_000)]
    assert said.count("a") / len(said) == pytest.approx(hard.ability(0.8), abs=0.02)
    assert said.count("a") / len(said) < 0.7
    assert said.count("b") / said.count("c") == pytest.approx(3, rel=0.1)


@pytest.mark.parametrize("spread", [0.0, 1.0, 2.0])
def test_how_much_items_differ_is_found_in_what_people_said(spread: float) -> None:
    rows = judged(spread)
    assert fitted(rows) == pytest.approx(spread, abs=0.5 if spread else 0)
    assert fitted(rows[::-1]) == fitted(rows)


def test_where_little_is_known_no_item_is_harder() -> None:
    assert fitted(judged(0.5, items=20, people=3)) == 0
    assert fitted([(1, "w1", "a"), (2, "w1", "a")]) == 0
    sets = Judgments.from_columns([1, 1, 2, 2], ["x", "y"] * 2, ["a|b", "a", "b", "a|b"], sep="|")
    assert fit_spread(sets, fit_workers(sets, WorkerModel("fitted"))) == 0


def test_an_item_is_as_hard_for_everybody_who_gets_it() -> None:
    task = installed_tasks()["rules-meaningful"]
    sheet, again = (AnswerSheet(task, [], "seed", 1.5) for _ in range(2))
    one, other = ({"phrase": phrase} for phrase in ("the ferry carry the cars", "the ferry carry the mail"))
    assert (
        sheet.hardness("1", one) == sheet.hardness("1", one) == again.hardness("1", one) != sheet.hardness("2", other)
    )
    # Items that look the same are as hard, whatever else they have.
    assert sheet.hardness("3", one) == sheet.hardness("1", one)
    met = [sheet.hardness(f"{number}", {"phrase": f"{number} cars"}) for number in range(100, 2_100)]
    assert pvariance([one.ease for one in met if one]) == pytest.approx(1.5**2, rel=0.1)
    assert AnswerSheet(task, [], "seed").hardness("1", one) is None


@pytest.mark.slow
def test_a_crowd_file_and_judgments_say_how_hard_items_are(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_small_study(folder, applications=60)
    with_truth(folder, 60)
    easy = rehearse(folder, seeds=3, workers=9, processes=1)
    assert "err independently" in forecast_page(easy)
    (folder / "rehearsal.toml").write_text("difficulty = 5\n")
    hard = rehearse(folder, seeds=3, workers=9, processes=1)
    assert (easy.difficulty, hard.difficulty) == (0, 5)
    assert hard.as_json()["difficulty"] == 5
    assert "spread of 5" in forecast_page(hard)
    right = [fmean(run.stages[0].accuracy or 0 for run in told.forecasts[0].runs) for told in (easy, hard)]
    assert right[1] < right[0], "who is right nine times in ten is never wrong together, unless items are hard"
    file = tmp_path / "judgments.csv"
    words = {"a": "yes", "b": "no", "c": "no"}
    lines = [f"{task},{worker},{words[label]}" for task, worker, label in judged(2.0)]
    file.write_text("\n".join(["task,worker,label", *lines]) + "\n")
    (folder / "rehearsal.toml").unlink()
    told = rehearse(folder, seeds=1, workers=9, fit=file, processes=1)
    assert told.difficulty >= 1
    assert any("differ in difficulty" in note for note in forecast_notes(told))
    (folder / "rehearsal.toml").write_text("difficulty = 0\n")
    assert rehearse(folder, seeds=1, workers=9, fit=file, processes=1).difficulty == 0
    (folder / "rehearsal.toml").write_text("difficulty = 6\n")
    wrong = CliRunner().invoke(app, ["rehearse", str(folder), "--seeds", "1"])
    assert wrong.exit_code == 2 and "rehearsal.toml:1" in wrong.stderr
