"""Chance-corrected agreement: coefficients, tables of pairs and items, distances."""

from chorale.metrics.agreement.alpha import krippendorff_alpha
from chorale.metrics.agreement.chance import brennan_prediger, fleiss_by_items, gwet_ac
from chorale.metrics.agreement.conger import conger_kappa
from chorale.metrics.agreement.distances import DISTANCES, Distance
from chorale.metrics.agreement.fleiss import fleiss_kappa, percent_agreement
from chorale.metrics.agreement.gamma import gamma
from chorale.metrics.agreement.icc import icc
from chorale.metrics.agreement.pair_evidence import PairEvidence, pair_evidence, pair_evidence_beside
from chorale.metrics.agreement.pairs import RaterPair, agreement_of_pairs, cohen_kappa, scott_pi
from chorale.metrics.agreement.ranks import kendall_tau, kendall_w, spearman_rho
from chorale.metrics.agreement.result import Agreement, side_by_side
from chorale.metrics.agreement.scales import LEVELS, WEIGHTS, Level, UnfitLabelError, Weights

__all__ = [
    "DISTANCES",
    "LEVELS",
    "WEIGHTS",
    "Agreement",
    "Distance",
    "Level",
    "PairEvidence",
    "RaterPair",
    "UnfitLabelError",
    "Weights",
    "agreement_of_pairs",
    "brennan_prediger",
    "cohen_kappa",
    "conger_kappa",
    "fleiss_by_items",
    "fleiss_kappa",
    "gamma",
    "gwet_ac",
    "icc",
    "kendall_tau",
    "kendall_w",
    "krippendorff_alpha",
    "pair_evidence",
    "pair_evidence_beside",
    "percent_agreement",
    "scott_pi",
    "side_by_side",
    "spearman_rho",
]
