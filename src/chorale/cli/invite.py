"""`chorale invite`"""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from typing import TYPE_CHECKING, Annotated

import typer

from chorale.cli.arguments import AsJson, Database, PublicUrl, StudyFolder
from chorale.cli.output import print_json, say

if TYPE_CHECKING:
    from chorale.store import Tx
    from chorale.study import Study

BY = "the command line"
DEFAULT_URL = "http://127.0.0.1:8000"


def invite(
    directory: StudyFolder,
    count: Annotated[
        int | None,
        typer.Option(metavar="N", help="How many workers to invite; 1 if not given.", min=1, show_default=False),
    ] = None,
    expert: Annotated[
        str | None, typer.Option(metavar="NAME", help="Invite an expert of this name instead.", show_default=False)
    ] = None,
    public_url: PublicUrl = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Make signed links, one for each person: they let workers or an expert in."""
    from chorale.cli.addresses import Site, checked_public_url
    from chorale.model import UserError
    from chorale.study.started import study_to_prepare

    if expert is not None and count is not None:
        raise UserError("--count is for workers. Invite experts one by one.")
    site = Site(checked_public_url(public_url or DEFAULT_URL))
    with study_to_prepare(directory, db) as study:
        paths = _worker_paths(study, count or 1) if expert is None else [_expert_path(study, expert.strip())]
    links = [site.link(path) for path in paths]
    if as_json:
        print_json({"links": links, "expert": expert})
        return
    for link in links:
        say(link)


def _worker_paths(study: "Study", count: int) -> list[str]:
    from chorale.cli.addresses import new_invitation
    from chorale.store import events
    from chorale.web.staff import invitation_path, study_sessions

    def note(tx: "Tx") -> None:
        events.record(tx, study.clock(), "invited", {"by": BY, "invitations": count})

    study.store.write(note).result()
    sessions = study_sessions(study)
    return [invitation_path(sessions, new_invitation()) for _ in range(count)]


def _expert_path(study: "Study", name: str) -> str:
    from chorale.model import UserError
    from chorale.store import events, people
    from chorale.web.console.overview import EXPERT_NAME
    from chorale.web.staff import EXPERT, expert_link_path, study_sessions

    if not EXPERT_NAME.fullmatch(name):
        raise UserError("An expert's name has letters, digits, spaces and . @ + ' - in it, 60 at most.")

    def note(tx: "Tx") -> None:
        known = people.find_requester(tx, name)
        if known is not None and known.role != EXPERT:
            raise UserError(f"{name!r} is the owner's name. Give the expert another one.")
        events.record(tx, study.clock(), "expert invited", {"by": BY, "expert": name})

    study.store.write(note).result()
    return expert_link_path(study_sessions(study), name)
