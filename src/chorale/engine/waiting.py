"""Stages that wait until their sources are complete, such as one validation of all arms' answers in random order."""

from chorale.engine.running import RunningStage
from chorale.store import Tx
from chorale.store.settings import set_setting, setting_value


def is_waiting(tx: Tx, stage: RunningStage) -> bool:
    """Whether a stage is still waiting for its source stages."""
    return stage.settings.items is not None and stage.settings.items.wait and setting_value(tx, _note(stage)) is None


def takes_all(tx: Tx, stage: RunningStage) -> bool:
    """Whether a stage gets items as soon as their sources exist."""
    return stage.per_worker is None and not is_waiting(tx, stage)


def end_waiting(tx: Tx, stage: RunningStage) -> None:
    set_setting(tx, _note(stage), "begun")


def _note(stage: RunningStage) -> str:
    return f"begun:{stage.name}"
