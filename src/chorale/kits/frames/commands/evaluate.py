"""`chorale evaluate frames`"""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Literal

from chorale.cli.arguments import AsJson
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.scoring import Against, AsLatex, Resamples, Seed, WithIntervals, print_scored
from chorale.cli.targets import Force, check_target, writing
from chorale.kits.frames.family import score as score_files

System = Annotated[
    Path,
    Argument(metavar="PRED", help="The system's scores: a row per sentence and frame, or its frame for each sentence."),
]
Gold = Annotated[
    list[Path],
    Argument(metavar="GOLD", help="The crowd's scores of every candidate frame; several files are one corpus."),
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
    str | None, Option("--sentence", metavar="COLUMN", help="The column of sentence ids, in all files.")
]
FrameColumn = Annotated[str | None, Option("--frame", metavar="COLUMN", help="The column of frames, in all files.")]
ScoreColumn = Annotated[str | None, Option("--score", metavar="COLUMN", help="The column of scores in PRED.")]
GoldColumn = Annotated[str | None, Option("--gold-score", metavar="COLUMN", help="The column of scores in GOLD.")]

Only = Annotated[
    Path | None,
    Option(
        "--only",
        metavar="FILE",
        help="Score only the sentences that this file has too, such as the output of a system that can't name all.",
    ),
]
Qualities = Annotated[
    Path | None,
    Option(
        "--sqs",
        metavar="FILE",
        help="How clear the sentences are (the export frames-sqs), for the weighted average, where GOLD does not say.",
    ),
]
Curves = Annotated[
    Path | None,
    Option("--curves", metavar="FILE", help="Draw every sentence's agreement, from the best to the worst, as .svg."),
]
Beside = Annotated[
    list[Path] | None, Option("--with", metavar="FILE", help="Another system for the curves; may be repeated.")
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

    check_target(curves, "--curves", force=force, endings=(".svg",))
    with patiently("resamples") as progress, writing(curves, "--curves") if curves else nullcontext():
        scored = score_files(
            pred,
            gold,
            top=top,
            scores=scores,
            constant=constant,
            sentence=sentence,
            frame=frame,
            score=score,
            gold_score=gold_score,
            items=items,
            only=only,
            sqs=sqs,
            curves=curves,
            beside=beside or [],
            against=against,
            ci=ci,
            resamples=resamples,
            seed=seed,
            progress=progress,
        )
    print_scored(scored, as_json=as_json, as_latex=as_latex)
