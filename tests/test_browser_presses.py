"""Submit pressed right after writing, at its place on the screen: it counts once, though the page moves under it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from asking import write_qasrl_study
from browsing import CHROMIUM, PHONE, Scene, Site
from chorale.folder.templates import create_study_from_files
from mcq_study import write_mcq_study
from test_browser_form import write_study
from turk import open_market

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]

Press = Callable[[Page, Locator], None]
TIMES = 4
# What moves when somebody leaves the text field, in the page of the frame and in the page around it.
WORD = """<form><div id="boxes"></div><p id="tip" style="height: 90px; margin: 0" hidden>One or two words.</p>
<p><label>Word <input name="word"></label></p><p>{button}</p></form><script>
for (const name of ["sea", "sky"]) document.getElementById("boxes").insertAdjacentHTML(
  "beforeend", `<p><label><input type="checkbox" name="about" value="${{name}}"> ${{name}}</label></p>`);
const [field, tip] = [document.querySelector("[name=word]"), document.getElementById("tip")];
{script}</script>"""
HIDES = "field.onfocus = () => { tip.hidden = false; }; field.onblur = () => { tip.hidden = true; };"
SHOWS = "field.onchange = () => { tip.hidden = false; };"
OWN = '<input type="submit" value="Submit">'
LAYOUTS = {
    "a tip that goes": WORD.format(button=OWN, script=HIDES),
    "a message that comes": WORD.format(button=OWN, script=SHOWS),
    "a message in a frame": WORD.format(button="", script=SHOWS),
}


def tap(page: Page, button: Locator) -> None:
    box = place(button)
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def click_at_its_end(page: Page, button: Locator) -> None:
    """As long as a hand takes to press."""
    box = place(button)
    page.mouse.move(box["x"] + box["width"] - 4, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.wait_for_timeout(120)
    page.mouse.up()


def place(button: Locator) -> Any:
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    assert box is not None
    return box


by_hand = pytest.mark.parametrize(
    ("screen", "press"),
    [
        pytest.param(PHONE, tap, id="touch"),
        pytest.param({"viewport": {"width": 1280, "height": 800}}, click_at_its_end, id="mouse"),
    ],
)


@pytest.mark.slow
@by_hand
def test_submit_counts_in_layouts_that_move(
    chromium: Browser, tmp_path: Path, screen: dict[str, Any], press: Press
) -> None:
    (tmp_path / "layout.html").write_text("${page}")
    rows = [{"page": f"<i data-case='{name}'></i>{html}"} for name, html in LAYOUTS.items() for _ in range(TIMES)]
    (tmp_path / "batch.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    create_study_from_files(tmp_path / "study", "mturk", tmp_path / "layout.html", tmp_path / "batch.jsonl")
    with open_market(tmp_path / "study") as market:
        scene = Scene(chromium, market.site)
        page = scene.worker(**screen).open("batch").page
        for done in range(len(rows)):
            _fill_in_and_press(page, page.frame_locator(".hit-frame"), press)
            expect(page.locator("#answered")).to_contain_text(str(done + 1), timeout=15_000)
        assert scene.answers() == [{"word": "salt water"}] * len(rows)
        assert scene.watch.complaints == []


def _fill_in_and_press(page: Page, frame: FrameLocator, press: Press) -> None:
    marker = frame.locator("[data-case]")
    marker.wait_for(state="attached")
    own = "frame" not in (marker.get_attribute("data-case") or "")
    expect(page.locator("#submit")).to_be_visible(visible=not own)
    page.wait_for_timeout(550)  # what comes sooner is taken for the second half of a double click
    field = frame.get_by_label("Word")
    field.click()
    page.keyboard.type("salt water")
    page.wait_for_timeout(150)  # until the frame is as high as its page
    press(page, frame.locator("[type=submit]") if own else page.locator("#submit"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(write_qasrl_study(tmp_path_factory.mktemp("qasrl") / "study", predicates=2, apart=True)) as running:
        yield running


@by_hand
def test_submit_counts_when_leaving_the_field_explains(scene: Scene, screen: dict[str, Any], press: Press) -> None:
    """What is wrong with the question is explained above the button as soon as the field is left."""
    page = scene.worker(**screen).open("writing").page
    for text in ("who selled", "who selling", "whose sold"):
        field = page.get_by_role("combobox")
        field.fill("")
        field.click()
        page.keyboard.type(text)
        expect(page.locator("#form-error")).to_be_empty()
        press(page, page.locator("#submit"))
        expect(page.locator("#form-error")).not_to_be_empty(timeout=15_000)


@by_hand
def test_submit_counts_after_a_long_text(
    chromium: Browser, tmp_path: Path, screen: dict[str, Any], press: Press
) -> None:
    """The key on the button is longer while somebody writes a text, so the button gets narrower under the press."""
    options = (
        '[stage.options]\nshows = [{ item = "text" }]\nfields = [{ name = "why", kind = "long_text", ask = "Why?" }]'
    )
    rows = [{"id": f"i{number}", "text": f"Text {number}"} for number in range(TIMES)]
    with Site(write_study(tmp_path / "study", rows, options)) as site:
        scene = Scene(chromium, site)
        page = scene.worker(**screen).open("only").page
        for done in range(TIMES):
            page.wait_for_timeout(550)
            page.get_by_label("Why?").click()
            page.keyboard.type("It says so.")
            press(page, page.locator("#submit"))
            expect(page.locator("#answered")).to_contain_text(str(done + 1), timeout=15_000)
        assert scene.answers() == [{"why": "It says so."}] * TIMES


@by_hand
def test_submit_counts_after_writing_a_question(
    chromium: Browser, tmp_path: Path, screen: dict[str, Any], press: Press
) -> None:
    """Hints about the last option come and go while it is written and left."""
    with Site(write_mcq_study(tmp_path / "study")) as site:
        scene = Scene(chromium, site)
        page = scene.worker(**screen).open("write").page
        for done in range(TIMES):
            page.wait_for_timeout(550)
            for number in (1, 2):
                page.locator(f"[name=question_{number}]").fill(f"What came {number} times after {done}?")
                for place in (1, 2, 3, 4):
                    page.locator(f"[name=option_{number}_{place}]").fill(f"It was {place} in {done}")
                page.locator(f"[name=right_{number}][value=option1]").check()
                page.locator(f"[name=why_{number}]").fill("Only one of them is right.")
            last = page.locator("[name=option_2_4]")
            last.fill("")
            last.click()
            page.keyboard.type("the last tram stops at the depot, and whoever sleeps in it is woken")
            press(page, page.locator("#submit"))
            expect(page.locator("#answered")).to_contain_text(str(done + 1), timeout=15_000)
        assert len(scene.answers()) == TIMES


def test_marks_of_both_questions_are_equally_wide_where_no_keys_are_shown(chromium: Browser, tmp_path: Path) -> None:
    """A narrow window with a mouse: the keys of the first question are hidden, and leave no gap.

    In some fonts, the letters of the options differ in width.
    """
    with Site(write_mcq_study(tmp_path / "study")) as site:
        page = Scene(chromium, site).worker(viewport={"width": 360, "height": 740}).open("write").page
        widths = page.locator(".mcq-mark").evaluate_all("marks => marks.map(mark => mark.offsetWidth)")
        assert len(widths) == 8 and widths[:4] == widths[4:]
