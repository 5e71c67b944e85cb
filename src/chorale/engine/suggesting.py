"""The suggestion a worker sees: the model's answer to the item, or a wrong answer on purpose.

It is decided when a worker gets an item. While a model is still annotating, some items have no suggestion yet. Gold
replaces an item, and gets a suggestion only if that item would have one. Otherwise, suggestions would reveal gold.
"""

from collections.abc import Mapping
from random import Random

from chorale.contract import AnswerError
from chorale.engine.running import RunningStage, Study
from chorale.model import MODEL_PREFIX, Answer, AssignmentKind
from chorale.protocol import suggests_to, wrong_on_purpose
from chorale.store import Tx, codec, suggestions
from chorale.store.assignments import Lease
from chorale.store.gold import gold_answer
from chorale.store.offering import Suggested

_TRIES = 20
"""Attempts to guess a wrong answer. If all fail, nearly every possible answer is correct, and nothing is suggested."""


def suggested(tx: Tx, study: Study, stage: RunningStage, arm: str | None, item_id: int) -> Suggested | None:
    """Whether a worker would see an item with a suggestion; None if they get no suggestions."""
    rule = stage.settings.models
    model = suggesting_model(study, stage)
    if rule is None or model is None or not suggests_to(rule, arm):
        return None
    return Suggested(model, suggestions.model_answer(tx, item_id, model) is not None)


def shown(tx: Tx, token: str) -> Answer | None:
    """The suggestion for the worker who holds an item; None if there was none when they got it."""
    suggestion = suggestions.held(tx, token).suggestion
    return None if suggestion is None else codec.frozen_from_text(suggestion)


def suggest(tx: Tx, study: Study, stage: RunningStage, pseudonym: str, arm: str | None, lease: Lease) -> None:
    """Record the suggestion for a worker who has just got an item, if the model has answered it."""
    rule = stage.settings.models
    model = suggesting_model(study, stage)
    if rule is None or model is None or not suggests_to(rule, arm):
        return
    held = suggestions.held(tx, lease.token)
    known = suggestions.model_answer(tx, held.item_id, model)
    if known is None:
        return
    task_id, answer = known
    wrong = None
    if held.kind == AssignmentKind.GOLD and wrong_on_purpose(
        rule, study.settings.study.seed, stage.name, pseudonym, lease.item_key
    ):
        gold = gold_answer(tx, held.item_id)
        if gold is not None:
            expected = codec.frozen_from_text(gold.answer)
            model_says = codec.frozen_from_text(answer)
            wrong = wrong_answer(study, stage, pseudonym, lease.item_key, lease.payload, expected, model_says)
    filled_in = answer if wrong is None else codec.as_text(wrong)
    suggestions.add(tx, held.assignment_id, task_id, filled_in, study.clock(), wrong_on_purpose=wrong is not None)


def suggesting_model(study: Study, stage: RunningStage) -> str | None:
    """The pseudonym of the model whose answers are suggested in a stage; None if there is none."""
    rule = stage.settings.models
    if rule is None or rule.role != "suggest":
        return None
    name = rule.use[0] if rule.use else study.settings.model[0].name
    return f"{MODEL_PREFIX}{name}"


def wrong_answer(
    study: Study, stage: RunningStage, pseudonym: str, key: str, payload: str, gold: Answer, model_says: Answer
) -> Answer | None:
    """A wrong answer to a gold item, determined by the study's seed; None if guessing finds none.

    Ungraded fields keep the model's values: a guessed reason would reveal gold.
    """
    guess = stage.task.simulating.guess
    rng = Random(_seed(study, stage, pseudonym, key))
    if guess is None:
        choices = [one for one in stage.task.shape.choices or () if one != gold]
        return rng.choice(choices) if choices else None
    item = codec.frozen_from_text(payload)
    for _ in range(_TRIES):
        guessed = _with_rest(guess(stage.view_of(payload), None, rng), gold, model_says)
        try:
            wrong = stage.task.shape.parse_answer(codec.from_text(codec.as_text(guessed)), item)
        except AnswerError:
            continue
        if not stage.is_correct(stage.task.grading.grade(wrong, gold).score):
            return wrong
    return None


def _with_rest(guessed: Answer, gold: Answer, model_says: Answer) -> Answer:
    if not (isinstance(guessed, Mapping) and isinstance(gold, Mapping) and isinstance(model_says, Mapping)):
        return guessed
    rest = {name: value for name, value in model_says.items() if name not in gold}
    return {**rest, **{name: value for name, value in guessed.items() if name in gold}}


def _seed(study: Study, stage: RunningStage, pseudonym: str, key: str) -> str:
    return f"{study.settings.study.seed}:wrong suggestion:{stage.name}:{pseudonym}:{key}"
