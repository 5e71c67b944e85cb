"""The tree of all commands, from the declarations of the command line and of installed kits."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from chorale.registry import Command, CommandGroup


@dataclass(frozen=True, slots=True)
class Clash:
    """A command name that several packages declare."""

    path: tuple[str, ...]
    origins: tuple[str, ...]

    summary: str = "Not available: several packages have a command of this name."

    @property
    def message(self) -> str:
        return (
            f"Several packages have a command `{_called(self.path)}`: {', '.join(self.origins)}. "
            "Uninstall all but one of them."
        )


@dataclass(frozen=True, slots=True)
class CommandTree:
    """A group with its commands and groups."""

    group: CommandGroup
    members: "dict[str, Command | Clash | CommandTree]" = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    """Rejected declarations and their reasons. The root also has those of its groups."""


def command_tree(summary: str, *lists: Iterable[Command | CommandGroup]) -> CommandTree:
    """All commands, in the order of their declarations.

    A group can be declared after its commands. An invalid declaration does not affect other commands.
    """
    declared = [command for commands in lists for command in commands]
    root = CommandTree(CommandGroup((), summary))
    groups: dict[tuple[str, ...], CommandTree] = {(): root}
    for command in declared:
        if isinstance(command, CommandGroup):
            groups.setdefault(command.path, CommandTree(command))
    for command in declared:
        problem = _problem(command, groups)
        if problem is not None:
            root.problems.append(problem)
            continue
        members, name = groups[command.path[:-1]].members, command.path[-1]
        member = groups[command.path] if isinstance(command, CommandGroup) else command
        before = members.get(name)
        # A second package may declare the same group to add commands to it.
        if before is None or before is member:
            members[name] = member
        else:
            origins = before.origins if isinstance(before, Clash) else (_origin(before),)
            members[name] = Clash(command.path, (*origins, _origin(command)))
    for path, group in groups.items():
        if path:
            # They come from kits, whose order has no meaning.
            group.members.update({name: group.members.pop(name) for name in sorted(group.members)})
    return root


def _problem(command: Command | CommandGroup, groups: dict[tuple[str, ...], CommandTree]) -> str | None:
    if not command.path or not all(command.path):
        return f"A command of {_origin(command)} has no name: its path is {command.path!r}."
    if command.path[:-1] not in groups:
        return (
            f"`{_called(command.path)}` ({_origin(command)}) is in a group that no package declares. "
            f"Declare a CommandGroup for `{_called(command.path[:-1])}`."
        )
    return None


def _called(path: tuple[str, ...]) -> str:
    return " ".join(("chorale", *path))


def _origin(declared: Command | CommandGroup | CommandTree) -> str:
    if isinstance(declared, CommandTree):
        declared = declared.group
    return declared.place if isinstance(declared, Command) else f"the group “{declared.summary}”"
