"""HITs and their types: create, get, extend, expire and delete."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from chorale.kits.mturk.api import errors
from chorale.kits.mturk.api.names import group_id, id_from
from chorale.kits.mturk.api.policies import stored
from chorale.kits.mturk.api.questions import Page, html_question, read_question
from chorale.kits.mturk.api.requests import YEAR, money_as_sent
from chorale.kits.mturk.api.requirements import SYSTEM_TYPES, lacks_value, unchecked
from chorale.kits.mturk.layouts import cannot_submit, fill_in, in_form, unknown_elements, variables_in
from chorale.kits.mturk.liquid_layouts import is_liquid, row_problem
from chorale.kits.mturk.market.notifying import notify
from chorale.kits.mturk.market.stage import Market, as_seconds, layout_id, page
from chorale.kits.mturk.market.wages import warn_of_low_pay
from chorale.kits.mturk.store import hits, keys, qualifications
from chorale.kits.mturk.store.hits import HitRow, HitTypeRow
from chorale.model.plural import plural
from chorale.store import events

TOKEN_LIFE_MS = int(timedelta(hours=24).total_seconds() * 1000)
Request = dict[str, Any]
Reply = dict[str, Any]


def _given(value: Any) -> Any:
    """Removes missing fields recursively: a locale may have no subdivision."""
    if isinstance(value, dict):
        return {name: _given(inside) for name, inside in value.items() if inside is not None}
    return [_given(inside) for inside in value] if isinstance(value, list) else value


def create_type(market: Market, request: Request) -> Reply:
    return {"HITTypeId": _type(market, request).name}


def _type(market: Market, request: Request) -> HitTypeRow:
    """The type with these properties. Equal properties give the same type."""
    _check_requirements(market, request["QualificationRequirements"])
    requirements = json.dumps(_given(request["QualificationRequirements"]), sort_keys=True)
    values = {
        "title": request["Title"],
        "description": request["Description"],
        "keywords": request["Keywords"],
        "reward": request["Reward"],
        "assignment_seconds": request["AssignmentDurationInSeconds"],
        "approval_seconds": request["AutoApprovalDelayInSeconds"],
        "requirements": requirements,
    }
    name = id_from("type", json.dumps(values, sort_keys=True))
    hits.add_type(market.tx, name, values)
    kind = hits.type_called(market.tx, name)
    if kind is None:
        raise RuntimeError("a HIT type disappeared in its own transaction")
    return kind


def _check_requirements(market: Market, requirements: Sequence[Mapping[str, Any]]) -> None:
    """Rejects requirements that nobody could meet, and warns about those that are not checked here."""
    for requirement in requirements:
        name = requirement["QualificationTypeId"]
        if lacks_value(requirement):
            raise errors.invalid(
                f"The requirement on {name}",
                f"has the comparator {requirement['Comparator']} but no value. Add a value",
            )
        if name not in SYSTEM_TYPES and qualifications.type_called(market.tx, name) is None:
            raise errors.unknown(
                "QualificationType",
                name,
                "Nobody could do this HIT. Create the type with CreateQualificationType, or give this ID to a type "
                f"with `chorale mturk map-qualification DIR {name} NAME`.",
            )
    market.warn(*unchecked(requirements, counted=market.counts_approvals))


def create_hit(market: Market, request: Request) -> Reply:
    return _create(market, request, _type(market, request), "CreateHIT")


def create_hit_with_type(market: Market, request: Request) -> Reply:
    return _create(market, request, _known_type(market, request["HITTypeId"]), "CreateHIT")


def _known_type(market: Market, name: str) -> HitTypeRow:
    kind = hits.type_called(market.tx, name)
    if kind is None:
        raise errors.unknown("HITType", name)
    return kind


def _create(market: Market, request: Request, kind: HitTypeRow, operation: str) -> Reply:
    _check_requirements(market, kind.requirements)
    policies = stored(request["AssignmentReviewPolicy"], request["HITReviewPolicy"])
    token = request["UniqueRequestToken"]
    if token is not None:
        made = keys.made_by(market.tx, operation, token, market.now - TOKEN_LIFE_MS)
        if made is not None:
            raise errors.exists("HIT", f"The HIT with ID {made} was already created with this UniqueRequestToken.")
    question, layout = _question(market, request)
    market.covers(kind.reward * request["MaxAssignments"], request["MaxAssignments"])
    name = market.new_id()
    values = {
        "name": name,
        "type_id": kind.id,
        "question": question,
        "annotation": request["RequesterAnnotation"],
        "layout": layout,
        "policies": policies,
        "most": request["MaxAssignments"],
        "created_at": market.now,
        "expires_at": market.now + request["LifetimeInSeconds"] * 1000,
    }
    hits.add_hit(market.tx, values)
    warn_of_low_pay(market, kind)
    if token is not None:
        keys.note_request(market.tx, operation, token, name, market.now)
    hit = market.hit(name)
    events.record(market.tx, market.now, "hit made", {"hit": name, "type": kind.name, "assignments": hit.most})
    notify(market, hit.type, "HITCreated", hit.name)
    return {"HIT": as_sent(hit, market)}


def _question(market: Market, request: Request) -> tuple[str, str | None]:
    """The question as XML, and its layout, if any."""
    text, layout = request["Question"], request["HITLayoutId"]
    if (text is None) == (layout is None):
        raise errors.invalid("Question", "or HITLayoutId is required, but not both")
    if text is not None:
        question = read_question(text)
        unknown = unknown_elements(question.html) if isinstance(question, Page) else []
        if unknown:
            raise errors.unsupported(
                f"<{unknown[0]}> is not supported here. Use another element, or your own page (ExternalQuestion)."
            )
        if isinstance(question, Page) and cannot_submit(question.html):
            market.warn(
                "The page has neither a form nor a script, so nobody can submit it. Put its fields into a form."
            )
        return text, None
    if not market.layout or layout != layout_id(market.stage):
        raise errors.unknown("HITLayout", layout)
    values = {one["Name"]: one["Value"] for one in request["HITLayoutParameters"]}
    lacking = [name for name in variables_in(market.layout) if name not in values]
    if lacking:
        raise errors.invalid("HITLayoutParameters", f"has no value for {', '.join(lacking[:5])}")
    if is_liquid(market.layout) and (problem := row_problem(market.layout, values)) is not None:
        raise errors.invalid("HITLayoutParameters", problem)
    return html_question(in_form(fill_in(market.layout, values))), layout


def as_sent(hit: HitRow, market: Market) -> Reply:
    """A HIT in the format of the API."""
    kind = hit.type
    sent: Reply = {
        "HITId": hit.name,
        "HITTypeId": kind.name,
        "HITGroupId": group_id(kind.name),
        "CreationTime": as_seconds(hit.created_at),
        "Title": kind.title,
        "Description": kind.description,
        "Question": hit.question,
        "Keywords": kind.keywords,
        "HITStatus": hit.status(market.now),
        "MaxAssignments": hit.most,
        "Reward": money_as_sent(kind.reward),
        "AutoApprovalDelayInSeconds": kind.approval_seconds,
        "Expiration": as_seconds(hit.expires_at),
        "AssignmentDurationInSeconds": kind.assignment_seconds,
        "QualificationRequirements": kind.requirements,
        "HITReviewStatus": "NotReviewed",
        "NumberOfAssignmentsPending": hit.pending,
        "NumberOfAssignmentsAvailable": hit.available,
        "NumberOfAssignmentsCompleted": hit.completed,
    }
    if hit.annotation:
        sent["RequesterAnnotation"] = hit.annotation
    if hit.layout is not None:
        sent["HITLayoutId"] = hit.layout
    return sent


def get_hit(market: Market, request: Request) -> Reply:
    return {"HIT": as_sent(market.hit(request["HITId"]), market)}


def _listed(market: Market, request: Request, kind: str, **wanted: Any) -> Reply:
    shown, beside = page(
        request, kind, lambda limit, after: hits.newest_hits(market.tx, limit, after, now=market.now, **wanted)
    )
    return {**beside, "HITs": [as_sent(hit, market) for hit in shown]}


def list_hits(market: Market, request: Request) -> Reply:
    return _listed(market, request, "hits")


def list_reviewable(market: Market, request: Request) -> Reply:
    reviewing = request["Status"] == "Reviewing"
    return _listed(market, request, "reviewable", reviewing=reviewing, type_name=request["HITTypeId"])


def list_for_qualification(market: Market, request: Request) -> Reply:
    return _listed(market, request, "asking", requiring=request["QualificationTypeId"])


def update_expiration(market: Market, request: Request) -> Reply:
    hit = _undeleted(market, request["HITId"])
    if request["ExpireAt"] > market.now + YEAR * 1000:
        raise errors.out_of_range("ExpireAt", "must be within a year from now")
    later = request["ExpireAt"] > hit.expires_at
    if request["ExpireAt"] > market.now and hit.expires_at <= market.now:
        market.covers(hit.type.reward * hit.available, hit.available)
    hits.change_hit(market.tx, hit.id, expires_at=request["ExpireAt"], told="" if later else hit.told)
    if later:
        notify(market, hit.type, "HITExtended", hit.name)
    return {}


def _undeleted(market: Market, name: str) -> HitRow:
    hit = market.hit(name, lock=True)
    if hit.disposed_at is not None:
        raise errors.wrong_state("HIT", f"HIT {name} is currently in the state 'Disposed'.")
    return hit


def update_review_status(market: Market, request: Request) -> Reply:
    hit = _undeleted(market, request["HITId"])
    before, after = ("Reviewing", False) if request["Revert"] else ("Reviewable", True)
    _check_status(market, hit, before)
    hits.change_hit(market.tx, hit.id, reviewing=after)
    return {}


def _check_status(market: Market, hit: HitRow, *allowed: str) -> None:
    status = hit.status(market.now)
    if status not in allowed:
        raise errors.wrong_state(
            "HIT",
            f"This HIT is currently in the state '{status}'. This operation can be called with a status of: "
            + ", ".join(allowed),
        )


def update_type(market: Market, request: Request) -> Reply:
    hit = _undeleted(market, request["HITId"])
    kind = _known_type(market, request["HITTypeId"])
    _check_requirements(market, kind.requirements)
    if kind.reward > hit.type.reward:
        market.covers((kind.reward - hit.type.reward) * hit.available, hit.available)
    hits.change_hit(market.tx, hit.id, type_id=kind.id)
    return {}


def delete_hit(market: Market, request: Request) -> Reply:
    hit = _undeleted(market, request["HITId"])
    _check_status(market, hit, "Reviewable", "Reviewing")
    if hit.unreviewed:
        waiting = plural(hit.unreviewed, "assignment of this HIT is", "assignments of this HIT are")
        raise errors.wrong_state("HIT", f"{waiting} neither approved nor rejected. Review all assignments first.")
    hits.change_hit(market.tx, hit.id, disposed_at=market.now)
    notify(market, hit.type, "HITDisposed", hit.name)
    return {}


def add_places(market: Market, request: Request) -> Reply:
    token = request["UniqueRequestToken"]
    operation = "CreateAdditionalAssignmentsForHIT"
    if token is not None and keys.made_by(market.tx, operation, token, market.now - TOKEN_LIFE_MS) is not None:
        raise errors.repeated(token)
    hit = _undeleted(market, request["HITId"])
    more = request["NumberOfAdditionalAssignments"]
    if hit.most + more > 1_000_000_000:
        raise errors.out_of_range("NumberOfAdditionalAssignments", "would exceed 1,000,000,000 assignments")
    market.covers(hit.type.reward * more, more)
    warn_of_low_pay(market, hit.type)
    hits.change_hit(market.tx, hit.id, most=hit.most + more, told="", reviewing=False)
    if token is not None:
        keys.note_request(market.tx, operation, token, hit.name, market.now)
    notify(market, hit.type, "HITExtended", hit.name)
    return {}
