"""`chorale evaluate qasrl --corrections` and `--shared-verbs`."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import chorale
from chorale.cli import app
from qasrl_files import row, where, write_rows


def run(*arguments: object, code: int = 0) -> Any:
    done = CliRunner().invoke(app, ["evaluate", "qasrl", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done


def run_json(*arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*arguments, "--json").stdout)
    return found


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """One argument found with another question, one missed, one wrong; and a verb that each has alone."""
    when = {"question": "When did someone sit?", "wh": "when", "subj": "someone", "aux": "did"}
    other = {"qasrl_id": "s2", "verb_idx": "1", "verb": "ran", "answer_range": "0:1"}
    gold = [row(), where(), row(**when, answer_range="7:12"), row(**other)]
    pred = [row(question="What sat?", wh="what"), where(answer_range="5:7"), row(**when, answer_range="12:13")]
    return write_rows(tmp_path / "pred.csv", pred), write_rows(tmp_path / "gold.csv", gold)


@pytest.fixture
def table(pair: tuple[Path, Path], tmp_path: Path) -> Path:
    run(*pair, "--alignment", tmp_path / "alignment.csv")
    return tmp_path / "alignment.csv"


def corrected(table: Path, **changes: dict[str, str]) -> Path:
    """The table with cells of rows changed; rows are named by their ranges, r0_2 for 0:2."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for each in rows:
        places = (each["gold_range"], each["system_range"])
        for name, cells in changes.items():
            if name[1:].replace("_", ":") in places:
                each.update(cells)
    return write_rows(table.with_name("corrected.csv"), rows)


def counted(found: dict[str, Any]) -> dict[str, tuple[int, int, int]]:
    return {name: (found[name]["tp"], found[name]["fp"], found[name]["fn"]) for name in ("ua", "la")}


def test_a_table_nobody_corrected_changes_nothing(pair: tuple[Path, Path], table: Path) -> None:
    found = run_json(*pair, "--corrections", table)
    assert found["corrected"]["changed"] == 0
    assert counted(found["corrected"]) == counted(found) == {"ua": (2, 1, 2), "la": (1, 2, 3)}


def test_corrections_change_what_counts(pair: tuple[Path, Path], table: Path) -> None:
    same_role = corrected(table, r0_2={"same_role": "True"})
    found = run_json(*pair, "--corrections", same_role, "--ci")
    assert counted(found["corrected"]) == {"ua": (2, 1, 2), "la": (2, 1, 2)}
    assert found["corrected"]["changed"] == 1
    assert found["corrected"]["ua"]["ci"].keys() == {"precision", "recall", "f1"}
    assert "|corrections:" in found["signature"]
    # “.” is no answer, but let the inspector hold it for the argument that was missed: both rows say so.
    moved = corrected(table, r12_13={"status": "matched", "same_role": "True"}, r7_12={"status": "redundant"})
    assert counted(run_json(*pair, "--corrections", moved)["corrected"]) == {"ua": (3, 0, 1), "la": (2, 1, 2)}
    apart = corrected(table, r0_2={"status": "unmatched"})
    assert counted(run_json(*pair, "--corrections", apart)["corrected"]) == {"ua": (1, 2, 3), "la": (1, 2, 3)}
    score = chorale.evaluate.qasrl(*pair, corrections=same_role, ci=False)
    assert "Corrected by hand in corrected.csv" in [each.title for each in score.tables]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"r0_2": {"status": "right"}}, "unknown status (found 'right')"),
        ({"r12_13": {"status": "matched"}}, "same_role is neither True nor False"),
        ({"r12_13": {"status": "unmatched"}}, "only a matched argument can become unmatched"),
        ({"r0_2": {"extra_questions": "some"}}, "extra_questions is not a whole number"),
        ({"r0_2": {"gold_range": "0:3"}}, "is not in the alignment of these files"),
    ],
)
def test_what_can_not_be_read_back_is_named(
    pair: tuple[Path, Path], table: Path, changes: dict[str, dict[str, str]], message: str
) -> None:
    done = run(*pair, "--corrections", corrected(table, **changes), code=2)
    assert message in " ".join(done.stderr.split())
    rows = table.read_text().splitlines(keepends=True)
    table.write_text("".join(rows[:-1]))
    assert "is missing 1 argument of the alignment" in " ".join(
        run(*pair, "--corrections", table, code=2).stderr.split()
    )


def test_shared_verbs_are_those_that_all_files_have(pair: tuple[Path, Path], tmp_path: Path) -> None:
    assert run_json(*pair)["ua"]["fn"] == 2
    found = run_json(*pair, "--shared-verbs")
    assert found["ua"]["fn"] == 1 and found["verbs"]["scored"] == 1
    assert "gold.csv: 1 verb was left out: not in all files (--shared-verbs)." in found["notes"]
    assert "verbs:shared" in found["signature"]
    third = write_rows(tmp_path / "third.csv", [row(), row(qasrl_id="s3", verb_idx="1", verb="ran")])
    against = run_json(*pair, "--shared-verbs", "--against", third)["against"]["scores"]["ua_recall"]
    assert against["value"] == pytest.approx(2 / 3) and against["other"] == pytest.approx(1 / 3)
    assert "cannot be combined" in run(*pair, "--shared-verbs", "--include-extra-verbs", code=2).stderr
