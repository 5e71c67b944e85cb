"""QA-SRL: matching, UA, LA and role, agreement, and what the command says."""

import csv
import json
import random
import re
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from chorale.cli import app
from chorale.kits.qasrl import reproduction as roit2020
from chorale.kits.qasrl.files import Qa, QuestionAnswers, Verb, VerbQuestion
from chorale.kits.qasrl.metrics import (
    PROPBANK_METRIC,
    PropBankPart,
    Rules,
    agreement,
    align,
    align_verb,
    aligned_arguments,
    arguments_of,
    counts,
    iou,
    is_modal,
    label_of,
    metric,
    propbank_statistics,
    statistics,
)
from chorale.kits.qasrl.metrics.assignment import SpanEdge, best_matching
from chorale.kits.qasrl.metrics.matching import distinct_spans, find_edges, match
from chorale.kits.qasrl.reproduction import PAPER
from chorale.kits.qasrl.scoring.alignment import write_alignment
from chorale.metrics import Counts
from chorale.model import UserError
from examples import examples
from qasrl_files import SENTENCE, bank_line, judged, row, where, write_bank, write_rows, write_sentences

WHO, WHERE, WHEN = (
    VerbQuestion("Who sat?", "who"),
    VerbQuestion("Where did someone sit?", "where"),
    VerbQuestion("When?", "when"),
)
SPAN = st.tuples(st.integers(0, 9), st.integers(1, 4)).map(lambda drawn: (drawn[0], drawn[0] + drawn[1]))
QUESTIONS = [
    VerbQuestion(f"{wh} {subj}?", wh, aux, subj)
    for wh in ("who", "what")
    for aux, subj in (("", ""), ("might", "someone"))
]
QA = st.builds(Qa, st.sampled_from(QUESTIONS), st.lists(SPAN, min_size=1, max_size=3, unique=True).map(tuple))
QAS = st.lists(QA, max_size=4, unique_by=lambda qa: qa.question.text)
VERBS = st.dictionaries(st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 2)), QAS, min_size=1, max_size=4)
RULES = st.builds(
    Rules,
    iou=st.sampled_from([0.3, 0.5, 1.0]),
    redundant=st.booleans(),
    link=st.sampled_from(["iou", "any"]),
    modality=st.booleans(),
    extra_verbs=st.booleans(),
    questions=st.sampled_from(["assigned", "any", "authors"]),
)
Verbs = dict[tuple[str, int], list[Qa]]


def scored(system: Verbs, gold: Verbs, rules: Rules | None = None) -> dict[str, Counts]:
    return counts(statistics(align(QuestionAnswers.of(system), QuestionAnswers.of(gold), rules)))


def one_verb(system: list[Qa], gold: list[Qa], **rules: Any) -> dict[str, Counts]:
    return scored({("s", 0): system}, {("s", 0): gold}, Rules(**rules))


# Matching


def worth(edges: Iterable[SpanEdge]) -> tuple[int, Fraction]:
    listed = list(edges)
    return len(listed), sum((Fraction(edge.joint, edge.union) for edge in listed), Fraction())


def by_trying_all(edges: list[SpanEdge]) -> list[tuple[int, int]]:
    """The definition itself: of all sets of edges that share no end, the best; the earliest of equals."""
    best: tuple[tuple[int, Fraction], list[SpanEdge]] = ((0, Fraction()), [])
    for size in range(1, len(edges) + 1):
        for chosen in combinations(sorted(edges), size):
            ends = {edge.gold for edge in chosen}, {edge.system for edge in chosen}
            if len(ends[0]) == len(ends[1]) == size and worth(chosen) > best[0]:
                best = worth(chosen), list(chosen)
    return [(edge.gold, edge.system) for edge in best[1]]


EDGES = st.lists(
    st.builds(SpanEdge, st.integers(0, 4), st.integers(0, 4), st.integers(1, 3), st.integers(3, 6)),
    max_size=9,
    unique_by=lambda edge: (edge.gold, edge.system),
)


@settings(max_examples=examples(100, 300), deadline=None)
@given(EDGES)
def test_the_best_matching_is_what_trying_all_finds(edges: list[SpanEdge]) -> None:
    assert best_matching(edges) == by_trying_all(edges)


@settings(deadline=None)
@given(EDGES, st.randoms(use_true_random=False))
def test_the_best_matching_does_not_depend_on_order(edges: list[SpanEdge], rng: random.Random) -> None:
    mixed = edges.copy()
    rng.shuffle(mixed)
    assert best_matching(mixed) == best_matching(edges)


@settings(max_examples=examples(100, 300), deadline=None)
@given(st.lists(SPAN, max_size=6), st.lists(SPAN, max_size=6), st.sampled_from([0.2, 0.5, 1.0]))
def test_arrays_match_like_the_solver(system: list[Any], gold: list[Any], threshold: float) -> None:
    def spans(listed: list[tuple[int, int]]) -> Any:
        table = np.array(listed, dtype=np.int64).reshape(-1, 2)
        return distinct_spans(np.zeros(len(table), dtype=np.int64), table[:, 0], table[:, 1])[0]

    left, right = spans(system), spans(gold)
    edges = find_edges(left, right, threshold)
    chosen = edges.taken(match(edges, len(left), len(right)))
    ours = list(zip(chosen.gold.tolist(), chosen.system.tolist(), strict=True))
    by_hand = [
        SpanEdge(g, s, len(set(range(*one)) & set(range(*other))), len(set(range(*one)) | set(range(*other))))
        for g, other in enumerate(sorted(set(gold)))
        for s, one in enumerate(sorted(set(system)))
        if iou(one, other) >= threshold
    ]
    assert ours == best_matching(by_hand)


def test_a_large_tangle_of_spans_is_matched_whole() -> None:
    edges = [SpanEdge(g, s, 8, 8 + abs(g - s)) for g in range(40) for s in range(40) if abs(g - s) <= 3]
    assert best_matching(edges) == [(number, number) for number in range(40)]


# The measures


