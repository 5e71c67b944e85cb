"""The language of a study's worker pages."""

import re

from chorale.folder.checking.content import StudyFolder
from chorale.model import StudySettings
from chorale.present.language import Language
from chorale.present.languages import language_of
from chorale.registry import installed


def study_language(settings: StudySettings) -> Language:
    """The language that the study file names, with the catalogues of the kits whose tasks it has."""
    tasks = {stage.task for stage in settings.stage}
    used = [kit for kit in installed().kits.values() if tasks & set(kit.tasks)]
    return language_of(settings.study.language, tuple(kit.catalogues for kit in used if kit.catalogues is not None))


# Words that are frequent in English and rare in the other languages of worker pages.
_ENGLISH = frozenset(("the", "and", "of", "you", "your", "are", "is", "with", "that", "this", "be", "for"))
_LEAST_WORDS = 20
_ENGLISH_SHARE = 0.15


def about_language(folder: StudyFolder) -> list[str]:
    """A note on texts of the study that are still in English although its pages are not."""
    code = folder.settings.study.language
    if code.split("-")[0] == "en":
        return []
    texts = {each.settings.guidelines: each.guidelines for each in folder.stages}
    texts[folder.settings.study.consent] = folder.consent
    english = sorted(name for name, text in texts.items() if _is_english(text))
    if not english:
        return []
    which = "is in English" if len(english) == 1 else "are in English"
    return [
        f"the worker pages are in `{code}`, but {', '.join(english)} {which}. Translate the texts that workers read"
    ]


def _is_english(text: str) -> bool:
    words = re.findall(r"[^\W\d_]+", text.lower())
    return len(words) >= _LEAST_WORDS and sum(word in _ENGLISH for word in words) >= _ENGLISH_SHARE * len(words)
