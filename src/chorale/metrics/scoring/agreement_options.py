"""Agreement coefficients and their options, declared once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal, get_args

from chorale.metrics.agreement import (
    Agreement,
    Distance,
    Level,
    PairEvidence,
    RaterPair,
    Weights,
    agreement_of_pairs,
    brennan_prediger,
    cohen_kappa,
    conger_kappa,
    fleiss_by_items,
    fleiss_kappa,
    gamma,
    gwet_ac,
    icc,
    kendall_tau,
    kendall_w,
    krippendorff_alpha,
    pair_evidence,
    pair_evidence_beside,
    percent_agreement,
    scott_pi,
    spearman_rho,
)
from chorale.metrics.agreement.icc import IccForm
from chorale.metrics.judgments import Judgments
from chorale.metrics.signatures import Setting
from chorale.model import UserError

CoefficientName = Literal[
    "alpha",
    "kappa",
    "fleiss",
    "pi",
    "percent",
    "gwet",
    "brennan-prediger",
    "conger",
    "icc",
    "kendall-w",
    "kendall-tau",
    "spearman",
    "gamma",
]
COEFFICIENTS: tuple[CoefficientName, ...] = get_args(CoefficientName)
Shares = Literal["judgments", "items"]
"""Whether label shares in Fleiss' κ are over all judgments, or means over items as in Gwet."""


@dataclass(frozen=True, slots=True)
class AgreementOptions:
    """What to compute. Options that a coefficient does not have are rejected, not ignored."""

    metric: str = "alpha"
    level: Level = "nominal"
    distance: str | Distance | None = None
    """A name, or a custom function."""
    order: tuple[str, ...] | None = None
    weights: Weights = "none"
    min_common: int = 1
    icc_form: IccForm = "2"
    shares: Shares = "judgments"
    seed: int = 1
    """Seed of the random spans of gamma."""

    def __post_init__(self) -> None:
        for field in fields(self):
            default = None if field.default is MISSING else field.default
            if field.name in _REFUSED and getattr(self, field.name) != default and field.name not in self._taken:
                raise UserError(_REFUSED[field.name])
        if self.level != "nominal" and self.distance:
            raise UserError("A level and a distance cannot be combined. Use only one of them.")
        by_rank = self.level == "ordinal" or self.weights != "none"
        if self.order and not by_rank and self.metric not in _ORDERED:
            raise UserError(_NOT_ORDERED)
        if self.metric == "fleiss" and self.shares == "judgments" and self.weights != "none":
            raise UserError("Weights for fleiss require --shares items.")

    @property
    def _taken(self) -> frozenset[str]:
        return _COEFFICIENTS[self.metric].options

    def compute(self, judgments: Judgments) -> Agreement:
        if self.metric == "fleiss" and self.shares == "judgments":
            return fleiss_kappa(judgments)
        chosen = _COEFFICIENTS[self.metric]
        options: Mapping[str, Any] = {name: getattr(self, name) for name in chosen.options - {"shares"}}
        return chosen.compute(judgments, **options)

    def pairs(self, judgments: Judgments) -> tuple[RaterPair, ...]:
        return agreement_of_pairs(judgments, weights=self._pair_weights, order=self._pair_order)

    def evidence(self, judgments: Judgments, pairs: Sequence[RaterPair]) -> list[PairEvidence]:
        """Evidence for the coefficients of these pairs."""
        only = frozenset((pair.first, pair.second) for pair in pairs)
        return list(pair_evidence(judgments, weights=self._pair_weights, order=self._pair_order, only=only))

    def evidence_beside(self, both: Judgments, n_tasks: int) -> list[PairEvidence]:
        return list(pair_evidence_beside(both, n_tasks, weights=self._pair_weights, order=self._pair_order))

    @property
    def _pair_weights(self) -> Weights:
        return self.weights if self.metric == "kappa" else "none"

    @property
    def _pair_order(self) -> tuple[str, ...] | None:
        return self.order if self.metric == "kappa" else None

    @property
    def distance_name(self) -> str | None:
        return getattr(self.distance, "__name__", "own") if callable(self.distance) else self.distance

    def measured_on(self) -> dict[str, Any]:
        """Description of the labels for `--json`."""
        level: str | None = self.level
        if self.distance:
            level = None
        elif self.weights != "none" or self.metric in _RANKED:
            level = "ordinal"
        elif self.metric == "icc":
            level = "interval"
        json: dict[str, Any] = {"level": level, "distance": self.distance_name}
        json["weights"] = self.weights if "weights" in self._taken else None
        return json | ({"icc_form": self.icc_form} if self.metric == "icc" else {})

    def settings(self) -> dict[str, Setting]:
        return {
            "level": self.level if self.metric == "alpha" and not self.distance else None,
            "distance": self.distance_name,
            "weights": self.weights if "weights" in self._taken and self.metric != "fleiss" else None,
            "order": self.order,
            "min-common": self.min_common if "min_common" in self._taken else None,
            "icc-form": self.icc_form if "icc_form" in self._taken else None,
            **({"seed": self.seed} if "seed" in self._taken else {}),
            **({"shares": "items", "weights": self.weights} if self.shares == "items" else {}),
        }


