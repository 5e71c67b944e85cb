"""Every study of the gallery in a real browser: its first page can be read by everybody, filled in and submitted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from browsing import CHROMIUM, WIDER_THAN_SCREEN, Scene, Site, barriers
from chorale.folder.templates import create_study, template_names
from gallery_hands import HANDS

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]
BUDGET = 120_000
"""The most bytes a text form may send before its first item."""
WITH_MEDIA = {"image-boxes", "audio-segments"}


@pytest.mark.parametrize("name", sorted(HANDS))
def test_the_first_page_can_be_filled_in(chromium: Browser, tmp_path: Path, name: str) -> None:
    assert f"gallery/{name}" in template_names()
    create_study(tmp_path / "study", f"gallery/{name}")
    with Site(tmp_path / "study") as site:
        scene = Scene(chromium, site)
        worker = scene.worker(viewport={"width": 360, "height": 740})
        sent: list[int] = []
        worker.page.on("requestfinished", lambda request: sent.append(request.sizes()["responseBodySize"]))
        page = worker.open("main").page
        assert name in WITH_MEDIA or sum(sent) < BUDGET
        assert page.evaluate(WIDER_THAN_SCREEN) <= 0
        page.set_viewport_size({"width": 1280, "height": 900})
        HANDS[name](page)
        assert barriers(page) == ""
        page.emulate_media(color_scheme="light")
        page.locator("#submit").click(delay=600)
        page.locator("#panel-feedback, #panel-item[aria-label='Question 2']").filter(visible=True).wait_for()
        assert len(scene.answers()) == 1
        for context in chromium.contexts:
            context.close()
        assert scene.watch.complaints == []


def first_page(chromium: Browser, folder: Path, name: str, width: int) -> Iterator[Page]:
    """The first page of a study of the gallery, filled in, on a screen of this width."""
    create_study(folder, f"gallery/{name}")
    with Site(folder) as site:
        page = Scene(chromium, site).worker(viewport={"width": width, "height": 740}).open("main").page
        HANDS[name](page)
        yield page
        page.context.close()


def test_words_are_not_broken_on_a_phone(chromium: Browser, tmp_path: Path) -> None:
    for page in first_page(chromium, tmp_path / "study", "best-worst", 360):
        words = page.locator(".form-candidate .form-side")
        lines = words.evaluate_all("words => words.map(word => word.getClientRects().length && word.offsetHeight)")
        assert len(lines) == 4
        assert len(set(lines)) == 1


def test_labels_of_spans_begin_at_the_same_edge_in_every_line(chromium: Browser, tmp_path: Path) -> None:
    for page in first_page(chromium, tmp_path / "study", "translation", 760):
        parts = page.locator(".form-labels > *")
        places = parts.evaluate_all("parts => parts.map(part => [part.offsetTop, part.offsetLeft])")
        edges = {top: min(left for line, left in places if line == top) for top, _ in places}
        assert len(edges) == 3
        assert len(set(edges.values())) == 1


def test_the_ends_of_a_scale_are_below_its_levels(chromium: Browser, tmp_path: Path) -> None:
    left = "parts => parts[0].getBoundingClientRect().left"
    for page in first_page(chromium, tmp_path / "study", "preference", 1280):
        level = page.locator(".form-row label").evaluate_all(left)
        assert page.locator(".form-matrix > .form-ends > span").evaluate_all(left) == pytest.approx(level, abs=1)


def test_a_drawn_box_is_listed_once_with_a_button_like_others(chromium: Browser, tmp_path: Path) -> None:
    for page in first_page(chromium, tmp_path / "study", "image-boxes", 360):
        line = page.locator(".drawing-list > li")
        assert line.evaluate("line => getComputedStyle(line).listStyleType") == "none"
        assert "button-quiet" in str(line.get_by_role("button").get_attribute("class"))
        assert barriers(page) == ""


def test_the_name_of_an_arrow_does_not_cover_the_words_it_connects(chromium: Browser, tmp_path: Path) -> None:
    covered = """arrows => {
      const name = arrows[0].querySelector("text").getBoundingClientRect();
      const words = [...document.querySelectorAll(".form-arrows [role=option]")].filter(
        (word) => word.closest(".form-in, [aria-selected=true]"),
      );
      return [words.length, words.filter((word) => {
        const box = word.getBoundingClientRect();
        const width = Math.min(box.right, name.right) - Math.max(box.left, name.left);
        const height = Math.min(box.bottom, name.bottom) - Math.max(box.top, name.top);
        return width > 0 && height > 6;
      }).length];
    }"""
    for page in first_page(chromium, tmp_path / "study", "relations", 360):
        marked, below = page.locator(".form-arrows").evaluate_all(covered)
        assert marked > 1
        assert below == 0
