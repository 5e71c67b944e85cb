"""Confidence of the labels, and the items that people disagreed on most."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from chorale.engine.running import RunningStage
from chorale.files.answer_text import answer_text
from chorale.files.shortening import shortened
from chorale.metrics.score_table import ScoreTable
from chorale.model import Item
from chorale.present.svg import column_chart
from chorale.report.document import NUMBERS_IN_TABLE, Drawn, Part, Section
from chorale.report.questions import questions_of
from chorale.store.responses import CountedAnswer

_BINS = 10
_NAMED = [f"{place / _BINS:.1f}–{(place + 1) / _BINS:.1f}" for place in range(_BINS)]
_EXAMPLES = 5
_MOST_DRAWN = 4
"""Maximum number of stages that a chart shows separately. With more, the chart adds them up, and only the table
lists each."""
_ANSWERS = 5
"""Maximum number of different answers shown per item."""
_LONGEST = 160


def disagreement_section(
    stages: Mapping[str, tuple[RunningStage, Sequence[CountedAnswer]]],
    items: Mapping[str, Sequence[Item]],
    shown: Collection[str],
    *,
    draw: bool,
) -> Section:
    """`shown` are the stages in the chart: those whose labels are the results of the study."""
    bins = {name: confidence_bins(rows) for name, rows in items.items() if any(_is_judged(row) for row in rows)}
    unanimous = [
        found
        for name, (stage, responses) in stages.items()
        if name in bins
        for found in unanimous_items(stage, responses)
    ]
    examples = {
        name: _examples(stage, responses, items[name]) for name, (stage, responses) in stages.items() if name in bins
    }
    parts: list[Part] = _chart({name: counts for name, counts in bins.items() if name in shown}) if draw else []
    details: list[Part] = []
    if bins:
        details.append(
            ScoreTable(
                "Items by the confidence of their label",
                ("stage", *(f"{name}#" for name in _NAMED)),
                [(name, *counts) for name, counts in bins.items()],
            )
        )
        rows = [
            (": ".join(filter(None, (one["stage"], one["field"]))), one["items"], one["unanimous"], one["share"])
            for one in unanimous
            if one["items"]
        ]
        columns_of = ("question", "items with several answers#", "unanimous#", "fraction#")
        details.append(ScoreTable("Unanimous items", columns_of, rows, digits=3))
    else:
        details.append("No item has a label yet.")
    for name, several in examples.items():
        if several:
            example_rows = [(one["item"], one["text"], one["answers"], one["confidence"]) for one in several]
            columns_of = ("item", "text", "answers", "confidence#")
            title = f"{name}: the items with the lowest confidence"
            details.append(ScoreTable(title, columns_of, example_rows, digits=2))
    json = {"confidence": bins, "unanimous": unanimous, "examples": examples}
    return Section("disagreement", "Confidence and disagreement", parts, json, details)


def _chart(bins: Mapping[str, list[int]]) -> list[Part]:
    if not any(map(any, bins.values())):
        return []
    drawn = bins
    if len(bins) > _MOST_DRAWN:
        drawn = {"all stages": [sum(counts) for counts in zip(*bins.values(), strict=True)]}
    title = "Confidence of the labels"
    svg = column_chart(title, _NAMED, drawn, "confidence", "items", description=NUMBERS_IN_TABLE)
    caption = f"{title}. Bars further to the right are items on which people agreed more."
    return [Drawn(caption, svg)]


def confidence_bins(rows: Sequence[Item]) -> list[int]:
    """How many labels there are in each tenth of confidence; a confidence of 1 is in the last."""
    return confidence_bins_of([row.confidence or 0.0 for row in rows if _is_judged(row)])


def confidence_bins_of(values: Sequence[float]) -> list[int]:
    counts = [0] * _BINS
    for value in values:
        counts[min(_BINS - 1, int(value * _BINS + 1e-9))] += 1
    return counts


def _is_judged(row: Item) -> bool:
    return row.confidence is not None and row.state != "withdrawn"


def unanimous_items(stage: RunningStage, responses: Sequence[CountedAnswer]) -> list[dict[str, Any]]:
    """The number of unanimous items, for every compared field or, if answers have no fields, for whole answers.

    `empty` is the number of answers without a value.
    """
    answers: dict[str, list[Any]] = {}
    for row in responses:
        answers.setdefault(row.item, []).append(row.answer)
    shares = []
    for field in stage.task.shape.compared or (None,):
        several = same = empty = 0
        for given in answers.values():
            values = given if field is None else [value for one in given if (value := one.get(field.name)) is not None]
            empty += len(given) - len(values)
            if len(values) > 1:
                several += 1
                same += all_alike(values, None if field is None else field.distance)
        share = same / several if several else None
        name = None if field is None else field.name
        counts = {"items": several, "unanimous": same, "share": share, "empty": empty}
        shares.append({"stage": stage.name, "field": name, **counts})
    return shares


def all_alike(values: Sequence[Any], distance: Callable[[Any, Any], float] | None) -> bool:
    """Whether all values are equal, or their distance from the first value is 0."""
    first, *others = values
    return all(first == other or (distance is not None and distance(first, other) == 0) for other in others)


def _examples(stage: RunningStage, responses: Sequence[CountedAnswer], rows: Sequence[Item]) -> list[dict[str, Any]]:
    divided = sorted(
        (row for row in rows if _is_judged(row) and (row.confidence or 0.0) < 1),
        key=lambda row: (row.confidence, row.key),
    )[:_EXAMPLES]
    wanted = {row.key for row in divided}
    given: dict[str, Counter[str]] = {}
    payloads = {row.key: row.payload for row in divided}
    for response in responses:
        if response.item in wanted:
            answer = brief(
                answer_text(_comparable(stage, stage.task.explaining.present(payloads[response.item], response.answer)))
            )
            given.setdefault(response.item, Counter())[answer] += 1
    return [
        {
            "item": row.key,
            "text": item_text(stage, row.payload),
            "answers": _listed(given.get(row.key, Counter())),
            "confidence": row.confidence,
        }
        for row in divided
    ]


def _comparable(stage: RunningStage, answer: Any) -> Any:
    """An answer without its free text, if the form has other fields."""
    asked = {question.name for question in questions_of(stage)}
    kept = {name: value for name, value in answer.items() if name in asked} if isinstance(answer, Mapping) else {}
    return kept or answer


def _listed(given: Counter[str]) -> str:
    """How many people gave each answer, the most frequent first."""
    ordered = sorted(given.items(), key=lambda pair: (-pair[1], pair[0]))
    parts = [f"{count} × {answer}" for answer, count in ordered[:_ANSWERS]]
    others = sum(count for _, count in ordered[_ANSWERS:])
    return "; ".join([*parts, *([f"{others} × other answers"] if others else [])])


def item_text(stage: RunningStage, payload: Mapping[str, Any]) -> str:
    """An item as text on one line: its task's caption, or all that people see of it."""
    if stage.task.explaining.caption is not None:
        return brief(stage.task.explaining.caption(payload))
    parts = [value if isinstance(value, str) else shortened(value) for value in stage.task.form.shown(payload).values()]
    if len(" · ".join(parts)) > _LONGEST:
        # IDs and numbers come last, so that the sentence is not cut off.
        parts.sort(key=lambda part: -len(part.split()))
    return brief(" · ".join(parts))


def brief(value: Any) -> str:
    """A value as text on one line, shortened if necessary."""
    if isinstance(value, str):
        flat = " ".join(value.split())
        return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1].rstrip() + "…"
    return shortened(value)
