"""Baselines that predict frames: the crowd's top frame, frames of WordNet senses, and a trained classifier."""

from chorale.kits.frames.baselines.prediction import FramePrediction, scores_of, top_crowd_frames, write_predictions
from chorale.kits.frames.baselines.senses import SenseChoice, choose_sense, frames_by_sense

__all__ = [
    "FramePrediction",
    "SenseChoice",
    "choose_sense",
    "frames_by_sense",
    "scores_of",
    "top_crowd_frames",
    "write_predictions",
]
