"""`chorale demo`"""

from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson
from chorale.cli.parameters import Argument, Option
from chorale.kits.rules.commands.demonstration import Demonstration


def demo(
    directory: Annotated[
        Path, Argument(metavar="DIR", help="Where the demo's study goes; an earlier demo there is replaced.")
    ] = Path("demo-study"),
    once: Annotated[bool, Option("--once", help="Exit when the crowd is done instead of leaving it up.")] = False,
    workers: Annotated[int, Option(metavar="N", help="How many simulated workers.", min=6, max=400)] = 40,
    seed: Annotated[int, Option(metavar="N", help="Seed of the crowd.")] = 2012,
    port: Annotated[
        int | None,
        Option(
            metavar="PORT",
            help="The port to listen on; 8000, or a free one, if not given.",
            min=0,
            max=65535,
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run the rules study with a simulated crowd, show what comes out, and leave the site up."""
    Demonstration(directory, workers, seed, port, as_json).run(leave_up=not once)
