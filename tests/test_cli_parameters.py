"""Functions as commands: every kind of parameter, right and wrong values, and what help says of them."""

import os
import re
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from chorale.cli.groups import Program
from chorale.cli.parameters import Argument, Option, command_of
from chorale.cli.tree import command_tree
from chorale.registry import Command

TAKEN: dict[str, Any] = {}


def command(
    first: Annotated[Path, Argument("FILE", help="The first file.")],
    others: Annotated[list[Path] | None, Argument("OTHERS", help="More files.")] = None,
    whole: Annotated[int, Option("--whole", metavar="N", min=1, max=10, help="A whole number.")] = 2,
    number: Annotated[float | None, Option("--number", metavar="X", min=0, help="A number.")] = None,
    low: Annotated[float, Option("--low", metavar="X", max=1.5, help="A number.", show_default="by heart")] = 0.5,
    any_number: Annotated[int | None, Option(metavar="N", help="Any whole number.")] = None,
    text: Annotated[str | None, Option("--text", metavar="TEXT", help="Text.", envvar="SOME_TEXT")] = None,
    choice: Annotated[
        Literal["alpha", "beta"], Option("--choice", short="-c", metavar="NAME", help="A name.")
    ] = "beta",
    flag: Annotated[bool, Option("--flag", help="A flag.")] = False,
    drawn: Annotated[bool, Option("--drawn/--no-drawn", help="On or off.")] = True,
    folder: Annotated[Path, Option(metavar="DIR", help="A folder.")] = Path("there"),
    names: Annotated[list[str] | None, Option("--name", metavar="NAME", help="Names.")] = None,
    kinds: Annotated[list[Literal["x", "y"]] | None, Option("--kind", metavar="KIND", help="Kinds.")] = None,
) -> None:
    """Take one of each. This is the second sentence."""
    TAKEN.update(locals())


def required(
    what: Annotated[Literal["left", "right"], Argument("SIDE", help="A side.")],
    out: Annotated[Path, Option("--out", metavar="FILE", help="A file.")],
) -> None:
    """Take what must be given."""
    TAKEN.update(locals())


def for_programs(
    files: Annotated[str | PathLike[str] | Sequence[str | PathLike[str]], Argument("FILE", help="Files.")],
    beside: Annotated[Sequence[str | PathLike[str]], Option("--with", metavar="FILE", help="More.")] = (),
    against: Annotated[str | PathLike[str] | None, Option(metavar="FILE", help="Another.")] = None,
    at: Annotated[str | Sequence[float], Option(metavar="X,X", help="Where.")] = (0.1, 0.25),
    ci: Annotated[bool, Option(help="Intervals.")] = True,
) -> None:
    """Take what programs give as well."""
    TAKEN.update(locals())


def with_script(
    folder: Annotated[str, Argument("DIR", help="A folder.")],
    command: Annotated[list[str] | None, Argument("SCRIPT", help="A script.", verbatim=True)] = None,
    show: Annotated[bool, Option(help="Show it.")] = False,
    at: Annotated[str | None, Option(help="Where.")] = None,
) -> None:
    """Run a script with its own arguments."""
    TAKEN.update(locals())


def run(*arguments: str, function: Any = command, env: dict[str, str] | None = None) -> Result:
    """Run the function inside of a whole program, as a command of its own."""
    TAKEN.clear()
    program = Program(command_tree("All.", [Command(("go",), "Go.", f"{__name__}:{function.__name__}")]), "1.0")
    return CliRunner().invoke(program, ["go", *arguments], prog_name="chorale", env=env, terminal_width=100)


def refused(*arguments: str, function: Any = command) -> str:
    result = run(*arguments, function=function)
    assert result.exit_code == 2, result.output
    assert not TAKEN
    assert isinstance(result.exception, SystemExit)
    return result.output.partition("Error: ")[2].strip()


DEFAULTS: dict[str, Any] = {
    "first": Path("f"),
    "others": None,
    "whole": 2,
    "number": None,
    "low": 0.5,
    "any_number": None,
    "text": None,
    "choice": "beta",
    "flag": False,
    "drawn": True,
    "folder": Path("there"),
    "names": None,
    "kinds": None,
}


