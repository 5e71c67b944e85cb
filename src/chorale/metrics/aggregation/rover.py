"""ROVER: combines several texts by a vote at every position of their alignment.

The words of the first text are positions. Every further text is aligned with them by dynamic programming:
substitutions, deletions and insertions cost 1; skipping a position where some text has no word is free. Finally, every
position gets the word that most texts have there, possibly none. For ties, the longest word wins, then the last in
alphabetical order.

J. G. Fiscus. A post-processing system to yield reduced word error rates: recognizer output voting error reduction
(ROVER). ASRU 1997.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

_BOTH, _PLACE, _WORD = 0, 1, 2


def rover(texts: Sequence[Sequence[str]]) -> tuple[list[str], float]:
    """The winning words, and the mean fraction of texts that agree with them over all positions; 1 without positions.

    The result depends on the order of the texts, because each is aligned with those before it.

    >>> rover([["a", "cat"], ["a", "cat", "sat"], ["the", "cat", "sat"]])[0]
    ['a', 'cat', 'sat']
    """
    if not texts:
        raise ValueError("there are no texts to aggregate")
    places = [Counter([word]) for word in texts[0]]
    for count, words in enumerate(texts[1:], 1):
        places = _aligned(places, words, count)
    best = [max(place, key=lambda word: (place[word], len(word), word)) for place in places]
    shares = [place[word] / len(texts) for place, word in zip(places, best, strict=True)]
    return [word for word in best if word], float(np.mean(shares)) if shares else 1.0


def _aligned(places: list[Counter[str]], words: Sequence[str], count: int) -> list[Counter[str]]:
    """Adds a text to the positions. Words without a position get a new one, where all other texts have no word."""
    costs = list(range(len(places) + 1))
    leave = [int("" not in place) for place in places]
    steps = [[_PLACE] * (len(places) + 1)]
    for number, word in enumerate(words, 1):
        row, step = [number], [_WORD]
        for at, place in enumerate(places):
            together, without, alone = costs[at] + (word not in place), row[at] + leave[at], costs[at + 1] + 1
            least = min(together, without, alone)
            row.append(least)
            step.append(_BOTH if together == least else _PLACE if without == least else _WORD)
        costs = row
        steps.append(step)
    joined = []
    number, at = len(words), len(places)
    while number or at:
        step_taken = steps[number][at]
        place = Counter({"": count}) if step_taken == _WORD else Counter(places[at - 1])
        place["" if step_taken == _PLACE else words[number - 1]] += 1
        joined.append(place)
        number -= step_taken != _PLACE
        at -= step_taken != _WORD
    return joined[::-1]
