"""Check that gates' decisions follow from the grades of that time, and that their consequences were applied."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chorale.audit.managing import held_since, taken_away, written_by_hand
from chorale.engine.gates import not_passed_by, survey
from chorale.engine.running import Study
from chorale.model import EXPERT, AssignmentKind, Event, GateSettings, Grade, StudySettings, invited_to, is_model
from chorale.protocol import Candidate, GateVerdict, closed_by, decide_gate, part_of_round
from chorale.protocol.gates import RULE
from chorale.store import Tx, events, gates, payments, responses
from chorale.store.gates import VerdictRow
from chorale.store.grades import all_grades
from chorale.store.messages import all_messages

Bonuses = defaultdict[tuple[str, str], list[tuple[int, int]]]
SettingsAt = Callable[[int], StudySettings]
ALL = 1_000_000
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class _DecidedGate:
    """A decision with the gate's rule at that time and the grades that it names."""

    row: VerdictRow
    rule: GateSettings
    seen: tuple[Grade, ...]

    @property
    def name(self) -> str:
        return f"worker {self.row.worker} at gate {self.row.gate}"

    def candidate(self) -> Candidate | None:
        """The worker as the gate saw them; None if a stage has no grade."""
        scores = {stage: [one.score for one in self.seen if one.stage == stage] for stage in self.rule.stage}
        marks = tuple(one.criteria for one in self.seen if one.criteria)
        return Candidate(self.row.worker, scores, marks) if all(scores.values()) else None


class GatePay(NamedTuple):
    """Payments by gates, and workers whose rounds were ended by gates before they had finished."""

    bonuses: Bonuses
    """Time and amount, by stage and worker."""
    cut_off: Mapping[tuple[str, str], int]
    """Number of answers, by stage and worker, given in rounds that a gate ended before the worker had finished."""


def verify_gates(tx: Tx, study: Study, settings_at: SettingsAt, of_kits: tuple[str, ...]) -> tuple[GatePay, list[str]]:
    """Payments by gates, and decisions that do not follow from the grades.

    `of_kits` has prefixes of the causes of messages that kits write. These messages are not checked.
    """
    differences: list[str] = []
    grades = {grade.id: grade for grade in all_grades(tx)}
    decided: list[_DecidedGate] = []
    for row in gates.verdicts(tx):
        rule = next((gate for gate in settings_at(row.at).gate if gate.name == row.gate), None)
        if rule is None:
            differences.append(f"worker {row.worker}: has a decision by {row.gate}, which was not a gate at that time")
            continue
        seen = tuple(grades[number] for number in row.evidence.get("grades", ()) if number in grades)
        decided.append(_DecidedGate(row, rule, seen))
    by_worker: dict[str, list[Grade]] = defaultdict(list)
    for grade in grades.values():
        if grade.kind != AssignmentKind.GOLD:
            by_worker[grade.worker].append(grade)
    for decision in decided:
        if decision.row.has_score:
            differences += _seen_differences(study, decision, by_worker[decision.row.worker])
        else:
            differences += _left_out_differences(study, decision, by_worker[decision.row.worker])
    differences += _verdict_differences(decided)
    differences += _event_differences(tx, decided)
    differences += _closing_differences(tx, study, decided, by_worker)
    differences += _qualification_differences(tx, decided)
    differences += _message_differences(tx, decided, of_kits)
    bonuses: Bonuses = defaultdict(list)
    for decision in decided:
        if decision.row.passed and decision.rule.bonus and not is_model(decision.row.worker):
            bonuses[decision.rule.stage[-1], decision.row.worker].append((decision.row.at, decision.rule.bonus))
    differences += _grading_differences(tx, settings_at, bonuses)
    cut_off: dict[tuple[str, str], int] = {}
    differences += _round_differences(tx, study, settings_at, bonuses, cut_off)
    return GatePay(bonuses, cut_off), differences


