"""Runs all models of a study, each through the stages it annotates."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from chorale.contract.prompts import Prompt
from chorale.engine.models.annotating import AnnotatingModel, RunCounts
from chorale.engine.models.stages import ModelStage, prompter_of, stages_of
from chorale.engine.models.taking import prompt_for, reserve
from chorale.engine.running import Study
from chorale.engine.settling import settle_everything
from chorale.model import ModelSettings, UserError
from chorale.platforms.models import ModelClient, client_of
from chorale.store import Tx, model_tasks, workers
from chorale.store.model_tasks import TakenItem

_REASON = 500
"""Maximum tokens of the message that returns an invalid answer to the model."""


class ModelRun(NamedTuple):
    """The result of a model's run in a stage."""

    model: str
    stage: str
    counts: RunCounts


Progress = Callable[[ModelRun], None]


def chosen_models(study: Study, name: str | None) -> Sequence[ModelSettings]:
    """The models of a study file: all, or the one with this name."""
    models = study.settings.model
    if not models:
        raise UserError("The study file has no models. Add a [[model]] table: see docs/models.md.")
    chosen = [model for model in models if name in (None, model.name)]
    if not chosen:
        raise UserError(f"The study has no model {name!r}. Available: {', '.join(one.name for one in models)}.")
    return chosen


async def annotate(
    study: Study,
    folder: Path,
    models: Sequence[ModelSettings],
    stage: str | None = None,
    limit: int | None = None,
    progress: Progress = lambda _: None,
    wanted: Callable[[ModelStage], bool] = lambda _: True,
    *,
    retry_skipped: bool = False,
) -> list[ModelRun]:
    """Run models concurrently, each through its stages in order; returns the result of each.

    `stage` restricts the run to one stage, and `wanted` to the stages for which it returns True. With `retry_skipped`,
    skipped items are requested again.
    """
    runs = [(model, [of for of in stages_of(study, model, stage) if wanted(of)]) for model in models]
    clients = [client_of(model, folder) for model in models]
    try:
        done = await asyncio.gather(
            *(
                _annotate(study, model, stages, client, limit, progress, retry_skipped=retry_skipped)
                for (model, stages), client in zip(runs, clients, strict=True)
            )
        )
    finally:
        for client in clients:
            await client.close()
    all_runs = [run for several in done for run in several]
    if any(run.counts.answered for run in all_runs):
        # Gold may have changed a model's trust.
        await asyncio.to_thread(settle_everything, study)
    return all_runs


async def _annotate(
    study: Study,
    model: ModelSettings,
    stages: Sequence[ModelStage],
    client: ModelClient,
    limit: int | None,
    progress: Progress,
    *,
    retry_skipped: bool,
) -> list[ModelRun]:
    done = []
    for of in stages:
        name = of.stage.name
        in_round = of.stage.round_size is not None
        report = _reporting(model.name, name, progress)
        most = None if in_round else limit
        annotation = AnnotatingModel(
            study, of, model, client, most, report, retry_skipped=retry_skipped and not in_round
        )
        done.append(ModelRun(model.name, name, await annotation.run()))
        if limit is not None and not in_round:
            limit -= done[-1].counts.items
        if annotation.has_failed or limit == 0:
            break
    return done


def _reporting(model: str, stage: str, progress: Progress) -> Callable[[RunCounts], None]:
    return lambda counts: progress(ModelRun(model, stage, counts))


class Preview(NamedTuple):
    """The requests and cost of a planned run."""

    model: str
    stage: str
    items: int
    """Number of items left, including those started by an earlier run."""
    gold: int
    """Maximum number of gold items in addition to them."""
    prompts: Sequence[Prompt]
    """The first prompts."""
    prompt_tokens: int
    """Estimated tokens of all prompts: a quarter of their characters."""
    about: int
    """The cost of all prompts without answers, in billionths of a minor unit."""
    at_most: int
    """The maximum cost: with gold, answers of `max_tokens`, and one repetition of each."""


def previews(
    tx: Tx, study: Study, models: Sequence[ModelSettings], stage: str | None, limit: int | None, shown: int
) -> list[Preview]:
    """Preview a run without sending or storing anything. `limit` applies to all stages together."""
    made = []
    for model in models:
        left = limit
        for of in stages_of(study, model, stage):
            in_round = of.stage.round_size is not None
            made.append(_preview(tx, study, of, model, None if in_round else left, shown))
            if left is not None and not in_round:
                left -= made[-1].items + made[-1].gold
    return made


def _preview(tx: Tx, study: Study, of: ModelStage, model: ModelSettings, limit: int | None, shown: int) -> Preview:
    stage = of.stage
    worker = workers.find_by_identity(tx, "model", model.name)
    worker_id = 0 if worker is None else worker.id
    prompter = prompter_of(tx, study, stage, model)
    begun = [task.item for task in model_tasks.unfinished(tx, stage.id, worker_id)]
    items, gold = _left(tx, of, worker_id)
    first: list[Prompt] = []
    count, characters, most = 0, 0, 0
    for item in islice(chain(begun, items), limit):
        prompt = prompt_for(study, stage, model, prompter, item)
        count += 1
        characters += len(prompt.system) + len(prompt.user)
        most += _at_most(model, prompt)
        if len(first) < shown:
            first.append(prompt)
    checks = [_at_most(model, prompt_for(study, stage, model, prompter, item)) for item in gold] if count else []
    checks = sorted(checks, reverse=True)[: None if limit is None else limit - count]
    tokens = round(characters / 4 * model.calls_per_item)
    at_most = most + sum(checks)
    return Preview(model.name, stage.name, count, len(checks), first, tokens, model.price(tokens, 0), at_most)


def _at_most(model: ModelSettings, prompt: Prompt) -> int:
    """The maximum cost of an item. An invalid answer is returned to the model once, with the reason."""
    sent_back = model.max_tokens + _REASON
    return model.calls_per_item * reserve(model, prompt) + reserve(model, prompt, sent_back)


def _left(tx: Tx, of: ModelStage, worker_id: int) -> tuple[Iterator[TakenItem], Sequence[TakenItem]]:
    """The items that a model could get, and the gold that may come among them."""
    stage = of.stage
    gold = model_tasks.next_gold(tx, stage.id, worker_id)
    if stage.round_size is not None:
        given = model_tasks.given(tx, stage.id, worker_id)
        return iter(gold[: max(stage.round_size - given, 0)]), ()
    items = model_tasks.items_left(tx, stage.id, worker_id, counting=of.counts)
    mixed_in = stage.settings.gold is not None and stage.settings.gold.share > 0
    return items, gold if mixed_in else ()
