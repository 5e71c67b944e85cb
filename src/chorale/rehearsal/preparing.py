"""Prepares a study's folder for any number of simulated runs."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from random import Random
from typing import NamedTuple

from chorale.engine.opening import bring_in
from chorale.engine.running import Study
from chorale.folder.reading import StudyFolder
from chorale.folder.reading_plan import simulated_seconds
from chorale.platforms.models.recorded import RecordedModel
from chorale.protocol import fewest_people
from chorale.rehearsal import simulated
from chorale.rehearsal.models_at_work import ModelsAtWork, models_matter
from chorale.rehearsal.performing import Advance, Manners, Performance
from chorale.rehearsal.person import Person
from chorale.rehearsal.requester import close_a_gate
from chorale.rehearsal.schedule import Clock
from chorale.store import LoadingStore, MemoryStore, open_memory_store
from chorale.store.settings import charge_everybody, mark_simulated

# An arbitrary but fixed start time.
BEGINNING = 1_767_225_600_000
HOUR_MS = 3_600_000
MINUTE_MS = 60_000
MOST_BY_SIZE = 40
ANSWERS_EACH = 10


@contextmanager
def not_collecting() -> Iterator[None]:
    """Disable garbage collection: a run creates millions of small objects and hardly any cycles, and collecting takes a
    tenth of the time.
    """
    usual = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if usual:
            gc.enable()


class _OpenSecrets(Random):
    """Predictable secrets: tokens count up, so that lookups stay at the end of the index.

    Random tokens would be spread over the whole index.
    """

    _given = 0

    def randbytes(self, n: int) -> bytes:
        self._given += 1
        return self._given.to_bytes(n, "big")


@dataclass(frozen=True)
class Crowd:
    """The crowd: kinds of people, or people fitted to real judgments."""

    settings: simulated.CrowdSettings = field(default_factory=simulated.CrowdSettings)
    fitted: tuple[simulated.WorkerModel, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes for readers of a forecast."""
    spread: float = 0.0
    """The spread of item difficulty, fitted to these judgments."""

    @property
    def difficulty(self) -> float:
        """The spread of item difficulty, from the crowd's file or the fitted judgments."""
        return self.spread if self.settings.difficulty is None else self.settings.difficulty

    def people(self, size: int, rng: Random) -> list[simulated.WorkerModel]:
        if self.fitted:
            return simulated.draw_fitted(self.fitted, size, rng)
        return simulated.draw_crowd(self.settings.kind, size, rng)


class FitColumns(NamedTuple):
    """How to read real judgments: other column names than `task`, `worker` and `label`, the separator of labels, and a
    reader.
    """

    task: str | None = None
    worker: str | None = None
    label: str | None = None
    sep: str | None = None
    reader: str | None = None
    """The name of a kit's reader, if the file has a special format."""


USUAL_COLUMNS = FitColumns()


def usual_workers(folder: StudyFolder) -> int:
    """One worker per ten needed answers, at most 40, but at least twice the minimum number.

    With many workers and few items, random clickers are the fastest and take most of the work.
    """
    answers = sum(
        len(content.items) * content.settings.judgments.min
        for content in folder.stages
        if content.settings.round is None
    )
    files = {content.settings.name: content.items for content in folder.stages}
    fewest = fewest_people(folder.settings, files, most_judgments=True).workers
    return max(2 * fewest, min(MOST_BY_SIZE, ceil(answers / ANSWERS_EACH)))


class Rehearsal:
    """A study loaded into memory once, and simulated any number of times on a copy."""

    def __init__(self, folder: StudyFolder, crowd: Crowd, advance: Advance = close_a_gate) -> None:
        # Simulated people are not in the team, so assignees are ignored.
        folder = replace(folder, stages=tuple(replace(content, assigned={}) for content in folder.stages))
        self.folder = folder
        self.crowd = crowd
        self.workers = crowd.settings.workers or usual_workers(folder)
        self._advance = advance
        self._store: MemoryStore = open_memory_store()
        # Simulated people represent those of the platform, including its fee.
        self._study = replace(bring_in(folder, self._store, Clock(BEGINNING)), fees_by_platform=False)
        self._recorded = self._recorded_models()
        self._pairs = {
            content.settings.name: [
                *((content.task.form.shown(row.item.payload), row.answer) for row in content.gold),
                *((row.view, row.answer) for row in content.truth),
            ]
            for content in folder.stages
        }
        self._expected = {content.settings.name: simulated_seconds(content) for content in folder.stages}
        self.known = {name: simulated.Knowledge(pairs) for name, pairs in self._pairs.items()}
        """The known correct answers of each stage, from its gold and its truth file."""

    def perform(self, seed: int, workers: int | None = None) -> tuple[Study, Performance]:
        """One simulated run, optionally with another number of people. The caller closes the study."""
        return self._perform(replace(self._study, store=self._store.copy()), seed, workers)

    def perform_on(self, store: LoadingStore, seed: int) -> None:
        """One simulated run on a database that is kept."""
        study = bring_in(self.folder, store, Clock(BEGINNING))
        store.do(charge_everybody)
        store.do(mark_simulated)
        self._perform(replace(study, fees_by_platform=False), seed, None)

    def _perform(self, study: Study, seed: int, workers: int | None) -> tuple[Study, Performance]:
        clock = Clock(BEGINNING)
        # With a new cache, since that of another run has other answers.
        study = replace(study, clock=clock, secrets=_OpenSecrets(f"{seed}:secrets"), memory={})
        rng = Random(f"{seed}:crowd")
        settings = self.crowd.settings
        people = [
            Person(number, model, Random(f"{seed}:person:{number}"))
            for number, model in enumerate(self.crowd.people(workers or self.workers, rng))
        ]
        arrivals = simulated.draw_arrivals(len(people), settings.per_hour, rng)
        if any(stage.is_for_experts for stage in study.stages.values()):
            experts = simulated.draw_experts(settings, rng)
            people += [
                Person(number, model, Random(f"{seed}:person:{number}"), expert=True)
                for number, model in enumerate(experts, len(people))
            ]
            arrivals += [0.0] * len(experts)
        sheets = self._sheets(seed)
        performance = Performance(
            study,
            clock,
            people,
            arrivals,
            sheets,
            self._expected,
            Manners(
                round(settings.look_in_minutes * MINUTE_MS), round(settings.patience_hours * HOUR_MS), settings.experts
            ),
            self._advance,
            ModelsAtWork(study, sheets, settings.model, self._recorded, seed) if study.settings.model else None,
        )
        with not_collecting():
            performance.run()
        return study, performance

    def _recorded_models(self) -> dict[str, RecordedModel]:
        """The models whose recorded answers are replayed: those that the crowd's file does not describe."""
        if not models_matter(self._study):
            return {}
        described = {model.name for model in self.crowd.settings.model}
        return {
            model.name: RecordedModel(model, self.folder.path / model.answers)
            for model in self.folder.settings.model
            if model.answers is not None and model.name not in described
        }

    def close(self) -> None:
        self._store.close()

    def _sheets(self, seed: int) -> dict[str, simulated.AnswerSheet]:
        return {
            content.settings.name: simulated.AnswerSheet(
                content.task,
                self._pairs[content.settings.name],
                f"{seed}:{content.settings.name}",
                self.crowd.difficulty,
            )
            for content in self.folder.stages
        }
