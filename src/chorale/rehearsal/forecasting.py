"""From many simulated runs to a forecast: means, with intervals that contain nine in ten runs."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import floor
from statistics import fmean
from typing import Any

from chorale.rehearsal.runs import Run, StageRun
from chorale.rehearsal.varying import Variation

LOW, HIGH = 0.05, 0.95
ENOUGH_RUNS = 5
"""With fewer runs, an interval goes from the lowest to the highest."""


@dataclass(frozen=True, slots=True)
class ForecastEstimate:
    """A mean over runs, with the interval of the middle 90% of runs, or of all runs if there are fewer than five."""

    mean: float
    low: float
    high: float


def estimate(values: Sequence[float]) -> ForecastEstimate | None:
    """
    >>> estimate([1, 2, 3, 4, 5])
    ForecastEstimate(mean=3.0, low=1.2, high=4.8)
    >>> estimate([1, 3])
    ForecastEstimate(mean=2.0, low=1, high=3)
    """
    if not values:
        return None
    ordered = sorted(values)
    if len(ordered) < ENOUGH_RUNS:
        return ForecastEstimate(fmean(ordered), ordered[0], ordered[-1])
    return ForecastEstimate(fmean(ordered), _quantile(ordered, LOW), _quantile(ordered, HIGH))


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of a run or of a stage."""

    key: str
    title: str
    unit: str
    """money, share, hours, count or number."""
    of: Callable[[Any], float | None]


def _part(count: int, whole: int) -> float | None:
    return count / whole if whole else None


def _of_items(stage: StageRun, count: int) -> float | None:
    return None if stage.round else _part(count, stage.items)


def quality_stage(run: Run) -> StageRun | None:
    """The last stage with known correct answers."""
    return next((stage for stage in reversed(run.stages) if stage.accuracy is not None), None)


def quality_of_answers(run: Run) -> tuple[str, float] | None:
    """Quality of people's answers and where it was measured: in the arms, or in the last stage with known quality."""
    arms = [arm.quality for arm in run.arms if arm.quality is not None]
    if arms:
        return "mean of the arms", fmean(arms)
    known = [(stage.name, stage.quality) for stage in run.stages if stage.quality is not None]
    return known[-1] if known else None


OF_RUNS = (
    Measure("finished", "runs that finished", "share", lambda run: float(run.complete)),
    Measure("cost", "cost", "money", lambda run: run.cost),
    Measure("base", "  pay for annotations", "money", lambda run: run.base),
    Measure("finishing", "  pay for finished rounds and grading stages", "money", lambda run: run.finishing),
    Measure("bonus", "  bonuses", "money", lambda run: run.bonus),
    Measure("fee", "  fees", "money", lambda run: run.fee),
    Measure("models", "  model calls", "money", lambda run: run.models),
    Measure("cost_per_result", "cost of an accepted label", "money", lambda run: _part(run.cost, run.results)),
    Measure("wage", "hourly wage (median)", "money", lambda run: run.wage),
    Measure("low_wage", "hourly wage (10th percentile)", "money", lambda run: run.low_wage),
    Measure("underpaid", "people who earn less than the minimum", "share", lambda run: run.underpaid),
    Measure("hours", "hours from the first person to the last answer", "hours", lambda run: run.hours),
    Measure("needed", "minimum number of people", "count", lambda run: run.needed),
    Measure("arrived", "people who joined", "count", lambda run: run.arrived),
    Measure("active", "people who worked", "count", lambda run: run.active),
    Measure("found_nothing", "people who got no item in any stage", "count", lambda run: run.found_nothing),
    Measure("answers", "answers by people", "count", lambda run: run.answers),
)
RESULTS_OF_STAGES = (
    Measure("accuracy", "labels correct", "share", lambda stage: stage.accuracy),
    Measure("released", "labels accepted", "share", lambda stage: _of_items(stage, stage.released)),
    Measure("released_accuracy", "accepted labels correct", "share", lambda stage: stage.released_accuracy),
    Measure("quality", "quality of answers", "share", lambda stage: stage.quality),
)
WORK_OF_STAGES = (
    Measure("items", "items", "count", lambda stage: None if stage.round else stage.items),
    Measure(
        "complete", "items complete", "share", lambda stage: None if stage.ended else _of_items(stage, stage.complete)
    ),
    Measure("by_model", "labelled by a model", "share", lambda stage: _of_items(stage, stage.by_model) or None),
    Measure("judgments_per_item", "annotations per item", "number", lambda stage: stage.judgments_per_item),
    Measure("discarded", "annotations excluded", "count", lambda stage: stage.discarded),
    Measure("gold_per_worker", "gold answers per worker", "number", lambda stage: stage.gold_per_worker),
    Measure("cost", "cost", "money", lambda stage: stage.cost),
)
PEOPLE_IN_STAGES = (
    Measure("entered", "entered", "count", lambda stage: stage.entered),
    Measure("dropped", "removed", "count", lambda stage: stage.dropped),
    Measure("left", "left early", "count", lambda stage: stage.left),
    Measure("gave_up", "gave up waiting", "count", lambda stage: stage.gave_up),
    Measure("cut_off", "cut off", "count", lambda stage: stage.cut_off),
    Measure("finished", "finished", "count", lambda stage: stage.finished),
    Measure("found_nothing", "got no item in this stage", "count", lambda stage: stage.found_nothing),
    Measure("locked_out", "not admitted", "count", lambda stage: stage.locked_out),
)
OF_STAGES = (*RESULTS_OF_STAGES, *WORK_OF_STAGES, *PEOPLE_IN_STAGES)


