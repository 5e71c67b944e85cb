"""What writers explained, and what they asked again and again."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from chorale.kits.questions.files.questions import McqText
from chorale.kits.questions.metrics.wording import alike_places, is_trivial


@dataclass(frozen=True, slots=True)
class Explanations:
    """What became of the explanations of a file; shares of those there are."""

    count: int
    alike: float
    """Nearly the same as another one of the file."""
    alike_by_worker: float
    """Nearly the same as another one by the same writer."""
    trivial: float
    """Saying nothing that is of this passage, question or answer."""
    both: float
    flags: tuple[tuple[bool, ...], ...] = field(repr=False)
    """The same of every explanation, in this order."""


def about(text: McqText) -> str:
    """All that an explanation can be of."""
    return "\n".join((text.passage, text.question, *text.options))


def explanations(texts: Sequence[McqText]) -> Explanations | None:
    """None if nobody explained anything."""
    given = [text for text in texts if text.justification.strip()]
    if not given:
        return None
    alike = alike_places([text.justification for text in given])
    by_worker = alike_places([text.justification for text in given], [text.writer for text in given])
    trivial = [is_trivial(text.justification, about(text)) for text in given]
    both = [one and other for one, other in zip(alike, trivial, strict=True)]
    flags = tuple(zip(alike, by_worker, trivial, both, strict=True))
    shares = [sum(column) / len(given) for column in (alike, by_worker, trivial, both)]
    return Explanations(len(given), shares[0], shares[1], shares[2], shares[3], flags)


def repeated_questions(texts: Sequence[McqText]) -> float | None:
    """The share of questions that their writer asked before in nearly the same words; generic ones among them."""
    if not any(text.question for text in texts):
        return None
    repeated = alike_places([text.question for text in texts], [text.writer for text in texts])
    return sum(repeated) / len(texts)
