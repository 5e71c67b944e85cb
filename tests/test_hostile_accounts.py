"""Attacks on annotator accounts: guessing through an account of one's own, and coming back without a password."""

import pytest

from chorale.engine.running import Study
from chorale.web import doorkeeper
from test_team import OTHER, browser, member, quick_hashing, sign_in, study

__all__ = ["quick_hashing", "study"]


def test_signing_in_to_ones_own_account_buys_no_more_guesses_at_others(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doorkeeper, "DELAY_PER_TRY", 0.0)
    member(study, "Anna")
    member(study, "Mallory")
    codes = []
    for _ in range(3):
        mallory = browser(study)
        codes += [sign_in(mallory, "Anna", f"{OTHER} {number}").status_code for number in range(3)]
        codes.append(sign_in(mallory, "Mallory").status_code)
    assert codes.count(401) == doorkeeper.TRIES
    assert 429 in codes


def test_people_behind_one_address_sign_in_one_after_another(study: Study) -> None:
    names = [f"Person {number}" for number in range(doorkeeper.TRIES + 3)]
    for name in names:
        member(study, name)
    assert {sign_in(browser(study), name).status_code for name in names} == {303}
