"""Studies on Prolific: made, with what they cost, published, and given more places.

Everything is written down here before it is asked for there, and can be done again: a study made just before a crash is
found by its marker, and places are set, not added.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import ceil
from typing import Any

from chorale.engine.arrivals import arrival_url
from chorale.engine.running import Study
from chorale.model import ProlificStudy, UserError, money_text
from chorale.platforms.prolific import Prolific, RefusedError, RemoteStudy, study_body
from chorale.store import Tx, events, settings, submissions
from chorale.store.submissions import DRAFT, GONE, PUBLISHED, PanelStudyRow

PANEL = "prolific"
UNPUBLISHED = ("UNPUBLISHED", "DRAFT", "")


class GoneError(UserError):
    """Prolific no longer has a study that it had."""


@dataclass(frozen=True, slots=True)
class Drafted:
    """A study that Prolific has, and what it costs."""

    name: str
    remote: RemoteStudy
    cost: int
    """Rewards and fees of all places, or of those that are added."""
    adds: int
    """Places to be added to a study that is published."""
    is_published: bool

    @property
    def needs_asking(self) -> bool:
        return not self.is_published or self.adds > 0


_HOW_TO_ASK = """Add one that says what to ask of Prolific (docs/prolific.md), such as

[[prolific.study]]
name = "main"
description = "What people read about it before they come."
stages = ["{stage}"]
places = 40     # people
minutes = 12    # how long it takes
reward = 180    # for each, in cents or pence"""


def asked_for(study: Study, name: str | None) -> ProlificStudy:
    """The study of that name in the study file; the first if none is given."""
    rule = study.settings.prolific
    if rule is None:
        raise UserError(f"study.toml has no [prolific] table. {_HOW_TO_ASK.format(stage=study.settings.stage[0].name)}")
    if study.settings.arrival.panel != PANEL or study.settings.arrival.by_url is False:
        raise UserError(
            'People from Prolific could not come in. Set `panel = "prolific"` and `by_url = true` in [arrival].'
        )
    for prolific_study in rule.study:
        if name is None or prolific_study.name == name:
            return prolific_study
    known = ", ".join(one.name for one in rule.study)
    raise UserError(f"study.toml has no study {name!r} in [prolific]. There is: {known}.")


def draft(study: Study, client: Prolific, wanted: ProlificStudy, base_url: str) -> Drafted:
    """See to it that Prolific has the study, unpublished; and what it would cost to publish it as it is asked for."""
    rule = study.settings.prolific
    project = None if rule is None else rule.project
    row = study.store.do(lambda tx: _planned(tx, study, wanted, base_url))
    body = study_body(
        wanted,
        title=study.settings.study.title,
        marker=row.marker,
        url=arrival_url(base_url, study.settings.arrival),
        codes=(row.completion_code, row.screenout_code),
        project=project,
        group=keep_group(study, client, wanted, row, project),
        signed=study.settings.arrival.signed is not None,
    )
    # It may be there although that is not noted: made just before this program was stopped.
    remote = client.study_named(row.marker) if row.external_id is None else still_there(study, client, row)
    if remote is None:
        remote = client.create_study(body)
    elif remote.status in UNPUBLISHED:
        remote = client.change_study(remote.id, body)
    is_published = remote.status not in UNPUBLISHED
    if row.external_id is None or not is_published:
        drawn = remote
        study.store.do(lambda tx: _note_draft(tx, study, wanted, row, drawn, _asked(study, wanted, base_url)))
    adds = max(0, wanted.places - remote.places) if is_published else 0
    per_place = _cost_of_place(study, wanted, remote)
    cost = _up(adds * per_place) if is_published else remote.total_cost or _up(wanted.places * per_place)
    return Drafted(wanted.name, remote, cost, adds, is_published)


def publish(study: Study, client: Prolific, wanted: ProlificStudy, drafted: Drafted) -> RemoteStudy:
    """Open a study to people, or give it more places."""
    remote = drafted.remote
    if drafted.adds:
        remote = client.change_study(remote.id, {"total_available_places": wanted.places})
    elif not drafted.is_published:
        remote = client.publish(remote.id)
    study.store.do(lambda tx: _note_published(tx, study, wanted, remote))
    return remote


