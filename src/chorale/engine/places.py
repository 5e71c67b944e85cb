"""Places of items and gold: a gold item is shown to the same number of workers as any other item."""

from chorale.engine.running import RunningStage, Study, judgments_asked
from chorale.model import AssignmentKind
from chorale.store import Tx, assignments, offering
from chorale.store.offering import GoldPlaces


def take_gold(
    tx: Tx, study: Study, stage: RunningStage, item_id: int, places: GoldPlaces, *, removed: bool = False
) -> None:
    """Take a place of a gold item.

    After the last place, another is added, with the probability that an item needs another judgment. The
    answers of a removed worker do not count: somebody else gets this gold as well, as with items.
    """
    is_last = places.taken + 1 >= places.wanted
    more = is_last and _asks_for_more(study, stage, places.wanted)
    offering.take_gold(tx, item_id, more + removed)


def _asks_for_more(study: Study, stage: RunningStage, judgments: int) -> bool:
    """Whether to show a gold item to one more worker, with the probability that an item needs another judgment."""
    asked = [number for number in judgments_asked(study, stage) if number >= judgments]
    return bool(asked) and asked[study.secrets.getrandbits(62) % len(asked)] > judgments


def take_again(tx: Tx, study: Study, stage: RunningStage, item_id: int, kind: str) -> bool:
    """Take a place of an item whose time ran out; False if other workers have taken all of them.

    The same applies to gold: if only gold accepted late answers after others had answered it, that would reveal it.
    """
    if kind == AssignmentKind.PRODUCTION:
        return assignments.take_place(tx, item_id)
    if kind == AssignmentKind.GOLD:
        places = offering.places_of_gold(tx, item_id)
        if places.taken >= places.wanted:
            return False
        take_gold(tx, study, stage, item_id, places)
    return True
