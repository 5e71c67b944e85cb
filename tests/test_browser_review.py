"""Reviewing in Chromium: by keys, without names, at the widths of a phone and a desk."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browsing import CHROMIUM, PHONE, WIDER_THAN_SCREEN, Scene, Site, barriers
from comments_study import answer_comments, write_comments_study
from test_browser_console import set_up

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")]
COUNT = 8


def test_a_reviewer_decides_by_keys(chromium: Browser, tmp_path: Path) -> None:
    write_comments_study(tmp_path / "study", count=COUNT)
    with Site(tmp_path / "study", before=lambda study: answer_comments(study, count=COUNT)) as site:
        scene = Scene(chromium, site)
        page = scene.page()
        page.goto(site.expert_link("rae"))
        page.goto("/console/review/main")
        expect(page.get_by_role("heading", name="Answers side by side")).to_be_visible()
        key = page.locator("#item-title .mono").inner_text()
        assert not barriers(page)
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(WIDER_THAN_SCREEN) <= 0, width
            page.screenshot(path=tmp_path / f"review-{width}.png", full_page=True)
        fields = page.locator("[data-decide]")
        page.keyboard.press("j")
        page.keyboard.press("1")
        expect(fields.nth(0).locator("input[type=radio]").nth(0)).to_be_checked()
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("2")
        expect(fields.nth(2).locator("input[type=radio]").nth(1)).to_be_checked()
        page.keyboard.press("r")
        page.keyboard.type("It is an insult.")
        page.keyboard.press("Tab")
        page.keyboard.press("s")
        expect(page.get_by_role("status").filter(has_text="Decision saved as the final label")).to_be_visible()
        expect(page.locator("#item-title .mono")).not_to_have_text(key)
        [[decision]] = site.query(f"SELECT decision FROM item WHERE key = '{key}'")
        assert '"class"' in decision and '"severity"' in decision
        second = page.locator("#item-title .mono").inner_text()
        expect(fields.nth(0).locator("input[value=other]")).to_have_count(0)
        fields.nth(1).get_by_label("Another value for spans").press_sequentially("none")
        expect(fields.nth(1).locator("input[value=other]")).to_be_checked()
        page.locator("#review-reason").press_sequentially("So it sounds.")
        page.keyboard.press("Control+Enter")
        expect(page.locator("#item-title .mono")).not_to_have_text(second)
        [[typed]] = site.query(f"SELECT decision FROM item WHERE key = '{second}'")
        assert '"spans":[]' in typed.replace(" ", "")
        owner = scene.page(**PHONE)
        set_up(owner, site)
        pages = (f"/console/items/one?stage=main&key={key}", "/console/quality/main?field=spans", "/console/gold/main")
        for path in pages:
            owner.goto(path)
            assert not barriers(owner), path
            assert owner.evaluate(WIDER_THAN_SCREEN) <= 0, path
            owner.screenshot(path=tmp_path / f"{path.split('/')[2].split('?')[0]}.png", full_page=True)
