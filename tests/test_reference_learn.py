"""Rules learned from real extractions, scored on published judgments. Needs data that are not part of the project."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from chorale.cli import app

SHARED = Path(__file__).parents[2] / "shared"
DATA = SHARED / "data"
pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the reference data, which is not part of the project"
)


def chorale_json(*arguments: object) -> dict[str, Any]:
    result = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, (result.output, result.exception)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.slow
def test_every_method_learns_from_real_extractions_and_is_scored(tmp_path: Path) -> None:
    for needed in ("ibis", "duckdb", "highspy"):
        pytest.importorskip(needed)
    folder, judged = DATA / "reverb45k" / "ReVerb20K", DATA / "zeichner"
    parts = [(folder / f"{name}_trip.txt").read_text("utf-8").split("\n", 1)[1] for name in ("train", "valid", "test")]
    (tmp_path / "triples.txt").write_text("\n".join(parts), "utf-8")
    names = ("--argument-names", folder / "ent2id.txt", "--predicate-names", folder / "rel2id.txt")
    limits = ("--min-predicate", 2, "--min-score", 0)
    # To train on what is scored shows nothing but that it runs, with or without WordNet at hand.
    pairs = (
        "--pairs",
        judged / "zeichner_entailingAnnotations.txt",
        "--pairs",
        judged / "zeichner_nonEntailingAnnotations.txt",
    )
    out = tmp_path / "reverb.tsv"
    learned = chorale_json(
        *("learn", "rules", tmp_path / "triples.txt", "--method", "dirt,cover,binc,global"),
        *names,
        *limits,
        *pairs,
        "--out",
        out,
    )
    assert (learned["extractions"], learned["malformed"], learned["kept_predicates"]) == (19_374, 0, 2_155)
    assert learned["rules"]["dirt"] == learned["rules"]["cover"] == learned["rules"]["binc"] == 10_111
    assert learned["rules"]["global"] > 0
    assert 0 <= learned["graph"]["gap"] < 0.2
    files = (
        judged / "zeichner_entailingAnnotations.txt",
        "--judgments",
        judged / "zeichner_nonEntailingAnnotations.txt",
    )
    found = chorale_json("evaluate", "rules", out, judged / "berant-typed-rules.txt.gz", "--judgments", *files)[
        "resources"
    ]
    assert {name: one["covered"] for name, one in found.items() if "global" not in name} == {
        "reverb:binc": 30,
        "reverb:cover": 30,
        "reverb:dirt": 30,
        "berant-typed-rules": 70,
    }
    assert 0 < found["reverb:dirt"]["auc"] < found["berant-typed-rules"]["auc"] < 0.01
