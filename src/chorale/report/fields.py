"""Results per field of a form: confidence, accepted labels, workers' agreement with the labels, and free text."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from chorale.contract import AnswerField
from chorale.engine.combining import field_results, needed_fields
from chorale.engine.decisions import DECIDED
from chorale.engine.running import RunningStage, Study
from chorale.metrics.score_table import Cell, ScoreTable
from chorale.model import Item, Judgment
from chorale.model.plural import plural
from chorale.monitor.field_gold import all_gold, gold_by_worker
from chorale.monitor.status import trust_of
from chorale.report.disagreement import brief, confidence_bins_of, unanimous_items
from chorale.report.document import Part, Section
from chorale.store import Tx, events, participations
from chorale.store.responses import CountedAnswer
from chorale.text.near_duplicates import near_duplicates
from chorale.text.scripts import count_words

_ALL_EVENTS = 10_000_000
_CLUSTERS = 5
"""Maximum number of groups of near-duplicate texts that are shown."""

_NUMBERS = ("items", "confidence", "accepted", "unanimous", "as_the_result", "gold_accuracy", "gold_answers")
Stages = Mapping[str, tuple[RunningStage, Sequence[CountedAnswer]]]


def fields_sections(tx: Tx, study: Study, stages: Stages, items: Mapping[str, Sequence[Item]]) -> list[Section]:
    """One section about all fields; none if no stage has fields. `items` has the items of each stage."""
    measured: list[dict[str, Any]] = []
    written: list[dict[str, Any]] = []
    for stage, responses in stages.values():
        if stage.task.shape.fields and responses:
            labelled = {row.key for row in items[stage.name] if row.confidence is not None}
            measured += _compared_fields(tx, study, stage, responses, labelled)
            written += [_written(stage, field, responses) for field in stage.task.shape.fields if not field.compared]
    if not measured and not written:
        return []
    parts: list[Part] = []
    if measured:
        columns = (
            *("field", "scale", "decides", "items#", "mean confidence#", "accepted#", "unanimous#"),
            *("workers' agreement with the label#", "gold accuracy#", "gold answers#"),
        )
        rows: list[tuple[Cell, ...]] = [
            (
                f"{one['stage']}: {one['field']}",
                one["scale"],
                "yes" if one["decides"] else "no",
                *(one[name] for name in _NUMBERS),
            )
            for one in measured
        ]
        parts += [
            "Confidence is computed before any review. An item is complete when all fields with “yes” under “decides” "
            "have enough annotations. Workers' agreement is the mean over workers, on items that others annotated too. "
            "Gold accuracy is the fraction of correct answers to gold.",
            ScoreTable("Results per field", columns, rows, digits=3),
        ]
    reviewed = [found for stage, _ in stages.values() if (found := _reviewed(tx, stage)) is not None]
    if reviewed:
        decided: list[tuple[Cell, ...]] = [(one["stage"], one["items"], one["changed"]) for one in reviewed]
        names = ("stage", "items decided#", "labels changed#")
        parts.append(ScoreTable("Labels decided by reviewers", names, decided))
    parts += [part for one in written for part in _text_parts(one)]
    json = {"compared": measured, "text": written, "reviewed": reviewed}
    return [Section("fields", "Fields", [], json, parts)]


def _reviewed(tx: Tx, stage: RunningStage) -> dict[str, Any] | None:
    """The number of labels that reviewers decided, and how many of these they changed; None if there are none."""
    first: dict[str, Any] = {}
    last: dict[str, Any] = {}
    for event in reversed(events.recent(tx, _ALL_EVENTS, kinds=(DECIDED,))):
        if event.stage == stage.name and event.item is not None:
            first.setdefault(event.item, event.evidence["before"])
            last[event.item] = event.evidence["decision"]
    # A decision, or the label before it, may have been erased.
    last = {key: decision for key, decision in last.items() if decision and first[key] is not None}
    if not last:
        return None
    changed = sum(
        any((first[key] or {}).get(name) != value for name, value in decision.items())
        if stage.task.shape.fields
        else first[key] != next(iter(decision.values()))
        for key, decision in last.items()
    )
    return {"stage": stage.name, "items": len(last), "changed": changed}


def _compared_fields(
    tx: Tx, study: Study, stage: RunningStage, responses: Sequence[CountedAnswer], labelled: Container[str]
) -> list[dict[str, Any]]:
    """Results per field, over items whose label has a value for the field."""
    trusts = {
        row.worker: trust_of(study, row) for row in participations.participation_summaries(tx, stage_name=stage.name)
    }
    by_item: dict[str, list[CountedAnswer]] = {}
    for row in responses:
        if row.item in labelled:
            by_item.setdefault(row.item, []).append(row)
    fields = {field.name: field for field in stage.task.shape.compared}
    sure: dict[str, list[float]] = {name: [] for name in fields}
    left_empty: Counter[str] = Counter()
    near: dict[str, dict[str, list[float]]] = {name: {} for name in fields}
    for key, given in by_item.items():
        judgments = [Judgment(row.worker, row.answer, trusts.get(row.worker, 1.0)) for row in given]
        for name, result in field_results(stage, key, judgments).items():
            if name not in fields or result.confidence is None:
                continue
            if result.value is None:
                left_empty[name] += 1
            else:
                sure[name].append(result.confidence)
            if len(given) > 1:
                _note_nearness(fields[name], result.value, given, near[name])
    gold = all_gold(gold_by_worker(tx, stage))
    alike = {one["field"]: one["unanimous"] for one in unanimous_items(stage, responses)}
    return [
        {
            "stage": stage.name,
            "field": name,
            "scale": str(field.scale),
            "decides": name in needed_fields(stage),
            "items": len(sure[name]),
            "left_empty": left_empty[name],
            "confidence": fmean(sure[name]) if sure[name] else None,
            "accepted": sum(value >= stage.settings.release_confidence for value in sure[name]),
            "unanimous": alike.get(name, 0),
            "bins": confidence_bins_of(sure[name]),
            "as_the_result": fmean(map(fmean, near[name].values())) if near[name] else None,
            "gold_accuracy": gold[name][0] / gold[name][1] if name in gold else None,
            "gold_answers": gold[name][1] if name in gold else None,
        }
        for name, field in fields.items()
    ]


def _note_nearness(
    field: AnswerField, value: Any, given: Sequence[CountedAnswer], near: dict[str, list[float]]
) -> None:
    result = {} if value is None else {field.name: value}
    for row in given:
        apart = field.between(row.answer, result)
        if apart is not None:
            near.setdefault(row.worker, []).append(1 - apart)


def _written(stage: RunningStage, field: AnswerField, responses: Sequence[CountedAnswer]) -> dict[str, Any]:
    """Statistics of free text: number of texts, different texts, and near duplicates."""
    rows = [(row.worker, row.answer[field.name]) for row in responses if row.answer.get(field.name)]
    texts = [text for _, text in rows]
    clusters = near_duplicates(texts)
    # Repetitions by one person may identify them, and are for the console.
    shared = [places for places in clusters if len({rows[place][0] for place in places}) > 1]
    return {
        "stage": stage.name,
        "field": field.name,
        "answers": len(texts),
        "people": len({worker for worker, _ in rows}),
        "different": len(set(texts)),
        "words": median(count_words(text) for text in texts) if texts else None,
        "in_clusters": sum(map(len, clusters)),
        "clusters": [
            {"text": texts[places[0]], "times": len(places), "people": len({rows[place][0] for place in places})}
            for places in shared[:_CLUSTERS]
        ],
    }


def _text_parts(written: Mapping[str, Any]) -> list[Part]:
    title = f"{written['stage']}: {written['field']}"
    if not written["answers"]:
        return [f"{title} is free text, but no answer contains any."]
    parts: list[Part] = [
        f"{title} is free text and is not compared. {plural(written['people'], 'person', 'people')} wrote "
        f"{plural(written['answers'], 'answer', 'answers')} ({written['different']:,} different, median length "
        f"{written['words']:g} words). Near duplicates: {written['in_clusters']:,}."
    ]
    if written["clusters"]:
        rows: list[tuple[Cell, ...]] = [
            (brief(one["text"]), one["times"], one["people"]) for one in written["clusters"]
        ]
        parts.append(ScoreTable(f"{title}: repeated texts", ("text", "times#", "people#"), rows))
    return parts