@dataclass(frozen=True, slots=True)
class _Coefficient:
    compute: Callable[..., Agreement]
    options: frozenset[str] = frozenset()
    """Options of `AgreementOptions` that `compute` takes as keywords."""


_WEIGHTED = frozenset({"weights", "order"})
_COEFFICIENTS: Mapping[str, _Coefficient] = {
    "alpha": _Coefficient(krippendorff_alpha, frozenset({"level", "distance", "order"})),
    "kappa": _Coefficient(cohen_kappa, _WEIGHTED | {"min_common"}),
    "fleiss": _Coefficient(fleiss_by_items, _WEIGHTED | {"shares"}),
    "pi": _Coefficient(scott_pi, frozenset({"min_common"})),
    "percent": _Coefficient(percent_agreement),
    "gwet": _Coefficient(gwet_ac, _WEIGHTED),
    "brennan-prediger": _Coefficient(brennan_prediger, _WEIGHTED),
    "conger": _Coefficient(conger_kappa, _WEIGHTED),
    "icc": _Coefficient(lambda judgments, icc_form: icc(judgments, form=icc_form), frozenset({"icc_form"})),
    "kendall-w": _Coefficient(kendall_w, frozenset({"order"})),
    "kendall-tau": _Coefficient(kendall_tau, frozenset({"order", "min_common"})),
    "spearman": _Coefficient(spearman_rho, frozenset({"order", "min_common"})),
    "gamma": _Coefficient(gamma, frozenset({"seed"})),
}
_RANKED = frozenset({"kendall-w", "kendall-tau", "spearman"})
_ORDERED = _RANKED | {"gwet", "brennan-prediger"}
"""Coefficients that use an order without weights: ranks need it, and two coefficients count labels that nobody
gave."""
_NOT_ORDERED = (
    "--order requires --level ordinal, --weights, or one of these coefficients: --metric gwet, brennan-prediger, "
    "kendall-w, kendall-tau or spearman. Add one of them, or omit --order."
)
_REFUSED = {
    "level": "Only alpha has levels and distances. Omit --level and --distance.",
    "distance": "Only alpha has levels and distances. Omit --level and --distance.",
    "weights": (
        "Only kappa, gwet, brennan-prediger, conger and fleiss have weights. Omit --weights, or use --metric kappa."
    ),
    "min_common": "Only kappa, pi, kendall-tau and spearman are means over pairs of workers. Omit --min-common.",
    "icc_form": "Only icc has forms. Omit --icc-form.",
    "shares": "Only fleiss has two kinds of label shares. Omit --shares.",
}
