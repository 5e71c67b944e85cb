"""Applies review policies: scores assignments on submission and HITs when they end, and carries out the actions."""

from collections.abc import Sequence
from typing import Any

from chorale.kits.mturk.api.answers import fields_in
from chorale.kits.mturk.api.errors import TurkError
from chorale.kits.mturk.api.policies import (
    ASSIGNMENT,
    HIT,
    Acts,
    HitAgreement,
    KnownAnswerPolicy,
    Plurality,
    decided,
    policies_of,
    read_known_answers,
    read_plurality,
)
from chorale.kits.mturk.market.notifying import notify
from chorale.kits.mturk.market.reviewing import do_approve, do_reject
from chorale.kits.mturk.market.stage import Market, as_seconds, page, turk_worker
from chorale.kits.mturk.store import assignments, hits, reviews
from chorale.kits.mturk.store.assignments import AssignmentRow
from chorale.kits.mturk.store.hits import HitRow

Request = dict[str, Any]
Reply = dict[str, Any]
FINISHED = ("submitted", "approved", "rejected")
MOST_COMPARED = 10_000
"""Assignments of one HIT."""


def _known(hit: HitRow) -> KnownAnswerPolicy | None:
    policy = policies_of(hit.policies).get(ASSIGNMENT)
    return None if policy is None else read_known_answers(policy)


def _plurality(hit: HitRow) -> Plurality | None:
    policy = policies_of(hit.policies).get(HIT)
    return None if policy is None else read_plurality(policy)


def review_assignment(market: Market, hit: HitRow, row: AssignmentRow) -> None:
    """Carries out the actions for an assignment's known answers."""
    policy = _known(hit)
    if policy is None:
        return
    score = policy.score(fields_in(row.answer or ""))
    _decide(market, hit, row, policy.acts, score, ASSIGNMENT)
    if policy.acts.extend_below is not None and score < policy.acts.extend_below:
        _extend(market, hit, policy.acts, ASSIGNMENT)


def _decide(market: Market, hit: HitRow, row: AssignmentRow, acts: Acts, score: int, level: str) -> None:
    decision = decided(acts, score)
    if row.state != "submitted" or decision is None:
        return
    if decision == "approve":
        do_approve(market, row, acts.approve_reason or None)
    else:
        do_reject(market, row, acts.reject_reason)
    reviews.add_action(market.tx, hit.id, level, decision, row.name, None, market.now)


def _extend(market: Market, hit: HitRow, acts: Acts, level: str) -> bool:
    """Extends a HIT by one assignment, within its limit and the budget."""
    if hit.most >= acts.most:
        return False
    failure = None
    try:
        market.covers(hit.type.reward, 1)
    except TurkError as error:
        failure = error.message
    if failure is None:
        until = max(hit.expires_at, market.now + acts.seconds * 1000)
        hits.change_hit(market.tx, hit.id, most=hit.most + 1, expires_at=until, told="", reviewing=False)
        notify(market, hit.type, "HITExtended", hit.name)
    reviews.add_action(market.tx, hit.id, level, "extend", hit.name, failure, market.now)
    return failure is None


def review_ended(market: Market, limit: int) -> None:
    """Carries out the actions for the agreement on completed HITs, once per HIT."""
    for name in [hit.name for hit in hits.to_review(market.tx, market.now, limit)]:
        hit = market.hit(name, lock=True)
        if hit.reviewed_at is not None:
            continue  # Another process was faster.
        policy = _plurality(hit)
        if policy is None or not _review(market, hit, policy):
            hits.change_hit(market.tx, hit.id, reviewed_at=market.now)


def _review(market: Market, hit: HitRow, policy: Plurality) -> bool:
    """Whether the HIT continues with one more worker."""
    rows = _compared(market, hit, policy)
    if not rows:
        return False
    agreement = _agreement(policy, rows)
    acts = policy.acts
    if acts.extend_below is not None and agreement.hit < acts.extend_below and _extend(market, hit, acts, HIT):
        return True
    for row in rows:
        _decide(market, hit, row, acts, agreement.workers[row.name], HIT)
    return False


