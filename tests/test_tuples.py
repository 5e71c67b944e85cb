"""Balanced tuples for best–worst scaling."""

import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from chorale.cli import app
from chorale.kits.forms.task.best_worst_fields import preferences
from chorale.kits.forms.tuples import balanced_tuples


@given(st.integers(3, 12), st.integers(0, 30), st.integers(1, 6), st.integers(0, 1000))
def test_every_text_occurs_equally_often_and_never_twice_in_a_tuple(
    size: int, more: int, times: int, seed: int
) -> None:
    count = size + more
    made = balanced_tuples(count, size, times, seed)
    assert all(len(set(one)) == len(one) == size for one in made.tuples)
    assert min(made.times) >= times
    assert max(made.times) <= times + 1
    assert sum(made.times) == size * len(made.tuples) < count * times + size


def test_pairs_come_again_less_often_than_by_luck() -> None:
    made = balanced_tuples(40, 4, 4, 1)
    pairs = Counter(frozenset(pair) for one in made.tuples for pair in combinations(one, 2))
    assert made.repeated == sum(number > 1 for number in pairs.values()) < 20
    assert balanced_tuples(40, 4, 4, 1) == made
    assert balanced_tuples(40, 4, 4, 2) != made


def test_the_best_beats_all_and_all_beat_the_worst() -> None:
    pairs = preferences([(list("abcd"), {"best": "b", "worst": "c"})])
    assert sorted(pairs) == [("a", "c"), ("b", "a"), ("b", "c"), ("b", "d"), ("d", "c")]


def write(path: Path, rows: int) -> Path:
    path.write_text("id,text\n" + "".join(f"x{number},Text {number}\n" for number in range(rows)))
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["prepare", "best-worst", *arguments])


def test_the_command_writes_items(tmp_path: Path) -> None:
    texts, out = write(tmp_path / "texts.csv", 10), tmp_path / "items.jsonl"
    result = run(str(texts), "--out", str(out), "--times", "2", "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert (facts["texts"], facts["tuples"], facts["fewest"], facts["most"]) == (10, 5, 2, 2)
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["t1", "t2", "t3", "t4", "t5"]
    assert rows[0]["tuple"][0].keys() == {"id", "text"}
    assert run(str(texts), "--out", str(out)).exit_code != 0, "nothing is overwritten"
    shown = run(str(texts), "--out", str(out), "--force", "--times", "2").stdout
    assert "has 5 tuples of 4 texts. Each of the 10 texts is in 2 tuples." in " ".join(shown.split())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("id,text\na,One\n", "too few for tuples of 4"),
        ("name,text\na,One\n", "`id` is missing or blank"),
        ("id,text\na,One\na,Two\n", "used by an earlier text"),
        ("id,text\na, \n", "`text` is missing or blank"),
    ],
)
def test_what_is_wrong_with_the_texts_is_reported(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "texts.csv").write_text(content)
    result = run(str(tmp_path / "texts.csv"), "--out", str(tmp_path / "items.jsonl"))
    assert result.exit_code != 0
    assert words in " ".join(f"{result.output} {result.exception}".split())
    assert not (tmp_path / "items.jsonl").exists()
