"""Arguments and options shared by several commands."""

from pathlib import Path
from typing import Annotated

from chorale.registry.options import Argument, Option

BY = "the command line"
"""The actor that the activity log names for everything done by a command."""

StudyFolder = Annotated[Path, Argument(metavar="DIR", help="The study's folder.")]
Database = Annotated[
    str | None,
    Option(
        metavar="URL",
        help="The study's database, e.g. postgresql+psycopg://user@host/name. Default: the folder's SQLite file.",
        envvar="CHORALE_DB",
    ),
]
AsJson = Annotated[bool, Option("--json", help="Print one JSON object and nothing else.")]
PublicUrl = Annotated[
    str | None, Option(metavar="URL", help="Public address of the site, e.g. https://study.example.org.")
]
Texts = Annotated[
    Path,
    Argument(
        metavar="TEXT|JSONL|CONLLU",
        help="Sentences: plain text (.txt), rows with tokens, sentence or text (.jsonl, .csv), or CoNLL-U (.conllu).",
    ),
]
OnePerLine = Annotated[bool, Option(help="Treat every line of plain text as one sentence.")]
