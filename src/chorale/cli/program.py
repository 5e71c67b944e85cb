"""The `chorale` command."""

import gc
import sys

from chorale import __version__
from chorale.cli.commands import COMMANDS, family_commands
from chorale.cli.groups import Program
from chorale.cli.tree import command_tree
from chorale.registry import commands

_ALLOCATIONS = 200_000
"""After how many objects made and kept Python looks for those that only hold each other. What a command reads stays
until it ends, and looking through it every 700 takes up to a fifth of its time."""

app = Program(
    command_tree(
        "Collect and evaluate crowdsourced annotations: run studies, check the crowd, score the results.",
        COMMANDS,
        commands(),
        family_commands(commands()),
    ),
    __version__,
)


def main() -> None:
    """The `chorale` command."""
    gc.set_threshold(_ALLOCATIONS, 50, 100)
    try:
        app(prog_name="chorale")
    finally:
        # What is still there goes with the process. Python would look through all of it once more before it ends.
        # DuckDB wants that: it takes everything else for a leak, and lists it on the terminal.
        if "duckdb" not in sys.modules:
            gc.freeze()
