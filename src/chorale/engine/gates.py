"""Gates between stages: who passes, and the consequences.

A gate evaluates the graded answers of its stages. It decides about each worker as soon as they are scored, or about all
together when it closes, and never twice. Workers who pass get the qualification with the gate's name and its bonus. The
best may be promoted, and everybody who was scored gets the message. Everything is logged with its evidence.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from chorale.engine.closing_pay import (
    beyond_budget,
    cut_off_by,
    graders_who_finish,
    is_affordable,
    lacking_to_close,
    pay_for_parts,
    pay_graders,
)
from chorale.engine.criteria import criteria_in_words
from chorale.engine.entering import put_in_arm
from chorale.engine.paying import pay_bonus
from chorale.engine.running import RunningGate, RunningStage, Study
from chorale.folder.feedback import TemplateMistakeError, compose, mean_criteria
from chorale.model import GradedAnswer, MessageState, Refusal, is_model
from chorale.model.wording import worded
from chorale.protocol import Candidate, GateVerdict, decide_gate
from chorale.store import Tx, events, gates, grades, locks, messages

NOT_PASSED = worded(
    "Thank you for taking part. You did not qualify for the next part. Your overview shows how you are paid and how to "
    "finish."
)
"""The message to people from Prolific who did not pass a gate that has no message."""


def not_passed_by(gate: str) -> str:
    """The cause of the default message to workers who did not pass a gate."""
    return f"not passed:{gate}"


@dataclass(frozen=True, slots=True)
class GateField:
    """The workers a gate could decide about now."""

    candidates: tuple[Candidate, ...]
    ids: dict[str, int]
    """Worker ids of the candidates, by pseudonym."""
    waiting: int
    """Workers who have done enough work but are not graded yet."""
    answers: dict[str, list[GradedAnswer]]


def stages_of(study: Study, gate: RunningGate) -> list[RunningStage]:
    return [study.stage(name) for name in gate.settings.stage]


def survey(tx: Tx, study: Study, gate: RunningGate, worker_id: int | None = None) -> GateField:
    """Workers with enough graded work for a gate's decision, but no decision yet."""
    stages = stages_of(study, gate)
    ids = [stage.id for stage in stages]
    decided = gates.decided_about(tx, gate.name, worker_id)
    done = [
        candidate_id
        for candidate_id, answered in grades.answered_by(tx, ids, worker_id).items()
        if candidate_id not in decided and all(answered.get(stage.id, 0) >= _enough(stage, gate) for stage in stages)
    ]
    graded: dict[int, list[GradedAnswer]] = defaultdict(list)
    for answer in grades.graded_answers(tx, ids, worker_id) if done else ():
        graded[answer.worker_id].append(answer)
    candidates, by_name, graded_by_name, waiting = [], {}, {}, 0
    for candidate_id in done:
        answers = graded[candidate_id]
        by_stage = {stage.name: [one.score for one in answers if one.stage_id == stage.id] for stage in stages}
        if any(len(by_stage[stage.name]) < _enough(stage, gate) for stage in stages):
            waiting += 1
            continue
        name = answers[0].worker
        candidates.append(Candidate(name, by_stage, tuple(one.criteria for one in answers if one.criteria)))
        by_name[name] = candidate_id
        graded_by_name[name] = answers
    return GateField(tuple(candidates), by_name, waiting, graded_by_name)


def _enough(stage: RunningStage, gate: RunningGate) -> int:
    return gate.settings.graded if stage.round_size is None else stage.round_size


def decide_about(tx: Tx, study: Study, stage: RunningStage, worker_id: int) -> None:
    """Apply the gates that decide about each worker to a worker who was just graded in a stage."""
    for gate in study.gates.values():
        if gate.settings.decides_each and stage.name in gate.settings.stage:
            _decide(tx, study, gate, survey(tx, study, gate, worker_id), study.clock())


