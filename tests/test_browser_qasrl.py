"""QA-SRL in a real browser: a predicate written, consolidated and validated by keyboard alone, and by touch."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from asking import EXPERT, SUGGESTED, write_qasrl_study, write_suggesting_qasrl_study
from browsing import CHROMIUM, PHONE, WIDER_THAN_SCREEN, Scene, Site, Worker, barriers, swipe, tab_to
from chorale.engine.models.running import annotate, chosen_models
from chorale.engine.running import Study

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]
# A phone with its keyboard up: what is left of the screen.
ABOVE_THE_KEYBOARD = ViewportSize(width=390, height=480)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = write_qasrl_study(tmp_path_factory.mktemp("qasrl") / "study", predicates=8, apart=True)
    with Site(folder) as running:
        yield running


# The parts of an answer, as the page would cut it.
SPLIT = """async (text) => {
  const module = performance.getEntriesByType("resource").find(({ name }) => name.includes("qa_sentence.js"));
  const { split } = await import(module.name);
  const words = text.split(" ");
  const pieces = words.flatMap((word) => [word, " "]);
  return split(pieces, [0, words.length]).map(([first, end]) => words.slice(first, end).join(" "));
}"""


def field(page: Page) -> Locator:
    return page.get_by_role("combobox")


def word(page: Page, number: int) -> Locator:
    return page.locator(f"[data-token='{number}']")


def mark_by_keyboard(page: Page, start: int, end: int) -> None:
    """In the sentence: go there, take all the words, mark them."""
    page.keyboard.press("Home")
    for _ in range(start):
        page.keyboard.press("ArrowRight")
    for _ in range(end - start - 1):
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Space")


def plain(answer: list[dict[str, object]]) -> list[dict[str, object]]:
    """Without the slots, which the server adds."""
    return [{name: value for name, value in one.items() if name != "slots"} for one in answer]


def test_questions_are_written_with_the_keyboard_alone(scene: Scene) -> None:
    worker = scene.worker(viewport={"width": 1200, "height": 900}).open("writing")
    page, keys = worker.page, worker.page.keyboard
    tab_to(page, field(page))
    keys.type("who selled something")
    keys.press("Escape")
    keys.press("Enter")
    expect(page.get_by_text("After “Who” comes “sold”")).to_be_visible()
    keys.press("Control+A")
    keys.type("who")
    expect(page.get_by_role("option", name="Who sold something?")).to_have_attribute("aria-selected", "true")
    assert barriers(page) == ""
    keys.press("Tab")
    expect(field(page)).to_have_value("Who sold something?")
    mark_by_keyboard(page, 0, 2)
    mark_by_keyboard(page, 3, 4)
    keys.press("Enter")
    expect(field(page)).to_be_focused()
    keys.type("what did someone se")
    keys.press("Enter")
    expect(field(page)).to_have_value("What did someone sell?")
    mark_by_keyboard(page, 0, 2)
    expect(page.get_by_text("“The twins” answers question 1 too.")).to_have_count(2)
    keys.press("Space")
    mark_by_keyboard(page, 5, 6)
    expect(page.get_by_text("2 questions", exact=True)).to_be_visible()
    page.reload()
    expect(page.locator(".qa-entry")).to_have_count(2)
    tab_to(page, field(page))
    keys.type("Who sold something?")
    keys.press("Enter")
    expect(page.get_by_text("This is the same question as question 1.")).to_be_visible()
    expect(page.get_by_text("Now mark the answer")).to_be_hidden()  # the question must be changed first
    keys.press("Control+A")
    keys.type("Who might sell something?")
    keys.press("Enter")
    expect(page.locator(".qa-reason")).to_contain_text("asks the same as question 1 (“Who sold something?”)")
    keys.press("Control+A")
    keys.type("When did someone sell something")
    keys.press("Escape")
    keys.press("Control+Enter")
    expect(page.locator("#form-error")).to_have_text("Mark the answer in the sentence.")
    expect(word(page, 4)).to_be_focused()
    mark_by_keyboard(page, 8, 10)
    expect(page.get_by_text("3 questions · bonus $0.05")).to_be_visible()
    expect(page.locator("#submit .key-hint")).to_have_text("Ctrl+Enter")
    keys.press("Enter")
    expect(field(page)).to_be_focused()
    expect(page.locator("#submit .key-hint")).to_have_text("Enter")
    keys.press("Enter")
    worker.at_question(2)
    assert [plain(answer) for answer in scene.answers()] == [[EXPERT[0], EXPERT[1], EXPERT[3]]]


@pytest.mark.slow
def test_nothing_to_ask_is_answered_by_keyboard_and_by_thumb(scene: Scene) -> None:
    worker = scene.worker(viewport={"width": 1280, "height": 900}).open("writing")
    page, keys = worker.page, worker.page.keyboard
    chosen = page.get_by_role("button", name="Nothing to ask")
    keys.press("Alt+n")
    expect(chosen).to_have_attribute("aria-pressed", "true")
    keys.press("Alt+n")
    expect(chosen).to_have_attribute("aria-pressed", "false")
    page.locator("#submit").click()
    expect(page.locator("#form-error")).to_contain_text("or choose “Nothing to ask”")
    keys.press("Alt+n")
    expect(chosen).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(chosen).to_have_attribute("aria-pressed", "true")
    field(page).fill("Who sold something?")
    expect(chosen).to_be_hidden()
    keys.press("Alt+n")  # a question that was begun is not lost by one key
    field(page).fill("")
    expect(chosen).to_have_attribute("aria-pressed", "false")
    assert barriers(page) == ""
    keys.press("Alt+n")
    keys.press("Enter")
    worker.at_question(2)
    thumb = scene.worker(**PHONE).open("writing")
    thumb.page.get_by_role("button", name="Nothing to ask").tap()
    expect(thumb.page.locator(".qa-count")).to_have_text("Nothing to ask")
    assert thumb.page.evaluate(WIDER_THAN_SCREEN) == 0
    assert barriers(thumb.page) == ""
    thumb.page.locator("#submit").tap()
    thumb.at_question(2)
    consolidator = scene.worker(viewport={"width": 1200, "height": 900}).open("consolidation")
    first = consolidator.page.locator(".qa-group").first
    first.get_by_role("button", name="Keep:").first.click()
    consolidator.page.keyboard.press("n")  # what was kept is not lost by one key
    expect(first).to_contain_text("Result")
    first.get_by_role("button", name="Remove").click()
    consolidator.page.keyboard.press("n")
    expect(consolidator.page.locator(".qa-count")).to_have_text("Nothing to ask")
    consolidator.page.keyboard.press("Control+Enter")  # the button has the focus
    consolidator.at_question(2)
    assert scene.answers() == [[], [], []]


@pytest.mark.slow
def test_questions_are_edited_and_deleted(scene: Scene) -> None:
    worker = scene.worker().open("writing")
    page = worker.page
    for question, token in (("Who sold something?", 1), ("What did someone sell?", 5)):
        field(page).fill(question)
        word(page, token).click()
        page.get_by_role("button", name="Done with this question").click()
    page.get_by_role("button", name="Edit Who sold something?").click()
    expect(field(page)).to_have_value("Who sold something?")
    field(page).fill("Who selled")
    page.get_by_role("button", name="Edit What did someone sell?").click()
    expect(field(page)).to_have_value("Who selled")  # it is not done, and not to be lost
    expect(page.locator(".qa-reason")).not_to_be_empty()
    field(page).fill("Who sold something?")
    word(page, 0).hover()
    page.mouse.down()
    word(page, 3).hover()
    page.mouse.up()
    page.get_by_role("button", name="Delete What did someone sell?").click()
    page.locator("#submit").click()
    worker.at_question(2)
    assert [plain(answer) for answer in scene.answers()] == [[{"question": "Who sold something?", "answers": [[0, 4]]}]]


@pytest.mark.slow
def test_questions_are_written_by_touch_with_the_phones_keyboard_up(scene: Scene) -> None:
    worker = scene.worker(**PHONE).open("writing")
    page = worker.page
    page.set_viewport_size({"width": 240, "height": 480})
    only_one_line = "height => { document.querySelector('.qa-sentence').style.maxHeight = height; }"
    page.evaluate(only_one_line, "1.6em")
    expect(page.locator(".qa-verb")).to_be_in_viewport()
    page.evaluate(only_one_line, "")
    page.set_viewport_size(ABOVE_THE_KEYBOARD)
    field(page).tap()
    page.keyboard.type("what did someone sell")
    offer = page.get_by_role("listbox", name="Possible next words").get_by_role("option").first
    expect(offer).to_have_text("What did someone sell?")
    offer.tap()
    for number in (0, 5):
        expect(word(page, number)).to_be_in_viewport()
    swipe(page, word(page, 5), word(page, 7))
    expect(page.get_by_text("“lemonade to tourists”")).to_be_visible()
    word(page, 6).tap()
    word(page, 5).tap()
    expect(page.get_by_text("“lemonade”")).to_be_visible()
    expect(page.locator("#task-root .qa-current")).to_be_in_viewport()
    page.get_by_role("button", name="Done with this question").tap()
    assert page.evaluate(WIDER_THAN_SCREEN) == 0
    page.set_viewport_size({"width": 390, "height": 844})
    assert barriers(page) == ""
    page.locator("#submit").tap()
    worker.at_question(2)
    assert [plain(answer) for answer in scene.answers()] == [[EXPERT[1]]]


def test_what_is_offered_does_not_cover_an_answer_that_is_marked(scene: Scene) -> None:
    """A tap on a word leaves the field in focus."""
    worker = scene.worker(**PHONE).open("writing")
    page = worker.page
    offers = page.get_by_role("listbox", name="Possible next words")
    for question, number in (("What did someone sell?", 5), ("who sold something", 3)):
        field(page).tap()
        page.keyboard.type(question.removesuffix("?"))
        expect(offers).to_be_visible()
        page.keyboard.type(question.removeprefix(question.removesuffix("?")))
        word(page, number).tap()
        expect(field(page)).to_be_focused()
        expect(offers).to_be_hidden()
        page.get_by_role("button", name="Done with this question").tap()
    expect(page.locator(".qa-entry")).to_have_count(2)


def test_a_tap_on_the_first_offer_finishes_the_likeliest_question(scene: Scene) -> None:
    """“Who sold?” is a question, but of this sentence one asks “Who sold something?”."""
    page = scene.worker(**PHONE).open("writing").page
    offers = page.get_by_role("listbox", name="Possible next words").get_by_role("option")
    for typed, offered in (
        ("who sold", ["Who sold something?", "Who sold?"]),
        ("who had", ["Who had sold something?"]),
        ("what did someone sell", ["What did someone sell?"]),
    ):
        field(page).fill(typed)
        expect(offers.first).to_have_text(offered[0])
        assert offers.all_inner_texts()[: len(offered)] == offered
    offers.first.tap()
    expect(field(page)).to_have_value("What did someone sell?")


@pytest.mark.slow
def test_practice_shows_what_was_missed_on_the_sentence(scene: Scene) -> None:
    worker = scene.worker(**PHONE).open("practice")
    page = worker.page
    for question, token in (("What sold something?", 3), ("Where did someone sell something?", 10)):
        field(page).fill(question)
        word(page, token).tap()
        page.get_by_role("button", name="Done with this question").tap()
    page.locator("#submit").tap()
    expect(worker.feedback).to_be_visible()
    expect(worker.feedback).to_contain_text("The twins and Ada are two answers.")
    shown = worker.feedback.locator(".qa-compared > li")
    expect(shown).to_have_count(6)
    expect(shown.first).to_contain_text("Missed")
    expect(shown.first.locator(".qa-shown-missed").first).to_have_text("The")
    expect(worker.feedback).to_contain_text("Not among the expert’s answers")
    expect(worker.feedback).to_contain_text("Right words, different question")
    assert page.evaluate(WIDER_THAN_SCREEN) == 0
    assert barriers(page) == ""
    page.get_by_role("button", name="Continue").tap()
    expect(worker.rest).to_be_visible()


def consolidated(scene: Scene) -> list[dict[str, object]]:
    [answer] = [plain(answer) for answer in scene.answers()]
    return answer


def test_two_sets_are_consolidated_with_the_keyboard_alone(scene: Scene) -> None:
    worker = scene.worker(viewport={"width": 1200, "height": 900}).open("consolidation")
    page, keys = worker.page, worker.page.keyboard
    groups = page.locator(".qa-group")
    expect(groups).to_have_count(4)
    expect(groups.last).to_contain_text("The writers agree")
    keys.press("b")
    expect(groups.last).to_contain_text("Decided")
    expect(groups.first).to_be_focused()
    keys.press("2")
    split = page.get_by_role("button", name="Split the answers to Who sold something?")
    tab_to(page, split)
    keys.press("Enter")
    expect(groups.first.locator(".qa-list .qa-answers > li")).to_have_count(2)
    expect(groups.first).to_be_focused()
    listed = "Ann , Bo as well as the chef as such and Cy"
    assert page.evaluate(SPLIT, listed) == ["Ann", "Bo", "the chef as such", "Cy"]
    keys.press("ArrowDown")
    keys.press("1")
    keys.press("ArrowDown")
    keys.press("x")
    expect(groups.nth(2)).to_contain_text("Rejected")
    page.reload()
    expect(groups.nth(2)).to_contain_text("Rejected")
    expect(groups.first.locator(".qa-list .qa-answers > li")).to_have_count(2)
    tab_to(page, field(page))
    keys.type("When did someone sell something?")
    keys.press("Enter")
    mark_by_keyboard(page, 8, 10)
    keys.press("Enter")
    expect(page.get_by_text("4 questions kept · bonus $0.12")).to_be_visible()
    keys.press("Control+Enter")
    worker.at_question(2)
    kept = {str(one["question"]): one["answers"] for one in consolidated(scene)}
    assert kept == {one["question"]: one["answers"] for one in EXPERT}


@pytest.mark.slow
def test_two_sets_are_consolidated_by_touch(scene: Scene) -> None:
    worker = scene.worker(**PHONE).open("consolidation")
    page = worker.page
    groups = page.locator(".qa-group")
    groups.first.get_by_role("button", name="Merge the answers").tap()
    page.locator("#submit").tap()
    expect(page.locator("#form-error")).to_contain_text("Decide about group 2")
    expect(groups.nth(1).get_by_text("Decide about group 2")).to_be_in_viewport()
    expect(groups.first).to_contain_text("Result")
    page.get_by_role("button", name="Edit Who sold something?").tap()
    word(page, 3).tap()
    page.get_by_role("button", name="Done with this question").tap()
    first, second = groups.first.locator(".qa-keep").all()
    for keep, other in ((second, first), (first, second)):  # the same question twice: one takes the other's place
        keep.tap()
        expect(keep).to_have_attribute("aria-pressed", "true")
        expect(other).to_have_attribute("aria-pressed", "false")
    page.get_by_role("button", name="Edit Who sold something?").tap()
    word(page, 3).tap()
    page.get_by_role("button", name="Done with this question").tap()
    for number in (1, 2):
        groups.nth(number).get_by_role("button", name="Keep:").tap()
    groups.nth(2).get_by_role("button", name="Redundant:").tap()
    page.get_by_role("button", name="Keep the question on which the writers agree").tap()
    assert page.evaluate(WIDER_THAN_SCREEN) == 0
    assert barriers(page) == ""
    page.locator("#submit").tap()
    worker.at_question(2)
    kept = {str(one["question"]): one for one in consolidated(scene)}
    assert kept["Who sold something?"]["answers"] == [[0, 2]]
    assert kept["When was something sold?"]["redundant"] is True
    assert len(kept) == 4


def test_questions_are_validated_with_the_keyboard_alone_and_by_touch(scene: Scene) -> None:
    worker = scene.worker(viewport={"width": 1200, "height": 900}).open("validation")
    page, keys = worker.page, worker.page.keyboard
    tab_to(page, page.get_by_role("button", name="Who sold something?", exact=True))
    keys.press("Enter")
    mark_by_keyboard(page, 0, 2)
    keys.press("Enter")
    keys.press("x")
    keys.press("Enter")
    mark_by_keyboard(page, 7, 8)
    keys.press("Enter")
    expect(page.locator("#submit")).to_be_focused()
    keys.press("Enter")
    worker.at_question(2)
    by_touch(Worker(scene.worker(**PHONE).page))
    spans = [[one["answers"] for one in answer] for answer in scene.answers()]
    assert spans == [[[[0, 2]], [], [[7, 8]]], [[[0, 1]], [[5, 6]], []]]


def by_touch(worker: Worker) -> None:
    page = worker.open("validation").page
    word(page, 0).tap()
    page.get_by_role("button", name="What did someone sell?", exact=True).tap()
    word(page, 5).tap()
    page.locator("#submit").tap()
    expect(page.locator("#form-error")).to_contain_text("Mark the answer to question 3")
    page.get_by_role("button", name="Can’t be answered: Who did someone sell something to?").tap()
    assert page.evaluate(WIDER_THAN_SCREEN) == 0
    assert barriers(page) == ""
    page.locator("#submit").tap()
    worker.at_question(3)


@pytest.mark.slow
def test_a_parsers_questions_are_filled_in_to_be_corrected(chromium: Browser, tmp_path: Path) -> None:
    folder = write_suggesting_qasrl_study(tmp_path / "study", predicates=4)
    text = (folder / "study.toml").read_text("utf-8").replace('arms = ["helped"]\n', "")
    (folder / "study.toml").write_text(text.replace('[arms]\nnames = ["alone", "helped"]\n', ""), "utf-8")

    def annotated(study: Study) -> None:
        thread = Thread(target=lambda: asyncio.run(annotate(study, folder, chosen_models(study, None))))
        thread.start()
        thread.join()

    with Site(folder, annotated) as site:
        scene = Scene(chromium, site)
        page = scene.worker(**PHONE).open("writing").page
        expect(page.get_by_text("The answer was filled in by a program and may be wrong.")).to_be_visible()
        entries = page.locator(".qa-entry")
        expect(entries).to_have_count(len(SUGGESTED))
        assert not page.evaluate(WIDER_THAN_SCREEN)
        page.get_by_role("button", name=f"Delete {SUGGESTED[2]['question']}").click()
        expect(entries).to_have_count(2)
        page.reload()
        expect(entries).to_have_count(2)
        page.locator("#submit").click()
        expect(entries).to_have_count(len(SUGGESTED))  # of the next item
        [stored] = scene.answers()
        assert [one["question"] for one in stored] == [one["question"] for one in SUGGESTED[:2]]
        for context in chromium.contexts:
            context.close()
        assert scene.watch.complaints == []
