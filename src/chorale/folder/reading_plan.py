"""The minimum time for a stage's items, by the text they show, and the resulting hourly pay."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from chorale.contract import Task
from chorale.contract.reading_time import WORDS_PER_MINUTE, estimated_seconds, reading_seconds
from chorale.folder.expected_pay import expected_pay, expected_writing, works_for_nothing
from chorale.folder.reading import StageContent, StudyFolder
from chorale.model import NewItem, Payload, money_text
from chorale.model.plural import plural

LONGEST = 5
"""Number of longest items to list."""
USUAL_SECONDS = 10.0
"""Seconds per answer if the study file sets no `expected_seconds`."""


@dataclass(frozen=True, slots=True)
class ReadingPlan:
    """Estimated seconds of a stage's items: to read them and give the shortest answer."""

    mean: float
    median: float
    ninetieth: float
    longest: tuple[tuple[str, float], ...]
    """The longest items: id and seconds."""
    guidelines: float
    """Seconds to read the guidelines, once for each worker."""
    writing: float
    """Seconds to write an answer, in addition to reading its item."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The expected time of an answer, and its parts."""

    each: float
    """Seconds per answer, without the guidelines."""
    expected: bool
    """Whether `each` is the study file's `expected_seconds`; otherwise it is the time to read and write."""
    guidelines: float
    """Seconds to read the guidelines, once, before the first of these answers."""
    answers: float
    """The planned number of answers per worker."""
    paid: float
    """The expected pay of an answer, in minor units of the currency."""

    @property
    def seconds(self) -> float:
        """Seconds per answer, with its share of the guidelines."""
        return self.each + self.guidelines / max(self.answers, 1)


def pace_of(expected: int | None, reading: ReadingPlan | None, answers: float, paid: float) -> Pace | None:
    """The expected time of an answer: the study file's value, but at least the time to read and write."""
    if expected is None:
        return None
    if reading is None:
        return Pace(expected, True, 0.0, answers, paid)
    least = reading.mean + reading.writing
    return Pace(max(expected, least), expected >= least, reading.guidelines, answers, paid)


def simulated_seconds(content: StageContent) -> float:
    """The usual seconds that a simulated worker takes per answer: the expected time, as for the hourly pay."""
    expected = content.settings.pay.expected_seconds
    pace = None if expected is None else pace_of(expected, reading_plan(content), 1, 0)
    return USUAL_SECONDS if pace is None else pace.each


def times_of(task: Task, items: Sequence[NewItem]) -> list[tuple[str, float]]:
    """The estimated seconds of every item, the longest first."""
    return sorted(((item.key, estimated_seconds(task, item.payload)) for item in items), key=lambda one: -one[1])


def reading_plan(content: StageContent) -> ReadingPlan | None:
    """The times of a stage whose items are in files; None if items come from earlier stages."""
    items = content.items or [row.item for row in content.gold if content.settings.round is not None]
    times = times_of(content.task, items)
    if not times:
        return None
    seconds = [each for _, each in times]
    return ReadingPlan(
        fmean(seconds),
        median(seconds),
        seconds[len(seconds) // 10],
        tuple(times[:LONGEST]),
        reading_seconds(content.guidelines),
        expected_writing(content.settings.pay, content.task, content.known),
    )


def pay_each(content: StageContent, shown: Sequence[Payload] | None = None) -> float:
    """The expected pay of an answer in a stage, for items like the known ones or those `shown`."""
    if shown is None:
        shown = [item.payload for item in content.items or [row.item for row in content.gold]]
    return expected_pay(content.settings.pay, content.task, content.known, shown)


def reading_notes(folder: StudyFolder) -> Iterator[str]:
    """Notes on stages whose items take longer than the study file expects, and on items paid below the minimum."""
    pay = folder.settings.pay
    for content in folder.stages:
        stage, plan = content.settings, reading_plan(content)
        if plan is None or works_for_nothing(stage.entry, stage.pay):
            continue
        expected = stage.pay.expected_seconds
        if expected is not None and plan.mean + plan.writing > expected:
            writing = f" and {plan.writing:.0f} to write the answer" if plan.writing else ""
            yield (
                f"the items of stage {stage.name} take about {plan.mean:.0f} seconds to read ({WORDS_PER_MINUTE} words "
                f"a minute; median {plan.median:.0f}, 90th percentile {plan.ninetieth:.0f}){writing}, but "
                f"stage.pay.expected_seconds is {expected}. Raise it. The longest: {_named(plan.longest)}"
            )
        if not pay.minimum_hourly or stage.round is not None:
            continue
        paid = {item.key: pay_each(content, [item.payload]) for item in content.items}
        times = times_of(content.task, content.items)
        low = [one for one in times if 0 < paid[one[0]] * 3600 < pay.minimum_hourly * (one[1] + plan.writing)]
        if low:
            wage = money_text(
                int(min(paid[key] * 3600 // (seconds + plan.writing) for key, seconds in low)), pay.currency
            )
            yield (
                f"{plural(len(low), 'item', 'items')} of {len(content.items):,} in stage {stage.name} pay less than "
                f"{money_text(pay.minimum_hourly, pay.currency)} an hour for the time to read them, down to {wage}: "
                f"{_named(low[:LONGEST])}. Shorten them, raise per_judgment, or set by_length"
            )


def _named(times: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{key} ({seconds:.0f} s)" for key, seconds in times)
