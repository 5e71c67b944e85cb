"""The trial as a new user runs it: from `chorale new` to the report, with texts nobody here wrote, on the real site."""

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any, Protocol

import httpx2 as httpx
import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect

from browsing import CHROMIUM, PATIENCE_MS, Scene, Site
from chorale.cli import app

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]
PEOPLE = 16
ARMS = {"a": "baseline", "b": "justification", "c": "crowd", "d": "expert"}
RUBRIC = {"answerable": "yes", "reading": "whole", "creative": "fairly", "distracting": "yes"}
CHANGES = (
    ("weights = [1, 1, 3, 3]", "weights = [1, 1, 1, 1]"),
    ("# by_url = true", "by_url = true"),
    # The tutorial's best of both arms together: with so few people, it could leave an arm without graders.
    ("top_share = 0.6\n", "top_share = 1.0\n"),
    # One grader instead of three or five. In the crowd arm everybody is one, so that there is somebody else for each.
    ("judgments = 3                 #", "judgments = 1  #"),
    ("judgments = 5                 #", "judgments = 1  #"),
    ('promote = { to = "grader", top_share = 0.2 }', 'promote = { to = "grader", top_share = 1.0 }'),
    ("sample = { items = 250, judgments = 10 }", "sample = { items = 2, judgments = 4 }"),
)


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new study with the manual of Python's language as its texts, and so few of them that a test can do it all."""
    place = tmp_path_factory.mktemp("trial")
    with (place / "texts.jsonl").open("w", encoding="utf-8") as file:
        for name, text in topics.items():
            file.write(json.dumps({"id": name, "text": re.sub(r"[*`|+=-]{2,}", " ", text)}) + "\n")
    run("new", place / "study", "--template", "mcq-trial")
    parts = [f"--part={name}={count}" for name, count in (("final", 6), ("round-1", 8), ("round-2", 8), ("round-3", 8))]
    run("prepare", "mcq", place / "texts.jsonl", "--out", place / "study" / "passages", "--force", *parts)
    settings = (place / "study" / "study.toml").read_text("utf-8")
    for old, new in CHANGES:
        assert old in settings, old
        settings = settings.replace(old, new)
    settings = re.sub(r"max_per_worker = [679] ", "max_per_worker = 2 ", settings)
    settings = re.sub(r"expected = \d+", "expected = 4", settings)
    (place / "study" / "study.toml").write_text(settings, "utf-8")
    run("check", place / "study")
    return place / "study"


# What people do


class Reader:
    """Somebody who reads: the right option of a question is the one that is a word of the text."""

    def __init__(self, folder: Path, number: int) -> None:
        self.number = number
        self.known = {}
        for path in (*folder.glob("rounds/*.jsonl"), *folder.glob("gold/*.jsonl")):
            for line in path.read_text("utf-8").splitlines():
                row = json.loads(line)
                self.known[row["question_1"]] = row["answer"]

    def answer(self, view: Mapping[str, Any], stage: str) -> Any:
        if stage.startswith("quiz"):
            return self.known[view["question_1"]]
        if stage.endswith("grades"):
            return self.grades(view)
        if "question_1" not in view:
            return self.write(view["passage"], explain=stage == "writing-b")
        known = self.known.get(view["question_1"])
        if known is not None:
            return known
        return {f"answer_{number}": self.chosen(view, number) for number in (1, 2)}

    def chosen(self, view: Mapping[str, Any], number: int) -> str:
        if self.number % 5 == 0 and number == 1:
            return "option1"  # somebody who does not read the first question
        return right_option(view, number)

    def write(self, passage: str, *, explain: bool) -> dict[str, Any]:
        """A question with one right option; the second of every fourth person has none."""
        words = sorted(set(re.findall(r"[A-Za-z]{5,}", passage)), key=lambda word: (-len(word), word))
        answer: dict[str, Any] = {}
        for number in (1, 2):
            place = (self.number + number) % 4
            options = [f"{words[number]}{ending}" for ending in ("zzk", "qqv", "xxj", "kkw")]
            if number == 1 or self.number % 4:
                options[place] = words[number]
            answer |= {
                f"question_{number}": f"Which of these is a word of the text, asked by {self.number} as {number}?",
                f"options_{number}": options,
                f"right_{number}": f"option{place + 1}",
            }
            if explain:
                answer[f"why_{number}"] = f"Only {words[number]} is in it, and the others look like it."
        return answer

    def grades(self, view: Mapping[str, Any]) -> dict[str, str]:
        grades: dict[str, str] = {}
        for number in (1, 2):
            own = right_option(view, number)
            grades |= {
                f"answer_{number}": own,
                f"answerable_{number}": "no" if own == "invalid" else "yes",
                f"reading_{number}": ("sentences", "whole", "again")[len(view["passage"]) % 3],
                f"creative_{number}": ("little", "fairly")[len(view[f"option_{number}_1"]) % 2],
                f"distracting_{number}": "yes",
            }
        return grades


