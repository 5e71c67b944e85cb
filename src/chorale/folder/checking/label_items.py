"""Checks that labels of an earlier stage can become the items of a later one."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from chorale.contract import ItemError, Scale, Task
from chorale.contract.label_columns import has_values, label_columns
from chorale.files.toml_lines import TomlPath
from chorale.folder.checking.drafts import Draft
from chorale.folder.checking.report import CheckReport, did_you_mean, printable
from chorale.model import ItemSettings, Payload
from chorale.model.plain_words import plain_words

EXAMPLES = 20
"""How many items of a stage are examples for the stages after it."""
_TRIES = 200
"""Number of made-up labels: enough to include every option, and every optional field without a value."""
_OPTION_SCALES = (Scale.NOMINAL, Scale.ORDINAL, Scale.SET)
_NAMING_COLUMNS = ("item", "highlight", "prefill")


def check_where(draft: Draft, settings: ItemSettings, source: str, task: Task, report: CheckReport) -> bool:
    """Whether labels of the source stage can have the values that items need."""
    before = len(report.problems)
    fields = {
        field.name: [value for value, _ in field.options]
        for field in task.shape.fields
        if field.options and field.scale in _OPTION_SCALES
    }
    for name, values in settings.where.items():
        at = draft.at("items", "where", name)
        if name not in fields:
            message = f"`where` needs a field of {source} whose answer is one option or several"
            report.setting(at, message, did_you_mean(name, fields) if fields else "Remove `where`.", name)
        for value in values:
            if name in fields and value not in fields[name]:
                fix = f"Use one of: {', '.join(map(str, fields[name]))}."
                report.setting(at, f"the field {name} of {source} has no such option", fix, value, missing=True)
    return len(report.problems) == before


def check_label_items(
    draft: Draft, source: str, earlier: Task, later: Task, examples: Sequence[Payload], report: CheckReport
) -> tuple[Payload, ...]:
    """Make items from labels as simulated workers would give them. Reports what prevents it; returns some items."""
    settings = draft.table(ItemSettings, "items")
    rows = list(_made_up(earlier, later, examples, {} if settings is None else settings.where))
    if not rows:
        return ()
    columns = {name for row in rows for name in row}
    texts = {field.name for field in earlier.shape.fields if not field.compared}
    missing = [(at, name) for at, name in _named(draft, later) if name not in columns]
    for at, name in missing:
        if name in texts:
            message = f"`{printable(name)}` is free text, which the labels of {source} leave out"
            report.setting(at, message, 'Use another column, or set `of = "answers"` in [stage.items].')
        else:
            message = f"neither the items nor the labels of {source} have a column `{printable(name)}`"
            report.setting(at, message, did_you_mean(name, columns))
    return () if missing else _items_of(draft, source, later, rows, report)


def _made_up(
    earlier: Task, later: Task, examples: Sequence[Payload], where: Mapping[str, Sequence[str | int]]
) -> Iterator[dict[str, Any]]:
    """Rows of items from made-up labels that have the wanted values."""
    guess = earlier.simulating.guess
    if guess is None or not earlier.shape.fields:
        return
    for number in range(_TRIES if examples else 0):
        item = examples[number % len(examples)]
        answer = guess(earlier.form.shown(item), None, Random(number))
        if has_values(answer, where):
            yield {**item, **label_columns(earlier, later, item, answer)}


def _items_of(
    draft: Draft, source: str, later: Task, rows: Sequence[Mapping[str, Any]], report: CheckReport
) -> tuple[Payload, ...]:
    """The first items. Reports columns that can't fill in their field, or all invalid ones if no row makes an item."""
    items: list[Payload] = []
    problems: dict[str, str] = {}
    for row in rows:
        try:
            items.append(later.shape.parse_item(row))
        except ItemError as error:
            problems |= {
                name: plain_words(message).wrong for name, message, _ in error.messages if name not in problems
            }
    named = {name: at for at, name in _named(draft, later)}
    for name, wrong in problems.items():
        at = named.get(name, draft.at("options"))
        if at[-1] == "prefill" or not items:
            fix = "Use a field of the same kind with the same options. The form must not already show this field."
            report.setting(at, f"labels of {source} do not fit this form: `{printable(name)}` {wrong}", fix)
    return tuple(items[:EXAMPLES])


def _named(draft: Draft, later: Task) -> Iterator[tuple[TomlPath, str]]:
    """Every required column that the options name, and every column that fills in a field, with its place."""
    required = {column.alias for column in later.shape.item_type.model_fields.values() if column.is_required()}
    for at, name in texts_in(draft.raw.get("options"), draft.at("options"), _NAMING_COLUMNS):
        if at[-1] == "prefill" or name in required:
            yield at, name


def texts_in(value: Any, at: TomlPath, naming: Sequence[str]) -> Iterator[tuple[TomlPath, str]]:
    """Every text in the options that can be a column's name, with its place."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in naming and isinstance(inner, str):
                yield (*at, name), inner
            elif name == "sides" and isinstance(inner, list):
                yield from (((*at, name), each) for each in inner if isinstance(each, str))
            else:
                yield from texts_in(inner, (*at, name), naming)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from texts_in(inner, (*at, number), naming)
