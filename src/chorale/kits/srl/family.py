"""The semantic role family of metrics: reads files and computes scores, for the command line and for Python."""

from collections.abc import Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Annotated, Any

from chorale.files.tables import write_csv
from chorale.files.targets import check_target, writing
from chorale.kits.srl.files import (
    Corpus,
    check_alignment,
    comment_columns,
    read_frame_files,
    read_frame_relations,
    read_srl,
)
from chorale.kits.srl.metrics import core_roles
from chorale.kits.srl.scoring.consequences import Consequence, consequences_json, consequences_of, consequences_tables
from chorale.kits.srl.scoring.outcomes import SrlOptions, metrics_for, mode_for, outcomes
from chorale.kits.srl.scoring.scores import srl_scores
from chorale.metrics import Clusters
from chorale.metrics.family import Family, Measured, path_of, paths_of
from chorale.metrics.options import Against, Cluster, File, Force, Resamples, Seed, WithIntervals
from chorale.metrics.resampling import checked_resampling
from chorale.metrics.sampling import Progress
from chorale.metrics.score import Score
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.model.problems import did_you_mean
from chorale.registry.options import Argument, Option

Files = Annotated[list[Path], Argument(metavar="PRED... GOLD", help="One output file per system, then the gold file.")]
Metrics = Annotated[
    str | Sequence[str],
    Option(
        metavar="NAMES",
        help="Scorers, separated by commas: primesrl, conll05, conll09, conll08, senseval3, semeval07. Default: those "
        "of the first four that the files support.",
    ),
]
FormatName = Annotated[
    str,
    Option(
        "--format",
        metavar="NAME",
        help="The files' format: auto, conll05, conll09, conll12, conllu, conllup (heads) or conllup-spans.",
    ),
]
ModeName = Annotated[
    str,
    Option(metavar="NAME", help="How PriMeSRL compares arguments: head, span, or auto (as the files mark them)."),
]
WhichPredicates = Annotated[
    str,
    Option(
        metavar="WHICH",
        help="For the CoNLL scorers: all predicates, or common (predicates in both system and gold).",
    ),
]
HowSpans = Annotated[
    str,
    Option(
        metavar="HOW",
        help="When conll05 derives spans from syntax: joined (join adjacent arguments with the same label) or apart.",
    ),
]
WhichPrimesrl = Annotated[
    str,
    Option(
        metavar="WHICH",
        help="Version of PriMeSRL: paper, or program (its authors' code). docs/evaluate-srl.md lists the differences.",
    ),
]
WhichCore = Annotated[
    str,
    Option(
        metavar="ROLES",
        help="Core roles for PriMeSRL, separated by commas, e.g. numbered,AA. The word numbered means every role with "
        "a digit.",
    ),
]
FrameNetFolder = Annotated[
    File | None,
    Option(metavar="DIR", help="FrameNet folder in NLTK's layout (contains frRelation.xml), for semeval07."),
]

FrameFiles = Annotated[
    File | None,
    Option(
        metavar="DIR",
        help="Folder of PropBank or NomBank frame files (.xml). Reports senses and roles that the files do not define.",
    ),
]


def score(
    systems: File | Sequence[File],
    gold: File,
    *,
    metric: Metrics = "",
    file_format: FormatName = "auto",
    mode: ModeName = "auto",
    predicates: WhichPredicates = "all",
    spans: HowSpans = "joined",
    primesrl: WhichPrimesrl = "paper",
    core: WhichCore = "numbered",
    framenet: FrameNetFolder = None,
    frames: FrameFiles = None,
    worst: Annotated[int, Option(min=0, help="Show the N sentences with the most errors.")] = 0,
    confusion: Annotated[bool, Option(help="Show a confusion matrix of roles on equal spans.")] = False,
    consequences: Annotated[
        bool, Option(help="List questions and entailments that follow from wrong senses and arguments.")
    ] = False,
    consequences_out: Annotated[
        File | None, Option(metavar="FILE", help="Write the list of --consequences to a .csv file.")
    ] = None,
    force: Force = False,
    ci: WithIntervals = True,
    cluster: Cluster = (),
    against: Against = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    progress: Progress | None = None,
) -> Score:
    """Semantic role labelling: PriMeSRL, CoNLL-2005, 2008 and 2009, Senseval-3, SemEval-2007.

    `systems` is the output of one system or of several. `metric` names the scorers, as a list or separated by commas.
    By default, every one of primesrl, conll05, conll09 and conll08 that the files support is computed.
    """
    options = _options(metric, mode, predicates, spans, primesrl, core)
    target = None if consequences_out is None else path_of(consequences_out)
    check_target(target, "--consequences-out", force=force, endings=(".csv",))
    paths = paths_of(systems)
    reference = read_srl(path_of(gold), file_format)
    read_systems = {name: read_srl(path, file_format) for name, path in zip(_names(paths), paths, strict=True)}
    rival = None if against is None else (_names([path_of(against)])[0], read_srl(path_of(against), file_format))
    corpora = [*read_systems.values(), *([] if rival is None else [rival[1]])]
    for corpus in corpora:
        check_alignment(corpus, reference)
    named_clusters = Clusters.named(cluster)
    clusters = Clusters.chosen(named_clusters, comment_columns(path_of(gold), reference) if named_clusters else {})
    scored = srl_scores(
        read_systems,
        reference,
        options,
        against=rival,
        resampling=checked_resampling(ci, resamples, seed, progress, clusters),
        worst=worst,
        confusion=confusion,
        relations=None if framenet is None else read_frame_relations(path_of(framenet), _senses(reference, *corpora)),
        inventory=None if frames is None else read_frame_files(path_of(frames), _senses(reference, *corpora)),
    )
    if not consequences and target is None:
        return scored
    return _with_consequences(scored, read_systems, reference, options, target)


