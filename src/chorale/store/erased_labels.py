"""Erasing a worker's text where it is or was part of a label: in events and reviewers' decisions."""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, select, update

from chorale.store.codec import as_text, from_text
from chorale.store.erased import ERASED_TEXT
from chorale.store.schema import event, item, item_source, response

Written = Mapping[int, Collection[str]]
"""The free-text fields by stage, for stages whose answers have fields."""
LABELLED = ("labelled", "reopened")
DECIDED = "adjudicated"
WHOLE = "answer"
"""The name of a decision about an answer without fields."""


class _Theirs(NamedTuple):
    """The parts of a worker's answer to an item that nobody else gave."""

    item_id: int
    fields: Collection[str] | None
    """The free-text fields; None if answers have no fields."""
    values: Mapping[str, Any]

    def is_in(self, decision: Mapping[str, Any], name: str) -> bool:
        return name in self.values and name in decision and decision[name] == self.values[name]


def rewrite(tx: Connection, which: Any, change: Callable[[dict[str, Any]], bool]) -> int:
    """Change the evidence of events; returns how many changed."""
    changed = 0
    for number, text in tx.execute(select(event.c.id, event.c.evidence).where(which)).all():
        evidence = from_text(text)
        if change(evidence):
            tx.execute(update(event).where(event.c.id == number).values(evidence=as_text(evidence)))
            changed += 1
    return changed


def erase_from_labels(tx: Connection, worker_id: int, pseudonym: str, written: Written) -> int:
    """Remove a worker's answers from labels and decisions, before they are erased; returns the number of changed
    events.
    """
    changed = 0
    for theirs in _written_by(tx, worker_id, written):
        of_item = event.c.item_id == theirs.item_id
        without_label = partial(_without_label, pseudonym=pseudonym, theirs=theirs)
        changed += rewrite(tx, and_(of_item, event.c.kind.in_(LABELLED)), without_label)
        changed += rewrite(tx, and_(of_item, event.c.kind == DECIDED), partial(_without_words, theirs=theirs))
        changed += rewrite(tx, of_item, partial(_without_crowd, fields=theirs.fields))
        reviewed = select(item_source.c.source_id).where(item_source.c.item_id == theirs.item_id)
        of_reviewed = and_(event.c.item_id.in_(reviewed), event.c.kind == DECIDED)
        changed += rewrite(tx, of_reviewed, partial(_without_reason, theirs=theirs))
        _save_decision(tx, theirs)
    return changed


def erase_labels(tx: Connection, items: Collection[int]) -> None:
    """Remove all answers from items' labels and reviewers' decisions."""
    of_items = event.c.item_id.in_(sorted(items))
    rewrite(tx, and_(of_items, event.c.kind.in_(LABELLED)), _without_judgments)
    rewrite(tx, and_(of_items, event.c.kind == DECIDED), _without_everything)
    rewrite(tx, of_items, _without_crowd)
    tx.execute(update(item).where(item.c.id.in_(sorted(items))).values(decision=None))


def _without_judgments(evidence: dict[str, Any], pseudonym: str | None = None) -> bool:
    """Remove a worker's answers, or all, from a label's evidence, and the label if it may contain their text."""
    judgments = evidence.get("judgments", [])
    theirs = [one for one in judgments if pseudonym in (None, one["worker"]) and not one.get("erased")]
    for judgment in theirs:
        judgment["answer"], judgment["erased"] = None, True
    if theirs:
        evidence["answer"] = None
    return bool(theirs)


def words_left(tx: Connection, written: Written) -> Iterator[tuple[int, str]]:
    """Numbers and kinds of events about labels that may still contain erased text."""
    gone = select(response.c.item_id, response.c.stage_id, response.c.erased_at)
    erased: dict[int, tuple[int, int]] = {}
    for item_id, stage_id, at in tx.execute(gone.where(response.c.erased_at.is_not(None))):
        erased[item_id] = (stage_id, max(at, erased.get(item_id, (0, 0))[1]))
    events = select(event.c.id, event.c.kind, event.c.item_id, event.c.at, event.c.evidence)
    for number, kind, item_id, at, text in tx.execute(events.where(event.c.kind.in_((*LABELLED, DECIDED)))):
        if item_id not in erased:
            continue
        stage_id, erased_at = erased[item_id]
        evidence = from_text(text)
        if kind == DECIDED:
            left = at < erased_at and evidence["before"] != _kept(evidence["before"], written.get(stage_id))
        else:
            left = evidence["answer"] is not None and any(one.get("erased") for one in evidence.get("judgments", ()))
        if left:
            yield number, kind


