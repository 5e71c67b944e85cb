"""A client for Prolific's API, with one method per request."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

from chorale.model import UserError
from chorale.platforms.prolific.answers import (
    BonusBatch,
    RemoteStudy,
    Reported,
    id_in,
    minor,
    study_in,
    submission_in,
)
from chorale.platforms.prolific.transport import STRANGE, InDoubtError, InvalidIdError, RefusedError, Transport, rows_of

MOST_GROUPS = 1_000
HOOK_SECRET_HEADER = "x-hook-secret"  # noqa: S105 - the name of a header, not what is in it
StudyAction = Literal["PUBLISH", "PAUSE", "START", "STOP"]
_AFTER: Mapping[StudyAction, tuple[str, ...]] = {
    "PUBLISH": ("ACTIVE", "PUBLISHING"),
    "PAUSE": ("PAUSED",),
    "START": ("ACTIVE",),
    "STOP": ("COMPLETED", "AWAITING REVIEW"),
}


class Prolific(Transport):
    """A client for Prolific's API with one token. It makes no decisions."""

    def me(self) -> Mapping[str, Any]:
        """The account the token belongs to."""
        return self.ask("GET", "/users/me/")

    # Studies

    def study(self, study_id: str) -> RemoteStudy:
        return study_in(self.ask("GET", f"/studies/{_safe(study_id)}/"))

    def study_named(self, marker: str) -> RemoteStudy | None:
        """The study with this internal name, if there is one."""
        for study in self.pages("/studies/", {}):
            if study.get("internal_name") == marker:
                return self.study(id_in(study))
        return None

    def create_study(self, body: Mapping[str, Any]) -> RemoteStudy:
        return study_in(self.ask("POST", "/studies/", body, once=True))

    def change_study(self, study_id: str, changes: Mapping[str, Any]) -> RemoteStudy:
        return study_in(self.ask("PATCH", f"/studies/{_safe(study_id)}/", changes))

    def transition(self, study_id: str, action: StudyAction) -> RemoteStudy:
        """Publish, pause, start or stop a study. Requesting the current state changes nothing."""
        try:
            return study_in(self.ask("POST", f"/studies/{_safe(study_id)}/transition/", {"action": action}))
        except RefusedError:
            # The answer to an earlier attempt may have been lost.
            now = self.study(study_id)
            if now.status in _AFTER[action]:
                return now
            raise

    def create_test_study(self, study_id: str) -> tuple[str, str]:
        """Publish a test study from a draft for the workspace's test participants; returns its id and URL."""
        answer = self.ask("POST", f"/studies/{_safe(study_id)}/test-study", {}, once=True)
        return id_in(answer, "study_id"), str(answer.get("study_url") or "")

    def cost_of(self, reward: int, places: int) -> int:
        """The cost of places with fees and taxes, in minor units of the account's currency."""
        body = {"reward": reward, "total_available_places": places}
        cost = minor(self.ask("POST", "/study-cost-calculator/", body).get("total_cost"))
        if cost is None:
            raise InDoubtError(STRANGE)
        return cost

    # Submissions

    def submissions(self, study_id: str) -> Iterator[Reported]:
        for submission in self.pages("/submissions/", {"study": study_id}):
            yield submission_in({**submission, "study_id": submission.get("study_id", study_id)})

    def submission(self, submission_id: str) -> Reported:
        return submission_in(self.ask("GET", f"/submissions/{_safe(submission_id)}/"))

    def approve(self, submission_ids: Sequence[str]) -> None:
        """Approve submissions. Approving again changes nothing."""
        self.ask("POST", "/submissions/bulk-approve/", {"submission_ids": list(submission_ids)})

    def reject(self, submission_id: str, reason: str, category: str) -> None:
        body = {"action": "REJECT", "message": reason, "rejection_category": category}
        self.ask("POST", f"/submissions/{_safe(submission_id)}/transition/", body)

    def unreject(self, submission_id: str) -> None:
        """Withdraw a rejection: the submission awaits review again."""
        self.ask("POST", f"/submissions/{_safe(submission_id)}/transition/", {"action": "UNREJECT"})

    def request_return(self, submission_id: str, reason: str) -> None:
        """Ask a participant to return their submission. They get a message about it."""
        body = {"request_return_reasons": [reason]}
        self.ask("POST", f"/submissions/{_safe(submission_id)}/request-return/", body, once=True)

    # Money

    def set_up_bonuses(self, study_id: str, bonuses: Sequence[tuple[str, int]]) -> BonusBatch:
        """Set up bonuses, by submission and amount in minor units. Nothing is paid yet, so this can be repeated."""
        lines = "\n".join(f"{submission_id},{Decimal(amount) / 100:.2f}" for submission_id, amount in bonuses)
        answer = self.ask("POST", "/submissions/bonus-payments/", {"study_id": study_id, "csv_bonuses": lines})
        return BonusBatch(id_in(answer), minor(answer.get("amount")), minor(answer.get("total_amount")))

    def pay_bonuses(self, bonuses_id: str) -> None:
        """Pay bonuses that were set up. If it is requested twice, Prolific pays twice."""
        self.ask("POST", f"/bulk-bonus-payments/{_safe(bonuses_id)}/pay/", {}, once=True)

    # Workspaces, and people in groups

    def workspace_of(self, project: str | None) -> str:
        """The workspace a project is in; without one, the only workspace of the account."""
        if project is not None:
            workspaces = [self.ask("GET", f"/projects/{_safe(project)}/").get("workspace")]
        else:
            workspaces = [row.get("id") for row in rows_of(self.ask("GET", "/workspaces/"))]
        if len(workspaces) == 1 and isinstance(workspaces[0], str):
            return workspaces[0]
        raise UserError(
            f"The account has {len(workspaces)} workspaces on Prolific. Set `project` in [prolific] to the ID of the "
            "project for new studies."
        )

    def currency_of(self, workspace: str) -> str | None:
        """The currency of all amounts in a workspace; None if Prolific does not report it."""
        code = self.ask("GET", f"/workspaces/{_safe(workspace)}/balance/").get("currency_code")
        return code if isinstance(code, str) and code else None

    def create_group(self, name: str, workspace: str) -> str:
        return id_in(self.ask("POST", "/participant-groups/", {"name": name, "workspace_id": workspace}, once=True))

    def group_named(self, name: str, workspace: str) -> str | None:
        # Groups have a different pagination from everything else.
        for group in self.pages("/participant-groups/", {"workspace_id": workspace, "limit": str(MOST_GROUPS)}):
            if group.get("name") == name:
                return id_in(group)
        return None

    def group_members(self, group_id: str) -> set[str]:
        answer = self.ask("GET", f"/participant-groups/{_safe(group_id)}/participants/")
        return {str(member.get("participant_id", "")) for member in rows_of(answer)}

    def add_to_group(self, group_id: str, participants: Sequence[str]) -> None:
        """Add participants to a group. Adding them again changes nothing."""
        body = {"participant_ids": list(participants)}
        self.ask("POST", f"/participant-groups/{_safe(group_id)}/participants/", body)

    # Messages

    def message(self, participant: str, study_id: str, body: str) -> None:
        self.ask("POST", "/messages/", {"recipient_id": participant, "study_id": study_id, "body": body}, once=True)

    def message_all(self, participants: Sequence[str], study_id: str, body: str) -> None:
        """Send the same message to several participants of a study."""
        self.ask("POST", "/messages/bulk/", {"ids": list(participants), "study_id": study_id, "body": body}, once=True)

    def messages_with(self, participant: str) -> list[str]:
        """All messages to and from a participant that Prolific lists."""
        answer = self.ask("GET", "/messages/", parameters={"user_id": participant})
        return [str(message.get("body", "")) for message in rows_of(answer)]

    # Webhooks

    def hook_secret(self, workspace: str) -> str:
        """The secret with which Prolific signs a workspace's notifications.

        Creating a new one would invalidate the existing one.
        """
        for row in rows_of(self.ask("GET", "/hooks/secrets/", parameters={"workspace_id": workspace})):
            if isinstance(row.get("value"), str) and row["value"]:
                return str(row["value"])
        return id_in(self.ask("POST", "/hooks/secrets/", {"workspace_id": workspace}), "value")

    def subscribe(self, workspace: str, event_type: str, target: str) -> bool:
        """Subscribe an address to events; False if it already is."""
        known = self.ask("GET", "/hooks/subscriptions/", parameters={"workspace_id": workspace})
        if any(row.get("event_type") == event_type and row.get("target_url") == target for row in rows_of(known)):
            return False
        body = {"workspace_id": workspace, "event_type": event_type, "target_url": target}
        response = self.response("POST", "/hooks/subscriptions/", body, once=True)
        answer = self.understood(response)
        # Prolific's guide shows the subscription itself, its reference a list with it.
        made = id_in(answer if "id" in answer or not rows_of(answer) else rows_of(answer)[-1])
        confirmation = {"secret": response.headers.get(HOOK_SECRET_HEADER, "")}
        self.ask("POST", f"/hooks/subscriptions/{_safe(made)}/", confirmation)
        return True


def _safe(name: str) -> str:
    """An id that is safe to use in a URL path."""
    if not name or not all(letter.isalnum() or letter in "-_" for letter in name) or not name.isascii():
        raise InvalidIdError(f"{name[:80]!r} is not a Prolific ID.")
    return name
