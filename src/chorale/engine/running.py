"""An open study with its settings, tasks and database."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from random import Random, SystemRandom
from typing import Any

from pydantic import BaseModel

from chorale.contract import AnswerError, Task
from chorale.engine.clock import Clock
from chorale.engine.parts import WorkPart
from chorale.folder.expected_pay import works_for_nothing
from chorale.folder.study_language import study_language
from chorale.model import (
    EXPERT,
    Answer,
    GateSettings,
    GoldRecord,
    Item,
    ItemState,
    Refusal,
    StageSettings,
    StudySettings,
    UserError,
)
from chorale.model.frozen import frozen
from chorale.model.wording import worded
from chorale.present.language import Language
from chorale.protocol import Admission, closed_by, lowest_correct, may_enter, skips_exceeded, skips_left
from chorale.protocol.training import WorkBehind, work_behind
from chorale.registry import loaded_parts
from chorale.store import Store, kit_tables
from chorale.store.codec import MOST_ANSWERS, SHORT_ANSWER, as_text, frozen_from_text
from chorale.store.consents import ConsentForm
from chorale.store.credentials import Credentials
from chorale.store.offering import Apart
from chorale.store.stages import Also

MOST_VIEWS = 4_000
MOST_CREDENTIALS = 1_000
MOST_ASKED = 500


@dataclass(frozen=True)
class RunningStage:
    id: int
    settings: StageSettings
    task: Task
    options: BaseModel
    guidelines: str
    feeds: tuple[str, ...]
    """Later stages whose items are derived from this one's results."""
    closed_by: tuple[str, ...] = ()
    """Gates that end the stage when they close: they use its answers, or the answers it grades."""
    round_size: int | None = None
    """Number of answers a round asks of each worker; None if the stage is not a round."""
    levels: int = 0
    """Maximum number of stages between its items and the files they originate from; 0 for items from a file."""
    not_seen_later: int = 0
    """Workers do not get an item if they have seen items derived from it, up to this many stages later."""
    reviewed_by_group: bool = False
    """Whether workers do not get an item if they have seen items derived from any item of its group."""
    tie_seed: int | None = None
    """The seed for breaking ties randomly; None if the first label by name wins."""

    # Used for every item, so computed once.
    @cached_property
    def name(self) -> str:
        return self.settings.name

    @cached_property
    def view_of(self) -> Callable[[str], dict[str, Any]]:
        """The worker's view of a stored item. Cached, since several workers get the same item."""
        view = self.task.form.view
        return lru_cache(maxsize=MOST_VIEWS)(lambda payload: frozen(view(frozen_from_text(payload))))

    @cached_property
    def asks_model_first(self) -> bool:
        """Whether a model answers its items before people are asked."""
        return self.settings.first_state is ItemState.WAITING

    def admission(self, credentials: Credentials, record: GoldRecord | None = None) -> Admission:
        """Whether a worker with these credentials and gold record in the required stage may work here."""
        arms = self.settings.arms
        if arms and credentials.arm not in arms:
            return Admission(False, "the stage is for another arm", {"arms": list(arms)})
        if credentials.closed and (closed := credentials.closed.intersection(self.closed_by)):
            return Admission(False, "a gate has ended the stage", {"closed": sorted(closed)})
        return may_enter(self.settings.entry, record, credentials.dropped, credentials.held)

    @cached_property
    def admitting(self) -> Callable[[Credentials], Admission]:
        """Whether a worker with these credentials may work here, without a gold rule. Cached: many workers
        have the same credentials.
        """
        return lru_cache(maxsize=MOST_CREDENTIALS)(self.admission)

    def parsed(self, sent: Any) -> tuple[Answer, str]:
        """A submitted answer in canonical form, also as text; AnswerError if invalid. Short answers are cached."""
        # Answers are JSON values: equal representations mean equal values.
        written = repr(sent)
        parsed = self._parsed.get(written)
        if parsed is None:
            answer = self.task.shape.parse_answer(sent)
            parsed = answer, as_text(answer)
            if len(written) <= SHORT_ANSWER and len(self._parsed) < MOST_ANSWERS:
                self._parsed[written] = parsed
        return parsed

    @cached_property
    def _parsed(self) -> dict[str, tuple[Answer, str]]:
        return {}

    def parsed_gold(self, given: Any, item: Item) -> Answer:
        """A gold answer entered by staff; UserError if it is invalid."""
        try:
            return self.task.shape.parse_gold(given, item.payload)
        except AnswerError as error:
            raise UserError(
                f"{given!r} is not an answer to item {item.key!r}: it {error.words.demand}. Correct it."
            ) from None

    def under(self, settings: StageSettings) -> "RunningStage":
        """The stage under these earlier settings."""
        return self if self.settings is settings else replace(self, settings=settings)

    @cached_property
    def lowest_correct(self) -> float:
        """The minimum gold score of a correct answer: from the study file, or else the task's default."""
        asked = self.settings.pass_score
        return lowest_correct(self.task.grading.pass_score if asked is None else asked)

    def is_correct(self, score: float) -> bool:
        """Whether a gold score counts as correct."""
        return score >= self.lowest_correct

    @cached_property
    def parts_of_gold(self) -> int | None:
        """Number of separately counted parts of a gold answer; None if the answer counts as a whole."""
        gold = self.settings.gold
        return None if gold is None or gold.unit == "item" else self.task.grading.gold_parts

    def gold_marks(self, score: float) -> tuple[bool, ...]:
        """The correct amount of a gold answer with this score: all or nothing, or a number of parts."""
        if self.parts_of_gold is None:
            return (self.is_correct(score),)
        right = round(score * self.parts_of_gold)
        return (True,) * right + (False,) * (self.parts_of_gold - right)

    def is_for_arm(self, arm: str | None) -> bool:
        """Whether the stage is open to this arm. Workers in other arms must not learn of it."""
        return not self.settings.arms or arm in self.settings.arms

    @cached_property
    def is_for_experts(self) -> bool:
        return EXPERT in self.settings.entry.qualifications

    def skips_left(self, answered: int, skipped: int) -> int | None:
        """Number of skips a worker has left here; None if unlimited."""
        return skips_left(self.settings.skips, answered, skipped) if self._limits_skips else None

    def skips_exceeded(self, answered: int, skipped: int) -> bool:
        return self._limits_skips and skips_exceeded(self.settings.skips, answered, skipped)

    @property
    def _limits_skips(self) -> bool:
        return self.round_size is None and not self.is_for_experts

    @property
    def is_by_colleagues(self) -> bool:
        """Whether experts do the stage unpaid: then no wage is computed for it."""
        return works_for_nothing(self.settings.entry, self.settings.pay) and not self.settings.pay.finished

    @cached_property
    def fewest(self) -> tuple[int, int]:
        """Minimum number of judgments for an item, and for an item that is sampled for more judgments."""
        rule = self.settings.judgments
        return rule.min, rule.min if rule.sample is None else rule.sample.judgments

    @property
    def per_worker(self) -> int | None:
        """Number of answers sampled per worker from earlier stages; None if the stage takes all."""
        return None if self.settings.items is None else self.settings.items.per_worker

    @cached_property
    def kept_apart(self) -> Apart:
        """The rules that keep items from workers who have seen related items, or to whom they are not assigned."""
        rule = self.settings.entry.exclude_contributors
        apart = Apart(self.levels if rule else 0, self.not_seen_later, rule == "group", self.reviewed_by_group)
        return apart._replace(assigned=self.is_assigned)

    @property
    def is_assigned(self) -> bool:
        """Whether some of its items are assigned to named people."""
        return self.settings.items is not None and self.settings.items.assigned is not None


