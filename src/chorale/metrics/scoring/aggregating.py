"""Aggregates a file of judgments and reports the result, with comparison to the truth."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chorale.files.shortening import shortened
from chorale.files.source import refused
from chorale.metrics import FloatArray, signature
from chorale.metrics.aggregation.crowdtruth import CrowdTruth, as_aggregation, crowdtruth
from chorale.metrics.aggregation.methods import (
    CROWDTRUTH,
    ITERATIVE,
    ITERATIVE_OTHERS,
    KOS,
    METHODS,
    OTHER_METHODS,
    SEEDED,
    TEXT_METHODS,
    TOLERANT,
    MethodOptions,
    aggregate,
    method_names,
)
from chorale.metrics.aggregation.relevance import MOST_CELLS
from chorale.metrics.aggregation.result import Aggregation, Progress
from chorale.metrics.aggregation.task_evidence import task_evidence
from chorale.metrics.aggregation.ties import TieRule
from chorale.metrics.aggregation.trust import trust_from_gold
from chorale.metrics.aggregation.worker_evidence import WorkerEvidence, gold_evidence, worker_evidence
from chorale.metrics.judgments import Judgments, set_name
from chorale.metrics.reading.judged import Reading, ReadJudgments, check_used, judged_in, short_names
from chorale.metrics.reading.truth_files import Truth
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.scoring.aggregation import aggregation_scored, tie_notes
from chorale.metrics.scoring.aggregation_intervals import compared_without_truth, with_intervals
from chorale.metrics.scoring.aggregation_truth import with_truth
from chorale.metrics.scoring.crowdtruth import crowdtruth_compared, crowdtruth_scored
from chorale.metrics.scoring.label_notes import are_lists, looks_otherwise
from chorale.metrics.signatures import Setting
from chorale.model import UserError
from chorale.model.problems import did_you_mean


@dataclass(frozen=True, slots=True)
class AggregationRequest:
    """What to compute. Options that the method does not have are rejected, not ignored."""

    method: str = "dawid-skene"
    options: tuple[str, ...] | None = None
    open_task: bool = False
    iterations: int | None = None
    tolerance: float | None = None
    restarts: int | None = None
    smoothing: float | None = None
    seed: int = 1
    against: str | None = None
    ties: TieRule = "random"

    def __post_init__(self) -> None:
        methods = {self.method, self.against} - {None}
        names = (*method_names(), *OTHER_METHODS)
        for name in sorted(map(str, methods)):
            if name not in names:
                raise UserError(f"Unknown method {name!r}. Use one of {', '.join(names)}.{did_you_mean(name, names)}")
        self._refuse("--open", self.open_task, methods, (CROWDTRUTH,))
        self._refuse("--iterations", self.iterations, methods, (*ITERATIVE, CROWDTRUTH, *ITERATIVE_OTHERS))
        self._refuse("--tolerance", self.tolerance, methods, (*TOLERANT, CROWDTRUTH, *ITERATIVE_OTHERS))
        self._refuse("--restarts", self.restarts, methods, ("mace",))
        self._refuse("--smoothing", self.smoothing, methods, ("confidence",))
        if self.open_task and self.options is not None:
            raise UserError("An open task has no list of options. Omit --open or --options.")

    @staticmethod
    def _refuse(option: str, value: object, methods: set[str | None], having: tuple[str, ...]) -> None:
        if value not in (None, False) and not methods & set(having):
            raise UserError(f"{option} only applies to {', '.join(having)}. Omit it, or use another --method.")

    def settings(self) -> dict[str, Setting]:
        """Options that can change the result, for the signature."""
        return {
            "method": self.method,
            "options": self.options,
            "open": self.open_task or None,
            "iterations": self.iterations,
            "tolerance": self.tolerance,
            "restarts": self.restarts,
            "smoothing": self.smoothing,
            "seed": self.seed if {self.method, self.against} & set(SEEDED) or self.ties == "random" else None,
            "ties": self.ties,
            "against": self.against,
        }


def score_data(
    data: Any,
    request: AggregationRequest,
    reading: Reading,
    resampling: Resampling,
    truth: Truth | None,
    truth_columns: Mapping[str, Setting],
    rival: Any,
    *,
    for_scripts: bool,
) -> tuple[Score, Aggregation]:
    """The report on judgments in any form, and the result. `rival` are other judgments of the same tasks."""
    if reading.trust is not None and "confidence" not in (request.method, request.against):
        raise UserError("--trust only applies to confidence. Omit it, or use --method confidence.")
    counted = CROWDTRUTH in (request.method, request.against)
    judged = judged_in(data, reading, counted=counted)
    other = None if rival is None else judged_in(rival, reading, counted=counted)
    check_used(reading, judged, *([] if other is None else [other]))
    judged = replace(judged, reading={**judged.reading, **truth_columns})
    return score_aggregation(judged, request, resampling, truth=truth, rival=other, for_scripts=for_scripts)


def score_aggregation(
    judged: ReadJudgments,
    request: AggregationRequest,
    resampling: Resampling,
    *,
    truth: Truth | None = None,
    rival: ReadJudgments | None = None,
    for_scripts: bool = True,
) -> tuple[Score, Aggregation]:
    """The report, and the result itself."""
    if request.against is not None and truth is None:
        raise UserError(
            "--against with a method compares the accuracy of two methods, which requires true labels. Add them with "
            "--truth, or use a file of judgments for --against."
        )
    judgments = _checked(judged, request)
    trust, notes = _trust(judgments, request, truth)
    drawn = resampling.settings(compared=request.against is not None or rival is not None)
    inputs = {judged.source: judged, "against": rival, "truth": truth}
    digests = {name: one.digest for name, one in inputs.items() if one is not None}
    line = signature("aggregate", {**request.settings(), **judged.reading, **drawn}, digests)
    result, crowd_scores = _run(request.method, judgments, request, trust, resampling.progress)
    if crowd_scores is None:
        scored = aggregation_scored(result, method=request.method, signature=line, for_scripts=for_scripts)
        if resampling.ci:
            # The internals of a kit's method are not known here.
            known = request.method in METHODS
            evidence = (
                _evidence(judgments, request, truth, result) if known else None,
                task_evidence(judgments, request.method, result, trust=trust) if known else None,
            )
            scored = with_intervals(scored, result, evidence, resampling, for_scripts=for_scripts)
    else:
        scored = crowdtruth_scored(crowd_scores, signature=line, resampling=resampling, for_scripts=for_scripts)
        scored = scored.extended({}, notes=tie_notes(result))
    scored = scored.extended({}, notes=[*looks_otherwise(judgments), *notes])
    other = None
    if rival is not None:
        scored, other = _beside(scored, (judged.name, result, crowd_scores), rival, request, truth, resampling)
    elif request.against is not None:
        other = (request.against, _run(request.against, judgments, request, trust, resampling.progress)[0])
    if truth is not None:
        name = Path(judged.name).name if rival is not None else request.method
        scored = with_truth(scored, result, truth, resampling, other=other, method=name)
    return scored, result


def _beside(
    scored: Score,
    ours: tuple[str, Aggregation, CrowdTruth | None],
    rival: ReadJudgments,
    request: AggregationRequest,
    truth: Truth | None,
    resampling: Resampling,
) -> tuple[Score, tuple[str, Aggregation]]:
    """The report with a comparison to another file, and the result of that file."""
    judgments = _checked(rival, request)
    other, other_crowd_scores = _run(request.method, judgments, request, _trust(judgments, request, truth)[0], None)
    source, result, crowd_scores = ours
    names = short_names(source, rival.name)
    if crowd_scores is not None and other_crowd_scores is not None:
        json, table, notes = crowdtruth_compared(crowd_scores, other_crowd_scores, names, resampling)
    else:
        json, table, notes = compared_without_truth(result, other, names, resampling)
    if not json:
        message = "has no tasks or workers in common with"
        raise UserError(f"{rival.name} {message} {source}, so there is nothing to compare. Check --task and --worker.")
    return scored.extended({"against": {"file": rival.name, **json}}, [table], notes), (names[1], other)


def _checked(judged: ReadJudgments, request: AggregationRequest) -> Judgments:
    judgments, options = judged.judgments, request.options
    _refuse_as_text(judged, request)
    if options is not None:
        unlisted = sorted(set(judgments.options) - set(options))
        if unlisted:
            fix = "Add them to --options, or correct them in the file"
            shown = ", ".join(shortened(option) for option in unlisted[:10]) + (", …" if len(unlisted) > 10 else "")
            raise refused(judged.name, None, "has labels that are not among the options", fix, shown)
        judgments = judgments.with_options(options)
    if len(judgments.task_names) * len(judgments.options) > MOST_CELLS:
        fix = "Check that --label is the correct column"
        labels = f"{len(judgments.options):,} labels of {len(judgments.task_names):,} tasks"
        raise refused(judged.name, None, "has too many different labels to aggregate", fix, labels)
    if KOS in (request.method, request.against) and judgments.sets is None and len(judgments.options) > 2:
        labels = f"{len(judgments.options):,} labels"
        raise refused(
            judged.name, None, "has more than two labels, which kos does not support", "Choose another method", labels
        )
    return judgments


def _refuse_as_text(judged: ReadJudgments, request: AggregationRequest) -> None:
    """Refuse labels that are hardly ever equal: free text of Chorale's exports, and JSON lists that were not split."""
    if are_lists(judged.judgments):
        fix = "Add --sep json to read them as sets of options or spans"
        raise refused(judged.name, None, "has labels that are JSON lists", fix)
    if not judged.judgments.free_text or request.open_task:
        return
    fix = f"Use a method for texts ({', '.join(TEXT_METHODS)}), or name another column with --label"
    raise refused(judged.name, None, "has labels that are free text", fix)


