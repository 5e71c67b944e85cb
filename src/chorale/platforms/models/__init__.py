"""Models that annotate: over HTTP, as a program, from a folder, or replayed from a file."""

from pathlib import Path

from chorale.model import ModelSettings
from chorale.platforms.models.exchange import CallOutcome, ModelClient, ModelRequest, Reply
from chorale.platforms.models.hugging_face import LocalModel
from chorale.platforms.models.program import ProgramModel
from chorale.platforms.models.recorded import RecordedModel
from chorale.platforms.models.server import ServerModel

__all__ = ["CallOutcome", "ModelClient", "ModelRequest", "Reply", "client_of"]


def client_of(settings: ModelSettings, folder: Path) -> ModelClient:
    """The client of a model. Paths are relative to the study's folder."""
    if settings.answers is not None:
        return RecordedModel(settings, folder / settings.answers)
    if settings.command is not None:
        return ProgramModel(settings, folder)
    if settings.folder is not None:
        return LocalModel(settings, folder / settings.folder)
    return ServerModel(settings)
