"""The docs are complete, up to date, and true as far as a machine can tell."""

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from click.testing import CliRunner
from pydantic import BaseModel

import chorale
from chorale.cli import app
from chorale.cli.groups import LazyGroup
from chorale.contract import installed_tasks
from chorale.engine.opening import open_study
from chorale.exchange import export
from chorale.folder import templates as templating
from chorale.kits.rules.commands import demonstration
from chorale.metrics.family import Family
from chorale.model import StudySettings
from chorale.registry import Command, CommandGroup, Kit, ReportSection

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PACKAGE = Path(chorale.__file__).parent
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
PAGES = [*sorted(DOCS.glob("*.md")), *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md"))]
APPLICATIONS = 12

_FENCE = re.compile(r"^```(?P<language>\w+)(?: file=(?P<file>\S+))?\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\((?P<to>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def file_name(path: Path) -> str:
    return path.name


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text("utf-8")


def section(text: str, heading: str) -> str:
    """What stands under a heading, up to the next one of any level."""
    _, found, rest = text.partition(f"\n{heading}\n")
    assert found, f"there is no heading {heading!r}"
    return re.split(r"\n#+ ", rest, maxsplit=1)[0]


def blocks(text: str, language: str) -> list[str]:
    return [match["text"] for match in _FENCE.finditer(text) if match["language"] == language and not match["file"]]


# Everything is documented


def contracts() -> dict[str, dict[str, Any]]:
    """What import-linter checks, by id."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return {one["id"]: one for one in settings["tool"]["importlinter"]["contracts"]}


def test_imports_go_the_way_that_is_told() -> None:
    told = " → ".join(contracts()["rooms"]["layers"]).replace("chorale.", "")
    for path in (DOCS / "architecture.md", ROOT / "CONTRIBUTING.md"):
        assert told in " ".join(path.read_text("utf-8").split()), path


KITS = sorted(path.parent for path in (PACKAGE / "kits").glob("*/__init__.py"))
_PATH = re.compile(r"`((?:[\w-]+/)+[\w.-]*|[\w-]+\.\w+)`")


def test_all_kits_are_kept_from_importing_each_other() -> None:
    assert set(contracts()["kits"]["modules"]) == {f"chorale.kits.{folder.name}" for folder in KITS}


@pytest.mark.parametrize("kit", KITS, ids=file_name)
def test_every_kit_says_in_a_few_lines_what_is_in_it(kit: Path) -> None:
    text = (kit / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 13
    named = _PATH.findall(text)
    assert [name for name in named if not (kit / name).exists() and not (ROOT / name).exists()] == []
    parts = {path.name for path in kit.iterdir()} - {"__pycache__", "README.md"}
    assert parts - {name.partition("/")[0] for name in named} == set(), "a part of the kit is not in its README"
    assert f"[README](../src/chorale/kits/{kit.name}/README.md)" in page("kits")


def commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for each in command.list_commands(None) if isinstance(command, LazyGroup) else ():
        yield from commands(f"{name} {each}", command.get_command(None, each))


COMMANDS = list(commands("chorale", app))


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_every_command_and_option_is_documented(name: str, command: Any) -> None:
    text = section(page("commands"), f"### `{name}`")
    for parameter in command.params:
        named = [*parameter.opts, *parameter.secondary_opts]
        for option in named if parameter.param_type_name == "option" else [parameter.metavar]:
            assert re.search(rf"^  .*{re.escape(option)}(?!\w)", text, re.MULTILINE), f"{name}: {option}"
        assert parameter.help, f"{name}: {parameter.name} has no help"


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_help_names_every_possible_value_and_every_repetition(name: str, command: Any) -> None:
    for parameter in command.params:
        text = f"{parameter.metavar} {parameter.help}"
        values = getattr(parameter, "choices", ())
        unnamed = [value for value in values if not re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", text)]
        assert not unnamed, f"{name}: the help of {parameter.name} does not name {unnamed}"
        if getattr(parameter, "multiple", False):
            assert re.search("Repeatable|twice", text), f"{name}: the help of {parameter.name} hides that it repeats"


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_required_options_are_documented_as_such(name: str, command: Any) -> None:
    text = section(page("commands"), f"### `{name}`")
    for option in (one for one in command.params if one.param_type_name == "option" and one.required):
        assert re.search(rf"^  {option.opts[-1]} (?:(?!^  -).)*\[required\]", text, re.MULTILINE | re.DOTALL), (
            option.name
        )


def test_options_that_can_be_switched_off_are_documented_with_their_default() -> None:
    text = section(page("commands"), "### `chorale evaluate qasrl`")
    assert re.search(r"--redundant / --no-redundant .*?\[default:\s+redundant\]", text, re.DOTALL)
    assert "[default: retention.withdrawn_answers" in section(page("commands"), "### `chorale forget`")


def test_settings_with_several_kinds_of_values_are_documented_with_all_of_them() -> None:
    text = page("settings")
    assert '| `exclude_contributors` | `true` or `false` or `"group"` |' in text
    assert '| `methods` | list of `"paypal"` or `"wise"` or `"gift-card"` |' in text


@pytest.mark.parametrize("path", [path for path in PAGES if path.name != "commands.md"], ids=file_name)
def test_commands_that_the_docs_name_are_there_with_their_options(path: Path) -> None:
    text = path.read_text("utf-8")
    shown = "".join(block for language in ("console", "sh", "text") for block in blocks(text, language)).replace(
        "\\\n", " "
    )
    # Between other words, a command may stand on two lines.
    named = [found.replace("\n", " ") for found in re.findall(r"`(chorale [^`]+)`", text)]
    known = {name: options_of(name) for name, _ in COMMANDS}
    for line in (*re.findall(r"^(?:\$ )?(chorale .+)", shown, re.MULTILINE), *named):
        words = re.split(r" [#|>] | && ", line)[0].split()
        name = next(name for end in (3, 2, 1) if (name := " ".join(words[:end])) in known)
        assert name != "chorale" or words[1].startswith("-"), line
        given = {word.partition("=")[0].rstrip(".,)") for word in words if word.startswith("--")}
        assert given <= known[name], f"{line}: {given - known[name]}"


def options_of(name: str) -> set[str]:
    """Of a command and of those below it: one of them may be the one that is meant if none is named."""
    below = [command for each, command in COMMANDS if each == name or each.startswith(f"{name} ")]
    named = {option for command in below for each in command.params for option in (*each.opts, *each.secondary_opts)}
    return {*named, "--help"}


def tables(kind: type[BaseModel], path: str = "", several: bool = False) -> Iterator[tuple[str, type[BaseModel]]]:
    """The headings of the settings page, each with the model whose fields stand under it."""
    brackets = f"`[[{path}]]`" if several else f"`[{path}]`"
    yield f"### {brackets if path else 'At the top of the file'}", kind
    for name, field in kind.model_fields.items():
        inner = model_in(field.annotation)
        # A table that can hold others of its kind is described once.
        if inner is not None and inner is not kind:
            kinds = (field.annotation, *get_args(field.annotation))
            is_list = any(getattr(kind, "__origin__", None) in (list, tuple) for kind in kinds)
            # In a table of tables, each has a name of its own.
            place = f"{name}.NAME" if get_origin(field.annotation) is dict else name
            yield from tables(inner, f"{path}.{place}" if path else place, is_list)


def model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in get_args(annotation) if (model := model_in(part))), None)


SETTINGS = [
    *tables(StudySettings),
    *(
        (f"{heading} of `{name}`", kind)
        for name, task in installed_tasks().items()
        for heading, kind in tables(task.options.model, "stage.options")
    ),
]


@pytest.mark.parametrize(("heading", "kind"), SETTINGS, ids=[heading for heading, _ in SETTINGS])
def test_every_setting_is_documented(heading: str, kind: type[BaseModel]) -> None:
    text = section(page("settings"), heading)
    for name, field in kind.model_fields.items():
        assert f"\n| `{field.alias or name}` |" in text, name
        assert field.description, f"{name} has no description"


def test_no_setting_is_called_required_and_has_a_default() -> None:
    rows = [line for line in page("settings").splitlines() if line.startswith("| `") and "Default: " in line]
    assert rows
    assert [row for row in rows if "| required |" in row] == []


def test_every_format_and_column_is_documented() -> None:
    text = page("exports")
    columns = {name: kind.columns for name, kind in export._OF_EVERY_STUDY.items()}
    for task in installed_tasks().values():
        # Columns that are called after an option are documented as such.
        optional = tuple(field["name"] for field in task.options.example.get("fields", ()))
        for table in task.exports:
            columns[table.name] = tuple(name for name in table.columns if not optional or not name.startswith(optional))
    for name, names in columns.items():
        (heading,) = (f"## {found}" for found in _HEADING.findall(text) if f"`{name}`" in found)
        for column in names:
            assert f"`{column}`" in section(text, heading), f"{name}: {column}"


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_its_page(room: str) -> None:
    text = page(room)
    module = sys.modules.get(f"chorale.{room}") or __import__(f"chorale.{room}", fromlist=["__all__"])
    for name in getattr(module, "__all__", ()):
        assert f"`{name}`" in text, f"{name} is public and not on the page of {room}"
    assert "\n## Public names\n" in text
    assert "\n## Errors and edge cases\n" in text
    assert f"({room}.md)" in page("index")


@pytest.mark.parametrize("task", installed_tasks())
def test_every_task_is_described(task: str) -> None:
    assert section(page("tasks"), f"### `{task}`").strip()


def test_every_page_is_in_the_index() -> None:
    for path in sorted(DOCS.glob("*.md")):
        assert path.name == "index.md" or f"({path.name})" in page("index"), path.name


def test_every_page_is_on_the_site() -> None:
    pages = re.findall(r": ([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert set(pages) == {path.name for path in DOCS.glob("*.md")}


@pytest.mark.slow
def test_the_site_is_built_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="needs the group `docs`")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = re.compile(r"<(?:script|img|iframe)[^>]+src=\"?https?://|<link[^>]+href=\"?https?://")
    pages = {path.name: path.read_text("utf-8") for path in (tmp_path / "site").glob("*.html")}
    assert {path.with_suffix(".html").name for path in DOCS.glob("*.md")} <= set(pages)
    assert [name for name, text in pages.items() if loaded.search(text)] == []
    found = json.loads((tmp_path / "site" / "search" / "search_index.json").read_text("utf-8"))["docs"]
    ranks = {entry["location"]: entry.get("boost", 1) for entry in found}
    assert ranks["tutorial-csv.html"] > ranks["agreement.html"] > ranks["performance.html"], "guides are found first"
    assert list((tmp_path / "site").rglob("*.py*")) == [], "the scripts of the docs, compiled or not, are no pages"


def test_the_site_lists_its_versions_and_leads_to_the_newest(tmp_path: Path) -> None:
    for name in ("0.9.0", "0.10.0"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text("")
    subprocess.run([sys.executable, str(DOCS / "site_versions.py"), str(tmp_path)], check=True)
    assert [each["version"] for each in json.loads((tmp_path / "versions.json").read_text("utf-8"))] == [
        "0.10.0",
        "0.9.0",
    ]
    assert 'url=0.10.0/index.html"' in (tmp_path / "index.html").read_text("utf-8")


# What the docs say is so


def test_generated_parts_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(DOCS / "generate.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in _HEADING.findall(without_code(path)))
    return {heading.replace(" ", "-") for heading in plain}


def without_code(path: Path) -> str:
    return re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("path", PAGES, ids=file_name)
def test_no_link_is_broken(path: Path) -> None:
    for match in _LINK.finditer(without_code(path)):
        if re.match(r"https?://", match["to"]):
            continue
        name, _, anchor = match["to"].partition("#")
        target = path.parent / name if name else path
        assert target.is_file(), match["to"]
        assert not anchor or anchor in anchors(target), match["to"]


def test_the_architecture_names_files_that_exist() -> None:
    text = (DOCS / "architecture.md").read_text("utf-8")
    named = set(re.findall(r"`([\w./-]+(?:\.py|\.md|/))`", text)) | set(re.findall(r"^  (\w+/) ", text, re.MULTILINE))
    assert len(named) > len(ROOMS)
    places = (ROOT, PACKAGE, DOCS, ROOT / "tests")
    missing = [name for name in sorted(named) if not any((place / name).exists() for place in places)]
    assert missing == []


def named_object(name: str) -> Any:
    """What a dotted name in the docs stands for: a module, or something in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            named: Any = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[length:]:
            named = getattr(named, attribute)
        return named
    raise ModuleNotFoundError(name)


# A placeholder.
NOT_PYTHON_NAMES = {"chorale.evaluate.NAME"}


@pytest.mark.parametrize(
    "path", [*PAGES, *PACKAGE.glob("kits/*/README.md")], ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_python_names_in_the_docs_exist(path: Path) -> None:
    named = set(re.findall(r"(?<![\w./-])chorale(?:\.[A-Za-z_]\w*)+", path.read_text("utf-8")))
    for name in sorted(named - NOT_PYTHON_NAMES):
        named_object(name)


@pytest.mark.parametrize("room", ROOMS)
def test_modules_on_the_page_of_a_room_exist(room: str) -> None:
    modules = {path.stem for path in (PACKAGE / room).glob("*") if path.suffix in ("", ".py")}
    for table in re.findall(r"^\| modules? \|.*\n(?:\|.*\n)+", page(room), re.MULTILINE):
        cells = re.findall(r"^\| (`[^|]+) \|", table, re.MULTILINE)
        assert {name for cell in cells for name in re.findall(r"`(\w+)`", cell)} <= modules


def test_names_in_a_table_about_a_module_exist() -> None:
    tables = re.compile(r"^\| name of `([\w.]+)` \|.*\n((?:\|.*\n)+)", re.MULTILINE)
    for module, table in (found for path in PAGES for found in tables.findall(path.read_text("utf-8"))):
        for cell in re.findall(r"^\| (`[^|]+) \|", table, re.MULTILINE):
            for name in re.findall(r"`(\w+)`", cell):
                named_object(f"{module}.{name}")


def test_helpers_of_the_kits_are_in_the_modules_that_the_docs_name() -> None:
    rows = re.findall(r"^\| `(chorale\.kits\.[\w.]+)` \| (.+) \|$", page("kits"), re.MULTILINE)
    assert rows
    for module, cell in rows:
        for name in re.findall(r"`(\w+)`", cell):
            named_object(f"{module}.{name}")


# Examples run


def create_small_study(directory: Path, template: str) -> None:
    templating.create_study(directory, template)
    items = directory / "applications.jsonl"
    items.write_text("".join(items.read_text("utf-8").splitlines(keepends=True)[:APPLICATIONS]), "utf-8")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to run examples in, and a demo and studies that take seconds."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demonstration, "create_study", create_small_study)
    return tmp_path


@pytest.mark.parametrize("path", [path for path in PAGES if blocks(path.read_text("utf-8"), "python")], ids=file_name)
def test_python_examples_run(path: Path, elsewhere: Path) -> None:
    create_small_study(Path("my-study"), "rules")
    namespace: dict[str, Any] = {}
    for block in blocks(path.read_text("utf-8"), "python"):
        exec(compile(block, str(path), "exec"), namespace)


@pytest.mark.parametrize("path", [path for path in PAGES if blocks(path.read_text("utf-8"), "pycon")], ids=file_name)
def test_sessions_come_out_as_shown(path: Path, elsewhere: Path) -> None:
    told: list[str] = []
    for block in blocks(path.read_text("utf-8"), "pycon"):
        session = doctest.DocTestParser().get_doctest(block, {}, path.name, str(path), 0)
        doctest.DocTestRunner(verbose=False).run(session, out=told.append)
    assert told == []


@pytest.mark.slow
def test_examples_beside_the_code_come_out_as_shown() -> None:
    """Those in docstrings, of every module that has some."""
    source = ROOT / "src"
    modules = [path for path in source.rglob("*.py") if ">>> " in path.read_text("utf-8")]
    names = [".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__") for path in modules]
    wrong = {name: failed for name in names if (failed := doctest.testmod(import_module(name)).failed)}
    assert len(names) > 50 and wrong == {}


def write_files(text: str) -> None:
    """The files that a page shows, in the working folder."""
    for match in _FENCE.finditer(text):
        if match["file"]:
            Path(match["file"]).parent.mkdir(exist_ok=True)
            Path(match["file"]).write_text(match["text"], "utf-8")


def run_commands(text: str) -> int:
    """Every `chorale` line of a page, one after the other; a server is opened and closed again. How many there are."""
    lines = "".join(blocks(text, "console")).splitlines()
    calls = [shlex.split(line.removeprefix("$ chorale ")) for line in lines if line.startswith("$ chorale ")]
    for call in calls:
        if call[0] == "serve":
            open_study(Path(call[1])).close()
            continue
        quick = ["--port", "0", "--workers", "12"] if call[0] == "demo" else []
        done = CliRunner().invoke(app, [*call, *quick])
        assert done.exit_code == 0, (call, done.output, done.exception)
    return len(calls)


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) < 80


@pytest.mark.parametrize("path", [ROOT / "README.md", DOCS / "quickstart.md"], ids=file_name)
def test_commands_run_as_shown(path: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHORALE_PASSWORD", "correct horse battery")
    assert run_commands(path.read_text("utf-8")) > 5


@pytest.mark.parametrize("names", [("csv", "quiz"), ("scoring",)], ids="-".join)
def test_tutorials_run_as_shown(names: tuple[str, ...], elsewhere: Path) -> None:
    for name in names:
        text = page(f"tutorial-{name}")
        if name == "quiz":  # changes the study of the page before, which nobody has worked in
            Path("toxicity/study.db").unlink()
        write_files(text)
        assert run_commands(text) >= 2
    if "csv" in names:
        assert len(Path("labels.csv").read_text("utf-8").splitlines()) == 11


_INSTALLING = ("git clone ", "python3 -m venv ", ". venv/bin/activate", "pip install ")
MOST_COMMANDS = 8


def installing(text: str) -> list[str]:
    return [line for block in blocks(text, "text") for line in block.splitlines() if line.startswith(_INSTALLING)]


def walk(text: str, goal: str) -> list[str]:
    """The commands of a page's blocks, up to the first that has the goal in it."""
    shown = [line for match in _FENCE.finditer(text) for line in match["text"].splitlines()]
    calls = [line.removeprefix("$ ") for line in shown if line.removeprefix("$ ").startswith("chorale ")]
    return calls[: next(at for at, call in enumerate(calls) if goal in call) + 1]


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        pytest.param(page("tutorial-csv"), "chorale report ", id="csv"),
        pytest.param(page("tutorial-scoring"), "chorale evaluate qasrl ", id="scoring"),
        pytest.param(page("mturk").partition("\n## A layout and its batch file\n")[2], "chorale report ", id="layout"),
        pytest.param(page("importing"), "chorale report ", id="results"),
    ],
)
def test_a_newcomer_needs_at_most_eight_commands(text: str, goal: str) -> None:
    install = installing(page("tutorial-csv"))
    assert len(install) == len(_INSTALLING)
    assert len(install) + len(walk(text, goal)) <= MOST_COMMANDS


@pytest.mark.parametrize("kind", [Kit, Command, CommandGroup, ReportSection, Family])
def test_every_field_of_a_kit_is_documented(kind: Any) -> None:
    rows = section(page("kits"), f"### `{kind.__name__}`")
    for each in fields(kind):
        assert re.search(rf"^\| `{each.name}` \| (yes|no) \| \S", rows, re.MULTILINE), f"{kind.__name__}.{each.name}"


def test_the_kit_of_the_guide_works(tmp_path: Path) -> None:
    for match in _FENCE.finditer(page("writing-tasks")):
        if match["file"]:
            file = tmp_path / match["file"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(match["text"], "utf-8")
    assert "mood" not in installed_tasks()
    run(tmp_path, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", "installed", ".")
    (tmp_path / "chorale_mood").rename(tmp_path / "not-imported-from-here")
    run(tmp_path, "check_mood.py")
    assert "no errors" in run(tmp_path, "-m", "chorale", "check", "study")


def run(where: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=where,
        env={**os.environ, "PYTHONPATH": str(where / "installed"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