OF_ARMS = (
    Measure("people", "people", "count", lambda arm: arm.people),
    Measure("reached", "reached its last stages", "count", lambda arm: arm.reached),
    Measure("staying", "fraction who reached its last stages", "share", lambda arm: arm.staying),
    Measure("answers", "answers in its last stages", "count", lambda arm: arm.answers),
    Measure("quality", "quality of answers in its last stages", "share", lambda arm: arm.quality),
    Measure("cost", "cost of its own stages", "money", lambda arm: arm.cost),
    Measure("cost_per_answer", "cost of an answer", "money", lambda arm: arm.cost_per_answer),
    Measure("cost_without_training", "without training", "money", lambda arm: arm.cost_without_training),
    Measure("shared", "cost in shared stages", "money", lambda arm: arm.shared),
    Measure("wage", "hourly wage", "money", lambda arm: arm.wage),
)
OF_GATES = (
    Measure("passed", "passed", "count", lambda gate: gate.passed),
    Measure("not_passed", "not passed", "count", lambda gate: gate.not_passed),
    Measure("undecided", "no decision", "count", lambda gate: gate.undecided),
    Measure("ungraded", "no decision, grades missing", "count", lambda gate: gate.ungraded),
)


OF_SUGGESTIONS = (
    Measure("with_suggestion", "with suggestion", "number", lambda one: one.with_suggestion),
    Measure("without", "without", "number", lambda one: one.without),
    Measure("difference", "difference", "number", lambda one: one.difference),
)


