"""The pages in a real browser, against real servers: working, losing the connection, killing the server."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page, Route, expect

from browsing import (
    CHROMIUM,
    PHONE,
    WIDER_THAN_SCREEN,
    Scene,
    Site,
    Watch,
    Worker,
    barriers,
    gold_of,
    nothing_goes_wrong,
    tab_to,
    under_way,
)
from chorale.contract import Task, installed_tasks
from chorale.engine.running import Study
from chorale.engine.work import Offer
from chorale.folder.templates import create_study
from crowd import Person, gold_answer, is_gold, people, work_through
from small_study import write_small_study

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]

PASSWORD = "a brass band at dawn"
HOSTILE = """</blockquote><script>alert(1)</script><img src=x onerror="alert(2)"> 'q' "d" {{ 7*7 }} &amp;"""

Opener = Callable[..., Scene]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site of a study without gold that has work for everybody."""
    folder = tmp_path_factory.mktemp("shared") / "study"
    write_small_study(folder, applications=60)
    with Site(folder) as running:
        yield running


@pytest.fixture
def open_scene(chromium: Browser, tmp_path: Path) -> Iterator[Opener]:
    """Opens the site of a small study, or of the one in `folder`, for a test that needs one of its own."""
    with ExitStack() as stack:

        def open_one(
            before: Callable[[Study], object] | None = None, folder: Path | None = None, **settings: object
        ) -> Scene:
            if folder is None:
                folder = tmp_path / "study"
                write_small_study(folder, **settings)  # type: ignore[arg-type]
            site = stack.enter_context(Site(folder, before))
            return stack.enter_context(nothing_goes_wrong(chromium, site))

        yield open_one


def stage_one_done(study: Study) -> None:
    """Everything means something, so that stage 2 has its items."""
    work_through(people(study, 6), lambda _person, offer: gold_answer(offer) if is_gold(offer) else "yes")


# Working