def _options(
    metric: str | Sequence[str], mode: str, predicates: str, spans: str, primesrl: str, core: str
) -> SrlOptions:
    _check_word("--predicates", predicates, ("all", "common"))
    _check_word("--spans", spans, ("joined", "apart"))
    _check_word("--primesrl", primesrl, ("paper", "program"))
    named = metric.split(",") if isinstance(metric, str) else metric
    return SrlOptions(
        tuple(name.strip().lower() for name in named if name.strip()),
        mode,
        predicates,
        spans == "apart",
        core_roles(core),
        primesrl == "program",
    )


def _with_consequences(
    scored: Score, systems: Mapping[str, Corpus], gold: Corpus, options: SrlOptions, target: Path | None
) -> Score:
    """Adds the consequences of errors to the score, and writes them to a file if a target is set."""
    mode = mode_for(options, [*systems.values(), gold])
    by_system = {name: list(consequences_of(name, one, gold, mode, options.core)) for name, one in systems.items()}
    tables = [table for name, listed in by_system.items() for table in consequences_tables(name, listed)]
    written = ""
    if target is not None:
        rows = [one._asdict() for listed in by_system.values() for one in listed]
        with writing(target, "--consequences-out"):
            write_csv(Consequence._fields, rows, target)
        written = f"Wrote {plural(len(rows), 'row', 'rows')} to {target}."
    json = {"consequences": {name: consequences_json(listed) for name, listed in by_system.items()}}
    return scored.extended(json, tables, written=written)


def _score_last(files: Files, **options: Any) -> Score:
    """Scores the files in the order of the command line: the gold file comes last."""
    if len(files) < 2:
        raise UserError("At least two files are needed: one or more system outputs, then the gold file.")
    return score(files[:-1], files[-1], **options)


def read(path: File) -> Corpus:
    """Reads a corpus with semantic roles in any supported format."""
    return read_srl(path_of(path), "auto")


def measure(system: Corpus, gold: Corpus, *, metric: str = "") -> Measured:
    """One row per sentence, with the scores of one scorer. Default: the first scorer that the files support."""
    options = SrlOptions((metric,) if metric else ())
    name = metrics_for(options, [system, gold], None)[0]
    outcome = outcomes(system, gold, (name,), options, None)[name]
    return outcome.statistics, outcome.metric


_SUMMARY = "Semantic role labelling: PriMeSRL, CoNLL-2005, 2008 and 2009, Senseval-3, SemEval-2007."
FAMILY = Family("srl", _SUMMARY, read, measure, score, _score_last)


def _check_word(option: str, value: str, known: tuple[str, str]) -> None:
    if value not in known:
        raise UserError(f"{option} must be {' or '.join(known)}, not {value!r}.{did_you_mean(value, known)}")


def _names(paths: list[Path]) -> list[str]:
    """File names without their extensions. Duplicate names are numbered."""
    names: list[str] = []
    for path in paths:
        plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
        numbered = chain([plain.stem], (f"{plain.stem}-{number}" for number in count(2)))
        names.append(next(name for name in numbered if name not in names))
    return names


def _senses(*corpora: Corpus) -> set[str]:
    return {each.sense for corpus in corpora for sentence in corpus.sentences for each in sentence.predicates}
