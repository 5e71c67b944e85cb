"""A process that runs one command loads that one, and takes plain values without asking Pydantic."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer
from typer.core import TyperCommand
from typer.testing import CliRunner

from chorale.cli.loading import Loaded, LoadingGroup
from chorale.cli.quick_values import take_quickly
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


@pytest.mark.parametrize(
    "arguments",
    [("aggregate", "FILE", "--method", "majority", "--json"), ("agreement", "FILE"), ("aggregate", "--help")],
    ids=lambda given: given[0] + given[-1],
)
def test_a_scoring_command_loads_only_what_it_needs(arguments: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "judgments.csv"
    file.write_text("task,worker,label\nt,a,x\nt,b,y\nu,a,x\nu,b,x\n", "utf-8")
    given = [str(file) if one == "FILE" else one for one in arguments]
    done = subprocess.run([sys.executable, "-c", LOADED, *given], capture_output=True, text=True, check=True)
    imported = set(done.stderr.split())
    assert f"chorale.cli.{arguments[0]}" in imported
    assert not imported & {*HEAVY, "chorale.cli.serve", "chorale.cli.evaluate", "chorale.cli.irt"}


def test_a_rehearsal_loads_neither_polars_nor_migrations_nor_tasks_but_its_own(tmp_path: Path) -> None:
    write_small_study(tmp_path / "study", applications=4, gold=2)
    given = ["rehearse", str(tmp_path / "study"), "--seeds", "1", "--workers", "4"]
    done = subprocess.run([sys.executable, "-c", LOADED, *given], capture_output=True, text=True, check=True)
    imported = set(done.stderr.split())
    assert {one for one in imported if one.startswith("chorale.contract.")} >= {"chorale.kits.rules.tasks.entailment"}
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


# Values


def taken(*arguments: str, quickly: bool) -> dict[str, Any]:
    """What a command with options of every kind gets, or the message that it is not run."""
    got: dict[str, Any] = {}

    class Command(TyperCommand):
        def get_params(self, ctx: Any) -> list[Any]:
            found = super().get_params(ctx)
            return [take_quickly(one) for one in found] if quickly else found

    app = typer.Typer(add_completion=False)

    @app.command(cls=Command)
    def command(
        files: Annotated[list[Path], typer.Argument()],
        whole: Annotated[int, typer.Option("--whole", min=1, max=10)] = 2,
        number: Annotated[float | None, typer.Option("--number", min=0)] = None,
        text: Annotated[str | None, typer.Option("--text")] = None,
        choice: Annotated[Literal["a", "b"], typer.Option("--choice")] = "a",
        flag: Annotated[bool, typer.Option("--flag/--no-flag")] = False,
        unsure: Annotated[bool | None, typer.Option("--unsure/--sure")] = None,
        folder: Annotated[Path | None, typer.Option("--folder", exists=True)] = None,
        others: Annotated[list[str] | None, typer.Option("--other")] = None,
    ) -> None:
        got.update(locals())
        got.pop("got")

    result = CliRunner().invoke(app, arguments)
    return got | {"code": result.exit_code, "told": result.output}


@pytest.mark.parametrize(
    "arguments",
    [
        ("f",),
        ("f", "g", "--whole", "3", "--number", "0.5", "--text", "x", "--choice", "b", "--flag", "--other", "o"),
        ("f", "--other", "o", "--other", "", "--text", "", "--unsure"),
        *(("f", "--whole", value) for value in ("10", "0", "11", "3.0", "3.5", " 3", "+3", "1_0", "٣", "x", "1e1", "")),
        *(
            ("f", "--number", value)
            for value in ("0", "-0.0", "-1", "nan", "inf", "1e3", "1e400", " 1", "1_0", "x", "")
        ),
        *(("f", "--choice", value) for value in ("a", "A", "c", "")),
        *(("f", "--folder", value) for value in (".", "/nowhere/at/all", "")),
        ("",),
        ("f\0g",),
        (),
        ("f", "--nonsense"),
    ],
    ids=str,
)
def test_values_come_out_as_the_library_has_them(arguments: tuple[str, ...]) -> None:
    """Values, their types, and the messages about wrong ones."""
    quick, slow = taken(*arguments, quickly=True), taken(*arguments, quickly=False)
    assert quick == slow
    assert {name: type(value) for name, value in quick.items()} == {name: type(value) for name, value in slow.items()}


def test_a_parameter_of_another_version_of_the_library_is_left_alone() -> None:
    parameter = object()
    assert take_quickly(parameter) is parameter


# Commands


def test_commands_are_a_mapping_that_builds_what_is_asked_for() -> None:
    found = Loaded({"status": "chorale.cli.status:status", "broken": "chorale.cli.nothing_there:x"})
    assert list(found) == ["status", "broken"] and len(found) == 2 and "status" in found and "x" not in found
    assert found["status"] is found["status"]
    assert found["status"].name == "status"
    assert found.get("nothing") is None
    found["mine"] = found["status"]
    assert found["mine"].name == "status"
    del found["broken"]
    assert list(found) == ["status", "mine"]


def test_a_group_keeps_the_order_of_its_commands() -> None:
    class Group(LoadingGroup):
        places = {"status": "chorale.cli.status:status", "check": "chorale.cli.check:check"}  # noqa: RUF012

    assert Group(name="two").list_commands(None) == ["status", "check"]
