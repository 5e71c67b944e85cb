"""Agreement between people, and the labels that other aggregation methods give."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import combinations
from typing import Any

import numpy as np

from chorale.contract import AnswerField
from chorale.engine.running import RunningStage
from chorale.metrics import Metric, Statistics, ratio, signature
from chorale.metrics.aggregation.result import certainty
from chorale.metrics.reading.judged import ReadJudgments
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import Cell, ScoreTable, shown_ends
from chorale.metrics.scoring.aggregating import AggregationRequest, score_aggregation
from chorale.metrics.scoring.aggregation_intervals import mean_intervals
from chorale.metrics.scoring.agreement import score_agreement
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.report.document import Bullets, Part, Section
from chorale.report.questions import AnsweredQuestion
from chorale.store.responses import CountedAnswer

METHODS = ("majority", "dawid-skene", "mace")
_MOST_JUDGMENTS = 60
"""Maximum number of answers per item whose pairs are compared by the task's distance. If an item
has more answers, an even selection of them is used."""
_MOST_KNOWN = 10_000
"""Number of cached distances: with few different answers, the same pairs recur."""
_ABOUT_DIGESTS = (
    "The digest in a signature is computed from the annotations that count, not from a whole file. This table shows "
    "which annotations they are, and in which file of the data card they can be found."
)
_SHARE = Metric(
    lambda sums: {"agreement": ratio(sums[..., 0], sums[..., 1])}, wholes=lambda sums: {"agreement": sums[..., 1]}
)


def agreement_section(
    stages: Mapping[str, tuple[RunningStage, Sequence[CountedAnswer]]],
    questions: Sequence[AnsweredQuestion],
    resampling: Resampling,
    file: str,
) -> Section:
    """The section on agreement. `file` is the file of the dataset that has the annotations."""
    notes: list[str] = []
    signatures: list[str] = []
    by_distance = [
        scored
        for stage, responses in stages.values()
        for field in stage.task.shape.compared or (None,)
        if (scored := pairwise_agreement(stage, responses, resampling, field)) is not None
    ]
    coefficients = [_coefficients(one, resampling, signatures, notes) for one in questions]
    details: list[Part] = []
    columns: tuple[str, ...]
    if coefficients:
        columns = ("question", "coefficient", "value#", "95% interval#", "items#", "workers#", "annotations#")
        details.append(ScoreTable("Agreement beyond chance", columns, [_row(one) for one in coefficients], digits=3))
    if by_distance:
        columns = ("question", "agreement#", "95% interval#", "items#", "pairs of answers#")
        rows: list[tuple[Cell, ...]] = [
            (_title(one), one["value"], shown_ends(one["ci"], 3), one["items"], one["pairs"]) for one in by_distance
        ]
        details.append(
            "Mean pairwise agreement is 1 − distance, averaged over pairs of answers to the same item. Each field has "
            "its own distance. Free text is not compared."
        )
        details.append(ScoreTable("Mean pairwise agreement", columns, rows, digits=3))
        signatures += [one["signature"] for one in by_distance]
    if not details:
        details.append("No item has two answers, so agreement cannot be measured.")
    details += [Bullets(notes)] if notes else []
    if signatures:
        details += ["Signatures, to compute the values again:", Bullets(signatures)]
        details += [_ABOUT_DIGESTS, _digests_table(stages, questions, bool(by_distance), file)]
    json = {"by_distance": by_distance, "coefficients": coefficients}
    return Section("agreement", "Agreement", [], json, details)


def _digests_table(
    stages: Mapping[str, tuple[RunningStage, Sequence[CountedAnswer]]],
    questions: Sequence[AnsweredQuestion],
    by_distance: bool,
    file: str,
) -> ScoreTable:
    """The annotations that each digest in a signature was computed from, and the file that has them."""
    rows: list[tuple[Cell, ...]] = [
        (one.digest, f"answers to {one.question.title}", len(one.judgments), file) for one in questions
    ]
    if by_distance:
        rows += [
            (responses_digest(given), f"all answers in {name}", len(given), file)
            for name, (_, given) in stages.items()
            if given
        ]
    return ScoreTable("Digests in signatures", ("digest", "annotations", "number#", "file of the dataset"), rows)


def _title(scored: Mapping[str, Any]) -> str:
    return f"{scored['stage']}: {scored['field']}" if scored["field"] else str(scored["stage"])


def pairwise_agreement(
    stage: RunningStage, responses: Sequence[CountedAnswer], resampling: Resampling, field: AnswerField | None
) -> dict[str, Any] | None:
    """Mean of 1 − distance over pairs of answers to an item, in a field or as a whole; None if no item has two."""
    distance = stage.task.combining.distance if field is None else field.distance
    by_item: dict[str, list[Any]] = {}
    for row in responses:
        value = row.answer if field is None else row.answer.get(field.name)
        if value is not None:
            by_item.setdefault(row.item, []).append(value)
    items, rows = [], []
    known: dict[tuple[str, str], float] = {}
    for item, given in by_item.items():
        if len(given) < 2:
            continue
        some = min(len(given), _MOST_JUDGMENTS)
        answers = [given[place * len(given) // some] for place in range(some)]
        items.append(item)
        # Items are weighted by their number of pairs.
        rows.append((_closeness(answers, distance, known), some * (some - 1) // 2))
    if not items:
        return None
    statistics = Statistics(tuple(items), np.array(rows, dtype=np.float64))
    named = {} if field is None else {"field": field.name}
    settings = {"task": stage.task.name, "stage": stage.name, **named, **resampling.settings()}
    digest = responses_digest(responses)
    return {
        "stage": stage.name,
        "field": None if field is None else field.name,
        "value": _SHARE.scores(statistics)["agreement"],
        "ci": resampling.intervals(statistics, _SHARE)["agreement"].as_list(),
        "items": len(items),
        "pairs": int(statistics.rows[:, 1].sum()),
        "signature": signature("task-distance", settings, {"answers": digest}),
    }


def _closeness(
    answers: Sequence[Any], distance: Callable[[Any, Any], float], known: dict[tuple[str, str], float]
) -> float:
    """The sum of 1 − distance over all pairs. Equal answers, which are common, are compared once."""
    different = {repr(answer): answer for answer in answers}
    counts = Counter(map(repr, answers))
    total = sum(count * (count - 1) / 2 for count in counts.values())
    for pair in combinations(sorted(different), 2):
        apart = known.get(pair)
        if apart is None:
            apart = distance(different[pair[0]], different[pair[1]])
            if len(known) < _MOST_KNOWN:
                known[pair] = apart
        total += counts[pair[0]] * counts[pair[1]] * (1 - apart)
    return total


def responses_digest(responses: Sequence[CountedAnswer]) -> str:
    digest = sha256()
    for row in responses:
        digest.update(repr((row.item, row.worker, row.answer)).encode("utf-8", "replace"))
    return digest.hexdigest()[:8]


def _coefficients(
    answered: AnsweredQuestion, resampling: Resampling, signatures: list[str], notes: list[str]
) -> dict[str, Any]:
    question = answered.question
    of = {"stage": question.stage, "field": question.name or None}
    judged = ReadJudgments(question.title, answered.judgments, answered.digest)
    try:
        scored = score_agreement(judged, question.options(), resampling)
    except UserError as error:
        notes.append(f"{question.title}: {error.message}")
        return {"question": question.title, **of, "coefficient": "alpha", "value": None}
    signatures.append(scored.signature)
    # Notes on labels that are compared as text do not apply to values with a distance of their own.
    notes += answered.notes
    notes += [
        f"{question.title}: {note}"
        for note in scored.notes
        if not (question.by_distance and "compared as text" in note)
    ]
    return {
        "question": question.title,
        **of,
        "coefficient": f"Krippendorff's α ({question.measured})",
        "value": scored.json["value"],
        "ci": scored.json.get("ci"),
        "items": scored.json["n_items"],
        "workers": scored.json["n_workers"],
        "judgments": scored.json["n_judgments"],
        "signature": scored.signature,
    }


def _row(coefficient: Mapping[str, Any]) -> tuple[Cell, ...]:
    value = coefficient["value"] if coefficient["value"] is not None else "undefined"
    drawn = "" if coefficient["value"] is None else shown_ends(coefficient["ci"], 3)
    counts = (coefficient.get(name) for name in ("items", "workers", "judgments"))
    return coefficient["question"], coefficient["coefficient"], value, drawn, *counts


def aggregation_section(questions: Sequence[AnsweredQuestion], resampling: Resampling) -> Section:
    aggregations: list[dict[str, Any]] = []
    notes: list[str] = []
    for answered in (one for one in questions if not one.question.by_distance):
        for method in METHODS:
            try:
                aggregations.append(_aggregated(answered, method, resampling))
            except (UserError, ValueError) as error:
                notes.append(f"{answered.question.title}, {method}: {error}")
    rows: list[tuple[Cell, ...]] = [
        (each["question"], each["method"], each["items"], each["certainty"], shown_ends(each["ci"], 3),
         each["same_as_study"], each["compared"])
        for each in aggregations
    ]  # fmt: skip
    columns = (
        *("question", "method", "items#", "mean certainty#", "95% interval#"),
        *("same label as the study#", "compared#"),
    )
    details: list[Part] = []
    if rows:
        details += [
            "Other aggregation methods, applied to the same annotations; empty answers are left out.",
            "Items are compared if the method and this study both have a label for them. “Same label as the study” is "
            "the fraction of compared items with equal labels.",
            ScoreTable("Other aggregation methods", columns, rows, digits=3),
            "Signatures, to compute the values again:",
            Bullets([each["signature"] for each in aggregations]),
            "The table of digests under Agreement shows which annotations each digest was computed from.",
        ]
    else:
        details.append("No stage asks for labels that general methods could aggregate.")
    if notes:
        details.append(Bullets(notes))
    json = {"methods": aggregations, "notes": notes}
    return Section("aggregation", "Other aggregation methods", [], json, details)


def _aggregated(answered: AnsweredQuestion, method: str, resampling: Resampling) -> dict[str, Any]:
    request, title = AggregationRequest(method=method), answered.question.title
    # Without the intervals of every label and worker, which a report does not show.
    judged, no_intervals = ReadJudgments(title, answered.judgments, answered.digest), replace(resampling, ci=False)
    _, result = score_aggregation(judged, request, no_intervals, for_scripts=False)
    sure = certainty(result)
    same = [
        _alike(label, answered.study_labels[item])
        for item, label in result.labels.items()
        if answered.study_labels.get(item)
    ]
    return {
        "question": title,
        "method": method,
        "items": len(result.tasks),
        "certainty": float(sure.mean()),
        "ci": mean_intervals({"certainty": sure}, resampling)["certainty"].as_list(),
        "same_as_study": sum(same) / len(same) if same else None,
        "compared": plural(len(same), "item", "items"),
        "signature": signature(
            "aggregate", {**request.settings(), **resampling.settings()}, {"judgments": answered.digest}
        ),
    }


def _alike(label: Any, own: Any) -> bool:
    return label == own if isinstance(label, str) else set(label or ()) == set(own)
