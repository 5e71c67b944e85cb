"""All models of a study at work, each through the stages it annotates."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from chorale.contract.prompts import Prompt
from chorale.engine.models.annotating import Annotation, RunCounts
from chorale.engine.models.stages import ModelStage, prompter_of, stages_of
from chorale.engine.models.taking import reserve
from chorale.engine.running import Study
from chorale.engine.settling import settle_everything
from chorale.model import ModelSettings, UserError
from chorale.platforms.models import ModelClient, client_of
from chorale.store import Tx, model_tasks, workers

_LOOKED_AT = 50
"""Prompts by which the price of all is estimated."""


class ModelRun(NamedTuple):
    """What a model has done in a stage."""

    model: str
    stage: str
    counts: RunCounts


Progress = Callable[[ModelRun], None]


def chosen_models(study: Study, name: str | None) -> Sequence[ModelSettings]:
    """The models of a study file: all, or the one with this name."""
    models = study.settings.model
    if not models:
        raise UserError("The study file has no models. Add a [[model]] table: see docs/models.md.")
    found = [model for model in models if name in (None, model.name)]
    if not found:
        raise UserError(f"There is no model {name!r}. The models are: {', '.join(one.name for one in models)}.")
    return found


async def annotate(
    study: Study,
    folder: Path,
    models: Sequence[ModelSettings],
    stage: str | None = None,
    limit: int | None = None,
    progress: Progress = lambda _: None,
    wanted: Callable[[ModelStage], bool] = lambda _: True,
) -> list[ModelRun]:
    """Let models annotate, all at the same time, each one stage after the other; what each has done.

    `stage` names one, `wanted` chooses among them.
    """
    runs = [(model, [of for of in stages_of(study, model, stage) if wanted(of)]) for model in models]
    clients = [client_of(model, folder) for model in models]
    try:
        done = await asyncio.gather(
            *(
                _annotate(study, model, stages, client, limit, progress)
                for (model, stages), client in zip(runs, clients, strict=True)
            )
        )
    finally:
        for client in clients:
            await client.close()
    all_runs = [run for several in done for run in several]
    if any(run.counts.answered for run in all_runs):
        # Gold may have changed how much a model counts.
        await asyncio.to_thread(settle_everything, study)
    return all_runs


async def _annotate(
    study: Study,
    model: ModelSettings,
    stages: Sequence[ModelStage],
    client: ModelClient,
    limit: int | None,
    progress: Progress,
) -> list[ModelRun]:
    done = []
    for of in stages:
        name = of.stage.name
        in_round = of.stage.round_size is not None
        report = _reporting(model.name, name, progress)
        annotation = Annotation(study, of, model, client, None if in_round else limit, report)
        done.append(ModelRun(model.name, name, await annotation.run()))
        if annotation.has_failed:
            break
    return done


def _reporting(model: str, stage: str, progress: Progress) -> Callable[[RunCounts], None]:
    return lambda counts: progress(ModelRun(model, stage, counts))


class Preview(NamedTuple):
    """What a run would ask, and what it would cost."""

    model: str
    stage: str
    items: int
    """How many items are left."""
    prompts: Sequence[Prompt]
    """The first of them."""
    prompt_tokens: int
    """Of all prompts together, about: a quarter of their characters."""
    about: int
    """What all prompts would cost, in billionths of a minor unit, without the answers."""
    at_most: int
    """What all of it could cost at the most, with answers of `max_tokens`."""


def preview(tx: Tx, study: Study, of: ModelStage, model: ModelSettings, limit: int | None, shown: int) -> Preview:
    """Look at what a run would ask, without asking or writing anything."""
    worker = workers.find_by_identity(tx, "model", model.name)
    worker_id = 0 if worker is None else worker.id
    prompter = prompter_of(tx, study, of.stage, model)
    if of.stage.round_size is None:
        left = model_tasks.left(tx, of.stage.id, worker_id, counting=of.counts)
        found = model_tasks.next_items(tx, of.stage.id, worker_id, -1, counting=of.counts)
    else:
        found = model_tasks.next_gold(tx, of.stage.id, worker_id)
        left = min(len(found), of.stage.round_size)
    left = left if limit is None else min(left, limit)
    prompts = [prompter.prompt(of.stage.view_of(item.payload)) for item in islice(found, min(left, _LOOKED_AT))]
    per_prompt = sum(len(one.system) + len(one.user) for one in prompts) / 4 / max(1, len(prompts))
    calls = left * model.calls_per_item
    tokens = round(per_prompt * calls)
    most = sum(reserve(model, one) for one in prompts) / max(1, len(prompts))
    return Preview(
        model.name, of.stage.name, left, prompts[:shown], tokens, model.price(tokens, 0), round(most * calls)
    )
