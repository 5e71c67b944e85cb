"""Column names: which are needed, and which one somebody probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches

ANOTHER_NAME = {"target_idx": "verb_idx", "noun": "verb", "predicate_idx": "verb_idx", "predicate": "verb"}
"""What files about nouns call it (QANom), by what it is."""
NEEDED = ("qasrl_id", "verb_idx", "question", "answer_range", "wh", "aux", "subj", "obj", "is_negated", "is_passive")
USED = (*NEEDED, "prep", "obj2", "verb", "verb_form", "verb_prefix", "worker_id", "source_worker_ids", "is_redundant",
        "sentence", "tokens")  # fmt: skip


def nearest(name: str, columns: Iterable[str]) -> str:
    """What to do about a missing column."""
    there = {column.strip().lower().replace(" ", "_"): column for column in columns}
    close = get_close_matches(name, there, n=1, cutoff=0.6)
    if close:
        return f"Rename “{there[close[0]]}” if that is it, or add the column."
    return "Add the column, or check that the right file was named."
