"""Pages that are open when their session ends: they say what happened, and no answer is lost silently."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, expect

from browsing import CHROMIUM, PHONE, WIDER_THAN_SCREEN, Scene, Site, barriers
from chorale.cli import app
from small_study import write_small_study

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_small_study(tmp_path / "study", applications=60)
    return tmp_path / "study"


@pytest.fixture
def scene(folder: Path, chromium: Browser) -> Iterator[Scene]:
    with Site(folder) as site:
        yield Scene(chromium, site)
        for context in chromium.contexts:
            context.close()


def run(*arguments: object) -> None:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("device", [{}, pytest.param(PHONE, marks=pytest.mark.slow)], ids=["desktop", "phone"])
def test_pages_open_during_a_restore_say_what_happened(scene: Scene, folder: Path, device: dict[str, object]) -> None:
    """One worker had joined before the backup: their answer waits for them. The other had not: theirs is shown."""
    early, late = scene.worker(scene.site.panel_link("early"), **device).open(), None
    run("backup", folder, folder.parent / "backup", "--fast")
    late = scene.worker(scene.site.panel_link("late"), **device).open()
    scene.site.server.stop()
    for tab in (early, late):
        tab.answer("y")
        expect(tab.notices).to_contain_text("Saved on this device")
    run("restore", folder, folder.parent / "backup", "--replace")
    scene.site.restart()
    # Both send again by themselves.
    expect(late.notices).to_contain_text("One answer was not accepted.")
    expect(late.notices).to_contain_text("does not count")
    expect(late.rest).to_have_text("Your session has ended")
    expect(late.page.locator("#rest-message")).to_contain_text("This study was restored on")
    expect(late.page.locator("#rest-message")).to_contain_text("your participant ID, w-")
    late.notices.get_by_text("Show this answer").click()
    expect(late.notices).to_contain_text("the crew paint the hull")
    expect(early.notices).to_contain_text("You are signed out.")
    expect(early.notices).to_contain_text("This study was restored on")
    for tab in (early, late):
        assert not tab.page.evaluate(WIDER_THAN_SCREEN)
        assert barriers(tab.page) == ""
    home = late.page.context.new_page()
    home.goto("/")
    expect(home.get_by_role("heading", name="Your session has ended")).to_be_visible()
    assert not home.evaluate(WIDER_THAN_SCREEN) and barriers(home) == ""
    assert scene.site.responses() == 0
    again = early.page.context.new_page()
    again.goto(scene.site.panel_link("early"))
    expect(again.get_by_text("1 answer given")).to_be_visible()
    assert scene.site.responses() == 1


def test_signing_out_elsewhere_ends_the_open_page(scene: Scene) -> None:
    """With the same cookie, as somebody who copied it has."""
    worker = scene.worker(scene.site.panel_link("ada")).open()
    copy = scene.context()
    for cookie in worker.page.context.cookies():
        copy.add_cookies([{"name": cookie["name"], "value": cookie["value"], "url": scene.site.url}])
    thief = copy.new_page()
    thief.goto("/stages/meaningful")
    home = worker.page.context.new_page()
    home.goto("/")
    home.get_by_role("button", name="Sign out").click()
    expect(home.get_by_role("heading", name="Open the link you were given")).to_be_visible()
    thief.goto("/")
    expect(thief.get_by_role("heading", name="Your session has ended")).to_be_visible()
    worker.answer("y")
    expect(worker.notices).to_contain_text("You are signed out.")
    assert scene.site.responses() == 0
