"""Rules applied to extractions, judged in a study, and scored: from one end to the other."""

import csv
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from chorale.cli import app
from chorale.engine.opening import open_study
from chorale.engine.work import Offer
from chorale.exchange.export import write_export
from chorale.folder.reading import load_folder
from chorale.kits.rules.files.resources import read_resources, rules_by_left_side
from chorale.kits.rules.files.rules import Rule
from chorale.kits.rules.learning.applying import LONGEST_PHRASE, apply_rules
from chorale.kits.rules.tasks.entailment.applications import EntailmentOptions, MeaninglessLeft
from chorale.model import UserError
from conftest import ManualClock
from crowd import Person, gold_answer, is_gold, people, work_through
from small_study import write_small_study

LEARNED = """\
lhs	rhs	score	method
acquire	buy	0.9	dirt
acquire	be sold to@R@	0.5	dirt
acquire	own	0.4	dirt
acquire	buy	0.8	cover
acquire	sell	0.2	cover
visit	see	0.3	cover
"""
OTHER = "acquire\town\t3\nVisit\tgo to\t2\nvisit\tsee\t1\n"
EXTRACTIONS = [(f"firm {n}", "Acquire", f"plant {n}") for n in range(40)] + [
    ("Ann", "visit", f"town {n}") for n in range(40)
]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    found = tmp_path / "found.tsv", tmp_path / "learned.tsv", tmp_path / "other.txt"
    rows = [*EXTRACTIONS, *EXTRACTIONS[:30], ("x", "ignore", "y")]
    found[0].write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    found[1].write_text(LEARNED, "utf-8")
    found[2].write_text(OTHER, "utf-8")
    return found


