"""HITs and layouts in a browser: a whole life of a HIT, and an old layout done to the end."""

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from botocore.exceptions import ClientError
from playwright.sync_api import Browser, FrameLocator, expect

from browsing import CHROMIUM, PHONE, WIDER_THAN_SCREEN, Scene, barriers, tab_to
from chorale.folder.templates import create_study_from_files
from chorale.kits.mturk.api.answers import fields_in
from chorale.kits.mturk.api.questions import html_question
from test_browser_console import set_up
from turk import ANSWER_KEY, FORM, HTML_QUESTION, PROPERTIES, Market, open_market, write_market

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

# A page that tries what it must not be able to do, and says in its fields how it went.
MISCHIEF = HTML_QUESTION.replace(
    "<script>turkSetAssignmentID();</script>",
    """<input type="hidden" name="cookies" form="mturk_form">
<input type="hidden" name="parent" form="mturk_form"><input type="hidden" name="read" form="mturk_form">
<script>
turkSetAssignmentID();
const say = (name, text) => { document.querySelector(`[name=${name}]`).value = String(text); };
try { say("cookies", document.cookie || "none"); } catch (error) { say("cookies", error.name); }
try { say("parent", parent.document.title); } catch (error) { say("parent", error.name); }
fetch("/hits", { credentials: "include" }).then((answer) => answer.text()).then((text) => say("read", text.length))
  .catch((error) => say("read", error.name));
try { top.location = "https://evil.example/"; } catch {}
</script>""",
)


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    folder = tmp_path_factory.mktemp("browser") / "study"
    write_market(folder, rows=True)
    with open_market(folder) as opened:
        yield opened


@pytest.mark.slow
def test_a_hit_is_found_looked_at_accepted_and_submitted(chromium: Browser, market: Market) -> None:
    client, scene = market.client, Scene(chromium, market.site)
    scene.watch.tolerate(
        "ERR_", "Failed to load", "policy violated", "Unsafe attempt", "Blocked", "CORS", "navigat", "evil"
    )
    test = client.create_qualification_type(
        Name="Sums",
        Description="A short test about numbers.",
        QualificationTypeStatus="Active",
        Test=FORM,
        AnswerKey=ANSWER_KEY,
        TestDurationInSeconds=600,
    )["QualificationType"]["QualificationTypeId"]
    asked = [{"QualificationTypeId": test, "Comparator": "GreaterThan", "IntegerValues": [50]}]
    hit = market.hit(Question=MISCHIEF, QualificationRequirements=asked, MaxAssignments=1)["HITId"]
    page = scene.worker(**PHONE).page
    page.goto("/")
    page.get_by_role("link", name="See the tasks").click()
    expect(page.get_by_role("link", name="Qualification: Sums")).to_be_visible()
    assert barriers(page) == ""
    assert page.evaluate(WIDER_THAN_SCREEN) <= 0
    page.get_by_role("link", name="Qualification: Sums").click()
    page.get_by_role("button", name="Take the test").click()
    frame = page.frame_locator("#hit-frame")
    frame.get_by_label("Four").check()
    frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("with a score of 100")).to_be_visible()
    page.goto(f"/hits/{hit}")
    expect(frame.get_by_role("button", name="Send")).to_be_disabled()
    accept = page.get_by_role("button", name="Accept this task")
    tab_to(page, accept)
    page.keyboard.press("Enter")
    frame.get_by_label("Which colour is the sea?").fill("deep blue")
    frame.get_by_label("Very sure").check()
    expect(page.get_by_text("minutes left")).to_be_visible()
    assert barriers(page) == ""
    page.wait_for_timeout(300)
    page.reload()
    expect(frame.get_by_label("Which colour is the sea?")).to_have_value("deep blue")
    expect(frame.get_by_label("Very sure")).to_be_checked()
    frame.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Submitted. Thank you!")).to_be_visible()
    [done] = client.list_assignments_for_hit(HITId=hit)["Assignments"]
    fields = dict(
        re.findall(r"<QuestionIdentifier>(.*?)</QuestionIdentifier><FreeText>(.*?)</FreeText>", done["Answer"])
    )
    assert fields["colour"] == "deep blue"
    assert fields["sure"] == "very"
    # It saw none of the site's cookies, could not see the page around it, and could not read the site.
    assert fields["cookies"] == "none"
    assert fields["parent"] == "SecurityError"
    assert fields["read"] == "TypeError"
    client.approve_assignment(AssignmentId=done["AssignmentId"])
    page.goto("/")
    expect(page.get_by_text("$0.25").first).to_be_visible()
    assert page.url.startswith(market.site.url)


