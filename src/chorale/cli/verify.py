"""`chorale verify`"""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

import typer

from chorale.cli.arguments import AsJson, Database, StudyFolder
from chorale.cli.output import print_json, say


def verify(directory: StudyFolder, db: Database = None, as_json: AsJson = False) -> None:
    """Recompute every reported number from what was recorded; exit with 1 where the database differs."""
    from dataclasses import asdict

    from chorale.audit.verify import verify as recompute
    from chorale.engine.settling import settle_everything
    from chorale.engine.started import started_study

    with started_study(directory, db) as study:
        settle_everything(study)
        found = study.store.read(lambda tx: recompute(tx, study)).result()
    if as_json:
        print_json({"ok": not found.differences, **asdict(found)})
    else:
        checked = ", ".join(f"{count:,} {what}" for what, count in found.checked.items())
        say(f"Recomputed {checked}.")
        for difference in found.differences:
            say(f"  {difference}")
        count = len(found.differences)
        say("Everything agrees." if not count else f"{count:,} {'number differs' if count == 1 else 'numbers differ'}.")
    if found.differences:
        raise typer.Exit(1)
