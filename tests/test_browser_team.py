"""An annotator with a password, on a phone: choose it, work, look at one's progress, sign out, sign in again."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browsing import CHROMIUM, PHONE, WIDER_THAN_SCREEN, Scene, Site, Worker, barriers
from small_study import write_small_study
from test_cli import chorale, chorale_json
from test_team import OTHER, PASSWORD

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


def test_an_annotator_signs_in_works_and_sees_their_progress(scene: Scene, folder: Path) -> None:
    link = str(chorale_json("team", folder, "--invite", "Zoë O'Neil")["link"])
    page = scene.page(**PHONE)

    def fits() -> None:
        assert not page.evaluate(WIDER_THAN_SCREEN)
        assert barriers(page) == ""

    page.goto(link)
    expect(page.get_by_text("Zoë O'Neil")).to_be_visible()
    fits()
    for box in ("Password", "Repeat the password"):
        page.get_by_label(box, exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Save and sign in").click()
    page.get_by_role("checkbox").check()
    page.locator("main button[type=submit]").click()
    expect(page.get_by_role("heading", name="Your overview")).to_be_visible()
    worker = Worker(page).open()
    for number in (1, 2, 3):
        worker.at_question(number)
        worker.answer("y")
    worker.at_question(4)
    page.goto("/")
    page.get_by_role("link", name="Your progress").click()
    expect(page.get_by_role("heading", name="Your progress")).to_be_visible()
    expect(page.get_by_text("3 answers")).to_be_visible()
    fits()
    page.goto("/")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("link", name="Sign in with your password").click()
    page.get_by_label("Name").fill("zoë o'neil")
    scene.watch.tolerate("401")
    page.get_by_label("Password").fill(OTHER)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_have_text("The name or the password is wrong.")
    fits()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("3 answers given")).to_be_visible()
    chorale("team", folder, "--deactivate", "Zoë O'Neil", "--reason", "has left")
    scene.watch.tolerate("403")
    page.goto("/")
    expect(page.get_by_role("heading", name="Your session has ended")).to_be_visible()
    expect(page.get_by_text("Your access to this study ended")).to_be_visible()
    assert scene.watch.complaints == []


def test_the_owner_manages_annotators(scene: Scene) -> None:
    page = scene.page()
    page.goto(scene.site.setup_link)
    page.get_by_label("User name").fill("maya")
    for box in ("Password", "Repeat the password"):
        page.get_by_label(box, exact=True).fill(PASSWORD)
    page.locator("main button[type=submit]").click()
    page.goto("/console/annotators")
    for name in ("Anna", "A very long name of a person who has many given names indeed"):
        page.get_by_label("Name", exact=True).fill(name)
        page.get_by_role("button", name="Invite").click()
        expect(page.get_by_role("heading", name=f"Link for {name}")).to_be_visible()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert not page.evaluate(WIDER_THAN_SCREEN)
        assert barriers(page) == ""
    page.get_by_text("Deactivate Anna").first.click()
    page.get_by_label("Reason for deactivating Anna").fill("has left")
    page.get_by_role("button", name="Deactivate Anna").click()
    expect(page.get_by_text("The account is deactivated")).to_be_visible()
    assert scene.watch.complaints == []
