"""`chorale learn rules`"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chorale.cli.arguments import AsJson
from chorale.cli.output import print_line, print_notes
from chorale.cli.progress import patiently
from chorale.cli.scoring import print_scored
from chorale.cli.targets import Force, check_target, writing
from chorale.kits.rules.commands.learn_options import (
    ArgumentNames,
    Buckets,
    Columns,
    EngineName,
    ExactUpTo,
    Extractions,
    KeepWork,
    MaxPredicates,
    Memory,
    MethodNames,
    MinFiller,
    MinPredicate,
    MinScore,
    MinShared,
    Out,
    Pairs,
    PredicateNames,
    Seconds,
    Sparsity,
    SpellingOfArguments,
    SpellingOfPredicates,
    Strict,
    Threads,
    WordNetFolder,
    Work,
)
from chorale.kits.rules.files.writing import RULE_ENDINGS, description_path, write_rules
from chorale.kits.rules.learning.global_graph import GlobalOptions
from chorale.kits.rules.learning.pipeline import LearnOptions, learn_rules
from chorale.kits.rules.learning.settings import Pruning, Resources, bytes_of, methods_of
from chorale.kits.rules.learning.tables import learning_result
from chorale.kits.rules.learning.work_folder import alone_in


def rules(
    extractions: Extractions,
    method: MethodNames,
    out: Out = Path("rules.tsv"),
    predicates: SpellingOfPredicates = "case",
    arguments: SpellingOfArguments = "case",
    min_predicate: MinPredicate = 10,
    min_filler: MinFiller = 1,
    max_predicates: MaxPredicates = 1000,
    min_shared: MinShared = 1,
    min_score: MinScore = 0.01,
    columns: Columns = None,
    argument_names: ArgumentNames = None,
    predicate_names: PredicateNames = None,
    strict: Strict = False,
    pairs: Pairs = None,
    wordnet: WordNetFolder = None,
    sparsity: Sparsity = 1.0,
    exact_up_to: ExactUpTo = 100,
    seconds: Seconds = 60.0,
    engine: EngineName = "duckdb",
    memory: Memory = "4GB",
    threads: Threads = 2,
    buckets: Buckets = None,
    work: Work = None,
    keep_work: KeepWork = False,
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
