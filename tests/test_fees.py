"""Whose payments cost a platform's fee, and what `chorale check` says about fees and codes that are not set."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import delete

from chorale.audit.verify import verify
from chorale.cli import app
from chorale.engine import arrivals, entering
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.folder.panel_notes import about_panel
from chorale.folder.reading import load_folder
from chorale.store import participations
from chorale.store.schema import setting
from crowd import Person, do
from prolific_study import write_prolific_study
from protocol_study import write_protocol_study
from small_study import write_small_study


class Invited(Person):
    """Somebody who came by a link."""

    def __init__(self, study: Study) -> None:
        self.study = study
        nonce = study.store.do(lambda tx: arrivals.new_invitation(tx, study, "me"))
        worker, _ = do(study, arrivals.arrive_invited, nonce, None)
        self.id, self.pseudonym = worker.id, worker.pseudonym
        do(study, entering.consent, self.id)


def fees(study: Study, *people: Person) -> list[int]:
    rows = study.store.look(participations.participation_summaries)
    return [sum(row.fees for row in rows if row.worker == person.pseudonym) for person in people]


def test_only_people_from_the_platform_cost_its_fee(tmp_path: Path) -> None:
    write_small_study(tmp_path, fee_percent=20, pay=10)
    study = open_study(tmp_path)
    recruited, invited = Person(study, "one"), Invited(study)
    for person in (recruited, invited):
        for _ in range(3):
            person.judge()
    assert fees(study, recruited, invited) == [6, 0]
    assert study.store.look(lambda tx: verify(tx, study)).differences == []
    study.close()


def test_a_study_begun_before_keeps_booking_fees_for_everybody(tmp_path: Path) -> None:
    write_small_study(tmp_path, fee_percent=20, pay=10)
    study = open_study(tmp_path)
    study.store.do(lambda tx: tx.execute(delete(setting).where(setting.c.key == "fees")))
    study.close()
    study = open_study(tmp_path)
    recruited, invited = Person(study, "one"), Invited(study)
    for person in (recruited, invited):
        person.judge()
    assert fees(study, recruited, invited) == [2, 2]
    assert study.store.look(lambda tx: verify(tx, study)).differences == []
    study.close()


@pytest.mark.parametrize(("code", "warned"), [('screenout_code = "OUT"\n', False), ("", True)])
def test_a_missing_code_for_people_who_do_not_pass_is_pointed_out(tmp_path: Path, code: str, warned: bool) -> None:
    write_protocol_study(tmp_path)
    toml = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(toml.replace("[arrival]\n", f'[arrival]\ncompletion_code = "DONE"\n{code}'))
    notes = about_panel(load_folder(tmp_path))
    assert any("who fail a gate have no code" in note for note in notes) == warned


@pytest.mark.parametrize(
    ("percent", "warned"), [("fee_percent = 33.33\n", False), ("fee_percent = 0\n", False), ("", True)]
)
def test_a_fee_that_nobody_has_set_is_pointed_out(tmp_path: Path, percent: str, warned: bool) -> None:
    write_prolific_study(tmp_path)
    toml = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(toml.replace("fee_percent = 33.33\n", percent))
    notes = about_panel(load_folder(tmp_path))
    assert any("the fee of prolific is not set" in note for note in notes) == warned
    said = CliRunner().invoke(app, ["check", str(tmp_path)]).output
    is_set = "33.33" in percent
    assert ("with 33.33% fees" in said, "without platform fees" in said) == (is_set, not is_set)


def test_check_shows_the_rewards_that_the_cost_of_answers_does_not_have(tmp_path: Path) -> None:
    write_prolific_study(tmp_path, places=1200, reward=180)
    said = " ".join(CliRunner().invoke(app, ["check", str(tmp_path)]).output.split())
    assert "main on Prolific: 1,200 places at a reward of $1.80, $2,160.00 in all without fees." in said
