"""People from Prolific: admitted, matched with their submissions, approved or rejected, and sent messages.

Every step can be repeated safely. Studies are created in `engine.publishing`, and payments are made in
`engine.payouts`.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from chorale.engine.finishing import ending_in
from chorale.engine.leases import give_back_everything
from chorale.engine.publishing import PANEL, GoneError, keep_group, state_of, still_there, workspace
from chorale.engine.recruited import screenout_of, stages_of
from chorale.engine.running import Study
from chorale.engine.visit import visit
from chorale.model import UserError
from chorale.platforms.prolific import InvalidIdError, Prolific, RefusedError, Reported, changes_there, checked_reason
from chorale.platforms.prolific.hooks import EVENTS
from chorale.platforms.prolific.planning import FREED, SCREENED_OUT
from chorale.platforms.prolific.transport import ADDRESS
from chorale.protocol import Ending
from chorale.store import Tx, erasing, events, submissions
from chorale.store.erased import ERASED_TEXT
from chorale.store.submissions import GONE, PAUSED, TEST, OutgoingRow, PanelStudyRow, SubmissionRow

TOKEN_VARIABLE = "PROLIFIC_TOKEN"  # noqa: S105 - the name of a variable, not what is in it
ADDRESS_VARIABLE = "CHORALE_PROLIFIC_URL"
APPROVED_AT_ONCE = 100
GIVEN_UP_MS = 10 * 60_000
"""After this time, no process can still be sending a message."""


def connected(token: str, **options: Any) -> Prolific:
    """A client for Prolific's API; only tests use another address."""
    return Prolific(token, os.environ.get(ADDRESS_VARIABLE, ADDRESS), **options)


def token_in_environment() -> str | None:
    return os.environ.get(TOKEN_VARIABLE, "").strip() or None


@dataclass
class Synced:
    """The result of a sync with Prolific."""

    reported: int = 0
    freed: int = 0
    approved: int = 0
    messages: int = 0
    waiting: list[str] = field(default_factory=list)
    """Pseudonyms of people whose submissions need a decision."""
    notes: list[str] = field(default_factory=list)


def sync(study: Study, client: Prolific) -> Synced:
    """Import Prolific's reports, and send it the resulting actions. Idempotent."""
    done = Synced()
    rule = study.settings.prolific
    wanted = {} if rule is None else {one.name: one for one in rule.study}
    for row in study.store.look(submissions.studies):
        if row.external_id is None or row.state == GONE:
            continue
        if not _sync_study(study, client, row, done):
            continue
        if row.name in wanted:
            keep_group(study, client, wanted[row.name], row, None if rule is None else rule.project)
        if rule is not None and rule.approve:
            _approve(study, client, row, done)
    _deliver(study, client, done)
    return done


def _sync_study(study: Study, client: Prolific, row: PanelStudyRow, done: Synced) -> bool:
    try:
        remote = still_there(study, client, row)
    except GoneError as error:
        done.notes.append(error.message)
        return False
    state = state_of(remote)
    if row.state not in (state, TEST):
        study.store.do(lambda tx: submissions.note_study(tx, row.name, state=state))
        if state == PAUSED:
            again = f"`chorale resume DIR --study {row.name}`"
            done.notes.append(f"the study {row.name!r} is paused on Prolific; {again} resumes it")
    changed = changes_there(row.asked, remote.fields)
    done.notes += [f"the study {row.name!r} was changed on Prolific ({what})" for what in changed]
    done.reported += _take_over_all(study, client, row, done)
    return True


def _take_over_all(study: Study, client: Prolific, row: PanelStudyRow, done: Synced) -> int:
    """Import all submissions of a study; returns how many."""
    reports = list(client.submissions(row.external_id or ""))
    done.freed += study.store.do(lambda tx: sum(_take_over(tx, study, row, reported) for reported in reports))
    return len(reports)


