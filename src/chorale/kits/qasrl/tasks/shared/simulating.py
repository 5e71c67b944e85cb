"""Simulated writers: they leave questions out, mark other words and ask for something else, at known rates."""

from collections.abc import Mapping, Sequence
from itertools import product
from random import Random
from typing import Any, NamedTuple

from chorale.contract.simulating import Keeping, Revision
from chorale.kits.qasrl.metrics.matching import iou
from chorale.kits.qasrl.tasks.shared.answers import MOST_QUESTIONS, understood
from chorale.model import Answer

_SAME = 0.5
"""The IOU from which two spans are the same argument."""
DROPPED, SHIFTED = 0.5, 0.3
"""Of a simulated writer's mistakes, the shares of questions left out and of answers shifted; the rest is reworded."""
FARTHEST = 2
"""How many words an end of a shifted answer moves at most."""
_OFTEN_NOTHING = 0.05
"""How often somebody who does not look says that there is nothing to ask."""
_QUESTIONS = (1, 2, 3, 4, 5)
_OFTEN = (3, 31, 40, 20, 6)
"""How many questions a verb has, and in how many of 100 verbs: as in the gold standard of Roit et al. (dev)."""
_SAMPLES = (
    "Who {past} something?",
    "What did someone {stem}?",
    "When did someone {stem} something?",
    "Where did someone {stem} something?",
    "Why did someone {stem} something?",
    "How did someone {stem} something?",
)


def guess(view: Mapping[str, Any], known: Answer, rng: Random | None) -> Answer:
    """The known answer; without one, questions that could be asked of any verb, with any words as their answers."""
    if known is not None:
        return own_answers(known)
    samples = [text.format(**view["forms"]) for text in _SAMPLES]
    if rng is None:
        return [{"question": samples[0], "answers": [[0, 1]]}]
    [many] = rng.choices(_QUESTIONS, _OFTEN)
    # More than are wanted: some will lie over each other.
    spans = _apart([some_words(view, rng) for _ in range(2 * many)])[:many]
    chosen = sorted(rng.sample(range(len(samples)), len(spans)))
    asked = [{"question": samples[number], "answers": [span]} for number, span in zip(chosen, spans, strict=True)]
    return [] if rng.random() < _OFTEN_NOTHING else asked


def own_answers(given: Answer) -> list[dict[str, Any]]:
    """The same with the answers one person can mark: where two lie over each other, only the first."""
    return [{**one, "answers": _apart(one["answers"])} for one in given]


def _apart(spans: Sequence[Sequence[int]]) -> list[list[int]]:
    kept: list[list[int]] = []
    for start, end in sorted((start, end) for start, end in spans):
        if not kept or start >= kept[-1][1]:
            kept.append([start, end])
    return kept


def some_words(view: Mapping[str, Any], rng: Random) -> list[int]:
    """A span anywhere in the sentence."""
    length = len(view["tokens"])
    start = rng.randrange(length)
    return [start, min(length, start + rng.randint(1, 3))]


def imitate(view: Mapping[str, Any], truth: Answer, accuracy: float, rng: Random) -> Answer:
    """What somebody writes who gets each question right so often.

    A question they get wrong is left out (half of them), or an end of its answers is a word or two off (three in
    ten), or it is asked of what might happen, which is another question. Where there is nothing to ask, they ask
    something when they are wrong.
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
    # Two questions may have become one by it, and nobody hands in nothing.
    unique = list({question["question"]: question for question in written}.values())
    return own_answers(unique or list(truth)[:1])


def revise(view: Mapping[str, Any], revision: Revision, keeping: Keeping, rng: Random) -> Answer:
    """What somebody submits who sees suggested questions: those that they keep, and their own about other arguments.

    A suggested question is right if the expert asks for the same role, and one of its answers is the expert's.
    """
    suggested, truth, alone = ([_Asked.of(one, view) for one in given] for given in revision)
    kept = [one for one in suggested if rng.random() < (keeping.right if one.is_among(truth) else keeping.wrong)]
    own = [one for one in alone if not any(one.role == other.role or one.overlaps(other) for other in kept)]
    return own_answers([one.as_answer() for one in (*kept, *own)][:MOST_QUESTIONS])


class _Asked(NamedTuple):
    question: str
    role: str
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, given: Mapping[str, Any], view: Mapping[str, Any]) -> "_Asked":
        role = understood(given["question"], view).slots.role()
        return cls(given["question"], role, tuple((start, end) for start, end in given["answers"]))

    def overlaps(self, other: "_Asked") -> bool:
        """Whether they have an argument in common."""
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
