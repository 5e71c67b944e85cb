"""Studies on Prolific: creating them with their cost, publishing them, and adding places.

Every request is stored before it is sent, and can be repeated: a study created just before a crash is found by its
marker, and places are set, not added.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from chorale.engine.arrivals import arrival_url
from chorale.engine.running import Study
from chorale.engine.simulation import refuse_simulated
from chorale.model import ProlificStudy, UserError, money_text
from chorale.model.plural import plural
from chorale.platforms.prolific import Prolific, RefusedError, RemoteStudy, StudyAction, study_body
from chorale.platforms.prolific.planning import completion_codes
from chorale.store import Tx, events, settings, submissions
from chorale.store.submissions import DRAFT, ENDED, FULL, GONE, PAUSED, PUBLISHED, SCHEDULED, TEST, PanelStudyRow

PANEL = "prolific"
UNPUBLISHED = ("UNPUBLISHED", "DRAFT", "")
_STATES = {
    "ACTIVE": PUBLISHED,
    "PUBLISHING": PUBLISHED,
    "PAUSED": PAUSED,
    "AWAITING REVIEW": FULL,
    "COMPLETED": ENDED,
    "SCHEDULED": SCHEDULED,
}


class GoneError(UserError):
    """A study no longer exists on Prolific."""


@dataclass(frozen=True, slots=True)
class Drafted:
    """A study on Prolific, with its cost."""

    name: str
    remote: RemoteStudy
    cost: int
    """Rewards and fees of all places, or of those that are added."""
    adds: int
    """Places to be added to a published study."""
    is_published: bool
    currency: str
    """The currency of the study's workspace."""
    adds_slots: int = 0
    """Screen-out payments to be added."""
    screenout_cost: int = 0
    """The maximum cost of screen-out payments with fees, or of those added."""

    @property
    def total(self) -> int:
        """The maximum cost of publishing."""
        return self.cost + self.screenout_cost

    @property
    def needs_asking(self) -> bool:
        return not self.is_published or self.adds > 0 or self.adds_slots > 0


_HOW_TO_ASK = """Add one that describes the study on Prolific (docs/prolific.md), such as

[[prolific.study]]
name = "main"
description = "What participants read about the study before they join."
stages = ["{stage}"]
places = 40     # people
minutes = 12    # expected duration
reward = 180    # for each person, in cents (minor units of the currency)"""


def asked_for(study: Study, name: str | None) -> ProlificStudy:
    """The study with this name in the study file. Default: the first."""
    rule = study.settings.prolific
    if rule is None:
        raise UserError(f"study.toml has no [prolific] table. {_HOW_TO_ASK.format(stage=study.settings.stage[0].name)}")
    arrival = study.settings.arrival
    if arrival.panel != PANEL:
        raise UserError(
            f'People from Prolific could not join. Set `panel = "prolific"` in [arrival], not {arrival.panel!r}.'
        )
    if arrival.by_url is False:
        raise UserError("People from Prolific could not join. Remove `by_url = false` from [arrival].")
    for prolific_study in rule.study:
        if name is None or prolific_study.name == name:
            return prolific_study
    known = ", ".join(one.name for one in rule.study)
    raise UserError(f"study.toml has no study {name!r} in [prolific]. Available: {known}.")


def draft(study: Study, client: Prolific, wanted: ProlificStudy, base_url: str) -> Drafted:
    """Make sure that Prolific has the study as a draft; returns the cost of publishing it."""
    study.store.look(refuse_simulated)
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
    # It may exist without being recorded, if the program was stopped just after creating it.
    remote = client.study_named(row.marker) if row.external_id is None else still_there(study, client, row)
    if remote is None:
        remote = _created(client, wanted, body)
    elif remote.status in UNPUBLISHED:
        remote = client.change_study(remote.id, body)
    is_published = remote.status not in UNPUBLISHED
    if is_published and row.external_id is not None:
        _check_screenout(study, wanted, row)
    if row.external_id is None or not is_published:
        drawn = remote
        study.store.do(lambda tx: _note_draft(tx, study, wanted, row, drawn, _asked(study, wanted, base_url)))
    currency = checked_currency(study, client, remote)
    adds = max(0, wanted.places - remote.places) if is_published else 0
    new_places = adds if is_published else wanted.places
    adds_slots = max(0, _slots(wanted) - _slots_there(remote, row)) if is_published else 0
    new_slots = adds_slots if is_published else _slots(wanted)
    return Drafted(
        wanted.name,
        remote,
        client.cost_of(wanted.reward, new_places) if new_places else 0,
        adds,
        is_published,
        currency,
        adds_slots,
        client.cost_of(wanted.screenout_reward or 0, new_slots) if new_slots else 0,
    )


def _created(client: Prolific, wanted: ProlificStudy, body: Mapping[str, Any]) -> RemoteStudy:
    try:
        return client.create_study(body)
    except RefusedError as error:
        if wanted.screenout != "fixed":
            raise
        raise RefusedError(
            f"{error.message} Only some workspaces have fixed screen-out payments. If yours does not, set "
            f'`screenout = "approve"` or "return" in the study {wanted.name!r} of [prolific].',
            error.status,
        ) from None


