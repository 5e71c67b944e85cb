"""Every kind of field in a real browser: by mouse, by touch at 360 pixels and by keyboard alone."""

import json
import wave
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from browsing import CHROMIUM, PHONE, WIDER_THAN_SCREEN, Scene, Site, barriers, swipe, tab_to
from gallery_hands import wait_for_sound

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]
SMALL = PHONE | {"viewport": {"width": 360, "height": 740}}
HOSTILE = """</p><script>alert(1)</script><img src=x onerror="alert(2)"> [x](javascript:alert(3)) ![](https://elsewhere.example/a.png)"""
TEXT = "Mara Lindt joined Brightwater Labs in Oslo."
DIALOGUE = [
    {"speaker": "User", "text": HOSTILE},
    {"speaker": "Bot", "text": "It arrives on Monday."},
    {"speaker": "User", "text": "Thank you!"},
    {"speaker": "Bot", "text": "You are welcome."},
]
STAGES = {
    "numbers": """
[[stage.options.fields]]
name = "much"
kind = "slider"
ask = "How much?"
step = 10
[[stage.options.fields]]
name = "weight"
kind = "number"
ask = "How heavy?"
unit = "kg"
min = 0
[[stage.options.fields]]
name = "day"
kind = "date"
ask = "When?"
earliest = "2020-01-01"
required = false
[[stage.options.fields]]
name = "rubric"
kind = "matrix"
ask = "How good?"
rows = ["Correct", "Clear"]
labels = ["Bad", "Good"]
""",
    "orders": """
[[stage.options.fields]]
name = "order"
kind = "ranking"
ask = "Which order?"
options = ["red", "green", "blue"]
[[stage.options.fields]]
name = "four"
kind = "best_worst"
ask = "Which is happiest?"
item = "tuple"
""",
    "turns": """
[[stage.options.shows]]
item = "reply"
look = "markdown"
[[stage.options.shows]]
item = "program"
look = "code"
beside = true
[[stage.options.fields]]
name = "helpful"
kind = "turn_choice"
ask = "Is it helpful?"
item = "talk"
speakers = ["Bot"]
options = ["yes", "no"]
[[stage.options.fields]]
name = "wrong"
kind = "turn_spans"
ask = "What is wrong?"
item = "talk"
speakers = ["Bot"]
options = ["false", "rude"]
min = 0
""",
    "names": """
[[stage.options.fields]]
name = "names"
kind = "relations"
ask = "Who is where?"
item = "text"
options = ["person", "place"]
relations = [{ value = "in", label = "is in", from = ["person"], to = ["place"] }]
prefill = "suggested"
""",
    "media": """
[[stage.options.shows]]
item = "picture"
look = "picture"
alt = "description"
[[stage.options.shows]]
item = "drawing"
look = "picture"
alt = "description"
[[stage.options.shows]]
item = "sound"
look = "audio"
transcript = "description"
[[stage.options.fields]]
name = "boxes"
kind = "boxes"
ask = "Where is the square?"
item = "drawing"
options = ["square", "circle"]
[[stage.options.fields]]
name = "segments"
kind = "segments"
ask = "When is it loud?"
item = "noise"
options = ["loud", "quiet"]
""",
    "several": """
[[stage.options.fields]]
name = "first"
kind = "choice"
ask = "Is it good?"
options = ["yes", "no"]
[[stage.options.fields]]
name = "much"
kind = "slider"
ask = "How much?"
[[stage.options.fields]]
name = "order"
kind = "ranking"
ask = "Which order?"
options = ["red", "green"]
[[stage.options.fields]]
name = "boxes"
kind = "boxes"
ask = "Where is the square?"
item = "drawing"
options = ["square", "circle"]
""",
    "outline": """
[[stage.options.fields]]
name = "outline"
kind = "polygons"
ask = "Outline the square"
item = "drawing"
""",
}
SQUARE = """<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200">
<rect width="400" height="200" fill="#eee"/>
<rect x="100" y="50" width="100" height="100" fill="#357"/><script>alert(1)</script></svg>"""
ROW: dict[str, Any] = {
    "tuple": [{"id": name, "text": f"The word {name}"} for name in "abcd"],
    "talk": DIALOGUE,
    "reply": f"**Bold** and `code`\n\n{HOSTILE}\n\n```\nprint('{'a long line of code, ' * 5}')\n```",
    "program": "if a < b:\n    print('<b>')",
    "text": TEXT,
    "suggested": {"spans": [{"start": 0, "end": 2, "label": "person"}], "relations": []},
    "picture": "media/square.svg",
    "drawing": "media/square.svg",
    "sound": "media/noise.wav",
    "noise": "media/noise.wav",
    "description": "A square, and silence",
}


