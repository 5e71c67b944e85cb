"""`import chorale` as a library: agreement from any kind of data, and how it fails."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

import chorale
from chorale import UserError
from chorale.metrics.judgments import Judgments

NAN = float("nan")
MATRIX = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
ARRAY = np.array([[NAN if cell is None else cell for cell in row] for row in MATRIX])
TRIPLES = [
    (f"item {item}", f"rater {rater}", label)
    for rater, row in enumerate(MATRIX)
    for item, label in enumerate(row)
    if label is not None
]
COLUMNS = {name: [triple[place] for triple in TRIPLES] for place, name in enumerate(("task", "worker", "label"))}
KINDS: dict[str, Any] = {
    "triples": TRIPLES,
    "dict of columns": COLUMNS,
    "rows": [dict(zip(COLUMNS, triple, strict=True)) for triple in TRIPLES],
    "pandas": pd.DataFrame(COLUMNS),
    "polars": pl.DataFrame(COLUMNS),
    "lazy polars": pl.DataFrame(COLUMNS).lazy(),
    "arrow": pl.DataFrame(COLUMNS).to_arrow(),
    "matrix": MATRIX,
    "array": ARRAY,
    "masked array": np.ma.masked_invalid(ARRAY),
    "objects": np.array(MATRIX, dtype=object),
}


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("kind", KINDS)
def test_alpha_is_krippendorffs_whatever_the_data_is(kind: str, level: Any) -> None:
    expected = krippendorff.alpha(ARRAY, level_of_measurement=level)
    assert chorale.alpha(KINDS[kind], level=level, ci=False).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("as_path", [str, Path])
def test_files_are_named_by_text_or_path_and_score_like_the_command(tmp_path: Path, as_path: Any) -> None:
    table = pl.DataFrame(COLUMNS)
    several = [table.with_columns(pl.format(f"{copy}-{{}}", "task").alias("task")) for copy in range(5)]
    pl.concat(several).write_csv(tmp_path / "judgments.csv")
    score = chorale.alpha(as_path(tmp_path / "judgments.csv"), level="ordinal")
    command = [sys.executable, "-m", "chorale", "agreement", str(tmp_path / "judgments.csv"), "--level", "ordinal"]
    printed = subprocess.run([*command, "--ci"], capture_output=True, text=True, check=True).stdout
    assert score.signature in printed
    assert score.interval is not None
    assert f"{score.interval.low:.4f} to {score.interval.high:.4f}" in printed


def test_raters_may_be_columns() -> None:
    assert chorale.alpha(ARRAY.T, raters="columns", ci=False).value == chorale.alpha(ARRAY, ci=False).value


def test_kappa_is_sklearns() -> None:
    first, second = ["a", "b", "b", "c", "a", "c", "b"] * 6, ["a", "b", "c", "c", "b", "c", "b"] * 6
    for weights in ("none", "linear", "quadratic"):
        expected = cohen_kappa_score(first, second, weights=None if weights == "none" else weights)
        order = None if weights == "none" else ["a", "b", "c"]
        found = chorale.kappa([first, second], weights=weights, order=order)
        assert found.value == pytest.approx(expected)
        assert found.interval is not None
        assert found.interval.low <= expected <= found.interval.high


def test_every_coefficient_has_value_interval_and_signature() -> None:
    for coefficient in (chorale.alpha, chorale.kappa, chorale.fleiss, chorale.pi, chorale.percent):
        score = coefficient(ARRAY, resamples=200, seed=7)
        assert score.value is not None
        assert score.interval is not None
        assert score.interval.low < score.value < score.interval.high
        assert score.signature.startswith(f"{score.name}|")
        assert "resamples:200|seed:7|data:" in score.signature
        assert repr(score).startswith(f"<Score: {score.name} {score.value:.4f} (")


def test_a_score_is_a_table() -> None:
    score = chorale.alpha(ARRAY, against=ARRAY[:, ::-1], pairs=True, items=True, resamples=100)
    polars, pandas = score.to_polars(), score.to_pandas()
    assert polars.columns == list(pandas.columns)
    assert polars.columns[:5] == ["score", "value", "low", "high", "other"]
    assert polars.row(0) == tuple(pandas.iloc[0])
    assert score.test is not None
    assert {"pairs", "items", "against", "signature", "notes"} <= score.as_json().keys()


def test_a_number_that_is_undefined_is_none_and_says_why() -> None:
    score = chorale.alpha([["x", "x"], ["x", "x"]])
    assert (score.value, score.interval) == (None, None)
    assert "alpha is undefined: everybody always gave the label 'x'." in score.notes
    assert repr(score) == "<Score: alpha undefined, 1 note>"
    assert score.to_polars()["value"].to_list() == [None]
    assert score.to_pandas()["value"].isna().all()


def test_nothing_from_the_data_is_markup_in_a_notebook() -> None:
    hostile = "<script>alert(1)</script>"
    data = [(hostile, "ann", hostile), (hostile, "<b>bob", "no"), ("b", "ann", "no"), ("b", "<b>bob", "no")]
    shown = chorale.alpha(data, items=True, pairs=True)._repr_html_()
    assert "<script" not in shown
    assert "<b>" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "alpha|level:nominal" in shown


def test_gaps_are_left_out_and_noted() -> None:
    table = pd.DataFrame({"task": [1, 1, 2, 2], "worker": list("abab"), "label": ["x", "x", None, "y"]})
    assert "1 row left out: it has no label." in chorale.alpha(table).notes
    assert chorale.percent(table, empty="nothing", ci=False).value == 0.5


def test_columns_may_have_other_names_and_labels_may_be_sets() -> None:
    table = pl.DataFrame({"unit": ["1", "1", "2", "2"], "who": list("abab"), "said": ["x;y", "y;x", "x", "y"]})
    score = chorale.alpha(table, task="unit", worker="who", label="said", sep=";", distance="jaccard", ci=False)
    assert score.value == pytest.approx(0.0)  # 0.5 within items, 0.5 among all
    by_size = chorale.alpha(
        table, task="unit", worker="who", label="said", sep=";", ci=False, distance=lambda a, b: float(len(a ^ b))
    )
    assert by_size.value is not None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pd.DataFrame({"item": [1], "worker": ["a"], "label": ["x"]}), 'no column named "task" (found: item, worker'),
        (pl.DataFrame({"task": [], "worker": [], "label": []}), "no judgment has a label"),
        ([], "it is empty"),
        ([[None, NAN]], "no judgment has a label"),
        ([[1, 2], [1]], "row 2 has 1 values, but row 1 has 2"),
        ([("a", "b")], "unknown types"),
        (np.zeros(3), "An array of 1 dimensions"),
        (3, "type int cannot contain judgments"),
        ("no-such-file.csv", "does not exist"),
        ({"task": [1, 2], "worker": ["a"], "label": ["x"]}, "the same length"),
        ({"task": [None], "worker": ["a"], "label": ["x"]}, "no task"),
    ],
)
def test_data_that_is_no_judgments_is_an_error_that_says_so(data: Any, message: str) -> None:
    with pytest.raises(UserError) as failure:
        chorale.alpha(data)
    assert message in str(failure.value)


def test_arguments_that_mean_nothing_are_refused() -> None:
    with pytest.raises(UserError, match="Did you mean ordinal"):
        chorale.alpha(ARRAY, level="ordnal")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="cannot be combined"):
        chorale.alpha(ARRAY, level="ordinal", distance="masi")
    with pytest.raises(UserError, match="resamples must be at least 100"):
        chorale.alpha(ARRAY, resamples=1)
    with pytest.raises(TypeError, match="Did you mean task"):
        chorale.alpha(ARRAY, tas="x")  # type: ignore[call-arg]
    with pytest.raises(UserError, match="numbers are required"):
        chorale.alpha([["a", "b"], ["a", "c"]], level="interval")


ROWS = [("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t2", "ann", "dog"), ("t2", "bob", "cat")]


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (
            ROWS,
            {"task": "zz"},
            "task has no effect on a list of tuples: accepted options are sep, empty, missing, repeats.",
        ),
        (ROWS, {"raters": "rows"}, "raters has no effect on a list of tuples"),
        (
            ARRAY,
            {"label": "said"},
            "label has no effect on a matrix: accepted options are sep, empty, missing, repeats, raters.",
        ),
        ([{"task": 1, "worker": 1, "label": 1}], {"keep_rejected": True}, "keep_rejected has no effect on a table"),
        ("file", {"raters": "columns"}, "raters has no effect on a file"),
        (Judgments.from_columns(*zip(*ROWS, strict=True)), {"sep": ";"}, "sep has no effect on judgments read before"),
    ],
)
def test_keywords_without_an_effect_are_refused(
    data: Any, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    if isinstance(data, str):
        data = tmp_path / "judgments.csv"
        data.write_text("task,worker,label\n" + "".join(f"{','.join(row)}\n" for row in ROWS))
    for scored in (chorale.alpha, chorale.aggregate.score):
        with pytest.raises(UserError) as failure:
            scored(data, **options)
        assert message in str(failure.value)


def test_a_keyword_for_one_of_two_is_accepted(tmp_path: Path) -> None:
    file = tmp_path / "judgments.csv"
    file.write_text("unit,worker,label\n" + "".join(f"{','.join(row)}\n" for row in ROWS))
    assert chorale.alpha(file, task="unit", against=ROWS, ci=False, resamples=100).test is not None


def test_errors_name_keywords_in_python_and_options_at_the_command(tmp_path: Path) -> None:
    file = tmp_path / "judgments.csv"
    file.write_text("item,worker,label\na,b,c\n")
    with pytest.raises(UserError) as failure:
        chorale.alpha(file)
    assert "Name the column of tasks with `task`. Did you mean `task='item'`?" in str(failure.value)
    with pytest.raises(UserError, match="`options`, or correct"):
        chorale.aggregate.score(ROWS, options=["bird", "cat"])
    with pytest.raises(UserError, match=r"`restarts` only applies to mace. Omit it, or use another `method`."):
        chorale.aggregate.score(ROWS, restarts=2)
    with pytest.raises(UserError, match=r"`truth_task`. Did you mean `truth_task='item'`"):
        chorale.aggregate.score(ROWS, truth=file)
    command = [sys.executable, "-m", "chorale", "agreement", str(file)]
    printed = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    assert "Did you mean --task 'item'?" in " ".join(printed.split())


def test_importing_takes_nothing_along_and_shows_what_there_is() -> None:
    program = (
        "import sys, chorale; heavy = {'numpy', 'polars', 'pandas', 'rich', 'click', 'sqlalchemy'}; "
        "print(sorted(heavy & sys.modules.keys()), *(name for name in dir(chorale) if name[0] != '_'))"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["[]", *(name for name in chorale.__all__ if name[0] != "_")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"repeats": "firs"}, "repeats must be one of .*first.*Did you mean first"),
        ({"raters": "cols"}, "raters must be one of rows, columns"),
        ({"ci": "yes"}, "ci must be True or False"),
        ({"seed": "x"}, "seed must be a number"),
        ({"resamples": "many"}, "resamples must be a number"),
    ],
)
def test_misspelt_options_are_refused_rather_than_signed(options: dict[str, Any], message: str) -> None:
    rows = [("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t2", "ann", "dog"), ("t2", "bob", "cat")]
    with pytest.raises(chorale.UserError, match=message):
        chorale.alpha(rows, **options)
    with pytest.raises(chorale.UserError, match=message):
        chorale.aggregate.score(rows, "majority", **options)


def test_lists_of_three_texts_are_not_taken_for_a_matrix_in_silence() -> None:
    rows = [["t1", "ann", "cat"], ["t1", "bob", "cat"], ["t2", "ann", "dog"], ["t2", "bob", "cat"]]
    with pytest.raises(chorale.UserError, match="Use tuples for rows"):
        chorale.alpha(rows)
    as_rows = chorale.alpha(list(map(tuple, rows)), ci=False)
    as_matrix = chorale.alpha(rows, raters="rows", ci=False)
    assert as_rows.value != as_matrix.value