class _Elsewhere(BaseHTTPRequestHandler):
    """Another site: it gets the ids in its address and posts its form back."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(
            b"""<!doctype html><title>Elsewhere</title>
<form method="post"><input name="assignmentId" type="hidden">
<label>Answer <input name="said"></label><button>Go</button></form><script>
const asked = new URLSearchParams(location.search), form = document.forms[0];
form.action = asked.get("turkSubmitTo") + "/mturk/externalSubmit";
form.assignmentId.value = asked.get("assignmentId");</script>"""
        )

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.slow
def test_a_page_elsewhere_submits_by_the_assignment(chromium: Browser, market: Market) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Elsewhere)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://localhost:{server.server_port}/survey"
        question = (
            f"<ExternalQuestion><ExternalURL>{url}</ExternalURL><FrameHeight>300</FrameHeight></ExternalQuestion>"
        )
        hit = market.hit(Question=question, Title="Elsewhere")["HITId"]
        scene = Scene(chromium, market.site)
        scene.watch.tolerate("request to http://localhost")
        page = scene.worker(market.site.invitation("elsewhere")).page
        page.goto(f"/hits/{hit}")
        page.get_by_role("button", name="Accept this task").click()
        frame = page.frame_locator("#hit-frame")
        frame.get_by_label("Answer").fill("from elsewhere")
        frame.get_by_role("button", name="Go").click()
        expect(page.get_by_role("heading", name="Submitted. Thank you!")).to_be_visible()
        [done] = market.client.list_assignments_for_hit(HITId=hit)["Assignments"]
        assert "<FreeText>from elsewhere</FreeText>" in done["Answer"]
        assert scene.watch.complaints == []
    finally:
        server.shutdown()
        server.server_close()


def test_an_old_layout_is_done_with_gold_around_it(chromium: Browser, market: Market) -> None:
    scene = Scene(chromium, market.site)
    worker = scene.worker(market.site.invitation("layout")).open("batch")
    page = worker.page
    frame = page.frame_locator(".hit-frame")
    expect(frame.get_by_text("First:")).to_be_visible()
    page.wait_for_timeout(600)  # what comes sooner is taken for the second half of a double click
    page.locator("#submit").click()
    expect(page.locator("#form-error")).to_have_text("Please fill in all required fields.")
    frame.get_by_label("No", exact=True).check()
    frame.get_by_label("Anything you want to say about it?").fill("a <b>note</b>")
    page.wait_for_function("() => Object.values(localStorage).some((kept) => kept.includes('note'))")
    page.reload()
    expect(frame.get_by_label("No", exact=True)).to_be_checked()
    assert barriers(page) == ""
    page.locator("#submit").click()
    expect(page.locator("#answered")).to_contain_text("1")
    [answer] = market.site.query(
        "SELECT answer FROM response JOIN worker_identity USING (worker_id) WHERE external_id = 'layout'"
    )
    assert json.loads(answer[0]) == {"follows": "no", "comment": "a <b>note</b>"}
    assert scene.watch.complaints == []


CROWD = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<crowd-form answer-format="flatten-objects">
<crowd-classifier name="mood" categories="['Calm', 'Angry']" header="Which mood is it?">
<classification-target>${text}</classification-target>
<full-instructions header="What moods are">Read it aloud.</full-instructions>
<short-instructions>Choose one.</short-instructions>
</crowd-classifier>
<crowd-input name="word" label="A word that tells" required></crowd-input>
<crowd-radio-group><crowd-radio-button name="short" value="yes">Short</crowd-radio-button>
<crowd-radio-button name="long">Long</crowd-radio-button></crowd-radio-group>
<crowd-checkbox name="marks" value="Red">Red</crowd-checkbox>
<crowd-checkbox name="marks" value="Green">Green</crowd-checkbox>
<crowd-slider name="sure" min="0" max="10"></crowd-slider>
<crowd-text-area name="note" label="A note"></crowd-text-area>
</crowd-form>
<script>document.querySelector('crowd-form').onsubmit = function () { window.asked = true; };</script>"""


