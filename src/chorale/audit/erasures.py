"""Whether what was to be erased is gone, and nothing else is."""

from collections.abc import Collection, Iterator

from chorale.engine.running import Study
from chorale.store import Tx, erasing, events

ALL = 1_000_000


def erasure_differences(tx: Tx) -> Iterator[str]:
    """Every erasure has its event, and what it names is gone; nothing is gone without one."""
    rows = erasing.erasures(tx)
    recorded = list(reversed(events.recent(tx, ALL, kinds=("erased",))))
    if [(one.at, one.worker) for one in rows] != [(event.at, event.worker) for event in recorded]:
        yield f"erasures: {len(rows)} stored, and {len(recorded)} among the events, or of other people or times"
    nameless = {one.worker for one in rows if one.identity}
    silent = {one.worker for one in rows if one.answers}
    state = erasing.erased_state(tx)
    for what, present, expected in (
        ("identity", state.nameless, nameless),
        ("answers", state.silent, silent & state.answered),
        ("leave to continue", state.stopped, {one.worker for one in rows}),
    ):
        for worker in sorted(present - expected):
            yield f"worker {worker}: the {what} is gone without an erasure that took it"
        for worker in sorted(expected - present):
            yield f"worker {worker}: the {what} was erased and is there"


def not_recomputed(study: Study, silent: Collection[str]) -> Iterator[str]:
    """What rested on answers that are gone, and can't be computed again."""
    if not silent:
        return
    many = f"{len(silent):,} {'worker' if len(silent) == 1 else 'workers'}"
    yield f"the answers of {many} were erased: their gold scores and pay are compared with the records, not recomputed"
    if any(stage.settings.quality is not None for stage in study.stages.values()):
        yield "removals by worker quality that rest on answers which were erased since"