def test_an_argument_is_found_from_half_its_tokens_on() -> None:
    gold = [Qa(WHO, ((0, 4),))]
    assert one_verb([Qa(WHO, ((0, 2),))], gold)["ua"] == Counts(1, 0, 0)
    assert one_verb([Qa(WHO, ((0, 1),))], gold)["ua"] == Counts(0, 1, 1)
    assert one_verb([Qa(WHO, ((0, 1),))], gold, iou=0.25)["ua"] == Counts(1, 0, 0)


def test_redundant_answers_are_ignored_and_wrong_ones_collapsed() -> None:
    gold = [Qa(WHO, ((0, 4),))]
    system = [Qa(WHO, ((0, 4), (0, 3), (10, 14), (10, 13), (13, 15)))]
    assert one_verb(system, gold)["ua"] == Counts(1, 2, 0)
    assert one_verb(system, gold, link="any")["ua"] == Counts(1, 1, 0)
    assert one_verb(system, gold, redundant=False)["ua"] == Counts(1, 4, 0)


def test_a_wrong_question_is_one_error_on_either_side() -> None:
    gold = [Qa(WHO, ((0, 2),)), Qa(WHERE, ((3, 7),))]
    system = [Qa(WHO, ((0, 2),)), Qa(WHEN, ((3, 7),))]
    found = one_verb(system, gold)
    assert found["ua"] == Counts(2, 0, 0)
    assert found["la"] == Counts(1, 1, 1)
    assert found["role"] == Counts(2, 0, 0)


def test_extra_questions_about_an_argument_are_errors_unless_told_otherwise() -> None:
    gold = [Qa(WHERE, ((3, 7),))]
    system = [Qa(WHEN, ((3, 7),)), Qa(WHERE, ((3, 7),)), Qa(WHO, ((3, 7),))]
    found = one_verb(system, gold)
    assert (found["la"], found["role"]) == (Counts(1, 2, 0), Counts(1, 2, 0))
    found = one_verb(system, gold, questions="any")
    assert (found["la"], found["role"]) == (Counts(1, 0, 0), Counts(1, 0, 0))
    assert one_verb([Qa(WHEN, ((3, 7),)), Qa(WHO, ((3, 7),))], gold)["la"] == Counts(0, 2, 1)


def test_the_same_question_in_another_tense_is_no_extra_question() -> None:
    has_sat = VerbQuestion("Who has sat?", "who", "has")
    gold = [Qa(WHO, ((0, 2),))]
    found = one_verb([Qa(WHO, ((0, 2),)), Qa(has_sat, ((0, 2),))], gold)
    assert (found["la"], found["role"]) == (Counts(1, 0, 0), Counts(1, 0, 0))


def test_asking_every_question_about_every_argument_scores_next_to_nothing() -> None:
    """288 combinations of slots, each about every span of the gold, scored 1.0 in LA and role once."""
    nouns, either = ("", "someone", "something"), (False, True)
    everything = [
        VerbQuestion(
            f"{wh} {subj} {obj} {negated} {passive} {aux}?",
            wh, aux, subj=subj, obj=obj, negated=negated, passive=passive,
        )
        for wh, subj, obj, negated, passive, aux in product(
            ("who", "what", "when", "where"), nouns, nouns, either, either, ("", "might")
        )
    ]  # fmt: skip
    assert len({label_of(question) for question in everything}) == 288
    spans = ((0, 2), (3, 7), (8, 9))
    gold = [Qa(everything[number], (span,)) for number, span in zip((0, 50, 200), spans, strict=True)]
    attack = [Qa(question, spans) for question in everything]
    found = one_verb(attack, gold)
    assert found["ua"] == Counts(3, 0, 0)
    assert found["la"] == Counts(3, 3 * 287, 0)
    assert found["role"] == Counts(3, 285, 0)
    assert [one.f1 for one in one_verb(attack, gold, questions="any").values()] == [1.0] * 3


@settings(max_examples=examples(60, 150), deadline=None)
@given(VERBS, VERBS, RULES, st.randoms(use_true_random=False))
def test_a_wrong_question_about_known_answers_never_raises_a_score(
    system: Verbs, gold: Verbs, rules: Rules, rng: random.Random
) -> None:
    rules = replace(rules, questions="assigned")
    spans = [(verb, span) for verb, qas in system.items() for qa in qas for span in qa.spans]
    if not spans:
        return
    verb, _ = rng.choice(sorted(spans))
    about = sorted({span for other, span in spans if other == verb})
    wrong = Qa(VerbQuestion("Why?", "why"), tuple(rng.sample(about, rng.randint(1, len(about)))))
    before, after = scored(system, gold, rules), scored({**system, verb: [*system[verb], wrong]}, gold, rules)
    assert after["ua"] == before["ua"]
    for name in ("la", "role"):
        assert (after[name].tp, after[name].fn) == (before[name].tp, before[name].fn)
        assert after[name].fp >= before[name].fp


@settings(max_examples=examples(30, 100), deadline=None)
@given(VERBS, VERBS, RULES)
def test_as_many_questions_as_possible_are_paired(system: Verbs, gold: Verbs, rules: Rules) -> None:
    """Against SciPy's assignment, verb by verb."""
    alignment = align(QuestionAnswers.of(system), QuestionAnswers.of(gold), replace(rules, questions="assigned"))
    left_over = np.bincount(alignment.questions.left_over, minlength=len(alignment.verbs)).tolist()
    for verb, ours in zip(alignment.verbs, left_over, strict=True):
        rows = [row for row in aligned_arguments(alignment) if row.verb == verb and row.status == "matched"]
        labels = [
            {
                text: label_of(qa.question, modality=rules.modality)
                for qa in side.get(verb, [])
                for text in [qa.question.text]
            }
            for side in (system, gold)
        ]
        asked = {
            (labels[0][one], labels[1][other])
            for row in rows
            for one in row.system_questions
            for other in row.gold_questions
        }
        left, right = sorted({one for one, _ in asked}), sorted({other for _, other in asked})
        if asked:
            table = np.array([[(one, other) in asked for other in right] for one in left])
            assert len(left) - table[linear_sum_assignment(table, maximize=True)].sum() == ours
        else:
            assert ours == 0


