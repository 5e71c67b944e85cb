"""Results of one simulated run: overall, and by stage, gate and arm."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SuggestionRun:
    """A measure of the effect of a model's suggestions: the means with and without one."""

    measure: str
    with_suggestion: float | None
    without: float | None

    @property
    def difference(self) -> float | None:
        if self.with_suggestion is None or self.without is None:
            return None
        return self.with_suggestion - self.without


@dataclass(frozen=True, slots=True)
class StageRun:
    """The results of a stage."""

    name: str
    round: bool
    """Whether it is a round, without items to complete."""
    ended: bool
    """Whether a closed gate has ended it; remaining items are not collected."""
    items: int
    complete: int
    released: int
    judgments: int
    """Number of counted judgments."""
    discarded: int
    gold_answers: int
    accuracy: float | None
    """Mean score of complete items against known correct answers; None if unknown."""
    released_accuracy: float | None
    """Mean score of accepted labels; None if unknown."""
    quality: float | None
    """Mean score of counted answers against those of a perfect worker, if others see them."""
    entered: int
    dropped: int
    left: int
    """People who left in the middle of this stage."""
    gave_up: int
    """People who worked here last and gave up waiting."""
    cut_off: int
    """People who were stopped in the middle of a round, usually because its gate closed."""
    finished: int
    """All other people who entered; in a round, people who have finished it."""
    found_nothing: int
    """People who joined before the last answer and looked for work here when it was open to them, but never got an
    item.
    """
    locked_out: int
    """People to whom the stage was closed when they looked, and who never entered it."""
    cost: int
    by_model: int = 0
    """Items whose label is that of a model that answered first."""
    suggestions: tuple[SuggestionRun, ...] = ()
    """The effect of suggestions, as in the report; empty if no model suggests."""

    @property
    def open_items(self) -> int:
        return self.items - self.complete

    @property
    def judgments_per_item(self) -> float | None:
        return self.judgments / self.items if self.items and not self.round else None

    @property
    def gold_per_worker(self) -> float | None:
        return self.gold_answers / self.entered if self.gold_answers and self.entered else None


@dataclass(frozen=True, slots=True)
class GateRun:
    """The results of a gate."""

    name: str
    passed: int
    not_passed: int
    undecided: int
    """People with enough work but without a decision."""
    ungraded: int
    """Number of these people whose answers were not graded when the gate closed."""
    after: str
    """The last of the gate's stages, including stages that grade answers for it."""


@dataclass(frozen=True, slots=True)
class ArmRun:
    """The results of an arm, which are made in the last of its own stages."""

    name: str
    people: int
    """Number of people assigned to it."""
    reached: int
    """Number of these people who worked in the last of the arm's own stages."""
    answers: int
    """Number of counted answers in the last of the arm's own stages."""
    quality: float | None
    """Mean quality of these answers: the score against those of a perfect worker."""
    cost: int
    """The costs of its own stages; see `monitor.costs`."""
    cost_per_answer: float | None
    cost_without_training: float | None
    """Cost per answer, without training and selection."""
    shared: int
    """Costs of its people in shared stages, such as validation of all arms' answers."""
    wage: int | None
    """Median, in minor units an hour."""

    @property
    def staying(self) -> float | None:
        return self.reached / self.people if self.people else None


@dataclass(frozen=True, slots=True)
class Run:
    """The results of a simulated run."""

    seed: int
    stages: tuple[StageRun, ...]
    final: tuple[str, ...]
    """The stages with the study's results."""
    results: int
    """Number of accepted results, in the study's unit: see `monitor.costs.study_results`."""
    unit: str
    """The name of such a result, such as `kept question`."""
    base: int
    finishing: int
    """Paid for finished rounds and grading stages."""
    bonus: int
    """Paid for passing gates, for gold and for parts of answers."""
    fee: int
    wage: int | None
    """Median, in minor units an hour."""
    low_wage: int | None
    """10th percentile of hourly wages, in minor units."""
    underpaid: float | None
    """Share of workers whose hourly wage is below the study's minimum."""
    hours: float
    """Hours from the first arrival to the last answer."""
    arrived: int
    """People who joined before the last answer. Experts are staff, and not counted here or below."""
    active: int
    """People with at least one answer."""
    found_nothing: int
    """People who never got an item, although a stage was open to them."""
    answers: int
    """Number of people's answers."""
    starved: tuple[str, ...]
    """Why the study could not be finished, by stage and gate; empty if it was."""
    curve: tuple[tuple[float, int], ...]
    """Times in hours, each with the cost up to then."""
    gates: tuple[GateRun, ...] = ()
    arms: tuple[ArmRun, ...] = ()
    notes: tuple[str, ...] = ()
    models: int = 0
    """The cost of model calls."""
    needed: int | None = None
    """The minimum number of people with whom a run with this seed finishes, if requested and found."""

    @property
    def cost(self) -> int:
        return self.base + self.finishing + self.bonus + self.fee + self.models

    @property
    def released(self) -> int:
        """Accepted labels of the final stages."""
        return sum(stage.released for stage in self.stages if stage.name in self.final)

    @property
    def complete(self) -> bool:
        return not self.starved
