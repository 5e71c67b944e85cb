"""Exports for some kinds of fields: scores of best–worst scaling, relations as triples and for brat."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

from chorale.contract.exporting import StageResults, TaskExport
from chorale.kits.forms.task.answers import FormFields
from chorale.kits.forms.task.best_worst_fields import BEST, WORST, BestWorstField, preferences
from chorale.kits.forms.task.relation_fields import RelationField
from chorale.kits.forms.task.tables import final_results
from chorale.kits.forms.task.tokens import characters, excerpt, pieces
from chorale.lazy import load

_BRADLEY_TERRY = "chorale.metrics.aggregation.pairwise"
"""Imported on demand, because it needs NumPy."""
_IMAGINED = ""
"""The ID of the virtual text that all texts are compared with. No real text has an empty ID."""


def more_tables(form: FormFields) -> tuple[TaskExport, ...]:
    """The tables for the form's kinds of fields."""
    tables: list[TaskExport] = []
    scaled = {name: field for name, field in form.fields.items() if isinstance(field, BestWorstField)}
    if scaled:
        tables.append(
            TaskExport(
                name="best-worst",
                summary="scores of the texts of best–worst scaling, by counts and by the Bradley–Terry model, as CSV",
                file_name="best-worst.csv",
                columns=("field", "id", "text", "shown", "best", "worst", "score", "bradley_terry"),
                rows=partial(_scores, scaled),
                describes={
                    "id": "ID of the text.",
                    "text": "The text.",
                    "shown": "Number of annotations in which the text was shown.",
                    "best": "Number of annotations in which the text was chosen as the best.",
                    "worst": "Number of annotations in which the text was chosen as the worst.",
                    "score": "(best − worst) / shown, from −1 to 1.",
                    "bradley_terry": "Strength in the Bradley–Terry model; strengths sum to 1.",
                },
            )
        )
    related = {name: field for name, field in form.fields.items() if isinstance(field, RelationField)}
    if related:
        ends = ("from_text", "from_label", "from_start", "from_end", "to_text", "to_label", "to_start", "to_end")
        tables.append(
            TaskExport(
                name="triples",
                summary="aggregated relations, one per row: the two spans and their relation, as CSV",
                file_name="triples.csv",
                columns=("item", "field", "relation", *ends, "released"),
                rows=partial(_triples, form, related),
            )
        )
        tables.append(
            TaskExport(
                name="brat",
                summary="aggregated spans and relations as brat stand-off files (.txt and .ann), in a ZIP archive",
                file_name="brat.zip",
                columns=("file", "content"),
                rows=partial(_brat, form, related),
            )
        )
    return tuple(tables)


def _scores(fields: Mapping[str, BestWorstField], stage: StageResults) -> Iterator[Mapping[str, Any]]:
    """Count scores are (best − worst) / shown; Bradley–Terry scores sum to 1."""
    items = list(stage.items)
    for name, field in fields.items():
        texts: dict[str, str] = {}
        counts: Counter[tuple[str, str]] = Counter()
        votes = []
        for item in items:
            shown = field.texts(item.payload)
            texts |= shown
            for judgment in sorted(stage.judgments(item), key=lambda each: each.worker):
                value = judgment.answer.get(name)
                if value is None:
                    continue
                counts.update(("shown", each) for each in shown)
                counts.update((role, value[role]) for role in (BEST, WORST))
                votes.append((list(shown), value))
        strengths = _strengths(preferences(votes))
        for key in sorted(texts):
            seen = counts["shown", key]
            yield {
                "field": name,
                "id": key,
                "text": texts[key],
                "shown": seen,
                "best": counts[BEST, key],
                "worst": counts[WORST, key],
                "score": (counts[BEST, key] - counts[WORST, key]) / seen if seen else None,
                "bradley_terry": strengths.get(key),
            }


