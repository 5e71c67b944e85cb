"""Studies on a platform, and its reports on their participants. Its ids are never exported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, insert, select, update

from chorale.model import MessageState
from chorale.store.codec import as_ordered_text, from_text
from chorale.store.erased import ERASED, ERASED_TEXT
from chorale.store.prepared import upsert
from chorale.store.recruiting_schema import delivery, panel_study, submission
from chorale.store.schema import message, qualification, worker, worker_identity

PLANNED, DRAFT, PUBLISHED, GONE = "planned", "draft", "published", "gone"
PAUSED, FULL, ENDED, SCHEDULED, TEST = "paused", "full", "ended", "scheduled", "test"
IN_PROGRESS = ("RESERVED", "ACTIVE")


@dataclass(frozen=True, slots=True)
class PanelStudyRow:
    name: str
    marker: str
    external_id: str | None
    group_id: str | None
    state: str
    reward: int
    places: int
    asked: Mapping[str, Any]
    completion_code: str
    screenout_code: str
    made_at: int
    published_at: int | None


@dataclass(frozen=True, slots=True)
class SubmissionRow:
    external_id: str
    panel_study: str
    participant: str
    worker_id: int | None
    status: str
    code: str | None
    rewarded: int
    arrived_at: int | None
    reported_at: int | None
    worker: str | None = None
    """The worker's pseudonym."""


def plan_study(
    tx: Connection,
    name: str,
    marker: str,
    reward: int,
    places: int,
    asked: Mapping[str, Any],
    codes: tuple[str, str],
    now: int,
) -> PanelStudyRow:
    """Record a study before it is created on the platform; existing values stay."""
    tx.execute(
        upsert(tx, panel_study)
        .values(
            name=name,
            marker=marker,
            state=PLANNED,
            reward=reward,
            places=places,
            asked=as_ordered_text(asked),
            completion_code=codes[0],
            screenout_code=codes[1],
            made_at=now,
        )
        .on_conflict_do_nothing()
    )
    planned = study_called(tx, name)
    if planned is None:
        raise RuntimeError(f"the study {name!r} was deleted while it was being recorded")
    return planned


def study_called(tx: Connection, name: str) -> PanelStudyRow | None:
    row = tx.execute(select(panel_study).where(panel_study.c.name == name)).first()
    return None if row is None else _study(row)


def study_with_id(tx: Connection, external_id: str) -> PanelStudyRow | None:
    row = tx.execute(select(panel_study).where(panel_study.c.external_id == external_id)).first()
    return None if row is None else _study(row)


def studies(tx: Connection) -> Sequence[PanelStudyRow]:
    return [_study(row) for row in tx.execute(select(panel_study).order_by(panel_study.c.made_at, panel_study.c.name))]


def _study(row: Any) -> PanelStudyRow:
    name, marker, external_id, group_id, state, reward, places, asked, *rest = row
    return PanelStudyRow(name, marker, external_id, group_id, state, reward, places, from_text(asked), *rest)


def note_study(tx: Connection, name: str, **changes: Any) -> None:
    """Record the state of a study on the platform."""
    if "asked" in changes:
        changes["asked"] = as_ordered_text(changes["asked"])
    tx.execute(update(panel_study).where(panel_study.c.name == name).values(**changes))


_SUBMISSIONS = select(submission, worker.c.pseudonym).outerjoin(worker, worker.c.id == submission.c.worker_id)


def note_arrival(tx: Connection, external_id: str, study_name: str, participant: str, worker_id: int, now: int) -> None:
    """Record an arrival with a submission, which the platform may not have reported yet."""
    tx.execute(
        upsert(tx, submission)
        .values(
            external_id=external_id,
            panel_study=study_name,
            participant=participant,
            worker_id=worker_id,
            status="ACTIVE",
            rewarded=0,
            arrived_at=now,
        )
        .on_conflict_do_update(
            index_elements=["external_id"],
            # The first time is kept: work since then counts for this submission.
            set_={"arrived_at": func.coalesce(submission.c.arrived_at, now), "worker_id": worker_id},
            # The platform's report decides whose submission it is, not the URL.
            where=submission.c.participant == participant,
        )
    )


def note_report(
    tx: Connection,
    external_id: str,
    study_name: str,
    participant: str,
    status: str,
    code: str | None,
    rewarded: int,
    now: int,
) -> tuple[str | None, int | None]:
    """Record the platform's report on a submission; returns the previous status (None if it is new) and its worker."""
    known = tx.execute(select(submission.c.status).where(submission.c.external_id == external_id)).scalar()
    worker_id = tx.execute(
        select(worker_identity.c.worker_id).where(
            worker_identity.c.panel == "prolific", worker_identity.c.external_id == participant
        )
    ).scalar()
    reported = {
        "participant": participant,
        "worker_id": worker_id,
        "status": status,
        "code": code,
        "rewarded": rewarded,
        "reported_at": now,
    }
    if known is None:
        tx.execute(insert(submission).values(external_id=external_id, panel_study=study_name, **reported))
        return None, worker_id
    tx.execute(update(submission).where(submission.c.external_id == external_id).values(**reported))
    return str(known), worker_id


