"""Cookies of people in tests, made as the site makes them."""

from typing import Protocol

from chorale.engine import sessions
from chorale.engine.running import Study
from chorale.store import epochs, workers
from chorale.web.links import study_sessions
from chorale.web.sessions import StaffSession
from crowd import do, look


class Numbered(Protocol):
    """A worker, or a person in a test."""

    @property
    def id(self) -> int: ...


def worker_cookie(study: Study, person: Numbered) -> str:
    """A new session of a worker."""
    worker = look(study, lambda tx: workers.find_worker(tx, person.id))
    assert worker is not None
    return study_sessions(study).worker_cookie(do(study, sessions.begin, worker))


def staff_session(study: Study, name: str, version: int = 1) -> StaffSession:
    return StaffSession(name, version, look(study, epochs.current).mark)


def staff_cookie(study: Study, name: str, version: int = 1) -> str:
    return study_sessions(study).staff_cookie(staff_session(study, name, version))
