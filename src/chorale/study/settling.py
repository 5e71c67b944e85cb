"""From judgments to labels, and from labels to the items of later stages.

Everything here can be done again at any time and comes to the same result: it reads the counted judgments, decides, and
writes down what is different. That is how a dropped worker's judgments stop counting, how a changed trust reaches every
label, and how a process that died half-way is made good by the next one.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from chorale.model import ItemState, Judgment
from chorale.protocol import decide_item
from chorale.store import Tx, events, labels, setup, work
from chorale.store.labels import LabelledItem, Unsettled
from chorale.study.running import RunningStage, Study

GROUPS_AT_ONCE = 40


def settle_group(tx: Tx, study: Study, stage: RunningStage, group_key: str, only: int | None = None) -> None:
    """Bring the labels of one group of items up to date, and what follows from them.

    `only` is the one item whose judgments changed, if that is known.
    """
    items = labels.lock_group(tx, stage.id, group_key)
    outcomes = [_settle_item(tx, study, stage, item) for item in items if only is None or item.id == only]
    if any(outcomes) and stage.feeds:
        derive_from_group(tx, study, stage, group_key)


def settle_worker(study: Study, changed: Unsettled) -> None:
    """Look again at every label a worker had a part in.

    In small transactions, so that others get their turn in between; a process that dies on the way leaves the worker
    marked, and the next sweep starts over.
    """
    store = study.store
    stage = study.stage_by_id(changed.stage_id)
    groups = store.read(lambda tx: labels.groups_judged_by(tx, stage.id, changed.worker_id)).result()
    for start in range(0, len(groups), GROUPS_AT_ONCE):
        chunk = groups[start : start + GROUPS_AT_ONCE]
        store.write(partial(_settle_groups, study=study, stage=stage, groups=chunk)).result()
    store.write(lambda tx: labels.note_settled(tx, changed)).result()


def settle_everything(study: Study) -> None:
    """Bring every label up to date with the changes there have been so far: what exports and reports start from."""
    failures = []
    for changed in study.store.read(labels.unsettled).result():
        try:
            settle_worker(study, changed)
        except Exception as error:
            # One worker's trouble must not keep everybody else's labels from being settled.
            failures.append(error)
    if failures:
        raise ExceptionGroup("the labels of some workers could not be brought up to date", failures)


def _settle_groups(tx: Tx, study: Study, stage: RunningStage, groups: Sequence[str]) -> None:
    for group_key in groups:
        settle_group(tx, study, stage, group_key)


def _settle_item(tx: Tx, study: Study, stage: RunningStage, item: LabelledItem) -> bool:
    """Decide one item again; whether its finished label came out different."""
    judgments = work.judgments_of(tx, item.id, stage.unproven_trust)
    if item.wanted == 0 and not judgments:
        return False  # gold and nothing else: nobody is asked to judge it
    # Before the minimum is reached there is nothing to decide, and nothing to show for it.
    combined = stage.task.combine(judgments) if len(judgments) >= stage.settings.judgments.min else None
    confidence = None if combined is None else combined.confidence
    decision = decide_item(
        stage.settings.judgments, len(judgments), confidence or 0.0, stage.settings.release_confidence
    )
    taken = len(judgments) + labels.live_leases(tx, item.id)
    state = ItemState.COMPLETE if decision.complete else ItemState.OPEN
    settled = replace(
        item,
        state=ItemState.WITHDRAWN if item.state == ItemState.WITHDRAWN else state,
        wanted=max(decision.wanted, taken),
        taken=taken,
        label=None if combined is None else setup.as_text(combined.answer),
        confidence=confidence,
        counted=len(judgments),
        released=decision.released,
    )
    if settled == item:
        return False
    labels.save_label(tx, settled)
    if (settled.state, settled.released) != (item.state, item.released) or (
        settled.state == ItemState.COMPLETE and settled.label != item.label
    ):
        _record_label(tx, study, stage, settled, judgments)
    return settled.finished_label() != item.finished_label()


def _record_label(tx: Tx, study: Study, stage: RunningStage, item: LabelledItem, judgments: Sequence[Judgment]) -> None:
    events.record(
        tx,
        study.clock(),
        "labelled" if item.state == ItemState.COMPLETE else "reopened",
        {
            "answer": None if item.label is None else json.loads(item.label),
            "confidence": item.confidence,
            "released": item.released,
            "judgments": [
                {"worker": judgment.worker, "answer": judgment.answer, "trust": round(judgment.trust, 6)}
                for judgment in judgments
            ],
        },
        stage_id=stage.id,
        item_id=item.id,
    )


def derive_from_group(tx: Tx, study: Study, stage: RunningStage, group_key: str) -> None:
    """Add, withdraw or bring back the items of later stages that rest on this group."""
    sources = [
        item.as_source(work.judgments_of(tx, item.id, stage.unproven_trust))
        for item in labels.lock_group(tx, stage.id, group_key)
    ]
    ids = tuple(source.id for source in sources)
    for name in stage.feeds:
        later = study.stage(name)
        derive = later.task.derive
        if derive is None:
            raise RuntimeError(f"task {later.task.name} can't derive items; `chorale check` should have said so")
        wanted = {
            new.key: new if new.sources else replace(new, sources=ids)
            for new in derive(sources, later.settings.items.confidence)
        }
        present = {item.key: item for item in labels.derived_from(tx, later.id, ids)}
        evidence: dict[str, Any] = {
            "from": stage.name,
            "sources": [
                {
                    "item": source.key,
                    "answer": source.label.answer if source.label else None,
                    "confidence": source.label.confidence if source.label else None,
                }
                for source in sources
            ],
        }
        new = [item for key, item in wanted.items() if key not in present]
        if new:
            setup.add_items(tx, later.id, later.name, study.settings.study.seed, new, later.settings.judgments.min)
            events.record(
                tx,
                study.clock(),
                "derived",
                {**evidence, "items": [item.key for item in new]},
                stage_id=later.id,
            )
        for key, item in present.items():
            if key not in wanted and item.state != ItemState.WITHDRAWN:
                labels.set_item_state(tx, item.id, ItemState.WITHDRAWN)
                _changed(tx, study, later, item, "withdrawn", evidence)
            elif key in wanted and item.state == ItemState.WITHDRAWN:
                labels.set_item_state(tx, item.id, ItemState.OPEN)
                _changed(tx, study, later, item, "brought back", evidence)
                settle_group(tx, study, later, item.group_key)


def _changed(
    tx: Tx, study: Study, stage: RunningStage, item: LabelledItem, kind: str, evidence: dict[str, Any]
) -> None:
    events.record(tx, study.clock(), kind, evidence, stage_id=stage.id, item_id=item.id)
    if stage.feeds:
        derive_from_group(tx, study, stage, item.group_key)