def _take_over(tx: Tx, study: Study, row: PanelStudyRow, reported: Reported) -> int:
    """Import a submission; returns how many items of its worker became free."""
    if erasing.is_erased_submission(tx, reported.id):
        return 0
    reward = row.reward if reported.status == "APPROVED" else 0
    if reported.status == SCREENED_OUT:
        reward = int(row.asked.get("screenout_reward", 0))
    before, worker_id = submissions.note_report(
        tx, reported.id, row.name, reported.participant, reported.status, reported.code, reward, study.clock()
    )
    if before == reported.status:
        return 0
    evidence = {"platform": PANEL, "study": row.name, "status": reported.status, "before": before}
    events.record(tx, study.clock(), "submission", evidence, worker_id=worker_id)
    if reported.status not in FREED or worker_id is None:
        return 0
    return give_back_everything(tx, study, worker_id, stages_of(tx, study, row.name))


def _approve(study: Study, client: Prolific, row: PanelStudyRow, done: Synced) -> None:
    def decide(tx: Tx) -> tuple[list[SubmissionRow], list[SubmissionRow]]:
        waiting = submissions.submissions(tx, study_name=row.name, status="AWAITING REVIEW")
        good = [one for one in waiting if is_to_approve(tx, study, one)]
        return good, [one for one in waiting if one not in good]

    good, undecided = study.store.look(decide)
    done.waiting += [one.worker or "somebody who never joined the study" for one in undecided]
    for start in range(0, len(good), APPROVED_AT_ONCE):
        batch = good[start : start + APPROVED_AT_ONCE]
        approve(study, client, batch)
        done.approved += len(batch)
    if good:
        # Import the new statuses at once: rewards of approved submissions count as paid.
        _take_over_all(study, client, row, done)


def is_to_approve(tx: Tx, study: Study, row: SubmissionRow) -> bool:
    """Whether a submission is approved automatically.

    People who were screened out get the reward only if the study says so. Otherwise, Prolific pays a fixed amount for
    their code or asks them to return the submission.
    """
    seen = None if row.worker_id is None else visit(tx, study, row.worker_id)
    ended = None if seen is None else ending_in(tx, study, seen, row)
    return ended is Ending.COMPLETED or (ended is not None and screenout_of(tx, study, row.panel_study) == "approve")


def approve(study: Study, client: Prolific, rows: Sequence[SubmissionRow], by: str = "rule") -> None:
    """Approve submissions; the next report confirms it."""
    client.approve([one.external_id for one in rows])

    def note(tx: Tx) -> None:
        for submission in rows:
            events.record(tx, study.clock(), "approved", {"platform": PANEL, "by": by}, worker_id=submission.worker_id)

    study.store.do(note)


def reject(study: Study, client: Prolific, row: SubmissionRow, reason: str, category: str, by: str) -> None:
    """Reject a submission, with a reason its worker reads."""
    reason = checked_reason(reason, category)
    client.reject(row.external_id, reason, category)
    evidence = {"platform": PANEL, "category": category, "reason": reason, "by": by}
    study.store.do(lambda tx: events.record(tx, study.clock(), "rejected", evidence, worker_id=row.worker_id))


def request_return(study: Study, client: Prolific, row: SubmissionRow, reason: str, by: str) -> None:
    """Ask a worker to return their submission, with a reason they read."""
    reason = " ".join(reason.split())
    client.request_return(row.external_id, reason)
    evidence = {"platform": PANEL, "reason": reason, "by": by}
    study.store.do(lambda tx: events.record(tx, study.clock(), "return requested", evidence, worker_id=row.worker_id))


def unreject(study: Study, client: Prolific, row: SubmissionRow, by: str) -> None:
    """Withdraw a rejection: the submission needs a decision again."""
    client.unreject(row.external_id)
    evidence = {"platform": PANEL, "by": by}
    study.store.do(lambda tx: events.record(tx, study.clock(), "unrejected", evidence, worker_id=row.worker_id))


def recipients(study: Study, name: str, chosen: Sequence[str] | None, status: str | None) -> list[SubmissionRow]:
    """The recipients of a message to a study on Prolific: everybody, or a selection by pseudonym or status."""
    listed = study.store.look(lambda tx: submissions.submissions(tx, study_name=name))
    rows = [row for row in listed if row.participant != ERASED_TEXT]
    people = {row.participant: row for row in rows if status is None or row.status == status.upper()}
    if chosen is not None:
        known = {row.worker for row in people.values()}
        if missing := [one for one in chosen if one not in known]:
            raise UserError(f"{', '.join(missing)}: no such submission in the study {name!r}. Nothing was sent.")
        people = {participant: row for participant, row in people.items() if row.worker in chosen}
    if not people:
        raise UserError(
            f"The study {name!r} has no participants {'' if status is None else f'with status {status.upper()} '}to "
            "send a message to. `chorale sync` counts its submissions by status."
        )
    return list(people.values())


