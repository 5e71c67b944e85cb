"""Recompute random choices (arms, graded answers, items that get more judgments), and check that they were followed."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from chorale.audit.managing import taken_away
from chorale.engine.advancing import drawn_items
from chorale.engine.drawing_answers import drawn_answers
from chorale.engine.running import Study
from chorale.model import AssignmentKind, Event, Response, StageSettings, StudySettings
from chorale.protocol import draw_arm
from chorale.store import Tx, events, gates, items, labels, workers
from chorale.store.arms import arms_by_worker, stored_seed
from chorale.store.participations import ParticipationSummary
from chorale.store.settings import setting_value

ALL = 1_000_000
SettingsAt = Callable[[int], StudySettings]


def arm_differences(
    tx: Tx, study: Study, settings_at: SettingsAt, standings: Sequence[ParticipationSummary]
) -> Iterator[str]:
    """Check that everybody is in their randomly assigned arm and worked only in its stages."""
    present = arms_by_worker(tx)
    draws = events.recent(tx, ALL, kinds=("arm",))
    numbers: dict[str, list[int]] = defaultdict(list)
    held, panels = _held(tx), workers.panels(tx)
    stored = stored_seed(tx)
    seed = study.settings.study.seed if stored is None else stored
    for event in draws:
        numbers[event.evidence["stratum"]].append(event.evidence["number"])
        yield from _draw_differences(seed, settings_at(event.at), event, held, panels)
    times = Counter(event.worker for event in draws)
    arms = {event.worker: event.evidence["arm"] for event in draws}
    for worker in sorted(present.keys() | {name for name in arms if name is not None}):
        if present.get(worker) != arms.get(worker):
            yield f"worker {worker}: is in arm {present.get(worker)}, but was assigned to {arms.get(worker)}"
        if times[worker] > 1:
            yield f"worker {worker}: was assigned to an arm {times[worker]} times"
    for stratum, drawn in numbers.items():
        counter = int(setting_value(tx, f"arms:{stratum}") or 0)
        if sorted(drawn) != list(range(counter)):
            yield f"arms: the positions in stratum {stratum!r} are not 0 to {counter - 1}, each once"
    for row in standings:
        stage = study.stage(row.stage).settings
        if stage.arms and present.get(row.worker) not in stage.arms:
            yield f"worker {row.worker}: is in arm {present.get(row.worker)}, but worked in {row.stage}"


def _draw_differences(
    seed: int, settings: StudySettings, event: Event, held: dict[tuple[str, str], int], panels: dict[str, str]
) -> Iterator[str]:
    rule, evidence = settings.arms, event.evidence
    if rule is None or event.worker is None:
        yield f"worker {event.worker}: was assigned to an arm when the study had none"
        return
    if evidence["seed"] != seed:
        yield (
            f"worker {event.worker}: was assigned to an arm with the seed {evidence['seed']}, but the seed of arm "
            f"assignment is {seed}"
        )
    drawn = draw_arm(rule, seed, evidence["stratum"], evidence["number"])
    if (drawn.arm, drawn.block) != (evidence["arm"], evidence["block"]):
        yield f"worker {event.worker}: was assigned to arm {evidence['arm']}, but the randomisation gives {drawn.arm}"
    if evidence["stratum"] != (panels.get(event.worker, "") if rule.stratify == "panel" else ""):
        yield f"worker {event.worker}: was assigned in stratum {evidence['stratum']!r}, which is not theirs"
    if rule.after is not None and held.get((event.worker, rule.after), event.at + 1) > event.at:
        yield f"worker {event.worker}: was assigned to an arm before they had the qualification {rule.after}"


def entry_differences(tx: Tx, settings_at: SettingsAt, standings: Sequence[ParticipationSummary]) -> Iterator[str]:
    """Check that everybody had the required qualifications when they entered a stage."""
    held = _held(tx)
    for row in standings:
        stage = _stage_at(settings_at(row.entered_at), row.stage)
        for name in () if stage is None else stage.entry.qualifications:
            if held.get((row.worker, name), row.entered_at + 1) > row.entered_at:
                yield f"worker {row.worker}: entered {row.stage} without the qualification {name}"


def _held(tx: Tx) -> dict[tuple[str, str], int]:
    """When each worker was first granted each qualification, including qualifications revoked since."""
    since = {(row.worker, row.name): row.granted_at for row in gates.qualifications(tx)}
    for key, taken in taken_away(tx).items():
        since[key] = min(since.get(key, taken[0].at), *(int(event.evidence["granted_at"]) for event in taken))
    return since


def _stage_at(settings: StudySettings, name: str) -> StageSettings | None:
    return next((stage for stage in settings.stage if stage.name == name), None)


def sample_differences(tx: Tx, study: Study, settings_at: SettingsAt) -> Iterator[str]:
    """Check that the items that get more judgments are those of the random sample."""
    drawn: dict[str, set[str]] = defaultdict(set)
    for event in events.recent(tx, ALL, kinds=("sampled",)):
        if event.stage is None or event.stage not in study.stages:
            continue
        drawn[event.stage] |= set(event.evidence["items"])
        rule = _stage_at(settings_at(event.at), event.stage)
        again = None if rule is None else _drawn_again(tx, study, event, rule)
        if again != (event.evidence["of"], sorted(event.evidence["items"])):
            yield f"stage {event.stage}: the items sampled from {event.evidence['from']} are not the random sample"
    for stage in study.stages.values():
        marked = {item.key for item in items.all_items(tx, stage.name) if item.sampled}
        for key in sorted(marked ^ drawn[stage.name]):
            state = "marked as sampled, but was not" if key in marked else "sampled, but not marked as sampled"
            yield f"item {key} of {stage.name}: {state}"


def _drawn_again(tx: Tx, study: Study, event: Event, rule: StageSettings) -> tuple[int, list[str]]:
    """The number of eligible items, and the keys of the random sample."""
    stage = study.stage(event.stage or "")
    source = event.evidence["from"]
    gone: dict[str | None, bool] = {}
    for change in reversed(events.recent(tx, ALL, before=event.id, kinds=("withdrawn", "brought back"))):
        if change.stage == event.stage:
            gone[change.item] = change.kind == "withdrawn"
    of = study.stage(source).id if source in stage.settings.sources else None
    there = [
        item
        for item in labels.items_from(tx, stage.id, of, withdrawn=True)
        if item[0] <= event.evidence["last"] and not gone.get(item[1], False)
    ]
    return len(there), sorted(key for _, key, _ in drawn_items(study, rule, there))


def answers_drawn(tx: Tx, stage: str) -> set[int]:
    """The sampled answers of a stage, by the activity log."""
    draws = events.recent(tx, ALL, kinds=("drawn",))
    return {answer for event in draws if event.stage == stage for answer in event.evidence["answers"]}


def drawing_differences(
    tx: Tx, study: Study, settings_at: SettingsAt, by_worker: Mapping[tuple[str, str], Sequence[Response]]
) -> Iterator[str]:
    """Check that the sampled answers of each worker are those of the random sample."""
    times: Counter[tuple[str, str, str]] = Counter()
    for event in events.recent(tx, ALL, kinds=("drawn",)):
        if event.stage is None or event.stage not in study.stages or event.worker is None:
            continue
        evidence = event.evidence
        name = f"worker {event.worker}: the answers in {evidence['from']} sampled for {event.stage}"
        times[event.stage, evidence["from"], event.worker] += 1
        rule = _stage_at(settings_at(event.at), event.stage)
        count = None if rule is None or rule.items is None else rule.items.per_worker
        if (
            count is None
            or drawn_answers(study.settings.study.seed, event.stage, count, evidence["of"]) != evidence["answers"]
        ):
            yield f"{name} are not the random sample"
        given = [
            response.id
            for response in by_worker.get((evidence["from"], event.worker), ())
            if response.kind == AssignmentKind.PRODUCTION and response.id <= max(evidence["of"])
        ]
        if sorted(given) != sorted(evidence["of"]):
            yield f"{name} were sampled from a list that differs from the worker's answers"
    for (stage, source, worker), often in sorted(times.items()):
        if often > 1:
            yield f"worker {worker}: answers in {source} were sampled for {stage} {often} times"
