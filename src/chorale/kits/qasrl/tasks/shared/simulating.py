"""Simulated writers, who omit questions, mark wrong words and ask different questions at known rates."""

from collections.abc import Mapping, Sequence
from itertools import product
from random import Random
from typing import Any, NamedTuple

from chorale.contract.simulating import Keeping, Revision
from chorale.kits.qasrl.metrics.matching import iou
from chorale.kits.qasrl.tasks.shared.answers import MOST_QUESTIONS, understood
from chorale.model import Answer

_SAME = 0.5
"""Minimum IOU of two spans that are the same argument."""
DROPPED, SHIFTED = 0.5, 0.3
"""Fractions of a simulated writer's errors: omitted questions and shifted answers. The rest are reworded questions."""
FARTHEST = 2
"""Maximum number of words by which an end of a shifted answer moves."""
_OFTEN_NOTHING = 0.05
"""Probability that a careless writer claims there is nothing to ask."""
_QUESTIONS = (1, 2, 3, 4, 5)
_OFTEN = (3, 31, 40, 20, 6)
"""Number of questions per verb and its frequency in 100 verbs, as in the gold standard of Roit et al. (dev)."""
_SAMPLES = (
    "Who {past} something?",
    "What did someone {stem}?",
    "When did someone {stem} something?",
    "Where did someone {stem} something?",
    "Why did someone {stem} something?",
    "How did someone {stem} something?",
)


def guess(view: Mapping[str, Any], known: Answer, rng: Random | None) -> Answer:
    """The known answer; without one, questions that fit any verb, with random answers."""
    if known is not None:
        return own_answers(_each_thing_once(known, view))
    samples = [text.format(**view["forms"]) for text in _SAMPLES]
    if rng is None:
        return [{"question": samples[0], "answers": [[0, 1]]}]
    [many] = rng.choices(_QUESTIONS, _OFTEN)
    # More than needed, because some will overlap.
    spans = _apart([some_words(view, rng) for _ in range(2 * many)])[:many]
    chosen = sorted(rng.sample(range(len(samples)), len(spans)))
    asked = [{"question": samples[number], "answers": [span]} for number, span in zip(chosen, spans, strict=True)]
    return [] if rng.random() < _OFTEN_NOTHING else asked


def own_answers(given: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Keeps only answers that one person can mark: the first of overlapping answers."""
    return [{**one, "answers": _apart(one["answers"])} for one in given]


def _apart(spans: Sequence[Sequence[int]]) -> list[list[int]]:
    kept: list[list[int]] = []
    for start, end in sorted((start, end) for start, end in spans):
        if not kept or start >= kept[-1][1]:
            kept.append([start, end])
    return kept


def some_words(view: Mapping[str, Any], rng: Random) -> list[int]:
    """A random span of the sentence."""
    length = len(view["tokens"])
    start = rng.randrange(length)
    return [start, min(length, start + rng.randint(1, 3))]


def imitate(view: Mapping[str, Any], truth: Answer, accuracy: float, rng: Random) -> Answer:
    """Questions of a simulated writer with a given accuracy per question.

    A wrong question is omitted (half of them), has answers that are off by a word or two (three in ten), or asks what
    might happen, which is a different question. If there is nothing to ask, a wrong answer asks something.
    """
    if not truth:
        return [] if rng.random() < accuracy else guess(view, None, rng) or guess(view, None, None)
    written: list[dict[str, Any]] = []
    for question in truth:
        kept = {name: value for name, value in question.items() if name != "slots"}
        if rng.random() < accuracy:
            written.append({**kept, **({"slots": question["slots"]} if question.get("slots") else {})})
            continue
        mistake = rng.random()
        if mistake < DROPPED:
            continue
        if mistake < DROPPED + SHIFTED:
            written.append(
                {**kept, "answers": [_shifted(span, len(view["tokens"]), rng) for span in question["answers"]]}
            )
        else:
            written.append({**kept, "question": _reworded(question["question"], view["forms"])})
    # An empty submission is not allowed.
    return own_answers(_each_thing_once(written, view) or list(truth)[:1])


def _each_thing_once(given: Sequence[Mapping[str, Any]], view: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Keeps the last question for each thing. Experts and simulated errors may ask for the same thing twice."""
    return list({understood(one["question"], view).key: one for one in given}.values())


def revise(view: Mapping[str, Any], revision: Revision, keeping: Keeping, rng: Random) -> Answer:
    """Submission of a simulated writer with suggestions: those they keep, and their own questions on other arguments.

    A suggestion is correct if the expert asks for the same role and shares one of its answers.
    """
    suggested, truth, alone = ([_Asked.of(one, view) for one in given] for given in revision)
    kept = [one for one in suggested if rng.random() < (keeping.right if one.is_among(truth) else keeping.wrong)]
    own = [one for one in alone if not any(one.role == other.role or one.overlaps(other) for other in kept)]
    return own_answers(_each_thing_once([one.as_answer() for one in (*kept, *own)], view)[:MOST_QUESTIONS])


class _Asked(NamedTuple):
    question: str
    role: str
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, given: Mapping[str, Any], view: Mapping[str, Any]) -> "_Asked":
        role = understood(given["question"], view).slots.role()
        return cls(given["question"], role, tuple((start, end) for start, end in given["answers"]))

    def overlaps(self, other: "_Asked") -> bool:
        """Whether two questions share an argument."""
        return any(iou(*pair) >= _SAME for pair in product(self.spans, other.spans))

    def is_among(self, others: Sequence["_Asked"]) -> bool:
        return any(self.role == other.role and self.overlaps(other) for other in others)

    def as_answer(self) -> dict[str, Any]:
        return {"question": self.question, "answers": [list(span) for span in self.spans]}


def _shifted(span: Sequence[int], length: int, rng: Random) -> list[int]:
    start, end = span
    by = rng.choice([step for step in range(-FARTHEST, FARTHEST + 1) if step])
    if rng.random() < 0.5:
        start = max(0, min(end - 1, start + by))
    else:
        end = max(start + 1, min(length, end + by))
    return [start, end]


def _reworded(question: str, forms: Mapping[str, str]) -> str:
    wh = question.split(maxsplit=1)[0]
    if wh.lower() == "who":
        return f"Who might {forms['stem']} something?"
    return f"What might someone {forms['stem']}?" if wh.lower() == "what" else f"{wh} might someone {forms['stem']}?"