def write_media(folder: Path) -> None:
    (folder / "media").mkdir()
    (folder / "media" / "square.svg").write_text(SQUARE)
    with wave.open(str(folder / "media" / "noise.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(8000)
        file.writeframes(bytes(128 for _ in range(16000)))


def write_stages(folder: Path, settings: str, stages: Mapping[str, str], rows: Iterable[Mapping[str, Any]]) -> Path:
    """A study of forms with the same items in every stage."""
    folder.mkdir(parents=True)
    write_media(folder)
    (folder / "text.md").write_text("Read.\n")
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    written = "".join(
        f"""
[[stage]]
name = "{name}"
title = "The stage {name}"
task = "form"
guidelines = "text.md"
items = {{ file = "items.jsonl" }}
judgments = 50
{options}
"""
        for name, options in stages.items()
    )
    study = f'{settings}, contact = "team@example.org", consent = "text.md"'
    (folder / "study.toml").write_text(f"study = {{ {study} }}\n{written}")
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    rows = [{"id": f"i{number}", **ROW} for number in range(2)]
    folder = write_stages(tmp_path_factory.mktemp("kinds") / "study", 'title = "All kinds"', STAGES, rows)
    with Site(folder) as running:
        yield running


def error_of(page: Page, field: str) -> Locator:
    return page.locator(f"[data-field={field}] > .form-error")


def test_numbers_by_keyboard(scene: Scene) -> None:
    worker = scene.worker().open("numbers")
    page, press = worker.page, worker.page.keyboard.press
    assert barriers(page) == ""
    page.emulate_media(color_scheme="light")
    page.locator("#submit").click(delay=600)
    expect(error_of(page, "much")).to_have_text("Move the slider first.")
    expect(error_of(page, "weight")).to_have_text("Enter a number first.")
    expect(error_of(page, "rubric")).to_have_text("Choose a level for “Correct”, “Clear”.")
    expect(error_of(page, "day")).to_be_hidden()
    expect(page.get_by_role("slider")).to_be_focused()
    press("ArrowRight")
    expect(page.locator("output")).to_have_text("60")
    tab_to(page, page.get_by_label("How heavy?"))
    page.keyboard.type("two")
    page.locator("#submit").click()
    expect(error_of(page, "weight")).to_have_text("Enter a number, such as 12 or 3.5.")
    page.get_by_label("How heavy?").fill("-1")
    page.locator("#submit").click()
    expect(error_of(page, "weight")).to_have_text("Enter at least 0 kg.")
    page.get_by_label("How heavy?").fill("2,5")
    page.get_by_label("When?").fill("2024-02-29")
    tab_to(page, page.get_by_role("group", name="Correct").get_by_role("radio").first)
    press("4")
    page.reload()
    worker.at_question(1)
    expect(page.locator("output")).to_have_text("60")
    expect(page.get_by_label("How heavy?")).to_have_value("2,5")
    page.get_by_role("group", name="Clear").get_by_label("2").check()
    page.locator("#submit").click(delay=600)
    worker.at_question(2)
    rubric = {"Correct": 4, "Clear": 2}
    assert scene.answers() == [{"much": 60, "weight": 2.5, "day": "2024-02-29", "rubric": rubric}]


def test_orders_by_thumb(scene: Scene) -> None:
    worker = scene.worker(**SMALL).open("orders")
    page = worker.page
    assert barriers(page) == ""
    page.emulate_media(color_scheme="light")
    assert page.evaluate(WIDER_THAN_SCREEN) <= 0
    entry = page.locator(".form-ranks > li")
    page.get_by_role("button", name="blue").tap()
    page.get_by_role("button", name="red").tap()
    expect(entry.locator(".form-place")).to_have_text(["1", "2", "3"])
    expect(entry.locator(".form-side")).to_have_text(["blue", "red", "green"])
    handle = page.locator("li[data-value=green] .form-handle")
    swipe(page, handle, page.locator("li[data-value=blue] .form-place"))
    expect(entry.locator(".form-side")).to_have_text(["green", "blue", "red"])
    rows = page.locator(".form-candidate:not(.form-heads)")
    rows.nth(0).locator("label").first.tap()
    rows.nth(0).locator("label").last.tap()
    page.locator("#submit").tap()
    expect(error_of(page, "four")).to_have_text("Choose one as “Best”.")
    rows.nth(2).locator("label").first.tap()
    page.locator("#submit").tap()
    worker.at_question(2)
    assert scene.answers() == [{"order": ["green", "blue", "red"], "four": {"best": "c", "worst": "a"}}]


def test_orders_by_keyboard(scene: Scene) -> None:
    worker = scene.worker().open("orders")
    page, press = worker.page, worker.page.keyboard.press
    page.locator("#submit").click(delay=600)
    expect(error_of(page, "order")).to_have_text("Rank them first.")
    expect(page.get_by_role("button", name="red")).to_be_focused()
    press("Space")
    tab_to(page, page.get_by_role("button", name="green"))
    press("Space")
    press("ArrowUp")
    expect(page.locator(".form-ranks .form-side")).to_have_text(["green", "red", "blue"])
    expect(page.get_by_role("button", name="green, rank 1")).to_be_focused()
    tab_to(page, page.get_by_label("Best: The word a"))
    press("2")
    press("Tab")
    press("1")
    expect(page.get_by_label("Worst: The word a")).to_be_checked()
    press("Enter")
    worker.at_question(2)
    assert scene.answers() == [{"order": ["green", "red", "blue"], "four": {"best": "b", "worst": "a"}}]


def test_arrow_keys_in_one_column_leave_the_choice_in_the_other(scene: Scene) -> None:
    page = scene.worker().open("orders").page
    tab_to(page, page.get_by_label("Best: The word a"))
    for key, best in (("ArrowDown", "b"), ("ArrowRight", "c"), ("ArrowUp", "b"), ("ArrowLeft", "a"), ("ArrowUp", "d")):
        page.keyboard.press(key)
        expect(page.get_by_label(f"Best: The word {best}")).to_be_checked()
    page.keyboard.press("2")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Worst: The word b")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Worst: The word c")).to_be_checked()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_label("Worst: The word a")).to_be_checked()
    expect(page.get_by_label("Best: The word b")).to_be_checked()


