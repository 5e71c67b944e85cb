"""The scorers of semantic roles, on small sentences whose numbers can be counted by hand."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from chorale.cli import app
from chorale.files.source import Source
from chorale.kits.srl.files import Corpus, FrameRelations, Sentence, SrlArgument, SrlPredicate, parse_srl, with_spans
from chorale.kits.srl.metrics import (
    MetricOutcome,
    Names,
    conll05,
    conll08,
    conll09,
    core_roles,
    findings,
    only_common,
    primesrl,
    primesrl_program,
    semeval07,
    senseval3,
)
from chorale.kits.srl.metrics.conll09 import sense_number
from chorale.kits.srl.reproduction import PAPER
from chorale.metrics import Counts, Statistics, compare, counts_metric, intervals, tally_compare, tally_intervals
from srl_files import written

WORDS = ("Ann", "the", "baker", "gave", "old", "Bob", "warm", "bread", "daily", ".")
HEADS = (4, 3, 1, 0, 6, 4, 8, 4, 4, 4)


def sentence(
    *predicates: tuple[int, str, dict[int, str] | list[SrlArgument]],
    heads: tuple[int, ...] = HEADS,
    words: tuple[str, ...] = WORDS,
) -> Sentence:
    """Tokens are counted from 1 in roles, as in files."""
    found = []
    for position, sense, roles in predicates:
        arguments = (
            roles if isinstance(roles, list) else [SrlArgument(role, at - 1, at - 1) for at, role in roles.items()]
        )
        found.append(SrlPredicate(position - 1, sense.partition(".")[0], sense, tuple(arguments)))
    blank = ("_",) * len(words)
    return Sentence(1, len(words), tuple(found), words, blank, blank, blank, blank, heads, blank)


GOLD = sentence((4, "give.01", {1: "A0", 6: "A2", 8: "A1", 9: "AM-TMP"}))


def scores(outcome: MetricOutcome, *names: str) -> list[float]:
    found = outcome.scores()
    return [round(found[name], 4) for name in names]


# PriMeSRL


def test_a_wrong_sense_spoils_core_arguments_and_nothing_else() -> None:
    system = sentence((4, "sell.01", {1: "A0", 6: "A2", 8: "A1", 9: "AM-TMP"}))
    outcome = primesrl([system], [GOLD])
    assert scores(outcome, "predicate_id.f1", "sense.f1", "core.f1", "context.f1") == [1, 0, 0, 1]
    assert scores(outcome, "argument.precision", "argument.recall") == [0.25, 0.25]
    assert outcome.tallies["core"]["missing"] == outcome.tallies["core"]["spurious"] == 3


def test_missing_and_spurious_predicates_take_their_arguments_with_them() -> None:
    system = sentence((5, "old.01", {6: "A1"}))
    outcome = primesrl([system], [GOLD])
    assert outcome.totals() == {
        "predicates": 0, "system_predicates": 1, "gold_predicates": 1, "senses": 0,
        "core": 0, "system_core": 1, "gold_core": 3, "context": 0, "system_context": 0, "gold_context": 1,
    }  # fmt: skip
    assert int(outcome.wrong[0]) == 7


@pytest.mark.parametrize(
    ("roles", "right", "returned"),
    [
        ({1: "A1", 8: "C-A1"}, 1, 1),
        ({1: "C-A1", 8: "A1"}, 1, 1),
        ({1: "C-A1", 8: "C-A1"}, 1, 1),
        ({1: "A1"}, 0, 1),
        ({1: "A1", 6: "C-A1", 8: "C-A1"}, 0, 1),
        ({1: "A1", 8: "C-A2"}, 0, 2),
    ],
)
def test_parts_of_an_argument_are_one_argument(roles: dict[int, str], right: int, returned: int) -> None:
    gold = sentence((4, "give.01", {1: "A1", 8: "C-A1"}))
    for mode in ("head", "span"):
        totals = primesrl([sentence((4, "give.01", roles))], [gold], mode=mode).totals()
        assert (totals["core"], totals["system_core"], totals["gold_core"]) == (right, returned, 1)


def test_a_reference_is_right_only_with_what_it_refers_to() -> None:
    gold = sentence((4, "give.01", {1: "A0", 3: "R-A0"}))

    def right(roles: dict[int, str]) -> float:
        return primesrl([sentence((4, "give.01", roles))], [gold]).totals()["core"]

    assert right({1: "A0", 3: "R-A0"}) == 2
    assert right({1: "A1", 3: "R-A0"}) == 0
    assert right({3: "R-A0"}) == 0
    assert right({2: "A0", 3: "R-A0"}) == 0
    assert right({1: "A0", 3: "R-A1"}) == 1


def test_a_reference_to_nothing_stands_alone() -> None:
    gold = sentence((4, "give.01", {3: "R-AM-MNR"}))
    assert primesrl([gold], [gold]).totals()["context"] == 1
    with_other = sentence((4, "give.01", {3: "R-AM-MNR", 9: "AM-MNR"}))
    assert primesrl([with_other], [gold]).totals()["context"] == 0


def test_in_span_mode_tokens_count_and_in_head_mode_heads() -> None:
    gold = sentence((4, "give.01", {1: "A0"}))
    # The apposition's head is under the subject: the tokens are the same, the heads are not.
    system = sentence((4, "give.01", {1: "A0", 3: "C-A0"}))
    assert primesrl([system], [gold], mode="head").totals()["core"] == 0
    assert primesrl([system], [gold], mode="span").totals()["core"] == 1


def test_errors_are_named_and_each_argument_is_in_one() -> None:
    system = sentence((4, "give.01", {1: "A1", 5: "A2", 8: "A3", 10: "AM-LOC"}))
    tallies = primesrl([system], [GOLD]).tallies
    assert {kind: count for kind, count in tallies["core"].items() if count} == {
        "same_span_different_label": 2,
        "same_label_different_span": 1,
    }
    assert {kind: count for kind, count in tallies["context"].items() if count} == {"missing": 1, "spurious": 1}


def test_the_authors_program_counts_an_argument_in_every_pair() -> None:
    gold = sentence((4, "give.01", {1: "AM-TMP", 6: "AM-TMP"}))
    system = sentence((4, "give.01", {3: "AM-TMP", 8: "AM-TMP"}))
    assert primesrl([system], [gold]).totals()["gold_context"] == 2
    outcome = primesrl_program([system], [gold])
    assert (outcome.totals()["gold_context"], outcome.totals()["system_context"]) == (4, 4)
    assert outcome.tallies["context"]["same_label_different_span"] == 4
    assert outcome.tables["roles"]["AM-TMP"] == Counts(0, 4, 4)


@pytest.mark.parametrize(
    ("gold", "system", "paper", "program"),
    [
        # The reference's argument lacks a part: it is wrong. The program looks at its first piece only.
        ({1: "A0", 3: "R-A0", 8: "C-A0"}, {1: "A0", 3: "R-A0"}, 0, 1),
        # Which part is called C-A0 makes no difference in the paper; in the program it does to the reference.
        ({1: "A0", 3: "R-A0", 8: "C-A0"}, {1: "C-A0", 3: "R-A0", 8: "A0"}, 2, 1),
        # Three parts: the program puts their words together in another order.
        ({1: "A0", 6: "C-A0", 8: "C-A0"}, {1: "C-A0", 6: "C-A0", 8: "A0"}, 1, 0),
        # The program takes a part of a reference for a reference of its own.
        ({1: "A0", 3: "R-A0", 8: "C-R-A0"}, {1: "A0", 3: "R-A0"}, 1, 2),
    ],
)
def test_references_of_the_paper_and_of_the_program(
    gold: dict[int, str], system: dict[int, str], paper: int, program: int
) -> None:
    both = [sentence((4, "give.01", system))], [sentence((4, "give.01", gold))]
    assert primesrl(*both).totals()["core"] == paper
    assert primesrl_program(*both).totals()["core"] == program


def test_the_program_leaves_out_roles_without_a_digit_or_am() -> None:
    gold = sentence((4, "give.01", {1: "AA", 6: "A1"}))
    assert primesrl([gold], [gold]).totals()["context"] == 1
    totals = primesrl_program([gold], [gold]).totals()
    assert (totals["core"], totals["context"], totals["gold_context"]) == (1, 0, 0)


def test_core_roles_can_be_declared() -> None:
    gold = sentence((4, "give.01", {1: "AA", 6: "A1", 8: "A2"}))
    system = sentence((4, "sell.01", {1: "AA", 6: "A1", 8: "A2"}))
    assert primesrl([system], [gold]).totals()["context"] == 1
    declared = primesrl([system], [gold], core=core_roles("numbered,AA")).totals()
    assert (declared["gold_core"], declared["context"]) == (3, 0)
    only = primesrl([system], [gold], core=core_roles("ARG1")).totals()
    assert (only["gold_core"], only["context"]) == (1, 2)


def test_other_trees_give_errors_of_their_own() -> None:
    gold = sentence((4, "give.01", {8: "A1", 6: "A2"}))
    # “warm” hangs elsewhere, so “bread” has fewer tokens; “old” is the head of “old Bob”.
    heads = (4, 3, 1, 0, 4, 5, 4, 4, 4, 4)
    system = sentence((4, "give.01", {8: "A1", 5: "A2"}), heads=heads)
    outcome = primesrl([system], [gold])
    assert outcome.tallies["core"]["same_head_different_span"] == 1
    assert outcome.tallies["core"]["same_span_different_head"] == 1
    assert outcome.totals()["core"] == 1


def test_findings_say_what_went_wrong_in_words() -> None:
    system = sentence((4, "sell.01", {1: "A0", 8: "AM-TMP"}), (5, "old.01", {6: "A1"}))
    told = {(one.kind, one.gold, one.system) for one in findings(system, GOLD, "head")}
    assert ("wrong_sense", "give.01", "sell.01") in told
    assert ("missing", "A1 “bread”", "") in told
    assert ("same_label_different_span", "AM-TMP “daily”", "AM-TMP “bread”") in told
    assert ("spurious_predicate", "", "old.01") in told
    assert not list(findings(GOLD, GOLD, "head"))


# CoNLL-2005


def spans(*arguments: tuple[str, int, int], verb: str = "give") -> Sentence:
    return Sentence(1, 10, (SrlPredicate(3, verb, verb, tuple(SrlArgument(*one) for one in arguments)),))


def test_spans_and_labels_must_both_be_right() -> None:
    gold = spans(("A0", 0, 2), ("A2", 4, 5), ("A1", 6, 7))
    system = spans(("A0", 0, 2), ("A2", 5, 5), ("AM-TMP", 6, 7))
    outcome = conll05([system], [gold])
    assert outcome.totals() == {"correct": 1, "excess": 2, "missed": 2, "propositions": 1, "perfect": 0}
    assert outcome.confusion == {("A0", "A0"): 1, ("A1", "AM-TMP"): 1, ("A2", "-NONE-"): 1, ("-NONE-", "A2"): 1}
    assert outcome.tables["roles"]["A2"].as_dict()["fn"] == 1


def test_a_continuation_belongs_to_the_last_argument_of_its_label() -> None:
    gold = spans(("A1", 0, 1), ("A1", 4, 5), ("C-A1", 7, 7))
    assert conll05([gold], [gold]).totals()["correct"] == 2
    halves = spans(("A1", 0, 1), ("A1", 4, 5))
    assert conll05([halves], [gold]).totals()["correct"] == 1
    first = spans(("C-A1", 0, 1), ("A1", 4, 5), ("C-A1", 7, 7))
    assert conll05([first], [gold]).totals() == conll05([gold], [gold]).totals()


def test_another_verb_makes_all_gold_arguments_missed_and_excess_propositions_do_not_count() -> None:
    gold = spans(("A0", 0, 2), ("A1", 6, 7))
    other = spans(("A0", 0, 2), ("A1", 6, 7), verb="sell")
    assert conll05([other], [gold]).totals()["missed"] == 2
    assert conll05([other], [gold]).totals()["excess"] == 0
    more = gold._replace(predicates=(*gold.predicates, SrlPredicate(8, "go", "go", (SrlArgument("A0", 0, 0),))))
    assert conll05([more], [gold]).scores()["precision"] == 1
    assert conll05([gold], [more]).totals()["missed"] == 1


# CoNLL-2009 and 2008


def test_the_sense_is_a_dependency_and_only_its_number_counts() -> None:
    system = sentence((4, "sell.1", {1: "A0", 6: "A1", 8: "A1"}))
    outcome = conll09([system], [GOLD])
    assert scores(outcome, "labeled.precision", "labeled.recall") == [0.75, 0.6]
    assert scores(outcome, "unlabeled.precision", "unlabeled.recall") == [1.0, 0.8]
    assert scores(outcome, "sense.f1", "argument.recall", "proposition.f1", "exact_match") == [1, 0.5, 0, 0]


def test_sense_numbers_are_compared_as_numbers() -> None:
    assert sense_number("buy.01") == sense_number("sell.1") != sense_number("buy.10")
    assert sense_number("come") != sense_number("go")


def test_a_token_with_two_roles_counts_twice() -> None:
    gold = sentence((4, "give.01", [SrlArgument("A0", 0, 0), SrlArgument("AM-ADV", 0, 0)]))
    system = sentence((4, "give.01", [SrlArgument("A0", 0, 0), SrlArgument("A1", 0, 0)]))
    totals = conll09([system], [gold]).totals()
    assert (totals["arguments"], totals["arguments_unlabeled"]) == (1, 2)


def test_the_overall_score_of_2008_is_the_mean_of_syntax_and_semantics() -> None:
    system = sentence((4, "give.02", {1: "A0"}), heads=(4, 3, 1, 0, 6, 4, 8, 4, 4, 9))
    outcome = conll08([system], [GOLD])
    assert scores(outcome, "las", "labeled.precision", "labeled.recall") == [0.9, 0.5, 0.2]
    assert scores(outcome, "macro.precision", "macro.recall", "exact_syntax") == [0.7, 0.55, 0]
    with pytest.raises(ValueError, match="syntax"):
        conll08([system._replace(heads=())], [GOLD])


def test_only_common_predicates_can_be_looked_at() -> None:
    system = sentence((4, "give.01", {1: "A0"}), (5, "old.01", {6: "A1"}))
    gold = sentence((4, "give.01", {1: "A0"}), (8, "bread.01", {}))
    assert conll09([system], [gold]).scores()["labeled.f1"] < 1
    assert conll09(*only_common([system], [gold])).scores()["labeled.f1"] == 1


# Senseval-3 and SemEval-2007


def test_senseval_counts_overlapping_elements_and_how_much_they_overlap() -> None:
    gold = spans(("A0", 0, 2), ("A2", 4, 5), ("A1", 6, 7))
    system = spans(("A0", 0, 2), ("A2", 5, 7), ("AM-TMP", 8, 8))
    outcome = senseval3([system], [gold])
    assert scores(outcome, "precision", "recall", "attempted", "overlap") == [0.6667, 0.6667, 1, 0.75]


def test_senseval_counts_characters_where_there_are_words() -> None:
    gold = sentence((4, "Giving", [SrlArgument("Recipient", 4, 5)]), heads=())
    system = sentence((4, "Giving", [SrlArgument("Recipient", 5, 5)]), heads=())
    # “Bob” of “old Bob”.
    assert scores(senseval3([system], [gold]), "overlap") == [round(3 / 7, 4)]
    assert scores(senseval3([gold], [system]), "overlap") == [1]


RELATIONS = FrameRelations(
    frames={"Giving": {"Transfer"}, "Transfer": {"Giving", "Event"}, "Event": {"Transfer"}},
    elements={("Giving", "Donor"): {("Transfer", "Source")}, ("Transfer", "Source"): {("Giving", "Donor")}},
    peripheral=frozenset({("Giving", "Time")}),
)


def frames(frame: str, *elements: tuple[str, int, int]) -> Sentence:
    return Sentence(1, 10, (SrlPredicate(3, frame, frame, tuple(SrlArgument(*one) for one in elements)),))


def semeval(system: Sentence, gold: Sentence) -> list[float]:
    return scores(semeval07([system], [gold], relations=RELATIONS), "frame.f1", "element.precision", "element.recall")


def test_related_frames_earn_less_the_farther_they_are() -> None:
    gold = frames("Giving", ("Donor", 0, 2), ("Time", 8, 8))
    assert semeval(gold, gold) == [1, 1, 1]
    assert semeval(frames("Transfer", ("Source", 0, 2)), gold) == [0.8, 0.8, round(0.8 / 1.5, 4)]
    assert semeval(frames("Event"), gold)[0] == 0.64
    assert semeval(frames("Cooking", ("Donor", 0, 2)), gold) == [0, 0, 0]
    assert semeval(frames("Giving", ("Time", 8, 8)), gold) == [1, 1, round(0.5 / 1.5, 4)]
    assert semeval(frames("Giving", ("Donor", 0, 1)), gold) == [1, 0, 0]


# Whatever the sentences are


FEW = settings(max_examples=50, deadline=None)
LABELS = ["A0", "A1", "A2", "C-A1", "R-A0", "R-A1", "AM-TMP", "AM-LOC", "C-AM-TMP"]


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    size = draw(st.integers(2, 7))
    # Every token hangs under one before it, so that it is a tree.
    heads = tuple(draw(st.integers(0, index)) for index in range(size))
    found = []
    for position in sorted(draw(st.sets(st.integers(0, size - 1), max_size=2))):
        sense = draw(st.sampled_from(["do.01", "do.02", "go.01"]))
        places = draw(st.dictionaries(st.integers(0, size - 1), st.sampled_from(LABELS), max_size=5))
        arguments = tuple(SrlArgument(label, at, at) for at, label in sorted(places.items()))
        found.append(SrlPredicate(position, sense[:2], sense, arguments))
    words = tuple(f"w{index}" for index in range(size))
    blank = ("_",) * size
    return Sentence(1, size, tuple(found), words, words, blank, blank, blank, heads, blank)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Sentence, Sentence]:
    """A gold sentence, and what some system said about it."""
    gold = draw(sentences())
    other = draw(sentences())
    kept = [one for one in other.predicates if one.position < gold.length]
    predicates = tuple(
        one._replace(arguments=tuple(each for each in one.arguments if each.first < gold.length)) for one in kept
    )
    return (gold if draw(st.booleans()) else gold._replace(predicates=predicates)), gold


def all_outcomes(system: Sequence[Sentence], gold: Sequence[Sentence]) -> dict[str, MetricOutcome]:
    one, other = [with_spans(each) for each in system], [with_spans(each) for each in gold]
    relations = FrameRelations({"do.01": {"go.01"}, "go.01": {"do.01"}}, {})
    return {
        "head": primesrl(system, gold),
        "span": primesrl(system, gold, mode="span"),
        "conll05": conll05(one, other),
        "conll08": conll08(system, gold),
        "conll09": conll09(system, gold),
        "senseval3": senseval3(system, gold),
        "semeval07": semeval07(system, gold, relations=relations),
    }


@FEW
@given(st.lists(sentences(), min_size=1, max_size=4))
def test_perfect_input_scores_one(gold: list[Sentence]) -> None:
    for name, outcome in all_outcomes(gold, gold).items():
        assert not outcome.wrong.any(), name
        # Of nothing, nothing was right: where there are no arguments of a kind their score is 0.
        totals = outcome.totals()
        if name != "conll08" or totals["gold_predicates"]:
            assert set(np.round(list(outcome.scores().values()), 9)) <= {0.0, 1.0}, name
        if name == "head" and totals["gold_core"]:
            assert outcome.scores()["core.f1"] == 1
        if name == "conll05" and totals["correct"]:
            assert outcome.scores()["f1"] == outcome.scores()["perfect"] == 1


@FEW
@given(st.lists(pairs(), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_sentences_does_not_matter(found: list[tuple[Sentence, Sentence]], rng: random.Random) -> None:
    shuffled = found.copy()
    rng.shuffle(shuffled)
    first, second = (all_outcomes(*map(list, zip(*each, strict=True))) for each in (found, shuffled))
    for name in first:
        assert first[name].totals() == pytest.approx(second[name].totals())
        assert first[name].scores() == pytest.approx(second[name].scores())
        assert first[name].tallies == second[name].tallies
        assert first[name].tables == second[name].tables


@FEW
@given(st.lists(pairs(), min_size=1, max_size=4))
def test_statistics_of_sentences_add_up_to_the_total(found: list[tuple[Sentence, Sentence]]) -> None:
    together = all_outcomes(*map(list, zip(*found, strict=True)))
    apart = [all_outcomes([system], [gold]) for system, gold in found]
    for name, outcome in together.items():
        rows = np.vstack([one[name].statistics.rows for one in apart])
        assert np.allclose(rows, outcome.statistics.rows)
        assert {key: sum(one[name].totals()[key] for one in apart) for key in outcome.columns} == pytest.approx(
            outcome.totals()
        )


@FEW
@given(st.lists(pairs(), min_size=1, max_size=3))
def test_errors_account_for_every_argument(found: list[tuple[Sentence, Sentence]]) -> None:
    outcome = primesrl(*map(list, zip(*found, strict=True)))
    totals = outcome.totals()
    for group in ("core", "context"):
        tally = outcome.tallies[group]
        paired = sum(count for kind, count in tally.items() if kind not in ("missing", "spurious"))
        assert paired + tally["missing"] == totals[f"gold_{group}"]
        assert paired + tally["spurious"] == totals[f"system_{group}"]


@FEW
@given(sentences(), st.data())
def test_adding_a_correct_argument_never_lowers_recall(gold: Sentence, data: st.DataObject) -> None:
    """The system has some of the gold's arguments (each with all its parts); it gets one more."""
    labels = sorted({(each.position, _whole(one)) for each in gold.predicates for one in each.arguments})
    if not labels:
        return
    kept = set(data.draw(st.lists(st.sampled_from(labels), unique=True)))
    more = kept | {data.draw(st.sampled_from(labels))}
    before, after = (all_outcomes([_with(gold, part)], [gold]) for part in (kept, more))
    for name, score in (
        ("head", "argument.recall"),
        ("span", "argument.recall"),
        ("conll09", "labeled.recall"),
        ("conll08", "labeled.recall"),
        ("senseval3", "recall"),
        ("semeval07", "all.recall"),
    ):
        assert after[name].scores()[score] >= before[name].scores()[score] - 1e-12, name


