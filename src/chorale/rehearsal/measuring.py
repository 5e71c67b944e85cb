"""Measures the results of a simulated run."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from chorale.engine.gates import gate_statuses
from chorale.engine.paying import is_for_finishing
from chorale.engine.running import RunningStage, Study
from chorale.model import Standing
from chorale.monitor.costs import arm_costs, final_stages, final_stages_of_arm, study_results
from chorale.monitor.status import paid_and_worked, status
from chorale.monitor.suggested_answers import suggestion_measures
from chorale.protocol import State, hourly_wage, wage_summary
from chorale.rehearsal.performing import Performance
from chorale.rehearsal.person import Exit, Person
from chorale.rehearsal.runs import ArmRun, GateRun, Run, StageRun, SuggestionRun
from chorale.rehearsal.simulated import Knowledge
from chorale.rehearsal.starving import why_starved
from chorale.store import Tx, arms, events, first_pass, items, ledger, participations, responses, settings
from chorale.store.gates import closed_gates
from chorale.store.grades import active_in
from chorale.store.participations import ParticipationSummary
from chorale.store.stages import StageCounts

HOUR_MS = 3_600_000
CURVE_POINTS = 60


def measure(tx: Tx, study: Study, performance: Performance, known: Mapping[str, Knowledge], seed: int) -> Run:
    now = status(tx, study)
    standings = participations.participation_summaries(tx)
    closed = closed_gates(tx)
    qualities = qualities_that_count(tx, performance.qualities)
    people = [person for person in performance.people if not person.expert]
    came = [person for person in people if person.came_at is not None and person.came_at <= performance.ended_at]
    stages = tuple(
        replace(
            _stage_run(
                tx,
                study.stage(counts.name),
                counts,
                standings,
                performance.people,
                came,
                known[counts.name],
                mean_quality([counts.name], qualities),
                ended=bool(closed.intersection(study.stage(counts.name).closed_by)),
            ),
            suggestions=_suggestion_runs(tx, study, study.stage(counts.name)),
        )
        for counts in now.stages
    )
    gates = _gate_runs(tx, study)
    paid = list(ledger.amounts(tx))
    finishing = sum(amount for _, amount, cause in paid if is_for_finishing(cause))
    results, unit = study_results(tx, study)
    return Run(
        seed=seed,
        stages=stages,
        final=tuple(stage.name for stage in final_stages(study)),
        results=results,
        unit=unit,
        base=now.totals["base"],
        finishing=finishing,
        bonus=now.totals["bonus"] - finishing,
        fee=now.totals["fee"],
        models=now.totals["model"],
        wage=now.wage.median,
        low_wage=now.wage.tenth_percentile,
        underpaid=_share_below_minimum(study, standings),
        hours=(performance.ended_at - performance.started_at) / HOUR_MS,
        arrived=len(came),
        active=sum(person.answered > 0 for person in people),
        found_nothing=sum(
            not person.entered and any(_found_nothing(person, stage.name) for stage in stages) for person in came
        ),
        answers=sum(person.answered for person in people),
        starved=why_starved(study, stages, gates, performance.people),
        curve=cost_curve([(at, amount) for at, amount, _ in paid], performance.started_at),
        gates=gates,
        arms=measure_arms(tx, study, standings, qualities),
        notes=tuple(_notes(tx, performance)),
    )


def _gate_runs(tx: Tx, study: Study) -> tuple[GateRun, ...]:
    closings = events.recent(tx, len(study.gates), kinds=("gate closed",)) if study.gates else ()
    ungraded = {closing.evidence["gate"]: closing.evidence["not_graded"] for closing in closings}
    left_out = {closing.evidence["gate"]: closing.evidence["without_score"] for closing in closings}
    return tuple(
        GateRun(
            gate.name,
            gate.passed,
            gate.not_passed - left_out.get(gate.name, 0),
            gate.scored + gate.waiting + ungraded.get(gate.name, 0),
            ungraded.get(gate.name, 0),
            _decided_after(study, gate.stages),
        )
        for gate in gate_statuses(tx, study)
    )


def _suggestion_runs(tx: Tx, study: Study, stage: RunningStage) -> tuple[SuggestionRun, ...]:
    return tuple(SuggestionRun(measure.measure, *measure.means) for measure in suggestion_measures(tx, study, stage))


def _share_below_minimum(study: Study, standings: Sequence[ParticipationSummary]) -> float | None:
    """The share of workers with a wage below the minimum; None if there are no wages."""
    wages = [wage for each in paid_and_worked(study, standings) if (wage := hourly_wage(*each)) is not None]
    return fmean(wage < study.settings.pay.minimum_hourly for wage in wages) if wages else None


def _decided_after(study: Study, looked_at: Iterable[str]) -> str:
    asked = {*looked_at}
    return [name for name, stage in study.stages.items() if name in asked or asked & {*stage.settings.graded_stages}][
        -1
    ]


def labelled_by_model(tx: Tx, stage: RunningStage) -> int:
    """Number of items labelled by a model that answers first."""
    if not stage.asks_model_first:
        return 0
    return sum(first.is_label for first in first_pass.of_stage(tx, stage.id).values())


def cost_curve(amounts: Iterable[tuple[int, int]], started_at: int) -> tuple[tuple[float, int], ...]:
    """The cumulative cost at equally spaced times, from times and amounts."""
    paid = sorted((at - started_at, amount) for at, amount in amounts)
    if not paid:
        return ()
    end, spent, index = paid[-1][0], 0, 0
    points = []
    for number in range(CURVE_POINTS + 1):
        moment = end * number / CURVE_POINTS
        while index < len(paid) and paid[index][0] <= moment:
            spent += paid[index][1]
            index += 1
        points.append((moment / HOUR_MS, spent))
    return tuple(points)


def _stage_run(
    tx: Tx,
    stage: RunningStage,
    counts: StageCounts,
    standings: Iterable[ParticipationSummary],
    people: Iterable[Person],
    came: Iterable[Person],
    known: Knowledge,
    quality: float | None,
    *,
    ended: bool,
) -> StageRun:
    let_in = [row for row in standings if row.stage == stage.name]
    dropped = sum(row.standing == Standing.DROPPED for row in let_in)
    entered = sum(stage.name in person.entered for person in people)
    last_here = [person for person in people if person.stage is stage and stage.name in person.entered]
    left = sum(person.exit is Exit.LEFT for person in last_here)
    gave_up = sum(person.exit is Exit.GAVE_UP for person in last_here)
    cut_off = 0
    if stage.round_size is not None:
        done = {*active_in(tx, stage.id, stage.round_size).values()}
        lost = {person.number for person in last_here if person.exit in (Exit.LEFT, Exit.GAVE_UP)}
        finished = sum(
            stage.name in person.entered and person.worker_id in done and person.number not in lost for person in people
        )
        cut_off = max(0, entered - dropped - left - gave_up - finished)
    scores, released = _scores(tx, stage, known)
    return StageRun(
        name=stage.name,
        round=stage.round_size is not None,
        ended=ended,
        items=counts.items,
        complete=counts.complete,
        released=counts.released,
        judgments=counts.judgments,
        discarded=counts.discarded,
        gold_answers=counts.gold_answers,
        accuracy=fmean(scores) if scores else None,
        released_accuracy=fmean(released) if released else None,
        quality=quality,
        entered=entered,
        dropped=dropped,
        left=left,
        gave_up=gave_up,
        cut_off=cut_off,
        finished=max(0, entered - dropped - left - gave_up - cut_off),
        found_nothing=sum(_found_nothing(person, stage.name) for person in came),
        locked_out=sum(
            person.states.get(stage.name) is State.LOCKED and stage.name not in person.entered
            for person in people
            if not person.expert and not stage.is_for_experts
        ),
        cost=counts.paid + counts.fees,
        by_model=labelled_by_model(tx, stage),
    )


def _found_nothing(person: Person, stage: str) -> bool:
    """Whether a worker looked for work in a stage that was open to them, but never got an item."""
    return stage not in person.entered and person.states.get(stage) in (State.FINISHED, State.WAITING)


def _scores(tx: Tx, stage: RunningStage, known: Knowledge) -> tuple[list[float], list[float]]:
    """The scores of a stage's labels against known correct answers: of all, and of accepted ones."""
    scores: list[float] = []
    released: list[float] = []
    if not known:
        return scores, released
    for item in items.all_items(tx, stage.name):
        label = item.label()
        truth = None if label is None else known.get(stage.task.form.shown(item.payload))
        if label is None or truth is None:
            continue
        score = stage.task.grading.grade(label.answer, truth).score
        scores.append(score)
        if label.released:
            released.append(score)
    return scores, released