def test_the_authors_rule_looks_at_one_question_of_each_argument() -> None:
    gold = [Qa(WHERE, ((3, 7),)), Qa(WHEN, ((3, 7),))]
    for question in (WHERE, WHEN):
        found = one_verb([Qa(question, ((3, 7),))], gold, questions="authors")
        assert found["role"] == Counts(1, 0, 1)
    decided = [one_verb([Qa(each, ((3, 7),))], gold, questions="authors")["la"].tp for each in (WHERE, WHEN)]
    assert sum(decided) == 1, "one of the two is the question that is looked at"


def test_modality_counts_unless_it_is_left_out() -> None:
    modal = VerbQuestion("Who might sit?", "who", "might")
    assert one_verb([Qa(modal, ((0, 2),))], [Qa(WHO, ((0, 2),))])["la"] == Counts(0, 1, 1)
    assert one_verb([Qa(modal, ((0, 2),))], [Qa(WHO, ((0, 2),))], modality=False)["la"] == Counts(1, 0, 0)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (VerbQuestion("a", "who", subj="", obj="something"), VerbQuestion("b", "who", subj="", obj="someone"), False),
        (VerbQuestion("a", "who", obj="something"), VerbQuestion("b", "who"), False),
        (VerbQuestion("a", "who", negated=True), VerbQuestion("b", "who"), False),
        (VerbQuestion("a", "who", passive=True), VerbQuestion("b", "who"), False),
        (VerbQuestion("a", "Who", aux="did", prep="to"), VerbQuestion("b", "who", aux="will", obj2="someone"), True),
        (VerbQuestion("a", "who", aux="can't"), VerbQuestion("b", "who", aux="could"), True),
    ],
)
def test_strict_match_looks_at_the_right_slots(one: VerbQuestion, other: VerbQuestion, same: bool) -> None:
    assert (label_of(one) == label_of(other)) is same


def test_will_is_no_modal_and_may_is() -> None:
    assert [aux for aux in ("will", "won't", "did", "has", "is", "") if is_modal(aux)] == []
    assert all(is_modal(aux) for aux in ("can", "can't", "cannot", "May", "mustn't", "should", "wouldn't"))


def test_roles_count_questions_with_any_answer_found() -> None:
    gold = [Qa(WHO, ((0, 2), (20, 22))), Qa(WHERE, ((3, 7),)), Qa(WHEN, ((30, 31),))]
    system = [Qa(WHO, ((20, 22),)), Qa(WHEN, ((40, 41),)), Qa(QUESTIONS[0], ((50, 51),))]
    assert one_verb(system, gold)["role"] == Counts(1, 2, 2)


def test_a_gold_question_in_two_rows_counts_twice_and_is_found_once() -> None:
    twice = [Qa(WHO, ((0, 2),)), Qa(WHO, ((5, 7),))]
    assert one_verb(twice, twice)["role"] == Counts(1, 0, 1)
    assert one_verb(twice, twice)["ua"] == Counts(2, 0, 0)


def test_verbs_of_the_system_alone_count_only_if_asked_for() -> None:
    gold: Verbs = {("s", 0): [Qa(WHO, ((0, 2),))]}
    system: Verbs = gold | {("s", 5): [Qa(WHO, ((0, 2), (8, 9)))]}
    alignment = align(QuestionAnswers.of(system), QuestionAnswers.of(gold))
    assert alignment.extra_verbs == 1
    assert scored(system, gold)["ua"] == Counts(1, 0, 0)
    assert scored(system, gold, Rules(extra_verbs=True))["ua"] == Counts(1, 2, 0)


def test_macro_is_the_mean_over_verbs_that_have_any() -> None:
    gold: Verbs = {("s", 0): [Qa(WHO, ((0, 1), (2, 3)))], ("s", 1): [Qa(WHO, ((0, 1),))], ("s", 2): []}
    system: Verbs = {("s", 0): [Qa(WHO, ((0, 1), (5, 6), (8, 9)))], ("s", 1): []}
    found = statistics(align(QuestionAnswers.of(system), QuestionAnswers.of(gold)))
    scores = metric("macro").scores(found)
    assert scores["ua_precision"] == pytest.approx(1 / 3)
    assert scores["ua_recall"] == pytest.approx((1 / 2 + 0) / 2)
    assert scores["ua_f1"] == pytest.approx(2 / 7)
    assert metric("micro").scores(found)["ua_recall"] == pytest.approx(1 / 3)


@settings(max_examples=examples(30, 60), deadline=None)
@given(VERBS)
def test_the_gold_against_itself_is_perfect(gold: Verbs) -> None:
    found = scored(gold, gold)
    assert [(one.fp, one.fn) for one in found.values()] == [(0, 0)] * 3
    if found["ua"].tp:
        assert [one.f1 for one in found.values()] == [1.0] * 3


@settings(max_examples=examples(30, 100), deadline=None)
@given(VERBS, VERBS, RULES, st.randoms(use_true_random=False))
def test_order_and_names_make_no_difference(system: Verbs, gold: Verbs, rules: Rules, rng: random.Random) -> None:
    def mixed(verbs: Verbs) -> Verbs:
        keys = list(verbs)
        rng.shuffle(keys)
        return {
            (f"renamed {sentence}", 7 - token): rng.sample(
                [Qa(qa.question, tuple(rng.sample(qa.spans, len(qa.spans)))) for qa in verbs[sentence, token]],
                len(verbs[sentence, token]),
            )
            for sentence, token in keys
        }

    assert scored(mixed(system), mixed(gold), rules) == scored(system, gold, rules)


@settings(max_examples=examples(30, 100), deadline=None)
@given(VERBS, VERBS, RULES, st.randoms(use_true_random=False))
def test_one_more_right_argument_never_lowers_recall(
    system: Verbs, gold: Verbs, rules: Rules, rng: random.Random
) -> None:
    answers = [(verb, qa.question, span) for verb, qas in gold.items() for qa in qas for span in qa.spans]
    if not answers:
        return
    verb, question, span = rng.choice(sorted(answers))
    more = {**system, verb: [*system.get(verb, []), Qa(question, (span,))]}
    assert scored(more, gold, rules)["ua"].recall >= scored(system, gold, rules)["ua"].recall


