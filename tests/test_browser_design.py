"""The design page in Chromium: by keyboard, on a phone and on a wide screen, with the real form as its preview."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import PATIENCE_MS, PHONE, WIDER_THAN_SCREEN, Scene, Site, Watch, barriers, open_chromium, tab_to
from chorale.folder.templates import create_study
from test_browser_console import set_up

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_chromium() as chromium:
        yield chromium


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create_study(tmp_path / "study", "form")
    return tmp_path / "study"


@pytest.fixture
def link(folder: Path) -> Iterator[str]:
    """`chorale design` as people run it, and the link that it prints."""
    command = [sys.executable, "-m", "chorale", "design", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "300"}) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


def _page(browser: Browser, link: str, watch: Watch, **options: Any) -> Page:
    context = browser.new_context(reduced_motion="reduce", **options)
    context.set_default_timeout(PATIENCE_MS)
    watch.over(context)
    page = context.new_page()
    page.goto(link)
    expect(page.locator(".design-card")).to_have_count(6)
    return page


def test_a_field_is_added_by_keyboard_previewed_and_saved(browser: Browser, link: str, folder: Path) -> None:
    watch = Watch(link.partition("/?")[0])
    page = _page(browser, link, watch, viewport={"width": 1280, "height": 900})
    preview = page.frame_locator("#preview")
    expect(preview.get_by_text("How does the message sound?")).to_be_visible()
    before = (folder / "study.toml").read_text()

    page.get_by_role("button", name="Add field").focus()
    page.keyboard.press("Enter")
    card = page.locator("#card-fields-4")
    expect(card.get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Not a name")
    expect(card.get_by_text("Is not a valid name. Use lower-case letters")).to_be_visible()
    expect(card.get_by_label("Name", exact=True)).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#preview-note")).to_contain_text("the last valid version")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("tone")  # while the question is still empty
    expect(card.get_by_text("Another field already has this name. Choose another name.")).to_be_visible()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("urgency")
    card.get_by_label("Kind", exact=True).select_option("slider")
    expect(card.get_by_label("Levels (optional)")).to_have_count(0)
    card.get_by_label("Ask", exact=True).fill("How <b>urgent</b> is it?")
    expect(preview.get_by_text("How <b>urgent</b> is it?")).to_be_visible()
    expect(card.locator("[aria-invalid=true]")).to_have_count(0)

    card.get_by_role("button", name="Move up urgency").press("Enter")
    expect(page.locator("#card-fields-3 > summary")).to_contain_text("urgency")
    expect(page.get_by_role("button", name="Move up urgency")).to_be_focused()
    page.locator("#card-fields-2 > summary").click()
    page.get_by_role("button", name="Remove words").click()
    expect(preview.get_by_text("Which words make it sound that way?")).to_have_count(0)
    assert (folder / "study.toml").read_text() == before
    expect(page.locator("#elsewhere-list")).to_contain_text("gold.jsonl")
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(preview.get_by_text("How does the message sound?")).to_be_visible()
    page.locator("#card-fields-0 > summary").click()
    page.locator("#card-fields-0").get_by_label("Ask", exact=True).fill("And now?")
    expect(preview.get_by_text("And now?")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#status")).to_have_text("Saved to study.toml.")
    assert (folder / "study.toml").read_text() == before.replace("How does the message sound?", "And now?")
    assert watch.complaints == []


def test_the_page_has_no_barriers_and_fits_a_phone(browser: Browser, link: str, folder: Path) -> None:
    watch = Watch(link.partition("/?")[0])
    page = _page(browser, link, watch, **PHONE)
    for summary in page.locator(".design-card > summary").all():
        summary.click()
    expect(page.frame_locator("#preview").locator("#panel-item")).to_be_visible()
    assert page.evaluate(WIDER_THAN_SCREEN) == 0
    assert barriers(page) == ""
    tone = page.locator("#card-fields-0")
    tone.get_by_role("button", name="Add option").tap()
    expect(tone.get_by_label("Value", exact=True).last).to_be_focused()
    tone.get_by_label("Value", exact=True).last.fill("odd")
    expect(page.frame_locator("#preview").get_by_text("odd", exact=True)).to_be_visible()
    page.get_by_role("button", name="Save").tap()
    expect(page.locator("#status")).to_have_text("Saved to study.toml.")
    [tones] = [
        field["options"]
        for field in tomllib.loads((folder / "study.toml").read_text())["stage"][0]["options"]["fields"]
        if field["name"] == "tone"
    ]
    assert tones[-1] in ("odd", {"value": "odd"})
    assert watch.complaints == []


def test_an_owner_edits_the_form_in_the_console(browser: Browser, folder: Path) -> None:
    with Site(folder) as site:
        scene = Scene(browser, site)
        page = scene.page(viewport={"width": 1280, "height": 900})
        set_up(page, site)
        page.goto("/console/study")
        tab_to(page, page.get_by_role("link", name="Edit the form"))
        page.keyboard.press("Enter")
        expect(page.locator(".design-card")).to_have_count(6)
        preview = page.frame_locator("#preview")
        expect(preview.get_by_text("How does the message sound?")).to_be_visible()
        assert barriers(page) == ""
        page.locator("#card-fields-0 > summary").click()
        ask = page.locator("#card-fields-0").get_by_label("Ask", exact=True)
        ask.focus()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("And how does it")
        expect(preview.get_by_text("And how does it")).to_be_visible()
        expect(preview.get_by_role("button", name="Submit")).to_be_visible()
        page.keyboard.type(" sound to you?")  # the preview has taken no focus
        expect(ask).to_have_value("And how does it sound to you?")
        expect(preview.get_by_text("And how does it sound to you?")).to_be_visible()
        page.keyboard.press("ControlOrMeta+s")
        expect(page.locator("#status")).to_contain_text("Restart the site")
        assert "And how does it sound to you?" in (folder / "study.toml").read_text()
        page.get_by_role("link", name="Study settings").click()
        expect(page.get_by_role("heading", name="Study settings")).to_be_visible()
