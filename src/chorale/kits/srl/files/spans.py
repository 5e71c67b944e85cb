"""Converts heads to spans: the tokens under a head in the dependency tree."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import repeat

from chorale.kits.srl.files.model import Corpus, Heads, Sentence, SrlArgument, SrlPredicate
from chorale.model import UserError


@lru_cache(maxsize=16384)
def subtrees(heads: Heads) -> tuple[int, ...]:
    """For every token, the token itself and all tokens below it, as bits of a number.

    >>> [f"{mask:03b}" for mask in subtrees((2, 0, 2))]
    ['001', '111', '100']
    """
    masks = [1 << index for index in range(len(heads))]
    children = [0] * (len(heads) + 1)
    for head in heads:
        children[head] += 1
    complete = [index for index, count in enumerate(children[1:]) if not count]
    for index in complete:
        head = heads[index]
        if head:
            masks[head - 1] |= masks[index]
            children[head] -= 1
            if not children[head]:
                complete.append(head - 1)
    if len(complete) < len(heads):
        _join_circles(masks, heads, set(range(len(heads))).difference(complete))
    return tuple(masks)


def _join_circles(masks: list[int], heads: Heads, circles: set[int]) -> None:
    """In an invalid tree with a cycle, every token of the cycle covers the whole cycle."""
    alone = {index: masks[index] for index in circles}
    for index, mask in alone.items():
        above = heads[index] - 1
        while above != index:
            masks[above] |= mask
            above = heads[above] - 1


def tokens_under(positions: tuple[int, ...], heads: Heads) -> int:
    """All tokens under any of the heads, as bits."""
    masks = subtrees(heads)
    tokens = 0
    for position in positions:
        tokens |= masks[position]
    return tokens


Converted = tuple[Sentence, Sentence]
"""A sentence as written in its file, and its version with spans."""


def as_spans(corpus: Corpus, *, apart: bool = False, like: Iterable[Converted | None] = repeat(None)) -> list[Sentence]:
    """The sentences with arguments as spans, which are computed from the tree if the file marks heads.

    `like` has the sentences of another file before and after conversion. Spans of arguments in both files are computed
    once.
    """
    if corpus.marks_spans:
        return list(corpus.sentences)
    if not corpus.has_syntax:
        raise UserError(
            f"{corpus.name} marks the heads of arguments but has no syntax, so spans cannot be computed. Fill its "
            "HEAD column."
        )
    return [
        with_spans(sentence, apart=apart, like=other) for sentence, other in zip(corpus.sentences, like, strict=False)
    ]


def with_spans(sentence: Sentence, *, apart: bool = False, like: Converted | None = None) -> Sentence:
    """Converts the heads of a sentence to spans, as PriMeSRL-Eval does before it calls srl-eval.pl.

    Every argument gets the tokens under its head. If two arguments overlap, the shorter one keeps the tokens. Then each
    label becomes one span, from left to right: adjacent tokens with the same label are joined, even if they come from
    different arguments (with `apart`, each argument starts a new span). Later tokens with the same label are left out.
    The tree is removed because arguments would otherwise be interpreted as heads.
    """
    if not sentence.predicates:
        return sentence._replace(heads=())
    if not sentence.heads:
        raise ValueError("spans cannot be computed for a sentence without syntax")
    heads = sentence.heads
    known: dict[int, tuple[SrlPredicate, SrlPredicate]] = {}
    if like is not None and like[0].heads == heads:
        if like[0].predicates == sentence.predicates:
            return sentence._replace(predicates=like[1].predicates, heads=())
        known = {one.position: (one, other) for one, other in zip(like[0].predicates, like[1].predicates, strict=True)}
    predicates = []
    for predicate in sentence.predicates:
        position, lemma, sense, arguments = predicate
        before, after = known.get(position, (None, None))
        if before is not None and after is not None and before.arguments == arguments:
            spans = after.arguments
        else:
            spans = _spans(arguments, heads, apart) if arguments else ()
        predicates.append(SrlPredicate(position, lemma, sense, spans))
    return sentence._replace(predicates=tuple(predicates), heads=())


# Several systems are scored against the same gold.
@lru_cache(maxsize=16384)
def _spans(arguments: tuple[SrlArgument, ...], heads: Heads, apart: bool) -> tuple[SrlArgument, ...]:
    masks = subtrees(heads)
    if len(arguments) == 1:
        ((label, head, _),) = arguments
        return (SrlArgument(label, *_lowest_run(masks[head])),)
    claims = [
        (masks[head].bit_count(), number, masks[head], label) for number, (label, head, _) in enumerate(arguments)
    ]
    claims.sort()
    # If no label occurs twice, each label is written as its first run of tokens.
    only_first = len({claim[3] for claim in claims}) == len(claims)
    taken = 0
    runs: list[tuple[int, int, int, str]] = []
    for _, number, mask, label in claims:
        left = mask & ~taken
        taken |= left
        while left:
            # The lowest run of ones: adding its lowest bit carries just past its end.
            lowest = left & -left
            beyond = left + lowest
            ended = beyond & -beyond
            runs.append((lowest.bit_length() - 1, ended.bit_length() - 2, number, label))
            if only_first:
                break
            left &= ~(ended - lowest)
    runs.sort()
    if only_first:
        return tuple([SrlArgument(label, first, last) for first, last, _, label in runs])
    return _written(runs, apart=apart)


def _lowest_run(mask: int) -> tuple[int, int]:
    """First and last position of the lowest run of ones. Adding its lowest bit clears it and sets the next bit."""
    lowest = mask & -mask
    beyond = mask + lowest
    return lowest.bit_length() - 1, (beyond & -beyond).bit_length() - 2


def _written(runs: list[tuple[int, int, int, str]], *, apart: bool) -> tuple[SrlArgument, ...]:
    written: list[SrlArgument] = []
    seen: set[str] = set()
    started: set[int] = set()
    previous, end = "", -2
    for first, last, number, label in runs:
        if label not in seen or (apart and previous == label and end + 1 == first and number not in started):
            written.append(SrlArgument(label, first, last))
        elif previous == label and end + 1 == first:
            written[-1] = written[-1]._replace(last=last)
        else:
            # This token is left out, so later tokens cannot join it.
            previous = ""
            continue
        seen.add(label)
        started.add(number)
        previous, end = label, last
    return tuple(written)
