"""Layouts as requesters wrote them for Mechanical Turk, each done in a browser: what is stored is what was filled in.

Every layout here is written for these tests. Together they have the kinds of input, script and element that public
layouts use, in the ways that once lost an answer or stored one the layout had refused.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from browsing import CHROMIUM, PHONE, WIDER_THAN_SCREEN, Scene, barriers
from chorale.folder.templates import create_study_from_files
from turk import open_market

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

Act = Callable[[Page, FrameLocator], object]
# A picture of 40 by 20 pixels.
PICTURE = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='40' height='20'/%3E"
CROWD = '<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>'


@dataclass(frozen=True)
class Case:
    html: str
    act: Act
    stored: dict[str, Any]


def outer_submit(page: Page, _frame: FrameLocator) -> None:
    """By key: for a moment after a frame has got smaller, Chromium gives it the clicks below it."""
    page.locator("#submit").press("Enter")


def own_submit(name: str = "Submit") -> Act:
    def act(page: Page, frame: FrameLocator) -> None:
        expect(page.locator("#submit")).to_be_hidden()
        frame.get_by_role("button", name=name).click()

    return act


def after(*steps: Act) -> Act:
    def act(page: Page, frame: FrameLocator) -> None:
        for step in steps:
            step(page, frame)

    return act


def click(name: str) -> Act:
    return lambda _page, frame: frame.get_by_role("button", name=name, exact=True).click()


def fill(label: str, text: str) -> Act:
    return lambda _page, frame: frame.get_by_label(label).fill(text)


def says(text: str) -> Act:
    return lambda page, _frame: expect(page.locator("#form-error")).to_contain_text(text)


def shows(text: str) -> Act:
    return lambda _page, frame: expect(frame.get_by_text(text)).to_be_visible()


def choose_spans(_page: Page, frame: FrameLocator) -> None:
    """Label the first word by keyboard and the last by mouse."""
    box = frame.locator(".crowd-text")
    box.focus()
    box.press("ArrowRight")
    box.press("1")
    frame.get_by_role("button", name="Place 2").click()
    box.evaluate(
        """() => {
          const text = [...document.querySelector(".crowd-text").childNodes].at(-1);
          const at = text.data.indexOf("Oslo");
          getSelection().setBaseAndExtent(text, at, text, at + 4);
        }"""
    )
    box.dispatch_event("pointerup")
    expect(frame.locator("mark")).to_have_count(2)


def draw_box(_page: Page, frame: FrameLocator) -> None:
    layer = frame.locator(".drawing-layer")
    layer.scroll_into_view_if_needed()
    box = layer.bounding_box()
    assert box is not None
    mouse = _page.mouse
    mouse.move(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.25)
    mouse.down()
    mouse.move(box["x"] + box["width"] * 0.75, box["y"] + box["height"] * 0.75, steps=3)
    mouse.up()
    frame.get_by_role("button", name="Add a box").click()
    frame.get_by_role("button", name="Remove box 2 Dog").click()


def rank(_page: Page, frame: FrameLocator) -> None:
    for position, value in ((1, "2"), (2, "2")):
        frame.get_by_label(f"Clear: rank of response {position}").select_option(value)
    frame.get_by_role("button", name="Submit").click()  # refused: no ties
    frame.get_by_label("Clear: rank of response 1").select_option("1")


def write_questions(_page: Page, frame: FrameLocator) -> None:
    frame.get_by_label("Question").fill("Who sang?")
    frame.get_by_label("Answer").fill("Ada")
    frame.get_by_label("Tag").select_option("Who")


def answers(**named: Any) -> dict[str, Any]:
    return {"taskAnswers": [named]}


CASES: dict[str, Case] = {
    "a value that a script sets without an event": Case(
        """<input type="hidden" name="mood"><button class="option">Glad</button> <button class="option">Sad</button>
<script>document.querySelectorAll('.option').forEach((button) => { button.onclick = (event) => {
  document.querySelector('[name=mood]').value = button.textContent; event.preventDefault(); }; });</script>""",
        after(click("Sad"), outer_submit),
        {"mood": "Sad"},
    ),
    "a hidden list of spans and a Submit button without a form": Case(
        """<input type="hidden" id="spans" name="spans" value="[]"><p>Some text</p>
