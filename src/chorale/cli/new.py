"""`chorale new`"""

from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.folder.templates import (
    create_study,
    create_study_for_scripts,
    create_study_from_files,
    template_names,
    usual_template,
)
from chorale.model import UserError


def new(
    directory: StudyFolder,
    template: Annotated[
        str | None, Option(help=f"What the study starts from: {', '.join(template_names())}.", metavar="NAME")
    ] = usual_template(),
    html: Annotated[
        Path | None, Option(help="A layout: HTML with ${variables}. With --csv, for a template that takes one.")
    ] = None,
    csv: Annotated[Path | None, Option(help="The batch file that fills the layout's variables.")] = None,
    scripts_only: Annotated[
        bool, Option(help="Without items of its own: all work comes from scripts. For a template that takes them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make a new study from a template."""
    if template is None:
        raise UserError(f"Name what the study starts from with --template: {', '.join(template_names())}.")
    if scripts_only and not html is csv is None:
        raise UserError("--scripts-only makes a study without a layout. Leave out --html and --csv, or --scripts-only.")
    if scripts_only:
        files = create_study_for_scripts(directory, template)
    elif html is None and csv is None:
        files = create_study(directory, template)
    elif html is None or csv is None:
        raise UserError("--html and --csv go together: a layout and the batch file that fills its variables.")
    else:
        files = create_study_from_files(directory, template, html, csv)
    if as_json:
        print_json({"study": str(directory), "template": template, "files": [str(file) for file in files]})
        return
    print_line(f"Made {directory} from the template `{template}`: {len(files)} files.")
    print_line()
    print_line("What to do next:")
    print_line(f"  1. Edit {directory / 'study.toml'}; {directory / 'README.md'} says what is what.")
    print_line(f"  2. chorale check {directory}")
    if html is not None or scripts_only:
        print_line(f"  3. chorale serve {directory}")
        return
    print_line(f"  3. chorale rehearse {directory}")
    print_line(f"  4. chorale serve {directory}")