@pytest.mark.parametrize(
    ("arguments", "taken"),
    [
        ((), {}),
        (("g", "h"), {"others": [Path("g"), Path("h")]}),
        (("--whole", "10", "--number", "0", "--low", "-3"), {"whole": 10, "number": 0.0, "low": -3.0}),
        (("--whole", " 3 ", "--number", "1e3"), {"whole": 3, "number": 1000.0}),
        (("--whole=+3", "--any-number=-5"), {"whole": 3, "any_number": -5}),
        (("--any-number", "9" * 30), {"any_number": int("9" * 30)}),
        (("--text", ""), {"text": ""}),
        (("--text", "--flag"), {"text": "--flag"}),
        (("--choice", "alpha", "--flag", "--no-drawn"), {"choice": "alpha", "flag": True, "drawn": False}),
        (("-c", "alpha", "--no-drawn", "--drawn"), {"choice": "alpha", "drawn": True}),
        (("--folder", "/nowhere/at/all"), {"folder": Path("/nowhere/at/all")}),
        (("--name", "a", "--name", ""), {"names": ["a", ""]}),
        (("--kind", "y", "--kind", "x", "--kind", "y"), {"kinds": ["y", "x", "y"]}),
        (("--", "--flag"), {"others": [Path("--flag")]}),
    ],
    ids=str,
)
def test_values_come_as_the_annotations_say(arguments: tuple[str, ...], taken: dict[str, Any]) -> None:
    result = run("f", *arguments)
    assert result.exit_code == 0, result.output
    expected = DEFAULTS | taken
    assert expected == TAKEN
    assert {name: type(value) for name, value in TAKEN.items()} == {
        name: type(value) for name, value in expected.items()
    }


def test_an_environment_variable_stands_in_for_an_option() -> None:
    run("f", env={"SOME_TEXT": "from there"})
    assert TAKEN["text"] == "from there"
    run("f", "--text", "given", env={"SOME_TEXT": "from there"})
    assert TAKEN["text"] == "given"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("f", "--whole", "0"), "Invalid value for '--whole': 0 is too low. It must be at least 1."),
        (("f", "--whole", "11"), "Invalid value for '--whole': 11 is too high. It must be at most 10."),
        *((("f", "--whole", text), f"{text!r} is not a whole number.") for text in ("3.5", "x", "1e1", "٣", "")),
        (("f", "--number", "-1"), "Invalid value for '--number': -1 is too low. It must be at least 0."),
        (("f", "--low", "2"), "2 is too high. It must be at most 1.5."),
        *((("f", "--number", text), f"{text!r} is not a number.") for text in ("x", "", "nan", "inf", "1e400", "٣")),
        (("f", "--choice", "alfa"), "Invalid value for '-c' / '--choice': 'alfa' is not one of alpha, beta. Did you "),
        (("f", "--choice", "BETA"), "'BETA' is not one of alpha, beta. Did you mean beta?"),
        (("f", "--kind", "x", "--kind", "z"), "Invalid value for '--kind': 'z' is not one of x, y."),
        (("f\0g",), r"Invalid value for 'FILE': 'f\x00g' is not a valid file name."),
        (("f", "\ud800"), r"'\ud800' is not a valid file name."),
        (("f", "--folder", "\0"), r"Invalid value for '--folder': '\x00' is not a valid file name."),
        (("f", "--choice", "\x1b[31m"), r"'\x1b[31m' is not one of alpha, beta."),
        (("f", "--flag=1"), "Option '--flag' does not take a value."),
        (("f", "--whole"), "Option '--whole' requires an argument."),
        (("f", "--nothing"), "No such option"),
        ((), "Missing argument 'FILE'."),
    ],
    ids=str,
)
def test_wrong_values_are_named_with_what_is_right(arguments: tuple[str, ...], message: str) -> None:
    assert message in refused(*arguments)


def test_what_must_be_given_is_asked_for() -> None:
    assert refused("left", function=required) == "Missing option '--out'."
    assert refused("--out", "x", function=required) == "Missing argument 'SIDE'. Choose from: left, right."
    assert refused("up", "--out", "x", function=required) == "Invalid value for 'SIDE': 'up' is not one of left, right."
    assert run("left", "--out", "x", function=required).exit_code == 0
    assert {"what": "left", "out": Path("x")} == TAKEN


def test_a_file_that_can_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret").write_text("")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "secret' can't be read: permission denied." in refused(str(tmp_path / "secret"))
    assert run(str(tmp_path / "nothing")).exit_code == 0


@given(text=st.text(st.characters(categories=("Cc", "Cf", "Cs", "Nd", "Lu")), max_size=20))
def test_whatever_is_given_nothing_moves_the_cursor_and_nothing_breaks(text: str) -> None:
    for option in ("--whole", "--number", "--choice", "--folder", "--nothing"):
        result = run("f", f"{option}={text}")
        assert result.exit_code in (0, 2), result.exception
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", result.output)


