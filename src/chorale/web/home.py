"""What a worker's start page shows: what to do next first, then everything else."""

from collections.abc import Callable, Sequence
from typing import Any

from chorale.engine.bonuses import WorkerBonuses, adds_later
from chorale.engine.running import Study
from chorale.engine.work import StageVisit, Visit
from chorale.model import money_text
from chorale.protocol.situation_words import places_text
from chorale.web.pages import markdown
from chorale.web.parts import HomeCard
from chorale.web.pay_words import hourly_text, pay_text, time_text

MESSAGES = "/#messages"


def home_context(
    study: Study, visit: Visit, cards: Sequence[HomeCard], bonuses: WorkerBonuses | None
) -> dict[str, Any]:
    """What the start page's template is filled with."""
    currency = study.settings.pay.currency
    # A stage that has no items of its own is for the tasks of scripts.
    parts = [part for part in visit.stages if not (part.stage.task.form.framed and part.is_done and not part.answered)]
    counting = [part for part in parts if part.counts]
    numbers = {part.stage.name: number for number, part in enumerate(counting, 1)}
    shown = {part.stage.name: _shown(part, numbers.get(part.stage.name), currency) for part in parts}
    cards = [card for card in cards if not card.only_if_empty or not parts]
    following = visit.next_part
    return {
        "worker": visit.worker,
        "messages": [
            {"title": message.title, "html": markdown(message.body), "new": message.read_at is None}
            for message in visit.messages
        ],
        "awaited": visit.awaited,
        "cards": cards,
        "next_card": next((card for card in cards if card.is_open), None) if following is None else None,
        "earned_total": money_text(visit.earned, currency),
        # Shown whether a bonus is to come or not: otherwise the note would reveal it.
        "added_later": adds_later(part.stage for part in visit.stages),
        "bonuses": bonuses,
        "worked": visit.answered > 0,
        "leaves_address": bool(study.settings.pay.methods),
        "stages": list(shown.values()),
        "next_stage": None if following is None else shown[following.stage.name],
        "parts_done": sum(part.is_done for part in counting),
        "parts": len(counting),
    }


def _shown(part: StageVisit, number: int | None, currency: str) -> dict[str, Any]:
    stage = part.stage
    return {
        "name": stage.name,
        "number": number,
        "title": stage.settings.title,
        "summary": stage.task.summary,
        "state": part.state,
        "may_open": part.may_open,
        "reason": part.message,
        "places": places_text(part.situation.places),
        "answered": part.answered,
        "of": part.of,
        "earned": money_text(part.earned, currency),
        "pay": pay_text(stage.settings, currency),
        "time": time_text(stage.settings, stage.round_size),
        "hourly": hourly_text(stage.settings, stage.round_size, currency),
        "url": f"/stages/{stage.name}",
        "guidelines_url": f"/stages/{stage.name}#guidelines",
    }


def following(visit: Visit, may_finish: Callable[[], bool], here: str) -> dict[str, Any] | None:
    """Where a worker goes from a part that has nothing more for them: to a message, the next part, or the way back.

    Pages that wait ask this again and again, so whether somebody may finish is only looked up where it matters.
    """
    if visit.has_news:
        return {"title": "Read your new message", "url": MESSAGES, "at_once": False}
    part = visit.next_part
    if part is not None and part.stage.name != here:
        return {
            "title": f"Continue with “{part.stage.settings.title}”",
            "url": f"/stages/{part.stage.name}",
            "at_once": True,
        }
    return {"title": "Finish", "url": "/", "at_once": False} if may_finish() else None
