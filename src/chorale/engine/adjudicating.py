"""Reviewers' decisions about items.

A decision replaces the aggregated label, field by field. Judgments are not changed, and agreement is computed from
them. Every decision is logged with its reason; the last one counts.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from heapq import nsmallest
from random import Random
from typing import Any, Literal

from chorale.contract import AnswerError, AnswerField
from chorale.contract.answer_words import answer_words
from chorale.contract.fields import FieldKind
from chorale.engine.combining import field_results
from chorale.engine.decisions import OWN, WHOLE, record_decision, standing_decisions
from chorale.engine.running import RunningStage, Study
from chorale.engine.settling import settle_group
from chorale.model import Answer, Event, Item, ItemState, UserError
from chorale.store import Tx, codec, labels, responses
from chorale.store.items import ItemsWanted, find_item, item_ids, item_keys, items_by_id

Queue = Literal["disagreeing", "all", "sampled"]
_AT_ONCE = 200
_LISTS = (FieldKind.LABELS, FieldKind.RANKING)
_CHOICES = (FieldKind.LABEL, FieldKind.RATING)
_MOST_LISTED = 9
"""Reviewers see all options of a field up to this number, one for each digit key."""
_NONE = "none"
_NUMBERED = re.compile(r"(.*\S)\s+#([1-9]\d{0,3})")
"""Quoted words and the number of their occurrence in the text, as in `the #2`."""


def decide(
    tx: Tx,
    study: Study,
    stage: RunningStage,
    key: str,
    decision: Mapping[str, Any],
    reason: str,
    by: str,
    seen: int | None = None,
) -> Item:
    """Decide some fields of an item's label; fields decided earlier stay decided. Returns the item with the decision.

    `seen` is the number of the item's latest decision when the reviewer read it, 0 if there was none. A decision that
    somebody made since then is not replaced. A repeated request changes nothing.
    """
    item = find_item(tx, stage.name, key)
    if item is None:
        raise UserError(f"Stage {stage.name!r} has no item {key!r}.")
    if item.state != ItemState.COMPLETE:
        raise UserError(f"Item {key!r} is not complete: people are still annotating it.")
    kept = checked_reason(reason)
    if not decision:
        raise UserError("Decide at least one field.")
    made = _as_values(stage, item, decision)
    latest = None if seen is None else _latest_decision(tx, item)
    if latest is not None and latest.id != seen:
        if _is_repeated(latest, made, kept, by):
            return item
        label = answer_words(stage.task, item.payload, stage.task.shape.without_texts(item.answer or {}))
        raise UserError(
            f"Item {key!r} was decided by {latest.evidence.get('by')} in the meantime: {label}. Save again to replace "
            "this decision, or skip the item."
        )
    record_decision(tx, study, stage, item, made, kept, by)
    settle_group(tx, study, stage, item.group, only=item.id)
    return find_item(tx, stage.name, key) or item


def _latest_decision(tx: Tx, item: Item) -> Event | None:
    return next(reversed(standing_decisions(tx, item.id)), None)


def _is_repeated(latest: Event, made: Mapping[str, Any], reason: str, by: str) -> bool:
    """Whether this person made the same decision before, as with a double click."""
    evidence = latest.evidence
    same = {name: evidence["decision"].get(name) for name in evidence.get(OWN, ())} == made
    return same and evidence.get("by") == by and evidence["reason"] == reason


def _as_values(stage: RunningStage, item: Item, decision: Mapping[str, Any]) -> dict[str, Any]:
    """A decision whose values may be typed: spans as quotations, several options separated by commas."""
    made = dict(decision)
    for field in stage.task.shape.fields:
        value = made.get(field.name)
        if field.kind in _LISTS and field.options and isinstance(value, str):
            made[field.name] = _listed(field, value)
        elif field.kind is FieldKind.SPANS and value is not None:
            made[field.name] = _located(stage, item, field, value)
    return made


def _listed(field: AnswerField, typed: str) -> list[Any]:
    """The options in a text, by their texts or values. "none" stands for an empty list, as on the page."""
    values = _values_by_name(field)
    given = [typed] if typed in values else [part.strip() for part in re.split(r"[,\n]", typed) if part.strip()]
    if given == [_NONE] and _NONE not in values:
        return []
    unknown = [part for part in given if part not in values]
    if unknown:
        known = ", ".join(text for _, text in field.options)
        raise UserError(f"{field.name}: {unknown[0]!r} is not an option. Type options separated by commas: {known}.")
    return [values[part] for part in given]


def _values_by_name(field: AnswerField) -> dict[str, Any]:
    return {name: value for value, text in field.options for name in (text, str(value))}


def _located(stage: RunningStage, item: Item, field: AnswerField, value: Any) -> Any:
    """Spans in tokens. Spans may be given as quotations, as in gold. In a text, every line is one quotation."""
    spans = _quotations(field, item, value) if isinstance(value, str) else value
    if not (isinstance(spans, list) and any(map(_is_quotation, spans))):
        return spans
    try:
        gold = stage.task.shape.parse_gold({field.name: spans}, item.payload)
    except AnswerError as error:
        which = " Add the number of the occurrence you mean: `words #2`." if "occurs in the text" in str(error) else ""
        raise UserError(f"This cannot be the answer to item {item.key!r}: it {error.words.demand}.{which}") from None
    return codec.from_text(codec.as_text(gold[field.name]))


def _quotations(field: AnswerField, item: Item, typed: str) -> list[Any]:
    """The quotations in the lines of a text, each after its label if the field has labels. "none" means no span."""
    lines = [line.strip() for line in typed.splitlines() if line.strip()]
    if lines == [_NONE] and (field.options or not _is_in_text(item, _NONE)):
        return []
    if not field.options:
        return [_quotation(item, line) for line in lines]
    labels = _values_by_name(field)
    quotations = []
    for line in lines:
        # A label may contain a colon itself.
        starts = (end for end, letter in enumerate(line) if letter == ":" and line[:end].strip() in labels)
        end = next(starts, None)
        if end is None:
            known = ", ".join(str(value) for value, _ in field.options)
            raise UserError(
                f"{field.name}: {line!r} does not begin with a label and a colon. Type `label: words of the text`. "
                f"Labels: {known}."
            )
        quotations.append({**_quotation(item, line[end + 1 :].strip()), "label": labels[line[:end].strip()]})
    return quotations


def _quotation(item: Item, typed: str) -> dict[str, Any]:
    """A quotation, with the number of its occurrence if one is typed after it."""
    numbered = _NUMBERED.fullmatch(typed)
    if numbered is None or _is_in_text(item, typed):
        return {"text": typed}
    return {"text": numbered[1], "occurrence": int(numbered[2])}


def _is_in_text(item: Item, words: str) -> bool:
    return any(words in str(text) for text in item.payload.values())


def checked_reason(reason: str) -> str:
    """The reason in the form that is stored; UserError if it is empty."""
    if not reason.strip():
        raise UserError("Enter a reason. It is kept with the decision.")
    return reason.strip()


def _is_quotation(span: Any) -> bool:
    return isinstance(span, str) or (isinstance(span, dict) and "text" in span)


# Items to decide


@dataclass(frozen=True, slots=True)
class GivenValue:
    """One of the different values that people gave, or that they could have given."""

    value: Any
    words: str
    times: int


@dataclass(frozen=True, slots=True)
class ToDecide:
    """A field, the values people gave, and the result so far."""

    name: str
    ask: str
    cells: tuple[str, ...]
    """Each answer in words, in the same order for every field, without names."""
    options: tuple[GivenValue, ...]
    result: str
    """The aggregated value, in words."""
    confidence: float | None
    """The confidence of the aggregated value; None for free text."""
    agreed: bool
    is_text: bool
    """Whether it is free text, which need not be decided."""
    is_spans: bool
    """Whether it has spans, so that a reviewer can enter another value as quotations of the text."""
    labels: tuple[str, ...]
    """The labels of spans, or the options of which several can be chosen."""
    is_closed: bool
    """Whether `options` has every value that the field allows."""


@dataclass(frozen=True, slots=True)
class Case:
    """An item with the answers to it side by side."""

    item: Item
    answers: int
    fields: tuple[ToDecide, ...]
    left: int
    """Number of items in the queue, counted up to a limit."""
    decision: int
    """The number of the latest decision about the item, which a reviewer has seen; 0 if there is none."""


def next_case(tx: Tx, study: Study, stage: RunningStage, queue: Queue, after: str = "", again: str = "") -> Case | None:
    """The next undecided item of a queue, after the item with this key. With `again`, the item with that key."""
    waiting = _waiting(tx, study, stage, queue)
    same = find_item(tx, stage.name, again) if again else None
    if same is not None and same.state == ItemState.COMPLETE:
        return case_of(tx, stage, same, len(waiting))
    if not waiting:
        return None
    keys = [item.key for item in waiting]
    chosen = waiting[(keys.index(after) + 1) % len(waiting)] if after in keys else waiting[0]
    return case_of(tx, stage, chosen, len(waiting))


def _waiting(tx: Tx, study: Study, stage: RunningStage, queue: Queue) -> Sequence[Item]:
    """The first few undecided items of a queue; others follow as these are decided.

    Items on which people disagree are sorted by confidence, all items by key, and the sample is in random order.
    """
    wanted = ItemsWanted(
        stage.id,
        order="key" if queue == "all" else "least confident",
        state=ItemState.COMPLETE,
        under=1.0 if queue == "disagreeing" else None,
        undecided=True,
    )
    if queue == "sampled":
        ids = _sampled(study, stage, item_keys(tx, wanted))
    else:
        ids = [item_id for item_id, _ in item_ids(tx, wanted, _AT_ONCE)]
    return items_by_id(tx, ids)


def _sampled(study: Study, stage: RunningStage, items: Iterable[tuple[int, str]]) -> list[int]:
    """The first items of the sample, given the ids and keys of all. They are in a random order, so that a reviewer who
    stops early has seen a random sample.
    """
    ranked = ((sample_rank(study, stage, key), item_id) for item_id, key in items)
    end = stage.settings.review_sample * 2**64
    return [item_id for _, item_id in nsmallest(_AT_ONCE, (one for one in ranked if one[0] < end))]


def sample_rank(study: Study, stage: RunningStage, key: str) -> int:
    """A random number below 2**64 that depends on the study's seed and the item's key, and not on its answers."""
    digest = sha256(f"{study.settings.study.seed}:review:{stage.name}:{key}".encode()).digest()
    return int.from_bytes(digest[:8], "big")


def case_of(tx: Tx, stage: RunningStage, item: Item, left: int = 1) -> Case:
    """An item with its counted answers, in a random order that does not reveal who gave them."""
    given = [row.answer for row in responses.all_responses(tx, item_ids=[item.id]) if row.counts]
    Random(item.id).shuffle(given)
    results = field_results(stage, item.key, labels.judgments_of(tx, item.id, stage.settings.gold))
    sure = {name: result.confidence for name, result in results.items()}
    latest = _latest_decision(tx, item)
    return Case(item, len(given), tuple(_fields(stage, item, given, sure)), left, latest.id if latest else 0)


def _fields(
    stage: RunningStage, item: Item, given: Sequence[Answer], sure: Mapping[str, float | None]
) -> Iterator[ToDecide]:
    if not stage.task.shape.fields:
        words = partial(answer_words, stage.task, item.payload)
        yield _to_decide(WHOLE, "", given, item.answer, item.confidence, words, allowed=stage.task.shape.choices)
    for field in stage.task.shape.fields:
        values = [answer.get(field.name) for answer in given]
        words = partial(_field_words, field, item)
        result = (item.answer or {}).get(field.name)
        confidence = sure.get(field.name)
        spans = field.kind is FieldKind.SPANS
        is_text = not field.compared
        listed = spans or field.kind in _LISTS
        labels_or_options = tuple(str(value) if spans else text for value, text in field.options) if listed else ()
        yield _to_decide(
            field.name,
            field.ask,
            values,
            result,
            confidence,
            words,
            is_text=is_text,
            is_spans=spans,
            labels=labels_or_options,
            allowed=[value for value, _ in field.options] if field.kind in _CHOICES else None,
        )


def _field_words(field: AnswerField, item: Item, value: Any) -> str:
    return field.words(value, item.payload)


def _to_decide(
    name: str,
    ask: str,
    values: Sequence[Any],
    result: Any,
    confidence: float | None,
    words: Callable[[Any], str],
    *,
    is_text: bool = False,
    is_spans: bool = False,
    labels: tuple[str, ...] = (),
    allowed: Sequence[Any] | None = None,
) -> ToDecide:
    cells = tuple("" if value is None else words(value) for value in values)
    options = _options([value for value in values if value is not None], words)
    agreed = not options or (len(options) == 1 and None not in values)
    closed = 0 < len(allowed or ()) <= _MOST_LISTED
    if closed:
        options = _all_options(options, allowed or (), words)
    # Free texts are not aggregated: each is in its own column.
    aggregated = "" if result is None or is_text else words(result)
    return ToDecide(name, ask, cells, options, aggregated, confidence, agreed, is_text, is_spans, labels, closed)


def _options(values: Sequence[Any], words: Callable[[Any], str]) -> tuple[GivenValue, ...]:
    """The different values, the most frequent first."""
    counts: dict[str, list[Any]] = {}
    for value in values:
        counts.setdefault(codec.as_text(value), []).append(value)
    ordered = sorted(counts.items(), key=lambda one: (-len(one[1]), one[0]))
    return tuple(GivenValue(same[0], words(same[0]), len(same)) for _, same in ordered)


def _all_options(
    given: Sequence[GivenValue], allowed: Sequence[Any], words: Callable[[Any], str]
) -> tuple[GivenValue, ...]:
    """The options in the order of the form, then values that people gave before an option was removed."""
    counts = {codec.as_text(one.value): one for one in given}
    listed = [counts.pop(codec.as_text(value), GivenValue(value, words(value), 0)) for value in allowed]
    return (*listed, *counts.values())
