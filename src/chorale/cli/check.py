"""`chorale check`"""

from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec

from rich.table import Table

from chorale.cli.arguments import AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.cli.progress import patiently
from chorale.cli.terminal import show
from chorale.folder.assigned_notes import assignees_of, without_account
from chorale.folder.checking.content import StageContent
from chorale.folder.plan import StagePlan, StudyPlan, plan_study, study_notes
from chorale.folder.reading import StudyFolder as Folder
from chorale.folder.reading import load_folder
from chorale.folder.reading_plan import Pace
from chorale.folder.retention_notes import retention_sentences
from chorale.folder.truth import truth_that_fits_nothing, unanswered_in_simulations
from chorale.lazy import load
from chorale.model import UserError, money_text
from chorale.model.extras import EXTRAS
from chorale.model.money import exact_money_text
from chorale.model.plural import plural
from chorale.present.terminal import add_row, table_of

DATABASE = "study.db"


def check(directory: StudyFolder, db: Database = None, as_json: AsJson = False) -> None:
    """List every problem in a study's files. If there are none, show the plan: annotations, cost, wages, workers."""
    if as_json:
        _check_as_json(directory, db)
    else:
        print_check(directory, db)


def print_check(directory: StudyFolder, db: str | None = None) -> None:
    """Print a study's plan and notes, or raise an error that lists every problem."""
    with patiently("checking"):
        folder = load_folder(directory)
        _refuse_changes(directory, db, folder)
        plan = plan_study(folder, _measured_unsure(directory, db))
        measured = _measured(directory, db, folder)
        notes = [
            *study_notes(folder),
            *(f"before you simulate: {note}" for note in truth_that_fits_nothing(folder)),
            *unanswered_in_simulations(folder),
        ]
    left = f"no errors, {plural(len(notes), 'note', 'notes')} (below)" if notes else "no problems found"
    print_line(f"{directory} ({plan.title!r}): {left}.")
    show(plan_table(plan))
    sentences = [
        _cost_sentence(plan, folder),
        *_reward_sentences(plan, folder),
        *_first_sentences(plan, folder),
        *_round_sentences(plan),
        *_wage_sentences(plan),
        _workers_sentence(plan),
    ]
    for sentence in [*sentences, *measured, *retention_sentences(folder.settings.retention)]:
        print_line(sentence)
    print_before_launch(notes)


def print_before_launch(notes: Sequence[str], study: str = "") -> None:
    """List what should be done before launch, one line per note; of several studies, name the study."""
    if notes:
        print_line()
        print_line(f"Before the launch of {study}:" if study else "Before launch:")
        for note in notes:
            print_line(f"  - {note}")


def plan_table(plan: StudyPlan) -> Table:
    """The items, answers, cost and hourly wage of each stage."""
    table = table_of(
        "stage", "items#", "gold#", "answers#", "gold answers#", "cost#", "pay each#", "seconds each#", "per hour#"
    )
    for stage in plan.stages:
        bound = "≤ " if stage.at_most else "≈ " if stage.by_chance else ""
        part = bound or ("≈ " if stage.asked is not None else "")
        wage = "" if stage.hourly_wage is None else money_text(stage.hourly_wage, plan.currency)
        add_row(
            table,
            stage.name,
            f"{bound}{stage.items:,}",
            f"{stage.gold_items:,}",
            f"{part}{stage.judgments:,}",
            f"{part}{stage.gold_answers:,}",
            f"{part}{money_text(stage.cost, plan.currency)}",
            "" if stage.pace is None else _pay_text(stage.pace.paid, plan.currency),
            "" if stage.pace is None else _seconds_text(stage.pace),
            wage,
        )
    for gate in plan.gates:
        if gate.cost:
            add_row(table, f"{gate.name} (bonus)", "", "", "", "", money_text(gate.cost, plan.currency), "", "", "")
    return table


def _cost_sentence(plan: StudyPlan, folder: Folder) -> str:
    fee_percent = folder.settings.pay.fee_percent
    cost = money_text(plan.cost, plan.currency)
    if plan.most > plan.cost:
        cost += f" (up to {money_text(plan.most, plan.currency)} if every item needs the maximum number of annotations)"
    fees = f"with {fee_percent:g}% fees" if fee_percent else "without platform fees (pay.fee_percent = 0)"
    fewer = (
        " It is lower if fewer items reach the later stages."
        if any(s.at_most or s.by_chance for s in plan.stages)
        else ""
    )
    stages = zip(plan.stages, folder.stages, strict=True)
    scripted = "rewards of tasks that scripts create, and " if any(_is_for_scripts(*stage) for stage in stages) else ""
    return (
        f"Estimated cost: {cost}, {fees}.{fewer} Not included: {scripted}the cost of replacing the work of people who "
        "are removed."
    )


def _is_for_scripts(plan: StagePlan, stage: StageContent) -> bool:
    """Whether a stage has no items, because scripts create its tasks."""
    return stage.task.form.framed and not plan.items


def _reward_sentences(plan: StudyPlan, folder: Folder) -> list[str]:
    """The rewards that Prolific pays for taking part, which are not in the cost of answers."""
    recruited = folder.settings.prolific.study if folder.settings.prolific else ()
    return [
        f"{one.name} on Prolific: {plural(one.places, 'place', 'places')} at a reward of "
        f"{money_text(one.reward, plan.currency)}, {money_text(one.places * one.reward, plan.currency)} in all without "
        "fees. Rewards count towards people's earnings; the rest is paid as bonuses."
        for one in recruited
    ]


