"""Check the planned comparisons of arms."""

from collections.abc import Iterable, Sequence

from chorale.contract import Task
from chorale.folder.checking.report import CheckReport, did_you_mean
from chorale.folder.checking.stage_files import StageFiles
from chorale.model import StudySettings

OF_EVERY_STUDY = {
    "retained": "share of people who reached the last stage of their arm without being removed",
    "grade": "mean grade in the last graded stage of an arm",
    "gold": "accuracy on gold",
}


def comparable(tasks: Iterable[Task]) -> dict[str, str]:
    """The outcomes by which arms can be compared in a study with these tasks, with descriptions."""
    exports = (export for task in tasks for export in task.exports if export.by_arm is not None)
    of_tasks = (measure for export in exports if export.by_arm for measure in export.by_arm.measures)
    return OF_EVERY_STUDY | {measure.name: measure.words for measure in of_tasks}


def check_analysis(settings: StudySettings, contents: Sequence[StageFiles], report: CheckReport) -> None:
    plan = settings.analysis
    if plan is None:
        return
    if settings.arms is None:
        report.setting(("analysis",), "there are no arms to compare", "Name them in `[arms]`, or leave this out.", None)
        return
    known = comparable(content.task for content in contents if content.task is not None)
    for number, planned in enumerate(plan.planned):
        at: tuple[str | int, ...] = ("analysis", "secondary", number - 1) if number else ("analysis", "primary")
        if planned.outcome not in known:
            fix = did_you_mean(planned.outcome, known)
            report.setting(
                (*at, "outcome"), "there is no such outcome in this study", fix, planned.outcome, missing=True
            )
        if planned.against is not None and planned.against not in settings.arms.names:
            fix = did_you_mean(planned.against, settings.arms.names)
            report.setting((*at, "against"), "there is no such arm", fix, planned.against, missing=True)
    names = [planned.outcome for planned in plan.planned]
    if len(set(names)) < len(names):
        report.setting(("analysis", "secondary"), "an outcome is planned twice", "Name every outcome once.", None)
