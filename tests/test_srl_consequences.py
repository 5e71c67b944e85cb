"""What errors in senses and arguments do to applications: `evaluate srl --consequences`."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chorale.cli import app
from chorale.kits.srl.files import Corpus, Sentence, SrlArgument, SrlPredicate
from chorale.kits.srl.metrics.wholes import NUMBERED
from chorale.kits.srl.scoring.consequences import (
    NOTHING,
    WRONG_ARGUMENTS,
    WRONG_SENSE,
    Consequence,
    consequences_of,
    counted,
)
from chorale.model import UserError
from srl_files import written

WORDS = ("XYZ", "company", "bought", "some", "bonds", "today", ".")
HEADS = (2, 3, 0, 5, 3, 3, 3)
BUY = (SrlArgument("A0", 1, 1), SrlArgument("A1", 4, 4), SrlArgument("AM-TMP", 5, 5))


def corpus(sense: str, arguments: tuple[SrlArgument, ...] = BUY, words: tuple[str, ...] = WORDS) -> Corpus:
    blank = ("_",) * len(WORDS)
    predicate = SrlPredicate(2, sense.partition(".")[0], sense, arguments)
    one = Sentence(1, len(WORDS), (predicate,), words, blank, blank, blank, blank, HEADS, blank)
    return Corpus(sense, "conll09", "0", [one])


def found(system: Corpus, gold: Corpus) -> list[Consequence]:
    return list(consequences_of("ours", system, gold, "head", NUMBERED))


def test_the_wrong_sense_leaves_a_question_open_and_answers_another_as_in_the_papers_table() -> None:
    listed = found(corpus("sell.01"), corpus("buy.01"))
    assert [(one.application, one.prompt, one.predicted, one.expected) for one in listed] == [
        ("question", "Who or what bought some bonds?", NOTHING, "XYZ company"),
        ("question", "Who or what sold some bonds?", "XYZ company", NOTHING),
        ("entailment", "XYZ company sold some bonds.", "yes", "no"),
        ("entailment", "XYZ company bought some bonds.", "no", "yes"),
    ]
    assert {one.kind for one in listed} == {WRONG_SENSE}
    assert (listed[0].points, listed[0].existing, listed[0].primesrl) == (3, 3, 0)
    particle = found(corpus("buy_out.03"), corpus("buy.01"))
    assert (particle[0].points, particle[0].existing, particle[0].primesrl) == (3, 2, 0)
    assert particle[1].prompt == "Who or what bought out some bonds?"


def test_two_senses_of_one_verb_are_told_apart() -> None:
    listed = found(corpus("buy.05"), corpus("buy.01"))
    assert [(one.prompt, one.expected) for one in listed] == [
        ("Who or what bought some bonds? (buy.01)", "XYZ company"),
        ("Who or what bought some bonds? (buy.05)", NOTHING),
    ]


def test_wrong_arguments_under_the_right_sense_are_asked_for() -> None:
    listed = found(corpus("buy.01", (SrlArgument("A1", 4, 4), SrlArgument("A2", 1, 1))), corpus("buy.01"))
    assert [(one.prompt, one.predicted, one.expected) for one in listed] == [
        ("Who or what bought some bonds?", NOTHING, "XYZ company"),
        ("What is A2 of buy.01, where A1 is “some bonds”?", "XYZ company", NOTHING),
        ("Some bonds was bought XYZ company.", "yes", "no"),
        ("XYZ company bought some bonds.", "no", "yes"),
    ]
    assert {one.kind for one in listed} == {WRONG_ARGUMENTS}
    assert (listed[0].points, listed[0].existing, listed[0].primesrl) == (3, 2, 2)
    assert counted(listed)[WRONG_ARGUMENTS]["predicates"] == 1
    assert counted(listed)[WRONG_SENSE]["predicates"] == 0


def test_what_is_right_or_wrong_altogether_or_only_in_context_has_no_consequences() -> None:
    gold = corpus("buy.01")
    assert found(gold, gold) == []
    assert found(corpus("sell.01", BUY[:1]), gold) == []
    assert found(corpus("buy.01", BUY[:2]), gold) == []
    assert found(corpus("sell.01", BUY[2:]), corpus("buy.01", BUY[2:])) == [], "there is no core argument"


def test_senses_that_are_no_verbs_are_named() -> None:
    listed = found(corpus("Commerce_sell"), corpus("Commerce_buy"))
    assert listed[0].prompt == "What is A0 of Commerce_buy, where A1 is “some bonds”?"
    assert listed[2].prompt == "Commerce_sell has A0 “XYZ company”, A1 “some bonds”."


def test_files_without_words_are_refused() -> None:
    with pytest.raises(UserError, match="has no words"):
        found(corpus("sell.01", words=()), corpus("buy.01", words=()))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_the_command_counts_lists_and_exports_them(tmp_path: Path) -> None:
    system, gold, out = (tmp_path / name for name in ("ours.conll09", "gold.conll09", "wrong.csv"))
    system.write_text(written(corpus("sell.01"), "conll09"), "utf-8")
    gold.write_text(written(corpus("buy.01"), "conll09"), "utf-8")
    command = ("evaluate", "srl", system, gold, "--consequences-out", out)
    shown = run(*command)
    assert shown.exit_code == 0, shown.output
    assert "Wrote 4 rows" in shown.output
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == Consequence._fields
    assert rows[1]["prompt"] == "Who or what sold some bonds?"
    assert "--force" in run(*command).output
    listed = run("evaluate", "srl", system, gold, "--consequences")
    assert "Consequences of errors of ours" in listed.output
    answer = json.loads(run("evaluate", "srl", system, gold, "--consequences", "--json").stdout)
    assert answer["consequences"]["ours"]["counts"][WRONG_SENSE] == {
        "predicates": 1, "questions": 2, "entailments": 2, "points": 3, "existing": 3, "primesrl": 0,
    }  # fmt: skip
    assert len(answer["consequences"]["ours"]["listed"]) == 4
    assert "consequences" not in json.loads(run("evaluate", "srl", system, gold, "--json").stdout)
