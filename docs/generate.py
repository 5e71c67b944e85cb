"""Writes the generated parts of the docs: the tables of settings, the parts of a task, the commands with their options.

`python docs/generate.py` brings them up to date, `--check` only says whether they are. A generated part stands between
`<!-- generated: NAME -->` and `<!-- end of NAME -->`; everything else in a page is written by hand.
"""

import ast
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, get_origin

from pydantic import BaseModel

from chorale.cli import app
from chorale.cli.groups import LazyGroup
from chorale.cli.parameters import CommandArgument, CommandOption
from chorale.contract import explaining, installed_tasks, prompting, reveal, simulating
from chorale.contract import task as contract
from chorale.metrics import family
from chorale.model import StudySettings
from chorale.model.setting_rules import GROUPED, is_list, table_in
from chorale.registry import kit
from chorale.rehearsal.simulated import CrowdSettings

DOCS = Path(__file__).parent
WIDTH = 96
PART = re.compile(r"(<!-- generated: (?P<name>[a-z-]+) -->\n).*?(<!-- end of (?P=name) -->)", re.DOTALL)


# Settings


def settings_tables() -> str:
    return "\n".join(_tables(StudySettings, "", several=False))


def setting_changes() -> str:
    """What may change when, one row for all settings that follow the same rule."""
    rows = ["| settings | may change | what a change means |", "| --- | --- | --- |"]
    for rule in GROUPED:
        names = ", ".join(f"`{name}`" for name in rule.settings)
        rows.append(f"| {names} | {rule.when.value} | {_cell(rule.effect)} |")
    return "\n".join(rows)


def crowd_settings() -> str:
    return "\n".join(_tables(CrowdSettings, "", several=False))


def _tables(kind: type[BaseModel], path: str, *, several: bool, of: str = "") -> Iterator[str]:
    """The table of a model's settings, and then those of the models in it."""
    yield _heading(path, several=several) + of
    yield ""
    yield from _rows(kind, path)
    yield ""
    for name, field in kind.model_fields.items():
        inner = table_in(field.annotation)
        # A table that can hold others of its kind is described once.
        if inner is not None and inner is not kind:
            several = is_list(field.annotation)
            yield from _tables(inner, _place(path, field.alias or name, field.annotation), several=several, of=of)


def _heading(path: str, *, several: bool) -> str:
    if not path:
        return "### At the top of the file"
    return f"### `[[{path}]]`" if several else f"### `[{path}]`"


def _rows(kind: type[BaseModel], path: str) -> Iterator[str]:
    schema = kind.model_json_schema(by_alias=True)
    if "$ref" in schema:
        schema = {**schema, **schema["$defs"][schema["$ref"].removeprefix("#/$defs/")]}
    required = set(schema.get("required", ()))
    yield "| setting | value | default | meaning |"
    yield "| --- | --- | --- | --- |"
    for name, field in kind.model_fields.items():
        shown = field.alias or name
        inner = table_in(field.annotation)
        where = _place(path, shown, field.annotation)
        if inner is None:
            value = _value(schema["properties"][shown], schema.get("$defs", {}))
            default = "required" if shown in required else _default(field.get_default(call_default_factory=True))
            if shown in required and "Default:" in (field.description or ""):
                default = "not set"  # filled in from another setting before the table is validated
        else:
            brackets = f"[[{where}]]" if is_list(field.annotation) else f"[{where}]"
            place = f"table `{brackets}`, below" if inner is not kind else "list of tables with these settings"
            value, default = place, "required" if shown in required else ""
        yield f"| `{shown}` | {value} | {default} | {_cell(field.description or '')} |"


def task_options() -> str:
    lines = []
    for name, task in installed_tasks().items():
        if task.options.model.model_fields:
            lines += _tables(task.options.model, "stage.options", several=False, of=f" of `{name}`")
        else:
            lines += [f"### `[stage.options]` of `{name}`", "", "This task has no options.", ""]
    return "\n".join(lines)


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _place(path: str, name: str, annotation: Any) -> str:
    """The heading of a setting's table; in a table of tables, each has a name of its own."""
    where = _joined(path, name)
    return f"{where}.NAME" if get_origin(annotation) is dict else where


def _value(schema: dict[str, Any], defs: dict[str, Any]) -> str:
    """What may stand there, in words."""
    if "anyOf" in schema:
        kinds = [one for one in schema["anyOf"] if one.get("type") != "null"]
        if {"integer", "number"} <= {one.get("type") for one in kinds}:
            kinds = [one for one in kinds if one.get("type") != "integer"]  # a whole number is a number
        return " or ".join(dict.fromkeys(_value(one, defs) for one in kinds))
    if "$ref" in schema:
        schema = defs[schema["$ref"].removeprefix("#/$defs/")]
    choices = [schema["const"]] if "const" in schema else schema.get("enum", [])
    if choices:
        return _either(choices)
    words = {
        "string": "text",
        "integer": "whole number",
        "number": "number",
        "boolean": "`true` or `false`",
        "array": "list",
    }
    if names := schema.get("items", {}).get("enum"):
        return f"list of {_either(names)}"
    return words.get(schema.get("type", ""), "table") + _limits(schema)


