"""Models that annotated: which, when, how, what they cost, and how far their confidence can be believed."""

from collections.abc import Iterator, Sequence

from chorale.metrics.score_table import ScoreTable
from chorale.model.money import exact_money_text
from chorale.model.plural import plural
from chorale.monitor.models import ModelRecord, records_table, reliability_table, troubles_table
from chorale.report.document import Part, Section

_ROLES = {
    "beside": "kept apart from all labels",
    "worker": "counted like a worker's",
    "round": "graded by known answers",
}


def models_sections(records: Sequence[ModelRecord], currency: str) -> Iterator[Section]:
    """A section where models were asked, and none where not."""
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
    parts: list[Part] = [
        *model_sentences(records, currency),
        records_table(records, currency),
        ScoreTable("Versions and prompts", columns, versions),
    ]
    parts += [table for table in (reliability_table(records), troubles_table(records)) if table is not None]
    parts.append(
        "ECE is the expected calibration error: how far confidence is from the fraction of right answers to gold, on "
        "average. `chorale models` tests whether models may take people's place."
    )
    yield Section("models", "Models", parts, [record.as_json() for record in records])


def model_sentences(records: Sequence[ModelRecord], currency: str) -> Iterator[str]:
    """What a paper says of the models."""
    for one in records:
        version = f" ({', '.join(one.versions)})" if one.versions else ""
        dates = one.began_on if one.began_on == one.ended_on else f"{one.began_on} to {one.ended_on}"
        refused = one.outcomes.get("refusal", 0)
        skipped = f", {plural(one.skipped, 'item was', 'items were')} skipped" if one.skipped else ""
        refusals = f", {plural(refused, 'call was', 'calls were')} refused" if refused else ""
        yield (
            f"The model {one.model}{version} annotated {plural(one.answered, 'item', 'items')} of {one.stage} in "
            f"{plural(one.calls, 'call', 'calls')} ({dates}; prompts {one.prompts[:12]}{skipped}{refusals}), for "
            f"{exact_money_text(one.cost, currency)}; its answers were {_ROLES[one.role]}."
        )
