"""Every study of the gallery in a real browser: its first page can be read by everybody, filled in and submitted."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

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
