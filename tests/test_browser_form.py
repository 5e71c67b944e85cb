"""The form task in a real browser: every kind of field, by mouse, by touch and by keyboard alone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from browsing import CHROMIUM, PHONE, WIDER_THAN_SCREEN, Scene, Site, barriers, swipe, tab_to

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]

HOSTILE = """</blockquote><script>alert(1)</script><img src=x onerror="alert(2)"> 'q' "d" {{ 7*7 }} &amp;"""
MESSAGE = "Please come at seven, if you can, and bring the others along."
OPTIONS = """
[[stage.options.shows]]
item = "message"
label = "The message"
highlight = "word"
sticky = true

[[stage.options.shows]]
item = "note"
look = "text"
optional = true

[[stage.options.fields]]
name = "tone"
kind = "choice"
ask = "How does it sound?"
options = ["polite", "neutral", "rude"]

[[stage.options.fields]]
name = "about"
kind = "choices"
ask = "What is it about?"
options = ["time", "people", "money"]
none = "None of these"
max = 2

[[stage.options.fields]]
name = "sure"
kind = "likert"
ask = "How sure are you?"
levels = 7
labels = ["Not at all", "Completely"]

[[stage.options.fields]]
name = "words"
kind = "spans"
ask = "Which words matter?"
item = "message"
options = [{ value = "who", label = "Who" }, { value = "when", label = "When" }]

[[stage.options.fields]]
name = "why"
kind = "text"
ask = "What makes it rude?"
shown_if = { field = "tone", is = "rude" }
min = 4

[[stage.options.fields]]
name = "better"
kind = "pair"
ask = "Which reply is kinder?"
sides = ["first", "second"]
same = "About the same"
shuffle = true

[[stage.options.fields]]
name = "more"
kind = "long_text"
ask = "Anything else?"
hint = "In a few words."
required = false
max_words = 5
"""
ROW = {"message": MESSAGE, "word": "seven", "first": "I will be there.", "second": "Fine."}
FULL: dict[str, Any] = {
    "tone": "polite",
    "about": ["time"],
    "sure": 4,
    "words": [{"start": 2, "end": 4, "label": "when"}],
    "better": "second",
}


def write_study(folder: Path, rows: list[dict[str, Any]], options: str = OPTIONS) -> Path:
    folder.mkdir(parents=True)
    (folder / "text.md").write_text("Read.\n")
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "study.toml").write_text(
        f"""\
study = {{ title = "A form", contact = "team@example.org", consent = "text.md" }}

