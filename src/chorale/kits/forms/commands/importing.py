"""`chorale import labelstudio`"""

from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson
from chorale.cli.importing.judgments import print_imported
from chorale.cli.parameters import Argument, Option
from chorale.kits.forms.from_label_studio import import_label_studio


def labelstudio(
    tasks: Annotated[Path, Argument(metavar="TASKS", help="JSON export of a project.")],
    config: Annotated[Path, Option(metavar="FILE", help="Labelling configuration of the project (XML).")],
    out: Annotated[Path, Option(metavar="DIR", help="Folder for the new study; it must not exist yet.")],
    title: Annotated[str | None, Option(metavar="TEXT", help="The study's title. Default: the folder's name.")] = None,
    as_json: AsJson = False,
) -> None:
    """Import annotations from Label Studio as a finished study: choices, ratings, texts, spans, regions."""
    done = import_label_studio(tasks, config, out, title or out.name)
    print_imported(done, as_json=as_json)
