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
    paper: Annotated[str, Argument(metavar="PAPER", help=f"The paper: {', '.join(sorted(papers()))}.")],
    data: Annotated[
        list[Path] | None,
        Option(
            metavar="DIR",
            help="Folder with the paper's data: a clone of a repository, or a folder of clones or downloaded files. "
            "Without this option, the command lists what you need. Repeatable.",
        ),
    ] = None,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Reproduce a paper's numbers from its published data, and show them next to the numbers in the paper."""
    known = papers().get(paper)
    if known is None:
        meant = did_you_mean(paper, papers())
        raise UserError(f"There is no reproduction {paper!r}. Available: {', '.join(sorted(papers()))}.{meant}")
    folders = data or []
    for folder in folders:
        if not folder.is_dir():
            raise UserError(f"{folder} is not a folder. Name the folder the paper's data are in.")
    files = check_data(known, *folders)
    missing = [file for file in files if file.state is FileState.MISSING and not file.file.optional]
    if not folders or missing:
        named = " and ".join(map(str, folders))
        where = f"Required files not found in {named}: {len(missing)}. " if folders else ""
        lines = "\n".join(what_to_get(files))
        raise UserError(
            f"{where}Clone the repositories and name each clone with --data, or put the files into a folder as listed "
            f"and name it with --data DIR:\n{lines}"
        )
    with patiently(f"computing {paper}") as progress:
        with blaming(f"reproduction `{paper}` of the kit `{papers().kit_of(paper)}`"):
            cells = list(known.cells(known.data(*folders), progress))
    print_scored(reproduced(known, cells, files), as_json=as_json, as_latex=as_latex)
