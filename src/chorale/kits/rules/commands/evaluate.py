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
from chorale.kits.rules.files.rule_files import RuleSet, read_judged
from chorale.kits.rules.files.rule_resources import read_resources
from chorale.kits.rules.scoring.chart import curve_chart
from chorale.kits.rules.scoring.scores import CURVE_COLUMNS, RuleOptions, curve_rows, score_rules
from chorale.metrics.drawing import Drawing
from chorale.model import UserError
from chorale.model.plural import plural

Files = Annotated[
    list[Path],
    Argument(
        metavar="RULES...",
        help="One or more files of scored rules; and last the judged applications, unless --judgments names them.",
        show_default=False,
    ),
]
MoreJudgments = Annotated[
    list[Path] | None,
    Option(
        "--also",
        metavar="FILE",
        help="More judged applications, if they are in several files. May be given again.",
        show_default=False,
    ),
]
Judgments = Annotated[
    list[Path] | None,
    Option(
        "--judgments",
        metavar="FILE",
        help="The judged applications; then all other files are rules. May be given again.",
        show_default=False,
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
ChartFile = Annotated[
    Path | None,
    Option("--chart", metavar="FILE", help="Draw the curves as an SVG picture.", show_default=False),
]
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
CurveFile = Annotated[
    Path | None,
    Option("--curve", metavar="FILE", help="Write the points of the curves as CSV.", show_default=False),
]


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
    resources = list(files) if judgments else files[:-1]
    if not resources:
        raise UserError("Name at least one file of rules, and then the judged applications.")
    check_target(curve, "--curve", force=force)
    check_target(chart, "--chart", force=force, endings=(".svg",))
    options = RuleOptions(min_confidence, area, _shares(at_recall), meaningless, pairwise)
    with patiently("resamples") as progress:
        judged = {str(path): read_judged(path) for path in (*(judgments or files[-1:]), *(also or ()))}
        wanted = {application.rule.lhs for file in judged.values() for application in file.applications}
        scored, scores_by_name = score_rules(
            [resource for path in resources for resource in read_resources(path, wanted)],
            judged,
            options,
            Drawing(ci, resamples, seed, progress),
            against=None if against is None else _only(read_resources(against, wanted), against),
        )
    if curve is not None:
        with writing(curve, "--curve"):
            write_csv(CURVE_COLUMNS, curve_rows(scores_by_name), curve)
    if chart is not None:
        write_text(chart, "--chart", curve_chart(scores_by_name))
    print_scored(scored, as_json=as_json, as_latex=as_latex)
    if curve is not None and not as_json and not as_latex:
        points = sum(len(resource.curve.thresholds) for resource in scores_by_name.values())
        print_line(f"Wrote {plural(points, 'point', 'points')} to {curve}.")


def _only(resources: list[RuleSet], path: Path) -> RuleSet:
    if len(resources) > 1:
        names = ", ".join(resource.name for resource in resources)
        raise UserError(f"--against {path} has several resources ({names}). Learn or name one, or use --pairwise.")
    return resources[0]


def _shares(text: str) -> tuple[float, ...]:
    try:
        shares = tuple(float(part) for part in text.split(","))
    except ValueError:
        shares = (-1.0,)
    if not all(0 <= share <= 1 for share in shares):
        raise UserError(f"--at-recall takes fractions between 0 and 1, with commas between them (found {text!r}).")
    return shares
