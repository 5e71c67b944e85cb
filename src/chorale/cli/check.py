"""`chorale check`"""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

import typer

from chorale.cli.arguments import AsJson, StudyFolder
from chorale.cli.output import print_json, say, show


def check(directory: StudyFolder, as_json: AsJson = False) -> None:
    """Report every problem in a study's files, or what the study will ask for and cost."""
    from chorale.study import check_folder, load_folder

    if as_json:
        _check_as_json(directory)
        return
    from chorale.model import money_text
    from chorale.report import plan_study, plan_table

    folder, _ = check_folder(directory)
    # Loading says again what is wrong, the way every command says it.
    plan = plan_study(folder or load_folder(directory))
    say(f"{directory} is in order: {plan.title}")
    show(plan_table(plan))
    bound = "at most about" if any(stage.at_most for stage in plan.stages) else "about"
    say(f"The whole study costs {bound} {money_text(plan.cost, plan.currency)}, fees included.")


def _check_as_json(directory: StudyFolder) -> None:
    from dataclasses import asdict

    from chorale.report import plan_study
    from chorale.study import check_folder

    folder, problems = check_folder(directory)
    if folder is None:
        print_json({"ok": False, "problems": [asdict(problem) for problem in problems]})
        raise typer.Exit(2)
    print_json({"ok": True, "problems": [], **asdict(plan_study(folder))})
