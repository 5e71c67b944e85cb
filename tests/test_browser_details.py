"""Details of the kinds of fields that people notice in a real browser: overlapping spans, suggestions, steps, times."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import CHROMIUM, PHONE, Scene, Site
from gallery_hands import wait_for_sound
from test_browser_kinds import error_of, write_stages

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]
TEXT = "Mara Lindt joined the old University of Oslo in Norway."
LABELS = 'options = ["person", "organisation", "place"]'
STAGES = {
    "overlapping": f"""
[[stage.options.fields]]
name = "names"
kind = "spans"
ask = "Which names?"
item = "text"
overlap = true
{LABELS}
""",
    "connected": f"""
[[stage.options.fields]]
name = "names"
kind = "relations"
ask = "Who is where?"
item = "text"
overlap = true
{LABELS}
relations = ["in"]
prefill = "graph"
min = 0
""",
    "filled": """
[[stage.options.fields]]
name = "much"
kind = "slider"
ask = "How much?"
min = -1
max = 1
step = 0.1
prefill = "level"
""",
    "stepped": """
[[stage.options.fields]]
name = "odd"
kind = "number"
ask = "Which odd number?"
min = 1
max = 9
step = 2
[[stage.options.fields]]
name = "day"
kind = "date"
ask = "When?"
earliest = "2020-01-31"
required = false
""",
    "outline": """
[[stage.options.fields]]
name = "outline"
kind = "polygons"
ask = "Outline the square"
item = "drawing"
min = 0
""",
    "chosen": """
[[stage.options.fields]]
name = "four"
kind = "best_worst"
ask = "Which is happiest?"
item = "tuple"
""",
    "rated": """
[[stage.options.fields]]
name = "rubric"
kind = "matrix"
ask = "How good?"
hint = "Compare it with the other answers of the same person."
rows = ["Correct", "Clear"]
labels = ["Very bad indeed", "Rather bad", "Neither good nor bad", "Rather good", "Very good indeed"]
prefill = "ratings"
""",
    "slow": """