def fill_crowd(frame: FrameLocator) -> None:
    frame.get_by_label("Angry").check()
    frame.get_by_label("A word that tells").fill("never")
    frame.get_by_label("Short").check()
    frame.get_by_label("Long").check()
    frame.get_by_label("Red").check()
    frame.get_by_label("sure").fill("7")


CROWD_ANSWER = {
    "long": {"on": True},
    "marks": {"Green": False, "Red": True},
    "mood": {"label": "Angry"},
    "note": "",
    "short": {"yes": False},
    "sure": 7,
    "word": "never",
}


@pytest.mark.slow
def test_amazons_own_elements_are_plain_fields_and_answer_as_they_did(
    chromium: Browser, market: Market, tmp_path: Path
) -> None:
    scene = Scene(chromium, market.site)
    whole = CROWD.replace(' answer-format="flatten-objects"', "").replace("${text}", "Never again.")
    question = html_question(whole)
    hit = market.hit(Question=question, Title="Moods", MaxAssignments=1)["HITId"]
    page = scene.worker(market.site.invitation("crowd")).page
    page.goto(f"{market.site.url}/hits/{hit}")
    page.get_by_role("button", name="Accept this task").click()
    frame = page.frame_locator("#hit-frame")
    frame.get_by_role("button", name="Submit").click()  # the browser asks for what is missing
    fill_crowd(frame)
    page.wait_for_function("() => Object.values(localStorage).some((kept) => kept.includes('never'))")
    page.reload()
    expect(frame.get_by_label("Angry")).to_be_checked()
    expect(frame.locator("output")).to_have_text("7")
    frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("Submitted. Thank you!")).to_be_visible()
    [done] = market.client.list_assignments_for_hit(HITId=hit)["Assignments"]
    answers = fields_in(done["Answer"])
    assert json.loads(answers["taskAnswers"]) == [CROWD_ANSWER]
    assert set(answers) == {"taskAnswers"}
    drawing = html_question("<crowd-form><crowd-semantic-segmentation></crowd-semantic-segmentation></crowd-form>")
    with pytest.raises(ClientError, match="<crowd-semantic-segmentation> is not supported"):
        market.hit(Question=drawing)
    html, csv = tmp_path / "layout.html", tmp_path / "batch.csv"
    html.write_text(CROWD)
    csv.write_text("text\nNever again.\n")
    create_study_from_files(tmp_path / "study", "mturk", html, csv)
    with open_market(tmp_path / "study") as own:
        inside = Scene(chromium, own.site)
        page = inside.worker().open("batch").page
        frame = page.frame_locator(".hit-frame")
        fill_crowd(frame)
        assert barriers(page) == ""
        frame.get_by_role("button", name="Submit").click()
        expect(page.locator("#answered")).to_contain_text("1")
        [answer] = inside.answers()
        assert answer == {
            "long.on": "true",
            "short.yes": "false",
            "marks.Green": "false",
            "marks.Red": "true",
            "mood.label": "Angry",
            "sure": "7",
            "word": "never",
        }
        assert inside.watch.complaints == scene.watch.complaints == []


@pytest.mark.slow
def test_a_study_from_a_layout_with_scripts_of_its_own(chromium: Browser, tmp_path: Path) -> None:
    html, csv = tmp_path / "layout.html", tmp_path / "batch.csv"
    html.write_text(
        "<html><head><title>Birds</title></head><body><script>var shown = '${bird}';</script>"
        "<p id='p'></p><script>document.getElementById('p').textContent = 'A bird: ' + shown;</script>"
        "<form><label>Seen? <input name='seen' required></label><input type='submit' value='Done'></form></body></html>"
    )
    csv.write_text("bird,id\nwren,1\nowl,1\n")
    create_study_from_files(tmp_path / "study", "mturk", html, csv)
    with open_market(tmp_path / "study") as market:
        scene = Scene(chromium, market.site)
        page = scene.worker().open("batch").page
        frame = page.frame_locator(".hit-frame")
        expect(frame.get_by_text(re.compile("A bird: (wren|owl)"))).to_be_visible()
        frame.get_by_label("Seen?").fill("yes")
        frame.get_by_role("button", name="Done").click()
        expect(page.locator("#answered")).to_contain_text("1")
        assert scene.answers() == [{"seen": "yes"}]
        assert scene.watch.complaints == []
        assert PROPERTIES["Title"] not in page.content()


