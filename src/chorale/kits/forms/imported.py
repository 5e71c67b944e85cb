"""Builds a form that matches imported annotations."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from chorale.exchange.imported_files import StagedBatch
from chorale.files.batch_answers import LONGEST_OPTION, MOST_OPTIONS, BatchField
from chorale.files.batch_files import BatchFile
from chorale.files.toml_lines import as_toml
from chorale.model import UserError

_LONGEST_LINE, _MOST_SHOWN = 200, 40


def form_of(staged: StagedBatch, columns: Sequence[str]) -> tuple[str, str]:
    """The task and its options: the displayed columns, and a field for every question."""
    shows = [column for column in columns if len(column) <= LONGEST_OPTION][:_MOST_SHOWN]
    parts = [f"{{ item = {as_toml(column)}, label = {as_toml(column)}, optional = true }}" for column in shows]
    fields = (
        _field(staged, asked, given) for asked, given in zip(staged.batch.fields, _filled_in(staged), strict=True)
    )
    return "form", f"shows = [{', '.join(parts)}]\n{''.join(fields)}"


@dataclass(slots=True)
class _FilledIn:
    """Values of a field."""

    answers: int = 0
    labels: set[str] = field(default_factory=set)
    """Distinct values, while they can be options."""
    fit: bool = True
    """Whether the values can be options."""
    lines: bool = True
    """Whether each value is short and on one line."""
    longest: int = 0

    def take(self, given: str | list[str], times: int) -> None:
        self.answers += times
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
            if given:
                into.take(given, times)
    return fields


def _field(staged: StagedBatch, asked: BatchField, given: _FilledIn) -> str:
    required = "" if given.answers == staged.totals.judgments else "required = false\n"
    return f"""
[[stage.options.fields]]
name = "{asked.name}"
ask = {as_toml(asked.title[:_LONGEST_LINE])}
{required}{_kind(staged.batch, asked, given)}
"""


def _kind(batch: BatchFile, asked: BatchField, given: _FilledIn) -> str:
    """The kind of the field: a choice for a few short labels, otherwise text."""
    listed = f"options = [{', '.join(as_toml(label) for label in sorted(given.labels))}]"
    if asked.sep is not None:
        if not given.fit:
            long = f"one label has {given.longest:,} characters"
            there = long if given.longest > LONGEST_OPTION else "there are too many labels"
            raise UserError(
                f"{batch.name} cannot be imported with --sep: {there}. A form has at most {MOST_OPTIONS} options, of "
                f"at most {LONGEST_OPTION} characters. Omit --sep, or choose another --label."
            )
        return f'kind = "choices"\n{listed}'
    # One of several columns may contain comments, which are rarely repeated.
    again = len(batch.fields) == 1 or given.answers >= 2 * len(given.labels)
    if given.fit and len(given.labels) > 1 and again:
        return f'kind = "choice"\n{listed}'
    return 'kind = "text"' if given.lines else 'kind = "long_text"'
