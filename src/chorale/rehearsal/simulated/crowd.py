"""Descriptions of crowds: kinds of people, their number and arrival times."""

from collections.abc import Sequence
from random import Random
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from chorale.contract.simulating import Keeping
from chorale.model.setting_types import Fraction, RelativePath, Settings
from chorale.rehearsal.simulated.language_models import SimulatedModel
from chorale.rehearsal.simulated.models import Mode, WorkerModel


def _range(value: Any) -> Any:
    """Accept a single number as a range."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (value, value)
    if isinstance(value, list) and len(value) != 2:
        raise ValueError(
            "is neither a number nor a range. Write one number, or the lowest and the highest in brackets."
        )
    return tuple(value) if isinstance(value, list) else value


def _ordered(value: tuple[float, float]) -> tuple[float, float]:
    if value[0] > value[1]:
        raise ValueError("has its lower end above its upper end. Write the lower number first.")
    return value


Ability = Annotated[tuple[Fraction, Fraction], BeforeValidator(_range), AfterValidator(_ordered)]


class KindSettings(Settings):
    name: str = Field(min_length=1, max_length=40, description="Name of this kind of worker in forecasts.")
    share: float = Field(gt=0, le=1_000_000, description="Relative number of workers of this kind.")
    ability: Ability = Field(
        default=(0.9, 0.98),
        description="Accuracy on items they read: a number, or `[lowest, highest]`, sampled for each worker.",
    )
    abilities: dict[str, Ability] = Field(
        default_factory=dict, description="Accuracy in particular stages or tasks, by their names."
    )
    answers: RelativePath | None = Field(
        default=None,
        description="JSONL file with recorded answers of a model. Workers of this kind have the accuracy of these "
        "answers, in every stage with known correct answers.",
    )
    carelessness: Fraction = Field(default=0, description="Fraction of items they answer randomly.")
    spam: Literal["random", "first-option", "copy-previous"] | None = Field(
        default=None,
        description="Workers who never read the item: they answer randomly, with the first option, or "
        "repeat their previous answer.",
    )
    learning: Fraction = Field(default=0.1, description="Each explained mistake reduces their errors by this fraction.")
    dropout: Fraction = Field(
        default=0.002, description="Probability of leaving the study at an item, without answering it."
    )
    keeps_right: Fraction = Field(
        default=0.9, description="Probability of keeping a model's suggestion that is correct."
    )
    keeps_wrong: Fraction = Field(
        default=0.2,
        description="Probability of keeping a model's suggestion that is wrong. Workers who do not keep it answer on "
        "their own.",
    )
    suggested_pace: float = Field(
        default=0.7, gt=0, le=100, description="Time for an item with a suggestion, relative to an item without one."
    )
    pace: float = Field(
        default=1, gt=0, le=100, description="Median time for an item, relative to the item's expected time."
    )
    spread: float = Field(
        default=0.4, ge=0, le=3, description="Standard deviation of the logarithm of the time for an item."
    )


USUAL_KINDS = (
    KindSettings(name="good", share=28, ability=(0.90, 0.98)),
    KindSettings(
        name="careless", share=7, ability=(0.65, 0.80), carelessness=0.1, learning=0.02, pace=0.6, keeps_wrong=0.6
    ),
    KindSettings(name="random clicker", share=2, spam="random", pace=0.15, keeps_right=1, keeps_wrong=1),
    KindSettings(name="first-option clicker", share=2, spam="first-option", pace=0.15, keeps_right=1, keeps_wrong=1),
    KindSettings(name="copier", share=1, spam="copy-previous", pace=0.15, keeps_right=1, keeps_wrong=1),
)


class CrowdSettings(Settings):
    workers: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="Number of workers. Default: based on the study's size.",
    )
    experts: int = Field(
        default=3,
        ge=0,
        le=1_000,
        description="Number of experts. They work in stages that require the qualification `expert`, and review "
        "messages. With 0, messages that need a review are never sent.",
    )
    per_hour: float = Field(
        default=60,
        gt=0,
        le=1_000_000,
        description="Mean number of workers who join per hour. With a million, all join at once.",
    )
    look_in_minutes: float = Field(
        default=10, gt=0, le=100_000, description="Minutes after which a waiting worker checks for work again."
    )
    patience_hours: float = Field(default=72, ge=0, le=100_000, description="Hours until a waiting worker gives up.")
    expert_ability: Ability = Field(
        default=(0.97, 1.0), description="Accuracy of experts: a number, or `[lowest, highest]`."
    )
    difficulty: float | None = Field(
        default=None,
        ge=0,
        le=5,
        description="How much items differ in difficulty: the standard deviation of the log-odds of a correct answer. "
        "With 0, people err independently; the values measured for real crowds were 0.5 and 1.5. Default: 0, or with "
        "`--fit` the estimate from the judgments.",
    )
    model: tuple[SimulatedModel, ...] = Field(
        default=(), description="The expected behaviour of the models in the study file."
    )
    kind: tuple[KindSettings, ...] = Field(
        default=USUAL_KINDS, min_length=1, description="The kinds of workers. Default: a typical crowd."
    )


def draw_crowd(kinds: tuple[KindSettings, ...], size: int, rng: Random) -> list[WorkerModel]:
    """A crowd of a given size with each kind's share, in random order."""
    total = sum(kind.share for kind in kinds)
    due = [size * kind.share / total for kind in kinds]
    counts = [int(number) for number in due]
    # Remaining places go to the kinds with the largest rounding loss.
    shortest = sorted(range(len(kinds)), key=lambda index: counts[index] - due[index])
    for index in shortest[: size - sum(counts)]:
        counts[index] += 1
    crowd = [_somebody(kind, rng) for kind, count in zip(kinds, counts, strict=True) for _ in range(count)]
    rng.shuffle(crowd)
    return crowd


def draw_fitted(models: Sequence[WorkerModel], size: int, rng: Random) -> list[WorkerModel]:
    """A crowd of a given size, sampled from fitted people by their share of the judgments."""
    return rng.choices(models, [model.share for model in models], k=size)


def draw_experts(settings: CrowdSettings, rng: Random) -> list[WorkerModel]:
    return [WorkerModel("expert", accuracy=rng.uniform(*settings.expert_ability)) for _ in range(settings.experts)]


def draw_arrivals(size: int, per_hour: float, rng: Random) -> list[float]:
    """Seconds until each person joins, counted from the first."""
    moments, now = [], 0.0
    for _ in range(size):
        moments.append(now)
        now += rng.expovariate(per_hour / 3600)
    return moments


def _somebody(kind: KindSettings, rng: Random) -> WorkerModel:
    return WorkerModel(
        kind.name,
        accuracy=rng.uniform(*kind.ability),
        carelessness=kind.carelessness,
        mode=Mode.HONEST if kind.spam is None else Mode(kind.spam),
        pace=kind.pace,
        spread=kind.spread,
        accuracies={name: rng.uniform(*ability) for name, ability in kind.abilities.items()},
        learning=kind.learning,
        dropout=kind.dropout,
        keeping=Keeping(kind.keeps_right, kind.keeps_wrong),
        suggested_pace=kind.suggested_pace,
    )
