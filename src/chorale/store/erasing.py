"""Erasing a worker's identity and answers, as requested. Counts, times and money stay."""

import secrets
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, delete, insert, select, update

from chorale.model import MessageState, responses_behind
from chorale.store import payout_addresses, requesters, suggestions, team, writing
from chorale.store.codec import as_text, from_text
from chorale.store.erased import ERASED, ERASED_TEXT, erased_name
from chorale.store.erased_labels import Written, erase_from_labels, erase_labels, rewrite
from chorale.store.experts import erase_expert
from chorale.store.first_answers import erase_first_answers
from chorale.store.identity_schema import worker_session
from chorale.store.model_schema import model_call, model_task
from chorale.store.recruiting_schema import delivery, invitation, invitation_address, payment, submission
from chorale.store.schema import (
    assignment,
    entry,
    erasure,
    event,
    grade,
    item,
    item_source,
    message,
    response,
    worker,
    worker_identity,
)
from chorale.store.submissions import claim_delivery

WITHDRAWN = -1
"""The consent version of workers who have withdrawn or were erased."""
EMPTY = "{}"
"""The content of an item that was made from an erased answer."""


class Erasure(NamedTuple):
    """The result of an erasure."""

    at: int
    worker: str
    worker_id: int
    by: str
    identity: bool
    answers: bool
    erased: dict[str, int]


def erasures(tx: Connection) -> list[Erasure]:
    """All erasures, oldest first."""
    query = (
        select(
            erasure.c.at,
            worker.c.pseudonym,
            erasure.c.worker_id,
            erasure.c.by,
            erasure.c.identity,
            erasure.c.answers,
            erasure.c.erased,
        )
        .join(worker, worker.c.id == erasure.c.worker_id)
        .order_by(erasure.c.id)
    )
    return [
        Erasure(at, name, number, by, bool(identity), bool(answers), from_text(erased))
        for at, name, number, by, identity, answers, erased in tx.execute(query)
    ]


def without_answers(tx: Connection) -> set[str]:
    """The pseudonyms of everybody whose answers were erased."""
    query = select(worker.c.pseudonym).join(erasure, erasure.c.worker_id == worker.c.id).where(erasure.c.answers)
    return set(tx.execute(query).scalars())


def begin(tx: Connection, worker_id: int, by: str, now: int, *, identity: bool, answers: bool) -> int:
    """Start an erasure. Until it ends, this transaction can change append-only tables."""
    row = {"worker_id": worker_id, "at": now, "by": by, "identity": identity, "answers": answers, "erased": EMPTY}
    made = tx.execute(insert(erasure).values(**row))
    key = made.inserted_primary_key
    if key is None:
        raise RuntimeError("an erasure got no number")
    return int(key[0])


def end(tx: Connection, number: int, erased: dict[str, int], now: int) -> None:
    tx.execute(update(erasure).where(erasure.c.id == number).values(erased=as_text(erased), ended_at=now))


def stop(tx: Connection, worker_id: int) -> None:
    """Stop a worker from getting more work."""
    tx.execute(update(worker).where(worker.c.id == worker_id).values(consent_version=WITHDRAWN))


def _count(tx: Connection, statement: Any) -> int:
    return int(tx.execute(statement).rowcount)


def erase_identity(tx: Connection, worker_id: int, now: int) -> dict[str, int]:
    """Erase a worker's platform IDs, e-mail address and links; returns the numbers of each."""
    own = worker_identity.c.worker_id == worker_id
    ids = list(tx.execute(select(worker_identity.c.panel, worker_identity.c.external_id).where(own)))
    links = [external for panel, external in ids if panel == "invitation"]
    of_link = select(invitation.c.id).where(invitation.c.nonce.in_(links))
    addresses = _count(tx, delete(invitation_address).where(invitation_address.c.invitation_id.in_(of_link)))
    tx.execute(
        update(invitation)
        .where(invitation.c.nonce.in_(links), invitation.c.revoked_at.is_(None))
        .values(revoked_at=now)
    )
    for panel, external in ids:
        here = and_(worker_identity.c.panel == panel, worker_identity.c.external_id == external)
        if panel == requesters.PANEL:
            new = erase_expert(tx, external, worker_id, now)
        else:
            new = ERASED + secrets.token_urlsafe(16)
        tx.execute(update(worker_identity).where(here).values(external_id=new, visit=EMPTY))
    accounts = team.erase(tx, [external for panel, external in ids if panel == team.PANEL])
    sessions = _count(tx, delete(worker_session).where(worker_session.c.worker_id == worker_id))
    submissions = _erase_submissions(tx, worker_id)
    addresses += payout_addresses.erase(tx, worker_id)
    erased = {"ids": len(ids), "addresses": addresses, "sessions": sessions, "submissions": submissions}
    return {**erased, "accounts": accounts} if accounts else erased


