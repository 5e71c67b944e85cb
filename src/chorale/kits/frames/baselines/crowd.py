"""TC: the frame that most of the crowd chose, and no other. What a system that names one frame can reach at best."""

from chorale.kits.frames.baselines.prediction import FramePrediction
from chorale.kits.frames.files.scores import FrameScores


def top_crowd_frames(crowd: FrameScores) -> list[FramePrediction]:
    """For every sentence the frame with the highest score; of several, the one that sorts first.

    >>> crowd = FrameScores.from_columns(["s", "s", "t"], ["Motion", "Travel", "Motion"], [0.2, 0.9, 0.0])
    >>> [(one.sentence, dict(one.frames)) for one in top_crowd_frames(crowd)]
    [('s', {'travel': 1.0}), ('t', {})]
    """
    best: dict[int, tuple[float, int]] = {}
    for sentence, frame, score in zip(crowd.sentence.tolist(), crowd.frame.tolist(), crowd.score.tolist(), strict=True):
        if score > best.get(sentence, (0.0, 0))[0]:
            best[sentence] = (score, frame)
    return [
        FramePrediction(name, {crowd.frames[best[place][1]]: 1.0} if place in best else {})
        for place, name in enumerate(crowd.sentences)
    ]
