"""Axe on pages that no other test opens: sign-in, team and progress from right to left, all console pages of a form."""

import re
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from browsing import CHROMIUM, PATIENCE_MS, WIDER_THAN_SCREEN, Scene, Site, Watch, barriers
from chorale.engine import adjudicating, team
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.folder.templates import create_study
from chorale.web.links import study_sessions, team_link_path
from crowd import Person, do
from serving import HOST, Server
from test_browser_languages import ARABIC, FORM
from test_languages import write_study

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]
PASSWORD = "three quiet herons wade"
_MOST_PAGES = 60


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


def _worked(study: Study) -> None:
    """Some people answer, and an expert decides an item."""
    stage = next(stage for stage in study.stages.values() if stage.settings.round is None)
    guess = stage.task.simulating.guess
    assert guess is not None
    for number in range(6):
        person = Person(study, f"p{number}")
        while (offer := person.next(stage.name)).view is not None:
            person.submit(offer, guess(offer.view, None, Random(number)))
    case = study.store.read(lambda tx: adjudicating.next_case(tx, study, stage, "all")).result()
    assert case is not None
    field = next(each for each in case.fields if not each.is_text)
    do(study, adjudicating.decide, stage, case.item.key, {field.name: field.options[0].value}, "So it reads.", "rae")


def test_every_console_page_of_a_form_has_no_barriers(chromium: Browser, tmp_path: Path) -> None:
    create_study(tmp_path / "study", "gallery/sentiment")
    with Site(tmp_path / "study", before=_worked) as site:
        scene = Scene(chromium, site)
        page = scene.page()
        page.goto(site.setup_link)
        page.get_by_label("User name").fill("maya")
        for box in ("Password", "Repeat the password"):
            page.get_by_label(box, exact=True).fill(PASSWORD)
        page.locator("main button[type=submit]").click()
        waiting, seen = ["/console"], set[str]()
        while waiting and len(seen) < _MOST_PAGES:
            path = waiting.pop(0)
            kind = re.sub(r"[^/]*\d[^/]*|\?.*", "", path)
            if kind in seen:
                continue
            seen.add(kind)
            answer = page.goto(path)
            assert answer is not None and answer.ok, path
            check(page)
            files = page.eval_on_selector_all("a[download]", "all => all.map((link) => link.getAttribute('href'))")
            links = page.eval_on_selector_all("a[href]", "all => all.map((link) => link.getAttribute('href'))")
            waiting += [link for link in links if link.startswith("/console") and link not in files]
        assert len(seen) > 12, seen
        assert scene.watch.complaints == []
