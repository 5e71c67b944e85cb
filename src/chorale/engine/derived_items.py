"""Deriving a stage's items from the results or answers of an earlier stage. Nothing is stored here."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from random import Random
from typing import Any

from chorale.contract import ItemError
from chorale.contract.label_columns import has_values, label_columns
from chorale.engine.combining import label_of
from chorale.engine.running import RunningStage
from chorale.model import ItemSettings, Judgment, NewItem, SourceItem
from chorale.store import positions
from chorale.store.codec import as_text


def derived_items(
    later: RunningStage,
    earlier: RunningStage,
    sources: Sequence[SourceItem],
    complete: Collection[int],
    seed: int,
    there: Collection[str] = (),
) -> Iterator[NewItem]:
    """The items derived from one group of an earlier stage: from its results or its answers.

    Items whose keys are in `there` already exist and may be returned without content.
    """
    rule = later.settings.items
    if rule is None:
        return
    if rule.of == "answers":
        derived = _from_answers(later, earlier, sources, seed, there)
    elif rule.of == "together":
        derived = _from_all_answers(later, earlier, [source for source in sources if source.id in complete], seed)
    elif later.task.deriving.derive is not None or later.task.deriving.from_results:
        derived = _from_results(later, earlier, [source for source in sources if _is_wanted(rule, source)])
        if len(rule.from_) > 1:
            # Arms may work on the same items: results from each arm's stage become separate items.
            derived = (
                replace(new, key=f"{earlier.name}/{new.key}", group=f"{earlier.name}/{new.group}") for new in derived
            )
    else:
        raise RuntimeError(f"task {later.task.name} can't derive items; `chorale check` should have reported this")
    for new in derived:
        if rule.sample >= 1 or positions.drawn_share(seed, later.name, new.key) < rule.sample:
            yield new


def _is_wanted(rule: ItemSettings, source: SourceItem) -> bool:
    """Whether a label has the values that the later stage takes. Items without a label are left to the task."""
    if source.label is None or not rule.where:
        return not rule.where
    return has_values(source.label.answer, rule.where)


def _from_results(later: RunningStage, earlier: RunningStage, sources: Sequence[SourceItem]) -> Iterator[NewItem]:
    rule, derive = later.settings.items, later.task.deriving.derive
    least = 0.0 if rule is None else rule.confidence
    if derive is not None:
        yield from derive(tuple(sources), least)
        return
    for source in sources:
        if source.label is None or source.label.confidence < least:
            continue
        columns = label_columns(earlier.task, later.task, source.payload, source.label.answer)
        payload = _shaped(later, {**source.payload, **columns})
        if payload is not None:
            # A different label makes a different item: an item that was shown never changes.
            key = f"{source.key}/{sha256(as_text(columns).encode()).hexdigest()[:8]}"
            yield NewItem(key, payload, group=f"{earlier.name}/{source.key}", sources=(source.id,))


def _from_answers(
    later: RunningStage, earlier: RunningStage, sources: Sequence[SourceItem], seed: int, there: Collection[str]
) -> Iterator[NewItem]:
    """One item per answer, as soon as it is submitted."""
    for source in sources:
        for judgment in source.judgments:
            key = f"{source.key}/{judgment.response}"
            payload: dict[str, Any] | None = {}
            if key not in there:
                row = _gathered(later, source, [judgment], seed, key)
                payload = _shaped(later, row or {**source.payload, **_answer_columns(earlier, source, judgment)})
            if payload is not None:
                yield NewItem(key, payload, group=key, sources=(source.id,), response=judgment.response)


def _from_all_answers(
    later: RunningStage, earlier: RunningStage, sources: Sequence[SourceItem], seed: int
) -> Iterator[NewItem]:
    """One item from all answers to an item, numbered in the order of submission."""
    for source in sources:
        if not source.judgments or not _is_below(later, earlier, source):
            continue
        answers: dict[str, Any] = {}
        in_order = sorted(source.judgments, key=lambda judgment: judgment.response)
        for number, judgment in enumerate(in_order, 1):
            answers |= {f"{name}_{number}": value for name, value in _answer_columns(earlier, source, judgment).items()}
        # Different answers make a different item: an item that was shown never changes.
        key = f"{source.key}/{'+'.join(str(judgment.response) for judgment in in_order)}"
        payload = _shaped(later, _gathered(later, source, in_order, seed, key) or {**source.payload, **answers})
        if payload is not None:
            yield NewItem(key, payload, group=f"{earlier.name}/{source.key}", sources=(source.id,))


def _is_below(later: RunningStage, earlier: RunningStage, source: SourceItem) -> bool:
    """Whether agreement on an item is below the later stage's limit, ignoring reviewers' decisions."""
    below = None if later.settings.items is None else later.settings.items.below
    label = None if below is None else label_of(earlier, source.key, source.judgments)
    return below is None or label is None or label.confidence < below


def _gathered(
    later: RunningStage, source: SourceItem, judgments: Sequence[Judgment], seed: int, key: str
) -> dict[str, Any] | None:
    """The item that the later stage's task makes from answers; None if it uses the answers' fields directly."""
    gather = later.task.deriving.gather
    if gather is None:
        return None
    rng = Random(f"{seed}:{later.name}:{key}")
    return dict(gather(source.payload, tuple([judgment.answer for judgment in judgments]), rng))


def _answer_columns(earlier: RunningStage, source: SourceItem, judgment: Judgment) -> dict[str, Any]:
    answer = earlier.task.explaining.present(source.payload, judgment.answer)
    return answer if isinstance(answer, dict) else {"answer": answer}


def _shaped(later: RunningStage, row: dict[str, Any]) -> dict[str, Any] | None:
    try:
        return later.task.shape.parse_item(row)
    except ItemError:
        # Answers that lack what the later stage shows, such as an empty field: there is nothing to grade.
        return None
