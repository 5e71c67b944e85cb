"""`chorale verify`"""

from dataclasses import asdict

from chorale.audit.verify import verify as recompute
from chorale.cli.arguments import AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.engine.settling import settle_everything
from chorale.engine.started import started_study
from chorale.store.integrity import refuse_damage


def verify(directory: StudyFolder, db: Database = None, as_json: AsJson = False) -> None:
    """Recompute all reported numbers from the answers. Exits with 1 if they differ, 3 if the database is damaged."""
    with started_study(directory, db) as study:
        # Checked before anything is written to it.
        study.store.look(refuse_damage)
        settle_everything(study)
        verification = study.store.read(lambda tx: recompute(tx, study)).result()
    if as_json:
        print_json({"ok": not verification.differences, **asdict(verification)})
    else:
        checked = ", ".join(f"{what} ({count:,})" for what, count in verification.checked.items())
        print_line(f"Recomputed {checked}.")
        for difference in verification.differences:
            print_line(f"  {difference}")
        for part in verification.unchecked:
            print_line(f"Not checked: {part}.")
        print_line(verification.conclusion)
    if verification.differences:
        raise SystemExit(1)
