"""The rules family of metrics: reads files and computes scores, for the command line and for Python."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from chorale.files.tables import write_csv
from chorale.files.targets import check_target, write_text, writing
from chorale.kits.rules.files.resources import read_resources
from chorale.kits.rules.files.rules import JudgedFile, RuleSet, read_judged
from chorale.kits.rules.metrics.curves import Area
from chorale.kits.rules.scoring.applications import Contradictions, Meaningless, usable_applications
from chorale.kits.rules.scoring.matching import Match
from chorale.kits.rules.scoring.scores import (
    CURVE_COLUMNS,
    RuleOptions,
    curve_rows,
    resource_statistics,
    rule_chart,
    score_rules,
)
from chorale.metrics import Clusters
from chorale.metrics.family import Family, Measured, path_of, paths_of
from chorale.metrics.options import Against, Cluster, File, Force, Resamples, Seed, WithIntervals
from chorale.metrics.resampling import checked_resampling
from chorale.metrics.sampling import Progress
from chorale.metrics.score import Score
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.registry.options import Argument, Option
from chorale.text.lemmas import spellings_of

Files = Annotated[
    list[Path],
    Argument(
        metavar="RULES...",
        help="One or more files of scored rules, then the judged applications (unless set with --judgments).",
    ),
]
MoreJudgments = Annotated[list[Path] | None, Option(help="Additional files of judged applications. Repeatable.")]
Judgments = Annotated[
    list[Path] | None,
    Option("--judgments", help="Judged applications. All positional files are then rules. Repeatable."),
]
MeaninglessLeft = Annotated[
    Meaningless,
    Option(
        "--meaningless",
        metavar="NAME",
        help="Applications with a meaningless left side: out (left out), or count (as not entailing).",
    ),
]
MatchBy = Annotated[
    Match,
    Option(
        "--match",
        metavar="NAME",
        help="How rules match applications: lemma (is used in = be use in; exact matches first) or exact.",
    ),
]
BothWays = Annotated[
    Contradictions,
    Option(
        "--contradictions",
        metavar="NAME",
        help="Applications judged both ways: majority (ties left out), both (count once as entailing and "
        "once as not) or refuse.",
    ),
]
Pairwise = Annotated[bool, Option(help="Compare all pairs of resources with paired bootstrap and randomisation tests.")]
MinConfidence = Annotated[
    float, Option(metavar="SHARE", min=0, max=1, help="Leave out applications with a confidence below this.")
]
AreaRule = Annotated[
    Area,
    Option(
        metavar="RULE",
        help="Area under the curve: step (average precision), trapezoid, or above-half (trapezoids where precision "
        "exceeds 0.5, as in papers on Levy/Holt).",
    ),
]
AtRecall = Annotated[str | Sequence[float], Option(metavar="R,R,…", help="Recall levels at which to report precision.")]


def score(
    rules: File | Sequence[File],
    judgments: File | Sequence[File],
    *,
    min_confidence: MinConfidence = 0.7,
    meaningless: MeaninglessLeft = "out",
    match: MatchBy = "lemma",
    contradictions: BothWays = "majority",
    area: AreaRule = "step",
    at_recall: AtRecall = (0.1, 0.25, 0.5),
    curve: Annotated[File | None, Option(help="Write the points of the curves as CSV.")] = None,
    chart: Annotated[File | None, Option(help="Write the curves as an SVG chart.")] = None,
    pairwise: Pairwise = False,
    force: Force = True,
    ci: WithIntervals = True,
    cluster: Cluster = (),
    against: Against = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    progress: Progress | None = None,
) -> Score:
    """Scores inference rules against human judgments of their applications: precision, recall, F1 and area under the
    curve.

    `rules` is one or more files of scored rules, `judgments` one or more files of judged applications. `curve` is a
    file for the points of the curves, `chart` an SVG file for a chart.
    """
    points, picture = (None if path is None else path_of(path) for path in (curve, chart))
    check_target(points, "--curve", force=force)
    check_target(picture, "--chart", force=force, endings=(".svg",))
    options = RuleOptions(
        min_confidence,
        area,
        _shares(at_recall),
        meaningless,
        pairwise,
        match,
        contradictions,
        Clusters.named(cluster),
    )
    resources = paths_of(rules)
    if not resources:
        raise UserError("Give at least one file of rules, then the judged applications.")
    resampling = checked_resampling(ci, resamples, seed, progress)
    judged = {str(path): read_judged(path) for path in paths_of(judgments)}
    wanted = {application.rule.lhs for file in judged.values() for application in file.applications}
    spelled = spellings_of if match == "lemma" else None
    rival = None if against is None else _only(read_resources(path_of(against), wanted, spelled), path_of(against))
    rule_sets = [one for path in resources for one in read_resources(path, wanted, spelled)]
    scored, by_resource = score_rules(rule_sets, judged, options, resampling, against=rival)
    if picture is not None:
        write_text(picture, "--chart", rule_chart(by_resource))
    if points is None:
        return scored
    with writing(points, "--curve"):
        write_csv(CURVE_COLUMNS, curve_rows(by_resource), points)
    count = sum(len(one.curve.thresholds) for one in by_resource.values())
    return replace(scored, written=f"Wrote {plural(count, 'point', 'points')} to {points}.")


def _score_last(files: Files, judgments: Judgments = None, also: MoreJudgments = None, **options: Any) -> Score:
    """Scores the files in the order of the command line: the judgments are last unless set separately."""
    rules = files if judgments else files[:-1]
    return score(rules, [*(judgments or files[-1:]), *(also or ())], **options)


def _shares(at_recall: str | Sequence[float]) -> tuple[float, ...]:
    """Recall levels at which to report precision."""
    parts = at_recall.split(",") if isinstance(at_recall, str) else at_recall
    try:
        shares = tuple(float(part) for part in parts)
    except ValueError:
        shares = (-1,)
    if not all(0 <= share <= 1 for share in shares):
        shown = at_recall if isinstance(at_recall, str) else ",".join(f"{share:g}" for share in at_recall)
        raise UserError(f"--at-recall takes fractions between 0 and 1, separated by commas (found {shown!r}).")
    return shares


def read(path: File) -> list[RuleSet]:
    """Reads resources of scored rules."""
    return read_resources(path_of(path))


def measure(
    resource: RuleSet, judged: Mapping[str, JudgedFile], *, min_confidence: float = 0.7, area: Area = "step"
) -> Measured:
    """One row per judged application, with the scores over all of them."""
    options = RuleOptions(min_confidence, area)
    usable = usable_applications(judged, options.min_confidence, options.meaningless)
    return resource_statistics(resource, usable, options, alone=True)


FAMILY = Family(
    "rules",
    "Inference rules against human judgments of their applications: precision, recall, area under the curve.",
    read,
    measure,
    score,
    _score_last,
)


def _only(resources: list[RuleSet], path: Path) -> RuleSet:
    if len(resources) > 1:
        names = ", ".join(one.name for one in resources)
        raise UserError(
            f"--against {path} has several resources ({names}). Use a file with one resource, or use --pairwise."
        )
    return resources[0]
