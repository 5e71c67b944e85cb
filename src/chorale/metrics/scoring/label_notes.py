"""Notes on labels that look like JSON or free text, and checks whether labels can be compared as text."""

import re

from chorale.files.judgment_columns import is_json_list
from chorale.metrics.judgments import Judgments

_OBJECTS = ("{", "[{")
"""Beginnings of JSON objects and of lists of JSON objects."""
_NUMBER = re.compile(r"[-+]?\d{1,18}(\.\d{1,18})?")
_TWO = 2
"""With two labels, the order makes no difference to agreement."""
_FEW_NAMES = 20
"""Maximum number of different labels that never look like free text."""
_MOST_DIFFERENT = 0.8
"""Number of different labels per judgment above which labels look like free text."""
_MANY_DIFFERENT = 0.2
"""Number of different labels per judgment above which labels of several words look like free text."""
_SEVERAL_WORDS = 3
"""Minimum mean number of words of labels of several words."""


def looks_otherwise(judgments: Judgments) -> list[str]:
    """Notes on labels that are compared as names but do not look like names."""
    names = judgments.label_names if judgments.sets is None else judgments.options
    if are_objects(judgments):
        return [
            "Labels look like JSON objects but are compared as text: two of them differ if any of their parts differs. "
            "`chorale report` measures agreement by the distance of each field."
        ]
    if judgments.free_text:
        return [
            "The labels are free text, compared as they are written. People who mean the same write different texts."
        ]
    if judgments.sets is not None or not names:
        return []
    if are_lists(judgments):
        return ["Labels look like JSON lists but are compared as text. Add --sep json."]
    if is_text(judgments):
        return [f"{len(judgments):,} judgments have {len(names):,} different labels, which look like free text."]
    return []


def are_lists(judgments: Judgments) -> bool:
    """Whether labels are JSON lists that were read as text, such as the spans or options in exports."""
    return judgments.sets is None and bool(judgments.label_names) and all(map(is_json_list, judgments.label_names))


def are_objects(judgments: Judgments) -> bool:
    """Whether labels, or the options in them, are JSON objects: relations, regions and rubrics of a form."""
    names = judgments.label_names if judgments.sets is None else judgments.options
    return any(name.startswith(_OBJECTS) for name in names)


def is_text(judgments: Judgments) -> bool:
    """Whether labels are free text by what the file says, or look like it: most are different, or many are different
    and have several words.
    """
    if judgments.free_text:
        return True
    names = judgments.label_names
    if judgments.sets is not None or len(names) <= _FEW_NAMES or all(map(_NUMBER.fullmatch, names)):
        return False
    different = len(names) / len(judgments)
    words = sum(len(name.split()) for name in names) / len(names)
    return different > _MOST_DIFFERENT or (different > _MANY_DIFFERENT and words >= _SEVERAL_WORDS)


def are_numbers(judgments: Judgments) -> bool:
    """Whether labels are at least three different numbers, whose order may matter."""
    names = judgments.label_names
    return judgments.sets is None and len(names) > _TWO and all(map(_NUMBER.fullmatch, names))
