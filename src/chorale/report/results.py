"""The first page of a report: results, agreement, costs and, in a trial, the arms side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from chorale.engine.running import RunningStage, Study
from chorale.metrics.score_table import TOO_FEW_TEXT, Cell, ScoreTable, shown_number
from chorale.model import Item, money_text
from chorale.model.plural import plural
from chorale.monitor.costs import RESULT, CostTerms, final_stages
from chorale.monitor.outcomes import stage_results
from chorale.monitor.status import Status
from chorale.report.document import Part, Section
from chorale.report.methods import main_stages, reviewed_labels, with_interval
from chorale.report.protocol import listed
from chorale.store import Tx


@dataclass(frozen=True, slots=True)
class ResultsFacts:
    """The numbers that the first page is made from."""

    now: Status
    costs: CostTerms
    decided: int
    funnel: Mapping[str, Any]
    agreement: Mapping[str, Any]
    disagreement: Mapping[str, Any]
    fields: Mapping[str, Any]
    items: Mapping[str, Sequence[Item]]
    arms: ScoreTable | None
    imported: bool
    """Whether the work was done elsewhere."""


def results_section(study: Study, facts: ResultsFacts) -> Section:
    questions = [row for stage in main_stages(study) for row in _questions(stage, facts)]
    parts: list[Part] = [_glance(study, facts, questions)]
    if len(questions) > 1:
        parts.append(_questions_table(questions))
    if reviewed := facts.fields.get("reviewed"):
        parts.append(
            f"{reviewed_labels(reviewed)} The total number of accepted labels includes these decisions. The numbers "
            "for each question are from before the review."
        )
    if empty := [one["question"] for one in questions if one["empty"]]:
        parts.append(
            f"Questions that some annotations leave empty: {listed(empty)}. For the confidence, an empty optional "
            "field counts as a vote for no label. Unanimous items and agreement are computed from given answers only."
        )
    if left := [(one["question"], one["left_empty"]) for one in questions if one["left_empty"]]:
        named = listed([f"{name} ({plural(count, 'item', 'items')})" for name, count in left])
        parts.append(f"Items without a label, because most people left the question empty: {named}.")
    if facts.arms is not None:
        parts.append(facts.arms)
    costs = facts.costs
    json = {
        "unit": costs.unit,
        "results": costs.results,
        "decided": facts.decided,
        "cost_per_result": None if facts.imported and not facts.now.spent else costs.per_result,
        "questions": questions,
    }
    return Section("results", "Results", parts, json)


def decided_results(tx: Tx, study: Study, costs: CostTerms) -> int:
    """How many results there could be: items of the final stages, or what the study counts instead of labels."""
    last = final_stages(study)
    if costs.unit == RESULT:
        return sum(1 for stage in last for _ in stage_results(tx, study, stage).items)
    tallies = [
        export.tally(stage_results(tx, study, stage))
        for stage in last
        for export in stage.task.exports
        if export.tally is not None and export.released is not None
    ]
    return sum(sum(tally.values()) for tally in tallies)


def _glance(study: Study, facts: ResultsFacts, questions: Sequence[Mapping[str, Any]]) -> ScoreTable:
    now, costs, funnel, currency = facts.now, facts.costs, facts.funnel, study.settings.pay.currency
    rows: list[tuple[Cell, ...]] = []
    if facts.decided:
        share = f"{costs.results / facts.decided:.1%}"
        rows.append((f"{costs.unit}s", f"{costs.results:,} of {facts.decided:,} ({share})"))
    of = "" if funnel["consented"] is None else f" of {funnel['arrived']:,} who joined"
    experts = f", plus {plural(funnel['experts'], 'expert', 'experts')}" if funnel["experts"] else ""
    answers = sum(one.answers for one in now.stages)
    if facts.decided:
        in_all = "" if answers == costs.answers else f" (answers in all stages: {answers:,})"
        rows.append(("annotations in the final stages", f"{costs.answers:,}{in_all}"))
    rows.append(("people who worked", f"{funnel['worked']:,}{of}{experts}"))
    if len(questions) == 1:
        rows += _single(questions[0])
    if costs.per_result is not None and (now.spent or not facts.imported):
        bare = costs.per_result_without_training
        training = f" ({money_text(round(bare), currency)} without training)" if costs.training and bare else ""
        rows.append((f"cost per {costs.unit}", money_text(round(costs.per_result), currency) + training))
    if now.spent:
        fees = f" (fees: {money_text(now.totals['fee'], currency)})" if now.totals["fee"] else ""
        if facts.imported:
            fees = " (without fees)"
        rows.append(("total cost", money_text(now.spent, currency) + fees))
    if now.wage.median is not None and now.wage.tenth_percentile is not None:
        median, low = (money_text(amount, currency) for amount in (now.wage.median, now.wage.tenth_percentile))
        rows.append(("pay per hour", f"median {median}, 10th percentile {low}"))
    removed = plural(len({one.worker for one in now.dropped}), "worker", "workers")
    discarded = plural(sum(one.discarded for one in now.stages), "annotation", "annotations")
    count = sum(funnel["left_out"].values())
    left_out = f"; left out at import: {plural(count, 'judgment', 'judgments')}" if count else ""
    rows.append(("excluded", f"{removed}, {discarded}{left_out}"))
    return ScoreTable("The study at a glance", ("measure", "value"), rows)


def _single(question: Mapping[str, Any]) -> list[tuple[Cell, ...]]:
    """The rows about the only question of a study."""
    rows: list[tuple[Cell, ...]] = [
        (f"mean confidence ({question['question']})", shown_number(question["confidence"], 3)),
        ("unanimous items", _unanimous(question)),
    ]
    if question["alpha"] is not None:
        rows.append((f"agreement, {question['coefficient']}", with_interval(question["alpha"], 3)))
    if question["pairwise"] is not None:
        rows.append(("agreement, mean pairwise", with_interval(question["pairwise"], 3)))
    return rows


def _questions(stage: RunningStage, facts: ResultsFacts) -> list[dict[str, Any]]:
    """Every question of a stage with its labels and its agreement; nothing for a stage without labels."""
    counts = next(one for one in facts.now.stages if one.name == stage.name)
    fields = {one["field"]: one for one in facts.fields.get("compared", ()) if one["stage"] == stage.name}
    alpha = {one["field"]: one for one in facts.agreement["coefficients"] if one["stage"] == stage.name}
    pairwise = {one["field"]: one for one in facts.agreement["by_distance"] if one["stage"] == stage.name}
    unanimous = {one["field"]: one for one in facts.disagreement["unanimous"] if one["stage"] == stage.name}
    rows = []
    for name in fields or (None,):
        sure = [row.confidence for row in facts.items[stage.name] if row.confidence is not None]
        field = fields.get(name) or {
            "items": len(sure),
            "accepted": counts.released,
            "confidence": fmean(sure) if sure else None,
        }
        if not field["items"] or (name not in pairwise and name not in alpha):
            continue
        known = alpha.get(name) if alpha.get(name, {}).get("value") is not None else None
        rows.append(
            {
                "question": ": ".join(filter(None, (stage.name, name))),
                "items": field["items"],
                "accepted": field["accepted"],
                "left_empty": field.get("left_empty", 0),
                "confidence": field["confidence"],
                "coefficient": None if known is None else known["coefficient"],
                "alpha": _valued(known),
                "pairwise": _valued(pairwise.get(name)),
                "unanimous": unanimous[name]["unanimous"],
                "with_several_answers": unanimous[name]["items"],
                "empty": unanimous[name]["empty"],
            }
        )
    return rows


def _valued(scored: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if scored is None else {"value": scored["value"], "ci": scored["ci"]}


def _questions_table(questions: Sequence[Mapping[str, Any]]) -> ScoreTable:
    columns = (
        *("question", "labelled items#", "accepted#", "mean confidence#", "unanimous items#"),
        *("Krippendorff's α (95% interval)#", "pairwise agreement (95% interval)#"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            *(one["question"], one["items"], one["accepted"], one["confidence"], _unanimous(one)),
            *(_cell(one["alpha"]), _cell(one["pairwise"])),
        )
        for one in questions
    ]
    return ScoreTable("Labels and agreement per question", columns, rows, digits=3)


def _unanimous(question: Mapping[str, Any]) -> str:
    """The number of unanimous items among those with several answers, complete or not."""
    return f"{question['unanimous']:,} of {question['with_several_answers']:,}"


def _cell(scored: Mapping[str, Any] | None) -> str:
    if scored is None:
        return "–"
    ends = TOO_FEW_TEXT if scored["ci"] is None else " to ".join(shown_number(end, 3) for end in scored["ci"])
    return f"{shown_number(scored['value'], 3)} ({ends})"
