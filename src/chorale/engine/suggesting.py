"""What a worker is shown as a model's suggestion: its answer to the item, or one that is wrong on purpose."""

from random import Random

from chorale.engine.running import RunningStage, Study
from chorale.model import MODEL_PREFIX, Answer, AssignmentKind
from chorale.protocol import suggests_to, wrong_on_purpose
from chorale.store import Tx, codec, suggestions
from chorale.store.assignments import Lease
from chorale.store.gold import gold_answer

_TRIES = 20
"""Guesses after which no wrong suggestion is made: nearly every answer is right."""


def suggestion_for(
    tx: Tx, study: Study, stage: RunningStage, pseudonym: str, arm: str | None, lease: Lease
) -> Answer | None:
    """What a worker sees filled in; None where nothing is suggested to them. The same whenever they come back."""
    rule = stage.settings.models
    model = suggesting_model(study, stage)
    if rule is None or model is None or not suggests_to(rule, arm):
        return None
    held = suggestions.held(tx, lease.token)
    if held.suggestion is not None:
        return codec.frozen_from_text(held.suggestion)
    known = suggestions.model_answer(tx, held.item_id, model)
    if known is None:
        return None
    task_id, answer = known
    wrong = None
    if held.kind == AssignmentKind.GOLD and wrong_on_purpose(
        rule, study.settings.study.seed, stage.name, pseudonym, lease.item_key
    ):
        gold = gold_answer(tx, held.item_id)
        if gold is not None:
            expected = codec.frozen_from_text(gold.answer)
            wrong = wrong_answer(study, stage, pseudonym, lease.item_key, lease.payload, expected)
    shown = answer if wrong is None else codec.as_text(wrong)
    suggestions.add(tx, held.assignment_id, task_id, shown, study.clock(), wrong_on_purpose=wrong is not None)
    return codec.frozen_from_text(shown)


def suggesting_model(study: Study, stage: RunningStage) -> str | None:
    """The pseudonym of the model whose answers are suggested in a stage; None where none are."""
    rule = stage.settings.models
    if rule is None or rule.role != "suggest":
        return None
    name = rule.use[0] if rule.use else study.settings.model[0].name
    return f"{MODEL_PREFIX}{name}"


def wrong_answer(
    study: Study, stage: RunningStage, pseudonym: str, key: str, payload: str, gold: Answer
) -> Answer | None:
    """A wrong answer to a gold item, by the study's seed; None where guessing finds none."""
    guess = stage.task.simulating.guess
    if guess is None:
        choices = [one for one in stage.task.shape.choices or () if one != gold]
        return Random(_seed(study, stage, pseudonym, key)).choice(choices) if choices else None
    rng = Random(_seed(study, stage, pseudonym, key))
    for _ in range(_TRIES):
        guessed = guess(stage.view_of(payload), None, rng)
        if not stage.is_correct(stage.task.grading.grade(guessed, gold).score):
            return guessed
    return None


def _seed(study: Study, stage: RunningStage, pseudonym: str, key: str) -> str:
    return f"{study.settings.study.seed}:wrong suggestion:{stage.name}:{pseudonym}:{key}"
