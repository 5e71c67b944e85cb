"""What is no mistake about the fields of a form, and should be looked at before people come."""

from collections.abc import Iterator

from chorale.folder.checking.content import StageContent
from chorale.model.plural import plural


def about_fields(content: StageContent) -> Iterator[str]:
    """Items in which a field can hardly be answered, and gold in fields that are not graded."""
    name = content.settings.name
    for field in content.task.shape.fields:
        doubts = (
            [] if field.doubt is None else [doubt for item in content.items if (doubt := field.doubt(item.payload))]
        )
        if doubts:
            yield f"{name}: in {plural(len(doubts), 'item', 'items')} {doubts[0]}."
        given = sum(isinstance(row.answer, dict) and field.name in row.answer for row in content.gold)
        if given and not field.graded:
            yield (
                f"{name}: {plural(given, 'gold answer has', 'gold answers have')} `{field.name}`, which is not graded. "
                'To grade it, set gold = "one_of", "regex" or "exact" on the field.'
            )