def _trust(
    judgments: Judgments, request: AggregationRequest, truth: Truth | None
) -> tuple[FloatArray | None, list[str]]:
    if "confidence" not in (request.method, request.against):
        return None, []
    if judgments.trust is not None:
        return judgments.trust, []
    if truth is None:
        return None, ["No gold accuracy of workers is known (add --trust or --truth), so every vote counts equally."]
    trust = trust_from_gold(judgments, _gold(judgments, truth), smoothing=request.smoothing or 0.0)
    return trust, [
        "Votes are weighted by the workers' accuracy on the truth, and the result is evaluated on the same truth."
    ]


def _gold(judgments: Judgments, truth: Truth) -> dict[str, str]:
    """True labels in the form of the judgments."""
    return {
        task: set_name(options) if judgments.sets is not None else next(iter(options))
        for task, options in truth.labels.items()
        if options or judgments.sets is not None
    }


def _evidence(
    judgments: Judgments, request: AggregationRequest, truth: Truth | None, result: Aggregation
) -> WorkerEvidence | None:
    """Evidence for the quality of workers, or None if it cannot be resampled."""
    if request.method == "confidence" and judgments.trust is None and truth is not None:
        return gold_evidence(judgments, _gold(judgments, truth), request.smoothing or 0.0)
    return worker_evidence(judgments, request.method, result)


def _run(
    method: str, judgments: Judgments, request: AggregationRequest, trust: FloatArray | None, progress: Progress | None
) -> tuple[Aggregation, CrowdTruth | None]:
    if method != CROWDTRUTH:
        limits = (
            request.iterations if method in ITERATIVE else None,
            request.tolerance if method in TOLERANT else None,
        )
        weights = trust if method == "confidence" else None
        options = MethodOptions(*limits, request.seed, request.restarts, weights, request.ties)
        try:
            return aggregate(judgments, method, options, progress=progress), None
        except ValueError as error:
            raise UserError(f"--method {method} can't be used: {error}. Use a different method.") from None
    crowd_scores = crowdtruth(
        judgments,
        options=request.options,
        open_task=request.open_task,
        max_iterations=request.iterations or 100,
        tolerance=request.tolerance or 0.001,
        progress=progress,
    )
    result = as_aggregation(crowd_scores, multiple=judgments.sets is not None)
    return replace(result, tie_rule=request.ties, tie_seed=request.seed), crowd_scores
