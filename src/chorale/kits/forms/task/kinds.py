"""The kinds of fields a form can have. A new kind is a class in a module of its own, and a line here."""

from chorale.kits.forms.task.choice_fields import ChoiceField, ChoicesField
from chorale.kits.forms.task.fields import FormField
from chorale.kits.forms.task.settings import FieldSettings
from chorale.kits.forms.task.span_fields import SpanField
from chorale.kits.forms.task.text_fields import TextField

_CLASSES: tuple[type[FormField], ...] = (ChoiceField, ChoicesField, TextField, SpanField)
_BY_KIND = {kind: each for each in _CLASSES for kind in each.kinds}


def form_field(settings: FieldSettings) -> FormField:
    """The field that these settings describe."""
    return _BY_KIND[settings.kind](settings)
