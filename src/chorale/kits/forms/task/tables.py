"""Results of a form with one column per field."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from chorale.contract import FieldResult
from chorale.contract.exporting import StageResults, TaskExport
from chorale.contract.fields import free_text_cell
from chorale.kits.forms.task.answers import FormFields
from chorale.model import SourceItem


def results_table(form: FormFields) -> TaskExport:
    """One row per item."""
    columns = [name for field in form.fields for name in (field, f"{field}_confidence")]
    shown = _shown(form)
    return TaskExport(
        name="form",
        summary="every item with its final labels, one column per field of the form, as CSV",
        file_name="form.csv",
        columns=("item", *columns, "confidence", "judgments", "released"),
        rows=partial(_item_rows, form),
        more_columns=lambda _: tuple(shown.values()),
        describes={
            "confidence": "The lowest confidence of all fields, from 0 to 1.",
            **{column: f"The item's column “{name}”, as shown to workers." for name, column in shown.items()},
        },
    )


def answers_table(form: FormFields) -> TaskExport:
    """One row per counted judgment."""
    return TaskExport(
        name="form-answers",
        summary="every annotation, one column per field of the form, as CSV",
        file_name="form-answers.csv",
        columns=(
            *("item", "worker", "trust", *form.fields),
            *(f"{name}_order" for name in form.shuffled),
            *(f"{name}_prefilled" for name in form.prefilled),
            *_texts(form),
        ),
        rows=partial(_answer_rows, form),
        describes={
            **{
                f"{name}_order": f"Order in which the worker saw the options of the field “{name}”."
                for name in form.shuffled
            },
            **{f"{name}_prefilled": f"Initial content of the field “{name}”." for name in form.prefilled},
        },
    )


def _shown(form: FormFields) -> dict[str, str]:
    """The displayed columns of an item by their export name, because a field may have the same name."""
    taken = {"item", "worker", "trust", "confidence", "judgments", "released"}
    taken |= {name for field in form.fields for name in (field, f"{field}_confidence")}
    return {name: f"shown_{name}" if name in taken else name for name in form.shown}


def _item_rows(form: FormFields, stage: StageResults) -> Iterator[Mapping[str, Any]]:
    shown = _shown(form)
    for item in stage.items:
        row: dict[str, Any] = {"item": item.key}
        view = form.view(item.payload)
        row |= {column: view.get(name) for name, column in shown.items()}
        if item.label is not None:
            row |= {
                "confidence": item.label.confidence,
                "judgments": item.label.judgments,
                "released": item.label.released,
            }
            for name, (value, sure) in final_results(form, stage, item).items():
                row[name] = None if value is None else form.fields[name].cell(value, item.payload)
                row[f"{name}_confidence"] = sure
        yield row


def final_results(form: FormFields, stage: StageResults, item: SourceItem) -> Mapping[str, FieldResult]:
    """The final label of every field, with its confidence: 1 if a reviewer decided it."""
    if item.label is None:
        return {}
    judgments = stage.judgments(item)
    sure = {name: result.confidence for name, result in form.combine_fields(judgments).items()} if judgments else {}
    return {
        name: FieldResult(value, 1.0 if name in item.label.decided else sure.get(name))
        for name, value in item.label.answer.items()
        if name in form.fields
    }


def _texts(form: FormFields) -> dict[str, str]:
    return free_text_cell([field.answer_field() for field in form.fields.values()])


def _answer_rows(form: FormFields, stage: StageResults) -> Iterator[Mapping[str, Any]]:
    texts = _texts(form)
    for item in stage.items:
        for judgment in stage.judgments(item):
            seeds = stage.seeds(judgment.worker, item.key)
            orders = {} if seeds is None else form.arrange(item.payload, seeds)
            yield {
                "item": item.key,
                "worker": judgment.worker,
                "trust": judgment.trust,
                **{name: form.fields[name].cell(value, item.payload) for name, value in judgment.answer.items()},
                **{f"{name}_order": order for name, order in orders.items()},
                **{f"{name}_prefilled": item.payload.get(column) for name, column in form.prefilled.items()},
                **texts,
            }
