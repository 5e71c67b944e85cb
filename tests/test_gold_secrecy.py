"""Workers can't tell gold from items: not by order, repetition, skipping, replies, or what comes last."""

from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean, median

import pytest
from sqlalchemy import func, select, update

from bench.gold_attack import CASES, HIDDEN, MARGIN, SHOWS_ERROR, Case, World, attack, bounds
from chorale.audit.verify import verify
from chorale.engine import gold_desk, settling, work
from chorale.engine.advancing import advance
from chorale.engine.leases import expire_leases
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.visit import StageVisit, parts_for
from chorale.folder.plan import plan_study, study_notes
from chorale.folder.reading import load_folder
from chorale.model import Refusal
from chorale.monitor.overview import overview
from chorale.monitor.watching import gold_is_worn_out, suspicions
from chorale.protocol import State, ahead, gold_due, gold_needed, stopping_chance
from chorale.store import Tx, events, settings, stages
from chorale.store.credentials import credentials_of
from chorale.store.participations import participation_summaries
from chorale.store.schema import assignment, gold, item, participation
from conftest import ManualClock, StudyMaker
from crowd import Person, do, gold_answer, is_gold, look, people
from small_study import write_small_study

RUNS = 12


# An attack asks whether gold shows by more than the margin, with an error rate of 1%. Its runs are the same every time.


def test_ten_accounts_that_compare_notes_do_no_better_than_guessing() -> None:
    result = attack(Case("small", items=300, gold=40, skipping=0.3), range(RUNS))
    assert not result.shows, result.row()


@pytest.mark.slow
def test_three_accounts_that_only_skip_learn_nothing() -> None:
    """Before, they told 36 of 36 gold items from work."""
    result = attack(CASES[0], range(5 * RUNS))
    assert not result.shows, result.row()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES[1:HIDDEN], ids=lambda case: case.name)
def test_gold_cannot_be_told_apart(case: Case) -> None:
    result = attack(case, range(40))
    assert not result.shows, result.row()


def test_gold_is_complete_as_soon_as_items_that_arrive_one_by_one() -> None:
    """Before, workers who waited for items of a derived stage got each at once, and gold over 30 times as long."""
    times: dict[bool, list[int]] = {True: [], False: []}
    shares = []
    for seed in range(4):
        seen = World(Case("derived", 300, 17, gang=8, honest=12, stage="entailment"), seed).run()
        shares.append(seen.share)
        for content, met in seen.by_item().items():
            if len(met) == 3:
                times[content in seen.gold].append(met[-1].at - met[0].at)
    assert len(times[True]) > 20
    assert median(times[True]) < 4 * median(times[False])
    assert fmean(shares) == pytest.approx(0.1, abs=0.03)


def test_an_explanation_would_reveal_gold() -> None:
    """That the benchmark can see a leak."""
    case = Case("told", items=120, gold=14, right=0.3, feedback="at once")
    result = attack(case, range(4))
    assert result.precision > 0.9 and result.shows


def test_gold_is_as_likely_at_any_place_of_a_stream() -> None:
    workers = 4_000
    at = Counter(place for seed in range(workers) for place in range(40) if gold_due(seed, place, 0.1))
    expected = workers * 0.1
    # Before, it was half as likely at the first places, and half as likely again about the eighteenth.
    assert sum((at[place] - expected) ** 2 / (expected * 0.9) for place in range(40)) < 80


def test_items_and_gold_are_drawn_from_as_far_ahead() -> None:
    for share in (0.01, 0.05, 0.1, 0.2, 0.5):
        reach = ahead(share)
        assert reach.gold / (reach.gold + reach.items) == pytest.approx(share)
        assert reach.gold >= 4
        # What stands at the end of a search, counted by the middle of its place: one in `places` gave 0.09 for 0.1.
        gold, items = (1 / stopping_chance(places) - 0.5 for places in (reach.gold, reach.items))
        assert gold / (gold + items) == pytest.approx(share, rel=0.01)
    assert ahead(0.0).items == 1


