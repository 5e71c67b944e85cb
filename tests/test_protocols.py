"""Rounds, gates, qualifications, arms, bonuses and budgets: enforced by the engine, with evidence."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from chorale.audit.verify import verify
from chorale.engine import entering, gold_desk, work
from chorale.engine.advancing import advance
from chorale.engine.bonuses import bonuses_of
from chorale.engine.clock import Clock
from chorale.engine.control import set_stage_state
from chorale.engine.gates import close_gate, close_ready_gates, gate_statuses, send_message
from chorale.engine.leases import expire_leases
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.settling import settle_everything
from chorale.engine.visit import visit
from chorale.exchange.export_rows import arm_rows
from chorale.folder.feedback import compose
from chorale.folder.plan import plan_study
from chorale.folder.reading import check_folder, load_folder
from chorale.model import (
    ArmsSettings,
    GateSettings,
    GoldBonus,
    GoldRecord,
    GoldSettings,
    GradedAnswer,
    PartsBonus,
    Promotion,
    Refusal,
    StageState,
    UserError,
)
from chorale.monitor.overview import overview
from chorale.monitor.status import status
from chorale.protocol import (
    Candidate,
    GateVerdict,
    decide_gate,
    draw_arm,
    gold_after,
    gold_bonus,
    parts_bonus,
)
from chorale.store import Tx, events, gates, ledger, messages, participations
from chorale.store.arms import arm_of, arms_by_worker, store_seed
from chorale.store.credentials import credentials_of
from chorale.store.items import all_items
from conftest import ManualClock
from crowd import Person, do, gold_answer, is_gold, look, people, work_through
from protocol_study import ROUND, write_protocol_study
from random_study import Drawn, write_study
from small_study import write_small_study

Maker = Callable[..., Study]


@pytest.fixture
def make(tmp_path: Path, database: str | None, clock: Clock) -> Iterator[Maker]:
    made: list[Study] = []

    def open_one(**changes: object) -> Study:
        folder = tmp_path / "study"
        write_protocol_study(folder, **changes)  # type: ignore[arg-type]
        made.append(open_study(folder, database, clock))
        return made[-1]

    yield open_one
    for study in made:
        study.close()


def right_answer(view: dict[str, str]) -> str:
    return "no" if int(view["phrase"].split()[-1]) % 2 else "yes"


def train(person: Person, right: int) -> None:
    """Do the whole round, with so many right answers."""
    for number in range(ROUND):
        offer = person.next("training")
        assert offer.view is not None
        answer = right_answer(offer.view)
        person.submit(offer, answer if number < right else {"yes": "no", "no": "yes"}[answer])


def spent(study: Study) -> dict[str, int]:
    return look(study, lambda tx: status(tx, study)).totals


def differences(study: Study) -> list[str]:
    return look(study, lambda tx: verify(tx, study)).differences


# Rounds


def test_everybody_does_the_whole_round_once(make: Maker) -> None:
    study = make()
    for person in people(study, 3):
        seen = []
        while (offer := person.next("training")).lease:
            assert offer.view is not None
            seen.append(offer.view["phrase"])
            person.submit(offer, right_answer(offer.view))
        assert sorted(seen) == [f"a round phrase {number}" for number in range(ROUND)]
        assert offer.status == "round"
    assert differences(study) == []


@pytest.mark.parametrize(("feedback", "told"), [("at once", True), ("later", False)])
def test_only_practice_says_at_once_what_was_wrong(make: Maker, feedback: str, told: bool) -> None:
    study = make(round_extra=f'feedback = "{feedback}"')
    person = Person(study, "a")
    offer = person.next("training")
    assert offer.view is not None
    wrong = "no" if right_answer(offer.view) == "yes" else "yes"
    outcome = person.submit(offer, wrong)
    assert (outcome.explanation is not None) is told
    # Sending it again says the same.
    assert (person.submit(offer, wrong).explanation is not None) is told


def test_a_round_can_give_each_worker_a_part(make: Maker) -> None:
    study = make(round_extra="size = 2", gate="threshold = 1.0")
    person = Person(study, "a")
    assert [person.judge(stage="training")[0].status for _ in range(2)] == ["item", "item"]
    assert person.next("training").status == "round"


def test_finishing_a_round_pays_once(make: Maker) -> None:
    study = make(
        round_pay="per_judgment = 2\nfinished = 350", gate="threshold = 0.75\nbonus = 150", pay="fee_percent = 20"
    )
    person = Person(study, "a")
    train(person, ROUND)
    lines = look(study, lambda tx: [(line.kind, line.amount) for line in ledger.ledger_lines(tx)])
    paid = [amount for kind, amount in lines if kind != "fee"]
    assert sorted(paid) == [2, 2, 2, 2, 150, 350]
    assert sum(amount for kind, amount in lines if kind == "fee") == round(508 * 0.2)
    assert differences(study) == []


# Gates


def test_who_passes_may_go_on_and_nobody_else(make: Maker) -> None:
    study = make(gate="threshold = 0.75\nbonus = 100")
    good, bad, new = people(study, 3)
    train(good, 3)
    train(bad, 2)
    assert good.next("work-a").status == "item"
    assert bad.next("work-a").status == "locked"
    assert new.next("work-a").status == "locked"
    told = {event.worker: event for event in look(study, lambda tx: events.recent(tx, kinds=("passed", "not passed")))}
    assert told[good.pseudonym].kind == "passed"
    assert told[good.pseudonym].evidence["score"] == 0.75
    assert told[bad.pseudonym].kind == "not passed"
    assert told[bad.pseudonym].evidence["needed"] == 0.75
    assert spent(study)["bonus"] == 100
    assert differences(study) == []


def test_a_gate_together_waits_to_be_closed(make: Maker) -> None:
    study = make(gate='top_share = 0.5\nbonus = 500\npromote = { to = "grader", top_share = 0.25 }')
    everyone = people(study, 4)
    for person, right in zip(everyone, (4, 3, 2, 1), strict=True):
        train(person, right)
        assert person.next("work-a").status == "locked"
    verdicts = do(study, close_gate, study.gates["trained"], "the test")
    assert [verdict.passed for verdict in verdicts] == [True, True, False, False]
    assert [person.next("work-a").status for person in everyone] == ["item", "item", "locked", "locked"]
    held = [look(study, lambda tx, one=person: credentials_of(tx, one.id).held) for person in everyone]  # type: ignore[misc]
    assert held == [{"trained", "grader"}, {"trained"}, set(), set()]
    # Closing again changes nothing, and whoever comes now finds the round over.
    assert do(study, close_gate, study.gates["trained"], "the test") == []
    late = Person(study, "late")
    assert late.next("training").status == "locked"
    assert "This part has ended" in late.next("training").message
    assert differences(study) == []


def test_a_gate_closes_by_itself_when_enough_are_scored(make: Maker) -> None:
    study = make(gate="top_share = 0.5\nworkers = 3")
    first, second, third = people(study, 3)
    train(first, 4)
    train(second, 4)
    assert do(study, close_ready_gates) == []
    train(third, 1)
    assert do(study, close_ready_gates) == ["trained"]
    assert [one.next("work-a").status for one in (first, second, third)] == ["item", "item", "locked"]


def test_one_who_has_not_finished_is_left_out_and_reads_why(make: Maker) -> None:
    study = make(gate="top_share = 1.0")
    done, half = people(study, 2)
    train(done, 1)
    half.judge(stage="training")
    [verdict] = do(study, close_gate, study.gates["trained"], "the test")
    assert verdict.worker == done.pseudonym
    [found] = look(study, lambda tx: gate_statuses(tx, study))
    assert (found.state, found.passed, found.not_passed, found.scored) == ("closed", 1, 1, 0)
    [message] = look(study, lambda tx: messages.messages_to(tx, half.id))
    assert "before you finished" in message.body
    assert differences(study) == []
    do(study, lambda tx, _: tx.execute(text("UPDATE verdict SET passed = true WHERE score = 0")))
    assert any("passed without a score" in difference for difference in differences(study))


def test_everybody_scored_gets_the_message(make: Maker) -> None:
    study = make(gate="top_share = 0.5")
    everyone = people(study, 2)
    train(everyone[0], 4)
    train(everyone[1], 2)
    do(study, close_gate, study.gates["trained"], "the test")
    [message] = look(study, lambda tx: messages.messages_to(tx, everyone[1].id))
    assert message.body == "You had 0.50, on average people had 0.75."
    assert message.title == "Training"


def awaited(study: Study, person: Person) -> tuple[str, ...]:
    found = look(study, lambda tx: visit(tx, study, person.id))
    assert found is not None
    return found.awaited


def test_an_expert_can_read_messages_before_they_go_out(make: Maker) -> None:
    study = make(gate="top_share = 0.5\nreview = true")
    person = Person(study, "a")
    train(person, 4)
    do(study, close_gate, study.gates["trained"], "the test")
    assert look(study, lambda tx: messages.messages_to(tx, person.id)) == []
    assert awaited(study, person) == ("Training",), "they read that they will hear"
    assert awaited(study, Person(study, "b")) == ()
    [draft] = look(study, messages.drafts)
    assert do(study, send_message, draft.id, "Well done.", "an expert") is True
    assert do(study, send_message, draft.id, "Again.", "an expert") is False
    [message] = look(study, lambda tx: messages.messages_to(tx, person.id))
    assert message.body == "Well done." and awaited(study, person) == ()
    [sent] = look(study, lambda tx: events.recent(tx, kinds=("message sent",)))
    assert sent.evidence["changed"] is True


MESSAGE = """\
{% for answer in flagged %}
- {{ answer.item }}: you said {{ answer.answer }} ({{ answer.reasons | join("; ") }})
{% endfor %}
{{ "%.0f" % (100 * flagged_share) }}% were wrong; best {{ best | length }}, worst {{ worst | length }}.
"""


def test_a_message_lists_what_was_wrong(make: Maker) -> None:
    study = make(gate="threshold = 0.5", message=MESSAGE)
    person = Person(study, "a")
    train(person, 3)
    [message] = look(study, lambda tx: messages.messages_to(tx, person.id))
    assert message.body.count("you said") == 1
    assert "differs from the expert's answer" in message.body
    assert message.body.rstrip().endswith("25% were wrong; best 2, worst 1.")


@pytest.mark.parametrize(
    ("scores", "best", "worst"),
    [
        ([0.5], "0.5", ""),
        ([0.2, 0.9], "0.9", "0.2"),
        ([0.2, 0.9, 0.5], "0.9", "0.2"),
        ([0.2, 0.9, 0.7], "0.9 0.7", "0.2"),
        # Whoever gets most wrong has wrong answers in the better half; they are nobody's best.
        ([0, 0, 1, 0, 0, 0], "1", "0 0 0"),
        ([0, 0, 0], "", ""),
        ([0.1, 0.1, 0.1], "0.1 0.1", ""),
        ([0.7, 0.7, 0.7, 0.7], "0.7 0.7", ""),
        ([1, 0.9, 0.8, 0.7, 0.3, 0.2, 0.1, 0.4], "1 0.9 0.8", "0.1 0.2 0.3"),
    ],
)
def test_a_message_has_the_best_and_the_worst_of_what_somebody_did(scores: list[float], best: str, worst: str) -> None:
    graded = [GradedAnswer(1, "w", 1, number, score, (), "an answer", {}, {}) for number, score in enumerate(scores)]
    verdict = GateVerdict("w", 0.5, True, False, "", {"average": 0.5, "rank": 1, "of": 2, "needed": 0.5})
    template = "{{ best | map(attribute='score') | join(' ') }}|{{ worst | map(attribute='score') | join(' ') }}"
    assert compose(template, verdict, graded, {}, {}) == f"{best}|{worst}"


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(1, 5)), min_size=1, max_size=12),
    st.sampled_from(["threshold = 0.5", "share", "top"]),
    st.integers(1, 10),
)
def test_gates_are_fair(people_and_grades: list[tuple[int, int]], kind: str, number: int) -> None:
    """Whoever passes is at least as good as whoever does not, however they are listed; enough pass, and ties do."""
    rule = {
        "threshold = 0.5": GateSettings(name="g", stage=("s",), threshold=0.5),
        "share": GateSettings(name="g", stage=("s",), top_share=number / 10),
        "top": GateSettings(name="g", stage=("s",), top=number),
    }[kind]
    candidates = [Candidate(f"w{n}", {"s": (right / 8,) * count}) for n, (right, count) in enumerate(people_and_grades)]
    verdicts = decide_gate(rule, candidates)
    backwards = decide_gate(rule, candidates[::-1])
    assert verdicts == backwards
    passed = [one.score for one in verdicts if one.passed]
    failed = [one.score for one in verdicts if not one.passed]
    assert not passed or not failed or min(passed) > max(failed)
    if kind == "top":
        assert len(passed) >= min(number, len(candidates))
    if kind == "share":
        assert len(passed) >= max(1, int(len(candidates) * number / 10))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12), st.integers(1, 10))
def test_nobody_too_low_by_a_criterion_passes_or_takes_a_place(people: list[tuple[int, int]], share: int) -> None:
    rule = GateSettings(name="g", stage=("s",), top_share=share / 10, criteria={"clear": 0.5})
    candidates = [
        Candidate(f"w{n}", {"s": (score / 4,)}, ({"clear_1": clear / 4, "clear_2": clear / 4, "clearly": 1.0},))
        for n, (score, clear) in enumerate(people)
    ]
    verdicts = decide_gate(rule, candidates)
    assert verdicts == decide_gate(rule, candidates[::-1])
    clear = {f"w{n}": clear / 4 for n, (_, clear) in enumerate(people)}
    able = [one for one in verdicts if clear[one.worker] >= 0.5]
    passed = {one.worker for one in verdicts if one.passed}
    assert passed <= {one.worker for one in able}
    assert len(passed) >= min(len(able), max(1, int(len(people) * share / 10)))
    assert all(one.evidence["criterion clear"] == clear[one.worker] for one in verdicts)
    assert all("too low in clear" in one.reason for one in verdicts if one not in able)


def test_without_a_grade_by_the_criterion_nobody_passes() -> None:
    rule = GateSettings(name="g", stage=("s",), threshold=0.0, criteria={"clear": 0.0})
    [verdict] = decide_gate(rule, [Candidate("w", {"s": (1.0,)}, ({"unclear": 1.0},))])
    assert (verdict.passed, verdict.evidence["criterion clear"]) == (False, None)


@pytest.mark.parametrize("rule", [{"top": 3}, {"top_share": 1.0}])
def test_nobody_below_the_floor_passes_or_is_promoted(rule: dict[str, Any]) -> None:
    gate = GateSettings(name="g", stage=("s",), floor=0.5, promote=Promotion(to="grader", top_share=1.0), **rule)
    verdicts = decide_gate(gate, [Candidate(f"w{score}", {"s": (score,)}) for score in (1.0, 0.5, 0.4)])
    assert [(one.worker, one.passed, one.promoted) for one in verdicts] == [
        ("w1.0", True, True),
        ("w0.5", True, True),
        ("w0.4", False, False),
    ]
    assert {one.evidence["needed"] for one in verdicts} == {0.5}


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.integers(1, 12))
def test_drawing_lots_keeps_to_the_places(rights: list[int], places: int) -> None:
    rule = GateSettings(name="g", stage=("s",), top=places, ties="draw")
    candidates = [Candidate(f"w{n}", {"s": (right / 4,)}) for n, right in enumerate(rights)]
    verdicts = decide_gate(rule, candidates)
    assert verdicts == decide_gate(rule, candidates[::-1])
    passed = [one.score for one in verdicts if one.passed]
    failed = [one.score for one in verdicts if not one.passed]
    assert len(passed) == min(places, len(candidates))
    assert not passed or not failed or min(passed) >= max(failed)


# Arms

ARMS = '[arms]\nnames = ["left", "right"]\n'


def test_arms_are_balanced_concealed_and_recomputable(make: Maker) -> None:
    study = make(arms=ARMS, arms_of=('"left"', '"right"'), entry="")
    everyone = people(study, 20)
    arms = [look(study, lambda tx, one=person: arm_of(tx, one.id)) for person in everyone]  # type: ignore[misc]
    assert Counter(arms) == {"left": 10, "right": 10}
    assert all(set(arms[n : n + 2]) == {"left", "right"} for n in range(0, 20, 2))
    for person, arm in zip(everyone, arms, strict=True):
        mine, other = ("work-a", "work-b") if arm == "left" else ("work-b", "work-a")
        assert person.next(mine).status in ("item", "done", "wait")
        assert person.next(other).status == "locked"
        found = look(study, lambda tx, one=person: visit(tx, study, one.id))  # type: ignore[misc]
        assert found is not None
        assert [part.stage.name for part in found.stages] == ["training", mine]
    assert differences(study) == []


def test_arms_can_wait_for_a_qualification(make: Maker) -> None:
    study = make(arms=ARMS + 'after = "trained"\n', arms_of=('"left"', '"right"'))
    good, bad = people(study, 2)
    assert look(study, lambda tx: arm_of(tx, good.id)) is None
    train(good, 4)
    train(bad, 1)
    assert look(study, lambda tx: arm_of(tx, good.id)) in ("left", "right")
    assert look(study, lambda tx: arm_of(tx, bad.id)) is None


def test_arms_are_balanced_within_a_panel(make: Maker) -> None:
    study = make(arms=ARMS + 'stratify = "panel"\n', arms_of=('"left"', '"right"'), entry="")
    for panel in ("one", "two"):
        arms = []
        for number in range(7):
            worker = do(study, entering.arrive, panel, f"p{number}", {})
            do(study, entering.consent, worker.id)
            arms.append(look(study, lambda tx, one=worker: arm_of(tx, one.id)))  # type: ignore[misc]
        assert abs(arms.count("left") - arms.count("right")) == 1


@given(st.integers(), st.integers(1, 3), st.integers(1, 3), st.text(max_size=5))
def test_blocks_hold_every_arm_by_its_weight(seed: int, first: int, second: int, stratum: str) -> None:
    rule = ArmsSettings(names=("a", "b"), weights=(first, second))
    size = first + second
    arms = [draw_arm(rule, seed, stratum, number).arm for number in range(3 * size)]
    for start in range(0, 3 * size, size):
        assert Counter(arms[start : start + size]) == {"a": first, "b": second}


PUBLISHED = Path(__file__).parents[1] / "docs" / "protocols.md"


def published_arm_of() -> Callable[..., str]:
    """The function that docs/protocols.md shows."""
    published: dict[str, Any] = {}
    code = PUBLISHED.read_text("utf-8").partition("```python\nfrom hashlib")[2].partition("```")[0]
    exec(f"from hashlib{code}", published)
    arm_of: Callable[..., str] = published["arm_of"]
    return arm_of


def test_the_published_algorithm_draws_every_arm_again_and_the_file_foretells_none(make: Maker) -> None:
    study = make(arms=ARMS + "weights = [1, 2]\nblocks = [1, 2, 3]\n", arms_of=('"left"', '"right"'), entry="")
    people(study, 40)
    published = published_arm_of()
    rows = look(study, lambda tx: list(arm_rows(tx, study)))
    seeds = {row["seed"] for row in rows}
    for row in rows:
        again = published(("left", "right"), (1, 2), (1, 2, 3), row["seed"], row["stratum"], row["number"])
        assert again == row["arm"]
    assert len(rows) == 40 and len(seeds) == 1 and study.settings.study.seed not in seeds
    assert differences(study) == []
    sizes = Counter(row["block"] for row in rows).values()
    assert {size % 3 for size in list(sizes)[:-1]} == {0}


def test_the_published_algorithm_draws_the_arms_of_many_people() -> None:
    published, rule = published_arm_of(), ArmsSettings(names=("a", "b"), weights=(1, 2), blocks=(1, 2, 3))
    numbers = range(0, 6000, 29)
    again = [published(rule.names, rule.weights, rule.blocks, 5, "prolific", number) for number in numbers]
    assert [draw_arm(rule, 5, "prolific", number).arm for number in numbers] == again


def test_a_study_that_drew_from_the_seed_in_its_file_goes_on_so(make: Maker) -> None:
    study = make(arms=ARMS, arms_of=('"left"', '"right"'), entry="")
    do(study, lambda tx, _: store_seed(tx, study.settings.study.seed))
    people(study, 5)
    # As earlier versions left it: the draws are in the log, and no seed of their own is kept.
    do(study, lambda tx, _: tx.execute(text("DELETE FROM setting WHERE key = 'arm seed'")))
    assert differences(study) == []
    people(study, 10)
    rows = look(study, lambda tx: list(arm_rows(tx, study)))
    assert len(rows) == 10 and {row["seed"] for row in rows} == {study.settings.study.seed}
    assert differences(study) == []


@given(st.integers(0, 2**53), st.lists(st.integers(1, 3), min_size=1, max_size=3))
def test_every_block_of_random_size_is_balanced(seed: int, blocks: list[int]) -> None:
    rule = ArmsSettings(names=("a", "b"), weights=(1, 2), blocks=tuple(blocks))
    drawn = [draw_arm(rule, seed, "", number) for number in range(60)]
    for block in range(drawn[-1].block):
        arms = Counter(one.arm for one in drawn if one.block == block)
        assert arms["b"] == 2 * arms["a"] and arms["a"] in blocks


# Pay


@given(st.lists(st.booleans(), max_size=20), st.integers(1, 4), st.integers(0, 3))
def test_gold_bonuses_are_for_full_rows_answered_well(answers: list[bool], of: int, fewer: int) -> None:
    bonus = GoldBonus(right=max(1, of - fewer), of=of, amount=50)
    rule = GoldSettings(file="gold.jsonl", bonus=bonus)
    record, paid = GoldRecord(), 0
    for right in answers:
        record = gold_after(record, [right], rule)
        paid += gold_bonus(record, bonus)
    rows = [answers[start : start + of] for start in range(0, len(answers) - of + 1, of)]
    assert paid == 50 * sum(sum(row) >= bonus.right for row in rows)


def test_parts_beyond_a_number_earn_rising_amounts() -> None:
    rule = PartsBonus(beyond=2, amounts=(5, 6, 8))
    assert [parts_bonus(parts, rule) for parts in range(7)] == [0, 0, 0, 5, 11, 19, 27]
    assert parts_bonus(5, None) == 0


def test_nothing_is_given_out_beyond_the_budget(make: Maker) -> None:
    # It covers the two people it takes, and three come: 8 each for the round leave 16 for items at 3.
    study = make(pay="budget = 40\nfee_percent = 0", items=2, gate="threshold = 0.0")
    first, second, third = people(study, 3)
    for person in (first, second, third):
        train(person, 4)
    given = 0
    for _ in range(20):
        for person in (first, second):
            offer = person.next("work-a")
            if offer.lease is not None:
                person.submit(offer)
                given += 1
    assert sum(spent(study).values()) <= 40
    assert given > 0
    while (offer := first.next("work-b")).lease is not None:
        first.submit(offer)
    assert offer.status == "paused"
    assert sum(spent(study).values()) <= 40
    [told] = look(study, lambda tx: events.recent(tx, kinds=("budget reached",)))
    assert told.evidence["budget"] == 40


def test_bonuses_of_a_gate_keep_to_the_budget(make: Maker) -> None:
    # Enough for the two who must pass at least, and not for three.
    study = make(pay="budget = 264", gate="top_share = 1.0\nbonus = 100")
    for person in people(study, 3):
        train(person, 4)
    with pytest.raises(Refusal, match="budget"):
        do(study, close_gate, study.gates["trained"], "the test")
    assert look(study, gates.closed_gates) == frozenset()


# Experts


def test_experts_have_a_qualification_of_their_own(make: Maker) -> None:
    study = make(entry='qualifications = ["expert"]')
    person = Person(study, "a")
    assert person.next("work-a").status == "locked"
    expert = do(study, entering.arrive_as_expert, "ada")
    assert do(study, entering.arrive_as_expert, "ada").id == expert.id
    assert look(study, lambda tx: credentials_of(tx, expert.id).held) == {"expert"}


# What can never finish is refused


def problems(folder: Path, **changes: object) -> str:
    write_protocol_study(folder, **changes)  # type: ignore[arg-type]
    found, told = check_folder(folder)
    assert (found is None) == bool(told)
    return "\n".join(map(str, told))


def test_a_sound_protocol_has_no_problem(tmp_path: Path) -> None:
    assert problems(tmp_path) == ""


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"entry": 'qualifications = ["traind"]'}, "Did you mean `trained`?"),
        ({"gate": "threshold = 0.5\ntop = 3"}, "exactly one of"),
        ({"gate": 'top = 3\ndecides = "each"'}, "ranked only together"),
        ({"extra": '[[gate]]\nname = "other"\nstage = "work-a"\ntop = 1'}, "nothing in that stage is graded"),
        ({"gate": "threshold = 0.5\ncriteria = { clear = 0.5 }"}, "has such a criterion"),
        ({"gate": "threshold = 0.5\ncriteria = { clear = 2 }"}, "is above 1 (found 2)"),
        ({"extra": '[[gate]]\nname = "trained"\nstage = "training"\ntop = 1'}, "another qualification"),
        ({"extra": '[[gate]]\nname = "other"\nstage = "trainning"\ntop = 1'}, "Did you mean `training`?"),
        ({"arms": ARMS}, "no stage is for this arm"),
        ({"arms": ARMS, "arms_of": ('"left"', '"rigth"')}, "Did you mean `right`?"),
        ({"round_extra": "size = 9"}, "has 4 rows"),
        ({"pay": "budget = 5"}, "does not cover"),
        ({"pay": "budget = 63"}, "cost of the study ($0.64) (found 63). Raise it to 64 or more"),
        ({"gate": 'threshold = 0.5\npromote = { to = "grader", top_share = 0.5 }'}, "`promote` needs"),
        ({"message": "{{ scor }}"}, "can't be filled: 'scor' is undefined. docs/protocols.md lists"),
        ({"message": "{% if %}"}, "Correct the {% … %} and {{ … }} tags."),
        ({"message": "{{ ''.__class__.__mro__ }}"}, "can't be filled"),
    ],
)
def test_what_can_never_work_is_refused(tmp_path: Path, changes: dict[str, object], told: str) -> None:
    assert told in problems(tmp_path, **changes)


def test_a_gate_that_waits_for_itself_is_refused(tmp_path: Path) -> None:
    write_protocol_study(tmp_path)
    text = (tmp_path / "study.toml").read_text()
    text = text.replace("[stage.round]\n", 'entry = { qualifications = ["trained"] }\n[stage.round]\n', 1)
    (tmp_path / "study.toml").write_text(text)
    _, told = check_folder(tmp_path)
    assert "waits for itself" in str(told[0])


def test_a_stage_no_arm_can_reach_is_refused(tmp_path: Path) -> None:
    write_protocol_study(tmp_path, arms=ARMS, arms_of=('"left"', '"right"'))
    text = (tmp_path / "study.toml").read_text()
    text = text.replace("[stage.round]\n", 'arms = ["left"]\n[stage.round]\n', 1)
    (tmp_path / "study.toml").write_text(text)
    _, told = check_folder(tmp_path)
    assert "nobody can ever enter" in str(told[0])


PARTS = """\
[study]
title = "Parts"
contact = "team@example.org"
consent = "text.md"
[arrival]
worker_pattern = "[A-Za-z0-9-]{1,64}"
[pay]
budget = 60
[[stage]]
name = "words"
title = "Words"
task = "form"
guidelines = "text.md"
items = { file = "items.jsonl" }
judgments = 1
pay = { per_judgment = 1, parts = { amounts = [10] } }
[stage.options]
shows = [{ item = "text" }]
[[stage.options.fields]]
name = "a"
kind = "text"
ask = "One?"
part = true
[[stage.options.fields]]
name = "b"
kind = "text"
ask = "Another?"
part = true
[[stage.options.fields]]
name = "c"
kind = "text"
ask = "A third?"
part = true
"""


def test_the_budget_covers_all_parts_an_answer_can_have(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(PARTS)
    (tmp_path / "text.md").write_text("A text.\n")
    (tmp_path / "items.jsonl").write_text("".join(f'{{"id": "i{n}", "text": "t{n}"}}\n' for n in range(3)))
    study = open_study(tmp_path)
    person = Person(study, "a")
    person.judge({"a": "x", "b": "y", "c": "z"}, "words")
    # 31 were paid, and one more could earn as much.
    assert person.next("words").status == "paused"
    assert sum(spent(study).values()) == 31
    study.close()


# Some items get more judgments


def test_a_sample_gets_more_judgments(make: Maker) -> None:
    sampled = "{ min = 1, max = 1, sample = { items = 2, judgments = 3 } }"
    study = make(items=4, gate="threshold = 0.0", judgments=sampled)
    everyone = people(study, 4)
    for person in everyone:
        train(person, 4)
        while (offer := person.next("work-a")).lease is not None:
            person.submit(offer)
    counts = Counter(item.judgments for item in look(study, lambda tx: list(all_items(tx, "work-a"))))
    # Four applications are eight phrases, of which nobody sees both; two of the eight were drawn.
    assert counts == {1: 6, 3: 2}
    [planned] = [
        stage.planned for stage in look(study, lambda tx: overview(tx, study)).stages if stage.counts.name == "work-a"
    ]
    assert planned == 6 + 2 * 3
    [told] = look(study, lambda tx: events.recent(tx, kinds=("sampled",)))[:1]
    assert told.evidence["of"] == 8
    assert differences(study) == []


# What people put aside, send late, or may not see


def test_what_was_put_aside_in_a_round_comes_again(make: Maker, clock: ManualClock) -> None:
    study = make()
    person = Person(study, "a")
    person.give_back(person.next("training"))
    person.next("training")
    clock.pass_minutes(31)
    do(study, work.expire_leases)
    train(person, ROUND)
    assert person.next("training").status == "round"
    assert [row.passed for row in look(study, lambda tx: gates.verdicts(tx, "trained"))] == [True]
    assert differences(study) == []


def test_a_finished_round_takes_no_late_answer(make: Maker, clock: ManualClock) -> None:
    study = make(round_extra="size = 2", round_pay="per_judgment = 2\nfinished = 50")
    person = Person(study, "a")
    late = person.next("training")
    clock.pass_minutes(31)
    assert do(study, work.expire_leases) == 1
    for _ in range(2):
        person.judge(stage="training")
    with pytest.raises(Refusal, match="is up"):
        person.submit(late)
    assert spent(study) == {"base": 4, "bonus": 50, "fee": 0, "model": 0}
    assert differences(study) == []


def test_a_closed_round_takes_no_late_answer(make: Maker, clock: ManualClock) -> None:
    study = make(gate="top_share = 0.5")
    person = Person(study, "a")
    late = person.next("training")
    clock.pass_minutes(31)
    assert do(study, work.expire_leases) == 1
    do(study, close_gate, study.gates["trained"], "the test")
    with pytest.raises(Refusal, match="is up"):
        person.submit(late)


def test_who_is_cut_off_in_the_middle_of_a_round_is_paid_for_their_part(make: Maker) -> None:
    study = make(
        gate="top_share = 0.5",
        round_pay="finished = 350",
        pay='fee_percent = 20\ncurrency = "USD"',
    )
    done, most, one, none = people(study, 4)
    train(done, ROUND)
    for _ in range(3):
        most.judge(stage="training")
    one.judge(stage="training")
    holds, begins = one.next("training"), none.next("training")
    do(study, close_gate, study.gates["trained"], "the test")

    def earned() -> list[int]:
        rows = look(study, participations.participation_summaries)
        by_worker = {row.worker: row.earned for row in rows if row.stage == "training"}
        return [by_worker.get(each.pseudonym, 0) for each in (done, most, one, none)]

    assert earned() == [350, 263, 88, 0]
    [event] = look(study, lambda tx: events.recent(tx, kinds=("gate closed",)))
    assert event.evidence["cut_off"] == {"training": {most.pseudonym: 3, one.pseudonym: 1, none.pseudonym: 0}}
    told = look(study, lambda tx: bonuses_of(tx, study, most.id))
    assert [(bonus.amount, bonus.words) for bonus in told.latest] == [
        (263, "For your work in “Training” before it ended")
    ]
    # What they held when it was ended is taken, and paid as its part.
    assert one.submit(holds).progress.earned == 175
    none.submit(begins)
    assert earned() == [350, 263, 175, 88]
    assert one.next("training").status == "locked"
    fees = sum(line.amount for line in look(study, lambda tx: list(ledger.ledger_lines(tx))) if line.kind == "fee")
    assert fees == pytest.approx(0.2 * sum(earned()), abs=1)
    assert differences(study) == []


def test_a_gate_stays_open_if_there_is_no_money_for_those_it_would_cut_off(make: Maker) -> None:
    study = make(gate="top_share = 1.0\nworkers = 2", round_pay="finished = 100", pay="budget = 1000")
    done, also_done, cut_off = people(study, 3)
    for _ in range(3):
        cut_off.judge(stage="training")
    train(done, ROUND)
    train(also_done, ROUND)
    do(
        study,
        lambda tx, _: participations.add_earnings(tx, study.stage("training").id, done.id, 750, 0, 0),
    )
    assert do(study, close_ready_gates) == []
    with pytest.raises(Refusal, match="would exceed the budget"):
        do(study, close_gate, study.gates["trained"], "the test")


def test_late_answers_keep_to_the_budget(make: Maker, clock: ManualClock) -> None:
    study = make(pay="budget = 50", round_pay="per_judgment = 20", entry="", round_extra="size = 1", items=1)
    late, quick = people(study, 2)
    kept = late.next("training")
    clock.pass_minutes(31)
    do(study, work.expire_leases)
    quick.judge(stage="training")
    while (offer := quick.next("work-a")).lease is not None:
        quick.submit(offer)
    while (offer := quick.next("work-b")).lease is not None:
        quick.submit(offer)
    third = Person(study, "third").next("training")
    assert third.lease is not None
    with pytest.raises(Refusal, match="is up"):
        late.submit(kept)
    assert differences(study) == []


def test_bonuses_for_each_keep_to_the_budget(make: Maker) -> None:
    study = make(pay="budget = 300\nfee_percent = 10", gate="threshold = 0.0\nbonus = 100")
    for person in people(study, 4):
        for _ in range(ROUND):
            offer = person.next("training")
            if offer.lease is not None:
                person.submit(offer)
    assert 0 < sum(spent(study).values()) <= 300


def test_a_gate_that_cannot_be_paid_stays_open(make: Maker, tmp_path: Path, database: str | None) -> None:
    study = make(pay="budget = 264", gate="top_share = 1.0\nworkers = 3\nbonus = 100", round_pay="per_judgment = 0")
    for person in people(study, 3):
        train(person, 4)
    assert do(study, close_ready_gates) == []
    again = open_study(tmp_path / "study", database)
    assert look(again, gates.closed_gates) == frozenset()
    again.close()


def test_closing_leaves_money_for_items_in_work(make: Maker) -> None:
    study = make(pay="budget = 40", gate="top_share = 1.0\nbonus = 25", round_pay="per_judgment = 3", entry="", items=1)
    done, busy = people(study, 2)
    train(done, 4)
    assert busy.next("training").lease is not None
    assert busy.next("work-a").lease is not None
    # 12 were paid, 25 are to be, and the two items in work can earn 6 more.
    with pytest.raises(Refusal, match="budget"):
        do(study, close_gate, study.gates["trained"], "the test")


def test_a_sample_may_ask_for_fewer_judgments(make: Maker) -> None:
    fewer = "{ min = 3, max = 3, sample = { items = 8, judgments = 1 } }"
    study = make(items=4, entry="", judgments=fewer)
    Person(study, "a").judge(stage="work-a")
    assert Counter(item.state for item in look(study, lambda tx: list(all_items(tx, "work-a")))) == {
        "complete": 1,
        "open": 7,
    }
    assert differences(study) == []


def test_a_message_that_cannot_be_filled_waits_for_an_expert(make: Maker) -> None:
    study = make(message="Clear: {{ criteria['clarity'].own }}\n")
    person = Person(study, "a")
    train(person, 4)
    [draft] = look(study, messages.drafts)
    assert draft.worker == person.pseudonym
    [told] = look(study, lambda tx: events.recent(tx, kinds=("message not filled",)))
    assert told.evidence["gate"] == "trained"
    assert differences(study) == []


def reopened(study: Study, folder: Path, database: str | None, clock: ManualClock, *changes: tuple[str, str]) -> Study:
    """The study after its file was changed."""
    study.close()
    clock.pass_minutes(1)
    toml = folder / "study.toml"
    text = toml.read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    toml.write_text(text)
    return open_study(folder, database, clock)


def test_a_new_gate_looks_at_those_who_are_done(
    make: Maker, tmp_path: Path, database: str | None, clock: ManualClock
) -> None:
    study = make()
    person = Person(study, "a")
    train(person, 3)
    more = '[[gate]]\nname = "better"\nstage = "training"\nthreshold = 0.7\nbonus = 9\n[[gate]]\nname = "trained"'
    again = reopened(study, tmp_path / "study", database, clock, ('[[gate]]\nname = "trained"', more))
    assert look(again, lambda tx: credentials_of(tx, person.id).held) == {"trained", "better"}
    assert differences(again) == []
    # When it is taken out again, what it did stays as it was, and can be recomputed.
    last = reopened(again, tmp_path / "study", database, clock, (more, '[[gate]]\nname = "trained"'))
    assert differences(last) == []
    last.close()


def test_a_round_stays_as_long_as_it_was(make: Maker, tmp_path: Path, database: str | None, clock: ManualClock) -> None:
    study = make(round_pay="per_judgment = 2\nfinished = 50")
    train(Person(study, "a"), 4)
    for changes in (('file = "round.jsonl"', 'file = "round.jsonl"\nsize = 3'),):
        with pytest.raises(UserError) as told:
            reopened(study, tmp_path / "study", database, clock, changes)
        assert "had 4 items for everybody" in str(told.value.problems[0])
    with pytest.raises(UserError, match="everybody must get the same items in the round"):
        again = reopened(study, tmp_path / "study", database, clock, ("\nsize = 3", ""))
        try:
            do(again, gold_desk.retire, again.stage("training"), "r0", "owner", "wrong")
        finally:
            again.close()


def test_experts_are_in_no_arm(tmp_path: Path) -> None:
    told = problems(tmp_path, arms=ARMS, arms_of=('"left"', '"right"'), entry='qualifications = ["expert"]')
    assert "experts are not assigned to arms" in told
    told = problems(tmp_path, arms=ARMS + 'after = "expert"\n', arms_of=('"left"', '"right"'))
    assert "nobody would ever be assigned to an arm" in told


def test_an_expert_who_passes_is_put_in_no_arm(make: Maker) -> None:
    study = make(arms=ARMS + 'after = "trained"\n', arms_of=('"left"', '"right"'))
    expert, person = Expert(study, "ada"), Person(study, "a")
    train(expert, 4)
    train(person, 4)
    assert look(study, lambda tx: credentials_of(tx, expert.id).held) == {"expert", "trained"}
    assert look(study, arms_by_worker).keys() == {person.pseudonym}


# Work on work


@pytest.fixture
def chain(tmp_path: Path, database: str | None, clock: ManualClock) -> Iterator[Callable[..., Study]]:
    """Studies in which answers are graded, and grades reviewed."""
    made: list[Study] = []

    def open_one(**changes: Any) -> Study:
        write_study(tmp_path / "chain", Drawn(needs_round=False, **changes))
        made.append(open_study(tmp_path / "chain", database, clock))
        return made[-1]

    yield open_one
    for study in made:
        study.close()


class Expert(Person):
    def __init__(self, study: Study, name: str) -> None:
        self.study = study
        arrived = do(study, entering.arrive_as_expert, name)
        self.id, self.pseudonym = arrived.id, arrived.pseudonym


def test_nobody_reviews_what_came_from_their_own_work(chain: Callable[..., Study]) -> None:
    study = chain(items=1)
    writer, other, expert = Person(study, "writer"), Person(study, "other"), Expert(study, "ada")
    writer.judge({"tone": "kind"}, "write-a")
    expert.judge({"quality": "good"}, "grading")
    # The grade is the expert's work, and what it is about is the writer's.
    assert writer.next("review").lease is None
    assert expert.next("review").lease is None
    assert other.next("review").lease is not None


def test_nobody_answers_after_seeing_anothers_answer(chain: Callable[..., Study], clock: ManualClock) -> None:
    study = chain(items=1, judgments=2)
    writer, expert = Person(study, "writer"), Expert(study, "ada")
    writer.judge({"tone": "kind"}, "write-a")
    seen = expert.next("grading")
    assert seen.lease is not None
    assert expert.next("write-a").lease is None
    expert.give_back(seen)
    # Nor does somebody grade another's answer to what they have open themselves, or may still send.
    second, third = Expert(study, "bea"), Expert(study, "eve")
    held = second.next("write-a")
    assert held.lease is not None
    assert second.next("grading").lease is None
    clock.pass_minutes(40)
    do(study, expire_leases)
    assert second.next("grading").lease is None
    assert third.next("grading").lease is not None


def write_and_check(folder: Path, items: int, judgments: int, checked: str) -> Study:
    """Texts that people write about, and a stage that is made from it."""
    form = '[stage.options]\nshows = [{ item = "text" }]\nfields = [{ name = "why", kind = "text", ask = "Why?" }]\n'
    head = 'title = "A part"\ntask = "form"\nguidelines = "text.md"\n'
    folder.mkdir(exist_ok=True)
    (folder / "text.md").write_text("Say why.\n")
    rows = (f'{{"id": "i{number}", "text": "text {number}"}}\n' for number in range(items))
    (folder / "items.jsonl").write_text("".join(rows))
    (folder / "study.toml").write_text(
        '[study]\ntitle = "A sample"\ncontact = "us@example.org"\nconsent = "text.md"\n'
        f'[[stage]]\nname = "write"\n{head}judgments = {judgments}\nitems = {{ file = "items.jsonl" }}\n{form}'
        f'[[stage]]\nname = "check"\n{head}{checked}\n{form}'
    )
    return open_study(folder)


def test_a_sample_waits_for_all_it_is_drawn_from(tmp_path: Path) -> None:
    sampled = "judgments = { min = 1, max = 1, sample = { items = 1, judgments = 2 } }\n"
    study = write_and_check(tmp_path, 2, 1, sampled + 'items = { from = "write", of = "answers" }')
    writer = Person(study, "writer")
    for expected in (0, 1):
        writer.judge({"why": "so"}, "write")
        do(study, advance)
        assert len(look(study, lambda tx: events.recent(tx, kinds=("sampled",)))) == expected
    study.close()


@pytest.mark.parametrize("paused", [False, True])
def test_a_stage_can_wait_until_all_is_written(tmp_path: Path, paused: bool) -> None:
    study = write_and_check(tmp_path, 3, 1, 'judgments = 1\nitems = { from = "write", of = "answers", wait = true }')
    writer, checker = Person(study, "writer"), Person(study, "checker")
    writer.judge({"why": "so"}, "write")
    do(study, advance)
    writer.judge({"why": "so"}, "write")
    assert checker.next("check").status == "wait"
    assert look(study, lambda tx: list(all_items(tx, "check"))) == [] == differences(study)
    if paused:
        do(study, set_stage_state, study.stage("write"), StageState.PAUSED, "the test")
    else:
        writer.judge({"why": "so"}, "write")
    do(study, advance)
    assert len(look(study, lambda tx: list(all_items(tx, "check")))) == (2 if paused else 3)
    assert checker.next("check").status == "item"
    assert differences(study) == []
    study.close()


def test_a_stage_that_waited_begins_although_a_first_try_was_undone(tmp_path: Path) -> None:
    study = write_and_check(tmp_path, 1, 1, 'judgments = 1\nitems = { from = "write", of = "answers", wait = true }')
    Person(study, "writer").judge({"why": "so"}, "write")

    def fail(tx: Tx) -> None:
        assert advance(tx, study) == ["check has begun"]
        raise TimeoutError

    with pytest.raises(TimeoutError):
        study.store.do(fail)
    do(study, advance)
    assert len(look(study, lambda tx: list(all_items(tx, "check")))) == 1
    study.close()


def test_only_a_share_is_monitored(tmp_path: Path) -> None:
    study = write_and_check(tmp_path, 40, 1, 'items = { from = "write", of = "answers", sample = 0.25 }')
    writer = Person(study, "writer")
    while writer.next("write").lease is not None:
        writer.judge({"why": "so"}, "write")
    derived = look(
        study, lambda tx: [one for one in events.recent(tx, 1000, kinds=("derived",)) if one.evidence["items"]]
    )
    assert 3 <= sum(len(one.evidence["items"]) for one in derived) <= 20
    study.close()


def test_answers_are_put_together_when_all_are_there(tmp_path: Path) -> None:
    study = write_and_check(tmp_path, 1, 2, 'items = { from = "write", of = "together" }')
    for name, expected in (("one", 0), ("two", 1)):
        (person := Person(study, name)).judge({"why": name}, "write")
        assert len(look(study, lambda tx: events.recent(tx, kinds=("derived",)))) == expected
    # Without one of them there is nothing to put together until somebody else has answered.
    do(study, lambda tx, study: participations.drop(tx, study.stage("write").id, person.id))
    settle_everything(study)
    assert [one.kind for one in look(study, lambda tx: events.recent(tx, kinds=("derived", "withdrawn")))] == [
        "withdrawn",
        "derived",
    ]
    study.close()


def test_gates_and_messages_keep_quiet_about_gold(chain: Callable[..., Study]) -> None:
    study = chain(items=3, gold="share = 0.5\nfloor = 0.0\n", second="top = 1\n")
    person, expert = Person(study, "a"), Expert(study, "ada")
    seen = []
    while (offer := person.next("write-a")).lease is not None:
        assert offer.view is not None
        seen.append(offer.view["text"])
        person.submit(offer, {"tone": "rude"})
    assert any(text.startswith("g ") for text in seen)
    while (offer := expert.next("grading")).lease is not None:
        expert.submit(offer, {"quality": "good"})
    do(study, close_gate, study.gates["writer"], "the test")
    [verdict] = look(study, lambda tx: gates.verdicts(tx, "writer"))
    assert (verdict.score, verdict.evidence["graded"]) == (1.0, 3)
    [message] = look(study, lambda tx: messages.messages_to(tx, person.id))
    assert "item 0" in message.body
    assert "g 0" not in message.body
    assert differences(study) == []


def test_arms_may_judge_the_same_things(tmp_path: Path, database: str | None) -> None:
    write_small_study(tmp_path, applications=2, judgments="1")
    toml = tmp_path / "study.toml"
    text = toml.read_text()
    first, second = text.index("[[stage]]"), text.rindex("[[stage]]")
    twin = text[first:second].replace('name = "meaningful"', 'name = "twin"')
    later = text[second:].replace('from = "meaningful"', 'from = ["meaningful", "twin"]')
    toml.write_text(text[:second] + twin + later)
    study = open_study(tmp_path, database)
    everyone = people(study, 4)
    for stage in ("meaningful", "twin"):
        work_through(everyone, lambda _, offer: gold_answer(offer) if is_gold(offer) else "yes", stage)
    found = look(study, lambda tx: {item.key for item in all_items(tx, "entailment")})
    assert found == {f"{stage}/a0000{number}" for stage in ("meaningful", "twin") for number in range(2)}
    assert differences(study) == []
    study.close()


def test_who_is_decided_about_alone_hears_how_others_did(make: Maker) -> None:
    study = make(gate="threshold = 0.75")
    first, second = people(study, 2)
    train(first, 4)
    train(second, 2)
    [message] = look(study, lambda tx: messages.messages_to(tx, second.id))
    assert message.body == "You had 0.50, on average people had 0.75."
    [verdict] = [row for row in look(study, lambda tx: gates.verdicts(tx, "trained")) if not row.passed]
    assert (verdict.evidence["rank"], verdict.evidence["of"]) == (2, 2)
    assert differences(study) == []


def test_an_answer_in_place_of_a_dropped_workers_is_graded(chain: Callable[..., Study]) -> None:
    """As many answers count as before, but others."""
    study = chain(items=1, judgments=2)
    dropped, other = people(study, 2)
    dropped.judge({"tone": "kind"}, "write-a")
    drop = "UPDATE participation SET standing = 'dropped', changes = changes + 1"
    do(study, lambda tx, _: tx.exec_driver_sql(drop))
    other.judge({"tone": "rude"}, "write-a")
    settle_everything(study)
    found = look(study, lambda tx: {item.key: item.state for item in all_items(tx, "grading")})
    assert found == {"i0/1": "withdrawn", "i0/2": "open"}


def test_arms_that_come_late_are_for_those_who_are_there(
    make: Maker, tmp_path: Path, database: str | None, clock: ManualClock
) -> None:
    study = make()
    crowd = people(study, 4)
    assert look(study, arms_by_worker) == {}
    study.close()
    write_protocol_study(tmp_path / "study", arms='[arms]\nnames = ["one", "two"]', arms_of=('"one"', '"two"'))
    again = open_study(tmp_path / "study", database, clock)
    arms = look(again, arms_by_worker)
    assert set(arms) == {person.pseudonym for person in crowd} and sorted(arms.values()) == ["one", "one", "two", "two"]
    assert differences(again) == []
    again.close()


def test_a_budget_must_cover_the_bonuses_of_those_who_must_pass(tmp_path: Path) -> None:
    def problems(budget: int) -> list[str]:
        write_protocol_study(tmp_path, gate="threshold = 0.75\nbonus = 500", pay=f"budget = {budget}")
        return [problem.message for problem in check_folder(tmp_path)[1]]

    # Eight items with one judgment of three cents in two stages; two workers with four answers each, and their bonuses.
    assert problems(2 * 8 * 3 + 2 * 4 * 2 + 2 * 500) == []
    assert any("does not cover" in message for message in problems(2 * 8 * 3 + 2 * 4 * 2 + 2 * 500 - 1))


def test_the_plan_counts_those_who_are_expected(tmp_path: Path) -> None:
    costs = []
    for expected in ("", "expected = 30"):
        write_protocol_study(tmp_path, gate=f"threshold = 0.75\n{expected}")
        costs.append(plan_study(load_folder(tmp_path)).cost)
    assert costs[1] - costs[0] == 28 * 4 * 2


def test_a_single_arm_is_refused_in_plain_words(tmp_path: Path) -> None:
    write_protocol_study(tmp_path)
    file = tmp_path / "study.toml"
    file.write_text('arms = { names = ["a"] }\n' + file.read_text())
    [problem] = check_folder(tmp_path)[1]
    assert "has too few entries: 1" in str(problem)
    assert "Write at least 2" in str(problem)
    assert "validation" not in str(problem)