def test_the_whole_way_by_keyboard_alone(open_scene: Opener, tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    create_study(folder, "rules")
    gold = {row["phrase"]: row for row in gold_of(folder, "meaningful")}
    scene = open_scene(under_way(folder), folder)
    page = scene.page()
    worker = Worker(page)
    press = page.keyboard.press

    page.goto(scene.invitation)
    tab_to(page, page.get_by_role("checkbox"))
    press("Space")
    tab_to(page, page.get_by_role("button", name="Continue"))
    press("Enter")
    tab_to(page, page.get_by_role("link", name="Start: Does this phrase mean something?"))
    press("Enter")
    expect(page.get_by_role("heading", name="Please read this first")).to_be_visible()
    tab_to(page, page.get_by_role("button", name="Start"))
    press("Enter")

    number = 0
    while True:
        number += 1
        worker.at_question(number)
        expect(worker.panel).to_be_focused()
        if worker.text in gold:
            break
        assert number < 20, "one item in ten is gold, and no gap is longer than 19"
        press("1" if number % 2 else "y")
        expect(worker.option("yes")).to_be_checked()
        press("Enter")
        expect(worker.saved).to_have_text(f"Answer {number} saved")
    met = gold[worker.text]
    worker.answer({"yes": "2", "no": "y"}[met["answer"]])
    expect(worker.feedback).to_contain_text(met["explanation"])
    expect(worker.feedback).to_contain_text(met["phrase"])
    expect(page.locator("#feedback-title")).to_be_focused()
    expect(page.get_by_role("button", name="Continue")).to_be_enabled()
    press("Enter")
    worker.at_question(number + 1)
    expect(page.locator("#answered")).to_have_text(f"{number} {'answer' if number == 1 else 'answers'}")
    expect(page.locator("#earned")).to_have_text(f"${4 * number / 100:.2f} earned")

    press("g")
    expect(page.get_by_role("dialog", name="Guidelines")).to_be_visible()
    press("n")  # not an answer while the guidelines are open
    press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(worker.option("no")).not_to_be_checked()

    held = worker.text
    tab_to(page, page.get_by_role("link", name="Stop for now"))
    press("Enter")
    expect(page.locator(".tiles")).to_contain_text(f"${4 * number / 100:.2f}")
    tab_to(page, page.get_by_role("link", name="Continue: Does this phrase mean something?"))
    press("Enter")
    worker.at_question(number + 1)
    assert worker.text == held
    # Gold may follow gold.
    worker.answer({"yes": "y", "no": "n"}[gold.get(worker.text, {"answer": "no"})["answer"]])
    worker.at_question(number + 2)

    page.goto("/")
    tab_to(page, page.get_by_role("link", name="Start: Is the second phrase true, given the first?"))
    press("Enter")
    tab_to(page, page.get_by_role("button", name="Start"))
    press("Enter")
    worker.at_question(1)
    expect(page.get_by_role("group", name="Is the second phrase true, given the first?")).to_be_visible()
    expect(page.locator("blockquote").filter(visible=True)).to_have_count(2)
    worker.answer("n")
    # Production goes on with the next question, gold may have to be explained first.
    expect(worker.saved).to_have_text("Answer 1 saved")
    assert len(scene.answers()) == number + 2


def test_keys_that_are_switched_off_do_nothing(scene: Scene) -> None:
    worker = scene.worker().open()
    press = worker.page.keyboard.press
    press("?")
    worker.page.get_by_label("Use single-key shortcuts").press("Space")
    press("Escape")
    press("y")
    press("g")
    expect(worker.page.get_by_role("dialog")).to_be_hidden()
    expect(worker.option("yes")).not_to_be_checked()
    worker.page.reload()
    worker.at_question(1)
    press("y")
    expect(worker.option("yes")).not_to_be_checked()
    tab_to(worker.page, worker.option("yes"))
    press("Space")
    press("Enter")
    worker.at_question(2)


def test_an_answer_has_to_be_chosen(scene: Scene) -> None:
    worker = scene.worker().open()
    # A click in the first half second counts as the second half of a double click.
    worker.page.locator("#submit").click(delay=600)
    expect(worker.page.get_by_role("alert")).to_have_text("Choose an answer first.")
    expect(worker.option("yes")).to_be_focused()
    worker.answer("y")
    worker.at_question(2)
    assert scene.answers() == ["yes"]


def test_a_phone(open_scene: Opener) -> None:
    words = ("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft " * 2, "x" * 150)
    scene = open_scene(stage_one_done, applications=8, share=0.5, after=4, texts=words)
    page = scene.page(**PHONE)
    worker = Worker(page)

    def fits() -> None:
        for width in (320, 390):
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate(WIDER_THAN_SCREEN) <= 0, f"{page.url} is wider than {width}"

    page.goto(scene.invitation)
    fits()
    page.get_by_text("I have read this and agree").tap()
    page.get_by_role("button", name="Continue").tap()
    expect(page.get_by_role("heading", name="Your overview")).to_be_visible()
    fits()
    page.get_by_role("link", name="Start: Does it follow?").tap()
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    fits()
    page.get_by_role("button", name="Start").tap()
    # Half of the items are gold, and half of that is a yes: one of the first nine is explained at the latest.
    explained, number = False, 0
    while not (explained and number >= 5):
        number += 1
        worker.at_question(number)
        fits()
        expect(page.locator("#submit")).to_be_in_viewport(ratio=1)
        expect(page.locator(".key-hint").filter(visible=True)).to_have_count(0)
        page.get_by_text("No, or I cannot tell").tap()
        page.locator("#submit").tap()
        expect(worker.saved).to_have_text(f"Answer {number} saved")
        expect(page.locator("#panel-feedback, #panel-item").filter(visible=True)).to_be_visible()
        if worker.feedback.is_visible():
            explained = True
            fits()
            page.get_by_role("button", name="Continue").tap()
    page.get_by_role("link", name="Stop for now").tap()
    expect(page.get_by_text(f"{number} answers given")).to_be_visible()
    fits()


def test_item_text_is_text_whatever_it_contains(open_scene: Opener, tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    write_small_study(folder, share=0.5, after=4, texts=(HOSTILE, HOSTILE))
    for name in ("gold1.jsonl", "study.toml", "guidelines.md", "consent.md"):
        text = (folder / name).read_text()
        for harmless in ("The expert says so", "A small study", "Is it meaningful?", "Say whether", "You agree"):
            text = text.replace(harmless, json.dumps(HOSTILE)[1:-1] if name.endswith(("l", "toml")) else HOSTILE)
        (folder / name).write_text(text)
    scene = open_scene(folder=folder)
    page = scene.page()
    worker = Worker(page)

    def is_text() -> None:
        assert page.locator("img:not(.brand-mark), script:not([src])").count() == 0, page.url

    page.goto(scene.invitation)
    expect(page.locator(".prose")).to_contain_text("<script>alert(1)</script>")
    expect(page.locator(".brand")).to_have_text(HOSTILE)
    is_text()
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=3).first).to_have_text(HOSTILE)
    is_text()
    page.goto("/stages/meaningful")
    expect(page.locator("#intro-guidelines")).to_contain_text("<script>alert(1)</script>")
    is_text()
    page.get_by_role("button", name="Start").click()
    worker.at_question(1)
    number = 1
    while "gold" in worker.text:
        worker.answer("n" if int(worker.text.split()[-1]) % 2 else "y")
        number += 1
        worker.at_question(number)
    assert worker.text.startswith(HOSTILE)
    is_text()
    worker.work_until_wrong(number)
    expect(worker.feedback.locator(".explanation")).to_contain_text(HOSTILE)
    is_text()


