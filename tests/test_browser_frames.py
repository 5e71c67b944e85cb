"""The frames task in a real browser: an item by keyboard alone, one by touch on a phone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from browsing import CHROMIUM, PHONE, WIDER_THAN_SCREEN, Scene, Site, barriers, tab_to
from chorale.folder.templates import create_study

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]

HOSTILE = """</blockquote><script>alert(1)</script><img src=x onerror="alert(2)"> {{ 7*7 }} &amp; 🎈 runs"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("frames") / "study"
    create_study(folder, "frames")
    rows = [json.loads(line) for line in (folder / "sentences.jsonl").read_text().splitlines()]
    few = rows[:2]
    # Many candidates, and texts that are out to do harm.
    hostile = {"frame": "<b>_bold_</b>", "definition": HOSTILE, "example": HOSTILE, "example_word": [70, 71]}
    others = [{"frame": f"Frame_{number:02}", "definition": f"Meaning {number}."} for number in range(11)]
    few.append({"id": "h1", "sentence": HOSTILE, "word": "runs", "candidates": [hostile, *others]})
    (folder / "sentences.jsonl").write_text("".join(json.dumps(row) + "\n" for row in few))
    with Site(folder) as running:
        yield running


def names_shown(page: Any) -> list[str]:
    return [str(box.get_attribute("value")) for box in page.locator("#task-root input[name=answer]").all()]


def test_items_are_done_by_keyboard_alone(scene: Scene) -> None:
    worker = scene.worker(viewport={"width": 1200, "height": 800}).open("meanings")
    page = worker.page
    answers = []
    for number in (1, 2, 3):
        worker.at_question(number)
        names = names_shown(page)
        assert names[-1] == "none"
        expect(page.locator("#task-root mark").first).to_be_visible()
        if number == 1:
            page.wait_for_timeout(550)  # before that, Enter may be meant for the question before
            page.keyboard.press("Enter")
            expect(page.locator("#form-error")).to_contain_text("Choose every meaning that fits")
        page.keyboard.press("1")
        page.keyboard.press("2")
        expect(page.locator("#task-root input:checked")).to_have_count(2)
        page.keyboard.press("n")
        expect(page.locator("#task-root input:checked")).to_have_value("none")
        if len(names) > 10:
            page.keyboard.press("a")
            expect(page.locator("#task-root input:checked")).to_have_value(names[9])
            answers.append([names[9]])
        else:
            tab_to(page, page.locator("#task-root input").nth(1))
            page.keyboard.press("Space")
            expect(page.locator("#task-root input:checked")).to_have_value(names[1])
            page.keyboard.press("1")
            answers.append(sorted(names[:2]))
        if number == 2:
            page.reload()
            expect(page.locator("#task-root input:checked")).to_have_count(len(answers[-1]))
            assert names_shown(page) == names, "the order is the same when somebody comes back"
        page.keyboard.press("Enter")
    expect(worker.rest).to_be_visible()
    assert scene.answers() == answers


@pytest.mark.slow
def test_an_item_is_done_by_touch_and_read_on_a_phone(scene: Scene) -> None:
    worker = scene.worker(**PHONE).open("meanings")
    page = worker.page
    for number in (1, 2, 3):
        worker.at_question(number)
        assert page.evaluate(WIDER_THAN_SCREEN) <= 0
        names = names_shown(page)
        definition = page.locator(".frame-definition").first
        size = definition.evaluate("element => parseFloat(getComputedStyle(element).fontSize)")
        assert size >= 15, "definitions can be read without zooming"
        labels = page.locator("#task-root label:has(input[name=answer])")
        for label in labels.all():
            box = label.bounding_box()
            assert box is not None and box["height"] >= 44 and box["x"] >= 0 and box["x"] + box["width"] <= 390
        first, last = labels.first, labels.last
        last.tap()
        first.tap()
        expect(page.locator("#task-root input:checked")).to_have_value(names[0])
        sentence = page.locator(".frames-sentence").bounding_box()
        assert sentence is not None and sentence["y"] >= 0, "the sentence stays in view"
        if number == 1:
            assert barriers(page) == ""
            page.emulate_media(color_scheme="light")
        last.tap()
        page.locator("#submit").tap()
    expect(worker.rest).to_be_visible()
    assert scene.answers() == [["none"]] * 3


