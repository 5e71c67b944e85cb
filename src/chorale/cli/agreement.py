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
from chorale.metrics.reading.judged import Reading, ReadJudgments, judged_in
from chorale.metrics.reading.judged_clusters import judged_clusters
from chorale.metrics.resampling import Resampling
from chorale.metrics.scoring.agreement import score_agreement
from chorale.metrics.scoring.agreement_options import AgreementOptions, CoefficientName, Shares
from chorale.metrics.scoring.label_notes import are_lists, are_objects, is_text
from chorale.model import UserError

Metric = Annotated[
    CoefficientName,
    Option(
        metavar="NAME",
        help="Coefficient: alpha (Krippendorff), kappa (Cohen), fleiss (Fleiss' kappa), pi (Scott), percent, gwet "
        "(AC1; with weights AC2), brennan-prediger, conger. For numbers and ranks: icc, kendall-w, kendall-tau "
        "or spearman. For spans: gamma.",
    ),
]
LevelName = Annotated[
    Literal["nominal", "ordinal", "interval", "ratio"],
    Option(metavar="NAME", help="Level of measurement, for alpha: nominal, ordinal, interval or ratio."),
]
DistanceName = Annotated[
    Literal["jaccard", "masi", "span", "ua-f1"] | None,
    Option(
        metavar="NAME",
        help="Distance for alpha, instead of a level: jaccard or masi (sets), span (such as 3:5) or ua-f1 (sets of "
        "spans).",
    ),
]
WeightsName = Annotated[
    Literal["none", "linear", "quadratic"],
    Option(
        metavar="NAME",
        help="Weights for ordered labels, for kappa, gwet, brennan-prediger, conger and fleiss: none, linear or "
        "quadratic.",
    ),
]
Order = Annotated[
    str | None,
    Option(
        metavar="A,B,C",
        help="Labels from lowest to highest, if they are not numbers. For gwet and brennan-prediger: all possible "
        "labels.",
    ),
]
MinCommon = Annotated[
    int,
    Option(
        min=1,
        help="For means over pairs of workers (kappa, pi, kendall-tau, spearman): minimum number of items that "
        "both workers judged.",
    ),
]
FormName = Annotated[
    IccForm,
    Option(
        metavar="FORM",
        help="Form of icc: 1 (different workers per item), 2 (the same workers, a random sample of all workers) "
        "or 3 (the same workers, no others are of interest). 1k, 2k and 3k are for the mean over workers.",
    ),
]
SharesOf = Annotated[
    Shares,
    Option(
        metavar="NAME",
        help="For fleiss: how to compute the share of each label: over all judgments (judgments), or as the mean over "
        "items (items), as the R package irrCAC does if judgments are missing.",
    ),
]
OtherFile = Annotated[
    Path | None, Option(help="Other judgments of the same items, to test whether the difference is significant.")
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
    pairs: Annotated[bool, Option(help="List all pairs of workers who judged the same items.")] = False,
    items: Annotated[bool, Option(help="List items, most disputed items first.")] = False,
    analytic: Annotated[bool, Option(help="Add the analytic standard error and interval, without resampling.")] = False,
    ci: WithIntervals = False,
    cluster: Cluster = (),
    against: OtherFile = None,
    free_text: Annotated[
        bool,
        Option(help="Accept labels that are or look like free text or JSON, and compare them as they are written."),
    ] = False,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Measure agreement between annotators, corrected for chance."""
    if empty is None and (metric == "gamma" or distance in SPAN_DISTANCES):
        empty = NOTHING
    reading = Reading(
        task, worker, label, None, sep, empty, repeats, keep_rejected, reader=reader, missing=missing or ()
    )
    ordered = tuple(part.strip() for part in order.split(",")) if order else None
    options = AgreementOptions(metric, level, distance, ordered, weights, min_common, icc_form, shares, seed)
    read = judged_in(file, reading)
    if not free_text:
        _refuse_as_text(read, label, by_equality=not distance and level == "nominal")
    with patiently("resamples") as progress:
        scored = score_agreement(
            read,
            options,
            Resampling(ci, resamples, seed, progress, judged_clusters(file, reading, cluster)),
            against=None if against is None else judged_in(against, reading),
            with_pairs=pairs,
            with_items=items,
            with_analytic=analytic,
            for_scripts=as_json,
        )
    print_scored(scored, as_json=as_json, as_latex=as_latex)


def _refuse_as_text(read: ReadJudgments, label: str | None, *, by_equality: bool) -> None:
    """Refuse JSON labels, and free text that would be compared by equality: agreement on such labels means little."""
    which = "The labels" if label is None else f"The values of {label!r}"
    as_they_are = "--free-text to compare the texts as they are."
    if are_lists(read.judgments):
        raise UserError(
            f"{which} in {read.name} are JSON lists. Add --sep json to read them as sets of options or spans, or "
            f"{as_they_are}"
        )
    if are_objects(read.judgments):
        raise UserError(
            f"{which} in {read.name} are JSON objects: two of them differ if any of their parts differs. `chorale "
            f"report` measures agreement by the distance of each field. Name another column with --label, or add "
            f"{as_they_are}"
        )
    if by_equality and is_text(read.judgments):
        raise UserError(_not_labels(read, which))


def _not_labels(read: ReadJudgments, which: str) -> str:
    many, different = len(read.judgments), len(read.judgments.label_names)
    how = "are free text" if read.judgments.free_text else "look like free text"
    return (
        f"{which} in {read.name} {how}: {many:,} judgments have {different:,} different labels. "
        "People who mean the same write different texts, so agreement on the texts means little. Name another column "
        "with --label, or add --free-text to compare the texts as they are."
    )