[[stage]]
name = "only"
title = "The only stage"
task = "form"
guidelines = "text.md"
items = {{ file = "items.jsonl" }}
judgments = 50
{options}
"""
    )
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    rows = [{"id": f"i{number}", **ROW} for number in range(8)]
    with Site(write_study(tmp_path_factory.mktemp("form") / "study", rows)) as running:
        yield running


def tokens(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Which words matter?").get_by_role("option")


def marked(page: Page) -> list[str]:
    return page.locator(".form-marked .form-excerpt").all_inner_texts()


def fill_in_rest(page: Page) -> None:
    """Everything but the spans."""
    page.get_by_label("polite").check()
    page.get_by_label("time").check()
    page.get_by_label("4", exact=True).check()
    page.get_by_label("Fine.").check()


def test_the_whole_form_by_keyboard_alone(scene: Scene) -> None:
    worker = scene.worker().open("only")
    page, press = worker.page, worker.page.keyboard.press
    press("3")
    expect(page.get_by_role("radio", name="rude")).to_be_checked()
    expect(page.get_by_label("What makes it rude?")).to_be_visible()
    press("ArrowUp")
    expect(page.get_by_label("neutral")).to_be_checked()
    expect(page.get_by_label("What makes it rude?")).to_be_hidden()
    press("1")
    # Number keys choose in the field that has the focus.
    tab_to(page, page.get_by_label("time"))
    press("2")
    expect(page.get_by_label("people")).to_be_checked()
    press("4")
    expect(page.get_by_label("None of these")).to_be_checked()
    expect(page.get_by_label("people")).not_to_be_checked()
    press("1")
    expect(page.get_by_label("None of these")).not_to_be_checked()
    tab_to(page, page.get_by_label("1 Not at all"))
    press("4")
    tab_to(page, tokens(page).nth(0))
    press("ArrowRight")
    press("ArrowRight")
    press("Shift+ArrowRight")
    expect(page.locator(".form-token.form-pending")).to_have_count(2)
    press("2")  # marks as the second label
    press("Space")
    expect(tokens(page).nth(3)).to_have_attribute("aria-selected", "true")
    assert marked(page) == ["“at seven”"]
    press("End")
    press("ArrowLeft")
    press("Space")
    assert marked(page) == ["“at seven”", "“along”"]
    press("Space")
    assert marked(page) == ["“at seven”"]
    tab_to(page, page.locator("[data-field=better] input").first)
    value = page.locator("[data-field=better] input").first.get_attribute("value")
    press("Space")
    hint = page.locator("#submit .key-hint")
    expect(hint).to_have_text("Enter")
    tab_to(page, page.get_by_label("Anything else?"))
    expect(hint).to_have_text("Ctrl+Enter")
    page.keyboard.type("g 1 2")  # text, and no shortcuts
    press("Enter")
    expect(page.get_by_label("Anything else?")).to_have_value("g 1 2\n")
    press("Control+Enter")
    worker.at_question(2)
    assert scene.answers() == [FULL | {"better": value, "more": "g 1 2"}]


def test_control_and_enter_submit_from_the_forms_own_buttons(scene: Scene) -> None:
    page = scene.worker().open("only").page
    page.get_by_label("When", exact=True).check()
    tokens(page).nth(2).click()
    tab_to(page, page.locator(".form-marked button"))
    expect(page.locator("#submit .key-hint")).to_have_text("Ctrl+Enter")
    page.wait_for_timeout(600)  # what is submitted at once was meant for the question before
    page.keyboard.press("Control+Enter")
    expect(page.locator(".form-error:visible").first).to_be_visible()
    assert marked(page) == ["“at”"]
    tab_to(page, page.locator(".form-marked button"))
    page.keyboard.press("Enter")
    expect(page.locator(".form-marked button")).to_have_count(0)
    assert scene.answers() == []


def test_spans_by_mouse(scene: Scene) -> None:
    worker = scene.worker().open("only")
    page = worker.page
    word = tokens(page)
    page.get_by_label("When", exact=True).check()
    word.nth(2).hover()
    page.mouse.down()
    word.nth(4).hover()
    word.nth(3).hover()
    expect(page.locator(".form-token.form-pending")).to_have_count(2)
    page.mouse.up()
    assert marked(page) == ["“at seven”"]
    # A word after the other makes one span; a click on it takes it back.
    page.get_by_label("Who", exact=True).check()
    word.nth(11).click()
    word.nth(12).click()
    assert marked(page) == ["“at seven”", "“the others”"]
    word.nth(12).click()
    assert marked(page) == ["“at seven”"]
    # Dragging over a mark takes its place.
    word.nth(4).hover()
    page.mouse.down()
    word.nth(3).hover()
    page.mouse.up()
    assert marked(page) == ["“seven,”"]
    page.get_by_label("Label of “seven,”").select_option("When")
    page.get_by_role("button", name="Remove “seven,”").click()
    assert marked(page) == []
    expect(word.nth(3)).to_be_focused()
    page.get_by_label("When", exact=True).check()
    word.nth(2).click()
    word.nth(3).click()
    fill_in_rest(page)
    page.locator("#submit").click()
    worker.at_question(2)
    assert scene.answers() == [FULL]


def test_a_phone_of_320_pixels(scene: Scene) -> None:
    worker = scene.worker(**PHONE | {"viewport": {"width": 320, "height": 640}}).open("only")
    page = worker.page
    word = tokens(page)
    assert page.evaluate(WIDER_THAN_SCREEN) <= 0
    page.get_by_text("polite").tap()
    page.get_by_text("time", exact=True).tap()
    page.locator("[data-field=sure] label").nth(3).tap()
    page.get_by_text("When", exact=True).tap()
    word.nth(2).tap()
    word.nth(3).tap()
    assert marked(page) == ["“at seven”"]
    page.get_by_role("button", name="Remove “at seven”").tap()
    assert marked(page) == []
    before = word.nth(2).bounding_box()
    swipe(page, word.nth(2), word.nth(3))
    assert marked(page) == ["“at seven”"]
    assert word.nth(2).bounding_box() == before, "the page moved under the finger"
    page.get_by_text("Fine.").tap()
    assert page.evaluate(WIDER_THAN_SCREEN) <= 0
    expect(page.locator("#submit")).to_be_in_viewport(ratio=1)
    page.locator("#submit").tap()
    worker.at_question(2)
    assert scene.answers() == [FULL]


def test_none_and_the_others_exclude_each_other(scene: Scene) -> None:
    worker = scene.worker().open("only")
    page = worker.page
    none = page.get_by_label("None of these")
    page.get_by_label("time").check()
    page.get_by_label("people").check()
    none.check()
    expect(page.get_by_label("time")).not_to_be_checked()
    expect(page.get_by_label("people")).not_to_be_checked()
    page.get_by_label("money").check()
    expect(none).not_to_be_checked()
    none.check()
    page.get_by_label("polite").check()
    page.get_by_label("4", exact=True).check()
    page.get_by_label("Fine.").check()
    page.get_by_label("Who", exact=True).check()
    tokens(page).nth(0).click()
    page.locator("#submit").click()
    worker.at_question(2)
    assert scene.answers()[0]["about"] == []


def test_what_is_missing_is_told_at_its_place_and_together(scene: Scene) -> None:
    worker = scene.worker().open("only")
    page = worker.page
    page.locator("#submit").click(delay=600)
    summary = page.locator("#form-error")
    expect(summary).to_have_text("Not submitted yet: check the 5 answers marked above.")
    expect(page.locator("[data-field=tone] .form-error")).to_have_text("Choose an answer first.")
    expect(page.locator("[data-field=words] .form-error")).to_have_text("Mark the words first.")
    expect(page.locator("[data-field=more] .form-error")).to_be_hidden()
    expect(page.get_by_label("polite")).to_be_focused()
    assert barriers(page) == ""
    page.emulate_media(color_scheme="light")
    page.get_by_role("radio", name="rude").check()
    expect(page.locator("[data-field=tone] .form-error")).to_be_hidden()
    for name in ("time", "people", "money"):
        page.get_by_label(name).check()
    page.get_by_label("4", exact=True).check()
    tokens(page).nth(0).click()
    page.get_by_label("Fine.").check()
    page.get_by_label("What makes it rude?").fill("no")
    page.get_by_label("Anything else?").fill("one two three four five six")
    page.locator("#submit").click()
    # No label is chosen for anybody: words that were marked before get the label that is chosen then.
    expect(page.locator("[data-field=words] .form-error")).to_have_text("Choose a label for “Please”.")
    page.get_by_label("Who", exact=True).check()
    expect(page.locator("[data-field=words] .form-error")).to_be_hidden()
    expect(tokens(page).nth(0)).to_have_attribute("data-tone", "0")
    expect(page.locator("[data-field=about] .form-error")).to_have_text("Choose at most 2.")
    expect(page.locator("[data-field=why] .form-error")).to_have_text(
        "Please write at least 4 characters (you have written 2)."
    )
    expect(page.locator("[data-field=more] .form-error")).to_have_text(
        "Please write at most 5 words (you have written 6)."
    )
    page.get_by_label("money").uncheck()
    # What is not asked any more is neither checked nor sent.
    page.get_by_label("neutral").check()
    page.get_by_label("Anything else?").fill("")
    page.locator("#submit").click()
    worker.at_question(2)
    assert scene.answers() == [
        {
            "tone": "neutral",
            "about": ["time", "people"],
            "sure": 4,
            "words": [{"start": 0, "end": 1, "label": "who"}],
            "better": "second",
        }
    ]
    assert scene.site.responses() > 0


def test_a_draft_survives_a_reload_with_its_order(scene: Scene) -> None:
    worker = scene.worker().open("only")
    page = worker.page

    def order() -> list[str | None]:
        return [each.get_attribute("value") for each in page.locator("[data-field=better] input").all()]

    before = order()
    assert sorted(before[:2], key=str) == ["first", "second"]
    assert before[2] == "same"
    letters = page.locator(".form-letter").all_inner_texts()
    assert letters == ["A", "B"]
    page.get_by_role("radio", name="rude").check()
    page.get_by_label("None of these").check()
    page.get_by_label("7 Completely").check()
    page.get_by_label("When", exact=True).check()
    tokens(page).nth(3).click()
    page.get_by_label("What makes it rude?").fill("Half a sen")
    page.get_by_label("I will be there.").check()
    page.get_by_label("Anything else?").fill("Not yet")
    page.reload()
    worker.at_question(1)
    assert order() == before
    expect(page.get_by_role("radio", name="rude")).to_be_checked()
    expect(page.get_by_label("None of these")).to_be_checked()
    expect(page.get_by_label("7 Completely")).to_be_checked()
    assert marked(page) == ["“seven”"]
    expect(page.get_by_label("What makes it rude?")).to_have_value("Half a sen")
    expect(page.get_by_label("I will be there.")).to_be_checked()
    page.locator("#submit").click(delay=600)
    worker.at_question(2)
    assert scene.answers() == [
        {
            "tone": "rude",
            "about": [],
            "sure": 7,
            "words": [{"start": 3, "end": 4, "label": "when"}],
            "why": "Half a sen",
            "better": "first",
            "more": "Not yet",
        }
    ]


def test_everybody_can_use_it(scene: Scene) -> None:
    worker = scene.worker().open("only")
    page = worker.page
    assert barriers(page) == ""
    page.emulate_media(color_scheme="light")
    expect(page.locator("mark")).to_have_text("seven")
    expect(page.locator("[data-part=note]")).to_be_hidden()
    expect(page.get_by_role("region", name="The message")).to_contain_text(MESSAGE)
    expect(page.get_by_role("group", name="What is it about?")).to_be_visible()
    fill_in_rest(page)
    page.get_by_role("radio", name="rude").check()
    tokens(page).nth(0).click()
    tokens(page).nth(5).click()
    assert barriers(page) == ""


def test_options_stand_in_one_row_or_below_each_other(scene: Scene) -> None:
    worker = scene.worker(viewport={"width": 1280, "height": 900}).open("only")
    for field in ("tone", "about"):
        boxes = [label.bounding_box() for label in worker.page.locator(f"[data-field={field}] > label").all()]
        tops = [round(box["y"]) for box in boxes if box is not None]
        assert len(set(tops)) in (1, len(tops)), "no option is left over in a row of its own"


@pytest.mark.slow
def test_sides_do_not_stay_in_their_places(scene: Scene) -> None:
    """Answers are stored in terms of the item, wherever its texts stood."""
    worker = scene.worker().open("only")
    page = worker.page
    firsts = []
    for number in range(1, 9):
        worker.at_question(number)
        firsts.append(page.locator("[data-field=better] input").first.get_attribute("value"))
        fill_in_rest(page)
        page.get_by_label("Who", exact=True).check()
        tokens(page).nth(0).click()
        page.locator("#submit").click()
    expect(worker.rest).to_be_visible()
    assert {answer["better"] for answer in scene.answers()} == {"second"}
    assert set(firsts) == {"first", "second"}


@pytest.mark.slow
def test_item_text_is_text_whatever_it_contains(chromium: Browser, tmp_path: Path) -> None:
    row = {"id": "i1", "message": HOSTILE, "word": "<img src=x", "first": HOSTILE, "second": HOSTILE, "note": HOSTILE}
    gold = """
