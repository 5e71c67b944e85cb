"""All kinds of fields. A new kind is a class in its own module and a line here."""

from chorale.kits.forms.task.best_worst_fields import BestWorstField
from chorale.kits.forms.task.choice_fields import ChoiceField, ChoicesField
from chorale.kits.forms.task.fields import FormField
from chorale.kits.forms.task.matrix_fields import MatrixField
from chorale.kits.forms.task.number_fields import DateField, NumberField
from chorale.kits.forms.task.ranking_fields import RankingField
from chorale.kits.forms.task.region_fields import BoxField, PolygonField, SegmentField
from chorale.kits.forms.task.relation_fields import RelationField
from chorale.kits.forms.task.settings import FieldSettings
from chorale.kits.forms.task.span_fields import SpanField
from chorale.kits.forms.task.text_fields import TextField
from chorale.kits.forms.task.turn_fields import TurnChoiceField, TurnSpanField

_CLASSES: tuple[type[FormField], ...] = (
    ChoiceField,
    ChoicesField,
    NumberField,
    DateField,
    MatrixField,
    TextField,
    SpanField,
    RelationField,
    RankingField,
    BestWorstField,
    TurnChoiceField,
    TurnSpanField,
    BoxField,
    PolygonField,
    SegmentField,
)
_BY_KIND = {kind: each for each in _CLASSES for kind in each.kinds}


def form_field(settings: FieldSettings) -> FormField:
    """The field for these settings."""
    return _BY_KIND[settings.kind](settings)
