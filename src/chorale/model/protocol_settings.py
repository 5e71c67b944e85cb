"""Settings for training, qualification and pay. Descriptions are the documentation."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from chorale.model.setting_types import (
    MOST_MONEY,
    CriterionName,
    Fraction,
    Money,
    Name,
    PassScore,
    RelativePath,
    Settings,
    one_or_several,
)

_LARGEST_BLOCK = 100
EXPERT = "expert"
"""The qualification that experts get with their invitation."""


def invited_to(stage: str) -> str:
    """The qualification of people who joined by an invitation link to this stage."""
    return f"invited-{stage}"


class RoundSettings(Settings):
    file: RelativePath = Field(
        description="JSONL or CSV file with one item per row, an expert's `answer` and an `explanation`. Forms need "
        "JSONL. Everybody gets all items, or `size` random ones, in a random order. Every answer is graded."
    )
    size: int | None = Field(default=None, ge=1, description="Number of items each worker gets. Default: all.")
    over_admission: float = Field(
        default=1.5,
        ge=1,
        le=100,
        description="Number of people to admit for each person whom later stages still need, since some people fail "
        "or leave. When enough people are in training, nobody else can start; when the later stages have no work left, "
        "the round closes. Everybody is admitted if the round trains people for no later stage. The same holds if such "
        "a stage has 1,000 or more open items, or items that are not derived yet. While work is left, everybody is "
        "also admitted if the round leads to a gate that decides about all workers together.",
    )
    feedback: Literal["at once", "later"] = Field(
        default="later",
        description="`at once` shows the explanation after every wrong answer, for practice. `later` shows nothing "
        "until the gate's message.",
    )
    pass_score: PassScore = Field(
        default=None,
        description="Minimum score for an answer to count as correct. It affects the worker's gold accuracy, and "
        "which answers get an explanation. Gates use the scores themselves. Default: the task's own minimum, usually "
        "1.",
    )


class Promotion(Settings):
    to: Name = Field(description="Name of the additional qualification, for example `grader`.")
    top_share: Fraction = Field(
        description="Fraction of the scored workers who get this qualification, starting with the best."
    )


class GateSettings(Settings):
    name: Name = Field(description="Name of the gate, and of the qualification that it grants.")
    stage: Annotated[tuple[Name, ...], BeforeValidator(one_or_several)] = Field(
        min_length=1,
        description="The stage whose graded answers are scored, or a list of stages with equal weight.",
    )
    graded: int = Field(
        default=1,
        ge=1,
        description="Number of graded answers that a worker needs in each stage to be scored. In a round, all answers "
        "are always needed.",
    )
    threshold: Fraction | None = Field(default=None, description="Minimum mean score to pass.")
    top_share: float | None = Field(
        default=None, gt=0, le=1, description="Fraction of the scored workers who pass, starting with the best."
    )
    top: int | None = Field(default=None, ge=1, description="Number of workers who pass, starting with the best.")
    floor: Fraction = Field(default=0, description="With `top_share` or `top`: minimum mean score to pass.")
    criteria: dict[CriterionName, Fraction] = Field(
        default_factory=dict,
        description="For answers that people grade with a rubric: minimum mean score for each criterion, for example "
        "`{ answerable = 0.5 }`. `answerable` also covers `answerable_1`, `answerable_2` and so on.",
    )
    ties: Literal["pass", "draw"] = Field(
        default="pass",
        description="With `top_share` or `top`: what happens to workers tied for the last places. `pass`: all of them "
        "pass. `draw`: a random choice among them fills the places.",
    )
    decides: Literal["each", "together"] | None = Field(
        default=None,
        description="When the gate decides: about `each` worker as soon as they are scored (only with `threshold`), "
        "or about all `together` when it closes. Default: `each` with `threshold`, otherwise `together`.",
    )
    workers: int | None = Field(
        default=None,
        ge=1,
        description='With `decides = "together"`: the gate closes automatically when the work of this many workers is '
        'graded. You can also close it at any time with `chorale close` or in the console. With `decides = "each"`: '
        "the expected number of workers. `chorale check` uses this number to estimate the cost.",
    )
    expected: int | None = Field(
        default=None,
        ge=1,
        description="Number of people you expect to be scored. It affects only the cost that `chorale check` "
        "estimates. The estimate uses the largest of this number, `workers` and the number of people that later stages "
        "need. If the gate of a round decides about all workers together and has `workers`, the estimate uses only "
        "`workers`.",
    )
    bonus: Money = Field(default=0, description="Paid to everybody who passes, in minor units (cents).")
    promote: Promotion | None = Field(default=None, description="An additional qualification for the best workers.")
    message: RelativePath | None = Field(
        default=None,
        description="Markdown file with the feedback for everybody who was scored; docs/protocols.md describes such "
        "files.",
    )
    review: bool = Field(default=False, description="Whether an expert reads every message before it is sent.")

    @model_validator(mode="after")
    def _one_way_to_pass(self) -> "GateSettings":
        given = [rule for rule in (self.threshold, self.top_share, self.top) if rule is not None]
        if len(given) != 1:
            raise ValueError("needs exactly one of `threshold`, `top_share` and `top`. Set one of them.")
        if self.decides == "each" and self.threshold is None:
            raise ValueError(
                '`decides = "each"` needs a `threshold`, since workers can be ranked only together. Add `threshold`, '
                'or write `decides = "together"`.'
            )
        if self.decides_each and self.promote:
            raise ValueError(
                '`promote` needs `decides = "together"`, since workers can be ranked only then. Set `decides`, or '
                "remove `promote`."
            )
        return self

    @property
    def decides_each(self) -> bool:
        return self.decides == "each" or (self.decides is None and self.threshold is not None)


class ArmsSettings(Settings):
    names: tuple[Name, ...] = Field(
        min_length=2, description="Names of the arms. Every worker is assigned to one arm at random and stays in it."
    )
    weights: tuple[int, ...] = Field(
        default=(),
        description="Workers are assigned in blocks. For each arm, in the order of `names`: the number of workers in "
        "a block. Default: 1 for each arm.",
    )
    blocks: tuple[int, ...] = Field(
        default=(1,),
        min_length=1,
        description="Possible sizes of a block, as multiples of the sum of `weights`. The size of each block is "
        "chosen from this list at random. With several sizes, as in `[1, 2]`, the next worker's arm is hard to "
        "predict from earlier assignments.",
    )
    after: Name | None = Field(
        default=None,
        description="Qualification that a worker needs before being assigned to an arm. Default: none; workers are "
        "assigned when they agree to the consent form.",
    )
    stratify: Literal["panel"] | None = Field(
        default=None,
        description="`panel`: balance the arms separately for each recruitment platform. Default: balance them over "
        "all workers.",
    )

    @model_validator(mode="after")
    def _weights_fit(self) -> "ArmsSettings":
        if len(set(self.names)) < len(self.names):
            raise ValueError("`names` has a duplicate name. Give every arm a unique name.")
        if self.weights and (len(self.weights) != len(self.names) or min(self.weights) < 1):
            raise ValueError("`weights` needs a whole number of at least 1 for every name. Write one for each arm.")
        if min(self.blocks) < 1 or max(self.blocks) > _LARGEST_BLOCK:
            raise ValueError(f"`blocks` needs whole numbers from 1 to {_LARGEST_BLOCK}. Write a list such as [1, 2].")
        return self


class PlannedOutcome(Settings):
    outcome: str = Field(
        min_length=1,
        max_length=100,
        description="What is compared between arms. `retained`: whether a person reached the arm's last stage without "
        "being removed. `grade`: the mean grade in the arm's last graded stage. `gold`: accuracy on gold and "
        "in rounds, except rounds that only some arms have. Some tasks have outcomes of their own, such as "
        "`kept` for multiple-choice questions.",
    )
    unit: Literal["worker", "item"] = Field(
        default="worker",
        description="Unit of observation: all work of a worker together (`worker`), or each item (`item`). Answers of "
        "one worker are correlated. With `item`, p-values are therefore too small if workers answered several items.",
    )
    test: Literal["permutation", "bootstrap"] = Field(
        default="permutation",
        description="How the p-value is computed. `permutation`: by permuting units between the two arms. "
        "`bootstrap`: by resampling each arm's units with replacement.",
    )
    against: Name | None = Field(
        default=None, description="The arm that every other arm is compared with. Default: the first arm."
    )


class AnalysisSettings(Settings):
    primary: PlannedOutcome = Field(description="The main comparison of the study.")
    secondary: tuple[PlannedOutcome, ...] = Field(default=(), description="Further planned comparisons.")
    registered: str | None = Field(
        default=None, max_length=500, description="Link to the preregistration, e.g. on OSF."
    )

    @property
    def planned(self) -> tuple[PlannedOutcome, ...]:
        """All planned comparisons, the primary one first."""
        return self.primary, *self.secondary


class QualitySettings(Settings):
    floor: Fraction | None = Field(
        default=None,
        description="Minimum worker quality: CrowdTruth's WQS, which measures agreement with other workers. Workers "
        "below it are removed. Default: nobody is removed.",
    )
    after: int = Field(
        default=10,
        ge=1,
        description="Number of judgments after which `floor` applies to a worker. Judgments on items that nobody else "
        "has judged do not count.",
    )


class SenseSettings(Settings):
    min_seconds: float | None = Field(
        default=None,
        gt=0,
        le=3600,
        description="Minimum number of seconds for an answer to one item. Default: no minimum.",
    )
    refuse: bool = Field(
        default=False,
        description="Whether an answer sent before `min_seconds` is refused, with a request to read the item. "
        "Otherwise, fast answers only raise an alarm.",
    )
    same_answers: int = Field(
        default=20,
        ge=0,
        description="Raise an alarm about workers who give the same answer to this many items in a row, if most "
        "others answer differently. 0 turns this alarm off.",
    )
    copied_words: int = Field(
        default=5,
        ge=0,
        description="Raise an alarm about free text of at least this many words that is copied from the item. 0 turns "
        "this alarm off.",
    )
    same_text: int = Field(
        default=5,
        ge=0,
        description="Raise an alarm about workers who write nearly the same free text this many times. 0 turns this "
        "alarm off.",
    )

    @model_validator(mode="after")
    def _has_a_minimum(self) -> "SenseSettings":
        if self.refuse and self.min_seconds is None:
            raise ValueError("`refuse` needs `min_seconds`. Add it, or remove `refuse`.")
        return self


class GoldBonus(Settings):
    right: int = Field(ge=1, description="Minimum number of correct gold answers in a block to earn the bonus.")
    of: int = Field(ge=1, description="Number of gold answers in a block. Blocks are consecutive and do not overlap.")
    amount: Money = Field(description="Bonus for each block with enough correct answers, in minor units (cents).")

    @model_validator(mode="after")
    def _possible(self) -> "GoldBonus":
        if self.right > self.of:
            raise ValueError(f"`right` ({self.right}) is more than `of` ({self.of}). Lower `right`, or raise `of`.")
        return self


class LengthPay(Settings):
    per_100_words: int = Field(
        ge=1,
        le=MOST_MONEY,
        description="Pay for 100 words of an item, in minor units (cents). The pay is proportional to the number of "
        "words, rounded up. Words are counted once, when the item is added.",
    )
    most: int = Field(ge=1, le=MOST_MONEY, description="Maximum pay for the length of an item, in minor units (cents).")


class PartsBonus(Settings):
    beyond: int = Field(
        default=0, ge=0, description="Number of parts of an answer that `per_judgment` already pays for."
    )
    amounts: tuple[Money, ...] = Field(
        min_length=1,
        description="Pay for the first additional part, the second, and so on, in minor units (cents). The last "
        "amount applies to all further parts.",
    )
