"""Reading judgments: every format, every shape of bad input, and the same result by the fast way and the slow."""

import gzip
import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from chorale.cli.program import app
from chorale.files.batch_files import BatchOptions, read_batch
from chorale.files.source import MOST_PROBLEMS
from chorale.metrics.judgments import Judgments, set_name
from chorale.metrics.ordering import order_of
from chorale.metrics.reading import judgment_files
from chorale.metrics.reading.judgment_files import read_judgments
from chorale.metrics.reading.truth_files import read_options, read_truth
from chorale.model import UserError

ROWS = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "no"), ("t2", "bob", "no"), ("t10", "ann", "yes")]
Triples = list[tuple[str, str, str]]
ANYWHERE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)


def triples(judgments: Judgments) -> Triples:
    """What was said, in the order of the names."""
    return sorted(
        (judgments.task_names[task], judgments.worker_names[worker], judgments.label_names[label])
        for task, worker, label in zip(judgments.tasks, judgments.workers, judgments.labels, strict=True)
    )


def csv_of(rows: Triples, header: str = "task,worker,label", sep: str = ",") -> str:
    return "\n".join([header, *(sep.join(row) for row in rows)]) + "\n"


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def problems_of(path: Path, **options: Any) -> str:
    with pytest.raises(UserError) as caught:
        read_judgments(path, **options)
    return str(caught.value)


# Formats


def test_every_format_gives_the_same_judgments(tmp_path: Path) -> None:
    frame = pl.DataFrame(ROWS, schema=["task", "worker", "label"], orient="row")
    frame.write_parquet(tmp_path / "a.parquet")
    objects = "".join(json.dumps(row) + "\n" for row in frame.iter_rows(named=True))
    paths = [
        written(tmp_path / "a.csv", csv_of(ROWS)),
        written(tmp_path / "bom.csv", b"\xef\xbb\xbf" + csv_of(ROWS).encode()),
        written(tmp_path / "windows.csv", csv_of(ROWS).replace("\n", "\r\n")),
        written(tmp_path / "quoted.csv", csv_of(ROWS).replace("yes", '"yes"')),
        written(tmp_path / "blank.csv", csv_of(ROWS) + "\n\n"),
        written(tmp_path / "between.csv", csv_of(ROWS).replace("\nt2", "\n\nt2")),
        written(tmp_path / "a.tsv", csv_of(ROWS, "task\tworker\tlabel", "\t")),
        written(tmp_path / "a.jsonl", objects),
        written(tmp_path / "bom.jsonl", b"\xef\xbb\xbf" + objects.encode()),
        written(tmp_path / "a.csv.gz", gzip.compress(csv_of(ROWS).encode())),
        written(tmp_path / "a.jsonl.gz", gzip.compress(objects.encode())),
        tmp_path / "a.parquet",
    ]
    for path in paths:
        judgments, digest = read_judgments(path)
        assert triples(judgments) == sorted(ROWS), path.name
        assert judgments.notes == ()
        assert len(digest) == 8