def right_option(view: Mapping[str, Any], number: int) -> str:
    words = set(re.findall(r"[A-Za-z]{5,}", view["passage"]))
    there = [place for place in range(1, 5) if view[f"option_{number}_{place}"] in words]
    return f"option{there[0]}" if there else "invalid"


class Answering(Protocol):
    """Somebody who knows what to answer."""

    def answer(self, view: Mapping[str, Any], stage: str) -> Any: ...


class Visitor:
    """Somebody on the site, by the interface that the page uses."""

    def __init__(self, site: Site, reader: Answering, link: str, desk: str | None = None) -> None:
        """Experts come to their desk, and from there to the stage that is named."""
        self.reader = reader
        self.client = httpx.Client(base_url=site.url, follow_redirects=True, trust_env=False, timeout=60)
        assert self.client.get(link).is_success
        path, form = ("/consent", {"agree": "yes"}) if desk is None else ("/console/queue/work", {"stage": desk})
        assert self.client.post(path, data=form).is_success

    def work(self, *stages: str) -> int:
        """Answer all there is in these stages; how much that was."""
        given = 0
        for stage in stages:
            while (offer := self.client.post(f"/api/stages/{stage}/next").json()).get("status") == "item":
                assignment = offer["assignment"]
                answer = self.reader.answer(assignment["item"], stage)
                if assignment["first"] is not None:
                    assert not any(name.startswith("right") for name in assignment["item"])
                    first = {name: answer[name] for name in assignment["first"]["fields"]}
                    revealed = self.client.post(f"/api/assignments/{assignment['id']}/first", json={"answer": first})
                    assert "right_1" in revealed.json()["item"], revealed.text
                body = {"key": f"key-{assignment['id']}", "answer": answer, "duration_ms": 1}
                done = self.client.post(f"/api/assignments/{assignment['id']}/submit", json=body)
                assert done.is_success, done.text
                given += 1
        return given


def sign_in(page: Page, site: Site) -> None:
    page.goto(site.setup_link)
    page.get_by_label("User name").fill("maya")
    for field in page.locator("input[type=password]").all():
        field.fill("a brass band at dawn")
    page.get_by_role("button", name="Set up and sign in").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


def close(page: Page, gate: str) -> None:
    page.goto("/console/gates")
    page.locator("summary", has_text=f"Close gate {gate}").click()
    form = page.locator(f"form[action='/console/gates/{gate}/close']")
    form.get_by_label("Reason").fill("All are graded.")
    form.get_by_role("button").click()
    expect(page.get_by_role("status").filter(visible=True)).to_contain_text("closed")