def _written_by(tx: Connection, worker_id: int, written: Written) -> Iterator[_Theirs]:
    own = select(response.c.item_id, response.c.stage_id, response.c.answer)
    query = own.where(response.c.worker_id == worker_id, response.c.erased_at.is_(None))
    for item_id, stage_id, text in tx.execute(query).all():
        others = select(response.c.answer).where(
            response.c.item_id == item_id, response.c.worker_id != worker_id, response.c.erased_at.is_(None)
        )
        fields = written.get(stage_id)
        said = [_parts(from_text(other), fields) for other in tx.execute(others).scalars()]
        values = {
            name: value
            for name, value in _parts(from_text(text), fields).items()
            if not any(other.get(name) == value for other in said)
        }
        yield _Theirs(item_id, fields, values)


def _parts(answer: Any, fields: Collection[str] | None) -> dict[str, Any]:
    """The free text of an answer. Without fields, this is the whole answer, unless it is a plain label."""
    if fields is None:
        return {WHOLE: answer} if isinstance(answer, dict | list) else {}
    return {name: answer[name] for name in fields if isinstance(answer, dict) and name in answer}


def _kept(answer: Any, fields: Collection[str] | None) -> Any:
    """The remaining part of an earlier label, without free text."""
    if fields is None or not isinstance(answer, dict):
        return None
    return {name: value for name, value in answer.items() if name not in fields}


def _without_label(evidence: dict[str, Any], pseudonym: str, theirs: _Theirs) -> bool:
    return _without_judgments(evidence, pseudonym) or _without_decided(evidence, theirs)


def _without_decided(evidence: dict[str, Any], theirs: _Theirs) -> bool:
    """Remove a decided text from a label that is not based on its author's judgment."""
    answer = evidence.get("answer")
    if answer is not None and theirs.fields is None and answer == theirs.values.get(WHOLE):
        evidence["answer"] = None
        return True
    if not isinstance(answer, dict):
        return False
    names = [name for name in answer if theirs.is_in(answer, name)]
    for name in names:
        del answer[name]
    return bool(names)


def _without_words(evidence: dict[str, Any], theirs: _Theirs) -> bool:
    """Remove a worker's text from the log of a decision."""
    before = as_text(evidence)
    evidence["before"] = _kept(evidence["before"], theirs.fields)
    names = [name for name in evidence["decision"] if theirs.is_in(evidence["decision"], name)]
    for name in names:
        del evidence["decision"][name]
    if names:
        evidence["answer"] = None if theirs.fields is None else evidence["decision"]
    _without_reason(evidence, theirs)
    return as_text(evidence) != before


def _without_reason(evidence: dict[str, Any], theirs: _Theirs) -> bool:
    """Remove the reason of a decision if it contains a worker's text."""
    texts = [text for text in theirs.values.values() if isinstance(text, str) and text]
    if not any(text in evidence["reason"] for text in texts):
        return False
    evidence["reason"] = ERASED_TEXT
    return True


def _without_crowd(evidence: dict[str, Any], fields: Collection[str] | None = None) -> bool:
    """Remove people's text from the label that gold or an expert's answer was compared with."""
    crowd = evidence.get("crowd")
    if not isinstance(crowd, dict | list) or crowd == (kept := _kept(crowd, fields)):
        return False
    evidence["crowd"] = kept
    return True


def _without_everything(evidence: dict[str, Any]) -> bool:
    evidence.update(before=None, decision={}, answer=None, reason=ERASED_TEXT)
    return True


def _save_decision(tx: Connection, theirs: _Theirs) -> None:
    """Remove a worker's text from a reviewer's decision; if nothing is left, the item is undecided."""
    text = tx.execute(select(item.c.decision).where(item.c.id == theirs.item_id)).scalar()
    if text is None:
        return
    decision = from_text(text)
    left = {name: value for name, value in decision.items() if not theirs.is_in(decision, name)}
    if left != decision:
        saved = as_text(left) if left else None
        tx.execute(update(item).where(item.c.id == theirs.item_id).values(decision=saved))
