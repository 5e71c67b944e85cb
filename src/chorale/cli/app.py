"""The `chorale` command and its subcommands, one module each.

A command is loaded when it is named, and imports what it needs when it runs: `chorale --help` answers at once.
"""

from typing import Annotated, Any, ClassVar

import typer

from chorale import __version__
from chorale.cli.loading import LoadingGroup
from chorale.cli.output import tell_error

_NAMES = (
    *("new", "check", "rehearse", "serve", "status", "export", "report", "verify"),
    *("gold", "invite", "publish", "sync", "review", "pay", "keys", "password", "pause", "resume", "close", "demo"),
    *("aggregate", "agreement", "irt", "reproduce"),
    *("prepare", "import", "learn", "evaluate", "browse", "baseline"),
)
"""In the order they are needed."""
_ELSEWHERE = {
    "import": "chorale.cli.importing:importing",
    "resume": "chorale.cli.pause:resume",
    "review": "chorale.cli.sync:review",
}
"""Those that are not in the module of their name."""


class _Commands(LoadingGroup):
    """Tells a user's mistake as a message, whichever command it was made in."""

    places: ClassVar = {name: _ELSEWHERE.get(name, f"chorale.cli.{name}:{name}") for name in _NAMES}

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            from chorale.cli.mistakes import plainly  # noqa: PLC0415 - only a mistake needs it

            error.message = plainly(error.message)
            raise
        except Exception as error:
            from chorale.model import UserError  # noqa: PLC0415 - costs more than all of `--help`

            if not isinstance(error, UserError):
                raise
            tell_error(error)
            raise typer.Exit(2) from None


app = typer.Typer(
    name="chorale",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"chorale {__version__}")
        raise typer.Exit


@app.callback()
def chorale(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Run controlled crowdsourcing studies about meaning, and score what comes out of them."""
