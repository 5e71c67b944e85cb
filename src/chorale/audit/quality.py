"""Workers who were removed by their quality: computed again from the answers it was by."""

from collections import defaultdict
from collections.abc import Callable

from chorale.engine.quality import counted_by, qualities, shared_items
from chorale.engine.running import Study
from chorale.model import Event, StageSettings
from chorale.protocol import WorkerQuality, review_quality
from chorale.store import Tx, events, participations

TOLERANCE = 1e-9


def quality_drops(
    tx: Tx, study: Study, stage_at: Callable[[int, str], StageSettings], silent: set[str]
) -> tuple[set[tuple[str, str]], list[str]]:
    """Who was dropped by their quality, as stage and worker, and what does not agree with the evidence."""
    drops = [
        event for event in reversed(events.recent(tx, 1_000_000, kinds=("dropped",))) if event.stage and event.worker
    ]
    by_basis: defaultdict[tuple[str, int, int], list[Event]] = defaultdict(list)
    for event in drops:
        if event.evidence.get("rule") == "quality":
            by_basis[str(event.stage), int(event.evidence["upto"]), int(event.evidence["events"])].append(event)
    dropped: set[tuple[str, str]] = set()
    differences: list[str] = []
    for (name, upto, last), recorded_events in by_basis.items():
        stage = study.stage(name)
        if any(row.worker in silent for row in participations.participation_summaries(tx, stage_name=name)):
            # Everybody was compared with everybody, also with answers that were erased since.
            dropped.update((name, str(event.worker)) for event in recorded_events)
            continue
        answers = counted_by(tx, stage, upto, last)
        again = qualities(stage, answers)
        shared = shared_items(answers)
        places = {} if again is None else {worker: place for place, worker in enumerate(again.workers)}
        for event in recorded_events:
            worker = str(event.worker)
            dropped.add((name, worker))
            place = places.get(worker)
            if again is None or place is None:
                differences.append(f"worker {worker} in {name}: dropped by a quality that can't be computed")
                continue
            values = (float(again.wqs[place]), float(again.wwa[place]), float(again.wua[place]))
            quality = WorkerQuality(*values, shared.get(worker, 0))
            rule = stage_at(event.at, name).quality
            verdict = None if rule is None else review_quality(quality, rule)
            if verdict is None or not verdict.dropped or abs(quality.wqs - event.evidence["wqs"]) > TOLERANCE:
                differences.append(
                    f"worker {worker} in {name}: dropped at a quality of {event.evidence['wqs']}, "
                    f"recomputed {quality.wqs}"
                )
    return dropped, differences
