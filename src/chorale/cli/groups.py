"""Command groups: they list commands by their specs, and load only the one that is called."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click

from chorale.cli.first_steps import print_first_steps
from chorale.cli.output import plain, print_error, print_notes
from chorale.cli.parameters import CommandArgument, CommandOption, command_of
from chorale.cli.tree import Clash, CommandTree
from chorale.lazy import load
from chorale.model.extras import explained
from chorale.model.problems import UnavailableError, UserError, did_you_mean
from chorale.registry import Command, blaming, installed, kit_of_command

_WIDEST = 1_000
_HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": _WIDEST}
"""Help is as wide as the terminal; Click alone would stop at 80 columns."""
_FEW = 8
"""Maximum number of commands listed in the message about an unknown one."""
INTERRUPTED = 130


class LazyGroup(click.Group):
    """A group of commands in the order of their specs."""

    def __init__(self, tree: CommandTree, name: str | None, **attributes: Any) -> None:
        super().__init__(name, help=tree.group.summary, **{"no_args_is_help": True, **attributes})
        self._tree = tree
        self._names = list(tree.members)

    def list_commands(self, ctx: click.Context | None = None) -> list[str]:  # noqa: ARG002 - the library's signature
        return self._names

    def get_command(self, ctx: click.Context | None, name: str) -> click.Command | None:  # noqa: ARG002 - the library's signature
        if name not in self.commands and (member := self._tree.members.get(name)) is not None:
            if isinstance(member, Clash):
                raise UserError(member.message)
            self.commands[name] = (
                loaded_command(member, name) if isinstance(member, Command) else LazyGroup(member, name)
            )
        return self.commands.get(name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the default command if arguments are given without a command."""
        usual = self._tree.group.usual
        asks_for_help = {"-h", "--help"} & set(args)
        if usual and any(not arg.startswith("-") for arg in args) and not asks_for_help and args[0] not in self._names:
            args = [usual, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self._names and not args[0].startswith("-"):
            there = f" Commands: {', '.join(self._names)}." if len(self._names) <= _FEW else ""
            ctx.fail(f"No such command {args[0]!r}.{there}{did_you_mean(args[0], self._names)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - the library's signature
        summaries = {
            name: member.group.summary if isinstance(member, CommandTree) else member.summary
            for name, member in self._tree.members.items()
        }
        with formatter.section("Commands"):
            # Long sentences are wrapped: cut to one line, most of them could not be understood.
            formatter.write_dl(
                [
                    (name, click.Command(name, help=text).get_short_help_str(limit=len(text) + 1))
                    for name, text in summaries.items()
                ]
            )


def loaded_command(spec: Command, name: str) -> click.Command:
    called = " ".join(("chorale", *spec.path))
    with blaming(f"command `{called}`", f"could not be loaded ({spec.place})"):
        command = command_of(load(spec.place), name)
    kit = kit_of_command(spec)
    if kit is not None and command.callback is not None:
        command.callback = _blamed(command.callback, f"command `{called}` of the kit `{kit}`")
    return command


def _blamed(run: Callable[..., Any], part: str) -> Callable[..., Any]:
    """Report an error in a kit's command with the kit's name, without a traceback."""

    @wraps(run)
    def run_blamed(*args: Any, **kwargs: Any) -> Any:
        with blaming(part, but=(click.ClickException, click.Abort, click.exceptions.Exit, OSError)):
            return run(*args, **kwargs)

    return run_blamed


def _without_command(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        print_first_steps(Path.cwd())


class Program(LazyGroup):
    """The group of all commands. Errors for users end in a message, in whichever command they occur."""

    def __init__(self, tree: CommandTree, version: str) -> None:
        shown = click.version_option(version, message="%(prog)s %(version)s", help="Print the version and exit.")
        super().__init__(
            tree,
            "chorale",
            context_settings=_HELP,
            no_args_is_help=False,
            invoke_without_command=True,
            callback=click.pass_context(_without_command),
        )
        shown(self)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        with _usage_explained():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        print_notes([*(kit.message for kit in installed().broken), *self._tree.problems])
        try:
            with _usage_explained():
                return super().invoke(ctx)
        except UserError as error:
            print_error(error)
            raise click.exceptions.Exit(2) from None
        except UnavailableError as error:
            print_error(UserError(error.message))
            raise click.exceptions.Exit(error.exit_status) from None
        except ModuleNotFoundError as error:
            if (advice := explained(error)) is None:
                raise
            print_error(advice)
            raise click.exceptions.Exit(2) from None
        except KeyboardInterrupt:
            raise click.exceptions.Exit(INTERRUPTED) from None


@contextmanager
def _usage_explained() -> Iterator[None]:
    """Make usage errors list the possible choices, and escape control characters in them."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        message, missing = error.format_message(), getattr(error, "param", None)
        if isinstance(error, click.MissingParameter) and isinstance(missing, CommandArgument | CommandOption):
            message += f" Choose from: {', '.join(missing.choices)}." if missing.choices else ""
        raise click.UsageError(plain(message), error.ctx) from None
