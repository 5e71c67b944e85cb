"""`chorale models`"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from chorale.cli.arguments import AsJson, Database
from chorale.cli.models_source import ModelSource, source_of
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.scoring import AsLatex, print_scored
from chorale.files.targets import check_target, write_text
from chorale.metrics.options import AnyIntervals, Force, Resamples, Seed
from chorale.metrics.reading import judgments_options as judged_options
from chorale.metrics.reading.judged import Reading, judged_in
from chorale.metrics.replacing.alternative import EPSILONS, FEWEST_BY_T
from chorale.metrics.replacing.closeness import CloseBy
from chorale.metrics.replacing.who import models_in
from chorale.metrics.resampling import Resampling
from chorale.metrics.scoring.models import ModelOptions, score_models
from chorale.model import UserError
from chorale.present.svg.elements import standalone

ModelNames = Annotated[
    Sequence[str],
    Option(
        metavar="NAME", help="Name of a worker that is a model; * matches any characters. Repeatable. See also --kind."
    ),
]
KindColumn = Annotated[
    str | None,
    Option(metavar="COLUMN", help="Column that has human or model in every row. Default: kind."),
]
CloseByName = Annotated[
    CloseBy | Literal["task"],
    Option(
        metavar="NAME",
        help="Similarity of labels: accuracy (equal or not), rmse (numbers), jaccard or masi (sets), span (such "
        "as 3:5), ua-f1 (sets of spans). In a study also: task (the distance that the task defines).",
    ),
]
Annotators = Annotated[
    Literal["experts", "skilled", "crowd"],
    Option(metavar="KIND", help="Kind of annotators, which sets ε: experts (0.2), skilled (0.15) or crowd (0.1)."),
]
Epsilon = Annotated[
    float | None,
    Option(
        metavar="NUMBER",
        min=0,
        max=1,
        help="ε: the largest advantage of people over the model at which the model can still replace people. "
        "Default: set by --annotators.",
    ),
]
MinItems = Annotated[int, Option(min=2, help="Minimum number of items that a person must have judged.")]
Expert = Annotated[str | None, Option(metavar="NAME", help="Compare with this person's labels only.")]


JudgmentsOrStudy = Annotated[
    Path,
    Argument(
        metavar="FILE|DIR",
        help="Judgments (CSV, TSV, JSONL or Parquet with task, worker and label), or the folder of a study whose "
        "models have annotated.",
    ),
]
StageOfStudy = Annotated[
    str | None, Option(metavar="STAGE", help="In a study: the stage. Default: the only stage with answers by models.")
]

Plan = Annotated[bool, Option(help="Report how many items each person would have to judge for the test to pass.")]
PlotFile = Annotated[
    Path | None, Option(metavar="FILE", help="In a study: write a plot of quality against cost to this SVG file.")
]
SignedRanks = Annotated[
    bool,
    Option(
        help="Use the Wilcoxon signed-rank test for people with fewer than 30 items, as in the published "
        "method. This test rejects too often."
    ),
]


def models(
    file: JudgmentsOrStudy,
    model: ModelNames = (),
    kind: KindColumn = None,
    by: CloseByName = "accuracy",
    annotators: Annotators = "crowd",
    epsilon: Epsilon = None,
    min_items: MinItems = FEWEST_BY_T,
    expert: Expert = None,
    ranks: SignedRanks = False,
    task: judged_options.TaskColumn = None,
    worker: judged_options.WorkerColumn = None,
    label: judged_options.LabelColumn = None,
    sep: judged_options.Separator = None,
    empty: judged_options.EmptyLabel = None,
    missing: judged_options.MissingValues = (),
    repeats: Annotated[
        Literal["last", "first"],
        Option(metavar="last|first", help="Which judgment counts if a worker judged a task more than once."),
    ] = "last",
    plan: Plan = False,
    people: Annotated[bool, Option(help="List the test of every model against every person.")] = False,
    confusions: Annotated[
        bool, Option(help="List the pairs of different labels that people and each model gave to the same items.")
    ] = False,
    items: Annotated[
        bool, Option(help="List items, with the largest distance between models and people first.")
    ] = False,
    ci: AnyIntervals = False,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    stage: StageOfStudy = None,
    plot: PlotFile = None,
    force: Force = False,
    db: Database = None,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Test whether models can replace annotators, and measure the models' agreement with people."""
    columns = Reading(task, worker, label, None, sep, empty, repeats, missing=missing or ())
    check_target(plot, "--plot", force=force, endings=(".svg",))
    source = source_of(file, db, stage, label, by, columns)
    with patiently("resamples") as progress:
        judged = judged_in(source.data, source.reading)
        judged, named = models_in(source.data, judged, source.reading, model or (), kind)
        options = ModelOptions(
            named,
            source.near,
            EPSILONS[annotators] if epsilon is None else epsilon,
            min_items,
            expert,
            ranks,
            plan,
            people,
            confusions,
            items,
        )
        score = score_models(judged, options, Resampling(ci, resamples, seed, progress))
    _draw(source, plot)
    print_scored(source.added_to(score), as_json=as_json, as_latex=as_latex)


def _draw(source: ModelSource, plot: Path | None) -> None:
    """Write quality against cost to a file, if one is named."""
    chart = None if plot is None else source.chart()
    if plot is not None and chart is None:
        raise UserError("--plot needs a study in which people and a model have answered gold. Leave it out.")
    if plot is not None and chart is not None:
        write_text(plot, "--plot", standalone(chart))
