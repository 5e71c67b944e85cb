"""Everything a study has about one person, for data access requests."""

from collections.abc import Sequence
from typing import Any

from chorale.engine.managing import Act, reveal
from chorale.engine.payout_addresses import address_of
from chorale.engine.running import Study
from chorale.exchange.export_rows import iso_time
from chorale.model import UserError, Worker
from chorale.monitor.status import gold_of
from chorale.store import Tx, consents, events, invitations, ledger, participations
from chorale.store.first_answers import first_answers_by
from chorale.store.grades import all_grades
from chorale.store.messages import all_messages
from chorale.store.responses import all_responses
from chorale.store.submissions import submissions_of
from chorale.store.writing import written_by

ALL = 1_000_000


def personal_data(tx: Tx, study: Study, worker: Worker, by: str) -> dict[str, Any]:
    """A person's data as one object. The request is logged, because it reveals an identity."""
    name = worker.pseudonym
    identities = reveal(tx, study, name, Act(by, "a copy of a person's data", "person"))
    return {
        "study": study.settings.study.title,
        "contact": study.settings.study.contact,
        "participant_id": name,
        "identities": [{"platform": panel, "id": external} for panel, external in identities],
        "email_addresses": _email_addresses(tx, identities),
        "joined_at": iso_time(worker.arrived_at),
        "arm": worker.arm,
        "consents": [{"at": iso_time(one.at), "sha256": one.sha256} for one in consents.consents(tx, worker.id)],
        "submissions": [
            {"study": one.panel_study, "status": one.status, "id": one.external_id}
            for one in submissions_of(tx, worker.id)
        ],
        **_work(tx, study, worker),
        "grades": [
            {"response": one.response_id, "score": one.score, "reasons": list(one.reasons)}
            for one in all_grades(tx)
            if one.worker == name
        ],
        "messages": [
            {"written_at": iso_time(one.written_at), "title": one.title, "body": one.body}
            for one in all_messages(tx)
            if one.worker == name
        ],
        "payments": [
            {"at": iso_time(one.at), "kind": one.kind, "amount": one.amount, "reason": one.reason}
            for one in ledger.ledger_lines(tx)
            if one.worker == name
        ],
        "payout_address": _payout_address(tx, worker.id),
        "currency": study.settings.pay.currency,
        "log": _reasons(tx, name),
        **_of_kits(tx, study, worker),
    }


def _payout_address(tx: Tx, worker_id: int) -> dict[str, str] | None:
    """Their payout address, or the reason why it cannot be decrypted, so that they still get all other data."""
    try:
        address = address_of(tx, worker_id)
    except UserError as error:
        return {"unreadable": error.message}
    return None if address is None else {"method": address.method, "email": address.email, "name": address.name}


def _email_addresses(tx: Tx, identities: Sequence[tuple[str, str]]) -> list[str]:
    """The addresses that their invitations were sent to."""
    addresses = invitations.addresses_of(tx)
    return [addresses[external] for panel, external in identities if panel == "invitation" and external in addresses]


def _reasons(tx: Tx, name: str) -> list[dict[str, Any]]:
    """Log entries about them with a reason, automatic or written by staff."""
    return [
        {"at": iso_time(one.at), "kind": one.kind, "stage": one.stage, "reason": one.evidence["reason"]}
        for one in reversed(events.recent(tx, ALL, pseudonym=name))
        if "reason" in one.evidence
    ]


def _of_kits(tx: Tx, study: Study, worker: Worker) -> dict[str, Any]:
    parts = study.work_parts.values()
    return {
        name: rows
        for part in parts
        if part.personal_data is not None
        for name, rows in part.personal_data(tx, worker.id).items()
    }


def _work(tx: Tx, study: Study, worker: Worker) -> dict[str, Any]:
    """Their work in each stage, with every answer."""
    name = worker.pseudonym
    return {
        "stages": [
            {
                "stage": row.stage,
                "status": row.standing,
                "answers": row.answered,
                "gold_answered": gold_of(study, row)[1],
                "gold_right": gold_of(study, row)[0],
                "earned": row.earned,
                "worked_ms": row.worked_ms,
            }
            for row in participations.participation_summaries(tx, pseudonym=name)
        ],
        "answers": [
            {
                "response": one.id,
                "stage": one.stage,
                "item": one.item,
                "answer": one.answer,
                "submitted_at": iso_time(one.submitted_at),
                "duration_ms": one.duration_ms,
            }
            for one in all_responses(tx, pseudonym=name)
        ],
        "first_answers": [
            {"stage": one.stage, "item": one.item, "answer": one.answer, "stored_at": iso_time(one.at)}
            for one in first_answers_by(tx, worker.id)
        ],
        "writing": [{"response": number, **one._asdict()} for number, one in written_by(tx, worker.id).items()],
    }
