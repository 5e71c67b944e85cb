"""Models that the site keeps annotating beside people, where `[stage.models]` says so."""

import asyncio
import logging
from pathlib import Path

from chorale.engine.models.running import annotate
from chorale.engine.models.stages import ModelStage
from chorale.engine.opening import annotating_alone
from chorale.engine.running import Study
from chorale.model import UserError

log = logging.getLogger(__name__)
ANNOTATE_SECONDS = 30.0
"""How long to wait until items may have come, or a server may have recovered."""


def keeps_annotating(study: Study) -> bool:
    """Whether any stage has models that the site is to run."""
    return bool(study.settings.model) and any(
        stage.settings.models is not None and stage.settings.models.run for stage in study.stages.values()
    )


async def annotate_for_ever(study: Study, folder: Path, seconds: float = ANNOTATE_SECONDS) -> None:
    """Let models annotate whatever there is for them, again and again. One process at a time does."""
    while True:
        try:
            with annotating_alone(folder):
                while True:
                    await annotate(study, folder, study.settings.model, wanted=_wanted)
                    await asyncio.sleep(seconds)
        except UserError as error:
            log.warning("models do not annotate, and are tried again: %s. `chorale annotate` shows why.", type(error))
        except Exception:
            log.exception("models do not annotate; trying again in %s s", seconds)
        await asyncio.sleep(seconds)


def _wanted(of: ModelStage) -> bool:
    return of.stage.round_size is not None or of.rule.run
