"""How many people come if nobody says: as many as a study of this size would be given."""

from math import ceil

from chorale.folder.reading import StudyFolder
from chorale.protocol import fewest_people

MOST_BY_SIZE = 40
ANSWERS_EACH = 10


def usual_workers(folder: StudyFolder) -> int:
    """One for every ten answers that items from files ask for, at most 40; at least twice the fewest who can do it.

    Many people at a small study are a race: those who click anything are the fastest, and nothing is left for others.
    """
    answers = sum(
        len(content.items) * content.settings.judgments.min
        for content in folder.stages
        if content.settings.round is None
    )
    files = {content.settings.name: content.items for content in folder.stages}
    fewest = fewest_people(folder.settings, files, most_judgments=True).workers
    return max(2 * fewest, min(MOST_BY_SIZE, ceil(answers / ANSWERS_EACH)))
