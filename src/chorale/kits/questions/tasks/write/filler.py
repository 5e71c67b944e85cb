"""Generated questions for simulated workers: good and poor ones that simulated validators can distinguish.

A good question is about a word of the passage, and only its correct option contains that word. A poor question fits any
text and has single words as options.
"""

from functools import lru_cache
from random import Random
from typing import Any

from chorale.kits.questions.files.columns import QuestionsOptions
from chorale.kits.questions.metrics.wording import content_words

# ASCII only, because a single other character doubles the memory of a Python string, and a simulation stores many of
# these.
_ASKED = (
    "Why does it matter to everybody involved what happens to '{}'?",
    "How would the whole story have ended without '{}'?",
    "Why would somebody who was there remember '{}' best?",
    "How could a stranger have come to misunderstand '{}'?",
)
_SAID = (
    "It all came down to the '{}' in the end",
    "Nobody would have thought of the '{}' before",
    "They only ever cared about the '{}' after that",
    "It was hardly worth it for the '{}' alone",
    "The others had long forgotten about the '{}' by then",
    "He never again looked at the '{}' without a smile",
    "She had known about the '{}' all along, it seems",
    "There was more to the '{}' than one could see",
)
_POOR = "Which of the following is true?"
_SPARE = ("one", "two", "three", "four", "five", "six", "seven", "eight")


def good_questions(passage: str, options: QuestionsOptions, rng: Random | None, *, justify: bool) -> dict[str, Any]:
    """Questions of a careful simulated writer. Deterministic for every passage."""
    answer: dict[str, Any] = {}
    for number in options.numbers:
        words = _some_words(passage, options.choices, rng)
        right = rng.randrange(options.choices) if rng else 0
        sentences = rng.sample(_SAID, options.choices) if rng else _SAID[: options.choices]
        asked = rng.choice(_ASKED) if rng else _ASKED[0]
        answer[f"question_{number}"] = asked.format(words[right])
        answer[f"options_{number}"] = [text.format(word) for text, word in zip(sentences, words, strict=True)]
        answer[f"right_{number}"] = options.names[right]
        if justify:
            answer[f"why_{number}"] = f"Only one option is about '{words[right]}', and the text never says so outright."
    return answer


def worsened(
    passage: str, answer: dict[str, Any], options: QuestionsOptions, able: float, rng: Random
) -> dict[str, Any]:
    """Questions of a simulated writer of a given ability, with poor questions where the writer fails."""
    poorer = dict(answer)
    for number in options.numbers:
        if rng.random() < able:
            continue
        poorer[f"question_{number}"] = _POOR
        poorer[f"options_{number}"] = _some_words(passage, options.choices, rng)
        poorer[f"right_{number}"] = rng.choice(options.names)
        if f"why_{number}" in poorer:
            poorer[f"why_{number}"] = "One has to read the whole text to answer this question."
    return poorer


@lru_cache(maxsize=1 << 12)
def _words_in(passage: str) -> tuple[str, ...]:
    """The topic words of a passage. Cached, because several people write about the same passage."""
    return tuple(sorted(content_words(passage)))


def _some_words(passage: str, count: int, rng: Random | None) -> list[str]:
    words = _words_in(passage) if rng else ()
    if len(words) < count:
        words += tuple(word for word in _SPARE if word not in words)[: count - len(words)]
    return rng.sample(words, count) if rng else list(words[:count])
