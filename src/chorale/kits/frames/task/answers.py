"""Answers: the frames that fit, or none; and their aggregation."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import sqrt
from random import Random
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from chorale.contract.combined import Combined
from chorale.contract.task import GradeResult
from chorale.kits.frames.task.items import MOST_CANDIDATES, NONE, frames_of, in_words
from chorale.model import Answer, Judgment, Payload

_Names = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=120, pattern=r"\S")]],
    Field(min_length=1, max_length=MOST_CANDIDATES),
]


class FramesChosen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: _Names

    @field_validator("answer", mode="before")
    @classmethod
    def _alone_or_frames(cls, value: Any) -> list[str]:
        return _canonical(value)


LONGEST_MEANING = 500


class FramesExplained(BaseModel):
    """The frames that fit, and the worker's explanation of the meaning, if any."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: _Names | dict[str, Any]

    @field_validator("answer", mode="before")
    @classmethod
    def _frames_and_meaning(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return _canonical(value)
        meaning = value.get("meaning", "")
        if value.keys() - {"frames", "meaning"} or not isinstance(meaning, str):
            raise ValueError("must have `frames` and `meaning`. Select frames, and give the meaning as text.")
        if len(meaning) > LONGEST_MEANING:
            raise ValueError(f"must have a meaning of at most {LONGEST_MEANING} characters. Shorten it.")
        return {"frames": _canonical(value.get("frames")), "meaning": meaning.strip()}


class FramesWithMeaning(FramesExplained):
    """The frames that fit, and the worker's explanation of the meaning."""

    @field_validator("answer", mode="after")
    @classmethod
    def _has_a_meaning(cls, value: Any) -> Any:
        if isinstance(value, dict) and not value["meaning"]:
            raise ValueError("must have a meaning. Explain it in your own words.")
        return value


class FrameGold(BaseModel):
    """Gold: the frames that fit, or a table of frames that must and may be chosen."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: _Names | dict[str, list[str]]

    @field_validator("answer", mode="before")
    @classmethod
    def _has_what_fits(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return _canonical(value)
        unknown = sorted(value.keys() - {"fits", "may"})
        if unknown or not isinstance(value.get("fits"), list) or not isinstance(value.get("may", []), list):
            raise ValueError(
                "must be a list of frames, or have `fits` and `may`. Write the frames that fit as a list, or "
                '{"fits": ["…"], "may": ["…"]}.'
            )
        return {"fits": _canonical(value["fits"]), "may": sorted(set(map(str, value.get("may", []))))}


def _canonical(names: Any) -> list[str]:
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise ValueError('must be a list with at least one frame. If no frame fits, write ["none"].')
    chosen = sorted({name.strip() for name in names})
    if NONE in chosen and len(chosen) > 1:
        raise ValueError('cannot have both "none" and frames. Remove "none", or remove the frames.')
    return chosen


def misfit(answer: Answer, payload: Payload) -> str | None:
    """Error message for a frame that is not a candidate, or None."""
    names = [*answer["fits"], *answer["may"]] if is_gold_table(answer) else chosen(answer)
    known = {*frames_of(payload), NONE}
    unknown = next((name for name in names if name not in known), None)
    if unknown is None:
        return None
    return f"has a frame that is not a candidate: {unknown!r}. Choose from {', '.join(sorted(known))}."


def is_gold_table(answer: Answer) -> bool:
    return isinstance(answer, dict) and "fits" in answer


def chosen(answer: Answer) -> tuple[str, ...]:
    """The options in an answer, with or without an explanation."""
    return tuple(answer["frames"] if isinstance(answer, dict) else answer)


def grade(answer: Answer, gold: Answer) -> GradeResult:
    """Correct if exactly the fitting frames were chosen. Partial credit is the cosine of the two choices."""
    fits, may = (set(gold["fits"]), set(gold["may"])) if is_gold_table(gold) else (set(chosen(gold)), set())
    given = set(chosen(answer))
    missed, wrong = sorted(fits - given), sorted(given - fits - may)
    if not missed and not wrong:
        return GradeResult(1.0)
    reasons = [f"does not name “{in_words(name)}”, which fits" for name in missed]
    reasons += [f"names “{in_words(name)}”, which does not fit" for name in wrong]
    # A frame that both must and may be chosen still counts as missed.
    return GradeResult(min(_cosine(given - may, fits - may) if fits - may else 0.0, 0.99), tuple(reasons))


def distance(left: Answer, right: Answer) -> float:
    return 0.0 if left == right else 1.0 - _cosine(set(chosen(left)), set(chosen(right)))


def combine(judgments: Sequence[Judgment]) -> Combined | None:
    """The options chosen by more than half of the workers, weighted by gold accuracy; otherwise the most frequent ones.

    The confidence is the clarity of the sentence: the mean cosine of all pairs of answers, with the same weights.
    """
    weights: defaultdict[str, float] = defaultdict(float)
    for judgment in judgments:
        for name in chosen(judgment.answer):
            weights[name] += judgment.trust
    whole = sum(judgment.trust for judgment in judgments)
    if whole <= 0:
        return None
    leading = [name for name, weight in weights.items() if weight > whole / 2]
    if not leading or (NONE in leading and len(leading) > 1):
        most = max(weights.values())
        leading = [name for name, weight in weights.items() if weight >= most - 1e-9]
    # If “none” and a frame are tied, there is no single answer.
    frames = [name for name in leading if name != NONE]
    return Combined(sorted(frames or leading), _clarity(judgments))


def present(_payload: Payload, answer: Answer) -> Answer:
    """The answer in words, for review."""
    names = [*answer["fits"], *answer["may"]] if is_gold_table(answer) else chosen(answer)
    meaning = answer.get("meaning") if isinstance(answer, dict) else ""
    return ", ".join(in_words(name) for name in names) + (f": “{meaning}”" if meaning else "")


_FITTING = (0.01, 0.36, 0.26, 0.24, 0.13)
"""Simulated frequencies of sentences with none, one, two, three and four fitting frames."""
_SEEN_TOO = 0.2
"""Probability that a simulated worker also sees another fitting frame.

With both settings, simulated workers of 80–97% accuracy produce two, one and no majority frames in 11%, 69% and 20% of
sentences. In the first 5,042 sentences of the corpus it is 15%, 64% and 21%.
"""


def guess(view: Mapping[str, Any], known: Answer, rng: Random | None) -> Answer:
    """True answer for simulated workers: the known answer if there is one, otherwise random frames.

    Without random numbers, it is the first frame.
    """
    if known is not None:
        return known["fits"] if is_gold_table(known) else list(chosen(known))
    frames = [candidate["frame"] for candidate in view["candidates"]]
    if rng is None:
        return [frames[0]]
    (fitting,) = rng.choices(range(len(_FITTING)), _FITTING)
    return sorted(rng.sample(frames, min(len(frames), fitting))) or [NONE]


def imitate(view: Mapping[str, Any], truth: Answer, accuracy: float, rng: Random) -> Answer:
    """Answer of a simulated worker to a sentence with several fitting frames: one of them, and rarely another.

    A sentence with one true frame is therefore clear, and clarity decreases with more frames. Wrong answers are other
    candidates.
    """
    truth = chosen(truth)
    if rng.random() >= accuracy:
        others = [candidate["frame"] for candidate in view["candidates"] if candidate["frame"] not in truth]
        return sorted({rng.choice(others)}) if others and rng.random() < 0.9 else [NONE]
    first = rng.choice(truth)
    return sorted({first, *(name for name in truth if rng.random() < _SEEN_TOO)}) if len(truth) > 1 else list(truth)


def _cosine(left: set[str], right: set[str]) -> float:
    """Cosine of two choices as vectors of 0 and 1."""
    if not left or not right:
        return 0.0
    return len(left & right) / sqrt(len(left) * len(right))


def _clarity(judgments: Sequence[Judgment]) -> float:
    """Mean cosine of all pairs in one pass: the squared length of the weighted sum, minus the square of each answer."""
    sums: defaultdict[str, float] = defaultdict(float)
    own = whole = 0.0
    for judgment in judgments:
        frames = chosen(judgment.answer)
        length = sqrt(len(frames))
        for name in frames:
            sums[name] += judgment.trust / length
        own += judgment.trust**2
        whole += judgment.trust
    pairs = whole**2 - own
    if pairs <= 1e-12:
        return 1.0
    if len({chosen(judgment.answer) for judgment in judgments}) == 1:
        return 1.0
    return min(1.0, max(0.0, (sum(sums[name] ** 2 for name in sorted(sums)) - own) / pairs))
