"""Reviewing on a work page in Chromium: answers side by side, by keys and by thumb, in both directions of writing."""

import json
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browsing import CHROMIUM, WIDER_THAN_SCREEN, Scene, Site, barriers, tab_to
from chorale.engine.managing import Act, qualify
from chorale.engine.running import Study
from comments_study import answer_comments
from crowd import Person, do
from test_worker_review import write_review_study

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")]
COUNT = 8


def promoted(study: Study) -> None:
    answer_comments(study, count=COUNT)
    rae = Person(study, "panel-rae")
    do(study, qualify, rae.pseudonym, "invited-review", Act("owner", "careful work", "promoted"))


def test_a_promoted_worker_reviews_by_keys_and_by_thumb(chromium: Browser, tmp_path: Path) -> None:
    write_review_study(tmp_path / "study", count=COUNT)
    with Site(tmp_path / "study", before=promoted) as site:
        scene = Scene(chromium, site)
        rae = scene.worker(site.panel_link("panel-rae"))
        page = rae.page
        rae.open("review")
        given = page.get_by_role("region", name="Answers side by side")
        expect(given.get_by_role("radio")).to_have_count(15)
        expect(given.get_by_text("finds that").first).to_be_visible()
        assert not barriers(page)
        for width in (360, 390, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(WIDER_THAN_SCREEN) <= 0, width
            page.screenshot(path=tmp_path / f"review-{width}.png", full_page=True)
        heights = Counter(
            box["y"]
            for label in given.locator("fieldset").first.locator("label").all()
            if (box := label.bounding_box())
        )
        assert list(heights.values()) == [3, 2]  # none is alone in a row
        # By keys: the first answer to the first question, then one further down, and a change by hand.
        page.keyboard.press("1")
        row = given.get_by_role("group", name="What is it?")
        expect(row.get_by_role("radio").first).to_be_checked()
        field = page.locator("[data-field=class]")
        expect(field.get_by_role("radio", checked=True)).to_have_count(1)
        tab_to(page, given.get_by_role("group", name="How bad is it?").get_by_role("radio").first)
        page.keyboard.press("3")
        expect(page.locator("[data-field=severity]").get_by_role("radio", checked=True)).to_have_count(1)
        chosen = field.get_by_role("radio", checked=False).first.get_attribute("value")
        field.locator(f"input[value={chosen}]").check()
        expect(row.get_by_role("radio", checked=True)).to_have_count(0)
        page.locator("#field-review_reason").fill("It threatens.")
        page.keyboard.press("Control+Enter")
        rae.at_question(2)
        [[decision]] = site.query("SELECT decision FROM item WHERE decision IS NOT NULL")
        assert json.loads(decision)["class"] == chosen and "severity" in decision
        # By thumb: spans are taken over as marks in the text.
        thumb = scene.worker(site.panel_link("panel-rae"), viewport={"width": 360, "height": 740}, has_touch=True)
        thumb.open("review")
        spans = thumb.page.get_by_role("group", name="Which words?").get_by_text("“")
        spans.first.tap()
        expect(thumb.page.locator("[data-field=spans] [aria-selected=true]").first).to_be_visible()
        assert not scene.watch.complaints


def test_the_page_reads_from_right_to_left(chromium: Browser, tmp_path: Path) -> None:
    write_review_study(tmp_path / "study", count=COUNT)
    file = tmp_path / "study" / "study.toml"
    file.write_text(file.read_text().replace("seed = 3 }", 'seed = 3, language = "ar" }'))
    with Site(tmp_path / "study", before=promoted) as site:
        scene = Scene(chromium, site)
        rae = scene.worker(site.panel_link("panel-rae"), viewport={"width": 360, "height": 740})
        rae.open("review")
        expect(rae.page.get_by_role("region", name="الإجابات جنبًا إلى جنب")).to_be_visible()
        assert not barriers(rae.page)
        assert rae.page.evaluate(WIDER_THAN_SCREEN) <= 0
        rae.page.screenshot(path=tmp_path / "review-ar.png", full_page=True)
