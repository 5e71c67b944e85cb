"""Learned rules as files that other commands read: tab-separated or Parquet, with a description beside them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from chorale.files.tables import replacing

RULE_COLUMNS = ("lhs", "rhs", "score", "method")
RULE_ENDINGS = (".tsv", ".parquet")
_FORMULA = r"^'*\s*[=+\-@＝＋－＠]"


def description_path(rules: Path) -> Path:
    """Beside the rules: how they came about."""
    return rules.with_name(f"{rules.name}.json")


def write_rules(parts: Sequence[Path], target: Path, description: Mapping[str, Any]) -> None:
    """All rules of the parts, in their order, which may be more than fit into memory.

    In a tab-separated file, a predicate that a spreadsheet would take for a formula gets an apostrophe before it.
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
    """A full disk is the system's error, whatever Polars calls it."""
    try:
        yield
    except pl.exceptions.ComputeError as error:
        raise OSError(str(error)) from None
