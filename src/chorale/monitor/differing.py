"""Items on which models and people differ most."""

from collections import defaultdict
from statistics import fmean
from typing import Any, NamedTuple

from chorale.engine.running import RunningStage
from chorale.model import is_model
from chorale.monitor.models import name_of
from chorale.store import Tx, model_tasks
from chorale.store.codec import answer_from_text
from chorale.store.model_tasks import NO_JUDGMENTS
from chorale.store.responses import counted_responses


class DifferingItem(NamedTuple):
    """An item with the answers of models and people."""

    key: str
    distance: float
    """The mean distance between a model's answer and a person's, from 0 to 1."""
    among_people: float | None
    """The mean distance between two people's answers; None with one person."""
    models: tuple[tuple[str, Any], ...]
    """Names and answers."""
    people: tuple[Any, ...]


def differing_items(tx: Tx, stage: RunningStage, most: int) -> list[DifferingItem]:
    """The items of a stage by the distance between models and people; at equal distance, by agreement among people."""
    people: defaultdict[str, list[Any]] = defaultdict(list)
    for counted in counted_responses(tx, stage.name):
        if not is_model(counted.worker):
            people[counted.item].append(counted.answer)
    models: defaultdict[str, list[tuple[str, Any]]] = defaultdict(list)
    for row in model_tasks.answers(tx, stage.id):
        if row.answer is not None and row.item in people and row.kind in (*NO_JUDGMENTS, "production"):
            models[row.item].append((name_of(row.worker), answer_from_text(row.answer)))
    distance = stage.task.combining.distance
    differing = []
    for key, given in models.items():
        theirs = people[key]
        apart = fmean(distance(answer, other) for _, answer in given for other in theirs)
        pairs = [distance(one, other) for place, one in enumerate(theirs) for other in theirs[place + 1 :]]
        if apart > 0:
            differing.append(DifferingItem(key, apart, fmean(pairs) if pairs else None, tuple(given), tuple(theirs)))
    return sorted(differing, key=lambda one: (-one.distance, one.among_people or 0.0, one.key))[:most]
