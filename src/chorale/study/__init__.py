"""The shell: load, decide, append, one transaction each."""

from chorale.study.clock import Clock, fast_clock, wall_clock
from chorale.study.folder import StudyFolder, check_folder, load_folder
from chorale.study.opening import open_study
from chorale.study.running import RunningStage, Study

__all__ = [
    "Clock",
    "RunningStage",
    "Study",
    "StudyFolder",
    "check_folder",
    "fast_clock",
    "load_folder",
    "open_study",
    "wall_clock",
]
