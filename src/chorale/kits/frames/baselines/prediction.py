"""A system's prediction for a word in a sentence."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from chorale.files.tables import write_csv, write_jsonl, write_tsv
from chorale.kits.frames.files.scores import FrameScores, fold

COLUMNS = ("sent_id", "frame", "score")


@dataclass(frozen=True, slots=True)
class FramePrediction:
    """The predicted frames of a word in a sentence, each with a score. Empty for sentences without a prediction."""

    sentence: str
    frames: Mapping[str, float]


def write_predictions(predictions: Iterable[FramePrediction], path: Path) -> None:
    """Writes one row per sentence and frame for `chorale evaluate frames`, as .csv, .tsv or .jsonl."""
    rows = (
        {"sent_id": prediction.sentence, "frame": fold(frame), "score": score}
        for prediction in predictions
        for frame, score in sorted(prediction.frames.items())
    )
    if path.suffix.lower() == ".jsonl":
        write_jsonl(rows, path)
    elif path.suffix.lower() == ".tsv":
        write_tsv(COLUMNS, rows, path)
    else:
        write_csv(COLUMNS, rows, path)


def scores_of(predictions: Iterable[FramePrediction]) -> FrameScores:
    """The predictions in the format of the metrics, without writing a file."""
    rows = [(one.sentence, frame, score) for one in predictions for frame, score in one.frames.items()]
    return FrameScores.from_columns(
        [sentence for sentence, _, _ in rows], [frame for _, frame, _ in rows], [score for _, _, score in rows]
    )


def top_crowd_frames(crowd: FrameScores) -> list[FramePrediction]:
    """TC: only the frame with the crowd's highest score; for ties, the first in alphabetical order.

    This is the upper bound for systems that predict a single frame.

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
