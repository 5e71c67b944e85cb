"""The language of a study's worker pages."""

from chorale.model import StudySettings
from chorale.present.language import Language
from chorale.present.languages import language_of
from chorale.registry import installed


def study_language(settings: StudySettings) -> Language:
    """The language that the study file names, with the catalogues of the kits whose tasks it has."""
    tasks = {stage.task for stage in settings.stage}
    used = [kit for kit in installed().kits.values() if tasks & set(kit.tasks)]
    return language_of(settings.study.language, tuple(kit.catalogues for kit in used if kit.catalogues is not None))
