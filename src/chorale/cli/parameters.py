"""Parameters of commands. A command is a plain function whose annotations declare its parameters:

    def status(directory: Annotated[Path, Argument("DIR", help="The study's folder.")],
               as_json: Annotated[bool, Option("--json", help="Print one JSON object.")] = False) -> None:

Types are str, int, float, bool, Path, a Literal of names, a list of one of these, and any of them or None. A function
that is also part of the Python API may accept more types: `Any` and `str | PathLike[str]` are a Path here, and `str |
…` is a str.
"""

import inspect
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click

from chorale.cli.values import Reader, file_path, name_of, number
from chorale.registry.options import Argument, Option

__all__ = ["Argument", "CommandArgument", "CommandOption", "FunctionCommand", "Option", "command_of"]
_NONE_GIVEN = inspect.Parameter.empty
_METAVARS: dict[Any, str] = {int: "N", float: "NUMBER", Path: "FILE"}
"""Default metavars of options by type."""


class CommandArgument(click.Argument):
    """An argument with a help text, as options have."""

    def __init__(
        self, name: str, declared: Argument, choices: tuple[str, ...], default: Any, **attributes: Any
    ) -> None:
        if default is not _NONE_GIVEN:
            attributes["default"] = default
        super().__init__([name], required=default is _NONE_GIVEN, metavar=declared.metavar, **attributes)
        self.help = declared.help
        self.choices = choices

    def make_metavar(self, ctx: click.Context | None = None) -> str:  # noqa: ARG002 - the library's signature
        """The form used in usage lines."""
        shown = self.metavar or ""
        if self.nargs == -1 and "..." not in shown and "…" not in shown:
            shown += "..."
        return shown if self.required else f"[{shown}]"

    def default_shown(self) -> str:
        return "" if self.required or self.default is None else str(self.default)

    def help_row(self) -> tuple[str, str]:
        default = self.default_shown()
        note = "  [required]" if self.required else f"  [default: {default}]" if default else ""
        return self.metavar or "", f"{self.help}{note}"


class CommandOption(click.Option):
    """An option whose help also shows numeric limits."""

    def __init__(self, declared: Option, choices: tuple[str, ...], names: list[str], **attributes: Any) -> None:
        super().__init__(names, help=declared.help, envvar=declared.envvar, **attributes)
        self.declared = declared
        self.choices = choices

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        row = super().get_help_record(ctx)
        if row is None:
            return None
        notes = [f"env var: {self.envvar}"] if self.envvar else []
        if default := self.default_shown():
            notes.append(f"default: {default}")
        if limits := _limits(self.declared):
            notes.append(limits)
        if self.required:
            notes.append("required")
        return row[0], f"{self.help}  [{'; '.join(notes)}]" if notes else self.help or ""

    def default_shown(self) -> str:
        if self.declared.show_default is not None:
            return self.declared.show_default
        if self.required or self.multiple or self.default is None:
            return ""
        if self.is_flag:
            # The default is only worth showing for an option that can be switched off.
            return (self.opts if self.default else self.secondary_opts)[0].lstrip("-") if self.secondary_opts else ""
        return str(self.default)


class FunctionCommand(click.Command):
    """A command that calls a function."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if ctx.allow_interspersed_args else self._options_first(args))

    def _options_first(self, args: list[str]) -> list[str]:
        """Reorder arguments so that options of this command come before its arguments."""
        single = sum(isinstance(each, CommandArgument) and each.nargs == 1 for each in self.params)
        valued = {
            name for each in self.params if isinstance(each, click.Option) and not each.is_flag for name in each.opts
        }
        options, arguments, rest = list[str](), list[str](), list(args)
        while rest and rest[0] != "--":
            if rest[0].startswith("-") and rest[0] != "-":
                count = 2 if rest[0] in valued else 1
                if len(rest) < count:
                    return [*options, *rest]  # a value is missing
                options, rest = options + rest[:count], rest[count:]
            elif len(arguments) < single:
                arguments.append(rest.pop(0))
            else:
                break
        return [*options, *(["--"] if arguments or rest else []), *arguments, *rest[rest[:1] == ["--"] :]]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        rows = [parameter.help_row() for parameter in self.params if isinstance(parameter, CommandArgument)]
        if rows:
            with formatter.section("Arguments"):
                formatter.write_dl(rows)
        self.format_options(ctx, formatter)


def command_of(function: Callable[..., None], name: str) -> FunctionCommand:
    """Make a command from a function's annotations."""
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    declared = [one for each in parameters for one in get_args(each.annotation) if isinstance(one, Argument)]
    return FunctionCommand(
        name,
        callback=function,
        params=[_parameter(parameter) for parameter in parameters],
        help=inspect.getdoc(function),
        context_settings={"allow_interspersed_args": not any(one.verbatim for one in declared)},
    )


def _parameter(parameter: inspect.Parameter) -> click.Parameter:
    if get_origin(parameter.annotation) is not Annotated:
        raise TypeError(f"{parameter.name} is not annotated with an Option or an Argument.")
    annotation, declared = get_args(parameter.annotation)
    kind, several = _kind(annotation)
    as_list = _as_list if several else None
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    if isinstance(declared, Argument):
        count = -1 if several else 1
        reader = _reader(kind, None, None, parameter.name)
        return CommandArgument(
            parameter.name, declared, choices, parameter.default, nargs=count, type=reader, callback=as_list
        )
    if not isinstance(declared, Option):
        raise TypeError(f"{parameter.name} is annotated with {declared!r}. Use an Option or an Argument.")
    name = declared.name or f"--{parameter.name.replace('_', '-')}"
    given: dict[str, Any] = {"required": parameter.default is _NONE_GIVEN, "multiple": several, "callback": as_list}
    if not several and not given["required"]:
        default = parameter.default
        given["default"] = ",".join(map(str, default)) if isinstance(default, tuple) else default
    if kind is bool:
        # A flag without a name to switch it off is off by default, even if it is on in the Python API.
        given |= {"is_flag": True, "default": parameter.default and "/" in name}
    elif declared.choices is not None:
        choices = tuple(declared.choices())
        given["type"] = name_of(choices)
    else:
        given["type"] = _reader(kind, declared.min, declared.max, parameter.name)
    given["metavar"] = declared.metavar or _METAVARS.get(kind) or ("NAME" if choices else None)
    short = [declared.short] if declared.short else []
    return CommandOption(declared, choices, [*short, name, parameter.name], **given)


def _as_list(_context: click.Context, _parameter: click.Parameter, values: tuple[Any, ...]) -> list[Any] | None:
    return list(values) or None


def _kind(annotation: Any) -> tuple[Any, bool]:
    """The type of one value, and whether the parameter takes several."""
    kinds = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    several = [kind for kind in kinds if get_origin(kind) in (list, Sequence)]
    if PathLike[str] in kinds or kinds == (Any,):
        return Path, bool(several)
    kind = str if str in kinds else next(each for each in kinds if each is not NoneType)
    return (_kind(*get_args(kind))[0], True) if kind in several else (kind, False)


def _limits(declared: Option) -> str:
    if declared.min is None:
        return "" if declared.max is None else f"x<={declared.max}"
    return f"x>={declared.min}" if declared.max is None else f"{declared.min}<=x<={declared.max}"


def _reader(kind: Any, low: float | None, high: float | None, name: str) -> Reader:
    if get_origin(kind) is Literal:
        return name_of(get_args(kind))
    if kind in (int, float):
        return number(kind, low, high)
    if kind in (Path, str):
        return file_path if kind is Path else str
    raise TypeError(f"{name} has the type {kind!r}, which a command line cannot express.")
