"""Layouts for SageMaker Ground Truth: Liquid templates with the row in `task.input`."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any

from chorale.model.extras import need

if TYPE_CHECKING:
    from liquid import BoundTemplate

MOST_STEPS = 100_000
"""Maximum number of loop iterations, including outer loops. This many take about a second."""
MOST_OUTPUT = 5_000_000
"""Maximum size of a rendered page and of the variables of a layout, in bytes."""
_INPUT = ("task", "input")
_USES_INPUT = re.compile(r"\{[{%][^{}]{0,500}?\btask\s{0,5}\.\s{0,5}input\b")


# Cached, because all items use the same few layouts.
@lru_cache(maxsize=32)
def is_liquid(layout: str) -> bool:
    """Whether a layout uses the variables of Ground Truth.

    >>> is_liquid("<p>{{ task.input.text }}</p>"), is_liquid("<p>${text}</p>")
    (True, False)
    """
    return _USES_INPUT.search(layout) is not None


def liquid_problem(layout: str) -> str | None:
    """The error of a Liquid layout with its line, or None."""
    try:
        parsed = _parsed(layout)
    except _liquid().exceptions.LiquidError as error:
        place = error.context()
        line = place[0] if place else layout.count("\n") + 1
        return f"is not valid Liquid in line {line}: {_first_line(error)}"
    except RecursionError:
        return "is nested too deeply to be read as Liquid"
    filters = [name for name in parsed.filter_names() if name not in parsed.env.filters]
    if filters:
        return f"uses an unknown Liquid filter: {filters[0]}"
    unknown = [path for path in parsed.global_variable_segments() if tuple(path[:2]) != _INPUT]
    return f"uses {unknown[0][0]}, but only task.input is available" if unknown else None


@lru_cache(maxsize=32)
def liquid_variables(layout: str) -> tuple[str, ...]:
    """The columns that a Liquid layout uses."""
    paths = _parsed(layout).global_variable_segments()
    return tuple(dict.fromkeys(str(path[2]) for path in paths if tuple(path[:2]) == _INPUT and len(path) > 2))


def row_problem(layout: str, values: Mapping[str, str]) -> str | None:
    """The reason why a Liquid layout cannot show a row, or None."""
    try:
        fill_in_liquid(layout, values)
    except _liquid().exceptions.ResourceLimitError as error:
        return (
            f"produces a page that is too large: {_first_line(error)} (limits: {MOST_STEPS:,} iterations, "
            f"{MOST_OUTPUT:,} bytes)"
        )
    except _liquid().exceptions.LiquidError as error:
        return f"does not fit the layout: {_first_line(error)}"
    except (ArithmeticError, ValueError) as error:
        return f"does not fit the layout: a calculation fails: {_first_line(error)}"
    except RecursionError:
        return "does not fit the layout: the row or the layout is nested too deeply"
    except MemoryError:
        return "does not fit the layout: the page would need too much memory"
    return None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def fill_in_liquid(layout: str, values: Mapping[str, str]) -> str:
    """Renders a Liquid layout with escaped values, as in Ground Truth. JSON lists and objects can be iterated."""
    return _parsed(layout).render(task={"input": {name: _value(text) for name, text in values.items()}})


def _liquid() -> Any:
    need("liquid")
    import liquid.exceptions  # noqa: PLC0415

    return liquid


@lru_cache(maxsize=32)
def _parsed(layout: str) -> "BoundTemplate":
    liquid = _liquid()
    limits = {
        "loop_iteration_limit": MOST_STEPS,
        "output_stream_limit": MOST_OUTPUT,
        "local_namespace_limit": MOST_OUTPUT,
    }
    environment = type("Limited", (liquid.Environment,), limits)(autoescape=True)
    environment.filters |= {
        "join": _limited(environment.filters["join"], _size_of_join),
        "replace": _limited(environment.filters["replace"], _size_of_replace),
        "grant_read_access": lambda value: value,
        "skip_autoescape": lambda value: liquid.Markup(str(value)),
        "to_json": lambda value: json.dumps(getattr(value, "content", value), ensure_ascii=False),
    }
    parsed: BoundTemplate = environment.from_string(layout)
    return parsed


def _limited(filter_: Callable[..., Any], size: Callable[..., int]) -> Callable[..., Any]:
    """Wraps a filter so that it is not run if its result would exceed the maximum page size."""

    @wraps(filter_)
    def limited(value: Any, *given: Any, **settings: Any) -> Any:
        if size(value, *given) > MOST_OUTPUT:
            raise _liquid().exceptions.OutputStreamLimitError("output stream limit reached", token=None)
        return filter_(value, *given, **settings)

    return limited


def _size_of_join(value: Any, separator: Any = " ", *_: Any) -> int:
    return len(value) * len(str(separator)) if isinstance(value, Sequence | range) else 0


def _size_of_replace(value: Any, sought: Any = "", put: Any = "", *_: Any) -> int:
    return str(value).count(str(sought)) * len(str(put))


def _value(text: str) -> Any:
    if not text.lstrip().startswith(("[", "{")):
        return text
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return _Table(text, content) if isinstance(content, dict) else _List(text, content)


class _Json:
    """JSON in a cell, shown as written."""

    def __init__(self, text: str, content: Any) -> None:
        self._text = text
        self.content = content

    def __len__(self) -> int:
        return len(self.content)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.content)

    def __getitem__(self, place: Any) -> Any:
        return self.content[place]

    def __str__(self) -> str:
        return self._text


class _List(_Json, Sequence[Any]):
    """Iterated as a list."""


class _Table(_Json, Mapping[str, Any]):
    """Accessed by name."""
