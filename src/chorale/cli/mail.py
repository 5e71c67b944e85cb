"""`chorale mail`"""

from typing import Annotated

from chorale.cli.arguments import AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.engine.started import started_study
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.platforms.smtp import MailOutcome
from chorale.store import mail as letters
from chorale.web.mailing import send_mail

_OUTCOMES: dict[str, str] = {
    MailOutcome.SENT: "sent",
    MailOutcome.FAILED: "failed (refused permanently by the mail server)",
    MailOutcome.LATER: "waiting (refused by the mail server for now; the next run tries again)",
    MailOutcome.STOPPED: "not sent (the mail server accepts no e-mail now; all unsent e-mail stays queued)",
    MailOutcome.IN_DOUBT: "uncertain (the connection was lost)",
    letters.UNSUBSCRIBED: "not sent (the recipient has unsubscribed)",
}
"""The results of sending, in words."""


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
    results = [f"{count:,} {_OUTCOMES[state]}" for state, count in sorted(done.items()) if count]
    print_line(", ".join(results) or "Nothing to send.")
    if states.get(letters.SENDING):
        doubtful = plural(states[letters.SENDING], "e-mail", "e-mails")
        print_line(
            f"{doubtful} may not have been sent, because the connection was lost. Add --resend to send every such "
            "e-mail again."
        )
