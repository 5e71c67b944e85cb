"""Answers: the names of the texts, best first."""

from collections.abc import Mapping, Sequence
from math import fsum
from random import Random
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from chorale.contract import Combined, GradeResult
from chorale.model import Answer, Judgment, Payload
from chorale_ranking.rankings import agreement, borda_points, borda_ranking, pairs
from chorale_ranking.task.items import FEWEST, MOST, Name


class RankingAnswer(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: list[Name] = Field(min_length=FEWEST, max_length=MOST)


def misfit(answer: Answer, payload: Payload) -> str | None:
    return None if sorted(answer) == sorted(payload["texts"]) else "must have every text once"


def grade(answer: Answer, gold: Answer) -> GradeResult:
    """The share of pairs in the expert's order: Kendall's tau, moved to 0 to 1."""
    wrong = sorted(pairs(gold) - pairs(answer))
    return GradeResult(agreement(answer, gold), tuple(f"{better} is better than {worse}" for better, worse in wrong))


def distance(left: Answer, right: Answer) -> float:
    return 1 - agreement(left, right)


def combine(judgments: Sequence[Judgment]) -> Combined | None:
    """The order by Borda count, each vote weighted by trust. Its confidence is the share of ordered pairs it keeps."""
    total = fsum(judgment.trust for judgment in judgments)
    if not total:
        return None
    ranking = borda_ranking(borda_points((judgment.answer, judgment.trust) for judgment in judgments))
    kept = fsum(judgment.trust * agreement(judgment.answer, ranking) for judgment in judgments)
    return Combined(ranking, kept / total)


def guess(view: Mapping[str, Any], known: Answer, random: Random | None) -> Answer:
    """The known order; a random one where none is known."""
    if known is not None:
        return known
    names = sorted(view["texts"])
    if random is not None:
        random.shuffle(names)
    return names


def imitate(_view: Mapping[str, Any], right: Answer, accuracy: float, random: Random) -> Answer:
    """The right order, in which neighbours change places as often as somebody errs."""
    names = list(right)
    for place in range(len(names) - 1):
        if random.random() >= accuracy:
            names[place], names[place + 1] = names[place + 1], names[place]
    return names


def present(payload: Payload, answer: Answer) -> Answer:
    """The texts themselves, best first."""
    return [payload["texts"][name] for name in answer]


def caption(payload: Payload) -> str:
    return " / ".join(payload["texts"].values())


def quote(payload: Payload, answer: Answer) -> str:
    return "; ".join(f"{place}. {text}" for place, text in enumerate(present(payload, answer), 1))


def feedback(payload: Payload, answer: Answer, gold: Answer) -> Mapping[str, Any]:
    return {"yours": present(payload, answer), "expert": present(payload, gold)}
