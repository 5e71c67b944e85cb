"""Stages with the settings that can be read, so that one error does not hide the next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chorale.files.toml_lines import TomlPath
from chorale.folder.checking.report import CheckReport, did_you_mean
from chorale.folder.checking.settings_shape import Model, salvaged, text_at
from chorale.model import StageSettings


@dataclass(frozen=True)
class Draft:
    """A stage with the settings that can be read."""

    index: int
    raw: Mapping[str, Any]

    def at(self, *names: str) -> TomlPath:
        return ("stage", self.index, *names)

    def text(self, *names: str) -> str | None:
        return text_at(self.raw, *names)

    def number(self, name: str) -> float | None:
        """A number from the stage itself, or its default; None if it is unknown."""
        value = self.raw.get(name, StageSettings.model_fields[name].default)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def table(self, kind: type[Model], name: str) -> Model | None:
        return salvaged(kind, self.raw.get(name, {}))

    @property
    def name(self) -> str | None:
        return self.text("name")


def earlier_stage(name: str, draft: Draft, drafts: Sequence[Draft], at: TomlPath, report: CheckReport) -> int | None:
    """The index of a stage that must come before this one."""
    names = [each.name for each in drafts]
    here = drafts.index(draft)
    if name in names[:here]:
        return names.index(name)
    known = [each for each in names[:here] if each]
    if name == draft.name:
        report.setting(at, "is the stage itself", did_you_mean("", known), name)
    elif name in names:
        report.setting(at, "is a later stage", "Move that stage before this one.", name)
    else:
        report.setting(at, "there is no such earlier stage", did_you_mean(name, known), name, missing=True)
    return None
