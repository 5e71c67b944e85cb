"""Runs models continuously while the site is open, if `[stage.models]` says so."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

from chorale.engine.models.running import ModelRun, annotate
from chorale.engine.models.stages import ModelStage
from chorale.engine.opening import annotating_alone
from chorale.engine.running import Study
from chorale.engine.simulation import has_simulated_people
from chorale.model import UserError

log = logging.getLogger(__name__)
ANNOTATE_SECONDS = 30.0
"""How long to wait for new items."""
LONGEST_PAUSE = 3600.0
"""Maximum time to wait for a failed server."""


def keeps_annotating(study: Study) -> bool:
    """Whether the site runs models for any stage. With simulated people, real calls would be wasted."""
    asked_for = bool(study.settings.model) and any(
        stage.settings.models is not None and stage.settings.models.run for stage in study.stages.values()
    )
    return asked_for and not study.store.look(has_simulated_people)


async def annotate_for_ever(study: Study, folder: Path, seconds: float = ANNOTATE_SECONDS) -> None:
    """Let models annotate all available items, repeatedly, in one process at a time."""
    while True:
        try:
            with annotating_alone(study):
                pause = seconds
                while True:
                    runs = await annotate(study, folder, study.settings.model, wanted=_wanted)
                    _log_ends(runs)
                    pause = min(2 * pause, LONGEST_PAUSE) if _only_failed(runs) else seconds
                    await asyncio.sleep(pause)
        except UserError as error:
            log.warning("the models are not annotating; trying again: %s. `chorale annotate` shows why.", type(error))
        except Exception:
            log.exception("the models are not annotating; trying again in %s s", seconds)
        await asyncio.sleep(seconds)


def _only_failed(runs: Sequence[ModelRun]) -> bool:
    """Whether servers answered none of the requests."""
    return any(run.counts.failed for run in runs) and not any(run.counts.answered for run in runs)


def _log_ends(runs: Sequence[ModelRun]) -> None:
    """Log why models stopped; models without work are not logged."""
    for run in runs:
        if run.counts.items and run.counts.ended_by is not None:
            log.info("%s in %s: %s", run.model, run.stage, run.counts.ended_by)
        if run.counts.failed:
            log.warning("%s in %s: %s items failed; trying them again", run.model, run.stage, run.counts.failed)


def _wanted(of: ModelStage) -> bool:
    return of.stage.round_size is not None or of.rule.run
