"""`chorale new`"""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from typing import Annotated

import typer

from chorale.cli.arguments import AsJson, StudyFolder
from chorale.cli.output import print_json, say


def new(
    directory: StudyFolder,
    template: Annotated[
        str, typer.Option(help="What the study starts from: rules, form, qasrl or mcq-trial.", metavar="NAME")
    ] = "rules",
    as_json: AsJson = False,
) -> None:
    """Make a new study from a template."""
    from chorale.study.templating import create_study

    files = create_study(directory, template)
    if as_json:
        print_json({"study": str(directory), "template": template, "files": [str(file) for file in files]})
        return
    say(f"Made {directory} from the template `{template}`: {len(files)} files.")
    say()
    say("What to do next:")
    say(f"  1. Edit {directory / 'study.toml'}; {directory / 'README.md'} says what is what.")
    say(f"  2. chorale check {directory}")
    say(f"  3. chorale rehearse {directory}")
    say(f"  4. chorale serve {directory}")
