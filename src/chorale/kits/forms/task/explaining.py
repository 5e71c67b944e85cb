"""A form's items and answers as the people who work on them read them: what the page shows, in its words."""

from typing import Any

from chorale.kits.forms.task.answers import FormFields
from chorale.kits.forms.task.page import levels_of
from chorale.kits.forms.task.settings import SAME, FieldSettings, Kind
from chorale.kits.forms.task.text_fields import quoted
from chorale.kits.forms.task.tokens import excerpt
from chorale.model import Answer, Payload

_ENDS = "?!:.…"


class FormWording:
    """What a form's messages and its practice rounds say. Columns that the form does not show stay unsaid."""

    def __init__(self, form: FormFields) -> None:
        self._form = form

    def caption(self, item: Payload) -> str:
        """An item in one line, in the order of the page."""
        return " · ".join(text for _, text in self._shown(item))

    def quote(self, item: Payload, answer: Answer) -> str:
        """An answer; with what was asked, if the form asks for more than one thing."""
        fields = self._form.options.fields
        answered = [(each, words(each, answer[each.name], item)) for each in fields if each.name in answer]
        return " · ".join(f"{self._asked(each)}{text}" for each, text in answered if text)

    def reasons(self, item: Payload, answer: Answer, gold: Answer) -> tuple[str, ...]:
        """What is wrong with an answer, field by field."""
        return tuple(
            f"{self._asked(each)}{_quoted(own) if own else 'no answer'}, where {_quoted(right)} is right"
            for each, own, right in self._wrong(item, answer, gold)
        )

    def feedback(self, item: Payload, answer: Answer, gold: Answer) -> dict[str, Any]:
        """The item, and what is wrong beside what is right, for the page."""
        return {
            "shown": [{"label": label, "text": text} for label, text in self._shown(item)],
            "wrong": [
                {"ask": each.ask, "own": own, "right": right} for each, own, right in self._wrong(item, answer, gold)
            ],
        }

    def _shown(self, item: Payload) -> list[tuple[str, str]]:
        """What the page shows of an item, with the lines above it."""
        view = self._form.view(item)
        labels = {part.item: part.label or "" for part in self._form.options.shows}
        fields = self._form.options.fields
        asked = [name for field in fields for name in (field.item, *(field.sides or ())) if name is not None]
        return [(labels.get(name, ""), view[name]) for name in dict.fromkeys([*labels, *asked]) if name in view]

    def _wrong(self, item: Payload, answer: Answer, gold: Answer) -> list[tuple[FieldSettings, str, str]]:
        mistakes = []
        for name, field in self._form.fields.items():
            if name in gold and (name not in answer or field.mistake(answer[name], gold[name]) is not None):
                own = words(field.settings, answer[name], item) if name in answer else ""
                mistakes.append((field.settings, own, words(field.settings, gold[name], item)))
        return mistakes

    def _asked(self, field: FieldSettings) -> str:
        if len(self._form.options.fields) == 1:
            return ""
        return f"{field.ask} " if field.ask.endswith(tuple(_ENDS)) else f"{field.ask}: "


def words(field: FieldSettings, value: Any, item: Payload) -> str:
    """An answer to one field, or gold for it, as the page words it."""
    labels = {option.value: option.label for option in field.options or ()}
    match field.kind:
        case Kind.CHOICE:
            return labels[value]
        case Kind.CHOICES:
            return ", ".join(labels[each] for each in value) or field.none or "none"
        case Kind.LIKERT:
            named = dict(levels_of(field))[value]
            return f"{value} ({named})" if named else str(value)
        case Kind.PAIR:
            return (field.same or "") if value == SAME else f"“{item[value]}”"
        case Kind.SPANS:
            return ", ".join(_marked(each, item[field.item or ""], labels) for each in value) or "nothing"
    return quoted(value)


def _marked(span: dict[str, Any], text: Any, labels: dict[str, str]) -> str:
    quoted = f"“{excerpt(text, span['start'], span['end'])}”"
    return f"{quoted} ({labels[span['label']]})" if "label" in span else quoted


def _quoted(text: str) -> str:
    return text if text.startswith("“") else f"“{text}”"
