"""`chorale pause` and `chorale resume`"""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from pathlib import Path
from typing import Annotated

import typer

from chorale.cli.arguments import AsJson, Database, StageName, StudyFolder
from chorale.cli.output import print_json, say

Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why; kept in the study's record.", show_default=False)]


def pause(
    directory: StudyFolder, stage: StageName, reason: Reason = "", db: Database = None, as_json: AsJson = False
) -> None:
    """Stop giving out items of a stage; answers to those already given out are still taken."""
    _set_state(directory, stage, "paused", reason, db, as_json)


def resume(
    directory: StudyFolder, stage: StageName, reason: Reason = "", db: Database = None, as_json: AsJson = False
) -> None:
    """Give out items of a paused stage again."""
    _set_state(directory, stage, "open", reason, db, as_json)


def _set_state(directory: Path, name: str, state: str, reason: str, db: str | None, as_json: bool) -> None:
    from chorale.model import StageState
    from chorale.study.control import set_stage_state
    from chorale.study.started import stage_called, started_study

    with started_study(directory, db) as study:
        stage = stage_called(study, name)
        changed = study.store.write(
            lambda tx: set_stage_state(tx, study, stage, StageState(state), "the command line", reason.strip())
        ).result()
    if as_json:
        print_json({"stage": name, "state": state, "changed": changed})
    else:
        say(f"Stage {name} is {state}{'' if changed else ', as it was before'}.")
