"""Progress towards an estimated number."""

import pytest

from chorale.cli.bars import counting


def test_lines_beyond_the_estimate_do_not_claim_a_new_one(capsys: pytest.CaptureFixture[str]) -> None:
    with counting("answers", 20) as count:
        for _ in range(24):
            count()
    lines = capsys.readouterr().out.splitlines()
    assert lines[9:] == [
        "20 of about 20 answers",
        "22 answers so far, more than the estimated 20",
        "24 answers so far, more than the estimated 20",
        "24 answers in total",
    ]
