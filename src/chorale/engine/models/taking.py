"""Assigning items to a model and planning its calls, by the rules for workers and within the budget."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import NamedTuple

from chorale.contract.prompts import Prompt, Prompter
from chorale.engine import paying
from chorale.engine.entering import admission
from chorale.engine.models.stages import ModelStage, order_for
from chorale.engine.offering import secret_number
from chorale.engine.running import RunningStage, Study
from chorale.model import MODEL_PREFIX, AssignmentKind, ModelSettings, StageState
from chorale.protocol import Facts, Reason, Situation, State, always, gold_due, never, removal_reason, situation
from chorale.store import Tx, calls, codec, events, model_tasks, participations
from chorale.store.calls import NewCall
from chorale.store.credentials import credentials_of
from chorale.store.model_tasks import ModelTask, TakenItem, TaskState
from chorale.store.participations import Attendance

MOST_LOST = 3
"""An item is skipped after its answer was lost in this many runs: each may have cost something."""
_PROMPT_EXTRA = 500
"""Maximum tokens that a server's chat template adds to a prompt."""


_WHY: Mapping[Reason, str] = {
    Reason.BELOW_GOLD: "The model was removed: its gold accuracy is below the minimum.",
    Reason.BELOW_QUALITY: "The model was removed: its worker quality is below the minimum.",
    Reason.REMOVED_BY_STAFF: "The model was removed by the study's team.",
    Reason.ROUND_FINISHED: "The round is finished.",
    Reason.ENDED: "A gate has ended the stage.",
    Reason.PAUSED: "The stage is paused. Resume it with `chorale resume`.",
    Reason.BUDGET: "The budget covers no further call. Raise `budget` in [pay] to continue.",
    Reason.LIMIT: "The model has reached the limit of `max_per_worker` answers.",
}
"""Messages to the requester on why a model gets no more items."""


class PlannedWork(NamedTuple):
    """An item assigned to a model, with its recorded request."""

    task: ModelTask
    prompt: Prompt
    call_id: int


class Place(NamedTuple):
    """The progress of a model in a stage."""

    served: int
    """Number of items assigned so far."""
    after: int = -1
    """The position after which to look for more."""


class Taken(NamedTuple):
    """Work assigned to a model."""

    work: Sequence[PlannedWork]
    after: int
    """The start of the next search."""
    why_none: str | None = None
    """Why there is no more work, as a message."""


def take(
    tx: Tx,
    study: Study,
    of: ModelStage,
    model: ModelSettings,
    worker_id: int,
    prompter: Prompter,
    place: Place,
    most: int,
) -> Taken:
    """Assign items of a stage to a model, and plan a request for each."""
    after = place.after
    stage = of.stage
    record = participations.attendance(tx, stage.id, worker_id)
    if record is None:
        now = _enter(tx, study, stage, worker_id)
        record = participations.attendance(tx, stage.id, worker_id)
    else:
        now = situation(_facts(tx, study, of, worker_id, record))
    if now.state is not State.AVAILABLE or record is None:
        return Taken((), after, _why(now))
    budget = paying.CallBudget(tx, study)
    work: list[PlannedWork] = []
    for item, kind in _next_items(tx, of, worker_id, record, place, most):
        prompt = prompt_for(study, stage, model, prompter, item)
        if not budget.takes(reserve(model, prompt)):
            return Taken(work, after, _WHY[Reason.BUDGET])
        task = model_tasks.take(tx, stage.id, worker_id, item, kind, study.clock())
        work.append(PlannedWork(task, prompt, plan_call(tx, study, model, task, prompt, "ask")))
        if kind == of.kind:
            after = item.position
    return Taken(work, after, None if work else "No items are left to annotate.")


def resume(
    tx: Tx, study: Study, of: ModelStage, model: ModelSettings, worker_id: int, prompter: Prompter
) -> list[PlannedWork]:
    """Plan unfinished items of an earlier run again. Calls that it had sent become `unknown`."""
    now = study.clock()
    calls.give_up(tx, worker_id, of.stage.id, now)
    calls.forget_planned(tx, worker_id, of.stage.id)
    record = participations.attendance(tx, of.stage.id, worker_id)
    if record is None or situation(_facts(tx, study, of, worker_id, record)).state is not State.AVAILABLE:
        return []
    work = []
    budget = paying.CallBudget(tx, study)
    lost = calls.times_lost(tx, worker_id, of.stage.id)
    for task in model_tasks.unfinished(tx, of.stage.id, worker_id):
        if lost.get(task.id, 0) >= MOST_LOST:
            model_tasks.end(tx, task, TaskState.SKIPPED, now)
            continue
        prompt = prompt_for(study, of.stage, model, prompter, task.item)
        if not budget.takes(reserve(model, prompt)):
            break
        model_tasks.ask_again(tx, task.id)
        work.append(PlannedWork(task, prompt, plan_call(tx, study, model, task, prompt, "ask")))
    return work


