"""`chorale agreement`"""

from pathlib import Path
from typing import Annotated, Literal

from chorale.cli.arguments import AsJson
from chorale.cli.parameters import Option
from chorale.cli.progress import patiently
from chorale.cli.scoring import AsLatex, print_scored
from chorale.metrics.agreement.distances import SPAN_DISTANCES
from chorale.metrics.agreement.icc import IccForm
from chorale.metrics.judgments import NOTHING
from chorale.metrics.options import Cluster, Resamples, Seed, WithIntervals
from chorale.metrics.reading import judgments_options as judged
from chorale.metrics.reading.judged import Reading, judged_in
from chorale.metrics.reading.judged_clusters import judged_clusters
from chorale.metrics.resampling import Resampling
from chorale.metrics.scoring.agreement import score_agreement
from chorale.metrics.scoring.agreement_options import AgreementOptions, CoefficientName, Shares

Metric = Annotated[
    CoefficientName,
    Option(
        metavar="NAME",
        help="alpha (Krippendorff), kappa (Cohen), fleiss (Fleiss' kappa), pi (Scott), percent, gwet (AC1; with "
        "weights AC2), brennan-prediger, conger, icc (numbers), kendall-w, kendall-tau or spearman (ranks), or gamma "
        "(spans).",
    ),
]
LevelName = Annotated[
    Literal["nominal", "ordinal", "interval", "ratio"],
    Option(metavar="NAME", help="What labels are, for alpha: nominal, ordinal, interval or ratio."),
]
DistanceName = Annotated[
    Literal["jaccard", "masi", "span", "ua-f1"] | None,
    Option(
        metavar="NAME",
        help="For alpha, instead of a level: jaccard or masi for sets, span for 3:5, ua-f1 for sets of spans.",
    ),
]
WeightsName = Annotated[
    Literal["none", "linear", "quadratic"],
    Option(
        metavar="NAME",
        help="Of ordered labels, for kappa, gwet, brennan-prediger, conger and fleiss: none, linear or quadratic.",
    ),
]
Order = Annotated[
    str | None,
    Option(
        metavar="A,B,C",
        help="Labels from the lowest to the highest, if they are not numbers; for gwet and brennan-prediger, all "
        "labels there were to choose from.",
    ),
]
MinCommon = Annotated[
    int, Option(min=1, help="For means over pairs (kappa, pi, kendall-tau, spearman): fewest common items of a pair.")
]
FormName = Annotated[
    IccForm,
    Option(
        metavar="FORM",
        help="Of icc: 1 (any workers for an item), 2 (the same workers, a sample) or 3 (the same, no others); "
        "with k, of the mean over workers.",
    ),
]
SharesOf = Annotated[
    Shares,
    Option(
        metavar="NAME",
        help="For fleiss: shares of labels among all judgments, or means over items (as in irrCAC, for missing data).",
    ),
]
OtherFile = Annotated[
    Path | None, Option(help="Judgments of the same items by others: is the difference more than luck?")
]


def agreement(
    file: judged.JudgmentsFile,
    metric: Metric = "alpha",
    level: LevelName = "nominal",
    distance: DistanceName = None,
    weights: WeightsName = "none",
    order: Order = None,
    min_common: MinCommon = 1,
    icc_form: FormName = "2",
    shares: SharesOf = "judgments",
    task: judged.TaskColumn = None,
    worker: judged.WorkerColumn = None,
    label: judged.LabelColumn = None,
    sep: judged.Separator = None,
    empty: judged.EmptyLabel = None,
    missing: judged.MissingValues = (),
    repeats: judged.WhichRepeat = "last",
    keep_rejected: judged.KeepRejected = False,
    reader: judged.ReaderName = None,
    pairs: Annotated[bool, Option(help="List every two workers with common items.")] = False,
    items: Annotated[bool, Option(help="List items, the most disputed first.")] = False,
    analytic: Annotated[
        bool, Option(help="Add the standard error and interval by formula, without resampling.")
    ] = False,
    ci: WithIntervals = False,
    cluster: Cluster = (),
    against: OtherFile = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Say how far people agree on the same items, beyond chance."""
    if empty is None and (metric == "gamma" or distance in SPAN_DISTANCES):
        empty = NOTHING
    reading = Reading(
        task, worker, label, None, sep, empty, repeats, keep_rejected, reader=reader, missing=missing or ()
    )
    ordered = tuple(part.strip() for part in order.split(",")) if order else None
    options = AgreementOptions(metric, level, distance, ordered, weights, min_common, icc_form, shares, seed)
    with patiently("resamples") as progress:
        scored = score_agreement(
            judged_in(file, reading),
            options,
            Resampling(ci, resamples, seed, progress, judged_clusters(file, reading, cluster)),
            against=None if against is None else judged_in(against, reading),
            with_pairs=pairs,
            with_items=items,
            with_analytic=analytic,
            for_scripts=as_json,
        )
    print_scored(scored, as_json=as_json, as_latex=as_latex)
