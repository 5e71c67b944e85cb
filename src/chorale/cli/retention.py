"""`chorale retention`"""

from dataclasses import asdict
from typing import Annotated

from chorale.cli.arguments import AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.engine.retention import DueErasure, act, due
from chorale.engine.running import Study
from chorale.engine.started import started_study
from chorale.folder.retention_notes import NOT_SET
from chorale.model import money_text


def retention(
    directory: StudyFolder,
    run: Annotated[bool, Option(help="Erase the data that are due to be erased.")] = False,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """List people whose data are due to be erased, or erase the data. An open site erases due data daily."""
    with started_study(directory, db) as study:
        erasures = study.store.look(lambda tx: due(tx, study))
        done = act(study) if run else ()
        if as_json:
            print_json({"due": [asdict(one) for one in erasures], "erased": [asdict(one) for one in done]})
            return
        for person in erasures:
            print_line(_line(study, person))
        if run:
            print_line(f"Erased data of {len(done)} {'person' if len(done) == 1 else 'people'}.")
        elif erasures:
            print_line("Add --run to erase them now.")
        else:
            print_line("Nothing is due.")
        if not study.settings.retention.acts:
            print_line(NOT_SET)


def _line(study: Study, person: DueErasure) -> str:
    parts = " and ".join(
        name for name, is_due in (("identity", person.identity), ("answers", person.answers)) if is_due
    )
    kept = ""
    if person.identity and person.unpaid is not None:
        kept = f" (the identity is kept until {money_text(person.unpaid.owed, study.settings.pay.currency)} is paid)"
    return f"{person.worker}: {parts}{kept}"
