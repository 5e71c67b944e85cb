"""Validate the study file: tables become settings or problems."""

import json
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from chorale.files.toml_lines import TomlPath, as_toml
from chorale.folder.checking.report import CheckReport, did_you_mean, nearest, printable
from chorale.model.plain_words import MISSING, NOT_A_LIST, NOT_A_TABLE, NOT_WHOLE, UNKNOWN, PlainWords, plain_words

Model = TypeVar("Model", bound=BaseModel)


def parsed_settings(kind: type[Model], raw: Any, at: TomlPath, report: CheckReport) -> Model | None:
    """Parse the table at `at` as settings; None if it is invalid, with all problems reported."""
    try:
        return _validated(kind, raw)
    except ValidationError as error:
        mistakes = error.errors(include_url=False, include_context=False)
        misspelt = {_meant(kind, mistake["loc"]) for mistake in mistakes if mistake["msg"] == UNKNOWN}
        for mistake in mistakes:
            # A required setting with a misspelt name is one mistake.
            if mistake["msg"] != MISSING or mistake["loc"] not in misspelt:
                _add_problem(kind, _written(mistake["loc"], raw), mistake["msg"], mistake["input"], at, report)
    return None


def _meant(kind: type[BaseModel], loc: TomlPath) -> TomlPath | None:
    """The path of the setting that an unknown name is most similar to."""
    name = nearest(str(loc[-1]), _known_names(_table(kind, loc[:-1])))
    return None if name is None else (*loc[:-1], name)


def is_valid(kind: type[BaseModel], raw: Any) -> bool:
    try:
        _validated(kind, raw)
    except ValidationError:
        return False
    return True


def salvaged(kind: type[Model], raw: Any) -> Model | None:
    """The table without its invalid settings, so that the rest can still be checked."""
    if not isinstance(raw, dict):
        return None
    try:
        return _validated(kind, raw)
    except ValidationError as error:
        wrong = {found["loc"][0] for found in error.errors() if found["loc"]} & raw.keys()
    if not wrong:
        return None
    return salvaged(kind, {name: value for name, value in raw.items() if name not in wrong})


def text_at(raw: Any, *names: str) -> str | None:
    """The text at this path of names; None if there is none."""
    for name in names:
        raw = raw.get(name) if isinstance(raw, dict) else None
    return raw if isinstance(raw, str) and raw else None


def _validated(kind: type[Model], raw: Any) -> Model:
    # Validated as JSON, since TOML has the same types: "3" is not 3, but "set-aside" may be an enum value.
    return kind.model_validate_json(json.dumps(raw), strict=True)


def _written(loc: TomlPath, raw: Any) -> TomlPath:
    """The part of a path that is in the file.

    `judgments = 0` is short for a table with two settings. Both are then invalid, but only one problem is reported.
    """
    for depth, part in enumerate(loc):
        if not isinstance(raw, dict | list):
            return loc[:depth]
        if isinstance(raw, dict) and part not in raw:
            return loc
        raw = raw[part]  # type: ignore[index]
    return loc


def _add_problem(
    kind: type[BaseModel], loc: TomlPath, message: str, value: Any, at: TomlPath, report: CheckReport
) -> None:
    """Report the problem with a setting in plain words."""
    path = (*at, *loc)
    name = ".".join(str(part) for part in path if isinstance(part, str))
    table = _table(kind, loc[:-1])
    known = _known_names(table)
    if message == UNKNOWN:
        unknown = str(loc[-1])
        fix = did_you_mean(unknown, known) if known else "Remove it: nothing can be set here."
        report.setting(path, f"there is no setting `{printable(unknown)}` here", fix)
        return
    words = plain_words(message)
    if message == MISSING and loc[-1] in known:
        heading = _heading(table, str(loc[-1]), name)
        report.setting(path, f"`{name}` {words.wrong}", f"Add {heading or 'it'}: {known[str(loc[-1])]}")
        return
    # A message that begins with a name of its own does not continue the sentence.
    colon = ":" if words.wrong.startswith("`") else ""
    fix = _fix(words, table, _table(kind, loc), loc, name, value) if loc else words.fix
    report.setting(path, f"`{name}`{colon} {words.wrong}", fix, None if isinstance(value, dict) else value)


def _fix(
    words: PlainWords,
    table: type[BaseModel] | None,
    expected: type[BaseModel] | None,
    loc: TomlPath,
    name: str,
    value: Any,
) -> str:
    """What to write instead, with an example where the kind of setting allows one."""
    if words.wrong == NOT_A_TABLE and expected is not None:
        return _as_table(loc[-1], expected, value)
    if words.wrong == NOT_A_LIST and isinstance(value, dict) and (heading := _heading(table, str(loc[-1]), name)):
        return f"Write its heading with double brackets: {heading}."
    if words.wrong == NOT_WHOLE and "minor units" in _known_names(table).get(str(loc[-1]), ""):
        return "Write a whole number of the currency's smallest unit: 18 for $0.18."
    return words.fix


def _heading(table: type[BaseModel] | None, setting: str, name: str) -> str | None:
    """The heading of a table in the file, such as [[stage]]; None if the setting is not a table."""
    fields = {} if table is None else {field.alias or key: field for key, field in table.model_fields.items()}
    annotation = fields[setting].annotation if setting in fields else None
    if _model_in(annotation) is None:
        return None
    return f"[[{name}]]" if get_origin(annotation) in (tuple, list) else f"[{name}]"


def _as_table(name: str | int, expected: type[BaseModel], value: Any) -> str:
    """How to write a value as a table, with the value itself if it can be the table's first setting."""
    names = list(_known_names(expected))
    own = "" if isinstance(name, int) else f"{name} = "
    if names and is_valid(expected, {names[0]: value}):
        return f"Write `{own}{{ {names[0]} = {as_toml(value)} }}`."
    listed = ", ".join(f"`{each}`" for each in names)
    return f"Write its settings in braces: `{own}{{ NAME = VALUE, … }}`. Possible names: {listed}."


def _table(kind: type[BaseModel] | None, loc: TomlPath) -> type[BaseModel] | None:
    """The known settings of the table at `loc`."""
    for part in loc:
        if isinstance(part, int) or kind is None:
            continue
        fields = {field.alias or name: field for name, field in kind.model_fields.items()}
        kind = _model_in(fields[part].annotation) if part in fields else None
    return kind


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in get_args(annotation) if (model := _model_in(part))), None)


def _known_names(table: type[BaseModel] | None) -> dict[str, str]:
    fields = {} if table is None else table.model_fields
    return {field.alias or name: field.description or "" for name, field in fields.items()}
