"""A frame study: the task, quality while it runs, stopping early, and what it comes to."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, text
from starlette.testclient import TestClient

from chorale.audit.verify import verify
from chorale.cli import app
from chorale.contract import AnswerError, ItemError, Seeds, installed_tasks
from chorale.engine.clock import Clock
from chorale.engine.opening import open_study
from chorale.engine.quality import review_workers, stage_quality
from chorale.engine.running import Study
from chorale.engine.settling import settle_everything
from chorale.engine.work import Offer
from chorale.exchange.export import write_export
from chorale.folder.reading import check_folder, load_folder
from chorale.folder.templates import create_study
from chorale.kits.frames.browsing import FrameBrowsing, browsing_of_study, browsing_scored
from chorale.kits.frames.files.sentences import FrameScore, FrameSentence, read_frame_sentences
from chorale.kits.frames.framenet import read_framenet
from chorale.kits.frames.metrics.ambiguity import Relation
from chorale.kits.frames.page import frames_page
from chorale.kits.frames.task.items import LONG_LIST
from chorale.metrics.aggregation.crowdtruth import crowdtruth
from chorale.metrics.judgments import Judgments
from chorale.model import Judgment, JudgmentSettings, QualitySettings
from chorale.protocol import WorkerQuality, decide_item, ranking_is_stable, review_quality
from chorale.rehearsal import Crowd, Rehearsal
from chorale.rehearsal.simulated import CrowdSettings, KindSettings
from chorale.store import events
from chorale.store.items import all_items
from chorale.store.requesters import add_requester
from chorale.web.app import create_app
from chorale.web.links import OWNER
from chorale.web.sessions import STAFF_COOKIE
from cookies import staff_cookie
from crowd import Person, look, people, work_through
from framenet_files import write_framenet
from small_study import write_small_study

TASK = installed_tasks()["frames"]
GOOD = KindSettings(name="good", share=1, ability=(0.9, 1.0), dropout=0)
FLOOR = "quality = { floor = 0.2, after = 6 }"
CANDIDATES: list[dict[str, Any]] = [
    {"frame": "Moving", "definition": "Somebody moves."},
    {"frame": "Leading", "definition": "Somebody leads."},
    {"frame": "Working", "definition": "A machine works.", "example": "It runs.", "example_word": [3, 7]},
]


def item(number: int, **more: Any) -> dict[str, Any]:
    row = {"id": f"s{number:02}", "sentence": f"Ann runs the shop number {number}.", "word": "runs"}
    return {**row, "candidates": CANDIDATES, **more}


def write_study(
    folder: Path, *, items: int = 6, judgments: str = "5", quality: str = "", pay: str = "per_judgment = 5"
) -> Path:
    folder.mkdir(parents=True)
    (folder / "consent.md").write_text("You agree.\n")
    (folder / "guidelines.md").write_text("Choose all that fit.\n")
    (folder / "items.jsonl").write_text("".join(json.dumps(item(number)) + "\n" for number in range(items)))
    (folder / "study.toml").write_text(
        f"""[study]
title = "Words"
contact = "team@example.org"
consent = "consent.md"
seed = 3

[arrival]
worker_pattern = "[A-Za-z0-9-]{{1,64}}"

