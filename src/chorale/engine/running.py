"""A study that is open: its settings, its tasks and its database, ready to work on."""

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
    Standing,
    StudySettings,
    UserError,
)
from chorale.model.frozen import frozen
from chorale.model.wording import worded
from chorale.present.language import Language
from chorale.protocol import Admission, Reason, closed_by, lowest_correct, may_enter, skips_left
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
    """Gates that end the stage when they close: they look at its answers, or at the answers it grades."""
    round_size: int | None = None
    """How many answers a round asks of each worker; None in a stage that is no round."""
    levels: int = 0
    """How many stages back the items came from at most; none for those from a file."""
    not_seen_later: int = 0
    """Nobody gets an item here who has seen what others made of it, so many stages on."""
    reviewed_by_group: bool = False
    """Whether that holds for what others made of any item of its group."""
    tie_seed: int | None = None
    """What ties between answers are drawn by; None where the first by name is taken."""

    # Asked for with every item: worked out once.
    @cached_property
    def name(self) -> str:
        return self.settings.name

    @cached_property
    def view_of(self) -> Callable[[str], dict[str, Any]]:
        """What a worker sees of an item, as it is stored. Remembered for a while, since others get it too."""
        view = self.task.form.view
        return lru_cache(maxsize=MOST_VIEWS)(lambda payload: frozen(view(frozen_from_text(payload))))

    @cached_property
    def asks_model_first(self) -> bool:
        """Whether a model answers its items before people are asked."""
        return self.settings.first_state is ItemState.WAITING

    def admission(self, credentials: Credentials, record: GoldRecord | None = None) -> Admission:
        """Whether somebody with these credentials may work here, and with this gold in the stage it asks for."""
        arms = self.settings.arms
        if arms and credentials.arm not in arms:
            return Admission(False, "it is not among the parts you were given", {"arms": list(arms)})
        if credentials.closed and (closed := credentials.closed.intersection(self.closed_by)):
            return Admission(False, "this round is over", {"closed": sorted(closed)})
        return may_enter(self.settings.entry, record, credentials.dropped, credentials.held)

    @cached_property
    def admitting(self) -> Callable[[Credentials], Admission]:
        """The same where it goes by credentials alone. Remembered for a while, since many have the same."""
        return lru_cache(maxsize=MOST_CREDENTIALS)(self.admission)

    def parsed(self, sent: Any) -> tuple[Answer, str]:
        """An answer that was sent, in its canonical form, and that as text; AnswerError if it can't be taken.

        Of short answers there are few, and many give them, so they are remembered.
        """
        # What is sent is what JSON can say: two things that look the same are the same.
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
        """The answer to an item that somebody of the team gives; UserError if it can't be one."""
        try:
            return self.task.shape.parse_gold(given, item.payload)
        except AnswerError as error:
            raise UserError(f"{given!r} is not an answer to item {item.key!r}: {error}") from None

    def under(self, settings: StageSettings) -> "RunningStage":
        """The stage as it was while these settings were in force."""
        return self if self.settings is settings else replace(self, settings=settings)

    @cached_property
    def lowest_correct(self) -> float:
        """The lowest score by gold of a correct answer: what the study file asks for, or else the task suggests."""
        asked = self.settings.pass_score
        return lowest_correct(self.task.grading.pass_score if asked is None else asked)

    def is_correct(self, score: float) -> bool:
        """Whether a score by gold is that of a correct answer."""
        return score >= self.lowest_correct

    @cached_property
    def parts_of_gold(self) -> int | None:
        """How many parts of a gold answer are counted separately; None where an answer counts as a whole."""
        gold = self.settings.gold
        return None if gold is None or gold.unit == "item" else self.task.grading.gold_parts

    def gold_marks(self, score: float) -> tuple[bool, ...]:
        """How much of a gold answer with this score is correct: all or nothing, or a number of its parts."""
        if self.parts_of_gold is None:
            return (self.is_correct(score),)
        right = round(score * self.parts_of_gold)
        return (True,) * right + (False,) * (self.parts_of_gold - right)

    def is_for_arm(self, arm: str | None) -> bool:
        """Whether it is for everybody, or for this arm. Others are not to know of it."""
        return not self.settings.arms or arm in self.settings.arms

    @cached_property
    def is_for_experts(self) -> bool:
        return EXPERT in self.settings.entry.qualifications

    @cached_property
    def removal(self) -> Reason:
        """Why workers are removed from it: by its gold or, where it has none, by their quality."""
        return Reason.BELOW_QUALITY if self.settings.gold is None else Reason.BELOW_GOLD

    def removal_of(self, standing: str, answered: int, removed_after: int) -> Reason | None:
        """Why somebody was removed from it after this number of answers, if they were and may know the reason."""
        return self.removal if standing == Standing.DROPPED and answered >= removed_after else None

    def skips_left(self, answered: int, skipped: int) -> int | None:
        """How many more items somebody may skip here; None where any number."""
        if self.round_size is not None or self.is_for_experts:
            return None
        return skips_left(self.settings.skips, answered, skipped)

    @property
    def is_by_colleagues(self) -> bool:
        """Whether experts do all of it for nothing: they are paid elsewhere, and no wage is reckoned for it."""
        return works_for_nothing(self.settings.entry, self.settings.pay) and not self.settings.pay.finished

    @cached_property
    def fewest(self) -> tuple[int, int]:
        """Judgments below which nothing can be decided about an item, and about an item of the sample."""
        rule = self.settings.judgments
        return rule.min, rule.min if rule.sample is None else rule.sample.judgments

    @property
    def per_worker(self) -> int | None:
        """How many of everybody's answers in earlier stages it takes, where it does not take all."""
        return None if self.settings.items is None else self.settings.items.per_worker

    @cached_property
    def kept_apart(self) -> Apart:
        """Which items are kept from those who have worked on what belongs to them, or whom they are not for."""
        rule = self.settings.entry.exclude_contributors
        apart = Apart(self.levels if rule else 0, self.not_seen_later, rule == "group", self.reviewed_by_group)
        return apart._replace(assigned=self.is_assigned)

    @property
    def is_assigned(self) -> bool:
        """Whether some of its items are for given people only."""
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
    """A stage, with what the rest of the study file means for it. `task` is as these options make it."""
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
    """The gates with the templates of their messages, which stand in `texts` by file name."""
    return {
        gate.name: RunningGate(gate, texts.get(gate.message, "") if gate.message else None) for gate in settings.gate
    }