def test_columns_are_chosen_by_name(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", csv_of(ROWS, "unit,who,said"))
    assert triples(read_judgments(path, task="unit", worker="who", label="said").judgments) == sorted(ROWS)


def test_a_wrong_column_name_says_which_there_are_and_which_was_meant(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", csv_of(ROWS))
    told = problems_of(path, label="lable", worker="wroker")
    assert "a.csv:1: has no column 'lable'" in told
    assert "'task', 'worker', 'label'" in told
    assert "Did you mean --label 'label'?" in told
    assert "Did you mean --worker 'worker'?" in told


MTURK = """HITId,WorkerId,AssignmentStatus,Answer.Q1,Answer.Q2,Approve
h1,w1,Approved,cat|dog,{},
h1,w2,Rejected,cat,{},
h1,w3,Submitted,dog,{},
h2,w1,Approved,{},{},
"""


def test_a_batch_of_mechanical_turk_leaves_rejected_work_out(tmp_path: Path) -> None:
    path = written(tmp_path / "batch.csv", MTURK)
    judgments = read_judgments(path, label="Q1", sep="|").judgments
    assert triples(judgments) == [("h1", "w1", "cat|dog"), ("h1", "w3", "dog")]
    assert judgments.notes == (
        "1 judgment left out: AssignmentStatus is rejected.",
        "1 row left out: it has no label.",
    )
    kept = read_judgments(path, label="Answer.Q1", sep="|", keep_rejected=True, empty="nothing").judgments
    assert len(kept) == 4
    assert kept.options == ("cat", "dog", "nothing")


def test_a_batch_with_several_answers_asks_which(tmp_path: Path) -> None:
    told = problems_of(written(tmp_path / "batch.csv", MTURK))
    assert "batch file of Mechanical Turk" in told
    assert "'Answer.Q1', 'Answer.Q2'" in told
    assert "--label" in told


def test_a_batch_with_one_answer_needs_no_columns(tmp_path: Path) -> None:
    path = written(tmp_path / "b.csv", "HITId,WorkerId,Answer.x\nh,w,1\nh,v,2\n")
    assert triples(read_judgments(path).judgments) == [("h", "v", "2"), ("h", "w", "1")]


APPEN = """_unit_id,_worker_id,_trust,_tainted,relations,relations_gold
1,7,0.9,false,"a
b",
1,8,0.5,true,a,
1,9,0.7,false,b,
"""


def test_a_batch_of_appen_has_trust_and_leaves_tainted_work_out(tmp_path: Path) -> None:
    path = written(tmp_path / "f1.csv", APPEN)
    judgments = read_judgments(path, label="relations", sep="\\n").judgments
    assert triples(judgments) == [("1", "7", "a|b"), ("1", "9", "b")]
    assert judgments.trust is not None
    assert judgments.trust.tolist() == [0.9, 0.7]
    assert judgments.notes == ("1 judgment left out: _tainted is true.",)
    assert "several columns" not in problems_of(path, label="nothing")
    assert triples(read_judgments(path, sep="\\n").judgments) == triples(judgments), (
        "the one with a column of gold is the answer"
    )
    head, rest = APPEN.split("\n", 1)
    two = written(tmp_path / "f2.csv", f"{head},sure,sure_gold\n" + rest.replace(",\n", ",,yes,\n"))
    assert "batch file of Appen with several possible answer columns" in problems_of(two)


# Labels


def test_labels_are_split_into_options(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "task,worker,label\n1,w,b; a ;b\n1,v,\n1,u,a\n")
    judgments = read_judgments(path, sep=";").judgments
    assert judgments.options == ("a", "b")
    assert judgments.sets is not None
    assert [judgments.sets[label] for label in judgments.labels] == [(0, 1), (0,)]
    assert read_judgments(path, sep=";", empty="none").judgments.options == ("a", "b", "none")


def test_labels_are_json_lists(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", 'task,worker,label\n1,w,"[""b"", ""a""]"\n1,v,[]\n2,w,"[""c""]"\n')
    assert read_judgments(path, sep="json").judgments.options == ("a", "b", "c", "nothing marked")
    bad = written(tmp_path / "b.csv", 'task,worker,label\n1,w,"[""b""]"\n2,v,oops\n')
    assert "b.csv:3: has a cell in label that is not a JSON list (found 'oops')" in problems_of(bad, sep="json")


def test_lists_in_objects_are_sets(tmp_path: Path) -> None:
    rows = [{"task": 1, "worker": "w", "label": ["x", "y"]}, {"task": 1, "worker": "v", "label": "x"}]
    path = written(tmp_path / "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    judgments = read_judgments(path).judgments
    assert judgments.options == ("x", "y")
    assert triples(judgments) == [("1", "v", "x"), ("1", "w", "x|y")]


def test_sets_of_strange_options_stay_apart() -> None:
    options = [["a", "b"], ["a|b"], ["a\\", "b"], ["a\\|b"]]
    judgments = Judgments.from_columns(range(4), range(4), options)
    assert len(judgments.label_names) == 4
    assert sorted(set_name(each) for each in options) == list(judgments.label_names)


# Repeats and gaps


def test_answers_that_do_not_count_are_left_out_of_a_batch_that_chorale_exported(tmp_path: Path) -> None:
    """They are paid, and so not rejected: before, those of removed workers changed agreement without a note."""
    rows = "h1,w1,Approved,yes,cat\nh1,w2,Approved,no,dog\nh1,w3,Approved,yes,cat\n"
    path = written(tmp_path / "batch.csv", "HITId,WorkerId,AssignmentStatus,Counts,Answer.Q1\n" + rows)
    judgments = read_judgments(path, label="Q1").judgments
    assert triples(judgments) == [("h1", "w1", "cat"), ("h1", "w3", "cat")]
    assert judgments.notes == ("1 judgment left out: Counts is no.",)
    batch = read_batch(path, BatchOptions(), tmp_path / "spool")
    assert [row.worker for row in batch.rows()] == ["w1", "w3"]


@pytest.mark.parametrize(("repeats", "expected"), [("last", ["c"]), ("first", ["a"]), ("all", ["a", "b", "c"])])
def test_of_repeated_judgments_one_counts(repeats: Any, expected: list[str], tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "task,worker,label\nt,w,a\nt,w,b\nt,w,c\n")
    judgments = read_judgments(path, repeats=repeats).judgments
    assert list(judgments.label_names) == expected
    assert len(judgments.notes) == (0 if repeats == "all" else 1)


def test_rows_without_labels_are_left_out_or_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "task,worker,label\nt,w,\nt,v,a\n")
    assert read_judgments(path).judgments.notes == ("1 row left out: it has no label.",)
    assert triples(read_judgments(path, empty="none").judgments) == [("t", "v", "a"), ("t", "w", "none")]


# Bad input


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("task,worker,label\n", "has no rows"),
        ("task,worker,label\nt,w,\n", "has no judgments with a label"),
        ("task,worker,label\nt,w,a\nt,,b\n", "a.csv:3: has no worker (found ''). Fill in the worker"),
        ("task,worker,label\n,w,a\n", "a.csv:2: has no task"),
        ("task,worker,label\nt,w,a\nt,w\n", "a.csv:3: does not have the 3 cells of the header (found 2 cells)"),
        ("task,worker,label\nt,w,a\nt,w", "a.csv:3: is truncated"),
        ("task,worker,label\nt,w,a,b\n", "a.csv:2: does not have the 3 cells of the header (found 4 cells)"),
        ('task,worker,label\nt,w,"a\n', "a.csv:2: has a quote that is never closed"),
        ('task,worker,label\nt,w,"a"b\n', "a.csv:2: has text after a closing quote"),
        (b"task,worker,label\nt,w,\xff\n", "a.csv:2: is not UTF-8 text"),
        ("task,worker,label\nt,w,a\0\n", "a.csv:2: contains a NUL character"),
        ("task,worker,label\nt,w,a\n".encode("utf-16"), "is UTF-16 text"),
        ("task,task,label\nt,w,a\n", "has a duplicate column name"),
        ("task;worker;label\nt;w\n", "a.csv:2: does not have the 3 cells of the header"),
        ("task,worker,label\rt,w,a\r", "a.csv:1: has a carriage return outside quotes"),
    ],
)
def test_bad_files_are_told_with_line_value_and_fix(content: str | bytes, expected: str, tmp_path: Path) -> None:
    assert expected in problems_of(written(tmp_path / "a.csv", content))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"task": 1, "worker": 2, "label": "a"}\n{"task": 1, "work', "a.jsonl:2: is truncated"),
        ('{"task": 1, "worker": 2, "label": "a"}\n[1]\n', "a.jsonl:2: is not an object"),
        ('{"task": 1, "worker": 2, "label": "a"}\n{"task": 1, "label": "a"}\n', "a.jsonl:2: has no worker"),
        ('{"task": 1, "worker": 2, "label": {"x": 1}}\n', "a.jsonl:1: has an object in label"),
        ('{"task": [1], "worker": 2, "label": "x"}\n', "a.jsonl:1: has an object in task"),
        ('{"task": 1, "worker": 2, "label": [["x"]]}\n', "a.jsonl:1: has a list with unsupported values"),
        ('{"task": 1, "task": 2, "worker": 2, "label": "x"}\n', "a.jsonl:1: has a duplicate key"),
        ('{"task": NaN, "worker": 2, "label": "x"}\n', "a.jsonl:1: has a number that is not finite"),
    ],
)
def test_bad_objects_are_told_too(content: str, expected: str, tmp_path: Path) -> None:
    assert expected in problems_of(written(tmp_path / "a.jsonl", content))