@settings(max_examples=examples(30, 60), deadline=None)
@given(VERBS, VERBS, RULES)
def test_verbs_one_by_one_add_up_to_the_whole(system: Verbs, gold: Verbs, rules: Rules) -> None:
    alone = [
        scored({verb: system.get(verb, [])}, {verb: qas}, replace(rules, extra_verbs=False))
        for verb, qas in gold.items()
    ]
    whole = scored(system, gold, replace(rules, extra_verbs=False))
    for name, total in whole.items():
        assert total == sum((one[name] for one in alone), Counts(0, 0, 0))


@settings(max_examples=examples(30, 100), deadline=None)
@given(VERBS, VERBS, RULES)
def test_the_table_of_arguments_tells_the_counts(system: Verbs, gold: Verbs, rules: Rules) -> None:
    alignment = align(QuestionAnswers.of(system), QuestionAnswers.of(gold), rules)
    rows = list(aligned_arguments(alignment))
    found = counts(statistics(alignment))
    status = [row.status for row in rows]
    wrong = {(row.verb, row.counted_with) for row in rows if row.status == "spurious"}
    assert Counts(status.count("matched"), len(wrong), status.count("missed")) == found["ua"]
    assert sum(row.same_role is True for row in rows) == found["la"].tp
    assert sum(row.extra_questions for row in rows) + len(wrong) == found["la"].fp
    assert rules.redundant or "redundant" not in status


def test_one_verb_is_aligned_with_its_words() -> None:
    system = [Qa(WHO, ((0, 2),)), Qa(WHEN, ((3, 6), (7, 8)))]
    gold = [Qa(WHO, ((0, 2),)), Qa(WHERE, ((3, 7),)), Qa(WHEN, ((10, 12),))]
    rows = align_verb(system, gold, SENTENCE.split())
    assert [(row.status, row.gold_text, row.system_text, row.same_role) for row in rows] == [
        ("matched", "The cat", "The cat", True),
        ("matched", "on the old mat", "on the old", False),
        ("spurious", "", "while", None),
        ("missed", "Ann slept", "", None),
    ]
    assert rows[1].iou == 0.75
    assert rows[1].gold_questions == ("Where did someone sit?",)


# Agreement


def annotations(*workers: str) -> list[Qa]:
    spans = {"ann": ((0, 2), (5, 7)), "bob": ((0, 2),), "cy": ((0, 2), (5, 7))}
    return [Qa(WHO, spans[worker], worker) for worker in workers]


def test_agreement_is_the_mean_over_pairs() -> None:
    found = agreement(QuestionAnswers.of({("s", 0): annotations("ann", "bob", "cy"), ("s", 4): annotations("ann")}))
    assert found is not None
    assert [(pair.first, pair.second, pair.verbs) for pair in found.pairs] == [
        ("ann", "bob", 1),
        ("ann", "cy", 1),
        ("bob", "cy", 1),
    ]
    assert [pair.scores["ua_f1"] for pair in found.pairs] == pytest.approx([2 / 3, 1, 2 / 3])
    assert found.scores["ua_f1"] == pytest.approx(7 / 9)
    assert agreement(QuestionAnswers.of({("s", 0): annotations("ann")})) is None


@settings(max_examples=examples(30, 60), deadline=None)
@given(VERBS, VERBS, RULES)
def test_agreement_of_two_is_their_scores_against_each_other(one: Verbs, two: Verbs, rules: Rules) -> None:
    together = {verb: one.get(verb, []) + two.get(verb, []) for verb in one.keys() & two.keys()}

    def of(verbs: Verbs, worker: str) -> Verbs:
        return {
            verb: [qa._replace(worker=worker) for qa in verbs[verb]] for verb in together if one[verb] and two[verb]
        }

    left, right = of(one, "x"), of(two, "a")
    if not left:
        return
    found = agreement(QuestionAnswers.of({verb: left[verb] + right[verb] for verb in left}), rules)
    assert found is not None
    plain = replace(rules, extra_verbs=False)
    both = [scored(left, right, plain), scored(right, left, plain)]
    for name in ("ua", "la", "role"):
        assert found.scores[f"{name}_f1"] == pytest.approx(np.mean([each[name].f1 for each in both]))
        assert found.counts[name] == both[0][name] + both[1][name]


# PropBank


def test_propbank_arguments_are_found_by_head_or_span() -> None:
    parts = [
        ("A0", PropBankPart(1, (0, 2))),
        ("AM-LOC", PropBankPart(3, (3, 7))),
        ("R-A0", PropBankPart(9, (9, 10))),
        ("AM-NEG", PropBankPart(8, (8, 9))),
        ("A1", PropBankPart(10, (10, 11))),
        ("C-A1", PropBankPart(12, (12, 13))),
    ]
    arguments = arguments_of(parts)
    assert [(one.label, one.core, len(one.parts)) for one in arguments] == [
        ("A0", True, 1),
        ("AM-LOC", False, 1),
        ("A1", True, 2),
    ]
    verb = Verb("s", 2)
    table = QuestionAnswers.of({verb: [Qa(WHO, ((1, 9),)), Qa(WHERE, ((4, 7),)), Qa(WHEN, ((12, 13),))]})
    by_head = PROPBANK_METRIC.scores(propbank_statistics(table, {verb: arguments}, "head"))
    assert by_head["all_recall"] == 1.0
    assert by_head["all_precision"] == pytest.approx(2 / 3)
    assert (by_head["core_precision"], by_head["core_recall"]) == (1.0, 1.0)
    assert (by_head["adjunct_precision"], by_head["adjunct_recall"]) == (0.5, 1.0)
    by_span = PROPBANK_METRIC.scores(propbank_statistics(table, {verb: arguments}, "span"))
    assert by_span["all_recall"] == pytest.approx(2 / 3)
    assert by_span["core_precision"] == 1.0


