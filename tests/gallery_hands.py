"""What a worker does on the first page of every study of the gallery: for tests, and for the pictures of the docs."""

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

Hands = Callable[[Page], None]
HAPPY = ("overjoyed", "delighted", "thrilled", "blissful", "ecstatic", "cheerful")
UNHAPPY = ("heartbroken", "desperate", "devastated", "hopeless", "furious", "miserable", "sad")
# In the pictures of the gallery: the wall of a house below its roof.
HOUSE = re.compile(
    r'<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)" fill="#c98f5a"/><path d="M\S+ \S+ L\S+ (\d+)'
)
# The trunk of a tree, and the crown above it.
TREE = re.compile(
    r'<rect x="\d+" y="(\d+)" width="\d+" height="(\d+)" fill="#6b4a2b"/>'
    r'<ellipse cx="(\d+)" cy="(\d+)" rx="(\d+)" ry="(\d+)"'
)
# Words in the gallery's dialogues that are false or rude.
PROBLEMS = {"5": "False", "six": "False", "snows": "False", "ask": "Rude", "yourself": "Rude", "fool": "Rude"}
# Questions of the gallery's preferences whose second answer is better.
B_IS_BETTER = ("What is 7", "Why is the sky blue", "How many days")
INSULTS = ("stupid", "idiot", "lost", "pathetic", "liars", "shut")


def _field(page: Page, name: str) -> Locator:
    return page.locator(f"[data-field={name}]")


def _drag(page: Page, over: Locator, start: tuple[float, float], end: tuple[float, float]) -> None:
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    assert box is not None
    places = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in (start, end)]
    page.mouse.move(*places[0])
    page.mouse.down()
    page.mouse.move(*places[1], steps=5)
    page.mouse.up()


def wait_for_sound(page: Page) -> None:
    """Wait until the recording's length is known: the page's policy does not let Playwright wait for an expression."""
    page.locator(".form-player audio").evaluate(
        "player => player.duration > 0 || new Promise(done => player.addEventListener('loadedmetadata', done))"
    )


def sentiment(page: Page) -> None:
    page.get_by_role("radio", name="positive").check()
    page.get_by_role("slider").fill("80")


def toxicity(page: Page) -> None:
    page.get_by_role("radio", name="Yes").check()
    words = page.get_by_role("option").all_inner_texts()
    first = next((number for number, word in enumerate(words) if word in INSULTS), 0)
    page.get_by_role("option").nth(first).click()
    page.get_by_role("radio", name="person").check()


def relations(page: Page) -> None:
    words = page.get_by_role("option")
    texts = words.all_inner_texts()
    last = max((number for number, word in enumerate(texts) if word[0].isupper() and number > 1), default=2)
    page.get_by_role("radio", name="Person").check()
    words.nth(0).click()
    words.nth(1).click()
    page.get_by_role("radio", name="Place").check()
    words.nth(last).click()
    page.get_by_label("Relation", exact=True).select_option("is in")
    page.get_by_role("button", name="Connect").click()
    expect(page.locator(".form-connected li")).to_have_count(1)


def preference(page: Page) -> None:
    asked = page.locator("#panel-item").inner_text()
    better, level = ("Answer B", 4) if any(words in asked for words in B_IS_BETTER) else ("Answer A", 0)
    page.get_by_role("radio", name=better).check()
    correct, *others = page.locator(".form-row").all()
    correct.locator("input").nth(level).check()
    for row in others:
        row.locator("input").nth(2).check()


def best_worst(page: Page) -> None:
    rows = page.locator(".form-candidate:not(.form-heads)").all()
    best = next((row for row in rows if row.locator(".form-side").inner_text() in HAPPY), rows[0])
    worst = next((row for row in rows if row.locator(".form-side").inner_text() in UNHAPPY), rows[-1])
    best.locator("input").first.check()
    worst.locator("input").last.check()


def dialogue(page: Page) -> None:
    words = _field(page, "problems").get_by_role("option")
    found = [(number, word) for number, word in enumerate(words.all_inner_texts()) if word in PROBLEMS]
    *helpful, last = _field(page, "helpful").get_by_role("group").all()
    for turn in helpful:
        turn.get_by_role("radio", name="Helpful", exact=True).check()
    last.get_by_role("radio", name="Unhelpful" if found else "Helpful", exact=True).check()
    for number, word in found:
        _field(page, "problems").get_by_role("radio", name=PROBLEMS[word]).check()
        words.nth(number).click()


def image_boxes(page: Page) -> None:
    picture = page.locator(".drawing-layer")
    page.locator(".drawing img").evaluate("picture => picture.decode()")
    drawn = page.evaluate("fetch(document.querySelector('.drawing img').src).then(reply => reply.text())")
    if house := HOUSE.search(drawn):
        x, y, width, height, roof = map(int, house.groups())
        label, left, top, right, bottom = "House", x, roof, x + width, y + height
    else:
        tree = TREE.search(drawn)
        assert tree is not None
        y, height, middle, centre, wide, high = map(int, tree.groups())
        label, left, top, right, bottom = "Tree", middle - wide, centre - high, middle + wide, y + height
    page.get_by_role("button", name=label).click()
    _drag(page, picture, (left / 600, top / 400), (right / 600, bottom / 400))
    expect(page.locator(".drawing-list li")).to_have_count(1)


def audio_segments(page: Page) -> None:
    wait_for_sound(page)
    _field(page, "sounds").get_by_role("radio", name="Beep").check()
    _drag(page, page.locator(".form-bar"), (0.2, 0.5), (0.45, 0.5))


def translation(page: Page) -> None:
    page.get_by_role("radio", name="Accuracy, major").check()
    page.get_by_role("option").nth(1).click()
    page.get_by_role("slider").fill("60")


def survey(page: Page) -> None:
    page.get_by_role("radio", name="yes").check()
    page.get_by_label("How many times a week?").fill("3")
    for name in ("quality", "speed", "price"):
        page.get_by_role("button", name=name).click()
    for row in page.locator(".form-row").all():
        row.locator("input").nth(2).check()


HANDS: dict[str, Hands] = {
    "sentiment": sentiment,
    "toxicity": toxicity,
    "relations": relations,
    "preference": preference,
    "best-worst": best_worst,
    "dialogue": dialogue,
    "image-boxes": image_boxes,
    "audio-segments": audio_segments,
    "translation": translation,
    "survey": survey,
}