@given(sentences(), st.data())
def test_adding_a_correct_span_never_lowers_recall(gold: Sentence, data: st.DataObject) -> None:
    gold = with_spans(gold)
    labels = sorted({(each.position, _whole(one)) for each in gold.predicates for one in each.arguments})
    if not labels:
        return
    kept = set(data.draw(st.lists(st.sampled_from(labels), unique=True)))
    more = kept | {data.draw(st.sampled_from(labels))}
    before, after = (conll05([_with(gold, part)], [gold]) for part in (kept, more))
    assert after.scores()["recall"] >= before.scores()["recall"]


def _whole(argument: SrlArgument) -> str:
    return argument.label.removeprefix("C-")


def _with(gold: Sentence, kept: set[tuple[int, str]]) -> Sentence:
    return gold._replace(
        predicates=tuple(
            each._replace(arguments=tuple(one for one in each.arguments if (each.position, _whole(one)) in kept))
            for each in gold.predicates
        )
    )


@FEW
@given(st.lists(pairs(), min_size=1, max_size=3))
def test_every_format_gives_the_same_result(found: list[tuple[Sentence, Sentence]]) -> None:
    both = {}
    for name in ("conllu", "conll09", "conll05"):
        texts = []
        for side in zip(*found, strict=True):
            corpus = parse_srl(Source("x", "1\tx\tx\t_\t_\t_\t0\t_\t_\t_\n", ""), "conllu")
            read = type(corpus)(corpus.name, "conllu", "", list(side))
            texts.append(parse_srl(Source("x", written(read, name), ""), name).sentences)
        both[name] = texts
    assert primesrl(*both["conllu"]).totals() == primesrl(*both["conll09"]).totals()
    assert conll09(*both["conllu"]).totals() == conll09(*both["conll09"]).totals()
    by_tree = [[with_spans(each) for each in side] for side in both["conllu"]]
    assert conll05(*by_tree).totals() == conll05(*both["conll05"]).totals()


