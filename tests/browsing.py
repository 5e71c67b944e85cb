"""Chromium for tests: a study's site, browsers on it that note whatever is wrong, and a worker's hands."""

import json
import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from axe_playwright_python.base import AxeResults
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request, expect, sync_playwright

from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.web.links import invitation_path, setup_link_path, staff_link_path, study_sessions
from crowd import people
from serving import HOST, Server

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SCHEMES: dict[Literal["light", "dark"], list[str]] = {
    "light": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "dark": ["color-contrast"],
}
# Machines are slow at times; a test that waits for something goes on the moment it is there.
PATIENCE_MS = 120_000
# Chromium tells of violated policies in its console; this makes sure of it, and is itself noticed there.
REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI}`));
"""
WIDER_THAN_SCREEN = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

expect.set_options(timeout=PATIENCE_MS)


@contextmanager
def open_chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


class Watch:
    """Notes what must not happen on any page: errors, violated policies, requests to anybody else."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._noted: list[str] = []
        self._tolerated: tuple[str, ...] = ()

    def over(self, context: BrowserContext) -> None:
        context.add_init_script(REPORT_VIOLATIONS)
        context.on("console", self._note_message)
        context.on("weberror", lambda error: self._noted.append(f"uncaught: {error.error}"))
        context.on("request", self._note_request)

    def _note_message(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._noted.append(message.text)

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith((f"{self._origin}/", "data:")):
            self._noted.append(f"request to {request.url}")

    def tolerate(self, *fragments: str) -> None:
        """Tests that break the connection, or ask for what is not there, see Chromium say so."""
        self._tolerated += fragments

    @property
    def complaints(self) -> list[str]:
        return [text for text in self._noted if not any(fragment in text for fragment in self._tolerated)]


class Site:
    """A study's site as a process of its own, which can be killed; `before` runs on the study first."""

    def __init__(self, folder: Path, before: Callable[[Study], object] | None = None) -> None:
        self.database = folder / "study.db"
        study = open_study(folder)
        try:
            if before is not None:
                before(study)
            self._sessions = study_sessions(study)
            self.setup_link = setup_link_path(study) or ""
        finally:
            study.close()
        self.server = Server(folder)
        self.url = f"http://{HOST}:{self.server.port}"

    def invitation(self, name: str) -> str:
        return f"{self.url}{invitation_path(self._sessions, name)}"

    def expert_link(self, name: str) -> str:
        return f"{self.url}{staff_link_path(self._sessions, 'expert', name)}"

    def staff_link(self, role: str, name: str) -> str:
        return f"{self.url}{staff_link_path(self._sessions, role, name)}"

    def panel_link(self, name: str = "panel-ada") -> str:
        return f"{self.url}/join?PROLIFIC_PID={name}&STUDY_ID=s1&SESSION_ID=v1"

    def query(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            return connection.execute(sql, values).fetchall()

    def end_leases(self) -> None:
        """Let everybody's time be over."""
        with closing(sqlite3.connect(self.database)) as connection, connection:
            connection.execute("UPDATE assignment SET expires_at = 0")

    def responses(self) -> int:
        """How many there are."""
        return int(self.query("SELECT count(*) FROM response")[0][0])

    def restart(self) -> None:
        self.server.start()
        self.server.wait()

    def __enter__(self) -> "Site":
        self.server.__enter__()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.server.__exit__()


class Scene:
    """A site, somebody who is invited there, and the browsers of everybody."""

    def __init__(self, browser: Browser, site: Site) -> None:
        self._browser = browser
        self._somebody = secrets.token_hex(8)
        self.site = site
        self.watch = Watch(site.url)
        self.invitation = site.invitation(self._somebody)

    def answers(self) -> list[Any]:
        """What is stored of somebody's answers."""
        rows = self.site.query(
            "SELECT answer FROM response JOIN worker_identity USING (worker_id) WHERE external_id = ? ORDER BY id",
            self._somebody,
        )
        return [json.loads(answer) for (answer,) in rows]

    def context(self, **options: Any) -> BrowserContext:
        """A browser nobody has used yet."""
        context = self._browser.new_context(**{"base_url": self.site.url, "reduced_motion": "reduce", **options})
        context.set_default_timeout(PATIENCE_MS)
        self.watch.over(context)
        return context

    def page(self, **options: Any) -> Page:
        return self.context(**options).new_page()

    def worker(self, link: str | None = None, **options: Any) -> "Worker":
        """Somebody, or whoever the link is for, in a browser of their own, arrived and consented."""
        context = self.context(**options)
        expect(context.request.get(link or self.invitation)).to_be_ok()
        expect(context.request.post("/consent", form={"agree": "yes"})).to_be_ok()
        return Worker(context.new_page())

    def another_takes_all(self, stage: str, name: str) -> None:
        """Somebody else, elsewhere, answers whatever they are given."""
        asking = self.worker(self.site.invitation(name)).page.request
        while (assignment := asking.post(f"/api/stages/{stage}/next").json().get("assignment")) is not None:
            body = {"key": "somebody-else", "answer": "yes"}
            expect(asking.post(f"/api/assignments/{assignment['id']}/submit", data=body)).to_be_ok()


@contextmanager
def nothing_goes_wrong(chromium: Browser, site: Site) -> Iterator[Scene]:
    """Somebody new on a site, whose pages must not have anything to complain about."""
    scene = Scene(chromium, site)
    yield scene
    for context in chromium.contexts:
        context.close()
    assert scene.watch.complaints == []


class Worker:
    """Somebody at the work page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.panel = page.locator("#panel-item")
        self.feedback = page.locator("#panel-feedback")
        self.saved = page.locator("#saved")
        self.notices = page.locator("#notices")
        self.rest = page.locator("#rest-title")

    def open(self, stage: str = "meaningful", until: Literal["load", "domcontentloaded"] = "load") -> "Worker":
        """Go to the work page, for the first time or again, as far as the first question."""
        self.page.goto(f"/stages/{stage}", wait_until=until)
        expect(self.page.locator("#start, #panel-item").filter(visible=True)).to_be_visible()
        if self.page.locator("#start").is_visible():
            self.page.locator("#start").click()
        expect(self.panel).to_be_visible()
        return self

    def at_question(self, number: int) -> None:
        expect(self.panel).to_have_attribute("aria-label", f"Question {number}")
        expect(self.panel).to_be_visible()

    @property
    def text(self) -> str:
        """What the question is about."""
        return self.page.locator("#task-root [data-text]").first.inner_text()

    def option(self, value: str) -> Locator:
        return self.page.locator(f"#task-root input[value={value}]")

    def answer(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.page.keyboard.press("Enter")

    def work_until_wrong(self, number: int = 1) -> int:
        """From question `number` on, answer "yes", but the next gold wrongly; the number of that question."""
        while "gold" not in self.text:
            self.answer("y")
            number += 1
            self.at_question(number)
        self.answer("y" if int(self.text.split()[-1]) % 2 else "n")
        expect(self.feedback).to_be_visible()
        return number


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until the target has the focus, as somebody without a mouse does."""
    expect(target).to_be_visible()
    for _ in range(60):
        page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"Tab never gets to {target}")


def swipe(page: Page, start: Locator, end: Locator) -> None:
    """A finger that goes from one element to another."""
    touch = page.context.new_cdp_session(page)
    places = []
    for element in (start, end):
        box = element.bounding_box()
        assert box is not None
        places.append((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
    (x, y), (to_x, to_y) = places
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 9):
        point = {"x": x + (to_x - x) * step / 8, "y": y + (to_y - y) * step / 8}
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
    page.wait_for_timeout(100)  # a finger that lifts while it moves sets the page going, and the next tap only stops it
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def barriers(page: Page) -> str:
    """What keeps people out of this page, as axe finds it; empty if nothing does. In the dark, only colours differ."""
    page.evaluate(Axe().axe_script)
    found = ""
    for scheme, wanted in SCHEMES.items():
        page.emulate_media(color_scheme=scheme)
        options = {"runOnly": wanted, "resultTypes": ["violations"]}
        result = AxeResults(page.evaluate("options => axe.run(options)", options))
        if result.violations_count:
            found += f"{page.url}, {scheme}\n{result.generate_report()}"
    return found


def gold_of(folder: Path, stage: str) -> list[dict[str, Any]]:
    """The gold of a stage of the rules template."""
    return [json.loads(line) for line in (folder / "gold" / f"{stage}.jsonl").read_text("utf-8").splitlines()]


def under_way(folder: Path) -> Callable[[Study], None]:
    """Lets people do as much of the rules template's first stage as the second needs to begin."""
    known = {row["phrase"]: row["answer"] for row in gold_of(folder, "meaningful")}

    def work(study: Study) -> None:
        for person in people(study, 6) * 50:
            offer = person.next()
            assert offer.view is not None
            person.submit(offer, known.get(offer.view["phrase"], "yes"))

    return work
