"""`chorale sync`, `chorale review` and `chorale message`"""

from dataclasses import asdict
from typing import Annotated

from chorale.cli.arguments import BY, AsJson, Database, StudyFolder
from chorale.cli.asking import agreed, prolific
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.cli.progress import patiently
from chorale.cli.terminal import show
from chorale.engine import payouts, recruiting
from chorale.engine.publishing import asked_for
from chorale.engine.recruiting import is_to_approve
from chorale.engine.running import Study
from chorale.engine.started import started_study
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.monitor.payouts import recruiting_table, waiting_table
from chorale.platforms.prolific import checked_reason
from chorale.present.shell import argument
from chorale.store import Tx, submissions
from chorale.store.submissions import SubmissionRow


def sync(directory: StudyFolder, db: Database = None, as_json: AsJson = False) -> None:
    """Synchronise with Prolific: import and approve submissions, send messages, update allow-lists."""
    with started_study(directory, db) as study, prolific() as client, patiently("contacting Prolific"):
        client.me()
        done = recruiting.sync(study, client)
        settled = payouts.confirm(study, client)
        studies = study.store.read(recruiting.summary).result()
    if as_json:
        print_json({**asdict(done), "payouts_settled": settled, "studies": studies})
        return
    show(recruiting_table(studies))
    approved = plural(done.approved, "submission", "submissions")
    freed, sent = plural(done.freed, "open item", "open items"), plural(done.messages, "message", "messages")
    print_line(f"{approved} approved, {freed} offered to other workers, {sent} sent.")
    if done.waiting:
        waiting = plural(len(done.waiting), "submission needs", "submissions need")
        print_line(f"{waiting} a decision: `chorale review {argument(directory)}`.")
    for note in done.notes:
        print_line(f"Warning: {note}.")


def review(
    directory: StudyFolder,
    approve: Annotated[
        list[str] | None, Option(metavar="WORKER", help="Approve this worker's submission. Repeatable.")
    ] = None,
    reject: Annotated[str | None, Option(metavar="WORKER", help="Reject this worker's submission.")] = None,
    because: Annotated[
        str | None,
        Option(
            metavar="TEXT",
            help="With --reject or --ask-return: the reason, sent to the worker. For a rejection, Prolific requires at "
            "least 100 characters.",
        ),
    ] = None,
    ask_return: Annotated[
        str | None, Option(metavar="WORKER", help="Ask this worker to return their submission. Needs --because.")
    ] = None,
    unreject: Annotated[
        str | None,
        Option(
            metavar="WORKER",
            help="Withdraw the rejection of this worker's submission. The submission then needs a decision again.",
        ),
    ] = None,
    category: Annotated[
        str, Option(metavar="NAME", help="With --reject: Prolific's category for the reason, e.g. FAILED_CHECK.")
    ] = "LOW_EFFORT",
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """List submissions on Prolific that need a decision, or approve, reject or request the return of submissions."""
    if (reject is not None or ask_return is not None) and not (because or "").strip():
        raise UserError("--reject and --ask-return need --because TEXT: the worker reads the reason.")
    if reject is not None:
        checked_reason(because or "", category)
    with started_study(directory, db) as study:
        waiting, enough = _waiting(study)
        if approve or reject is not None or ask_return is not None or unreject is not None:
            with prolific() as client:
                chosen = [_of(waiting, name) for name in approve or ()]
                if reject is not None:
                    recruiting.reject(study, client, _of(waiting, reject), because or "", category, BY)
                if ask_return is not None:
                    recruiting.request_return(study, client, _of(_open(study), ask_return), because or "", BY)
                if unreject is not None:
                    recruiting.unreject(study, client, _of(_with(study, "REJECTED"), unreject), BY)
                if chosen:
                    recruiting.approve(study, client, chosen, BY)
                recruiting.sync(study, client)
            waiting, enough = _waiting(study)
    if as_json:
        decisions = [
            {"worker": row.worker, "study": row.panel_study, "did_enough": enough[row.external_id]} for row in waiting
        ]
        print_json({"waiting": decisions})
    elif waiting:
        show(waiting_table(waiting, enough))
    else:
        print_line("No submission needs a decision.")


def _waiting(study: Study) -> tuple[list[SubmissionRow], dict[str, bool]]:
    def look(tx: Tx) -> tuple[list[SubmissionRow], dict[str, bool]]:
        rows = list(submissions.submissions(tx, status="AWAITING REVIEW"))
        return rows, {row.external_id: is_to_approve(tx, study, row) for row in rows}

    return study.store.read(look).result()


def _with(study: Study, *statuses: str) -> list[SubmissionRow]:
    return study.store.look(
        lambda tx: [row for status in statuses for row in submissions.submissions(tx, status=status)]
    )


def _open(study: Study) -> list[SubmissionRow]:
    """Submissions that workers can still return."""
    return _with(study, "ACTIVE", "AWAITING REVIEW")


def _of(waiting: list[SubmissionRow], worker: str) -> SubmissionRow:
    for row in waiting:
        if row.worker == worker:
            return row
    raise UserError(
        f"No submission of {worker!r} can be decided this way. `chorale review` lists submissions that need a decision."
    )


def message(
    directory: StudyFolder,
    text: Annotated[str, Option(metavar="TEXT", help="Text of the message, shown in the inbox on Prolific.")],
    study_name: Annotated[
        str | None,
        Option(
            "--study", metavar="NAME", help="Name of a study under [prolific] in study.toml. Default: the first study."
        ),
    ] = None,
    to: Annotated[
        list[str] | None,
        Option(
            metavar="WORKER",
            help="Worker who gets the message. Repeatable. Default: everybody in the study on Prolific.",
        ),
    ] = None,
    status: Annotated[
        str | None, Option(metavar="STATUS", help="Send only to people with a submission in this state, e.g. APPROVED.")
    ] = None,
    yes: Annotated[bool, Option(help="Send without confirmation.")] = False,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Send a message to all participants of a study on Prolific, or to some of them."""
    with started_study(directory, db) as study:
        name = asked_for(study, study_name).name
        people = recruiting.recipients(study, name, to, status)
        if not (yes or agreed(f"Send it to {plural(len(people), 'person', 'people')}?")):
            return
        with prolific() as client:
            recruiting.message_all(study, client, name, people, text, BY)
    if as_json:
        print_json({"study": name, "people": len(people)})
    else:
        print_line(f"Sent to {plural(len(people), 'person', 'people')}.")