def close_gate(tx: Tx, study: Study, gate: RunningGate, by: str, reason: str = "") -> list[GateVerdict]:
    """Decide about everybody together, and end the gate's stages. Closing again changes nothing."""
    if gate.settings.decides_each:
        raise Refusal("no_closing", f"Gate {gate.name} can't be closed: it decides about each worker when they finish.")
    locks.lock_closing(tx)
    if gate.name in gates.closed_gates(tx):
        return []
    # First, since this waits for workers who are submitting their last answer, so that they are scored too.
    cut_off = cut_off_by(tx, study, gate, lock=True)
    field = survey(tx, study, gate)
    passing = _passing(gate, field)
    if not is_affordable(tx, study, gate, passing):
        missing = lacking_to_close(tx, study, gate, passing)
        raise Refusal("budget", " ".join(beyond_budget(study, gate.name, missing)))
    # One timestamp for all: `verify` uses it to find the workers who were ranked together.
    now = study.clock()
    gates.close(tx, gate.name, now)
    finished = graders_who_finish(tx, study, gate)
    verdicts = _decide(tx, study, gate, field, now)
    left_out = _leave_out(tx, study, gate, now)
    pay_graders(tx, study, finished)
    pay_for_parts(tx, study, cut_off)
    evidence = {
        "gate": gate.name,
        "by": by,
        **({"reason": reason} if reason else {}),
        "scored": len(verdicts),
        "passed": sum(verdict.passed for verdict in verdicts),
        "promoted": sum(verdict.promoted for verdict in verdicts),
        "not_graded": field.waiting,
        "without_score": left_out,
        "graders_paid": {name: sorted(paid) for name, paid in finished.items()},
        "cut_off": {name: {one.pseudonym: one.answered for one in several} for name, several in cut_off.items()},
        "rule": gate.settings.model_dump(mode="json", exclude_defaults=True),
    }
    events.record(tx, now, "gate closed", evidence, stage_id=stages_of(study, gate)[-1].id)
    return verdicts


def close_by_request(tx: Tx, study: Study, gate: RunningGate, by: str, reason: str = "") -> list[GateVerdict]:
    """Close a gate for a requester. Refused before anybody is scored: nobody would pass, and it can't be undone."""
    if not (gate.settings.decides_each or gate.name in gates.closed_gates(tx) or survey(tx, study, gate).candidates):
        raise Refusal("nobody_scored", f"Gate {gate.name} stays open, because nobody has been scored yet.")
    return close_gate(tx, study, gate, by, reason)


def close_ready_gates(tx: Tx, study: Study) -> list[str]:
    """Close the gates that have reached their number of workers, all graded."""
    closed = gates.closed_gates(tx)
    names = []
    for gate in study.gates.values():
        needed = gate.settings.workers
        if needed is None or gate.name in closed or gate.settings.decides_each:
            continue
        field = survey(tx, study, gate)
        ready = len(field.candidates) >= needed and not field.waiting
        # If the budget is too small, the gate stays open and everything else continues.
        if ready and not lacking_to_close(tx, study, gate, _passing(gate, field)):
            with suppress(Refusal):  # the money was reserved for something else in the meantime
                close_gate(tx, study, gate, f"{needed} workers were scored")
                names.append(gate.name)
    return names


def _passing(gate: RunningGate, field: GateField) -> int:
    return sum(verdict.passed for verdict in decide_gate(gate.settings, field.candidates))


def gates_beyond_budget(tx: Tx, study: Study, people: Mapping[str, int]) -> dict[str, int]:
    """The gates that can't close because the budget is too small, and the missing amounts.

    `people` is the number of workers in each stage: answers are read only if the budget would not cover all of them.
    """
    if study.settings.pay.budget is None:
        return {}
    closed, missing = gates.closed_gates(tx), {}
    for gate in study.gates.values():
        if gate.settings.decides_each or gate.name in closed:
            continue
        at_most = min(people.get(name, 0) for name in gate.settings.stage)
        if lacking_to_close(tx, study, gate, at_most):
            missing[gate.name] = lacking_to_close(tx, study, gate, _passing(gate, survey(tx, study, gate)))
    return {name: amount for name, amount in missing.items() if amount}


def decide_about_everybody(tx: Tx, study: Study) -> None:
    """Apply gates that decide about each worker to everybody: a new gate has not yet decided about finished workers."""
    for gate in study.gates.values():
        if gate.settings.decides_each:
            _decide(tx, study, gate, survey(tx, study, gate), study.clock())


