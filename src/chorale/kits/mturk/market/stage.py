"""Where HITs made by scripts live: beside a stage of the study, whose ledger they are paid from."""

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TypeVar

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
"""What there is to spend where the study has no budget: 10,000.00, as Mechanical Turk's sandbox had."""
MOST_AT_ONCE = 10**13
"""More than anybody has, and still a number that can be added up."""
T = TypeVar("T")


@dataclass(frozen=True)
class Market:
    """A study as its requesters' scripts see it, in one transaction."""

    tx: Tx
    study: Study
    stage: RunningStage
    now: int
    warnings: list[str] = field(default_factory=list)
    """What the requester should know about a request that was carried out."""

    def warn(self, *messages: str) -> None:
        self.warnings.extend(message for message in messages if message not in self.warnings)

    @property
    def counts_approvals(self) -> bool:
        """Whether requirements on approved work are checked by what was approved on this site."""
        return getattr(self.stage.options, "track_record", "ignore") == "here"

    def new_id(self) -> str:
        return new_id(self.study.secrets)

    def hit(self, name: str, *, lock: bool = False) -> HitRow:
        row = hits.hit_called(self.tx, name, lock=lock)
        if row is None:
            raise errors.unknown("HIT", name)
        return row

    def assignment(self, name: str, *, lock: bool = False) -> AssignmentRow:
        """An assignment that was submitted. Others are not the requester's business yet."""
        row = assignments.assignment_called(self.tx, name, lock=lock)
        if row is None or row.state not in ("submitted", "approved", "rejected"):
            raise errors.unknown("Assignment", name)
        return row

    def worker(self, name: str) -> int:
        """The worker behind an id of this site, or behind one of Mechanical Turk's that was mapped."""
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
        """Book what somebody earned. The cause makes sure that it is booked once."""
        record = participations.participation_of(self.tx, self.stage.id, worker, lock=True)
        if record is None:
            raise RuntimeError("pay for somebody who never accepted a HIT")
        paid = paying.book(
            self.tx, self.study, self.stage, record, [Amount(f"{cause}:{kind}", kind, amount, reason)], self.now
        )
        participations.add_earnings(self.tx, self.stage.id, worker, paid.earned, paid.fee, paid.exact_fee)

    def count_time(self, row: AssignmentRow) -> None:
        """Count the time of an assignment in its worker's wage, once: when it is first reviewed."""
        if row.state == "submitted":
            participations.add_time(self.tx, self.stage.id, row.worker_id, row.worked_ms or 0)

    def covers(self, amount: int, payments: int) -> None:
        """Refused unless the budget has room for more, beside all that was promised."""
        if amount > MOST_AT_ONCE:
            raise errors.out_of_range("What this would cost", "is more than there is")
        if not paying.covers(self.tx, self.study, amount, payments):
            raise errors.no_funds(
                "The study's budget does not cover this. Raise `budget` in study.toml, or ask for less."
            )

    @property
    def layout(self) -> str:
        """The HTML of the stage's own layout."""
        return str(getattr(self.stage.options, "html", ""))


def market_stage(study: Study) -> RunningStage | None:
    """The stage that scripts put their HITs beside: the first of its kind."""
    return next((stage for stage in study.stages.values() if stage.task.name == TASK), None)


def market_of(tx: Tx, study: Study) -> Market:
    stage = market_stage(study)
    if stage is None:
        raise errors.unsupported("This study takes no HITs: it has no stage of the task `mturk`.")
    return Market(tx, study, stage, study.clock())


def layout_id(stage: RunningStage) -> str:
    """What scripts call the stage's own layout."""
    return id_from("layout", stage.name, str(getattr(stage.options, "html", "")))


def as_seconds(moment: int) -> float:
    """A time as it is sent."""
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

    As on Mechanical Turk, every page that is not empty has a token, and the last page is empty: scripts read on until
    `NumResults` is 0. `rows` takes a limit and the place after which to begin; `place` returns the place of a row.
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
    raise errors.invalid("NextToken", "is not one that this operation gave")