def _check_screenout(study: Study, wanted: ProlificStudy, row: PanelStudyRow) -> None:
    """Refuse a screen-out payment that differs from the published one: nobody could tell who was paid which amount."""
    published = row.asked.get("screenout_reward")
    if wanted.screenout_reward == published:
        return

    def words(reward: int | None) -> str:
        amount = money_text(reward or 0, study.settings.pay.currency)
        return "no fixed screen-out payments" if reward is None else f"screen-out payments of {amount}"

    before = "Remove them" if published is None else f'Set `screenout = "fixed"` and `screenout_reward = {published}`'
    raise UserError(
        f"The study {wanted.name!r} was published with {words(published)}, and study.toml now has "
        f"{words(wanted.screenout_reward)}. {before}, or give the study another name in [prolific] and publish that."
    )


def _slots(wanted: ProlificStudy) -> int:
    return wanted.slots if wanted.screenout == "fixed" else 0


def _slots_there(remote: RemoteStudy, row: PanelStudyRow) -> int:
    """Number of screen-out payments of a study on Prolific."""
    for code in remote.fields.get("completion_codes") or ():
        for action in code.get("actions") or () if code.get("code") == row.screenout_code else ():
            if isinstance(action.get("slots"), int):
                return int(action["slots"])
    return 0


def checked_currency(study: Study, client: Prolific, remote: RemoteStudy | None = None) -> str:
    """The currency Prolific pays in; refused if the study's ledger is in another currency."""
    own = study.settings.pay.currency
    try:
        actual = client.currency_of(workspace(study, client, remote))
    except RefusedError as error:
        if error.status not in (403, 404):
            raise
        actual = None  # the token may use the workspace without access to its balance
    if actual is not None and actual != own:
        raise UserError(
            f"The workspace on Prolific pays in {actual}, but study.toml has amounts in {own}. Set "
            f'`currency = "{actual}"` in [pay] and check every amount, or use a project in another workspace.'
        )
    return own


def workspace(study: Study, client: Prolific, remote: RemoteStudy | None = None) -> str:
    """The workspace of the study's project, or of an existing study's project, or the account's only workspace."""
    rule = study.settings.prolific
    project = None if rule is None else rule.project
    if project is None and remote is None:
        made = [row for row in study.store.look(submissions.studies) if row.state != GONE]
        external_id = next((row.external_id for row in made if row.external_id is not None), None)
        remote = None if external_id is None else client.study(external_id)
    if project is None and remote is not None:
        project = remote.fields.get("project")
    return client.workspace_of(project)


def publish(study: Study, client: Prolific, wanted: ProlificStudy, drafted: Drafted) -> RemoteStudy:
    """Publish a study, or add places to it."""
    remote = drafted.remote
    changes: dict[str, Any] = {"total_available_places": wanted.places} if drafted.adds else {}
    if drafted.adds_slots:
        row = study.store.look(lambda tx: _row(tx, wanted.name))
        changes["completion_codes"] = completion_codes(wanted, (row.completion_code, row.screenout_code))
    if changes:
        remote = client.change_study(remote.id, changes)
    elif not drafted.is_published:
        remote = client.transition(remote.id, "PUBLISH")
    study.store.do(lambda tx: _note_published(tx, study, wanted, remote))
    return remote


def transition(study: Study, client: Prolific, name: str, action: StudyAction, by: str, reason: str = "") -> str:
    """Pause, start or stop a published study; returns its new state."""
    row = study.store.look(lambda tx: _row(tx, name))
    if row.external_id is None or row.state == DRAFT:
        raise UserError(
            f"The study {name!r} is not published. Publish it: `chorale publish DIR --to prolific --study {name}`."
        )
    if action == "START" and row.state == ENDED:
        raise UserError(
            f"The study {name!r} has ended. Add places to reopen it, with N as the new total: "
            f"`chorale publish DIR --to prolific --study {name} --places N`."
        )
    remote = client.transition(row.external_id, action)
    state = state_of(remote)
    evidence = {"platform": PANEL, "study": name, "action": action.lower(), "by": by}

    def note(tx: Tx) -> None:
        submissions.note_study(tx, name, state=state)
        events.record(tx, study.clock(), "recruitment", {**evidence, **({"reason": reason} if reason else {})})

    study.store.do(note)
    return state


def make_test(study: Study, client: Prolific, wanted: ProlificStudy, drafted: Drafted) -> str:
    """Publish a test study from the draft to the workspace's test participants; returns its URL."""
    if drafted.is_published:
        raise UserError(
            f"The study {wanted.name!r} is published, and Prolific makes test studies from drafts only. Make the test "
            "with a copy of the study folder."
        )
    test_id, url = client.create_test_study(drafted.remote.id)

    def note(tx: Tx) -> None:
        row, name = _row(tx, wanted.name), f"{wanted.name}-test"
        codes = (row.completion_code, row.screenout_code)
        asked = {"test_of": wanted.name, **_if_fixed(wanted)}
        submissions.plan_study(tx, name, f"{row.marker}-test", row.reward, row.places, asked, codes, study.clock())
        submissions.note_study(tx, name, external_id=test_id, state=TEST, asked=asked, reward=row.reward)
        events.record(tx, study.clock(), "recruitment", {"platform": PANEL, "study": wanted.name, "action": "test"})

    study.store.do(note)
    return url


