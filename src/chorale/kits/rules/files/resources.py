"""Reads and writes resources of inference rules: files with one resource, or several learned together.

`chorale learn rules` writes `lhs`, `rhs`, `score` and `method` for up to tens of millions of rules. Callers that know
the relevant left sides need not keep the others in memory.
"""

import gzip
import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import polars as pl

from chorale.files.rows import suffix_of
from chorale.files.shortening import shortened
from chorale.files.source import UNREADABLE, refused
from chorale.files.tables import replacing, unescape_cell
from chorale.kits.rules.files.rules import Rule, RuleSet, read_rules, rule_of, stem_of

RULE_COLUMNS = ("lhs", "rhs", "score", "method")
RULE_ENDINGS = (".tsv", ".parquet")
_FORMULA = r"^'*\s*[=+\-@＝＋－＠]"
_HEADER = ("\t".join(RULE_COLUMNS) + "\n").encode()
_DIGEST_LENGTH = 8


def read_resources(
    path: Path, wanted: Collection[str] | None = None, spellings: Callable[[str], Iterable[str]] | None = None
) -> list[RuleSet]:
    """Reads the resources of a file. Resources of several methods are named after file and method.

    `wanted`: for files written by `chorale learn rules`, keep only rules with these left sides or their spelling
    variants. The number of rules of a resource is always complete.
    """
    table = _learned_table(path)
    if table is None:
        return [read_rules(path)]
    lhs = pl.col("lhs").str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars(" '")
    if wanted is not None:
        if spellings is not None:
            wanted = _alike(table.select(lhs.alias("lhs")), wanted, spellings)
        # Left sides with variables are rare and are checked one by one.
        kept = table.filter(lhs.is_in(sorted({each.strip(" '") for each in wanted})) | lhs.str.contains(r"^[xy] "))
    else:
        kept = table
    sizes = dict(table.group_by("method").len().collect().sort("method").iter_rows())
    with _unpacked(path) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:_DIGEST_LENGTH]
    scores: dict[str, dict[Rule, float]] = {method: {} for method in sizes}
    escaped = suffix_of(path) != ".parquet"
    for left, right, score, method in kept.collect().iter_rows():
        sides = (unescape_cell(left), unescape_cell(right)) if escaped else (left, right)
        rule = rule_of(*sides)
        scores[method][rule] = max(score, scores[method].get(rule, score))
    stem = stem_of(path)
    return [
        RuleSet(stem if len(sizes) == 1 else f"{stem}:{method}", scores[method], digest, scored=True, size=size)
        for method, size in sizes.items()
    ]


def _alike(lefts: pl.LazyFrame, wanted: Collection[str], spellings: Callable[[str], Iterable[str]]) -> list[str]:
    """The left sides that share a spelling with a requested left side."""
    spelled = {spelling for left in wanted for spelling in spellings(left)}
    there = lefts.unique().collect(engine="streaming")["lhs"].to_list()
    return [left for left in there if not spelled.isdisjoint(spellings(left))]


def rules_by_left_side(paths: Sequence[Path]) -> dict[str, int]:
    """Number of distinct rules per left side, over all files."""
    sides = pl.concat([_sides(path) for path in paths]).unique()
    return dict(sides.group_by("lhs").len().collect(engine="streaming").iter_rows())


def _sides(path: Path) -> pl.LazyFrame:
    table = _learned_table(path)
    if table is None:
        rules = read_rules(path).scores
        written = {"lhs": [rule.lhs for rule in rules], "rhs": [f"{rule.rhs}{rule.turned:d}" for rule in rules]}
        return pl.LazyFrame(written, schema={"lhs": pl.String, "rhs": pl.String})
    turned = pl.col("rhs").str.ends_with("@R@")
    spelled = {
        side: pl.col(side).str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_suffix("@r@").str.strip_chars()
        for side in ("lhs", "rhs")
    }
    mark = pl.when(turned).then(pl.lit("1")).otherwise(pl.lit("0"))
    return table.select(spelled["lhs"].alias("lhs"), pl.concat_str(spelled["rhs"], mark).alias("rhs"))