@dataclass(frozen=True)
class RunningGate:
    settings: GateSettings
    message: str | None
    """The template of its message, in Markdown."""

    @property
    def name(self) -> str:
        return self.settings.name


def running_stage(
    study: StudySettings,
    stage: StageSettings,
    stage_id: int,
    task: Task,
    options: BaseModel,
    gold_count: Callable[[], int],
    guidelines: str = "",
    *,
    ties_at_random: bool,
) -> RunningStage:
    """A stage, with everything that the study file implies for it. `task` has the stage's options."""
    return RunningStage(
        id=stage_id,
        settings=stage,
        task=task,
        options=options,
        guidelines=guidelines,
        feeds=tuple(later.name for later in study.stage if stage.name in later.sources),
        closed_by=closed_by(study, stage),
        levels=_levels(study, stage),
        not_seen_later=_not_seen_later(study, stage),
        reviewed_by_group=any(
            stage.name in each.sources and each.entry.exclude_contributors == "group" for each in study.stage
        ),
        round_size=None if stage.round is None else stage.round.size or gold_count(),
        tie_seed=study.study.seed if ties_at_random else None,
    )


def _levels(study: StudySettings, stage: StageSettings) -> int:
    earlier = [each for each in study.stage if each.name in stage.sources]
    return max((1 + _levels(study, each) for each in earlier), default=0)


def _not_seen_later(study: StudySettings, stage: StageSettings) -> int:
    later = [each for each in study.stage if stage.name in each.sources and each.entry.exclude_contributors]
    return max((1 + _not_seen_later(study, each) for each in later), default=0)


def running_gates(settings: StudySettings, texts: Mapping[str, str]) -> dict[str, RunningGate]:
    """The gates with their message templates; `texts` has them by file name."""
    return {
        gate.name: RunningGate(gate, texts.get(gate.message, "") if gate.message else None) for gate in settings.gate
    }


def judgments_asked(study: "Study", stage: RunningStage) -> deque[int]:
    """Number of judgments per item among recently completed items; gold is shown as often."""
    asked: deque[int] = study.memory.setdefault(f"judgments asked:{stage.name}", deque(maxlen=MOST_ASKED))
    return asked


