"""The four pages of a question study in a real browser: by keyboard alone, by touch, and after a reload."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import CHROMIUM, PHONE, WIDER_THAN_SCREEN, Scene, Site, Worker, barriers, tab_to
from chorale.folder.templates import create_study
from mcq_study import write_mcq_study

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]

HOSTILE = """</p><script>alert(1)</script><img src=x onerror="alert(2)"> {{ 7*7 }} &amp;"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(write_mcq_study(tmp_path_factory.mktemp("mcq") / "study", f"Nothing {HOSTILE}")) as running:
        yield running


WRITTEN: dict[str, Any] = {
    "question_1": "Why does the driver bring more than he needs?",
    "options_1": ["He expects a guest", "He is thirsty at night", "He was told to", "He breaks a lot"],
    "right_1": "option1",
    "why_1": "A third cup is for those who fall asleep on purpose, though the text never says so.",
    "question_2": "What has become of an unwanted event?",
    "options_2": ["A small habit", "A costly rule", "A long delay", "A loud quarrel"],
    "right_2": "option1",
    "why_2": "Being woken was a nuisance until there was tea, and now regulars look for it.",
}


def write_by_keyboard(page: Page, answer: dict[str, Any]) -> None:
    """From the rubric on, with Tab, Space and letters alone."""
    press, write = page.keyboard.press, page.keyboard.type
    for number in (1, 2):
        tab_to(page, page.locator(f"[name=question_{number}]"))
        write(answer[f"question_{number}"])
        press("Enter")  # leads to the first option
        for place, option in enumerate(answer[f"options_{number}"]):
            if place:
                press("Enter" if place % 2 else "Tab")
            write(option)
        tab_to(page, page.locator(f"[name=right_{number}]").first)
        press("Space")
        tab_to(page, page.locator(f"[name=why_{number}]"))
        write(answer[f"why_{number}"])


def hints(page: Page, number: int) -> list[str]:
    return page.locator(f"#hints-{number} > p").all_inner_texts()


def test_questions_are_written_by_keyboard_and_survive_a_reload(scene: Scene) -> None:
    worker = scene.worker().open("write")
    page = worker.page
    assert barriers(page) == ""
    write_by_keyboard(page, WRITTEN)
    page.reload()
    worker.at_question(1)
    for name in ("question_1", "why_2"):
        expect(page.locator(f"[name={name}]")).to_have_value(str(WRITTEN[name]))
    expect(page.locator("[name=option_2_4]")).to_have_value("A loud quarrel")
    expect(page.get_by_role("radio", name="Option a is correct").first).to_be_checked()
    page.locator("[name=option_1_2]").fill("")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#form-error")).to_have_text("Question 1: Fill in option b.")
    expect(page.locator("[name=option_1_2]")).to_be_focused()
    page.keyboard.type("He is thirsty at night")
    page.locator("[name=why_1]").focus()
    page.keyboard.press("Control+Enter")
    worker.at_question(2)
    assert scene.answers() == [WRITTEN]


@pytest.mark.slow
def test_hints_appear_while_writing_and_block_nobody(scene: Scene) -> None:
    worker = scene.worker().open("write")
    page = worker.page
    for name, text in {
        "question_1": "Why does he bring a cup?",
        "option_1_1": "two regulars fall asleep on purpose there",
        "option_1_2": "tea",
        "option_1_3": "It was his birthday",
        "option_1_4": "Someone asked",
        "why_1": "You need to read the whole passage to answer.",
        "question_2": "Why does he bring a cup then?",
        "option_2_1": "For another guest",
        "option_2_2": "For his own thirst",
        "option_2_3": "For a birthday",
        "option_2_4": "For the morning shift",
        "why_2": "A cup means somebody will drink.",
    }.items():
        page.locator(f"[name={name}]").fill(text)
    for number in (1, 2):
        page.locator(f"[name=right_{number}]").first.check()
    expect(page.locator("#hints-1")).to_contain_text("would fit any question")
    expect(page.locator("#hints-2")).to_contain_text("nearly the same question before")
    said = " ".join(hints(page, 1))
    assert "Options a, b mostly use words from the text" in said
    assert "Option b is a single word" in said
    assert "The correct option is much longer" in said
    assert barriers(page) == ""
    page.locator("#submit").click()
    worker.at_question(2)
    # What was sent is remembered on this device, and for this worker.
    page.locator("[name=question_1]").fill("Why does he bring a cup?")
    expect(page.locator("#hints-1")).to_contain_text("nearly the same question before")
    page.reload()
    expect(page.locator("#hints-1")).to_contain_text("nearly the same question before")
    other = scene.worker(scene.site.invitation("mcq-other")).open("write")
    other.page.locator("[name=question_1]").fill("Why does he bring a cup?")
    other.page.locator("[name=option_1_1]").fill("tea")
    expect(other.page.locator("#hints-1")).to_contain_text("single word")
    assert "before" not in " ".join(hints(other.page, 1))