[stage.sense]
min_seconds = 60
refuse = true
[[stage.options.fields]]
name = "which"
kind = "choice"
ask = "Which of these?"
options = ["a long option", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"]
""",
    "times": """
[[stage.options.fields]]
name = "segments"
kind = "segments"
ask = "When is it loud?"
item = "noise"
prefill = "loud"
""",
}
GRAPH = {
    "spans": [
        {"start": 8, "end": 9, "label": "place"},
        {"start": 0, "end": 2, "label": "person"},
        {"start": 4, "end": 8, "label": "organisation"},
    ],
    "relations": [{"from": 1, "to": 2, "label": "in"}],
}
ROW = {
    "text": TEXT,
    "drawing": "media/square.svg",
    "noise": "media/noise.wav",
    "tuple": [{"id": text, "text": text} for text in ("one", "two", "three", "four")],
    "ratings": {"Correct": 3, "Clear": 3},
    "loud": [{"start": 0, "end": 0.5}, {"start": 1, "end": 1.9}],
}

# The middle of the words of a span that are on its first line; a label on the next line is no part of it.
FIRST_LINE = """box => {
  const lines = [...box.querySelectorAll("[role=option]")].slice(4, 8).map(word => word.getClientRects()[0]);
  const first = lines.filter(({ top }) => Math.abs(top - lines[0].top) < 5);
  return (first[0].left + first.at(-1).right) / 2;
}"""
END_OF_ARROW = """path => {
  const { x } = path.getPointAtLength(path.getTotalLength());
  return x + path.ownerSVGElement.getBoundingClientRect().left;
}"""


def write_details(folder: Path, language: str) -> Path:
    rows: list[dict[str, Any]] = [
        {"id": "empty", **ROW},
        *({"id": f"i{number}", "graph": GRAPH, "level": 0.3, **ROW} for number in range(3)),
    ]
    return write_stages(folder, f'title = "Details", language = "{language}"', STAGES, rows)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(write_details(tmp_path_factory.mktemp("details") / "study", "en")) as running:
        yield running


def marked(page: Page) -> list[str]:
    """The spans in the list, with their labels."""
    entries = page.locator(".form-marked > li").all()
    return [f"{each.locator('.form-excerpt').inner_text()} {each.locator('select').input_value()}" for each in entries]


def at_an_item(page: Page, filled: bool) -> None:
    """Skip questions until one that is filled in, or one that is not."""
    for _ in range(4):
        if (page.locator(".form-connected li").count() > 0) == filled:
            return
        page.locator("#skip").click()
        page.wait_for_timeout(800)  # a question that follows a skipped one has the same number
    raise AssertionError(f"no item is filled={filled}")


def test_a_second_tap_takes_back_a_span_that_may_overlap(scene: Scene) -> None:
    page = scene.worker().open("overlapping").page
    words = page.get_by_role("option")
    expect(page.locator(".form-how")).to_contain_text("To unmark words, use the list below the text.")
    page.get_by_role("radio", name="organisation").check()
    words.nth(5).click()
    words.nth(6).click()
    words.nth(7).click()
    page.get_by_role("radio", name="place").check()
    words.nth(7).click()
    assert marked(page) == ["“University of Oslo” organisation", "“Oslo” place"]
    words.nth(7).click()
    assert marked(page) == ["“University of Oslo” organisation"]


def test_number_keys_leave_the_labels_of_overlapping_spans(scene: Scene) -> None:
    page = scene.worker().open("overlapping").page
    page.get_by_role("radio", name="person").check()
    page.get_by_role("option").nth(0).click()
    page.get_by_role("option").nth(1).click()
    page.keyboard.press("3")
    page.keyboard.press("Space")
    assert marked(page) == ["“Mara Lindt” person", "“Lindt” place"]


def test_relations_of_a_suggestion_join_the_spans_that_it_names(scene: Scene) -> None:
    page = scene.worker().open("connected").page
    at_an_item(page, filled=True)
    expect(page.locator(".form-suggested")).to_be_visible()
    expect(page.locator(".form-connected .form-excerpt")).to_have_text("“Mara Lindt” → in → “old University of Oslo”")


@pytest.mark.slow
def test_a_field_without_a_suggestion_does_not_claim_to_be_filled_in(scene: Scene) -> None:
    page = scene.worker().open("connected").page
    at_an_item(page, filled=False)
    expect(page.locator(".form-suggested")).to_have_count(0)


@pytest.mark.slow
def test_a_new_span_leaves_the_ends_chosen_for_a_relation(scene: Scene) -> None:
    page = scene.worker().open("connected").page
    at_an_item(page, filled=True)
    page.get_by_label("From", exact=True).select_option("old University of Oslo")
    page.get_by_label("To", exact=True).select_option("in")
    page.get_by_role("radio", name="place").check()
    page.get_by_role("option").nth(3).click()
    chosen = [page.get_by_label(end, exact=True).locator("option:checked") for end in ("From", "To")]
    expect(chosen[0]).to_have_text("old University of Oslo")
    expect(chosen[1]).to_have_text("in")


@pytest.mark.slow
def test_a_longer_span_keeps_its_relations(scene: Scene) -> None:
    page = scene.worker().open("connected").page
    at_an_item(page, filled=True)
    page.get_by_role("radio", name="place").check()
    page.get_by_role("option").nth(3).click()
    page.get_by_label("From", exact=True).select_option("Mara Lindt")
    page.get_by_label("To", exact=True).select_option("the")
    page.get_by_role("button", name="Connect").click()
    page.get_by_role("option").nth(2).click()
    expect(page.locator(".form-connected .form-excerpt").last).to_have_text("“Mara Lindt” → in → “joined the”")


@pytest.mark.slow
def test_an_arrow_ends_at_its_span_when_a_label_begins_the_next_line(scene: Scene) -> None:
    page = scene.worker(viewport={"width": 360, "height": 740}).open("connected").page
    at_an_item(page, filled=True)
    # As wide as the span: its label does not fit beside it.
    box = page.locator(".form-tokens")
    box.evaluate("box => { box.style.inlineSize = 'max-content'; box.style.padding = '1.75rem 0'; }")
    words = [page.get_by_role("option").nth(number).bounding_box() for number in (4, 7)]
    assert words[0] is not None and words[1] is not None
    box.evaluate("(box, width) => { box.style.inlineSize = `${width}px`; }", words[1]["x"] - words[0]["x"] + 60)
    page.wait_for_timeout(200)
    word = page.get_by_role("option").nth(7)
    assert word.evaluate("word => word.getClientRects().length") == 2, "the label must begin the next line"
    line = page.locator(".form-tokens").evaluate(FIRST_LINE)
    end = page.locator(".form-arrow").first.evaluate(END_OF_ARROW)
    assert end == pytest.approx(line, abs=2)


def test_half_of_a_double_click_does_not_submit_the_next_question_that_is_filled_in(scene: Scene) -> None:
    worker = scene.worker().open("filled")
    page = worker.page
    page.get_by_role("slider").press("ArrowRight")
    page.wait_for_timeout(1500)  # the next question is there before it is asked for
    page.locator("#submit").click()
    worker.at_question(2)
    page.locator("#submit").click()
    page.wait_for_timeout(700)
    worker.at_question(2)
    assert len(scene.answers()) == 1


def test_steps_that_are_no_multiples_are_named(scene: Scene) -> None:
    page = scene.worker().open("stepped").page
    field = page.get_by_label("Which odd number?")
    field.fill("4")
    page.get_by_label("When?").fill("2019-12-31")
    page.locator("#submit").click()
    expect(error_of(page, "odd")).to_have_text("Enter a number such as 1, 3 or 5.")
    expect(error_of(page, "day")).to_have_text("The earliest date is 31 January 2020.")


@pytest.mark.parametrize("typed", ["٣", *(pytest.param(digit, marks=pytest.mark.slow) for digit in "۳३３3")])
def test_digits_of_every_keyboard_are_numbers(scene: Scene, typed: str) -> None:
    worker = scene.worker().open("stepped")
    worker.page.get_by_label("Which odd number?").fill(typed)
    worker.page.locator("#submit").click()
    worker.at_question(2)
    assert scene.answers() == [{"odd": 3}]


def test_an_outline_is_given_up_without_a_keyboard(scene: Scene) -> None:
    page = scene.worker(**PHONE).open("outline").page
    page.locator(".drawing img").evaluate("picture => picture.decode()")
    expect(page.get_by_role("button", name="Cancel this shape")).to_be_hidden()
    page.wait_for_timeout(600)  # a submission right after the question appears is half of a double click
    page.locator(".drawing-layer").tap(position={"x": 40, "y": 40})
    page.locator("#submit").tap()
    expect(error_of(page, "outline")).to_have_text("Finish the shape you have started, or cancel it.")
    page.get_by_role("button", name="Cancel this shape").tap()
    expect(page.locator(".drawing-layer > *")).to_have_count(0)
    expect(page.get_by_role("button", name="Cancel this shape")).to_be_hidden()


@pytest.mark.slow
def test_a_right_click_draws_nothing(scene: Scene) -> None:
    page = scene.worker().open("outline").page
    page.locator(".drawing img").evaluate("picture => picture.decode()")
    page.locator(".drawing-layer").click(button="right", position={"x": 40, "y": 40})
    expect(page.locator(".drawing-layer > *")).to_have_count(0)


@pytest.mark.slow
def test_a_level_stays_next_to_its_word_and_hints_keep_their_distance(scene: Scene) -> None:
    page = scene.worker(**PHONE | {"viewport": {"width": 360, "height": 740}}).open("rated").page
    heights = page.locator(".form-legend > span").evaluate_all("all => all.map(each => each.offsetHeight)")
    assert len(heights) == 5 and max(heights) < 30
    lowest = page.locator(".form-matrix > .hint").last.bounding_box()
    first = page.locator(".form-row").first.bounding_box()
    assert lowest is not None and first is not None
    assert first["y"] - lowest["y"] - lowest["height"] >= 8
    gap = page.locator(".form-matrix > .hint").first.evaluate("hint => parseFloat(getComputedStyle(hint).marginBottom)")
    assert gap >= 8


def test_the_reason_of_a_refusal_is_above_the_buttons_of_a_phone(scene: Scene) -> None:
    scene.watch.tolerate("422")
    page = scene.worker(**PHONE | {"viewport": {"width": 360, "height": 640}}).open("slow").page
    page.get_by_text("a long option").tap()
    page.wait_for_timeout(600)
    page.locator("#submit").tap()
    reason = page.locator("#form-error")
    expect(reason).to_contain_text("takes at least 60 seconds")
    page.wait_for_timeout(300)
    text, buttons = reason.bounding_box(), page.locator(".work-actions").bounding_box()
    assert text is not None and buttons is not None
    assert text["y"] >= 0 and text["y"] + text["height"] <= buttons["y"]


def test_times_end_with_the_recording(scene: Scene) -> None:
    page = scene.worker().open("times").page
    wait_for_sound(page)
    end = page.get_by_label("End time in seconds").last
    end.fill("9999")
    end.press("Tab")
    expect(end).to_have_value("2")


@pytest.mark.slow
def test_one_segment_after_another_is_played_to_its_end(scene: Scene) -> None:
    page = scene.worker().open("times").page
    wait_for_sound(page)
    page.get_by_role("button", name="Play: Segment from 0 to 0.5 s").click()
    page.get_by_role("button", name="Play: Segment from 1 to 1.9 s").click()
    stopped = "player => new Promise(done => player.addEventListener('pause', () => done(player.currentTime)))"
    assert page.locator("audio").evaluate(stopped) >= 1.9


@pytest.mark.slow
def test_numbers_dates_and_headings_are_in_the_language_of_the_study(chromium: Browser, tmp_path: Path) -> None:
    with Site(write_details(tmp_path / "study", "de")) as site:
        scene = Scene(chromium, site)
        page = scene.worker().open("filled").page
        page.get_by_role("slider").press("Home")
        page.get_by_role("slider").press("ArrowRight")
        expect(page.locator("output")).to_have_text("-0,9")
        page = scene.worker().open("stepped").page
        page.get_by_label("When?").fill("2019-12-31")
        page.locator("#submit").click()
        expect(error_of(page, "day")).to_have_text("Das früheste Datum ist der 31. Januar 2020.")
        page = scene.worker().open("chosen").page
        expect(page.locator(".form-heads")).to_have_text("Am bestenAm schlechtesten")
        expect(page.get_by_label("Am besten: one")).to_be_visible()
        for context in chromium.contexts:
            context.close()
        assert scene.watch.complaints == []


def test_relations_point_to_the_left_where_people_read_to_the_left(chromium: Browser, tmp_path: Path) -> None:
    with Site(write_details(tmp_path / "study", "ar")) as site:
        scene = Scene(chromium, site)
        page = scene.worker().open("connected").page
        at_an_item(page, filled=True)
        relation = page.locator(".form-connected .form-excerpt")
        expect(relation).to_have_text(
            "\u2068«Mara Lindt»\u2069 ← \u2068in\u2069 ← \u2068«old University of Oslo»\u2069"
        )
        expect(page.locator(".form-marked .form-excerpt bdi").first).to_have_text("«Mara Lindt»")
        for context in chromium.contexts:
            context.close()
        assert scene.watch.complaints == []
