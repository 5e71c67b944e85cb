"""Takes the pictures of the docs: `PYTHONPATH=tests .venv/bin/python docs/take_pictures.py`.

The console is that of a study a simulated crowd has finished; the worker's pages are those of the same study, while
its second stage is under way.
"""

import base64
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from random import Random

from playwright.sync_api import Browser, Page, expect

from asking import write_qasrl_study
from browsing import PHONE, Scene, Site, gold_of, open_chromium
from chorale.engine.gates import close_gate
from chorale.engine.running import Study
from chorale.folder.templates import create_study
from chorale.kits.mturk.api.questions import html_question
from chorale.store.arms import arms_by_worker
from crowd import Person, do, look, people, work_through
from gallery_hands import HANDS
from mcq_study import write_mcq_study
from protocol_study import write_protocol_study
from test_protocols import train
from turk import open_market, write_market
from writing_study import write_graded_study, write_writing_study

PICTURES = Path(__file__).with_name("pictures")
SCREEN = {"width": 1200, "height": 885}
RUBRIC = """\
**Is it clear?** Somebody who has read the text knows at once what is asked. 1 if you had to guess, 5 if nothing
could be put better.

**Is it hard?** The answer is not in the text word for word. 1 if it can be copied, 5 if the whole text has to be
understood.

Grade each of the two by itself: a clear question may be easy.
"""
ARMS = '[arms]\nnames = ["plain", "rich"]\n'
PASSWORD = "only for pictures"  # noqa: S105 - of a study that is gone a moment later

