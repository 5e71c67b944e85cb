"""`chorale aggregate`"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from chorale.cli import judgments_options as judged
from chorale.cli.arguments import AsJson
from chorale.cli.output import print_line
from chorale.cli.parameters import Option
from chorale.cli.progress import patiently
from chorale.cli.scoring import AsLatex, print_scored
from chorale.files.targets import check_target, writing
from chorale.metrics.aggregation.methods import method_names
from chorale.metrics.options import Force, Resamples, Seed, WithIntervals
from chorale.metrics.reading.judged import Reading
from chorale.metrics.reading.judgment_files import separator_in
from chorale.metrics.reading.truth_files import read_options, read_truth
from chorale.metrics.resampling import Resampling
from chorale.metrics.scoring.aggregating import Request, score_data
from chorale.metrics.scoring.aggregation import WRITABLE, write_aggregation
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.model.problems import did_you_mean

if TYPE_CHECKING:
    from chorale.metrics.aggregation.result import Aggregation

Method = Annotated[str, Option(metavar="NAME", help=f"One of {', '.join(method_names())}.", choices=method_names)]
Options = Annotated[
    str | None,
    Option(metavar="FILE|A,B,C", help="All labels there were to choose from: a file with one a line, or a list."),
]
OpenTask = Annotated[
    bool, Option("--open", help="For crowdtruth: workers could say anything; there is no list of options.")
]
Smoothing = Annotated[
    float | None,
    Option(metavar="N", min=0, help="For confidence with --truth: right and wrong answers to add to everybody's."),
]
TruthTask = Annotated[str | None, Option(metavar="COLUMN", help="The truth's column of tasks.", show_default="task")]
TruthLabel = Annotated[str | None, Option(metavar="COLUMN", help="The truth's column of labels.", show_default="label")]
AgainstOther = Annotated[
    str | None,
    Option(
        metavar="NAME|FILE",
        help="Another method on the same file (needs --truth), or another file of judgments: is the difference more "
        "than luck?",
    ),
]


def aggregate(
    file: judged.JudgmentsFile,
    method: Method = "dawid-skene",
    task: judged.TaskColumn = None,
    worker: judged.WorkerColumn = None,
    label: judged.LabelColumn = None,
    trust: Annotated[str | None, Option(metavar="COLUMN", help="The column of workers' trust, for confidence.")] = None,
    sep: judged.Separator = None,
    empty: judged.EmptyLabel = None,
    repeats: judged.WhichRepeat = "last",
    keep_rejected: judged.KeepRejected = False,
    reader: judged.ReaderName = None,
    options: Options = None,
    open_task: OpenTask = False,
    iterations: Annotated[int | None, Option(min=1, help="The most iterations to make.")] = None,
    tolerance: Annotated[float | None, Option(metavar="X", min=0, help="Stop when an iteration brings less.")] = None,
    restarts: Annotated[int | None, Option(min=1, help="For mace: how many random starts.")] = None,
    smoothing: Smoothing = None,
    truth: Annotated[Path | None, Option(help="The true labels of tasks: how often is it right?")] = None,
    truth_task: TruthTask = None,
    truth_label: TruthLabel = None,
    against: AgainstOther = None,
    ci: WithIntervals = False,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    out: Annotated[Path | None, Option(help="Write labels and probabilities: .csv, .tsv, .jsonl or .parquet.")] = None,
    force: Force = False,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Combine what several people said about each task into one answer, with its probability."""
    listed = None if options is None else read_options(options)
    other_method, other_file = _method_or_file(against)
    request = Request(method, listed, open_task, iterations, tolerance, restarts, smoothing, seed, other_method)
    check_target(out, "--out", force=force, endings=WRITABLE)
    if truth is None and (truth_task or truth_label):
        raise UserError("--truth-task and --truth-label name columns of --truth. Name that file too.")
    reading = Reading(task, worker, label, trust, sep, empty, repeats, keep_rejected, reader=reader)
    true = None if truth is None else read_truth(truth, task=truth_task, label=truth_label, sep=separator_in(sep))
    with patiently("aggregating") as progress:
        scored, result = score_data(
            file,
            request,
            reading,
            Resampling(ci, resamples, seed, progress),
            truth=true,
            truth_columns={"truth-task": truth_task, "truth-label": truth_label},
            rival=other_file,
            for_scripts=as_json,
        )
    if out is not None:
        _write(result, out, quietly=as_json or as_latex)
    print_scored(scored, as_json=as_json, as_latex=as_latex)


def _write(result: "Aggregation", out: Path, *, quietly: bool) -> None:

    with writing(out, "--out"):
        rows = write_aggregation(result, out)
    if not quietly:
        print_line(f"Wrote {plural(rows, 'row', 'rows')} to {out}.")


def _method_or_file(against: str | None) -> tuple[str | None, Path | None]:
    """What --against names. A file that is called like a method needs its folder: ./mace."""
    names = method_names()
    if against is None or against in names:
        return against, None
    if not Path(against).exists():
        raise UserError(
            f"--against {against} is neither a method ({', '.join(names)}) nor a file of judgments."
            f"{did_you_mean(against, names)}"
        )
    return None, Path(against)
