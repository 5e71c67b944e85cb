"""Workers' actions, called by the site: open the overview, get an item, submit it, return it.

Each function is one transaction: load, decide, append. Earnings exclude today's gold bonuses (`engine/bonuses.py`): a
growing sum would reveal which question was gold.
"""

from dataclasses import replace
from typing import Any

from chorale.engine import offering, submitting, visit
from chorale.engine.bonuses import added_later, pays_for_gold
from chorale.engine.first_answers import Revealed, answer_first
from chorale.engine.leases import expire_leases, extend, give_back, skip
from chorale.engine.offering import Offer, WorkerProgress
from chorale.engine.running import RunningStage, Study
from chorale.engine.submitting import SubmitOutcome
from chorale.engine.visit import StageVisit, Visit, knows_of
from chorale.store import Tx, writing
from chorale.store.sessions import SessionClaim
from chorale.store.writing import WritingNumbers

__all__ = [
    "Offer",
    "Revealed",
    "StageVisit",
    "SubmitOutcome",
    "Visit",
    "WorkerProgress",
    "answer_first",
    "expire_leases",
    "extend",
    "give_back",
    "knows_of",
    "next_item",
    "skip",
    "start_page",
    "submit",
]


def start_page(tx: Tx, study: Study, worker_id: int) -> Visit | None:
    """A worker's overview page; None if there is no such worker."""
    page = visit.visit(tx, study, worker_id)
    later = added_later(tx, study, worker_id)
    if page is None or not later:
        return page
    stages = (part._replace(earned=part.earned - later.get(part.stage.id, 0)) for part in page.stages)
    return replace(page, stages=tuple(stages))


def next_item(tx: Tx, study: Study, stage: RunningStage, worker_id: int, session: SessionClaim | None = None) -> Offer:
    """The next item for a worker, or the reason why there is none."""
    offer = offering.next_item(tx, study, stage, worker_id, session)
    return offer._replace(progress=_as_shown(tx, study, stage, worker_id, offer.progress))


def submit(
    tx: Tx,
    study: Study,
    worker_id: int,
    token: str,
    raw_answer: Any,
    idempotency_key: str,
    duration_ms: int | None,
    session: SessionClaim | None = None,
    written: WritingNumbers | None = None,
) -> SubmitOutcome:
    """Accept an answer once, however often it is sent. How it was written is stored only if the study records that."""
    outcome = submitting.submit(tx, study, worker_id, token, raw_answer, idempotency_key, duration_ms, session)
    if written is not None and study.settings.writing is not None and outcome.response_id is not None:
        writing.add(tx, outcome.response_id, written)
    stage = study.stage_by_id(outcome.stage_id)
    return outcome._replace(progress=_as_shown(tx, study, stage, worker_id, outcome.progress))


def _as_shown(tx: Tx, study: Study, stage: RunningStage, worker_id: int, progress: WorkerProgress) -> WorkerProgress:
    if not pays_for_gold(stage):
        return progress
    return progress._replace(earned=progress.earned - added_later(tx, study, worker_id).get(stage.id, 0))
