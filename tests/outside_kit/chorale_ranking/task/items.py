"""What is to be ordered, and what a worker sees of it."""

from random import Random
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from chorale.contract import Seeds
from chorale.model import Payload

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,40}$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=5000, strip_whitespace=True)]
FEWEST, MOST = 3, 5


class RankingOptions(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str = Field(
        default="Which text is best? Choose the texts in order, best first.",
        min_length=1,
        max_length=500,
        description="What workers read above the texts.",
    )


class RankingItem(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    texts: dict[Name, Text] = Field(min_length=FEWEST, max_length=MOST)
    """By the names that answers use."""


def shown(payload: Payload, question: str) -> dict[str, Any]:
    return {"question": question, "texts": payload["texts"]}


def arrange(payload: Payload, seeds: Seeds) -> dict[str, Any]:
    """The order in which a worker sees the texts: random, and the same when they come back."""
    names = sorted(payload["texts"])
    Random(f"{seeds.item}:texts").shuffle(names)
    return {"names": names}
