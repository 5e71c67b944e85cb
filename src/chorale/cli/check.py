"""`chorale check`"""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from typing import TYPE_CHECKING

import typer

from chorale.cli.arguments import AsJson, StudyFolder
from chorale.cli.output import print_json, say, show

if TYPE_CHECKING:
    from chorale.report import StudyPlan


def check(directory: StudyFolder, as_json: AsJson = False) -> None:
    """Report every problem in a study's files, or what the study will ask for and cost."""
    if as_json:
        _check_as_json(directory)
        return
    from chorale.report import plan_study, plan_table, study_notes
    from chorale.study import load_folder

    folder = load_folder(directory)
    plan = plan_study(folder)
    say(f"{directory} is in order: {plan.title}")
    show(plan_table(plan))
    say(_cost_sentence(plan))
    say(f"It takes {plan.workers} workers or more who stay to the end: nobody judges two parts of one thing.")
    for note in study_notes(folder):
        say(f"Before people come: {note}")


def _cost_sentence(plan: "StudyPlan") -> str:
    from chorale.model import money_text

    cost = money_text(plan.cost, plan.currency)
    if plan.most > plan.cost:
        cost += f", or {money_text(plan.most, plan.currency)} if every item asks for the most judgments"
    fewer = " Less if fewer items reach the later stages." if any(stage.at_most for stage in plan.stages) else ""
    return f"The study costs about {cost}, fees included.{fewer} Work redone for people who are dropped comes on top."


def _check_as_json(directory: StudyFolder) -> None:
    from dataclasses import asdict

    from chorale.report import plan_study, study_notes
    from chorale.study import check_folder

    folder, problems = check_folder(directory)
    if folder is None:
        print_json({"ok": False, "problems": [asdict(problem) for problem in problems]})
        raise typer.Exit(2)
    print_json({"ok": True, "problems": [], "notes": study_notes(folder), **asdict(plan_study(folder))})
