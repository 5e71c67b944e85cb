"""Settings of a stage: items, admission, gold and pay. Descriptions are the documentation."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from chorale.model.item_settings import ItemSettings
from chorale.model.model_settings import StageModels
from chorale.model.nouns import ItemState
from chorale.model.protocol_settings import (
    GoldBonus,
    LengthPay,
    PartsBonus,
    QualitySettings,
    RoundSettings,
    SenseSettings,
)
from chorale.model.setting_types import (
    Fraction,
    Money,
    Name,
    PassScore,
    RelativePath,
    Settings,
    not_blank,
    one_or_several,
    yes_no_or_group,
)


class SampledJudgments(Settings):
    share: float | None = Field(default=None, gt=0, le=1, description="Fraction of the items to sample at random.")
    items: int | None = Field(
        default=None, ge=1, description="How many items to sample at random, from each source stage or from the file."
    )
    judgments: int = Field(ge=1, le=1000, description="Number of judgments for each sampled item.")

    @model_validator(mode="after")
    def _one_way(self) -> "SampledJudgments":
        if (self.share is None) == (self.items is None):
            raise ValueError("needs exactly one of `share` and `items`. Set one of them.")
        return self


class JudgmentSettings(Settings):
    min: int = Field(default=3, ge=1, le=1000, description="Minimum number of judgments per item.")
    max: int = Field(default=3, ge=1, le=1000, description="Maximum number of judgments per item.")
    until: Fraction | None = Field(
        default=None,
        description="Between `min` and `max`, collect judgments one by one until the item's confidence reaches this "
        "value.",
    )
    stable: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="Between `min` and `max`, stop when the ranking of the options has not changed for this many "
        "judgments. Options in less than a third of the answers are ignored. For tasks in which people choose from a "
        "list.",
    )
    fields: Annotated[tuple[Name, ...], BeforeValidator(one_or_several)] = Field(
        default=(),
        description="Fields of the answer that decide an item: `until` and `release_confidence` apply to the lowest "
        "confidence among these fields. Default: all fields except free text.",
    )
    sample: SampledJudgments | None = Field(
        default=None, description="Random sample of items that get a different number of judgments."
    )

    @model_validator(mode="after")
    def _ordered(self) -> "JudgmentSettings":
        if self.max < self.min:
            raise ValueError(f"`max` ({self.max}) is below `min` ({self.min}). Raise `max`, or lower `min`.")
        if self.max > self.min and self.until is None and self.stable is None:
            raise ValueError(
                "`max` above `min` needs `until` or `stable`. Set `until` to the confidence at which to stop, or "
                "`stable` to the number of judgments without a change."
            )
        return self


def _fixed_judgments(value: Any) -> Any:
    """Accept `judgments = 3` as a minimum and maximum of 3."""
    if isinstance(value, int) and not isinstance(value, bool):
        return {"min": value, "max": value}
    if not isinstance(value, dict | JudgmentSettings):
        raise ValueError("is neither a whole number nor a table. Write a number, as in 3, or a table with min and max.")
    return value


class EntrySettings(Settings):
    qualifications: tuple[Name, ...] = Field(
        default=(),
        description="Qualifications that a worker needs, all of them: names of gates, additional qualifications of "
        "gates (`promote.to`), `expert`, or `invited-STAGE` for people invited to the stage STAGE.",
    )
    qualified_in: Name | None = Field(
        default=None,
        description="Name of another stage: only workers with enough gold accuracy there can enter this stage. "
        "Default: gold accuracy does not matter.",
    )
    accuracy: Fraction = Field(default=0.7, description="With `qualified_in`: minimum gold accuracy in that stage.")
    answered: int = Field(
        default=4,
        ge=1,
        description="With `qualified_in`: minimum number of gold answers that a worker must have given in that stage.",
    )
    exclude_dropped: bool = Field(
        default=True,
        description="Whether to refuse workers who were removed from any other stage of the study. With `false`, only "
        "workers who were removed from the stage in `qualified_in` are refused.",
    )
    exclude_contributors: Annotated[bool | Literal["group"], BeforeValidator(yes_no_or_group)] = Field(
        default=True,
        description=(
            "`true`: workers get no items derived from items they worked on, so that nobody reviews their own work. "
            '`"group"`: they also get no items derived from other items of the same group, such as other texts about '
            "the same topic. Workers who have reviewed an item of a group then get no items of that group in the "
            "earlier stage."
        ),
    )


class GoldSettings(Settings):
    file: RelativePath = Field(
        description="JSONL or CSV file with one item per row, its `answer` and an `explanation`. Forms need JSONL."
    )
    share: float = Field(
        default=0.1,
        ge=0,
        le=0.5,
        description="Fraction of gold among the items that a worker gets. In stages whose items come from other "
        "stages, this fraction is reached only on average.",
    )
    floor: Fraction = Field(default=0.6, description="Minimum gold accuracy: workers below it are removed.")
    after: int = Field(default=4, ge=1, description="Number of gold answers after which `floor` applies to a worker.")
    window: int | None = Field(
        default=None,
        ge=1,
        description="Number of latest gold answers that count for gold accuracy. Default: all gold answers count.",
    )
    smoothing: float = Field(
        default=0,
        ge=0,
        le=100,
        description="Pseudo-count prior: adds this many imaginary gold answers with an accuracy equal to `floor`. "
        "Then the first few gold answers alone do not decide whether a worker is removed.",
    )
    pass_score: PassScore = Field(
        default=None,
        description="Minimum score for a gold answer to count as correct. With 0.8, a mostly correct answer counts as "
        "correct. Default: the task's own minimum, usually 1.",
    )
    unit: Literal["item", "part"] = Field(
        default="item",
        description="What counts as one gold answer: the whole answer to a gold item (`item`), or each part of that "
        "answer (`part`), such as each of two questions about a text. With `part`, gold accuracy, `after`, `window` "
        "and `bonus` count parts.",
    )
    reuse: bool | None = Field(
        default=None,
        description="What to do if there are too few gold items for `share`. `false` shows less gold, and `chorale "
        "check` prints how much. `true` shows each gold item to more workers than other items. Workers who exchange "
        "information can then recognise gold. Default: `false`, or `true` in studies that were started when `true` "
        "was the default.",
    )
    grace: int = Field(
        default=30,
        ge=0,
        le=1000,
        description="Maximum number of further answers of a removed worker; the actual number is random. A removal "
        "right after an answer to gold would reveal which item was gold. These further answers are paid, but do not "
        'count towards labels. With 0, or with `feedback = "at once"`, the removal is immediate.',
    )
    bonus: GoldBonus | None = Field(default=None, description="A bonus for correct gold answers.")
    feedback: Literal["none", "at once"] = Field(
        default="none",
        description="`at once` shows the explanation after every wrong answer to gold. This trains workers, but "
        "workers who exchange information learn which items are gold. It is better to explain answers in a practice "
        "round.",
    )

    @model_validator(mode="after")
    def _one_measure(self) -> "GoldSettings":
        if self.unit == "part" and self.pass_score is not None:
            raise ValueError('`pass_score` is for whole items, but `unit = "part"` counts parts. Remove one of them.')
        return self


class SkipSettings(Settings):
    first: int = Field(
        default=5, ge=0, description="Number of items that a worker may skip in the stage before answering any."
    )
    share: float = Field(
        default=0.2,
        ge=0,
        le=10,
        description="Number of further skips per answer: with 0.2, one more skip after every five answers.",
    )


class StagePay(Settings):
    per_judgment: Money = Field(default=0, description="Paid for every submitted judgment, in minor units (cents).")
    by_length: LengthPay | None = Field(
        default=None,
        description="Pay by the number of words that an item shows, in addition to `per_judgment`. Workers see the "
        "pay of each item.",
    )
    parts: PartsBonus | None = Field(
        default=None,
        description="A bonus for the parts of an answer, such as questions, beyond a minimum number.",
    )
    expected_parts: float | None = Field(
        default=None,
        ge=0,
        le=1000,
        description="Expected number of parts of an answer. `chorale check` uses this number to estimate cost and "
        "wage. If the file in `rehearsal.truth` has answers to the stage's items, `chorale check` uses that file "
        "instead. Default: the mean number of parts of the gold answers.",
    )
    kept: PartsBonus | None = Field(
        default=None,
        description="A bonus for the parts of an answer that a later stage with `grades_sources` keeps. The bonus is "
        "booked when the item derived from the answer is complete, once for each such stage.",
    )
    finished: Money = Field(
        default=0,
        description="Paid once to everybody who finishes a round, in minor units (cents). If a gate ends the round "
        "early, people who started the round get a proportional part. In a grading stage: paid to everybody who "
        "graded, when the gate that uses the grades closes.",
    )
    finished_from: int = Field(
        default=1,
        ge=1,
        description="In a grading stage: minimum number of grades a grader must give to be paid `finished`.",
    )
    expected_seconds: int | None = Field(
        default=None,
        ge=1,
        description="Expected seconds per judgment. `chorale check` compares the resulting wage with "
        "`pay.minimum_hourly`, and the expected seconds with the time needed to read an item.",
    )


class RehearsalSettings(Settings):
    truth: RelativePath = Field(
        description="JSONL or CSV file with one item per row and its true `answer`. Forms need JSONL. Only simulated "
        "workers use this file."
    )


class StageSettings(Settings):
    name: Name = Field(description="Short name used in URLs, files and commands.")
    title: str = Field(min_length=1, max_length=200, description="Title that workers see.")
    task: Name = Field(description="The kind of work: the name of an installed task.")
    guidelines: RelativePath = Field(
        description="Markdown file that workers read before the stage, and can open at any time."
    )
    items: ItemSettings | None = Field(
        default=None, description="Where the items come from. A round has the table `round` instead."
    )
    round: RoundSettings | None = Field(
        default=None, description="Makes the stage a round: practice, a quiz, a screening or a qualification test."
    )
    arms: tuple[Name, ...] = Field(default=(), description="The arms whose workers get this stage. Default: all arms.")
    grades: bool = Field(
        default=False,
        description='Whether workers in this stage grade answers of an earlier stage (`of = "answers"`). The grade of '
        "an answer is the mean score that graders give it.",
    )
    grades_sources: bool = Field(
        default=False,
        description='Whether this stage grades the answers from which its items were made (`of = "together"`). The '
        "grade of an answer is the fraction of the answer that this stage keeps. Gates can use the grades, and "
        "`pay.kept` of the earlier stage pays for the kept parts.",
    )
    decides_sources: bool = Field(
        default=False,
        description='Whether workers in this stage review items of an earlier stage (`of = "together"`). An accepted '
        "label becomes the final label of the reviewed item, with the reviewers' reason.",
    )
    judgments: Annotated[JudgmentSettings, BeforeValidator(_fixed_judgments)] = Field(
        default=JudgmentSettings(),
        description="Number of judgments per item, or a table such as `{ min = 3, max = 7, until = 0.8 }`.",
    )
    release_confidence: Fraction = Field(
        default=0.7, description="Confidence threshold: labels with a lower confidence are not accepted."
    )
    review_sample: Fraction = Field(
        default=0.1, description="Fraction of complete items that the console samples at random for adjudication."
    )
    entry: EntrySettings = Field(default=EntrySettings(), description="Who may work in the stage.")
    lease_minutes: float = Field(
        default=30,
        ge=1,
        le=60 * 24 * 14,
        description="Time limit: minutes a worker can keep an item before it is offered to others.",
    )
    max_per_worker: int | None = Field(
        default=None, ge=1, description="Maximum number of answers per worker in the stage, including gold."
    )
    skips: SkipSettings = Field(
        default=SkipSettings(),
        description="How many items a worker may skip or let expire. The limit does not apply to experts or in "
        "rounds. In a round, skipped items return.",
    )
    gold: GoldSettings | None = Field(default=None, description="Items with known answers mixed into the work.")
    quality: QualitySettings | None = Field(
        default=None,
        description="Worker quality: agreement with other workers, measured while the study runs. For tasks in which "
        "people choose from a list.",
    )
    sense: SenseSettings = Field(
        default=SenseSettings(), description="Checks for careless answers: too fast, repeated, copied."
    )
    pay: StagePay = Field(default=StagePay(), description="What the work pays.")
    rehearsal: RehearsalSettings | None = Field(
        default=None, description="Correct answers for simulations, never shown to anybody."
    )
    models: StageModels | None = Field(
        default=None, description="Models that annotate in this stage, and how their answers are used."
    )
    options_from: Name | None = Field(
        default=None,
        description="Name of another stage with the same task. Its `options` apply here too, so that training and "
        "work can share a form. If this stage sets an option as well, its own value is used.",
    )
    options: dict[str, Any] = Field(default_factory=dict, description="The task's own options.")

    _filled_in = field_validator("title")(not_blank)

    @model_validator(mode="after")
    def _items_or_round(self) -> "StageSettings":
        if (self.items is None) == (self.round is None):
            raise ValueError("needs exactly one of `items` and `round`. Set one of them.")
        if self.round is not None and self.gold is not None:
            raise ValueError("is a round, where everything is graded. Leave `gold` out.")
        if self.grades and (self.items is None or self.items.of != "answers"):
            raise ValueError('`grades = true` needs items made `of = "answers"`. Set `of` in [stage.items].')
        for name in ("grades_sources", "decides_sources"):
            if getattr(self, name) and (self.items is None or self.items.of != "together"):
                raise ValueError(f'`{name} = true` needs items made `of = "together"`. Set `of` in [stage.items].')
        return self

    @property
    def graded_stages(self) -> tuple[str, ...]:
        """The stages whose answers are graded by the answers here."""
        return self.sources if self.grades or self.grades_sources else ()

    @property
    def first_state(self) -> ItemState:
        """The state of new items: if a model answers first, they wait for it."""
        is_first = self.models is not None and self.models.role == "first"
        return ItemState.WAITING if is_first else ItemState.OPEN

    @property
    def sources(self) -> tuple[str, ...]:
        """The stages the items are derived from."""
        return () if self.items is None else self.items.from_

    @property
    def pass_score(self) -> float | None:
        """The minimum score of a correct answer to gold or in a round; None for the task's default."""
        graded = self.gold or self.round
        return None if graded is None else graded.pass_score