def _erase_submissions(tx: Connection, worker_id: int) -> int:
    """Anonymise the ids of a worker's submissions. If the platform reports one again, it is ignored."""
    rows = list(tx.execute(select(submission.c.external_id).where(submission.c.worker_id == worker_id)).scalars())
    for external in rows:
        if not external.startswith(ERASED):
            tx.execute(update(payment).where(payment.c.submission_id == external).values(submission_id=None))
            new = {"external_id": erased_name(tx, external), "participant": ERASED_TEXT}
            tx.execute(update(submission).where(submission.c.external_id == external).values(**new))
    return len(rows)


def is_erased_submission(tx: Connection, external_id: str) -> bool:
    """Whether a reported submission belongs to an erased worker."""
    if tx.execute(select(erasure.c.id).limit(1)).first() is None:
        return False
    query = select(submission.c.external_id).where(submission.c.external_id == erased_name(tx, external_id))
    return tx.execute(query).first() is not None


def erase_texts(tx: Connection, worker_id: int, now: int) -> dict[str, int]:
    """Erase messages to a worker and staff's texts about them; returns the numbers of each."""
    to_them = message.c.worker_id == worker_id
    for number in tx.execute(select(message.c.id).where(to_them)).scalars().all():
        # Empty messages must not be sent.
        claim_delivery(tx, number, "erased", now, delivery.c.state != "sent")
    empty = {"title": "", "body": "", "state": MessageState.SENT.value}
    messages = _count(tx, update(message).where(to_them).values(**empty))
    reasons = rewrite(tx, event.c.worker_id == worker_id, _without_reason)
    tx.execute(
        update(entry).where(entry.c.worker_id == worker_id, entry.c.cause.like("staff:%")).values(reason=ERASED_TEXT)
    )
    return {"messages": messages, "reasons": reasons}


def erase_reasons(tx: Connection, worker_id: int, kinds: Collection[str]) -> int:
    """Erase the reasons written by people in a worker's events of some kinds; returns how many."""
    return rewrite(tx, and_(event.c.worker_id == worker_id, event.c.kind.in_(kinds)), _erase_reason)


def _without_reason(evidence: dict[str, Any]) -> bool:
    """Events by staff have an author and a free-text reason; automatic reasons have a fixed wording and stay."""
    return "by" in evidence and _erase_reason(evidence)


def _erase_reason(evidence: dict[str, Any]) -> bool:
    if evidence.get("reason") in (None, ERASED_TEXT):
        return False
    evidence["reason"] = ERASED_TEXT
    return True


def erase_answers(tx: Connection, worker_id: int, pseudonym: str, now: int, written: Written) -> dict[str, int]:
    """Erase a worker's answers, also in the evidence of labels and grades; returns the numbers of each."""
    labels = erase_from_labels(tx, worker_id, pseudonym, written)
    own = response.c.worker_id == worker_id
    there = and_(own, response.c.erased_at.is_(None))
    responses = _count(tx, update(response).where(there).values(answer="null", erased_at=now))
    erase_first_answers(tx, worker_id)
    suggestions.erase(tx, worker_id)
    writing.erase(tx, worker_id)
    tx.execute(update(grade).where(grade.c.response_id.in_(select(response.c.id).where(own))).values(reasons="[]"))
    _erase_reasons_by(tx, set(tx.execute(select(response.c.id).where(own)).scalars()))
    return {"answers": responses, "evidence": labels}


def _erase_reasons_by(tx: Connection, graders: Collection[int]) -> None:
    """Erase the reasons of grades that are based on these answers."""
    for graded in _graded_by(tx, graders):
        tx.execute(update(grade).where(grade.c.response_id == graded).values(reasons="[]"))


def _graded_by(tx: Connection, mine: Collection[int]) -> Iterable[int]:
    """Others' answers whose grades contain a worker's text in their reasons."""
    for text in tx.execute(select(event.c.evidence).where(event.c.kind == "graded")).scalars().all():
        evidence = from_text(text)
        if any(number in mine for number in evidence.get("by", ())):
            yield int(evidence["response"])


class Repeated(NamedTuple):
    """Places where erased answers may be repeated."""

    items: frozenset[int]
    """Items made from these answers. They never return, since other answers would make other items."""
    responses: frozenset[int]
    """The answers that others gave to these items."""