def message_all(study: Study, client: Prolific, name: str, people: Sequence[SubmissionRow], text: str, by: str) -> None:
    """Send one message to people of a study on Prolific."""
    row = study.store.look(lambda tx: submissions.study_called(tx, name))
    if not text.strip():
        raise UserError("The message is blank. Nothing was sent.")
    if row is None or row.external_id is None:
        raise UserError(f"The study {name!r} has not been created on Prolific yet. `chorale publish` creates it.")
    client.message_all([one.participant for one in people], row.external_id, text)
    evidence = {"platform": PANEL, "study": name, "people": len(people), "text": text, "by": by}
    study.store.do(lambda tx: events.record(tx, study.clock(), "message to all", evidence))


def _deliver(study: Study, client: Prolific, done: Synced) -> None:
    """Forward Chorale's messages to Prolific, once each: some people read messages only there."""
    long_ago = study.clock() - GIVEN_UP_MS
    for message in study.store.look(lambda tx: submissions.outgoing(tx, long_ago)):
        body = f"{message.title}\n\n{message.body}"
        if not _claim(study, message.message_id, long_ago):
            continue  # another process is sending it
        if message.state is None or not _is_there(client, message, body):
            client.message(message.participant, message.study, body)
            done.messages += 1
        _note_delivery(study, message.message_id)


def _is_there(client: Prolific, message: OutgoingRow, body: str) -> bool:
    """Whether a message was delivered, if the program stopped while it was sending it."""
    texts = (re.sub(r"<[^<>]+>", " ", text) for text in client.messages_with(message.participant))
    return any(text.split() == body.split() for text in texts)


def _note_delivery(study: Study, message_id: int) -> None:
    study.store.do(lambda tx: submissions.note_delivery(tx, message_id, "sent", study.clock()))


def _claim(study: Study, message_id: int, long_ago: int) -> bool:
    return study.store.do(lambda tx: submissions.claim_outgoing(tx, message_id, study.clock(), long_ago))


# Notifications


def subscribe(study: Study, client: Prolific, address: str) -> str:
    """Subscribe an address to Prolific's notifications; returns their signing secret."""
    if not address.startswith("https://"):
        raise UserError(
            "Prolific notifies https addresses only. Set the site's address with --public-url, or set webhooks = false."
        )
    where = workspace(study, client)
    secret = client.hook_secret(where)
    for event in EVENTS:
        client.subscribe(where, event, address)
    return secret


# Arrivals


def is_theirs(client: Prolific, participant: str, session_id: str, study_id: str) -> bool:
    """Whether Prolific confirms an arrival: the submission belongs to this person and to that study."""
    try:
        reported = client.submission(session_id)
    except RefusedError as error:
        if error.status in (400, 404):
            return False
        raise
    except InvalidIdError:
        return False
    return reported.participant == participant and reported.study_id == study_id


def is_ours(tx: Tx, study_id: str) -> bool:
    """Whether an arrival comes from a Prolific study created for this one.

    If none was created, any study is accepted.
    """
    made = [row.external_id for row in submissions.studies(tx) if row.external_id is not None]
    return not made or study_id in made


def note_arrival(tx: Tx, study: Study, worker_id: int, participant: str, study_id: str, session_id: str) -> None:
    """Record the submission with which a worker arrived, if it belongs to one of our studies."""
    row = submissions.study_with_id(tx, study_id)
    if row is not None and session_id:
        submissions.note_arrival(tx, session_id, row.name, participant, worker_id, study.clock())


def summary(tx: Tx) -> list[dict[str, Any]]:
    """Every study on Prolific, with its number of submissions by status."""
    counts = submissions.counts(tx)
    return [
        {
            "study": row.name,
            "state": row.state,
            "places": row.places,
            "reward": row.reward,
            "submissions": {status: count for (name, status), count in sorted(counts.items()) if name == row.name},
        }
        for row in submissions.studies(tx)
    ]
