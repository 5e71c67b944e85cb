"""`chorale evaluate mcq`"""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from chorale.cli.arguments import AsJson
from chorale.cli.scoring import AsLatex, Resamples, Seed, WithIntervals, tell

if TYPE_CHECKING:
    from chorale.report.mcq_scores import NamedQuestions

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Questions with options, validations and predictions: .json or .jsonl, perhaps packed (.gz).",
        show_default=False,
    ),
]
TiesName = Annotated[
    Literal["share", "wrong", "right"],
    typer.Option(
        "--ties",
        metavar="HOW",
        help="What a tie among people is worth if the gold answer is in it: its share of the tied answers, wrong "
        "(nothing) or right (everything).",
    ),
]
GoldVotes = Annotated[
    int,
    typer.Option("--gold-votes", metavar="N", min=1, max=20, help="Validators' votes drawn for the gold answer."),
]
AlphaName = Annotated[
    Literal["with-writer", "kept"],
    typer.Option(
        "--alpha",
        metavar="NAME",
        help="The alpha to print: with-writer (all questions, the writer votes too) or kept (kept questions, "
        "validators only).",
    ),
]
Other = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="FILE",
        help="Other questions: is the difference more than luck? Paired only if they are the same questions.",
        show_default=False,
    ),
]


def mcq(
    files: Files,
    ties: TiesName = "share",
    gold_votes: GoldVotes = 4,
    alpha: AlphaName = "with-writer",
    ci: WithIntervals = False,
    against: Other = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Measure human performance on multiple-choice questions, and the gap to models."""
    from chorale.cli.progress import patiently
    from chorale.formats.mcq_files import read_mcq
    from chorale.report.drawing import Drawing
    from chorale.report.mcq_scores import McqOptions, NamedQuestions, score_mcq

    def read(path: Path) -> "NamedQuestions":
        questions, source = read_mcq(path)
        return NamedQuestions(path.name.partition(".")[0] or path.name, questions, source.digest)

    with patiently("draws") as progress:
        scored = score_mcq(
            [read(path) for path in files],
            McqOptions(ties, gold_votes, alpha),
            Drawing(ci, resamples, seed, progress),
            None if against is None else read(against),
        )
    tell(scored, as_json=as_json, as_latex=as_latex)
