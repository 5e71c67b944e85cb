"""Names and paths in commands for people to copy into a shell."""

import shlex


def argument(value: object) -> str:
    """A value as one argument of a shell command.

    >>> argument("my-study"), argument("my study")
    ('my-study', "'my study'")
    """
    return shlex.quote(str(value))
