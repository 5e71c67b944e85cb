"""Learning rules: small corpora worked by hand, and others by a second, slower way."""

import gzip
import json
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import log, sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from chorale.cli import app
from chorale.kits.rules.files.extractions import extraction_tables, read_names
from chorale.kits.rules.files.rules import Rule, rule_of
from chorale.kits.rules.learning import LearnOptions, Pruning, Resources, learn_rules, synthetic_extractions
from chorale.kits.rules.learning.classifier import trained
from chorale.kits.rules.learning.engines import opened_engine
from chorale.kits.rules.learning.examples import examples_from_wordnet
from chorale.kits.rules.learning.settings import Method, bytes_of, methods_of
from chorale.kits.rules.learning.work_folder import alone_in
from chorale.model import UserError
from chorale.text.wordnet import Synset, WordNet
from serving import PATIENCE_SECONDS

for _needed in ("ibis", "duckdb", "highspy", "pyarrow"):
    pytest.importorskip(_needed)

LOCAL: tuple[Method, ...] = ("dirt", "cover", "binc")
ALL = Pruning(min_predicate=1, max_predicates=10**6, min_score=0.0)
Row = tuple[str, str, str, int]

# N = 12 extractions.   |buy| = 2, |own| = 3, |belong to| = 2, |see| = 5
# X: ann 3, bob 1, cid 2, car 1, dog 1, dora 2, eve 2.   Y: car 2, house 1, boat 2, ann 1, cid 1, star 3, moon 2.
CORPUS: list[Row] = [
    ("ann", "buy", "car", 1),
    ("bob", "buy", "house", 1),
    ("ann", "own", "car", 1),
    ("cid", "own", "boat", 2),
    ("car", "belong to", "ann", 1),
    ("dog", "belong to", "cid", 1),
    ("ann", "see", "star", 1),
    ("dora", "see", "star", 2),
    ("eve", "see", "moon", 2),
]
# mi(p, s, w) = ln(|p,s,w| · 12 / (|p| · |s,w|)):
# buy.X: ann ln 12/(2·3) = ln 2, bob ln 6, together ln 12.    buy.Y: car ln 12/(2·2) = ln 3, house ln 6, together ln 18.
# own.X: ann ln 12/(3·3) = ln 4/3, cid ln 24/(3·2) = ln 4, together ln 16/3.
# own.Y: car ln 12/(3·2) = ln 2, boat ln 24/(3·2) = ln 4, together ln 8.
# belong to.X: car ln 6, dog ln 6, together ln 36.            belong to.Y: ann ln 6, cid ln 6, together ln 36.
# see.X: ann ln 12/(5·3) < 0, so it is no feature; dora and eve ln 2.4. see.Y: star and moon ln 2.4.
# buy and own share ann in X and car in Y; with the arguments of `belong to` exchanged, own shares ann, cid and car with
# it, buy shares ann and car. `see` shares nothing.
OWNED = "belong to@R@"
DIRT = {
    ("buy", "own"): sqrt(
        log(8 / 3) / log(64) * log(6) / log(144)
    ),  # (ln 2 + ln 4/3)/(ln 12 + ln 16/3), (ln 3 + ln 2)/…
    ("own", OWNED): sqrt(1 * log(12) / log(288)),  # all of X is shared; (ln 2 + ln 6)/(ln 8 + ln 36)
    ("buy", OWNED): sqrt(log(12) / log(432) * log(18) / log(648)),  # (ln 2 + ln 6)/(ln 12 + ln 36), (ln 3 + ln 6)/…
}
DIRT |= {
    ("own", "buy"): DIRT["buy", "own"],
    ("belong to", "own@R@"): DIRT["own", OWNED],
    ("belong to", "buy@R@"): DIRT["buy", OWNED],
}
COVER = {
    ("buy", "own"): sqrt(log(2) / log(12) * log(3) / log(18)),
    ("own", "buy"): sqrt(log(4 / 3) / log(16 / 3) * log(2) / log(8)),
    ("own", OWNED): sqrt(1 * log(2) / log(8)),
    ("belong to", "own@R@"): sqrt(1 * log(6) / log(36)),
    ("buy", OWNED): sqrt(log(2) / log(12) * log(3) / log(18)),
    ("belong to", "buy@R@"): sqrt(log(6) / log(36) * log(6) / log(36)),
}
BINC = {rule: sqrt(DIRT[rule] * COVER[rule]) for rule in DIRT}


