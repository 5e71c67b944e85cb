"""A study's site with a simulated crowd at work, shared by `chorale simulate` and demonstrations."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from socket import socket

from uvicorn import Config

from chorale.cli.addresses import reserve
from chorale.engine.advancing import advance
from chorale.engine.clock import Clock, SteadyClock, wall_clock
from chorale.engine.opening import open_study
from chorale.engine.quality import review_workers
from chorale.engine.running import Study
from chorale.engine.settling import settle_everything
from chorale.engine.work import expire_leases
from chorale.model import UserError
from chorale.platforms.simulated import CrowdError, CrowdMember, CrowdSite, SimulatedTime, run_crowd
from chorale.rehearsal.requester import close_a_gate
from chorale.store import Tx, stages
from chorale.store.settings import charge_everybody, mark_simulated
from chorale.web.app import create_app
from chorale.web.servers import SiteServer

HOST = "127.0.0.1"
USUAL_PORT = 8000
# Simulated work is in the past, so that real visitors come after it.
BEGAN_MS_AGO = 3 * 24 * 3_600_000
# Closing a gate or removing a worker late can reopen items after everybody has left, so the crowd returns.
MOST_ROUNDS = 50
SWEEP_MS = 60_000
"""Time between two runs of the site's periodic work, by the crowd's clock."""


class CrowdClock:
    """A clock that follows the crowd's simulated time, then the machine's clock, and never runs backwards."""

    def __init__(self) -> None:
        self.time = SimulatedTime(wall_clock() - BEGAN_MS_AGO)
        self._clock: Clock = self.time

    def __call__(self) -> int:
        return self._clock()

    @property
    def is_simulated(self) -> bool:
        return self._clock is self.time

    def follow_machine(self) -> None:
        self._clock = SteadyClock(wall_clock, self.time())


def open_simulated_study(directory: Path, clock: CrowdClock, seed: int) -> Study:
    """Open a study for a simulated crowd: marked as simulated, with the platform's fee and a fixed random seed."""
    study = open_study(directory, clock=clock)

    def mark(tx: Tx) -> None:
        charge_everybody(tx)
        mark_simulated(tx)

    study.store.write(mark).result()
    return replace(study, fees_by_platform=False, secrets=Random(f"{seed}:site"))


def reserve_port(port: int | None) -> socket:
    """Reserve the named port; otherwise the default port or, if it is taken, any free one."""
    if port is not None:
        return reserve(HOST, port)
    try:
        return reserve(HOST, USUAL_PORT)
    except UserError:
        return reserve(HOST, 0)


@contextmanager
def open_site(study: Study, bound: socket, clock: CrowdClock) -> Iterator[None]:
    """Serve the study's site in a thread of this process while the block runs."""
    # By the machine's clock, the crowd would find other work on a busy machine than on an idle one.
    site = create_app(study, sweeps=lambda: not clock.is_simulated)
    config = Config(site, log_level="warning", access_log=False, timeout_graceful_shutdown=2)
    is_up = threading.Event()
    server = SiteServer(config, is_up.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, name="chorale-site", daemon=True)
    thread.start()
    try:
        while not is_up.wait(0.1):
            if not thread.is_alive():
                raise UserError("The site did not start. The messages above say why.")
        yield
    finally:
        server.should_exit = True
        thread.join()


def send_crowd(
    study: Study, time: SimulatedTime, site: str, people: Sequence[CrowdMember], count: Callable[[], None]
) -> None:
    """Send simulated workers to a site until no work is left.

    In between, close the gates that only a requester can close.
    """
    place = CrowdSite(site, study.settings.arrival, list(study.stages), time)
    answered, swept_at = 0, time()

    def on_submitted() -> None:
        nonlocal answered, swept_at
        answered += 1
        count()
        if time() >= swept_at + SWEEP_MS:
            _sweep(study)
            swept_at = time()

    for _ in range(MOST_ROUNDS):
        before = answered
        try:
            asyncio.run(run_crowd(place, people, on_submitted))
        except CrowdError as error:
            raise UserError(f"The simulation failed: {str(error).rstrip('.')}.") from None
        moved = _sweep(study) or close_a_gate(study)
        if not moved and (answered == before or not study.store.read(_wants_more).result()):
            return


def _sweep(study: Study) -> bool:
    """Do the periodic work of a site; returns whether a stage moved on."""
    study.store.do(lambda tx: expire_leases(tx, study))
    settle_everything(study)
    review_workers(study)
    return bool(study.store.do(lambda tx: advance(tx, study)))


def _wants_more(tx: Tx) -> bool:
    return any(stage.complete < stage.items for stage in stages.stage_counts(tx))
