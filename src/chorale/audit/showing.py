"""What workers were shown: items, skips and gold are counted again."""

from collections.abc import Iterator

from chorale.model.plural import plural
from chorale.store import Tx, showing
from chorale.store.lengths import all_words


def shown_differences(tx: Tx) -> Iterator[str]:
    """Where the items and skips of a worker, or the workers who got a gold item, are not as many as stored."""
    for one in showing.shown_to_workers(tx):
        name = f"worker {one.worker} in {one.stage}"
        if one.served != one.given_out:
            yield f"{name}: {one.served} items shown stored, {one.given_out} were given out"
        if one.skipped > one.returned:
            yield f"{name}: {one.skipped} skips stored, {one.returned} items were returned"
    for gold in showing.shown_gold(tx):
        name = f"gold {gold.item} of {gold.stage}"
        if not gold.turns and gold.taken != gold.shown:
            yield f"{name}: {gold.taken} workers who got it stored, {gold.shown} have it or answered it"
        elif gold.taken + gold.turns > gold.shown:
            # Every turn that is over had one worker at the least.
            yield (
                f"{name}: {gold.taken} in this turn and {plural(gold.turns, 'turn', 'turns')} before it stored, and "
                f"{plural(gold.shown, 'worker has it or answered it', 'workers have it or answered it')}"
            )


def unchecked_showing(tx: Tx) -> Iterator[str]:
    """What nothing recorded can show about what workers saw."""
    if all_words(tx):
        yield "the lengths of items that are paid by them: they are those counted when the items were added"
    gold = showing.shown_gold(tx)
    if any(one.shown for one in gold):
        yield "whether gold came where it was due: with no gold left that a worker had not seen, an item came instead"
    again = sum(one.turns > 0 for one in gold)
    if again:
        yield (
            f"how many workers got {plural(again, 'gold item', 'gold items')} in turns that are over: only the present "
            "turn of each is counted"
        )
