"""Globally consistent rules: the best entailment graph over local scores (Berant, Dagan and Goldberger 2010).

The weight of an edge is its log-odds from the classifier minus λ. A larger λ gives fewer edges.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from chorale.files.tables import replacing
from chorale.kits.rules.files.rules import Rule
from chorale.kits.rules.learning.classifier import FEATURES, Classifier, trained
from chorale.kits.rules.learning.graphs import Edge, Solved, Weights, components
from chorale.kits.rules.learning.solving import EXACT_UP_TO, SECONDS, solve_component
from chorale.metrics import FloatArray
from chorale.model import UserError
from chorale.model.plural import plural

_EDGES_A_PART = 20_000
_FEWEST_EXAMPLES = 2


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    sparsity: float = 1.0
    """λ: minimum log-odds of an edge."""
    exact_up_to: int = EXACT_UP_TO
    """Components with more predicates are solved approximately."""
    seconds: float = SECONDS
    """Components that take longer are solved approximately."""


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """Statistics of the graph."""

    components: int
    largest: int
    """Number of predicates in the largest component."""
    nearly: int
    """Number of components that were solved approximately."""
    objective: float
    bound: float
    examples: int
    rules_among_examples: int
    coefficients: Mapping[str, float]

    @property
    def gap(self) -> float:
        """Maximum fraction of the objective that was missed."""
        return (self.bound - self.objective) / self.bound if self.bound > 0 else 0.0


def train_on(
    pairs: pl.DataFrame, predicates: pl.DataFrame, examples: Mapping[Rule, bool]
) -> tuple[Classifier, int, int]:
    """Trains a classifier on examples with known predicates. Also returns the numbers of examples and rules."""
    rows = [(*rule, holds) for rule, holds in sorted(examples.items())]
    given = pl.DataFrame(
        rows, schema={"left": pl.String, "right": pl.String, "turned": pl.Boolean, "holds": pl.Boolean}, orient="row"
    )
    numbers = predicates.select("predicate", pl.col("p"))
    known = given.join(numbers.rename({"predicate": "left", "p": "lhs"}), on="left")
    known = known.join(numbers.rename({"predicate": "right", "p": "rhs"}), on="right")
    scored = known.join(pairs, on=["lhs", "rhs", "turned"], how="left", maintain_order="left")
    holds = scored["holds"].to_numpy().astype(np.float64)
    rules = int(holds.sum())
    if rules < _FEWEST_EXAMPLES or len(holds) - rules < _FEWEST_EXAMPLES:
        raise UserError(
            f"Too few of the {len(rows):,} examples have predicates that were kept: {plural(rules, 'rule', 'rules')} "
            f"and {plural(len(holds) - rules, 'other example', 'other examples')}. Add examples with --pairs, or lower "
            "--min-predicate."
        )
    features = scored.select(pl.col(name).fill_null(0.0) for name in FEATURES).to_numpy()
    return trained(features, holds), len(holds), rules


def graph_weights(pairs: pl.DataFrame, classifier: Classifier, sparsity: float) -> Weights:
    """Weights of all scored edges between predicates that have an edge of positive weight."""
    other = float(classifier.log_odds(np.zeros(len(FEATURES)))) - sparsity
    if other >= 0:
        raise UserError(
            "With these examples, predicates without common fillers would entail each other. "
            f"Set --lambda above {other + sparsity:.2f}, or use better examples."
        )
    weight = classifier.log_odds(pairs.select(FEATURES).to_numpy()) - sparsity
    table = pairs.select("lhs", "rhs", "turned").with_columns(weight=weight)
    worth = table.filter(pl.col("weight") > 0)
    nodes = pl.concat([worth["lhs"], worth["rhs"]]).unique()
    kept = table.filter(pl.col("lhs").is_in(nodes.implode()) & pl.col("rhs").is_in(nodes.implode()))
    return Weights({Edge(lhs, rhs, turned): each for lhs, rhs, turned, each in kept.iter_rows()}, other)


def solved_parts(
    weights: Weights, folder: Path, options: GlobalOptions, progress: Callable[[int, int], None]
) -> Iterator[Solved]:
    """Solves components one by one. Components solved in an earlier run are read from the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = components(weights)
    batches = list(_batches(parts))
    done = 0
    for number, batch in enumerate(batches):
        path = folder / f"{number:05}.parquet"
        if not path.exists():
            solved = []
            for known in batch:
                only = Weights(known, weights.other)
                solved.append(solve_component(only, exact_up_to=options.exact_up_to, seconds=options.seconds))
                done += 1
                progress(done, len(parts))
            _write(path, solved)
        else:
            done += len(batch)
        yield from _read(path)