COMPOSED = """\
<style>
  body { margin: 0; background: #e4e7ec; }
  main { position: relative; width: 980px; padding: 24px 0; }
  img { display: block; border: 1px solid #c3c9d3; }
  .console { width: 810px; margin-left: 24px; border-radius: 10px; }
  .phone { width: 218px; border: 8px solid #1b1f27; border-radius: 30px; position: absolute; right: 24px; bottom: 14px }
</style>
<main><img class="console" src="CONSOLE"><img class="phone" src="PHONE"></main>
"""


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, open_chromium() as browser:
        finished, new = Path(scratch) / "finished", Path(scratch) / "new"
        command = [sys.executable, "-m", "chorale", "demo", str(finished), "--once", "--json"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command
        with Site(new, second_stage_open(new)) as site:
            photograph_work(Scene(browser, site), new)
        photograph_report(browser, finished)
        with Site(finished) as site:
            photograph_console(browser, Scene(browser, site))
        with Site(write_qasrl_study(Path(scratch) / "qasrl", apart=True)) as site:
            photograph_questions(browser, site)
        with Site(write_mcq_study(Path(scratch) / "mcq", answer_first=True)) as site:
            photograph_choices(browser, site)
        words = Path(scratch) / "words"
        create_study(words, "frames")
        with Site(words) as site:
            photograph_frames(Scene(browser, site), words)
        trial = Path(scratch) / "trial"
        write_protocol_study(
            trial, gate="threshold = 0.75\nreview = true", items=40, arms=ARMS, arms_of=('"plain"', '"rich"')
        )
        with Site(trial, people_in_arms) as site:
            photograph_gates(Scene(browser, site))
        feedback = Path(scratch) / "feedback"
        write_writing_study(feedback)
        with Site(feedback, graded_people_in_arms) as site:
            photograph_arms(Scene(browser, site))
        graded = Path(scratch) / "graded"
        fill = write_graded_study(graded)
        (graded / "guidelines.md").write_text(RUBRIC, "utf-8")
        with Site(graded, fill) as site:
            photograph_grading(Scene(browser, site))
        photograph_market(browser, Path(scratch) / "market")
        photograph_gallery(browser, Path(scratch))
        compose(browser)


def photograph_gallery(browser: Browser, scratch: Path) -> None:
    """The first page of every study of the gallery, filled in."""
    for name, fill_in in HANDS.items():
        folder = scratch / f"gallery-{name}"
        create_study(folder, f"gallery/{name}")
        with Site(folder) as site:
            worker = Scene(browser, site).worker(viewport={"width": 760, "height": 1400}).open("main")
            fill_in(worker.page)
            worker.page.locator("#panel-item").screenshot(path=PICTURES / f"gallery-{name}.png")
            worker.page.context.close()


def photograph_report(browser: Browser, folder: Path) -> None:
    file = folder / "report.html"
    command = [sys.executable, "-m", "chorale", "report", str(folder), "--out", str(file)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command
    page = browser.new_page(viewport={"width": 960, "height": 885})
    page.goto(file.as_uri())
    page.screenshot(path=PICTURES / "report.png")
    page.close()


def people_in_arms(study: Study) -> None:
    """Twenty-four people of a trial are trained; those who pass answer a few items of their arm."""
    for number in range(24):
        somebody = Person(study, f"person-{number}")
        train(somebody, 4 if number % 5 else 2)
        for stage in ("work-a", "work-b"):
            for _ in range(number % 3):
                offer = somebody.next(stage)
                if offer.lease is not None:
                    somebody.submit(offer)


def graded_people_in_arms(study: Study) -> None:
    """Twenty-four people come, most of them write and grade each other, and the better ones of each arm go on."""
    everyone = [one for number, one in enumerate(people(study, 24)) if number % 7]
    arms = look(study, arms_by_worker)
    chance = Random(4)
    for number, writer in enumerate(everyone):
        for turn in range(4):
            question = f"What happened on the morning of day {number * 4 + turn}?"
            writer.judge({"question": question, "kind": "when", "length": "one"}, f"{arms[writer.pseudonym]}-practice")
    for arm, marks in (("careful", (3, 4, 5)), ("quick", (2, 3, 4))):
        work_through(everyone, lambda *_: {"clear": chance.choice(marks), "hard": 3}, f"{arm}-grades")  # noqa: B023
        do(study, close_gate, study.gates[f"{arm}-trained"], "the pictures")
    trained = [one for one in everyone if one.next(f"{arms[one.pseudonym]}-final").lease is not None]
    for arm in ("careful", "quick"):
        of_arm = [one for one in trained if arms[one.pseudonym] == arm]
        work_through(of_arm, lambda *_: {"question": "Who came?", "kind": "who", "length": "two"}, f"{arm}-final")


MOODS = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<crowd-form answer-format="flatten-objects">
<crowd-classifier name="mood" categories="['Pleased', 'Neutral', 'Annoyed']" header="How does the writer feel?">
<classification-target><p>The kettle boils in two minutes, but its lid has never once closed by itself.</p>
</classification-target><short-instructions>Go by what is said, not by what you would feel.</short-instructions>
</crowd-classifier>
<crowd-input name="word" label="Which word tells you most?"></crowd-input>
</crowd-form>"""


def photograph_market(browser: Browser, folder: Path) -> None:
    """Tasks of a script, as workers and the owner see them, and the public page they come by."""
    write_market(folder)
    settings = folder / "study.toml"
    settings.write_text(settings.read_text().replace("[arrival]\n", "[arrival]\nlanding = true\n"))
    with open_market(folder) as market:
        told = {"Description": "Read a sentence from a review and say how its writer feels.", "Keywords": "reviews"}
        hit = market.hit(Title="Moods of reviews", Question=html_question(MOODS), MaxAssignments=3, **told)["HITId"]
        market.hit(Title="Name a colour", Description="Say which colour a thing has.", Reward="0.10")
        scene = Scene(browser, market.site)
        page = scene.page(**{**PHONE, "device_scale_factor": 1.5})
        page.goto("/")
        take(page, "worker-landing")
        page.get_by_role("button", name="Take part").click()
        page.locator("[name=agree]").check()
        page.locator("form[action='/consent'] button").click()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.goto("/hits")
        take(page, "worker-hits")
        page.goto(f"/hits/{hit}")
        page.get_by_role("button", name="Accept this task").click()
        page.frame_locator("#hit-frame").get_by_label("Annoyed").check()
        take(page, "worker-hit")
        somebody = market.worker("somebody")
        assignment = somebody.accept(hit)
        # As if it took them 20 seconds: the hourly wage of nobody's milliseconds is no picture of a study.
        with closing(sqlite3.connect(market.site.database)) as database, database:
            database.execute("UPDATE mturk_assignment SET accepted_at = accepted_at - 20000")
        somebody.submit(assignment, mood="Annoyed")
        market.client.approve_assignment(AssignmentId=assignment)
        owner = scene.page(viewport=SCREEN)
        sign_in(owner, scene.site)
        owner.goto("/console/recruiting/hits")
        take(owner, "console-hits")
        owner.goto("/console/payments")
        take(owner, "console-payments")
        links = [sys.executable, "-m", "chorale", "invite", str(folder), "--count", "3"]
        subprocess.run(links, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command
        owner.goto("/console/recruiting")
        take(owner, "console-recruiting")


def sign_in(page: Page, site: Site) -> None:
    page.goto(site.setup_link)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Repeat the password").fill(PASSWORD)
    page.get_by_role("button", name="Set up and sign in").click()


def photograph_frames(scene: Scene, folder: Path) -> None:
    page = scene.worker(**{**PHONE, "device_scale_factor": 1.5}).open("meanings").page
    rows = [json.loads(line) for line in (folder / "truth.jsonl").read_text("utf-8").splitlines()]
    shown = page.locator("[data-sentence]").inner_text()
    for frame in next(row["answer"] for row in rows if row["sentence"] == shown):
        chosen = page.locator(f"#task-root label:has(input[value={frame}])")
        chosen.tap()
        chosen.evaluate("element => element.scrollIntoView({ block: 'center' })")
    page.wait_for_timeout(300)
    page.screenshot(path=PICTURES / "frames-item.png")


def second_stage_open(folder: Path) -> Callable[[Study], None]:
    """Makes the study of the worker's pages, with all items of its second stage, and gold after one to three of them.

    At the usual share of gold, and with the few items of a stage that has just begun, somebody may see no gold at all.
    """
    create_study(folder, "rules")
    settings = folder / "study.toml"
    before, stage, after = settings.read_text("utf-8").partition('name = "entailment"')
    settings.write_text(before + stage + after.replace("share = 0.1", "share = 0.5", 1), "utf-8")
    known = {row["phrase"]: row["answer"] for row in gold_of(folder, "meaningful")}

    def finish_first_stage(study: Study) -> None:
        work_through(people(study, 6), lambda _, offer: known.get(offer.view["phrase"], "yes"), "meaningful")

    return finish_first_stage


def photograph_work(scene: Scene, folder: Path) -> None:
    worker = scene.worker(**{**PHONE, "device_scale_factor": 1.5})
    page = worker.page
    page.goto("/stages/entailment")
    expect(page.get_by_role("heading", name="Please read this first")).to_be_visible()
    page.locator("#start").click()
    gold = {row["lhs"]: row["answer"] for row in gold_of(folder, "entailment")}
    is_taken = False
    for number in count(1):
        worker.at_question(number)
        answer = gold.get(worker.text)
        if answer is None and not is_taken:
            worker.option("no").check()
            take(page, "worker-item")
            is_taken = True
        elif answer is not None and is_taken:
            worker.option("yes" if answer == "no" else "no").check()
            page.locator("#submit").click()
            break
        else:
            worker.option(answer or "no").check()
        page.locator("#submit").click()
    expect(page.get_by_role("button", name="Continue")).to_be_enabled()
    take(page, "worker-feedback")


def photograph_choices(browser: Browser, site: Site) -> None:
    """Multiple-choice questions: writing, comparing, grading and answering."""
    for options, name in (({"viewport": {"width": 900, "height": 1010}}, "mcq-write"), (PHONE, "mcq-write-phone")):
        page = Scene(browser, site).worker(**options).open("write").page
        page.locator("[name=question_1]").fill("Why has the driver begun to bring another cup?")
        texts = (
            "He expects somebody to stay",
            "tea",
            "The table has become larger",
            "Two regulars fall asleep on purpose",
        )
        for place, text in enumerate(texts, 1):
            page.locator(f"[name=option_1_{place}]").fill(text)
        page.get_by_label("Option a is right").first.check()
        expect(page.locator("#hints-1")).to_contain_text("single word")
        page.evaluate("scrollTo(0, 0)")
        if options is PHONE:
            page.locator("[name=option_1_2]").scroll_into_view_if_needed()
            page.mouse.wheel(0, 250)
            page.wait_for_timeout(300)
            page.screenshot(path=PICTURES / f"{name}.png")
        else:
            take(page, name)
    for stage in ("compare", "validate"):
        page = Scene(browser, site).worker(**PHONE).open(stage).page
        take(page, f"mcq-{stage}-phone")
    page = Scene(browser, site).worker(viewport={"width": 900, "height": 1010}).open("grade").page
    for number in (1, 2):
        page.locator(f"[name=answer_{number}]").first.check()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Marked as correct by the writer").first).to_be_visible()
    for criterion, level in (("answerable", "yes"), ("reading", "whole"), ("creative", "fairly")):
        page.locator(f"[name={criterion}_1][value={level}]").check()
    take(page, "mcq-grade")


def photograph_questions(browser: Browser, site: Site) -> None:
    """QA-SRL: writing, what practice shows, and consolidating."""
    page = Scene(browser, site).worker(viewport={"width": 900, "height": 640}).open("writing").page
    ask(page, "Who sold something?", 1)
    page.get_by_role("combobox").press_sequentially("what did ")
    take(page, "qasrl-write")
    worker = Scene(browser, site).worker(viewport={"width": 900, "height": 900}).open("practice")
    ask(worker.page, "What sold something?", 3)
    ask(worker.page, "What did someone sell?", 5)
    worker.page.locator("#submit").click()
    expect(worker.page.get_by_role("button", name="Continue")).to_be_enabled()
    take(worker.page, "qasrl-feedback")
    page = Scene(browser, site).worker(viewport={"width": 900, "height": 900}).open("consolidation").page
    page.locator(".qa-keep").first.click()
    take(page, "qasrl-consolidate")


def ask(page: Page, question: str, word: int) -> None:
    page.get_by_role("combobox").fill(question)
    page.locator(f"[data-token='{word}']").click()
    page.get_by_role("button", name="Done with this question").click()


def photograph_console(browser: Browser, scene: Scene) -> None:
    page = scene.page(viewport=SCREEN)
    sign_in(page, scene.site)
    expect(page.get_by_role("heading", name="Next steps")).to_be_visible()
    take(page, "console-overview")
    page.goto("/console/items?order=least+confident")
    take(page, "console-items")
    page.locator("td a.mono").first.click()
    page.locator("summary", has_text="Send to the review queue").click()
    page.get_by_label("Question to the experts").fill("People disagree about this one. Is it the wording?")
    page.get_by_role("button", name="Send to the review queue").click()
    met = "SELECT key FROM item JOIN gold ON item_id = item.id JOIN response USING (item_id) LIMIT 1"
    [[gold]] = scene.site.query(met)
    page.goto(f"/console/items/one?stage=meaningful&key={gold}")
    page.locator("summary", has_text="Correct the gold answer").click()
    take(page, "console-item")
    page.goto("/console/workers")
    take(page, "console-workers")
    for number in (1, 2, 4):
        page.locator("input[name=chosen]").nth(number).check()
    page.screenshot(path=PICTURES / "console-selected.png")
    page.goto("/console/workers")
    page.locator("td a.mono").first.click()
    take(page, "console-worker")
    page.goto("/console/team")
    for name in ("Grace", "Ada"):
        page.get_by_label("Name").fill(name)
        page.get_by_role("button", name="Make a link").click()
    take(page, "console-team")
    page.goto("/console/gold/meaningful")
    take(page, "console-gold")
    photograph_elsewhere(browser, page)


def photograph_elsewhere(browser: Browser, page: Page) -> None:
    """The same pages in the dark and on a phone, as two sheets."""
    page.goto("/console/workers")
    worker = page.locator("td a.mono").first.get_attribute("href") or ""
    page.goto("/console/items?order=least+confident")
    item = page.locator("td a.mono").first.get_attribute("href") or ""
    paths = ["/console", "/console/workers", worker, "/console/items", item, "/console/gold/meaningful"]
    paths += [f"/console/{name}" for name in ("queue", "ledger", "payments", "recruiting", "activity", "team")]
    for name, scheme, size, across in (
        ("console-dark", "dark", SCREEN, 3),
        ("console-phone", "light", PHONE["viewport"], 6),
    ):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        shots = []
        for path in paths:
            page.goto(path)
            shots.append(base64.b64encode(page.screenshot()).decode())
        width = 1200 // across
        images = "".join(f'<img width="{width - 10}" src="data:image/png;base64,{shot}">' for shot in shots)
        sheet = browser.new_page(viewport={"width": 1200, "height": 100})
        style = "<style>body { margin: 0; background: #888 } img { margin: 5px; vertical-align: top }</style>"
        sheet.set_content(f"{style}<main>{images}</main>")
        sheet.locator("main").screenshot(path=PICTURES / f"{name}.png")
        sheet.close()


def photograph_arms(scene: Scene) -> None:
    page = scene.page(viewport=SCREEN)
    sign_in(page, scene.site)
    page.goto("/console/arms")
    page.get_by_label("Reason").fill("Recruiting is over.")
    page.get_by_role("button", name="Show the arms").click()
    take(page, "console-arms")


def photograph_gates(scene: Scene) -> None:
    page = scene.page(viewport=SCREEN)
    sign_in(page, scene.site)
    page.goto("/console/gates")
    take(page, "console-gates")


def photograph_grading(scene: Scene) -> None:
    page = scene.page(viewport=SCREEN)
    page.goto(scene.site.expert_link("grace"))
    take(page, "console-queue")
    page.locator("[data-starts]").click()
    expect(page.locator("#panel-item")).to_be_visible()
    take(page, "console-grading")


def compose(browser: Browser) -> None:
    """The one picture of the README: the console, with a worker's phone before it."""

    def embedded(name: str) -> str:
        return f"data:image/png;base64,{base64.b64encode((PICTURES / f'{name}.png').read_bytes()).decode()}"

    page = browser.new_page(viewport={"width": 980, "height": 100})
    shown = {"CONSOLE": embedded("console-overview"), "PHONE": embedded("worker-item")}
    page.set_content(re.sub("|".join(shown), lambda found: shown[found[0]], COMPOSED))
    page.locator("main").screenshot(path=PICTURES / "overview.png")


def take(page: Page, name: str) -> None:
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=PICTURES / f"{name}.png")


if __name__ == "__main__":
    main()
