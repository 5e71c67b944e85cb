"""Columns of Mechanical Turk's batch file of results."""

from datetime import UTC, datetime

BATCH_COLUMNS = (
    *("HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime", "MaxAssignments"),
    *("RequesterAnnotation", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "Expiration"),
    *("NumberOfSimilarHITs", "LifetimeInSeconds", "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime"),
    *("SubmitTime", "AutoApprovalTime", "ApprovalTime", "RejectionTime", "RequesterFeedback", "WorkTimeInSeconds"),
    *("LifetimeApprovalRate", "Last30DaysApprovalRate", "Last7DaysApprovalRate"),
)
"""Columns before the `Input.` and `Answer.` columns."""
LAST_COLUMNS = ("Approve", "Reject")
"""Empty columns after them, to be filled in by reviewers."""


def batch_time(moment: int | None) -> str:
    """A time in milliseconds in the format of batch files.

    >>> batch_time(1_506_084_055_000), batch_time(None)
    ('Fri Sep 22 12:40:55 UTC 2017', '')
    """
    return "" if moment is None else datetime.fromtimestamp(moment / 1000, UTC).strftime("%a %b %d %H:%M:%S UTC %Y")


def approval_rate(approved: int, of: int) -> str:
    """The approval rate of a worker.

    >>> approval_rate(13, 13), approval_rate(0, 0)
    ('100% (13/13)', '0% (0/0)')
    """
    return f"{round(100 * approved / of) if of else 0}% ({approved}/{of})"