def _grading_differences(tx: Tx, settings_at: SettingsAt, bonuses: Bonuses) -> Iterator[str]:
    """Add the pay of graders when gates closed, and report where it does not match their work."""
    closings = sorted(events.recent(tx, ALL, kinds=("gate closed",)), key=lambda event: event.id)
    dropped = {(event.stage, event.worker): event.at for event in events.recent(tx, ALL, kinds=("dropped",))}
    done: set[str] = set()
    for event in closings:
        settings = settings_at(event.at)
        paid: Mapping[str, Sequence[str]] = event.evidence.get("graders_paid", {})
        ended = {
            stage.name: stage
            for stage in settings.stage
            if stage.grades and stage.pay.finished and event.evidence["gate"] in closed_by(settings, stage)
        }
        for name in sorted((ended.keys() - done) | paid.keys()):
            stage = ended.get(name)
            if stage is None or name in done:
                yield f"gate {event.evidence['gate']}: graders in {name} were paid for finishing, but this was not due"
                continue
            times: dict[str, list[int]] = defaultdict(list)
            for response in responses.all_responses(tx, stage_name=name, erased=True):
                times[response.worker].append(response.submitted_at)
            for worker, given in sorted(times.items()):
                # Answers with the same timestamp as the closing may have come before or after it.
                before = sum(at < event.at for at in given) >= stage.pay.finished_from
                until = sum(at <= event.at for at in given) >= stage.pay.finished_from
                out = dropped.get((name, worker), event.at + 1) < event.at
                if (worker in paid.get(name, ())) not in {before and not out, until and not out}:
                    yield f"worker {worker} in {name}: the pay for finishing does not match their answers"
            for worker in paid.get(name, ()):
                bonuses[name, worker].append((event.at, stage.pay.finished))
            done.add(name)


def _round_differences(
    tx: Tx, study: Study, settings_at: SettingsAt, bonuses: Bonuses, cut_off: dict[tuple[str, str], int]
) -> Iterator[str]:
    """Add the workers whom gates cut off in the middle of rounds, and their pay; report where it does not match."""
    done: set[str] = set()
    for event in sorted(events.recent(tx, ALL, kinds=("gate closed",)), key=lambda event: event.id):
        settings = settings_at(event.at)
        ended = [
            stage
            for stage in settings.stage
            if event.evidence["gate"] in closed_by(settings, stage) and stage.name not in done
        ]
        done.update(stage.name for stage in ended)
        cut_off_answers: Mapping[str, Mapping[str, int]] | None = event.evidence.get("cut_off")
        if cut_off_answers is None:
            continue  # closed before Chorale paid for unfinished rounds
        for stage in ended:
            size = study.stages[stage.name].round_size if stage.name in study.stages else None
            if size is None:
                continue
            several = cut_off_answers.get(stage.name, {})
            times: dict[str, list[int]] = {worker: [] for worker in several}
            for response in responses.all_responses(tx, stage_name=stage.name, erased=True):
                times.setdefault(response.worker, []).append(response.submitted_at)
            for worker, given in sorted(times.items()):
                # Answers with the same timestamp as the closing may have come before or after it.
                before, until = sum(at < event.at for at in given), sum(at <= event.at for at in given)
                answered = _answered_at_closing(several.get(worker), before, until, size)
                if answered is None:
                    yield f"worker {worker} in {stage.name}: the logged number of answers at closing is wrong"
                elif answered < size:
                    cut_off[stage.name, worker] = answered
                    part = part_of_round(stage.pay.finished, answered, size)
                    bonuses[stage.name, worker].append((event.at, part))
        for name in sorted(cut_off_answers.keys() - {stage.name for stage in ended}):
            yield f"gate {event.evidence['gate']}: people in {name} were cut off, but the gate does not end that stage"


def _answered_at_closing(recorded: int | None, before: int, until: int, size: int) -> int | None:
    """The number of answers a worker had given when a round ended, as recorded if they were cut off; None if wrong."""
    if recorded is not None:
        return recorded if before <= recorded <= until else None
    if until >= size:
        return size
    # A worker who entered at the same moment was not visible yet, and had no answers.
    return None if before else 0


def _seen_differences(study: Study, decision: _DecidedGate, own: Sequence[Grade]) -> Iterator[str]:
    """Check that the gate used the worker's grades of that time: all of them, the latest of each, and no others."""
    row = decision.row
    if len(decision.seen) != len(row.evidence.get("grades", ())):
        yield f"{decision.name}: decided with grades that do not exist"
    latest: dict[int, Grade] = {}
    for grade in own:
        # Grades with the decision's timestamp may have come before or after it: those that it names came before.
        if grade.stage in decision.rule.stage and (grade.graded_at < row.at or grade in decision.seen):
            latest[grade.response_id] = grade
    if sorted(grade.id for grade in latest.values()) != sorted(grade.id for grade in decision.seen):
        yield f"{decision.name}: decided with grades other than the latest ones"
    for name in decision.rule.stage:
        needed = study.stages[name].round_size or decision.rule.graded
        if sum(grade.stage == name for grade in decision.seen) < needed:
            yield f"{decision.name}: decided by fewer than {needed} grades in {name}"
    candidate = decision.candidate()
    if candidate is None or abs(candidate.mean - row.score) > TOLERANCE:
        again = None if candidate is None else candidate.mean
        yield f"{decision.name}: score {row.score} stored, {again} recomputed from the grades"


