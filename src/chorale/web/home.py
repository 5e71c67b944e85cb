"""The content of a worker's overview: the next step first, then everything else."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chorale.engine.bonuses import WorkerBonuses, adds_later
from chorale.engine.expected_time import ExpectedTime
from chorale.engine.running import Study
from chorale.engine.work import StageVisit, Visit
from chorale.present.language import Language
from chorale.protocol import Reason, State
from chorale.protocol.situation_words import places_text
from chorale.store.team import PANEL as TEAM_PANEL
from chorale.web.pages import markdown
from chorale.web.parts import HomeCard
from chorale.web.pay_words import work_facts

MESSAGES = "/#messages"


def home_context(
    study: Study,
    visit: Visit,
    times: Mapping[str, ExpectedTime],
    cards: Sequence[HomeCard],
    bonuses: WorkerBonuses | None,
) -> dict[str, Any]:
    """The context of the overview's template."""
    # A stage without items is for tasks created by scripts.
    parts = [part for part in visit.stages if not (part.stage.task.form.framed and part.is_done and not part.answered)]
    counting = [part for part in parts if part.counts]
    numbers = {part.stage.name: number for number, part in enumerate(counting, 1)}
    shown = {
        part.stage.name: _shown(study, part, times[part.stage.name], numbers.get(part.stage.name)) for part in parts
    }
    for part in _without_work(study, parts):
        shown[part.stage.name]["badge"] = Reason.NO_WORK_LEFT
        if part.situation.reason is not Reason.NO_WORK_LEFT:
            shown[part.stage.name]["reason"] = ""  # not: finish the training first
    cards = [card for card in cards if not card.only_if_empty or not parts]
    following = visit.next_part
    return {
        "worker": visit.worker,
        "has_account": visit.panel == TEAM_PANEL,
        "messages": [
            {"title": message.title, "html": markdown(message.body), "new": message.read_at is None}
            for message in visit.messages
        ],
        "awaited": visit.awaited,
        "cards": cards,
        "next_card": next((card for card in cards if card.is_open), None) if following is None else None,
        "earned_total": study.language.money(visit.earned, study.settings.pay.currency),
        # Shown whether or not a bonus is due; otherwise the note would reveal it.
        "added_later": adds_later(part.stage for part in visit.stages),
        "bonuses": bonuses,
        "worked": visit.answered > 0,
        "leaves_address": bool(study.settings.pay.methods),
        "stages": list(shown.values()),
        "next_stage": None if following is None else shown[following.stage.name],
        "parts_done": sum(part.is_done for part in counting),
        "parts": len(counting),
    }


def _shown(study: Study, part: StageVisit, expected: ExpectedTime, number: int | None) -> dict[str, Any]:
    stage, language = part.stage, study.language
    return {
        "name": stage.name,
        "number": number,
        "title": stage.settings.title,
        "summary": language.translated(stage.task.summary),
        "state": part.state,
        "badge": "later" if part.state is State.LOCKED and part.may_open else part.state,
        "reason": language.translated(part.message),
        "places": language.translated(places_text(part.situation.places)),
        "answered": part.answered,
        "of": part.of,
        "earned": language.money(part.earned, study.settings.pay.currency),
        "facts": work_facts(stage, expected, study),
        "url": f"/stages/{stage.name}",
        "guidelines_url": f"/stages/{stage.name}#guidelines",
    }


def _without_work(study: Study, parts: Sequence[StageVisit]) -> list[StageVisit]:
    """Locked parts that will not open because all work is done: training, and the stages it prepares for."""
    closed = [part.stage for part in parts if part.situation.reason is Reason.NO_WORK_LEFT]
    behind = [study.work_behind(stage) for stage in closed]
    done = {name for each in behind for name in (*each.rounds, *each.work)}
    return [part for part in parts if part.state is State.LOCKED and part.may_open and part.stage.name in done]


def following(language: Language, visit: Visit, may_finish: Callable[[], bool], here: str) -> dict[str, Any] | None:
    """The next step for a worker after a part without more work: a message, the next part, or the return link.

    Waiting pages request this repeatedly, so whether a worker may finish is read only if it matters.
    """
    say = language.say
    if visit.has_news:
        return {"title": say("Read your new message"), "url": MESSAGES, "at_once": False}
    part = visit.next_part
    if part is not None and part.stage.name != here:
        return {
            "title": say("Continue with “{title}”", title=part.stage.settings.title),
            "url": f"/stages/{part.stage.name}",
            "at_once": True,
        }
    return {"title": say("Finish"), "url": "/", "at_once": False} if may_finish() else None
