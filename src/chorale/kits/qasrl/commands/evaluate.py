"""`chorale evaluate qasrl`"""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Literal

from chorale.cli.arguments import AsJson
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.scoring import Against, AsLatex, Resamples, Seed, WithIntervals, print_scored
from chorale.cli.targets import Force, check_target, writing
from chorale.kits.qasrl.family import score

Pred = Annotated[
    Path,
    Argument(
        metavar="PRED",
        help="What is scored: a CSV in the gold standard's columns, a parser's CSV, or the QA-SRL Bank's JSONL (.gz).",
    ),
]
Gold = Annotated[
    Path | None,
    Argument(
        metavar="GOLD", help="What it is scored against, in any of the same formats. Not with --by and --propbank."
    ),
]
SentenceFiles = Annotated[
    list[Path] | None,
    Option(
        "--sentences",
        metavar="FILE",
        help="The sentences, with qasrl_id and tokens: for the words in --alignment, and to check spans. Repeatable.",
    ),
]
Redundant = Annotated[
    bool,
    Option(
        "--redundant/--no-redundant",
        help="Ignore further spans of a found argument, and count overlapping wrong ones once.",
    ),
]
LinkName = Annotated[
    Literal["iou", "any"],
    Option("--link", metavar="HOW", help="Which wrong spans overlap: by the same iou, or by any token."),
]
Modality = Annotated[
    bool,
    Option(
        "--modality/--no-modality",
        help="Whether questions must agree in modality; the gold standard's own script does not ask for it.",
    ),
]
AverageName = Annotated[
    Literal["micro", "macro"],
    Option("--average", metavar="HOW", help="micro: sums over verbs; macro: the mean over verbs."),
]
Iou = Annotated[
    float, Option("--iou", metavar="X", min=0.01, max=1.0, help="From which overlap on two spans may be one argument.")
]
ExtraVerbs = Annotated[
    bool, Option("--include-extra-verbs", help="Count verbs that only PRED has: all their arguments are wrong.")
]
By = Annotated[
    str | None,
    Option(
        "--by", metavar="COLUMN", help="Agreement of the annotators of one file, told apart by this column: worker_id."
    ),
]
AlignmentFile = Annotated[
    Path | None,
    Option("--alignment", metavar="FILE", help="Write what was matched, missed and wrong to a .csv or .html file."),
]
PropBankFile = Annotated[
    Path | None,
    Option("--propbank", metavar="FILE", help="Compare with PropBank arguments in a CoNLL-2009 file, instead of GOLD."),
]
FoundBy = Annotated[
    Literal["head", "span"],
    Option(
        "--found-by", metavar="HOW", help="A PropBank argument is found by an answer with its head, or by its span."
    ),
]
Dense = Annotated[
    bool, Option("--dense", help="FitzGerald et al.'s measures, by the judges of GOLD, a file of the QA-SRL Bank.")
]
Valid = Annotated[
    int, Option("--valid", metavar="N", min=1, max=6, help="Of six judges of the Bank, how many make it valid.")
]
QuestionsBy = Annotated[
    Literal["people", "anyone"],
    Option("--questions-by", metavar="WHO", help="Which questions of the Bank count: people's, or anyone's."),
]
PerVerb = Annotated[bool, Option("--per-verb", help="With --json, give the counts of every verb too.")]


def qasrl(
    pred: Pred,
    gold: Gold = None,
    sentences: SentenceFiles = None,
    redundant: Redundant = True,
    link: LinkName = "iou",
    modality: Modality = True,
    average: AverageName = "micro",
    iou: Iou = 0.5,
    extra_verbs: ExtraVerbs = False,
    by: By = None,
    alignment: AlignmentFile = None,
    force: Force = False,
    propbank: PropBankFile = None,
    found_by: FoundBy = "head",
    dense: Dense = False,
    valid: Valid = 5,
    questions_by: QuestionsBy = "people",
    per_verb: PerVerb = False,
    against: Against = None,
    ci: WithIntervals = False,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Score questions and answers about verbs: arguments found (UA), with the right question (LA), and roles."""

    check_target(alignment, "--alignment", force=force, endings=(".csv", ".html", ".htm"))
    with patiently("resampling") as progress, writing(alignment, "--alignment") if alignment else nullcontext():
        scored = score(
            pred,
            gold,
            sentences=sentences or [],
            redundant=redundant,
            link=link,
            modality=modality,
            average=average,
            iou=iou,
            extra_verbs=extra_verbs,
            by=by,
            alignment=alignment,
            propbank=propbank,
            found_by=found_by,
            dense=dense,
            valid=valid,
            questions_by=questions_by,
            per_verb=per_verb,
            against=against,
            ci=ci,
            resamples=resamples,
            seed=seed,
            progress=progress,
            for_scripts=as_json,
        )
    print_scored(scored, as_json=as_json, as_latex=as_latex)
