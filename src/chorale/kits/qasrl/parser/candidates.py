"""Candidate spans for arguments: parts of the dependency tree, independent of the verb.

A candidate is a token with its subtree; the subtree cut before a dependent on its right (*the gases* of *the gases that
are needed*); or the subtree without its first dependents on the left (*to go home* of *when to go home*). On the dev
part of the gold standard, 97% of all arguments have a candidate with an IOU of at least 0.5.
"""

from collections.abc import Sequence
from typing import NamedTuple

from chorale.text.tagger import Tagged

WHOLE, CUT_RIGHT, CUT_LEFT = 0, 1, 2
_LEFT_OUT = frozenset(
    {"advmod", "amod", "aux", "auxpass", "cc", "det", "mark", "nsubj", "nsubjpass", "preconj", "prep", "punct"}
)
"""Relations of dependents on the left that an argument may begin after."""


class CandidateSpan(NamedTuple):
    start: int
    end: int
    """The token after the last."""
    head: int
    cut: int
    """Whether the span is the complete subtree of the head, or where it was cut."""


def edges(heads: Sequence[int]) -> tuple[list[int], list[int]]:
    """For each token, the first token of its subtree and the token after the last."""
    first, after = list(range(len(heads))), list(range(1, len(heads) + 1))
    for token in range(len(heads)):
        below, above = token, heads[token]
        while above != below:
            first[above] = min(first[above], token)
            after[above] = max(after[above], token + 1)
            below, above = above, heads[above]
    return first, after


def candidates(sentence: Sequence[Tagged]) -> list[CandidateSpan]:
    """All distinct spans, with the first possible head and without punctuation at the ends.

    >>> words = [Tagged("Dogs", "dog", "NOUN", head=1), Tagged("bark", "bark", "VERB", head=1)]
    >>> [(span.start, span.end) for span in candidates(words)]
    [(0, 1), (0, 2)]
    """
    heads = [token.head for token in sentence]
    marks = [token.pos == "PUNCT" for token in sentence]
    first, after = edges(heads)
    spans: dict[tuple[int, int], CandidateSpan] = {}

    def add(start: int, end: int, head: int, cut: int) -> None:
        while start < end and marks[start]:
            start += 1
        while end > start and marks[end - 1]:
            end -= 1
        if start < end:
            spans.setdefault((start, end), CandidateSpan(start, end, head, cut))

    for token in range(len(sentence)):
        if not marks[token]:
            add(first[token], after[token], token, WHOLE)
    for token, head in enumerate(heads):
        if marks[token] or head == token:
            continue
        if token > head:
            add(first[head], first[token], head, CUT_RIGHT)
        elif sentence[token].relation in _LEFT_OUT:
            add(after[token], after[head], head, CUT_LEFT)
    return [spans[key] for key in sorted(spans)]