def test_help_explains_arguments_and_options() -> None:
    assert (
        run("--help").output
        == """\
Usage: chorale go [OPTIONS] FILE [OTHERS...]

  Take one of each. This is the second sentence.

Arguments:
  FILE    The first file.  [required]
  OTHERS  More files.

Options:
  --whole N             A whole number.  [default: 2; 1<=x<=10]
  --number X            A number.  [x>=0]
  --low X               A number.  [default: by heart; x<=1.5]
  --any-number N        Any whole number.
  --text TEXT           Text.  [env var: SOME_TEXT]
  -c, --choice NAME     A name.  [default: beta]
  --flag                A flag.
  --drawn / --no-drawn  On or off.  [default: drawn]
  --folder DIR          A folder.  [default: there]
  --name NAME           Names.
  --kind KIND           Kinds.
  -h, --help            Show this message and exit.
"""
    )
    assert "SIDE  A side.  [required]" in run("--help", function=required).output
    assert "--out FILE  A file.  [required]" in run("-h", function=required).output


def test_a_function_must_say_how_its_parameters_are_given() -> None:
    def bare(first: str) -> None:
        """Take something."""

    def wrong(first: Annotated[str, "an option"]) -> None:
        """Take something."""

    def odd(first: Annotated[complex, Option()] = 1j) -> None:
        """Take something."""

    for function, message in ((bare, "first is not annotated"), (wrong, "'an option'"), (odd, "complex")):
        with pytest.raises(TypeError, match=message):
            command_of(function, "go")


def test_a_function_for_programs_gets_paths_and_texts_and_a_flag_it_has_on_is_off_until_it_is_given() -> None:
    assert run("f", function=for_programs).exit_code == 0
    taken = dict(TAKEN)
    assert taken == {"files": [Path("f")], "beside": None, "against": None, "at": "0.1,0.25", "ci": False}
    given = ("f", "g", "--with", "h", "--with", "i", "--against", "j", "--at", "0.5", "--ci")
    assert run(*given, function=for_programs).exit_code == 0
    more, other = [Path("h"), Path("i")], Path("j")
    taken = dict(TAKEN)
    assert taken == {"files": [Path("f"), Path("g")], "beside": more, "against": other, "at": "0.5", "ci": True}
    assert "[default: 0.1,0.25]" in run("--help", function=for_programs).output


@pytest.mark.parametrize(
    ("given", "folder", "command", "show", "at"),
    [
        (("--show", "d"), "d", None, True, None),
        (("d", "--show"), "d", None, True, None),
        (("d", "--at", "x", "run.py", "--show", "--at=y"), "d", ["run.py", "--show", "--at=y"], False, "x"),
        (("--at=x", "d", "run.py", "--", "--help"), "d", ["run.py", "--", "--help"], False, "x"),
        (("d", "--", "--show"), "d", ["--show"], False, None),
        (("--", "d", "run.py"), "d", ["run.py"], False, None),
    ],
)
def test_options_may_stand_behind_a_folder_but_not_behind_a_script(
    given: tuple[str, ...], folder: str, command: list[str] | None, show: bool, at: str | None
) -> None:
    done = run(*given, function=with_script)
    assert done.exit_code == 0, done.output
    assert dict(TAKEN) == {"folder": folder, "command": command, "show": show, "at": at}


def test_mistakes_around_a_script_are_told() -> None:
    assert "No such option" in run("d", "--shwo", function=with_script).output
    assert "DIR" in run(function=with_script).output and run(function=with_script).exit_code == 2
    assert run("d", "--at", function=with_script).exit_code == 2


def plain_values(
    rate: Annotated[float, Option(help="A rate.")] = 0.5,
    side: Annotated[Literal["left", "right"], Option(help="A side.")] = "left",
    to: Annotated[Literal["prolific"], Option(help="Where to.")] = "prolific",
) -> None:
    """Go."""
    TAKEN.update(rate=rate, side=side, to=to)


def test_options_without_a_declared_metavar_show_the_kind_of_their_value() -> None:
    """Before, numbers and names were shown as READ, the name of the function that reads them."""
    text = run("--help", function=plain_values).output
    assert "--rate NUMBER" in text and "--side NAME" in text


def test_a_wrong_value_where_only_one_is_possible() -> None:
    assert "'mturk' is not known. The only choice is prolific." in refused("--to", "mturk", function=plain_values)