# The command


def run(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["evaluate", "qasrl", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def run_json(*arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*arguments, "--json").stdout)
    return found


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    rows = [row(), where(), row(verb_idx=11, verb="slept", question="Who slept?", answer_range="8:9~!~10:11")]
    return write_rows(tmp_path / "gold.csv", rows)


@pytest.fixture
def pred(tmp_path: Path) -> Path:
    wrong = row(
        verb_idx=11, verb="slept", question="When did <i>someone</i> sleep?", wh="when", answer_range="8:9~!~0:1"
    )
    return write_rows(tmp_path / "pred.csv", [row(), where(answer_range="3:6"), wrong])


def test_a_note_counts_the_rows_that_repeat_a_gold_question(tmp_path: Path) -> None:
    gold = write_rows(tmp_path / "gold.csv", [row(), row(answer_range="5:7")])
    told = "The gold repeats questions about a verb (1 extra row). As in the authors' script, each row counts"
    assert any(note.startswith(told) for note in run_json(gold, gold)["notes"])


def test_the_command_prints_the_promised_json(gold: Path, pred: Path) -> None:
    found = run_json(pred, gold)
    assert found["ua"] == {
        "tp": 3,
        "fp": 1,
        "fn": 1,
        "precision": 0.75,
        "recall": 0.75,
        "f1": 0.75,
    }
    assert (found["la"]["tp"], found["la"]["fp"], found["la"]["fn"]) == (2, 2, 2)
    assert (found["role"]["tp"], found["role"]["fp"], found["role"]["fn"]) == (3, 0, 0)
    assert found["verbs"] == {"scored": 2, "gold": 2, "system": 2, "only_in_gold": 0, "only_in_system": 0}
    assert re.fullmatch(
        r"qasrl\|iou:0\.5\|redundant:yes\|link:iou\|modality:yes\|questions:assigned\|average:micro\|extra-verbs:no\|"
        r"system:[0-9a-f]{8}\|gold:[0-9a-f]{8}\|version:.+",
        found["signature"],
    )
    assert "per_verb" not in found
    assert run_json(pred, gold, "--per-verb")["per_verb"]["s1:11"]["ua"] == {"tp": 1, "fp": 1, "fn": 1}


def test_the_order_of_rows_makes_no_difference_to_the_command(gold: Path, pred: Path, tmp_path: Path) -> None:
    with pred.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    for number, mixed in enumerate(permutations(rows)):
        other = tmp_path / f"mixed{number}.csv"
        with other.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *mixed])
        found = run_json(other, gold, "--ci", "--resamples", "100")
        expected = run_json(pred, gold, "--ci", "--resamples", "100")
        assert {name: found[name] for name in ("ua", "la", "role")} == {
            name: expected[name] for name in ("ua", "la", "role")
        }


def test_intervals_and_comparison_are_seeded(gold: Path, pred: Path) -> None:
    first = run_json(pred, gold, "--ci", "--against", gold, "--seed", "7", "--resamples", "200")
    again = run_json(pred, gold, "--ci", "--against", gold, "--seed", "7", "--resamples", "200")
    assert first == again
    # The verbs of a single sentence do not tell how far the score would move.
    assert first["ua"]["ci"]["recall"] is None
    low, high = run_json(pred, gold, "--ci", "--cluster", "verb")["ua"]["ci"]["recall"]
    assert 0 <= low <= first["ua"]["recall"] <= high <= 1
    compared = first["against"]["scores"]["ua_f1"]
    assert (compared["value"], compared["other"]) == (0.75, 1.0)
    assert "|resamples:200|seed:7|" in first["signature"]
    macro = run_json(pred, gold, "--average", "macro", "--ci", "--resamples", "100")
    assert macro["ua"]["precision"] == 0.75
    assert macro["ua"]["ci"]["f1"] is None


def test_extra_verbs_can_be_compared_too(gold: Path, pred: Path, tmp_path: Path) -> None:
    other = write_rows(tmp_path / "other.csv", [row(), row(verb_idx=4, verb="the")])
    found = run_json(pred, gold, "--against", other, "--include-extra-verbs", "--resamples", "100")
    assert found["against"]["scores"]["ua_precision"]["other"] == 0.5


def test_tables_and_latex_are_printed(gold: Path, pred: Path) -> None:
    shown = run(pred, gold).stdout
    assert "UA" in shown
    assert "0.7500" in shown
    latex = run(pred, gold, "--latex").stdout
    assert r"\begin{tabular}" in latex
    assert "qasrl|iou" in latex


def test_verbs_that_the_system_lacks_are_told(gold: Path, pred: Path, tmp_path: Path) -> None:
    half = write_rows(tmp_path / "half.csv", [row()])
    told = "half.csv lacks 1 of the gold's 2 verbs. The arguments of missing verbs count as missed."
    assert told in run_json(half, gold)["notes"]
    assert told in run_json(pred, gold, "--against", half, "--resamples", 100)["notes"]
    assert not any("lacks" in note for note in run_json(pred, gold)["notes"])


@pytest.mark.parametrize(
    ("how", "said"), [("assigned", "): 1 here. "), ("any", "are not errors"), ("authors", "1 matched")]
)
def test_the_rule_for_questions_is_named_with_the_scores(tmp_path: Path, how: str, said: str) -> None:
    gold = write_rows(tmp_path / "gold.csv", [row()])
    pred = write_rows(tmp_path / "pred.csv", [row(), row(question="Why did someone sit?", wh="why")])
    found = run_json(pred, gold, "--questions", how)
    assert f"questions:{how}" in found["signature"]
    assert any(f"--questions {how}" in note and said in note for note in found["notes"])


def test_an_alignment_without_words_says_how_to_get_them(gold: Path, pred: Path, tmp_path: Path) -> None:
    without = run(pred, gold, "--alignment", tmp_path / "without.html")
    assert "without.html has token ranges instead of words" in without.stderr
    assert "--sentences" in without.stderr
    sentences = write_sentences(tmp_path / "sentences.csv", {"s1": SENTENCE})
    assert "no words" not in run(pred, gold, "--sentences", sentences, "--alignment", tmp_path / "with.html").stderr