def _first_sentences(plan: StudyPlan, folder: Folder) -> list[str]:
    """The planned work of people where a model answers first, and a note that model calls cost extra."""
    sentences = []
    for stage, content in zip(plan.stages, folder.stages, strict=True):
        rule = content.settings.models
        if rule is None or rule.role != "first":
            continue
        if stage.asked is None:
            sentences.append(
                f"{stage.name}: a model answers first. The estimated cost assumes that people judge every item, "
                "because it is not known how often the model is unsure. Set `expected` in [stage.models], or run "
                "`chorale rehearse`."
            )
        else:
            sentences.append(
                f"{stage.name}: a model answers first. People are expected to judge {stage.asked:.0%} of the items, "
                f"including an audit of {rule.audit:.0%} of those that the model is sure of."
            )
    if sentences:
        sentences.append("Model calls are not included: see `chorale annotate --dry-run`.")
    return sentences


def _round_sentences(plan: StudyPlan) -> list[str]:
    """The cost of training rounds and gates, and the number of people it assumes."""
    rounds = [
        f"{stage.name} {money_text(stage.per_worker, plan.currency)} "
        f"({plural(stage.workers or 0, 'worker', 'workers')})"
        for stage in plan.stages
        if stage.per_worker is not None
    ]
    bonuses = [
        f"{gate.name} {money_text(gate.cost, plan.currency)} ({gate.passing} of {gate.workers} pass)"
        for gate in plan.gates
        if gate.cost
    ]
    sentences = [f"Training costs per worker: {', '.join(rounds)}."] if rounds else []
    sentences += [f"Bonuses at gates: {', '.join(bonuses)}."] if bonuses else []
    if plan.training:
        more = money_text(plan.training, plan.currency)
        sentences.append(
            "The cost of training assumes the number of people in the gates' settings (`expected`, `workers`). Without "
            "these settings, it assumes the minimum number of people that the study needs if everybody passes. "
            f"Training costs up to {more} for each additional person."
        )
    return sentences


def _seconds_text(pace: Pace) -> str:
    """The seconds of an answer, plus its share of the time to read the guidelines."""
    shared = f"{pace.seconds - pace.each:.2f}"
    return f"{pace.each:.4g}" if float(shared) == 0 else f"{pace.each:.4g} + {shared}"


def _pay_text(amount: float, currency: str) -> str:
    """An amount of money, with decimals of a minor unit only if it has a fraction of one."""
    whole = round(amount)
    if amount == whole:
        return money_text(whole, currency)
    return exact_money_text(round(amount * 10**9), currency).rstrip("0")


def _wage_sentences(plan: StudyPlan) -> list[str]:
    """How the pay per hour is computed: the seconds it uses, and their source."""
    paces = [stage.pace for stage in plan.stages if stage.pace is not None]
    if not paces:
        return []
    sources = {True: "`expected_seconds` in study.toml", False: "the time to read an item and answer"}
    named = " or, if longer, ".join(
        text for source, text in sources.items() if any(p.expected is source for p in paces)
    )
    guidelines = " + (time to read the guidelines once ÷ answers per worker)"
    with_guidelines = guidelines if any(pace.guidelines for pace in paces) else ""
    return [
        f"Pay per hour = 3,600 × pay per answer ÷ seconds per answer. Seconds per answer: {named}{with_guidelines}."
    ]


def _workers_sentence(plan: StudyPlan) -> str:
    if plan.gates:
        people = plural(plan.workers, "worker who joins", "workers who join")
        # Workers who tie at the cut-off all pass, and stages that a gate ends need not be finished: no minimum applies.
        return f"Planned for {people}. Fewer may be enough: try it with `chorale rehearse`."
    why = ", because nobody judges two items of the same group" if plan.parts else ""
    people = plural(plan.workers, "worker who completes", "workers who complete")
    return f"Needs at least {people} the study{why}."


def _measured(directory: StudyFolder, db: str | None, folder: Folder) -> list[str]:
    """Hourly wages so far, and people without an account; empty if the database can't be read here."""
    if db is None and not (directory / DATABASE).is_file():
        # Nobody has an account before there is a database.
        return without_account(assignees_of(folder.stages), directory)
    if not _has_database(directory, db):
        return []
    sentences: list[str] = load("chorale.monitor.measured:measured_wages")(directory, db)
    return sentences


def _measured_unsure(directory: StudyFolder, db: str | None) -> dict[str, float]:
    """The fraction of items so far, by stage, on which a model that answers first is unsure."""
    if not _has_database(directory, db):
        return {}
    measured: dict[str, float] = load("chorale.monitor.measured:measured_unsure")(directory, db)
    return measured


def _refuse_changes(directory: StudyFolder, db: str | None, folder: Folder) -> None:
    """Raise an error if the site would refuse the folder, because people have worked with other files or settings."""
    if not _has_database(directory, db):
        return
    try:
        load("chorale.engine.started:refuse_changes")(directory, db, folder)
    except UserError as error:
        if error.problems:
            raise
        # The database can't be read: reported with the measured times.


def _has_database(directory: StudyFolder, db: str | None) -> bool:
    """Whether a database exists and can be read here."""
    if db is None and not (directory / DATABASE).is_file():
        return False
    return all(find_spec(package) is not None for package in EXTRAS["site"])


def _check_as_json(directory: StudyFolder, db: str | None) -> None:
    try:
        folder = load_folder(directory)
        _refuse_changes(directory, db, folder)
    except UserError as error:
        if not error.problems:
            raise
        print_json({"ok": False, "problems": [asdict(problem) for problem in error.problems]})
        raise SystemExit(2) from None
    notes = [
        *study_notes(folder),
        *_measured(directory, db, folder),
        *truth_that_fits_nothing(folder),
        *unanswered_in_simulations(folder),
    ]
    plan = plan_study(folder, _measured_unsure(directory, db))
    print_json({"ok": True, "problems": [], "notes": notes, **asdict(plan)})
