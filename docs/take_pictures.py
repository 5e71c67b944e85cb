"""Takes the pictures of the docs: `PYTHONPATH=tests .venv/bin/python docs/take_pictures.py`.

The console is that of a study a simulated crowd has finished; the worker's pages are those of the same study, while
its second stage is under way.
"""

import base64
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from browsing import PHONE, Scene, Site, gold_of, open_chromium, under_way
from chorale.study.templating import create_study

PICTURES = Path(__file__).with_name("pictures")
SCREEN = {"width": 1200, "height": 885}
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
        create_study(new, "rules")
        with Site(new, under_way(new)) as site:
            photograph_work(Scene(browser, site), new)
        with Site(finished) as site:
            photograph_console(Scene(browser, site))
        compose(browser)


def photograph_work(scene: Scene, folder: Path) -> None:
    worker = scene.worker(**{**PHONE, "device_scale_factor": 1.5})
    page = worker.page
    page.goto("/stages/entailment")
    expect(page.get_by_role("heading", name="Please read this first")).to_be_visible()
    take(page, "worker-guidelines")
    page.locator("#start").click()
    gold = {row["lhs"]: row["answer"] for row in gold_of(folder, "entailment")}
    number = 1
    worker.at_question(number)
    while worker.text not in gold:
        worker.option("no").check()
        take(page, "worker-item")
        page.locator("#submit").click()
        number += 1
        worker.at_question(number)
    worker.option("yes" if gold[worker.text] == "no" else "no").check()
    page.locator("#submit").click()
    expect(page.get_by_role("button", name="Continue")).to_be_enabled()
    take(page, "worker-feedback")


def photograph_console(scene: Scene) -> None:
    page = scene.page(viewport=SCREEN)
    page.goto(scene.site.setup_link)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("The password again").fill(PASSWORD)
    page.get_by_role("button", name="Set up and sign in").click()
    expect(page.get_by_role("heading", name="Dropped workers")).to_be_visible()
    take(page, "console-overview")
    page.emulate_media(color_scheme="dark")
    take(page, "console-overview-dark")
    page.emulate_media(color_scheme="light")
    page.goto("/console/gold/meaningful")
    page.locator("summary").first.click()
    take(page, "gold-desk")


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
