"""Check identities: sessions belong to their workers, and answers to the epoch in which the worker was signed in."""

import json
from itertools import pairwise

from chorale.engine.entering import EXPERTS_PANEL
from chorale.engine.sessions import moment_text
from chorale.engine.team import DEACTIVATED, REACTIVATED
from chorale.model.plural import plural
from chorale.store import Tx, assignees, epochs, erasing, events, identities, requesters
from chorale.store.epochs import RESTORED, Epoch

ALL = 1_000_000


def identity_differences(tx: Tx) -> list[str]:
    """Sessions, arrivals and answers that can't belong to the workers they are stored with."""
    there = epochs.all_epochs(tx)
    differences = _epoch_differences(tx, there)
    for name in identities.submissions_of_others(tx):
        differences.append(f"worker {name}: has a submission of another person on the platform")
    for claimed, now in identities.sessions_of_others(tx):
        differences.append(f"worker {now}: has a session that was issued to {claimed}")
    if not events.recent(tx, 1, kinds=("imported",)):
        differences += _arrival_differences(tx, there)
    for epoch, later in pairwise([*there, None]):
        if epoch is not None and epoch.reason == RESTORED:
            up_to = None if later is None else later.last_response
            unknown = identities.responses_without_session(tx, epoch.number, epoch.last_response, up_to)
            differences += [
                f"worker {worker}: response {number} was given in epoch {epoch.number}, in which they never signed in"
                for number, worker in unknown
            ]
    return differences + _revoked_differences(tx) + _deactivated_differences(tx) + _assigned_differences(tx)


def _epoch_differences(tx: Tx, there: list[Epoch]) -> list[str]:
    recorded = {event.evidence.get("epoch") for event in events.recent(tx, ALL, kinds=("restored",))}
    differences = [
        f"epoch {epoch.number}: started with a restore that was not logged"
        for epoch in there
        if epoch.reason == RESTORED and epoch.number not in recorded
    ]
    numbers = {epoch.number for epoch in there if epoch.reason == RESTORED}
    differences += [
        f"epoch {number}: the log shows the restore that started it, but the list of epochs does not"
        for number in sorted(int(number) for number in recorded if number is not None and number not in numbers)
    ]
    for place, epoch in enumerate(there, 1):
        if epoch.number != place:
            differences.append(f"epoch {epoch.number}: expected epoch {place} here; the numbering has a gap")
        elif place > 1 and epoch.reason != RESTORED:
            differences.append(f"epoch {epoch.number}: did not start with a restore, and is not the first")
    for before, after in pairwise(there):
        if after.last_event < before.last_event or after.last_worker < before.last_worker:
            differences.append(f"epoch {after.number}: has fewer records before it than epoch {before.number}")
    return differences


def _arrival_differences(tx: Tx, there: list[Epoch]) -> list[str]:
    """Workers whose recorded arrival is missing, belongs to another worker, or does not match their epoch."""
    differences = []
    for worker in identities.arrivals(tx):
        if worker.event_id is None:
            differences.append(f"worker {worker.pseudonym}: the log does not show that they joined")
            continue
        recorded = json.loads(worker.evidence or "{}").get("worker", worker.pseudonym)
        if recorded != worker.pseudonym:
            differences.append(f"worker {worker.pseudonym}: the log shows that {recorded} joined instead")
        by_number = sum(worker.worker_id > epoch.last_worker for epoch in there)
        by_event = sum(worker.event_id > epoch.last_event for epoch in there)
        if by_number != by_event:
            differences.append(
                f"worker {worker.pseudonym}: was stored in epoch {by_number}, but the log shows that they joined in "
                f"epoch {by_event}"
            )
    return differences


def _revoked_differences(tx: Tx) -> list[str]:
    """Answers of experts after their link was revoked."""
    last = {
        str(event.evidence["worker"]): int(event.evidence["last_response"])
        for event in events.recent(tx, ALL, kinds=("link revoked",))
        if "last_response" in event.evidence
    }
    return [
        f"worker {pseudonym}: response {number} was given after their link was revoked"
        for pseudonym in requesters.revoked_workers(tx, EXPERTS_PANEL)
        if pseudonym in last
        for number in identities.responses_after(tx, pseudonym, last[pseudonym])
    ]


def _deactivated_differences(tx: Tx) -> list[str]:
    """Answers of annotators while their account was deactivated."""
    reactivated = events.recent(tx, ALL, kinds=(REACTIVATED,))
    differences = []
    for event in events.recent(tx, ALL, kinds=(DEACTIVATED,)):
        if "last_response" not in event.evidence:
            continue
        worker, last = str(event.evidence["worker"]), int(event.evidence["last_response"])
        again = [
            int(later.evidence["last_response"])
            for later in reactivated
            if later.evidence["worker"] == worker and later.id > event.id
        ]
        differences += [
            f"worker {worker}: response {number} was given after their account was deactivated"
            for number in identities.responses_after(tx, worker, last)
            if not again or number <= min(again)
        ]
    return differences


def _assigned_differences(tx: Tx) -> list[str]:
    """Answers to items that were assigned to other people."""
    return [
        f"worker {pseudonym}: response {number} is to item {key}, which was assigned to others"
        for number, pseudonym, key in assignees.not_theirs(tx)
    ]


def unchecked_identities(tx: Tx) -> list[str]:
    """Questions about identity that the database cannot answer."""
    there = epochs.all_epochs(tx)
    notes = [
        "whether two participant IDs belong to the same person, or a session was shared with another person",
        "whether the platform ID of a worker is the one they joined with: it is stored only once",
    ]
    erased = len({one.worker for one in erasing.erasures(tx) if one.identity})
    recorded = identities.session_count(tx) + erased > 0
    if not there or there[0].last_worker or not recorded:
        unknown = "in which sessions people answered"
        if there and recorded:
            since = moment_text(there[0].began_at)
            notes.append(f"{unknown} before {since}: sessions were not recorded until then")
        else:
            notes.append(f"{unknown}: sessions were not recorded in this study")
    if erased:
        notes.append(f"sessions that were erased with the identity of {plural(erased, 'worker', 'workers')}")
    notes += [
        f"work between the backup of {moment_text(epoch.backup_at)} and its restore on "
        f"{moment_text(epoch.began_at)}: it is not in this database"
        for epoch in there
        if epoch.reason == RESTORED and epoch.backup_at is not None
    ]
    return notes


def identities_checked(tx: Tx) -> dict[str, int]:
    return {
        "sessions": identities.session_count(tx),
        "restores": sum(epoch.reason == RESTORED for epoch in epochs.all_epochs(tx)),
    }