LONG_LIST = 21


@pytest.fixture
def long_site(tmp_path: Path) -> Iterator[Site]:
    folder = tmp_path / "study"
    create_study(folder, "frames")
    definition = "Somebody does something for somebody else, and both of them know about it beforehand. " * 4
    candidates = [
        {
            "frame": f"Frame_{number:02}",
            "definition": f"Meaning {number}. {definition}",
            "example": f"They ran {number} miles.",
            "example_word": [5, 8],
            "more_examples": [["She runs a mill.", 4, 8], ["The clock runs.", 0, 0]],
        }
        for number in range(LONG_LIST)
    ]
    row = {"id": "l1", "sentence": "He runs.", "word": "runs", "candidates": candidates, "left_out": 9}
    (folder / "sentences.jsonl").write_text(json.dumps(row) + "\n")
    text = (folder / "study.toml").read_text().replace("minimum_hourly = 1200", "minimum_hourly = 1")
    before, _ = text.split("[stage.rehearsal]")
    (folder / "study.toml").write_text(before + '[stage.options]\nexplain = "required"\n')
    with Site(folder) as running:
        yield running


@pytest.mark.slow
def test_a_long_list_is_folded_and_searched_on_a_phone(chromium: Browser, long_site: Site) -> None:
    scene = Scene(chromium, long_site)
    worker = scene.worker(**PHONE).open("meanings")
    page = worker.page
    worker.at_question(1)
    height = "document.querySelector('fieldset').getBoundingClientRect().height"
    folded = page.evaluate(height)
    expect(page.locator("#frames-hint")).to_contain_text("the 21 most likely of 30 meanings")
    assert barriers(page) == ""
    page.locator("[data-unfold]").tap()
    assert page.evaluate(height) > 2.5 * folded
    page.locator("[data-unfold]").tap()
    assert page.evaluate(height) == folded < 21 * 160
    places, shown = page.locator(".frame-place"), page.locator(".frame-place:visible")
    places.nth(2).locator("label").tap()
    kept = names_shown(page)[2]
    wanted = next(name for name in names_shown(page) if name != kept)
    search = page.locator("[data-search]")
    search.fill(f"meaning {int(wanted[-2:])}. miles")
    expect(page.locator("[data-found]")).to_contain_text("of 21 meanings match.")
    expect(shown.filter(has_text=wanted.replace("_", " "))).to_have_count(1)
    expect(shown.filter(has_text=kept.replace("_", " "))).to_have_count(1)
    search.press("Enter")
    expect(page.locator("#form-error")).to_have_text("")
    more = shown.filter(has_text=wanted.replace("_", " ")).locator(".frame-more")
    more.tap()
    expect(page.locator(".frame-open .frame-example")).to_have_count(3)
    expect(page.locator("#task-root input:checked")).to_have_value(kept)
    search.press("Escape")
    expect(shown).to_have_count(LONG_LIST)
    assert page.evaluate(WIDER_THAN_SCREEN) <= 0
    page.locator("#submit").tap()
    expect(page.locator("#form-error")).to_contain_text("Explain the meaning in your own words")
    page.locator("textarea[name=meaning]").fill("moves fast on foot")
    page.reload()
    expect(page.locator("textarea[name=meaning]")).to_have_value("moves fast on foot")
    page.locator("#submit").tap()
    expect(worker.rest).to_be_visible()
    assert scene.answers() == [{"frames": [kept], "meaning": "moves fast on foot"}]
    assert scene.watch.complaints == []