def submissions(
    tx: Connection,
    *,
    study_name: str | None = None,
    status: str | None = None,
    pseudonym: str = "",
    limit: int | None = None,
    offset: int = 0,
) -> Sequence[SubmissionRow]:
    """All submissions, or those of the worker with this pseudonym."""
    query = _SUBMISSIONS if study_name is None else _SUBMISSIONS.where(submission.c.panel_study == study_name)
    if status is not None:
        query = query.where(submission.c.status == status)
    if pseudonym:
        query = query.where(worker.c.pseudonym == pseudonym)
    if limit is not None:
        query = query.limit(limit).offset(offset)
    return [SubmissionRow(*row) for row in tx.execute(query.order_by(submission.c.external_id))]


def submissions_of(tx: Connection, worker_id: int) -> Sequence[SubmissionRow]:
    """A worker's submissions: active ones first, newest arrival first."""
    query = _SUBMISSIONS.where(submission.c.worker_id == worker_id)
    rows = [SubmissionRow(*row) for row in tx.execute(query)]
    return sorted(rows, key=lambda row: (row.status not in IN_PROGRESS, -(row.arrived_at or 0), row.external_id))


def counts(tx: Connection) -> dict[tuple[str, str], int]:
    """Numbers of submissions, by study and status."""
    query = select(submission.c.panel_study, submission.c.status, func.count()).group_by(
        submission.c.panel_study, submission.c.status
    )
    return {(str(name), str(status)): int(count) for name, status, count in tx.execute(query)}


_IS_ERASED = worker_identity.c.external_id.startswith(ERASED)
_IS_SOMEBODYS = submission.c.participant != ERASED_TEXT


def qualified_participants(tx: Connection, name: str) -> Sequence[str]:
    """The platform IDs of everybody with a qualification."""
    query = (
        select(worker_identity.c.external_id)
        .join(qualification, qualification.c.worker_id == worker_identity.c.worker_id)
        .where(worker_identity.c.panel == "prolific", qualification.c.name == name, ~_IS_ERASED)
    )
    return sorted(str(one) for one in tx.execute(query).scalars())


def approved_participants(tx: Connection, study_name: str) -> Sequence[str]:
    """The platform IDs of everybody whose submission to a study was approved."""
    query = select(submission.c.participant).where(
        submission.c.panel_study == study_name,
        submission.c.status == "APPROVED",
        _IS_SOMEBODYS,
    )
    return sorted({str(one) for one in tx.execute(query).scalars()})


@dataclass(frozen=True, slots=True)
class OutgoingRow:
    message_id: int
    participant: str
    study: str
    """The platform's ID of its study."""
    title: str
    body: str
    state: str | None
    """None before the first attempt."""


def outgoing(tx: Connection, long_ago: int) -> Sequence[OutgoingRow]:
    """Messages to people of the platform that it probably has not received yet.

    A message that is being sent is included only if sending started long ago.
    """
    query = (
        select(
            message.c.id,
            submission.c.participant,
            func.min(panel_study.c.external_id),
            message.c.title,
            message.c.body,
            delivery.c.state,
        )
        .join(submission, submission.c.worker_id == message.c.worker_id)
        .join(panel_study, panel_study.c.name == submission.c.panel_study)
        .outerjoin(delivery, delivery.c.message_id == message.c.id)
        .where(
            message.c.state == MessageState.SENT,
            submission.c.reported_at.is_not(None),
            _IS_SOMEBODYS,
            delivery.c.state.is_(None) | _given_up(long_ago),
        )
        .group_by(message.c.id, submission.c.participant, message.c.title, message.c.body, delivery.c.state)
        .order_by(message.c.id)
    )
    return [OutgoingRow(*row) for row in tx.execute(query)]


def _given_up(long_ago: int) -> ColumnElement[bool]:
    """A condition: sending of a message started so long ago that it must have failed."""
    return (delivery.c.state == "sending") & (delivery.c.at < long_ago)


def claim_outgoing(tx: Connection, message_id: int, now: int, long_ago: int) -> bool:
    """Mark a message as being sent to the platform; False if another process is sending it or has sent it."""
    return claim_delivery(tx, message_id, "sending", now, _given_up(long_ago))


def claim_delivery(tx: Connection, message_id: int, state: str, now: int, where: ColumnElement[bool]) -> bool:
    """Claim the delivery of a message that is not being delivered, or is in the given state; else False."""
    made = upsert(tx, delivery).values(message_id=message_id, state=state, at=now)
    made = made.on_conflict_do_update(index_elements=["message_id"], set_={"state": state, "at": now}, where=where)
    return bool(tx.execute(made).rowcount)


def note_delivery(tx: Connection, message_id: int, state: str, at: int) -> None:
    """Record the result of sending a message, unless it was erased in the meantime."""
    being_sent = update(delivery).where(delivery.c.message_id == message_id, delivery.c.state == "sending")
    tx.execute(being_sent.values(state=state, at=at))