<button type="button" onclick="document.getElementById('spans').value = JSON.stringify([[0, 4]])">Mark</button>
<button type="submit">Submit</button>""",
        after(click("Mark"), own_submit()),
        {"spans": "[[0,4]]"},
    ),
    "a form whose onsubmit refuses": Case(
        """<form onsubmit="if (!this.word.value) {
  document.getElementById('no').textContent = 'Write a word!'; return false; }">
<label>Word <input name="word"></label><p id="no"></p><input type="submit" value="Send it"></form>""",
        after(own_submit("Send it"), shows("Write a word!"), fill("Word", "yes"), own_submit("Send it")),
        {"word": "yes"},
    ),
    "a listener that refuses, and the button of the page around": Case(
        """<form id="mturk_form"><label>Word <input name="word"></label></form><p id="no"></p>
<script>document.getElementById('mturk_form').addEventListener('submit', (event) => {
  if (document.querySelector('[name=word]').value.length < 3) {
    event.preventDefault(); document.getElementById('no').textContent = 'Too short!'; } });</script>""",
        after(
            fill("Word", "a"),
            outer_submit,
            shows("Too short!"),
            says("did not accept"),
            fill("Word", "longer"),
            outer_submit,
        ),
        {"word": "longer"},
    ),
    "a listener on the window that refuses": Case(
        """<form><label>Word <input name="word"></label><button>Submit</button></form>
<script>window.addEventListener('submit', (event) => {
  if (!document.forms[0].word.value) event.preventDefault(); });</script>""",
        after(own_submit(), fill("Word", "x"), own_submit()),
        {"word": "x"},
    ),
    "a listener that stops the event": Case(
        """<form><label>Word <input name="word"></label><button>Submit</button></form>
<script>document.forms[0].addEventListener('submit', (event) => event.stopPropagation());</script>""",
        after(fill("Word", "on"), own_submit()),
        {"word": "on"},
    ),
    "a script that calls form.submit()": Case(
        """<form><input type="hidden" name="chosen"></form>
<button type="button" onclick="document.forms[0].chosen.value = 'B'; document.forms[0].submit()">Submit B</button>""",
        own_submit("Submit B"),
        {"chosen": "B"},
    ),
    "a check that answers later": Case(
        """<form id="f"><label>Word <input name="word"></label><input type="submit" value="Submit"></form>
<script>document.getElementById('f').onsubmit = (event) => { event.preventDefault();
  setTimeout(() => event.target.submit(), 50); };</script>""",
        after(fill("Word", "later"), own_submit()),
        {"word": "later"},
    ),
    "what a handler writes while submitting": Case(
        """<form onsubmit="this.seen.value = 'at the end'"><input type="hidden" name="seen">
<button name="pressed" value="one">First</button><button name="pressed" value="two">Submit</button></form>""",
        own_submit(),
        {"seen": "at the end", "pressed": "two"},
    ),
    "required fields without a form": Case(
        """<label>Name <input name="name" required></label><label>Note <textarea name="note"></textarea></label>""",
        after(outer_submit, says("Please fill in"), fill("Name", "Ada"), outer_submit),
        {"name": "Ada"},
    ),
    "radio buttons, check boxes and lists": Case(
        """<form><label><input type="radio" name="one" value="a"> A</label>
<label><input type="radio" name="one" value="b"> B</label>
<label><input type="checkbox" name="many" value="x"> X</label>
<label><input type="checkbox" name="many" value="y"> Y</label>
<label>List <select name="list" multiple><option>p</option><option>q</option></select></label>
<input type="submit" value="Submit"></form>""",
        after(
            lambda _page, frame: frame.get_by_label("B").check(),
            lambda _page, frame: frame.get_by_label("X").check(),
            lambda _page, frame: frame.get_by_label("Y").check(),
            lambda _page, frame: frame.get_by_label("List").select_option(["p", "q"]),
            own_submit(),
        ),
        {"one": "b", "many": "x|y", "list": "p|q"},
    ),
    "a variable called parent": Case(
        """<form><label>Word <input name="word"></label><button>Submit</button></form>
<script>let parent = { name: 'mine' }; const top2 = parent.name;</script>""",
        after(fill("Word", "mine"), own_submit()),
        {"word": "mine"},
    ),
    "storage and cookies": Case(
        """<form><input type="hidden" name="kept"><button>Submit</button></form><script>
localStorage.setItem('seen', '3'); sessionStorage.page = '2'; document.cookie = 'a=1; path=/';
document.forms[0].kept.value = [localStorage.seen, sessionStorage.getItem('page'), document.cookie].join();</script>""",
        own_submit(),
        {"kept": "3,2,a=1"},
    ),
    "a whole page without a form": Case(
        """<!doctype html><html><head><title>Whole</title></head>
