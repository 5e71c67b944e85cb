"""Streams the objects of a JSON list, such as `json.dump` of a list of dictionaries, or `to_json(orient="records")`."""

import codecs
import json
from collections.abc import Callable, Iterator
from io import BufferedReader
from typing import Any

from chorale.files.json_text import DECODER, DEEPEST_NESTING, FlawError, check_inside
from chorale.files.shortening import shortened

_AT_ONCE = 1 << 16
_SPACE = " \t\r\n"
_LONGEST_WORD = len("-Infinity") + 1
_AS_LIST = (
    'Write a list of objects, [{…}, {…}] (in pandas: to_json(path, orient="records")), or one object per line in a '
    ".jsonl file."
)
_BEGINNINGS = frozenset('{["-0123456789tfnNI')
"""Characters that begin a JSON value, or a number such as NaN that Python accepts."""

Report = Callable[[int | None, str, str, str | None], None]
"""Adds a problem: its line, message, fix and value."""


def begins_as_list(file: BufferedReader) -> bool:
    """Whether a list begins here. The file is not read further."""
    return file.peek(_AT_ONCE).lstrip(_SPACE.encode()).startswith(b"[")


def has_object_lines(file: BufferedReader) -> bool:
    """Whether the file has one object per line: a complete first object with something after it, or a long first line.

    The file is not read further.
    """
    head = file.peek(_AT_ONCE).lstrip(_SPACE.encode())
    first, line_break, others = head.partition(b"\n")
    if not first.startswith(b"{"):
        return False
    return others.lstrip().startswith(b"{") if line_break else len(head) >= _AT_ONCE // 2


def report_other(file: BufferedReader, report: Report) -> None:
    """Report a file that is neither a list nor has one object per line."""
    head = file.peek(_AT_ONCE).lstrip(_SPACE.encode())
    if not head:
        report(None, "is empty", _AS_LIST, None)
    elif head.startswith(b"{"):
        report_one_object(report)
    else:
        report(None, "is not a list of objects", _AS_LIST, shortened(head[:20].decode(errors="replace")))


def report_one_object(report: Report) -> None:
    report(None, "is one object, not a list of objects", _AS_LIST, None)


