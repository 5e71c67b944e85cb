"""γ of spans, against pygamma-agreement 0.5.9: data made here, its figures computed once with 2,000 samples."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import chorale
from chorale.cli import app
from chorale.metrics.agreement import gamma
from chorale.metrics.agreement.aligning import least_cost
from chorale.metrics.judgments import NOTHING, Judgments

TWO = [
    "2:5:A 6:8:C 6:10:A 10:11:C 28:32:A",
    "4:5:A 7:9:B 7:10:A 10:11:C 28:33:A",
]
THREE = [
    "13:17:B 18:19:C 26:27:A 37:38:C 43:46:B 51:54:A 68:71:C 73:76:B",
    "13:16:B 25:26:C 35:38:C 45:46:B 52:54:A 57:59:B 68:70:C 75:76:A",
    "16:19:A 25:27:C 26:27:B 57:59:B 68:71:A 75:76:B",
]
FIVE = [
    "0:4:C 28:29:C 28:34:C 31:32:C",
    "0:3:A 27:29:C 28:34:B",
    "0:3:A 28:29:C 30:35:C 32:33:C",
    "0:3:A 29:30:C 30:33:C",
    "0:4:A 29:30:C 29:34:C 32:33:C",
]


def judged(*texts: list[str]) -> Judgments:
    rows = [(str(text), str(who), each.split()) for text, marked in enumerate(texts) for who, each in enumerate(marked)]
    labels = [spans or [NOTHING] for _, _, spans in rows]
    return Judgments.from_columns([row[0] for row in rows], [row[1] for row in rows], labels)


@pytest.mark.parametrize(
    ("marked", "observed", "expected", "error"),
    [
        (TWO, 0.30655077, 1.56419, 0.0061),
        (THREE, 1.06825089, 2.12990, 0.0045),
        (FIVE, 0.66381061, 2.95330, 0.0088),
    ],
)
def test_gamma_is_that_of_pygamma(marked: list[str], observed: float, expected: float, error: float) -> None:
    result = gamma(judged(marked))
    assert result.item_disagreement is not None and result.value is not None
    assert result.item_disagreement[0] == pytest.approx(observed, abs=1e-6)
    # Both are means of random samples: ours within 2%, its own within its standard error.
    assert observed / (1 - result.value) == pytest.approx(expected, rel=0.03, abs=3 * error)


# The disorder of the best alignment is not sampled, so it must be the same. The peer computes with 32 bits.
DISORDERS = [
    (["11:14:B 12:16:C 24:27:B 32:36:B 35:37:C", "9:14:B 11:17:C 11:19:C 26:27:C 34:39:B"], 0.73222840),
    (
        [
            "0:4:B 2:6:B 6:10:B 22:26:B 26:27:C 30:33:C 42:44:B 44:48:A 55:61:C",
            "1:3:C 6:11:A 20:28:B 27:33:C 44:48:C 53:58:C 54:62:A",
        ],
        0.94403636,
    ),
    (
        ["12:15:C 28:32:A 31:34:C 31:35:A 42:53:C 46:51:A 50:52:A 58:63:A", "31:34:C 31:35:A 42:50:C 51:53:A 53:57:C"],
        0.81152785,
    ),
    (["25:32:C 33:40:C 37:44:B 41:49:C 60:63:A", "27:30:C 31:39:C 37:42:A 37:43:C 40:47:C 60:63:C"], 0.59016681),
    (
        [
            "0:1:B 12:18:A 16:21:B 16:22:B 27:30:A 46:51:B 49:52:A",
            "2:3:A 11:20:A 16:20:B 16:22:A 17:21:A 18:21:B 28:29:A 55:56:B",
        ],
        0.98566663,
    ),
    (
        ["3:13:A 13:21:A 37:39:B 56:61:B 59:62:B", "6:10:B 9:19:A 11:13:A 39:40:B 41:46:A 47:54:B 55:58:B 59:62:B"],
        0.73931623,
    ),
    (
        [
            "23:32:A 26:30:A 32:37:A 33:42:A 49:53:A 58:60:A",
            "23:33:A 35:41:A 48:49:A 48:51:A 52:58:A",
            "21:26:A 26:35:A 35:43:A 50:51:A 54:59:A 59:60:A",
        ],
        0.81165296,
    ),
    (
        [
            "8:11:A 24:29:A 30:40:A 35:41:A 44:48:A",
            "9:12:A 24:29:A 30:40:A 41:48:A",
            "5:7:A 5:8:A 13:14:A 22:27:A 22:28:A 32:40:A 41:47:A",
        ],
        0.82789314,
    ),
    (
        [
            "17:20:A 17:23:A 40:44:A 58:63:A",
            "15:18:A 15:19:A 17:18:A 20:23:A 39:46:A 40:41:A",
            "13:22:A 16:20:A 19:24:A 23:28:A 39:44:A",
        ],
        0.89528620,
    ),
    (
        [
            "8:14:B 25:27:B 54:57:B 58:61:B",
            "0:7:A 18:19:B 23:28:B 51:53:A 55:58:B 56:59:A",
            "3:8:A 18:20:B 25:26:B 53:57:A 56:57:A",
        ],
        1.08248377,
    ),
]


@pytest.mark.parametrize(("marked", "observed"), DISORDERS)
def test_the_best_alignment_costs_what_pygamma_finds(marked: list[str], observed: float) -> None:
    disagreement = gamma(judged(marked)).item_disagreement
    assert disagreement is not None
    assert disagreement[0] == pytest.approx(observed, abs=1e-6)


def test_who_marks_nothing_disagrees_with_who_does() -> None:
    spans = np.array([[0.0, 2.0, 0.0], [9.0, 12.0, 1.0]])
    assert least_cost([spans, spans, np.empty((0, 3))]) == pytest.approx(2 * 2 / 3)
    assert least_cost([spans, np.empty((0, 3))]) == 2
    alone = gamma(judged(TWO, ["", "3:4:A"], ["", ""]))
    assert alone.item_disagreement is not None
    assert alone.item_disagreement.tolist()[1:] == [2.0, 0.0]
    assert gamma(judged(["", ""])).undefined == "nobody marked a span"
    assert gamma(judged(["1:2"], ["3:4"])).undefined == "no item has two judgments"
    same = gamma(judged(["0:3"] * 4, ["0:3"] * 4))
    assert (same.value, str(same.undefined)[:29]) == (None, "random spans have no disorder")
    assert gamma(judged(["3:9"] * 4, ["3:9"] * 4)).value == 1


def test_gamma_is_1_for_the_same_spans_and_about_0_for_random_ones() -> None:
    assert gamma(judged([TWO[0]] * 3, [TWO[1]] * 3)).value == 1
    rng = np.random.default_rng(4)

    def at_random() -> str:
        ends = np.cumsum(rng.integers(1, 9, 12))
        return " ".join(f"{ends[2 * n]}:{ends[2 * n + 1]}:{'AB'[rng.integers(2)]}" for n in range(6))

    value = gamma(judged(*([at_random(), at_random()] for _ in range(60)))).value
    assert value is not None and abs(value) < 0.1


def test_the_best_alignment_is_the_best_of_all() -> None:
    # Of seeds 25 and 230, half of one group and half of another would cost less than any alignment.
    for seed in (25, 230, *range(10)):
        rng = np.random.default_rng(seed)
        people = [np.column_stack([starts := rng.uniform(0, 3, 2), starts + 2, rng.integers(0, 3, 2)]) for _ in "abc"]
        assert least_cost(people) == pytest.approx(_by_hand(people))


def _by_hand(people: list[Any]) -> float:
    """The least cost over all alignments, one group after the other."""
    first = next((place for place, spans in enumerate(people) if len(spans)), None)
    if first is None:
        return 0.0
    best = np.inf
    others = [range(-1, len(spans)) if place > first else range(-1, 0) for place, spans in enumerate(people)]
    for chosen in np.stack(np.meshgrid(*others), -1).reshape(-1, len(people)):
        group = [spans[at] if at >= 0 else None for spans, at in zip(people, chosen, strict=True)]
        group[first] = people[first][0]
        left = [np.delete(spans, at, 0) if at >= 0 else spans for spans, at in zip(people, chosen, strict=True)]
        left[first] = people[first][1:]
        best = min(best, _cost(group) + _by_hand(left))
    return float(best)


def _cost(group: list[Any]) -> float:
    costs = []
    for place, one in enumerate(group):
        for other in group[:place]:
            if one is None or other is None:
                costs.append(1.0)
            else:
                apart = (abs(one[0] - other[0]) + abs(one[1] - other[1])) / (one[1] - one[0] + other[1] - other[0])
                costs.append(apart**2 + float(one[2] != other[2]))
    return float(np.mean(costs))


def exported() -> list[dict[str, Any]]:
    """Rows as the export `form-answers` has them."""
    rows = []
    for text, marked in enumerate([TWO, FIVE[:2], ["", "1:3:B"]]):
        for who, spans in enumerate(marked):
            cut = [one.split(":") for one in spans.split()]
            cells = [{"start": int(one[0]), "end": int(one[1]), "label": one[2], "text": "…"} for one in cut]
            rows.append({"item": f"t{text}", "worker": f"w{who}", "trust": 1.0, "evidence": cells})
    return rows


def ran(*arguments: object, code: int = 0) -> Any:
    done = CliRunner().invoke(app, ["agreement", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done


def test_exports_with_spans_give_one_gamma_in_every_format(tmp_path: Path) -> None:
    rows = exported()
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pl.DataFrame(rows).write_parquet(tmp_path / "a.parquet")
    cells = [row | {"evidence": json.dumps(row["evidence"])} for row in rows]
    pl.DataFrame(cells).write_csv(tmp_path / "a.csv")
    columns = ["--metric", "gamma", "--task", "item", "--label", "evidence", "--json", "--ci", "--items"]
    found = [json.loads(ran(tmp_path / f"a.{kind}", *columns).stdout) for kind in ("jsonl", "parquet")]
    found.append(json.loads(ran(tmp_path / "a.csv", *columns, "--sep", "json").stdout))
    score = chorale.gamma(rows, task="item", label="evidence", ci=False)
    assert len({one["value"] for one in found} | {score.value}) == 1
    assert found[0]["n_judgments"] == 6
    assert {one["item"]: one["disagreement"] for one in found[0]["items"]}["t2"] == 2.0
    assert found[0]["ci"] == [None, None] or found[0]["ci"] is None or found[0]["ci"][0] <= found[0]["value"]
    assert "seed:1" in found[0]["signature"]


def test_gamma_of_two_files_is_compared_text_by_text(tmp_path: Path) -> None:
    for name, texts in (("a", [TWO] * 20), ("b", [[TWO[0], "40:41:B"]] * 20)):
        lines = [f"t{n},w{who},{each}" for n, marked in enumerate(texts) for who, each in enumerate(marked)]
        (tmp_path / f"{name}.csv").write_text("task,worker,label\n" + "\n".join(lines) + "\n")
    options = ["--metric", "gamma", "--sep", " ", "--json", "--against", tmp_path / "b.csv"]
    found = json.loads(ran(tmp_path / "a.csv", *options).stdout)
    alone = json.loads(ran(tmp_path / "b.csv", *options[:-2]).stdout)
    assert found["against"]["value"] == pytest.approx(found["value"])
    assert found["against"]["other"] == pytest.approx(alone["value"])
    assert found["against"]["p_randomisation"] < 0.01


def test_what_is_no_span_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("task,worker,label\nt,a,1:3\nt,b,3\n")
    done = ran(tmp_path / "a.csv", "--metric", "gamma", code=2)
    assert "a label is not a span" in " ".join(done.stderr.split()) and "a.csv:3:" in "".join(done.stderr.split())
    crowd = [" ".join(f"{n}:{n + 9}" for n in range(60))] * 5
    with pytest.raises(ValueError, match="too many overlapping spans by 5 people"):
        gamma(judged(crowd))


@pytest.mark.parametrize("command", ["agreement", "aggregate"])
def test_rankings_are_not_read_as_sets(tmp_path: Path, command: str) -> None:
    """As sets, all rankings of the same options would be equal, which looked like perfect agreement."""
    cells = ['"[""x"",""y"",""z""]"', '"[""y"",""x"",""z""]"', "", '"[""x"",""y"",""z""]"']
    rows = [f"t{number % 2},w{number},{cell}" for number, cell in enumerate(cells)]
    (tmp_path / "ranks.csv").write_text("task,worker,label\n" + "\n".join(rows) + "\n")
    refused = CliRunner().invoke(app, [command, str(tmp_path / "ranks.csv"), "--sep", "json"])
    assert refused.exit_code == 2
    assert "differ only in their order" in refused.stderr


@pytest.mark.parametrize("form", ["{}", "[{}]"])
def test_objects_are_compared_as_text_only_if_asked(tmp_path: Path, form: str) -> None:
    box = '{""label"": ""tree"", ""x"": %s}'
    rows = [f'{task},{worker},"{form.replace("{}", box % x)}"' for task, worker, x in _BOXES]
    (tmp_path / "boxes.csv").write_text("task,worker,label\n" + "\n".join(rows) + "\n")
    refused = CliRunner().invoke(app, ["agreement", str(tmp_path / "boxes.csv")])
    assert refused.exit_code == 2
    assert "are JSON objects" in refused.stderr
    assert "--free-text" in refused.stderr
    compared = CliRunner().invoke(app, ["agreement", str(tmp_path / "boxes.csv"), "--free-text"])
    assert compared.exit_code == 0, compared.stderr
    assert "Labels look like JSON objects but are compared as text" in compared.stderr
    for result in (refused, compared):
        assert "--sep json" not in result.stderr, "lists of objects are refused with it"


_BOXES = [("a", "u", 0.1), ("a", "v", 0.2), ("b", "u", 0.3), ("b", "v", 0.3)]