def _left_out_differences(study: Study, decision: _DecidedGate, own: Sequence[Grade]) -> Iterator[str]:
    """Check that a worker without a score had too few grades when the gate closed, and did not pass."""
    row, rule = decision.row, decision.rule
    graded = [
        len({grade.response_id for grade in own if grade.stage == name and grade.graded_at < row.at})
        >= (study.stages[name].round_size or rule.graded)
        for name in rule.stage
    ]
    if row.passed or row.evidence.get("promoted"):
        yield f"{decision.name}: passed without a score"
    if all(graded):
        yield f"{decision.name}: has no score, although all required grades exist"


def _verdict_differences(decided: Sequence[_DecidedGate]) -> Iterator[str]:
    """Recompute decisions: for each worker alone, or for all workers who were ranked together."""
    together: dict[tuple[str, int], list[_DecidedGate]] = defaultdict(list)
    for decision in decided:
        together[decision.row.gate, decision.row.at].append(decision)
    for several in together.values():
        rule = several[0].rule
        candidates = [candidate for one in several if (candidate := one.candidate()) is not None]
        again = {verdict.worker: verdict for verdict in decide_gate(rule, candidates)}
        for decision in several:
            if decision.row.worker in again:
                yield from _outcome_differences(decision, again[decision.row.worker], alone=rule.decides_each)


def _outcome_differences(decision: _DecidedGate, again: GateVerdict, *, alone: bool) -> Iterator[str]:
    stored = decision.row.evidence
    if decision.row.passed != again.passed:
        yield f"{decision.name}: passed={decision.row.passed} stored, {again.passed} recomputed from the grades"
    if bool(stored.get("promoted")) != again.promoted:
        yield f"{decision.name}: promoted={stored.get('promoted')} stored, {again.promoted} recomputed from the grades"
    # A gate that decides for each worker separately uses no rank.
    ranked = ("rank", "of", "average") if alone else ()
    compared = [name for name in again.evidence if name not in ranked]
    for name in compared:
        before, now = stored.get(name), again.evidence[name]
        if _figures(before) != _figures(now) if name == RULE else before != now:
            yield f"{decision.name}: {name} {before} in the evidence, {now} recomputed"


def _figures(rule: object) -> list[float]:
    """The numbers in the words of a rule. Only they are compared: another version may have worded the rule differently.

    >>> _figures("the best 10%, not below 0.5") == _figures("score of 0.5 or more, best 10 percent")
    True
    """
    return sorted(float(number) for number in re.findall(r"\d+(?:\.\d+)?", str(rule)))


def _event_differences(tx: Tx, decided: Sequence[_DecidedGate]) -> Iterator[str]:
    """Check that every decision is logged with its evidence, and every logged decision exists."""
    recorded: dict[tuple[str, str | None], list[Event]] = defaultdict(list)
    for event in events.recent(tx, ALL, kinds=("passed", "not passed")):
        recorded[event.evidence["gate"], event.worker].append(event)
    for decision in decided:
        own = recorded.pop((decision.row.gate, decision.row.worker), [])
        kind = "passed" if decision.row.passed else "not passed"
        if [(event.kind, event.at, event.evidence) for event in own] != [
            (kind, decision.row.at, decision.row.evidence)
        ]:
            yield f"{decision.name}: the decision differs from the logged one"
    for gate, worker in recorded:
        yield f"worker {worker} at gate {gate}: the log has a decision that does not exist"


