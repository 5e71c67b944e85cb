"""The batch file of results: answers in stages with a layout, and submissions to HITs of scripts."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from chorale.engine.running import RunningStage, Study
from chorale.kits.mturk.api.answers import fields_in
from chorale.kits.mturk.api.names import id_from, worker_id
from chorale.kits.mturk.batch_columns import LAST_COLUMNS, approval_rate, batch_time
from chorale.kits.mturk.market.stage import TASK
from chorale.kits.mturk.store import assignments, hits
from chorale.kits.mturk.store.assignments import AssignmentRow
from chorale.kits.mturk.store.hits import HitRow
from chorale.model import Response, money_text
from chorale.store import Tx, events, responses

AT_ONCE = 500
_DAY_MS = int(timedelta(days=1).total_seconds() * 1000)
_RATES = (("LifetimeApprovalRate", None), ("Last30DaysApprovalRate", 30), ("Last7DaysApprovalRate", 7))


def batch_columns(tx: Tx, study: Study) -> Sequence[str]:
    """Columns that depend on the study: fields of items and answers."""
    inputs: dict[str, None] = {}
    answers: set[str] = set()
    for stage in _stages(study):
        inputs |= dict.fromkeys(getattr(stage.options, "columns", ()))
        for response in responses.all_responses(tx, stage_name=stage.name):
            inputs |= dict.fromkeys(sorted(json.loads(response.item_payload)["input"]))
            answers.update(response.answer)
    for row in assignments.all_finished(tx):
        answers.update(fields_in(row.answer or ""))
    return [*(f"Input.{name}" for name in inputs), *(f"Answer.{name}" for name in sorted(answers)), *LAST_COLUMNS]


def batch_rows(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """One row per answer."""
    rates = _rates(tx, study)
    began = _began(tx)
    for stage in _stages(study):
        accepted = responses.accepted_at(tx, stage.id)
        for response in responses.all_responses(tx, stage_name=stage.name):
            row = _row_of_response(study, stage, response, accepted.get(response.id, response.submitted_at))
            yield {**row, "CreationTime": batch_time(began), **rates[response.worker]}
    finished = assignments.all_finished(tx)
    for start in range(0, len(finished), AT_ONCE):
        several = finished[start : start + AT_ONCE]
        theirs = hits.hits_numbered(tx, [row.hit_id for row in several])
        for assignment in several:
            row = _row_of_assignment(study, assignment, theirs[assignment.hit_id])
            yield {**row, **rates[assignment.pseudonym]}


def _stages(study: Study) -> list[RunningStage]:
    return [stage for stage in study.stages.values() if stage.task.name == TASK]


def _began(tx: Tx) -> int | None:
    """Time when the study was first opened."""
    versions = events.recent(tx, 1_000_000, kinds=("settings",))
    return versions[-1].at if versions else None


def _rates(tx: Tx, study: Study) -> dict[str, dict[str, str]]:
    """Approval rates of workers. Answers in a stage are paid, so they count as approved."""
    # Time of each submission, and whether it was approved.
    reviewed: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    for stage in _stages(study):
        for response in responses.all_responses(tx, stage_name=stage.name):
            reviewed[response.worker].append((response.submitted_at, True))
    for row in assignments.all_finished(tx):
        done = reviewed[row.pseudonym]
        if row.state != "submitted":
            done.append((row.submitted_at or 0, row.state == "approved"))
    now = study.clock()
    return {worker: {name: _rate(done, now, days) for name, days in _RATES} for worker, done in reviewed.items()}


def _rate(reviewed: Sequence[tuple[int, bool]], now: int, days: int | None) -> str:
    since = 0 if days is None else now - days * _DAY_MS
    approved = [good for at, good in reviewed if at >= since]
    return approval_rate(sum(approved), len(approved))


def _row_of_response(study: Study, stage: RunningStage, response: Response, accepted: int) -> dict[str, Any]:
    settings, options = stage.settings, stage.options
    currency = study.settings.pay.currency
    given = json.loads(response.item_payload)["input"]
    return {
        "HITId": id_from("item", stage.name, response.item),
        "HITTypeId": id_from("stage", stage.name),
        "Title": settings.title,
        "Description": getattr(options, "description", ""),
        "Keywords": getattr(options, "keywords", ""),
        "Reward": money_text(settings.pay.per_judgment, currency),
        "MaxAssignments": settings.judgments.max,
        "RequesterAnnotation": f"item:{response.item}",
        "AssignmentDurationInSeconds": int(settings.lease_minutes * 60),
        "AutoApprovalDelayInSeconds": 0,
        "AssignmentId": id_from("response", stage.name, str(response.id)),
        "WorkerId": worker_id(response.worker),
        "AssignmentStatus": "Approved",
        "AcceptTime": batch_time(accepted),
        "SubmitTime": batch_time(response.submitted_at),
        "AutoApprovalTime": batch_time(response.submitted_at),
        "ApprovalTime": batch_time(response.submitted_at),
        "WorkTimeInSeconds": max(0, (response.submitted_at - accepted) // 1000),
        **{f"Input.{name}": value for name, value in given.items()},
        **{f"Answer.{name}": value for name, value in response.answer.items()},
    }


def _row_of_assignment(study: Study, row: AssignmentRow, hit: HitRow) -> dict[str, Any]:
    kind = hit.type
    return {
        "HITId": hit.name,
        "HITTypeId": kind.name,
        "Title": kind.title,
        "Description": kind.description,
        "Keywords": kind.keywords,
        "Reward": money_text(row.reward, study.settings.pay.currency),
        "CreationTime": batch_time(hit.created_at),
        "MaxAssignments": hit.most,
        "RequesterAnnotation": hit.annotation,
        "AssignmentDurationInSeconds": kind.assignment_seconds,
        "AutoApprovalDelayInSeconds": kind.approval_seconds,
        "Expiration": batch_time(hit.expires_at),
        "AssignmentId": row.name,
        "WorkerId": worker_id(row.pseudonym),
        "AssignmentStatus": row.state.capitalize(),
        "AcceptTime": batch_time(row.accepted_at),
        "SubmitTime": batch_time(row.submitted_at),
        "AutoApprovalTime": batch_time(row.approve_at),
        "ApprovalTime": batch_time(row.approved_at),
        "RejectionTime": batch_time(row.rejected_at),
        "RequesterFeedback": row.feedback or "",
        "WorkTimeInSeconds": max(0, ((row.submitted_at or row.accepted_at) - row.accepted_at) // 1000),
        **{f"Answer.{name}": value for name, value in fields_in(row.answer or "").items()},
    }
