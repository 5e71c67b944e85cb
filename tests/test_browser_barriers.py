"""Axe on pages from right to left that no other test opens: sign-in, team, own progress, the front page."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from browsing import CHROMIUM, PATIENCE_MS, WIDER_THAN_SCREEN, Watch, barriers
from chorale.engine import team
from chorale.engine.opening import open_study
from chorale.web.links import study_sessions, team_link_path
from serving import HOST, Server
from test_browser_languages import ARABIC, FORM
from test_languages import write_study

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]
PASSWORD = "three quiet herons wade"


def check(page: Page) -> None:
    """Nobody is kept out of the page, in light or dark, and it fits the screen."""
    assert (found := barriers(page)) == "", found
    page.emulate_media(color_scheme="light")
    assert page.evaluate(WIDER_THAN_SCREEN) <= 0, page.url


class TwoStudies:
    """Two studies in Arabic on one server, with somebody invited to both."""

    def __init__(self, folder: Path) -> None:
        self.invitations: list[str] = []
        for name in ("one", "two"):
            write_study(folder / name, "ar", FORM, ARABIC)
            with closing(open_study(folder / name)) as study:
                made = study.store.do(partial(team.invite, now=study.clock(), name="Anna", by="maya"))
                self.invitations.append(f"/{name}{team_link_path(study_sessions(study), made.token)}")
        self.server = Server(folder)
        self.url = f"http://{HOST}:{self.server.port}"


@pytest.fixture
def both(tmp_path: Path) -> Iterator[TwoStudies]:
    made = TwoStudies(tmp_path)
    with made.server:
        yield made


@pytest.mark.parametrize("width", [360, 1280])
def test_signing_in_and_progress_from_right_to_left(chromium: Browser, both: TwoStudies, width: int) -> None:
    screen: ViewportSize = {"width": width, "height": 844}
    context = chromium.new_context(base_url=both.url, viewport=screen, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    watch = Watch(both.url)
    watch.over(context)
    watch.tolerate("401", "404")  # a wrong password, and a page that does not exist
    page = context.new_page()
    for invitation in both.invitations:
        page.goto(invitation)
        expect(page.locator("html")).to_have_attribute("dir", "rtl")
        check(page)
        for box in page.locator("form").first.locator("input[type=password]").all():
            box.fill(PASSWORD)
        page.locator("form").first.locator("button[type=submit]").click()
        expect(page.get_by_role("checkbox")).to_be_visible()
        check(page)
        page.get_by_role("checkbox").check()
        page.locator("main button[type=submit]").click()
        expect(page.locator("#home")).to_be_visible()
        check(page)
        page.goto(f"{page.url.rstrip('/')}/progress")
        check(page)
    context.clear_cookies()
    for path in ("/", "/one/", "/one/sign-in", "/nothing"):
        page.goto(path)
        expect(page.locator("html")).to_have_attribute("dir", "rtl")
        check(page)
    page.goto("/two/sign-in")
    page.locator("#name").fill("Anna")
    page.locator("#password").fill("wrong and long enough")
    page.locator("main button[type=submit]").click()
    expect(page.get_by_role("alert")).to_be_visible()
    check(page)
    page.locator("#password").fill(PASSWORD)
    page.locator("main button[type=submit]").click()
    expect(page.locator("#home")).to_be_visible()
    for path in ("/", "/password", "/one/", "/one/withdraw"):
        page.goto(path)
        check(page)
    assert watch.complaints == []