def _planned(tx: Tx, study: Study, wanted: ProlificStudy, base_url: str) -> PanelStudyRow:
    secret = settings.secret(tx, "prolific")
    codes = (
        wanted.completion_code or _made_up(secret, wanted.name, "done"),
        wanted.screenout_code or _made_up(secret, wanted.name, "out"),
    )
    marker = f"chorale-{_made_up(secret, wanted.name, 'marker').lower()}-{wanted.name}"
    asked = _asked(study, wanted, base_url)
    return submissions.plan_study(tx, wanted.name, marker, wanted.reward, wanted.places, asked, codes, study.clock())


def _asked(study: Study, wanted: ProlificStudy, base_url: str) -> dict[str, Any]:
    """What Prolific is asked for that somebody might change there."""
    return {
        "name": wanted.title or study.settings.study.title,
        "reward": wanted.reward,
        "estimated_completion_time": wanted.minutes,
        "external_study_url": arrival_url(base_url, study.settings.arrival),
        "total_available_places": wanted.places,
    }


def _made_up(secret: str, name: str, what: str) -> str:
    """Letters and digits nobody can guess, the same whenever they are asked for."""
    return "C" + sha256(f"{secret}:{name}:{what}".encode()).hexdigest()[:9].upper()


def _note_draft(
    tx: Tx, study: Study, wanted: ProlificStudy, row: PanelStudyRow, remote: RemoteStudy, asked: Mapping[str, Any]
) -> None:
    """Note a study that is there, as it is asked for now. What is published stays as it was published."""
    state = DRAFT if remote.status in UNPUBLISHED else PUBLISHED
    submissions.note_study(
        tx, wanted.name, external_id=remote.id, state=state, asked=asked, reward=wanted.reward, places=wanted.places
    )
    if row.external_id is None:
        events.record(tx, study.clock(), "drafted", {"platform": PANEL, "study": wanted.name})


def _note_published(tx: Tx, study: Study, wanted: ProlificStudy, remote: RemoteStudy) -> None:
    row = submissions.study_called(tx, wanted.name)
    asked = {**({} if row is None else row.asked), "total_available_places": max(wanted.places, remote.places)}
    changes = {"state": PUBLISHED, "places": remote.places or wanted.places, "asked": asked}
    if row is not None and row.published_at is None:
        changes["published_at"] = study.clock()
    submissions.note_study(tx, wanted.name, **changes)
    evidence = {"platform": PANEL, "study": wanted.name, "places": wanted.places}
    events.record(tx, study.clock(), "published", evidence)


def still_there(study: Study, client: Prolific, row: PanelStudyRow) -> RemoteStudy:
    try:
        return client.study(row.external_id or "")
    except RefusedError as error:
        if error.status != 404:
            raise
        study.store.do(lambda tx: submissions.note_study(tx, row.name, state=GONE))
        raise GoneError(
            f"Prolific no longer has the study {row.name!r}. What people did is kept here. To recruit again, give it "
            "another name in study.toml and publish that."
        ) from None


def _cost_of_place(study: Study, wanted: ProlificStudy, remote: RemoteStudy) -> float:
    """What a place costs with fees: as Prolific says, or by the fee in the study file."""
    if remote.total_cost and remote.places:
        return remote.total_cost / remote.places
    return wanted.reward * (1 + study.settings.pay.fee_percent / 100)


def _up(amount: float) -> int:
    """Rounded up: it must never cost more than announced."""
    return ceil(round(amount, 6))


def keep_group(
    study: Study, client: Prolific, wanted: ProlificStudy, row: PanelStudyRow, project: str | None
) -> str | None:
    """The list of those who are invited, made if it is not there, with everybody on it who should be."""
    if wanted.invite is None:
        return None
    invited = wanted.invite
    group = row.group_id
    if group is None:
        workspace = client.workspace_of(project)
        group = client.group_named(row.marker, workspace) or client.create_group(row.marker, workspace)
        made = group
        study.store.do(lambda tx: submissions.note_study(tx, wanted.name, group_id=made))
    held = study.store.look(lambda tx: submissions.qualified_participants(tx, invited))
    missing = sorted(set(held) - client.group_members(group)) if held else []
    if missing:
        client.add_to_group(group, missing)
    return group


def cost_line(drafted: Drafted, wanted: ProlificStudy, currency: str) -> str:
    """What publishing costs, for people to agree to."""
    reward, total = money_text(wanted.reward, currency), money_text(drafted.cost, currency)
    places = drafted.adds if drafted.is_published else wanted.places
    more = "more " if drafted.is_published else ""
    return f"{places:,} {more}places at {reward} each, with fees: {total}"
