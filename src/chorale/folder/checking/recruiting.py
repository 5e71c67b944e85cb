"""Whether the studies that are asked of Prolific fit the study: their stages, and whom they invite."""

from chorale.folder.checking.protocols import granted
from chorale.folder.checking.report import CheckReport, did_you_mean
from chorale.model import StudySettings


def check_recruiting(settings: StudySettings, report: CheckReport) -> None:
    if settings.prolific is None:
        return
    stages, known = [stage.name for stage in settings.stage], granted(settings)
    for index, wanted in enumerate(settings.prolific.study):
        at = ("prolific", "study", index)
        for name in wanted.stages:
            if name not in stages:
                report.setting((*at, "stages"), "there is no such stage", did_you_mean(name, stages), name)
        if wanted.invite is not None and wanted.invite not in known:
            fix = did_you_mean(wanted.invite, known)
            report.setting((*at, "invite"), "no gate gives this qualification", fix, wanted.invite)