# Forms that are more than fields to fill in are walked through in tests of their own.
WALKED_THROUGH = {
    "frames": "test_browser_frames.py",
    "mcq-compare": "test_browser_mcq.py",
    "mcq-grade": "test_browser_mcq.py",
    "mcq-validate": "test_browser_mcq.py",
    "mcq-write": "test_browser_mcq.py",
    "mturk": "test_browser_mturk.py",
    "qasrl-consolidate": "test_browser_qasrl.py",
    "qasrl-validate": "test_browser_qasrl.py",
    "qasrl-write": "test_browser_qasrl.py",
}
OF_FIELDS = [task for name, task in installed_tasks().items() if name not in WALKED_THROUGH]


@pytest.mark.parametrize(("task", "tests"), WALKED_THROUGH.items())
def test_a_form_that_is_more_than_fields_has_tests_of_its_own(task: str, tests: str) -> None:
    assert task in installed_tasks()
    assert task.rsplit("-", maxsplit=1)[-1] in (Path(__file__).parent / tests).read_text("utf-8")


@pytest.mark.parametrize("task", OF_FIELDS, ids=lambda task: task.name)
def test_the_form_of_every_task_renders_and_submits(open_scene: Opener, tmp_path: Path, task: Task) -> None:
    """Part of the contract in `test_tasks.py`: every example is shown, answered in the form, and stored as it is."""
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "items.jsonl").write_text(
        "".join(json.dumps({"id": f"e{number}", **example.row}) + "\n" for number, example in enumerate(task.examples))
    )
    (folder / "text.md").write_text("Read.\n")
    (folder / "study.toml").write_text(
        f"""\
study = {{ title = "A form", contact = "team@example.org", consent = "text.md" }}

[[stage]]
name = "only"
title = "The only stage"
task = "{task.name}"
guidelines = "text.md"
items = {{ file = "items.jsonl" }}
options = {as_toml(task.options.example)}
"""
    )
    expected = {
        json.dumps(task.form.view(item.payload), sort_keys=True): example.answer
        for number, example in enumerate(task.examples)
        for item in task.shape.expand(task.shape.parse_row(example.row), f"e{number}")
    }
    scene = open_scene(folder=folder)
    worker = scene.worker()
    page = worker.page
    with page.expect_response("**/next") as first:
        worker.open("only")
    view = first.value.json()["assignment"]["item"]
    given = []
    for number in range(1, len(task.examples) + 1):
        worker.at_question(number)
        for text in view.values():
            # Nested values are for the form's script, not for readers.
            if not isinstance(text, dict):
                expect(page.locator("#task-root")).to_contain_text(str(text))
        given.append(expected[json.dumps(view, sort_keys=True)])
        fill_in(page, given[-1])
        with page.expect_response("**/next") as following:
            page.locator("#submit").click()
        view = (following.value.json().get("assignment") or {}).get("item", {})
    expect(worker.rest).to_be_visible()
    assert scene.answers() == given