def _strengths(pairs: list[tuple[str, str]]) -> dict[str, float]:
    if not pairs:
        return {}
    comparisons, fit = load(f"{_BRADLEY_TERRY}:Comparisons"), load(f"{_BRADLEY_TERRY}:bradley_terry")
    # Adds a win and a loss against a virtual text, because a text that never loses would otherwise have no score.
    texts = sorted({text for pair in pairs for text in pair})
    pairs = [*pairs, *((text, _IMAGINED) for text in texts), *((_IMAGINED, text) for text in texts)]
    winners, losers = zip(*pairs, strict=True)
    scored = fit(comparisons.of(["all"] * len(pairs), winners, losers, winners))
    scores = dict(zip(scored.items, map(float, scored.scores), strict=True))
    whole = sum(scores[text] for text in texts)
    return {text: scores[text] / whole for text in texts}


def _triples(form: FormFields, fields: Mapping[str, RelationField], stage: StageResults) -> Iterator[Mapping[str, Any]]:
    for item in stage.items:
        if item.label is None:
            continue
        results = final_results(form, stage, item)
        for name, field in fields.items():
            value = results[name].value if name in results else None
            for row in [] if value is None else field.rows(value, item.payload):
                if "relation" in row:
                    yield {"item": item.key, "field": name, **row, "released": item.label.released}


def _brat(form: FormFields, fields: Mapping[str, RelationField], stage: StageResults) -> Iterator[Mapping[str, Any]]:
    several = len(fields) > 1
    yield {"file": "annotation.conf", "content": _brat_configuration(fields)}
    for item in stage.items:
        if item.label is None:
            continue
        results = final_results(form, stage, item)
        for name, field in fields.items():
            value = results[name].value if name in results else None
            text = item.payload[field.settings.item or ""]
            stem = quote(f"{item.key}-{name}" if several else item.key, safe="")
            yield {"file": f"{stem}.txt", "content": "".join(pieces(text)) + "\n"}
            yield {"file": f"{stem}.ann", "content": "" if value is None else stand_off(value, text)}


def stand_off(value: Mapping[str, Any], text: Any) -> str:
    """Spans and relations in brat's format, in characters of the text.

    >>> value = {"spans": [{"start": 0, "end": 2, "label": "person"}, {"start": 3, "end": 4, "label": "place"}]}
    >>> value["relations"] = [{"from": 0, "to": 1, "label": "in"}]
    >>> stand_off(value, "Ada Lovelace in London").splitlines()
    ['T1\\tperson 0 12\\tAda Lovelace', 'T2\\tplace 16 22\\tLondon', 'R1\\tin Arg1:T1 Arg2:T2']
    """
    lines = []
    for number, span in enumerate(value["spans"], 1):
        first, last = characters(text, span["start"], span["end"])
        quoted = " ".join(excerpt(text, span["start"], span["end"]).split("\n"))
        lines.append(f"T{number}\t{_brat_name(span['label'])} {first} {last}\t{quoted}\n")
    for number, each in enumerate(value["relations"], 1):
        ends = f"Arg1:T{each['from'] + 1} Arg2:T{each['to'] + 1}"
        lines.append(f"R{number}\t{_brat_name(each['label'])} {ends}\n")
    return "".join(lines)


def _brat_configuration(fields: Mapping[str, RelationField]) -> str:
    entities = dict.fromkeys(_brat_name(value) for field in fields.values() for value, _ in field.options)
    relations = []
    for field in fields.values():
        every = [value for value, _ in field.options]
        for each in field.relations.values():
            ends = ["|".join(map(_brat_name, given or every)) for given in (each.from_, each.to)]
            relations.append(f"{_brat_name(each.value)}\tArg1:{ends[0]}, Arg2:{ends[1]}")
    return "\n".join(["[entities]", *entities, "[relations]", *relations, "[events]", "[attributes]", ""])


def _brat_name(value: str) -> str:
    """Names in brat have no white space."""
    return "_".join(value.split())
