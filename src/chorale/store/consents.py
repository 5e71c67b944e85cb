"""Consent forms by version, and workers' consents."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import Connection, func, insert, select, update

from chorale.store.codec import from_text
from chorale.store.database import STREAMED
from chorale.store.schema import assignment, consent_text, event, response, worker

KIND = "consented"
"""The event of a consent. It names the form by its hash."""


class ConsentForm(NamedTuple):
    """A version of the consent form."""

    version: int
    sha256: str
    text: str
    since: int
    """The time when the study was first opened with it."""


class Consent(NamedTuple):
    """A worker's consent to a form."""

    at: int
    worker: str
    worker_id: int
    sha256: str


def hash_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def forms(tx: Connection) -> list[ConsentForm]:
    """All versions, oldest first."""
    return [ConsentForm._make(row) for row in tx.execute(select(consent_text).order_by(consent_text.c.version))]


def latest_version(tx: Connection) -> int:
    """The number of the current form; 0 if there is none."""
    return tx.execute(select(func.max(consent_text.c.version))).scalar() or 0


def put_in_force(tx: Connection, text: str, now: int) -> int:
    """The version of a text; a new version if it differs from the current one."""
    known = forms(tx)
    if known and known[-1].sha256 == hash_of(text):
        return known[-1].version
    return _add(tx, text, now)


def _add(tx: Connection, text: str, since: int) -> int:
    version = latest_version(tx) + 1
    tx.execute(insert(consent_text).values(version=version, sha256=hash_of(text), text=text, since=since))
    return version


def number_earlier_forms(tx: Connection) -> None:
    """Give version numbers to forms from before versions were numbered. Their texts are in the log."""
    given = consents(tx)
    if not given:
        return
    shown: dict[str, tuple[int, str]] = {}
    query = select(event.c.at, event.c.evidence).where(event.c.kind == "texts").order_by(event.c.id)
    for at, evidence in tx.execute(query):
        for text in from_text(evidence)["files"].values():
            shown.setdefault(hash_of(text), (at, text))
    versions: dict[str, int] = {}
    for consent in given:
        if consent.sha256 in shown and consent.sha256 not in versions:
            since, text = shown[consent.sha256]
            versions[consent.sha256] = _add(tx, text, since)
    for consent in given:
        version = versions.get(consent.sha256)
        tx.execute(update(worker).where(worker.c.id == consent.worker_id).values(consent_version=version))


def consents(tx: Connection, worker_id: int | None = None) -> list[Consent]:
    """All consents, or one person's, oldest first."""
    query = (
        select(event.c.at, worker.c.pseudonym, event.c.worker_id, event.c.evidence)
        .join(worker, worker.c.id == event.c.worker_id)
        .where(event.c.kind == KIND)
        .order_by(event.c.id)
    )
    if worker_id is not None:
        query = query.where(event.c.worker_id == worker_id)
    return [
        Consent(at, name, number, from_text(evidence)["consent"]) for at, name, number, evidence in tx.execute(query)
    ]


class ConsentHistory:
    """The history of forms in force, and of workers' consents."""

    def __init__(self, tx: Connection) -> None:
        self.forms = forms(tx)
        self.given: Mapping[str, Sequence[tuple[int, int]]]
        """Times and versions, by worker."""
        given = defaultdict(list)
        for consent in consents(tx):
            given[consent.worker].append((consent.at, self._version(consent)))
        self.given = dict(given)

    def _version(self, given: Consent) -> int:
        """The version of the form a worker agreed to: the last one with the agreed text in force at that time."""
        same = [form.version for form in self.forms if form.sha256 == given.sha256]
        by_then = [form.version for form in self.forms if form.sha256 == given.sha256 and form.since <= given.at]
        return (by_then or same or [0])[-1]

    def agreed_at(self, worker: str, moment: int) -> int | None:
        """The version a worker had agreed to by a time; None if none."""
        given = self.given.get(worker)
        if not given:
            return None
        place = bisect_right(given, moment, key=lambda one: one[0]) - 1
        return None if place < 0 else given[place][1]

    def in_force_at(self, moment: int) -> int:
        """The version in force at a given time."""
        return max((form.version for form in self.forms if form.since <= moment), default=0)


def versions_agreed_to(tx: Connection) -> dict[str, int]:
    """The version each worker agreed to last, as stored with the worker. Experts need no consent and are left out."""
    query = select(worker.c.pseudonym, worker.c.consent_version).where(worker.c.consent_version > 0)
    return {str(name): int(version) for name, version in tx.execute(query)}


class TakenUp(NamedTuple):
    """An answer, and when its item was assigned."""

    response: int
    worker: str
    version: int | None
    """The version the worker's row has now; 0 for experts."""
    leased_at: int


def taken_up(tx: Connection) -> Iterator[TakenUp]:
    """The time when the item of every answer was assigned, streamed."""
    query = (
        select(response.c.id, worker.c.pseudonym, worker.c.consent_version, assignment.c.leased_at)
        .join(assignment, assignment.c.id == response.c.assignment_id)
        .join(worker, worker.c.id == response.c.worker_id)
        .order_by(response.c.id)
    )
    return map(TakenUp._make, tx.execute(query, execution_options=STREAMED))
