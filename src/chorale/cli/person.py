"""`chorale person`"""

import json
from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import BY, Database, StudyFolder
from chorale.cli.forget import WorkerName, asked_for
from chorale.cli.output import print_json, print_line, print_notes
from chorale.cli.parameters import Option
from chorale.engine.forgetting import worker_to_forget
from chorale.engine.started import started_study
from chorale.exchange.personal_data import personal_data
from chorale.files.tables import replacing
from chorale.files.targets import check_target, writing
from chorale.metrics.options import Force


def person(
    directory: StudyFolder,
    worker: WorkerName = None,
    export: Annotated[
        Path | None, Option(metavar="FILE", help="Write the data to this file as JSON instead of printing them.")
    ] = None,
    force: Force = False,
    db: Database = None,
) -> None:
    """Export all data that the study has about one person, to answer data access requests."""
    check_target(export, "--export", force=force)
    with started_study(directory, db) as study:
        name = asked_for(worker)
        named_worker = study.store.look(lambda tx: worker_to_forget(tx, name))
        data = study.store.do(lambda tx: personal_data(tx, study, named_worker, BY))
    if unreadable := (data["payout_address"] or {}).get("unreadable"):
        print_notes([f"{unreadable} The export has everything else."])
    if export is None:
        print_json(data)
        return
    with writing(export, "--export"), replacing(export) as draft:
        # It links a participant ID to a platform ID, so other users of this machine must not read it.
        draft.touch(0o600)
        draft.write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", "utf-8", errors="replace")
    print_line(f"Wrote {export}: everything the study has about {data['participant_id']}. Send it only to this person.")
