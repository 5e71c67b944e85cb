"""`chorale evaluate frames`"""

from pathlib import Path
from typing import Annotated, Literal

from chorale.cli.arguments import AsJson
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.scoring import Against, AsLatex, Resamples, Seed, WithIntervals, print_scored
from chorale.cli.targets import Force, check_target, write_text
from chorale.kits.frames.files.frame_qualities import with_qualities
from chorale.kits.frames.files.frame_scores import read_frame_scores
from chorale.kits.frames.scoring.scores import FrameOptions, Named, draw_curves, score_frames
from chorale.metrics.drawing import Drawing
from chorale.model import UserError

System = Annotated[
    Path,
    Argument(
        metavar="PRED",
        help="The system's scores: a row per sentence and frame, or its frame for each sentence.",
        show_default=False,
    ),
]
Gold = Annotated[
    list[Path],
    Argument(
        metavar="GOLD",
        help="The crowd's scores of every candidate frame; several files are one corpus.",
        show_default=False,
    ),
]
TopOnly = Annotated[bool, Option("--top", help="Of PRED, only the frame with the highest score counts, as 1.")]
WithItems = Annotated[bool, Option("--items", help="List sentences, the worst first.")]
Constant = Annotated[
    Literal["zero", "skip"],
    Option(
        "--constant",
        metavar="HOW",
        help="Where all candidates have the same score: τ is zero, or skip the sentence for τ.",
    ),
]
WhichScores = Annotated[
    Literal["final", "initial"],
    Option("--scores", metavar="WHICH", help="The crowd's scores: final, or initial (workers not weighted)."),
]
SentenceColumn = Annotated[
    str | None,
    Option("--sentence", metavar="COLUMN", help="The column of sentence ids, in all files.", show_default=False),
]
FrameColumn = Annotated[
    str | None,
    Option("--frame", metavar="COLUMN", help="The column of frames, in all files.", show_default=False),
]
ScoreColumn = Annotated[
    str | None,
    Option("--score", metavar="COLUMN", help="The column of scores in PRED.", show_default=False),
]
GoldColumn = Annotated[
    str | None,
    Option("--gold-score", metavar="COLUMN", help="The column of scores in GOLD.", show_default=False),
]

Only = Annotated[
    Path | None,
    Option(
        "--only",
        metavar="FILE",
        help="Score only the sentences that this file has too, such as the output of a system that can't name all.",
        show_default=False,
    ),
]
Qualities = Annotated[
    Path | None,
    Option(
        "--sqs",
        metavar="FILE",
        help="How clear the sentences are (the export frames-sqs), for the weighted average, where GOLD does not say.",
        show_default=False,
    ),
]
Curves = Annotated[
    Path | None,
    Option(
        "--curves",
        metavar="FILE",
        help="Draw every sentence's agreement, from the best to the worst, as .svg.",
        show_default=False,
    ),
]
Beside = Annotated[
    list[Path] | None,
    Option("--with", metavar="FILE", help="Another system for the curves; may be repeated.", show_default=False),
]


def frames(
    pred: System,
    gold: Gold,
    top: TopOnly = False,
    scores: WhichScores = "final",
    constant: Constant = "zero",
    sentence: SentenceColumn = None,
    frame: FrameColumn = None,
    score: ScoreColumn = None,
    gold_score: GoldColumn = None,
    items: WithItems = False,
    only: Only = None,
    sqs: Qualities = None,
    curves: Curves = None,
    beside: Beside = None,
    force: Force = False,
    ci: WithIntervals = False,
    against: Against = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Score frame disambiguation against a crowd that may see several frames: Kendall's τ and cosine."""
    if gold_score is not None and scores == "initial":
        raise UserError("--scores initial and --gold-score both choose a column. Leave one of them out.")
    if beside and curves is None:
        raise UserError("--with is for the curves. Say where to draw them with --curves, or leave it out.")
    check_target(curves, "--curves", force=force, endings=(".svg",))

    def read(path: Path) -> Named:
        return Named(str(path), read_frame_scores([path], sentence=sentence, frame=frame, score=score))

    columns = {"sentence": sentence, "frame": frame, "score": score, "gold-score": gold_score}
    named = str(gold[0]) if len(gold) == 1 else f"{len(gold)} files"
    options = FrameOptions(top, constant, scores == "initial", columns)
    only_these = None if only is None else Named(str(only), read_frame_scores([only], sentence=sentence, frame=frame))
    with patiently("resamples") as progress:
        crowd = read_frame_scores(
            gold, sentence=sentence, frame=frame, score=gold_score, initial=scores == "initial", need_scores=True
        )
        crowd = crowd if sqs is None else with_qualities(crowd, sqs)
        scored = score_frames(
            read(pred),
            Named(named, crowd),
            options,
            Drawing(ci, resamples, seed, progress),
            against=None if against is None else read(against),
            with_items=items,
            only=only_these,
        )
    if curves is not None:
        systems = [read(path) for path in dict.fromkeys([pred, *([against] if against else []), *(beside or [])])]
        picture = draw_curves(systems, Named(named, crowd), options, only_these)
        write_text(curves, "--curves", picture)
    print_scored(scored, as_json=as_json, as_latex=as_latex)
