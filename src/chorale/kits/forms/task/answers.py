"""A complete form: validation, comparison, grading and aggregation of its answers."""

from collections.abc import Mapping, Sequence
from functools import partial
from random import Random
from typing import Any

from chorale.contract.combined import Combined, combined_fields
from chorale.contract.exporting import Seeds
from chorale.contract.fields import FieldKind, FieldResult
from chorale.contract.peoples_grades import Marks
from chorale.contract.task import GradeResult
from chorale.files.shortening import shortened
from chorale.kits.forms.task.fields import FormField, Votes, is_asked
from chorale.kits.forms.task.gold_checks import GoldCheck
from chorale.kits.forms.task.invalid import invalid
from chorale.kits.forms.task.kinds import form_field
from chorale.kits.forms.task.reviewing import most_given, side_by_side
from chorale.kits.forms.task.settings import PIECES, FormOptions
from chorale.kits.forms.task.tokens import pieces
from chorale.model import Answer, Judgment, Payload
from chorale.model.plain_words import InvalidValueError


class FormFields:
    """A form described in the study file."""

    def __init__(self, options: FormOptions) -> None:
        self.options = options
        self.fields = {settings.name: form_field(settings) for settings in options.asked}
        self._of_annotators = {settings.name: form_field(settings) for settings in options.fields}

    # Reading

    def schema(self) -> dict[str, Any]:
        """The JSON schema of an answer."""
        return {
            "type": "object",
            "properties": {name: field.schema() for name, field in self.fields.items()},
            "required": [
                name
                for name, field in self.fields.items()
                if field.settings.required and field.settings.shown_if is None
            ],
            "additionalProperties": False,
        }

    def parse(self, raw: Any) -> dict[str, Any]:
        """Validates a submitted answer, in the order of the fields. Raises ValueError if it is invalid."""
        given = self._known(raw)
        answer: dict[str, Any] = {}
        for name, field in self.fields.items():
            asked = is_asked(field.settings, answer)
            if name in given:
                condition = field.settings.shown_if
                if condition is not None and not asked:
                    after = f"certain answers to `{condition.field}`"
                    raise ValueError(f"must not have `{name}`, which is asked only after {after}")
                answer[name] = _put_right(name, partial(field.parse, given[name]))
            elif asked and field.settings.required:
                raise ValueError(f"is invalid: `{name}` is required but missing")
        return answer

    def parse_gold(self, raw: Any) -> dict[str, Any]:
        """Validates gold. Missing fields are not graded."""
        given = self._known(raw)
        if not given:
            raise ValueError("must have an answer to at least one field")
        if all(self.fields[name].check is GoldCheck.NONE for name in given):
            names = ", ".join(f"`{name}`" for name in given)
            raise ValueError(f'must have an answer to a graded field: {names} has gold = "none"')
        gold: dict[str, Any] = {}
        for name, value in ((name, given[name]) for name in self.fields if name in given):
            field = self.fields[name]
            condition = field.settings.shown_if
            if condition is not None and condition.field in gold and not is_asked(field.settings, gold):
                raise ValueError(f"must not have `{name}`, which is not asked after this answer to `{condition.field}`")
            gold[name] = _put_right(name, partial(field.read_gold, value))
        return gold

    def _known(self, raw: Any) -> dict[str, Any]:
        if not isinstance(raw, dict):
            raise invalid("must be an object with an answer for each field", raw)
        known = {name: value for name, value in raw.items() if name not in self.options.hidden}
        unknown = [name for name in known if name not in self.fields]
        if unknown:
            raise InvalidValueError(f"must have only the form's fields, but has {shortened(unknown[0])}")
        return known

    def misfit(self, answer: Answer, item: Payload) -> str | None:
        for name, value in answer.items():
            wrong = self.fields[name].misfit(value, item)
            if wrong is not None:
                return f"is invalid: `{name}` {wrong}"
        return None

    def gold_at(self, gold: Answer, item: Payload) -> dict[str, Any]:
        """Gold as stored with its item. Raises ValueError if it does not fit the item."""
        located = {}
        for name, value in gold.items():
            field = self.fields[name]
            located[name] = _put_right(name, partial(field.located_gold, value, item))
            wrong = field.gold_misfit(located[name], item)
            if wrong is not None:
                raise ValueError(f"is invalid: `{name}` {wrong}")
        return located

    # Showing

    def view(self, item: Payload) -> dict[str, Any]:
        """The displayed columns, the data of the fields, and their initial values."""
        view: dict[str, Any] = {name: _shown(item[name]) for name in self.shown if item.get(name) is not None}
        for field in self.fields.values():
            for name, value in field.view(item).items():
                # Several fields may mark words, each in its own text.
                view[name] = {**view[name], **value} if name == PIECES and name in view else value
            prefill = field.settings.prefill
            if prefill is not None and item.get(prefill) is not None:
                # In the form of a stored answer: like the page, it numbers the spans of relations in text order.
                view[prefill] = field.parse(item[prefill])
        return view if self.options.review is None else view | side_by_side(self._of_annotators, item)

    @property
    def shown(self) -> list[str]:
        """The columns of an item that the form uses."""
        shown = [each for part in self.options.shows for each in part.columns]
        settings = [field.settings for field in self.fields.values()]
        shown += [column for each in settings for column in (*(each.sides or ()), each.item) if column]
        return list(dict.fromkeys(shown))

    @property
    def prefilled(self) -> dict[str, str]:
        """Prefilled fields with their source columns."""
        return {name: field.settings.prefill for name, field in self.fields.items() if field.settings.prefill}

    @property
    def shuffled(self) -> dict[str, FormField]:
        return {name: field for name, field in self.fields.items() if field.settings.shuffle}

    def arrange(self, item: Payload, seeds: Seeds) -> dict[str, Any]:
        """Order of shuffled parts: fixed per worker for options, per item for compared texts."""
        orders: dict[str, Any] = {}
        for name, field in self.shuffled.items():
            order, every_item = field.order(item)
            Random(f"{seeds.item if every_item else seeds.worker}:{name}").shuffle(order)
            orders[name] = order
        return orders

    # Comparing

    def grade(self, answer: Answer, gold: Answer) -> GradeResult:
        """The fraction of graded gold fields that are correct; 1 without graded fields."""
        reasons = []
        graded = [name for name in gold if self.fields[name].check is not GoldCheck.NONE]
        for name in graded:
            wrong = self.fields[name].wrong(answer[name], gold[name]) if name in answer else "not answered"
            if wrong is not None:
                reasons.append(f"{name}: {wrong}")
        return GradeResult(1 - len(reasons) / len(graded) if graded else 1.0, tuple(reasons))

    def distance(self, left: Answer, right: Answer) -> float:
        """Mean distance over compared fields with an answer on either side; 1 for a field answered on only one side."""
        names = [name for name, field in self.fields.items() if not field.is_text and (name in left or name in right)]
        apart = [
            self.fields[name].distance(left[name], right[name]) if name in left and name in right else 1.0
            for name in names
        ]
        return sum(apart) / len(apart) if apart else 0.0

    # Putting together

    def combine(self, judgments: Sequence[Judgment]) -> Combined | None:
        """Aggregates field by field. The confidence is the lowest of all fields, except free text."""
        return None if not judgments else combined_fields(self.combine_fields(judgments))

    def combine_fields(self, judgments: Sequence[Judgment]) -> dict[str, FieldResult]:
        """The result of every field that applies, given the results of earlier fields."""
        # In a fixed order, so that rounding does not depend on the order of answers.
        votes = [(each.answer, each.trust) for each in sorted(judgments, key=lambda each: each.worker)]
        if not any(trust > 0 for _, trust in votes):
            votes = [(answer, 1.0) for answer, _ in votes]
        by_field: dict[str, FieldResult] = {}
        for name, field in self.fields.items():
            so_far = {earlier: value for earlier, (value, _) in by_field.items()}
            asked = [(answer, trust) for answer, trust in votes if is_asked(field.settings, answer)]
            if is_asked(field.settings, so_far) and any(trust > 0 for _, trust in asked):
                by_field[name] = _combined(field, asked, judgments[0].draw)
        return by_field

    @property
    def best_marks(self) -> dict[str, float]:
        """The fields with points, and the maximum of each."""
        return {name: max(field.settings.points) for name, field in self.fields.items() if field.settings.points}

    def marks(self, answer: Answer) -> Marks:
        """Points for each field with points, and the written texts as comments to the graded worker."""
        criteria = {}
        for name, value in answer.items():
            settings = self.fields[name].settings
            if settings.points is not None:
                criteria[name] = settings.points[settings.answers.index(value)]
        written = (value for name, value in answer.items() if self.fields[name].kind is FieldKind.TEXT)
        return Marks(criteria, tuple(written))

    @property
    def has_parts(self) -> bool:
        return any(field.settings.part for field in self.fields.values())

    @property
    def most_parts(self) -> int:
        return max(1, sum(field.settings.part for field in self.fields.values()))

    def parts(self, answer: Answer) -> int:
        """Number of filled-in fields that count for pay."""
        return sum(field.settings.part and answer.get(name) not in (None, []) for name, field in self.fields.items())

    def present(self, item: Payload, answer: Answer) -> dict[str, Any]:
        """A readable answer: in the order of the form, with marked words as text."""
        return {name: field.in_words(answer[name], item) for name, field in self.fields.items() if name in answer}

    # Simulating

    def guess(self, view: Mapping[str, Any], known: Answer, rng: Random | None) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        known = most_given(view) or None if known is None else known
        for name, field in self.fields.items():
            if not is_asked(field.settings, answer):
                continue
            if known is not None and name in known:
                value = field.answer_by(known[name])
                answer[name] = field.guess(view, rng) if value is None else field.completed(value, view, rng)
            elif field.settings.required or (known is None and rng is not None and rng.random() < 0.5):
                answer[name] = field.guess(view, rng)
        return answer


def _put_right(name: str, parse: partial[Any]) -> Any:
    try:
        return parse()
    except InvalidValueError as error:
        raise InvalidValueError(f"is invalid: `{name}` {error.problem}", error.invalid_part, error.fix) from None
    except ValueError as error:
        raise ValueError(f"is invalid: `{name}` {error}") from None


def _combined(field: FormField, asked: Votes, draw: int) -> FieldResult:
    given = [(answer[field.settings.name], trust) for answer, trust in asked if field.settings.name in answer]
    share = sum(trust for _, trust in given) / sum(trust for _, trust in asked)
    if field.is_text:
        return FieldResult(*field.combine(given, draw)) if given else FieldResult(None, None)
    if share <= 0.5:
        return FieldResult(None, 1 - share)
    value, sure = field.combine(given, draw)
    return FieldResult(value, None if sure is None else sure * share)


def _shown(value: Any) -> Any:
    """A text, also from a list of tokens; dialogues and tuples are unchanged."""
    is_tokens = isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
    return "".join(pieces(value)) if is_tokens else value
