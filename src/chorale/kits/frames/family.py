"""The frames family of metrics: files in, a score out, for the command and for Python alike."""

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Literal

from chorale.files.tables import replacing
from chorale.kits.frames.files.scores import FrameScores, read_frame_scores, with_qualities
from chorale.kits.frames.metrics.agreement import Constant, frame_agreement
from chorale.kits.frames.scoring.scores import FrameOptions, Named, draw_curves, score_frames
from chorale.metrics.family import Family, Measured, path_of, paths_of
from chorale.metrics.resampling import checked_resampling
from chorale.metrics.sampling import Progress
from chorale.metrics.score import Score
from chorale.model import UserError

File = str | PathLike[str]


def score(
    system: File,
    gold: File | Sequence[File],
    *,
    top: bool = False,
    scores: Literal["final", "initial"] = "final",
    constant: Constant = "zero",
    sentence: str | None = None,
    frame: str | None = None,
    score: str | None = None,
    gold_score: str | None = None,
    items: bool = False,
    only: File | None = None,
    sqs: File | None = None,
    curves: File | None = None,
    beside: Sequence[File] = (),
    against: File | None = None,
    ci: bool = True,
    resamples: int = 1000,
    seed: int = 1,
    progress: Progress | None = None,
) -> Score:
    """Frame disambiguation against a crowd that may see several frames: Kendall's τ and cosine.

    `gold` is one file or several that are one corpus. `curves` names an SVG file to draw every sentence's agreement
    in, with the systems of `beside` as well.
    """
    if gold_score is not None and scores == "initial":
        raise UserError("--scores initial and --gold-score both choose a column. Leave one of them out.")
    if beside and curves is None:
        raise UserError("--with is for the curves. Say where to draw them with --curves, or leave it out.")

    def named(path: Path, column: str | None = score) -> Named:
        return Named(str(path), read_frame_scores([path], sentence=sentence, frame=frame, score=column))

    golds = paths_of(gold)
    columns = {"sentence": sentence, "frame": frame, "score": score, "gold-score": gold_score}
    options = FrameOptions(top, constant, scores == "initial", columns)
    only_these = None if only is None else named(path_of(only), None)
    crowd = read_frame_scores(
        golds, sentence=sentence, frame=frame, score=gold_score, initial=scores == "initial", need_scores=True
    )
    crowd = crowd if sqs is None else with_qualities(crowd, path_of(sqs))
    reference = Named(str(golds[0]) if len(golds) == 1 else f"{len(golds)} files", crowd)
    rival = None if against is None else named(path_of(against))
    resampling = replace(checked_resampling(ci, resamples, seed), progress=progress)
    scored = score_frames(
        named(path_of(system)), reference, options, resampling, against=rival, with_items=items, only=only_these
    )
    if curves is not None:
        others = [system, *([against] if against else []), *beside]
        drawn = [named(path) for path in dict.fromkeys(map(path_of, others))]
        picture = draw_curves(drawn, reference, options, only_these)
        with replacing(path_of(curves)) as draft:
            draft.write_text(picture, "utf-8", errors="replace")
    return scored


def read(path: File) -> FrameScores:
    """Scores of frames, a row per sentence and frame."""
    return read_frame_scores([path_of(path)])


def measure(system: FrameScores, gold: FrameScores, *, top: bool = False, constant: Constant = "zero") -> Measured:
    """A row for every sentence, and τ and cosine over them."""
    agreement = frame_agreement(gold, system, top=top, constant=constant)
    return agreement.statistics(), agreement.metric()


FAMILY = Family(
    "frames",
    "Frame disambiguation against a crowd that may see several frames: Kendall's τ and cosine.",
    read,
    measure,
    score,
)
