"""Learns inference rules from extractions. Each computation is defined once and runs locally or on a cluster."""

from chorale.kits.rules.learning.global_graph import GlobalOptions, GraphFacts
from chorale.kits.rules.learning.graphs import Edge, Solved, Weights
from chorale.kits.rules.learning.pipeline import Learned, LearnOptions, learn_rules
from chorale.kits.rules.learning.settings import METHODS, Pruning, Resources
from chorale.kits.rules.learning.solving import solve_graph
from chorale.kits.rules.learning.synthetic import synthetic_extractions

__all__ = [
    "METHODS",
    "Edge",
    "GlobalOptions",
    "GraphFacts",
    "LearnOptions",
    "Learned",
    "Pruning",
    "Resources",
    "Solved",
    "Weights",
    "learn_rules",
    "solve_graph",
    "synthetic_extractions",
]