def test_the_alignment_is_written_as_a_table(gold: Path, pred: Path, tmp_path: Path) -> None:
    sentences = write_sentences(tmp_path / "sentences.csv", {"s1": SENTENCE})
    target = tmp_path / "alignment.csv"
    run(pred, gold, "--sentences", sentences, "--alignment", target)
    with target.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(one["status"], one["gold_answer"], one["system_answer"]) for one in rows] == [
        ("matched", "The cat", "The cat"),
        ("matched", "on the old mat", "on the old"),
        ("spurious", "", "The"),
        ("matched", "<b>Tom</b>", "<b>Tom</b>"),
        ("missed", "Ann", ""),
    ]
    assert [one["same_role"] for one in rows] == ["True", "True", "", "False", ""]


def test_the_alignment_page_stands_alone_and_escapes_what_it_shows(gold: Path, pred: Path, tmp_path: Path) -> None:
    sentences = write_sentences(tmp_path / "sentences.csv", {"s1": SENTENCE})
    target = tmp_path / "alignment.html"
    run(pred, gold, "--sentences", sentences, "--alignment", target)
    page = target.read_text("utf-8")
    assert "&lt;b&gt;Tom&lt;/b&gt; &amp; Ann" in page
    assert "When did &lt;i&gt;someone&lt;/i&gt; sleep?" in page
    assert "<b>Tom</b>" not in page
    assert "<script" not in page
    assert not re.search(r"(src|href)=|https?://|@import|url\(", page)
    assert "<mark>slept</mark>" in page
    assert page.count("<section>") == 2
    assert page.rstrip().endswith("</html>")


def test_the_alignment_page_says_how_many_errors_overlapping_spans_are(tmp_path: Path) -> None:
    who = VerbQuestion("Who sat?", "who")
    gold = QuestionAnswers.of({("s", 1): [Qa(who, ((0, 1),))]})
    system = QuestionAnswers.of({("s", 1): [Qa(who, ((0, 1), (3, 6), (3, 7), (9, 10)))]})
    alignment = align(system, gold)
    target = tmp_path / "alignment.html"
    write_alignment(target, aligned_arguments(alignment), {}, ("system", "gold"), "")
    assert "3 arguments: only in the system’s output; 2 errors" in target.read_text("utf-8")
    assert counts(statistics(alignment))["ua"].fp == 2


def test_an_alignment_needs_an_ending_that_is_known(gold: Path, pred: Path, tmp_path: Path) -> None:
    said = run(pred, gold, "--alignment", tmp_path / "x.pdf", code=2).stderr
    assert "ends in .csv, .html or .htm" in said


def test_agreement_of_annotators_is_told_with_pairs(tmp_path: Path) -> None:
    rows = [row(), where(), row(worker_id="bob"), where(worker_id="bob", answer_range="3:4"), row(worker_id="cy")]
    file = write_rows(tmp_path / "a.csv", rows)
    found = run_json(file, "--by", "worker_id", "--ci", "--resamples", "100")
    assert [(pair["first"], pair["second"]) for pair in found["pairs"]] == [
        ("ann", "bob"),
        ("ann", "cy"),
        ("bob", "cy"),
    ]
    assert [pair["ua"]["f1"] for pair in found["pairs"]] == pytest.approx([1 / 2, 2 / 3, 2 / 3])
    assert found["ua"]["f1"] == pytest.approx(11 / 18)
    assert found["ua"]["ci"]["f1"] is None
    assert found["consolidated"] is None
    assert "|by:worker_id|" in found["signature"]
    renamed = write_rows(
        tmp_path / "b.csv",
        [one | {"worker_id": {"ann": "zoe", "bob": "al", "cy": "mia"}[one["worker_id"]]} for one in rows],
    )
    again = run_json(renamed, "--by", "worker_id")
    assert {name: again["ua"][name] for name in ("tp", "fp", "fn", "f1")} == pytest.approx(
        {name: found["ua"][name] for name in ("tp", "fp", "fn", "f1")}
    )


def test_consolidated_agreement_is_between_teams_that_share_nobody(tmp_path: Path) -> None:
    def by(worker: str, sources: str, **cells: object) -> dict[str, str]:
        return row(worker_id=worker, **cells) | {"source_worker_ids": sources}

    rows = [
        by("c1", "a~!~b"),
        by("c2", "d~!~e"),
        by("c3", "a~!~e", answer_range="5:6"),
        by("c1", "a~!~b", verb_idx=4),
        by("c2", "d~!~e", verb_idx=4, answer_range="5:6"),
    ]
    found = run_json(write_rows(tmp_path / "a.csv", rows), "--by", "worker_id")
    assert [(one["first"], one["second"], one["verbs"]) for one in found["consolidated"]["pairs"]] == [
        ("a+b+c1", "c2+d+e", 2)
    ]
    assert found["consolidated"]["ua"]["f1"] == 0.5