def as_toml(value: object) -> str:
    """A value as it stands in one line of TOML."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {as_toml(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return json.dumps(value)


def fill_in(page: Page, answer: Any) -> None:
    """Put an answer into the fields of a form, whatever they are."""
    fields = answer if isinstance(answer, dict) else {"answer": answer}
    for name, value in fields.items():
        tokens = page.locator(f"#task-root [data-field={name}] [data-token]")
        if tokens.count():
            for span in value:
                tokens.nth(span["start"]).click()
                for token in range(span["start"] + 1, span["end"]):
                    tokens.nth(token).click()
            continue
        if value == []:
            page.locator(f"#task-root [name={name}][data-none]").check()
        for one in value if isinstance(value, list) else [value]:
            choice = page.locator(f"#task-root input[name={name}][value={json.dumps(str(one))}]")
            if choice.count():
                choice.check()
            else:
                page.locator(f"#task-root [name={name}]").fill(str(one))


# What ends, and how people are told


def test_somebody_who_is_dropped_is_told_calmly_and_paid(open_scene: Opener) -> None:
    scene = open_scene(share=0.5, after=2, applications=8)
    worker = scene.worker(scene.site.panel_link()).open()
    page = worker.page
    answered = worker.work_until_wrong()
    page.get_by_role("button", name="Continue").click()
    worker.at_question(answered + 1)
    answered = worker.work_until_wrong(answered + 1)
    page.get_by_role("button", name="Continue").click()
    expect(worker.rest).to_have_text("This part has ended for you")
    expect(worker.rest).to_be_focused()
    expect(page.locator("#rest-message")).to_contain_text("You are paid for everything you submitted.")
    page.get_by_role("link", name="Back to the overview").click()
    expect(page.get_by_text("Ended for you", exact=True)).to_be_visible()
    expect(page.locator(".tiles")).to_contain_text(f"${3 * answered / 100:.2f}")
    expect(page.locator("#completion-code")).to_have_text("OUT1")
    page.goto("/stages/meaningful")
    expect(worker.rest).to_have_text("This part has ended for you")
    assert scene.site.query("SELECT sum(amount) FROM entry") == [(3 * answered,)]


def test_somebody_who_has_finished_gets_the_panel_s_code(open_scene: Opener) -> None:
    def other_side(study: Study) -> None:
        Person(study, "somebody").judge()

    scene = open_scene(other_side, applications=1, judgments="1")
    worker = scene.worker(scene.site.panel_link(), permissions=["clipboard-read", "clipboard-write"]).open()
    page = worker.page
    worker.answer("y")
    expect(worker.rest).to_have_text("All done. Thank you!")
    worker.open("entailment").answer("y")
    expect(worker.rest).to_have_text("All done. Thank you!")
    page.get_by_role("link", name="Back to the overview").click()
    expect(page.locator("#completion-code")).to_have_text("DONE1")
    link = page.get_by_role("link", name="Finish and return to the platform")
    expect(link).to_have_attribute("href", re.compile(r"^https://app\.prolific\.com/.*DONE1$"))
    page.get_by_role("button", name="Copy the code").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "DONE1"


@pytest.mark.slow
def test_waiting_ends_by_itself(open_scene: Opener) -> None:
    scene = open_scene(applications=2, judgments="1")
    worker = scene.worker()
    page = worker.page
    page.clock.install()
    page.goto("/stages/entailment")
    page.get_by_role("button", name="Start").click()
    expect(worker.rest).to_have_text("Nothing to do right now")
    for name in ("bea", "cem", "dot"):
        scene.another_takes_all("meaningful", name)
    page.clock.run_for(11_000)
    worker.at_question(1)


def test_signed_out_and_back(scene: Scene) -> None:
    scene.watch.tolerate("status of 401")
    worker = scene.worker().open()
    page = worker.page
    page.context.clear_cookies()
    worker.answer("n")
    expect(worker.notices).to_contain_text("You are signed out.")
    other = page.context.new_page()
    other.goto("/")
    expect(other.get_by_role("heading", name="Open the link you were given")).to_be_visible()
    assert scene.answers() == []
    other.goto(scene.invitation)
    expect(other.get_by_text("1 answer given")).to_be_visible()
    worker.at_question(2)
    expect(worker.notices).to_be_empty()
    assert scene.answers() == ["no"]


# The connection, the server and the second click


def test_offline_while_submitting(scene: Scene) -> None:
    scene.watch.tolerate("ERR_INTERNET_DISCONNECTED")
    worker = scene.worker().open()
    context = worker.page.context
    context.set_offline(True)
    worker.answer("n")
    expect(worker.notices).to_contain_text("Saved on this device.")
    expect(worker.saved).to_have_text("Saved on this device, not sent yet")
    assert scene.answers() == []
    asked: list[str] = []

    def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    worker.page.on("dialog", leave)
    with worker.page.expect_event("close"):
        worker.page.close(run_before_unload=True)
    assert asked == ["beforeunload"]

    context.set_offline(False)
    again = Worker(context.new_page()).open()
    again.at_question(2)
    assert scene.answers() == ["no"]
    assert again.page.evaluate("Object.keys(localStorage).filter(key => key.includes(':outbox:'))") == []


def test_online_again_on_the_same_page(scene: Scene) -> None:
    scene.watch.tolerate("ERR_INTERNET_DISCONNECTED")
    worker = scene.worker().open()
    worker.page.context.set_offline(True)
    worker.answer("n")
    expect(worker.notices).to_contain_text("Your answer will be sent when you are back online.")
    worker.page.context.set_offline(False)
    worker.at_question(2)
    expect(worker.notices).to_be_empty()
    assert scene.answers() == ["no"]


def test_the_overview_sends_what_is_still_on_the_device(scene: Scene) -> None:
    scene.watch.tolerate("ERR_INTERNET_DISCONNECTED", "ERR_FAILED")
    worker = scene.worker().open()
    page = worker.page
    page.route("**/submit", lambda route: route.abort())
    worker.answer("y")
    expect(worker.notices).to_contain_text("Saved on this device.")
    page.get_by_role("link", name="Stop for now").click()
    expect(page.get_by_role("heading", name="Your overview")).to_be_visible()
    expect(worker.notices).to_contain_text("Saved on this device.")
    page.unroute("**/submit")
    page.get_by_role("button", name="Try now").click()
    expect(page.get_by_text("1 answer given")).to_be_visible()
    assert scene.answers() == ["yes"]


def test_a_reply_that_is_lost(scene: Scene) -> None:
    """The server has the answer, the page can't know: it sends it again, and it stays one response."""
    scene.watch.tolerate("ERR_FAILED")
    worker = scene.worker().open()
    sent: list[str] = []

    def lose_the_first_reply(route: Route) -> None:
        reply = route.fetch()
        sent.append(reply.json()["status"])
        if len(sent) == 1:
            route.abort()
        else:
            route.fulfill(response=reply)

    worker.page.route("**/submit", lose_the_first_reply)
    worker.answer("y")
    worker.at_question(2)
    assert sent == ["accepted", "already_submitted"]
    assert scene.answers() == ["yes"]