def prompt_for(study: Study, stage: RunningStage, model: ModelSettings, prompter: Prompter, item: TakenItem) -> Prompt:
    """The prompt for an item."""
    order = order_for(study, stage, f"{MODEL_PREFIX}{model.name}", item.key, item.payload)
    return prompter.prompt(stage.view_of(item.payload), order)


def plan_call(
    tx: Tx, study: Study, model: ModelSettings, task: ModelTask, prompt: Prompt, purpose: str, more: int = 0
) -> int:
    """Record a request before it is sent. `more` is the number of bytes in addition to the prompt."""
    call = NewCall(
        task.id,
        task.worker_id,
        task.stage_id,
        purpose,
        model.asked_for,
        prompt.digest,
        study.clock(),
        *model.prices,
        reserve(model, prompt, more),
    )
    return calls.plan(tx, call)


def reserve(model: ModelSettings, prompt: Prompt, more: int = 0) -> int:
    """The maximum cost of a request, in billionths of a minor unit: every token has at least one byte."""
    if not model.input_price and not model.output_price:
        return 0
    longest = len(prompt.system.encode()) + len(prompt.user.encode()) + len(codec.as_text(prompt.schema).encode())
    return model.price(longest + more + _PROMPT_EXTRA, model.max_tokens)


def _next_items(
    tx: Tx, of: ModelStage, worker_id: int, record: Attendance, place: Place, most: int
) -> Iterator[tuple[TakenItem, str]]:
    stage, served = of.stage, place.served
    if stage.settings.round is not None and stage.round_size is not None:
        practice = stage.settings.round.feedback == "at once"
        kind = AssignmentKind.TRAINING if practice else AssignmentKind.QUALIFICATION
        left = min(most, stage.round_size - served)
        yield from ((item, kind.value) for item in model_tasks.next_gold(tx, stage.id, worker_id)[: max(left, 0)])
        return
    items = iter(
        _one_of_a_group(model_tasks.next_items(tx, stage.id, worker_id, place.after, counting=of.counts), of.counts)
    )
    if of.rule.role in ("first", "suggest"):
        # Gold comes first: confidence must be calibrated before it decides anything, and gold without a suggestion
        # would stand out. This includes gold that is added when no items are left.
        graded = model_tasks.next_gold(tx, stage.id, worker_id)[:most]
        yield from ((item, AssignmentKind.GOLD.value) for item in graded)
        yield from ((item, of.kind) for item in islice(items, most - len(graded)))
        return
    share = 0.0 if stage.settings.gold is None else stage.settings.gold.share
    gold: Iterator[TakenItem] | None = None
    first = next(items, None)
    if first is None:
        # Gold without items is useless, so it stops with the last item.
        return
    items = chain((first,), items)
    for number in range(served, served + most):
        if gold_due(record.seed, number, share):
            gold = iter(model_tasks.next_gold(tx, stage.id, worker_id)) if gold is None else gold
            check = next(gold, None)
            if check is not None:
                yield check, AssignmentKind.GOLD.value
                continue
        item = next(items, None)
        if item is None:
            return
        yield item, of.kind


def _one_of_a_group(items: Sequence[TakenItem], counting: bool) -> Iterator[TakenItem]:
    """Exclude items of a group already seen, if the answers count.

    Otherwise the model may see several: it remembers nothing.
    """
    seen: set[str] = set()
    for item in items:
        if not counting or item.group_key not in seen:
            seen.add(item.group_key)
            yield item


def _facts(tx: Tx, study: Study, of: ModelStage, worker_id: int, record: Attendance) -> Facts:
    """The facts about a model that requests items: a removal applies at once, and only calls cost money."""
    stage = of.stage
    return Facts(
        partial(admission, tx, study, stage, worker_id, record.credentials),
        always,
        always,
        never,
        removal=removal_reason(
            record.standing, record.removed_after, record.removed_after, has_gold=stage.settings.gold is not None
        ),
        answered=record.answered,
        round_size=stage.round_size,
        max_per_worker=stage.settings.max_per_worker if of.counts else None,
        ended=not record.credentials.closed.isdisjoint(stage.closed_by),
        paused=record.stage_state == StageState.PAUSED,
    )


def _why(now: Situation) -> str:
    if now.admission is not None:
        return f"The model is not admitted: {now.admission.reason}."
    return _WHY.get(now.reason, "No items are left to annotate.")


def _enter(tx: Tx, study: Study, stage: RunningStage, worker_id: int) -> Situation:
    decided = admission(tx, study, stage, worker_id, credentials_of(tx, worker_id))
    now = situation(Facts(lambda: decided, always, always, never))
    if now.state is State.AVAILABLE and participations.enter(
        tx, stage.id, worker_id, secret_number(study), study.clock()
    ):
        evidence = {"reason": decided.reason, **decided.evidence}
        events.record(tx, study.clock(), "entered", evidence, stage_id=stage.id, worker_id=worker_id)
    return now