def until(done: Callable[[], bool], page: Page) -> None:
    """Wait for what the site does by itself, such as drawing answers for graders."""
    for _ in range(PATIENCE_MS // 250):
        if done():
            return
        page.wait_for_timeout(250)
    raise AssertionError("nothing has happened")


def write_in_the_browser(scene: Scene, site: Site, reader: Reader, stage: str) -> None:
    worker = scene.worker(site.panel_link(f"{reader.number:024x}")).open(stage)
    page = worker.page
    written = reader.write(page.locator("[data-text=passage]").inner_text(), explain=stage == "writing-b")
    for number in (1, 2):
        page.locator(f"[name=question_{number}]").fill(written[f"question_{number}"])
        for place, option in enumerate(written[f"options_{number}"], 1):
            page.locator(f"[name=option_{number}_{place}]").fill(option)
        page.locator(f"[name=right_{number}][value={written[f'right_{number}']}]").check()
        if f"why_{number}" in written:
            page.locator(f"[name=why_{number}]").fill(written[f"why_{number}"])
    page.keyboard.press("Control+Enter")
    worker.at_question(2)
    page.context.close()


def grade_in_the_browser(scene: Scene, link: str) -> None:
    """The key and the rubric appear once the grader's own answers are stored."""
    context = scene.context()
    page = context.new_page()
    page.goto(link)
    expect(page.locator("body.shortcuts")).to_be_visible()
    page.keyboard.press("w")
    expect(page.locator("#panel-item")).to_be_visible()
    for number in (1, 2):
        section = page.locator(".mcq-graded").nth(number - 1)
        expect(section.get_by_text("Marked as correct by the writer")).to_be_hidden()
        note = section.get_by_text("you see which option the writer marked as correct")
        assert note.evaluate("note => [getComputedStyle(note).display, getComputedStyle(note).fontWeight]") == [
            "block",
            "400",
        ]
        section.locator(f"[name=answer_{number}]").first.check()
    page.get_by_role("button", name="Continue").click()
    for number in (1, 2):
        section = page.locator(".mcq-graded").nth(number - 1)
        expect(section.get_by_text("Marked as correct by the writer")).to_be_visible()
        expect(section.locator(f"[name=answer_{number}]").nth(1)).to_be_disabled()
        for name, level in (
            ("answerable", "yes"),
            ("reading", "whole"),
            ("creative", "fairly"),
            ("distracting", "yes"),
        ):
            section.locator(f"[name={name}_{number}][value={level}]").check()
    page.locator("#submit, button[type=submit]").filter(visible=True).first.click()
    expect(page.locator("#panel-item")).to_have_attribute("aria-label", "Question 2")
    context.close()


def read_feedback_in_the_browser(scene: Scene, site: Site, number: int) -> None:
    """The message after a round: one score for difficulty and one for creativity, numbers to the right."""
    page = scene.worker(site.panel_link(f"{number:024x}")).page
    page.goto("/")
    message = page.locator("#messages details", has_text="Writing, round 1")
    if message.get_attribute("open") is None:  # a new message is open
        message.locator("summary").click()
    rows = message.locator("tbody tr")
    expect(rows).to_have_count(2)
    for row, name in zip(rows.all(), ("difficulty", "creativity"), strict=True):
        expect(row.locator("td").first).to_have_text(name)
        for score in row.locator("td").all()[1:]:
            assert 0 <= int(score.inner_text()) <= 100
            assert score.evaluate("cell => getComputedStyle(cell).textAlign") == "end"
    page.context.close()


@pytest.fixture(scope="module")
def done(folder: Path, chromium: Browser) -> Iterator[Path]:
    """The whole trial, done."""
    with Site(folder) as site, ExitStack() as visits:
        scene = Scene(chromium, site)
        owner = scene.page()
        sign_in(owner, site)
        everybody = [
            Visitor(site, Reader(folder, number), site.panel_link(f"{number:024x}")) for number in range(1, PEOPLE + 1)
        ]
        for visitor in everybody:
            visits.callback(visitor.client.close)
        arms = dict(site.query("SELECT external_id, arm FROM worker JOIN worker_identity ON worker.id = worker_id"))
        first = next(number for number in range(1, PEOPLE + 1) if arms[f"{number:024x}"] == "baseline")
        write_in_the_browser(scene, site, Reader(folder, first), "writing-a")

        def all_work(*stages: str) -> int:
            return sum(person.work(*stages) for person in everybody)

        all_work("writing-a", "writing-b", "quiz-1", "quiz-2", "tutorial", "validators")
        assert all_work("validation") == 0, "nobody validates before all arms have written"
        grade_in_the_browser(scene, site.expert_link("ada"))
        expert = Visitor(site, Reader(folder, 99), site.expert_link("grace"), desk="tutorial-grades")
        visits.callback(expert.client.close)
        expert.work("tutorial-grades")
        close(owner, "tutorial-passed")
        for number in (1, 2, 3):
            all_work(*(f"round-{number}-{arm}" for arm in "cd"))
            for arm in "cd":
                paused: dict[str, str | float | bool] = {"state": "paused", "reason": "Nobody writes any more."}
                expect(owner.request.post(f"/console/stages/round-{number}-{arm}/state", form=paused)).to_be_ok()
            graders = {"c": expert.work if number == 1 else all_work, "d": expert.work}
            for arm, work in graders.items():
                stage = f"round-{number}-{arm}-grades"
                until(lambda stage=stage, work=work: work(stage) > 0, owner)  # type: ignore[misc]
                work(stage)
                close(owner, f"round-{number}-{arm}-passed")
            if number == 1:
                trained = next(one for one in range(1, PEOPLE + 1) if arms[f"{one:024x}"] == "crowd")
                read_feedback_in_the_browser(scene, site, trained)
        all_work("writing-c", "writing-d")
        until(lambda: all_work("validation") > 0, owner)
        until(lambda: not all_work("validation"), owner)
        assert scene.watch.complaints == []
        for context in chromium.contexts:
            context.close()
    yield folder


# What comes out, computed by nothing of Chorale


def read_rows(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def export(folder: Path, name: str, to: Path) -> list[dict[str, Any]]:
    run("export", folder, "--format", name, "--out", to)
    return read_rows(to)


def test_the_report_has_the_numbers_of_the_data(done: Path, tmp_path: Path) -> None:
    assert json.loads(run("verify", done, "--json"))["ok"]
    report = json.loads(run("report", done, "--arms", "--json", "--out", tmp_path / "report.html"))
    responses = export(done, "jsonl", tmp_path / "responses.jsonl")
    ledger = export(done, "ledger", tmp_path / "ledger.csv")
    questions = export(done, "mcq-validation", tmp_path / "mcq.jsonl")
    arms = {row["worker"]: row["arm"] for row in export(done, "arms", tmp_path / "arms.csv")}
    # Everybody has an arm, and no arm has more than a block's worth above another.
    assert len(arms) == PEOPLE and set(Counter(arms.values())) == set(ARMS.values())
    # Money.
    assert report["costs"]["spent"] == sum(int(row["amount"]) for row in ledger)
    # Questions.
    kept: dict[str, list[bool]] = defaultdict(list)
    agreed: dict[str, list[float]] = defaultdict(list)
    ways: Counter[str] = Counter()
    for row in questions:
        votes = ["invalid" if one["unanswerable"] else one["worker_answer"] for one in row["validation_data"]]
        [(most, times), *_] = Counter([*votes, row["gold_answer"]]).most_common()
        good = 2 * times > len(votes) + 1 and most != "invalid"
        kept[row["protocol"]].append(good)
        ways["kept" if good else "other"] += 1
        if good:
            agreed[row["protocol"]].append(votes.count(most) / len(votes))
    outcomes = report["analysis"]["outcomes"]
    for arm in ARMS.values():
        assert len(kept[arm]) == 12, "six texts with two questions"
        assert outcomes["kept"]["means"][arm] == pytest.approx(sum(kept[arm]) / 12)
        assert outcomes["agreement"]["means"][arm] == pytest.approx(sum(agreed[arm]) / len(agreed[arm]))
    assert report["funnel"]["outcomes"]["mcq-validation"]["kept"] == ways["kept"]
    # Who got how far.
    began = Counter((arms.get(worker), stage) for worker, stage in {(row["worker"], row["stage"]) for row in responses})
    for arm, steps in report["flow"]["arms"].items():
        for step in steps:
            if "began" in step:
                assert step["began"] == began[arm, step["step"]], (arm, step)
    # Nobody graded a text they wrote about, and experts graded what they were to.
    texts = defaultdict(set)
    for row in responses:
        if row["stage"].startswith(("round", "tutorial")) and "grades" not in row["stage"]:
            texts[row["worker"]].add(row["payload"]["passage"])
    graded = [row for row in responses if row["stage"] in ("round-2-c-grades", "round-3-c-grades")]
    assert graded and not [row for row in graded if row["payload"]["passage"] in texts[row["worker"]]]
    assert "Participant flow by arm" in (tmp_path / "report.html").read_text("utf-8")


def test_everybody_read_a_result(done: Path, tmp_path: Path) -> None:
    responses = export(done, "jsonl", tmp_path / "responses.jsonl")
    messages = export(done, "messages", tmp_path / "messages.csv")
    read = {(row["worker"], row["gate"]) for row in messages}
    tried = {row["worker"] for row in responses if row["stage"] == "tutorial"}
    assert tried and {(worker, "tutorial-passed") for worker in tried} <= read
