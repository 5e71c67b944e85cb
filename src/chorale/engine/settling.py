"""From judgments to labels, and from labels to the items of later stages.

Everything here is idempotent: it reads the counted judgments, decides, and stores the differences. In this way,
judgments of removed workers stop counting, changed trust reaches every label, and work of a process that died half-way
is completed by the next one.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from chorale.contract.reading_time import shown_words
from chorale.engine.combining import outcome
from chorale.engine.correcting import finish_corrections
from chorale.engine.decisions import decide_behind, decided_in_console, still_to_review
from chorale.engine.derived_items import derived_items
from chorale.engine.grading import grade_behind
from chorale.engine.label_events import evidence_of, happened, record_label
from chorale.engine.running import RunningStage, Study, judgments_asked
from chorale.engine.waiting import takes_all
from chorale.model import ItemState, Judgment, NewItem, SourceItem
from chorale.model.problems import UnavailableError
from chorale.store import Tx, codec, events, first_pass, labels
from chorale.store.assignments import Assigned
from chorale.store.first_pass import FirstLabel
from chorale.store.items import add_items, content_of
from chorale.store.judged import Derivable, JudgedGroup, read_derivable, read_group, read_item, sources_of
from chorale.store.labels import ItemProgress, Unsettled
from chorale.store.lengths import note_words

GROUPS_AT_ONCE = 40


def settle_group(tx: Tx, study: Study, stage: RunningStage, group_key: str, only: int | None = None) -> None:
    """Update the labels of one group of items and their consequences.

    `only` is the item to update if the others are unchanged.
    """
    if only is None:
        settle(tx, study, stage, read_group(tx, stage.id, group_key, stage.settings.gold))
    else:
        settle(tx, study, stage, read_judged(tx, study, stage, group_key, only))


def read_judged(
    tx: Tx, study: Study, stage: RunningStage, group_key: str, item_id: int, answering: int | None = None
) -> JudgedGroup:
    """Read the judgments that decide an item. `answering` is the worker who is about to answer it."""
    # Answers to one item affect others only if items are derived from their results.
    whole = (stage.id, group_key) if "results" in study.made_of(stage) else None
    judged = read_item(tx, item_id, stage.settings.gold, group=whole, answering=answering)
    return judged if answering is None or not stage.feeds else _with_derivable(tx, study, stage, judged)[0]


def _with_derivable(tx: Tx, study: Study, stage: RunningStage, judged: JudgedGroup) -> tuple[JudgedGroup, Derivable]:
    """Add the data from which later stages derive items, read before anything is written if possible."""
    if judged.derivable is not None:
        return judged, judged.derivable
    if judged.judgments and "results" not in study.made_of(stage):
        # Items derived from answers do not depend on the rest of the group.
        judged = judged._replace(group=[item for item in judged.group if item.id in judged.judgments])
    derivable = read_derivable(tx, judged, stage.settings.gold, [later.id for later in study.fed_by(stage)])
    return judged._replace(derivable=derivable), derivable


def settle(tx: Tx, study: Study, stage: RunningStage, judged: JudgedGroup, *, answered: bool = False) -> None:
    """Update labels and their consequences. `answered`: this transaction accepted one of the judgments."""
    group, known = judged.group, judged.judgments
    changes: list[_Change] = []
    for place, item in enumerate(group):
        if item.id in known:
            change = _decided_again(tx, stage, item, known[item.id], answered=answered)
            if change.after != item:
                group[place] = change.after
                changes.append(change)
    changed = any(_finished(change.after) != _finished(change.before) for change in changes)
    # The set of counted answers may have changed even if their number and the result have not.
    derives = changed or (bool(known) and any(of != "results" for of in study.made_of(stage)))
    if derives and stage.feeds:
        judged, _ = _with_derivable(tx, study, stage, judged)
    for change in changes:
        _save(tx, study, stage, change, known[change.after.id])
    if derives:
        _derive(tx, study, stage, judged)


def _finished(item: ItemProgress) -> tuple[Any, ...]:
    """The part of an item's result that later stages use."""
    if item.state != ItemState.COMPLETE:
        return (item.state,)
    return item.state, item.label, item.confidence, item.counted, bool(item.released)


