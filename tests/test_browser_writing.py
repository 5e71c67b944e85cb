"""Suggestions and counted writing in a real browser: what is filled in, and which numbers leave the page."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from browsing import CHROMIUM, PHONE, Scene, Site
from chorale.engine.models.running import annotate, chosen_models
from chorale.engine.running import Study
from suggesting_study import write_suggesting_study

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]
TYPED = "It sounds harsh to me"
PASTED = "As a language model I consider this message rather impolite overall"


@pytest.fixture(scope="module")
def scene(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder: Path = tmp_path_factory.mktemp("writing") / "study"
    write_suggesting_study(folder, arms=False, writing=True, wrong=0)

    def suggest(study: Study) -> None:
        # The browser has an event loop of its own in this thread.
        thread = Thread(target=lambda: asyncio.run(annotate(study, folder, chosen_models(study, None))))
        thread.start()
        thread.join()

    with Site(folder, suggest) as site:
        yield Scene(chromium, site)


def sent_by(page: Page) -> list[dict[str, Any]]:
    """What the page submits from here on."""
    bodies: list[dict[str, Any]] = []

    def note(request: Request) -> None:
        if request.url.endswith("/submit"):
            bodies.append(json.loads(request.post_data or "{}"))

    page.on("request", note)
    return bodies


@pytest.mark.slow
def test_suggestions_are_filled_in_and_writing_is_counted(scene: Scene) -> None:
    worker = scene.worker(**PHONE)
    page = worker.open("main").page
    bodies = sent_by(page)
    expect(page.locator("#suggested")).to_be_visible()
    expect(page.get_by_label("rude")).to_be_checked()
    text = page.locator("textarea")
    expect(text).to_have_value("It sounds so.")
    # Typed: nothing is pasted, and the page was not left.
    text.fill("")
    text.press_sequentially(TYPED, delay=15)
    page.reload()
    expect(text).to_have_value(TYPED)
    page.locator("#submit").click()
    worker.at_question(2)
    # Pasted, after another window was looked at.
    page.evaluate("window.dispatchEvent(new Event('blur')); window.dispatchEvent(new Event('focus'))")
    text.fill("")
    text.evaluate(
        "(area, text) => { area.value = text; "
        "area.dispatchEvent(new InputEvent('input', {bubbles: true, inputType: 'insertFromPaste', data: text})) }",
        PASTED,
    )
    page.get_by_label("kind").check()
    page.locator("#submit").click()
    worker.at_question(3)
    typed, pasted = (body["writing"] for body in bodies)
    names = {"characters", "pasted", "typing_ms", "rhythm", "left", "away_ms"}
    assert set(typed) == set(pasted) == names, "nothing but numbers leaves the page"
    assert all(isinstance(value, int | float | None) for value in typed.values())
    assert (typed["characters"], typed["pasted"], typed["left"]) == (len(TYPED), 0, 0)
    assert typed["typing_ms"] > 100 and typed["rhythm"] is not None
    assert pasted["pasted"] == 1 and pasted["left"] == 1 and pasted["characters"] == len(PASTED)
    assert scene.site.query("SELECT COUNT(*) FROM writing") == [(2,)]
    kept = scene.site.query("SELECT COUNT(*) FROM suggestion")[0][0]
    assert kept >= 2
    _console_shows_the_evidence(scene)


def _console_shows_the_evidence(scene: Scene) -> None:
    [(name,)] = scene.site.query("SELECT pseudonym FROM worker WHERE pseudonym LIKE 'w-%' LIMIT 1")
    page = scene.page()
    page.goto(scene.site.staff_link("viewer", "Vi"))
    page.goto(f"{scene.site.url}/console/workers/{name}")
    section = page.locator("section", has=page.get_by_role("heading", name="How answers were written"))
    expect(section).to_contain_text("No decision depends on it")
    expect(section).to_contain_text("Share of answers before which the worker left the page")
    page.goto(f"{scene.site.url}/console/items")
    page.get_by_role("link", name="Where models and people differ most").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Where models and people differ most")
    assert not scene.watch.complaints
