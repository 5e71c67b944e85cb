"""Known recruitment platforms: their URL parameters for people, studies and visits, and their return addresses."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Panel:
    worker_parameter: str
    study_parameter: str
    session_parameter: str
    values: tuple[str, str, str]
    """The platform's placeholder for each parameter in the study's link."""
    completion_url: str | None
    """None if people paste the code, or if the address differs for every customer."""
    worker_pattern: str = "[A-Za-z0-9_-]{8,64}"
    takes_code: bool = True
    """Whether people can enter the code on the platform by hand."""
    fixed_redirect: bool = False
    """Whether its return address is complete, without a code or ID to fill in."""


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
        # Connect adds its parameters automatically.
        ("", "", ""),
        None,
        fixed_redirect=True,
    ),
    # Opening the address grants the credit.
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
