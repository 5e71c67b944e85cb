"""The actions of a running study. Each is one transaction: load, decide, append."""

from chorale.engine.clock import Clock, wall_clock
from chorale.engine.opening import open_study
from chorale.engine.running import RunningStage, Study
from chorale.folder.reading import StudyFolder, check_folder, load_folder

__all__ = [
    "Clock",
    "RunningStage",
    "Study",
    "StudyFolder",
    "check_folder",
    "load_folder",
    "open_study",
    "wall_clock",
]
