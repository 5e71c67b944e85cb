"""How people join: links for recruitment platforms, invitations that can be revoked, and the public page."""

import secrets
from collections.abc import Sequence
from typing import NamedTuple

from chorale.engine.entering import arrive
from chorale.engine.running import Study
from chorale.model import ArrivalSettings, Refusal, Worker, invited_to
from chorale.model.panels import PANELS
from chorale.model.wording import worded
from chorale.store import Tx, epochs, events, gates, invitations, workers
from chorale.store.invitations import SINGLE, InvitationRow

INVITATION_PANEL = "invitation"
PUBLIC_PANEL = "public"
PROLIFIC_PANEL = "prolific"


def arrival_url(base: str, arrival: ArrivalSettings) -> str:
    """The study's URL, with placeholders that the recruitment platform replaces by IDs.

    For an unknown platform, each placeholder has the name of its parameter.
    """
    names = (arrival.worker_parameter, arrival.study_parameter, arrival.session_parameter)
    panel = PANELS.get(arrival.panel)
    values = tuple(f"{{{name}}}" for name in names) if panel is None else panel.values
    query = "&".join(f"{name}={value}" for name, value in zip(names, values, strict=True) if value)
    return f"{base}/join?{query}" if query else f"{base}/join"


class ByUrl(NamedTuple):
    """Whether people can join by a platform's link, and what the requester should know about that."""

    is_open: bool
    note: str | None = None


def by_url(tx: Tx, study: Study, *, preview: bool, asks_prolific: bool) -> ByUrl:
    """Decide about platform links.

    `preview`: the site is reachable only from this computer. `asks_prolific`: arrivals are verified with Prolific.
    """
    arrival = study.settings.arrival
    if arrival.by_url is not None:
        return ByUrl(arrival.by_url)
    if arrival.signed is not None or (asks_prolific and arrival.panel == PROLIFIC_PANEL) or preview:
        return ByUrl(True)
    closed = (
        f"Anybody can forge a link from {arrival.panel}, because links are not verified. {_how_to_verify(study)} "
        "To admit people without verification, set `by_url = true` in [arrival]."
    )
    if workers.came_from(tx, arrival.panel):
        return ByUrl(True, f"People have already joined through such links, so these links still work. {closed}")
    return ByUrl(False, f"Links from {arrival.panel} are not accepted. {closed}")


def _how_to_verify(study: Study) -> str:
    """How to make links verifiable. Only Prolific supports this: it signs links or confirms visits."""
    if study.settings.arrival.panel != PROLIFIC_PANEL:
        return "Only links from Prolific can be verified."
    if study.settings.prolific is None:
        return 'Set `signed = "prolific"` in [arrival].'
    return "Start the site with Prolific's token in the environment variable PROLIFIC_TOKEN."


def new_invitation(
    tx: Tx, study: Study, by: str, *, kind: str = SINGLE, stage: str | None = None, most: int | None = None
) -> str:
    """The content of a new link."""
    nonce = secrets.token_urlsafe(12)
    invitations.add(tx, nonce, kind, stage, most, study.clock(), by)
    return nonce


def invite_addresses(tx: Tx, study: Study, addresses: Sequence[str], stage: str | None, by: str) -> list[str]:
    """The content of the link for every address; existing links are kept."""
    known = invitations.by_address(tx)
    made = []
    for address in addresses:
        nonce = known.get(address)
        if nonce is None:
            nonce = secrets.token_urlsafe(12)
            number = invitations.add(tx, nonce, SINGLE, stage, None, study.clock(), by)
            invitations.set_address(tx, address, number)
        made.append(nonce)
    events.record(tx, study.clock(), "invited", {"by": by, "invitations": len(set(made) - set(known.values()))})
    return made


def revoke(tx: Tx, study: Study, number: int, by: str, reason: str | None = None) -> bool:
    """Revoke a link. People already admitted keep access."""
    revoked = invitations.revoke(tx, number, study.clock())
    if revoked:
        evidence = {"by": by, "invitation": number, **({} if reason is None else {"reason": reason})}
        events.record(tx, study.clock(), "invitation revoked", evidence)
    return revoked


def arrive_invited(tx: Tx, study: Study, nonce: str, worker_id: int | None) -> tuple[Worker, InvitationRow | None]:
    """The worker who opens a link. `worker_id` is the worker already signed in, for links that several people use."""
    row = invitations.find(tx, nonce, lock=True)
    if row is None:
        if epochs.current(tx).reason == epochs.RESTORED:
            # It is unknown whether the link was for one person or many, or was revoked.
            message = worded(
                "This study was restored from an older backup, which does not have this invitation. Ask for a new one."
            )
            known = workers.find_by_identity(tx, INVITATION_PANEL, nonce)
            if known is None:
                raise Refusal("bad_invitation", message, 403)
        # The link was made before links were stored: it contains all data itself.
        return arrive(tx, study, INVITATION_PANEL, nonce, {}), None
    if row.revoked_at is not None:
        raise Refusal("bad_invitation", worded("This invitation is no longer valid. Ask for a new one."), 403)
    worker = _first_use(tx, study, row) if row.kind == SINGLE else _one_more_use(tx, study, row, worker_id)
    now = study.clock()
    if row.stage is not None and gates.grant(tx, worker.id, invited_to(row.stage), now):
        evidence = {"qualification": invited_to(row.stage), "by": row.made_by}
        events.record(tx, now, "qualified", evidence, worker_id=worker.id)
    return worker, row


def _first_use(tx: Tx, study: Study, row: InvitationRow) -> Worker:
    """The worker of a personal link: the same every time it is opened."""
    worker = arrive(tx, study, INVITATION_PANEL, row.nonce, {})
    if row.uses == 0:
        invitations.count_use(tx, row.id)
    return worker


def _one_more_use(tx: Tx, study: Study, row: InvitationRow, worker_id: int | None) -> Worker:
    """The worker of a shared link: a new worker, unless they have already joined with it."""
    if worker_id is not None:
        known = workers.identity_of(tx, worker_id)
        if known is not None and known[0] == INVITATION_PANEL and known[1].startswith(f"{row.nonce}:"):
            worker = workers.find_worker(tx, worker_id)
            if worker is not None:
                return worker
    if row.most is not None and row.uses >= row.most:
        raise Refusal("invitation_used", worded("All places of this invitation are taken. Ask for another one."), 403)
    invitations.count_use(tx, row.id)
    return arrive(tx, study, INVITATION_PANEL, f"{row.nonce}:{secrets.token_urlsafe(9)}", {})


def by_invitation() -> Refusal:
    """Refuse people who come without a personal link."""
    return Refusal("not_open", worded("You need an invitation for this study. Open the link in it."), 403)


def arrive_in_public(tx: Tx, study: Study) -> Worker:
    """A new worker who joined from the public page."""
    if not study.settings.arrival.landing:
        raise by_invitation()
    return arrive(tx, study, PUBLIC_PANEL, secrets.token_urlsafe(12), {})