def test_trust_must_be_numbers(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "task,worker,label,trust\nt,w,a,0.5\nt,v,a,high\nt,u,a,-1\nt,x,a,nan\n")
    told = problems_of(path, trust="trust")
    assert "a.csv:3: has no number of at least 0 in trust (found 'high')" in told
    assert "a.csv:4:" in told
    assert "a.csv:5:" in told


def test_other_files_are_refused(tmp_path: Path) -> None:
    assert "does not exist" in problems_of(tmp_path / "none.csv")
    assert "is a folder" in problems_of(tmp_path)
    assert "unsupported format" in problems_of(written(tmp_path / "a.xlsx", "PK"))
    assert "can't be unpacked" in problems_of(written(tmp_path / "a.csv.gz", "task"))
    assert "can't be unpacked" in problems_of(written(tmp_path / "b.csv.gz", gzip.compress(b"task,worker")[:-9]))
    assert "a.parquet" in problems_of(written(tmp_path / "a.parquet", "PAR1"))
    pl.DataFrame({"task": ["a", None], "worker": ["w", "v"], "label": ["x", "y"]}).write_parquet(tmp_path / "b.parquet")
    assert "has no task in row 2" in problems_of(tmp_path / "b.parquet")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (pl.Series([1.0, 2.0]), ("1", "2")),
        (pl.Series([1.5, None]), ("1.5",)),
        (pl.Series([True, False]), ("false", "true")),
        (pl.Series(["b", "a"], dtype=pl.Categorical), ("a", "b")),
        (pl.Series([["b", None], ["a", "b"]]), ("a", "b")),
        (pl.Series([[1], [2, 1]]), ("1", "2")),
        (pl.Series([date(2020, 1, 2), None]), ("2020-01-02",)),
        (pl.Series([{"x": 1}, {"x": 2}]), None),
        (pl.Series([[{"x": 1}], []]), None),
        (pl.Series([b"\xff", b"a"]), None),
        (pl.Series([None, None]), None),
        (pl.Series([[], None], dtype=pl.List(pl.String)), ("nothing marked",)),
        (pl.Series([None, None], dtype=pl.List(pl.String)), None),
    ],
)
def test_columns_of_parquet_are_of_any_kind(labels: pl.Series, expected: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"task": [1, 2], "worker": ["a", "b"], "label": labels}).write_parquet(path)
    if expected is None:
        assert "a.parquet: has " in problems_of(path)
    else:
        assert read_judgments(path).judgments.options == expected


