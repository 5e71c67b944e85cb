"""`chorale evaluate rules`"""

from pathlib import Path
from typing import Annotated, Literal

from chorale.cli.arguments import AsJson
from chorale.cli.output import print_line
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.scoring import Against, AsLatex, Resamples, Seed, WithIntervals, print_scored
from chorale.cli.targets import Force, check_target, write_text, writing
from chorale.files.tables import write_csv
from chorale.kits.rules.family import score_with_curves, shares
from chorale.kits.rules.scoring.scores import CURVE_COLUMNS, RuleOptions, curve_rows, rule_chart
from chorale.model import UserError
from chorale.model.plural import plural

Files = Annotated[
    list[Path],
    Argument(
        metavar="RULES...",
        help="One or more files of scored rules; and last the judged applications, unless --judgments names them.",
    ),
]
MoreJudgments = Annotated[
    list[Path] | None,
    Option(
        "--also", metavar="FILE", help="More judged applications, if they are in several files. May be given again."
    ),
]
Judgments = Annotated[
    list[Path] | None,
    Option(
        "--judgments",
        metavar="FILE",
        help="The judged applications; then all other files are rules. May be given again.",
    ),
]
MeaninglessLeft = Annotated[
    Literal["out", "count"],
    Option(
        "--meaningless",
        metavar="NAME",
        help="Applications whose left side means nothing: out (left out), or count (as not entailing).",
    ),
]
Pairwise = Annotated[
    bool, Option("--pairwise", help="Compare every two of the resources: paired bootstrap and randomisation.")
]
ChartFile = Annotated[Path | None, Option("--chart", metavar="FILE", help="Draw the curves as an SVG picture.")]
MinConfidence = Annotated[
    float,
    Option(
        "--min-confidence",
        metavar="SHARE",
        min=0,
        max=1,
        help="Leave out applications that were judged with less confidence.",
    ),
]
AreaRule = Annotated[
    Literal["step", "trapezoid"],
    Option(
        "--area", metavar="RULE", help="How the area under the curve is taken: step (average precision) or trapezoid."
    ),
]
AtRecall = Annotated[str, Option("--at-recall", metavar="R,R,…", help="At which recall to give the precision.")]
CurveFile = Annotated[Path | None, Option("--curve", metavar="FILE", help="Write the points of the curves as CSV.")]


def rules(
    files: Files,
    judgments: Judgments = None,
    also: MoreJudgments = None,
    min_confidence: MinConfidence = 0.7,
    meaningless: MeaninglessLeft = "out",
    area: AreaRule = "step",
    at_recall: AtRecall = "0.1,0.25,0.5",
    curve: CurveFile = None,
    chart: ChartFile = None,
    pairwise: Pairwise = False,
    force: Force = False,
    ci: WithIntervals = False,
    against: Against = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Score inference rules by what people say of their applications."""

    check_target(curve, "--curve", force=force)
    check_target(chart, "--chart", force=force, endings=(".svg",))
    with patiently("resamples") as progress:
        scored, by_resource = score_with_curves(
            list(files) if judgments else files[:-1],
            [*(judgments or files[-1:]), *(also or ())],
            RuleOptions(min_confidence, area, _shares(at_recall), meaningless, pairwise),
            against=against,
            ci=ci,
            resamples=resamples,
            seed=seed,
            progress=progress,
        )
    if curve is not None:
        with writing(curve, "--curve"):
            write_csv(CURVE_COLUMNS, curve_rows(by_resource), curve)
    if chart is not None:
        write_text(chart, "--chart", rule_chart(by_resource))
    print_scored(scored, as_json=as_json, as_latex=as_latex)
    if curve is not None and not as_json and not as_latex:
        points = sum(len(one.curve.thresholds) for one in by_resource.values())
        print_line(f"Wrote {plural(points, 'point', 'points')} to {curve}.")


def _shares(text: str) -> tuple[float, ...]:

    try:
        return shares([float(part) for part in text.split(",")])
    except ValueError:
        message = f"--at-recall takes fractions between 0 and 1, with commas between them (found {text!r})."
        raise UserError(message) from None
