"""`chorale estimate`"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson
from chorale.cli.parameters import Argument, Option
from chorale.cli.scoring import AsLatex, print_scored
from chorale.metrics.scoring.estimates import EstimateOptions, score_estimates

ItemsFile = Annotated[
    Path,
    Argument(
        metavar="FILE",
        help="CSV, TSV or JSONL with a row per item: the model's label of all, people's label of some (else empty).",
    ),
]
PeopleColumn = Annotated[str, Option(metavar="COLUMN", help="The column with people's labels.")]
ModelColumn = Annotated[str, Option(metavar="COLUMN", help="The column with the model's labels.")]
Prevalence = Annotated[
    Sequence[str],
    Option(
        metavar="LABEL",
        help="Estimate the share of items with this label. Repeatable. Without it, numbers have their mean estimated, "
        "other labels the share of each.",
    ),
]
GroupColumn = Annotated[
    str | None, Option(metavar="COLUMN", help="Estimate differences between the groups in this column.")
]
Covariates = Annotated[
    Sequence[str],
    Option(metavar="COLUMN", help="Estimate the slope on this column's numbers (least squares). Repeatable."),
]
ProbabilityColumn = Annotated[
    str | None,
    Option(
        metavar="COLUMN",
        help="The probability with which each item was to be sampled for people, if not all had the same.",
    ),
]


def estimate(
    file: ItemsFile,
    people: PeopleColumn = "people",
    model: ModelColumn = "model",
    prevalence: Prevalence = (),
    by: GroupColumn = None,
    on: Covariates = (),
    probability: ProbabilityColumn = None,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Estimate a mean, a share, a difference or a slope from many labels of a model and few of people."""
    options = EstimateOptions(people, model, tuple(prevalence or ()), by, tuple(on or ()), probability)
    print_scored(score_estimates(file, options), as_json=as_json, as_latex=as_latex)