@dataclass(frozen=True)
class Forecast:
    """The forecast of one variation."""

    variation: Variation
    runs: Sequence[Run]

    @property
    def stages(self) -> list[str]:
        return [stage.name for stage in self.runs[0].stages]

    @property
    def gates(self) -> list[str]:
        return [gate.name for gate in self.runs[0].gates]

    def of(self, measure: Measure) -> ForecastEstimate | None:
        return estimate([value for run in self.runs if (value := measure.of(run)) is not None])

    def of_stage(self, name: str, measure: Measure) -> ForecastEstimate | None:
        stages = (stage for run in self.runs for stage in run.stages if stage.name == name)
        return estimate([value for stage in stages if (value := measure.of(stage)) is not None])

    @property
    def arms(self) -> list[str]:
        return [arm.name for arm in self.runs[0].arms]

    def of_arm(self, name: str, measure: Measure) -> ForecastEstimate | None:
        arms = (arm for run in self.runs for arm in run.arms if arm.name == name)
        return estimate([value for arm in arms if (value := measure.of(arm)) is not None])

    def of_gate(self, name: str, measure: Measure) -> ForecastEstimate | None:
        return estimate([measure.of(gate) or 0 for run in self.runs for gate in run.gates if gate.name == name])

    def suggestions_in(self, stage: str) -> list[str]:
        """The measures of a model's suggestions in a stage; empty if no model suggests."""
        return [one.measure for each in self.runs[0].stages if each.name == stage for one in each.suggestions]

    def of_suggestions(self, stage: str, named: str, measure: Measure) -> ForecastEstimate | None:
        runs = (each for run in self.runs for each in run.stages if each.name == stage)
        measured = (one for each in runs for one in each.suggestions if one.measure == named)
        return estimate([value for one in measured if (value := measure.of(one)) is not None])

    @property
    def quality(self) -> ForecastEstimate | None:
        """Accuracy of accepted labels in the last stage with known correct answers."""
        stages = (quality_stage(run) for run in self.runs)
        return estimate([stage.released_accuracy for stage in stages if stage and stage.released_accuracy is not None])

    @property
    def quality_of(self) -> str | None:
        """The name of the last stage with known correct answers."""
        measured = next((stage for run in self.runs if (stage := quality_stage(run))), None)
        return None if measured is None else measured.name

    @property
    def answers_quality(self) -> ForecastEstimate | None:
        """The quality of people's answers, where others see them."""
        return estimate([rated[1] for run in self.runs if (rated := quality_of_answers(run))])

    @property
    def answers_quality_of(self) -> str | None:
        """The name of the stage that `answers_quality` is from, or the words “mean of the arms”."""
        return next((rated[0] for run in self.runs if (rated := quality_of_answers(run))), None)

    @property
    def final(self) -> tuple[str, ...]:
        """The stages with the study's results."""
        return self.runs[0].final

    @property
    def released(self) -> ForecastEstimate | None:
        """Share of the final stages' labels that are accepted."""
        shares = [
            _part(run.released, sum(stage.items for stage in run.stages if stage.name in run.final))
            for run in self.runs
        ]
        return estimate([share for share in shares if share is not None])

    @property
    def finished(self) -> int:
        return sum(run.complete for run in self.runs)

    @property
    def starved(self) -> list[str]:
        """Why runs did not finish: one example per stage or gate, with the number of runs."""
        examples: dict[str, str] = {}
        counts: Counter[str] = Counter()
        for run in self.runs:
            for reason in run.starved:
                where = reason.partition(":")[0]
                examples.setdefault(where, f"{reason} (seed {run.seed})")
                counts[where] += 1
        many = f"{len(self.runs)} run{'' if len(self.runs) == 1 else 's'}"
        return [f"in {counts[where]} of {many}, {example}" for where, example in examples.items()]

    @property
    def notes(self) -> list[str]:
        return list(dict.fromkeys(note for run in self.runs for note in run.notes))

    def as_json(self) -> dict[str, Any]:
        return {
            "values": dict(self.variation.values),
            "runs": len(self.runs),
            "finished": self.finished,
            "quality": _json(self.quality),
            "quality_of": self.quality_of,
            "answers_quality": _json(self.answers_quality),
            "answers_quality_of": self.answers_quality_of,
            "final_stages": list(self.final),
            **{measure.key: _json(self.of(measure)) for measure in OF_RUNS if measure.key != "finished"},
            "stages": {
                name: {each.key: _json(self.of_stage(name, each)) for each in OF_STAGES} for name in self.stages
            },
            "gates": {name: {each.key: _json(self.of_gate(name, each)) for each in OF_GATES} for name in self.gates},
            "arms": {name: {each.key: _json(self.of_arm(name, each)) for each in OF_ARMS} for name in self.arms},
            "suggestions": {name: self._suggestions_json(name) for name in self.stages if self.suggestions_in(name)},
            "starved": self.starved,
            "notes": self.notes,
        }

    def _suggestions_json(self, stage: str) -> dict[str, Any]:
        return {
            what: {each.key: _json(self.of_suggestions(stage, what, each)) for each in OF_SUGGESTIONS}
            for what in self.suggestions_in(stage)
        }


def _json(measured: ForecastEstimate | None) -> dict[str, float] | None:
    return None if measured is None else asdict(measured)
