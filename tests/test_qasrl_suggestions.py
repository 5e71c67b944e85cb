"""A parser's questions as suggestions to people who write: simulated with arms, and how simulated writers react."""

from pathlib import Path
from random import Random

import pytest

from asking import EXPERT, PREDICATE, SUGGESTED, write_suggesting_qasrl_study
from chorale.contract.simulating import Keeping, Revision
from chorale.folder.reading import check_folder, load_folder
from chorale.kits.qasrl.tasks.shared.predicates import view_of
from chorale.kits.qasrl.tasks.shared.simulating import revise
from chorale.kits.qasrl.tasks.write import QASRL_WRITE
from chorale.rehearsal import read_crowd, rehearse

CROWD = 'workers = 16\n[[kind]]\nname = "good"\nshare = 1\nability = 0.95\n'


@pytest.fixture(autouse=True)
def same_gold_positions() -> None:
    """Not patched here: a simulation has gold at places of its own, the same for the same seed."""


def texts(answer: object) -> list[str]:
    assert isinstance(answer, list)
    return [one["question"] for one in answer]


@pytest.mark.parametrize(
    ("keeping", "asked"),
    [
        (Keeping(1, 0), [*texts(EXPERT[:2]), *texts(EXPERT[2:])]),
        # The question that is wrong has the answer of the last one, which is then not asked.
        (Keeping(1, 1), [*texts(SUGGESTED), EXPERT[2]["question"]]),
        (Keeping(0, 0), texts(EXPERT)),
    ],
)
def test_simulated_writers_keep_suggested_questions_and_add_their_own(keeping: Keeping, asked: list[str]) -> None:
    revision = Revision(SUGGESTED, EXPERT, EXPERT)
    submitted = revise(view_of(PREDICATE), revision, keeping, Random(1))
    assert texts(submitted) == asked
    QASRL_WRITE.shape.parse_answer(submitted, QASRL_WRITE.shape.parse_row(PREDICATE))


@pytest.mark.slow
def test_arms_with_and_without_a_parsers_suggestions_are_simulated(tmp_path: Path) -> None:
    folder = write_suggesting_qasrl_study(tmp_path / "study")
    assert check_folder(folder)[1] == []
    measured = []
    for wrong in (0.0, 0.9):
        (folder / "rehearsal.toml").write_text(f"{CROWD}keeps_wrong = {wrong}\nsuggested_pace = 0.5\n")
        found = rehearse(folder, seeds=2, processes=1).as_json()["variations"][0]["suggestions"]["writing"]
        measured.append(
            {what: {name: one and one["mean"] for name, one in sides.items()} for what, sides in found.items()}
        )
    careful, trusting = measured
    seconds = trusting["seconds per answer"]
    assert seconds["with_suggestion"] == pytest.approx(0.5 * seconds["without"], rel=0.25)
    name = "agreement with the model's answer, where it is wrong by gold"
    assert trusting[name]["difference"] > careful[name]["difference"] + 0.05
    assert trusting["correct by gold"]["difference"] < careful["correct by gold"]["difference"] - 0.3


def test_simulated_writers_can_err_like_a_parser(tmp_path: Path) -> None:
    folder = write_suggesting_qasrl_study(tmp_path / "study")
    crowd = read_crowd(load_folder(folder), fit=folder / "parser.jsonl")
    [like_parser] = crowd.fitted
    assert 0.5 < like_parser.accuracies["writing"] < 0.8, "half of the arguments, and a question that is wrong"
    [note] = crowd.notes
    assert note.startswith("writing: 24 recorded answers have a mean score of 0.")