def test_an_empty_separator_is_refused(tmp_path: Path) -> None:
    assert "--sep" in problems_of(written(tmp_path / "a.csv", csv_of(ROWS)), sep="")


def test_problems_are_collected_but_not_without_end(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "task,worker,label\n" + "t,,a\n" * 500)
    with pytest.raises(UserError) as caught:
        read_judgments(path)
    assert len(caught.value.problems) == MOST_PROBLEMS


# The fast way and the slow


CELLS = st.text(alphabet=st.sampled_from('ab ",\n\r\t|é0'), max_size=4)


@ANYWHERE
@example(rows=[('0"', "0,0", "")], quoted=False)
@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=5), quoted=st.booleans())
def test_both_ways_of_reading_agree(rows: Triples, quoted: bool, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Cells are written with or without the quotes they need."""
    path = tmp_path_factory.mktemp("both") / "a.csv"
    cells = [[f'"{cell.replace(chr(34), chr(34) * 2)}"' if quoted else cell for cell in row] for row in rows]
    path.write_text("\n".join(["task,worker,label", *(",".join(row) for row in cells)]), "utf-8", newline="")
    found = outcome(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judgment_files, "fast_table", lambda *_: None)
        assert found == outcome(path)


@ANYWHERE
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {"task": st.integers(0, 3) | st.text(max_size=2), "worker": st.text(max_size=2)},
            optional={"label": st.none() | st.text(max_size=2) | st.integers(0, 2) | st.booleans()},
        ),
        max_size=5,
    )
)
def test_both_ways_of_reading_objects_agree(
    rows: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("both") / "a.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8", newline="")
    found = outcome(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judgment_files, "fast_table", lambda *_: None)
        assert found == outcome(path)


def outcome(path: Path) -> object:
    try:
        judgments, digest = read_judgments(path)
    except UserError as error:
        return str(error)
    return triples(judgments), judgments.notes, digest


@ANYWHERE
@given(
    content=st.binary(max_size=60)
    | st.text(alphabet='task,worker,label\n"', max_size=60).map(str.encode)
    | st.binary(max_size=30).map(lambda tail: b"task,worker,label\nt,w,a\n" + tail),
    name=st.sampled_from(["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.csv.gz", "a.txt"]),
    sep=st.sampled_from([None, "|", "json"]),
)
def test_no_bytes_make_it_stumble(
    content: bytes, name: str, sep: str | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("bytes") / name
    path.write_bytes(content)
    try:
        assert len(read_judgments(path, sep=sep).judgments) > 0
    except UserError as error:
        assert str(path) in str(error)


# From memory


FRAME = pd.DataFrame({"task": [1, 1, 2], "worker": ["a", "b", "a"], "label": [True, False, True]})


POLARS = pl.DataFrame(FRAME.to_dict("list"))


class Stream:
    """All it has to offer is Arrow's interface."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return POLARS.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "table",
    [FRAME, POLARS, POLARS.lazy(), Stream(), FRAME.to_dict("list")],
    ids=["pandas", "polars", "lazy", "arrow", "dict"],
)
def test_every_kind_of_dataframe_gives_the_same(table: Any) -> None:
    judgments = Judgments.from_dataframe(table)
    assert [(task, worker, label.lower()) for task, worker, label in triples(judgments)] == [
        ("1", "a", "true"),
        ("1", "b", "false"),
        ("2", "a", "true"),
    ]


