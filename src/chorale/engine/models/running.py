"""All models of a study at work, each through the stages it annotates."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import chain, islice
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
from chorale.store.model_tasks import TakenItem

_LOOKED_AT = 50
"""Prompts by which the price of all is estimated."""
_REASON = 500
"""Tokens of the message with which an answer is sent back, at the most."""


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
        if limit is not None and not in_round:
            limit -= done[-1].counts.items
        if annotation.has_failed or limit == 0:
            break
    return done


def _reporting(model: str, stage: str, progress: Progress) -> Callable[[RunCounts], None]:
    return lambda counts: progress(ModelRun(model, stage, counts))


class Preview(NamedTuple):
    """What a run would ask, and what it would cost."""

    model: str
    stage: str
    items: int
    """How many items are left, with those that an earlier run has begun."""
    gold: int
    """How much gold may come between them, at the most."""
    prompts: Sequence[Prompt]
    """The first of them."""
    prompt_tokens: int
    """Of all prompts together, about: a quarter of their characters."""
    about: int
    """What all prompts would cost, in billionths of a minor unit, without the answers."""
    at_most: int
    """What all of it could cost at the most, with gold, answers of `max_tokens`, and each sent back once."""


def previews(
    tx: Tx, study: Study, models: Sequence[ModelSettings], stage: str | None, limit: int | None, shown: int
) -> list[Preview]:
    """Look at what a run would ask, without asking or writing anything; `limit` is for all stages together."""
    found = []
    for model in models:
        left = limit
        for of in stages_of(study, model, stage):
            in_round = of.stage.round_size is not None
            found.append(_preview(tx, study, of, model, None if in_round else left, shown))
            if left is not None and not in_round:
                left -= found[-1].items + found[-1].gold
    return found


def _preview(tx: Tx, study: Study, of: ModelStage, model: ModelSettings, limit: int | None, shown: int) -> Preview:
    worker = workers.find_by_identity(tx, "model", model.name)
    worker_id = 0 if worker is None else worker.id
    prompter = prompter_of(tx, study, of.stage, model)
    begun = [task.item for task in model_tasks.unfinished(tx, of.stage.id, worker_id)]
    left, gold, found = _left(tx, of, worker_id)
    left += len(begun)
    if limit is not None:
        left = min(left, limit)
        gold = min(gold, limit - left)
    payloads = [item.payload for item in islice(chain(begun, found), min(left, _LOOKED_AT))]
    prompts = [prompter.prompt(of.stage.view_of(payload)) for payload in payloads]
    per_prompt = sum(len(one.system) + len(one.user) for one in prompts) / 4 / max(1, len(prompts))
    tokens = round(per_prompt * left * model.calls_per_item)
    # Once for every item, an answer that can't be read is sent back with the reason.
    sent_back = model.max_tokens + _REASON
    most = sum(model.calls_per_item * reserve(model, one) + reserve(model, one, sent_back) for one in prompts)
    at_most = round(most / max(1, len(prompts)) * (left + gold))
    return Preview(model.name, of.stage.name, left, gold, prompts[:shown], tokens, model.price(tokens, 0), at_most)


def _left(tx: Tx, of: ModelStage, worker_id: int) -> tuple[int, int, Sequence[TakenItem]]:
    """How many new items a model could be given, how much gold between them, and the first of the items."""
    stage = of.stage
    gold = model_tasks.next_gold(tx, stage.id, worker_id)
    if stage.round_size is not None:
        given = model_tasks.given(tx, stage.id, worker_id)
        return max(min(len(gold), stage.round_size - given), 0), 0, gold
    found = model_tasks.next_items(tx, stage.id, worker_id, -1, counting=of.counts)
    left = model_tasks.left(tx, stage.id, worker_id, counting=of.counts)
    mixed_in = stage.settings.gold is not None and stage.settings.gold.share > 0
    return left, len(gold) if mixed_in and left else 0, found