def written(rows: Iterable[Row], path: Path) -> Path:
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), "utf-8")
    return path


def learned_from(
    path: Path, work: Path, pruning: Pruning = ALL, resources: Resources | None = None, **more: Any
) -> dict[str, dict[tuple[str, str], float]]:
    found = learn_rules(path, work, LearnOptions(LOCAL, pruning=pruning, **more), resources)
    return rules_in(found.rules)


def rules_in(parts: Iterable[Path]) -> dict[str, dict[tuple[str, str], float]]:
    rules: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    for part in parts:
        for lhs, rhs, score, method in pl.read_parquet(part).iter_rows():
            assert (lhs, rhs) not in rules[method]
            rules[method][lhs, rhs] = score
    return rules


def same(found: Mapping[Any, float], expected: Mapping[Any, float]) -> None:
    assert set(found) == set(expected)
    for rule, score in expected.items():
        assert found[rule] == pytest.approx(score, abs=1e-9), rule


def test_each_method_gives_what_its_definition_says(tmp_path: Path) -> None:
    found = learned_from(written(CORPUS, tmp_path / "small.tsv"), tmp_path / "work")
    same(found["dirt"], DIRT)
    same(found["cover"], COVER)
    same(found["binc"], BINC)


# A second way, slowly


def mutual_information(rows: Iterable[Row], pruning: Pruning) -> dict[tuple[str, str], dict[str, float]]:
    count: dict[tuple[str, str, str], int] = defaultdict(int)
    of_predicate: dict[str, int] = defaultdict(int)
    of_filler: dict[tuple[str, str], int] = defaultdict(int)
    for one, predicate, two, times in rows:
        of_predicate[predicate] += times
        for slot, filler in (("X", one), ("Y", two)):
            count[predicate, slot, filler] += times
            of_filler[slot, filler] += times
    total = sum(of_predicate.values())
    vectors: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for (predicate, slot, filler), times in count.items():
        mi = math.log(times * total / (of_predicate[predicate] * of_filler[slot, filler]))
        if of_predicate[predicate] >= pruning.min_predicate and times >= pruning.min_filler and mi > 1e-12:
            vectors[predicate, slot][filler] = mi
    slots: dict[str, int] = defaultdict(int)
    for vector in vectors.values():
        for filler in vector:
            slots[filler] += 1
    return {key: {w: mi for w, mi in v.items() if slots[w] <= pruning.max_predicates} for key, v in vectors.items()}


def by_definition(rows: list[Row], pruning: Pruning) -> dict[str, dict[tuple[str, str], float]]:
    vectors = mutual_information(rows, pruning)
    names = sorted({predicate for _, predicate, _, _ in rows})
    found: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    for p in names:
        for q in names:
            for turned in (False, True):
                if p == q and not turned:
                    continue
                lin, cover = 1.0, 1.0
                for slot, other in (("X", "Y"), ("Y", "X")):
                    a = vectors.get((p, slot), {})
                    b = vectors.get((q, other if turned else slot), {})
                    shared = a.keys() & b.keys()
                    if len(shared) < pruning.min_shared:
                        lin = cover = 0.0
                        break
                    lin *= sum(a[w] + b[w] for w in shared) / (sum(a.values()) + sum(b.values()))
                    cover *= sum(a[w] for w in shared) / sum(a.values())
                scores = {"dirt": sqrt(lin), "cover": sqrt(cover), "binc": sqrt(sqrt(lin) * sqrt(cover))}
                for method, score in scores.items():
                    if lin and score >= pruning.min_score:
                        found[method][p, f"{q}@R@" if turned else q] = score
    return found