def _decide(tx: Tx, study: Study, gate: RunningGate, field: GateField, now: int) -> list[GateVerdict]:
    if not field.candidates:
        return []
    alone = gate.settings.decides_each
    earlier = gates.scores_given(tx, gate.name) if alone else []
    verdicts = decide_gate(gate.settings, field.candidates, earlier)
    everybody = [answer for answers in field.answers.values() for answer in answers]
    if alone and gate.message is not None and "criteria" in gate.message:
        # All answers are needed only to report others' results by criterion.
        everybody = grades.graded_answers(tx, [stage.id for stage in stages_of(study, gate)])
    averages = mean_criteria(everybody)
    for verdict in verdicts:
        worker_id, own = field.ids[verdict.worker], field.answers[verdict.worker]
        _follow(tx, study, gate, worker_id, verdict, own, now)
        if gate.message is not None:
            _write(tx, study, gate, worker_id, verdict, own, averages, now)
        elif not verdict.passed and study.settings.prolific is not None:
            # Some people read messages only on Prolific, and would not learn of it otherwise.
            title = study.stage(gate.settings.stage[-1]).settings.title
            words = study.language.translated(NOT_PASSED)
            messages.add_message(tx, worker_id, not_passed_by(gate.name), now, title, words, MessageState.SENT)
    return verdicts


def _leave_out(tx: Tx, study: Study, gate: RunningGate, now: int) -> int:
    """Record a decision for everybody who has started but has no score when a gate closes; returns how many.

    Otherwise they would wait forever, since nothing they do can be scored any more.
    """
    stages = stages_of(study, gate)
    decided = gates.decided_about(tx, gate.name)
    begun = grades.answered_by(tx, [stage.id for stage in stages])
    left_out = {worker_id: answered for worker_id, answered in begun.items() if worker_id not in decided}
    for worker_id, answered in left_out.items():
        missing = [stage for stage in stages if answered.get(stage.id, 0) < _enough(stage, gate)]
        reason = "too few answers when the gate closed" if missing else "not graded when the gate closed"
        evidence = {"gate": gate.name, "without_score": True, "promoted": False, "reason": reason, "grades": []}
        gates.add_verdict(tx, gate.name, worker_id, now, 0.0, False, evidence)
        events.record(tx, now, "not passed", evidence, stage_id=stages[-1].id, worker_id=worker_id)
        if gate.message is not None:
            body = _unfinished(missing[-1].settings.title) if missing else _UNGRADED
            _send(tx, study, gate, worker_id, study.language.translated(body), now)
    return len(left_out)


_UNGRADED = worded(
    "This part ended before all your work could be scored, so the next part is not open to you. You are paid for "
    "all your work. Thank you!"
)


def _unfinished(title: str) -> str:
    return worded(
        "This part ended before you finished “{title}”. Your work could not be scored, so the next part is not "
        "open to you. You are paid for all your work. Thank you!",
        title=title,
    )


def _follow(
    tx: Tx,
    study: Study,
    gate: RunningGate,
    worker_id: int,
    verdict: GateVerdict,
    answers: Sequence[GradedAnswer],
    now: int,
) -> None:
    """Apply a verdict: log it, grant the qualification, pay, promote, and assign an arm."""
    rule = gate.settings
    stage = stages_of(study, gate)[-1]
    evidence = {
        **verdict.evidence,
        "gate": gate.name,
        "promoted": verdict.promoted,
        "reason": verdict.reason,
        "grades": [answer.grade_id for answer in answers],
    }
    gates.add_verdict(tx, gate.name, worker_id, now, verdict.score, verdict.passed, evidence)
    kind = "passed" if verdict.passed else "not passed"
    events.record(tx, now, kind, evidence, stage_id=stage.id, worker_id=worker_id)
    granted = [rule.name] if verdict.passed else []
    if verdict.promoted and rule.promote is not None:
        granted.append(rule.promote.to)
    for name in granted:
        if gates.grant(tx, worker_id, name, now):
            grounds = {"qualification": name, "gate": gate.name, "score": verdict.score}
            events.record(tx, now, "qualified", grounds, worker_id=worker_id)
            if study.settings.arms is not None and study.settings.arms.after == name:
                put_in_arm(tx, study, worker_id)
    if verdict.passed and rule.bonus and not is_model(verdict.worker):
        pay_bonus(tx, study, stage, worker_id, f"gate:{gate.name}:{worker_id}", rule.bonus, f"passed {gate.name}")