def test_arrays_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="the same number of sentences, not 2 and 1"):
        primesrl([GOLD, GOLD], [GOLD])
    with pytest.raises(ValueError, match="no sentences"):
        conll05([], [])


# The paper's own tables


def test_every_cell_of_table_3_comes_out_and_what_is_not_public_says_so(tmp_path: Path) -> None:
    """Table 3 needs no files. Those of Tables 1 and 2 are made here after the paper's description of them."""
    write_released_cases(tmp_path)
    cells = list(PAPER.cells(PAPER.data(tmp_path), lambda done, total: None))
    by_table = {table: [cell for cell in cells if cell.table == table] for table in {cell.table for cell in cells}}
    assert len(by_table["Table 1"]) == 40
    assert len(by_table["Table 2"]) == 64
    assert len(by_table["Table 3"]) == 56
    for table in ("Table 1", "Table 2", "Table 3", "Table 6"):
        assert [cell.name for cell in by_table[table] if not cell.agrees] == []
    for table in ("Table 4", "Table 5", "Table 7"):
        assert all(cell.ours is None and cell.reason for cell in by_table[table])


def write_released_cases(folder: Path) -> None:
    """Cases of the same structure as the released ones, over other words."""
    senses = {
        "test": "buy.01",
        "pred_gold": "buy.01",
        "pred_p1": "buy_out.03",
        "pred_p2": "buy.05",
        "pred_p3": "sell.01",
    }
    for name, sense in senses.items():
        roles = {1: "AM-TMP", 3: "A0", 6: "A1"}
        write_case(folder / f"primesrl/sense/sense_{name}.conllu", (4, 4, 4, 0, 6, 4, 4), {4: (sense, roles)})
    parts = ["A0 C-A0", "A0 C-A0", "A0 C-A1", "A1 C-A0", "A1 C-A1", "C-A0 A0", "A1 C-A2", "C-A0 C-A0", "C-A0 _"]
    names = ["test", "pred_gold", *(f"pred_p{number}" for number in range(1, 8))]
    heads = (3, 3, 6, 6, 6, 0, 8, 6, 10, 6, 12, 6, 15, 15, 12, 6)
    for name, pair in zip(names, parts, strict=True):
        first, last = pair.split()
        roles = {3: first, 8: "A2", 10: "AM-TMP", 12: last}
        path = folder / f"primesrl/sense-c/sense_c_{name}.conllu"
        write_case(path, heads, {4: ("have.01", {}), 5: ("be.03", {}), 6: ("tire.01", roles)})
    nouns = ({5: "A0"}, {5: "A0"}, {5: "A1"}, {5: "A0"}, {5: "A1"}, {4: "A0"}, {5: "R-A0"}, {5: "R-A0"})
    pronouns = ("R-A0", "R-A0", "R-A0", "R-A1", "R-A1", "R-A0", "R-A0", "A0")
    for name, noun, pronoun in zip(names, nouns, pronouns, strict=False):
        path = folder / f"primesrl/sense-r/sense_r_{name}.conllu"
        write_case(path, (5, 5, 5, 5, 0, 7, 5, 7, 5), {7: ("go.01", {**noun, 6: pronoun, 8: "A4"})})


