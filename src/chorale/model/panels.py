"""Panels whose links are known: what they call people, studies and visits, and where people go when they are done."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Panel:
    worker_parameter: str
    study_parameter: str
    session_parameter: str
    values: tuple[str, str, str]
    """What to write after each parameter in the link given to the panel, which puts its own values in."""
    completion_url: str | None
    """None where people paste the code, or where the address is another one for every customer."""
    worker_pattern: str = "[A-Za-z0-9_-]{8,64}"
    takes_code: bool = True
    """Whether people can enter the code there by hand."""
    fixed_redirect: bool = False
    """Whether its address for people who have finished is complete as it is, with neither code nor id to fill in."""


PANELS = {
    "prolific": Panel(
        "PROLIFIC_PID",
        "STUDY_ID",
        "SESSION_ID",
        ("{{%PROLIFIC_PID%}}", "{{%STUDY_ID%}}", "{{%SESSION_ID%}}"),
        "https://app.prolific.com/submissions/complete?cc={code}",
    ),
    "connect": Panel(
        "participantId",
        "projectId",
        "assignmentId",
        # Connect adds its parameters by itself.
        ("", "", ""),
        None,
        fixed_redirect=True,
    ),
    # Credit is given by the address alone.
    "sona": Panel("sona_id", "experiment_id", "visit", ("%SURVEY_CODE%", "", ""), None, "[A-Za-z0-9_-]{1,64}", False),
    "besample": Panel("participant_id", "assignment_id", "response_id", ("", "", ""), None, "[A-Za-z0-9_-]{1,64}"),
    "respondent": Panel(
        "respondent_user_id",
        "respondent_project_id",
        "respondent_screener_response_id",
        ("", "", ""),
        None,
        fixed_redirect=True,
    ),
}
