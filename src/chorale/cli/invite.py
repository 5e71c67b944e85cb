"""`chorale invite`"""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from typing import Annotated

import typer

from chorale.cli.arguments import AsJson, Database, PublicUrl, StudyFolder
from chorale.cli.output import print_json, say

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
    from chorale.cli.addresses import checked_public_url
    from chorale.model import UserError
    from chorale.store import setup
    from chorale.study.started import study_to_prepare
    from chorale.web.links import new_expert_link, new_invitations, study_sessions

    if expert is not None and count is not None:
        raise UserError("--count is for workers. Invite experts one by one.")
    given = None if public_url is None else checked_public_url(public_url)
    with study_to_prepare(directory, db) as study:
        sessions = study_sessions(study)
        base = given or study.store.read(lambda tx: setup.setting_value(tx, "site")).result() or DEFAULT_URL
        if expert is None:
            paths = study.store.write(lambda tx: new_invitations(tx, study, sessions, count or 1, BY)).result()
        else:
            name = expert.strip()
            paths = [study.store.write(lambda tx: new_expert_link(tx, study, sessions, name, BY)).result()]
    links = [base + path for path in paths]
    if as_json:
        print_json({"links": links, "expert": expert})
        return
    for link in links:
        say(link)
