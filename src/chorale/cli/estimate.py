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
        help="CSV, TSV or JSONL with one row per item: a model label for all, a human label for some (else empty).",
    ),
]
PeopleColumn = Annotated[str, Option(metavar="COLUMN", help="Column with the human labels.")]
ModelColumn = Annotated[str, Option(metavar="COLUMN", help="Column with the model labels.")]
Prevalence = Annotated[
    Sequence[str],
    Option(
        metavar="LABEL",
        help="Estimate the share of items with this label. Repeatable. Default: the mean of numbers, the share of "
        "every other label.",
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
        help="Column with the probability that an item was sampled for human labels, if it differs between items.",
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
    """Estimate a mean, share, difference or slope from many model labels and few human labels."""
    options = EstimateOptions(people, model, tuple(prevalence or ()), by, tuple(on or ()), probability)
    print_scored(score_estimates(file, options), as_json=as_json, as_latex=as_latex)
