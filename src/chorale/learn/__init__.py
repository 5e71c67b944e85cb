"""Inference rules from extractions: one description of each computation, run embedded or on a cluster."""

from chorale.learn.globally import GlobalOptions, GraphFacts
from chorale.learn.graphs import Edge, Solved, Weights
from chorale.learn.learning import Learned, LearnOptions, learn_rules
from chorale.learn.settings import METHODS, Pruning, Resources
from chorale.learn.solving import solve_graph
from chorale.learn.synthetic import synthetic_extractions

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
