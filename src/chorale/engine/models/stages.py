"""The stages that a model annotates, and the use of its answers there."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from chorale.contract import Seeds
from chorale.contract.prompting import TrainingExample
from chorale.contract.prompts import Prompter, why_people_only
from chorale.engine.running import RunningStage, Study
from chorale.model import AssignmentKind, ModelSettings, StageModels, UserError
from chorale.store import Tx, codec
from chorale.store.gold import gold_items
from chorale.store.model_tasks import BESIDE, FIRST, SUGGEST

_BESIDE = StageModels()


class ModelStage(NamedTuple):
    """A stage in which a model annotates."""

    stage: RunningStage
    rule: StageModels

    @property
    def counts(self) -> bool:
        """Whether its answers count as annotations."""
        return self.rule.role == "worker"

    @property
    def kind(self) -> str:
        """The kind of its answers to items that are not gold."""
        kinds = {"worker": AssignmentKind.PRODUCTION.value, "first": FIRST, "suggest": SUGGEST}
        return kinds.get(self.rule.role, BESIDE)


def stages_of(study: Study, model: ModelSettings, only: str | None = None) -> list[ModelStage]:
    """The stages that a model annotates, in order, with the rounds that lead to them.

    Without any `[stage.models]` in the study file, it annotates all stages, alongside people; of the rounds, only those
    that lead to such a stage. It never annotates stages that only people can do.
    """
    if only is not None and only not in study.stages:
        raise UserError(f"The study has no stage {only!r}. Available: {', '.join(study.stages)}.")
    why = None if only is None else why_people_only(study.stages[only].task.form)
    if why is not None:
        raise UserError(f"Models can't annotate stage {only!r}: it {why}. Name another stage.")
    said = any(stage.settings.models is not None for stage in study.stages.values())
    annotated = [
        ModelStage(stage, stage.settings.models or _BESIDE)
        for stage in study.stages.values()
        if stage.round_size is None and _is_used(stage, model, said=said) and only in (None, stage.name)
    ]
    behind = {
        name: study.work_behind(stage).work
        for name, stage in study.stages.items()
        if stage.round_size and why_people_only(stage.task.form) is None
    }
    wanted = {one.stage.name for one in annotated}
    rounds = {name for name, work in behind.items() if wanted & set(work)}
    by_name = {one.stage.name: one for one in annotated}
    return [
        by_name.get(name) or ModelStage(stage, _BESIDE)
        for name, stage in study.stages.items()
        if name in by_name or name in rounds
    ]


def _is_used(stage: RunningStage, model: ModelSettings, *, said: bool) -> bool:
    if why_people_only(stage.task.form) is not None:
        return False
    rule = stage.settings.models
    if rule is None:
        return not said
    return not rule.use or model.name in rule.use


def order_for(study: Study, stage: RunningStage, model: str, key: str, payload: str) -> Mapping[str, Any] | None:
    """The order of options in a model's prompt for an item: determined by the seed, and different for each item.

    None if the task's prompts have no order. `model` is the model's pseudonym.
    """
    arrange = stage.task.form.arrange
    if arrange is None or stage.task.prompting.arranged is None:
        return None
    seeds = Seeds.of(study.settings.study.seed, stage.name, model, key)
    return arrange(codec.frozen_from_text(payload), Seeds(seeds.item, seeds.item))


def prompter_of(tx: Tx, study: Study, stage: RunningStage, model: ModelSettings) -> Prompter:
    """The object that makes a stage's prompts for a model."""
    examples = training_examples(tx, study, stage, model.examples)
    return Prompter(stage.task, stage.guidelines, examples, asks_confidence=model.confidence == "stated")


def training_examples(tx: Tx, study: Study, stage: RunningStage, most: int) -> Sequence[TrainingExample]:
    """Items of training rounds of the same task, as workers see them after answering.

    Gold of this stage is left out.
    """
    schema = stage.task.shape.answer_schema
    rounds = [
        each
        for each in study.stages.values()
        if each.settings.round is not None
        and each.settings.round.feedback == "at once"
        and each.name != stage.name
        and each.task.name == stage.task.name
        and each.task.shape.answer_schema == schema
    ]
    if not rounds or not most:
        return ()
    hidden = {_shown(stage, gold.payload) for gold in gold_items(tx, stage.name, stage.lowest_correct)}
    examples = []
    for each in rounds:
        for gold in gold_items(tx, each.name, each.lowest_correct):
            if gold.active and _shown(stage, gold.payload) not in hidden:
                view = stage.view_of(codec.as_text(gold.payload))
                examples.append(TrainingExample(view, gold.answer, gold.explanation))
    return examples[:most]


def _shown(stage: RunningStage, payload: object) -> str:
    return codec.as_text(stage.view_of(codec.as_text(payload)))
