"""The platform study of a worker, and its purpose."""

from chorale.engine.running import Study
from chorale.model import ProlificStudy
from chorale.store import Tx, submissions
from chorale.store.submissions import PanelStudyRow, SubmissionRow


def current(tx: Tx, worker_id: int) -> tuple[PanelStudyRow, SubmissionRow] | None:
    """A worker's current study on Prolific and their submission; None if they did not come from Prolific."""
    for submission in submissions.submissions_of(tx, worker_id):
        row = submissions.study_called(tx, submission.panel_study)
        if row is not None:
            return row, submission
    return None


def stages_of(tx: Tx, study: Study, name: str) -> frozenset[str] | None:
    """The stages a study on Prolific is for; None for all."""
    wanted = in_study_file(tx, study, name)
    return frozenset(wanted.stages) if wanted is not None and wanted.stages else None


def screenout_of(tx: Tx, study: Study, name: str) -> str:
    """The payment rule for people screened out of a study on Prolific."""
    wanted = in_study_file(tx, study, name)
    return "approve" if wanted is None else wanted.screenout


def in_study_file(tx: Tx, study: Study, name: str) -> ProlificStudy | None:
    """The study file's settings of a study on Prolific, or of the study it is a test of."""
    rule, row = study.settings.prolific, submissions.study_called(tx, name)
    meant = name if row is None else row.asked.get("test_of", name)
    return next((one for one in rule.study if one.name == meant), None) if rule is not None else None


def counts_from(tx: Tx, submission: SubmissionRow) -> int:
    """The time from which work counts for a submission.

    This is the worker's arrival with it, or 0 if they did not arrive earlier with another submission to the same study.
    Earlier submissions that were returned or timed out are ignored.
    """
    if submission.worker_id is None or submission.arrived_at is None:
        return 0
    earlier = any(
        other.panel_study == submission.panel_study
        and other.arrived_at is not None
        and other.arrived_at < submission.arrived_at
        # People who returned their submission and come back continue where they stopped.
        and other.status not in ("RETURNED", "TIMED-OUT")
        for other in submissions.submissions_of(tx, submission.worker_id)
    )
    return submission.arrived_at if earlier else 0