def drawn(seed: int, rows: int = 300) -> list[Row]:
    rng = np.random.default_rng(seed)
    predicates, fillers = rng.zipf(1.6, rows) % 12, rng.zipf(1.4, (rows, 2)) % 25
    return [
        (f"w{one}", f"p{predicate}", f"w{two}", int(times))
        for predicate, (one, two), times in zip(predicates, fillers, rng.integers(1, 4, rows), strict=True)
    ]


PRUNINGS = (ALL, Pruning(min_predicate=5, min_filler=2, max_predicates=8, min_shared=2, min_score=0.05))


@pytest.mark.parametrize(("seed", "pruning"), list(enumerate(PRUNINGS)))
def test_a_second_way_comes_to_the_same(seed: int, pruning: Pruning, tmp_path: Path) -> None:
    rows = drawn(seed)
    path = written(rows, tmp_path / "drawn.tsv")
    found = learned_from(path, tmp_path / "work", pruning, Resources(buckets=1 + 2 * seed))
    expected = by_definition(rows, pruning)
    assert len(expected["dirt"]) > 5
    for method in LOCAL:
        same(found[method], expected[method])


def test_rows_in_another_order_change_nothing(tmp_path: Path) -> None:
    again = [(one, predicate, two, 1) for one, predicate, two, times in CORPUS[::-1] for _ in range(times)]
    found = learned_from(written(again, tmp_path / "small.tsv"), tmp_path / "work", resources=Resources(buckets=4))
    same(found["binc"], BINC)


# Files


def command(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["learn", "rules", *map(str, arguments)])


def reverb_line(row: Row) -> str:
    cells = [
        "file.txt",
        "7",
        *(part.upper() for part in row[:3]),
        *"123456",
        "0.9",
        "words",
        "tags",
        "chunks",
        *row[:3],
    ]
    return "\t".join(cells)


def test_files_of_every_kind_hold_the_same_extractions(tmp_path: Path) -> None:
    table = pl.DataFrame(CORPUS, schema=["arg1", "predicate", "arg2", "count"], orient="row")
    table.write_csv(tmp_path / "a.csv")
    table.write_parquet(tmp_path / "a.parquet")
    table.rename({"arg1": "subject", "predicate": "relation", "arg2": "object"}).write_ndjson(tmp_path / "a.jsonl")
    lines = [reverb_line(row) for row in CORPUS for _ in range(row[3])]
    (tmp_path / "reverb.txt.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    numbered = [f"{row[0]}\t{row[2]}\t{row[1]}\t{row[3]}" for row in CORPUS]
    (tmp_path / "other.tsv").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(numbered).encode())
    expected = sorted(row for row in CORPUS for _ in range(row[3]))
    for name, columns in (
        ("a.csv", None),
        ("a.parquet", None),
        ("a.jsonl", None),
        ("reverb.txt.gz", None),
        ("other.tsv", "1,3,2,4"),
    ):
        tables, outcome = extraction_tables(tmp_path / name, columns=columns)
        rows = [row for table in tables for row in table.iter_rows()]
        assert sorted((*row[:3], 1) for row in rows for _ in range(row[3])) == [(*row[:3], 1) for row in expected], name
        assert (outcome().rows, outcome().malformed) == (len(rows), 0)


def test_numbers_stand_for_names(tmp_path: Path) -> None:
    arguments = sorted({name for one, _, two, _ in CORPUS for name in (one, two)})
    predicates = sorted({row[1] for row in CORPUS})
    for file, names in (("ent2id.txt", arguments), ("rel2id.txt", predicates)):
        (tmp_path / file).write_text(f"{len(names)}\n" + "".join(f"{n}\t{i}\n" for i, n in enumerate(names)), "utf-8")
    rows = [
        (arguments.index(one), predicates.index(predicate), arguments.index(two))
        for one, predicate, two, times in CORPUS
        for _ in range(times)
    ]
    (tmp_path / "trip.txt").write_text(f"{len(rows)}\n" + "".join(f"{a}\t{p}\t{b}\n" for a, p, b in rows), "utf-8")
    known = read_names(tmp_path / "ent2id.txt"), read_names(tmp_path / "rel2id.txt")
    tables, _ = extraction_tables(tmp_path / "trip.txt", names=known)
    found = sorted(row[:3] for table in tables for row in table.iter_rows())
    assert found == sorted(row[:3] for row in CORPUS for _ in range(row[3]))
    (tmp_path / "trip.txt").write_text("1\n0\t0\t99\n0\t0\t1\n", "utf-8")
    tables, outcome = extraction_tables(tmp_path / "trip.txt", names=known)
    assert sum(table.height for table in tables) == 1
    assert [problem.line for problem in outcome().problems] == [2]


