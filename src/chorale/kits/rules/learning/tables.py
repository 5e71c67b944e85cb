"""Tables about learned rules."""

from dataclasses import asdict
from typing import Any

from chorale.kits.rules.learning.global_graph import GraphFacts
from chorale.kits.rules.learning.pipeline import Learned, LearnOptions
from chorale.metrics.score import Result
from chorale.metrics.score_table import ScoreTable
from chorale.model.plural import plural


def learning_result(learned: Learned, options: LearnOptions) -> Result:
    """Counts of input, kept predicates and output, with notes on malformed lines and approximate solutions."""
    counts = ("predicates", "kept_predicates", "features", "joined_pairs", "buckets")
    json: dict[str, Any] = {
        "rules": dict(learned.by_method),
        "extractions": learned.extractions,
        "malformed": learned.malformed,
        "problems": [str(problem) for problem in learned.problems],
        **{name: getattr(learned, name) for name in counts},
        "resumed": list(learned.resumed),
    }
    tables = [
        ScoreTable("Rules", ("method", "rules#"), list(learned.by_method.items())),
        ScoreTable(
            "Input",
            ("quantity", "number#"),
            [
                ("extractions", learned.extractions),
                ("malformed lines", learned.malformed),
                ("predicates", learned.predicates),
                (
                    f"predicates with at least {plural(options.pruning.min_predicate, 'extraction', 'extractions')}",
                    learned.kept_predicates,
                ),
                ("fillers of the slots of these predicates", learned.features),
                ("pairs of slots with a common filler", learned.joined_pairs),
            ],
        ),
    ]
    notes = [str(problem) for problem in learned.problems]
    if learned.malformed:
        notes.append(f"{plural(learned.malformed, 'line is', 'lines are')} malformed and left out.")
    if not any(learned.by_method.values()):
        lower = "--min-predicate, --min-filler, --min-shared and --min-score"
        notes.append(f"No rules found. Lower {lower}, or use more extractions.")
    if learned.resumed:
        notes.append(f"{plural(len(learned.resumed), 'part was', 'parts were')} reused from an earlier run.")
    if learned.graph is not None:
        json["graph"] = {**asdict(learned.graph), "gap": learned.graph.gap}
        tables.append(_graph_table(learned.graph))
        if learned.graph.nearly:
            parts = plural(learned.graph.nearly, "part of the graph was", "parts of the graph were")
            distance = f"the objective is at most {learned.graph.gap:.2%} below the optimum"
            notes.append(f"{parts} solved approximately: {distance}.")
    return Result(json, tables, learned.signature, tuple(notes))


def _graph_table(graph: GraphFacts) -> ScoreTable:
    rows: list[tuple[str, float | int]] = [
        ("parts", graph.components),
        ("predicates of the largest part", graph.largest),
        ("parts solved approximately", graph.nearly),
        ("objective", graph.objective),
        ("upper bound", graph.bound),
        ("examples", graph.examples),
        ("rules among the examples", graph.rules_among_examples),
        *((f"coefficient of {name}", value) for name, value in graph.coefficients.items()),
    ]
    return ScoreTable("Graph", ("quantity", "value#"), rows)