def test_every_pair_of_annotators_has_intervals_and_files_are_compared(tmp_path: Path) -> None:
    def by(worker: str, team: str, verb: int, answer: str) -> dict[str, str]:
        return row(worker_id=worker, verb_idx=verb, answer_range=answer) | {"source_worker_ids": team}

    good = [by(*who, verb, "0:1") for verb in range(1, 9) for who in (("ann", "a"), ("bob", "b"), ("cy", "c"))]
    poor = [
        one | {"answer_range": "5:6"} if one["worker_id"] == "bob" and one["verb_idx"] in "12345" else one
        for one in good
    ]
    poor = [one for one in poor if one["verb_idx"] != "8"]
    first, second = write_rows(tmp_path / "good.csv", good), write_rows(tmp_path / "poor.csv", poor)
    options = ["--by", "worker_id", "--resamples", "200", "--cluster", "verb"]
    found = run_json(second, *options, "--ci", "--against", first)
    bob = found["pairs"][0]
    assert (bob["first"], bob["second"]) == ("ann", "bob")
    assert bob["ua"]["f1"] == pytest.approx(2 / 7)
    assert bob["ua"]["ci"]["f1"][0] < 2 / 7 < bob["ua"]["ci"]["f1"][1]
    assert found["pairs"][1]["ua"]["ci"]["f1"] is None
    for compared, mean in ((found["against"], found), (found["consolidated"]["against"], found["consolidated"])):
        one = compared["scores"]["ua_f1"]
        assert compared["verbs"] == 7
        assert one["value"] == pytest.approx(mean["ua"]["f1"])
        assert one["other"] == 1
        assert one["p_randomisation"] < 0.1
    assert any("1 verb left out" in note for note in found["notes"])
    assert "|against:" in found["signature"]
    shown = run(second, *options, "--ci", "--against", first).stdout
    assert "Workers compared" in shown
    assert "Teams compared" in shown
    elsewhere = write_rows(tmp_path / "else.csv", [one | {"verb_idx": f"1{one['verb_idx']}"} for one in good])
    apart = run_json(first, *options, "--against", elsewhere)
    assert apart["against"] is None
    assert any("no result, because" in note for note in apart["notes"])


def test_agreement_needs_verbs_annotated_twice(gold: Path) -> None:
    said = run(gold, "--by", "worker_id", code=2).stderr
    assert "no verb with two or more annotators" in said
    said = run(gold, "--by", "workers", code=2).stderr
    assert "has no column workers. If “worker_id” is the missing column, rename it. Otherwise, add the column." in said


def test_the_bank_is_gold_and_system_alike(gold: Path, tmp_path: Path) -> None:
    questions = [
        judged("Who sat?", [[(0, 2)], [(1, 2)]] * 3),
        judged("Where did someone sit?", [[(3, 7)]] * 6, wh="where"),
    ]
    bank = write_bank(tmp_path / "bank.jsonl", [bank_line(*questions)])
    assert run_json(bank, gold)["ua"]["tp"] == 2
    assert run_json(gold, bank)["ua"]["tp"] == 2
    assert "|valid:5|questions-by:people|" in run_json(gold, bank)["signature"]


def test_the_dense_measures_follow_the_judges(tmp_path: Path) -> None:
    questions = [
        judged("Who sat?", [[(0, 2)]] * 5 + [None]),
        judged("Where did someone sit?", [[(3, 7)], [(4, 7)]] * 3, wh="where"),
        judged("Why did someone sit?", [None] * 6, wh="why"),
    ]
    bank = write_bank(tmp_path / "bank.jsonl", [bank_line(*questions)])
    rows = [
        row(answer_range="0:2~!~12:13"),
        where(question="why did someone sit?", wh="why"),
        where(question="How did someone sit?", wh="how", answer_range="7:8"),
    ]
    found = run_json(write_rows(tmp_path / "pred.csv", rows), bank, "--dense")["dense"]
    # Of the spans 0:2, 3:7, 7:8 and 12:13 the first two fit; both valid questions are found; of three questions two
    # were judged and one of them is valid; of the pairs of judged questions, one of three is right.
    assert found["counts"] == {
        "right_spans": 2,
        "spans": 4,
        "found_questions": 2,
        "questions": 2,
        "valid": 1,
        "judged": 2,
        "asked": 3,
        "right_pairs": 1,
        "judged_pairs": 3,
    }
    assert found["span_precision"] == 0.5
    assert found["question_validity"] == 0.5
    assert found["joint_accuracy"] == pytest.approx(1 / 3)
    assert run_json(tmp_path / "pred.csv", bank, "--dense", "--valid", "6")["dense"]["counts"]["questions"] == 1


