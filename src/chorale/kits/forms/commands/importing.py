"""`chorale import labelstudio`"""

from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson
from chorale.cli.output import print_json, print_line, print_notes
from chorale.cli.parameters import Argument, Option
from chorale.kits.forms.from_label_studio import import_label_studio


def labelstudio(
    tasks: Annotated[Path, Argument(metavar="TASKS", help="A project exported as JSON.")],
    config: Annotated[Path, Option(metavar="FILE", help="Its labelling configuration, as XML.")],
    out: Annotated[Path, Option(metavar="DIR", help="Folder for the new study; it must not exist yet.")],
    title: Annotated[str | None, Option(metavar="TEXT", help="The study's title. Default: the folder's name.")] = None,
    as_json: AsJson = False,
) -> None:
    """Import annotations from Label Studio as a finished study: choices, ratings, texts, spans, regions."""
    done = import_label_studio(tasks, config, out, title or out.name)
    if as_json:
        stages = {name: dict(counts) for name, counts in done.stages.items()}
        print_json({"study": str(out), "stages": stages, "notes": list(done.notes)})
        return
    for name, counts in done.stages.items():
        print_line(
            f"{name}: {counts['judgments']:,} judgments of {counts['items']:,} items by {counts['workers']:,} workers."
        )
    print_line(f"Made {out}. `chorale report {out}` reports on it.")
    print_notes(done.notes)
