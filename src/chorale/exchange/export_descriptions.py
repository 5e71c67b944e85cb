"""Descriptions and schema.org types of export columns, for data cards."""

from collections.abc import Collection, Mapping

from chorale.exchange.croissant import DataField

_COLUMNS: Mapping[str, tuple[str, str]] = {
    "stage": ("Name of the stage.", "Text"),
    "item": ("Key of the item, unique in its stage.", "Text"),
    "group": ("Group of the item; nobody gets two items of the same group in a stage.", "Text"),
    "payload": ("The item as stored, as JSON.", "Text"),
    "label": ("The aggregated label; nested values as JSON.", "Text"),
    "confidence": ("Confidence of the label, from 0 to 1.", "Float"),
    "judgments": ("Number of annotations that count.", "Integer"),
    "released": ("Whether the label is complete and accepted.", "Boolean"),
    "accepted": ("Whether the confidence reaches the stage's threshold.", "Boolean"),
    "decided": ("Whether a reviewer decided the value.", "Boolean"),
    "state": ("State of the item: open or complete.", "Text"),
    "is_gold": ("Whether the item is also gold.", "Boolean"),
    "sources": ("The items it was derived from.", "Text"),
    "arm": ("Arm of the trial.", "Text"),
    "field": ("Name of the form's field.", "Text"),
    "kind": ("Kind of the field or of the response.", "Text"),
    "value": ("The value; of a span, its text.", "Text"),
    "start": ("Start of the span, in tokens.", "Integer"),
    "end": ("End of the span, in tokens.", "Integer"),
    "start_character": ("Start of the span, in characters.", "Integer"),
    "end_character": ("End of the span, in characters.", "Integer"),
    "response": ("Number of the response.", "Integer"),
    "task": ("The task of the stage.", "Text"),
    "task_version": ("Version of the task when the response was given.", "Text"),
    "worker": ("Pseudonym of the worker.", "Text"),
    "worker_id": ("Pseudonym of the worker.", "Text"),
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
    "consent_version": ("Version of the consent form that the worker accepted.", "Text"),
    "trust": ("Weight of the worker's annotations, by gold accuracy.", "Float"),
    "question": ("The question.", "Text"),
    "sentence": ("The sentence.", "Text"),
    "options": ("The options of the question, as a list.", "Text"),
    "document": ("The text that the question is about.", "Text"),
}
_OTHER = "Explained on the page “Exports” of Chorale's documentation, or a column of the study's items."
_PREFIXES = {
    "item.": "The item's column that people saw: {}.",
    "label.": "Label of the field {}.",
    "answer.": "Answer to the field {}.",
}


def described(column: str, fields: Collection[str] = ()) -> DataField:
    """A column of an export, for a data card. `fields` are the names of the fields of the study's answers.

    >>> described("label.tone.confidence").description
    'Confidence of the label of tone, from 0 to 1.'
    >>> described("tone", ["tone"]).description
    'Value of the field tone.'
    """
    if column in fields:
        return DataField(column, f"Value of the field {column}.", "Text")
    if column.endswith("_confidence") and (of := column.removesuffix("_confidence")) in fields:
        return DataField(column, f"Confidence of the label of {of}, from 0 to 1.", "Float")
    if column in _COLUMNS:
        return DataField(column, *_COLUMNS[column])
    for prefix, words in _PREFIXES.items():
        if column.startswith(prefix):
            name = column.removeprefix(prefix)
            if prefix == "label." and name.endswith(".confidence"):
                of = name.removesuffix(".confidence")
                return DataField(column, f"Confidence of the label of {of}, from 0 to 1.", "Float")
            return DataField(column, words.format(name), "Text")
    return DataField(column, _OTHER, "Text")
