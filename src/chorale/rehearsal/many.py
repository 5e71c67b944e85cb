"""Runs many simulations: every variation with every seed, on all cores."""

import os
import signal
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from threading import Thread
from typing import cast

from chorale.folder.reading import StudyFolder
from chorale.model import UserError
from chorale.rehearsal.measuring import measure
from chorale.rehearsal.preparing import Crowd, Rehearsal, not_collecting
from chorale.rehearsal.runs import Run
from chorale.rehearsal.varying import Variation, load_variation

WAKE_SECONDS = 0.2
MOST_TIMES = 8

Progress = Callable[[int, int], None]
"""Called with the number of finished runs and the total, first with 0."""


@dataclass(frozen=True, eq=False)
class Programme:
    """The simulations to run."""

    path: Path
    variations: tuple[Variation, ...]
    crowd: Crowd
    seeds: tuple[int, ...]
    find_fewest: bool = False
    """Whether every run is repeated with fewer people, to find the minimum number."""
    folder: StudyFolder | None = None
    """The unchanged study, if it is already read; other processes read it themselves."""

    @property
    def jobs(self) -> list[tuple[int, int]]:
        """Pairs of variation and seed, grouped by variation, which is prepared once."""
        return [(number, seed) for number in range(len(self.variations)) for seed in self.seeds]

    def perform(self, number: int, seed: int) -> Run:
        rehearsal = _prepared(self, number)
        run = _measured(rehearsal, seed)
        if not self.find_fewest:
            return run
        fewest = fewest_that_do(
            lambda workers: _measured(rehearsal, seed, workers).complete, rehearsal.workers, finishes=run.complete
        )
        return replace(run, needed=fewest)


def perform_all(
    programme: Programme, processes: int | None = None, progress: Progress | None = None
) -> list[list[Run]]:
    """The runs of every variation, in the order of the seeds; in this process if one is enough."""
    jobs = programme.jobs
    processes = min(processes or len(os.sched_getaffinity(0)), len(jobs))
    if progress:
        progress(0, len(jobs))
    runs = _here(programme, jobs, progress) if processes == 1 else _in_processes(programme, jobs, processes, progress)
    return [[runs[number, seed] for seed in programme.seeds] for number in range(len(programme.variations))]


RunsByJob = dict[tuple[int, int], Run]


def _here(programme: Programme, jobs: Sequence[tuple[int, int]], progress: Progress | None) -> RunsByJob:
    runs = {}
    for job in jobs:
        runs[job] = programme.perform(*job)
        if progress:
            progress(len(runs), len(jobs))
    return runs


def _in_processes(
    programme: Programme, jobs: Sequence[tuple[int, int]], processes: int, progress: Progress | None
) -> RunsByJob:
    """The runs, by processes with separate pipes.

    A pool of the standard library shares queues and locks: if a process is killed while writing, the others may wait
    forever.
    """
    # Spawned, not forked: a fork would inherit threads and locks of the caller.
    context = get_context("spawn")
    portable = replace(programme, folder=None)
    to_do, runs = iter(jobs), RunsByJob()
    crew: dict[Connection, SpawnProcess] = {}
    try:
        for _ in range(processes):
            ours, theirs = context.Pipe()
            crew[ours] = context.Process(target=_perform_until_stopped, args=(theirs, portable))
            crew[ours].start()
            theirs.close()
            ours.send(next(to_do))
        while len(runs) < len(jobs):
            # With a short time-out: a Ctrl-C in another thread is noticed only when this one wakes up.
            for ours in _ready(crew, WAKE_SECONDS):
                job, runs[job] = _received(ours)
                if progress:
                    progress(len(runs), len(jobs))
                if (next_job := next(to_do, None)) is not None:
                    ours.send(next_job)
    except OSError:
        raise _ended_from_outside() from None
    finally:
        # Everything is done or, after Ctrl-C or an error, the remaining work is not needed.
        for process in crew.values():
            if process.pid is not None:
                process.terminate()
                process.join()
    return runs


def _ready(crew: Iterable[Connection], seconds: float) -> Iterable[Connection]:
    return cast(Iterable[Connection], wait(list(crew), seconds))


def _received(connection: Connection) -> tuple[tuple[int, int], Run]:
    try:
        job, outcome = connection.recv()
    except EOFError:
        raise _ended_from_outside() from None
    if isinstance(outcome, Exception):
        raise outcome
    return job, outcome


def _ended_from_outside() -> UserError:
    return UserError(
        "a process of the simulation was killed, possibly because memory ran out. Try again with fewer processes "
        "(--processes 1)."
    )


def _measured(rehearsal: Rehearsal, seed: int, workers: int | None = None) -> Run:
    # Without garbage collection until the end, which would take 1% of the time.
    with not_collecting():
        return _measured_run(rehearsal, seed, workers)


def _measured_run(rehearsal: Rehearsal, seed: int, workers: int | None) -> Run:
    study, performance = rehearsal.perform(seed, workers)
    try:
        return study.store.read(lambda tx: measure(tx, study, performance, rehearsal.known, seed)).result()
    finally:
        study.close()


def fewest_that_do(do: Callable[[int], bool], workers: int, *, finishes: bool) -> int | None:
    """The minimum number of people with whom a study finishes, by binary search.

    `finishes` says whether the study finishes with `workers` people; if not, up to eight times as many are tried. None
    if these are not enough.

    >>> fewest_that_do(lambda workers: workers >= 17, 60, finishes=True)
    17
    >>> fewest_that_do(lambda workers: workers >= 70, 60, finishes=False)
    70
    >>> fewest_that_do(lambda workers: False, 60, finishes=False)
    """
    too_few, enough = 0, workers
    while not finishes:
        if enough >= MOST_TIMES * workers:
            return None
        too_few, enough = enough, 2 * enough
        finishes = do(enough)
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if do(middle):
            enough = middle
        else:
            too_few = middle
    return enough


# In the processes


def _perform_until_stopped(jobs: Connection, programme: Programme) -> None:
    # Ctrl-C is handled by the parent process, which ends us; if it was killed, our work is not needed.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    while True:
        job = jobs.recv()
        try:
            outcome: Run | Exception = programme.perform(*job)
        except Exception as error:
            outcome = error
        jobs.send((job, outcome))


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@lru_cache(maxsize=1)
def _prepared(programme: Programme, number: int) -> Rehearsal:
    variation = programme.variations[number]
    crowd = programme.crowd
    if variation.workers is not None:
        settings = crowd.settings.model_copy(update={"workers": variation.workers})
        crowd = replace(crowd, settings=settings)
    folder = programme.folder
    if folder is None or folder.settings_text != variation.settings_text:
        folder = load_variation(programme.path, variation)
    return Rehearsal(folder, crowd)
