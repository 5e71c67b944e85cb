"""The rules family of metrics: files in, a score out, for the command and for Python alike."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from chorale.kits.rules.files.resources import read_resources
from chorale.kits.rules.files.rules import JudgedFile, RuleSet, read_judged
from chorale.kits.rules.metrics.curves import Area, RuleScores
from chorale.kits.rules.scoring.applications import Meaningless, usable_applications
from chorale.kits.rules.scoring.scores import RuleOptions, resource_statistics, score_rules
from chorale.metrics.family import Family, Measured, path_of, paths_of
from chorale.metrics.resampling import checked_resampling
from chorale.metrics.sampling import Progress
from chorale.metrics.score import Score
from chorale.model import UserError

File = str | PathLike[str]


def score(
    rules: File | Sequence[File],
    judgments: File | Sequence[File],
    *,
    min_confidence: float = 0.7,
    meaningless: Meaningless = "out",
    area: Area = "step",
    at_recall: Sequence[float] = (0.1, 0.25, 0.5),
    pairwise: bool = False,
    against: File | None = None,
    ci: bool = True,
    resamples: int = 1000,
    seed: int = 1,
) -> Score:
    """Inference rules by what people say of their applications: precision, recall, F1 and area under the curve.

    `rules` is one or more files of scored rules, `judgments` one or more of judged applications.
    """
    options = RuleOptions(min_confidence, area, shares(at_recall), meaningless, pairwise)
    return score_with_curves(rules, judgments, options, against=against, ci=ci, resamples=resamples, seed=seed)[0]


def score_with_curves(
    rules: File | Sequence[File],
    judgments: File | Sequence[File],
    options: RuleOptions,
    *,
    against: File | None,
    ci: bool,
    resamples: int,
    seed: int,
    progress: Progress | None = None,
) -> tuple[Score, dict[str, RuleScores]]:
    """The score, and what every resource is worth, with its curve."""
    resources = paths_of(rules)
    if not resources:
        raise UserError("Name at least one file of rules, and then the judged applications.")
    resampling = replace(checked_resampling(ci, resamples, seed), progress=progress)
    judged = {str(path): read_judged(path) for path in paths_of(judgments)}
    wanted = {application.rule.lhs for file in judged.values() for application in file.applications}
    rival = None if against is None else _only(read_resources(path_of(against), wanted), path_of(against))
    rule_sets = [one for path in resources for one in read_resources(path, wanted)]
    return score_rules(rule_sets, judged, options, resampling, against=rival)


def shares(at_recall: Sequence[float]) -> tuple[float, ...]:
    """Recalls at which to give the precision."""
    if not all(0 <= share <= 1 for share in at_recall):
        listed = ",".join(f"{share:g}" for share in at_recall)
        raise UserError(f"--at-recall takes fractions between 0 and 1, with commas between them (found {listed!r}).")
    return tuple(at_recall)


def read(path: File) -> list[RuleSet]:
    """Resources of scored rules."""
    return read_resources(path_of(path))


def measure(
    resource: RuleSet, judged: Mapping[str, JudgedFile], *, min_confidence: float = 0.7, area: Area = "step"
) -> Measured:
    """A row for every judged application, and the scores over them."""
    options = RuleOptions(min_confidence, area)
    usable = usable_applications(judged, options.min_confidence, options.meaningless)
    return resource_statistics(resource, usable, options, alone=True)


FAMILY = Family(
    "rules", "Inference rules by what people say of their applications: precision, recall, area.", read, measure, score
)


def _only(resources: list[RuleSet], path: Path) -> RuleSet:
    if len(resources) > 1:
        names = ", ".join(one.name for one in resources)
        raise UserError(f"--against {path} has several resources ({names}). Learn or name one, or use --pairwise.")
    return resources[0]
