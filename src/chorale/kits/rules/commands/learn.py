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

Extractions = Annotated[
    Path,
    Argument(
        metavar="EXTRACTIONS",
        help="Arguments and predicates: .tsv, .txt, .csv, .jsonl or .parquet, or what ReVerb writes; .gz as well.",
    ),
]
MethodNames = Annotated[
    str, Option(metavar="NAME,…", help="dirt, cover, binc or global; several with commas between share the work.")
]
SpellingOfPredicates = Annotated[
    Literal["none", "case", "plain"],
    Option(
        metavar="NAME",
        help="How predicates are made alike: none; case (small letters, single spaces); plain (and no marks).",
    ),
]
SpellingOfArguments = Annotated[
    Literal["none", "case", "plain"],
    Option(
        metavar="NAME",
        help="The same for arguments; plain leaves out articles and the like at their beginning as well.",
    ),
]
MaxPredicates = Annotated[int, Option(min=2, help="Leave out fillers of more slots than this, over all predicates.")]
MinScore = Annotated[float, Option(metavar="SCORE", min=0, max=1, help="Leave out rules with a lower score.")]
Columns = Annotated[
    str | None,
    Option(
        metavar="A,P,A[,N]",
        help="Which columns are argument, predicate, argument and perhaps count: places from 1, or names.",
    ),
]
ArgumentNames = Annotated[
    Path | None, Option(help="What the numbers of arguments stand for, if they are numbers: name, tab, number.")
]
PredicateNames = Annotated[Path | None, Option(help="What the numbers of predicates stand for.")]
Strict = Annotated[bool, Option(help="Stop at malformed lines instead of counting them.")]
EngineName = Annotated[
    str, Option(metavar="NAME", help="duckdb, in this process; spark://HOST:PORT or spark:local[N].")
]
Memory = Annotated[str, Option(metavar="SIZE", help="What it may hold in memory; the rest goes to the disk.")]
Buckets = Annotated[
    int | None,
    Option(
        min=1, max=100_000, help="Into how many parts pairs are divided. By their number and the memory if not given."
    ),
]
Work = Annotated[
    Path | None,
    Option(
        metavar="DIR",
        help="Where finished parts are kept. With Spark, a folder that all machines see. Beside --out if not given.",
    ),
]
Pairs = Annotated[
    list[Path] | None,
    Option(help="For global: judged rules to train on, as chorale evaluate rules reads them. May be given again."),
]
WordNetFolder = Annotated[
    Path | None,
    Option(metavar="DIR", help="For global without --pairs: the folder of WordNet. The usual places if not given."),
]
Sparsity = Annotated[
    float,
    Option(
        "--lambda", metavar="NUMBER", min=-100, max=100, help="For global: log-odds an edge must exceed to be worth it."
    ),
]
Seconds = Annotated[float, Option(metavar="S", min=0, help="For global: parts that take longer are solved nearly.")]


def rules(
    extractions: Extractions,
    method: MethodNames,
    out: Annotated[Path, Option(help="Where the rules go: a .tsv or .parquet file.")] = Path("rules.tsv"),
    predicates: SpellingOfPredicates = "case",
    arguments: SpellingOfArguments = "case",
    min_predicate: Annotated[int, Option(min=1, help="Leave out predicates with fewer extractions.")] = 10,
    min_filler: Annotated[int, Option(min=1, help="Leave out fillers a slot has fewer times.")] = 1,
    max_predicates: MaxPredicates = 1000,
    min_shared: Annotated[int, Option(min=1, help="How many fillers both slots of a pair must share.")] = 1,
    min_score: MinScore = 0.01,
    columns: Columns = None,
    argument_names: ArgumentNames = None,
    predicate_names: PredicateNames = None,
    strict: Strict = False,
    pairs: Pairs = None,
    wordnet: WordNetFolder = None,
    sparsity: Sparsity = 1.0,
    exact_up_to: Annotated[int, Option(min=0, help="For global: parts of more predicates are solved nearly.")] = 100,
    seconds: Seconds = 60.0,
    engine: EngineName = "duckdb",
    memory: Memory = "4GB",
    threads: Annotated[int, Option(min=1, max=1024, help="How many threads it may use.")] = 2,
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
        print_line(f"Wrote {count:,} rules to {out}, and how they came about to {description_path(out)}.")


@contextmanager
def _working_in(work: Path | None, out: Path, *, keep: bool) -> Iterator[Path]:
    """The folder of finished parts. One of our own goes when all is done; interrupted work leaves it to go on from."""
    folder = work or out.with_name(f"{out.name}.work")
    try:
        with alone_in(folder):
            yield folder
            if work is None and not keep:
                shutil.rmtree(folder, ignore_errors=True)
    except KeyboardInterrupt:
        print_notes([f"Interrupted. What is finished is kept in {folder}: the same command goes on from there."])
        raise SystemExit(130) from None