def test_feedback_that_was_not_read_is_shown_again(open_scene: Opener) -> None:
    scene = open_scene(share=0.5, after=4)
    worker = scene.worker().open()
    worker.work_until_wrong()
    explanation = worker.feedback.locator(".explanation").inner_text()
    worker.page.reload()
    expect(worker.feedback).to_contain_text(explanation)
    worker.page.goto("/")
    expect(worker.page.locator(".feedback")).to_contain_text(explanation)
    worker.page.get_by_role("button", name="Continue").click()
    expect(worker.page.locator(".feedback")).to_have_count(0)
    worker.open()
    expect(worker.feedback).to_be_hidden()


def test_a_killed_server_gets_the_answer_when_it_is_back(open_scene: Opener) -> None:
    scene = open_scene()
    scene.watch.tolerate("ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "ERR_SOCKET")
    worker = scene.worker().open()
    scene.site.server.kill()
    worker.answer("n")
    expect(worker.notices).to_contain_text("Saved on this device.")
    scene.site.restart()
    # The page also tries by itself, and the button disappears if that is first.
    worker.page.get_by_role("button", name="Try now").evaluate_all("buttons => buttons.forEach((each) => each.click())")
    worker.at_question(2)
    worker.answer("y")
    worker.at_question(3)
    assert scene.answers() == ["no", "yes"]


@pytest.mark.slow
def test_a_restart_between_question_and_answer(open_scene: Opener) -> None:
    scene = open_scene()
    worker = scene.worker().open()
    held = worker.text
    worker.page.keyboard.press("n")
    expect(worker.option("no")).to_be_checked()
    scene.site.server.kill()
    scene.site.restart()
    worker.page.reload()
    worker.at_question(1)
    assert worker.text == held
    expect(worker.option("no")).to_be_checked()
    scene.site.server.kill()
    scene.site.restart()
    worker.page.keyboard.press("Enter")
    worker.at_question(2)
    assert scene.answers() == ["no"]


def test_double_clicks_and_double_enters_are_one_response(scene: Scene) -> None:
    worker = scene.worker().open()
    worker.page.keyboard.press("y")
    worker.page.locator("#submit").dblclick()
    worker.at_question(2)
    worker.answer("n")
    worker.page.keyboard.press("Enter")
    worker.at_question(3)
    expect(worker.page.locator("#form-error")).to_be_empty()
    assert scene.answers() == ["yes", "no"]


def test_two_tabs_are_one_response(scene: Scene) -> None:
    one = scene.worker().open()
    two = Worker(one.page.context.new_page()).open()
    assert one.text == two.text
    one.page.keyboard.press("n")
    expect(two.option("no")).to_be_checked()
    one.page.keyboard.press("Enter")
    one.at_question(2)
    two.at_question(2)
    expect(two.page.locator("#announce")).to_contain_text("You answered this question in another tab.")
    assert one.text == two.text
    assert scene.answers() == ["no"]


def test_two_devices_are_one_response(scene: Scene) -> None:
    one, two = scene.worker().open(), scene.worker().open()
    assert one.text == two.text
    one.answer("n")
    one.at_question(2)
    two.answer("y")
    two.at_question(2)
    assert one.text == two.text
    assert scene.answers() == ["no"]


def test_going_back_submits_nothing_again(scene: Scene) -> None:
    worker = scene.worker().open()
    page = worker.page
    worker.answer("n")
    worker.at_question(2)
    held = worker.text
    page.get_by_role("link", name="Stop for now").click()
    expect(page.get_by_text("1 answer given")).to_be_visible()
    page.go_back()
    worker.at_question(2)
    assert worker.text == held
    worker.answer("y")
    worker.at_question(3)
    assert scene.answers() == ["no", "yes"]


def test_a_browser_that_keeps_nothing_still_works(scene: Scene) -> None:
    scene.watch.tolerate("ERR_INTERNET_DISCONNECTED")
    worker = scene.worker()
    no_storage = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no'); } })"
    worker.page.context.add_init_script(no_storage)
    worker.open()
    expect(worker.notices).to_contain_text("This browser does not store data for this page.")
    worker.page.get_by_role("button", name="OK").click()
    worker.page.context.set_offline(True)
    worker.answer("n")
    expect(worker.notices).to_contain_text("Please keep this page open.")
    worker.page.context.set_offline(False)
    worker.at_question(2)
    expect(worker.notices).to_be_empty()
    assert scene.answers() == ["no"]


def test_an_answer_the_server_can_t_take_is_put_right_in_the_form(scene: Scene) -> None:
    scene.watch.tolerate("status of 422")
    worker = scene.worker().open()
    page, held = worker.page, worker.text
    broken = {"key": "a-broken-answer", "answer": "maybe"}
    page.route("**/submit", lambda route: route.continue_(post_data=json.dumps(broken)), times=1)
    worker.answer("y")
    expect(page.locator("#form-error")).to_contain_text("must be 'yes' or 'no'")
    assert worker.text == held
    expect(worker.option("yes")).to_be_checked()
    page.keyboard.press("Enter")
    worker.at_question(2)
    assert scene.answers() == ["yes"]


# The time for a question


def test_more_time(scene: Scene) -> None:
    worker = scene.worker()
    page = worker.page
    page.clock.install()
    worker.open()
    newest = "SELECT expires_at FROM assignment ORDER BY id DESC LIMIT 1"
    [(before,)] = scene.site.query(newest)
    page.clock.run_for(1000)
    page.clock.fast_forward("29:00")
    expect(page.locator("#lease-text")).to_contain_text("left for this question.")
    page.get_by_role("button", name="I need more time").click()
    expect(page.locator("#lease")).to_be_hidden()
    expect(page.locator("#announce")).to_have_text("You have more time for this question now.")
    page.clock.fast_forward("27:00")
    expect(page.locator("#lease")).to_be_hidden()
    [(after,)] = scene.site.query(newest)
    assert after > before
    worker.answer("y")
    worker.at_question(2)


def test_somebody_else_has_taken_the_question(open_scene: Opener) -> None:
    scene = open_scene(applications=2, judgments="1")
    scene.watch.tolerate("status of 409")
    worker = scene.worker()
    page = worker.page
    page.clock.install()
    worker.open()
    held = worker.text
    page.keyboard.press("y")
    page.clock.run_for(1000)
    page.clock.fast_forward("30:00")
    scene.site.end_leases()
    expect(page.locator("#lease-text")).to_contain_text("The time for this question is up")
    for name in ("bea", "cem", "dot"):
        scene.another_takes_all("meaningful", name)
    assert scene.site.responses() == 4
    page.keyboard.press("Enter")
    expect(worker.notices.get_by_role("alert")).to_contain_text("someone else has it now")
    expect(worker.rest).to_be_visible()
    page.reload()
    expect(worker.notices).to_contain_text("One answer was not accepted.")
    page.get_by_text("Show this answer").click()
    expect(worker.notices).to_contain_text(held)
    page.get_by_role("button", name="OK").click()
    expect(worker.notices).to_be_empty()
    assert scene.site.responses() == 4


def test_a_skipped_question_goes_to_somebody_else(scene: Scene) -> None:
    worker = scene.worker().open()
    held = worker.text
    worker.page.get_by_role("button", name="Skip").click()
    expect(worker.page.locator("#task-root [data-text]")).not_to_have_text(held)
    worker.answer("y")
    worker.at_question(2)
    newest = scene.site.query("SELECT state FROM assignment ORDER BY id DESC LIMIT 3")
    assert newest == [("live",), ("submitted",), ("returned",)]


# Everybody can use it


@pytest.mark.slow
def test_worker_pages_keep_nobody_out(open_scene: Opener) -> None:
    scene = open_scene(share=0.5, after=2, applications=8)
    scene.watch.tolerate("status of 404", "status of 403", "ERR_INTERNET_DISCONNECTED")
    page = scene.page()
    worker = Worker(page)
    for path in ("/", "/nothing-here", "/join/forged"):
        page.goto(path)
        assert not barriers(page)
    page.goto(scene.site.panel_link())
    assert not barriers(page)
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="Your overview")).to_be_visible()
    assert not barriers(page)
    page.goto("/stages/entailment")
    expect(page.locator("#start")).to_be_visible()
    assert not barriers(page)
    page.locator("#start").click()
    expect(worker.rest).to_have_text("Nothing to do right now")
    assert not barriers(page)
    worker.open("meaningful")
    assert not barriers(page)
    page.keyboard.press("g")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert not barriers(page)
    page.keyboard.press("Escape")
    page.context.set_offline(True)
    page.keyboard.press("y")
    page.keyboard.press("Enter")
    expect(worker.notices).to_contain_text("Saved on this device.")
    assert not barriers(page)
    page.context.set_offline(False)
    number = after_feedback(worker, 1)
    number = worker.work_until_wrong(number)
    assert not barriers(page)
    while not worker.rest.is_visible():
        page.get_by_role("button", name="Continue").click()
        expect(page.locator("#panel-item, #panel-rest").filter(visible=True)).to_be_visible()
        if worker.panel.is_visible():
            number += 1
            worker.at_question(number)
            number = worker.work_until_wrong(number)
    expect(worker.rest).to_have_text("This part has ended for you")
    assert not barriers(page)
    page.goto("/")
    expect(page.get_by_text("Ended for you", exact=True)).to_be_visible()
    assert not barriers(page)


