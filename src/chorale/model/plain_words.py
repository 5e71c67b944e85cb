"""Validation errors of pydantic in plain words."""

import re
from dataclasses import dataclass, replace

from pydantic import ValidationError

from chorale.model.wording import Wording

MISSING = "Field required"
"""pydantic's message for a missing value."""
UNKNOWN = "Extra inputs are not permitted"
"""pydantic's message for an unexpected value."""
NOT_A_TABLE = "is not a table"
"""The error if a table of settings is expected, but the value is not a table."""
NOT_A_LIST = "is not a list"
NOT_WHOLE = "is not a whole number"


_CORRECT = "Correct it."


class InvalidValueError(ValueError):
    """A validator's own error in parts, so that a sentence in a value is not mistaken for the end of the message."""

    def __init__(self, problem: str, invalid_part: str | None = None, fix: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.invalid_part = invalid_part
        """The invalid value or the invalid part of it, as text for a message."""
        self.fix = fix or _CORRECT


@dataclass(frozen=True, slots=True)
class PlainWords:
    """One error in three wordings. The first two continue a sentence that names the value."""

    wrong: str
    """As in “is below 1”."""
    demand: str
    """As in “must be at least 1”: for workers."""
    fix: str
    """As in “Write a number from 1 up.”: for authors of files."""
    invalid_part: str | None = None
    """The invalid part of the value, if the validator names it. `demand` contains it, `wrong` does not."""


def plain_words(message: str) -> PlainWords:
    """The plain words for pydantic's message about a value."""
    for pattern, *words in _TABLE:
        if match := pattern.fullmatch(message):
            return PlainWords(*(text.format(*match.groups()) for text in words))
    message = message[:1].lower() + message[1:]
    return PlainWords(f"is not valid: {message}", message, _CORRECT)


def own_words(message: str) -> PlainWords:
    """The message of one of Chorale's validators. A `Wording` is kept, so that it can be translated."""
    words = plain_words(f"Value error, {message}")
    return replace(words, demand=message) if isinstance(message, Wording) else words


def words_of_own(error: ValueError) -> PlainWords:
    """The plain words for an error that one of Chorale's validators raised."""
    if not isinstance(error, InvalidValueError):
        return own_words(error.args[0])
    shown = "" if error.invalid_part is None else f" (found {error.invalid_part})"
    return PlainWords(error.problem, f"{error.problem}{shown}", error.fix, error.invalid_part)


def words_of(error: ValidationError) -> PlainWords:
    """The plain words for the first error that pydantic found."""
    first = error.errors()[0]
    cause = first.get("ctx", {}).get("error")
    return words_of_own(cause) if isinstance(cause, ValueError) and cause.args else plain_words(first["msg"])


_NAME_PATTERN = re.escape("^[a-z][a-z0-9-]{0,39}$")
_CODE_PATTERN = re.escape("^[A-Za-z0-9_-]{1,64}$")
# pydantic's message, and the wordings of PlainWords; the first match counts.
_TABLE = tuple(
    (re.compile(pattern, re.DOTALL), wrong, demand, fix)
    for pattern, wrong, demand, fix in (
        (MISSING, "is missing", "must be filled in", "Add it."),
        (UNKNOWN, "is not expected here", "must have no other fields", "Remove it."),
        (r"Input should be a valid string", "is not text", "must be text", "Write text in quotes."),
        (
            r"Input should be a valid integer.*",
            NOT_WHOLE,
            "must be a whole number",
            "Write a whole number, without quotes.",
        ),
        (
            r"Input should be a (?:valid|finite) number.*",
            "is not a number",
            "must be a number",
            "Write a number, without quotes.",
        ),
        (
            r"Input should be a valid boolean.*",
            "is neither true nor false",
            "must be true or false",
            "Write true or false, without quotes.",
        ),
        (
            r"Input should be (?:an object|a valid dictionary.*)",
            NOT_A_TABLE,
            "must be a table",
            "Write its settings in braces: `{{ NAME = VALUE, … }}`.",
        ),
        (
            r"Input should be a valid (?:array|list|tuple)",
            NOT_A_LIST,
            "must be a list",
            'Write a list in square brackets, such as ["a", "b"].',
        ),
        (
            r"Input should be greater than or equal to (\S+)",
            "is below {0}",
            "must be at least {0}",
            "Write a number from {0} up.",
        ),
        (
            r"Input should be less than or equal to (\S+)",
            "is above {0}",
            "must be at most {0}",
            "Write a number up to {0}.",
        ),
        (r"Input should be greater than (\S+)", "is not above {0}", "must be above {0}", "Write a number above {0}."),
        (r"Input should be less than (\S+)", "is not below {0}", "must be below {0}", "Write a number below {0}."),
        (
            r"Input should be a valid date.*",
            "is not a date",
            "must be a date",
            'Write it as "YYYY-MM-DD", with quotes.',
        ),
        (r"Input should be (.+)", "is not one of the allowed values", "must be {0}", "Write {0}."),
        (r"String should have at least 1 character", "is empty", "must not be empty", "Fill it in."),
        (
            r"String should have at least (\d+) characters",
            "is too short",
            "must have at least {0} characters",
            "Write at least {0} characters.",
        ),
        (
            r"String should have at most (\d+) characters?",
            "is too long",
            "must have at most {0} characters",
            "Write at most {0} characters.",
        ),
        (r"String should match pattern '\\S'", "is blank", "must not be blank", "Fill it in."),
        (
            rf"String should match pattern '{_NAME_PATTERN}'",
            "is not a name",
            "must be up to 40 lower-case letters, digits and hyphens, beginning with a letter",
            "Use up to 40 lower-case letters, digits and hyphens, beginning with a letter.",
        ),
        (
            rf"String should match pattern '{_CODE_PATTERN}'",
            "is empty, too long, or has characters other than letters, digits, _ and -",
            "must be 1 to 64 characters: A-Z, a-z, 0-9, _ and -",
            "Use 1 to 64 characters: A-Z, a-z, 0-9, _ and -.",
        ),
        (
            r"String should match pattern '\^\[A-Z\]\{3\}\$'",
            "is not a currency code",
            "must be a currency code of three capital letters",
            "Write three capital letters, such as USD, EUR or GBP.",
        ),
        (
            r"String should match pattern '(.*)'",
            "does not have the required form",
            "must match the regular expression {0}",
            "It must match the regular expression {0}.",
        ),
        (
            r"\w+ should have at least 1 item.*",
            "is an empty list",
            "must have at least one entry",
            "Add at least one entry.",
        ),
        (
            r"(?:Tuple|List) should have at least (\d+) items? after validation, not (\d+)",
            "has too few entries: {1}",
            "must have at least {0} entries",
            "Write at least {0}, separated by commas.",
        ),
        (
            r"(?:Tuple|List) should have at most (\d+) items? after validation, not (.+)",
            "has too many entries: {1}",
            "must have at most {0} entries",
            "Write at most {0}.",
        ),
        # The second sentence of our own validators says what to do.
        (r"Value error, (.+?)\. ([A-Z].*)", "{0}", "{0}", "{1}"),
        (r"Value error, (.+)", "{0}", "{0}", _CORRECT),
    )
)
