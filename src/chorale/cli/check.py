"""`chorale check`"""

from dataclasses import asdict
from importlib.util import find_spec

from rich.table import Table

from chorale.cli.arguments import AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.cli.terminal import show
from chorale.folder.plan import StudyPlan, plan_study, study_notes
from chorale.folder.reading import check_folder, load_folder
from chorale.folder.retention_notes import retention_sentences
from chorale.folder.truth import truth_that_fits_nothing
from chorale.lazy import load
from chorale.model import money_text
from chorale.model.extras import EXTRAS
from chorale.present.terminal import add_row, table_of

DATABASE = "study.db"


def check(directory: StudyFolder, db: Database = None, as_json: AsJson = False) -> None:
    """Report every problem in a study's files, or what the study will ask for and cost."""
    if as_json:
        _check_as_json(directory, db)
        return

    folder = load_folder(directory)
    plan = plan_study(folder)
    print_line(f"{directory} is in order: {plan.title}")
    show(plan_table(plan))
    print_line(_cost_sentence(plan, folder.settings.pay.fee_percent))
    for sentence in _round_sentences(plan):
        print_line(sentence)
    print_line(_workers_sentence(plan))
    for sentence in _measured(directory, db):
        print_line(sentence)
    for sentence in retention_sentences(folder.settings.retention):
        print_line(sentence)
    for note in study_notes(folder):
        print_line(f"Before people come: {note}")
    for note in truth_that_fits_nothing(folder):
        print_line(f"Before you rehearse: {note}")


def plan_table(plan: StudyPlan) -> Table:
    """What each stage will ask for and cost."""
    table = table_of("stage", "items#", "gold#", "judgments#", "on gold#", "cost#", "an hour#")
    for stage in plan.stages:
        bound = "≤ " if stage.at_most else "≈ " if stage.by_chance else ""
        wage = "" if stage.hourly_wage is None else money_text(stage.hourly_wage, plan.currency)
        add_row(
            table,
            stage.name,
            f"{bound}{stage.items:,}",
            f"{stage.gold_items:,}",
            f"{bound}{stage.judgments:,}",
            f"{bound}{stage.gold_answers:,}",
            f"{bound}{money_text(stage.cost, plan.currency)}",
            wage,
        )
    for gate in plan.gates:
        if gate.cost:
            add_row(table, f"{gate.name} (bonus)", "", "", "", "", money_text(gate.cost, plan.currency), "")
    return table


def _cost_sentence(plan: StudyPlan, fee_percent: float) -> str:
    cost = money_text(plan.cost, plan.currency)
    if plan.most > plan.cost:
        cost += f", or {money_text(plan.most, plan.currency)} if every item asks for the most judgments"
    fewer = (
        " Less if fewer items reach the later stages."
        if any(stage.at_most or stage.by_chance for stage in plan.stages)
        else ""
    )
    fees = f", with fees of {fee_percent:g}%." if fee_percent else ". No fees are counted (pay.fee_percent = 0)."
    return f"The study costs about {cost}{fees}{fewer} This excludes replacing the work of people who are removed."


def _round_sentences(plan: StudyPlan) -> list[str]:
    """What rounds and gates cost, and for how many people that was counted."""
    sentences = []
    for stage in plan.stages:
        if stage.per_worker is not None:
            each = money_text(stage.per_worker, plan.currency)
            many = "1 is" if stage.workers == 1 else f"{stage.workers} are"
            sentences.append(f"The round {stage.name} costs {each} for each worker who does it; {many} counted above.")
    for gate in plan.gates:
        if gate.cost:
            cost = money_text(gate.cost, plan.currency)
            sentences.append(
                f"Bonuses for passing {gate.name} come to {cost} if {gate.passing} of {gate.workers} pass."
            )
    if plan.training:
        more = money_text(plan.training, plan.currency)
        sentences.append(
            f"How many will begin and how many of them pass is not known: rounds are counted for the fewest who can do "
            f"the study, as if nobody failed, or for as many as a gate's `expected` says. Everybody else who does all "
            f"rounds costs {more} more: set `expected` to how many you expect, and try it with `chorale rehearse`."
        )
    return sentences


def _workers_sentence(plan: StudyPlan) -> str:
    people = "1 worker" if plan.workers == 1 else f"{plan.workers} workers"
    if plan.gates:
        # Those who share a place pass together, and stages that a gate ends need not be finished: no number is needed.
        return (
            f"It is planned for {people} who stay to the end, counted by what gates let pass and their `expected`. "
            "Fewer can be enough: try it with `chorale rehearse`."
        )
    why = ": nobody judges two parts of one thing" if plan.parts else ""
    return f"It takes {people} or more who stay to the end{why}."


def _measured(directory: StudyFolder, db: str | None) -> list[str]:
    """What people who have worked were paid an hour; nothing where nobody could, or databases can't be read."""
    if db is None and not (directory / DATABASE).is_file():
        return []
    if any(find_spec(package) is None for package in EXTRAS["site"]):
        return []
    sentences: list[str] = load("chorale.monitor.measured:measured_wages")(directory, db)
    return sentences


def _check_as_json(directory: StudyFolder, db: str | None) -> None:
    folder, problems = check_folder(directory)
    if folder is None:
        print_json({"ok": False, "problems": [asdict(problem) for problem in problems]})
        raise SystemExit(2)
    notes = [*study_notes(folder), *_measured(directory, db), *truth_that_fits_nothing(folder)]
    print_json({"ok": True, "problems": [], "notes": notes, **asdict(plan_study(folder))})