@pytest.mark.slow
def test_the_text_stays_in_view_on_a_phone(scene: Scene) -> None:
    worker = scene.worker(**PHONE).open("write")
    page = worker.page
    page.locator("[name=why_2]").tap()
    page.keyboard.type("x")
    box, field = page.locator(".kept-in-view").bounding_box(), page.locator("[name=why_2]").bounding_box()
    assert box is not None and field is not None
    assert 0 <= box["y"] < 2 and box["y"] + box["height"] <= field["y"]
    assert not page.evaluate(WIDER_THAN_SCREEN)
    # Nobody may hold items of more than three parts at once: the fourth is for somebody else.
    other = scene.worker(scene.site.invitation("Bea"), **PHONE)
    shown = [(worker, "write"), (worker, "compare"), (worker, "grade"), (other, "validate")]
    for person, stage in shown[1:]:
        person.open(stage)
        assert not person.page.evaluate(WIDER_THAN_SCREEN), stage
        assert barriers(person.page) == ""
    for person, stage in shown:
        person.page.set_viewport_size({"width": 320, "height": 640})
        person.open(stage)
        assert not person.page.evaluate(WIDER_THAN_SCREEN), stage


@pytest.mark.slow
def test_quiz_grades_answers_and_questions_by_touch(scene: Scene) -> None:
    worker = scene.worker(**PHONE).open("compare")
    page = worker.page
    page.locator("label[data-side=first]").tap()
    page.reload()
    expect(page.locator("input[value=first]")).to_be_checked()
    page.locator("#submit").tap()
    worker.at_question(2)
    worker.open("grade")
    expect(page.locator(".mcq-right > b").first).to_have_text("a")
    expect(page.locator(".mcq-why").nth(0)).to_be_hidden()
    expect(page.locator(".mcq-why").nth(1)).to_contain_text("May is a month")
    for number in (1, 2):
        for criterion, level in (
            ("answerable", "yes"),
            ("reading", "whole"),
            ("creative", "very"),
            ("distracting", "no"),
        ):
            page.locator(f"label:has([name={criterion}_{number}][value={level}])").tap()
    page.locator("#submit").tap()
    worker.at_question(2)
    worker.open("validate")
    page.locator("label:has([name=answer_1][value=option1])").tap()
    page.locator("#submit").tap()
    expect(page.locator("#form-error")).to_have_text("Choose an answer first.")
    page.locator("label:has([name=answer_2][value=invalid])").tap()
    page.locator("#submit").tap()
    worker.at_question(2)
    # Items of three parts are held by now, as many as one person may hold.
    worker = scene.worker(scene.site.invitation("Bea"), **PHONE).open("write")
    page = worker.page
    for number in (1, 2):
        places = {f"option_{number}_{place}": text for place, text in enumerate(WRITTEN[f"options_{number}"], 1)}
        for name, text in {f"question_{number}": WRITTEN[f"question_{number}"], **places}.items():
            page.locator(f"[name={name}]").tap()
            page.keyboard.type(text)
        page.locator(f"label:has([name=right_{number}][value=option1])").tap()
        page.locator(f"[name=why_{number}]").tap()
        page.keyboard.type(WRITTEN[f"why_{number}"])
    page.locator("#submit").tap()
    worker.at_question(2)
    compared, graded, validated = scene.answers()
    [(written,)] = scene.site.query("SELECT answer FROM response ORDER BY id DESC LIMIT 1")
    assert json.loads(written) == WRITTEN
    assert compared == "first"
    assert graded["reading_2"] == "whole" and len(graded) == 8
    assert validated == {"answer_1": "option1", "answer_2": "invalid"}


@pytest.mark.slow
def test_quiz_grades_and_answers_by_keyboard_alone(scene: Scene) -> None:
    worker = scene.worker().open("compare")
    page, press = worker.page, worker.page.keyboard.press
    press("2")
    chosen = page.locator("#task-root input:checked").get_attribute("value")
    press("Enter")
    worker.at_question(2)
    worker.open("grade")
    for name in [
        f"{criterion}_{n}" for n in (1, 2) for criterion in ("answerable", "reading", "creative", "distracting")
    ]:
        tab_to(page, page.locator(f"[name={name}]").first)
        press("2")
    press("Enter")
    worker.at_question(2)
    worker.open("validate")
    press("1")
    tab_to(page, page.locator("[name=answer_2]").first)
    press("5")
    press("Enter")
    worker.at_question(2)
    compared, graded, validated = scene.answers()
    assert compared == chosen
    assert graded["answerable_1"] == "label" and graded["distracting_2"] == "no"
    assert validated == {"answer_1": "option1", "answer_2": "invalid"}


@pytest.fixture
def in_two_steps(chromium: Browser, tmp_path: Path) -> Iterator[Scene]:
    with Site(write_mcq_study(tmp_path / "study", answer_first=True)) as running:
        scene = Scene(chromium, running)
        yield scene
        for context in chromium.contexts:
            context.close()
        assert scene.watch.complaints == []


