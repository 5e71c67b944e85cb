"""Models that annotated: versions, dates, prompts, costs and calibration."""

from collections.abc import Iterator, Sequence

from chorale.engine.running import Study
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import ScoreTable
from chorale.metrics.scoring.estimates import EstimateOptions, score_estimates
from chorale.model import UserError
from chorale.model.money import exact_money_text
from chorale.model.plural import plural
from chorale.monitor.first_pass import FirstRecord, estimate_columns, first_sentences, first_table
from chorale.monitor.models import ModelRecord, label_reader, records_table, reliability_table, troubles_table
from chorale.monitor.quality_cost import annotators, quality_cost_chart, quality_cost_table
from chorale.monitor.suggestions import SuggestionEffect, measured_suggestions, suggestions_table
from chorale.report.document import Figure, Part, Section
from chorale.store import Tx

_ROLES = {
    "beside": "were kept separate from all labels",
    "worker": "were counted as annotations",
    "first": "became the labels of items that people did not annotate",
    "suggest": "were suggested to workers, who could correct them",
    "round": "were graded against known answers",
}
"""The use of a model's answers, by its role."""


def models_sections(
    tx: Tx,
    study: Study,
    records: Sequence[ModelRecord],
    first: Sequence[FirstRecord],
    resampling: Resampling,
    *,
    with_arms: bool,
    draw: bool,
) -> Iterator[Section]:
    """One section on models; none if no model has annotated."""
    if not records:
        return
    currency = study.settings.pay.currency
    versions = [
        (
            one.model,
            one.stage,
            ", ".join(one.versions) or "not reported",
            f"{one.began_on} to {one.ended_on}",
            one.prompts,
        )
        for one in records
    ]
    columns = ("model", "stage", "version as reported", "dates", "SHA-256 of all prompt hashes")
    suggested = _suggested(tx, study, resampling, with_arms=with_arms)
    compared = annotators(tx, study, records)
    prices = quality_cost_table(compared, currency)
    chart = quality_cost_chart(compared, currency) if draw and prices is not None else None
    parts: list[Part] = [
        records_table(records, currency),
        *([] if prices is None else [Figure(prices.title, prices, chart)]),
        *_first_parts(tx, study, first),
        *(suggestions_table(stage, measured) for stage, measured in suggested.items()),
    ]
    details: list[Part] = [ScoreTable("Versions and prompts", columns, versions)]
    details += [table for table in (reliability_table(records), troubles_table(records)) if table is not None]
    details.append(
        "ECE is the expected calibration error: the mean distance between confidence and the fraction of correct gold "
        "answers. `chorale models` tests whether models may replace people."
    )
    json = {
        "models": [record.as_json() for record in records],
        "first": [record.as_json() for record in first],
        "quality_cost": [one.as_json() for one in compared],
        "suggestions": {stage: [one.as_json() for one in measured] for stage, measured in suggested.items()},
    }
    yield Section("models", "Models", parts, json, details)


def _suggested(
    tx: Tx, study: Study, resampling: Resampling, *, with_arms: bool
) -> dict[str, Sequence[SuggestionEffect]]:
    """The effect of suggestions, by stage. If arms differ in suggestions, only in reports with results by arm."""
    by_stage: dict[str, Sequence[SuggestionEffect]] = {}
    for stage in study.stages.values():
        rule = stage.settings.models
        if rule is not None and rule.role == "suggest" and (with_arms or not rule.arms):
            by_stage[stage.name] = measured_suggestions(tx, study, stage, resampling)
    return by_stage


def _first_parts(tx: Tx, study: Study, first: Sequence[FirstRecord]) -> Iterator[Part]:
    """For stages where a model answers first: who labelled how many items, and estimates corrected by the audit.

    These estimate the share of each label or, for ratings, the mean.
    """
    table = first_table(first)
    if table is None:
        return
    yield from first_sentences(first)
    yield table
    for record in first:
        try:
            columns = estimate_columns(tx, study.stage(record.stage), label_reader(study.stage(record.stage), None))
            del columns["item"]
            yield score_estimates(columns, EstimateOptions(probability="probability")).tables[0]
        except UserError:
            continue  # people are still working, or there are no labels yet


def model_sentences(records: Sequence[ModelRecord], currency: str) -> Iterator[str]:
    """A paragraph's sentences on the models, for a paper."""
    for record in records:
        version = f" ({', '.join(record.versions)})" if record.versions else ""
        dates = record.began_on if record.began_on == record.ended_on else f"{record.began_on} to {record.ended_on}"
        refused = record.outcomes.get("refusal", 0)
        skipped = f" {plural(record.skipped, 'item was', 'items were')} skipped." if record.skipped else ""
        refusals = f" {plural(refused, 'call was', 'calls were')} refused." if refused else ""
        yield (
            f"The model {record.model}{version} annotated {plural(record.answered, 'item', 'items')} of {record.stage} "
            f"({dates}; prompts {record.prompts[:12]}). It made {plural(record.calls, 'call', 'calls')}, which cost "
            f"{exact_money_text(record.cost, currency)} in total.{skipped}{refusals} Its answers {_ROLES[record.role]}."
        )