def repeated(tx: Connection, stages: Collection[int], worker_id: int | None = None) -> Repeated:
    """Places where erased answers, or one worker's answers, may be repeated.

    `stages` are those whose items are made from answers. Answers to such items may themselves become items, and so on.
    """
    whose = select(erasure.c.worker_id).where(erasure.c.answers) if worker_id is None else [worker_id]
    behind = _numbers(tx, select(response.c.id).where(response.c.worker_id.in_(whose)))
    copies: set[int] = set()
    given: set[int] = set()
    while behind:
        sources = select(response.c.item_id).where(response.c.id.in_(sorted(behind)))
        query = (
            select(item.c.id, item.c.key)
            .join(item_source, item_source.c.item_id == item.c.id)
            .where(item_source.c.source_id.in_(sources), item.c.stage_id.in_(sorted(stages)))
        )
        made = {number for number, key in tx.execute(query) if not behind.isdisjoint(responses_behind(key))} - copies
        behind = _numbers(tx, select(response.c.id).where(response.c.item_id.in_(sorted(made))))
        copies |= made
        given |= behind
    return Repeated(frozenset(copies), frozenset(given))


def _numbers(tx: Connection, query: Any) -> set[int]:
    return {int(number) for number in tx.execute(query).scalars()}


def is_there(tx: Connection, response_ids: Collection[int]) -> bool:
    """Whether at least one of these answers still exists."""
    query = select(response.c.id).where(response.c.id.in_(sorted(response_ids)), response.c.erased_at.is_(None))
    return tx.execute(query.limit(1)).first() is not None


def erase_repeated(tx: Connection, where: Repeated, now: int) -> int:
    """Erase others' answers that may repeat erased ones, also in evidence; returns how many."""
    there = and_(response.c.id.in_(sorted(where.responses)), response.c.erased_at.is_(None))
    erased = _count(tx, update(response).where(there).values(answer="null", erased_at=now))
    tx.execute(update(grade).where(grade.c.response_id.in_(sorted(where.responses))).values(reasons="[]"))
    _erase_reasons_by(tx, where.responses)
    erase_labels(tx, where.items)
    of_models = model_task.c.item_id.in_(sorted(where.items))
    tasks = select(model_task.c.id).where(of_models)
    tx.execute(update(model_call).where(model_call.c.task_id.in_(tasks)).values(output=None, reason=None))
    tx.execute(update(model_task).where(of_models).values(answer=None))
    return erased


def has_model_answers(tx: Connection, items: Collection[int]) -> bool:
    """Whether a model's answer to one of these items exists."""
    query = select(model_task.c.id).where(model_task.c.item_id.in_(sorted(items)), model_task.c.answer.is_not(None))
    return tx.execute(query.limit(1)).first() is not None


def groups_of(tx: Connection, items: Collection[int]) -> set[tuple[int, str]]:
    """The stages and groups of some items."""
    query = select(item.c.stage_id, item.c.group_key).where(item.c.id.in_(sorted(items)))
    return {(int(stage_id), str(group)) for stage_id, group in tx.execute(query)}


def to_empty(tx: Connection, worker_id: int) -> list[int]:
    """Withdrawn items that were made from a worker's answers and still have content."""
    own = response.c.worker_id == worker_id
    answered = set(tx.execute(select(response.c.item_id).where(own)).scalars())
    items = set(tx.execute(select(item.c.id).where(item.c.response_id.in_(select(response.c.id).where(own)))).scalars())
    sources = answered | items
    while sources:
        query = select(item_source.c.item_id).where(item_source.c.source_id.in_(sorted(sources)))
        sources = set(tx.execute(query).scalars()) - items
        items |= sources
    # A worker may hold one; it is emptied when they have finished.
    held = select(assignment.c.item_id).where(assignment.c.state == "live")
    query = select(item.c.id).where(
        item.c.id.in_(sorted(items)), item.c.state == "withdrawn", item.c.payload != EMPTY, item.c.id.not_in(held)
    )
    return sorted(tx.execute(query).scalars())


def erase_derived(tx: Connection, worker_id: int) -> int:
    """Empty the withdrawn items that were made from a worker's answers; returns how many.

    Call it after their labels are settled again, during an erasure.
    """
    emptied = to_empty(tx, worker_id)
    tx.execute(update(item).where(item.c.id.in_(emptied)).values(payload=EMPTY, label=None))
    answered = select(response.c.item_id).where(response.c.worker_id == worker_id)
    names = set(tx.execute(select(item.c.key).where(item.c.id.in_(answered))).scalars())
    rewrite(
        tx,
        event.c.kind.in_(("derived", "withdrawn", "brought back")),
        lambda evidence: _without_sources(evidence, names),
    )
    return len(emptied)


def _without_sources(evidence: dict[str, Any], names: Collection[str]) -> bool:
    changed = False
    for source in evidence.get("sources", ()):
        if source["item"] in names and source["answer"] is not None:
            source["answer"], source["erased"], changed = None, True, True
    return changed
