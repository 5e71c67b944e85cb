"""A form's items and answers as the people who work on them read them: what the page shows, in its words."""

from typing import Any

from chorale.kits.forms.task.answers import FormFields
from chorale.kits.forms.task.gold_checks import GoldCheck
from chorale.kits.forms.task.settings import FieldSettings
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
        fields = self._form.fields
        answered = [(each.settings, each.words(answer[name], item)) for name, each in fields.items() if name in answer]
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
        fields = self._form.options.asked
        asked = [name for field in fields for name in (field.item, *(field.sides or ())) if name is not None]
        return [(labels.get(name, ""), view[name]) for name in dict.fromkeys([*labels, *asked]) if name in view]

    def _wrong(self, item: Payload, answer: Answer, gold: Answer) -> list[tuple[FieldSettings, str, str]]:
        mistakes = []
        for name, field in self._form.fields.items():
            graded = name in gold and field.check is not GoldCheck.NONE
            if graded and (name not in answer or field.wrong(answer[name], gold[name]) is not None):
                own = field.words(answer[name], item) if name in answer else ""
                mistakes.append((field.settings, own, field.gold_words(gold[name], item)))
        return mistakes

    def _asked(self, field: FieldSettings) -> str:
        if len(self._form.options.asked) == 1:
            return ""
        return f"{field.ask} " if field.ask.endswith(tuple(_ENDS)) else f"{field.ask}: "


def _quoted(text: str) -> str:
    return text if text.startswith("“") else f"“{text}”"
