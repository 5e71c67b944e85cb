"""The frames family of metrics: files in, a score out, for the command and for Python alike."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from chorale.files.targets import check_target, write_text
from chorale.kits.frames.files.scores import FrameScores, read_frame_scores, sentence_of, with_qualities
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
    Argument(metavar="PRED", help="The system's scores: a row per sentence and frame, or its frame for each sentence."),
]
Gold = Annotated[
    File | Sequence[File],
    Argument(metavar="GOLD", help="The crowd's scores of every candidate frame; several files are one corpus."),
]
HowConstant = Annotated[
    Constant,
    Option(
        metavar="HOW", help="For sentences whose candidates all have the same score: τ is zero, or skip the sentence."
    ),
]
WhichScores = Annotated[
    Literal["final", "initial"],
    Option(metavar="WHICH", help="The crowd's scores: final, or initial (workers not weighted)."),
]
Only = Annotated[
    File | None,
    Option(help="Score only sentences that this file also has, e.g. the output of a system that does not cover all."),
]
Qualities = Annotated[
    File | None,
    Option(
        "--sqs",
        help="Clarity of sentences (the export frames-sqs) for the weighted average, if GOLD has none.",
    ),
]
Curves = Annotated[File | None, Option(help="Write a chart of every sentence's agreement, best to worst, as .svg.")]


def score(
    system: System,
    gold: Gold,
    *,
    top: Annotated[bool, Option(help="Use only the highest-scored frame of PRED, with score 1.")] = False,
    scores: WhichScores = "final",
    constant: HowConstant = "zero",
    sentence: Annotated[str | None, Option(metavar="COLUMN", help="The column of sentence ids, in all files.")] = None,
    frame: Annotated[str | None, Option(metavar="COLUMN", help="The column of frames, in all files.")] = None,
    score: Annotated[str | None, Option(metavar="COLUMN", help="The column of scores in PRED.")] = None,
    gold_score: Annotated[str | None, Option(metavar="COLUMN", help="The column of scores in GOLD.")] = None,
    items: Annotated[bool, Option(help="List sentences, the worst first.")] = False,
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
    """Frame disambiguation against a crowd that may see several frames: Kendall's τ and cosine.

    `gold` is one file or several that are one corpus. `curves` names an SVG file to draw every sentence's agreement
    in, with the systems of `beside` as well.
    """
    picture = None if curves is None else path_of(curves)
    check_target(picture, "--curves", force=force, endings=(".svg",))
    if gold_score is not None and scores == "initial":
        raise UserError("--scores initial and --gold-score both choose a column. Leave one of them out.")
    if beside and curves is None:
        raise UserError("--with is for the curves. Say where to draw them with --curves, or leave it out.")

    def named(path: Path, column: str | None = score) -> Named:
        return Named(str(path), read_frame_scores([path], sentence=sentence, frame=frame, score=column))

    golds = paths_of(gold)
    columns = {"sentence": sentence, "frame": frame, "score": score, "gold-score": gold_score}
    options = FrameScoreOptions(top, constant, scores == "initial", columns)
    only_these = None if only is None else named(path_of(only), None)
    crowd = read_frame_scores(
        golds, sentence=sentence, frame=frame, score=gold_score, initial=scores == "initial", need_scores=True
    )
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


def _clusters(golds: Sequence[Path], cluster: Sequence[str], sentence: str | None) -> Clusters | None:
    """Sentences that belong together, by columns of the crowd's files."""
    named = Clusters.named(cluster)
    return Clusters.chosen(named, table_columns(golds, named, partial(sentence_of, sentence))) if named else None


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
