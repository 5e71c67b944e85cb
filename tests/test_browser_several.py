"""Several studies on one server, in Chromium: one sign-in, work in two studies, two consoles, a restart between."""

import os
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import CHROMIUM, PATIENCE_MS, PHONE, WIDER_THAN_SCREEN, Watch, barriers
from chorale.engine import team
from chorale.engine.opening import open_study
from chorale.folder.templates import create_study
from chorale.web.links import setup_link_path, study_sessions, team_link_path
from serving import HOST, Server
from small_study import write_small_study

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]
PASSWORD = "three quiet herons wade"
PICTURES = os.environ.get("CHORALE_PICTURES")


class Studies:
    """A form, a study of rules and one that can't be opened, in one folder; paths of the links to begin with."""

    def __init__(self, folder: Path) -> None:
        create_study(folder / "sentiment", "gallery/sentiment")
        write_small_study(folder / "rules", applications=20)
        (folder / "broken").mkdir()
        (folder / "broken" / "study.toml").write_text("[study\n")
        self.invitations, self.set_up = {}, {}
        for name in ("sentiment", "rules"):
            with closing(open_study(folder / name)) as study:
                made = study.store.do(partial(team.invite, now=study.clock(), name="Anna", by="maya"))
                self.invitations[name] = f"/{name}{team_link_path(study_sessions(study), made.token)}"
                self.set_up[name] = f"/{name}{setup_link_path(study)}"
        self.server = Server(folder)
        self.url = f"http://{HOST}:{self.server.port}"


@pytest.fixture
def studies(tmp_path: Path) -> Iterator[Studies]:
    made = Studies(tmp_path)
    with made.server:
        yield made


def check(page: Page, name: str) -> None:
    """Nobody is kept out of the page, and it fits the screen."""
    assert barriers(page) == ""
    page.emulate_media(color_scheme="light")
    assert page.evaluate(WIDER_THAN_SCREEN) <= 0
    if PICTURES:
        width = (page.viewport_size or {"width": 0})["width"]
        page.screenshot(path=f"{PICTURES}/{name}-{width}.png", full_page=True)


def sign_in(page: Page, name: str = "Anna") -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def choose_passwords(page: Page, studies: Studies) -> None:
    """Choose a password in one study, and use it in the other."""
    page.goto(studies.invitations["sentiment"])
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Repeat the password").fill(PASSWORD)
    page.get_by_role("button", name="Save and sign in").click()
    expect(page).to_have_url(f"{studies.url}/sentiment/")
    page.goto(studies.invitations["rules"])
    check(page, "choose")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page).to_have_url(f"{studies.url}/rules/")


def work(page: Page, name: str) -> None:
    """Agree, and answer the first question."""
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("link", name="Start").or_(page.get_by_role("link", name="Begin")).first.click()
    page.locator("#start, #panel-item").filter(visible=True).first.wait_for()
    if page.locator("#start").is_visible():
        page.locator("#start").click()
    expect(page.locator("#panel-item")).to_be_visible()
    check(page, f"work-{name}")
    page.locator("#task-root input[type=radio]").first.check()
    for slider in page.locator("#task-root input[type=range]").all():
        slider.press("ArrowRight")
    page.locator("#panel-item").get_by_role("button", name="Submit").click()
    expect(page.locator("#answered")).to_contain_text("1")


@pytest.mark.parametrize(
    "screen",
    [PHONE, pytest.param({"viewport": {"width": 1280, "height": 900}}, marks=pytest.mark.slow)],
    ids=["390", "1280"],
)
def test_an_annotator_signs_in_once_and_works_in_both_studies(
    studies: Studies, chromium: Browser, screen: dict[str, object]
) -> None:
    watch = Watch(studies.url)
    context = chromium.new_context(base_url=studies.url, reduced_motion="reduce", **screen)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_MS)
    watch.over(context)
    page = context.new_page()
    choose_passwords(page, studies)
    context.clear_cookies()
    page.goto("/")
    check(page, "sign-in")
    sign_in(page)
    expect(page.get_by_role("heading", name="Your studies")).to_be_visible()
    check(page, "studies")
    for name in ("sentiment", "rules"):
        page.goto("/")
        page.locator(f"section[aria-labelledby=study-{name}]").get_by_role("button").click()
        expect(page).to_have_url(f"{studies.url}/{name}/")
        work(page, name)
        if name == "sentiment":
            watch.tolerate("net::ERR_")
            studies.server.kill()
            studies.server.start()
            studies.server.wait()
    page.goto("/rules/")
    page.get_by_role("link", name="All studies").click()
    expect(page).to_have_url(f"{studies.url}/")
    page.get_by_role("link", name="Change your password").click()
    check(page, "password")
    page.goto("/sentiment/")
    page.get_by_role("button", name="Sign out").click()
    page.goto("/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert "broken" in studies.server.log.read_text("utf-8")
    assert watch.complaints == []
    context.close()


def test_an_owner_signs_in_once_and_sees_both_consoles(studies: Studies, chromium: Browser) -> None:
    watch = Watch(studies.url)
    context = chromium.new_context(base_url=studies.url, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    watch.over(context)
    page = context.new_page()
    for name, path in studies.set_up.items():
        page.goto(path)
        page.get_by_label("User name").fill("olga")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_label("Repeat the password").fill(PASSWORD)
        page.get_by_role("button", name="Set up and sign in").click()
        expect(page).to_have_url(f"{studies.url}/{name}/console")
    context.clear_cookies()
    page.goto("/rules/console/items")
    sign_in(page, "olga")
    expect(page).to_have_url(f"{studies.url}/rules/console/items")
    page.goto("/")
    check(page, "consoles")
    page.locator("section[aria-labelledby=study-sentiment]").get_by_role("button", name="Open the console").click()
    expect(page).to_have_url(f"{studies.url}/sentiment/console")
    for link in page.get_by_label("Console").get_by_role("link").all():
        assert (link.get_attribute("href") or "").startswith("/sentiment/console")
    page.get_by_role("link", name="People", exact=True).click()
    page.get_by_role("link", name="Annotators", exact=True).click()
    check(page, "annotators")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto("/rules/console")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert watch.complaints == []
    context.close()