def listed_objects(file: BufferedReader, report: Report, longest: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The valid objects of a list, each with the line it begins on.

    Reading ends at the first error in the syntax: it is unknown where the next object begins.
    """
    text = _Text(file)
    try:
        yield from _objects(text, report, longest)
    except UnicodeDecodeError as error:
        line = text.next_line + error.object.count(b"\n", 0, error.start)
        report(line, "is not UTF-8 text", "Save the file as UTF-8.", shortened(error.object[error.start : error.end]))
    except FlawError as flaw:
        report(text.line, flaw.message, flaw.fix, flaw.value)


def _objects(text: "_Text", report: Report, longest: int) -> Iterator[tuple[int, dict[str, Any]]]:
    text.next_character()
    text.position += 1
    empty = True
    following = text.next_character()
    while not (empty and following == "]"):
        empty = False
        if following not in _BEGINNINGS:
            raise _syntax_error(text, following, "an object")
        line = text.line
        try:
            values = text.value(longest)
        except FlawError as flaw:
            if not text.passed_value:
                raise
            report(line, flaw.message, flaw.fix, flaw.value)
        else:
            if isinstance(values, dict):
                yield line, values
            else:
                fix = 'Write only objects in the list: {"id": "…", …}.'
                report(line, "is not an object", fix, shortened(values))
        following = text.next_character()
        if following == "]":
            break
        if following != ",":
            raise _syntax_error(text, following, "a comma or ]")
        text.position += 1
        following = text.next_character()
    if empty:
        report(None, "is empty", _AS_LIST, None)
    text.position += 1
    if following := text.next_character():
        raise FlawError("has text after the end of the list", "Remove it.", shortened(text.near()))


def _syntax_error(text: "_Text", following: str, expected: str) -> FlawError:
    if not following:
        return FlawError("is truncated: the file ends before the end of the list", "Complete the list.")
    problem = f"is not JSON: expected {expected}"
    return FlawError(problem, "Correct the line; nothing after it was read.", shortened(text.near()))


class _Text:
    """The text of a file, read as it is needed."""

    def __init__(self, file: BufferedReader) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._text = ""
        self._ended = False
        self._line, self._counted = 1, 0
        self.position = 0
        self.passed_value = False
        """Whether the latest value was passed, so that reading can continue after it."""

    @property
    def line(self) -> int:
        """The line of the position."""
        self._line += self._text.count("\n", self._counted, self.position)
        self._counted = self.position
        return self._line

    @property
    def next_line(self) -> int:
        """The line of the text that is read next."""
        return self.line + self._text.count("\n", self.position)

    def near(self) -> str:
        """The text around the position."""
        return self._text[max(0, self.position - 20) : self.position + 20]

    def next_character(self) -> str:
        """Skip white space, and return the next character; nothing at the end of the file."""
        while True:
            while self.position < len(self._text):
                character = self._text[self.position]
                if character not in _SPACE:
                    return character
                self.position += 1
            if not self._read_more():
                return ""

    def value(self, longest: int) -> Any:
        """The JSON value at the position, which moves to the value's end.

        FlawError for an invalid value. `passed_value` says whether its end was found.
        """
        self.passed_value = False
        values, end, flaw = self._decoded(longest)
        # A number may continue in the part that is not read yet.
        while end == len(self._text) and self._read_more():
            self._check_length(longest)
            values, end, flaw = self._decoded(longest)
        written = self._text[self.position : end]
        self.position = end
        self.passed_value = True
        if flaw is not None:
            raise flaw
        if "\\u" in written or written.count("[") + written.count("{") > DEEPEST_NESTING:
            check_inside(values)
        return values

    def _decoded(self, longest: int) -> tuple[Any, int, FlawError | None]:
        """The value at the position, its end, and its flaw if it has one. Reads more until the value is complete."""
        while True:
            try:
                try:
                    return *DECODER.raw_decode(self._text, self.position), None
                except FlawError as flaw:
                    return *_LENIENT.raw_decode(self._text, self.position), flaw
            except json.JSONDecodeError as error:
                # More text can only mend an error at the end of the text, or in a quote that is still open.
                near_end = error.pos >= len(self._text) - _LONGEST_WORD
                is_open = near_end or error.msg.startswith("Unterminated")
                if is_open:
                    self._check_length(longest)
                if not (is_open and self._read_more()):
                    raise self._invalid(error) from None
            except (ValueError, RecursionError):
                raise FlawError(
                    f"can't be read as JSON: overlong numbers or more than {DEEPEST_NESTING} levels",
                    "Remove overlong numbers and deep nesting; nothing after this line was read.",
                ) from None

    def _check_length(self, longest: int) -> None:
        if len(self._text) - self.position > longest:
            raise FlawError(
                f"is longer than {longest:,} characters, or a quote or bracket is never closed",
                "Correct or shorten it; nothing after it was read.",
                shortened(self.near()),
            )

    def _invalid(self, error: json.JSONDecodeError) -> FlawError:
        """The problem of a value at which no more can be read; the position moves to the error."""
        if error.pos >= len(self._text.rstrip()) or error.msg.startswith("Unterminated"):
            return FlawError(
                "is truncated: the file ends in the middle of this object", "Complete the object and the list.", None
            )
        self.position = error.pos
        problem = f"is not JSON: {error.msg.lower().removesuffix(' at')}"
        return FlawError(problem, "Correct the line; nothing after it was read.", shortened(self.near()))

    def _read_more(self) -> bool:
        """Read another part of the file, at least as long as the text not parsed yet. False at the file's end."""
        if self._ended:
            return False
        waiting = len(self._text) - self.position
        raw = self._file.read(max(_AT_ONCE, waiting))
        more = self._decoder.decode(raw, final=not raw)
        if not raw:
            self._ended = True
            return False
        self._line = self.line
        self._text = self._text[self.position :] + more
        self.position = self._counted = 0
        return True


_LENIENT = json.JSONDecoder()
