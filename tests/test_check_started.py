"""`chorale check` refuses the changes that the site refuses, and no others."""

import json
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from chorale.cli import app
from chorale.engine.control import set_stage_state
from chorale.engine.opening import open_study
from chorale.model import StageState, UserError
from crowd import Person, do
from random_study import Drawn, write_study

ARMS = '[arms]\nnames = ["left", "right"]\n'
PLAN = '[analysis]\nprimary = { outcome = "gold" }\n'
Change = Callable[[Path], None]


def _replaced(file: str, old: str, new: str) -> Change:
    def change(folder: Path) -> None:
        text = (folder / file).read_text()
        assert old in text
        (folder / file).write_text(text.replace(old, new))

    return change


PLANNED = _replaced("study.toml", 'outcome = "gold"', 'outcome = "retained"')
UNPLANNED = _replaced("study.toml", PLAN, "")
OTHER_ARMS = _replaced("study.toml", ARMS, f"{ARMS}weights = [1, 2]\n")
OTHER_SEED = _replaced("study.toml", "seed = 1", "seed = 2")
OTHER_ITEM = _replaced("write-a.jsonl", '"item 0', '"another 0')
SHORTER_ROUND = _replaced("study.toml", "size = 3", "size = 2")
OTHER_FORM = _replaced("study.toml", '"kind", "rude"', '"kind", "harsh", "rude"')


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    write_study(folder, Drawn(arms=ARMS, gold="share = 0.5\nfloor = 0\nafter = 3\n"))
    file = folder / "study.toml"
    file.write_text(f"{file.read_text()}{PLAN}")
    return folder


def _open(folder: Path, do_something: bool) -> None:
    with closing(open_study(folder)) as study:
        person = Person(study, "somebody")
        if do_something:
            person.next("training")


def _refused_by_both(folder: Path) -> list[str]:
    """The problems for which both refuse the folder; empty if neither does."""
    checked = CliRunner().invoke(app, ["check", str(folder)])
    as_json = json.loads(CliRunner().invoke(app, ["check", str(folder), "--json"]).stdout)
    try:
        open_study(folder).close()
    except UserError as refused:
        problems = [problem.message for problem in refused.problems]
        assert [problem["message"] for problem in as_json["problems"]] == problems
        assert checked.exit_code == 2, checked.output
        assert "`chorale serve` will not open it" in checked.output
        return problems
    assert checked.exit_code == 0, checked.output
    assert as_json["ok"] is True
    return []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (PLANNED, "`analysis.primary.outcome` may change only until somebody is in an arm"),
        (UNPLANNED, "`analysis` may change only until somebody is in an arm"),
        (OTHER_ARMS, "`arms.weights` may change only until somebody is in an arm"),
        (OTHER_SEED, "the seed can't change once the study has started"),
        (OTHER_ITEM, "item 'i0' has changed since the study started"),
        (SHORTER_ROUND, "the round 'training' had 3 items for everybody when it started"),
        (OTHER_FORM, "the possible answers of stage 'training' would change after the stage has started"),
    ],
)
def test_check_refuses_what_the_site_refuses(folder: Path, change: Change, problem: str) -> None:
    _open(folder, do_something=True)
    assert _refused_by_both(folder) == []
    change(folder)
    assert problem in _refused_by_both(folder)


def test_an_analysis_is_fixed_once_somebody_is_in_an_arm_even_if_nobody_has_seen_an_item(folder: Path) -> None:
    _open(folder, do_something=False)
    OTHER_ITEM(folder)
    OTHER_SEED(folder)
    assert _refused_by_both(folder) == []
    PLANNED(folder)
    assert _refused_by_both(folder) == ["`analysis.primary.outcome` may change only until somebody is in an arm"]


def test_everything_may_change_before_anybody_joins(folder: Path) -> None:
    open_study(folder).close()
    for change in (PLANNED, OTHER_ARMS, OTHER_SEED, OTHER_ITEM, SHORTER_ROUND, OTHER_FORM):
        change(folder)
        assert _refused_by_both(folder) == []


def test_a_paused_stage_is_kept(folder: Path) -> None:
    with closing(open_study(folder)) as study:
        do(study, set_stage_state, study.stage("write-a"), StageState.PAUSED, "the owner", "")
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text.replace('"write-a"', '"written-a"'))
    assert _refused_by_both(folder) == ["stage 'write-a' is missing, but work was done in it or it was paused"]


def test_verify_names_what_check_compares(folder: Path, tmp_path: Path) -> None:
    """A database of another study can agree with itself."""
    other = tmp_path / "other"
    write_study(other, Drawn(arms="", gold="share = 0.5\nfloor = 0\nafter = 3\n"))
    OTHER_SEED(other)
    _open(other, do_something=True)
    shutil.copy(other / "study.db", folder / "study.db")
    verified = CliRunner().invoke(app, ["verify", str(folder)])
    assert "Not checked: whether the database belongs to this folder: `chorale check` compares" in verified.stdout
    assert _refused_by_both(folder)
