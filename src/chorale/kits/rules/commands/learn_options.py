"""The options of `chorale learn rules`."""

from pathlib import Path
from typing import Annotated, Literal

from chorale.cli.parameters import Argument, Option

Extractions = Annotated[
    Path,
    Argument(
        metavar="EXTRACTIONS",
        help="Arguments and predicates: .tsv, .txt, .csv, .jsonl or .parquet, or what ReVerb writes; .gz as well.",
        show_default=False,
    ),
]
MethodNames = Annotated[
    str,
    Option(
        "--method",
        metavar="NAME,…",
        help="dirt, cover, binc or global; several with commas between share the work.",
        show_default=False,
    ),
]
Out = Annotated[Path, Option("--out", metavar="FILE", help="Where the rules go: a .tsv or .parquet file.")]
SpellingOfPredicates = Annotated[
    Literal["none", "case", "plain"],
    Option(
        "--predicates",
        metavar="NAME",
        help="How predicates are made alike: none; case (small letters, single spaces); plain (and no marks).",
    ),
]
SpellingOfArguments = Annotated[
    Literal["none", "case", "plain"],
    Option(
        "--arguments",
        metavar="NAME",
        help="The same for arguments; plain leaves out articles and the like at their beginning as well.",
    ),
]
MinPredicate = Annotated[
    int, Option("--min-predicate", metavar="N", min=1, help="Leave out predicates with fewer extractions.")
]
MinFiller = Annotated[int, Option("--min-filler", metavar="N", min=1, help="Leave out fillers a slot has fewer times.")]
MaxPredicates = Annotated[
    int,
    Option(
        "--max-predicates", metavar="N", min=2, help="Leave out fillers of more slots than this, over all predicates."
    ),
]
MinShared = Annotated[
    int, Option("--min-shared", metavar="N", min=1, help="How many fillers both slots of a pair must share.")
]
MinScore = Annotated[
    float, Option("--min-score", metavar="SCORE", min=0, max=1, help="Leave out rules with a lower score.")
]
Columns = Annotated[
    str | None,
    Option(
        "--columns",
        metavar="A,P,A[,N]",
        help="Which columns are argument, predicate, argument and perhaps count: places from 1, or names.",
        show_default=False,
    ),
]
ArgumentNames = Annotated[
    Path | None,
    Option(
        "--argument-names",
        metavar="FILE",
        help="What the numbers of arguments stand for, if they are numbers: name, tab, number.",
        show_default=False,
    ),
]
PredicateNames = Annotated[
    Path | None,
    Option("--predicate-names", metavar="FILE", help="What the numbers of predicates stand for.", show_default=False),
]
Strict = Annotated[bool, Option("--strict", help="Stop at malformed lines instead of counting them.")]
EngineName = Annotated[
    str,
    Option("--engine", metavar="NAME", help="duckdb, in this process; spark://HOST:PORT or spark:local[N]."),
]
Memory = Annotated[
    str, Option("--memory", metavar="SIZE", help="What it may hold in memory; the rest goes to the disk.")
]
Threads = Annotated[int, Option("--threads", metavar="N", min=1, max=1024, help="How many threads it may use.")]
Buckets = Annotated[
    int | None,
    Option(
        "--buckets",
        metavar="N",
        min=1,
        max=100_000,
        help="Into how many parts pairs are divided. By their number and the memory if not given.",
        show_default=False,
    ),
]
Work = Annotated[
    Path | None,
    Option(
        "--work",
        metavar="DIR",
        help="Where finished parts are kept. With Spark, a folder that all machines see. Beside --out if not given.",
        show_default=False,
    ),
]
KeepWork = Annotated[bool, Option("--keep-work", help="Keep the finished parts at the end.")]
Pairs = Annotated[
    list[Path] | None,
    Option(
        "--pairs",
        metavar="FILE",
        help="For global: judged rules to train on, as chorale evaluate rules reads them. May be given again.",
        show_default=False,
    ),
]
WordNetFolder = Annotated[
    Path | None,
    Option(
        "--wordnet",
        metavar="DIR",
        help="For global without --pairs: the folder of WordNet. The usual places if not given.",
        show_default=False,
    ),
]
Sparsity = Annotated[
    float,
    Option(
        "--lambda", metavar="NUMBER", min=-100, max=100, help="For global: log-odds an edge must exceed to be worth it."
    ),
]
ExactUpTo = Annotated[
    int,
    Option("--exact-up-to", metavar="N", min=0, help="For global: parts of more predicates are solved nearly."),
]
Seconds = Annotated[
    float, Option("--seconds", metavar="S", min=0, help="For global: parts that take longer are solved nearly.")
]
