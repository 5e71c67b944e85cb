"""What one performance came to: the whole of it, its stages, its gates and its arms."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SuggestionRun:
    """A measure of what suggestions of a model do to people: the means of answers with one, and of those without."""

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
    """A stage after a performance."""

    name: str
    round: bool
    """Whether everybody does the same here, so that there are no items to complete."""
    ended: bool
    """Whether a gate that closed has ended it: what it still wanted, nobody is to do any more."""
    items: int
    complete: int
    released: int
    judgments: int
    """Those that count."""
    discarded: int
    gold_answers: int
    accuracy: float | None
    """Mean score of the complete items against what is known; None if nothing is known of them."""
    released_accuracy: float | None
    """The same of those that are released."""
    quality: float | None
    """Mean score of the answers that count, by what somebody who never errs would answer; where others see them."""
    entered: int
    dropped: int
    left: int
    """People who went away in the middle of this stage."""
    gave_up: int
    """People who worked here last and did not want to wait any longer."""
    cut_off: int
    """People who were stopped in the middle of a round, as a rule since its gate had closed."""
    finished: int
    """Everybody else who had entered; in a round, they have answered all of it."""
    found_nothing: int
    """People who looked for work here when it was open to them, and never got an item."""
    locked_out: int
    """People who found it locked and never entered."""
    cost: int
    by_model: int = 0
    """Items whose label is that of a model that answered first."""
    suggestions: tuple[SuggestionRun, ...] = ()
    """What suggestions do to people, as the report measures it; none where no model suggests."""

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
    """A gate after a performance."""

    name: str
    passed: int
    not_passed: int
    undecided: int
    """People who had done enough and were never decided about."""
    ungraded: int
    """Of them, those whose answers had not got their grades when it was closed."""
    after: str
    """The last of the stages that it looks at, or that grade what was done there."""


@dataclass(frozen=True, slots=True)
class ArmRun:
    """An arm after a performance. What it was for is what is made in the last of its own stages."""

    name: str
    people: int
    """Who were put in it."""
    reached: int
    """Of them, who worked in the last of its own stages."""
    answers: int
    """What they made there, as far as it counts."""
    quality: float | None
    """The mean quality of that: the score by what somebody who never errs would have made."""
    cost: int
    """Of the stages that are its own; see `study.costs`."""
    cost_per_answer: float | None
    cost_without_training: float | None
    """Of an answer, without what was paid for training and choosing people."""
    shared: int
    """What its people had in stages that are no arm's own, such as validating what all arms made."""
    wage: int | None
    """Median, in minor units an hour."""

    @property
    def staying(self) -> float | None:
        return self.reached / self.people if self.people else None


@dataclass(frozen=True, slots=True)
class Run:
    """A whole performance."""

    seed: int
    stages: tuple[StageRun, ...]
    final: tuple[str, ...]
    """The stages that the study's results are of."""
    results: int
    """What the study releases, in the unit it is for: see `monitor.costs.study_results`."""
    base: int
    finishing: int
    """Paid for finishing rounds."""
    bonus: int
    """Paid for passing gates, for gold and for parts of answers."""
    fee: int
    wage: int | None
    """Median, in minor units an hour."""
    low_wage: int | None
    """10th percentile."""
    underpaid: float | None
    """Which share of those who worked earned less in an hour than the study's minimum."""
    hours: float
    """From the first arrival to the last answer."""
    arrived: int
    """People who came before the last answer did. Experts are staff: neither here nor below are they counted."""
    active: int
    """People who answered something."""
    found_nothing: int
    """Those of them who never got an item, and found nothing to do in a stage that was open to them."""
    answers: int
    """Theirs."""
    starved: tuple[str, ...]
    """Why the study could not be finished, stage by stage and gate by gate; empty if it was."""
    curve: tuple[tuple[float, int], ...]
    """Hours, and what had been spent by then."""
    gates: tuple[GateRun, ...] = ()
    arms: tuple[ArmRun, ...] = ()
    notes: tuple[str, ...] = ()
    models: int = 0
    """What calls of models cost."""
    needed: int | None = None
    """The fewest people with whom a run of this seed finishes, if that was asked for and found."""

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