def test_spelling_is_a_setting(tmp_path: Path) -> None:
    rows: list[Row] = [
        ("The Ann", "Buy", "a  car!", 1),
        ("ann", "buy", "car", 1),
        ("ann", "own", "car", 1),
        ("x", "own", "y", 1),
        ("sun", "shine on", "sea", 4),
    ]
    path = written(rows, tmp_path / "spelled.tsv")
    # N = 8, |buy| = 2, |own| = 2. As they stand but for case, half of buy's fillers is `the ann`, and `a car!`:
    # mi(the ann) = ln 8/2, mi(ann) = ln 8/(2·2), so X of own covers ln 2 of ln 8 = 1/3 of X of buy; Y the same.
    assert learned_from(path, tmp_path / "work")["cover"]["buy", "own"] == pytest.approx(1 / 3, abs=1e-9)
    # Without article and mark, all of buy's fillers are ann and car.
    plain = learned_from(path, tmp_path / "work", predicates="none", arguments="plain")["cover"]
    assert plain["buy", "own"] == pytest.approx(1, abs=1e-9)
    assert plain["Buy", "buy"] == pytest.approx(1, abs=1e-9)


def test_malformed_lines_are_told_with_their_numbers_and_counted(tmp_path: Path) -> None:
    lines = ["\t".join(map(str, row)) for row in CORPUS]
    wrong = [
        "ann\tbuy",
        "ann\t\tcar\t1",
        "ann\tbuy\tcar\tmany",
        "ann\tbuy\tcar\t0",
        "ann\tbuy\tcar\t1\t1",
        "a" * 1001 + "\tbuy\tcar\t1",
        "ann\tbuy@R@\tcar\t1",
        "ann\tbuy\tcar\t1٣",
        "ann\tbuy\tcar\t10000000000",
        "ann\tbuy\tcar\t-1",
        "ann\tbuy\tcar\t1.5",
    ]
    raw = "\n".join([*lines, *wrong, ""]).encode() + b"ann\xff\tbuy\tcar\t1\nann\0\tbuy\tcar\t1\n\n"
    path = tmp_path / "rough.tsv"
    path.write_bytes(raw)
    out = tmp_path / "rules.tsv"
    result = command(path, "--method", "binc", "--min-predicate", 1, "--min-score", 0, "--out", out)
    assert result.exit_code == 0, result.output
    assert "13 lines are malformed and left out" in result.stderr
    told = [int(number) for number in re.findall(r"rough\.tsv:(\d+): ", result.stderr)]
    assert told == list(range(10, 23))
    assert "rough.tsv:16: has a predicate that ends in @R@" in result.stderr
    assert "rough.tsv:21: is not UTF-8 text (found b'\\xff')." in result.stderr
    assert rule_table(out)[rule_of("buy", "own")] == pytest.approx(BINC["buy", "own"], abs=1e-9)
    described = json.loads((tmp_path / "rules.tsv.json").read_text("utf-8"))
    assert described["malformed"] == 13
    assert described["signature"].startswith("learn-rules|method:binc|")
    strict = command(path, "--method", "binc", "--strict", "--out", tmp_path / "none.tsv")
    assert strict.exit_code == 2
    assert "rough.tsv:10: has a different number of cells" in strict.output
    assert not list(tmp_path.glob("none.tsv*")), "nothing was finished, so nothing stays"


