"""A paragraph for the methods section of a paper, every number in it computed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chorale import __version__
from chorale.formats.wording import many
from chorale.model import money_text
from chorale.report.study_report.protocol import judgments_in_words
from chorale.store.attendees import Attendees
from chorale.study import Study
from chorale.study.costs import CostTerms
from chorale.study.status import Status


def methods_paragraph(
    study: Study,
    now: Status,
    costs: CostTerms,
    came: Attendees,
    worked: int,
    agreement: Mapping[str, Any],
    imported: Sequence[str] = (),
) -> str:
    """`imported` are the files that the work was imported from, if it was done elsewhere."""
    return " ".join(_sentences(study, now, costs, came, worked, agreement, imported))


def _sentences(
    study: Study,
    now: Status,
    costs: CostTerms,
    came: Attendees,
    worked: int,
    agreement: Mapping[str, Any],
    imported: Sequence[str],
) -> Iterator[str]:
    judgments = sum(one.judgments for one in now.stages)
    stages = [study.stage(one.name) for one in now.stages]
    asked = [stage for stage in stages if stage.settings.round is None]
    if imported:
        yield (
            f"The data are {many(judgments, 'judgment', 'judgments')} by {many(worked, 'person', 'people')}, collected "
            f"elsewhere and imported into Chorale {__version__} from {', '.join(imported)}."
        )
    else:
        yield (
            f"We collected {many(judgments, 'judgment', 'judgments')} in {many(len(stages), 'stage', 'stages')} with "
            f"Chorale {__version__} (seed {study.settings.study.seed}); {many(worked, 'person', 'people')} worked, of "
            f"{came.arrived:,} who came."
        )
    for stage in asked:
        counts = next(one for one in now.stages if one.name == stage.name)
        made = f" made from {' and '.join(stage.settings.sources)}" if stage.settings.sources else ""
        released = f", and {counts.released:,} results were released" if not stage.settings.grades else ""
        yield (
            f"In {stage.name} ({stage.task.name}), each of {many(counts.items, 'item', 'items')}{made} was to get "
            f"{judgments_in_words(stage.settings)}; {counts.complete:,} were completed, with {counts.judgments:,} that "
            f"count{released}."
        )
    dropped = sum(one.dropped for one in now.stages)
    if any(stage.settings.gold is not None for stage in stages):
        gold = sum(one.gold_answers for one in now.stages)
        yield (
            f"Quality was checked with {many(gold, 'answer', 'answers')} to items with known answers; "
            f"{many(dropped, 'time', 'times')} a worker was dropped from a stage, and "
            f"{many(sum(one.discarded for one in now.stages), 'judgment', 'judgments')} did not count."
        )
    yield from _agreement(agreement.get("coefficients", ()))
    yield from _money(study, now, costs)


def _agreement(coefficients: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    known = [one for one in coefficients if one.get("value") is not None]
    if not known:
        return
    told = []
    for one in known:
        drawn = f", 95% interval {one['ci'][0]:.2f} to {one['ci'][1]:.2f}" if one.get("ci") else ""
        told.append(f"{one['value']:.2f} in {one['question']} ({one['coefficient']}{drawn})")
    yield f"Agreement was {'; '.join(told)}."


def _money(study: Study, now: Status, costs: CostTerms) -> Iterator[str]:
    if not now.spent:
        return
    currency = study.settings.pay.currency
    fees = f", {money_text(now.totals['fee'], currency)} of it fees" if now.totals["fee"] else ""
    each = ""
    if costs.per_result is not None:
        each = f", or {money_text(round(costs.per_result), currency)} for each of {costs.results:,} released results"
    yield f"The study cost {money_text(now.spent, currency)}{fees}{each}."
    if now.wage.median is not None:
        yield f"The median worker earned {money_text(now.wage.median, currency)} an hour."