def _closing_differences(
    tx: Tx, study: Study, decided: Sequence[_DecidedGate], grades: Mapping[str, Sequence[Grade]]
) -> Iterator[str]:
    """Check that closed gates, and gates that decide about each worker, have a decision about every scored worker."""
    closings = {event.evidence["gate"]: event for event in events.recent(tx, ALL, kinds=("gate closed",))}
    closed = gates.closing_times(tx)
    for name in sorted(closed.keys() ^ closings.keys()):
        wrong = "closed without an event" if name in closed else "closed in the activity log, but it is open"
        yield f"gate {name}: {wrong}"
    for name in sorted(closed.keys() & closings.keys()):
        everybody = [one.row for one in decided if one.row.gate == name and one.row.at == closed[name]]
        mine = [row for row in everybody if row.has_score]
        left_out = closings[name].evidence.get("without_score", 0)
        if len(everybody) - len(mine) != left_out:
            yield (
                f"gate {name}: number of workers without a score: {left_out} in the log, "
                f"{len(everybody) - len(mine)} in the decisions"
            )
        again = (len(mine), sum(row.passed for row in mine), sum(bool(row.evidence.get("promoted")) for row in mine))
        stored = tuple(closings[name].evidence[what] for what in ("scored", "passed", "promoted"))
        if stored != again:
            yield (
                f"gate {name}: numbers of workers scored, passed and promoted: {stored} in the log, {again} in the "
                "decisions"
            )
    for decision in decided:
        if not decision.rule.decides_each and closed.get(decision.row.gate) != decision.row.at:
            yield f"{decision.name}: the time of the decision differs from the time at which the gate was closed"
    for gate in study.gates.values():
        if not gate.settings.decides_each and gate.name not in closed:
            continue
        for candidate in survey(tx, study, gate).candidates:
            scored = [
                sum(grade.stage == name and grade.graded_at < closed.get(gate.name, ALL**3) for grade in own)
                for own in (grades.get(candidate.worker, ()),)
                for name in gate.settings.stage
            ]
            enough = [study.stages[name].round_size or gate.settings.graded for name in gate.settings.stage]
            if all(count >= needed for count, needed in zip(scored, enough, strict=True)):
                yield f"worker {candidate.worker} at gate {gate.name}: scored, but without a decision"


def _qualification_differences(tx: Tx, decided: Sequence[_DecidedGate]) -> Iterator[str]:
    """Check that every qualification comes from a gate, a link, or staff with a reason."""
    granted: dict[tuple[str, str], list[int]] = defaultdict(list)
    for decision in decided:
        if decision.row.passed:
            granted[decision.row.worker, decision.rule.name].append(decision.row.at)
        if decision.row.evidence.get("promoted") and decision.rule.promote is not None:
            granted[decision.row.worker, decision.rule.promote.to].append(decision.row.at)
    for event in events.recent(tx, ALL, kinds=("qualified",)):
        name = event.evidence["qualification"]
        by_hand = name == EXPERT or name.startswith(invited_to("")) or "reason" in event.evidence
        if event.worker is not None and by_hand:
            granted[event.worker, name].append(event.at)
    held = {(row.worker, row.name): row.granted_at for row in gates.qualifications(tx)}
    expected = held_since(granted, held, taken_away(tx))
    for worker, name in sorted(expected.keys() | held.keys()):
        if (worker, name) not in held:
            yield f"worker {worker}: should have the qualification {name} and does not"
        elif (worker, name) not in expected:
            yield f"worker {worker}: has the qualification {name}, but nothing granted it"
        elif held[worker, name] != expected[worker, name]:
            yield f"worker {worker}: has the qualification {name}, but its date differs from the decision's"


def _message_differences(tx: Tx, decided: Sequence[_DecidedGate], of_kits: tuple[str, ...]) -> Iterator[str]:
    """Check that the message of each gate went to exactly the workers that the gate decided about."""
    expected = {(one.row.worker, f"gate:{one.row.gate}"): one.row.at for one in decided if one.rule.message}
    expected |= written_by_hand(tx) | payments.failure_messages(tx)
    messages = (message for message in all_messages(tx) if not message.cause.startswith(of_kits))
    written = {(message.worker, message.cause): message.written_at for message in messages}
    # Studies started with an earlier version do not have them.
    failed = ((one.row.worker, not_passed_by(one.row.gate), one.row.at) for one in decided if not one.row.passed)
    expected |= {(worker, cause): at for worker, cause, at in failed if (worker, cause) in written}
    for worker, cause in sorted(expected.keys() | written.keys()):
        if (worker, cause) not in written:
            yield f"worker {worker}: the message of {cause} is missing"
        elif (worker, cause) not in expected:
            yield f"worker {worker}: has a message of {cause}, which made no decision about them"
        elif written[worker, cause] != expected[worker, cause]:
            yield f"worker {worker}: the time of the message of {cause} differs from that of the decision"
