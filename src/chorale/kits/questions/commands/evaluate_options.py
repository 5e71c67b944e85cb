"""The options of `chorale evaluate mcq`."""

from pathlib import Path
from typing import Annotated, Literal

from chorale.cli.parameters import Argument, Option

Files = Annotated[
    list[Path],
    Argument(
        metavar="FILE...",
        help="Questions with options, validations and predictions: .json or .jsonl, perhaps packed (.gz). Or a study's "
        "folder: its arms, with what was written, grades and costs.",
    ),
]
TiesName = Annotated[
    Literal["share", "wrong", "right"],
    Option(
        "--ties",
        metavar="HOW",
        help="What a tie among people is worth if the gold answer is in it: its share of the tied answers, wrong "
        "(nothing) or right (everything).",
    ),
]
GoldVotes = Annotated[
    int, Option("--gold-votes", metavar="N", min=1, max=20, help="Validators' votes drawn for the gold answer.")
]
AlphaName = Annotated[
    Literal["with-writer", "kept"],
    Option(
        "--alpha",
        metavar="NAME",
        help="The alpha to print: with-writer (all questions, the writer votes too) or kept (kept questions, "
        "validators only).",
    ),
]
Other = Annotated[
    Path | None,
    Option(
        "--against",
        metavar="FILE",
        help="Other questions: is the difference more than luck? Paired only if they are the same questions.",
    ),
]
ByArm = Annotated[
    bool,
    Option(
        "--by-arm",
        help="Take the questions of every arm by themselves, by their `protocol`. --against may then name an arm.",
    ),
]
Validations = Annotated[
    Path | None,
    Option(
        "--validations",
        metavar="FILE",
        help="More validations of the questions: question_id, worker_id and answer, one a row (.csv, .tsv, .jsonl).",
    ),
]
Predictions = Annotated[
    Path | None,
    Option(
        "--predictions",
        metavar="FILE",
        help="More predictions for the questions: question_id, model and answer, one a row (.csv, .tsv, .jsonl).",
    ),
]
Written = Annotated[
    bool,
    Option(
        "--written", help="Look at what was written too: lengths, overlap, question words, explanations, repetitions."
    ),
]
Irt = Annotated[bool, Option("--irt", help="Fit how hard every question is for models, by the 3PL model.")]
Rounds = Annotated[
    list[Path] | None,
    Option(
        "--round",
        metavar="FILE",
        help="Questions of an earlier round (`chorale export --format mcq-written`), for --irt; may be repeated. A "
        "study's folder has its own.",
    ),
]
Partial = Annotated[
    str | None,
    Option(
        "--partial-inputs",
        metavar="MODEL",
        help="How well a model guesses without question or passage: light (built in), or the folder of a Hugging Face "
        "multiple-choice model.",
    ),
]
Folds = Annotated[int, Option("--folds", metavar="N", min=2, max=50, help="Folds of the cross-validation.")]
Grades = Annotated[
    list[Path] | None,
    Option(
        "--grades",
        metavar="FILE",
        help="What graders said, as `chorale export --format mcq-grades` writes it: how far they agree.",
    ),
]
Responses = Annotated[
    Path | None,
    Option(
        "--responses",
        metavar="FILE",
        help="The study's responses (`chorale export --format jsonl`): with --ledger, what a question costs.",
    ),
]
Ledger = Annotated[
    Path | None, Option("--ledger", metavar="FILE", help="The study's ledger (`chorale export --format ledger`).")
]
ExpertHourly = Annotated[
    int, Option("--expert-hourly", metavar="CENTS", min=0, help="What an hour of an expert costs, for the costs.")
]
Pictures = Annotated[Path | None, Option("--pictures", metavar="DIR", help="Write the figures there, as SVG files.")]
