"""`chorale evaluate srl`"""

from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.scoring import Against, AsLatex, Resamples, Seed, WithIntervals, print_scored
from chorale.kits.srl.files import Corpus, FrameRelations, check_alignment, read_frame_relations, read_srl
from chorale.kits.srl.scoring.outcomes import SrlOptions
from chorale.kits.srl.scoring.scores import Shown, srl_scores
from chorale.metrics.drawing import Drawing
from chorale.model import UserError
from chorale.model.problems import did_you_mean

Files = Annotated[
    list[Path],
    Argument(
        metavar="PRED... GOLD", help="Systems' outputs, one file each, and the gold file last.", show_default=False
    ),
]
Metrics = Annotated[
    str,
    Option(
        "--metric",
        metavar="NAMES",
        help="Which scorers, with commas: primesrl, conll05, conll09, conll08, senseval3, semeval07. "
        "If not given, the first four as far as the files allow.",
        show_default=False,
    ),
]
FormatName = Annotated[
    str, Option("--format", metavar="NAME", help="The files' format: auto, conll05, conll09 or conllu.")
]
ModeName = Annotated[
    str,
    Option("--mode", metavar="NAME", help="How PriMeSRL compares arguments: head, span, or auto: by what files mark."),
]
WhichPredicates = Annotated[
    str,
    Option(
        "--predicates",
        metavar="WHICH",
        help="For the CoNLL scorers: all predicates, or only those common to system and gold.",
    ),
]
HowSpans = Annotated[
    str,
    Option(
        "--spans",
        metavar="HOW",
        help="When conll05 finds spans by syntax: neighbours of one label are joined, or stay apart.",
    ),
]
FrameNetFolder = Annotated[
    Path | None,
    Option(
        "--framenet",
        metavar="DIR",
        help="FrameNet's folder in NLTK's layout, for semeval07: reads frRelation.xml.",
        show_default=False,
    ),
]
Worst = Annotated[int, Option("--worst", metavar="N", min=0, help="Show the N sentences with most mistakes.")]
Confusion = Annotated[bool, Option("--confusion", help="Show which role was taken for which, on equal spans.")]


def srl(
    files: Files,
    metric: Metrics = "",
    format_name: FormatName = "auto",
    mode: ModeName = "auto",
    predicates: WhichPredicates = "all",
    spans: HowSpans = "joined",
    framenet: FrameNetFolder = None,
    worst: Worst = 0,
    confusion: Confusion = False,
    ci: WithIntervals = False,
    against: Against = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Score semantic role labelling: PriMeSRL, CoNLL-2005, 2008 and 2009, Senseval-3, SemEval-2007."""
    _check_words(files, predicates, spans)
    metrics = tuple(name.strip().lower() for name in metric.split(",") if name.strip())
    options = SrlOptions(metrics, mode, predicates, spans == "apart")
    with patiently("resamples") as progress:
        gold = read_srl(files[-1], format_name)
        systems = {name: read_srl(path, format_name) for name, path in zip(_names(files[:-1]), files, strict=False)}
        rival = None if against is None else (_names([against])[0], read_srl(against, format_name))
        scored_corpora = [*systems.values(), *([] if rival is None else [rival[1]])]
        for corpus in scored_corpora:
            check_alignment(corpus, gold)
        scored = srl_scores(
            systems,
            gold,
            options,
            against=rival,
            drawing=Drawing(ci, resamples, seed, progress),
            shown=Shown(worst, confusion),
            relations=_relations(framenet, [gold, *scored_corpora]),
        )
    print_scored(scored, as_json=as_json, as_latex=as_latex)


def _check_words(files: list[Path], predicates: str, spans: str) -> None:
    if len(files) < 2:
        raise UserError("two files or more are needed: systems' outputs, and the gold file last.")
    if predicates not in ("all", "common"):
        meant = did_you_mean(predicates, ("all", "common"))
        raise UserError(f"--predicates is all or common, not {predicates!r}.{meant}")
    if spans not in ("joined", "apart"):
        raise UserError(f"--spans is joined or apart, not {spans!r}.{did_you_mean(spans, ('joined', 'apart'))}")


def _names(paths: list[Path]) -> list[str]:
    """Files' names without their endings; a name that is there already gets a number."""
    names: list[str] = []
    for path in paths:
        plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
        name = plain.stem or plain.name
        number = 1
        while (name if number == 1 else f"{name}-{number}") in names:
            number += 1
        names.append(name if number == 1 else f"{name}-{number}")
    return names


def _relations(framenet: Path | None, corpora: list[Corpus]) -> FrameRelations | None:
    if framenet is None:
        return None
    used = {each.sense for corpus in corpora for sentence in corpus.sentences for each in sentence.predicates}
    return read_frame_relations(framenet, used)