def after_feedback(worker: Worker, number: int) -> int:
    """Past question `number`, whose answer has been given; the number of the next."""
    expect(worker.saved).to_have_text(f"Answer {number} saved")
    expect(worker.page.locator("#panel-feedback, #panel-item").filter(visible=True)).to_be_visible()
    if worker.feedback.is_visible():
        worker.page.get_by_role("button", name="Continue").click()
    worker.at_question(number + 1)
    return number + 1


def test_the_watch_sees_what_must_not_happen(site: Site, chromium: Browser) -> None:
    """All tests here rely on it."""
    watch = Watch(site.url)
    context = chromium.new_context()
    watch.over(context)
    page = context.new_page()
    page.goto(site.url)
    with page.expect_event("pageerror"):
        page.evaluate("""() => {
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            const image = document.createElement("img");
            image.src = "http://127.0.0.1:9/elsewhere.png";
            document.body.append(script, image);
            setTimeout(() => { throw new Error("a mistake in a script"); });
        }""")
    assert page.evaluate("window.ran") is None
    found = "\n".join(watch.complaints)
    for sign in ("policy violated: script-src", "policy violated: img-src", "elsewhere.png", "a mistake in a script"):
        assert sign in found, found


# The requester


def one_confusing_item(study: Study) -> None:
    """Half of stage 1 is done; of one item, people think differently."""
    seen: Counter[str] = Counter()

    def answer(_person: Person, offer: Offer) -> str:
        assert offer.view is not None
        phrase = offer.view["phrase"]
        seen[phrase] += 1
        return "no" if phrase.endswith(" 0") and seen[phrase] == 3 else "yes"

    work_through(people(study, 3), answer)