def take_in(tx: Tx, study: Study, stage: RunningStage, held: Assigned, response_id: int, answer: Any) -> None:
    """Apply an answer to an item that needs more judgments: a later stage may use the answer itself."""
    if "answers" not in study.made_of(stage):
        return
    assignment = held.assignment
    key, payload = content_of(tx, assignment.item_id)
    judgment = Judgment("", answer, 1.0, response_id)
    source = SourceItem(assignment.item_id, key, assignment.group_key, payload, None, (judgment,))
    for later in study.fed_by(stage):
        items = later.settings.items
        if items is not None and items.of == "answers" and takes_all(tx, later):
            new = list(derived_items(later, stage, [source], (), study.settings.study.seed))
            _add(tx, study, later, new, _evidence(stage, [source]))


def settle_worker(study: Study, changed: Unsettled, settled: set[tuple[int, str]] | None = None) -> None:
    """Update every label that a worker contributed to, except those in `settled`, to which the others are added.

    Small transactions let other requests run in between. If the process dies, the worker stays marked and the next
    sweep starts over.
    """
    store = study.store
    stage = study.stage_by_id(changed.stage_id)
    settled = set() if settled is None else settled
    judged = store.look(lambda tx: labels.groups_judged_by(tx, stage.id, changed.worker_id))
    if stage.asks_model_first:
        judged += store.look(lambda tx: first_pass.groups(tx, stage.id, changed.worker_id))
    groups = [group for group in judged if (stage.id, group) not in settled]
    for start in range(0, len(groups), GROUPS_AT_ONCE):
        chunk = groups[start : start + GROUPS_AT_ONCE]
        # Settled one by one, but PostgreSQL reads the data of all in one query.
        for done in [store.write(partial(settle_group, study=study, stage=stage, group_key=group)) for group in chunk]:
            done.result()
        settled.update((stage.id, group) for group in chunk)
    store.do(lambda tx: labels.note_settled(tx, changed))


def settle_everything(study: Study) -> None:
    """Update every label with all changes so far, before exports and reports."""
    finish_corrections(study)
    failures = []
    # A label is settled with everybody's current trust, so one update covers all changes known before it.
    settled: set[tuple[int, str]] = set()
    for changed in study.store.look(labels.unsettled):
        try:
            settle_worker(study, changed, settled)
        except UnavailableError:
            raise
        except Exception as error:
            # An error for one worker must not block the labels of others.
            failures.append(error)
    if failures:
        raise ExceptionGroup("The labels of some workers could not be updated", failures)


class _Change(NamedTuple):
    """An item before and after a new decision."""

    before: ItemProgress
    after: ItemProgress
    first: FirstLabel | None


def _decided_again(
    tx: Tx, stage: RunningStage, item: ItemProgress, judgments: Sequence[Judgment], *, answered: bool
) -> _Change:
    """Recompute the decision about an item from counted judgments. Nothing is stored."""
    if item.wanted == 0 and not judgments:
        return _Change(item, item, None)  # only gold: nobody is asked to judge it
    first = first_pass.of_item(tx, item.id) if stage.asks_model_first else None
    taken = _taken(tx, item, len(judgments), answered=answered)
    return _Change(item, _decided(stage, item, judgments, taken, first), first)


def _save(tx: Tx, study: Study, stage: RunningStage, change: _Change, judgments: Sequence[Judgment]) -> None:
    item, settled, first = change
    if settled.state == ItemState.COMPLETE and item.state == ItemState.OPEN:
        judgments_asked(study, stage).append(settled.counted)
    labels.save_label(tx, settled)
    if (settled.state, settled.released) != (item.state, item.released) or (
        settled.state == ItemState.COMPLETE and settled.label != item.label
    ):
        record_label(tx, study, stage, item, settled, judgments, first)
    if settled.state == ItemState.COMPLETE:
        grade_behind(tx, study, stage, settled, judgments)
    if decided := decide_behind(tx, study, stage, settled, judgments):
        source, reviewed = decided
        settle_group(tx, study, source, reviewed.group, only=reviewed.id)


def _decided(
    stage: RunningStage,
    item: ItemProgress,
    judgments: Sequence[Judgment],
    taken: int,
    first: FirstLabel | None = None,
) -> ItemProgress:
    """The item's state from these judgments or the answer of a model, with this number of places taken."""
    combined, decision = outcome(stage, item.key, judgments, sampled=item.sampled, decided=item.decision, first=first)
    return item._replace(
        state=ItemState.WITHDRAWN if item.state == ItemState.WITHDRAWN else decision.state,
        wanted=max(decision.wanted, taken),
        taken=taken,
        label=None if combined is None else codec.answer_as_text(combined.answer),
        confidence=None if combined is None else combined.confidence,
        counted=len(judgments),
        released=decision.released,
    )


