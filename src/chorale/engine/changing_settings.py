"""Checks which changes of study.toml are allowed now, by the rules in model/setting_rules.py."""

import json
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from chorale.folder.reading import SETTINGS_FILE
from chorale.model import Problem, StudySettings
from chorale.model.setting_rules import RULES, SettingChange, When, changed_settings
from chorale.model.shared_options import with_shared_options
from chorale.store import Tx, beginnings, settings, stages

_IN_FORCE = "settings in force"


def as_stored(study: StudySettings) -> dict[str, Any]:
    """All settings of a study as JSON values, including defaults."""
    return study.model_dump(mode="json", by_alias=True)


def keep_in_force(tx: Tx, study: StudySettings) -> None:
    settings.set_setting(tx, _IN_FORCE, json.dumps(as_stored(study)))


def changes_since(tx: Tx, study: StudySettings) -> list[SettingChange] | None:
    """The differences from the current settings; None if those can't be read."""
    stored = settings.setting_value(tx, _IN_FORCE)
    before = _from_text(settings.setting_value(tx, "study")) if stored is None else json.loads(stored)
    return None if before is None else list(changed_settings(StudySettings, before, as_stored(study)))


def _from_text(text: str | None) -> dict[str, Any] | None:
    """The settings of a study that was started before full settings were stored."""
    if text is None:
        return None
    try:
        return as_stored(StudySettings.model_validate(with_shared_options(tomllib.loads(text))))
    except ValidationError:
        return None


def refused_changes(tx: Tx, changes: Sequence[SettingChange]) -> Iterator[Problem]:
    """Changes that are no longer allowed."""
    if not changes:
        return
    begun, decided = beginnings.stages_begun(tx), beginnings.gates_decided(tx)
    untouched, arms = stages.is_untouched(tx), beginnings.anybody_in_arm(tx)
    for change in changes:
        rule = RULES[change.setting]
        is_late = {
            When.FIRST_WORKER: not untouched,
            When.FIRST_IN_STAGE: bool(begun.intersection(change.of)),
            When.FIRST_ARM: arms,
            When.FIRST_VERDICT: bool(decided.intersection(change.of)),
        }
        if is_late.get(rule.when, False) and not _is_in_new_table(change):
            yield Problem(
                SETTINGS_FILE,
                None,
                f"{change.place} may change only {rule.when}",
                f"{_restored(change)} {rule.effect.removeprefix('Refused after that: ').capitalize()}",
                _shown(change.after),
            )


def _is_in_new_table(change: SettingChange) -> bool:
    """Whether a table was added to a list."""
    return bool(change.of) and change.setting in ("stage", "gate", "prolific.study") and change.before is None


def _restored(change: SettingChange) -> str:
    return "Remove it." if change.before is None else f"Restore {_shown(change.before)}."


def _shown(value: Any) -> str:
    """A value in the study file's syntax, shortened."""
    text = "nothing" if value is None else _as_toml(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _as_toml(value: Any) -> str:
    """A value on one line, without settings that are not set.

    >>> _as_toml([{"outcome": "kept", "against": None}])
    '[{ outcome = "kept" }]'
    """
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {_as_toml(part)}' for name, part in value.items() if part is not None)} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_as_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def as_evidence(changes: Sequence[SettingChange]) -> list[dict[str, Any]]:
    """Changes for the activity log."""
    return [
        {"setting": change.setting, **({"of": ", ".join(change.of)} if change.of else {})}
        | {"before": change.before, "after": change.after}
        for change in changes
    ]
