"""How commands are declared: by data, so that listing them imports none.

A command is a function in some module. Its spec says under which name it is called, what it does, and where the
function is. Specs come in lists from several packages, and together make the tree of `chorale`'s commands.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """One command."""

    path: tuple[str, ...]
    """Its name, after those of the groups it is in: `("evaluate", "rules")`."""
    summary: str
    """What it does: the first line of the function's docstring."""
    place: str
    """Where the function is: `package.module:function`. The module is imported when the command is named."""


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """A command that has others, such as `chorale evaluate`."""

    path: tuple[str, ...]
    summary: str
    usual: str | None = None
    """The command that is meant where none of the group's is named."""


@dataclass(frozen=True, slots=True)
class CommandTree:
    """A group with what is in it."""

    group: GroupSpec
    members: "dict[str, CommandSpec | CommandTree]" = field(default_factory=dict)


def command_tree(summary: str, *lists: Iterable[CommandSpec | GroupSpec]) -> CommandTree:
    """All commands, in the order they are declared in. A group can be declared after its commands."""
    specs = [spec for specs in lists for spec in specs]
    root = CommandTree(GroupSpec((), summary))
    groups: dict[tuple[str, ...], CommandTree] = {(): root}
    for spec in specs:
        if isinstance(spec, GroupSpec):
            groups.setdefault(spec.path, CommandTree(spec))
    for spec in specs:
        members, name = _group_of(spec, groups).members, spec.path[-1]
        if name in members:
            raise ValueError(
                f"Two commands are called `{_called(spec.path)}`: {_origin(members[name])} and {_origin(spec)}. "
                "Rename one of them."
            )
        members[name] = groups[spec.path] if isinstance(spec, GroupSpec) else spec
    return root


def _group_of(spec: CommandSpec | GroupSpec, groups: dict[tuple[str, ...], CommandTree]) -> CommandTree:
    if not spec.path or not all(spec.path):
        raise ValueError(f"A command of {_origin(spec)} has no name: its path is {spec.path!r}.")
    group = groups.get(spec.path[:-1])
    if group is None:
        raise ValueError(
            f"`{_called(spec.path)}` ({_origin(spec)}) is in a group that nobody declares. "
            f"Add a GroupSpec for `{_called(spec.path[:-1])}`."
        )
    return group


def _called(path: tuple[str, ...]) -> str:
    return " ".join(("chorale", *path))


def _origin(declared: CommandSpec | GroupSpec | CommandTree) -> str:
    if isinstance(declared, CommandTree):
        declared = declared.group
    return declared.place if isinstance(declared, CommandSpec) else f"the group “{declared.summary}”"
