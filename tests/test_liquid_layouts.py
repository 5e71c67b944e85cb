"""Limits of layouts in Liquid: no value and no loop stops the site."""

import pytest

from chorale.kits.mturk.layouts import fill_in
from chorale.kits.mturk.liquid_layouts import row_problem


@pytest.mark.parametrize(
    ("layout", "value", "told"),
    [
        ("{% for i in (1..3000000) %}{{ task.input.a }}{% endfor %}", "", "loop iteration limit"),
        ("{{ task.input.a | replace: 'x', task.input.a }}", "x" * 20_000, "a page that is too large"),
        ("{{ task.input.a | join: task.input.a }}", f"[{'1,' * 9_999}1]", "a page that is too large"),
        (
            "{% for i in (1..60) %}{% assign b = b | append: task.input.a | append: b %}{% endfor %}",
            "x" * 2_000,
            "a page that is too large",
        ),
        ("{{ task.input.a | ceil }}", "inf", "a calculation fails"),
    ],
)
def test_values_that_would_fill_the_memory_or_stop_the_page_do_not_fit(layout: str, value: str, told: str) -> None:
    problem = row_problem(layout, {"a": value})
    assert problem is not None and told in problem


@pytest.mark.parametrize("failure", [MemoryError, RecursionError])
def test_no_failure_while_filling_in_gets_out(failure: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise failure

    monkeypatch.setattr("chorale.kits.mturk.liquid_layouts.fill_in_liquid", fail)
    assert "does not fit the layout" in str(row_problem("{{ task.input.a }}", {"a": ""}))


def test_what_only_looks_like_a_list_is_text() -> None:
    assert fill_in("<p>{{ task.input.a }}</p>", {"a": "[" * 20_000}) == f"<p>{'[' * 20_000}</p>"
