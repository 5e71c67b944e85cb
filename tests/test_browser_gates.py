"""Gates and messages in the console, in a real browser and by keyboard alone."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import CHROMIUM, PHONE, WIDER_THAN_SCREEN, Scene, Site, barriers, tab_to
from chorale.engine.running import Study
from crowd import Person
from protocol_study import write_protocol_study
from test_protocols import train

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]

PASSWORD = "a brass band at dawn"


def three_have_finished(study: Study) -> None:
    for name, right in (("ada", 4), ("bo", 3), ("cy", 1)):
        train(Person(study, name), right)


def press(page: Page, role: str, name: str) -> None:
    """Go to a control with the Tab key alone and press Enter on it."""
    control = page.get_by_role(role, name=name) if role != "summary" else page.locator("summary", has_text=name)  # type: ignore[arg-type]
    tab_to(page, control.first)
    page.keyboard.press("Enter")


@pytest.mark.slow
def test_a_gate_is_closed_and_its_messages_reviewed_by_keyboard_alone(chromium: Browser, tmp_path: Path) -> None:
    write_protocol_study(
        tmp_path / "study",
        gate="top_share = 0.5\nbonus = 500\nreview = true",
        message="You had {{ '%.2f' % score }}.\n{% for answer in flagged %}\n- {{ answer.item }}\n{% endfor %}\n",
    )
    with Site(tmp_path / "study", three_have_finished) as site:
        scene = Scene(chromium, site)
        page = scene.page()
        page.goto(site.setup_link)
        page.get_by_label("User name").fill("maya")
        for field in page.locator("input[type=password]").all():
            field.fill(PASSWORD)
        press(page, "button", "Set up and sign in")
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()

        press(page, "link", "People")
        press(page, "link", "Gates")
        expect(page.get_by_role("heading", name="Gates", level=1)).to_be_visible()
        press(page, "summary", "Close gate trained")
        expect(page.get_by_text("2 of 3 would pass, each with a bonus of $5.00.")).to_be_visible()
        assert not barriers(page)
        page.get_by_label("Reason").fill("All are graded.")
        press(page, "button", "Yes, close gate trained")
        expect(page.get_by_role("status").filter(visible=True)).to_contain_text("closed")
        assert site.query("SELECT count(*) FROM verdict") == [(3,)]

        press(page, "link", "Items")
        press(page, "link", "Review queue")
        drafts = page.locator("textarea")
        expect(drafts).to_have_count(3)
        expect(page.locator("body.shortcuts")).to_be_visible()
        page.keyboard.press("m")
        page.keyboard.press("Enter")
        assert not barriers(page)
        tab_to(page, drafts.first)
        page.keyboard.press("Control+End")
        page.keyboard.type(" Well done!")
        press(page, "button", "Send")
        expect(page.get_by_role("status").filter(visible=True)).to_be_visible()
        expect(drafts).to_have_count(2)
        [(body,)] = site.query("SELECT body FROM message WHERE state = 'sent'")
        assert body.endswith("Well done!")

        phone = scene.page(**PHONE, storage_state=page.context.storage_state())
        for path in ("/console/gates", "/console/queue"):
            phone.goto(path)
            assert not phone.evaluate(WIDER_THAN_SCREEN), path
            assert not barriers(phone)

        worker = scene.page(**PHONE)
        worker.goto(site.panel_link("ada"))
        worker.get_by_role("link", name="Your latest bonuses").click()
        expect(worker.locator("#bonuses li")).to_have_text(re.compile("\\$5.00.*For passing “Training”", re.DOTALL))
        expect(worker.locator("#bonuses")).to_be_in_viewport()
        assert not worker.evaluate(WIDER_THAN_SCREEN)
        assert not barriers(worker)
        assert scene.watch.complaints == []
        for context in chromium.contexts:
            context.close()
