"""Notes on people whom items are assigned to."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from chorale.folder.checking.content import StageContent
from chorale.present.shell import argument

_NAMED = 5


def assignees_of(stages: Iterable[StageContent]) -> list[str]:
    """The names of all people whom the study's files assign items to."""
    return sorted({name for stage in stages for names in stage.assigned.values() for name in names})


def without_account(names: Sequence[str], directory: Path) -> list[str]:
    """A sentence about people with assigned items who can't sign in; empty if there are none."""
    if not names:
        return []
    shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else "")
    have = "has no active account" if len(names) == 1 else "have no active account"
    invite = f"Invite each of them with `chorale team {argument(directory)} --invite NAME`."
    return [f"{shown} {have}, but items are assigned to them. {invite}"]