def state_of(remote: RemoteStudy) -> str:
    """The state of a study, from its status on Prolific."""
    return DRAFT if remote.status in UNPUBLISHED else _STATES.get(remote.status, remote.status.lower())


def _row(tx: Tx, name: str) -> PanelStudyRow:
    row = submissions.study_called(tx, name)
    if row is None:
        known = ", ".join(one.name for one in submissions.studies(tx)) or "none yet"
        raise UserError(
            f"No study {name!r} was created on Prolific (created: {known}). Create it with `chorale publish`."
        )
    return row


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
    """The requested settings that can be changed on Prolific."""
    return {
        "name": wanted.title or study.settings.study.title,
        "reward": wanted.reward,
        "estimated_completion_time": wanted.minutes,
        "external_study_url": arrival_url(base_url, study.settings.arrival),
        "total_available_places": wanted.places,
        **({} if wanted.maximum_minutes is None else {"maximum_allowed_time": wanted.maximum_minutes}),
        **_if_fixed(wanted),
    }


def _if_fixed(wanted: ProlificStudy) -> dict[str, Any]:
    """The fixed screen-out payment, stored to interpret submissions later."""
    return {} if wanted.screenout_reward is None else {"screenout_reward": wanted.screenout_reward}


def _made_up(secret: str, name: str, purpose: str) -> str:
    """An unguessable code of letters and digits, the same on every call."""
    return "C" + sha256(f"{secret}:{name}:{purpose}".encode()).hexdigest()[:9].upper()


def _note_draft(
    tx: Tx, study: Study, wanted: ProlificStudy, row: PanelStudyRow, remote: RemoteStudy, asked: Mapping[str, Any]
) -> None:
    """Record a study on Prolific with its current settings. Published values are not changed."""
    changes = {"state": state_of(remote), "asked": asked, "reward": wanted.reward, "places": wanted.places}
    submissions.note_study(tx, wanted.name, external_id=remote.id, **changes)
    if row.external_id is None:
        events.record(tx, study.clock(), "drafted", {"platform": PANEL, "study": wanted.name})


def _note_published(tx: Tx, study: Study, wanted: ProlificStudy, remote: RemoteStudy) -> None:
    row = submissions.study_called(tx, wanted.name)
    asked = {**({} if row is None else row.asked), "total_available_places": max(wanted.places, remote.places)}
    changes = {"state": state_of(remote), "places": remote.places or wanted.places, "asked": asked}
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
            f"Prolific no longer has the study {row.name!r}. Existing work is kept. To recruit again, give it "
            "another name in study.toml and publish that."
        ) from None


def keep_group(
    study: Study, client: Prolific, wanted: ProlificStudy, row: PanelStudyRow, project: str | None
) -> str | None:
    """The allow-list of invited people, created if missing and brought up to date."""
    if wanted.invite is None and wanted.follows is None:
        return None
    group = row.group_id
    if group is None:
        workspace = client.workspace_of(project)
        group = client.group_named(row.marker, workspace) or client.create_group(row.marker, workspace)
        made = group
        study.store.do(lambda tx: submissions.note_study(tx, wanted.name, group_id=made))
    held = study.store.look(lambda tx: _invited(tx, wanted))
    missing = sorted(set(held) - client.group_members(group)) if held else []
    if missing:
        client.add_to_group(group, missing)
    return group


def _invited(tx: Tx, wanted: ProlificStudy) -> list[str]:
    """The Prolific IDs of the people a study is for."""
    if wanted.follows is not None:
        return list(submissions.approved_participants(tx, wanted.follows))
    return list(submissions.qualified_participants(tx, wanted.invite or ""))


def cost_line(drafted: Drafted, wanted: ProlificStudy) -> str:
    """The cost of publishing, for confirmation."""
    places = drafted.adds if drafted.is_published else wanted.places
    more = "more " if drafted.is_published else ""
    lines = []
    if places:
        reward, total = money_text(wanted.reward, drafted.currency), money_text(drafted.cost, drafted.currency)
        each = "" if places == 1 else " each"
        lines.append(f"{plural(places, f'{more}place', f'{more}places')} at {reward}{each}, with fees: {total}")
    slots = drafted.adds_slots if drafted.is_published else _slots(wanted)
    if slots:
        each = money_text(wanted.screenout_reward or 0, drafted.currency)
        total = money_text(drafted.screenout_cost, drafted.currency)
        payments = plural(slots, f"{more}screen-out payment", f"{more}screen-out payments")
        lines.append(f"up to {payments} of {each}, with fees: {total}")
    return "; ".join(lines)
