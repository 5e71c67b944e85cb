"""The `chorale` command."""

import gc
import sys

from chorale import __version__
from chorale.cli.commands import COMMANDS, family_commands
from chorale.cli.groups import Program
from chorale.cli.tree import command_tree
from chorale.registry import commands

_ALLOCATIONS = 200_000
"""Allocations between two runs of the garbage collector.

A command keeps what it reads until it ends, and collecting every 700 allocations takes up to a fifth of its time.
"""

app = Program(
    command_tree(
        "Collect and evaluate crowdsourced annotations: run studies, check their quality, score the results.",
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
        # All memory is freed with the process, so the final garbage collection is skipped. DuckDB needs it: otherwise
        # it reports leaks on the terminal.
        if "duckdb" not in sys.modules:
            gc.freeze()