def set_up(scene: Scene, page: Page) -> None:
    page.goto(scene.site.setup_link)
    page.get_by_label("User name").fill("maya")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Repeat the password").fill(PASSWORD)
    page.get_by_role("button", name="Set up and sign in").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


@pytest.mark.slow
def test_a_requester_s_day(open_scene: Opener, tmp_path: Path) -> None:
    scene = open_scene(one_confusing_item)
    scene.watch.tolerate("status of 401")
    page = scene.page()
    set_up(scene, page)
    page.get_by_role("button", name="Sign out").click()
    for password, told in (("wrong horse", "The user name or password is wrong."), (PASSWORD, "Overview")):
        page.get_by_label("User name").fill("maya")
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert").or_(page.get_by_role("heading", level=1, name="Overview"))).to_have_text(told)

    # Live numbers: a worker submits, and this very page shows it.
    judgments = page.locator("#stage-meaningful td").nth(3)
    expect(judgments).to_have_text("12")
    page.evaluate("window.loadedOnce = true")
    worker = scene.worker().open()
    worker.answer("y")
    worker.at_question(2)
    expect(judgments).to_have_text("13")
    expect(page.locator("#stage-meaningful")).to_contain_text("$0.39")
    assert page.evaluate("window.loadedOnce")

    page.locator("#act-meaningful").click()
    page.locator("#why-meaningful").fill("A look at the first answers.")
    page.wait_for_timeout(4_000)  # the page is updated meanwhile, and keeps what is open and typed
    expect(page.locator("#why-meaningful")).to_have_value("A look at the first answers.")
    page.locator("#state-meaningful").click()
    expect(page.get_by_role("status").filter(visible=True)).to_contain_text("The stage is paused.")
    worker.answer("y")  # given out before, so it is taken
    expect(worker.rest).to_have_text("This part is paused")
    page.locator("#act-meaningful").click()
    page.locator("#why-meaningful").fill("They are fine.")
    page.locator("#state-meaningful").click()
    expect(page.get_by_role("status").filter(visible=True)).to_contain_text("The stage is open again.")
    worker.page.get_by_role("button", name="Check now").click()
    worker.at_question(3)

    page.get_by_role("link", name="Items", exact=True).click()
    page.get_by_role("link", name="Gold", exact=True).click()
    confusing = page.locator("section", has=page.get_by_role("heading", name="Confusing items"))
    confusing.locator("summary").click()
    confusing.get_by_label("no", exact=True).check()
    confusing.get_by_label("Explanation").fill("A crew does not do that to a hull.")
    confusing.get_by_role("button", name="Make it gold").click()
    expect(page.locator("p.alert[role=status]")).to_contain_text("The item is gold now.")
    expect(page.locator("section", has=page.get_by_role("heading", name="Gold in use"))).to_contain_text(
        "A crew does not do that to a hull."
    )

    page.get_by_role("link", name="Overview", exact=True).click()
    page.get_by_role("link", name="Export", exact=True).click()
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download jsonl", exact=True).click()
    downloading.value.save_as(tmp_path / "download")
    assert len((tmp_path / "download").read_text("utf-8").splitlines()) == scene.site.responses()