def test_an_arrow_table_is_a_dataframe_too() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    assert len(Judgments.from_dataframe(pyarrow.table(FRAME.to_dict("list")))) == 3
    with pytest.raises(ValueError, match="can't be read as a table"):
        Judgments.from_dataframe(7)


def test_a_dataframe_without_the_column_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no column 'answer' \\(found: 'task', 'worker', 'label'\\)"):
        Judgments.from_dataframe(FRAME, label="answer")


def test_columns_of_any_kind_become_text() -> None:
    judgments = Judgments.from_columns(np.array([1.0, 2.0]), pd.Series(["a", "b"]), ["x", None])
    assert triples(judgments) == [("1", "a", "x")]
    mixed = Judgments.from_columns([1, "b"], ["w", "w"], np.array([1.5, np.nan]))
    assert triples(mixed) == [("1", "w", "1.5")]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((["a"], ["b", "c"], ["d"]), "the same length"),
        (([None], ["b"], ["d"]), "has a label but no task"),
        ((["a"], [float("nan")], ["d"]), "has a label but no worker"),
    ],
)
def test_columns_that_do_not_fit_raise(columns: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Judgments.from_columns(*columns)


def test_trust_that_is_no_number_raises() -> None:
    with pytest.raises(ValueError, match="`trust` must be a number"):
        Judgments.from_columns(["a"], ["b"], ["c"], trust=[float("nan")])


def test_options_nobody_chose_can_be_added() -> None:
    judgments = Judgments.from_columns([1, 1], ["a", "b"], ["x", "z"])
    wider = judgments.with_options(["z", "y", "x"])
    assert wider.options == ("x", "y", "z")
    assert triples(wider) == triples(judgments)
    with pytest.raises(ValueError, match="'x'"):
        judgments.with_options(["z"])
    sets = Judgments.from_columns([1, 1], ["a", "b"], [["x"], ["z", "x"]]).with_options(["x", "y", "z"])
    assert sets.sets == ((0,), (0, 2))


@settings(deadline=None)
@given(keys=st.lists(st.integers(0, 2**40 - 1), max_size=30), copies=st.sampled_from([1, 400]))
def test_sorting_is_sorting(keys: list[int], copies: int) -> None:
    array = np.array(keys * copies, dtype=np.int64)
    assert order_of(array, 2**40).tolist() == np.argsort(array, kind="stable").tolist()


# Truth and options


def test_truth_is_read_from_any_format_and_may_repeat_itself(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "task,label\n1,a\n1,a\n2,b\n3,\n")
    assert read_truth(path).labels == {"1": frozenset("a"), "2": frozenset("b")}
    pl.DataFrame({"id": [1, 2], "gold": ["a", "b"]}).write_parquet(tmp_path / "t.parquet")
    assert read_truth(tmp_path / "t.parquet", task="id", label="gold").labels == {"1": {"a"}, "2": {"b"}}
    sets = written(tmp_path / "s.jsonl", '{"task": 1, "label": ["a", "b"]}\n{"task": 2, "label": []}\n')
    assert read_truth(sets).labels == {"1": {"a", "b"}, "2": set()}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "task,label\n1,a\n1,b\n",
            "t.csv:3: has a different label than an earlier row for the same task (found 'a' and 'b' for '1')",
        ),
        ("task,label\n,a\n", "t.csv:2: has no task"),
        ("task,gold\n1,a\n", "Name the column of labels with --truth-label"),
        ("task,label\n", "has no rows"),
        ("task,label\n1,\n", "has no labels"),
        ("", "is empty"),
    ],
)
def test_bad_truth_is_told(content: str, expected: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        read_truth(written(tmp_path / "t.csv", content))
    assert expected in str(caught.value)


def test_options_come_from_a_list_or_a_file(tmp_path: Path) -> None:
    assert read_options("b, a,c") == ("a", "b", "c")
    assert read_options(str(written(tmp_path / "o.txt", "yes\nno\n\n"))) == ("no", "yes")
    with pytest.raises(UserError, match="no such file"):
        read_options("o.txt")


def test_a_table_of_values_is_refused_also_with_a_label(tmp_path: Path) -> None:
    """Before, `--task item` was suggested, which mixes the values of all fields."""
    path = tmp_path / "tidy.csv"
    path.write_text("stage,item,worker,field,kind,value,label\nm,i1,w1,tone,label,rude,\nm,i1,w1,why,text,so,\n")
    told = CliRunner().invoke(app, ["agreement", str(path), "--label", "label"]).stderr
    assert "has a row for every value of every field. Use the `crowdkit` export" in " ".join(told.split())
    assert "--task" not in told


def test_aggregating_free_text_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    rows = "".join(f"t{number // 2},w{number % 2},reason {number}\n" for number in range(60))
    path.write_text(f"task,worker,label\n{rows}")
    told = CliRunner().invoke(app, ["aggregate", str(path)])
    said = " ".join((told.output + told.stderr).split())
    assert "60 judgments have 60 different labels, which look like free text" in said


@pytest.mark.parametrize("text", ["reason {number}", "they say {half} about it"])
def test_agreement_on_free_text_is_refused_unless_asked_for(tmp_path: Path, text: str) -> None:
    path = tmp_path / "judgments.csv"
    rows = "".join(f"t{at // 2},w{at % 2},{text.format(number=at, half=at // 2)}\n" for at in range(60))
    path.write_text(f"task,worker,reason\n{rows}")
    refused = CliRunner().invoke(app, ["agreement", str(path), "--label", "reason"])
    assert refused.exit_code == 2
    assert "The values of 'reason' in" in refused.stderr and "look like free text" in " ".join(refused.stderr.split())
    assert "--free-text" in refused.stderr
    asked = CliRunner().invoke(app, ["agreement", str(path), "--label", "reason", "--free-text"])
    assert asked.exit_code == 0, asked.stderr


def test_many_labels_and_numbers_are_no_free_text(tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    for text in ("{half}.5", "topic-{half}"):
        rows = "".join(f"t{at // 2},w{at % 2},{text.format(half=at // 2)}\n" for at in range(60))
        path.write_text(f"task,worker,label\n{rows}")
        assert CliRunner().invoke(app, ["agreement", str(path)]).exit_code == 0
