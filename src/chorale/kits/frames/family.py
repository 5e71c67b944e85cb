"""The frames family of metrics: reads files and computes scores, for the command line and for Python."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from chorale.files.targets import check_target, write_text
from chorale.kits.frames.files.scores import GOLD_OPTIONS, FrameScores, read_frame_scores, sentence_of, with_qualities
from chorale.kits.frames.metrics.agreement import Constant, frame_agreement
from chorale.kits.frames.scoring.scores import FrameScoreOptions, Named, draw_curves, score_frames
from chorale.metrics import Clusters
from chorale.metrics.family import Family, Measured, path_of, paths_of
from chorale.metrics.options import Against, Cluster, File, Force, Resamples, Seed, WithIntervals
from chorale.metrics.reading.cluster_columns import table_columns
from chorale.metrics.resampling import checked_resampling
from chorale.metrics.sampling import Progress
from chorale.metrics.score import Score
from chorale.model import UserError
from chorale.registry.options import Argument, Option

System = Annotated[
    File,
    Argument(
        metavar="PRED", help="System output: one row per sentence and frame with a score, or one frame per sentence."
    ),
]
Gold = Annotated[
    File | Sequence[File],
    Argument(metavar="GOLD", help="The crowd's score for every candidate frame. Several files form one corpus."),
]
HowConstant = Annotated[
    Constant,
    Option(
        metavar="HOW",
        help="For sentences whose candidates all have the same score: zero (τ is 0) or skip (no τ).",
    ),
]
WhichScores = Annotated[
    Literal["final", "initial"],
    Option(metavar="WHICH", help="Which crowd scores to use: final, or initial (workers not weighted)."),
]
Only = Annotated[
    File | None,
    Option(help="Score only sentences that are also in this file, e.g. the output of a system that covers only some."),
]
Qualities = Annotated[
    File | None,
    Option(
        "--sqs",
        help="File with sentence quality (the export frames-sqs) for the weighted average, if GOLD has none.",
    ),
]
Curves = Annotated[
    File | None, Option(help="Write a chart of the agreement of every sentence, best to worst, as .svg.")
]


def score(
    system: System,
    gold: Gold,
    *,
    top: Annotated[bool, Option(help="Use only the highest-scored frame of PRED, with score 1.")] = False,
    scores: WhichScores = "final",
    constant: HowConstant = "zero",
    sentence: Annotated[str | None, Option(metavar="COLUMN", help="Column of sentence IDs in all files.")] = None,
    frame: Annotated[str | None, Option(metavar="COLUMN", help="Column of frames in all files.")] = None,
    score: Annotated[str | None, Option(metavar="COLUMN", help="Column of scores in PRED.")] = None,
    gold_score: Annotated[str | None, Option(metavar="COLUMN", help="Column of scores in GOLD.")] = None,
    items: Annotated[bool, Option(help="List sentences, worst first.")] = False,
    only: Only = None,
    sqs: Qualities = None,
    curves: Curves = None,
    beside: Annotated[Sequence[File], Option("--with", help="Another system for the curves. Repeatable.")] = (),
    force: Force = True,
    ci: WithIntervals = True,
    cluster: Cluster = (),
    against: Against = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    progress: Progress | None = None,
) -> Score:
    """Frame disambiguation against crowd annotations with several frames per word: Kendall's τ and cosine.

    `gold` is one file or several files that form one corpus. `curves` is an SVG file for a chart of the agreement of
    every sentence, including the systems in `beside`.
    """
    picture = None if curves is None else path_of(curves)
    check_target(picture, "--curves", force=force, endings=(".svg",))
    if gold_score is not None and scores == "initial":
        raise UserError("--scores initial and --gold-score both select a column. Use only one of them.")
    if beside and curves is None:
        raise UserError("--with requires --curves. Set --curves to an .svg file, or omit --with.")

    def named(path: Path, column: str | None = score) -> Named:
        return Named(str(path), read_frame_scores([path], sentence=sentence, frame=frame, score=column))

    golds = paths_of(gold)
    columns = {"sentence": sentence, "frame": frame, "score": score, "gold-score": gold_score}
    options = FrameScoreOptions(top, constant, scores == "initial", columns)
    only_these = None if only is None else named(path_of(only), None)
    crowd = _crowd(golds, sentence, frame, gold_score, initial=scores == "initial")
    crowd = crowd if sqs is None else with_qualities(crowd, path_of(sqs))
    reference = Named(str(golds[0]) if len(golds) == 1 else f"{len(golds)} files", crowd)
    rival = None if against is None else named(path_of(against))
    resampling = checked_resampling(ci, resamples, seed, progress, _clusters(golds, cluster, sentence))
    scored = score_frames(
        named(path_of(system)), reference, options, resampling, against=rival, with_items=items, only=only_these
    )
    if picture is not None:
        others = [system, *([against] if against else []), *beside]
        drawn = [named(path) for path in dict.fromkeys(map(path_of, others))]
        write_text(picture, "--curves", draw_curves(drawn, reference, options, only_these))
    return scored


def _crowd(
    paths: Sequence[Path], sentence: str | None, frame: str | None, score: str | None, *, initial: bool
) -> FrameScores:
    """The crowd's scores, which are required."""
    return read_frame_scores(
        paths, sentence=sentence, frame=frame, score=score, initial=initial, need_scores=True, options=GOLD_OPTIONS
    )


def _clusters(golds: Sequence[Path], cluster: Sequence[str], sentence: str | None) -> Clusters | None:
    """Clusters of sentences, from columns of the crowd's files."""
    named = Clusters.named(cluster)
    return Clusters.chosen(named, table_columns(golds, named, partial(sentence_of, sentence))) if named else None


def read(path: File) -> FrameScores:
    """Reads frame scores, one row per sentence and frame."""
    return read_frame_scores([path_of(path)])


def measure(system: FrameScores, gold: FrameScores, *, top: bool = False, constant: Constant = "zero") -> Measured:
    """One row per sentence, with τ and cosine over all sentences."""
    agreement = frame_agreement(gold, system, top=top, constant=constant)
    return agreement.statistics(), agreement.metric()


FAMILY = Family(
    "frames",
    "Frame disambiguation against crowd annotations with several frames per word: Kendall's τ and cosine.",
    read,
    measure,
    score,
)