def judgments_asked(study: "Study", stage: RunningStage) -> deque[int]:
    """How many judgments the items took that this process saw complete last; what gold is shown as often as."""
    asked: deque[int] = study.memory.setdefault(f"judgments asked:{stage.name}", deque(maxlen=MOST_ASKED))
    return asked


def no_such_stage() -> Refusal:
    """What is for another arm, or for experts, looks to others exactly like what does not exist."""
    return Refusal("no_such_stage", worded("This study has no such part. Go back to your overview."), 404)


NO_CONSENT_NEEDED = 0
"""The version of the consent form that experts have agreed to: they are staff, and asked for none."""


@dataclass(frozen=True)
class Study:
    settings: StudySettings
    consent: ConsentForm
    stages: Mapping[str, RunningStage]
    store: Store
    clock: Clock
    gates: Mapping[str, RunningGate] = field(default_factory=dict)
    fees_by_platform: bool = True
    """Whether only people from the study's platform cost a fee."""
    repeats_scarce_gold: bool = False
    """Whether gold that is too little for its share is shown again, where the study file does not decide."""
    secrets: Random = field(default_factory=SystemRandom)
    """Where tokens, pseudonyms and places of gold come from. Only a rehearsal has one that can be predicted."""
    memory: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What a process keeps between two looks at the database, and could find out again at any time."""

    def has_consent(self, version: int | None) -> bool:
        """Whether who agreed to this version last may go on. Another server may have opened the study with a newer."""
        return version is not None and (version >= self.consent.version or version == NO_CONSENT_NEEDED)

    @property
    def task_names(self) -> set[str]:
        """The tasks of its stages."""
        return {stage.task.name for stage in self.stages.values()}

    @cached_property
    def work_parts(self) -> Mapping[str, WorkPart]:
        """What its kits have beside items, by kit."""
        return loaded_parts(lambda kit: kit.work, self.task_names)

    @cached_property
    def also_working(self) -> Also:
        """Who has worked in a stage, beside those who have answered an item."""
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
        """What workers know the stages as, by name."""
        return {name: stage.settings.title for name, stage in self.stages.items()}

    @cached_property
    def round_sizes(self) -> Mapping[int, int]:
        """How many questions each round has, by the stage's id."""
        return {stage.id: stage.round_size for stage in self.stages.values() if stage.round_size is not None}

    def fed_by(self, stage: RunningStage) -> Sequence[RunningStage]:
        """The later stages whose items are derived from this one."""
        return self._feeding[stage.name]

    @cached_property
    def work_behind(self) -> Callable[[RunningStage], WorkBehind]:
        """The work that a round leads to."""
        by_stage = {name: work_behind(self.settings, stage.settings) for name, stage in self.stages.items()}
        return lambda stage: by_stage[stage.name]

    def gates_on(self, stage: RunningStage) -> frozenset[str]:
        """The gates that look at what people do in a stage."""
        return self._looking[stage.name]

    @cached_property
    def _looking(self) -> Mapping[str, frozenset[str]]:
        return {
            name: frozenset(gate.name for gate in self.gates.values() if name in gate.settings.stage)
            for name in self.stages
        }

    @cached_property
    def taking_some(self) -> Sequence[RunningStage]:
        """The stages that take some of everybody's answers."""
        return tuple(stage for stage in self.stages.values() if stage.per_worker is not None)

    @cached_property
    def stages_for(self) -> Callable[[str | None], Sequence[RunningStage]]:
        """The stages that somebody in an arm, or in none, is to know of: those for everybody, and those for it."""
        return cache(lambda arm: tuple(stage for stage in self.stages.values() if stage.is_for_arm(arm)))

    def made_of(self, stage: RunningStage) -> frozenset[str]:
        """What later stages are made of that this one feeds: its results, answers, or all answers together."""
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