def _learned_table(path: Path) -> pl.LazyFrame | None:
    """The four columns of a file with learned rules, or None for other files, which are read by a general reader."""
    suffix = suffix_of(path)
    if suffix == ".parquet":
        return _parquet_table(path)
    if suffix != ".tsv" or not path.is_file():
        return None
    try:
        with _unpacked(path) as file:
            if file.read(len(_HEADER)) != _HEADER:
                return None
    except UNREADABLE:
        return None
    table = pl.scan_csv(
        path, separator="\t", quote_char=None, infer_schema=False, encoding="utf8", truncate_ragged_lines=False
    )
    table = table.with_columns(pl.col("score").cast(pl.Float64, strict=False))
    try:
        doubtful = table.select(
            (pl.any_horizontal(pl.all().is_null()) | ~pl.col("score").is_finite().fill_null(value=False)).any()
        )
        return None if doubtful.collect().item() else table
    except (pl.exceptions.PolarsError, OSError):  # OSError: a truncated .gz
        return None


def _unpacked(path: Path) -> BufferedIOBase:
    packed = path.suffix.lower() == ".gz"
    return gzip.GzipFile(path) if packed else path.open("rb")


def _parquet_table(path: Path) -> pl.LazyFrame:
    """The four columns of a Parquet file from any source. Every row must be a rule."""
    try:
        frame = pl.scan_parquet(path)
        names = frame.collect_schema().names()
        if missing := {"lhs", "rhs"} - set(names):
            raise refused(path, None, f"has no column {min(missing)!r}", "Add it", shortened(", ".join(names)))
        sides = (pl.col(side).cast(pl.String, strict=False) for side in ("lhs", "rhs"))
        score = pl.col("score") if "score" in names else pl.lit(1.0)
        method = pl.col("method").cast(pl.String, strict=False).fill_null("") if "method" in names else pl.lit("")
        table = frame.select(*sides, score.cast(pl.Float64, strict=False).alias("score"), method.alias("method"))
        empty = pl.any_horizontal(pl.col(side).fill_null("").str.strip_chars() == "" for side in ("lhs", "rhs"))
        unscored = ~pl.col("score").is_finite().fill_null(value=False)
        bad = table.with_row_index("row", 1).filter(empty | unscored).head(1).collect(engine="streaming")
    except FileNotFoundError:
        raise refused(path, None, "does not exist", "Create the file or correct its name") from None
    except pl.exceptions.PolarsError as error:
        raise refused(path, None, "is not a valid Parquet file", "Write it again", shortened(str(error))) from None
    for row, lhs, rhs, _score, _method in bad.iter_rows():
        fix = "Give every row both sides and a numeric score"
        raise refused(path, row, "has a row that is not a rule with a score", fix, shortened(f"{lhs} → {rhs}"))
    return table


def description_path(rules: Path) -> Path:
    """Path of the description file next to the rules."""
    return rules.with_name(f"{rules.name}.json")


def write_rules(parts: Sequence[Path], target: Path, description: Mapping[str, Any]) -> None:
    """Writes all rules of the parts in order. They may exceed memory.

    In tab-separated files, predicates that look like a spreadsheet formula are prefixed with an apostrophe.
    """
    frames = [pl.scan_parquet(part / "**/*.parquet" if part.is_dir() else part) for part in parts]
    rules = pl.concat([frame.select(RULE_COLUMNS) for frame in frames])
    with replacing(target) as draft, _as_os_error():
        if target.suffix.lower() == ".parquet":
            rules.sink_parquet(draft, metadata={"chorale.signature": str(description.get("signature", ""))})
        else:
            escaped = [
                pl.when(pl.col(side).str.contains(_FORMULA))
                .then(pl.concat_str(pl.lit("'"), pl.col(side)))
                .otherwise(pl.col(side))
                .alias(side)
                for side in ("lhs", "rhs")
            ]
            rules.with_columns(escaped).sink_csv(draft, separator="\t", quote_style="never")
    with replacing(description_path(target)) as draft:
        draft.write_text(json.dumps(dict(description), ensure_ascii=False, indent=2) + "\n", "utf-8")


@contextmanager
def _as_os_error() -> Iterator[None]:
    """Reports a full disk as a system error, because Polars raises its own exception."""
    try:
        yield
    except pl.exceptions.ComputeError as error:
        raise OSError(str(error)) from None
