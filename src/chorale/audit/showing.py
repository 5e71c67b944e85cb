"""Recount what workers were shown: items, skips and gold."""

from collections.abc import Iterator

from chorale.engine.running import Study
from chorale.model.plural import plural
from chorale.store import Tx, showing
from chorale.store.codec import frozen_from_text
from chorale.store.first_answers import first_given, imported_answers, stored_after
from chorale.store.lengths import all_words


def shown_differences(tx: Tx, study: Study) -> Iterator[str]:
    """Differences in the stored numbers of items and skips per worker, or of workers per gold item.

    Also items that may have been shown completely before their first answer.
    """
    yield from _first_differences(tx, study)
    for shown in showing.shown_to_workers(tx):
        name = f"worker {shown.worker} in {shown.stage}"
        if shown.served != shown.given_out:
            yield f"{name}: {plural(shown.served, 'item', 'items')} stored as shown, {shown.given_out:,} assigned"
        if shown.skipped > shown.returned:
            skips, items = plural(shown.skipped, "skip", "skips"), plural(shown.returned, "item", "items")
            yield f"{name}: {skips} stored, but {items} returned or expired"
    for gold in showing.shown_gold(tx):
        name = f"gold {gold.item} of {gold.stage}"
        if not gold.turns and gold.taken != gold.shown:
            yield f"{name}: {gold.taken:,} workers are stored as having it, but {gold.shown:,} hold or have answered it"
        elif gold.taken + gold.turns > gold.shown:
            # Every completed turn had at least one worker.
            yield (
                f"{name}: at least {plural(gold.taken + gold.turns, 'worker', 'workers')} expected ({gold.taken:,} "
                f"stored for this turn, and one or more for each of {gold.turns:,} earlier turns), but only "
                f"{plural(gold.shown, 'worker holds it or has', 'workers hold it or have')} answered it"
            )


def _first_differences(tx: Tx, study: Study) -> Iterator[str]:
    """Answers to forms in two steps that have no first answer before them, or differ from it."""
    for stage in study.stages.values():
        reveal = stage.task.form.reveal
        for row in () if reveal is None else first_given(tx, stage.id):
            name = f"worker {row.worker} in {stage.name}: response {row.response_id}"
            if row.first is None or row.at is None:
                yield f"{name} has no first answer stored before it"
            elif row.at > row.submitted_at:
                yield f"{name} has a first answer stored after it, at {row.at}; it was submitted at {row.submitted_at}"
            elif reveal is not None and reveal.first_of(frozen_from_text(row.answer)) != frozen_from_text(row.first):
                yield f"{name} differs from the first answer stored before it: {row.first}"


def unchecked_showing(tx: Tx, study: Study) -> Iterator[str]:
    """Questions about what workers saw that the records cannot answer."""
    yield "whether items are as workers saw them: `chorale serve` compares items from a file with that file"
    yield "whether the database belongs to this folder: `chorale check` compares its settings, stages and items"
    once = "when people joined and labels changed, and the task versions of answers and the keys sent with them"
    yield f"{once}: these data are stored only once"
    last = stored_after(tx)
    if last and any(stage.task.form.reveal is not None for stage in study.stages.values()):
        yield (
            "whether the first step of a form in two steps was answered before the second, up to response "
            f"{last}: first answers were not stored until then"
        )
    for stage in study.stages.values():
        if stage.task.form.reveal is not None and (imported := imported_answers(tx, stage.id)):
            answers = plural(imported, "imported answer", "imported answers")
            steps = f"whether the first step was answered before the second in {stage.name}"
            yield f"{steps}: it has {answers}, given elsewhere"
    if all_words(tx):
        yield "the lengths of items that are paid by length: they were counted when the items were added"
    gold = showing.shown_gold(tx)
    if any(one.shown for one in gold):
        yield "whether gold was shown at its planned positions: workers who had seen all gold got other items there"
    again = sum(one.turns > 0 for one in gold)
    if again:
        yield (
            f"how many workers got {plural(again, 'gold item', 'gold items')} in earlier turns: only the current "
            "turn is counted"
        )