def _write(
    tx: Tx,
    study: Study,
    gate: RunningGate,
    worker_id: int,
    verdict: GateVerdict,
    own: Sequence[GradedAnswer],
    averages: Mapping[str, float],
    now: int,
) -> None:
    state = MessageState.DRAFT if gate.settings.review else MessageState.SENT
    in_words = [_readable(study, answer) for answer in own]
    try:
        body = compose(gate.message or "", verdict, in_words, averages, _extra(study, gate, verdict))
    except TemplateMistakeError as mistake:
        # A template that fails for these answers must not lose anybody's work. An expert has to complete the message.
        body, state = gate.message or "", MessageState.DRAFT
        evidence = {"gate": gate.name, "why": mistake.why, "line": mistake.line}
        events.record(tx, now, "message not filled", evidence, worker_id=worker_id)
    if verdict.too_low and "too_low" not in (gate.message or ""):
        asked = criteria_in_words(study, gate, verdict.too_low)
        too_low = worded("Your work got too few points for: {criteria}", criteria=asked)
        body += f"\n\n{study.language.translated(too_low)}\n"
    _send(tx, study, gate, worker_id, body, now, state)


def _send(
    tx: Tx,
    study: Study,
    gate: RunningGate,
    worker_id: int,
    body: str,
    now: int,
    state: MessageState = MessageState.SENT,
) -> None:
    title = study.stage(gate.settings.stage[-1]).settings.title
    messages.add_message(tx, worker_id, f"gate:{gate.name}", now, title, body, state)


def _readable(study: Study, answer: GradedAnswer) -> GradedAnswer:
    """An answer, and the expert's if there is one, in readable form and in the study's language."""
    task = study.stage_by_id(answer.stage_id).task
    item = answer.payload
    in_words, translated = task.explaining.quote or task.explaining.present, study.language.translated
    expert = None if answer.expert is None else translated(in_words(item, answer.expert))
    reasons = answer.reasons
    if reasons and task.explaining.reasons is not None and answer.expert is not None:
        reasons = task.explaining.reasons(item, answer.answer, answer.expert)
    own = translated(in_words(item, answer.answer))
    readable = replace(answer, answer=own, expert=expert, reasons=tuple(map(translated, reasons)))
    return readable if task.explaining.caption is None else replace(readable, payload=task.explaining.caption(item))


def _extra(study: Study, gate: RunningGate, verdict: GateVerdict) -> dict[str, str]:
    """Additional values for a message, such as the bonus, if the worker gets one."""
    bonus = gate.settings.bonus if verdict.passed else 0
    return {
        "study": study.settings.study.title,
        "contact": study.settings.study.contact,
        "bonus": study.language.money(bonus, study.settings.pay.currency) if bonus else "",
    }


def send_message(tx: Tx, study: Study, message_id: int, body: str, by: str) -> bool:
    """Send a message that an expert has edited; False if it was already sent."""
    message = messages.message_by_id(tx, message_id)
    if message is None:
        raise Refusal("not_found", "This message does not exist. Go back to the list.", 404)
    sent = messages.send(tx, message_id, body, study.clock())
    if sent:
        evidence = {"message": message_id, "cause": message.cause, "by": by, "changed": body != message.body}
        events.record(tx, study.clock(), "message sent", evidence, worker_id=message.worker_id)
    return sent


@dataclass(frozen=True, slots=True)
class GateStatus:
    name: str
    stages: tuple[str, ...]
    state: str
    """open, closed, or each (decides about each worker)."""
    scored: int
    """Workers that the gate could decide about now."""
    waiting: int
    passed: int
    not_passed: int
    lacking: int = 0
    """The amount by which the gate's payments would exceed the budget if it closed now; 0 if it can close."""


def gate_statuses(tx: Tx, study: Study) -> list[GateStatus]:
    """The state of every gate."""
    closed = gates.closed_gates(tx)
    statuses = []
    for gate in study.gates.values():
        field = survey(tx, study, gate)
        given = gates.verdicts(tx, gate.name)
        passed = sum(verdict.passed for verdict in given)
        state = "each" if gate.settings.decides_each else "closed" if gate.name in closed else "open"
        statuses.append(
            GateStatus(
                gate.name,
                gate.settings.stage,
                state,
                len(field.candidates),
                field.waiting,
                passed,
                len(given) - passed,
                lacking_to_close(tx, study, gate, _passing(gate, field)) if state == "open" else 0,
            )
        )
    return statuses


def statuses_as_json(tx: Tx, study: Study) -> list[dict[str, object]]:
    return [asdict(status) for status in gate_statuses(tx, study)]
