"""Readable items and answers of a form, in the words of the page."""

from typing import Any

from chorale.kits.forms.task.answers import FormFields
from chorale.kits.forms.task.gold_checks import GoldCheck
from chorale.kits.forms.task.items import media_looks
from chorale.kits.forms.task.settings import FieldSettings
from chorale.model import Answer, Payload
from chorale.model.wording import joined, quoted, worded

_ENDS = "?!:.…"


class FormWording:
    """Texts for messages and practice rounds. Columns that the form does not show are not included."""

    def __init__(self, form: FormFields) -> None:
        self._form = form
        self._media = media_looks(form.options)

    def caption(self, item: Payload) -> str:
        """An item on one line, in the order of the page."""
        return " · ".join(text for _, text in self._shown(item))

    def quote(self, item: Payload, answer: Answer) -> str:
        """An answer, with its question if the form has several."""
        fields = self._form.fields
        answered = [(each.settings, each.words(answer[name], item)) for name, each in fields.items() if name in answer]
        return joined(*(self._asking(each, text) for each, text in answered if text), by=" · ")

    def reasons(self, item: Payload, answer: Answer, gold: Answer) -> tuple[str, ...]:
        """The errors of an answer, field by field."""
        return tuple(self._asking(each, _corrected(own, right)) for each, own, right in self._wrong(item, answer, gold))

    def feedback(self, item: Payload, answer: Answer, gold: Answer) -> dict[str, Any]:
        """The item, with wrong and correct answers, for the page."""
        return {
            "shown": [self._seen(name, label, shown, item) for name, label, shown in self._columns(item)],
            # The page has its own word for an empty answer, in the language of the study.
            "wrong": [
                {
                    "ask": each.ask,
                    "own": own if answer.get(each.name) != [] or each.none else "",
                    "right": right if gold[each.name] != [] or each.none else "",
                }
                for each, own, right in self._wrong(item, answer, gold)
            ],
        }

    def _shown(self, item: Payload) -> list[tuple[str, str]]:
        """The displayed parts of an item in words, with their labels; for media, the alternative text."""
        shown = ((name, label, self._alternative(name, item, value)) for name, label, value in self._columns(item))
        return [(label, text) for _, label, text in shown if text]

    def _columns(self, item: Payload) -> list[tuple[str, str, Any]]:
        """The displayed columns with labels and values."""
        view = self._form.view(item)
        labels = {part.item: part.label or "" for part in self._form.options.shows}
        fields = self._form.options.asked
        asked = [name for field in fields for name in (field.item, *(field.sides or ())) if name is not None]
        names = [name for name in dict.fromkeys([*labels, *asked]) if name in view]
        return [(name, labels.get(name, ""), view[name]) for name in names]

    def _seen(self, name: str, label: str, value: Any, item: Payload) -> dict[str, Any]:
        """A column for the page: text, image, audio or video."""
        look = self._media.get(name)
        if look is None:
            # A tuple is shown as its texts, a dialogue as its turns.
            is_dialogue = not isinstance(value, str) and all("speaker" in each for each in value)
            return {"label": label, "text": value if is_dialogue else self._alternative(name, item, value)}
        return {"label": label, "look": look, "media": value, "alt": self._alternative(name, item, value)}

    def _alternative(self, name: str, item: Payload, value: Any) -> str:
        """The text of a column; alternative text for images, empty for audio and video."""
        if name not in self._media:
            return value if isinstance(value, str) else " · ".join(str(each.get("text", "")) for each in value)
        part = next((each for each in self._form.options.shows if each.item == name), None)
        return str(item.get(part.alt) or "") if part is not None and part.alt else ""

    def _wrong(self, item: Payload, answer: Answer, gold: Answer) -> list[tuple[FieldSettings, str, str]]:
        mistakes = []
        for name, field in self._form.fields.items():
            graded = name in gold and field.check is not GoldCheck.NONE
            if graded and (name not in answer or field.wrong(answer[name], gold[name]) is not None):
                own = field.words(answer[name], item) if name in answer else ""
                mistakes.append((field.settings, own, field.gold_words(gold[name], item)))
        return mistakes

    def _asking(self, field: FieldSettings, text: str) -> str:
        """A text about a field, after its question if the form has several."""
        if len(self._form.options.asked) == 1:
            return text
        return joined(field.ask if field.ask.endswith(tuple(_ENDS)) else f"{field.ask}:", text)


def _corrected(own: str, right: str) -> str:
    if not own:
        return worded("You gave no answer; the correct answer is {right}", right=_quoted(right))
    return worded("You answered {own}; the correct answer is {right}", own=_quoted(own), right=_quoted(right))


def _quoted(text: str) -> str:
    return text if text.startswith("“") else quoted(text)
