"""`chorale rotate`"""

from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import BY, AsJson, Database, PublicUrl, StudyFolder
from chorale.cli.invite import base_url
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.engine.keys import replace_key
from chorale.engine.running import Study
from chorale.engine.started import started_study
from chorale.files.tables import write_csv
from chorale.files.targets import check_target, writing
from chorale.metrics.options import Force
from chorale.model.plural import plural
from chorale.store import Tx, invitations
from chorale.web.links import invitation_path, staff_link_path, study_sessions
from chorale.web.staff import colleagues

COLUMNS = ("for", "number", "name", "stage", "link")

LinksFile = Annotated[
    Path | None,
    Option(
        "--links",
        metavar="FILE",
        help="Write the new links of all invitations, experts and viewers to this CSV file.",
    ),
]


def rotate(
    directory: StudyFolder,
    links: LinksFile = None,
    force: Force = False,
    public_url: PublicUrl = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Replace the key that signs links and cookies. All existing sessions and links stop working."""
    check_target(links, "--links", force=force, endings=(".csv",))
    with started_study(directory, db) as study:
        base = base_url(study, public_url)
        ended = study.store.write(lambda tx: replace_key(tx, study, BY)).result()
        rows = new_links(study, base)
        if links is not None:
            with writing(links, "--links"):
                write_csv(COLUMNS, rows, links, private=True)
    if as_json:
        print_json({"sessions_ended": ended, "links": len(rows), "file": None if links is None else str(links)})
        return
    print_line(
        f"Signing key replaced. {plural(ended, 'worker session', 'worker sessions')} and all console sessions ended."
    )
    print_line("Old links no longer work. A running site uses the new key within a few seconds.")
    if links is not None:
        print_line(f"{links} contains {len(rows):,} new links. Send each link only to its recipient.")
    elif rows:
        print_line(
            f"{plural(len(rows), 'person needs a new link', 'people need new links')}: --links FILE writes the "
            "links to a file."
        )


def new_links(study: Study, base: str) -> list[dict[str, str]]:
    """The links of everybody with a valid link, signed with the current key."""
    sessions = study_sessions(study)

    def rows(tx: Tx) -> list[dict[str, str]]:
        addresses = invitations.addresses_of(tx)
        workers = [
            {
                "for": "worker",
                "number": str(row.id),
                "name": addresses.get(row.nonce, ""),
                "stage": row.stage or "",
                "link": base + invitation_path(sessions, row.nonce),
            }
            for row in invitations.all_of_them(tx)
            if row.revoked_at is None
        ]
        staff = [
            {
                "for": person.role,
                "number": "",
                "name": person.name,
                "stage": "",
                "link": base + staff_link_path(sessions, person.role, person.name),
            }
            for person in colleagues(tx, study)
            if person.state in ("invited", "came")
        ]
        return workers + staff

    return study.store.read(rows).result()
