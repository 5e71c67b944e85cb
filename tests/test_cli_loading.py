"""A process that runs one command loads that one. Lists of commands load none."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from chorale.cli import app
from chorale.cli.commands import COMMANDS
from chorale.cli.groups import LazyGroup, Program
from chorale.cli.tree import Clash, CommandTree, command_tree
from chorale.lazy import load
from chorale.registry import Command, CommandGroup, commands
from small_study import write_small_study

LOADED = """
import sys
from chorale.cli import main
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""
HEAVY = {"pydantic", "pydantic_core", "sqlalchemy", "fastapi", "rich.progress", "asyncio", "scipy"}
SPECS = [spec for spec in [*COMMANDS, *commands()] if isinstance(spec, Command)]


def loaded(*arguments: object) -> set[str]:
    """The modules that a process of the command has imported at its end."""
    given = [sys.executable, "-c", LOADED, *map(str, arguments)]
    return set(subprocess.run(given, capture_output=True, text=True, check=True).stderr.split())


@pytest.mark.parametrize("arguments", [("--help",), ("evaluate", "--help"), ("--version",)], ids=" ".join)
def test_listing_commands_loads_none_of_them(arguments: tuple[str, ...]) -> None:
    imported = loaded(*arguments)
    assert not imported & {spec.place.partition(":")[0] for spec in SPECS}
    assert not imported & {*HEAVY, "rich", "numpy", "polars"}


@pytest.mark.parametrize(
    "arguments",
    [("aggregate", "FILE", "--method", "majority", "--json"), ("agreement", "FILE"), ("aggregate", "--help")],
    ids=lambda given: given[0] + given[-1],
)
def test_a_scoring_command_loads_only_what_it_needs(arguments: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "judgments.csv"
    file.write_text("task,worker,label\nt,a,x\nt,b,y\nu,a,x\nu,b,x\n", "utf-8")
    imported = loaded(*(file if each == "FILE" else each for each in arguments))
    assert f"chorale.cli.{arguments[0]}" in imported
    assert not imported & {*HEAVY, "chorale.cli.serve", "chorale.cli.evaluate", "chorale.cli.irt"}


def test_a_rehearsal_loads_neither_polars_nor_migrations_nor_tasks_but_its_own(tmp_path: Path) -> None:
    write_small_study(tmp_path / "study", applications=4, gold=2)
    imported = loaded("rehearse", tmp_path / "study", "--seeds", "1", "--workers", "4")
    assert "chorale.kits.rules.tasks.entailment" in imported
    assert not imported & {
        "polars",
        "numpy",
        "alembic",
        "fastapi",
        "chorale.kits.forms.task",
        "chorale.kits.frames.task",
    }


def test_a_process_that_is_done_does_not_look_through_all_it_has() -> None:
    asked = """
import atexit, gc, sys
from chorale.cli import main
atexit.register(lambda: print(len(gc.get_objects()), gc.get_freeze_count(), file=sys.stderr))
main()
"""
    done = subprocess.run([sys.executable, "-c", asked, "--version"], capture_output=True, text=True, check=True)
    to_look_through, left_alone = map(int, done.stderr.split())
    assert left_alone > 10 * to_look_through


def test_a_command_that_used_duckdb_ends_quietly() -> None:
    pytest.importorskip("duckdb")
    asked = "import sys, duckdb; from chorale.cli import main; duckdb.connect(); main()"
    done = subprocess.run([sys.executable, "-c", asked, "--version"], capture_output=True, text=True, check=True)
    assert done.stderr == ""


# Declarations


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: " ".join(spec.path))
def test_a_summary_is_the_first_line_of_the_docstring(spec: Command) -> None:
    function = load(spec.place)
    assert spec.summary == (function.__doc__ or "").strip().splitlines()[0]


def test_commands_of_several_lists_are_one_tree() -> None:
    tree = command_tree(
        "All.",
        [Command(("group", "early"), "Early.", "a:early"), Command(("alone",), "Alone.", "a:alone")],
        [CommandGroup(("group",), "A group.")],
        [Command(("group", "late"), "Late.", "b:late")],
    )
    group = tree.members["group"]
    assert list(tree.members) == ["alone", "group"]
    assert isinstance(group, CommandTree)
    assert [(name, member.place) for name, member in group.members.items() if isinstance(member, Command)] == [
        ("early", "a:early"),
        ("late", "b:late"),
    ]


