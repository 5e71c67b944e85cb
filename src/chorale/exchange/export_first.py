"""Export cells for items that a model answered first."""

import json
from typing import Any

from chorale.model import Item
from chorale.store.first_pass import FirstLabel

FIRST_COLUMNS = ("labelled_by", "model_answer", "model_confidence", "people_asked", "people_probability")


def first_cells(item: Item, first: FirstLabel | None) -> dict[str, Any]:
    """Who labelled an item, the model's first answer, and the probability that people were asked."""
    by = None
    if item.answer is not None:
        by = "reviewer" if item.decision else "model" if first is not None and first.is_label else "people"
    if first is None:
        return {**dict.fromkeys(FIRST_COLUMNS), "labelled_by": by}
    why, probability = first.in_force
    return {
        "labelled_by": by,
        "model_answer": None if first.answer is None else json.loads(first.answer),
        "model_confidence": first.confidence,
        "people_asked": why,
        "people_probability": probability,
    }
