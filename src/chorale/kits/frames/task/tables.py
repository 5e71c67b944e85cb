"""What a stage came to, by CrowdTruth: in the columns of the published corpus, and one row a sentence."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chorale.contract.exporting import StageResults, TaskExport
from chorale.kits.frames.task.items import NONE, frames_of
from chorale.metrics.aggregation.crowdtruth import CrowdTruth, crowdtruth
from chorale.metrics.judgments import Judgments
from chorale.model import SourceItem, UserError

_NOTHING = 1e-08
"""What the corpus has for a frame that nobody agrees on."""


@dataclass(frozen=True, slots=True)
class _Scored:
    """A stage's items and their qualities; None where no two people have judged one item yet."""

    items: tuple[SourceItem, ...]
    judgments: Mapping[str, int]
    """Of each item."""
    by_worker: Mapping[str, int]
    qualities: CrowdTruth | None


def _scored(stage: StageResults) -> _Scored:
    tasks: list[str] = []
    workers: list[str] = []
    labels: list[list[str]] = []
    counts: dict[str, int] = {}
    by_worker: dict[str, int] = {}
    items = tuple(stage.items)
    for item in items:
        judgments = stage.judgments(item)
        counts[item.key] = len(judgments)
        for judgment in judgments:
            tasks.append(item.key)
            workers.append(judgment.worker)
            labels.append(list(judgment.answer))
            by_worker[judgment.worker] = by_worker.get(judgment.worker, 0) + 1
    return _Scored(items, counts, by_worker, _qualities(tasks, workers, labels))


def _qualities(tasks: list[str], workers: list[str], labels: list[list[str]]) -> CrowdTruth | None:
    if not tasks:
        return None
    try:
        return crowdtruth(Judgments.from_columns(tasks, workers, labels))
    except UserError:
        return None


def _frame_rows(stage: StageResults) -> Iterator[Mapping[str, Any]]:
    scored = _scored(stage)
    if scored.qualities is None:
        return
    final = dict(scored.qualities.unit_annotation_scores())
    initial = dict(scored.qualities.unit_annotation_scores(initial=True))
    for item in scored.items:
        if item.key not in final:
            continue
        for frame in (*frames_of(item.payload), NONE):
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
    sqs = {} if qualities is None else dict(zip(qualities.units, qualities.uqs.tolist(), strict=True))
    at_first = {} if qualities is None else dict(zip(qualities.units, qualities.uqs_initial.tolist(), strict=True))
    fss = {} if qualities is None else dict(qualities.unit_annotation_scores())
    for item in scored.items:
        scores = {name: score for name, score in fss.get(item.key, {}).items() if score > 0}
        ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
        yield {
            "sent_id": item.key,
            "sentence": item.payload["sentence"],
            "word": item.payload["word"],
            "lemma": item.payload.get("lemma", ""),
            "in_framenet": item.payload.get("in_framenet"),
            "judgments": scored.judgments[item.key],
            "sqs": sqs.get(item.key),
            "sqs_initial": at_first.get(item.key),
            "frames": {name: round(score, 6) for name, score in ranked},
        }


def _worker_rows(stage: StageResults) -> Iterator[Mapping[str, Any]]:
    scored = _scored(stage)
    crowdtruth = scored.qualities
    if crowdtruth is None:
        return
    names = ("wqs", "wwa", "wua", "wqs_initial", "wwa_initial", "wua_initial")
    columns = [getattr(crowdtruth, name).tolist() for name in names]
    for worker, *values in zip(crowdtruth.workers, *columns, strict=True):
        qualities = {name.replace("wua", "wsa"): value for name, value in zip(names, values, strict=True)}
        judged = scored.by_worker[worker]
        counts = {"duration": stage.seconds(worker), "job": 1, "judgment": judged, "unit": judged}
        yield {"worker": worker, **counts, **qualities}


def _frame_quality_rows(stage: StageResults) -> Iterator[Mapping[str, Any]]:
    scored = _scored(stage)
    qualities = scored.qualities
    if qualities is None:
        return
    aqs = dict(
        zip(
            qualities.annotations, zip(qualities.aqs.tolist(), qualities.aqs_initial.tolist(), strict=True), strict=True
        )
    )
    judged = sum(scored.by_worker.values())
    shown = sorted({frame for item in scored.items for frame in frames_of(item.payload)} | {NONE})
    for frame in shown:
        final, initial = aqs.get(frame, (_NOTHING, _NOTHING))
        yield {"frame": frame, "output.FrameType": judged, "aqs": final, "aqs_initial": initial}


FRAME_TABLE = TaskExport(
    name="frames-fss",
    summary="every sentence and candidate with its frame-sentence score, in the corpus's own columns, as CSV",
    file_name="FSS.csv",
    columns=("frame", "fss_sent_centric", "fss_sent_centric_initial", "sent_id", "sentence", "word"),
    rows=_frame_rows,
)
SENTENCE_TABLE = TaskExport(
    name="frames-sqs",
    summary="every sentence with its quality and the frames that anybody chose, as CSV",
    file_name="SQS.csv",
    columns=("sent_id", "sentence", "word", "lemma", "in_framenet", "judgments", "sqs", "sqs_initial", "frames"),
    rows=_sentence_rows,
)
WORKER_TABLE = TaskExport(
    name="frames-wqs",
    summary="every worker's quality, in the corpus's own columns, as CSV",
    file_name="WQS.csv",
    columns=(
        "worker",
        "duration",
        "job",
        "judgment",
        "unit",
        "wqs",
        "wwa",
        "wsa",
        "wqs_initial",
        "wwa_initial",
        "wsa_initial",
    ),
    rows=_worker_rows,
)
FRAME_QUALITY_TABLE = TaskExport(
    name="frames-fqs",
    summary="every frame's quality, as CSV",
    file_name="FQS.csv",
    columns=("frame", "output.FrameType", "aqs", "aqs_initial"),
    rows=_frame_quality_rows,
)
