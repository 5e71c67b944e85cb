"""Importing a folder's items and gold into the study's database, and refusing changes that conflict with it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from chorale.contract.asked_once import AskedOnce
from chorale.folder.reading import StageContent, StudyFolder
from chorale.model import NewItem, Problem
from chorale.model.plural import plural
from chorale.store import Tx, assignees, codec, corrections, events, items, settings, stages
from chorale.store.gold import NewGold, add_gold, explain_gold, gold_by_key
from chorale.store.known_items import KnownItem, known_items, replace_payload


def as_begun(tx: Tx, folder: StudyFolder) -> StudyFolder:
    """The folder, with duplicate items kept in stages that started before their task merged duplicates."""
    versions = {stage.name: stage.task_version for stage in stages.all_stages(tx)}

    def begun(content: StageContent) -> StageContent:
        once = content.task.shape.asked_once
        began = versions.get(content.settings.name)
        return content if once is None or began is None or began >= once.since else content.asking_all()

    return replace(folder, stages=tuple(begun(content) for content in folder.stages))


def item_problems(tx: Tx, content: StageContent, stage_id: int) -> list[Problem]:
    """Items and gold that have changed or are missing."""
    stage = content.settings
    known, known_gold = known_items(tx, stage_id), gold_by_key(tx, stage_id)
    gold_file = stage.gold.file if stage.gold else stage.round.file if stage.round else ""
    items_file = stage.items.file if stage.items else None
    once = content.task.shape.asked_once
    problems = [_changed(item, items_file or "") for item in content.items if _differs(known, item, once)]
    problems += [_changed(gold.item, gold_file) for gold in content.gold if _differs(known, gold.item)]
    if once is not None:
        problems += _connected(known, content.items, items_file or "")
    earlier = _corrected(tx, stage.name)
    for gold in content.gold:
        answer, _ = known_gold.get(gold.item.key, (codec.as_text(gold.answer), ""))
        if codec.as_text(gold.answer) not in {answer, *earlier.get(gold.item.key, ())}:
            problems.append(
                Problem(
                    gold_file,
                    None,
                    f"gold {gold.item.key!r} had a different answer when the study started ({answer})",
                    "Restore that answer: workers were graded with it. To correct it, open the item in the console.",
                    codec.as_text(gold.answer),
                )
            )
    if items_file is not None:
        problems += _missing(known, content, items_file)
    return problems


def _corrected(tx: Tx, stage_name: str) -> dict[str, set[str]]:
    """The answers of gold before its correction, by key: the file may still have them."""
    earlier_answers: dict[str, set[str]] = {}
    for correction in corrections.corrections(tx, stage_name):
        earlier_answers.setdefault(correction.key, set()).add(codec.as_text(correction.before))
    return earlier_answers


def _differs(known: Mapping[str, KnownItem], item: NewItem, once: AskedOnce | None = None) -> bool:
    stored = known.get(item.key)
    if stored is None or stored.payload == codec.as_text(item.payload):
        return False
    # Duplicate rows may be added to an item: workers see no difference.
    return once is None or once.identity(codec.from_text(stored.payload)) != once.identity(item.payload)


def _connected(known: Mapping[str, KnownItem], new: Sequence[NewItem], file: str) -> Iterable[Problem]:
    """Items that have moved to another group: a worker may have seen two items of it."""
    moved = [item.key for item in new if item.key in known and known[item.key].group_key != item.group]
    if moved:
        yield Problem(
            file,
            None,
            f"added rows link {plural(len(moved), 'item to others with which it', 'items to others with which they')} "
            "had no text in common before",
            "Some workers may already have seen items of both groups. Leave out added rows that share a text with two "
            "earlier rows, or put them into a separate study.",
            ", ".join(moved[:5]) + (" …" if len(moved) > 5 else ""),
        )


def _changed(item: NewItem, file: str) -> Problem:
    return Problem(
        file,
        None,
        f"item {item.key!r} has changed since the study started",
        "Restore it, or give the changed item a new id: answers belong to the item as it was shown.",
        json.dumps(item.payload, ensure_ascii=False)[:200],
    )


def add_new(tx: Tx, folder: StudyFolder, content: StageContent, stage_id: int, now: int) -> None:
    """Import new items and gold, and the assignees of items."""
    stage, seed = content.settings, folder.settings.study.seed
    known, known_gold = known_items(tx, stage_id), gold_by_key(tx, stage_id)
    new = (item for item in content.items if item.key not in known)
    items.add_items(tx, stage_id, stage.name, seed, new, stage.judgments.min, stage.first_state)
    for item in content.items:
        if item.key in known and known[item.key].payload != codec.as_text(item.payload):
            replace_payload(tx, stage_id, item.key, item.payload)
            settings.set_setting(tx, "unsettled", "yes")
    new_gold = [gold for gold in content.gold if gold.item.key not in known]
    rows = [NewGold(gold.item, gold.answer, gold.explanation, "file") for gold in new_gold]
    add_gold(tx, stage_id, stage.name, seed, rows, stage.judgments.min)
    earlier = _corrected(tx, stage.name)
    for gold in content.gold:
        # Gold corrected in the console keeps its explanation from there until the file has the corrected answer.
        corrected = gold.item.key in earlier and known_gold[gold.item.key][0] != codec.as_text(gold.answer)
        if gold.item.key in known_gold and known_gold[gold.item.key][1] != gold.explanation and not corrected:
            explain_gold(tx, stage_id, gold.item.key, gold.explanation)
    came, gone = assignees.bring_in(tx, stage_id, content.assigned, now)
    if came or gone:
        events.record(tx, now, "items assigned", {"added": came, "removed": gone}, stage_id=stage_id)


def _missing(known: Mapping[str, KnownItem], content: StageContent, file: str) -> list[Problem]:
    """Items in the database but not in the files: they were removed, or the database belongs to another study."""
    present = {item.key for item in content.items} | {gold.item.key for gold in content.gold}
    gone = sorted(set(known) - present)
    if not gone:
        return []
    return [
        Problem(
            file,
            None,
            f"the files lack {plural(len(gone), 'item', 'items')} of stage {content.settings.name!r} that the "
            "database has",
            "Restore them (items can be added to a stage, but not removed), or use the database that belongs to this "
            "study.",
            ", ".join(gone[:5]) + (" …" if len(gone) > 5 else ""),
            missing=True,
        )
    ]