<body><label>Word <input name="word"></label></body></html>""",
        after(fill("Word", "whole"), outer_submit),
        {"word": "whole"},
    ),
    "a field outside the form": Case(
        """<form><label>In <input name="in"></label><button>Submit</button></form>
<label>Out <input name="out"></label>""",
        after(fill("In", "1"), fill("Out", "2"), own_submit()),
        {"in": "1", "out": "2"},
    ),
    "a form in crowd-form": Case(
        f"""{CROWD}<crowd-form><form><label>Word <input name="word"></label></form>
<crowd-checkbox name="sure">Sure</crowd-checkbox></crowd-form>""",
        after(fill("Word", "inner"), own_submit()),
        answers(sure={"on": False}, word="inner"),
    ),
    "parts of Amazon's elements, reached by a script": Case(
        f"""{CROWD}<crowd-form><crowd-input name="word" label="Word"></crowd-input></crowd-form><script>
document.addEventListener('all-crowd-elements-ready', () => {{
  document.querySelector('crowd-input').shadowRoot.querySelector('input').value = 'set'; }});</script>""",
        own_submit(),
        answers(word="set"),
    ),
    "a crowd-form that refuses": Case(
        f"""{CROWD}<crowd-form><crowd-input name="word" label="Word"></crowd-input></crowd-form><p id="no"></p><script>
document.querySelector('crowd-form').onsubmit = (event) => {{
  if (!document.querySelector('crowd-input').value) {{
    event.preventDefault(); document.getElementById('no').textContent = 'Not yet!'; }} }};</script>""",
        after(own_submit(), shows("Not yet!"), fill("Word", "now"), own_submit()),
        answers(word="now"),
    ),
    "labels on spans": Case(
        f"""{CROWD}<crowd-entity-annotation name="entities" header="Label the names" text="Ada went 🚂 to Oslo"
  labels="[{{'label': 'person', 'shortDisplayName': 'per', 'fullDisplayName': 'Person'}},
    {{'label': 'place', 'fullDisplayName': 'Place'}}]"><short-instructions>Label them.</short-instructions>
<div id="more"><crowd-input name="why" label="Why"></crowd-input></div>
</crowd-entity-annotation><script>document.addEventListener('all-crowd-elements-ready', () => {{
  const inside = document.querySelector('crowd-entity-annotation').shadowRoot;
  inside.querySelector('crowd-form').form.appendChild(document.getElementById('more'));
}});</script>""",
        after(choose_spans, fill("Why", "names"), own_submit()),
        answers(
            entities={
                "entities": [
                    {"endOffset": 3, "label": "person", "startOffset": 0},
                    {"endOffset": 18, "label": "place", "startOffset": 14},
                ]
            },
            why="names",
        ),
    ),
    "a box on a picture": Case(
        f"""{CROWD}<crowd-form><crowd-bounding-box name="annotatedResult" labels="['Dog', 'Cat']" header="Mark the dog"
  src="{PICTURE}"></crowd-bounding-box></crowd-form>""",
        after(draw_box, own_submit()),
        answers(
            annotatedResult={
                "boundingBoxes": [{"height": 10, "label": "Dog", "left": 10, "top": 5, "width": 20}],
                "inputImageProperties": {"height": 20, "width": 40},
            }
        ),
    ),
    "a polygon that was drawn before": Case(
        f"""{CROWD}<crowd-form><crowd-polygon name="shape" labels="['Roof']" src="{PICTURE}" header="Outline it"
  initial-value="{{polygons: [{{label: 'Roof', vertices: [{{x: 1, y: 2}}, {{x: 5, y: 2}}, {{x: 5, y: 9}}]}}]}}"
></crowd-polygon></crowd-form>""",
        own_submit(),
        answers(
            shape={
                "inputImageProperties": {"height": 20, "width": 40},
                "polygons": [{"label": "Roof", "vertices": [{"x": 1, "y": 2}, {"x": 5, "y": 2}, {"x": 5, "y": 9}]}],
            }
        ),
    ),
    "responses that are ranked": Case(
        f"""{CROWD}<crowd-form><crowd-text-ranking name="ranks" text="Say hello." responses='["Hi", "Hello"]'
  ordinal-ranking-dimensions='[{{"name": "Clear", "allowTie": false}}]'></crowd-text-ranking></crowd-form>""",
        after(rank, own_submit()),
        answers(ranks={"rankings": [{"dimension": "Clear", "ranks": [1, 2]}]}),
    ),
    "questions about a text, in a form elsewhere": Case(
        f"""{CROWD}<crowd-form id="qa" style="display: none"></crowd-form>
