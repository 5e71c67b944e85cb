"""A form whose items are the labels of an earlier form: only some of them, shown or prefilled, and up to date."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chorale.audit.verify import verify
from chorale.engine import adjudicating
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.folder.reading import check_folder
from chorale.model import ItemState
from chorale.report.protocol import protocol_section
from chorale.store.items import all_items, find_item
from crowd import Person, do, look
from test_form import field_toml, span

TEXTS = {"a": "Please go away now", "b": "Thank you so much", "c": "Go away you clown"}
TONES = {"a": ("rude", "fine", "fine"), "b": ("fine", "fine", "fine"), "c": ("rude", "rude", "rude")}
WORDS = {"a": [span(0, 1)], "b": [span(0, 2)], "c": [span(2, 4)]}
HEAD = """\
study = { title = "Comments", contact = "team@example.org", consent = "text.md", seed = 3 }
arrival = { worker_pattern = "[a-z0-9-]+" }

[[stage]]
name = "main"
title = "Judge comments"
task = "form"
guidelines = "text.md"
items = { file = "comments.csv" }
judgments = 3
release_confidence = 0.6
[stage.options]
shows = [{ item = "text" }]
"""
LATER = """
[[stage]]
name = "second"
title = "Check rude words"
task = "form"
guidelines = "text.md"
items = { from = "main", confidence = 0.6, where = WHERE }
judgments = 2
[stage.options]
shows = [{ item = "text" }, { item = "tone", label = "Other people say" }]
"""


def write_study(folder: Path, where: str = '{ tone = "rude" }') -> None:
    (folder / "text.md").write_text("Read the comment.\n")
    rows = "".join(f"{key},{text}\n" for key, text in TEXTS.items())
    (folder / "comments.csv").write_text(f"id,text\n{rows}")
    first = (
        field_toml(name="tone", kind="choice", ask="Which?", options=["rude", "fine"])
        + field_toml(name="words", kind="spans", ask="Where?", item="text")
        + field_toml(name="why", kind="text", ask="Why?")
    )
    then = field_toml(name="checked", kind="spans", ask="Right?", item="text", prefill="words")
    (folder / "study.toml").write_text(HEAD + first + LATER.replace("WHERE", where) + then)


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    write_study(tmp_path)
    with closing(open_study(tmp_path)) as opened:
        for number in range(3):
            person = Person(opened, f"person-{number}")
            while (offer := person.next("main")).lease is not None:
                key = next(key for key, text in TEXTS.items() if text == (offer.view or {})["text"])
                answer = {"tone": TONES[key][number], "words": WORDS[key], "why": f"Because {number}"}
                person.submit(offer, answer)
        yield opened


def later(study: Study) -> dict[str, tuple[str, Any]]:
    """The items of the second stage: the first part of the key with state and tone."""
    items = look(study, lambda tx: list(all_items(tx, "second")))
    return {f"{item.key.partition('/')[0]} {item.payload['tone']}": (item.state, item.payload) for item in items}


def states(study: Study) -> dict[str, str]:
    return {key: state for key, (state, _) in later(study).items()}


def test_only_labels_with_the_values_make_items(study: Study) -> None:
    ((name, (state, payload)),) = later(study).items()
    assert (name, state) == ("c rude", ItemState.OPEN)
    assert payload == {"text": TEXTS["c"], "tone": "rude", "words": WORDS["c"]}, "free text is left out"
    offer = Person(study, "somebody-else").next("second")
    assert offer.view is not None and offer.view["tone"] == "rude"
    assert offer.view["words"] == WORDS["c"], "for `prefill`"
    assert Person(study, "person-0").next("second").lease is None, "nobody checks their own label"


def test_items_follow_decisions_of_reviewers(study: Study) -> None:
    stage = study.stage("main")

    def decide(key: str, tone: str) -> None:
        item = look(study, lambda tx: find_item(tx, "main", key))
        assert item is not None
        do(study, adjudicating.decide, stage, key, {"tone": tone, "words": WORDS[key]}, "Read again.", "owner")

    decide("a", "rude")
    assert states(study) == {"a rude": ItemState.OPEN, "c rude": ItemState.OPEN}
    decide("c", "fine")
    assert states(study) == {"a rude": ItemState.OPEN, "c rude": ItemState.WITHDRAWN}
    assert not look(study, lambda tx: verify(tx, study)).differences


def test_the_report_names_the_labels(study: Study) -> None:
    told = str(protocol_section(study))
    assert "Items come from the labels of main with a confidence of 0.6 or more." in told
    assert "Only items whose label of tone is rude are used." in told


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ('{ tune = "rude" }', "is not a field with options of the stage 'main' (found 'tune'). Use one of: tone."),
        ('{ words = "rude" }', "is not a field with options of the stage 'main' (found 'words'). Use one of: tone."),
        ('{ tone = ["rude", "kind"] }', "is not an answer to tone in the stage 'main' (found 'kind')."),
    ],
)
def test_values_that_no_label_can_have_are_refused(tmp_path: Path, where: str, said: str) -> None:
    write_study(tmp_path, where)
    _, (problem,) = check_folder(tmp_path)
    assert said in str(problem)


def test_where_is_for_labels(tmp_path: Path) -> None:
    write_study(tmp_path)
    file = tmp_path / "study.toml"
    file.write_text(file.read_text().replace("confidence = 0.6, where", 'of = "answers", where'))
    _, problems = check_folder(tmp_path)
    assert '`where` needs `of = "results"`' in str(problems[0])
