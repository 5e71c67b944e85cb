"""`chorale reproduce`"""

from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.scoring import AsLatex, print_scored
from chorale.model import UserError
from chorale.model.problems import did_you_mean
from chorale.registry import blaming, papers
from chorale.reproduce import FileState, check_data
from chorale.reproduce.tables import reproduced, what_to_get


def reproduce(
    paper: Annotated[str, Argument(metavar="PAPER", help=f"{', '.join(sorted(papers()))}.")],
    data: Annotated[
        Path | None,
        Option(
            metavar="DIR",
            help="Folder with the paper's published data. If it is not given, the command says what to get.",
        ),
    ] = None,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Compute a paper's numbers again from its published data, beside what the paper printed."""
    known = papers().get(paper)
    if known is None:
        meant = did_you_mean(paper, papers())
        raise UserError(f"There is no paper {paper!r} here. Name one of: {', '.join(sorted(papers()))}.{meant}")
    if data is not None and not data.is_dir():
        raise UserError(f"{data} is not a folder. Name the folder the paper's data are in.")
    files = check_data(known, data)
    missing = [file for file in files if file.state is FileState.MISSING and not file.file.optional]
    if data is None or missing:
        where = "" if data is None else f"{data} lacks {len(missing)} of the files that are needed. "
        lines = "\n".join(what_to_get(files))
        raise UserError(f"{where}Get these, put them into a folder, and name it with --data DIR:\n{lines}")
    with patiently(f"computing {paper}") as progress:
        with blaming(f"reproduction `{paper}` of the kit `{papers().kit_of(paper)}`"):
            cells = list(known.cells(data, progress))
    print_scored(reproduced(known, cells, files), as_json=as_json, as_latex=as_latex)