def _notes(tx: Tx, performance: Performance) -> Iterator[str]:
    if settings.setting_value(tx, "budget reached") is not None:
        yield "the budget was reached in some runs: no more items were assigned after that."
    # For a task that can't make up answers, wrong answers are taken from other items.
    for name in sorted(performance.refused):
        yield (
            f"{name}: simulated wrong answers are taken from other items. Some did not fit, so their items were "
            "returned. In the simulation, the stage takes slightly longer. The real study is not affected."
        )


def measure_arms(
    tx: Tx, study: Study, standings: Iterable[ParticipationSummary], qualities: Mapping[str, Sequence[float]]
) -> tuple[ArmRun, ...]:
    """The results of every arm; `qualities` are those of counted answers, by stage."""
    if study.settings.arms is None:
        return ()
    counts, of = arms.arm_counts(tx), arms.arms_by_worker(tx)
    costs = arm_costs(tx, study)
    paid: dict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    reached: dict[str, set[str]] = defaultdict(set)
    final = {arm: {stage.name for stage in final_stages_of_arm(study, arm)} for arm in study.settings.arms.names}
    for row in standings:
        arm = of.get(row.worker)
        if arm is None or not row.answered:
            continue
        earned, worked = paid[arm].get(row.worker, (0, 0))
        paid[arm][row.worker] = earned + row.earned, worked + row.worked_ms
        if row.stage in final[arm]:
            reached[arm].add(row.worker)
    return tuple(
        ArmRun(
            name=arm,
            people=counts.get(arm, 0),
            reached=len(reached[arm]),
            answers=costs.own[arm].answers,
            quality=mean_quality(final[arm], qualities),
            cost=costs.own[arm].cost,
            cost_per_answer=costs.own[arm].per_answer,
            cost_without_training=costs.own[arm].per_answer_without_training,
            shared=costs.shared_by[arm],
            wage=wage_summary(list(paid[arm].values())).median,
        )
        for arm in study.settings.arms.names
    )


def qualities_that_count(tx: Tx, qualities: Mapping[int, float]) -> dict[str, list[float]]:
    """The qualities of counted answers by stage, where known, from qualities by response."""
    if not qualities:
        return {}
    return {
        name: [qualities[one] for one in given if one in qualities] for name, given in responses.counted_ids(tx).items()
    }


def mean_quality(stages: Collection[str], qualities: Mapping[str, Sequence[float]]) -> float | None:
    """The mean quality of counted answers in some stages; None if unknown."""
    scores = [one for name in sorted(stages) for one in qualities.get(name, ())]
    return fmean(scores) if scores else None