def settle_finished(
    tx: Tx, study: Study, stage: RunningStage, judged: Sequence[tuple[ItemProgress, Sequence[Judgment]]]
) -> None:
    """Label many complete items at once, if nobody holds them and they have no consequences."""
    settled = [(_decided(stage, item, judgments, len(judgments)), judgments) for item, judgments in judged]
    labels.save_labels(tx, [item for item, _ in settled])
    now = study.clock()
    events.record_many(
        tx, now, ((happened(item), evidence_of(item, judgments), stage.id, item.id) for item, judgments in settled)
    )


def _taken(tx: Tx, item: ItemProgress, judgments: int, *, answered: bool) -> int:
    """Number of taken places of an item: judgments, and workers who hold it."""
    if answered and judgments == item.counted + 1:
        # If this answer is the only change, a held place has become a judgment in the same place. Otherwise, an
        # additional judgment comes from a reinstated worker.
        return item.taken
    return judgments + labels.live_leases(tx, item.id)


def derive_from_group(tx: Tx, study: Study, stage: RunningStage, group_key: str) -> None:
    """Add, withdraw or restore the items of later stages that are derived from this group."""
    _derive(tx, study, stage, JudgedGroup(labels.group_progress(tx, stage.id, group_key), {}))


def _derive(tx: Tx, study: Study, stage: RunningStage, judged: JudgedGroup) -> None:
    """Add, withdraw or restore derived items for a group already read, with the known judgments."""
    if not stage.feeds:
        return
    judged, derivable = _with_derivable(tx, study, stage, judged)
    sources = sources_of(judged, derivable)
    complete = {item.id for item in judged.group if item.state == ItemState.COMPLETE}
    ids = tuple(source.id for source in sources)
    evidence = _evidence(stage, sources)
    for later, already in zip(study.fed_by(stage), derivable.present, strict=True):
        present = {item.key: item for item in already}
        wanted = {
            new.key: new if new.sources else replace(new, sources=ids)
            for new in derived_items(later, stage, sources, complete, study.settings.study.seed, present)
        }
        if later.settings.decides_sources:
            by_console = decided_in_console(tx, [item.id for item in judged.group if item.decision is not None])
            wanted = still_to_review(wanted, by_console, {key: item.state for key, item in present.items()})
        if takes_all(tx, later):
            _add(tx, study, later, [item for key, item in wanted.items() if key not in present], evidence)
        for key, item in present.items():
            if key not in wanted and item.state != ItemState.WITHDRAWN:
                labels.set_item_state(tx, item.id, ItemState.WITHDRAWN)
                _changed(tx, study, later, item, "withdrawn", evidence)
            elif key in wanted and item.state == ItemState.WITHDRAWN:
                labels.set_item_state(tx, item.id, ItemState.OPEN)
                labels.restore_content(tx, item.id, wanted[key].payload)
                _changed(tx, study, later, item, "brought back", evidence)
                settle_group(tx, study, later, item.group_key)


def derive_answers(
    tx: Tx, study: Study, later: RunningStage, stage: RunningStage, items: Sequence[int], drawn: Collection[int]
) -> int:
    """Add the items of a later stage that are made from answers to these items; returns how many."""
    sources = [
        labels.item_progress(tx, item_id).as_source(
            content_of(tx, item_id)[1],
            [one for one in labels.judgments_of(tx, item_id, stage.settings.gold) if one.response in drawn],
        )
        for item_id in items
    ]
    new = list(derived_items(later, stage, sources, (), study.settings.study.seed))
    _add(tx, study, later, new, _evidence(stage, [source for source in sources if source.judgments]))
    return len(new)


def _evidence(stage: RunningStage, sources: Sequence[SourceItem]) -> dict[str, Any]:
    """The evidence for derived items."""
    return {
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


def _add(tx: Tx, study: Study, later: RunningStage, new: Sequence[NewItem], evidence: dict[str, Any]) -> None:
    if new:
        rule = later.settings
        add_items(tx, later.id, later.name, study.settings.study.seed, new, rule.judgments.min, rule.first_state)
        if later.settings.pay.by_length is not None:
            note_words(tx, later.id, ((item.key, shown_words(later.task, item.payload)) for item in new))
        events.record(
            tx, study.clock(), "derived", {**evidence, "items": [item.key for item in new]}, stage_id=later.id
        )


def _changed(
    tx: Tx, study: Study, stage: RunningStage, item: ItemProgress, kind: str, evidence: dict[str, Any]
) -> None:
    events.record(tx, study.clock(), kind, evidence, stage_id=stage.id, item_id=item.id)
    if stage.feeds:
        derive_from_group(tx, study, stage, item.group_key)
