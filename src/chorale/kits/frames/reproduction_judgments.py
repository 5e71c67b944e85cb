"""Sentence quality (SQS) and raw judgments of the corpus, from a clone of its repository."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chorale.files.source import refused
from chorale.kits.frames.files.reading import RowReading, number_of, text_of
from chorale.kits.frames.files.scores import fold
from chorale.metrics.aggregation.crowdtruth import CrowdTruth, crowdtruth
from chorale.metrics.judgments import Judgments

_SENTENCE = ("sent_id", "input.vid", "vid")
_QUALITY = ("sqs", "uqs")
"""Published quality files use the first name, and CrowdTruth's unit tables the second."""
_NEEDED = ("WorkerId", "Input.vid", "Answer.FrameType")
_NOT_ANY = "none of the above."


@dataclass(frozen=True, slots=True)
class RawJudgments:
    """The rows of Mechanical Turk's batch files."""

    sentences: Sequence[str]
    workers: Sequence[str]
    frames: Sequence[list[str]]
    rewards: Sequence[float]
    """Pay in dollars, for rows that have it."""

    def __len__(self) -> int:
        return len(self.sentences)

    def of(self, sentences: Iterable[str]) -> "RawJudgments":
        """The judgments of these sentences."""
        wanted = frozenset(sentences)
        kept = [index for index, sentence in enumerate(self.sentences) if sentence in wanted]
        names, workers = ([column[index] for index in kept] for column in (self.sentences, self.workers))
        return RawJudgments(names, workers, [self.frames[index] for index in kept], self.rewards)

    def qualities(self) -> CrowdTruth:
        return crowdtruth(Judgments.from_columns(self.sentences, self.workers, self.frames))


def read_qualities(path: Path) -> dict[str, float]:
    """Reads the quality of each sentence from a published SQS file."""
    reading = RowReading()
    qualities: dict[str, float] = {}
    for row in reading.rows(path):
        name, quality = (next((key for key in keys if key in row.values), None) for keys in (_SENTENCE, _QUALITY))
        if name is None or quality is None:
            lacking = "sentence (sent_id)" if name is None else "quality (sqs)"
            columns = f"the columns {', '.join(row.values)[:200]}"
            raise refused(path, 1, f"has no column of the {lacking}", "Use the repository's own file", columns)
        value = number_of(row.values[quality])
        if value is None or not text_of(row.values[name]):
            message = f"has no sentence in {name!r}, or no number in {quality!r}"
            reading.report(path, row.line, message, "Use the repository's own file.")
        else:
            qualities[text_of(row.values[name])] = value
    reading.check(f"{path} can't be used")
    return qualities


def read_raw(paths: Sequence[Path]) -> RawJudgments:
    """All judgments of the batch files."""
    reading = RowReading()
    sentences: list[str] = []
    workers: list[str] = []
    frames: list[list[str]] = []
    rewards: list[float] = []
    for path in paths:
        for row in reading.rows(path):
            if lacking := [name for name in _NEEDED if name not in row.values]:
                columns = f"the columns {', '.join(row.values)[:200]}"
                raise refused(path, 1, f"has no column {lacking[0]!r}", "Use the repository's own file", columns)
            worker, sentence, answer = (text_of(row.values[name]) for name in _NEEDED)
            if not worker or not sentence:
                reading.report(path, row.line, "has no WorkerId or no Input.vid", "Use the repository's own file.")
                continue
            workers.append(worker)
            sentences.append(sentence)
            frames.append([_frame(each) for each in answer.split("|") if each.strip()])
            reward = number_of(str(row.values.get("Reward", "")).lstrip("$"))
            rewards += [] if reward is None else [reward]
    reading.check("The raw judgments can't be used")
    return RawJudgments(sentences, workers, frames, rewards)


def largest_difference(ours: Mapping[str, Mapping[str, float]], published: Mapping[str, Mapping[str, float]]) -> float:
    """Maximum difference between two tables of frame-sentence scores, over the published sentences and frames."""
    return max(
        abs(score - ours.get(sentence, {}).get(frame, 0.0))
        for sentence, frames in published.items()
        for frame, score in frames.items()
    )


def _frame(answer: str) -> str:
    return "none" if answer.strip().casefold() == _NOT_ANY else fold(answer)
