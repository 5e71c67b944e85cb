"""Lexical analysis of written questions: question words, generic questions, copied options, empty explanations.

All measures are rule-based, so they are reproducible. In the paper (Nangia et al. 2021, section 5.3), generic questions
and explanations were judged manually; the rules here are our approximation.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from chorale.text.alike import alike_pairs, words_of

WH_WORDS: Final = ("what", "which", "who", "when", "where", "why", "how")
OTHER = "other"
_FORMS = {"whom": "who", "whose": "who", "what's": "what", "who's": "who", "where's": "where", "how's": "how"}
NEARLY_THE_SAME = 0.7
"""Minimum fraction of common words of two explanations or questions that are nearly the same."""
_FEWEST_WORDS = 4
_FUNCTION_WORDS = frozenset(
    words_of(
        """
    a about above after all also an and any are as at be because been before being below between both but by can
    could did do does doing down during each few for from further had has have having he her here hers herself
    him himself his how i if in into is it its itself just me more most my myself no nor not now of off on once
    only or other our ours out over own same she should so some such than that the their theirs them themselves
    then there these they this those through to too under until up very was we were what when where which while
    who whom whose why will with would you your yours it's that's don't doesn't didn't isn't wasn't can't one
    two
        """
    )
)
_OF_ANY_QUESTION = frozenset(
    words_of(
        """
    according accurate answer answered answers article assumed author author's based best central choice choices
    claim conclude concluded conclusion correct correctly describe described describes detail details difficult
    easy except excerpt fact facts false find following given good hard idea imply implied implies incorrect
    infer inferred information know knowledge learn listed main mainly meaning mention mentioned narrator need
    needed needs option options paragraph part passage person piece point points primary purpose question
    questions read reader reading reason reasoning right sentence sentences speaker stated statement statements
    story subject sum summarize summarizes summary support supported text theme thing think title tone topic
    true type understand understanding used want whole word words writer written wrong complete deep closely
    carefully must say said says suggest suggested suggests following's fully make makes made get
        """
    )
)


def content_words(text: str) -> frozenset[str]:
    """The content words of a text."""
    return frozenset(words_of(text)) - _FUNCTION_WORDS


def wh_word(question: str) -> str:
    """The first question word of a question.

    >>> [wh_word(text) for text in ("To whom did she write?", "She wrote because", "In which year, and why?")]
    ['who', 'other', 'which']
    """
    for word in words_of(question):
        form = _FORMS.get(word, word)
        if form in WH_WORDS:
            return form
    return OTHER


def is_generic(question: str) -> bool:
    """Whether a question could be asked of any passage.

    >>> [is_generic(text) for text in ("Which of the following is true?", "Why did the ferry wait?")]
    [True, False]
    """
    return not content_words(question) - _OF_ANY_QUESTION


def overlap(option: str, passage: str) -> float | None:
    """The fraction of an option's content words that occur in the passage; None without content words."""
    words = content_words(option)
    return len(words & frozenset(words_of(passage))) / len(words) if words else None


def is_trivial(explanation: str, about: str) -> bool:
    """Whether an explanation is very short or does not refer to `about`: passage, question and options together.

    >>> is_trivial("One has to read the whole passage to understand the question.", "The ferry left at noon.")
    True
    >>> is_trivial("Noon is only implied by the ferry's bell.", "The ferry left when the bell rang.")
    False
    """
    words = words_of(explanation)
    if len(words) < _FEWEST_WORDS:
        return True
    content = frozenset(words) - _FUNCTION_WORDS - _OF_ANY_QUESTION
    return not content & frozenset(words_of(about))


@lru_cache(maxsize=1 << 14)
def likely_answer(question: str, options: tuple[str, ...]) -> int | None:
    """The option that shares the most words with the question, or None."""
    # Cached, because simulated workers see the same question many times.
    asked = content_words(question)
    # The question is reduced to content words, so other words of an option are never shared.
    shared = [len(asked.intersection(words_of(option))) for option in options]
    most = max(shared)
    return shared.index(most) if most and shared.count(most) == 1 else None


def alike_places(texts: Sequence[str], owners: Sequence[str] | None = None) -> list[bool]:
    """Whether each text is nearly the same as another; with `owners`, as another of the same owner."""
    # Exact copies are compared only once.
    places: dict[str, dict[frozenset[str], list[int]]] = {}
    for place, text in enumerate(texts):
        words = frozenset(words_of(text))
        if words:
            places.setdefault(owners[place] if owners else "", {}).setdefault(words, []).append(place)
    alike: set[int] = set()
    for same in places.values():
        sets = list(same)
        for left, right, _ in alike_pairs(sets, NEARLY_THE_SAME):
            alike.update(same[sets[left]], same[sets[right]])
        alike.update(*(where for where in same.values() if len(where) > 1))
    return [place in alike for place in range(len(texts))]
