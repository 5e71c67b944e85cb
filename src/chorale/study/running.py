"""A study that is open: its settings, its tasks and its database, ready to work on."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from chorale.model import Refusal, StageSettings, StudySettings
from chorale.store import Store
from chorale.study.clock import Clock
from chorale.tasks import Task


@dataclass(frozen=True)
class RunningStage:
    id: int
    settings: StageSettings
    task: Task
    options: BaseModel
    guidelines: str
    feeds: tuple[str, ...]
    """Later stages whose items are derived from this one's results."""

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def excludes_contributors(self) -> bool:
        """Whether those who worked on what an item came from are kept from it."""
        return self.settings.entry.exclude_contributors and self.settings.items.from_ is not None

    @property
    def unproven_trust(self) -> float:
        """Trust of a worker who has not met gold yet: as little as still counts."""
        return self.settings.gold.floor if self.settings.gold else 1.0


@dataclass(frozen=True)
class Study:
    settings: StudySettings
    consent: str
    stages: Mapping[str, RunningStage]
    store: Store
    clock: Clock

    def stage(self, name: str) -> RunningStage:
        found = self.stages.get(name)
        if found is None:
            raise Refusal("no_such_stage", "This study has no such stage. Go back to the start page.", 404)
        return found

    def stage_by_id(self, stage_id: int) -> RunningStage:
        return next(stage for stage in self.stages.values() if stage.id == stage_id)

    def close(self) -> None:
        self.store.close()
