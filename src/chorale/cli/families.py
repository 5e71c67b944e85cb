"""The commands of metric families whose kits declare none."""

from collections.abc import Iterable

from chorale.registry import Command, CommandGroup, families

_GROUP = "evaluate"


def family_commands(declared: Iterable[Command | CommandGroup]) -> list[Command]:
    """`chorale evaluate NAME` for every family that has no command of its own. No family is loaded."""
    taken = {command.path for command in declared}
    return [
        Command((_GROUP, name), family_summary(name), f"chorale.cli.evaluate:{name}")
        for name in families()
        if (_GROUP, name) not in taken
    ]


def family_summary(name: str) -> str:
    return f"Score by the metrics of the kit {families().kit_of(name)}, against a gold standard."
