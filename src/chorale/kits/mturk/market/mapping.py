"""Maps Mechanical Turk IDs of workers and qualification types to this study."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chorale.engine.arrivals import INVITATION_PANEL
from chorale.engine.entering import arrive
from chorale.engine.running import Study
from chorale.kits.mturk.api.names import pseudonym
from chorale.kits.mturk.market.granting import grant
from chorale.kits.mturk.market.stage import Market, market_of
from chorale.kits.mturk.store import hits, old_workers, qualifications
from chorale.kits.mturk.store.qualifications import QualificationTypeRow
from chorale.kits.mturk.worker_list import ListedWorker
from chorale.model import UserError
from chorale.store import Tx, events, invitations, workers

_ID = re.compile(r"[A-Z0-9]{1,64}")
_BLOCK_REASON = "blocked on Mechanical Turk"
_FROM_LIST = "Moved from Mechanical Turk."


@dataclass(frozen=True, slots=True)
class Mapped:
    """Result of importing a list of workers."""

    workers: int
    blocked: int
    granted: int
    types: tuple[str, ...]
    """Names of the created qualification types."""
    without_person: int
    """Number of rows without a person."""


def map_workers(tx: Tx, study: Study, listed: Sequence[ListedWorker], by: str) -> Mapped:
    """Maps Mechanical Turk's worker IDs to people in the study, and transfers their blocks and qualifications."""
    market = market_of(tx, study)
    known = [one for one in listed if one.person]
    addresses = invitations.by_address(tx)
    _refuse_unknown(market, known, addresses)
    blocked = granted = 0
    made: list[str] = []
    for row in known:
        worker = _worker(market, row.person, addresses)
        if old_workers.name(tx, row.old_id, worker):
            events.record(tx, market.now, "worker mapped", {"by": by}, worker_id=worker)
        if row.blocked and qualifications.add_block(tx, worker, _BLOCK_REASON, market.now):
            events.record(tx, market.now, "blocked", {"by": by, "reason": _BLOCK_REASON}, worker_id=worker)
            blocked += 1
        for title, value in row.values.items():
            kind = qualifications.type_titled(tx, title)
            if kind is None:
                kind = _add_type(market, market.new_id(), title)
                made.append(title)
            held = qualifications.held(tx, kind.id, worker)
            if held is None or (held.value, held.status) != (value, "Granted"):
                grant(market, kind, worker, value, say=False)
                granted += 1
    return Mapped(len({one.old_id for one in known}), blocked, granted, tuple(made), len(listed) - len(known))


def _refuse_unknown(market: Market, listed: Sequence[ListedWorker], addresses: Mapping[str, str]) -> None:
    """Rejects the whole list if any row cannot be mapped."""
    pattern = re.compile(market.study.settings.arrival.worker_pattern)
    for row in listed:
        if not _ID.fullmatch(row.old_id):
            raise UserError(f"line {row.line}: {row.old_id!r} is not a worker ID (1 to 64 capital letters and digits).")
        if _present(market, row.person) is None and row.person not in addresses and not pattern.fullmatch(row.person):
            raise UserError(
                f"line {row.line}: {row.person!r} is neither a participant ID, nor an invited e-mail address, nor an "
                f"ID on {market.study.settings.arrival.panel} (`worker_pattern` in study.toml). Correct it or leave "
                "it empty."
            )


def _present(market: Market, person: str) -> int | None:
    """The worker with a participant ID or a worker ID of this site."""
    name = person if person.startswith("w-") else pseudonym(person)
    return None if name is None else qualifications.worker_called(market.tx, name)


def _worker(market: Market, person: str, addresses: Mapping[str, str]) -> int:
    """The existing or future worker: people may be listed before they join."""
    present = _present(market, person)
    if present is not None:
        return present
    panel = market.study.settings.arrival.panel
    identity = (INVITATION_PANEL, addresses[person]) if person in addresses else (panel, person)
    known = workers.find_by_identity(market.tx, *identity)
    return (known or arrive(market.tx, market.study, *identity, {})).id


def map_qualification(tx: Tx, study: Study, old_id: str, title: str, by: str) -> None:
    """Gives a qualification type the ID that scripts use. The type is created if needed."""
    market = market_of(tx, study)
    if not _ID.fullmatch(old_id):
        raise UserError(f"{old_id!r} is not a valid QualificationTypeId (1 to 64 capital letters and digits).")
    taken = qualifications.type_called(tx, old_id)
    if taken is not None:
        raise UserError(f"{old_id} is already the ID of the qualification type {taken.title!r}.")
    known = qualifications.type_titled(tx, title)
    if known is None:
        _add_type(market, old_id, title)
    elif hits.is_required(tx, known.name):
        raise UserError(
            f"HITs already use the qualification type {title!r} with the ID {known.name}. Use that ID in your script, "
            "or choose another name."
        )
    else:
        qualifications.change_type(tx, known.id, name=old_id)
    events.record(tx, market.now, "qualification mapped", {"by": by, "id": old_id, "name": title})


def _add_type(market: Market, name: str, title: str) -> QualificationTypeRow:
    values = {
        "name": name,
        "title": title,
        "keywords": "",
        "description": _FROM_LIST,
        "status": "Active",
        "created_at": market.now,
    }
    qualifications.add_type(market.tx, values)
    return market.qualification_type(name)
