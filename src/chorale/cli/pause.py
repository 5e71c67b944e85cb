"""`chorale pause`, `chorale resume` and `chorale close`"""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import BY, AsJson, Database, StudyFolder
from chorale.cli.asking import prolific
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Argument, Option
from chorale.cli.terminal import show
from chorale.engine import publishing
from chorale.engine.control import set_stage_state
from chorale.engine.gates import close_by_request
from chorale.engine.settling import settle_everything
from chorale.engine.started import stage_called, started_study
from chorale.folder.reading import did_you_mean
from chorale.model import Refusal, StageState, UserError
from chorale.monitor.tables import verdicts_table
from chorale.platforms.prolific import StudyAction

AStage = Annotated[str | None, Argument(metavar="STAGE", help="The stage's name. Leave it out if you use --study.")]
OnProlific = Annotated[
    str | None,
    Option("--study", metavar="NAME", help="Name of a study under [prolific] in study.toml, in place of a stage."),
]
PauseReason = Annotated[str, Option(metavar="TEXT", help="The reason, for the activity log. Optional.")]
ResumeReason = Annotated[str, Option(metavar="TEXT", help="The reason, for the activity log.")]


def pause(
    directory: StudyFolder,
    stage: AStage = None,
    study_name: OnProlific = None,
    stop: Annotated[
        bool, Option(help="With --study: end recruiting for this study on Prolific. To recruit again, add places.")
    ] = False,
    reason: PauseReason = "",
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Stop assigning items of a stage, or stop recruiting on Prolific. Workers can finish the items they have."""
    if _is_on_prolific(stage, study_name):
        _transition(directory, study_name or "", "STOP" if stop else "PAUSE", reason, db, as_json)
        return
    if stop:
        raise UserError("--stop only works with --study NAME. A stage is paused, or ended by a gate (`chorale close`).")
    _set_state(directory, stage or "", "paused", reason, db, as_json)


def resume(
    directory: StudyFolder,
    reason: ResumeReason,
    stage: AStage = None,
    study_name: OnProlific = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Assign items of a paused stage again, or resume recruiting on Prolific."""
    if _is_on_prolific(stage, study_name):
        _transition(directory, study_name or "", "START", reason, db, as_json)
    else:
        _set_state(directory, stage or "", "open", reason, db, as_json)


def _is_on_prolific(stage: str | None, study_name: str | None) -> bool:
    """Whether the command is for a study on Prolific, not for a stage."""
    if (stage is None) == (study_name is None):
        raise UserError("Name either a stage or a study on Prolific (--study NAME).")
    return study_name is not None


def _transition(directory: Path, name: str, action: StudyAction, reason: str, db: str | None, as_json: bool) -> None:
    with started_study(directory, db) as study, prolific() as client:
        state = publishing.transition(study, client, name, action, BY, reason.strip())
    if as_json:
        print_json({"study": name, "state": state})
    else:
        print_line(f"The study {name} on Prolific is {state}.")


def _set_state(directory: Path, name: str, state: str, reason: str, db: str | None, as_json: bool) -> None:
    with started_study(directory, db) as study:
        stage = stage_called(study, name)
        try:
            changed = study.store.write(
                lambda tx: set_stage_state(tx, study, stage, StageState(state), BY, reason)
            ).result()
        except Refusal as refusal:
            raise UserError(f"{refusal.message} Write it after --reason.") from None
    if as_json:
        print_json({"stage": name, "state": state, "changed": changed})
    else:
        kept = " The reason was logged." if reason.strip() and state == "paused" and not changed else ""
        print_line(f"Stage {name} {'is' if changed else 'was already'} {state}.{kept}")


GateName = Annotated[str, Argument(metavar="GATE", help="The gate's name.")]


def close(directory: StudyFolder, gate: GateName, db: Database = None, as_json: AsJson = False) -> None:
    """Close a gate: decide who continues, book bonuses, write messages to workers, and end the gate's stages."""
    with started_study(directory, db) as study:
        named = study.gates.get(gate)
        if not study.gates:
            raise UserError("This study has no gates. To stop a stage, use `chorale pause`.")
        if named is None:
            raise UserError(f"This study has no gate {gate!r}. {did_you_mean(gate, study.gates)}")
        settle_everything(study)
        try:
            verdicts = study.store.write(lambda tx: close_by_request(tx, study, named, BY)).result()
        except Refusal as refusal:
            raise UserError(refusal.message) from None
    if as_json:
        print_json({"gate": gate, "verdicts": [asdict(verdict) for verdict in verdicts]})
        return
    if not verdicts:
        print_line(f"Gate {gate} was already closed. Nothing has changed.")
        return
    show(verdicts_table(verdicts))
    print_line(f"{sum(verdict.passed for verdict in verdicts)} of {len(verdicts)} passed {gate}.")