def test_turns_and_whatever_stands_in_them(scene: Scene) -> None:
    worker = scene.worker(**SMALL).open("turns")
    page = worker.page
    assert barriers(page) == ""
    page.emulate_media(color_scheme="light")
    assert page.evaluate(WIDER_THAN_SCREEN) <= 0
    expect(page.locator(".form-markdown strong")).to_have_text("Bold")
    assert page.locator(".form-markdown img, .form-markdown script, .form-markdown a[href^=javascript]").count() == 0
    expect(page.locator("pre code").last).to_have_text(ROW["program"])
    expect(page.locator(".form-markdown pre")).to_contain_text("a long line of code")
    expect(page.locator("[data-field=helpful] .form-said").first).to_have_text(HOSTILE)
    page.locator("#submit").tap(timeout=5000)
    page.get_by_role("group", name="Turn 2, Bot").get_by_text("yes").tap()
    page.locator("#submit").tap()
    expect(error_of(page, "helpful")).to_have_text("Choose an answer for turn 4.")
    page.get_by_role("group", name="Turn 4, Bot").get_by_text("no").tap()
    words = page.get_by_role("listbox", name="Turn 2, Bot").get_by_role("option")
    words.nth(2).tap()
    words.nth(3).tap()
    page.locator("[data-field=wrong]").get_by_text("false", exact=True).first.tap()
    expect(words.nth(3)).to_have_attribute("data-label", "false")
    page.locator("#submit").tap()
    worker.at_question(2)
    assert scene.answers() == [
        {
            "helpful": [{"turn": 1, "value": "yes"}, {"turn": 3, "value": "no"}],
            "wrong": [{"turn": 1, "start": 2, "end": 4, "label": "false"}],
        }
    ]


