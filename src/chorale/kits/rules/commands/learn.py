"""`chorale learn rules`"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from chorale.cli.arguments import AsJson
from chorale.cli.output import print_line, print_notes
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.scoring import print_scored
from chorale.files.targets import check_target, writing
from chorale.kits.rules.files.resources import RULE_ENDINGS, description_path, write_rules
from chorale.kits.rules.learning.global_graph import GlobalOptions
from chorale.kits.rules.learning.pipeline import LearnOptions, learn_rules
from chorale.kits.rules.learning.settings import Pruning, Resources, bytes_of, methods_of
from chorale.kits.rules.learning.tables import learning_result
from chorale.kits.rules.learning.work_folder import alone_in
from chorale.metrics.options import Force
from chorale.model.plural import plural

Extractions = Annotated[
    Path,
    Argument(
        metavar="EXTRACTIONS",
        help="Extractions (argument, predicate, argument): .tsv, .txt, .csv, .jsonl or .parquet, or ReVerb output; "
        "also compressed (.gz).",
    ),
]
MethodNames = Annotated[
    str,
    Option(
        metavar="NAME,…",
        help="Method: dirt, cover, binc or global. Several methods, separated by commas, share the computation.",
    ),
]
SpellingOfPredicates = Annotated[
    Literal["none", "case", "plain"],
    Option(
        metavar="NAME",
        help="Normalisation of predicates: none; case (lower case, single spaces); plain (also without punctuation).",
    ),
]
SpellingOfArguments = Annotated[
    Literal["none", "case", "plain"],
    Option(
        metavar="NAME",
        help="Normalisation of arguments: none; case; plain (also without leading articles).",
    ),
]
MaxPredicates = Annotated[
    int, Option(min=2, help="Leave out fillers that occur in more slots than this, counted over all predicates.")
]
MinScore = Annotated[float, Option(metavar="SCORE", min=0, max=1, help="Leave out rules with a score below this.")]
Columns = Annotated[
    str | None,
    Option(
        metavar="A,P,A[,N]",
        help="Columns of argument, predicate, argument and optionally count: positions from 1, or names.",
    ),
]
ArgumentNames = Annotated[Path | None, Option(help="File with the names of numbered arguments: name, tab, number.")]
PredicateNames = Annotated[Path | None, Option(help="File with the names of numbered predicates.")]
Strict = Annotated[bool, Option(help="Stop at malformed lines instead of leaving them out.")]
EngineName = Annotated[
    str, Option(metavar="NAME", help="Engine: duckdb (in this process), spark://HOST:PORT or spark:local[N].")
]
Memory = Annotated[str, Option(metavar="SIZE", help="Memory limit. Data beyond it are stored on disk.")]
Buckets = Annotated[
    int | None,
    Option(
        min=1, max=100_000, help="Number of partitions of the pairs. Default: depends on their number and the memory."
    ),
]
Work = Annotated[
    Path | None,
    Option(
        metavar="DIR",
        help="Folder for finished parts; with Spark, a folder that all machines can access. Default: next to --out.",
    ),
]
Pairs = Annotated[
    list[Path] | None,
    Option(help="For global: judged rules to train on, in a format that `chorale evaluate rules` reads. Repeatable."),
]
WordNetFolder = Annotated[
    Path | None,
    Option(metavar="DIR", help="For global without --pairs: WordNet folder. Default: the standard locations."),
]
Sparsity = Annotated[
    float,
    Option("--lambda", metavar="NUMBER", min=-100, max=100, help="For global: minimum log-odds of an edge."),
]
Seconds = Annotated[
    float,
    Option(metavar="S", min=0, help="For global: time limit per component; beyond it, the solution is approximate."),
]


def rules(
    extractions: Extractions,
    method: MethodNames,
    out: Annotated[Path, Option(help="Output file for the rules: .tsv or .parquet.")] = Path("rules.tsv"),
    predicates: SpellingOfPredicates = "case",
    arguments: SpellingOfArguments = "case",
    min_predicate: Annotated[int, Option(min=1, help="Leave out predicates with fewer extractions than this.")] = 10,
    min_filler: Annotated[
        int, Option(min=1, help="Leave out fillers (arguments in a slot) that occur less often than this.")
    ] = 1,
    max_predicates: MaxPredicates = 1000,
    min_shared: Annotated[int, Option(min=1, help="Minimum number of shared fillers in each of the two slots.")] = 1,
    min_score: MinScore = 0.01,
    columns: Columns = None,
    argument_names: ArgumentNames = None,
    predicate_names: PredicateNames = None,
    strict: Strict = False,
    pairs: Pairs = None,
    wordnet: WordNetFolder = None,
    sparsity: Sparsity = 1.0,
    exact_up_to: Annotated[
        int, Option(min=0, help="For global: maximum number of predicates in a component that is solved exactly.")
    ] = 100,
    seconds: Seconds = 60.0,
    engine: EngineName = "duckdb",
    memory: Memory = "4GB",
    threads: Annotated[int, Option(min=1, max=1024, help="Number of threads.")] = 2,
    buckets: Buckets = None,
    work: Work = None,
    keep_work: Annotated[bool, Option(help="Keep the finished parts at the end.")] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Learn inference rules between predicates from extractions."""
    check_target(out, "--out", force=force, endings=RULE_ENDINGS)
    options = LearnOptions(
        methods=methods_of(method),
        predicates=predicates,
        arguments=arguments,
        pruning=Pruning(min_predicate, min_filler, max_predicates, min_shared, min_score),
        columns=columns,
        argument_names=argument_names,
        predicate_names=predicate_names,
        strict=strict,
        pairs=tuple(pairs or ()),
        wordnet=wordnet,
        graph=GlobalOptions(sparsity, exact_up_to, seconds),
    )
    resources = Resources(engine, bytes_of(memory), threads, buckets)
    with _working_in(work, out, keep=keep_work) as folder, patiently("stages") as progress:
        learned = learn_rules(extractions, folder, options, resources, progress)
        scored = learning_result(learned, options)
        with writing(out, "--out"):
            write_rules(learned.rules, out, scored.as_json())
        if not keep_work:
            shutil.rmtree(learned.rules[0].parent, ignore_errors=True)
    print_scored(scored, as_json=as_json, as_latex=False)
    if not as_json:
        count = sum(learned.by_method.values())
        print_line(f"Wrote {plural(count, 'rule', 'rules')} to {out}, and a description to {description_path(out)}.")


@contextmanager
def _working_in(work: Path | None, out: Path, *, keep: bool) -> Iterator[Path]:
    """The folder of finished parts. The default folder is deleted at the end, and kept after an interruption."""
    folder = work or out.with_name(f"{out.name}.work")
    try:
        with alone_in(folder):
            yield folder
            if work is None and not keep:
                shutil.rmtree(folder, ignore_errors=True)
    except KeyboardInterrupt:
        print_notes([f"Interrupted. Finished parts are kept in {folder}. Run the same command again to continue."])
        raise SystemExit(130) from None
