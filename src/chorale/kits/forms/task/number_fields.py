"""Number and date fields: a slider, a number with bounds, a date."""

from collections.abc import Mapping
from datetime import date, timedelta
from math import isfinite
from random import Random
from typing import Any, ClassVar

from chorale.contract.fields import FieldKind, Scale, StudioControl
from chorale.kits.forms.task import studio
from chorale.kits.forms.task.fields import FormField, Votes, corrected
from chorale.kits.forms.task.invalid import invalid
from chorale.kits.forms.task.settings import Kind
from chorale.metrics.aggregation import trust_weighted_share
from chorale.model import Payload

_NEAR = 1e-9
"""Tolerance of a number relative to a step, because binary fractions are not exact."""
_FAR_DAYS = 365
"""Difference in days that counts as the maximum distance, if there are no bounds."""


class NumberField(FormField):
    """A number: on a slider, or typed with a unit."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.SLIDER, Kind.NUMBER)
    kind = FieldKind.NUMBER
    scale = Scale.INTERVAL

    @property
    def step(self) -> float | None:
        return self.settings.step or (1 if self.settings.kind is Kind.SLIDER else None)

    def schema(self) -> dict[str, Any]:
        low, high = self.settings.ends
        bounds = {"minimum": low, "maximum": high}
        return {"type": "number", **{name: bound for name, bound in bounds.items() if bound is not None}}

    def parse(self, raw: Any) -> int | float:
        if isinstance(raw, bool) or not isinstance(raw, int | float) or not abs(raw) <= 1e15 or not isfinite(raw):
            raise invalid("is not a number", raw)
        low, high = self.settings.ends
        if (low is not None and raw < low) or (high is not None and raw > high):
            raise ValueError(f"is {raw:g} but must be {self._bounds()}")
        if self.step is not None and abs(self._snapped(raw) - raw) > _NEAR * max(1.0, abs(raw)):
            raise ValueError(f"is {raw:g} but must be a multiple of {self.step:g}{self._counted_from()}")
        return _plain(raw)

    def _bounds(self) -> str:
        low, high = self.settings.ends
        if low is None or high is None:
            return f"at least {low:g}" if high is None else f"at most {high:g}"
        return f"from {low:g} to {high:g}"

    def _counted_from(self) -> str:
        low = self.settings.ends[0]
        return f", counted from {low:g}" if low else ""

    def _snapped(self, value: float) -> float:
        """The value of the nearest step."""
        start = self.settings.ends[0] or 0
        return value if self.step is None else start + round((value - start) / self.step) * self.step

    def mistake(self, value: float, gold: float) -> str | None:
        near = abs(value - gold) <= (self.settings.tolerance or 0) + _NEAR * max(1.0, abs(gold))
        return None if near else corrected(f"{value:g}", f"{gold:g}")

    def distance(self, left: float, right: float) -> float:
        """Distance relative to the range or, without bounds, to the larger number."""
        if left == right:
            return 0.0
        low, high = self.settings.ends
        whole = high - low if low is not None and high is not None else max(abs(left), abs(right))
        return min(1.0, abs(left - right) / whole)

    def combine(self, votes: Votes, _draw: int) -> tuple[float, float]:
        """The median, weighted by worker quality. The confidence is the mean closeness of the answers to it."""
        whole = sum(trust for _, trust in votes)
        passed, middle = 0.0, []
        for value, trust in sorted(votes, key=lambda vote: vote[0]):
            passed += trust
            if trust > 0 and passed >= whole / 2 * (1 - _NEAR):
                middle.append(value)
                if passed > whole / 2 * (1 + _NEAR):
                    break
        median = _plain(self._snapped((middle[0] + middle[-1]) / 2))
        return median, sum(trust * (1 - self.distance(value, median)) for value, trust in votes) / whole

    def guess(self, _view: Mapping[str, Any], rng: Random | None) -> int | float:
        low, high = self.settings.ends
        start = low if low is not None else (high - 100 if high is not None else 0)
        end = high if high is not None else start + 100
        step = self.step or (end - start) / 100 or 1
        steps = int((end - start) / step + _NEAR)
        return self.parse(_plain(start + (rng.randint(0, steps) if rng else steps // 2) * step))

    def words(self, value: float, _item: Payload) -> str:
        return f"{value:g} {self.settings.unit}" if self.settings.unit else f"{value:g}"

    def in_words(self, value: float, _item: Payload) -> float:
        return value

    def rules(self) -> dict[str, Any]:
        low, high = self.settings.ends
        return {"min": low, "max": high, "step": self.step, "unit": self.settings.unit}

    def studio(self) -> StudioControl:
        return studio.number(self.settings.name, *self.settings.ends, self.step)


class DateField(FormField):
    """A date in ISO 8601 format."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.DATE,)
    kind = FieldKind.DATE
    scale = Scale.OTHER

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "format": "date"}

    def studio(self) -> StudioControl:
        return studio.day(self.settings.name)

    def parse(self, raw: Any) -> str:
        day = _day(raw)
        earliest, latest = self.settings.earliest, self.settings.latest
        if earliest is not None and day < earliest:
            raise ValueError(f"is {day} but must not be before {earliest}")
        if latest is not None and day > latest:
            raise ValueError(f"is {day} but must not be after {latest}")
        return day.isoformat()

    def mistake(self, value: str, gold: str) -> str | None:
        near = _days(value, gold) <= (self.settings.tolerance or 0)
        return None if near else corrected(value, gold)

    def distance(self, left: str, right: str) -> float:
        """Distance in days, relative to the allowed range or to a year."""
        earliest, latest = self.settings.earliest, self.settings.latest
        allowed = (latest - earliest).days if earliest is not None and latest is not None else _FAR_DAYS
        return min(1.0, _days(left, right) / allowed) if left != right else 0.0

    def combine(self, votes: Votes, draw: int) -> tuple[str, float]:
        share = trust_weighted_share(votes, draw)
        if share is None:
            raise ValueError("no votes to aggregate")
        return str(share.answer), share.confidence

    def guess(self, _view: Mapping[str, Any], rng: Random | None) -> str:
        earliest, latest = self.settings.earliest, self.settings.latest
        start = earliest or (latest - timedelta(days=_FAR_DAYS) if latest else date(2000, 1, 1))
        end = latest or start + timedelta(days=_FAR_DAYS)
        return (start + timedelta(days=rng.randint(0, (end - start).days) if rng else 0)).isoformat()

    def in_words(self, value: str, _item: Payload) -> str:
        return value

    def rules(self) -> dict[str, Any]:
        bounds = {"min": self.settings.earliest, "max": self.settings.latest}
        return {name: bound.isoformat() if bound else None for name, bound in bounds.items()}


def _plain(number: float) -> int | float:
    """Formats whole numbers without a fraction, and others without rounding noise."""
    rounded = round(number, 9)
    return int(rounded) if float(rounded).is_integer() else float(rounded)


def _day(raw: Any) -> date:
    if isinstance(raw, str) and len(raw) == 10:
        try:
            return date.fromisoformat(raw)
        except ValueError:
            pass
    raise invalid("is not a date such as 2024-05-31", raw)


def _days(left: str, right: str) -> int:
    return abs((date.fromisoformat(left) - date.fromisoformat(right)).days)
