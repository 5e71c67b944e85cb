"""`chorale evaluate rules`"""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from pathlib import Path
from typing import Annotated, Literal

import typer

from chorale.cli.arguments import AsJson
from chorale.cli.output import say
from chorale.cli.scoring import Against, AsLatex, Resamples, Seed, WithIntervals, tell
from chorale.cli.targets import Force, check_target, writing

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="RULES... JUDGMENTS",
        help="One or more files of scored rules, and last the judged applications.",
        show_default=False,
    ),
]
MoreJudgments = Annotated[
    list[Path] | None,
    typer.Option(
        "--also",
        metavar="FILE",
        help="More judged applications, if they are in several files. May be given again.",
        show_default=False,
    ),
]
MinConfidence = Annotated[
    float,
    typer.Option(
        "--min-confidence",
        metavar="SHARE",
        min=0,
        max=1,
        help="Leave out applications that were judged with less confidence.",
    ),
]
AreaRule = Annotated[
    Literal["step", "trapezoid"],
    typer.Option(
        "--area", metavar="RULE", help="How the area under the curve is taken: step (average precision) or trapezoid."
    ),
]
AtRecall = Annotated[str, typer.Option("--at-recall", metavar="R,R,…", help="At which recall to give the precision.")]
CurveFile = Annotated[
    Path | None,
    typer.Option("--curve", metavar="FILE", help="Write the points of the curves as CSV.", show_default=False),
]


def rules(
    files: Files,
    also: MoreJudgments = None,
    min_confidence: MinConfidence = 0.7,
    area: AreaRule = "step",
    at_recall: AtRecall = "0.1,0.25,0.5",
    curve: CurveFile = None,
    force: Force = False,
    ci: WithIntervals = False,
    against: Against = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Score inference rules by what people say of their applications."""
    from chorale.cli.progress import patiently
    from chorale.formats import write_csv
    from chorale.formats.rule_files import read_judged, read_rules
    from chorale.formats.wording import many
    from chorale.model import UserError
    from chorale.report.drawing import Drawing
    from chorale.report.rule_scores import CURVE_COLUMNS, RuleOptions, score_rules

    *resources, judgments = files
    if not resources:
        raise UserError("Name at least one file of rules, and then the judged applications.")
    check_target(curve, "--curve", force=force)
    options = RuleOptions(min_confidence, area, _shares(at_recall))
    with patiently("resamples") as progress:
        judged = {str(path): read_judged(path) for path in (judgments, *(also or ()))}
        scored, points = score_rules(
            [read_rules(path) for path in resources],
            judged,
            options,
            Drawing(ci, resamples, seed, progress),
            against=None if against is None else read_rules(against),
        )
    if curve is not None:
        with writing(curve, "--curve"):
            write_csv(CURVE_COLUMNS, points, curve)
    tell(scored, as_json=as_json, as_latex=as_latex)
    if curve is not None and not as_json and not as_latex:
        say(f"Wrote {many(len(points), 'point', 'points')} to {curve}.")


def _shares(text: str) -> tuple[float, ...]:
    from chorale.model import UserError

    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = (-1.0,)
    if not all(0 <= share <= 1 for share in found):
        raise UserError(f"--at-recall takes fractions between 0 and 1, with commas between them (found {text!r}).")
    return found
