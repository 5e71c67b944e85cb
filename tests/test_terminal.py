"""Tables for terminals: what gives way where there is little room."""

from io import StringIO

import pytest
from rich.console import Console

from chorale.present.scoring import ScoreTable, score_table

NAMES = ("round-1-c-grades", "justification", "a")
NUMBERS = ("98.1% (96.4%–100.0%)", "$1,158.00 ($1,144.50–$1,170.25)", "−0.0312 to 0.0045", "1,123 of 1,140")


def printed(table: ScoreTable, width: int) -> list[str]:
    paper = StringIO()
    Console(width=width, file=paper).print(score_table(table))
    lines = [line.rstrip() for line in paper.getvalue().splitlines()]
    assert max(map(len, lines)) <= width
    return lines


@pytest.mark.parametrize("width", [40, 50, 60, 80, 100, 140, 200])
def test_neither_numbers_nor_intervals_are_broken(width: int) -> None:
    columns = ("stage", *(f"what is told in column {number}#" for number in range(8)))
    lines = printed(ScoreTable("A table", columns, [(name, *NUMBERS, *NUMBERS) for name in NAMES]), width)
    text = "\n".join(lines)
    for number in (
        "98.1%",
        "(96.4%–100.0%)",
        "$1,158.00",
        "($1,144.50–$1,170.25)",
        "−0.0312 to 0.0045",
        "1,123 of 1,140",
    ):
        assert text.count(number) == 2 * len(NAMES), number


def test_headers_give_way_first() -> None:
    table = ScoreTable("", ("stage", "answers that were given#", "cost#"), [("round-1-c-grades", 7, NUMBERS[0])])
    assert printed(table, 70)[-3].split() == ["stage", "answers", "that", "were", "given", "cost"]
    for width in (60, 50):
        assert printed(table, width)[-1].split() == ["round-1-c-grades", "7", "98.1%", "(96.4%–100.0%)"]


def test_then_names_behind_their_hyphens_and_then_what_is_in_brackets() -> None:
    table = ScoreTable("", ("stage", "given#", "cost#"), [("round-1-c-grades", 7, NUMBERS[0])])
    assert [line.split() for line in printed(table, 42)[-2:]] == [
        ["round-1-c-", "7", "98.1%", "(96.4%–100.0%)"],
        ["grades"],
    ]
    assert [line.split() for line in printed(table, 32)[-3:]] == [
        ["round-", "7", "98.1%"],
        ["1-c-", "(96.4%–100.0%)"],
        ["grades"],
    ]


def test_what_has_no_room_goes_on_below_with_the_first_column_again() -> None:
    table = ScoreTable(
        "A title", ("stage", *(f"column {number}#" for number in range(4))), [("one", *[NUMBERS[1]] * 4)]
    )
    lines = printed(table, 80)
    assert [line.split()[0] for line in lines if line.startswith(("stage", "one"))] == ["stage", "one"] * 2
    assert sum("A title" in line for line in lines) == 1
    assert " ".join(lines).count(NUMBERS[1]) == 4


def test_a_date_is_not_taken_for_a_name() -> None:
    table = ScoreTable("", ("when", "cost#"), [("2026-11-16", NUMBERS[1])])
    assert "2026-11-16" in "\n".join(printed(table, 48))


def test_a_table_with_nothing_in_it_is_printed() -> None:
    assert printed(ScoreTable("", ("outcome", "#"), []), 40)[0].startswith("outcome")
