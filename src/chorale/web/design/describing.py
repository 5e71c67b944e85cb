"""The options of a task as the design page needs them: one description for every setting, from its JSON schema."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

_NUMBERS = {"integer", "number"}


def described(model: type[BaseModel]) -> list[dict[str, Any]]:
    """Every setting of a table: its name, kind of input, help and default."""
    schema = model.model_json_schema(by_alias=True)
    return _settings(schema, schema.get("$defs", {}))


def _settings(table: Mapping[str, Any], shared: Mapping[str, Any]) -> list[dict[str, Any]]:
    needed = set(table.get("required", ()))
    settings = []
    for name, schema in table.get("properties", {}).items():
        kind = _kind(schema, shared)
        setting = {"name": name, "help": schema.get("description", ""), "required": name in needed, **kind}
        if schema.get("default") not in (None, []):
            setting["default"] = schema["default"]
        if "used_with" in schema:
            setting["used_with"] = schema["used_with"]
        settings.append(setting)
    return settings


def _kind(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """The kind of input for a value, with its parameters."""
    schema = _followed(schema, shared)
    choices = [_followed(each, shared) for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if len(choices) == 1:
        schema = choices[0]
    elif choices:
        numbers = all(each.get("type") in _NUMBERS for each in choices)
        return {"kind": "number"} if numbers else {"kind": "text_or_number"}
    if "enum" in schema:
        return {"kind": "choice", "values": schema["enum"]}
    match schema.get("type"):
        case "object" if "properties" in schema:
            return {"kind": "table", "settings": _settings(schema, shared)}
        case "array":
            return _list(schema, shared)
        case "boolean":
            return {"kind": "switch"}
        case "integer" | "number":
            return {"kind": "number"}
    return {"kind": "date" if schema.get("format") == "date" else "text"}


def _list(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    entries = schema.get("items") or {}
    entry = _kind(entries, shared)
    if entry["kind"] == "table":
        called = _followed(entries, shared).get("title", "entry")
        return {"kind": "tables", "settings": entry["settings"], "entry": called}
    return {"kind": "list", "of": entry["kind"]}


def _followed(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> Mapping[str, Any]:
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    return shared.get(name, {}) if name else schema