def write_case(path: Path, heads: tuple[int, ...], predicates: dict[int, tuple[str, dict[int, str]]]) -> None:
    rows = []
    for number, head in enumerate(heads, 1):
        marks = ("Y", predicates[number][0]) if number in predicates else ("_", "_")
        columns = [roles.get(number, "_") for _, roles in predicates.values()]
        rows.append("\t".join([str(number), f"w{number}", "_", "_", "_", "_", str(head), "dep", *marks, *columns]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(rows) + "\n\n", "utf-8")


def test_the_case_joined_spans_give_is_told_in_the_reason(tmp_path: Path) -> None:
    write_released_cases(tmp_path)
    computed = PAPER.cells(PAPER.data(tmp_path), lambda done, total: None)
    cells = {cell.name: cell for cell in computed if cell.table == "Table 3"}
    assert "1/2" in cells["span P, CoNLL05: P5"].reason
    assert cells["span P, CoNLL05: P5"].ours == pytest.approx(1 / 3)


# The command


def run(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["evaluate", "srl", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def run_json(*arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*arguments, "--json").stdout)
    return found


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Gold, a system that is nearly right, and one that is not, in every format."""
    good = sentence((4, "give.01", {1: "A0", 6: "A2", 8: "A1"}))
    bad = sentence((4, "sell.02", {1: "A1", 6: "A2"}))
    found = {}
    for name, one in (("gold", GOLD), ("good", good), ("bad", bad)):
        corpus = parse_srl(Source(name, "1\tx\tx\t_\t_\t_\t0\t_\t_\t_\n", ""), "conllu")
        for ending in ("conllu", "conll09", "conll05"):
            path = tmp_path / f"{name}.{ending}"
            path.write_text(written(type(corpus)(name, "conllu", "", [one, GOLD]), ending), "utf-8")
            found[path.name] = path
    return found


def test_json_has_the_promised_shape(files: dict[str, Path]) -> None:
    found = run_json(files["good.conllu"], files["bad.conllu"], files["gold.conllu"])
    assert list(found["systems"]) == ["good", "bad"]
    good = found["systems"]["good"]
    assert {"correct", "excess", "missed", "precision", "recall", "f1"} <= good["conll05"].keys()
    assert good["conll05"]["correct"] == 7
    assert isinstance(good["conll05"]["correct"], int)
    for group in ("labeled", "unlabeled", "proposition"):
        assert good["conll09"][group].keys() == {"precision", "recall", "f1"}
    for group in ("predicate_id", "sense", "argument", "core", "context"):
        assert good["primesrl"][group].keys() == {"precision", "recall", "f1"}
    assert good["primesrl"]["context"]["recall"] == 0.5
    assert found["signature"].startswith("srl/primesrl+conll05+conll09+conll08|mode:head|")
    assert found["ranks"]["primesrl"] == {"good": 1, "bad": 2}


def test_formats_of_the_same_content_give_the_same_numbers(files: dict[str, Path]) -> None:
    found = {
        ending: run_json(files[f"bad.{ending}"], files[f"gold.{ending}"])["systems"]["bad"]
        for ending in ("conllu", "conll09", "conll05")
    }
    assert found["conllu"] == found["conll09"]
    assert found["conllu"]["conll05"] == found["conll05"]["conll05"]
    assert set(found["conll05"]) == {"primesrl", "conll05"}


def test_system_and_gold_may_be_in_different_formats(tmp_path: Path) -> None:
    one = sentence((4, "give_up.01", {1: "A0", 8: "A1"}))
    one = one._replace(predicates=(one.predicates[0]._replace(lemma="give_up"),))
    corpus = parse_srl(Source("x", "1\tx\tx\t_\t_\t_\t0\t_\t_\t_\n", ""), "conllu")
    for ending in ("conllu", "conll05"):
        (tmp_path / f"x.{ending}").write_text(written(type(corpus)("x", "conllu", "", [one]), ending), "utf-8")
    assert "give_up (" not in (tmp_path / "x.conllu").read_text("utf-8")
    assert "give_up *" in (tmp_path / "x.conll05").read_text("utf-8")
    found = run_json(tmp_path / "x.conllu", tmp_path / "x.conll05")["systems"]["x"]
    assert found["conll05"]["f1"] == 1
    assert found["primesrl"]["sense"]["f1"] == found["primesrl"]["argument"]["f1"] == 1
    assert set(found) == {"primesrl", "conll05"}


def test_tables_for_people_say_everything_and_latex_is_latex(files: dict[str, Path]) -> None:
    shown = run(files["bad.conllu"], files["gold.conllu"], "--worst", 2, "--confusion", "--ci", "--resamples", 100)
    for text in ("by role", "Worst sentences", "wrong sense: give.01 → sell.02", "Confusion of roles", "95% interval"):
        assert text in shown.stdout
    latex = run(files["bad.conllu"], files["gold.conllu"], "--latex").stdout
    assert r"\begin{tabular}" in latex
    assert "predicate\\_id" in latex
    assert "rank" not in latex
    assert "or value" not in latex
    assert "ranked by" in run(files["bad.conllu"], files["good.conllu"], files["gold.conllu"]).stdout


def test_a_word_that_is_almost_an_option_is_guessed(files: dict[str, Path]) -> None:
    both = files["bad.conllu"], files["gold.conllu"]
    assert "Did you mean primesrl?" in run(*both, "--metric", "primsrl", code=2).output
    assert "Did you mean conllu?" in run(*both, "--format", "conlu", code=2).output
    assert "Did you mean span?" in run(*both, "--mode", "spans", code=2).output
    assert "Did you mean common?" in run(*both, "--predicates", "comon", code=2).output
    assert "Did you mean joined?" in run(*both, "--spans", "join", code=2).output


def test_worst_sentences_and_confusion_are_in_the_json(files: dict[str, Path]) -> None:
    found = run_json(files["bad.conllu"], files["gold.conllu"], "--worst", 5, "--confusion", "--metric", "conll05")
    (worst,) = found["systems"]["bad"]["worst"]
    assert (worst["sentence"], worst["line"], worst["text"]) == (1, 1, " ".join(WORDS))
    assert {"kind": "wrong_sense", "predicate": 4, "gold": "give.01", "system": "sell.02"} in worst["errors"]
    assert found["systems"]["bad"]["conll05"]["confusion"]["A0"] == {"-NONE-": 1, "A0": 1}


def test_intervals_and_tests_come_with_every_metric(files: dict[str, Path]) -> None:
    options = ["--ci", "--resamples", 200, "--seed", 3, "--against", files["bad.conllu"]]
    found = run_json(files["good.conllu"], files["gold.conllu"], *options)
    # A single sentence does not tell how far the score would move.
    assert found["systems"]["good"]["primesrl"]["ci"]["argument.f1"] is None
    compared = found["against"]["systems"]["good"]["conll09"]["labeled.f1"]
    assert compared["difference"] == pytest.approx(compared["value"] - compared["other"])
    assert found["against"]["name"] == "bad"
    assert "resamples:200|seed:3" in found["signature"]
    assert found == run_json(files["good.conllu"], files["gold.conllu"], *options)


def test_every_role_has_intervals_and_is_compared(files: dict[str, Path]) -> None:
    options = ["--ci", "--resamples", 200, "--against", files["gold.conllu"]]
    found = run_json(files["bad.conllu"], files["gold.conllu"], *options)
    system, compared = found["systems"]["bad"], found["against"]["systems"]["bad"]
    for metric, tables in {"primesrl": ["roles"], "conll05": ["roles"], "conll09": ["roles", "tags_and_roles"]}.items():
        for table in tables:
            for name, counts in system[metric][table].items():
                for score in ("precision", "recall", "f1"):
                    low, high = counts["ci"][score] or (0, 1)
                    assert 0 <= low <= counts[score] <= high <= 1
                    one = compared[metric]["tables"][table][name][score]
                    assert one["value"] == pytest.approx(counts[score])
                    assert one["difference"] == pytest.approx(counts[score] - one["other"])
    shown = run(files["bad.conllu"], files["gold.conllu"], *options).stdout
    assert "95% interval" in shown
    assert "A1 recall" in shown
    assert "Errors by PriMeSRL" in shown
    errors = system["primesrl"]["errors"]
    assert errors["core"]["missing"] > 0
    for group in ("argument", "core", "context"):
        for kind, count in errors[group].items():
            assert errors["ci"][group][kind] is None
            one = compared["primesrl"]["errors"][group][kind]
            assert (one["value"], one["value"] - one["other"]) == (count, one["difference"])


def test_the_score_of_all_roles_has_one_interval_wherever_it_stands(files: dict[str, Path]) -> None:
    shown = run(files["bad.conllu"], files["gold.conllu"], "--ci", "--resamples", 100, "--metric", "primesrl").stdout
    of_arguments, of_all = (
        next(line.split()[-4:] for line in shown.splitlines() if line.startswith(start))
        for start in ("bad     argument", "all ")
    )
    assert of_arguments == of_all


def test_names_draw_whole_sentences_also_those_without_the_name() -> None:
    ours, theirs = Names(), Names()
    for number in range(40):
        ours.wanted.append("A0")
        ours.returned.append("A0")
        ours.right.extend(["A0"] * (number % 2))
        theirs.wanted.append("A0")
        if number == 7:
            for lists in ((ours.right, ours.returned, ours.wanted), (theirs.right, theirs.returned, theirs.wanted)):
                for names in lists:
                    names.append("A4")
        ours.close_sentence()
        theirs.close_sentence()
    assert {name: one.as_dict()["tp"] for name, one in ours.counts().items()} == {"A0": 20, "A4": 1}
    tallies = ours.tallies()
    assert tallies["A4"].counts.tolist() == [39, 1]
    dense = np.array([[number % 2, 1 - number % 2, 1 - number % 2] for number in range(40)], dtype=float)
    statistics = Statistics(tuple(map(str, range(40))), dense)
    assert tally_intervals(tallies["A0"], counts_metric()) == intervals(statistics, counts_metric())
    rare = tally_intervals(tallies["A4"], counts_metric())
    # One of one: Wilson's interval, and nothing of F1, for which the one sentence counts twice.
    assert rare["recall"].as_list() == pytest.approx([0.2065, 1], abs=1e-4)
    assert not rare["f1"].is_known
    nothing = Statistics(statistics.items, np.array([[0, 0, 1]] * 40, dtype=float))
    beside = tally_compare(ours.tallies_beside(theirs)["A0"], counts_metric())
    assert beside == compare(statistics, nothing, counts_metric())
    assert set(ours.tallies_beside(theirs)) == {"A0", "A4"}
    with pytest.raises(ValueError, match="same sentences"):
        ours.tallies_beside(Names())


def test_a_word_that_means_nothing_is_told_before_files_are_read(tmp_path: Path) -> None:
    missing = tmp_path / "missing.conllu"
    for option, told in (
        (["--metric", "bleu"], "unknown semantic role metric 'bleu'"),
        (["--mode", "tails"], "unknown mode 'tails'"),
    ):
        assert told in run(missing, missing, *option, code=2).stderr


def test_systems_of_one_name_stay_two(files: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    twin = tmp_path / "other" / "good.conllu"
    twin.write_bytes(files["bad.conllu"].read_bytes())
    found = run_json(files["good.conllu"], twin, files["gold.conllu"])
    assert list(found["systems"]) == ["good", "good-2"]


def test_semeval_and_senseval_run_from_the_command_line(files: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "framenet"
    folder.mkdir()
    (folder / "frRelation.xml").write_text(
        '<frameRelations><frameRelationType name="Inheritance">'
        '<frameRelation subFrameName="sell.02" superFrameName="give.01"/></frameRelationType></frameRelations>',
        "utf-8",
    )
    command = [files["bad.conllu"], files["gold.conllu"], "--metric", "senseval3,semeval07", "--framenet", folder]
    notes = run_json(*command)["notes"]
    assert not any("are not frames" in note for note in notes)
    found = run_json(*command)["systems"]["bad"]
    assert found["semeval07"]["frame"]["f1"] == pytest.approx(0.9)
    assert found["senseval3"]["attempted"] == pytest.approx(6 / 8)
    assert found["senseval3"]["overlap"] == 1
    (folder / "frRelation.xml").write_text("<frameRelations/>", "utf-8")
    assert any("1 of 1 senses" in note and "(e.g. give.01)" in note for note in run_json(*command)["notes"])


def test_common_predicates_and_apart_spans_are_options_of_the_signature(files: dict[str, Path]) -> None:
    signature = run_json(files["bad.conllu"], files["gold.conllu"], "--predicates", "common", "--spans", "apart")
    assert "|predicates:common|spans:apart|" in signature["signature"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["gold.conllu"], "At least two files are needed"),
        (["bad.conllu", "gold.conllu", "--metric", "bleu"], "unknown semantic role metric 'bleu'"),
        (["bad.conll05", "gold.conll05", "--metric", "conll09"], "marks spans, not heads"),
        (["bad.conll05", "gold.conll05", "--mode", "head"], "--mode head requires heads"),
        (["bad.conllu", "gold.conllu", "--metric", "semeval07"], "--framenet"),
        (["bad.conllu", "gold.conllu", "--metric", "semeval07", "--framenet", "."], "frRelation.xml"),
        (["bad.conllu", "gold.conllu", "--mode", "heads"], "unknown mode"),
        (["bad.conllu", "gold.conllu", "--predicates", "some"], "--predicates must be all or common"),
        (["bad.conllu", "gold.conllu", "--spans", "some"], "--spans must be joined or apart"),
        (["bad.conllu", "gold.conllu", "--format", "conll05"], "gold.conllu:1: has an invalid bracket"),
        (["bad.conllu", "missing.conllu"], "missing.conllu: does not exist"),
    ],
)
def test_a_users_mistake_is_a_message(files: dict[str, Path], arguments: list[str], told: str) -> None:
    given_files = [files.get(name, name) for name in arguments]
    result = run(*given_files, code=2)
    assert told in result.output
    assert "Traceback" not in result.output


def test_sentences_that_differ_are_told_with_lines(files: dict[str, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.conllu"
    other.write_text(files["gold.conllu"].read_text("utf-8").replace("bread", "cake"), "utf-8")
    result = run(other, files["gold.conllu"], code=2)
    assert "other.conllu:1: differs from" in result.output
    assert "token 8 is 'cake' here and 'bread' there" in result.output


def test_notes_say_what_a_number_leaves_out(files: dict[str, Path]) -> None:
    notes = run_json(files["bad.conllu"], files["gold.conllu"])["notes"]
    assert any("has a different verb than the gold in 1 proposition. All" in note for note in notes)
    notes = run_json(files["bad.conll05"], files["gold.conll05"])["notes"]
    assert any("lemma is used as its sense" in note for note in notes)


# Frame files


def frame_files(folder: Path) -> Path:
    """Two rolesets of one verb, one of them in another verb's file; a file that is not well-formed, and a comment."""
    (folder / "frames" / "nouns").mkdir(parents=True)
    roles = '<roles><role descr="giver" n="0"/><role n="1" descr="gift"/><!-- <role n="5"/> --></roles>'
    (folder / "frames" / "give.xml").write_text(
        f'<frameset><predicate><roleset id="give.01" name="x">{roles}<role n="2"/></roleset></predicate>', "utf-8"
    )
    (folder / "frames" / "nouns" / "gift.xml").write_text(f'<roleset name="y" id="sell.02">{roles}</roleset>', "utf-8")
    return folder / "frames"


def test_senses_and_roles_that_the_frame_files_lack_are_listed(files: dict[str, Path], tmp_path: Path) -> None:
    folder = frame_files(tmp_path)
    found = run_json(files["bad.conllu"], files["gold.conllu"], "--frames", folder)["frame_files"]
    assert found["gold"] == {
        "predicates": 2, "unknown_senses": 0, "numbered_arguments": 6, "unknown_roles": 0, "senses": {}, "roles": {},
    }  # fmt: skip
    # sell.02 is in another word's file, and has no A2 there.
    assert found["bad"]["unknown_senses"] == 0
    assert found["bad"]["roles"] == {"sell.02 A2": 1}
    (folder / "nouns" / "gift.xml").unlink()
    found = run_json(files["bad.conllu"], files["gold.conllu"], "--frames", folder)["frame_files"]
    assert found["bad"]["senses"] == {"sell.02": 1}
    text = run(files["bad.conllu"], files["gold.conllu"], "--frames", folder).stdout
    assert "Senses and roles that the frame files do not define" in text
    assert "|frame_files:" in text


def test_a_folder_without_frame_files_is_refused(files: dict[str, Path], tmp_path: Path) -> None:
    both = files["bad.conllu"], files["gold.conllu"]
    assert "is not a folder" in run(*both, "--frames", tmp_path / "nowhere", code=2).output
    (tmp_path / "empty").mkdir()
    assert "contains no frame files" in run(*both, "--frames", tmp_path / "empty", code=2).output


def test_options_of_primesrl_are_in_the_signature_and_checked(files: dict[str, Path]) -> None:
    both = files["bad.conllu"], files["gold.conllu"]
    signature = run_json(*both, "--core", "AA,numbered,A0")["signature"]
    assert "|primesrl:paper|core:numbered,A0,AA|" in signature
    assert "|primesrl:program|" in run_json(*both, "--primesrl", "program")["signature"]
    assert "Did you mean program?" in run(*both, "--primesrl", "programm", code=2).output
    assert "Omit --core" in run(*both, "--primesrl", "program", "--core", "AA", code=2).output
    assert "Omit --mode span" in run(*both, "--primesrl", "program", "--mode", "span", code=2).output
    spans = files["bad.conll05"], files["gold.conll05"]
    assert "marks spans. Use --primesrl paper" in run(*spans, "--primesrl", "program", code=2).output


def test_roles_that_are_neither_numbered_nor_modifiers_are_named(tmp_path: Path) -> None:
    one = sentence((4, "give.01", {1: "AA", 8: "A1"}))
    path = tmp_path / "x.conllu"
    path.write_text(written(Corpus("x", "conllu", "", [one]), "conllu"), "utf-8")
    (note,) = (each for each in run_json(path, path)["notes"] if "neither numbered" in each)
    assert "2 arguments" in note and "--core numbered,AA" in note
    assert not [each for each in run_json(path, path, "--core", "numbered,AA")["notes"] if "neither numbered" in each]
    assert any("leaves out 2 arguments" in each for each in run_json(path, path, "--primesrl", "program")["notes"])
