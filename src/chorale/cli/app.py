"""The `chorale` command and its subcommands, one module each.

Commands import what they need when they run: `chorale --help` answers at once.
"""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from chorale import __version__
from chorale.cli.aggregate import aggregate
from chorale.cli.agreement import agreement
from chorale.cli.baseline import baseline
from chorale.cli.browse import browse
from chorale.cli.check import check
from chorale.cli.close import close
from chorale.cli.demo import demo
from chorale.cli.evaluate import evaluate
from chorale.cli.export import export
from chorale.cli.gold import gold
from chorale.cli.importing import importing
from chorale.cli.invite import invite
from chorale.cli.irt import irt
from chorale.cli.keys import keys
from chorale.cli.learn import learn
from chorale.cli.new import new
from chorale.cli.output import tell_error
from chorale.cli.password import password
from chorale.cli.pause import pause, resume
from chorale.cli.pay import pay
from chorale.cli.prepare import prepare
from chorale.cli.publish import publish
from chorale.cli.rehearse import rehearse
from chorale.cli.report import report
from chorale.cli.reproduce import reproduce
from chorale.cli.serve import serve
from chorale.cli.status import status
from chorale.cli.sync import review, sync
from chorale.cli.verify import verify


class _Commands(TyperGroup):
    """Tells a user's mistake as a message, whichever command it was made in."""

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

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the signature is the library's
        """In the order they are needed, which is the order they are added in below."""
        return list(self.commands)


class _Family(TyperGroup):
    """One command per kind of data: whoever names something else, such as a file, is told which there are."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}. There is: {', '.join(self.commands)}.")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="chorale",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    *(new, check, rehearse, serve, status, export, report, verify),
    *(gold, invite, publish, sync, review, pay, keys, password, pause, resume, close, demo),
):
    app.command()(command)
app.add_typer(prepare, cls=_Family)
app.add_typer(importing)
for family in (learn, evaluate, browse, baseline):
    app.add_typer(family, cls=_Family)
for scoring_command in (aggregate, agreement, irt, reproduce):
    app.command()(scoring_command)


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
