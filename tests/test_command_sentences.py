"""What commands and console say about a small form study: counts, hints and suggestions agree with what happens."""

import json
from pathlib import Path

import pytest

from chorale.engine.opening import open_study
from chorale.model import Event
from chorale.model.problems import MOST_PROBLEMS, Problem, condensed
from chorale.web.console.answers import field_inputs
from chorale.web.console.texts import evidence, item_text, stored_parts
from test_cli import chorale, chorale_json


@pytest.fixture(scope="module")
def form(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("form") / "form"
    chorale("new", folder, "--template", "form")
    return folder


def test_check_says_what_the_hourly_pay_includes_and_which_code_is_missing(form: Path) -> None:
    output = chorale("check", form).stdout
    assert "+ (time to read the guidelines once ÷ answers per worker)." in output
    assert "Set `completion_code` in [arrival] to the platform's code for finished work" in output
    assert "{code}" not in output, "the template does not set completion_url"


def test_the_start_of_template_names_lists_all_of_them(tmp_path: Path) -> None:
    output = chorale("new", tmp_path / "x", "--template", "gallery", code=2).output
    assert "Use one of: `gallery/audio-segments`" in output and "`gallery/survey`" in output
    assert "`rules`" not in output


def test_a_rehearsal_without_complete_items_does_not_blame_the_truth(form: Path) -> None:
    notes = " ".join(chorale_json("rehearse", form, "--seeds", 1, "--workers", 1)["notes"])
    assert "Of 1 person, 1 had already done all their work there" in notes
    assert "no correct answers are known" not in notes


def test_retention_says_that_no_period_is_set(form: Path) -> None:
    chorale("invite", form)
    output = chorale("retention", form).stdout
    assert "Nothing is due." in output and "No retention period is set" in output


def test_an_account_that_was_never_used_is_deleted(form: Path) -> None:
    chorale("team", form, "--invite", "Cleo")
    output = chorale("team", form, "--deactivate", "Cleo", "--reason", "left").stdout
    assert output == "The account of Cleo was never used. It has been deleted, and its link no longer works.\n"
    assert "Nobody has an account yet" in chorale("team", form).stdout


def test_answers_of_the_team_show_every_level_and_how_to_quote_labelled_words(form: Path) -> None:
    study = open_study(form)
    inputs = {one.name: one for one in field_inputs(study.stage("tone"), None)}
    study.close()
    levels = [words for _, words in inputs["ease"].options]
    assert levels == ["1 (Very hard)", "2", "3", "4", "5 (Very easy)"]
    assert [words for _, words in inputs["tone"].options] == ["Polite", "Neither polite nor rude", "Rude"]
    assert '[{"text": "some words", "label": "soft"}]' in inputs["words"].hint
    given = json.dumps({"tone": "polite", "words": ["Would you"]})
    told = chorale("gold", form, "--promote", "m01", "--answer", given, "--explanation", "x", code=2).output
    assert '`words` has a quotation that is not like {"text": "some words", "label": "soft"}' in told


def test_the_card_of_a_dataset_counts_items_and_responses_apart(form: Path, tmp_path: Path) -> None:
    chorale("export", form, "--format", "huggingface", "--out", tmp_path / "data")
    card = (tmp_path / "data" / "README.md").read_text()
    assert "| `tone` | `form` | 3 |" in card
    assert "0 responses and 12 items from a crowdsourcing study" in card


def test_moments_in_the_activity_log_are_not_numbers() -> None:
    event = Event(1, 0, "expired", None, None, None, {"leased_at": 1_767_610_803_948, "right": 3})
    assert evidence(event, arms=False) == [("assigned at", "2026-01-05 11:00 UTC"), ("correct", "3")]


@pytest.mark.parametrize(("count", "told"), [(MOST_PROBLEMS - 1, "in 49 rows"), (MOST_PROBLEMS, "in at least 50 rows")])
def test_a_reader_that_stopped_early_does_not_give_an_exact_number(count: int, told: str) -> None:
    rows = [Problem("a.csv", line, "has no text", "Add it.") for line in range(2, 2 + count)]
    assert told in str(*condensed(rows))


def test_errors_of_a_file_that_several_stages_read_count_once() -> None:
    rows = [Problem("a.csv", line, "has no text", "Add it.") for line in (2, 5)]
    assert list(map(str, condensed(rows * 4))) == ["a.csv:2: has no text in 2 rows (lines 2, 5). Add it."]
    assert list(map(str, condensed(rows[:1] * 4))) == ["a.csv:2: has no text. Add it."]


def test_the_log_names_the_unit_of_amounts() -> None:
    event = Event(1, 0, "bonus given", None, None, None, {"amount": 150})
    assert evidence(event, arms=False) == [("amount in minor units (cents)", "150")]


def test_empty_columns_of_an_item_are_left_out(form: Path) -> None:
    study = open_study(form)
    stage = study.stage("tone")
    study.close()
    payload = {"setting": "A guest to the host", "message": "Thank you.", "note": None}
    assert item_text(stage, payload) == "A guest to the host · Thank you."
    assert stored_parts(stage, payload) == [("setting", "A guest to the host"), ("message", "Thank you.")]