@pytest.mark.slow
def test_an_owner_reviews_by_keys_and_sees_a_hit_as_workers_do(chromium: Browser, market: Market) -> None:
    scene = Scene(chromium, market.site)
    locale = {"QualificationTypeId": "00000000000000000071", "Comparator": "In", "LocaleValues": [{"Country": "US"}]}
    hit = market.hit(Title="Reviewed by keys", MaxAssignments=3, QualificationRequirements=[locale])["HITId"]
    for name in ("keys-ada", "keys-ben", "keys-cleo"):
        market.worker(name).do(hit, colour=f"The blue of {name}", why="Because the sky is in it. " * 12)
    page = scene.page()
    set_up(page, market.site)
    for path in ("", "/answers", f"/{hit}", f"/{hit}/preview"):
        page.goto(f"/console/recruiting/hits{path}")
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate(WIDER_THAN_SCREEN) <= 0, (path, width)
            assert barriers(page) == "", (path, width)
    frame = page.frame_locator("#hit-frame")
    expect(frame.get_by_label("Which colour is the sea?")).to_be_visible()
    expect(frame.get_by_role("button", name="Send")).to_be_disabled()
    page.get_by_role("link", name="Back to the console").click()
    expect(page.locator("body.shortcuts")).to_be_visible()
    for key in "jjr":
        page.keyboard.press(key)
    page.keyboard.type("The sea is green")
    page.get_by_role("button", name="Reject …").click()
    expect(page.get_by_role("heading", name="Reject 1 answer?")).to_be_visible()
    assert barriers(page) == ""
    page.keyboard.press("Enter")
    expect(page.get_by_text("Rejected: 1.")).to_be_visible()
    expect(page.locator("body.shortcuts")).to_be_visible()
    page.get_by_label("Select all on this page").check()
    page.get_by_label("Bonus per answer").fill("0.10")
    page.get_by_label(re.compile("^Reason or feedback")).fill("Well put")
    page.get_by_role("heading", name="Answers").click()
    page.keyboard.press("b")
    expect(page.get_by_role("button", name="Yes, pay $0.30 for 3 answers")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Bonuses booked in the ledger: 3.")).to_be_visible()
    expect(page.locator("body.shortcuts")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("a")
    page.get_by_role("button", name="Yes, approve 1 answer").click()
    expect(page.get_by_text("Approved, and booked in the ledger: 1.")).to_be_visible()
    found = market.client.list_assignments_for_hit(HITId=hit)["Assignments"]
    assert [one["AssignmentStatus"] for one in found] == ["Approved", "Rejected", "Submitted"]
    assert len(market.client.list_bonus_payments(HITId=hit)["BonusPayments"]) == 3
    assert scene.watch.complaints == []


@pytest.mark.slow
def test_pages_of_hits_are_in_arabic_from_right_to_left(chromium: Browser, tmp_path: Path) -> None:
    write_market(tmp_path / "study")
    file = tmp_path / "study/study.toml"
    file.write_text(file.read_text().replace("[study]\n", '[study]\nlanguage = "ar"\n', 1))
    with open_market(tmp_path / "study") as market:
        hit = market.hit(Question=HTML_QUESTION, MaxAssignments=1)["HITId"]
        page = Scene(chromium, market.site).worker(**PHONE).page

        def fits() -> None:
            assert page.locator("html").get_attribute("dir") == "rtl"
            assert barriers(page) == ""
            assert page.evaluate(WIDER_THAN_SCREEN) <= 0

        page.goto("/hits")
        expect(page.get_by_role("heading", name="المهام المتاحة")).to_be_visible()
        expect(page.get_by_text("الحد الزمني: 10 دقائق")).to_be_visible()
        fits()
        page.goto(f"/hits/{hit}")
        page.get_by_role("button", name="قبول هذه المهمة").click()
        expect(page.get_by_text("بقيت 10 دقائق")).to_be_visible()
        fits()
        frame = page.frame_locator("#hit-frame")
        frame.get_by_label("Which colour is the sea?").fill("deep blue")
        frame.get_by_role("button", name="Send").click()
        expect(page.get_by_role("heading", name="تم الإرسال. شكرًا لك!")).to_be_visible()
        fits()