def no_such_stage() -> Refusal:
    """The refusal for an unknown stage, also for stages of other arms or of experts."""
    return Refusal("no_such_stage", worded("This study has no such part. Go back to your overview."), 404)


NO_CONSENT_NEEDED = 0
"""The consent version of experts, who are staff and need not consent."""


@dataclass(frozen=True)
class Study:
    settings: StudySettings
    consent: ConsentForm
    stages: Mapping[str, RunningStage]
    store: Store
    clock: Clock
    gates: Mapping[str, RunningGate] = field(default_factory=dict)
    fees_by_platform: bool = True
    """Whether the fee applies only to people from the study's platform."""
    repeats_scarce_gold: bool = False
    """Whether scarce gold is repeated to reach its share, if `gold.reuse` is not set."""
    secrets: Random = field(default_factory=SystemRandom)
    """The source of random tokens, pseudonyms and gold positions. It is predictable only in simulations."""
    memory: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """A process's cache of values from the database."""

    def has_consent(self, version: int | None) -> bool:
        """Whether consent to this version is valid. Another server may have opened the study with a newer one."""
        return version is not None and (version >= self.consent.version or version == NO_CONSENT_NEEDED)

    @property
    def task_names(self) -> set[str]:
        """The tasks of its stages."""
        return {stage.task.name for stage in self.stages.values()}

    @cached_property
    def work_parts(self) -> Mapping[str, WorkPart]:
        """Work other than items that kits add to the study, by kit."""
        return loaded_parts(lambda kit: kit.work, self.task_names)

    @cached_property
    def also_working(self) -> Also:
        """Workers who have worked in a stage without answering an item."""
        return tuple(condition for part in self.work_parts.values() for condition in part.also_working)

    def with_tables(self) -> "Study":
        """Open the study after updating its kits' tables."""
        tables = {kit: part.tables for kit, part in self.work_parts.items() if part.tables is not None}
        if tables and not self.store.read(lambda tx: kit_tables.are_current(tx, tables)).result():
            self.store.write(lambda tx: kit_tables.bring_up_to_date(tx, tables)).result()
        return self

    def stage(self, name: str) -> RunningStage:
        stage = self.stages.get(name)
        if stage is None:
            raise no_such_stage()
        return stage

    def stage_by_id(self, stage_id: int) -> RunningStage:
        return self._by_id[stage_id]

    @cached_property
    def _by_id(self) -> Mapping[int, RunningStage]:
        return {stage.id: stage for stage in self.stages.values()}

    @cached_property
    def language(self) -> Language:
        """The language of worker pages."""
        return study_language(self.settings)

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """The titles shown to workers, by stage name."""
        return {name: stage.settings.title for name, stage in self.stages.items()}

    @cached_property
    def round_sizes(self) -> Mapping[int, int]:
        """Number of questions in each round, by stage id."""
        return {stage.id: stage.round_size for stage in self.stages.values() if stage.round_size is not None}

    def fed_by(self, stage: RunningStage) -> Sequence[RunningStage]:
        """The later stages whose items are derived from this one."""
        return self._feeding[stage.name]

    @cached_property
    def work_behind(self) -> Callable[[RunningStage], WorkBehind]:
        """The stages that a round leads to."""
        by_stage = {name: work_behind(self.settings, stage.settings) for name, stage in self.stages.items()}
        return lambda stage: by_stage[stage.name]

    def gates_on(self, stage: RunningStage) -> frozenset[str]:
        """The gates that use the answers of a stage."""
        return self._looking[stage.name]

    @cached_property
    def _looking(self) -> Mapping[str, frozenset[str]]:
        return {
            name: frozenset(gate.name for gate in self.gates.values() if name in gate.settings.stage)
            for name in self.stages
        }

    @cached_property
    def taking_some(self) -> Sequence[RunningStage]:
        """The stages that sample each worker's answers."""
        return tuple(stage for stage in self.stages.values() if stage.per_worker is not None)

    @cached_property
    def stages_for(self) -> Callable[[str | None], Sequence[RunningStage]]:
        """The stages visible to a worker in this arm, or in none: those for everybody, and those for the arm."""
        return cache(lambda arm: tuple(stage for stage in self.stages.values() if stage.is_for_arm(arm)))

    def made_of(self, stage: RunningStage) -> frozenset[str]:
        """The source of later stages' items: this stage's results, single answers, or all answers to an item."""
        return self._making[stage.name]

    @cached_property
    def _feeding(self) -> Mapping[str, Sequence[RunningStage]]:
        return {name: tuple(self.stage(later) for later in stage.feeds) for name, stage in self.stages.items()}

    @cached_property
    def _making(self) -> Mapping[str, frozenset[str]]:
        return {
            name: frozenset(later.settings.items.of for later in fed if later.settings.items is not None)
            for name, fed in self._feeding.items()
        }

    def close(self) -> None:
        self.store.close()
