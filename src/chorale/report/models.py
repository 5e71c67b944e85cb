"""Models that annotated: versions, dates, prompts, costs and calibration."""

from collections.abc import Iterator, Sequence

from chorale.metrics.score_table import ScoreTable
from chorale.model.money import exact_money_text
from chorale.model.plural import plural
from chorale.monitor.models import ModelRecord, records_table, reliability_table, troubles_table
from chorale.report.document import Part, Section

_ROLES = {
    "beside": "kept separate from all labels",
    "worker": "counted as annotations",
    "round": "graded against known answers",
}


def models_sections(records: Sequence[ModelRecord], currency: str) -> Iterator[Section]:
    """A section in studies with models."""
    if not records:
        return
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
    columns = ("model", "stage", "version as reported", "dates", "SHA-256 of the prompts' hashes")
    details: list[Part] = [ScoreTable("Versions and prompts", columns, versions)]
    details += [table for table in (reliability_table(records), troubles_table(records)) if table is not None]
    details.append(
        "ECE is the expected calibration error: the mean distance between confidence and the fraction of correct gold "
        "answers. `chorale models` tests whether models may replace people."
    )
    json = [record.as_json() for record in records]
    yield Section("models", "Models", [records_table(records, currency)], json, details)


def model_sentences(records: Sequence[ModelRecord], currency: str) -> Iterator[str]:
    """Sentences on the models, as a paper has them."""
    for one in records:
        version = f" ({', '.join(one.versions)})" if one.versions else ""
        dates = one.began_on if one.began_on == one.ended_on else f"{one.began_on} to {one.ended_on}"
        refused = one.outcomes.get("refusal", 0)
        skipped = f", {plural(one.skipped, 'item was', 'items were')} skipped" if one.skipped else ""
        refusals = f", {plural(refused, 'call was', 'calls were')} refused" if refused else ""
        yield (
            f"The model {one.model}{version} annotated {plural(one.answered, 'item', 'items')} of {one.stage} "
            f"({dates}; prompts {one.prompts[:12]}). It took {plural(one.calls, 'call', 'calls')} at "
            f"{exact_money_text(one.cost, currency)}{skipped}{refusals}. Its answers were {_ROLES[one.role]}."
        )