def test_relations_with_a_suggestion(scene: Scene) -> None:
    worker = scene.worker().open("names")
    page, press = worker.page, worker.page.keyboard.press
    expect(page.locator(".form-suggested")).to_be_visible()
    expect(page.locator(".form-marked .form-excerpt")).to_have_text(["“Mara Lindt”"])
    words = page.get_by_role("listbox").get_by_role("option")
    tab_to(page, words.first)
    press("End")
    press("ArrowLeft")
    press("2")
    press("Space")
    expect(page.locator(".form-marked .form-excerpt")).to_have_text(["“Mara Lindt”", "“Oslo”"])
    page.get_by_label("From").select_option("Oslo")
    page.get_by_label("To", exact=True).select_option("Mara Lindt")
    page.get_by_role("button", name="Connect").click()
    expect(page.locator(".form-refused")).to_have_text("“is in” must start from person.")
    page.get_by_label("From").select_option("Mara Lindt")
    page.get_by_label("To", exact=True).select_option("Oslo")
    page.get_by_role("button", name="Connect").click()
    expect(page.locator(".form-connected .form-excerpt")).to_have_text("“Mara Lindt” → is in → “Oslo”")
    expect(page.locator(".form-arrow")).to_have_count(2)
    assert barriers(page) == ""
    page.emulate_media(color_scheme="light")
    page.reload()
    worker.at_question(1)
    expect(page.locator(".form-connected .form-excerpt")).to_have_text("“Mara Lindt” → is in → “Oslo”")
    page.locator("#submit").click(delay=600)
    worker.at_question(2)
    spans = [{"start": 0, "end": 2, "label": "person"}, {"start": 6, "end": 7, "label": "place"}]
    assert scene.answers() == [{"names": {"spans": spans, "relations": [{"from": 0, "to": 1, "label": "in"}]}}]


def test_boxes_and_segments_by_mouse(scene: Scene) -> None:
    worker = scene.worker().open("media")
    page = worker.page
    assert barriers(page) == ""
    page.emulate_media(color_scheme="light")
    picture = page.get_by_role("group", name="A square, and silence").get_by_role("img").first
    expect(picture).to_be_visible()
    wide = picture.bounding_box()
    page.get_by_role("button", name="Zoom in").first.click()
    assert picture.bounding_box()["width"] > wide["width"] * 1.4  # type: ignore[index]
    page.get_by_text("Transcript").click()
    expect(page.locator("details p")).to_have_text("A square, and silence")
    layer = page.locator(".drawing-layer")
    layer.scroll_into_view_if_needed()
    box = layer.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] / 4)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 3 / 4, steps=4)
    page.mouse.up()
    bar = page.locator(".form-bar")
    bar.scroll_into_view_if_needed()
    wait_for_sound(page)
    box = bar.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 10, steps=4)
    page.mouse.up()
    page.locator("#submit").click()
    expect(error_of(page, "boxes")).to_contain_text("Choose a label for the box without one")
    expect(page.locator(".drawing-labels [aria-pressed=true]")).to_have_count(0)
    page.locator(".drawing-labels").get_by_role("button", name="square").click()
    expect(page.locator(".drawing-list li")).to_contain_text("box 1 square")
    expect(error_of(page, "segments")).to_contain_text("Choose a label for the segment")
    page.locator("[data-field=segments]").get_by_role("radio", name="loud").check()
    page.get_by_label("End time in seconds").fill("1.2")
    page.locator("#submit").click()
    worker.at_question(2)
    (answer,) = scene.answers()
    (drawn,) = answer["boxes"]
    assert drawn.pop("label") == "square"
    expected = {"x": 0.25, "y": 0.25, "width": 0.25, "height": 0.5}
    assert drawn == {key: pytest.approx(value, abs=0.02) for key, value in expected.items()}
    (segment,) = answer["segments"]
    assert segment == {"start": pytest.approx(0.5, abs=0.05), "end": 1.2, "label": "loud"}


def test_boxes_and_segments_by_keyboard_and_again_after_a_reload(scene: Scene) -> None:
    worker = scene.worker().open("media")
    page, press = worker.page, worker.page.keyboard.press
    tab_to(page, page.get_by_role("button", name="Add a box"))
    press("Enter")
    press("ArrowRight")
    page.locator(".drawing-labels").get_by_role("button", name="square").press("Enter")
    button = page.get_by_role("button", name="Start a segment here")
    wait_for_sound(page)
    button.click()
    page.evaluate("document.querySelector('.form-player audio').currentTime = 1")
    page.get_by_role("button", name="End the segment here").click()
    page.get_by_label("Label", exact=True).select_option("quiet")
    page.reload()
    worker.at_question(1)
    expect(page.locator(".drawing-list li")).to_have_count(1)
    page.locator("#submit").click(delay=600)
    worker.at_question(2)
    (answer,) = scene.answers()
    assert answer["boxes"][0]["x"] == pytest.approx(0.405, abs=0.01)
    assert answer["segments"] == [{"start": 0, "end": 1, "label": "quiet"}]


