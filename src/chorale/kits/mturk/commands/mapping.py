"""`chorale mturk map-workers` and `chorale mturk map-qualification`"""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import BY, AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Argument
from chorale.kits.mturk.commands.keys import study_with_hits
from chorale.kits.mturk.market import mapping
from chorale.kits.mturk.worker_list import read_worker_list
from chorale.model.plural import plural


def map_workers(
    directory: StudyFolder,
    file: Annotated[
        Path,
        Argument(
            metavar="FILE",
            help="CSV file from MTurk's page Manage Workers, with a new column `person`: a participant ID, an "
            "invited e-mail address, or an ID on the recruitment platform.",
        ),
    ],
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Map Mechanical Turk's worker IDs to people in the study, and transfer their blocks and qualifications."""
    listed = read_worker_list(file)
    with study_with_hits(directory, db) as study:
        done = study.store.write(lambda tx: mapping.map_workers(tx, study, listed, BY)).result()
    if as_json:
        print_json(asdict(done))
        return
    print_line(
        f"Mapped {plural(done.workers, 'worker', 'workers')}: {done.blocked} newly blocked, "
        f"{plural(done.granted, 'qualification', 'qualifications')} granted."
    )
    if done.types:
        print_line(f"New qualification types: {', '.join(done.types)}.")
    if done.without_person:
        print_line(f"{plural(done.without_person, 'row has', 'rows have')} no person and had no effect.")


def map_qualification(
    directory: StudyFolder,
    old_id: Annotated[str, Argument(metavar="ID", help="The QualificationTypeId that scripts use.")],
    name: Annotated[str, Argument(metavar="NAME", help="Name of the qualification type; created if missing.")],
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Give a qualification type the ID that scripts use."""
    with study_with_hits(directory, db) as study:
        study.store.write(lambda tx: mapping.map_qualification(tx, study, old_id, name, BY)).result()
    if as_json:
        print_json({"id": old_id, "name": name})
    else:
        print_line(f"The qualification type “{name}” now has the ID {old_id}.")