def test_an_expert_sees_their_desks_alone(open_scene: Opener) -> None:
    scene = open_scene(one_confusing_item)
    scene.watch.tolerate("status of 403")
    page = scene.page()
    page.goto(scene.site.expert_link("grace"))
    expect(page.get_by_role("heading", name="Review queue", level=1)).to_be_visible()
    tabs = page.get_by_role("navigation", name="Console").get_by_role("link")
    expect(tabs).to_have_text(["Review queue", "Adjudication", "Gold"])
    page.goto("/console/ledger")
    expect(page.get_by_text("The review queue is open to you.")).to_be_visible()


@pytest.mark.slow
def test_console_pages_keep_nobody_out(open_scene: Opener) -> None:
    scene = open_scene(one_confusing_item)
    page = scene.page()
    page.goto(scene.site.setup_link)
    assert not barriers(page)
    page.goto("/login")
    assert not barriers(page)
    set_up(scene, page)
    sections = page.get_by_role("navigation", name="Console").get_by_role("link").all()
    starts = [link.get_attribute("href") or "" for link in sections]
    assert len(starts) == 5
    paths = []
    for start in starts:
        page.goto(start)
        paths += [link.get_attribute("href") or "" for link in page.locator(".sub-nav a").all()]
    assert len(paths) > 14
    for path in (*paths, "/console/guidelines/meaningful"):
        page.goto(path)
        assert not barriers(page)
    for list_page, first in (("/console/workers", "td a.mono"), ("/console/items", "td a.mono")):
        page.goto(list_page)
        page.locator(first).first.click()
        page.wait_for_url(f"**{list_page}/*")
        assert not barriers(page)
    page.goto("/console/recruiting")
    page.get_by_role("button", name="Make invitation links").click()
    expect(page.locator("#made-links")).to_have_value(re.compile(r"/join/"))
    assert not barriers(page)
    page.goto("/console/gold/meaningful")
    for candidate in page.locator("summary").all()[:2]:
        candidate.click()
    assert not barriers(page)
