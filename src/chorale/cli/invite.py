"""`chorale invite`"""

from pathlib import Path
from typing import Annotated

from chorale import cli
from chorale.cli.addresses import study_url
from chorale.cli.arguments import BY, AsJson, Database, PublicUrl, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.engine import arrivals
from chorale.engine.running import Study
from chorale.engine.started import stage_called, study_to_prepare
from chorale.files.addresses import read_addresses
from chorale.files.tables import write_csv
from chorale.files.targets import check_target, writing
from chorale.metrics.options import Force
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.monitor.payouts import invitations_table
from chorale.store import invitations, settings
from chorale.store.invitations import REUSABLE, SINGLE
from chorale.store.mail import queue_invitations
from chorale.web.links import invitation_path, new_invitations, new_staff_link, study_sessions
from chorale.web.mailing import send_mail

DEFAULT_URL = "http://127.0.0.1:8000"


def invite(
    directory: StudyFolder,
    count: Annotated[
        int | None, Option(help="Number of workers to invite. Default: 1; with --reusable, no limit.", min=1)
    ] = None,
    expert: Annotated[
        str | None, Option(metavar="NAME", help="Invite an expert with this name, instead of workers.")
    ] = None,
    stage: Annotated[
        str | None,
        Option(metavar="NAME", help="Invite workers to this stage, and grant them the qualification `invited-STAGE`."),
    ] = None,
    reusable: Annotated[
        bool, Option(help="Make one link for many people. --count limits the number of people.")
    ] = False,
    emails: Annotated[Path | None, Option(help="Make a link for every e-mail address in this file.")] = None,
    out: Annotated[Path | None, Option(help="With --emails: CSV file for the addresses and the links.")] = None,
    send: Annotated[
        bool, Option(help="With --emails: send each link once by e-mail. Needs [mail] in study.toml.")
    ] = False,
    force: Force = False,
    listed: Annotated[bool, Option("--list", help="List existing links and exit.")] = False,
    revoke: Annotated[
        int | None, Option(metavar="NUMBER", help="Revoke the link with this number. --list shows the numbers.")
    ] = None,
    public_url: PublicUrl = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Make, list or revoke signed invitation links for workers or experts."""
    if expert is not None and (count is not None or reusable or stage is not None):
        raise UserError("--count, --reusable and --stage are for workers. Invite experts one at a time.")
    if emails is None and (out is not None or send):
        raise UserError(f"{'--send' if out is None else '--out'} needs --emails, a file with one address per line.")
    if emails is not None and out is None and not send:
        raise UserError("--emails needs --out (a file for the addresses and links) or --send.")
    if emails is not None and (expert is not None or count is not None or reusable):
        raise UserError("--emails makes one link for every address. Leave out --count, --reusable and --expert.")
    check_target(out, "--out", force=force, endings=(".csv",))
    with study_to_prepare(directory, db) as study:
        if stage is not None:
            stage_called(study, stage)
        base = base_url(study, public_url)
        if listed:
            _list(study, as_json=as_json)
        elif revoke is not None:
            _revoke(study, revoke, as_json=as_json)
        elif emails is not None:
            _invite_addresses(study, emails, stage, base, out=out, send=send, as_json=as_json)
        else:
            links = [base + path for path in _paths(study, count, expert, stage, reusable=reusable)]
            _print_links(links, expert, as_json=as_json)


def base_url(study: Study, public_url: str | None) -> str:
    """The base URL of links: the address from the command line, or the site's last address."""
    recorded = study.store.look(lambda tx: settings.setting_value(tx, "site"))
    return (recorded or DEFAULT_URL) if public_url is None else study_url(public_url, recorded)


def _paths(study: Study, count: int | None, expert: str | None, stage: str | None, *, reusable: bool) -> list[str]:
    sessions = study_sessions(study)
    if expert is not None:
        name = expert.strip()
        return [study.store.write(lambda tx: new_staff_link(tx, study, sessions, "expert", name, BY)).result()]
    kind, links, most = (REUSABLE, 1, count) if reusable else (SINGLE, count or 1, None)
    return study.store.write(
        lambda tx: new_invitations(tx, study, sessions, links, BY, kind=kind, stage=stage, most=most)
    ).result()


def _print_links(links: list[str], expert: str | None, *, as_json: bool) -> None:
    if as_json:
        print_json({"links": links, "expert": expert})
        return
    for link in links:
        print_line(link)


def _list(study: Study, *, as_json: bool) -> None:
    rows = study.store.read(invitations.all_of_them).result()
    if as_json:
        fields = ("id", "kind", "stage", "uses", "most", "made_at", "revoked_at")
        print_json({"invitations": [{name: getattr(row, name) for name in fields} for row in rows]})
    else:
        cli.show(invitations_table(rows))
        print_line("Links of experts and viewers are on the console's page Team, where the owner can revoke them.")


def _revoke(study: Study, number: int, *, as_json: bool) -> None:
    if not study.store.write(lambda tx: arrivals.revoke(tx, study, number, BY)).result():
        raise UserError(
            f"There is no valid link with the number {number}. `chorale invite DIR --list` lists all links."
        )
    if as_json:
        print_json({"revoked": number})
    else:
        print_line(f"Link {number} revoked. People already admitted keep access.")


def _invite_addresses(
    study: Study, emails: Path, stage: str | None, base: str, *, out: Path | None, send: bool, as_json: bool
) -> None:
    if send and study.settings.mail is None:
        raise UserError("study.toml has no mail server. Add [mail] with host and sender, or use --out.")
    addresses = read_addresses(emails)
    sessions = study_sessions(study)
    nonces = study.store.write(lambda tx: arrivals.invite_addresses(tx, study, addresses, stage, BY)).result()
    if out is not None:
        links = [base + invitation_path(sessions, nonce) for nonce in nonces]
        rows = [{"email": address, "link": link} for address, link in zip(addresses, links, strict=True)]
        with writing(out, "--out"):
            write_csv(("email", "link"), rows, out, private=True)
    queued = study.store.write(lambda tx: queue_invitations(tx, nonces, study.clock())).result() if send else 0
    sent = send_mail(study, base) if send else {}
    if as_json:
        print_json({"addresses": len(addresses), "file": None if out is None else str(out), "mail": dict(sent)})
        return
    if out is not None:
        print_line(
            f"{out} contains links for {plural(len(addresses), 'address', 'addresses')}. "
            "Anyone with a link can join, so send each link only to its addressee."
        )
    if send:
        invitations = plural(queued, "invitation", "invitations")
        letters = plural(sent.get("sent", 0), "e-mail", "e-mails")
        print_line(f"{invitations} queued, {letters} sent. `chorale mail` sends any that are left.")