def test_a_moved_box_stops_at_the_edge_and_times_keep_the_focus(scene: Scene) -> None:
    """Before, a box was squeezed to nothing at the edge, and one press of an arrow key lost the focus."""
    page = scene.worker().open("media").page
    press = page.keyboard.press
    tab_to(page, page.get_by_role("button", name="Add a box"))
    press("Enter")
    for _ in range(85):
        press("ArrowLeft")
    box = page.locator(".drawing-layer rect")
    assert [box.get_attribute(name) for name in ("x", "width")] == ["0", "80"]
    wait_for_sound(page)
    page.get_by_role("button", name="Start a segment here").click()
    page.evaluate("document.querySelector('.form-player audio').currentTime = 1")
    page.get_by_role("button", name="End the segment here").click()
    start = page.get_by_label("Start time in seconds")
    start.focus()
    press("ArrowUp")
    press("ArrowUp")
    expect(start).to_be_focused()
    expect(start).to_have_value("0.2")
    expect(page.get_by_role("button", name="Remove: Segment from 0.2 to 1 s")).to_be_visible()
    label = page.get_by_label("Label", exact=True)
    label.focus()
    label.select_option("quiet")
    expect(label).to_be_focused()


def test_time_runs_from_left_to_right_in_every_language(scene: Scene) -> None:
    """Before, a segment that was dragged on the left was drawn on the right."""
    page = scene.worker().open("media").page
    page.evaluate("document.documentElement.dir = 'rtl'")
    wait_for_sound(page)
    bar = page.locator(".form-bar")
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + 10, steps=4)
    page.mouse.up()
    drawn = page.locator(".form-stretch").bounding_box()
    assert drawn is not None
    assert drawn["x"] == pytest.approx(box["x"] + 5, abs=3)


def test_a_polygon_is_drawn_by_keyboard(scene: Scene) -> None:
    """Before, only the last point of a triangle could be moved."""
    worker = scene.worker().open("outline")
    page = worker.page
    tab_to(page, page.get_by_role("button", name="Add a polygon"))
    page.keyboard.press("Enter")
    outline = page.locator(".drawing-layer polygon")
    expect(outline).to_be_visible()
    for key in ("+", "Shift+ArrowDown", "n", "Shift+ArrowLeft"):
        page.keyboard.press(key)
    expect(outline).to_have_attribute("points", "158,120 200,80 240,120 200,122")
    page.locator("#submit").click(delay=600)
    worker.at_question(2)
    (answer,) = scene.answers()
    assert len(answer["outline"][0]["points"]) == 4


def test_a_shape_added_before_its_picture_has_loaded_appears_with_it(scene: Scene) -> None:
    """Before, a press on the button did nothing, without a word."""
    worker, held = scene.worker(), list[Route]()
    page = worker.page
    page.route("**/*.svg", lambda route: held.append(route))  # noqa: PLW0108 - Playwright accepts no builtin
    worker.open("outline", until="domcontentloaded")
    page.get_by_role("button", name="Add a polygon").press("Enter")
    outline = page.locator(".drawing-layer polygon")
    expect(outline).to_have_count(0)
    for route in held:
        route.continue_()
    expect(outline).to_be_visible()


def test_a_number_key_leaves_the_answers_of_other_fields(scene: Scene) -> None:
    """Before, a number pressed on a slider, a ranking or a box chose an option of the first field."""
    page = scene.worker().open("several").page
    yes = page.get_by_role("radio", name="yes")
    page.keyboard.press("2")
    expect(page.get_by_role("radio", name="no")).to_be_checked()
    boxes = [
        page.get_by_role("slider"),
        page.get_by_role("button", name="red"),
        page.get_by_role("button", name="Add a box"),
    ]
    for place in boxes:
        tab_to(page, place)
        page.keyboard.press("1")
        expect(place).to_be_focused()
        expect(yes).not_to_be_checked()
    page.keyboard.press("Enter")
    page.keyboard.press("1")
    expect(yes).not_to_be_checked()
