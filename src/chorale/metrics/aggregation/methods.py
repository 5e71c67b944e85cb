"""Aggregators by their names in commands and files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.crowdtruth import as_aggregation, crowdtruth
from chorale.metrics.aggregation.dawid_skene import dawid_skene
from chorale.metrics.aggregation.glad import glad
from chorale.metrics.aggregation.kos import kos
from chorale.metrics.aggregation.mace import MaceSettings, mace
from chorale.metrics.aggregation.majority import majority
from chorale.metrics.aggregation.mmsr import mmsr
from chorale.metrics.aggregation.one_coin import one_coin
from chorale.metrics.aggregation.result import Aggregation, Progress
from chorale.metrics.aggregation.ties import TieRule
from chorale.metrics.aggregation.trust import confidence
from chorale.metrics.aggregation.wawa import wawa
from chorale.metrics.aggregation.zero_based_skill import zero_based_skill
from chorale.metrics.judgments import Judgments
from chorale.model.problems import did_you_mean
from chorale.registry import aggregators, blaming, clash


@dataclass(frozen=True, slots=True)
class MethodOptions:
    """Options of a method. None selects the method's own default."""

    iterations: int | None = None
    tolerance: float | None = None
    seed: int = 1
    restarts: int | None = None
    trust: FloatArray | None = None
    """One per judgment, for `confidence`."""
    ties: TieRule = "random"
    """Rule for tied labels; random ties use the seed."""

    def limits(self) -> dict[str, float]:
        both = {"iterations": self.iterations, "tolerance": self.tolerance}
        return {name: value for name, value in both.items() if value is not None}


Aggregator = Callable[[Judgments, MethodOptions, Progress | None], Aggregation]


def _crowdtruth(judgments: Judgments, options: MethodOptions, progress: Progress | None) -> Aggregation:
    limits = {"iterations": 100, "tolerance": 0.001} | options.limits()
    result = crowdtruth(
        judgments, max_iterations=int(limits["iterations"]), tolerance=limits["tolerance"], progress=progress
    )
    return as_aggregation(result, multiple=judgments.sets is not None)


def _mace(judgments: Judgments, options: MethodOptions, progress: Progress | None) -> Aggregation:
    chosen = options.limits() | ({} if options.restarts is None else {"restarts": options.restarts})
    return mace(judgments, MaceSettings(seed=options.seed, **chosen), progress=progress)  # type: ignore[arg-type]


def _kos(judgments: Judgments, options: MethodOptions, progress: Progress | None) -> Aggregation:
    return kos(judgments, iterations=options.iterations or 100, seed=options.seed, progress=progress)


def _mmsr(judgments: Judgments, options: MethodOptions, progress: Progress | None) -> Aggregation:
    return mmsr(judgments, seed=options.seed, **options.limits(), progress=progress)  # type: ignore[arg-type]


def _zero_based_skill(judgments: Judgments, options: MethodOptions, progress: Progress | None) -> Aggregation:
    return zero_based_skill(judgments, iterations=options.iterations or 100, ties=options.ties, progress=progress)


METHODS: dict[str, Aggregator] = {
    "majority": lambda each, options, progress: majority(each, ties=options.ties, progress=progress),
    "confidence": lambda each, options, progress: confidence(each, trust=options.trust, progress=progress),
    "dawid-skene": lambda each, options, progress: dawid_skene(each, **options.limits(), progress=progress),  # type: ignore[arg-type]
    "one-coin": lambda each, options, progress: one_coin(each, **options.limits(), progress=progress),  # type: ignore[arg-type]
    "mace": _mace,
    "glad": lambda each, options, progress: glad(each, **options.limits(), progress=progress),  # type: ignore[arg-type]
    "wawa": lambda each, options, progress: wawa(each, ties=options.ties, progress=progress),
    "mmsr": _mmsr,
    "zero-based-skill": _zero_based_skill,
}
"""Methods that return probabilities or shares for any number of labels."""
KOS = "kos"
CROWDTRUTH = "crowdtruth"
TOLERANT = ("dawid-skene", "one-coin", "mace", "glad", "mmsr")
"""Methods with a tolerance."""
ITERATIVE = (*TOLERANT, "zero-based-skill", KOS)
SEEDED = ("mace", "mmsr", KOS)
"""Methods with random starts."""

PAIRWISE_METHODS = ("bradley-terry", "noisy-bradley-terry")
TEXT_METHODS = ("rover", "closest-to-average", "rasa", "hrrasa")
SEGMENTATION_METHODS = ("segmentation-majority", "segmentation-em", "segmentation-rasa")
NUMBER_METHODS = ("mean", "median")
OTHER_METHODS = (*PAIRWISE_METHODS, *TEXT_METHODS, *SEGMENTATION_METHODS, *NUMBER_METHODS)
"""Methods whose result is not a label from a list. They are listed here, and loaded on use."""
ITERATIVE_OTHERS = (*PAIRWISE_METHODS, "rasa", "hrrasa", "segmentation-em", "segmentation-rasa")


def method_names() -> tuple[str, ...]:
    """All methods by name: those of this package, and those of installed kits."""
    own = (*METHODS, KOS, CROWDTRUTH)
    return (*own, *(name for name in aggregators() if name not in own))


def aggregate(
    judgments: Judgments,
    method: str = "dawid-skene",
    options: MethodOptions | None = None,
    *,
    progress: Progress | None = None,
) -> Aggregation:
    """A method by its name: one of `method_names()`.

    For `crowdtruth`, unit-annotation scores replace probabilities, and units with one judgment are left out.
    """
    options = options or MethodOptions()
    result = _named(method)(judgments, options, progress)
    return replace(result, tie_rule=options.ties, tie_seed=options.seed)


def _named(method: str) -> Aggregator:
    of_kits = aggregators()
    own: Mapping[str, Aggregator] = {**METHODS, KOS: _kos, CROWDTRUTH: _crowdtruth}
    if method in own and method in of_kits:
        raise clash("aggregation method", method, of_kits.kits_with(method), own=True)
    if method in own:
        return own[method]
    if method in of_kits:
        by_kit: Aggregator = of_kits[method]
        blamed = blaming(f"aggregation method `{method}` of the kit `{of_kits.kit_of(method)}`", but=(ValueError,))
        return blamed(by_kit)
    names = method_names()
    raise ValueError(f"unknown method {method!r}. Use one of {', '.join(names)}.{did_you_mean(method, names)}")
