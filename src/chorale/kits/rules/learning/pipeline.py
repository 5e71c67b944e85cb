"""Learns scored rules from a file of extractions, in stages whose results are kept until the end."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from chorale import __version__
from chorale.files.tables import replacing
from chorale.kits.rules.files.extractions import file_digest, names_of, write_extractions
from chorale.kits.rules.files.rules import Rule, read_judged
from chorale.kits.rules.learning.engines import Engine, opened_engine
from chorale.kits.rules.learning.examples import examples_from_wordnet
from chorale.kits.rules.learning.global_graph import GlobalOptions, GraphFacts, solve_globally
from chorale.kits.rules.learning.settings import LOCAL_METHODS, Method, Normalisation, Pruning, Resources
from chorale.kits.rules.learning.work_folder import WorkFolder, key_of, work_folder
from chorale.metrics import signature
from chorale.metrics.signatures import Setting
from chorale.model import Problem, UserError
from chorale.model.plural import plural
from chorale.text.wordnet import read_wordnet

_STAGES = 7
_BYTES_A_PAIR = 256
_FEWEST_PAIRS = 1_000_000
_DIGITS = 12
_RULES_A_PART = 2_000_000


@dataclass(frozen=True, slots=True)
class LearnOptions:
    methods: tuple[Method, ...]
    predicates: Normalisation = "case"
    arguments: Normalisation = "case"
    pruning: Pruning = field(default_factory=Pruning)
    columns: str | None = None
    argument_names: Path | None = None
    predicate_names: Path | None = None
    strict: bool = False
    pairs: tuple[Path, ...] = ()
    """For `global`: files of judged rules to train on."""
    wordnet: Path | None = None
    """For `global` without `pairs`: the WordNet folder, if not in a standard location."""
    graph: GlobalOptions = field(default_factory=GlobalOptions)


@dataclass(frozen=True, slots=True)
class Learned:
    """The learned rules, with statistics."""

    rules: tuple[Path, ...]
    """Parquet files or folders: `lhs`, `rhs`, `score`, `method`, ordered by method and predicate, best first."""
    by_method: Mapping[str, int]
    extractions: int
    malformed: int
    problems: tuple[Problem, ...]
    predicates: int
    kept_predicates: int
    features: int
    """Number of kept fillers of slots with positive mutual information."""
    joined_pairs: int
    buckets: int
    signature: str
    resumed: tuple[str, ...]
    """Parts reused from an earlier run."""
    graph: GraphFacts | None


def learn_rules(
    path: Path,
    work: Path,
    options: LearnOptions,
    resources: Resources | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Learned:
    """Learns rules with one or more methods that compare pairs of predicates: `dirt`, `cover`, `binc`.

    Finished files in `work` from an earlier call with the same input and options are reused.
    """
    resources = resources or Resources()
    names = {"argument-names": options.argument_names, "predicate-names": options.predicate_names}
    files: dict[str, Path | None] = {"extractions": path, **names}
    inputs = {name: file_digest(file) for name, file in files.items() if file is not None}
    settings = signature_settings(options)
    folder = work_folder(work, {**settings, **inputs, "strict": options.strict, "version": __version__}, progress)
    local = tuple(method for method in options.methods if method in LOCAL_METHODS)
    by_method: dict[str, int] = {}
    rules: list[Path] = []
    graph = None
    with opened_engine(resources, folder.path) as engine:
        compared = compare_predicates(path, folder, engine, options, resources)
        for method in local:
            target, by_method[method] = _written(folder, engine, compared, method, options.pruning.min_score)
            rules.append(target)
    if "global" in options.methods:
        examples, of_examples = _examples(folder, options)
        settings |= {f"graph-{name.replace('_', '-')}": value for name, value in asdict(options.graph).items()}
        inputs |= of_examples
        graph_file, graph = _globally(folder, compared, examples, options, key_of({**settings, **inputs}))
        rules.append(graph_file)
        by_method["global"] = pl.scan_parquet(graph_file).select(pl.len()).collect().item()
    return Learned(
        rules=tuple(rules),
        by_method=by_method,
        signature=signature(
            "learn-rules",
            {"method": options.methods, **settings},
            {name: digest[:8] for name, digest in inputs.items()},
        ),
        resumed=tuple(folder.reused),
        graph=graph,
        **compared.facts,
    )


def _written(
    folder: WorkFolder, engine: Engine, compared: "ScoredPredicates", method: Method, min_score: float
) -> tuple[Path, int]:
    """The rules of a method in blocks of left sides, so that each sort fits into memory."""
    strong = compared.rules.filter(compared.rules[method] >= min_score)
    count = int(engine.row(strong.agg(rules=strong.count()))["rules"])
    kept = compared.facts["kept_predicates"]
    parts = min(kept, max(1, -(-count // _RULES_A_PART)))
    folder.expected += parts - 1
    name = f"rules-{method}-{parts}"
    for part in range(parts):
        low, high = part * kept // parts, (part + 1) * kept // parts

        def some(low: int = low, high: int = high) -> Any:
            return named_rules(compared, method, min_score, low, high)

        folder.table(engine, f"{name}/{part:05}", some)
    return folder.path / name, count


def _examples(folder: WorkFolder, options: LearnOptions) -> tuple[dict[Rule, bool], dict[str, str]]:
    """Training pairs, and the digests of their sources."""
    if options.pairs:
        judged = {str(path): read_judged(path) for path in options.pairs}
        votes: dict[Rule, int] = defaultdict(int)
        for file in judged.values():
            for application in file.applications:
                votes[application.rule] += 1 if application.entails else -1
        digests = {f"pairs{number or ''}": file.digest for number, file in enumerate(judged.values())}
        # A rule with as many valid as invalid applications is not used as an example.
        return {rule: vote > 0 for rule, vote in votes.items() if vote}, digests
    wordnet = read_wordnet(options.wordnet)
    predicates = _stored(folder, "predicates.parquet")["predicate"].to_list()
    return examples_from_wordnet(predicates, wordnet), {"wordnet": wordnet.digest}


def _globally(
    folder: WorkFolder, compared: "ScoredPredicates", examples: dict[Rule, bool], options: LearnOptions, key: str
) -> tuple[Path, GraphFacts]:
    pairs = _stored(folder, f"pairs-{compared.facts['buckets']}")
    predicates = _stored(folder, "predicates.parquet")
    parts = folder.path / f"graph-{key}"
    table, facts = solve_globally(pairs, predicates, examples, parts, options.graph, folder.progress)
    target = folder.path / f"rules-global-{key}.parquet"
    with replacing(target) as draft:
        table.write_parquet(draft)
    return target, facts


def _stored(folder: WorkFolder, name: str) -> pl.DataFrame:
    """A finished part: a file, or a folder of files, possibly in subfolders."""
    path = folder.path / name
    return pl.read_parquet(path / "**/*.parquet" if path.is_dir() else path)


@dataclass(frozen=True, slots=True)
class ScoredPredicates:
    """Pairs of predicates with their scores, as tables of an engine."""

    rules: Any
    """`lhs`, `rhs`, `turned`, `dirt`, `cover`, `binc`, `back`; predicates by number."""
    predicates: Any
    """`p`, `predicate`, `extractions`."""
    facts: dict[str, Any]


def compare_predicates(
    path: Path, folder: WorkFolder, engine: Engine, options: LearnOptions, resources: Resources
) -> ScoredPredicates:
    """Computes the scores of pairs, which all methods need."""
    from chorale.kits.rules.learning import counting, similarity  # noqa: PLC0415 - they need the extra `rules`, now known to be there

    pruning = options.pruning
    folder.expected = _STAGES
    read = folder.folder("extractions", lambda target: _read(path, target, options))
    extractions = engine.table(folder.path / "extractions")

    def slots_of_sound() -> Any:
        return counting.slots_of(counting.normalised(extractions, options.predicates, options.arguments))

    slots = folder.table(engine, "slots", slots_of_sound)
    size = engine.row(
        slots.filter(slots.slot == counting.X).agg(
            extractions=slots["count"].sum().cast("int64"), predicates=slots.predicate.nunique()
        )
    )
    predicates = folder.table(engine, "predicates", lambda: counting.predicates_of(slots, pruning))
    kept = engine.row(predicates.agg(predicates=predicates.count()))["predicates"]
    problems = tuple(Problem(**problem) for problem in read["problems"])
    _check_enough(path, kept, size["predicates"], pruning, problems)
    weighed = folder.table(
        engine, "weighed", lambda: counting.weighed_slots(slots, predicates, size["extractions"], pruning)
    )
    fillers = folder.table(engine, "fillers", lambda: counting.fillers_of(weighed, pruning))
    features = folder.table(engine, "features", lambda: counting.features_of(weighed, fillers))
    totals = folder.table(engine, "totals", lambda: similarity.totals_of(features))
    counted = engine.row(features.agg(features=features.count()))
    pairs = int(engine.row(similarity.joined_pairs(features))["pairs"] or 0)
    buckets = resources.buckets or _buckets(pairs, resources.memory)
    folder.expected = _STAGES + buckets + len(options.methods)
    rules = _scored_pairs(folder, engine, features, totals, pruning, buckets)
    facts = {
        "extractions": read["rows"],
        "malformed": read["malformed"],
        "problems": problems,
        "predicates": size["predicates"],
        "kept_predicates": kept,
        "features": counted["features"],
        "joined_pairs": pairs,
        "buckets": buckets,
    }
    return ScoredPredicates(rules, predicates, facts)


def _scored_pairs(
    folder: WorkFolder, engine: Engine, features: Any, totals: Any, pruning: Pruning, buckets: int
) -> Any:
    """Computes the scores of all pairs bucket by bucket, and keeps each finished bucket."""
    from chorale.kits.rules.learning import similarity  # noqa: PLC0415 - needs the extra `rules`

    for bucket in range(buckets):

        def scored(bucket: int = bucket) -> Any:
            shared = similarity.shared_weights(features, bucket, buckets, pruning)
            return similarity.rule_scores(shared, totals, pruning)

        folder.table(engine, f"pairs-{buckets}/{bucket:05}", scored)
    return engine.table(folder.path / f"pairs-{buckets}")


def named_rules(compared: ScoredPredicates, method: Method, min_score: float, low: int, high: int) -> Any:
    """`lhs`, `rhs`, `score`, `method` for a range of predicate numbers.

    `@R@` after the right side marks swapped arguments.
    """
    import ibis  # noqa: PLC0415 - of the extra `rules`

    rules, names = compared.rules, compared.predicates
    strong = rules.filter(rules[method] >= min_score, rules.lhs >= low, rules.lhs < high)
    strong = strong.select("lhs", "rhs", "turned", score=rules[method])
    left = names.select(lhs=names.p, left=names.predicate)
    right = names.select(rhs=names.p, right=names.predicate)
    table = strong.inner_join(left, "lhs").inner_join(right, "rhs")
    # The number of threads affects the last digits of sums, which must not determine the order.
    table = table.mutate(score=table.score.round(_DIGITS))
    table = table.order_by(["lhs", ibis.desc("score"), "rhs", "turned"])
    mark = ibis.ifelse(table.turned, "@R@", "")
    return table.select(lhs=table.left, rhs=table.right + mark, score=table.score, method=ibis.literal(method))


def signature_settings(options: LearnOptions) -> dict[str, Setting]:
    pruning = {name.replace("_", "-"): value for name, value in asdict(options.pruning).items()}
    return {"predicates": options.predicates, "arguments": options.arguments, "columns": options.columns, **pruning}


def _read(path: Path, target: Path, options: LearnOptions) -> dict[str, Any]:
    names = names_of(options.argument_names, options.predicate_names)
    return asdict(write_extractions(path, target, columns=options.columns, names=names, strict=options.strict))


def _check_enough(path: Path, kept: int, predicates: int, pruning: Pruning, problems: tuple[Problem, ...]) -> None:
    if kept < 2:
        frequent = f"at least {plural(pruning.min_predicate, 'extraction', 'extractions')}"
        have = "has" if kept == 1 else "have"
        raise UserError(
            f"{path}: only {kept} of {plural(predicates, 'predicate', 'predicates')} {have} {frequent}. "
            "Lower --min-predicate, or learn from more extractions"
            + (", or correct the malformed lines" if problems else "."),
            problems,
        )


def _buckets(pairs: int, memory: int) -> int:
    """Number of buckets such that the pairs of one bucket fit into memory, even if all are distinct."""
    return max(1, -(-pairs // max(_FEWEST_PAIRS, memory // _BYTES_A_PAIR)))
