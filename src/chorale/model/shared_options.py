"""Task options that one stage takes from another, so that training, quiz and work can have the same form."""

from collections.abc import Mapping
from typing import Any


def with_shared_options(study: Any) -> Any:
    """The settings of a study with `options_from` applied: the other stage's options, overridden by the stage's own.

    An invalid `options_from` is left unchanged; `chorale check` reports it.
    """
    stages = study.get("stage") if isinstance(study, Mapping) else None
    if not isinstance(stages, list):
        return study
    named = [stage for stage in stages if isinstance(stage, Mapping) and isinstance(stage.get("name"), str)]
    by_name = {stage["name"]: stage for stage in reversed(named)}
    return {**study, "stage": [_shared(stage, by_name) for stage in stages]}


def _shared(stage: Any, by_name: Mapping[str, Mapping[str, Any]]) -> Any:
    if not isinstance(stage, Mapping) or not isinstance(stage.get("options_from"), str):
        return stage
    source = by_name.get(stage["options_from"])
    if source is None or source is stage or "options_from" in source or source.get("task") != stage.get("task"):
        return stage
    options, own = source.get("options", {}), stage.get("options", {})
    if not isinstance(options, Mapping) or not isinstance(own, Mapping):
        return stage
    return {**stage, "options": {**options, **own}}