def prepare(*arguments: object, code: int = 0) -> Any:
    result = CliRunner().invoke(app, ["prepare", "rules", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def items(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_resources_of_a_file_are_told_apart(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    one, other = read_resources(files[1])
    assert (one.name, one.rules, other.name, other.rules) == ("learned:cover", 3, "learned:dirt", 3)
    assert other.scores[Rule("acquire", "be sold to", turned=True)] == 0.5
    table = pl.read_csv(files[1], separator="\t")
    table.write_parquet(tmp_path / "same.parquet")
    packed = read_resources(tmp_path / "same.parquet", {"visit"})
    assert [(each.name, each.rules, len(each.scores)) for each in packed] == [("same:cover", 3, 1), ("same:dirt", 3, 0)]
    (tmp_path / "learned.tsv.gz").write_bytes(gzip.compress(files[1].read_bytes()))
    compressed = read_resources(tmp_path / "learned.tsv.gz")
    assert [(each.name, each.scores, each.digest) for each in compressed] == [
        (each.name, each.scores, each.digest) for each in (one, other)
    ]
    (tmp_path / "cut.tsv.gz").write_bytes(gzip.compress(files[1].read_bytes())[:-9])
    with pytest.raises(UserError, match="can't be unpacked"):
        read_resources(tmp_path / "cut.tsv.gz")
    table.filter(pl.col("method") == "dirt").write_parquet(tmp_path / "alone.parquet")
    assert [each.name for each in read_resources(tmp_path / "alone.parquet")] == ["alone"]
    # Of both files together, `acquire` has buy, be sold to (turned), own and sell; `visit` has see and go to.
    assert rules_by_left_side(files[1:]) == {"acquire": 4, "visit": 2}


def test_applications_are_drawn_and_say_who_proposed_them(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "items.jsonl"
    told = json.loads(prepare(*files, "--sample", 12, "--per-extraction", 3, "--out", out, "--json").stdout)
    rows = items(out)
    # Only `acquire` has three rules or more.
    assert (told["extractions"], told["matching"], told["drawn"], told["applications"]) == (111, 70, 12, 36)
    assert len(rows) == len({row["id"] for row in rows}) == 36
    assert Counter(row["extraction"] for row in rows) == dict.fromkeys(range(1, 13), 3)
    turned = next(row for row in rows if row["rule_rhs"] == "be sold to@R@")
    number = turned["lhs"].split()[-1]
    assert turned["lhs"] == f"firm {number} Acquire plant {number}"
    assert turned["rhs"] == f"plant {number} be sold to firm {number}"
    assert (turned["resources"], turned["scores"]) == (["learned:dirt"], [0.5])
    owned = next(row for row in rows if row["rule_rhs"] == "own")
    assert (owned["resources"], owned["scores"]) == (["learned:dirt", "other"], [0.4, 3.0])
    assert "already exists" in prepare(*files, "--out", out, code=2).output


def test_the_draw_depends_on_the_seed_and_on_nothing_else(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    out = [tmp_path / f"{name}.jsonl" for name in "abc"]
    prepare(*files, "--sample", 12, "--out", out[0])
    lines = files[0].read_text("utf-8").splitlines()[::-1]
    files[0].write_text("\n".join(lines), "utf-8")
    head, *rules = files[1].read_text("utf-8").splitlines()
    files[1].write_text("\n".join([head, *rules[::-1]]) + "\n", "utf-8")
    prepare(*files, "--sample", 12, "--out", out[1])
    prepare(*files, "--sample", 12, "--seed", 2, "--out", out[2])
    assert items(out[0]) == items(out[1])
    assert items(out[0]) != items(out[2])


@pytest.mark.slow
def test_every_extraction_and_every_rule_has_the_same_chance(files: tuple[Path, Path, Path]) -> None:
    table = pl.DataFrame([*EXTRACTIONS, *EXTRACTIONS[:30]], schema=["arg1", "predicate", "arg2"], orient="row")
    extractions, rules = Counter[str](), Counter[str]()
    for seed in range(200):
        applied = apply_rules([table], files[1:], sample=10, per_extraction=1, at_least=4, seed=seed)
        extractions.update(application.extraction.arg1 for application in applied.applications)
        rules.update(application.rule.rhs for application in applied.applications)
    # 2,000 draws: 50 of each of 40 extractions, 30 of them found twice; 500 of each of four rules. Five deviations.
    assert len(extractions) == 40
    assert all(abs(count - 50) < 5 * 7 for count in extractions.values())
    twice = sum(extractions[f"firm {number}"] for number in range(30))
    assert abs(twice - 1500) < 5 * 20
    assert all(abs(rules[rhs] - 500) < 5 * 20 for rhs in ("buy", "own", "sell", "be sold to"))


def test_what_nobody_can_judge_is_not_asked(tmp_path: Path, files: tuple[Path, Path, Path]) -> None:
    rows = [("same", "marry", "same"), ("Ann", "marry", "Bob"), ("Ann", "marry", "x" * LONGEST_PHRASE)]
    (tmp_path / "rules.txt").write_text("marry\tmarry@R@\t1\n", "utf-8")
    table = pl.DataFrame(rows, schema=["arg1", "predicate", "arg2"], orient="row")
    found = apply_rules([table], [tmp_path / "rules.txt"], sample=9, per_extraction=4, at_least=1, seed=1)
    assert [application.phrases for application in found.applications] == [("Ann marry Bob", "Bob marry Ann")]
    with pytest.raises(UserError, match="Lower --at-least"):
        apply_rules([table], files[1:], sample=9, per_extraction=4, at_least=1, seed=1)
    told = prepare(files[0], tmp_path / "none.tsv", code=2)
    assert "none.tsv: does not exist" in told.output


def test_numbers_stand_for_names_as_when_rules_are_learned(tmp_path: Path) -> None:
    (tmp_path / "triples.txt").write_text("0\t0\t1\n", "utf-8")
    (tmp_path / "people.txt").write_text("2\nAnn\t0\nBob\t1\n", "utf-8")
    (tmp_path / "verbs.txt").write_text("1\nmarry\t0\n", "utf-8")
    (tmp_path / "rules.txt").write_text("marry\tmarry@R@\t1\n", "utf-8")
    given = (tmp_path / "triples.txt", tmp_path / "rules.txt", "--at-least", 1, "--out", tmp_path / "items.jsonl")
    told = prepare(*given, "--argument-names", tmp_path / "people.txt", code=2)
    assert "--argument-names and --predicate-names require each other" in told.output
    prepare(*given, "--argument-names", tmp_path / "people.txt", "--predicate-names", tmp_path / "verbs.txt")
    assert [(item["lhs"], item["rhs"]) for item in items(tmp_path / "items.jsonl")] == [
        ("Ann marry Bob", "Bob marry Ann")
    ]


@pytest.mark.parametrize("value", ["own-label", "told"])
def test_the_old_name_of_an_own_label_is_still_read(tmp_path: Path, value: str) -> None:
    write_small_study(tmp_path / "study", meaningless_lhs=value)
    options = load_folder(tmp_path / "study").stages[1].options
    assert options == EntailmentOptions(meaningless_lhs=MeaninglessLeft.OWN_LABEL)
    assert options.model_dump(mode="json") == {"meaningless_lhs": "own-label"}


def test_who_proposed_what_survives_to_the_judged_table(
    files: tuple[Path, Path, Path], tmp_path: Path, clock: ManualClock
) -> None:
    folder = tmp_path / "study"
    write_small_study(folder, meaningless_lhs="own-label")
    (folder / "items.jsonl").unlink()
    prepare(*files, "--sample", 3, "--per-extraction", 2, "--out", folder / "items.jsonl")
    checked = CliRunner().invoke(app, ["check", str(folder)])
    assert checked.exit_code == 0, checked.output
    given = {(row["lhs"], row["rhs"]): row for row in items(folder / "items.jsonl")}
    meaningless = next(iter(given))[0]

    def answer(_person: Person, offer: Offer) -> str:
        assert offer.view is not None
        assert "resources" not in offer.view
        if is_gold(offer):
            return gold_answer(offer)
        if "phrase" in offer.view:
            return "no" if offer.view["phrase"] == meaningless else "yes"
        return "yes" if "buy" in offer.view["rhs"] else "no"

    study = open_study(folder, None, clock)
    try:
        everyone = people(study, 20)  # a phrase and its four others are a group of five
        for stage in ("meaningful", "entailment"):
            work_through(everyone, answer, stage)
        write_export(study, "zeichner", tmp_path / "judged.tsv")
    finally:
        study.close()
    with (tmp_path / "judged.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 6
    for row in rows:
        item = given[row["lhs"], row["rhs"]]
        assert json.loads(row["resources"]) == item["resources"]
        assert json.loads(row["scores"]) == item["scores"]
        assert (row["judgment"] == "Meaningless") == (row["lhs"] == meaningless)
    found = {}
    for how in ("out", "count"):
        arguments = ["evaluate", "rules", *map(str, files[1:]), "--judgments", str(tmp_path / "judged.tsv"), "--json"]
        result = CliRunner().invoke(app, [*arguments, "--meaningless", how])
        assert result.exit_code == 0, result.output
        found[how] = json.loads(result.stdout)
    assert (found["out"]["applications"], found["count"]["applications"]) == (4, 6)
    assert list(found["out"]["resources"]) == ["learned:cover", "learned:dirt", "other"]