def _batches(parts: list[dict[Edge, float]]) -> Iterator[list[dict[Edge, float]]]:
    batch: list[dict[Edge, float]] = []
    size = 0
    for part in parts:
        if batch and size + len(part) > _EDGES_A_PART:
            yield batch
            batch, size = [], 0
        batch.append(part)
        size += len(part)
    if batch:
        yield batch


def _write(path: Path, solved: list[Solved]) -> None:
    edges = [
        {"component": number, "objective": part.objective, "bound": part.bound, "exact": part.exact, **edge._asdict()}
        for number, part in enumerate(solved)
        for edge in (sorted(part.edges) or [Edge(-1, -1, turned=False)])
    ]
    with replacing(path) as draft:
        pl.DataFrame(edges).write_parquet(draft)


def _read(path: Path) -> Iterator[Solved]:
    for rows in pl.read_parquet(path).partition_by("component", maintain_order=True):
        edges = frozenset(
            Edge(lhs, rhs, turned) for lhs, rhs, turned in rows.select("lhs", "rhs", "turned").iter_rows() if lhs >= 0
        )
        first: dict[str, Any] = rows.row(0, named=True)
        yield Solved(edges, first["objective"], first["bound"], exact=first["exact"])


def graph_rules(
    pairs: pl.DataFrame, edges: pl.DataFrame, predicates: pl.DataFrame, classifier: Classifier
) -> pl.DataFrame:
    """`lhs`, `rhs`, `score`, `method` of the edges of a graph. The score is the classifier's score of the edge."""
    scored = edges.join(pairs, on=["lhs", "rhs", "turned"], how="left", maintain_order="left")
    features: FloatArray = scored.select(pl.col(name).fill_null(0.0) for name in FEATURES).to_numpy()
    names = predicates.select("p", "predicate")
    table = scored.select("lhs", "rhs", "turned").with_columns(score=classifier.probability(features))
    table = table.join(names.rename({"p": "lhs", "predicate": "left"}), on="lhs")
    table = table.join(names.rename({"p": "rhs", "predicate": "right"}), on="rhs")
    mark = pl.when("turned").then(pl.lit("@R@")).otherwise(pl.lit(""))
    table = table.sort("lhs", "score", "rhs", "turned", descending=[False, True, False, False])
    return table.select(
        pl.col("left").alias("lhs"),
        pl.concat_str("right", mark).alias("rhs"),
        "score",
        pl.lit("global").alias("method"),
    )


def solve_globally(
    pairs: pl.DataFrame,
    predicates: pl.DataFrame,
    examples: Mapping[Rule, bool],
    folder: Path,
    options: GlobalOptions,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> tuple[pl.DataFrame, GraphFacts]:
    """The rules of the best graph, with statistics. `pairs` has `lhs`, `rhs`, `turned` and the features."""
    classifier, used, rules = train_on(pairs, predicates, examples)
    weights = graph_weights(pairs, classifier, options.sparsity)
    solved = list(solved_parts(weights, folder, options, progress))
    edges = pl.DataFrame(
        sorted(edge for one in solved for edge in one.edges),
        schema={"lhs": pl.Int32, "rhs": pl.Int32, "turned": pl.Boolean},
        orient="row",
    )
    facts = GraphFacts(
        components=len(solved),
        largest=max((len({node for edge in part for node in edge[:2]}) for part in components(weights)), default=0),
        nearly=sum(not one.exact for one in solved),
        objective=sum(one.objective for one in solved),
        bound=sum(one.bound for one in solved),
        examples=used,
        rules_among_examples=rules,
        coefficients=dict(zip(FEATURES, map(float, classifier.coefficients), strict=True)),
    )
    return graph_rules(pairs, edges, predicates, classifier), facts