def test_graders_see_the_key_once_their_own_answers_are_stored(in_two_steps: Scene) -> None:
    site = in_two_steps.site
    worker = in_two_steps.worker(**PHONE).open("grade")
    page = worker.page
    key, own = page.locator(".mcq-key"), page.locator("[name=answer_1]")
    proceed = page.get_by_role("button", name="Continue")
    expect(key.first).to_be_hidden()
    assert "May is a month" not in page.content()
    proceed.tap()
    expect(page.locator("#form-error")).to_have_text("Choose an answer first.")
    page.locator("label:has([name=answer_1][value=option2])").tap()
    page.locator("label:has([name=answer_2][value=invalid])").tap()
    page.reload()
    expect(own.nth(1)).to_be_checked()
    expect(own.nth(1)).to_be_enabled()
    assert site.query("SELECT count(*) FROM first_answer") == [(0,)]
    page.locator("#submit").dblclick()
    expect(key.first).to_be_visible()
    expect(page.locator(".mcq-why").nth(1)).to_contain_text("May is a month")
    expect(page.locator("#form-error")).to_have_text("")
    assert site.query("SELECT count(*) FROM first_answer") == [(1,)] and site.responses() == 0
    assert not page.evaluate(WIDER_THAN_SCREEN) and barriers(page) == ""
    page.evaluate("localStorage.clear()")  # as on another device
    page.reload()
    expect(own.nth(1)).to_be_checked()
    expect(own.nth(0)).to_be_disabled()
    expect(page.locator("label.mcq-right").first).to_contain_text("He has come to like them")
    for number in (1, 2):
        for criterion in ("answerable", "reading", "creative", "distracting"):
            page.locator(f"label:has([name={criterion}_{number}])").first.tap()
    page.get_by_role("button", name="Submit").tap()
    worker.at_question(2)
    expect(proceed).to_be_visible()
    expect(own.nth(0)).to_be_enabled()
    [answer] = in_two_steps.answers()
    assert (answer["answer_1"], answer["answer_2"], len(answer)) == ("option2", "invalid", 10)


def test_a_first_answer_waits_for_the_connection(in_two_steps: Scene) -> None:
    worker = in_two_steps.worker().open("grade")
    page = worker.page
    in_two_steps.watch.tolerate("ERR_FAILED", "Failed to load resource")
    for number in (1, 2):
        page.locator(f"[name=answer_{number}]").first.check()
    page.route("**/first", lambda route: route.abort())
    page.keyboard.press("Enter")
    expect(page.get_by_text("Your first answer is not saved yet.")).to_be_visible()
    expect(page.locator(".mcq-key").first).to_be_hidden()
    page.unroute("**/first")
    page.get_by_role("button", name="Try now").click()
    expect(page.locator(".mcq-key").first).to_be_visible()
    expect(page.get_by_text("Your first answer is not saved yet.")).to_be_hidden()


@pytest.mark.slow
def test_the_first_quiz_of_the_tutorial_explains_at_once_and_the_second_does_not(
    chromium: Browser, tmp_path: Path
) -> None:
    create_study(tmp_path / "trial", "mcq-trial")
    with Site(tmp_path / "trial") as site:
        scene = Scene(chromium, site)
        worker = in_training(scene)
        worker.open("quiz-1")
        better = {
            row["passage"]: row["answer"]
            for row in map(json.loads, (tmp_path / "trial/rounds/quiz-1.jsonl").read_text("utf-8").splitlines())
        }
        for number in range(1, 5):
            worker.at_question(number)
            right = better[worker.page.locator("[data-text=passage]").inner_text()]
            wrong = "first" if right == "second" else "second"
            said = explained(worker, number, right if number == 1 else wrong)
            # What was compared is said again, every question and option on a line of its own.
            assert len(said) == (0 if number == 1 else 1 + 2 * (1 + 4)), said
        expect(worker.rest).to_have_text("You have answered all questions. Thank you!")
        worker.open("quiz-2")
        assert [explained(worker, number, "first") for number in range(1, 5)] == [[], [], [], []]
        expect(worker.rest).to_have_text("You have answered all questions. Thank you!")
        worker.open("tutorial")
        assert barriers(worker.page) == ""
        assert scene.watch.complaints == []


def in_training(scene: Scene) -> Worker:
    """Somebody who was put in an arm with a tutorial, as three in four are."""
    for number in range(20):
        worker = scene.worker(scene.site.invitation(f"mcq-{number}"))
        worker.page.goto("/")
        if worker.page.locator("a[href='/stages/quiz-1']").count():
            return worker
    raise AssertionError("nobody is trained")


def explained(worker: Worker, number: int, answer: str) -> list[str]:
    """Answer a question of a quiz; what is said again beside the explanation, if there is one."""
    worker.at_question(number)
    worker.page.keyboard.press(worker.page.locator(f"label[data-side={answer}] kbd").inner_text())
    worker.page.keyboard.press("Enter")
    after = worker.page.locator(f"#panel-feedback, #panel-item[aria-label='Question {number + 1}'], #panel-rest")
    expect(after.filter(visible=True)).to_be_visible()
    if not worker.feedback.is_visible():
        return []
    lines = worker.feedback.locator(".recap > p").all_inner_texts()
    go_on = worker.feedback.get_by_role("button", name="Continue")
    expect(go_on).to_be_enabled()
    go_on.press("Enter")
    return lines[:-1]