<crowd-question-answer-generation crowd-form-element-id="qa" text="Ada sang." question-tags='["Who", "Why"]'
  question-max-words="5"></crowd-question-answer-generation>""",
        after(write_questions, own_submit()),
        {
            "taskAnswers": [
                {
                    "crowd-question-answer-generation": {
                        "questions": [{"answer": "Ada", "question": "Who sang?", "references": [], "tags": ["Who"]}]
                    }
                }
            ]
        },
    ),
    "a form that a script makes and posts to the address it was given": Case(
        """<button type="button" id="go">Submit</button><script>document.getElementById('go').onclick = () => {
  const asked = new URLSearchParams(location.search), made = document.createElement('form');
  made.action = new URL('mturk/externalSubmit', asked.get('turkSubmitTo')).href;
  const known = asked.get('assignmentId');
  for (const [name, value] of [['assignmentId', known], ['known', known !== '']]) {
    made.append(Object.assign(document.createElement('input'), { name, value })); }
  document.body.append(made); made.submit(); };</script>""",
        own_submit(),
        {"known": "true"},
    ),
    "a button that submits its form twice": Case(
        """<form id="f"><label>Code <input name="code" required></label>
<button onclick="document.getElementById('f').submit()">Submit</button></form>""",
        after(fill("Code", "7"), own_submit()),
        {"code": "7"},
    ),
    "buttons outside the form that lead from page to page": Case(
        """<label>Caption <input id="caption"></label><button id="back">Back</button><button id="next">Next</button>
<form><input type="hidden" name="output"><input type="submit" value="Submit"></form><script>
const written = []; const field = document.getElementById('caption');
document.getElementById('next').onclick = () => { written.push(field.value); field.value = ''; };
document.forms[0].onsubmit = () => { document.forms[0].output.value = written.join(); };</script>""",
        after(
            fill("Caption", "one"), click("Next"), fill("Caption", "two"), click("Next"), click("Back"), own_submit()
        ),
        {"output": "one,two"},
    ),
    "a slider with marks": Case(
        f"""{CROWD}<crowd-form><crowd-slider name="rating" min="1" max="3" required>
<crowd-slider-label position="1">bad</crowd-slider-label><crowd-slider-label position="3">good</crowd-slider-label>
</crowd-slider></crowd-form>""",
        after(shows("good"), lambda _page, frame: frame.get_by_role("slider").fill("3"), own_submit()),
        answers(rating=3),
    ),
    "labels of boxes that a script adds": Case(
        f"""{CROWD}<crowd-form><crowd-bounding-box id="boxes" name="_" labels="['Dog 1']" src="{PICTURE}">
</crowd-bounding-box><input type="hidden" name="labels">
<button type="button" id="add">Another</button></crowd-form><script>
const boxes = document.getElementById('boxes');
document.getElementById('add').onclick = () => {{ boxes.labels = boxes.labels.concat(['Dog 2']); }};
document.querySelector('crowd-form').onsubmit = () => {{ document.querySelector('[name=labels]').value =
  (boxes._submittableValue || boxes.value).boundingBoxes.map((box) => box.label).join(); }};</script>""",
        after(click("Add a box"), click("Another"), click("Dog 2"), click("Add a box"), own_submit()),
        answers(
            _={
                "boundingBoxes": [
                    {"height": 4, "label": f"Dog {number}", "left": 16, "top": 8, "width": 8} for number in (1, 2)
                ],
                "inputImageProperties": {"height": 20, "width": 40},
            },
            labels="Dog 1,Dog 2",
        ),
    ),
    "a picture that is not there": Case(
        f"""{CROWD}<crowd-form><crowd-keypoint name="points" labels="['Eye']" src="data:image/png;base64,AAAA">
</crowd-keypoint></crowd-form>""",
        after(shows("could not be loaded"), click("Add a point"), own_submit()),
        answers(points={"inputImageProperties": {"height": 1, "width": 1}, "keypoints": []}),
    ),
    "categories that a script sets, and its own questions beside them": Case(
        f"""{CROWD}<crowd-form><crowd-classifier name="quality" categories="['?']" header="How good is it?">
