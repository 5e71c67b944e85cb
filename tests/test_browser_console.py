"""Walks through the console as owner, expert and viewer: on the demo's finished study, and on others under way."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import CHROMIUM, PHONE, WIDER_THAN_SCREEN, Scene, Site, barriers, tab_to, under_way
from chorale.folder.templates import create_study
from writing_study import write_graded_study

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")]
PASSWORD = "a walk through it all"
ARMS = '\n[arms]\nnames = ["plain", "rich"]\n\n[pay]'


def open_acts(page: Page) -> None:
    for act in page.locator("details.act > summary").all():
        act.click()


OWNERS_PAGES = (
    *("/console", "/console/workers", "/console/items", "/console/ledger", "/console/recruiting"),
    *("/console/gold/meaningful", "/console/gold/entailment", "/console/queue", "/console/gates", "/console/export"),
    *("/console/activity", "/console/team", "/console/account", "/console/guidelines/meaningful"),
    *("/console/payments", "/console/report", "/console/study", "/console/review"),
)
VIEWERS_PAGES = ("/console", "/console/workers", "/console/items", "/console/ledger", "/console/activity")
EXPERTS_PAGES = ("/console/queue", "/console/gold/meaningful")


@pytest.mark.slow
def test_every_page_of_the_finished_demo_is_sound_for_everybody(chromium: Browser, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "chorale", "demo", str(tmp_path / "demo"), "--once", "--json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with Site(tmp_path / "demo") as site:
        scene = Scene(chromium, site)
        owner = scene.page()
        set_up(owner, site)
        owner.goto("/console/team")
        owner.get_by_label("Name").fill("Ed")
        owner.get_by_role("button", name="Make a link").click()
        viewer = scene.page()
        viewer.goto(owner.locator("#made-links").input_value())
        expert = scene.page()
        expert.goto(site.expert_link("grace"))
        [[who], [key]] = site.query("SELECT pseudonym FROM worker LIMIT 1") + site.query("SELECT key FROM item LIMIT 1")
        one_of_each = (f"/console/workers/{who}", f"/console/items/one?stage=meaningful&key={key}")
        for page, paths in (
            (owner, (*OWNERS_PAGES, *one_of_each)),
            (viewer, (*VIEWERS_PAGES, *one_of_each)),
            (expert, EXPERTS_PAGES),
        ):
            for path in paths:
                answer = page.goto(path)
                assert answer is not None and answer.ok, path
                assert not barriers(page), path
                for width in (390, 1200):
                    page.set_viewport_size({"width": width, "height": 844})
                    assert page.evaluate(WIDER_THAN_SCREEN) <= 0, (path, width)
        assert not scene.watch.complaints


@pytest.mark.slow
def test_an_expert_grades_by_keys_alone_and_is_back_at_the_desk(chromium: Browser, tmp_path: Path) -> None:
    fill = write_graded_study(tmp_path / "study", written=2)
    with Site(tmp_path / "study", fill) as site:
        scene = Scene(chromium, site)
        page = scene.page(viewport={"width": 1200, "height": 885})
        page.goto(site.expert_link("grace"))
        expect(page.locator("body.shortcuts")).to_be_visible()
        expect(page.get_by_text("2 items to do")).to_be_visible()
        assert not barriers(page)
        page.keyboard.press("w")
        for number in (1, 2):
            expect(page.locator("#panel-item")).to_have_attribute("aria-label", f"Question {number}")
            expect(page.locator("#panel-item")).to_be_visible()
            expect(page.get_by_role("heading", name="Grading guidelines")).to_be_visible()
            if number == 1:
                assert not barriers(page)
            tab_to(page, page.locator("#task-root input[type=radio]").first)
            page.keyboard.press("Space")
            page.keyboard.press("Tab")
            page.keyboard.press("Space")
            page.keyboard.press("Enter")
        expect(page.get_by_role("link", name="Back to the review queue")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Review queue", level=1)).to_be_visible()
        expect(page.get_by_text("2 items that you answered still need answers from others")).to_be_visible()
        assert site.responses() == 4
        phone = scene.page(**PHONE, storage_state=page.context.storage_state())
        for path in ("/console/queue", page.evaluate("document.referrer")):
            phone.goto(path)
            assert phone.evaluate(WIDER_THAN_SCREEN) <= 0, path
        assert not scene.watch.complaints


ROOM_FOR_A_LINE = """select => {
  const style = getComputedStyle(select);
  return select.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom)
    - 1.25 * parseFloat(style.fontSize);
}"""


def set_up(page: Page, site: Site) -> None:
    page.goto(site.setup_link)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Repeat the password").fill(PASSWORD)
    page.get_by_role("button", name="Set up and sign in").click()
    expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()


@pytest.mark.slow
def test_owner_expert_and_viewer_walk_through_the_console(chromium: Browser, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    create_study(folder, "rules")
    settings = folder / "study.toml"
    text = settings.read_text("utf-8").replace("\n[pay]", ARMS, 1)
    task = 'task = "rules-meaningful"\n'
    settings.write_text(text.replace(task, f'{task}arms = ["plain", "rich"]\n', 1), "utf-8")
    with Site(folder, under_way(folder)) as site:
        scene = Scene(chromium, site)
        owner = scene.page()
        viewer_link = owner_walks(owner, site)
        expert_walks(scene, site)
        viewer_walks(scene, viewer_link)
        owner.goto("/console/team")
        owner.get_by_text("Revoke the link of Ed", exact=True).click()
        owner.get_by_label("Reason to revoke the link of Ed").fill("has left")
        owner.get_by_role("button", name="Revoke Ed").click()
        expect(owner.get_by_role("status")).to_contain_text("All its sessions have ended")
        assert not scene.watch.complaints


def owner_walks(page: Page, site: Site) -> str:
    """Sets up, looks around, acts; the link made for a viewer."""
    set_up(page, site)
    expect(page.get_by_role("img", name="The stages as a flow")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^Agreement between answers")).first).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate(WIDER_THAN_SCREEN) <= 0
    # What happened is in view on a phone, and not beyond the edge of a table.
    expect(page.locator("#events .proof").first).to_be_visible()
    assert page.locator("#stages .table-wrap").evaluate("wrap => wrap.scrollWidth - wrap.clientWidth") <= 0
    assert page.locator(".sub-nav").evaluate("tabs => tabs.scrollWidth - tabs.clientWidth") <= 0
    assert page.locator("#events .table-wrap").evaluate("wrap => wrap.scrollWidth - wrap.clientWidth") <= 0
    for path in ("/console/items", "/console/workers"):
        page.goto(path)
        assert page.locator("#live .table-wrap").evaluate("wrap => wrap.scrollWidth - wrap.clientWidth") <= 0, path
    page.goto("/console/team")
    expect(page.locator(".sub-nav [aria-current=page]")).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 1200, "height": 885})
    page.goto("/console/items")
    assert page.locator("#filter-state").evaluate(ROOM_FOR_A_LINE) >= 0, "letters below the line are cut off"

    page.goto("/console/workers")
    open_acts(page)
    assert not barriers(page)
    page.get_by_label("Worker ID", exact=True).fill(page.locator("td a.mono").first.inner_text())
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Quality over time")).to_be_visible()
    open_acts(page)
    assert not barriers(page)
    page.get_by_label("Title").fill("Thank you")
    page.get_by_label("Message (Markdown)").fill("That was careful work.")
    page.locator("#message-why").fill("to thank them")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Message sent.")

    page.goto("/console/items?order=least+confident&state=complete")
    page.locator("td a.mono").first.click()
    page.locator("summary", has_text="Send to the review queue").click()
    page.get_by_label("Question to the experts").fill("People can't agree.")
    page.get_by_role("button", name="Send to the review queue").click()
    expect(page.get_by_role("status")).to_contain_text("is in the review queue")

    [[gold]] = site.query("SELECT key FROM item JOIN gold ON item_id = item.id JOIN response USING (item_id) LIMIT 1")
    page.goto(f"/console/items/one?stage=meaningful&key={gold}")
    open_acts(page)
    assert not barriers(page)
    page.locator("input[name=answer]:not(:checked)").check()
    page.get_by_label("Why the gold answer was wrong").fill("A slip of the pen.")
    page.get_by_role("button", name="Correct the gold answer").click()
    expect(page.get_by_role("status")).to_contain_text("recomputed")

    page.goto("/console/arms")
    expect(page.get_by_text("rich")).to_have_count(0)
    page.get_by_label("Reason").fill("Everybody has joined.")
    page.get_by_role("button", name="Show the arms").click()
    expect(page.get_by_role("heading", name="Attrition")).to_be_visible()
    assert not barriers(page)

    page.goto("/console/team")
    page.get_by_label("Name").fill("Ed")
    page.get_by_role("button", name="Make a link").click()
    return page.locator("#made-links").input_value()


def expert_walks(scene: Scene, site: Site) -> None:
    page = scene.page()
    page.goto(site.expert_link("grace"))
    expect(page.get_by_role("heading", name="Review queue", level=1)).to_be_visible()
    assert not barriers(page)
    ready = page.locator("body.shortcuts")
    expect(ready).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("[data-queue]").first).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.locator("details input[type=radio]").first).to_be_checked()
    page.keyboard.press("Tab")
    page.keyboard.type("It does mean something.")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Your answer is saved with the item.")
    expect(ready).to_be_visible()
    page.keyboard.press("g")
    expect(page.get_by_role("heading", name="Gold", level=1)).to_be_visible()


def viewer_walks(scene: Scene, link: str) -> None:
    page = scene.page()
    page.goto(link)
    expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    assert not barriers(page)
    for section, name in (("People", "Workers"), ("Items", "Items"), ("Money", "Payments"), ("Money", "Ledger")):
        page.get_by_role("navigation", name="Console").get_by_role("link", name=section).click()
        if name != "Items":
            page.get_by_role("navigation", name=section).get_by_role("link", name=name).click()
        expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
        assert page.locator("main form[method=post]").count() == 0


@pytest.mark.slow
def test_rows_are_selected_by_keys_and_by_shift_and_acts_are_confirmed(chromium: Browser, tmp_path: Path) -> None:
    create_study(tmp_path / "study", "rules")
    with Site(tmp_path / "study", under_way(tmp_path / "study")) as site:
        scene = Scene(chromium, site)
        page = scene.page(viewport={"width": 1200, "height": 700})
        set_up(page, site)
        page.goto("/console/workers")
        boxes = page.locator("input[name=chosen]")
        expect(boxes.first).to_be_visible()
        bar = page.locator("#workers-selected")
        expect(bar.get_by_role("button", name="Remove …")).to_be_disabled()
        assert boxes.count() >= 4
        boxes.nth(0).click()
        boxes.nth(2).click(modifiers=["Shift"])
        expect(bar.get_by_text("3 selected")).to_be_in_viewport()
        everybody = page.get_by_label("Select all workers on this page")
        assert everybody.evaluate("box => box.indeterminate")
        with page.expect_response(lambda answer: "part=live" in answer.url):
            pass
        expect(bar.get_by_text("3 selected")).to_be_visible()
        assert not barriers(page)
        everybody.focus()
        page.keyboard.press("Space")
        expect(bar.get_by_text(f"{boxes.count()} selected")).to_be_visible()
        page.keyboard.press("Space")
        boxes.nth(1).focus()
        page.keyboard.press("Space")
        chosen = boxes.nth(1).get_attribute("value") or ""
        assert chosen
        with page.expect_download() as download:
            bar.get_by_role("button", name="Download CSV").click()
        assert chosen in download.value.path().read_text("utf-8")
        tab_to(page, bar.get_by_role("button", name="Message …"))
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Send a message to 1 worker?")).to_be_visible()
        assert not barriers(page)
        for text in ("More items", "There are more items today.", "new items"):
            page.keyboard.type(text)
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Messages sent: 1.")).to_be_visible()
        assert site.query("SELECT pseudonym FROM message JOIN worker ON worker.id = worker_id") == [(chosen,)]
        assert not scene.watch.complaints


@pytest.mark.slow
def test_rows_are_selected_without_scripts(chromium: Browser, tmp_path: Path) -> None:
    create_study(tmp_path / "study", "rules")
    with Site(tmp_path / "study", under_way(tmp_path / "study")) as site:
        scene = Scene(chromium, site)
        signed_in = scene.page()
        set_up(signed_in, site)
        page = scene.page(java_script_enabled=False, storage_state=signed_in.context.storage_state())
        page.goto("/console/gold/meaningful")
        expect(page.locator("[data-choose-all]").first).to_be_hidden()
        for number in (0, 1):
            page.locator("input[name=chosen]").nth(number).check()
        page.get_by_role("button", name="Retire …").click()
        expect(page.get_by_role("heading", name="Retire 2 gold items?")).to_be_visible()
        page.get_by_label("Reason").fill("They are unclear.")
        page.get_by_role("button", name="Retire 2 gold items").click()
        expect(page.get_by_text("Gold items retired: 2.")).to_be_visible()
        assert len(site.query("SELECT 1 FROM event WHERE kind = 'retired gold'")) == 2


def test_a_choice_in_a_menu_filters_at_once(chromium: Browser, tmp_path: Path) -> None:
    create_study(tmp_path / "study", "rules")
    with Site(tmp_path / "study") as site:
        scene = Scene(chromium, site)
        page = scene.page(viewport={"width": 360, "height": 740})
        set_up(page, site)
        page.goto("/console/items?stage=meaningful")
        page.locator("#filters-fold > summary").click()
        page.locator("#filter-state").select_option("complete")
        expect(page).to_have_url(re.compile("state=complete"))
        expect(page.locator("#filters-fold")).to_have_attribute("open", "")
        expect(page.locator("#filter-state")).to_be_focused()
        # A keyboard's choice waits for the last arrow key.
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        expect(page).not_to_have_url(re.compile("state=complete"))
        page.goto("/console/workers?stage=meaningful")
        expect(page.locator("#filters-fold")).not_to_have_attribute("open", "")
        assert not scene.watch.complaints


def test_filters_fold_on_a_phone_by_keys_and_without_scripts(chromium: Browser, tmp_path: Path) -> None:
    create_study(tmp_path / "study", "rules")
    with Site(tmp_path / "study") as site:
        scene = Scene(chromium, site)
        wide = scene.page(viewport={"width": 1200, "height": 885})
        set_up(wide, site)
        signed_in = wide.context.storage_state()
        phone = scene.page(viewport={"width": 360, "height": 740}, storage_state=signed_in)
        without = scene.page(viewport={"width": 360, "height": 740}, storage_state=signed_in, java_script_enabled=False)
        for path, some in (
            ("/console/items?stage=meaningful", "&find=cat&state=open&order=least+confident"),
            ("/console/workers?stage=meaningful", "&find=w-1"),
            ("/console/ledger?", "kind=base&stage=meaningful"),
            ("/console/activity?", "kind=settings"),
        ):
            wide.goto(path)
            expect(wide.locator("form.filters")).to_be_visible()
            expect(wide.locator("#filters-fold")).to_be_hidden()
            phone.goto(path)
            fold, filters = phone.locator("#filters-fold > summary"), phone.locator("form.filters")
            expect(fold).to_have_text("Filters")
            expect(filters).to_be_hidden()
            assert not barriers(phone)
            tab_to(phone, fold)
            phone.keyboard.press("Enter")
            expect(filters).to_be_visible()
            assert not barriers(phone)
            assert phone.evaluate(WIDER_THAN_SCREEN) <= 0
            phone.keyboard.press("Tab")
            assert filters.evaluate("form => form.contains(document.activeElement)"), "the filters come next"
            without.goto(path + some)
            fold, filters = without.locator("#filters-fold > summary"), without.locator("form.filters")
            expect(fold).to_have_text(f"Filters ({len(some.strip('&').split('&'))} set)")
            expect(filters).to_be_hidden()
            fold.click()
            expect(filters.get_by_role("link", name="Clear")).to_be_visible()
        assert not scene.watch.complaints
