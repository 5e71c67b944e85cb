"""CrowdTruth results of a stage: in the columns of the published corpus, and as one row per sentence."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from chorale.contract.exporting import StageResults, TaskExport
from chorale.kits.frames.task.answers import chosen
from chorale.kits.frames.task.items import NONE, frames_of
from chorale.metrics.aggregation.crowdtruth import CrowdTruth, crowdtruth
from chorale.metrics.judgments import Judgments
from chorale.model import SourceItem, UserError

_NOTHING = 1e-08
"""Value in the corpus for a frame without any agreement."""
_OF_WORKERS = {
    "wqs": "wqs",
    "wwa": "wwa",
    "wsa": "wua",
    "wqs_initial": "wqs_initial",
    "wwa_initial": "wwa_initial",
    "wsa_initial": "wua_initial",
}
"""Columns of the corpus with their names in CrowdTruth, where units are sentences."""


@dataclass(frozen=True, slots=True)
class _StageQualities:
    """Items of a stage with their quality, or None if no item has two annotations yet."""

    items: tuple[SourceItem, ...]
    judgments: Counter[str]
    """Data of each item."""
    by_worker: Counter[str]
    qualities: CrowdTruth | None


def _scored(stage: StageResults) -> _StageQualities:
    items = tuple(stage.items)
    judged = [(item.key, judgment) for item in items for judgment in stage.judgments(item)]
    tasks = [key for key, _ in judged]
    workers = [judgment.worker for _, judgment in judged]
    qualities = None
    if judged:
        labels = [list(chosen(judgment.answer)) for _, judgment in judged]
        with suppress(UserError):
            qualities = crowdtruth(Judgments.from_columns(tasks, workers, labels))
    return _StageQualities(items, Counter(tasks), Counter(workers), qualities)


def _frame_rows(stage: StageResults) -> Iterator[Mapping[str, Any]]:
    scored = _scored(stage)
    if scored.qualities is None:
        return
    final = dict(scored.qualities.unit_annotation_scores())
    initial = dict(scored.qualities.unit_annotation_scores(initial=True))
    for item in scored.items:
        for frame in (*frames_of(item.payload), NONE) if item.key in final else ():
            yield {
                "frame": frame,
                "fss_sent_centric": final[item.key].get(frame, 0.0),
                "fss_sent_centric_initial": initial[item.key].get(frame, 0.0),
                "sent_id": item.key,
                "sentence": item.payload["sentence"],
                "word": item.payload["word"],
            }


def _sentence_rows(stage: StageResults) -> Iterator[Mapping[str, Any]]:
    scored = _scored(stage)
    qualities = scored.qualities
    clear: dict[str, tuple[float, float]] = {}
    fss: dict[str, Mapping[str, float]] = {}
    if qualities is not None:
        both = zip(qualities.uqs.tolist(), qualities.uqs_initial.tolist(), strict=True)
        clear = dict(zip(qualities.units, both, strict=True))
        fss = dict(qualities.unit_annotation_scores())
    for item in scored.items:
        scores = {name: score for name, score in fss.get(item.key, {}).items() if score > 0}
        sqs, sqs_initial = clear.get(item.key, (None, None))
        yield {
            "sent_id": item.key,
            "sentence": item.payload["sentence"],
            "word": item.payload["word"],
            "lemma": item.payload.get("lemma", ""),
            "in_framenet": item.payload.get("in_framenet"),
            "judgments": scored.judgments[item.key],
            "sqs": sqs,
            "sqs_initial": sqs_initial,
            "frames": {name: round(scores[name], 6) for name in sorted(scores, key=lambda each: (-scores[each], each))},
        }


def _worker_rows(stage: StageResults) -> Iterator[Mapping[str, Any]]:
    scored = _scored(stage)
    if scored.qualities is None:
        return
    columns = [getattr(scored.qualities, name).tolist() for name in _OF_WORKERS.values()]
    for worker, *values in zip(scored.qualities.workers, *columns, strict=True):
        judged = scored.by_worker[worker]
        counts = {"duration": stage.seconds(worker), "job": 1, "judgment": judged, "unit": judged}
        yield {"worker": worker, **counts, **dict(zip(_OF_WORKERS, values, strict=True))}


def _frame_quality_rows(stage: StageResults) -> Iterator[Mapping[str, Any]]:
    scored = _scored(stage)
    qualities = scored.qualities
    if qualities is None:
        return
    both = zip(qualities.aqs.tolist(), qualities.aqs_initial.tolist(), strict=True)
    aqs = dict(zip(qualities.annotations, both, strict=True))
    judged = scored.by_worker.total()
    for frame in sorted({frame for item in scored.items for frame in frames_of(item.payload)} | {NONE}):
        final, initial = aqs.get(frame, (_NOTHING, _NOTHING))
        yield {"frame": frame, "output.FrameType": judged, "aqs": final, "aqs_initial": initial}


_CONTENT = {
    "frame": "A candidate frame, or none.",
    "fss_sent_centric": "Share of the sentence's workers who chose the frame, weighted by worker quality (FSS).",
    "fss_sent_centric_initial": "Share of the sentence's workers who chose the frame, before weighting.",
    "sent_id": "Key of the sentence.",
    "word": "The word whose frame was asked for.",
    "lemma": "Lemma of the word.",
    "in_framenet": "Whether FrameNet has the lemma as a lexical unit; empty if unknown.",
    "sqs": "Sentence quality, weighted (SQS); empty with fewer than two annotations.",
    "sqs_initial": "Sentence quality, before weighting.",
    "frames": "Chosen frames with their scores, the best first, as JSON.",
    "duration": "Mean seconds per answer.",
    "job": "Always 1, as in the corpus.",
    "judgment": "Number of sentences that the worker judged.",
    "unit": "The same number as in judgment. The corpus has both columns.",
    "wqs": "Worker quality: the product of wwa and wsa.",
    "wwa": "Agreement with other workers.",
    "wsa": "Agreement with the sentences as annotated by all others.",
    "wqs_initial": "Worker quality, before weighting.",
    "wwa_initial": "Agreement with other workers, before weighting.",
    "wsa_initial": "Agreement with the sentences, before weighting.",
    "output.FrameType": "Number of judgments in the stage, the same in every row.",
    "aqs": "Agreement on the frame, weighted (FQS).",
    "aqs_initial": "Agreement on the frame, before weighting.",
}
"""The content of the columns, for data cards."""
FRAME_TABLE = TaskExport(
    name="frames-fss",
    summary="every sentence and candidate with its frame-sentence score, in the columns of the corpus, as CSV",
    file_name="FSS.csv",
    columns=("frame", "fss_sent_centric", "fss_sent_centric_initial", "sent_id", "sentence", "word"),
    rows=_frame_rows,
    describes=_CONTENT,
)
SENTENCE_TABLE = TaskExport(
    name="frames-sqs",
    summary="every sentence with its quality and the frames chosen for it, as CSV",
    file_name="SQS.csv",
    columns=("sent_id", "sentence", "word", "lemma", "in_framenet", "judgments", "sqs", "sqs_initial", "frames"),
    rows=_sentence_rows,
    describes=_CONTENT,
)
WORKER_TABLE = TaskExport(
    name="frames-wqs",
    summary="every worker's quality, in the columns of the corpus, as CSV",
    file_name="WQS.csv",
    columns=("worker", "duration", "job", "judgment", "unit", *_OF_WORKERS),
    rows=_worker_rows,
    describes=_CONTENT,
)
FRAME_QUALITY_TABLE = TaskExport(
    name="frames-fqs",
    summary="every frame's quality, as CSV",
    file_name="FQS.csv",
    columns=("frame", "output.FrameType", "aqs", "aqs_initial"),
    rows=_frame_quality_rows,
    describes=_CONTENT,
)
