"""Multiple-choice questions for text-to-text models in the format of UnifiedQA (Khashabi et al. 2020).

A model reads the question, its options with letters, and the passage, all in lower case, with ` \\n ` (a backslash and
an n) between them. It generates free text. The answer is the option most similar to that text.
"""

import re
from collections.abc import Sequence

NO_OPTION = "none"
"""The answer of a model whose text is not similar to any option. It counts as wrong."""
_QUOTES = str.maketrans("", "", "\"'")
_LOST = re.compile(r"[{}^\\`⁇<]")
"""Characters that T5's tokenizer cannot represent."""


def prompt(question: str, options: Sequence[str], passage: str) -> str:
    r"""The input of the model, without hidden parts.

    >>> prompt("What barks?", ["A cat", "A dog"], "Dogs bark.")
    'what barks? \\n (a) a cat (b) a dog \\n dogs bark.'
    """
    listed = " ".join(f"({_letter(place)}) {option.strip()}" for place, option in enumerate(options))
    parts = (" ".join(part.split()) for part in (question, listed, passage))
    return r" \n ".join(part for part in parts if part).lower()


def option_in(text: str, options: Sequence[str]) -> int | None:
    """The option most similar to a model's text: the same text, or the largest fraction of common words.

    The first option wins ties; None without a common word. A single letter selects its option.

    >>> option_in("a dog", ["A cat", "A dog"]), option_in("(b)", ["A cat", "A dog"]), option_in("cow", ["cat", "dog"])
    (1, 1, None)
    """
    said = text.strip().lower()
    likeness = [_likeness(option.strip().lower(), said) for option in options]
    best = max(range(len(options)), key=lambda place: likeness[place])
    if likeness[best] > 0:
        return best
    letter = said.strip("(). ")
    return next((place for place in range(len(options)) if letter == _letter(place)), None)


def _likeness(option: str, said: str) -> float:
    if option == said:
        return 3.0
    option_text, said_text = (_LOST.sub(" ", each.translate(_QUOTES)) for each in (option, said))
    if option_text == said_text:
        return 2.0
    words, others = option_text.split(" "), said_text.split(" ")
    return len(set(words) & set(others) - {""}) / max(len(words), len(others))


def _letter(place: int) -> str:
    return chr(ord("a") + place)
