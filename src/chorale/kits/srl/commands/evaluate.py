"""`chorale evaluate srl`"""

from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.scoring import Against, AsLatex, Resamples, Seed, WithIntervals, print_scored
from chorale.kits.srl.family import score
from chorale.model import UserError

Files = Annotated[
    list[Path], Argument(metavar="PRED... GOLD", help="Systems' outputs, one file each, and the gold file last.")
]
Metrics = Annotated[
    str,
    Option(
        "--metric",
        metavar="NAMES",
        help="Which scorers, with commas: primesrl, conll05, conll09, conll08, senseval3, semeval07. "
        "If not given, the first four as far as the files allow.",
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
        "--framenet", metavar="DIR", help="FrameNet's folder in NLTK's layout, for semeval07: reads frRelation.xml."
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

    if len(files) < 2:
        raise UserError("two files or more are needed: systems' outputs, and the gold file last.")
    with patiently("resamples") as progress:
        scored = score(
            files[:-1],
            files[-1],
            metric=metric,
            file_format=format_name,
            mode=mode,
            predicates=predicates,
            spans=spans,
            framenet=framenet,
            worst=worst,
            confusion=confusion,
            against=against,
            ci=ci,
            resamples=resamples,
            seed=seed,
            progress=progress,
        )
    print_scored(scored, as_json=as_json, as_latex=as_latex)
