"""Damaged files are refused, by every command, with what to do; clocks that were put back are no damage."""

import os
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from click.testing import CliRunner
from sqlalchemy import text

from chorale.audit.verify import verify
from chorale.cli import app
from chorale.engine.clock import SteadyClock
from chorale.engine.opening import open_study
from chorale.store import opening, sqlite
from conftest import ManualClock, StudyMaker
from crowd import Person, do, look, people, work_through
from small_study import write_small_study

PAGE = 4096
COMMANDS = ("verify", "status", "export", "serve", "backup")


@pytest.fixture
def worked(tmp_path: Path) -> Path:
    """A study with work in it, and everything in its one file."""
    folder = tmp_path / "study"
    write_small_study(folder, applications=40)
    study = open_study(folder, None, ManualClock())
    work_through(people(study, 3), lambda person, offer: "yes")
    study.close()
    with apsw.Connection(str(folder / "study.db")) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return folder


def root_page(folder: Path, table: str) -> int:
    file = apsw.Connection(str(folder / "study.db"))
    [(page,)] = file.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchall()
    file.close()
    return int(str(page))


def zero_a_page(folder: Path) -> None:
    place = (root_page(folder, "response") - 1) * PAGE
    with (folder / "study.db").open("r+b") as file:
        file.seek(place)
        file.write(bytes(PAGE))


def truncate(folder: Path) -> None:
    os.truncate(folder / "study.db", (folder / "study.db").stat().st_size // 2 // PAGE * PAGE)


def replace_by_text(folder: Path) -> None:
    (folder / "study.db").write_text("This is not a database." * 1000)


def options_of(command: str, folder: Path) -> list[str]:
    out = str(folder.parent / "out.csv")
    return {"export": ["--out", out], "serve": ["--port", "0"], "backup": [out]}.get(command, [])


@pytest.mark.parametrize("damage", [zero_a_page, truncate, replace_by_text])
def test_every_command_refuses_a_damaged_file(worked: Path, damage: Callable[[Path], None]) -> None:
    damage(worked)
    before = (worked / "study.db").read_bytes()
    for command in COMMANDS:
        result = CliRunner().invoke(app, [command, str(worked), *options_of(command, worked)])
        assert result.exit_code == 3, (command, result.output, result.exception)
        assert str(worked / "study.db") in result.output
        assert "SQLite reports: " in result.output
        assert "restore a backup" in result.output
        assert "Traceback" not in result.output
    assert (worked / "study.db").read_bytes() == before


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("length", [0, 1])
def test_an_empty_file_is_not_a_new_study(worked: Path, command: str, length: int) -> None:
    """Before, `serve` began the study anew, and whoever had worked in it was unknown."""
    os.truncate(worked / "study.db", length)
    result = CliRunner().invoke(app, [command, str(worked), *options_of(command, worked)])
    assert result.exit_code == 3, result.output
    assert "too few for a database" in result.output and "Restore a backup" in result.output
    assert (worked / "study.db").stat().st_size == length


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_ends_within_a_page_is_refused(worked: Path, command: str) -> None:
    """Before, `serve` opened a file that had lost its last bytes, where they were those of an index."""
    length = (worked / "study.db").stat().st_size - 1
    os.truncate(worked / "study.db", length)
    result = CliRunner().invoke(app, [command, str(worked), *options_of(command, worked)])
    assert result.exit_code == 3, result.output
    assert "is cut off" in result.output and "restore a backup" in result.output
    assert (worked / "study.db").stat().st_size == length


def test_a_damaged_index_is_found_by_verify(worked: Path) -> None:
    """Everything can be read, and what is found by the index is not all there is."""
    file = apsw.Connection(str(worked / "study.db"))
    file.execute("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'ix_worker_identity_worker'")
    file.close()
    result = CliRunner().invoke(app, ["verify", str(worked)])
    assert result.exit_code == 3, result.output
    assert "never used" in result.output


def test_a_row_that_refers_to_nothing_is_found_by_verify(worked: Path) -> None:
    file = apsw.Connection(str(worked / "study.db"))
    file.execute("PRAGMA foreign_keys = OFF; DELETE FROM worker_identity; DELETE FROM worker WHERE id = 1")
    file.close()
    result = CliRunner().invoke(app, ["verify", str(worked)])
    assert result.exit_code == 3, result.output
    assert "refer to missing rows" in result.output


def test_a_file_that_is_not_ours_to_write_says_so(worked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_FLAGS", apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOMUTEX)
    result = CliRunner().invoke(app, ["serve", str(worked), "--port", "0"])
    assert result.exit_code == 2, result.output
    assert "Give this user write permission for the file" in result.output


def test_looking_through_a_file_ends_in_time(worked: Path) -> None:
    opening._look_through(opening.store_url(None, worked / "study.db"), -1.0)


def test_numbers_that_differ_are_no_damage(worked: Path) -> None:
    file = apsw.Connection(str(worked / "study.db"))
    file.execute("UPDATE participation SET answered = answered + 1")
    file.close()
    assert CliRunner().invoke(app, ["verify", str(worked)]).exit_code == 1


def test_a_steady_clock_never_goes_back() -> None:
    wall, elapsed = ManualClock(), 0.0
    clock = SteadyClock(wall, 0, lambda: elapsed)
    ahead = wall.now + 3_600_000
    wall.now = ahead
    assert clock() == ahead
    wall.now -= 3_600_000
    assert clock() == ahead
    elapsed += 10
    assert clock() == ahead + 5_000
    wall.now = ahead + 7_000
    assert clock() == ahead + 7_000
    assert SteadyClock(wall, ahead + 60_000, lambda: elapsed)() == ahead + 60_000


def test_verify_agrees_after_a_clock_that_ran_ahead(make_study: StudyMaker, clock: ManualClock) -> None:
    """Rates changed while the clock was a day ahead; people worked at the new ones after it was put back."""
    study = make_study(pay=3)
    Person(study, "early").judge()
    study.close()
    clock.pass_minutes(24 * 60)
    study = make_study(pay=5)
    clock.pass_minutes(-24 * 60 + 10)
    Person(study, "late").judge()
    assert look(study, lambda tx: verify(tx, study)).differences == []


def test_times_never_go_back_in_a_study_on_the_machines_clock(
    tmp_path: Path, database: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = ManualClock()
    monkeypatch.setattr("chorale.engine.clock.wall_clock", wall)
    monkeypatch.setattr("chorale.engine.opening.wall_clock", wall)
    for pay, minutes in ((3, 24 * 60), (5, -24 * 60), (4, 10)):
        write_small_study(tmp_path / "study", pay=pay)
        study = open_study(tmp_path / "study", database, wall)
        try:
            Person(study, f"paid-{pay}").judge()
            wall.pass_minutes(minutes)
            Person(study, f"paid-{pay}-later").judge()
            assert do(study, verify).differences == []
        finally:
            study.close()


def test_other_users_cannot_read_a_new_database(tmp_path: Path) -> None:
    """It has the key that signs links, and platform IDs. Before, all users of the machine could read it."""
    file, modes = tmp_path / "study.db", []
    engine = sqlite.sqlite_engine(file)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE one (number)"))
        modes = [each.stat().st_mode & 0o777 for each in (file, tmp_path / "study.db-wal")]
    engine.dispose()
    assert modes == [0o600, 0o600]
    file.chmod(0o660)
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO one VALUES (1)"))
    engine.dispose()
    assert file.stat().st_mode & 0o777 == 0o660, "a team may share it"
