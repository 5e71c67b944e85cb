"""Variations of settings: `--vary STAGE.judgments=1,2,3`."""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from chorale.files.shortening import shortened
from chorale.files.toml_lines import as_toml
from chorale.folder.reading import StudyFolder, check_folder, did_you_mean
from chorale.model import StudySettings, UserError
from chorale.model.plain_words import plain_words
from chorale.rehearsal.simulated import CrowdSettings

WORKERS = "workers"
MOST_VARIATIONS = 200
# Another file, task or name would make it another study, with other items and correct answers.
FIXED = frozenset({"file", "from", "from_", "truth", "guidelines", "consent", "name", "task", "message"})


@dataclass(frozen=True, slots=True)
class Vary:
    """One setting and the values to try."""

    path: str
    values: tuple[Any, ...]

    @property
    def option(self) -> str:
        return f"--vary {self.path}={','.join(shown(value) for value in self.values)}"


@dataclass(frozen=True, slots=True)
class Variation:
    """One way to run the study."""

    values: Mapping[str, Any]
    """The varied values, by path; empty for the unchanged study."""
    settings_text: str
    """The study file with these values."""
    workers: int | None = None

    @property
    def label(self) -> str:
        return ", ".join(f"{path} = {shown(value)}" for path, value in self.values.items())


def parse_vary(option: str) -> Vary:
    """Parse `PATH=VALUE,VALUE,…` from the command line."""
    path, equals, listed = option.partition("=")
    if not equals or not path.strip() or not listed.strip():
        raise UserError(f"--vary {option}: write a setting and the values to try, as in --vary STAGE.judgments=1,2,3.")
    return Vary(path.strip(), tuple(_value(text, option) for text in _split(listed)))


def variations(folder: StudyFolder, varied: Sequence[Vary]) -> list[Variation]:
    """Every combination of the values, checked as by `chorale check`; the unchanged study if there are none."""
    paths = [each.path for each in varied]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise UserError(f"--vary {twice} is given twice. Put all its values in one, separated by commas.")
    count = 1
    for each in varied:
        count *= len(each.values)
    if count > MOST_VARIATIONS:
        raise UserError(f"--vary makes {count:,} combinations, more than {MOST_VARIATIONS}. Try fewer values at once.")
    return [_variation(folder, varied, values) for values in product(*(each.values for each in varied))]


def load_variation(path: Path, variation: Variation) -> StudyFolder:
    folder, problems = check_folder(path, variation.settings_text)
    if folder is None:
        raise UserError(f"{path} changed while it was being simulated", problems)
    return folder


def shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _variation(folder: StudyFolder, varied: Sequence[Vary], values: Sequence[Any]) -> Variation:
    chosen = {each.path: value for each, value in zip(varied, values, strict=True)}
    workers = None
    raw: dict[str, Any] | None = None
    for each, value in zip(varied, values, strict=True):
        if each.path == WORKERS:
            workers = _workers(value, each)
            continue
        raw = tomllib.loads(folder.settings_text) if raw is None else raw
        _put(raw, each, value)
    if raw is None:
        return Variation(chosen, folder.settings_text, workers)
    variation = Variation(chosen, toml_text(raw), workers)
    _, problems = check_folder(folder.path, variation.settings_text)
    if problems:
        # The line numbers belong to a file that was never written.
        wrong = "; ".join(f"{problem.with_value}. {problem.fix}" for problem in problems[:3])
        tried = " ".join(f"--vary {path}={shown(value)}" for path, value in chosen.items())
        raise UserError(f"{tried} makes a study that can't run: {wrong}")
    return variation


def _workers(value: Any, vary: Vary) -> int:
    try:
        return CrowdSettings.model_validate({"workers": value}, strict=True).workers or 1
    except ValidationError as error:
        words = plain_words(error.errors()[0]["msg"])
        raise UserError(f"{vary.option}: {shown(value)} {words.wrong}. {words.fix}") from None


def _put(raw: dict[str, Any], vary: Vary, value: Any) -> None:
    """Change one setting of a study file."""
    *names, last = vary.path.split(".")
    fixed = next((name for name in (*names[1:], last) if name in FIXED), None)
    if fixed is not None:
        raise UserError(f"{vary.option}: `{fixed}` names a file or a part of the study, which can't be varied.")
    table, rest = _start(raw, vary, names, last)
    for name in rest:
        inner = table.setdefault(name, {})
        if isinstance(inner, int | float) and name == "judgments" and not isinstance(inner, bool):
            inner = table[name] = {"min": inner, "max": inner}
        if not isinstance(inner, dict):
            raise UserError(f"{vary.option}: `{name}` is not a table of settings, but {shortened(inner)}.")
        table = inner
    table[last] = deepcopy(value)


def _start(raw: dict[str, Any], vary: Vary, names: list[str], last: str) -> tuple[dict[str, Any], list[str]]:
    """The table where a path starts (a stage, a gate or the file itself), and the remaining names."""
    named = {part["name"]: part for kind in ("gate", "stage") for part in raw.get(kind, ())}
    first, *rest = [*names, last]
    if first in named:
        if not rest:
            raise UserError(f"{vary.option}: name a setting of `{first}`, as in {first}.judgments.")
        return named[first], rest[:-1]
    tables = StudySettings.model_fields.keys() - {"format", "stage", "gate"}
    if names and first in tables:
        return raw, names
    known = {*named, *tables, WORKERS}
    raise UserError(f"{vary.option}: there is no stage or table `{first}` in this study. {did_you_mean(first, known)}")


def _split(listed: str) -> Iterator[str]:
    """The values, separated by commas that are not inside brackets or quotes."""
    depth, quoted, start = 0, False, 0
    for index, character in enumerate(listed):
        if character == '"':
            quoted = not quoted
        elif not quoted and character in "[{":
            depth += 1
        elif not quoted and character in "]}":
            depth -= 1
        elif character == "," and depth == 0 and not quoted:
            yield listed[start:index].strip()
            start = index + 1
    yield listed[start:].strip()


def _value(text: str, option: str) -> Any:
    """Parse a TOML value; a word without quotes is text."""
    if not text:
        raise UserError(f"--vary {option}: a value is missing between two commas.")
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        if text[0] in "\"'[{" or "\n" in text:
            raise UserError(f"--vary {option}: {shortened(text)} is not a TOML value.") from None
        return text


def toml_text(value: Mapping[str, Any]) -> str:
    """A study file with these settings, for machines only."""
    return "".join(f"{as_toml(name)} = {_toml(inner)}\n" for name, inner in value.items())


def _toml(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{as_toml(name)} = {_toml(inner)}" for name, inner in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_toml, value)) + "]"
        case bool() | int() | float():
            return json.dumps(value)
        case str():
            return as_toml(value)
    # Dates, which the check reports.
    return str(value)
