"""Descriptions and schema.org types of export columns, for data cards."""

from collections.abc import Collection, Mapping

from chorale.engine.running import Study
from chorale.exchange.croissant import DataField
from chorale.exchange.export_format import ExportFormat
from chorale.files.judgment_layout import FREE_TEXT
from chorale.store import Tx

_COLUMNS: Mapping[str, tuple[str, str]] = {
    "stage": ("Name of the stage.", "Text"),
    "item": ("ID of the item, unique in its stage.", "Text"),
    "group": ("Group of the item; nobody gets two items of the same group in a stage.", "Text"),
    "payload": ("The item as stored, as JSON.", "Text"),
    "label": ("The aggregated label; nested values as JSON.", "Text"),
    "confidence": ("Confidence of the label, from 0 to 1.", "Float"),
    "judgments": ("Number of annotations that count.", "Integer"),
    "released": ("Whether the label is complete and accepted.", "Boolean"),
    "accepted": ("Whether the confidence reaches the stage's threshold.", "Boolean"),
    "decided": ("Whether a reviewer decided the value.", "Boolean"),
    "state": ("State of the item: open, complete, or waiting (a model answers first).", "Text"),
    "is_gold": ("Whether the item is also gold.", "Boolean"),
    "sources": ("The items it was derived from.", "Text"),
    "arm": ("Arm of the trial.", "Text"),
    "field": ("Name of the form's field.", "Text"),
    "kind": ("Kind of the response: training, qualification (in a quiz), gold, or production (any other).", "Text"),
    "value": ("The value; of a span, its text.", "Text"),
    "start": ("Start of the span, in tokens.", "Integer"),
    "end": ("End of the span, in tokens.", "Integer"),
    "start_character": ("Start of the span, in characters.", "Integer"),
    "end_character": ("End of the span, in characters.", "Integer"),
    "response": ("Number of the response.", "Integer"),
    "task": ("The task of the stage.", "Text"),
    "task_version": ("Version of the task when the response was given.", "Text"),
    "worker": ("Participant ID of the worker.", "Text"),
    "worker_id": ("Participant ID of the worker.", "Text"),
    "answer": ("The submitted answer; nested values as JSON.", "Text"),
    "counts": ("Whether the response counts toward the item's label.", "Boolean"),
    "submitted_at": ("Time of submission, as ISO 8601 in UTC.", "Date"),
    "submitted_at_ms": ("Time of submission, in milliseconds since 1970.", "Integer"),
    "duration_ms": ("How long the item was in view, in milliseconds.", "Integer"),
    "gold_answer": ("The known answer.", "Text"),
    "gold_score": ("Score against the known answer, from 0 to 1.", "Float"),
    "item_label": ("The item's aggregated label.", "Text"),
    "item_confidence": ("Confidence of the item's label, from 0 to 1.", "Float"),
    "item_released": ("Whether the item's label is complete and accepted.", "Boolean"),
    "item_state": ("State of the item: open, complete or withdrawn.", "Text"),
    "item_sources": ("The items it was derived from, as stage/key.", "Text"),
    FREE_TEXT: ("Names of the fields with free text, which are not compared.", "Text"),
    "consent_version": ("Version of the consent form that the worker accepted.", "Text"),
    "trust": ("Weight of the worker's annotations, by gold accuracy.", "Float"),
    "question": ("The question.", "Text"),
    "sentence": ("The sentence.", "Text"),
    "options": ("The options of the question, as a list.", "Text"),
    "document": ("The text that the question is about.", "Text"),
    "labelled_by": ("The source of the label: people, model or reviewer.", "Text"),
    "model_answer": ("The model's answer.", "Text"),
    "model_confidence": ("Confidence of the model, calibrated on gold, from 0 to 1.", "Float"),
    "people_asked": ("Why people were asked about the item, or not asked.", "Text"),
    "people_probability": ("The probability of asking people about the item.", "Float"),
}
_PARTS: Mapping[str, str] = {
    "kind": "Kind of the field, such as choice or spans.",
    "label": "Label of the span, region or segment.",
    "start": "Start of the span in tokens, or of the segment in seconds.",
    "end": "End of the span in tokens, or of the segment in seconds.",
    "row": "Row of the matrix.",
    "rank": "Rank of the value, from 1.",
    "turn": "Number of the turn, from 0.",
    "role": "Whether the text was chosen as the best or as the worst.",
    "text": "The chosen text.",
    "x": "Left edge of the box, as a fraction of the image's width.",
    "y": "Top edge of the box, as a fraction of the image's height.",
    "width": "Width of the box, as a fraction of the image's width.",
    "height": "Height of the box, as a fraction of the image's height.",
    "points": "Corners of the polygon, as fractions of the image's width and height.",
    "relation": "Label of the relation.",
    **{
        f"{end}_{part}": words.format(span)
        for end, span in (("from", "first"), ("to", "second"))
        for part, words in {
            "text": "Text of the relation's {} span.",
            "label": "Label of the relation's {} span.",
            "start": "Start of the relation's {} span, in tokens.",
            "end": "End of the relation's {} span, in tokens.",
        }.items()
    },
}
"""The parts of values in tables with a row for every value, which have the column `field`."""
UNDESCRIBED = "Defined by the task of this table."
"""For columns of a task that does not describe them."""
_PREFIXES = {
    "item.": "The item's column that people saw: “{}”.",
    "label.": "Label of the field “{}”.",
    "answer.": "Answer to the field “{}”.",
}


def described_columns(tx: Tx, study: Study, table: ExportFormat) -> list[DataField]:
    """The columns of a table, with their content. Additional columns are columns of the items."""
    # Only tables of kits have columns named after fields; in the others, a form's field can have a column's name.
    stages = study.stages.values() if table.kit else ()
    fields = {field.name for stage in stages for field in stage.task.shape.fields}
    own = {**(_PARTS if "field" in table.columns else {}), **table.describes}
    of_items = () if table.more_columns is None else table.more_columns(tx, study)
    return [
        *(described(column, fields, own) for column in table.columns),
        *(described(column, fields, {column: f"The item's column “{column}”.", **own}) for column in of_items),
    ]


def described(column: str, fields: Collection[str] = (), own: Mapping[str, str] | None = None) -> DataField:
    """A column of an export, for a data card.

    `fields` are the names of the fields of the study's answers; `own` are the table's own descriptions.

    >>> described("label.tone.confidence").description
    'Confidence of the label of the field “tone”, from 0 to 1.'
    >>> described("tone", ["tone"]).description
    'Value of the field “tone”.'
    >>> described("answer", own={"answer": "The words of the answer."}).description
    'The words of the answer.'
    """
    if own and column in own:
        return DataField(column, own[column], _COLUMNS[column][1] if column in _COLUMNS else "Text")
    if column in fields:
        return DataField(column, f"Value of the field “{column}”.", "Text")
    if column.endswith("_confidence") and (of := column.removesuffix("_confidence")) in fields:
        return DataField(column, f"Confidence of the label of the field “{of}”, from 0 to 1.", "Float")
    if column in _COLUMNS:
        return DataField(column, *_COLUMNS[column])
    for prefix, words in _PREFIXES.items():
        if column.startswith(prefix):
            name = column.removeprefix(prefix)
            if prefix == "label." and name.endswith(".confidence"):
                of = name.removesuffix(".confidence")
                return DataField(column, f"Confidence of the label of the field “{of}”, from 0 to 1.", "Float")
            return DataField(column, words.format(name), "Text")
    return DataField(column, UNDESCRIBED, "Text")
