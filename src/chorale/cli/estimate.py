"""`chorale estimate`"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from chorale.cli.arguments import AsJson, Database
from chorale.cli.parameters import Argument, Option
from chorale.cli.scoring import AsLatex, print_scored
from chorale.lazy import load
from chorale.metrics.scoring.estimates import EstimateOptions, score_estimates
from chorale.model import UserError

ItemsFile = Annotated[
    Path,
    Argument(
        metavar="FILE|DIR",
        help="CSV, TSV or JSONL with one row per item. Every item has a model label, and some items have a "
        "human label (the other cells are empty). Or the folder of a study in which a model answers first.",
    ),
]
PeopleColumn = Annotated[str, Option(metavar="COLUMN", help="Column with the human labels.")]
ModelColumn = Annotated[str, Option(metavar="COLUMN", help="Column with the model labels.")]
Prevalence = Annotated[
    Sequence[str],
    Option(
        metavar="LABEL",
        help="Estimate the share of items with this label. Repeatable. Default: the mean if labels are "
        "numbers, otherwise the share of each label.",
    ),
]
GroupColumn = Annotated[
    str | None, Option(metavar="COLUMN", help="Estimate differences between the groups in this column.")
]
Covariates = Annotated[
    Sequence[str],
    Option(metavar="COLUMN", help="Estimate the least-squares slope on the numbers in this column. Repeatable."),
]
ProbabilityColumn = Annotated[
    str | None,
    Option(
        metavar="COLUMN",
        help="Column with the probability that an item was sampled for human labels, if it differs between items.",
    ),
]

StageOfStudy = Annotated[
    str | None,
    Option(metavar="STAGE", help="In a study: the stage. Default: the stage where a model answers first."),
]
FieldOfStudy = Annotated[str | None, Option(metavar="FIELD", help="In a study: the field of the answers to estimate.")]
_OF_STUDY = "chorale.cli.estimate_of_study:study_items"


def estimate(
    file: ItemsFile,
    people: PeopleColumn = "people",
    model: ModelColumn = "model",
    prevalence: Prevalence = (),
    by: GroupColumn = None,
    on: Covariates = (),
    probability: ProbabilityColumn = None,
    stage: StageOfStudy = None,
    label: FieldOfStudy = None,
    db: Database = None,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Estimate a mean, share, difference or slope from many model labels and few human labels."""
    data: Any = file
    if file.is_dir():
        if by is not None or on:
            raise UserError("--by and --on are for a file. Export the study's labels, and name that file.")
        data, people, model, probability = load(_OF_STUDY)(file, db, stage, label), "people", "model", "probability"
    elif stage is not None or label is not None:
        raise UserError("--stage and --label are for a study. Name the study's folder, or leave them out.")
    options = EstimateOptions(people, model, tuple(prevalence or ()), by, tuple(on or ()), probability)
    print_scored(score_estimates(data, options), as_json=as_json, as_latex=as_latex)