[stage.gold]
file = "gold.jsonl"
share = 0.5
after = 1
feedback = "at once"
"""
    folder = write_study(tmp_path / "study", [row, row | {"id": "i2"}], gold + OPTIONS)
    told = {"answer": {"tone": "rude"}, "explanation": HOSTILE}
    (folder / "gold.jsonl").write_text("".join(json.dumps(row | told | {"id": f"g{n}"}) + "\n" for n in range(4)))
    with Site(folder) as running:
        scene = Scene(chromium, running)
        worker = scene.worker().open("only")
        page = worker.page
        number = 1
        while not worker.feedback.is_visible():
            assert number < 4, "one of them is gold"
            worker.at_question(number)
            expect(page.locator("[data-part=message] blockquote")).to_have_text(HOSTILE)
            expect(page.locator("[data-part=note]")).to_have_text(HOSTILE)
            assert page.get_by_role("listbox").inner_text() == HOSTILE
            assert page.locator("img:not(.brand-mark), script:not([src])").count() == 0
            page.get_by_label("polite").check()
            page.get_by_label("time").check()
            page.get_by_label("4", exact=True).check()
            page.locator("[data-field=better] input").first.check()
            page.get_by_label("Who", exact=True).check()
            page.get_by_role("option").nth(2).click()
            page.locator("#submit").click()
            expect(worker.saved).to_have_text(f"Answer {number} saved")
            number += 1
            expect(page.locator("#panel-feedback, #panel-item").filter(visible=True)).to_be_visible()
        expect(worker.feedback.locator(".explanation")).to_have_text(HOSTILE)
        expect(worker.feedback.locator(".recap")).to_contain_text("How does it sound? polite")
        assert page.locator("img:not(.brand-mark), script:not([src])").count() == 0
        for context in chromium.contexts:
            context.close()
        assert scene.watch.complaints == []


@pytest.mark.slow
def test_practice_shows_what_is_right_beside_what_was_answered(chromium: Browser, tmp_path: Path) -> None:
    options = '[stage.options]\nshows = [{ item = "text", label = "The text" }]\n'
    options += 'fields = [{ name = "ok", kind = "choice", ask = "Is it good?", options = ["good", "bad"] }]\n'
    folder = write_study(tmp_path / "study", [], options)
    rows = [{"id": f"r{n}", "text": HOSTILE, "answer": {"ok": "bad"}, "explanation": "It is not."} for n in range(2)]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    file = folder / "study.toml"
    round_ = 'round = { file = "items.jsonl", feedback = "at once" }\n'
    file.write_text(
        file.read_text().replace('items = { file = "items.jsonl" }\n', round_).replace("judgments = 50\n", "")
    )
    with Site(folder) as running:
        scene = Scene(chromium, running)
        worker = scene.worker(**PHONE).open("only")
        page = worker.page
        worker.at_question(1)
        page.get_by_text("good", exact=True).tap()
        page.locator("#submit").tap()
        expect(worker.feedback.locator("blockquote")).to_have_text(HOSTILE)
        expect(worker.feedback.locator("dd")).to_have_text(["good", "bad"])
        expect(worker.saved).to_have_text("Answer 1 saved")
        assert page.locator("img:not(.brand-mark), script:not([src])").count() == 0
        assert page.evaluate(WIDER_THAN_SCREEN) <= 0
        assert barriers(page) == ""
        page.get_by_role("button", name="Continue").tap()
        worker.at_question(2)
        page.get_by_text("bad", exact=True).tap()
        page.locator("#submit").tap()
        expect(worker.saved).to_have_text("Correct! Answer 2 saved")
        for context in chromium.contexts:
            context.close()
        assert scene.watch.complaints == []


def test_characters_count_as_words_where_there_are_no_spaces(scene: Scene) -> None:
    """Before, a Chinese answer was one word, whatever its length."""
    page = scene.worker().open("only").page
    field = page.locator("[data-field=more]")
    counts = {"太粗鲁。": "3 words", "rude 太粗鲁": "4 words", "it is - rude": "4 words", "すごい！": "3 words"}
    for text, count in counts.items():
        field.locator("textarea").fill(text)
        expect(field.locator(".form-count")).to_contain_text(count)
    field.locator("textarea").fill("他在骂人，太粗鲁了")
    page.locator("#submit").click(delay=600)
    expect(field.locator(".form-error")).to_have_text("Please write at most 5 words (you have written 8).")
