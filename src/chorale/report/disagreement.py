"""Where people disagreed: how sure results are, and the items that divided them most."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chorale.engine.running import RunningStage
from chorale.files.answer_text import answer_text
from chorale.files.rows import shortened
from chorale.metrics.score_table import ScoreTable
from chorale.model import Item
from chorale.present.svg import column_chart
from chorale.report.document import NUMBERS_BELOW, Figure, Part, Section
from chorale.report.questions import questions_of
from chorale.store.responses import CountedAnswer

_BINS = 10
_EXAMPLES = 5
_MOST_DRAWN = 4
"""Stages that a chart shows one by one; more are drawn together, and only the table has each."""
_ANSWERS = 5
"""Different answers to an item that are shown."""
_LONGEST = 160


def disagreement_section(
    stages: Mapping[str, tuple[RunningStage, Sequence[CountedAnswer]]],
    items: Mapping[str, Sequence[Item]],
    *,
    draw: bool,
) -> Section:
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
    parts: list[Part] = []
    if bins:
        named = [f"{place / _BINS:.1f}–{(place + 1) / _BINS:.1f}" for place in range(_BINS)]
        table = ScoreTable(
            "Items by the confidence of their result",
            ("stage", *(f"{name}#" for name in named)),
            [(name, *counts) for name, counts in bins.items()],
        )
        drawn = bins
        if len(bins) > _MOST_DRAWN:
            drawn = {"all stages": [sum(counts) for counts in zip(*bins.values(), strict=True)]}
        title = "How sure the results are"
        svg = column_chart(title, named, drawn, "confidence", "items", description=NUMBERS_BELOW)
        parts.append(Figure(title, table, svg if draw else None))
        rows = [
            (": ".join(filter(None, (one["stage"], one["field"]))), one["items"], one["unanimous"], one["share"])
            for one in unanimous
        ]
        columns_of = ("question", "items with several answers#", "unanimous#", "share#")
        parts.append(ScoreTable("Items on which all agree", columns_of, rows, digits=3))
    else:
        parts.append("No item has a result yet.")
    for name, several in examples.items():
        if several:
            example_rows = [(one["item"], one["text"], one["answers"], one["confidence"]) for one in several]
            columns_of = ("item", "what people saw", "what they answered", "confidence#")
            parts.append(ScoreTable(f"{name}: the results people agree on least", columns_of, example_rows, digits=2))
    json = {"confidence": bins, "unanimous": unanimous, "examples": examples}
    return Section("disagreement", "Disagreement", parts, json)


def confidence_bins(rows: Sequence[Item]) -> list[int]:
    """How many results there are of each tenth of confidence; a confidence of 1 is in the last."""
    return confidence_bins_of([row.confidence or 0.0 for row in rows if _is_judged(row)])


def confidence_bins_of(values: Sequence[float]) -> list[int]:
    counts = [0] * _BINS
    for value in values:
        counts[min(_BINS - 1, int(value * _BINS + 1e-9))] += 1
    return counts


def _is_judged(row: Item) -> bool:
    return row.confidence is not None and row.state != "withdrawn"


def unanimous_items(stage: RunningStage, responses: Sequence[CountedAnswer]) -> list[dict[str, Any]]:
    """On how many items all agree: in every compared field, or in the whole answer where it has no fields."""
    answers: dict[str, list[Any]] = {}
    for row in responses:
        answers.setdefault(row.item, []).append(row.answer)
    found = []
    for field in stage.task.shape.compared or (None,):
        several = same = 0
        for given in answers.values():
            values = given if field is None else [value for one in given if (value := one.get(field.name)) is not None]
            if len(values) > 1:
                several += 1
                same += all_alike(values, None if field is None else field.distance)
        share = same / several if several else None
        name = None if field is None else field.name
        found.append({"stage": stage.name, "field": name, "items": several, "unanimous": same, "share": share})
    return found


def all_alike(values: Sequence[Any], distance: Callable[[Any, Any], float] | None) -> bool:
    """Whether values are all the same, or have no distance."""
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
    """An answer without what was written in words of one's own, where a form asks for more than that."""
    asked = {question.name for question in questions_of(stage)}
    kept = {name: value for name, value in answer.items() if name in asked} if isinstance(answer, Mapping) else {}
    return kept or answer


def _listed(given: Counter[str]) -> str:
    """How many gave each answer, the most frequent first."""
    ordered = sorted(given.items(), key=lambda pair: (-pair[1], pair[0]))
    parts = [f"{count} × {answer}" for answer, count in ordered[:_ANSWERS]]
    others = sum(count for _, count in ordered[_ANSWERS:])
    return "; ".join([*parts, *([f"{others} × something else"] if others else [])])


def item_text(stage: RunningStage, payload: Mapping[str, Any]) -> str:
    """An item in a line, as its task has it or with all that people see of it."""
    if stage.task.explaining.caption is not None:
        return brief(stage.task.explaining.caption(payload))
    parts = [value if isinstance(value, str) else shortened(value) for value in stage.task.form.shown(payload).values()]
    if len(" · ".join(parts)) > _LONGEST:
        # What is cut off must not be the sentence: ids and numbers go behind it.
        parts.sort(key=lambda part: -len(part.split()))
    return brief(" · ".join(parts))


def brief(value: Any) -> str:
    """Something in a line that is not too long."""
    if isinstance(value, str):
        flat = " ".join(value.split())
        return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1].rstrip() + "…"
    return shortened(value)