def _either(values: list[Any]) -> str:
    return " or ".join(f"`{json.dumps(value, ensure_ascii=False)}`" for value in values)


def _limits(schema: dict[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low:,} to {high:,}"
    if "exclusiveMinimum" in schema and high is not None:
        return f" above {schema['exclusiveMinimum']:,}, at most {high:,}"
    if low is not None:
        return f" from {low:,} up"
    if "pattern" in schema:
        return f" matching `{_cell(schema['pattern'])}`"
    return f" of at most {schema['maxLength']:,} characters" if "maxLength" in schema else ""


def _default(value: Any) -> str:
    if value is None:
        return "not set"
    return f"`{_cell(json.dumps(value, ensure_ascii=False))}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


# Tasks

_PARTS = (
    "Task",
    "Shape",
    "Form",
    "Reveal",
    "Options",
    "Grading",
    "Combining",
    "Deriving",
    "Simulating",
    "Explaining",
    "Prompting",
)


def task_parts() -> str:
    """A table for each part of a task."""
    return _class_tables((contract, explaining, reveal, prompting, simulating), _PARTS)


def kit_parts() -> str:
    """A table for each declaration of a kit."""
    return _class_tables((kit,), ("Kit", "Command", "CommandGroup", "ReportSection"))


def family_parts() -> str:
    """A table for a metric family."""
    return _class_tables((family,), ("Family",))


def _class_tables(modules: tuple[ModuleType, ...], names: tuple[str, ...]) -> str:
    """The fields of classes, with their docstrings."""
    nodes = (node for module in modules for node in ast.parse(inspect.getsource(module)).body)
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    lines = []
    for name in names:
        lines += [f"### `{name}`", "", ast.get_docstring(classes[name]) or "", ""]
        lines += ["| field | needed | meaning |", "| --- | --- | --- |", *_fields(classes[name]), ""]
    return "\n".join(lines)


def _fields(part: ast.ClassDef) -> Iterator[str]:
    for field, after in pairwise(part.body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            text = ast.literal_eval(after.value) if isinstance(after, ast.Expr) else ""
            needed = "yes" if field.value is None else "no"
            yield f"| `{field.target.id}` | {needed} | {_cell(' '.join(text.split()))} |"


# Commands


def commands() -> str:
    """Every command as its --help has it, but not as a version of the library happens to lay it out."""
    return "\n".join(_commands("chorale", app))


def _commands(name: str, command: Any) -> Iterator[str]:
    inner = command.list_commands(None) if isinstance(command, LazyGroup) else []
    yield _command(name, command, "COMMAND …" if inner else "")
    for each in inner:
        yield from _commands(f"{name} {each}", command.get_command(None, each))


def _command(name: str, command: Any, rest: str = "") -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option"]
    shown = [one.metavar if one.required else f"[{one.metavar}]" for one in arguments]
    usage = " ".join([name, *shown, "[OPTIONS]", rest]).strip()
    rows = [(one.metavar, _meaning(one)) for one in arguments]
    rows += [(_spelling(one), _meaning(one)) for one in options]
    rows.append(("-h, --help", "Show this message and exit."))
    width = max(len(left) for left, _ in rows) + 2
    lines = [f"### `{name}`", "", " ".join(command.help.split()), "", "```text", usage, ""]
    for left, meaning in rows:
        first, *more = textwrap.wrap(meaning, WIDTH - width - 2, break_on_hyphens=False)
        lines.append(f"  {left:<{width}}{first}")
        lines += [" " * (width + 2) + line for line in more]
    return "\n".join([*lines, "```", ""])


def _spelling(option: Any) -> str:
    both = " / ".join([" ".join(option.opts), *option.secondary_opts])
    return f"{both} {option.metavar}" if option.metavar else both


def _meaning(parameter: Any) -> str:
    text = str(parameter.help).strip()
    # --version comes from the library and has no default.
    default = parameter.default_shown() if isinstance(parameter, CommandArgument | CommandOption) else ""
    if isinstance(parameter, CommandOption) and parameter.required:
        return f"{text} [required]"
    return f"{text} [default: {default}]" if default else text


GENERATED = {
    "settings": settings_tables,
    "setting-changes": setting_changes,
    "crowd-settings": crowd_settings,
    "task-options": task_options,
    "commands": commands,
    "task-parts": task_parts,
    "kit-parts": kit_parts,
    "family-parts": family_parts,
}


def generated(page: str) -> str:
    """The page with its generated parts as they should be."""

    def renewed(match: re.Match[str]) -> str:
        return f"{match[1]}\n{GENERATED[match['name']]().strip()}\n\n{match[3]}"

    return PART.sub(renewed, page)


def main() -> int:
    texts = {path: path.read_text("utf-8") for path in sorted(DOCS.glob("*.md"))}
    stale = [path for path, text in texts.items() if generated(text) != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            sys.stderr.write(f"docs/{path.name} is not up to date: run `python docs/generate.py`.\n")
        return 1 if stale else 0
    for path in stale:
        path.write_text(generated(texts[path]), "utf-8")
        sys.stdout.write(f"docs/{path.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
