"""`chorale pause` and `chorale resume`"""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from pathlib import Path

from chorale.cli.arguments import AsJson, Database, StageName, StudyFolder
from chorale.cli.output import print_json, say


def pause(directory: StudyFolder, stage: StageName, db: Database = None, as_json: AsJson = False) -> None:
    """Stop giving out items of a stage; answers to those already given out are still taken."""
    _set_state(directory, stage, db, as_json, "paused")


def resume(directory: StudyFolder, stage: StageName, db: Database = None, as_json: AsJson = False) -> None:
    """Give out items of a paused stage again."""
    _set_state(directory, stage, db, as_json, "open")


def _set_state(directory: Path, name: str, db: str | None, as_json: bool, state: str) -> None:
    from chorale.model import StageState
    from chorale.study.control import set_stage_state
    from chorale.study.started import stage_called, started_study

    with started_study(directory, db) as study:
        stage = stage_called(study, name)
        changed = study.store.write(
            lambda tx: set_stage_state(tx, study, stage, StageState(state), "the command line")
        ).result()
    if as_json:
        print_json({"stage": name, "state": state, "changed": changed})
    else:
        say(f"Stage {name} is {state}{'' if changed else ', as it was before'}.")