def test_gold_is_shown_to_as_many_workers_as_an_item_and_then_other_gold_is(make_study: StudyMaker) -> None:
    study = make_study(applications=30, gold=24, share=0.3, judgments="2", floor=0.0)
    met: Counter[str] = Counter()
    for person in people(study, 3):
        for _ in range(18):
            offer, _ = person.judge()
            if is_gold(offer):
                assert offer.view is not None
                met[next(iter(offer.view.values()))] += 1
    rows = look(study, lambda tx: list(tx.execute(select(gold.c.taken, gold.c.wanted, gold.c.turns))))
    assert sum(met.values()) == sum(row.taken for row in rows) > 10
    assert max(met.values()) <= 2
    assert all(row.turns == 0 for row in rows)


def test_of_gold_in_pairs_a_worker_sees_one_while_other_gold_is_left(make_study: StudyMaker) -> None:
    """As of the two sides of an application. Before, gold was complete sooner than items, and so told apart."""
    study = make_study(applications=30, gold=10, share=0.5, judgments="3", floor=0.0)
    [person] = people(study, 1)
    seen: list[str] = []
    while len(seen) < 10:
        offer, _ = person.judge()
        seen += [offer.lease.item_key] if offer.lease is not None and is_gold(offer) else []
    ids = {row.key: row.id for row in look(study, lambda tx: tx.execute(select(item.c.key, item.c.id)).all())}
    pairs = [ids[key] // 2 for key in seen]
    first = len(set(pairs))
    assert 5 <= first <= 6, "10 gold items in a row"
    assert len(set(pairs[:first])) == first, pairs
    assert len(set(seen)) == 10, "then the others of each pair"


def test_skipped_gold_goes_to_one_more_worker_as_a_skipped_item_does(make_study: StudyMaker) -> None:
    study = make_study(applications=10, gold=4, share=0.5, judgments="1", floor=0.0)
    [person] = people(study, 1)
    offer = person.next()
    while not is_gold(offer):
        person.submit(offer)
        offer = person.next()
    assert _taken(study) == 1
    do(study, work.skip, person.id, offer.lease.token)  # type: ignore[union-attr]
    do(study, work.skip, person.id, offer.lease.token)  # type: ignore[union-attr]
    assert _taken(study) == 0


def test_gold_whose_time_limit_is_over_and_that_is_answered_late_counts_once(
    make_study: StudyMaker, clock: ManualClock
) -> None:
    study = make_study(applications=10, gold=4, share=0.5, judgments="2", floor=0.0)
    [person] = people(study, 1)
    offer = person.next()
    while not is_gold(offer):
        person.submit(offer)
        offer = person.next()
    clock.pass_minutes(60)
    do(study, work.expire_leases)
    assert _taken(study) == 0
    person.submit(offer)
    assert _taken(study) == 1


def _taken(study: Study) -> int:
    return sum(look(study, lambda tx: [int(taken) for taken in tx.execute(select(gold.c.taken)).scalars()]))


def test_worn_out_gold_comes_again_and_raises_an_alarm(make_study: StudyMaker) -> None:
    study = make_study(applications=40, gold=3, share=0.5, judgments="1", floor=0.0)
    first, second = people(study, 2)
    for _ in range(12):
        first.judge()
    assert look(study, lambda tx: list(gold_is_worn_out(tx, study))) == []
    met = sum(is_gold(second.judge()[0]) for _ in range(12))
    assert met == 3, "whoever has not met it is still checked"
    [alarm] = look(study, lambda tx: list(gold_is_worn_out(tx, study)))
    assert "all gold was shown as often as other items and is now shown more often (3 gold items)" in alarm.title
    assert "gold-worn" in [one.kind for one in look(study, lambda tx: overview(tx, study)).alarms]


def test_items_of_a_round_with_a_size_reach_everybody_alike(tmp_path: Path, database: str | None) -> None:
    """Places drawn below 2^62 among positions up to 2^63 left 7 of 15 never served."""
    folder = tmp_path / "study"
    write_small_study(folder, gold=15)
    text = (folder / "study.toml").read_text()
    quiz = '[[stage]]\nname = "quiz"\ntitle = "Quiz"\ntask = "rules-meaningful"\nguidelines = "guidelines.md"\n'
    quiz += 'round = { file = "gold1.jsonl", size = 5 }\n\n'
    (folder / "study.toml").write_text(text.replace("[[stage]]", quiz + "[[stage]]", 1))
    study = open_study(folder, database)
    met: Counter[str] = Counter()
    firsts: Counter[str] = Counter()
    for person in people(study, 120):
        for number in range(5):
            offer = person.next("quiz")
            assert offer.view is not None
            phrase = next(iter(offer.view.values()))
            met[phrase] += 1
            firsts[phrase] += number == 0
            person.submit(offer, gold_answer(offer))
    study.close()
    assert len(met) == 15
    # 14 degrees of freedom: beyond 36.1 once in a thousand times.
    assert sum((count - 40) ** 2 / 40 for count in met.values()) < 36.1
    assert sum((firsts[phrase] - 8) ** 2 / 8 for phrase in met) < 36.1


def test_a_worker_may_skip_a_few_items_and_more_after_answers(make_study: StudyMaker) -> None:
    study = make_study(applications=40, share=0.0)
    person, other = people(study, 2)
    for left in (5, 4, 3, 2, 1):
        offer = person.next()
        assert offer.skips_left == left
        _skip(person, offer)
    offer = person.next()
    assert offer.skips_left == 0
    with pytest.raises(Refusal, match="used all your skips") as refused:
        _skip(person, offer)
    assert refused.value.code == "no_skips_left"
    assert person.next().lease == offer.lease, "they keep it"
    for _ in range(5):
        person.judge()
    _skip(person, person.next())
    with pytest.raises(Refusal):
        _skip(person, person.next())
    # Who leaves, or is sent away, can always return what they hold.
    person.give_back(person.next())
    assert other.next().skips_left == 5


def test_somebody_who_only_lets_items_expire_gets_the_same_item_again(
    make_study: StudyMaker, clock: ManualClock
) -> None:
    """Before, a time limit that ran out did not count as a skip, so that they saw every item and all gold."""
    study = make_study(applications=60, gold=20, share=0.4, floor=0.0, judgments="2")
    [idle] = people(study, 1)
    seen = []
    for _ in range(12):
        offer = idle.next()
        assert offer.lease is not None
        seen.append((offer.lease.item_key, is_gold(offer), offer.skips_left))
        clock.pass_minutes(24 * 60)
        do(study, expire_leases)
    keys = [key for key, _, _ in seen]
    assert len(set(keys)) == 6 and len(set(keys[5:])) == 1, seen
    assert [left for _, _, left in seen] == [5, 4, 3, 2, 1, *[0] * 7]
    assert verify_differences(study) == []
    # More answers allow more skips, and an answer counts also when its time is up.
    for _ in range(4):
        idle.judge()
    offer = idle.next()
    clock.pass_minutes(24 * 60)
    do(study, expire_leases)
    before = look(study, partial(participation_skips, worker_id=idle.id))
    idle.submit(offer)
    assert look(study, partial(participation_skips, worker_id=idle.id)) == before - 1
    assert verify_differences(study) == []


def participation_skips(tx: Tx, worker_id: int) -> int:
    query = select(func.sum(participation.c.skipped)).where(participation.c.worker_id == worker_id)
    return int(tx.execute(query).scalar() or 0)


def verify_differences(study: Study) -> list[str]:
    return look(study, lambda tx: verify(tx, study)).differences


@pytest.mark.parametrize("gold_again", [True, False])
def test_what_comes_again_after_too_many_skips_may_be_gold_or_not(
    make_study: StudyMaker, clock: ManualClock, *, gold_again: bool
) -> None:
    """If only items came again, gold would be what does not."""
    extra = "skips = { first = 0, share = 0 }"
    study = make_study(applications=6, gold=8, share=0.5, floor=0.0, judgments="2", reuse=False, meaningful_extra=extra)
    [idle] = people(study, 1)
    offer = idle.next()
    while is_gold(offer) != gold_again:
        idle.submit(offer)
        offer = idle.next()
    for _ in range(3):
        clock.pass_minutes(24 * 60)
        do(study, expire_leases)
        again = idle.next()
        assert again.lease is not None and offer.lease is not None
        assert (again.lease.token, again.skips_left) == (offer.lease.token, 0)
        assert again.lease.expires_at > clock()
    # Where others have taken its places, they get something else.
    clock.pass_minutes(24 * 60)
    do(study, expire_leases)
    for number in range(8):
        other = Person(study, f"other-{number}")
        while other.next().lease is not None:
            other.judge()
    last = idle.next()
    assert offer.lease is not None
    assert last.lease is None or last.lease.item_key != offer.lease.item_key
    assert verify_differences(study) == []


def test_late_answers_to_gold_are_refused_like_those_to_items(make_study: StudyMaker, clock: ManualClock) -> None:
    """Before, only gold accepted a late answer after enough others had answered it, so that it told all gold."""
    study = make_study(applications=20, gold=12, share=0.4, floor=0.0, judgments="2", reuse=False, feedback="none")
    late = []
    for number in range(6):
        person = Person(study, f"late-{number}")
        offer = person.next()
        while is_gold(offer) != (number % 2 == 0):
            person.submit(offer)
            offer = person.next()
        late.append((person, offer))
    clock.pass_minutes(24 * 60)
    do(study, expire_leases)
    for number in range(8):
        other = Person(study, f"other-{number}")
        while other.next().lease is not None:
            other.judge()
    for person, offer in late:
        with pytest.raises(Refusal, match="someone else has it now"):
            person.submit(offer)
    assert verify_differences(study) == []


def _skip(person: Person, offer: work.Offer) -> None:
    assert offer.lease is not None
    do(person.study, work.skip, person.id, offer.lease.token)


def test_wrong_gold_is_explained_only_where_the_study_says_so(make_study: StudyMaker) -> None:
    study = make_study(applications=20, share=0.5, floor=0.0, feedback="none")
    [person] = people(study, 1)
    offer = person.next()
    while not is_gold(offer):
        person.submit(offer)
        offer = person.next()
    wrong = {"yes": "no", "no": "yes"}[gold_answer(offer)]
    assert person.submit(offer, wrong).explanation is None
    assert person.submit(offer, wrong).explanation is None, "nor when it is sent again"


def test_check_says_when_gold_is_scarce_and_how_much_is_enough(tmp_path: Path) -> None:
    write_small_study(tmp_path / "few", applications=450, gold=20, share=0.1, judgments="3", feedback="none")
    [note] = [
        note for note in study_notes(load_folder(tmp_path / "few")) if "too little gold in stage meaningful" in note
    ]
    assert "about 15 workers see each of its 20 gold items, but other items are seen by only 3" in note
    assert "Workers who exchange information can recognise gold, because of gold.reuse = true" in note
    assert (
        "Write 100 gold items in total, or leave gold.reuse out: then about 2.2% of a worker's items are gold" in note
    )
    assert gold_needed(900, 0.1) == 100
    write_small_study(tmp_path / "enough", applications=450, gold=100, share=0.1, judgments="3", feedback="at once")
    notes = study_notes(load_folder(tmp_path / "enough"))
    assert not any("too little gold in stage meaningful" in note for note in notes)
    [note] = [note for note in notes if 'Set gold.feedback = "none"' in note]
    assert "Workers who exchange information can recognise gold" in note
    write_small_study(tmp_path / "less", applications=450, gold=20, share=0.1, feedback="none", reuse=None)
    notes = study_notes(load_folder(tmp_path / "less"))
    assert not any("Workers who exchange information can recognise gold" in note for note in notes)
    [note] = [note for note in notes if "too little gold in stage meaningful" in note]
    assert "only about 2.2% of a worker's items are gold, instead of the 10% that gold.share sets. Write 100" in note
    [stage, _] = plan_study(load_folder(tmp_path / "less")).stages
    assert (stage.judgments, stage.gold_answers) == (2700, 60), "20 gold items to 3 workers each"


@pytest.mark.parametrize(
    ("grace", "said"),
    [
        (0, "the worker's last answer before the removal is to"),
        (9, "last 10 answers before the removal include one to"),
        (20, None),
    ],
)
def test_check_says_when_a_removal_reveals_gold(tmp_path: Path, grace: int, said: str | None) -> None:
    write_small_study(tmp_path / "study", applications=40, share=0.1, feedback="none", grace=grace)
    notes = [
        note for note in study_notes(load_folder(tmp_path / "study")) if "a removal reveals which item was gold" in note
    ]
    assert [str(said) in note and "Set gold.grace to 20 or more" in note for note in notes] == ([True] if said else [])


def _shown_to(study: Study, workers: int) -> tuple[list[int], list[int]]:
    """How many workers got each gold item, and each other item, when everybody has done all there is for them."""
    met: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    waiting = people(study, workers)
    chance = Random(3)
    while waiting:
        person = chance.choice(waiting)
        offer = person.next()
        if offer.status != "item":
            waiting.remove(person)
            continue
        assert offer.view is not None
        met[is_gold(offer)][next(iter(offer.view.values()))] += 1
        person.submit(offer, gold_answer(offer) if is_gold(offer) else "yes")
    return list(met[True].values()), list(met[False].values())


@pytest.mark.parametrize("gold_rows", [20, 60])
def test_when_a_study_is_over_gold_was_shown_as_often_as_items(make_study: StudyMaker, gold_rows: int) -> None:
    """Before, some was shown to more workers when little was left, and the rest had been shown to fewer."""
    study = make_study(applications=40, gold=gold_rows, share=0.2, judgments="3", floor=0.0)
    study = replace(study, secrets=Random(5))
    gold_counts, item_counts = _shown_to(study, 9)
    assert set(item_counts) == {3}
    assert max(gold_counts) == 3
    assert sum(count < 3 for count in gold_counts) <= 1, gold_counts
    assert 14 <= len(gold_counts) <= 26, "about a fifth of all"


@pytest.mark.parametrize("reuse", [False, None])
def test_scarce_gold_that_is_not_reused_comes_less_often_and_until_the_end(
    make_study: StudyMaker, reuse: bool | None
) -> None:
    study = make_study(applications=40, gold=5, share=0.2, judgments="3", floor=0.0, reuse=reuse)
    study = replace(study, secrets=Random(5))
    gold_counts, item_counts = _shown_to(study, 9)
    assert set(item_counts) == {3}
    assert len(gold_counts) == 5 and max(gold_counts) == 3 and sum(gold_counts) >= 13
    places = look(study, lambda tx: list(tx.execute(_KINDS).scalars()))
    late = [place for place, kind in enumerate(places) if kind == "gold" and place > len(places) / 2]
    assert 3 <= len(late) <= 12, "not all of it at the beginning"


_KINDS = select(assignment.c.kind).order_by(assignment.c.id)


def test_scarce_gold_lasts_also_where_items_come_from_another_stage(make_study: StudyMaker, clock: ManualClock) -> None:
    """Before, it was shown at the full share to those who came first, and later to nobody."""
    study = make_study(applications=60, gold=5, share=0.2, judgments="3", floor=0.0, reuse=None)
    study = replace(study, secrets=Random(5))
    chance, everybody = Random(3), people(study, 18)
    first, second = everybody[:9], everybody[9:]
    kinds = []
    while first or second:
        clock.pass_minutes(1)
        person = chance.choice(first + second)
        stage = "meaningful" if person in first else "entailment"
        offer = person.next(stage)
        if offer.status == "item":
            kinds += [is_gold(offer)] if stage == "entailment" else []
            person.submit(offer, gold_answer(offer) if is_gold(offer) else "yes")
        elif offer.status == "done":
            (first if person in first else second).remove(person)
    assert 13 <= sum(kinds) <= 15, "each of 5 to 3 workers"
    # Each comes to its workers soon one after the other, so this is one of the five.
    assert sum(kinds[len(kinds) // 2 :]) >= 3, kinds


def test_a_study_that_has_started_keeps_repeating_scarce_gold(tmp_path: Path, database: str | None) -> None:
    """Before, `gold.reuse` was true unless the study file said otherwise."""
    folder = tmp_path / "study"
    write_small_study(folder, applications=40, gold=5, share=0.2, judgments="3", floor=0.0, reuse=None)
    study = open_study(folder, database)
    study.store.write(lambda tx: settings.remove_setting(tx, "scarce gold")).result()
    study.close()
    study = open_study(folder, database)
    gold_counts, _ = _shown_to(study, 9)
    assert max(gold_counts) > 3
    study.close()


@pytest.mark.parametrize("reuse", [None, True])
def test_gold_made_from_annotated_items_is_shown_only_where_gold_is_reused(
    make_study: StudyMaker, reuse: bool | None
) -> None:
    study = make_study(applications=10, gold=2, share=0.5, judgments="1", floor=0.0, reuse=reuse)
    stage = study.stage("meaningful")
    first, second = people(study, 2)
    offers = [first.judge()[0] for _ in range(10)]
    keys = [offer.lease.item_key for offer in offers if offer.lease is not None and not is_gold(offer)]
    for key in keys:
        do(study, gold_desk.promote, stage, key, "yes", "Because.", "the owner")
    assert gold_desk.hides_promoted(study, stage) is (reuse is None)
    met = []
    while (offer := second.next()).lease is not None:
        met.append(offer.lease.item_key)
        second.submit(offer)
    assert set(keys).isdisjoint(met) is (reuse is None)


def test_scarce_gold_is_repeated_where_it_may_be(make_study: StudyMaker) -> None:
    study = make_study(applications=40, gold=5, share=0.2, judgments="3", floor=0.0)
    gold_counts, _ = _shown_to(study, 9)
    assert max(gold_counts) > 3


def test_skipping_far_more_than_others_raises_an_alarm(make_study: StudyMaker) -> None:
    study = make_study(applications=60, share=0.0, meaningful_extra="skips = { first = 40 }")
    *others, picky = people(study, 6)
    for person in others:
        for _ in range(10):
            person.judge()
        _skip(person, person.next())
    for _ in range(20):
        _skip(picky, picky.next())
    [alarm] = look(study, lambda tx: suspicions(tx, study))
    assert (alarm.kind, alarm.workers) == ("skipping", (picky.pseudonym,))
    assert "left 20 of 20 items unanswered (median of the other workers: 9%)" in alarm.title
    held = look(study, lambda tx: tx.execute(select(assignment.c.id).where(assignment.c.state == "returned")).all())
    assert len(held) == 25


def test_items_whose_time_ran_out_count_as_skipped(make_study: StudyMaker, clock: ManualClock) -> None:
    study = make_study(applications=60, share=0.0, meaningful_extra="skips = { first = 40 }")
    *others, picky = people(study, 6)
    for person in others:
        for _ in range(10):
            person.judge()
    for _ in range(12):
        picky.next()
        clock.pass_minutes(24 * 60)
        do(study, expire_leases)
    picky.next()
    [alarm] = look(study, lambda tx: suspicions(tx, study))
    assert (alarm.kind, alarm.workers) == ("skipping", (picky.pseudonym,))
    assert "left 12 of 12 items unanswered (median of the other workers: 0%)" in alarm.title, "not the item they hold"


def _remove(person: Person) -> int:
    """Answer all gold wrongly until the record says that they were removed; how many answers they had given then."""
    for answered in range(1, 60):
        offer = person.next()
        wrong = {"yes": "no", "no": "yes"}[gold_answer(offer)] if is_gold(offer) else "yes"
        outcome = person.submit(offer, wrong)
        if outcome.stopped_counting:
            assert is_gold(offer)
            return answered
    raise AssertionError("not removed")


def test_a_removal_is_shown_some_answers_after_the_gold_that_it_was_by(make_study: StudyMaker) -> None:
    """Before, it came with the reply to gold, and told that this was gold."""
    study = make_study(applications=100, gold=30, share=0.4, feedback="none", grace=6, judgments="1")
    waits = set()
    for person in people(study, 12):
        answered = _remove(person)
        [row] = [row for row in look(study, participation_summaries) if row.worker == person.pseudonym]
        assert row.standing == "dropped"
        removals = partial(events.recent, limit=9, kinds=("dropped",), pseudonym=person.pseudonym)
        [removal] = look(study, removals)
        grace = 0
        while (offer := person.next()).status == "item":
            # Neither the page nor other stages know of it yet.
            states = {part.stage.name: part.state for part in look(study, partial(_parts, person))}
            assert (states["meaningful"], states["entailment"] is State.LOCKED) == (State.AVAILABLE, False)
            outcome = person.submit(offer, gold_answer(offer) if is_gold(offer) else "yes")
            grace += 1
            assert (outcome.standing == "dropped") == (grace == removal.evidence["grace"])
            assert outcome.progress.earned == 3 * (answered + grace), "paid as before"
        assert offer.status == "dropped"
        assert grace == removal.evidence["grace"] <= 6
        waits.add(grace)
    assert len(waits) > 3
    settling.settle_everything(study)
    assert look(study, stages.stage_counts)[0].judgments == 0, "nothing of it counts"
    assert look(study, lambda tx: verify(tx, study)).differences == []


def _parts(person: Person, tx: Tx) -> list[StageVisit]:
    return list(parts_for(tx, person.study, person.id))


def test_a_removed_worker_is_paid_for_no_more_than_the_study_says(make_study: StudyMaker) -> None:
    limited = make_study(
        applications=100, gold=30, share=0.5, feedback="none", grace=1000, meaningful_extra="max_per_worker = 12"
    )
    [person] = people(limited, 1)
    _remove(person)
    while (offer := person.next()).status == "item":
        person.submit(offer)
    assert offer.status == "limit"
    assert offer.progress.answered == 12


def test_a_removed_worker_who_stays_away_is_removed_everywhere_within_an_hour(
    make_study: StudyMaker, clock: ManualClock
) -> None:
    study = make_study(applications=100, gold=30, share=0.5, feedback="none", grace=1000)
    [person] = people(study, 1)
    _remove(person)

    def dropped_from() -> frozenset[str]:
        return look(study, lambda tx: credentials_of(tx, person.id)).dropped

    do(study, advance)
    assert dropped_from() == frozenset()
    clock.pass_minutes(61)
    do(study, advance)
    assert dropped_from() == {"meaningful"}
    assert person.next().status == "dropped"


@pytest.mark.parametrize("grace", [30, pytest.param(0, marks=pytest.mark.xfail(strict=True))])
@pytest.mark.slow
def test_removals_tell_no_gold(grace: int) -> None:
    case = Case("removed", right=0.3, floor=0.6, honest=10, grace=grace)
    result = attack(case, range(40))
    assert not result.shows, result.row()
    low, _ = bounds(result.ways["removal, most, 1"], SHOWS_ERROR)
    assert low <= MARGIN


def test_verify_counts_the_gold_that_was_shown(make_study: StudyMaker) -> None:
    study = make_study(applications=40, gold=3, share=0.5, judgments="1", floor=0.0)
    first, second = people(study, 2)
    for _ in range(12):
        first.judge()
    check = look(study, lambda tx: verify(tx, study))
    assert check.differences == []
    assert any("whether gold was shown at its planned positions" in line for line in check.unchecked)
    for _ in range(12):
        second.judge()
    check = look(study, lambda tx: verify(tx, study))
    assert check.differences == []
    assert any("how many workers got 3 gold items in earlier turns" in line for line in check.unchecked)
    study.store.write(lambda tx: tx.execute(update(gold).values(turns=5))).result()
    study.store.write(lambda tx: tx.execute(update(participation).values(skipped=4, served=1))).result()
    differences = look(study, lambda tx: verify(tx, study)).differences
    assert sum("for each of 5 earlier turns), but only 2 workers h" in line for line in differences) == 3
    assert sum("4 skips stored, but 0 items returned or expired" in line for line in differences) == 2
    assert sum("1 item stored as shown, 12 assigned" in line for line in differences) == 2


def test_workers_who_answer_together_raise_an_alarm_on_the_console(make_study: StudyMaker) -> None:
    """Before, only `chorale status` had it."""
    study = make_study(applications=25, share=0.0, judgments="5")
    *others, first, second = people(study, 6)
    chance = Random(4)
    for person in (first, second, *others):
        while (offer := person.next()).status == "item":
            assert offer.view is not None
            agreed = Random(str(offer.view)).choice(["yes", "no"])
            said = agreed if person in (first, second) else chance.choice(["yes"] * 9 + ["no"])
            person.submit(offer, said)
    settling.settle_everything(study)
    found = [one for one in look(study, lambda tx: suspicions(tx, study)) if one.kind == "collusion"]
    assert found
    shown = look(study, lambda tx: overview(tx, study)).alarms
    assert [one for one in shown if one.kind == "collusion"] == found
    assert look(study, lambda tx: overview(tx, study)).alarms == shown, "and the next time"