</crowd-classifier></crowd-form><script>
document.addEventListener('all-crowd-elements-ready', () => customElements.whenDefined('crowd-classifier').then(() => {{
  const own = document.querySelector('crowd-classifier'), more = document.createElement('crowd-card');
  own.categories = ['Good', 'Bad'];
  own.addEventListener('change', (event) => {{ if (event.target.value === 'Bad') {{
    more.innerHTML = '<label><input type="checkbox" name="why" value="short"> Too short</label>'; }} }});
  own.shadowRoot.querySelector('.annotation-area .category-picker-wrapper').insertAdjacentElement('afterend', more);
}}));</script>""",
        after(
            lambda _page, frame: frame.get_by_label("Bad").check(),
            lambda _page, frame: frame.get_by_label("Too short").check(),
            own_submit(),
        ),
        answers(quality={"label": "Bad"}, why={"short": True}),
    ),
    "labels with long names": Case(
        f"""{CROWD}<crowd-entity-annotation name="tags" text="Ada sang" labels="[
  {{'label': 'n', 'longDisplayName': 'Noun'}}, {{'label': 'v', 'longDisplayName': 'Verb'}}]">
</crowd-entity-annotation>""",
        after(
            lambda _page, frame: frame.locator(".crowd-text").press("ArrowRight"),
            lambda _page, frame: frame.get_by_role("button", name="Noun 1").click(),
            own_submit(),
        ),
        answers(tags={"entities": [{"endOffset": 3, "label": "n", "startOffset": 0}]}),
    ),
}


@pytest.mark.parametrize(
    "screen",
    [
        pytest.param({"viewport": {"width": 1280, "height": 800}}, id="desktop"),
        pytest.param(PHONE, id="phone"),
    ],
)
@pytest.mark.slow
def test_layouts_store_what_was_filled_in(chromium: Browser, tmp_path: Path, screen: dict[str, Any]) -> None:
    """Each layout is the value of a column, so that one worker gets them all, in any order."""
    (tmp_path / "layout.html").write_text("${page}")
    rows = [json.dumps({"page": f"<!-- {name} --><i data-case='{name}'></i>{case.html}"}) for name, case in named()]
    (tmp_path / "batch.jsonl").write_text("".join(f"{row}\n" for row in rows))
    create_study_from_files(tmp_path / "study", "mturk", tmp_path / "layout.html", tmp_path / "batch.jsonl")
    expected = {name: case.stored for name, case in named()}
    with open_market(tmp_path / "study") as market:
        scene = Scene(chromium, market.site)
        page = scene.worker(**screen).open("batch").page
        order = [_do_one(page, done) for done in range(len(CASES))]
        stored = dict(zip(order, map(_decoded, scene.answers()), strict=True))
        assert stored == expected
        assert scene.watch.complaints == []


def named() -> list[tuple[str, Case]]:
    return [(name.replace("'", ""), case) for name, case in CASES.items()]


def _do_one(page: Page, done: int) -> str:
    """Do the layout that is shown, and wait until it is stored."""
    frame = page.frame_locator(".hit-frame")
    marker = frame.locator("[data-case]")
    marker.wait_for(state="attached")
    name = marker.get_attribute("data-case")
    assert name is not None
    page.wait_for_timeout(550)  # what comes sooner is taken for the second half of a double click
    assert page.locator(".hit-frame").evaluate("(frame) => frame.clientWidth / innerWidth") > 0.9
    dict(named())[name].act(page, frame)
    expect(page.locator("#answered")).to_contain_text(str(done + 1))
    return name


def _decoded(answer: dict[str, str]) -> dict[str, Any]:
    return {name: json.loads(value) if name == "taskAnswers" else value for name, value in answer.items()}


def test_elements_have_no_barriers(chromium: Browser, tmp_path: Path) -> None:
    (tmp_path / "layout.html").write_text("${page}")
    wanted = ("labels on spans", "a box on a picture", "responses that are ranked")
    rows = [json.dumps({"page": CASES[name].html}) for name in wanted]
    (tmp_path / "batch.jsonl").write_text("".join(f"{row}\n" for row in rows))
    create_study_from_files(tmp_path / "study", "mturk", tmp_path / "layout.html", tmp_path / "batch.jsonl")
    with open_market(tmp_path / "study") as market:
        page = Scene(chromium, market.site).worker(**PHONE).open("batch").page
        page.frame_locator(".hit-frame").locator(".crowd-widget").wait_for()
        assert barriers(page) == ""
        assert page.evaluate(WIDER_THAN_SCREEN) <= 0
