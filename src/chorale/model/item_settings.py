"""Settings of a stage's items: a file, or the results or answers of earlier stages."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from chorale.model.setting_types import Fraction, Name, RelativePath, Settings, one_or_several


def _listed(value: Any) -> Any:
    """Accept a single value as a list of one."""
    values = tuple(value) if isinstance(value, list) else (value,)
    if not values or not all(isinstance(each, str | int) and not isinstance(each, bool) for each in values):
        raise ValueError('is not an option or a list of options. Write it like "rude" or [4, 5].')
    return values


Wanted = Annotated[tuple[str | int, ...], BeforeValidator(_listed)]


class ItemSettings(Settings):
    file: RelativePath | None = Field(default=None, description="JSONL or CSV file with the stage's items.")
    id: str = Field(
        default="id",
        min_length=1,
        max_length=100,
        description="Name of the column with the items' IDs, also in the gold file. Gold rows without this column "
        "must have a column `id`.",
    )
    assigned: RelativePath | None = Field(
        default=None,
        description="CSV or JSONL file with the columns `item` and `annotator`, one row per pair. An item in this "
        "file goes only to the members of the team who are listed for it. Items without a row go to everybody.",
    )
    from_: Annotated[tuple[Name, ...], BeforeValidator(one_or_several)] = Field(
        default=(),
        alias="from",
        description="Earlier stage from which the items are derived, or a list of such stages. Items from several "
        "stages are shuffled together.",
    )
    of: Literal["results", "answers", "together"] = Field(
        default="results",
        description="What an item is made from. `results`: one result of the source stage. `answers`: one answer in "
        "the source stage, to grade, validate or review it. `together`: all answers to one item of the source stage, "
        "to consolidate them. With `together`, field names of the first answer end in `_1`, those of the second in "
        "`_2`, and so on.",
    )
    confidence: Fraction = Field(
        default=0.7,
        description='With `of = "results"`: minimum confidence of a result from which items are derived. It must be '
        "at least the source stage's `release_confidence`.",
    )
    sample: float = Field(
        default=1, gt=0, le=1, description="Fraction of eligible items to sample at random, such as 0.01 for 1%."
    )
    below: Fraction | None = Field(
        default=None,
        description='With `of = "together"`: only items of the source stage whose confidence is below this value. '
        "With 1: all items on which people disagree. Default: all complete items.",
    )
    where: dict[str, Wanted] = Field(
        default_factory=dict,
        description='With `of = "results"`: only results whose label has one of these values in each named field, '
        'such as `{ tone = "rude" }` or `{ severity = [4, 5] }`. Default: all results.',
    )
    per_worker: int | None = Field(
        default=None,
        ge=1,
        description='With `of = "answers"`: number of answers to sample at random from each worker. The sample is '
        "taken when the worker has given `max_per_worker` answers in the source stage, or when that stage is done or "
        "paused. Default: all answers.",
    )
    wait: bool = Field(
        default=False,
        description="Whether to wait until every source stage is done or paused, and then add all items at once, in "
        "random order.",
    )

    @model_validator(mode="after")
    def _one_source(self) -> "ItemSettings":
        if (self.file is None) == (not self.from_):
            raise ValueError("needs exactly one of `file` and `from`. Set one of them.")
        if self.per_worker is not None and (self.of != "answers" or self.sample < 1):
            raise ValueError('`per_worker` needs `of = "answers"`, and no `sample`. Set `of`, and remove `sample`.')
        if self.below is not None and self.of != "together":
            raise ValueError('`below` needs `of = "together"`. Set it, or remove `below`.')
        if self.where and self.of != "results":
            raise ValueError('`where` needs `of = "results"`. Set it, or remove `where`.')
        if self.wait and (not self.from_ or self.per_worker is not None):
            raise ValueError("`wait` needs `from`, and no `per_worker`. Set `from`, or remove `wait` or `per_worker`.")
        if self.assigned is not None and self.file is None:
            raise ValueError("`assigned` needs `file`, since derived items have no rows to assign. Remove `assigned`.")
        return self