def test_propbank_is_read_from_conll_2009(gold: Path, tmp_path: Path) -> None:
    heads = [2, 3, 0, 3, 7, 7, 4, 12, 12, 9, 9, 8, 3]
    roles = {1: "A1", 3: "AM-LOC"}
    lines = [
        "\t".join(
            [str(at + 1), word, word, word, "X", "X", "_", "_", str(heads[at]), str(heads[at]), "D", "D"]
            + (["Y", "sit.01"] if at == 2 else ["_", "_"])
            + [roles.get(at, "_")]
        )
        for at, word in enumerate(SENTENCE.split())
    ]
    conll = tmp_path / "gold.conll09"
    conll.write_text("\n".join(lines) + "\n\n", "utf-8")
    sentences = write_sentences(tmp_path / "sentences.csv", {"s1": SENTENCE})
    for how in ("head", "span"):
        found = run_json(gold, "--propbank", conll, "--sentences", sentences, "--found-by", how)
        assert found["propbank"]["all"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
        assert found["verbs"] == 1
    assert "Use --sentences to add a file with the tokens" in run(gold, "--propbank", conll, code=2).stderr


@pytest.mark.parametrize(("tags", "deprel"), [("IN", "PMOD"), ("IN", "D"), ("X", "PMOD")])
def test_the_object_of_a_preposition_stands_for_it(tmp_path: Path, tags: str, deprel: str) -> None:
    """“on the old mat” hangs from “on”, and people answer “the old mat”: a perfect annotation finds it."""
    heads = [2, 3, 0, 3, 7, 7, 4, 3, 12, 9, 9, 8, 3]
    roles = {1: "A1", 3: "AM-LOC", 7: "AM-TMP"}
    lines = [
        "\t".join(
            [str(at + 1), word, word, word, *[tags if at in (3, 7) else "X"] * 2, "_", "_", *[str(heads[at])] * 2]
            + [deprel if at == 6 else "SUB" if at == 11 else "D"] * 2
            + (["Y", "sit.01"] if at == 2 else ["_", "_"])
            + [roles.get(at, "_")]
        )
        for at, word in enumerate(SENTENCE.split())
    ]
    conll = tmp_path / "gold.conll09"
    conll.write_text("\n".join(lines) + "\n\n", "utf-8")
    sentences = write_sentences(tmp_path / "sentences.csv", {"s1": SENTENCE})
    when = where(question="When did someone sit?", wh="when", answer_range="7:12")
    answers = write_rows(tmp_path / "answers.csv", [row(), where(answer_range="4:7"), when])
    options = (answers, "--propbank", conll, "--sentences", sentences)
    found = run_json(*options)
    is_preposition = tags == "IN"
    assert found["propbank"]["all"]["recall"] == pytest.approx(1 if is_preposition else 2 / 3)
    strict = run_json(*options, "--found-by", "head-itself")
    assert strict["propbank"]["all"]["recall"] == pytest.approx(2 / 3)
    assert "|found-by:head-itself|" in strict["signature"]


# What goes wrong


def test_sentences_that_differ_between_the_files_are_refused(gold: Path, tmp_path: Path) -> None:
    bank = write_bank(tmp_path / "bank.jsonl", [bank_line(judged("Who sat?", [[(0, 2)]] * 6))])
    sentences = write_sentences(tmp_path / "sentences.csv", {"s1": SENTENCE.replace("cat", "dog")})
    said = run(bank, gold, "--sentences", sentences, code=2).stderr
    assert "bank.jsonl: has a different text for sentence s1 than" in said
    assert "sentences.csv: token 1 is 'cat' here and 'dog' there" in said
    other = write_rows(tmp_path / "pred.csv", [row(verb="stood")])
    said = run(other, gold, code=2).stderr
    assert "pred.csv: has the verb 'stood' at token 2 of s1, but" in said
    assert "gold.csv has 'sat'" in said


def test_files_without_a_verb_in_common_are_refused(gold: Path, tmp_path: Path) -> None:
    other = write_rows(tmp_path / "pred.csv", [row(qasrl_id="elsewhere")])
    said = run(other, gold, code=2).stderr
    assert "pred.csv: has no verb in common with" in said
    assert "the first verbs are elsewhere:2" in said


def test_a_system_that_says_nothing_scores_zero_with_a_word(gold: Path, tmp_path: Path) -> None:
    nothing = write_rows(tmp_path / "pred.csv", [])
    found = run_json(nothing, gold)
    assert found["ua"] == {"tp": 0, "fp": 0, "fn": 4, "precision": 0.0, "recall": 0.0, "f1": 0.0}
    assert any("precision is 0 by definition" in note for note in found["notes"])
    assert "has no verbs to score against" in run(gold, nothing, code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{pred}"], "GOLD is missing"),
        (["{pred}", "{gold}", "--by", "worker_id"], "--by takes only one file"),
        (["{pred}", "--by", "worker_id", "--propbank", "{gold}"], "cannot be combined"),
        (["{pred}", "{gold}", "--dense"], "gold.csv is a table"),
        (["{pred}", "--by", "worker_id", "--average", "macro"], "mean over pairs"),
        (["{pred}", "--by", "worker_id", "--alignment", "x.csv"], "--by does not compute an alignment"),
    ],
)
def test_options_that_exclude_each_other_are_told(gold: Path, pred: Path, arguments: list[str], said: str) -> None:
    filled = [argument.format(gold=gold, pred=pred) for argument in arguments]
    assert said in run(*filled, code=2).stderr


# The paper


def test_the_papers_cells_are_computed_from_files_in_their_places(tmp_path: Path) -> None:
    for folder in ("qasrl-gs", "qasrl-bank", "qasrl-parser"):
        (tmp_path / folder).mkdir()
    with pytest.raises(UserError, match=r"has no file qasrl-gs/wikinews\.dev\.gold\.csv"):
        list(PAPER.cells(PAPER.data(tmp_path), lambda done, total: None))
    write_rows(tmp_path / roit2020.NEWS, [row(), where()])
    write_rows(tmp_path / roit2020.WIKIPEDIA, [row(qasrl_id="w1")])
    write_rows(tmp_path / roit2020.EXPERTS, [row(), where(answer_range="9:10")])
    questions = [judged("Who sat?", [[(0, 2)], None]), judged("Who sits?", [[(0, 2)]] * 6, source="model-x")]
    lines = [bank_line(*questions), bank_line(*questions, given="w1")]
    write_bank(tmp_path / roit2020.DENSE, lines)
    steps: list[tuple[int, int]] = []
    found = {
        (cell.table, cell.name): cell
        for cell in PAPER.cells(PAPER.data(tmp_path), lambda done, total: steps.append((done, total)))
    }
    assert steps[-1][0] == steps[-1][1]
    assert found["Section 3.1", "roles per predicate, this work"].ours == 1.5
    assert found["Section 3.1", "roles per predicate, Dense"].ours == 1.0
    assert found["Section 1", "additional roles compared with Dense, percent"].ours == pytest.approx(50)
    assert found["Table 4", "This work, UA automatic, P"].ours == 50
    assert found["Table 4", "Dense, UA automatic, R"].ours == 50
    assert found["In addition to Table 6", "Seq2seq parser, on its verbs in Wikinews dev, UA, P"].ours is None
    write_rows(tmp_path / roit2020.PARSER, [row()])
    cells = list(PAPER.cells(PAPER.data(tmp_path), lambda done, total: None))
    assert [cell.ours for cell in cells if "Seq2seq" in cell.name and "UA, R" in cell.name] == [50]
    assert not [cell for cell in cells if "Chorale's parser" in cell.name]
    (tmp_path / roit2020.OUR_PARSER).parent.mkdir()
    write_rows(tmp_path / roit2020.OUR_PARSER, [row(answer_range="0:2~!~0:3")])
    cells = list(PAPER.cells(PAPER.data(tmp_path), lambda done, total: None))
    ours = {cell.name: cell for cell in cells if "Chorale's parser" in cell.name}
    assert {cell.table for cell in ours.values()} == {"In addition to Table 6"}, "never in the paper's own table"
    assert all(cell.paper is None for cell in ours.values())
    assert ours["Chorale's parser, Wikinews dev, UA, P"].ours == 100
    assert ours["Chorale's parser, Wikinews dev, UA, redundant answers counted, P"].ours == 50
    assert all(cell.reason for cell in cells if cell.ours is None)
