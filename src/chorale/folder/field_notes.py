"""Notes on the fields of a form that should be reviewed before launch."""

from collections.abc import Iterator

from chorale.folder.checking.content import StageContent
from chorale.model.plural import plural


def about_fields(content: StageContent) -> Iterator[str]:
    """Items in which a field can hardly be answered, and gold in texts, or in fields that are not graded."""
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
                'To show it and not grade it, set gold = "none" on the field.'
            )
