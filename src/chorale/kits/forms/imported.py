"""Builds a form that matches imported annotations."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from shlex import quote

from chorale.exchange.imported_files import StagedBatch
from chorale.files.batch_answers import LONGEST_OPTION, MOST_OPTIONS, BatchField
from chorale.files.batch_files import BatchFile
from chorale.files.shortening import shortened
from chorale.files.toml_lines import as_toml
from chorale.model import UserError

_LONGEST_LINE, _MOST_SHOWN = 200, 40
_OBJECTS = ("{", "[{")
"""Beginnings of JSON objects and of lists of objects. Such answers, for example spans, are too varied to be options."""
_IN_WORDS = {"choice": "choice", "choices": "several options", "text": "free text", "long_text": "free text"}


def form_of(staged: StagedBatch, columns: Sequence[str]) -> tuple[str, str, list[str]]:
    """The task, its options (the displayed columns, and a field for every question), and notes on the fields."""
    shows = [column for column in columns if len(column) <= LONGEST_OPTION][:_MOST_SHOWN]
    parts = [f"{{ item = {as_toml(column)}, label = {as_toml(column)}, optional = true }}" for column in shows]
    fields = [
        _MadeField(asked, given, _kind(staged.batch, asked, given))
        for asked, given in zip(staged.batch.fields, _filled_in(staged), strict=True)
    ]
    settings = "".join(_settings(staged, field) for field in fields)
    return "form", f"shows = [{', '.join(parts)}]\n{settings}", _notes(staged, fields)


@dataclass(slots=True)
class _FilledIn:
    """Values of a field."""

    answers: int = 0
    labels: set[str] = field(default_factory=set)
    """Distinct values, collected as long as they can be options."""
    fit: bool = True
    """Whether the values can be options."""
    lines: bool = True
    """Whether each value is short and on one line."""
    longest: int = 0
    empty: bool = False
    """Whether somebody chose none of several options."""

    def take(self, given: str | list[str], times: int) -> None:
        self.answers += times
        self.empty = self.empty or not given
        for label in (given,) if isinstance(given, str) else given:
            self.longest = max(self.longest, len(label))
            self.lines = self.lines and len(label) <= _LONGEST_LINE and "\n" not in label
            if self.fit:
                self.labels.add(label)
                self.fit = len(self.labels) <= MOST_OPTIONS and self.longest <= LONGEST_OPTION


def _filled_in(staged: StagedBatch) -> list[_FilledIn]:
    fields = [_FilledIn() for _ in staged.batch.fields]
    for answer, times in staged.staging.answers():
        for into, given in zip(fields, answer, strict=True):
            if given is not None:
                into.take(given, times)
    return fields


@dataclass(frozen=True, slots=True)
class _MadeField:
    """A field of the form."""

    asked: BatchField
    given: _FilledIn
    kind: str

    @property
    def counts(self) -> bool:
        """Whether it counts in a label's confidence."""
        return self.kind in ("choice", "choices")

    @property
    def in_words(self) -> str:
        return f"{shortened(self.asked.title)} ({_IN_WORDS[self.kind]})"


def _notes(staged: StagedBatch, fields: Sequence[_MadeField]) -> list[str]:
    """Notes on the fields made from several columns, and on mostly empty fields, which lower the confidence."""
    if len(fields) == 1:
        return _note_on_one(fields[0])
    notes = [
        f"Each of the {len(fields)} answer columns becomes a field: {', '.join(field.in_words for field in fields)}. "
        "All fields except free text count toward a label's confidence. "
        "To import one column only, use --label NAME."
    ]
    total = staged.totals.judgments
    counted = [field for field in fields if field.counts]
    filled = [field for field in counted if 2 * field.given.answers >= total]
    names = [f"--label {quote(field.asked.title)}" for field in filled]
    notes += [
        f"{field.in_words} is empty in {total - field.given.answers:,} of {total:,} judgments, but counts toward a "
        f"label's confidence. To leave it out, import one column with {[*names, '--label NAME'][0]}."
        for field in counted
        if field not in filled
    ]
    return notes


def _note_on_one(field: _MadeField) -> list[str]:
    """A note on the only field if its labels are not aggregated, unless the file itself names it as free text."""
    if field.counts or field.asked.is_text:
        return []
    return [
        f"{shortened(field.asked.title)} is imported as free text, which is not aggregated. An item's label "
        "lists all answers to the item, and every label is accepted."
    ]


def _settings(staged: StagedBatch, field: _MadeField) -> str:
    asked, given = field.asked, field.given
    options = f"options = [{', '.join(as_toml(label) for label in sorted(given.labels))}]" if field.counts else ""
    required = "" if given.answers == staged.totals.judgments else "required = false\n"
    required += "min = 0\n" if given.empty else ""
    return f"""
[[stage.options.fields]]
name = "{asked.name}"
ask = {as_toml(asked.title[:_LONGEST_LINE])}
{required}kind = "{field.kind}"
{options}
"""


def _kind(batch: BatchFile, asked: BatchField, given: _FilledIn) -> str:
    """The kind of the field: a choice for a few short labels, otherwise text."""
    if asked.sep is not None:
        if not given.fit:
            long = f"one label has {given.longest:,} characters"
            there = long if given.longest > LONGEST_OPTION else "there are too many labels"
            raise UserError(
                f"{batch.name} cannot be imported with --sep: {there}. A form has at most {MOST_OPTIONS} options, of "
                f"at most {LONGEST_OPTION} characters. Omit --sep, or choose another --label."
            )
        return "choices"
    if asked.is_text or any(label.startswith(_OBJECTS) for label in given.labels):
        return "text" if given.lines else "long_text"
    # One of several columns may contain comments, which are rarely repeated.
    again = len(batch.fields) == 1 or given.answers >= 2 * len(given.labels)
    if given.fit and len(given.labels) > 1 and again:
        return "choice"
    return "text" if given.lines else "long_text"
