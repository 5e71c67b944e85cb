"""`chorale sync` and `chorale review`"""

from dataclasses import asdict
from typing import Annotated

from chorale.cli.arguments import BY, AsJson, Database, StudyFolder
from chorale.cli.asking import prolific
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.cli.progress import patiently
from chorale.cli.terminal import show
from chorale.engine import payouts, recruiting
from chorale.engine.recruiting import did_enough
from chorale.engine.running import Study
from chorale.engine.started import started_study
from chorale.model import UserError
from chorale.monitor.payouts import recruiting_table, waiting_table
from chorale.platforms.prolific import checked_reason
from chorale.store import Tx, submissions
from chorale.store.submissions import SubmissionRow


def sync(directory: StudyFolder, db: Database = None, as_json: AsJson = False) -> None:
    """Take over what Prolific reports: who came, who left; approve, send messages, keep invitation lists."""
    with started_study(directory, db) as study, prolific() as client, patiently("talking to Prolific"):
        client.me()
        done = recruiting.sync(study, client)
        settled = payouts.confirm(study, client)
        studies = study.store.read(recruiting.summary).result()
    if as_json:
        print_json({**asdict(done), "payouts_settled": settled, "studies": studies})
        return
    show(recruiting_table(studies))
    print_line(f"{done.approved} approved, {done.freed} items given back, {done.messages} messages sent.")
    if done.waiting:
        print_line(f"{len(done.waiting)} submissions need you: `chorale review {directory}`.")
    for note in done.notes:
        print_line(f"Look at this: {note}.")


def review(
    directory: StudyFolder,
    approve: Annotated[list[str] | None, Option(metavar="WORKER", help="Approve what this worker submitted.")] = None,
    reject: Annotated[str | None, Option(metavar="WORKER", help="Reject what this worker submitted.")] = None,
    because: Annotated[
        str | None,
        Option(metavar="TEXT", help="Why, for the person to read; Prolific asks for at least 100 characters."),
    ] = None,
    category: Annotated[
        str, Option(metavar="NAME", help="Prolific's name for the kind of reason, e.g. FAILED_CHECK.")
    ] = "LOW_EFFORT",
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show submissions on Prolific that wait for a decision, or decide: approve or reject."""
    if reject is not None and because is None:
        raise UserError("--reject needs --because TEXT: the person reads why.")
    if reject is not None:
        checked_reason(because or "", category)
    with started_study(directory, db) as study:
        waiting, enough = _waiting(study)
        if approve or reject is not None:
            with prolific() as client:
                chosen = [_of(waiting, name) for name in approve or ()]
                if reject is not None:
                    recruiting.reject(study, client, _of(waiting, reject), because or "", category, BY)
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
        print_line("No submission waits for a decision.")


def _waiting(study: Study) -> tuple[list[SubmissionRow], dict[str, bool]]:
    def look(tx: Tx) -> tuple[list[SubmissionRow], dict[str, bool]]:
        rows = list(submissions.submissions(tx, status="AWAITING REVIEW"))
        return rows, {row.external_id: did_enough(tx, study, row) for row in rows}

    return study.store.read(look).result()


def _of(waiting: list[SubmissionRow], worker: str) -> SubmissionRow:
    for row in waiting:
        if row.worker == worker:
            return row
    raise UserError(f"No submission of {worker!r} waits for a decision. `chorale review` lists those that do.")
