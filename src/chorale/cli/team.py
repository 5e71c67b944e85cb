"""`chorale team`"""

from collections.abc import Callable
from typing import Annotated

from chorale import cli
from chorale.cli.arguments import BY, AsJson, Database, PublicUrl, StudyFolder
from chorale.cli.invite import base_url
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.engine import team as accounts
from chorale.engine.running import Study
from chorale.engine.started import study_to_prepare
from chorale.engine.team import NewLink
from chorale.model import UserError
from chorale.model.logins import login_of
from chorale.monitor.tables import team_table
from chorale.web.links import study_sessions, team_link_path


def team(
    directory: StudyFolder,
    invite: Annotated[
        str | None, Option(metavar="NAME", help="Print a one-time link with which this person chooses a password.")
    ] = None,
    reset: Annotated[
        str | None,
        Option(metavar="NAME", help="Print a link to choose a new password. The old password stops working at once."),
    ] = None,
    deactivate: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="Deactivate the account, end all sessions of the account, and offer its unfinished items to others.",
        ),
    ] = None,
    reactivate: Annotated[
        str | None,
        Option(metavar="NAME", help="Reactivate a deactivated account, and print a link to choose a new password."),
    ] = None,
    reason: Annotated[
        str, Option(metavar="TEXT", help="With --deactivate: the reason, kept in the activity log.")
    ] = "",
    public_url: PublicUrl = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """List or invite annotators who sign in with a password, reset a password, deactivate or reactivate an account."""
    if sum(name is not None for name in (invite, reset, deactivate, reactivate)) > 1:
        raise UserError("--invite, --reset, --deactivate and --reactivate cannot be combined. Use one at a time.")
    with study_to_prepare(directory, db) as study:
        if invite is not None:
            _print_link(study, accounts.invite, invite, public_url, as_json=as_json)
        elif reset is not None:
            _print_link(study, accounts.reset, reset, public_url, as_json=as_json)
        elif reactivate is not None:
            _print_link(study, accounts.reactivate, reactivate, public_url, as_json=as_json)
        elif deactivate is not None:
            _deactivate(study, deactivate, reason, as_json=as_json)
        else:
            _list(study, as_json=as_json)


def _print_link(
    study: Study, make: Callable[..., NewLink], name: str, public_url: str | None, *, as_json: bool
) -> None:
    base = base_url(study, public_url)
    made = study.store.do(lambda tx: make(tx, study.clock(), name, BY))
    link = base + team_link_path(study_sessions(study), made.token)
    if as_json:
        print_json({"name": made.name, "link": link, "hours": made.hours})
    else:
        print_line(link)


def _deactivate(study: Study, name: str, reason: str, *, as_json: bool) -> None:
    if not reason.strip():
        raise UserError("--deactivate needs a reason (--reason) for the activity log.")
    changed = study.store.do(lambda tx: accounts.deactivate(tx, study, name, BY, reason))
    left = study.store.look(lambda tx: accounts.accounts(tx, study.clock()))
    if as_json:
        print_json({"deactivated": changed})
    elif changed and all(login_of(account.name) != login_of(name) for account in left):
        print_line(f"The account of {name} was never used. It has been deleted, and its link no longer works.")
    elif changed:
        print_line(
            f"The account of {name} is deactivated. Its sessions have ended. Existing answers and earnings are kept."
        )
    else:
        print_line(f"The account of {name} was already deactivated.")


def _list(study: Study, *, as_json: bool) -> None:
    rows = study.store.look(lambda tx: accounts.accounts(tx, study.clock()))
    if as_json:
        fields = ("name", "state", "invited_at", "signed_in_at", "deactivated_at")
        print_json({"team": [{field: getattr(row, field) for field in fields} for row in rows]})
    elif rows:
        cli.show(team_table(rows))
    else:
        print_line("Nobody has an account yet. Invite somebody with --invite NAME.")
