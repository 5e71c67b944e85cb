"""`chorale irt`"""

from pathlib import Path
from typing import Annotated, Literal

from chorale.cli.arguments import AsJson
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.scoring import AsLatex, print_scored
from chorale.files.targets import check_target, writing
from chorale.metrics.irt.fitting import GUESS_RATE
from chorale.metrics.options import Force, Seed
from chorale.metrics.reading.responses import read_responses
from chorale.metrics.resampling import Resampling
from chorale.metrics.scoring.irt import IrtOptions, score_irt, write_items
from chorale.model import UserError

Files = Annotated[
    list[Path],
    Argument(
        metavar="FILE...",
        help="CSV with one row per responder and one column per item (1, 0, or empty), or with one row per "
        "answer (columns responder, item, answer). Each file is a separate test.",
    ),
]
Model = Annotated[
    Literal["1pl", "2pl", "3pl", "graded"],
    Option(
        metavar="NAME",
        help="Model: 1pl (difficulty), 2pl (also discrimination), 3pl (also guessing), or graded (answers on a scale).",
    ),
]
MethodName = Annotated[
    Literal["marginal", "variational"],
    Option(
        metavar="NAME",
        help="marginal (marginal maximum likelihood), or variational (as published by Nangia et al. 2021; no --ci).",
    ),
]
GuessRate = Annotated[
    float,
    Option(
        metavar="P",
        min=0.001,
        max=0.999,
        help="For 3pl: expected probability of a correct guess, e.g. 1 divided by the number of options.",
    ),
]
GuessingPriorName = Annotated[
    Literal["fitted", "standard"],
    Option(
        metavar="NAME",
        help="For variational 3pl: prior of the logit of guessing, fitted (one centre for all items) or standard "
        "(N(0, 1)).",
    ),
]
Starts = Annotated[
    int,
    Option(
        min=1,
        max=100,
        help="For variational: number of starting points, which are random except the first. The best fit is kept.",
    ),
]
Others = Annotated[
    list[Path] | None,
    Option(
        help=(
            "Other answers to the same items or by the same responders, to show differences and correlations. "
            "Repeatable."
        )
    ),
]


def irt(
    files: Files,
    model: Model = "3pl",
    method: MethodName = "marginal",
    guess_rate: GuessRate = GUESS_RATE,
    guessing_prior: GuessingPriorName = "fitted",
    starts: Starts = 1,
    ci: Annotated[bool, Option(help="Add 95% intervals for every item and responder.")] = False,
    against: Others = None,
    seed: Seed = 1,
    out: Annotated[Path | None, Option(help="Also write the items to a CSV file.")] = None,
    force: Force = False,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Fit an item response model: difficulty and discrimination of items, ability of responders."""
    if method == "marginal" and (guessing_prior != "fitted" or starts > 1):
        raise UserError("--guessing-prior and --starts only work with --method variational. Add it, or leave them out.")
    check_target(out, "--out", force=force)
    with patiently("fits") as progress:
        graded = model == "graded"
        table = read_responses(files, graded=graded)
        scored, items = score_irt(
            table,
            IrtOptions(model, method, guess_rate, guessing_prior, starts, seed),
            progress,
            resampling=Resampling(ci, progress=progress),
            against=read_responses(against, graded=graded) if against else None,
        )
    if out is not None:
        with writing(out, "--out"):
            write_items(items, out)
    print_scored(scored, as_json=as_json, as_latex=as_latex)