def _compared(market: Market, hit: HitRow, policy: Plurality) -> list[AssignmentRow]:
    known = _known(hit)
    rows = assignments.of_hit(market.tx, hit.id, FINISHED, MOST_COMPARED)
    if policy.without_rejected:
        rows = [row for row in rows if row.state != "rejected"]
    if known is not None and policy.known_at_least is not None:
        rows = [row for row in rows if known.score(fields_in(row.answer or "")) >= policy.known_at_least]
    return rows


def _agreement(policy: Plurality, rows: list[AssignmentRow]) -> HitAgreement:
    return policy.agreement({row.name: fields_in(row.answer or "") for row in rows})


def report(market: Market, request: Request) -> Reply:
    """The results of the review policies of a HIT, and their actions."""
    hit = market.hit(request["HITId"])
    policies = policies_of(hit.policies)
    levels = [level for level in request["PolicyLevels"] or (ASSIGNMENT, HIT) if level in policies]
    rows, beside = page(
        request, "reviews", lambda limit, after: assignments.of_hit(market.tx, hit.id, FINISHED, limit, after)
    )
    reply: Reply = {"HITId": hit.name, **{name: value for name, value in beside.items() if name == "NextToken"}}
    for level in levels:
        reply[f"{level}ReviewPolicy"] = policies[level]
        first = request["NextToken"] is None
        results = _of_assignments(hit, rows) if level == ASSIGNMENT else _of_hit(market, hit) if first else []
        reply[f"{level}ReviewReport"] = {
            "ReviewResults": [] if request["RetrieveResults"] is False else results,
            "ReviewActions": [] if request["RetrieveActions"] is False or not first else _acted(market, hit, level),
        }
    return reply


def _result(subject: str, kind: str, key: str, value: object, question: str | None = None) -> Reply:
    asked = {} if question is None else {"QuestionId": question}
    return {"SubjectId": subject, "SubjectType": kind, **asked, "Key": key, "Value": str(value)}


def _of_assignments(hit: HitRow, rows: Sequence[AssignmentRow]) -> list[Reply]:
    policy = _known(hit)
    results: list[Reply] = []
    if policy is None:
        return results
    for row in rows:
        answers = fields_in(row.answer or "")
        right = policy.right(answers).items()
        results += [_result(row.name, ASSIGNMENT, "KnownAnswerCorrect", int(good), name) for name, good in right]
        results.append(_result(row.name, ASSIGNMENT, "KnownAnswerScore", policy.score(answers)))
    return results


def _of_hit(market: Market, hit: HitRow) -> list[Reply]:
    policy = _plurality(hit)
    if policy is None or hit.status(market.now) not in ("Reviewable", "Reviewing"):
        return []
    rows = _compared(market, hit, policy)
    if not rows:
        return []
    agreement = _agreement(policy, rows)
    results = [_result(hit.name, HIT, "HITAgreementScore", agreement.hit)]
    for question, (answer, score) in agreement.questions.items():
        results.append(_result(hit.name, HIT, "QuestionAgreementScore", score, question))
        if answer is not None:
            results.append(_result(hit.name, HIT, "AgreedAnswer", answer, question))
    workers = {row.name: turk_worker(row.pseudonym) for row in rows}
    return results + [
        _result(workers[name], "Worker", "WorkerAgreementScore", score) for name, score in agreement.workers.items()
    ]


def _acted(market: Market, hit: HitRow, level: str) -> list[Reply]:
    return [
        {
            "ActionId": str(action.id),
            "ActionName": action.name,
            "TargetId": action.target,
            "TargetType": HIT if action.name == "extend" else ASSIGNMENT,
            "Status": "Succeeded" if action.failure is None else "Failed",
            "CompleteTime": as_seconds(action.at),
            **({} if action.failure is None else {"Result": action.failure}),
        }
        for action in reviews.actions(market.tx, hit.id)
        if action.level == level
    ]
