"""`chorale sync` and `chorale review`"""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from chorale.cli.arguments import AsJson, Database, StudyFolder
from chorale.cli.output import print_json, say, show

if TYPE_CHECKING:
    from chorale.engine.running import Study
    from chorale.store import Tx
    from chorale.store.submissions import SubmissionRow

BY = "the command line"


def sync(directory: StudyFolder, db: Database = None, as_json: AsJson = False) -> None:
    """Take over what Prolific reports: who came, who left; approve, send messages, keep invitation lists."""
    from chorale.cli.asking import prolific
    from chorale.cli.progress import patiently
    from chorale.engine import payouts, recruiting
    from chorale.engine.started import started_study
    from chorale.monitor.payouts import recruiting_table

    with started_study(directory, db) as study, prolific() as client, patiently("talking to Prolific"):
        client.me()
        done = recruiting.sync(study, client)
        settled = payouts.confirm(study, client)
        studies = study.store.read(recruiting.summary).result()
    if as_json:
        print_json({**asdict(done), "payouts_settled": settled, "studies": studies})
        return
    show(recruiting_table(studies))
    say(f"{done.approved} approved, {done.freed} items given back, {done.messages} messages sent.")
    if done.waiting:
        say(f"{len(done.waiting)} submissions need you: `chorale review {directory}`.")
    for note in done.notes:
        say(f"Look at this: {note}.")


def review(
    directory: StudyFolder,
    approve: Annotated[
        list[str] | None,
        typer.Option(metavar="WORKER", help="Approve what this worker submitted.", show_default=False),
    ] = None,
    reject: Annotated[
        str | None, typer.Option(metavar="WORKER", help="Reject what this worker submitted.", show_default=False)
    ] = None,
    because: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Why, for the person to read; Prolific asks for at least 100 characters.",
            show_default=False,
        ),
    ] = None,
    category: Annotated[
        str, typer.Option(metavar="NAME", help="Prolific's name for the kind of reason, e.g. FAILED_CHECK.")
    ] = "LOW_EFFORT",
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show submissions on Prolific that wait for a decision, or decide: approve or reject."""
    from chorale.cli.asking import prolific
    from chorale.engine import recruiting
    from chorale.engine.started import started_study
    from chorale.model import UserError
    from chorale.monitor.payouts import waiting_table
    from chorale.platforms.prolific import enough_said

    if reject is not None and because is None:
        raise UserError("--reject needs --because TEXT: the person reads why.")
    if reject is not None:
        enough_said(because or "", category)
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
        told = [
            {"worker": row.worker, "study": row.panel_study, "did_enough": enough[row.external_id]} for row in waiting
        ]
        print_json({"waiting": told})
    elif waiting:
        show(waiting_table(waiting, enough))
    else:
        say("No submission waits for a decision.")


def _waiting(study: "Study") -> "tuple[list[SubmissionRow], dict[str, bool]]":
    from chorale.engine.recruiting import did_enough
    from chorale.store import submissions

    def look(tx: "Tx") -> "tuple[list[SubmissionRow], dict[str, bool]]":
        rows = list(submissions.submissions(tx, status="AWAITING REVIEW"))
        return rows, {row.external_id: did_enough(tx, study, row) for row in rows}

    return study.store.read(look).result()


def _of(waiting: "list[SubmissionRow]", worker: str) -> "SubmissionRow":
    from chorale.model import UserError

    for row in waiting:
        if row.worker == worker:
            return row
    raise UserError(f"No submission of {worker!r} waits for a decision. `chorale review` lists those that do.")
