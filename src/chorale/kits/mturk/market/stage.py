"""The stage that HITs of scripts belong to. They are paid from its ledger."""

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TypeVar

from pydantic import BaseModel

from chorale.engine import paying
from chorale.engine.paying import Amount
from chorale.engine.running import RunningStage, Study
from chorale.kits.mturk.api import errors
from chorale.kits.mturk.api.names import id_from, new_id, pseudonym, worker_id
from chorale.kits.mturk.store import assignments, hits, old_workers, qualifications
from chorale.kits.mturk.store.assignments import AssignmentRow
from chorale.kits.mturk.store.hits import HitRow
from chorale.model import EntryKind
from chorale.store import Tx, participations

TASK = "mturk"
UNLIMITED = 1_000_000
"""Budget of a study without a limit: 10,000.00, as in Mechanical Turk's sandbox."""
MOST_AT_ONCE = 10**13
"""Maximum cost of one request. With larger amounts, sums could exceed what the database stores."""
T = TypeVar("T")


@dataclass(frozen=True)
class Market:
    """A study from the perspective of requesters' scripts, in one transaction."""

    tx: Tx
    study: Study
    stage: RunningStage
    now: int
    warnings: list[str] = field(default_factory=list)
    """Warnings about a request that was carried out."""

    def warn(self, *messages: str) -> None:
        self.warnings.extend(message for message in messages if message not in self.warnings)

    @property
    def counts_approvals(self) -> bool:
        """Whether requirements on approved work are checked against work on this site."""
        return getattr(self.stage.options, "track_record", "ignore") == "here"

    def new_id(self) -> str:
        return new_id(self.study.secrets)

    def hit(self, name: str, *, lock: bool = False) -> HitRow:
        row = hits.hit_called(self.tx, name, lock=lock)
        if row is None:
            raise errors.unknown("HIT", name)
        return row

    def assignment(self, name: str, *, lock: bool = False) -> AssignmentRow:
        """A submitted assignment. Others are not visible to the requester yet."""
        row = assignments.assignment_called(self.tx, name, lock=lock)
        if row is None or row.state not in ("submitted", "approved", "rejected"):
            raise errors.unknown("Assignment", name)
        return row

    def worker(self, name: str) -> int:
        """The worker with an ID of this site, or with a mapped Mechanical Turk ID."""
        known = pseudonym(name)
        number = None if known is None else qualifications.worker_called(self.tx, known)
        number = old_workers.worker_of(self.tx, name) if number is None else number
        if number is None:
            raise errors.unknown("Worker", name)
        return number

    def qualification_type(self, name: str) -> qualifications.QualificationTypeRow:
        kind = qualifications.type_called(self.tx, name)
        if kind is None:
            raise errors.unknown("QualificationType", name)
        return kind

    def pay(self, worker: int, cause: str, kind: EntryKind, amount: int, reason: str) -> None:
        """Books earnings of a worker. The cause ensures that they are booked once."""
        record = participations.participation_of(self.tx, self.stage.id, worker, lock=True)
        if record is None:
            raise RuntimeError("pay for a worker who never accepted a HIT")
        paid = paying.book(
            self.tx, self.study, self.stage, record, [Amount(f"{cause}:{kind}", kind, amount, reason)], self.now
        )
        participations.add_earnings(self.tx, self.stage.id, worker, paid.earned, paid.fee, paid.exact_fee)

    def count_time(self, row: AssignmentRow) -> None:
        """Adds the time of an assignment to its worker's record once, at its first review."""
        if row.state == "submitted":
            participations.add_time(self.tx, self.stage.id, row.worker_id, row.worked_ms or 0)

    def covers(self, amount: int, payments: int) -> None:
        """Raises an error if the budget does not cover a cost in addition to all promised amounts."""
        if amount > MOST_AT_ONCE:
            raise errors.out_of_range("The cost", "is too large. Reduce the request's cost")
        if not paying.covers(self.tx, self.study, amount, payments):
            raise errors.no_funds(
                "The study's budget does not cover this. Raise `budget` in study.toml, or reduce the request's cost."
            )

    @property
    def layout(self) -> str:
        """The HTML of the stage's own layout."""
        return str(getattr(self.stage.options, "html", ""))


def market_stage(study: Study) -> RunningStage | None:
    """The stage for HITs of scripts: the first with the task `mturk`."""
    return next((stage for stage in study.stages.values() if stage.task.name == TASK), None)


def market_of(tx: Tx, study: Study) -> Market:
    stage = market_stage(study)
    if stage is None:
        raise errors.unsupported("This study does not accept HITs, because it has no stage with the task `mturk`.")
    return Market(tx, study, stage, study.clock())


def layout_id(stage: RunningStage) -> str:
    """HITLayoutId of the stage's own layout."""
    return layout_id_of(stage.name, stage.options)


def layout_id_of(stage: str, options: BaseModel) -> str:
    """HITLayoutId of the layout in a stage's options; empty without a layout."""
    html = str(getattr(options, "html", ""))
    return id_from("layout", stage, html) if html else ""


def as_seconds(moment: int) -> float:
    """A time in the format of the API."""
    return moment / 1000


def turk_worker(name: str) -> str:
    return worker_id(name)


def page(
    request: dict[str, Any],
    kind: str,
    rows: Callable[[int, int | None], Sequence[T]],
    place: Callable[[T], int] = attrgetter("id"),
) -> tuple[Sequence[T], dict[str, Any]]:
    """A page of rows, with their number and the token of the next page.

    As on Mechanical Turk, every non-empty page has a token, and the last page is empty: scripts continue until
    `NumResults` is 0. `rows` takes a limit and a start position; `place` returns the position of a row.
    """
    shown = rows(request["MaxResults"], _place_in(request["NextToken"], kind))
    beside: dict[str, Any] = {"NumResults": len(shown)}
    if shown:
        text = f"{kind}:{place(shown[-1])}"
        beside["NextToken"] = base64.urlsafe_b64encode(text.encode()).decode()
    return shown, beside


def _place_in(token: str | None, kind: str) -> int | None:
    if token is None:
        return None
    try:
        name, _, place = base64.urlsafe_b64decode(token.encode()).decode().partition(":")
        if name == kind and len(place) < 19:
            return int(place)
    except (ValueError, binascii.Error):
        pass
    raise errors.invalid("NextToken", "was not issued by this operation")
