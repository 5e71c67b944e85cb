"""Creates a small study from the user's table: one text, one question, a few labels."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from chorale.contract import Task
from chorale.contract.reading_time import WORDS_PER_MINUTE, estimated_seconds, reading_seconds, shown_words
from chorale.contract.starting_pay import MARGIN, MINIMUM_HOURLY, starting_pay, starting_seconds
from chorale.files.shortening import shortened
from chorale.files.toml_lines import as_toml
from chorale.folder.own_table import OwnTable
from chorale.kits.forms.task import FORM
from chorale.kits.forms.task.items import LONGEST
from chorale.model import LengthPay, Payload, UserError

_FEWEST_LABELS, _MOST_LABELS, _LONGEST_LABEL, _LONGEST_ASK = 2, 50, 100, 200
_MARKDOWN = "\\`*_{}[]<>()#+!|~"
_HERE = Path(__file__).parent


def study_from_table(
    table: OwnTable, text: str, key: str | None, ask: str, labels: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """The files of a study (name and content)."""
    _check_question(ask, labels)
    _check_texts(table, text)
    guidelines = _filled(
        "guidelines.md",
        ask=_plain(ask),
        labels="\n".join(f"- **{_plain(label)}**: [when to choose it]" for label in labels),
        first=_plain(labels[0]),
        last=_plain(labels[-1]),
    )
    pay = _pay(_task(text, ask, labels), [{text: str(row[text])} for row in table.rows], guidelines)
    yield "items.jsonl", "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in _items(table, key))
    yield (
        "study.toml",
        _filled(
            "study.toml",
            source=table.path.name if table.path.name.isprintable() else "a table",
            ask=as_toml(ask),
            text=as_toml(text),
            key=as_toml(key or table.number_column),
            minimum=MINIMUM_HOURLY,
            pay=pay.each,
            by_length="" if pay.by_length is None else _by_length_line(pay.by_length),
            seconds=pay.seconds,
            labels=", ".join(map(as_toml, labels)),
            first=as_toml(labels[0]),
        ),
    )
    yield "guidelines.md", guidelines
    for name in ("consent.md", "README.md"):
        yield name, (_HERE / name).read_text("utf-8")


def _filled(name: str, **values: object) -> str:
    return Template((_HERE / name).read_text("utf-8")).substitute(values)


def _check_question(ask: str, labels: Sequence[str]) -> None:
    if not ask.strip() or len(ask) > _LONGEST_ASK or not ask.isprintable():
        raise UserError(f"--ask must be one line of 1 to {_LONGEST_ASK} characters: the question for workers.")
    if not _FEWEST_LABELS <= len(labels) <= _MOST_LABELS:
        raise UserError(
            f"--labels must have {_FEWEST_LABELS} to {_MOST_LABELS} labels (found {len(labels)}). "
            "Use commas between them: --labels 'toxic,not toxic'."
        )
    repeated = next((label for place, label in enumerate(labels) if label in labels[:place]), None)
    if repeated is not None:
        raise UserError(f"--labels repeats {repeated[:40]!r}. List each label once.")
    wrong = next((label for label in labels if len(label) > _LONGEST_LABEL or not label.isprintable()), None)
    if wrong is not None:
        raise UserError(f"--labels: {wrong[:40]!r} must be one line of at most {_LONGEST_LABEL} characters.")


def _check_texts(table: OwnTable, text: str) -> None:
    empty = [number for number, row in enumerate(table.rows, 1) if not str(row.get(text) or "").strip()]
    if empty:
        count = "1 row has" if len(empty) == 1 else f"{len(empty):,} rows have"
        raise UserError(
            f"{table.path}: {count} no value in the column `{text}` (first: row {empty[0]:,}). Fill in the "
            "column or remove empty rows, or choose another column with --text."
        )
    for number, row in enumerate(table.rows, 1):
        value = row[text]
        if not isinstance(value, str | int | float) or len(str(value)) > LONGEST:
            raise UserError(
                f"{table.path}: row {number:,} must have a text of at most {LONGEST:,} characters in the column "
                f"`{text}` (found {shortened(value)}). Shorten the text, remove the row, or set --text to another "
                "column."
            )


def _task(text: str, ask: str, labels: Sequence[str]) -> Task:
    options = {
        "shows": [{"item": text}],
        "fields": [{"name": "label", "kind": "choice", "ask": ask, "options": list(labels)}],
    }
    return FORM.configured(FORM.options.model.model_validate(options))


class _Pay(NamedTuple):
    seconds: int
    """The expected seconds per answer."""
    each: int
    by_length: LengthPay | None
    """Set if some texts are so long that the mean pay is below the minimum wage for them."""


def _pay(task: Task, items: Sequence[Payload], guidelines: str) -> _Pay:
    """Pay above the minimum wage for every text, including the time to read the guidelines once."""
    times = [estimated_seconds(task, item) for item in items]
    seconds = starting_seconds(times)
    for_guidelines = reading_seconds(guidelines) / len(items)
    each = starting_pay(seconds + for_guidelines)
    if starting_pay(max(times)) <= each:
        return _Pay(seconds, each, None)
    words = [shown_words(task, item) for item in items]
    per_100_words = starting_pay(MARGIN * 100 * 60 / WORDS_PER_MINUTE)
    rule = LengthPay(per_100_words=per_100_words, most=math.ceil(max(words) * per_100_words / 100))
    besides = max(time - count * 60 / WORDS_PER_MINUTE for time, count in zip(times, words, strict=True))
    return _Pay(seconds, starting_pay(MARGIN * besides + for_guidelines), rule)


def _by_length_line(rule: LengthPay) -> str:
    rates = f"{{ per_100_words = {rule.per_100_words}, most = {rule.most} }}"
    return f"by_length = {rates}   # long texts pay more; workers see the pay of each text\n"


def _items(table: OwnTable, key: str | None) -> Iterator[dict[str, Any]]:
    width = len(str(len(table.rows)))
    for number, row in enumerate(table.rows, 1):
        if key is None:
            yield {table.number_column: f"row-{number:0{width}d}", **row}
        else:
            yield {**row, key: row[key].strip() if isinstance(row[key], str) else row[key]}


def _plain(text: str) -> str:
    """Escapes a text for Markdown."""
    return "".join(f"\\{sign}" if sign in _MARKDOWN else sign for sign in text)
