"""`chorale mail`"""

from typing import Annotated

from chorale.cli.arguments import AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.engine.started import started_study
from chorale.model import UserError
from chorale.store import mail as letters
from chorale.web.mailing import send_mail


def mail(
    directory: StudyFolder,
    resend: Annotated[
        bool,
        Option(help="Resend every e-mail that may not have been sent. Some people may get an e-mail twice."),
    ] = False,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Send each queued e-mail (invitation or message) once. An open site does this automatically."""
    with started_study(directory, db) as study:
        if study.settings.mail is None:
            raise UserError("study.toml has no mail server. Add [mail] with host and sender.")
        again = study.store.do(lambda tx: letters.queue_again(tx, study.clock())) if resend else 0
        done = send_mail(study)
        states = study.store.look(letters.states)
    if as_json:
        print_json({"done": dict(done), "queued_anew": again, "states": states})
        return
    print_line(", ".join(f"{count:,} {state}" for state, count in sorted(done.items())) or "Nothing to send.")
    if states.get(letters.SENDING):
        print_line(
            f"{states[letters.SENDING]:,} may not have been sent, because the connection was lost. Add "
            f"--resend to send them again."
        )