def test_counts_that_are_whole_count_however_they_are_written(tmp_path: Path) -> None:
    table = pl.DataFrame(CORPUS, schema=["arg1", "predicate", "arg2", "count"], orient="row")
    table.with_columns(pl.col("count").cast(pl.Float64)).write_parquet(tmp_path / "float.parquet")
    found = learned_from(tmp_path / "float.parquet", tmp_path / "work")
    same(found["binc"], BINC)
    bad = table.with_columns(count=pl.lit(0.5))
    bad.write_parquet(tmp_path / "bad.parquet")
    with pytest.raises(UserError, match=r"bad\.parquet:1: has a count that is not a whole number .*0\.5'"):
        learn_rules(tmp_path / "bad.parquet", tmp_path / "work", LearnOptions(LOCAL))
    (tmp_path / "odd.jsonl").write_text('{"arg1": ["a"], "predicate": true, "arg2": "c"}\n')
    with pytest.raises(UserError, match=r"odd\.jsonl:1: has an empty argument or predicate"):
        learn_rules(tmp_path / "odd.jsonl", tmp_path / "work", LearnOptions(LOCAL))


def test_what_says_nothing_is_no_feature_whatever_rounding_makes_of_it(tmp_path: Path) -> None:
    # Every filler is with every predicate as often as chance has it: mi = ln(1 · 147 / (49 · 3)) = ln 1 = 0.
    rows: list[Row] = [(f"w{one}", f"p{p}", f"v{two}", 1) for p in range(3) for one in range(7) for two in range(7)]
    result = command(
        written(rows, tmp_path / "even.tsv"), "--method", "dirt", "--min-score", 0, "--out", tmp_path / "a.tsv"
    )
    assert result.exit_code == 0
    assert "No rules found. Lower --min-predicate" in " ".join(result.stderr.split())
    assert json.loads((tmp_path / "a.tsv.json").read_text("utf-8"))["features"] == 0


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """As on a disk that is nearly full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_loses_nothing_that_is_finished(tmp_path: Path) -> None:
    path, work = written(drawn(6), tmp_path / "drawn.tsv"), tmp_path / "work"
    arguments = (path, "--method", "dirt", "--min-predicate", 1, "--work", work, "--out", tmp_path / "a.tsv")
    with files_of_at_most(100):
        full = command(*arguments)
    assert (full.exit_code, "Traceback" in full.output) == (2, False)
    assert "Cannot write" in full.output and "--work" in full.output
    assert command(*arguments, "--keep-work").exit_code == 0
    next(work.glob("*/features.parquet")).unlink()
    with files_of_at_most(100):
        full = command(*arguments, "--force")
    assert full.exit_code == 2 and "Finished parts are kept" in " ".join(full.output.split())
    (tmp_path / "a.tsv").unlink()
    with files_of_at_most(3000):
        full = command(*arguments, "--keep-work")
    assert full.exit_code == 2 and "a.tsv can't be written" in full.output and not (tmp_path / "a.tsv").exists()
    again = command(*arguments, "--json")
    assert again.exit_code == 0 and "slots" in json.loads(again.stdout)["resumed"]


def test_two_commands_do_not_work_in_one_folder(tmp_path: Path) -> None:
    path = written(CORPUS, tmp_path / "small.tsv")
    arguments = (path, "--method", "dirt", "--min-predicate", 1, "--out", tmp_path / "a.tsv")
    with alone_in(tmp_path / "a.tsv.work"):
        second = command(*arguments)
    assert second.exit_code == 2 and "Another command is using" in second.output
    assert not (tmp_path / "a.tsv.work").exists()
    assert command(*arguments).exit_code == 0
    assert not (tmp_path / "a.tsv.work").exists()


def rule_table(path: Path) -> dict[Rule, float]:
    lines = path.read_text("utf-8").splitlines()[1:]
    return {rule_of(lhs, rhs): float(score) for lhs, rhs, score, _ in (line.split("\t") for line in lines)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "drit"], "Invalid --method 'drit'"),
        (["--method", "dirt", "--engine", "flink"], "Invalid --engine 'flink'"),
        (["--method", "dirt", "--memory", "1MB"], "at least 1GB"),
        (["--method", "dirt", "--min-predicate", "100"], "Lower --min-predicate"),
        (["--method", "dirt", "--columns", "1,2,9"], "fewer than --columns requires"),
        (["--method", "dirt", "--argument-names", "x"], "x: does not exist"),
        (["--method", "dirt", "--out", "rules.doc"], "ends in .tsv or .parquet"),
    ],
)
def test_mistakes_are_told_with_what_to_do(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = command(written(CORPUS, tmp_path / "a.tsv"), *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("name", "raw", "message"),
    [
        ("none.tsv", b"", "has no extractions"),
        ("five.tsv", b"a\tb\tc\td\te\n", "has no header with the columns"),
        ("bad.csv", b"who,what\na,b\n", "has no header with the columns"),
        ("bad.parquet", b"PAR1 nothing", "is not a valid Parquet file"),
        ("a.doc", b"x", "has an unsupported format"),
        ("half.tsv.gz", gzip.compress(b"a\tb\tc\n" * 9, mtime=0)[:-9], "can't be unpacked"),
        ("long.tsv", b"x" * 1_000_002 * 40, "a line of more than 1,000,000 bytes"),
    ],
)
def test_files_that_are_no_extractions_are_refused(name: str, raw: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(raw)
    with pytest.raises(UserError) as caught:
        learn_rules(path, tmp_path / "work", LearnOptions(LOCAL))
    assert message in str(caught.value)


PIECES = [
    b"a",
    b"\t",
    b"\n",
    b"\r\n",
    b'"',
    b",",
    b"\0",
    b"\xff",
    b"1",
    b"0",
    b"-",
    b"{",
    b"}",
    b":",
    b"null",
    b"NaN",
    b"@R@",
]
HEADS = {
    ".tsv": b"arg1\tpredicate\targ2\tcount\n",
    ".csv": b"arg1,predicate,arg2,count\n",
    ".jsonl": b'{"arg1": "a", "predicate": "b", "arg2": "c", "count": 1}\n',
}


@given(st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join), st.sampled_from(sorted(HEADS)), st.booleans())
def test_whatever_a_file_holds_is_read_or_refused(raw: bytes, ending: str, headed: bool) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"any{ending}"
        path.write_bytes((HEADS[ending] if headed else b"") + raw)
        try:
            tables, outcome = extraction_tables(path)
            rows = [row for table in tables for row in table.iter_rows()]
        except UserError:
            return
        assert outcome().rows == len(rows)
        assert all(one and predicate and two and count >= 1 for one, predicate, two, count in rows)


def test_predicates_that_look_like_formulas_are_written_so_that_none_is_one(tmp_path: Path) -> None:
    rows: list[Row] = [(w, p, v, 1) for p in ("=cmd()", "own") for w, v in (("a", "b"), ("c", "d"))] + [
        ("e", "see", "f", 1)
    ]
    out = tmp_path / "rules.tsv"
    result = command(written(rows, tmp_path / "a.tsv"), "--method", "dirt", "--min-predicate", 1, "--out", out)
    assert result.exit_code == 0, result.output
    assert "'=cmd()\town\t1.0\tdirt" in out.read_text("utf-8")


def test_settings_are_read() -> None:
    assert methods_of("global, dirt") == ("dirt", "global")
    assert bytes_of("1.5 GB") == 3 * 2**29
    assert bytes_of("2000MiB") == 2000 * 2**20


# Going on after an interruption


def test_finished_parts_are_used_again(tmp_path: Path) -> None:
    path = written(drawn(5), tmp_path / "drawn.tsv")
    options = LearnOptions(LOCAL, pruning=ALL)
    first = learn_rules(path, tmp_path / "work", options, Resources(buckets=3))
    assert first.resumed == ()
    before = pl.read_parquet(first.rules[0])
    (first.rules[0].parent / "pairs-3" / "00001.parquet").unlink()
    shutil.rmtree(first.rules[0])
    again = learn_rules(path, tmp_path / "work", options, Resources(buckets=3))
    assert set(again.resumed) >= {"extractions", "slots", "features", "pairs-3/00000", "pairs-3/00002"}
    assert "pairs-3/00001" not in again.resumed
    assert pl.read_parquet(again.rules[0]).equals(before)


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)])
def test_a_run_that_is_killed_goes_on_where_it_was(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    path = tmp_path / "many.tsv"
    next(synthetic_extractions(150_000)).write_csv(path, separator="\t", include_header=False)
    arguments = [
        path,
        "--method",
        "dirt,cover,binc",
        "--min-predicate",
        3,
        "--buckets",
        40,
        "--work",
        tmp_path / "work",
    ]
    run = [sys.executable, "-m", "chorale", "learn", "rules", *map(str, arguments)]
    killed = subprocess.Popen(
        [*run, "--out", str(tmp_path / "killed.tsv")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(list(tmp_path.glob("work/*/pairs-40/*.parquet"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(killed.pid, sent)
    told = killed.communicate()[1]
    assert killed.returncode == code and "Traceback" not in told
    assert ("Run the same command again to continue" in " ".join(told.split())) == (sent is signal.SIGINT)
    done = {file.name for file in tmp_path.glob("work/*/pairs-40/*.parquet")}
    assert 3 <= len(done) < 40
    assert not (tmp_path / "killed.tsv").exists()
    result = command(*arguments, "--out", tmp_path / "resumed.tsv", "--json")
    assert result.exit_code == 0, result.output
    assert {f"pairs-40/{name.removesuffix('.parquet')}" for name in done} <= set(json.loads(result.stdout)["resumed"])
    fresh = command(*arguments[:-1], tmp_path / "fresh", "--out", tmp_path / "fresh.tsv", "--json")
    assert json.loads(fresh.stdout)["resumed"] == []
    one, other = (rule_table(tmp_path / name) for name in ("fresh.tsv", "resumed.tsv"))
    assert len(one) > 1000
    same(other, one)


@pytest.mark.parametrize("error", [RuntimeError, ValueError])
def test_what_duckdb_says_of_ctrl_c_is_ctrl_c(error: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), opened_engine(Resources(), tmp_path):
        raise error("Query interrupted")
    with pytest.raises(error, match="something else"), opened_engine(Resources(), tmp_path):
        raise error("something else")


# Spark


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_spark_comes_to_the_same(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    rows = drawn(8, 600)
    rows += [("The Ann!", "p1", "w2", 1), ("ann", "p2", "w2", 2)]
    path = written(rows, tmp_path / "drawn.tsv")
    pruning = Pruning(min_predicate=3, max_predicates=20, min_score=0.001)
    found = []
    for engine in ("duckdb", "spark:local[2]"):
        resources = Resources(engine=engine, buckets=2, memory=2**30)
        options = LearnOptions(LOCAL, arguments="plain", pruning=pruning)
        learned = learn_rules(path, tmp_path / engine.partition(":")[0], options, resources)
        found.append(rules_in(path for rules in learned.rules for path in rules.glob("**/*.parquet") if path.is_file()))
    for method in LOCAL:
        assert len(found[0][method]) > 20
        same(found[1][method], found[0][method])


@pytest.mark.parametrize(
    ("engine", "told"),
    [
        ("spark://127.0.0.1:1", "Cannot connect to Spark"),
        ("spark://127.0.0.1:1,127.0.0.1:2", "127.0.0.1:2: "),
        ("spark://somewhere", "Use spark://HOST:PORT"),
        ("spark://127.0.0.1:99999", "Cannot connect to Spark"),
    ],
)
def test_a_cluster_that_is_not_there_is_told_at_once(engine: str, told: str, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    path = written(CORPUS, tmp_path / "small.tsv")
    refused = command(path, "--method", "dirt", "--engine", engine, "--out", tmp_path / "a.tsv")
    assert refused.exit_code == 2 and told in " ".join(refused.output.split())


# Globally


def test_logistic_regression_finds_where_the_slope_is_nothing() -> None:
    rng = np.random.default_rng(2)
    features = rng.normal(size=(200, 4))
    is_rule = (features[:, 0] + 0.5 * rng.normal(size=200) > 0.7).astype(float)
    fitted = trained(features, is_rule)
    weight = np.where(is_rule > 0, 100 / is_rule.sum(), 100 / (1 - is_rule).sum())
    left = weight * (is_rule - fitted.probability(features))
    # Of ½ Σ (coefficient · deviation)² the slope is coefficient · deviation²; the constant has no penalty.
    assert left.sum() == pytest.approx(0, abs=1e-6)
    assert left @ features == pytest.approx(fitted.coefficients * features.std(axis=0) ** 2, abs=1e-6)
    assert fitted.coefficients[0] > 1


def test_the_global_method_gives_a_transitive_graph(tmp_path: Path) -> None:
    rows = [*CORPUS, *drawn(4)]
    path = written(rows, tmp_path / "a.tsv")
    pairs = ["lhs\trhs\tjudgment"]
    pairs += [
        f"buy\town\tYes\nown\tbuy\tNo\nown\tbelong to@R@\tYes\nsee\tbuy\tNo\nsee\town\tNo\np{n}\tbuy\tNo"
        for n in (1, 2)
    ]
    (tmp_path / "pairs.tsv").write_text("\n".join(pairs), "utf-8")
    out = tmp_path / "rules.tsv"
    shared = (
        "--pairs",
        tmp_path / "pairs.tsv",
        "--min-predicate",
        1,
        "--min-score",
        0,
        "--force",
        "--out",
        out,
        "--json",
    )
    result = command(path, "--method", "binc,global", *shared)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["graph"]["nearly"] == 0
    assert found["graph"]["gap"] == pytest.approx(0)
    assert found["graph"]["rules_among_examples"] == 2
    rules = [
        rule_of(*line.split("\t")[:2]) for line in out.read_text("utf-8").splitlines() if line.endswith("\tglobal")
    ]
    assert rule_of("own", "belong to@R@") in rules
    for one in rules:
        for other in rules:
            if one.rhs == other.lhs:
                turned = one.turned ^ other.turned
                assert Rule(one.lhs, other.rhs, turned) in rules or (one.lhs == other.rhs and not turned)
    sparse = json.loads(command(path, "--method", "global", "--lambda", 3, *shared).stdout)
    assert sparse["rules"]["global"] < found["rules"]["global"]
    none = command(path, "--method", "global", "--lambda", -30, *shared)
    assert none.exit_code == 2
    assert "Set --lambda above" in none.output


SYNSETS = {
    "1-v": Synset("1-v", ("acquire", "get"), (("~", "2-v"), ("~", "3-v")), ""),
    "2-v": Synset("2-v", ("buy", "purchase"), (("@", "1-v"), ("!", "4-v"), ("*", "5-v")), ""),
    "3-v": Synset("3-v", ("inherit",), (("@", "1-v"),), ""),
    "4-v": Synset("4-v", ("sell",), (("!", "2-v"),), ""),
    "5-v": Synset("5-v", ("pay",), (("+", "1-n"),), ""),
}


class FewWords:
    """As much of WordNet as a test needs: buy is a kind of acquire, as inherit is; sell is the opposite of buy."""

    def senses(self, lemma: str, _pos: str) -> tuple[str, ...]:
        return tuple(name for name, synset in SYNSETS.items() if lemma in synset.lemmas)

    def synset(self, name: str) -> Synset | None:
        return SYNSETS.get(name)

    def lemmas(self, form: str, pos: str) -> tuple[str, ...]:
        lemma = form.removesuffix("ed").removesuffix("s")
        return (lemma,) if self.senses(lemma, pos) else ()


def test_wordnet_says_which_verbs_entail_which() -> None:
    predicates = [
        "buys",
        "acquire",
        "purchase",
        "inherit",
        "sell",
        "pay",
        "be acquire by",
        "be inherit by",
        "go to",
        "be",
    ]
    found = examples_from_wordnet(predicates, cast("WordNet", FewWords()))
    held = {(rule.lhs, rule.rhs): holds for rule, holds in found.items()}
    assert held["buys", "acquire"] is True
    assert held["acquire", "buys"] is False
    assert held["buys", "purchase"] is held["purchase", "buys"] is held["buys", "pay"] is True
    assert held["buys", "inherit"] is False
    assert held["buys", "sell"] is False
    assert held["be inherit by", "be acquire by"] is True
    assert ("buys", "be acquire by") not in held
    assert not any("go to" in rule for rule in held)