@pytest.mark.parametrize(
    ("specs", "origins"),
    [
        (
            [Command(("status",), "", "ours.status:status"), Command(("status",), "", "theirs:status")],
            "`chorale status`: ours.status:status, theirs:status. Uninstall",
        ),
        (
            [CommandGroup(("status",), "Mine."), Command(("status",), "", "theirs:status")],
            "`chorale status`: the group “Mine.”, theirs:status. Uninstall",
        ),
    ],
)
def test_a_name_that_two_packages_have_is_an_error_where_it_is_used(
    specs: list[Any], origins: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = command_tree("All.", [*specs, Command(("fine",), "Fine.", "json:loads")])
    clash = tree.members["status"]
    assert isinstance(clash, Clash)
    assert origins in clash.message
    with pytest.raises(SystemExit) as ended:
        Program(tree, "1.0")(["status"])
    assert ended.value.code == 2
    assert origins in " ".join(capsys.readouterr().err.split())
    with pytest.raises(SystemExit) as ended:
        Program(tree, "1.0")(["--help"])
    assert ended.value.code == 0


@pytest.mark.parametrize(
    ("specs", "problem"),
    [
        ([Command(("nothing", "x"), "", "a:x")], "`chorale nothing x` (a:x) is in a group that no package declares"),
        ([Command((), "", "a:x")], "a:x has no name"),
        ([Command(("",), "", "a:x")], "a:x has no name"),
    ],
)
def test_a_wrong_declaration_takes_no_other_command_away(specs: list[Any], problem: str) -> None:
    tree = command_tree("All.", specs, [Command(("fine",), "Fine.", "a:fine")])
    assert list(tree.members) == ["fine"]
    assert problem in tree.problems[0]


def test_two_packages_may_declare_one_group() -> None:
    tree = command_tree("All.", [CommandGroup(("g",), "One.")], [CommandGroup(("g",), "Two.")])
    assert list(tree.members) == ["g"]
    assert not tree.problems


def test_every_command_can_be_loaded_and_says_what_each_parameter_is() -> None:
    for spec in SPECS:
        group: click.Command = app
        for name in spec.path:
            assert isinstance(group, LazyGroup)
            found = group.get_command(None, name)
            assert found is not None
            group = found
        assert group.params


# Names that are not known


def run(program: Program, *arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(program, arguments, prog_name="chorale")
    return result.exit_code, result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("agreemen",), "No such command 'agreemen'. Did you mean agreement?"),
        (("xyz",), "No such command 'xyz'."),
        (("evaluate", "rule"), "Commands: frames, labels, mcq, qasrl, rules, srl. Did you mean rules?"),
        (("evaluate", "\x1b[31mred"), r"No such command '\x1b[31mred'"),
        (("status", "a", "\x1b[31mred"), "unexpected extra argument (\N{REPLACEMENT CHARACTER}[31mred)"),
        (("--vershun",), "No such option"),
        (("import", "xyz", "--help"), "No such command 'xyz'. Commands: judgments, labelstudio, qasrl."),
        (("import", "xyz"), "Missing option '--out'."),
        (("publish", "x"), "Missing option '--to'. Choose from: prolific."),
        (("baseline", "frames"), "Missing argument 'NAME'. Choose from: tc, fs, os, os+."),
    ],
)
def test_wrong_names_are_answered_with_right_ones(arguments: tuple[str, ...], message: str) -> None:
    code, output = run(app, *arguments)
    assert code == 2
    assert message in output
    assert "\x1b" not in output


@pytest.mark.parametrize("arguments", [("evaluate",), ("import",)], ids=str)
def test_a_group_without_a_command_shows_its_commands(arguments: tuple[str, ...]) -> None:
    code, output = run(app, *arguments)
    assert code == 2
    assert "Commands:" in output


def test_an_interrupted_command_ends_with_the_status_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(LazyGroup, "invoke", interrupted)
    assert run(app, "status", "x")[0] == 130
