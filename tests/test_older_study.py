"""A study that an earlier version began opens, verifies and continues.

`data/study-0008.sql` is the dump of a small study as the version before the single SQLite driver left it: five people
on the study below, the third of whom got gold wrong and was removed, and seven judgments in the second stage. Keep it
as it is. When a migration is added, dump another one beside it before.
"""

import json
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from chorale.cli import app
from chorale.engine.opening import open_study
from chorale.store.sqlite import SqliteDriver
from crowd import Person
from small_study import write_small_study

DUMPS = sorted((Path(__file__).parent / "data").glob("study-*.sql"))
RESPONSES = 43


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.stem)
def test_an_older_study_opens_verifies_and_continues(tmp_path: Path, dump: Path) -> None:
    folder = tmp_path / "study"
    write_small_study(folder, applications=6, gold=6, share=0.3, judgments="2", fee_percent=20)
    with closing(SqliteDriver(str(folder / "study.db"))) as database:
        database.execute(dump.read_text("utf-8")).fetchall()
    for judgments in (RESPONSES, RESPONSES + 1):
        checked = json.loads(run("verify", folder, "--json"))
        assert (checked["ok"], checked["checked"]["responses"]) == (True, judgments)
        with closing(open_study(folder)) as study:
            Person(study, f"new-{judgments}").judge("yes", "entailment")
    assert json.loads(run("verify", folder, "--json"))["ok"]


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout
