"""Notes on the fields of a form that should be reviewed before launch."""

from collections.abc import Iterator
from pathlib import Path

from chorale.folder.checking.content import StageContent
from chorale.model.plural import plural

HEAVY_RECORDING_MB = 20
"""Larger recordings strain a phone's data plan, although players load only what is played."""
_RECORDINGS = (".wav", ".mp3", ".ogg", ".m4a", ".flac", ".opus", ".mp4", ".webm", ".ogv")


def about_media(content: StageContent, root: Path) -> Iterator[str]:
    """Notes on audio and video that are too large for mobile data plans."""
    form = content.task.form
    places = {item.payload.get(name) for item in content.items for name in form.media}
    files = [root / place for place in places if isinstance(place, str) and place.lower().endswith(_RECORDINGS)]
    sizes = [file.stat().st_size / 10**6 for file in files if file.is_file()]
    heavy = [size for size in sizes if size > HEAVY_RECORDING_MB]
    if heavy:
        yield (
            f"{content.settings.name}: {plural(len(heavy), 'recording is', 'recordings are')} larger than "
            f"{HEAVY_RECORDING_MB} MB (the largest: {max(heavy):.0f} MB). Workers on a phone pay for that data: "
            "compress or shorten the recordings."
        )


def about_fields(content: StageContent) -> Iterator[str]:
    """Notes on items in which a field can hardly be answered, and on gold in free text or ungraded fields."""
    name = content.settings.name
    for field in content.task.shape.fields:
        doubts = (
            [] if field.doubt is None else [doubt for item in content.items if (doubt := field.doubt(item.payload))]
        )
        if doubts:
            yield f"{name}: in {plural(len(doubts), 'item', 'items')} {doubts[0]}."
        given = sum(isinstance(row.answer, dict) and field.name in row.answer for row in content.gold)
        has = f"{name}: {plural(given, 'gold answer has', 'gold answers have')} `{field.name}`"
        if given and not field.graded:
            yield f'{has}, which is not graded. To grade it, set gold = "one_of", "regex" or "exact" on the field.'
        elif given and not field.promoted:
            yield (
                f"{has}, a text: an answer is correct if it is one of the gold texts, ignoring case and white space. "
                'To accept any text, set gold = "none" on the field: workers then do not see the gold text either.'
            )
