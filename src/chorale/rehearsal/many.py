"""Many performances: every variation with every seed, on all cores."""

import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from threading import Thread

from chorale.folder.reading import StudyFolder
from chorale.model import UserError
from chorale.rehearsal.measuring import measure
from chorale.rehearsal.preparing import Crowd, Rehearsal, not_collecting
from chorale.rehearsal.runs import Run
from chorale.rehearsal.varying import Variation, load_variation

WAKE_SECONDS = 0.2
MOST_TIMES = 8

Progress = Callable[[int, int], None]
"""Told how many performances are done, of how many: first that none is."""


@dataclass(frozen=True, eq=False)
class Programme:
    """What is to be performed."""

    path: Path
    variations: tuple[Variation, ...]
    crowd: Crowd
    seeds: tuple[int, ...]
    find_fewest: bool = False
    """Whether every run is followed by others with fewer people, to see how many it takes."""
    folder: StudyFolder | None = None
    """The study as it is, if it is at hand; other processes read it for themselves."""

    @property
    def jobs(self) -> list[tuple[int, int]]:
        """Variation and seed, the seeds of a variation next to each other: what it takes is prepared once."""
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
    others = set(active_children())
    runs: RunsByJob = {}
    # Started afresh, not forked: a fork would inherit threads and locks of whoever calls.
    portable = replace(programme, folder=None)
    pool = ProcessPoolExecutor(processes, get_context("spawn"), initializer=_begin, initargs=(portable,))
    try:
        futures = {pool.submit(_perform, *job): job for job in jobs}
        waiting = set(futures)
        while waiting:
            # Never for long: a Ctrl-C that reaches another thread is seen by this one only when it wakes up.
            done, waiting = wait(waiting, timeout=WAKE_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                runs[futures[future]] = future.result()
                if progress:
                    progress(len(runs), len(jobs))
    except BrokenProcessPool:
        raise UserError(
            "a process of the rehearsal was ended from outside, perhaps for want of memory. "
            "Try again with fewer processes (--processes 1)."
        ) from None
    finally:
        if len(runs) < len(jobs):
            # After a Ctrl-C or a mistake nobody wants what the others are still doing.
            pool.shutdown(wait=False, cancel_futures=True)
            for child in set(active_children()) - others:
                child.terminate()
        # Waited for, since a pool that is still closing when the program ends finds its pipes gone.
        pool.shutdown(wait=True)
    return runs


def _measured(rehearsal: Rehearsal, seed: int, workers: int | None = None) -> Run:
    # Until all of it is gone: looking through what is still there would take a hundredth of the whole.
    with not_collecting():
        return _measured_run(rehearsal, seed, workers)


def _measured_run(rehearsal: Rehearsal, seed: int, workers: int | None) -> Run:
    study, performance = rehearsal.perform(seed, workers)
    try:
        return study.store.read(lambda tx: measure(tx, study, performance, rehearsal.known, seed)).result()
    finally:
        study.close()


def fewest_that_do(do: Callable[[int], bool], workers: int, *, finishes: bool) -> int | None:
    """The fewest people with whom a study finishes, halving what is open, if it does with more whenever with fewer.

    `finishes` says whether it does with `workers`; if not, up to eight times as many are tried, and it may be None.

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


_programme: list[Programme] = []


def _begin(programme: Programme) -> None:
    # Ctrl-C is for whoever started us, and they end us; if they can't, because they were killed, nobody wants our work.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    _programme[:] = [programme]


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _perform(number: int, seed: int) -> Run:
    return _programme[0].perform(number, seed)


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
