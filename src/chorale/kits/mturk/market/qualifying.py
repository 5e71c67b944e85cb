"""How workers get qualifications: requests and tests."""

from dataclasses import dataclass

from chorale.engine.running import Study
from chorale.kits.mturk.api.answers import Fields, joined, read_answer_key
from chorale.kits.mturk.api.questions import QuestionForm, read_test
from chorale.kits.mturk.market.granting import grant
from chorale.kits.mturk.market.stage import Market, market_of
from chorale.kits.mturk.market.working import as_answer
from chorale.kits.mturk.store import qualifications
from chorale.kits.mturk.store.qualifications import HeldRow, QualificationTypeRow, RequestRow
from chorale.model import Refusal
from chorale.model.wording import worded
from chorale.store import Tx, workers


@dataclass(frozen=True, slots=True)
class QualificationView:
    """A qualification from the perspective of a worker."""

    type: QualificationTypeRow
    held: HeldRow | None
    request: RequestRow | None
    """Their last request."""
    again_at: int | None
    """Time of the next possible request; None if never or now."""
    may_ask: bool


def look_at(tx: Tx, study: Study, worker_id: int, name: str) -> QualificationView:
    market = market_of(tx, study)
    kind = qualifications.type_called(tx, name)
    worker = workers.find_worker(tx, worker_id)
    if kind is None or worker is None or not study.has_consent(worker.consent_version):
        raise Refusal("not_found", worded("There is no such qualification. Go back to the list."), 404)
    held = qualifications.held(tx, kind.id, worker_id)
    asked = qualifications.last_request(tx, kind.id, worker_id)
    if asked is not None and asked.state == "testing" and _is_over(market, kind, asked):
        asked = None
    again = _again_at(kind, asked)
    granted = held is not None and held.status == "Granted"
    waits = asked is not None and asked.state in ("testing", "open")
    barred = kind.status != "Active" or granted or waits or qualifications.is_blocked(tx, worker_id)
    too_soon = asked is not None and not waits and (again is None or again > market.now)
    return QualificationView(kind, held, asked, again, not barred and not too_soon)


def _again_at(kind: QualificationTypeRow, asked: RequestRow | None) -> int | None:
    """Time of the next possible request: never, unless the type has a retry delay."""
    if asked is None or kind.retry_seconds is None:
        return None
    return asked.at + kind.retry_seconds * 1000


def _is_over(market: Market, kind: QualificationTypeRow, asked: RequestRow) -> bool:
    return kind.test_seconds is not None and asked.at + kind.test_seconds * 1000 < market.now


def ask(tx: Tx, study: Study, worker_id: int, name: str) -> None:
    """Requests a qualification, or starts its test. Repeated requests have no effect."""
    market = market_of(tx, study)
    wanted = look_at(tx, study, worker_id, name)
    if wanted.request is not None and wanted.request.state in ("testing", "open"):
        return
    if not wanted.may_ask:
        raise Refusal("not_open", worded("You cannot request this qualification now."), 403)
    kind, made = wanted.type, market.new_id()
    if kind.test is not None:
        qualifications.add_request(tx, made, kind.id, worker_id, "testing", market.now)
    elif kind.auto_value is not None:
        qualifications.add_request(tx, made, kind.id, worker_id, "granted", market.now)
        grant(market, kind, worker_id, kind.auto_value, say=False)
    else:
        qualifications.add_request(tx, made, kind.id, worker_id, "open", market.now)


def test_of(tx: Tx, study: Study, worker_id: int, name: str) -> tuple[QuestionForm, str]:
    """The test in progress, and the ID for its submission."""
    wanted = look_at(tx, study, worker_id, name)
    if wanted.request is None or wanted.request.state != "testing" or wanted.type.test is None:
        raise Refusal("not_found", worded("You are not taking this test. Go back to the list."), 404)
    return read_test(wanted.type.test), wanted.request.name


def submit(tx: Tx, study: Study, name: str, fields: Fields) -> bool:
    """Accepts the answers to a test once. False if the test does not exist."""
    market = market_of(tx, study)
    row = qualifications.request_called(tx, name, lock=True)
    kind = None if row is None else qualifications.type_called(tx, row.type)
    if row is None or kind is None or kind.test is None:
        return False
    if row.state != "testing":
        return True
    if _is_over(market, kind, row):
        raise Refusal("lease_ended", worded("The time limit of this test has passed."))
    answer = as_answer(fields, read_test(kind.test))
    if kind.answer_key is None:
        qualifications.change_request(tx, row.id, state="open", answer=answer, at=market.now)
        return True
    value = read_answer_key(kind.answer_key).score(joined(fields))
    qualifications.change_request(tx, row.id, state="granted", answer=answer, at=market.now)
    grant(market, kind, row.worker_id, value, say=False)
    return True