[[stage]]
name = "meanings"
title = "What does it mean?"
task = "frames"
guidelines = "guidelines.md"
items = {{ file = "items.jsonl" }}
judgments = {judgments}
release_confidence = 0
pay = {{ {pay} }}
{quality}
"""
    )
    return folder


@pytest.fixture
def study(tmp_path: Path, clock: Clock, request: pytest.FixtureRequest) -> Iterator[Study]:
    opened = open_study(write_study(tmp_path / "study", **getattr(request, "param", {})), None, clock)
    yield opened
    opened.close()


# The task


def test_items_say_what_is_wrong_with_them(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "study")
    twice = [CANDIDATES[0], CANDIDATES[0]]
    rows = [
        item(1, word="walks"),
        item(2, sentence="Ann runs and runs."),
        item(3, start=5),
        item(4, candidates=twice),
        item(5, candidates=[{"frame": "None", "definition": "Nothing."}]),
        item(6, candidates=[]),
        item(7, candidates=[{"frame": "Moving"}]),
        item(8, candidates=[{**CANDIDATES[2], "example_word": [3, 70]}]),
        item(9, sentence="Ann runs and runs.", start=13),
    ]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    problems = [str(problem) for problem in check_folder(folder)[1]]
    told = [
        ("items.jsonl:1", "`word` is not in its sentence (found 'walks')"),
        ("items.jsonl:2", "Set `start` to the number of characters before the intended occurrence (4, 13)"),
        ("items.jsonl:3", "does not match the sentence at character 5"),
        ("items.jsonl:4", "has the frame 'Moving' twice"),
        ("items.jsonl:5", "is reserved for “no frame”"),
        ("items.jsonl:6", "is an empty list"),
        ("items.jsonl:7", "`candidates.0.definition` is missing"),
        ("items.jsonl:8", "outside its example"),
    ]
    assert len(problems) == len(told), problems
    for problem, (where, what) in zip(problems, told, strict=True):
        assert where in problem and what in problem


def test_an_answer_is_frames_or_none_of_them() -> None:
    payload = TASK.shape.parse_item({key: value for key, value in item(1).items() if key != "id"})
    assert TASK.shape.parse_answer(["Working", "Moving", "Moving"], payload) == ["Moving", "Working"]
    assert TASK.shape.parse_answer(["none"], payload) == ["none"]
    for bad, told in (
        ([], "must be a list with at least one frame"),
        (["none", "Moving"], 'cannot have both "none" and frames'),
        (["Flying"], "has a frame that is not a candidate: 'Flying'"),
        ("Moving", "must be a list with at least one frame"),
    ):
        with pytest.raises(AnswerError, match=told):
            TASK.shape.parse_answer(bad, payload)
    with pytest.raises(ItemError):
        TASK.shape.parse_item({"sentence": "Ann runs.", "word": "runs"})


def test_gold_may_leave_something_open() -> None:
    payload = TASK.shape.parse_item({key: value for key, value in item(1).items() if key != "id"})
    gold = TASK.shape.parse_gold({"fits": ["Leading"], "may": ["Working"]}, payload)
    scores = {
        tuple(answer): TASK.grading.grade(answer, gold) for answer in (["Leading"], ["Leading", "Working"], ["Moving"])
    }
    assert [scores[key].score for key in scores] == [1.0, 1.0, 0.0]
    assert scores[("Moving",)].reasons == (
        "does not name “Leading”, which fits",
        "names “Moving”, which does not fit",
    )
    partly = TASK.grading.grade(["Leading", "Moving"], gold)
    assert 0 < partly.score < 1
    for bad in ({"fits": "Leading"}, {"right": ["Leading"]}, {"fits": ["Flying"]}):
        with pytest.raises(AnswerError):
            TASK.shape.parse_gold(bad, payload)


@given(st.lists(st.sampled_from([["a"], ["b"], ["a", "b"], ["none"], ["a", "c"]]), min_size=1, max_size=9), st.data())
def test_combining_does_not_depend_on_who_came_first(answers: list[list[str]], data: st.DataObject) -> None:
    judgments = [Judgment(f"w{number}", answer, 1.0, number) for number, answer in enumerate(answers)]
    mixed = data.draw(st.permutations(judgments))
    first, second = TASK.combining.combine(judgments), TASK.combining.combine(mixed)
    assert first is not None and second is not None
    assert first.answer == second.answer and first.confidence == pytest.approx(second.confidence, abs=1e-12)
    assert TASK.shape.parse_answer(first.answer) == first.answer
    assert 0 <= first.confidence <= 1
    pairs = [
        1 - TASK.combining.distance(one.answer, other.answer)
        for place, one in enumerate(judgments)
        for other in judgments[place + 1 :]
    ]
    if pairs:
        assert first.confidence == pytest.approx(sum(pairs) / len(pairs), abs=1e-9)


def test_everybody_has_an_order_of_their_own() -> None:
    payload = TASK.shape.parse_item({key: value for key, value in item(1).items() if key != "id"})
    assert TASK.form.arrange is not None
    orders = {tuple(TASK.form.arrange(payload, Seeds.of(3, "meanings", f"w{n}", "s01"))["frames"]) for n in range(40)}
    assert len(orders) == 6, "three candidates stand in all six orders"
    view = TASK.form.view(payload)
    assert set(view) == {"sentence", "word", "start", "candidates"}, "nothing tells where a candidate came from"


@pytest.mark.parametrize(
    ("study", "same"),
    [({"items": 30, "quality": FLOOR}, False), ({"items": 30}, True)],
    indirect=["study"],
)
def test_sentences_come_in_another_order_to_everybody_where_workers_are_compared(study: Study, same: bool) -> None:
    orders: dict[str, list[str]] = {}

    def first_frame(person: Person, offer: Offer) -> list[str]:
        assert offer.view is not None
        orders.setdefault(person.pseudonym, []).append(offer.view["sentence"])
        return ["Moving"]

    assert work_through(people(study, 5), first_frame, "meanings") == 30 * 5
    assert {len(order) for order in orders.values()} == {30}
    assert len({tuple(order) for order in orders.values()}) == (1 if same else 5)


@pytest.mark.parametrize("study", [{"items": 24, "judgments": "200", "quality": FLOOR}], indirect=True)
def test_any_sentence_may_be_the_first(study: Study) -> None:
    """Before, a quarter of all people began with the same one where a study had few."""
    first = Counter(offer.lease.item_key for person in people(study, 160) if (offer := person.next("meanings")).lease)
    assert first.total() == 160
    [(_, most)] = first.most_common(1)
    assert most < 29 and len(first) > 18


def test_sentences_with_more_frames_are_less_clear_to_simulated_people() -> None:
    assert TASK.simulating.imitate is not None
    view = TASK.form.view(TASK.shape.parse_item({key: value for key, value in item(1).items() if key != "id"}))
    clarity = []
    for truth in (["Moving"], ["Leading", "Moving"], ["Leading", "Moving", "Working"]):
        rng = Random(5)
        judgments = [Judgment(f"w{n}", TASK.simulating.imitate(view, truth, 1.0, rng), 1.0) for n in range(200)]
        combined = TASK.combining.combine(judgments)
        assert combined is not None
        clarity.append(combined.confidence)
    assert clarity[0] == 1 > clarity[1] > clarity[2] > 0.3


def test_where_no_truth_is_given_people_disagree_as_in_the_corpus() -> None:
    """The first 5,042 sentences of the corpus have two frames of a majority, one and none in 15%, 64% and 21%."""
    guess, imitate = TASK.simulating.guess, TASK.simulating.imitate
    assert guess is not None and imitate is not None
    view = {"candidates": [{"frame": f"Frame_{number}"} for number in range(11)]}
    rng = Random(3)
    abilities = [rng.uniform(0.8, 0.97) for _ in range(60)]
    tasks, workers, labels = [], [], []
    for sentence in range(400):
        truth = guess(view, None, rng)
        for worker in rng.sample(range(60), 15):
            tasks.append(str(sentence))
            workers.append(str(worker))
            labels.append(imitate(view, truth, abilities[worker], rng))
    scores = dict(crowdtruth(Judgments.from_columns(tasks, workers, labels)).unit_annotation_scores()).values()
    majorities = [sum(score >= 0.5 for frame, score in each.items() if frame != "none") for each in scores]
    shares = [sum(count >= 2 for count in majorities) / 400, majorities.count(1) / 400, majorities.count(0) / 400]
    assert shares == pytest.approx([0.15, 0.64, 0.21], abs=0.1)


# Stopping


@pytest.mark.parametrize(
    ("answers", "over", "stable"),
    [
        ("aaaa", 3, True),
        ("abbb", 3, False),
        ("aab", 1, False),
        ("aaab", 1, True),
        ("a", 1, False),
        ("ababab", 1, False),
    ],
)
def test_a_ranking_is_stable_when_it_has_stayed_the_same(answers: str, over: int, stable: bool) -> None:
    assert ranking_is_stable([[answer] for answer in answers], over) is stable


def test_an_item_is_complete_by_either_rule() -> None:
    rule = JudgmentSettings(min=3, max=9, stable=2)
    assert not decide_item(rule, 5, 1.0, 0.0, stable=False).complete
    assert decide_item(rule, 5, 0.1, 0.0, stable=True).complete
    assert not decide_item(rule, 2, 1.0, 0.0, stable=True).complete
    assert decide_item(rule, 9, 0.1, 0.0, stable=False).complete
    both = JudgmentSettings(min=3, max=9, stable=2, until=0.8)
    assert decide_item(both, 4, 0.9, 0.0, stable=False).complete
    with pytest.raises(ValueError, match="`stable`"):
        JudgmentSettings(min=3, max=9)


@pytest.mark.parametrize("study", [{"judgments": "{ min = 4, max = 9, stable = 3 }", "items": 2}], indirect=True)
def test_clear_sentences_get_fewer_judgments(study: Study) -> None:
    def answer(person: Person, offer: Any) -> Any:
        if "number 0" in offer.view["sentence"]:
            return ["Leading"]
        return [["Moving"], ["Leading"], ["Working"]][(person.id * 7) % 3]

    work_through(people(study, 9), answer, "meanings")
    counts = {item.key: item.judgments for item in look(study, lambda tx: list(all_items(tx, "meanings")))}
    assert counts["s00"] == 4
    assert counts["s01"] > counts["s00"]
    assert look(study, lambda tx: verify(tx, study)).differences == []


def test_what_needs_options_is_refused_for_other_tasks(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "study", judgments="{ min = 2, max = 4, stable = 1 }", quality="quality = {}")
    text = (folder / "study.toml").read_text().replace('task = "frames"', 'task = "rules-entailment"')
    (folder / "study.toml").write_text(text)
    problems = [str(problem) for problem in check_folder(folder)[1]]
    told = [problem for problem in problems if "choose from a list" in problem]
    assert len(told) == 2 and "`stable`" in told[0] and "`quality`" in told[1]


# Quality


def test_the_floor_holds_after_enough_judgments() -> None:
    rule = QualitySettings(floor=0.2, after=5)
    low = WorkerQuality(0.1, 0.2, 0.5, 5)
    verdict = review_quality(low, rule)
    assert verdict.dropped and verdict.evidence["wqs"] == 0.1
    assert not review_quality(WorkerQuality(0.1, 0.2, 0.5, 4), rule).dropped
    assert not review_quality(WorkerQuality(0.2, 0.4, 0.5, 9), rule).dropped
    assert not review_quality(low, QualitySettings()).dropped


def contrary(person: Person, offer: Any) -> list[str]:
    """All but the first person agree."""
    return ["Working"] if person.id == 1 else ["Leading"]


@pytest.mark.parametrize("study", [{"items": 8, "judgments": "6", "quality": FLOOR}], indirect=True)
def test_whoever_agrees_with_nobody_is_dropped_with_evidence(study: Study) -> None:
    everyone = people(study, 6)
    work_through(everyone, contrary, "meanings")
    assert review_workers(study) == [everyone[0].pseudonym]
    assert review_workers(study) == [], "nothing new, nothing done"
    (event,) = look(study, lambda tx: events.recent(tx, kinds=("dropped",)))
    assert event.worker == everyone[0].pseudonym
    assert event.evidence["rule"] == "quality" and event.evidence["wqs"] < 0.2
    assert (event.evidence["judgments"], event.evidence["floor"], event.evidence["after"]) == (8, 0.2, 6)
    offer = everyone[0].next("meanings")
    assert offer.status == "dropped" and "often differed from those of other people" in offer.message
    items = look(study, lambda tx: list(all_items(tx, "meanings")))
    assert {one.judgments for one in items} == {5}, "their judgments no longer count, and others are asked"
    assert {one.state for one in items} == {"open"}
    assert look(study, lambda tx: verify(tx, study)).differences == []
    newcomer = Person(study, "somebody-new")
    work_through([newcomer], contrary, "meanings")
    assert {one.state for one in look(study, lambda tx: list(all_items(tx, "meanings")))} == {"complete"}


@pytest.mark.parametrize("study", [{"items": 8, "judgments": "6", "quality": FLOOR}], indirect=True)
def test_exclusions_without_gold_stand_in_the_methods_paragraph(study: Study, tmp_path: Path) -> None:
    work_through(people(study, 6), contrary, "meanings")
    review_workers(study)
    study.close()
    done = CliRunner().invoke(app, ["report", str(tmp_path / "study"), "--json", "--no-charts", "--resamples", "100"])
    methods = " ".join(json.loads(done.stdout)["methods"].values())
    assert "1 worker was removed. " in methods
    assert "8 annotations were excluded because of removed workers." in methods
    assert "the rule was to remove workers with a CrowdTruth quality (WQS) below 0.2 after 6 annotations" in methods


BY_LENGTH = "per_judgment = 5, by_length = { per_100_words = 8, most = 60 }"


@pytest.mark.parametrize("study", [{"pay": BY_LENGTH}], indirect=True)
def test_pay_by_length_stands_in_the_methods_paragraph(study: Study, tmp_path: Path) -> None:
    work_through(people(study, 5), contrary, "meanings")
    study.close()
    done = CliRunner().invoke(app, ["report", str(tmp_path / "study"), "--json", "--no-charts", "--resamples", "100"])
    paid = "Pay per annotation in meanings was $0.05, plus $0.08 for every 100 words of the item (at most $0.60)."
    assert paid in " ".join(json.loads(done.stdout)["methods"].values())


@pytest.mark.parametrize("study", [{"items": 8, "judgments": "6", "quality": FLOOR}], indirect=True)
def test_a_drop_rests_on_answers_that_verify_finds_and_verify_notices_one_that_does_not(study: Study) -> None:
    everyone = people(study, 6)
    work_through(everyone, contrary, "meanings")
    stage_quality(study, study.stage("meanings"))
    memory = study.memory["quality:meanings"]
    # As with two servers, one of which has given an answer its number and not written it yet.
    unseen = memory.known.answers[-3]
    memory.known = replace(memory.known, answers=tuple(one for one in memory.known.answers if one != unseen))
    assert review_workers(study) == []
    assert review_workers(study) == [everyone[0].pseudonym]
    assert look(study, lambda tx: verify(tx, study)).differences == []
    # Whoever stays is compared with those who stay, before many more answers have come.
    assert len(stage_quality(study, study.stage("meanings")).answers) == 40

    def falsify(tx: Any) -> None:
        event = {**events.recent(tx, kinds=("dropped",))[0].evidence, "wqs": 0.19}
        events.record(tx, 1, "dropped", event, stage_id=study.stage("meanings").id, worker_id=everyone[1].id)

    study.store.write(falsify).result()
    differences = look(study, lambda tx: verify(tx, study)).differences
    assert any("removed at a quality of 0.19" in line for line in differences)
    assert any("status stored active, recomputed dropped" in line for line in differences)


@pytest.mark.slow
def test_on_postgresql_a_drop_waits_for_answers_that_are_being_written(
    tmp_path: Path, clock: Clock, postgres_url: str
) -> None:
    study = open_study(write_study(tmp_path / "study", items=8, judgments="6", quality=FLOOR), postgres_url, clock)
    everyone = people(study, 6)
    work_through(everyone, contrary, "meanings")
    engine = create_engine(postgres_url)
    with engine.connect() as other, ThreadPoolExecutor(1) as pool:
        # Somebody's transaction that holds the table as an insert does.
        other.execute(text("LOCK TABLE response IN ROW EXCLUSIVE MODE"))
        reviewing = pool.submit(review_workers, study)
        with pytest.raises(TimeoutError):
            reviewing.result(1)
        other.commit()
        assert reviewing.result(30) == [everyone[0].pseudonym]
    assert look(study, lambda tx: verify(tx, study)).differences == []
    engine.dispose()
    study.close()


@pytest.mark.parametrize("study", [{"items": 4, "judgments": "3", "quality": "quality = {}"}], indirect=True)
def test_without_a_floor_nobody_is_dropped(study: Study) -> None:
    work_through(people(study, 3), contrary, "meanings")
    assert review_workers(study) == []


@pytest.mark.parametrize("study", [{"items": 8, "judgments": "6", "quality": FLOOR}], indirect=True)
def test_the_console_shows_quality_as_it_is_now(study: Study) -> None:
    study.store.write(lambda tx: add_requester(tx, "maya", OWNER)).result()
    browser = TestClient(create_app(study), base_url="http://study.test", follow_redirects=False)
    assert browser.get("/console/quality").status_code == 303, "for the owner only"
    browser.cookies.set(STAFF_COOKIE, staff_cookie(study, "maya"))
    assert "has two annotations yet" in browser.get("/console/quality").text
    everyone = people(study, 6)
    work_through(everyone, contrary, "meanings")
    page = browser.get("/console/quality/meanings").text
    assert "Workers below 0.2 after 6 annotations are removed" in page and "48" in page
    for name in ("WQS", "WWA", "WSA", "SQS", "FSS", "FQS"):
        assert name in page
    scored = stage_quality(study, study.stage("meanings"), at_once=True).crowdtruth
    assert scored is not None
    unclear = min(zip(scored.uqs.tolist(), scored.units, strict=True))
    frame, fss = max(dict(scored.unit_annotation_scores())[unclear[1]].items(), key=lambda one: (one[1], one[0]))
    assert f"{unclear[0]:.3f}" in page and f"{frame} ({fss:.3f})" in page
    assert item(int(unclear[1].removeprefix("s")))["sentence"] in page
    live = browser.get("/console/quality/meanings", params={"part": "live"}).text
    assert "<html" not in live and "SQS" in live and 'data-live="/console/quality/meanings"' in page
    places = [page.index(person.pseudonym) for person in everyone]
    assert places[0] == min(places), "whoever agrees least comes first"
    review_workers(study)
    assert everyone[0].pseudonym not in browser.get("/console/quality/meanings").text
    alarm = browser.get("/console").text
    assert "removed within the last day" in alarm and "minimum worker quality (quality.floor) is not too high" in alarm
    assert "Check that the gold is correct" not in alarm, "there is none"
    assert browser.get("/console/quality/nowhere").status_code == 404


def test_every_frame_and_every_sentence_is_on_some_page_of_quality(tmp_path: Path, clock: Clock) -> None:
    """FrameNet has more than a thousand frames, and those that nobody agrees on fill the first page."""
    folder, sentences, frames = write_study(tmp_path / "study"), 302, 18
    candidates = [{**CANDIDATES[0], "frame": f"Frame_{number:02}"} for number in range(frames)]
    rows = [item(number, candidates=candidates) for number in range(sentences)]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    study = open_study(folder, None, clock)
    study.store.write(lambda tx: add_requester(tx, "maya", OWNER)).result()

    def by_sentence(_: Person, offer: Offer) -> list[str]:
        assert offer.lease is not None
        return [f"Frame_{int(offer.lease.item_key[1:]) % frames:02}"]

    work_through(people(study, 2), by_sentence, "meanings")
    browser = TestClient(create_app(study), base_url="http://study.test")
    browser.cookies.set(STAFF_COOKIE, staff_cookie(study, "maya"))
    first = browser.get("/console/quality/meanings").text
    assert "1–15 of 302 sentences" in first and "1–15 of 18 frames" in first
    last = browser.get("/console/quality/meanings", params={"items": 21, "options": 2}).text
    assert "301–302 of 302 sentences" in last and "16–18 of 18 frames" in last
    assert all(f'<td class="anywhere">Frame_{number:02}' in first + last for number in range(frames))
    study.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "walk", [test_whoever_agrees_with_nobody_is_dropped_with_evidence, test_the_console_shows_quality_as_it_is_now]
)
def test_on_postgresql_it_is_the_same(
    walk: Callable[[Study], None], tmp_path: Path, clock: Clock, postgres_url: str
) -> None:
    study = open_study(write_study(tmp_path / "study", items=8, judgments="6", quality=FLOOR), postgres_url, clock)
    walk(study)
    study.close()


# Results


def test_exports_have_the_corpus_columns_and_are_read_back(study: Study, tmp_path: Path) -> None:
    def answer(person: Person, offer: Any) -> list[str]:
        return ["Leading", "Moving"] if person.id % 2 else ["Leading"] if person.id < 5 else ["none"]

    work_through(people(study, 5), answer, "meanings")
    settle_everything(study)
    for name in ("frames-fss", "frames-sqs", "frames-wqs", "frames-fqs"):
        write_export(study, name, tmp_path / f"{name}.csv")
    header = (tmp_path / "frames-fss.csv").read_text().splitlines()[0]
    assert header == "frame,fss_sent_centric,fss_sent_centric_initial,sent_id,sentence,word"
    read = read_frame_sentences([tmp_path / "frames-fss.csv"], qualities=tmp_path / "frames-sqs.csv")
    assert len(read.sentences) == 6
    first = read.sentences[0]
    assert set(first.frames) == {"Moving", "Leading", "Working", "none"}
    assert first.frames["Leading"].initial == pytest.approx(1.0)
    assert first.frames["Moving"].initial == pytest.approx(0.6)
    assert first.quality is not None and 0 < first.quality < 1 and first.judgments == 5
    workers = (tmp_path / "frames-wqs.csv").read_text().splitlines()
    assert workers[0] == "worker,duration,job,judgment,unit,wqs,wwa,wsa,wqs_initial,wwa_initial,wsa_initial"
    assert len(workers) == 6 and workers[1].split(",")[1:5] == ["0.0", "1", "6", "6"], "the clock stands still"
    assert len((tmp_path / "frames-fqs.csv").read_text().splitlines()) == 5


def test_results_can_be_browsed_while_the_study_runs(study: Study, tmp_path: Path) -> None:
    empty = browsing_of_study(study, study.stage("meanings"))
    assert "No sentence has two" in browsing_scored(empty).notes[0]

    def answer(person: Person, offer: Any) -> list[str]:
        if "number 1" in offer.view["sentence"]:
            return [["Moving"], ["Leading"], ["Working"]][person.id % 3]
        return ["Leading", "Working"] if person.id % 2 else ["Leading"]

    work_through(people(study, 5), answer, "meanings")
    framenet = read_framenet(write_framenet(tmp_path / "fn"))
    found = browsing_of_study(study, study.stage("meanings"), framenet)
    told = browsing_scored(found).json
    assert told["majorities"] == {"several": 5, "one": 0, "none": 1}
    assert told["sentences"][-1]["id"] == "s01" and told["sentences"][-1]["majority"] == []
    assert len(told["workers"]) == 5 and "Leading" in told["frames"]
    assert {tuple(pair["frames"]) for pair in told["pairs"]} >= {("Leading", "Working")}
    for browsing, columns in ((found, 6), (browsing_of_study(study, study.stage("meanings")), 4)):
        [pairs] = [table for table in browsing_scored(browsing).tables if table.title.startswith("Confused frames")]
        assert len(pairs.columns) == columns, "without FrameNet, there is nothing to say about relations"
    page = frames_page(found, "Words & <b>worse</b>")
    assert "Words &amp; &lt;b&gt;worse" in page and "<script" not in page and "<svg" in page


FSS = """frame,fss_sent_centric,fss_sent_centric_initial,sent_id,sentence,word
Moving,0.8,0.7,s1,Ann runs home.,runs
Going,0.6,0.6,s1,Ann runs home.,runs
none,0,0,s1,Ann runs home.,runs
Working,0.4,0.4,s2,"=cmd|runs <i>it</i>",runs
Speaking,0.3,0.3,s2,"=cmd|runs <i>it</i>",runs
Moving,0.5,0.4,s3,It says and runs.,runs
Working,0.4,0.4,s3,It says and runs.,runs
"""


def test_the_browser_of_files_says_how_frames_are_related(tmp_path: Path) -> None:
    write_framenet(tmp_path / "fn")
    (tmp_path / "FSS.csv").write_text(FSS)
    page = tmp_path / "page.html"
    command = ["browse", "frames", str(tmp_path / "FSS.csv"), "--framenet", str(tmp_path / "fn"), "--out", str(page)]
    done = CliRunner().invoke(app, [*command, "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["majorities"] == {"several": 1, "one": 0, "none": 2}
    reasons = {each["id"]: each["reason"] for each in told["sentences"]}
    assert reasons == {"s1": Relation.PARENT_CHILD, "s2": Relation.COMPOSED, "s3": Relation.OVERLAPPING}
    assert told["pairs"][0]["links"] == ["Inheritance"]
    assert "&lt;i&gt;it" in page.read_text() and "<i>" not in page.read_text()
    plain = CliRunner().invoke(app, [*command, "--force"])
    assert plain.exit_code == 0 and "parent and child" in plain.stdout
    refused = CliRunner().invoke(app, ["browse", "frames", str(tmp_path)])
    assert refused.exit_code == 2


def test_the_browser_says_which_stages_have_frames(tmp_path: Path) -> None:
    write_small_study(tmp_path / "rules")
    open_study(tmp_path / "rules").close()
    none = CliRunner().invoke(app, ["browse", "frames", str(tmp_path / "rules")])
    assert none.exit_code == 2 and "has no stage with the task `frames`" in " ".join(none.stderr.split())
    create_study(tmp_path / "frames", "frames")
    open_study(tmp_path / "frames").close()
    other = CliRunner().invoke(app, ["browse", "frames", str(tmp_path / "frames"), "--stage", "senses"])
    told = " ".join(other.stderr.split())
    assert "has no stage 'senses' with the task `frames`. Select one with --stage: meanings." in told


def test_the_template_is_rehearsed_to_the_end_and_can_be_recomputed(tmp_path: Path) -> None:
    create_study(tmp_path / "frames", "frames")
    rehearsal = Rehearsal(load_folder(tmp_path / "frames"), Crowd(CrowdSettings(workers=20, kind=(GOOD,))))
    study, _ = rehearsal.perform(1)
    try:
        items = look(study, lambda tx: list(all_items(tx, "meanings")))
        assert {(one.state, one.judgments) for one in items} == {("complete", 15)}
        assert look(study, lambda tx: verify(tx, study)).differences == []
        found = browsing_of_study(study, study.stage("meanings"))
        clear = {each.id: each.quality or 0 for each in found.sentences}
    finally:
        study.close()
        rehearsal.close()
    answers = [json.loads(line)["answer"] for line in (tmp_path / "frames" / "truth.jsonl").read_text().splitlines()]
    by_size: dict[int, list[float]] = {}
    for number, answer in enumerate(answers, 1):
        by_size.setdefault(len(answer), []).append(clear[f"s{number:02}"])
    means = [sum(by_size[size]) / len(by_size[size]) for size in sorted(by_size)]
    assert means == sorted(means, reverse=True), "the more frames fit, the less clear"


def test_rows_of_older_studies_stay_what_they_were() -> None:
    row = item(1)
    shown = TASK.shape.parse_item(row)["candidates"]
    assert [set(each) for each in shown] == [{"frame", "definition", "example", "example_word"}] * 3
    more = {**CANDIDATES[0], "more_examples": [["He walks.", 3, 8]]}
    (first, *_) = TASK.shape.parse_item({**row, "candidates": [more, *CANDIDATES[1:]]})["candidates"]
    assert tuple(first["more_examples"][0]) == ("He walks.", 3, 8)
    with pytest.raises(ItemError, match="outside an example"):
        TASK.shape.parse_item({**row, "candidates": [{**more, "more_examples": [["He", 3, 8]]}, *CANDIDATES[1:]]})


@pytest.mark.parametrize("explain", ["if-none", "optional", "required"])
def test_explanations_are_kept_and_do_not_count(explain: str) -> None:
    task = TASK.configured(TASK.options.model(explain=explain))
    answer = task.shape.parse_answer({"frames": ["Moving"], "meaning": " goes  on foot "})
    assert answer == {"frames": ["Moving"], "meaning": "goes  on foot"}
    other = {"frames": ["Moving"], "meaning": ""}
    if explain != "required":
        assert task.shape.parse_answer(other) == other
    else:
        with pytest.raises(AnswerError, match="must have a meaning"):
            task.shape.parse_answer(other)
    for wrong in ({"frames": [], "meaning": "x"}, {"meaning": "x"}, {"frames": ["Moving"], "meaning": "x" * 501}):
        with pytest.raises(AnswerError):
            task.shape.parse_answer(wrong)
    assert task.combining.distance(answer, other) == 0
    combined = task.combining.combine([Judgment(f"w{n}", each, 1.0, n) for n, each in enumerate((answer, other))])
    assert combined is not None and (combined.answer, combined.confidence) == (["Moving"], 1.0)
    assert task.grading.grade(answer, ["Moving"]).score == 1
    assert "goes  on foot" in task.explaining.present(item(1), answer)
    assert "<textarea" in task.form.html and "<textarea" not in TASK.form.html


def test_a_long_list_takes_as_long_as_what_it_shows_at_first() -> None:
    def item(candidates: int) -> dict[str, Any]:
        each = {"definition": "word " * 50, "example": "word " * 30, "more_examples": [["word " * 30, 0, 4]]}
        rows = [{"frame": f"Frame_{number}", **each} for number in range(candidates)]
        return {"sentence": "They run.", "word": "run", "start": None, "candidates": rows}

    short, folded = (installed_tasks()["frames"].form.seconds(item(many)) for many in (8, 9))  # type: ignore[misc]
    # In full: sentence, names, definitions and examples; folded: names and twenty words of each definition.
    assert short == pytest.approx((2 + 8 * (2 + 110)) * 60 / 238 + 8 * 0.5 + 1)
    assert folded == pytest.approx((2 + 9 * (2 + 20)) * 60 / 238 + 9 * 0.5 + 1)
    module = installed_tasks()["frames"].form.module
    assert module is not None and f"const LONG_LIST = {LONG_LIST};" in module.read_text("utf-8")


def test_items_that_do_not_record_whether_framenet_has_their_word() -> None:
    """Imported studies have no such column; the page called all their words unknown."""
    sentence = FrameSentence("s1", "She ran.", "ran", {"Motion": FrameScore(0.9, 0.9)}, 0.8, None)
    scored = browsing_scored(FrameBrowsing((sentence,), "digest", None))
    rows = {str(row[0]) for table in scored.tables for row in table.rows}
    assert "not looked up in FrameNet: mean SQS" in rows
    assert not any("unknown" in row for row in rows)
    assert any("Some items do not record whether their word is in FrameNet" in note for note in scored.notes)
