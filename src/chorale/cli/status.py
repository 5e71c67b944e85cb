"""`chorale status`"""

from collections.abc import Collection
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated

from chorale.cli.arguments import BY, AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line, print_notes
from chorale.cli.parameters import Option
from chorale.cli.terminal import show
from chorale.engine.closing_pay import beyond_budget
from chorale.engine.gates import gate_statuses
from chorale.engine.retention import due
from chorale.engine.settling import settle_everything
from chorale.engine.started import started_study
from chorale.folder.retention_notes import retention_sentences
from chorale.model import UserError, money_text
from chorale.monitor import tables
from chorale.monitor.alarm import alarm_line
from chorale.monitor.costs import arm_costs, study_costs
from chorale.monitor.hurried import hurried_line
from chorale.monitor.outcomes import tallies
from chorale.monitor.status import note_arms_shown, summary
from chorale.monitor.status import status as current_status
from chorale.monitor.watching import suspicions
from chorale.present.scoring import score_table
from chorale.report.kit_sections import declared_sections, section_content
from chorale.store.arms import arm_counts

if TYPE_CHECKING:
    from chorale.engine.running import Study
    from chorale.report.document import SectionContent

Arms = Annotated[bool, Option(help="Show the size and cost of each arm. The activity log records this.")]


def status(directory: StudyFolder, arms: Arms = False, db: Database = None, as_json: AsJson = False) -> None:
    """Show a study's progress: stages, workers, gates, cost, wages."""
    with started_study(directory, db) as study:
        if arms and study.settings.arms is None:
            raise UserError(f"{directory} has no arms. Leave out --arms, or name them in study.toml under [arms].")
        settle_everything(study)
        if arms:
            study.store.write(lambda tx: note_arms_shown(tx, study, BY, "status with --arms")).result()
        if as_json:
            numbers = study.store.read(lambda tx: summary(tx, study, arms=arms)).result()
            numbers["warnings"] = [
                asdict(alarm) for alarm in study.store.read(lambda tx: suspicions(tx, study)).result()
            ]
            of_kits = _of_kits(study, numbers)
            print_json({**numbers, **{name: content.json for name, content in of_kits.items()}})
            return
        _print_status(study)
        if arms:
            _print_arms(study)


def _of_kits(study: "Study", taken: Collection[str] = ()) -> "dict[str, SectionContent]":
    """The sections that kits add to the status of a running study. For one that fails, print a note."""
    declared, problems = declared_sections(study, taken)
    contents = {}
    for kit, each in declared:
        try:
            content = each.in_status and study.store.read(partial(section_content, kit, each, study)).result()
        except UserError as error:
            problems.append(error.message)
        else:
            if content:
                contents[each.name] = content
    print_notes(problems)
    return contents


def _retention_lines(study: "Study") -> list[str]:
    """How long personal data are kept, and how many people's data are due to be erased."""
    waiting = len(study.store.look(lambda tx: due(tx, study)))
    lines = retention_sentences(study.settings.retention)
    if waiting:
        people = "1 person is" if waiting == 1 else f"{waiting:,} people are"
        lines.append(f"Data of {people} due to be erased: `chorale retention` lists them.")
    return lines


def _print_arms(study: "Study") -> None:

    counts = study.store.read(arm_counts).result()
    costs = study.store.read(lambda tx: arm_costs(tx, study)).result()
    show(tables.arms_table(counts, costs, study.settings.pay.currency))


def _print_status(study: "Study") -> None:

    now = study.store.read(lambda tx: current_status(tx, study)).result()
    pay = study.settings.pay
    gates = study.store.read(lambda tx: gate_statuses(tx, study)).result()
    print_line(study.settings.study.title)
    show(
        tables.stages_table(now, pay.currency),
        *([tables.gates_table(gates)] if gates else []),
        *[tables.outcomes_table(tally) for tally in study.store.read(lambda tx: tallies(tx, study)).result().values()],
        *([tables.dropped_table(now.dropped, pay.currency)] if now.dropped else []),
    )
    for content in _of_kits(study).values():
        show(*map(score_table, (*content.tables, *content.of_workers)))
    fees = money_text(now.totals["fee"], pay.currency)
    calls = f" and {money_text(now.totals['model'], pay.currency)} for model calls" if now.totals["model"] else ""
    if now.spent:
        print_line(f"Spent {money_text(now.spent, pay.currency)}, of which {fees} in fees{calls}.")
    else:
        print_line("No cost is recorded.")
    if now.stopped:
        budget, names = money_text(pay.budget or 0, pay.currency), ", ".join(now.stopped)
        print_line(f"No more items are assigned in {names}: the budget of {budget} does not cover one more answer.")
        print_line("Raise `pay.budget` in study.toml and start the site again.")
    for alarm in study.store.read(lambda tx: suspicions(tx, study)).result():
        print_line(alarm_line(alarm))
    for gate in gates:
        if gate.lacking:
            print_line(" ".join(beyond_budget(study, gate.name, gate.lacking)))
    for line in tables.cost_lines(study.store.read(lambda tx: study_costs(tx, study)).result(), pay.currency):
        print_line(line)
    print_line(tables.wage_line(now, pay.currency, pay.minimum_hourly))
    if now.too_fast:
        print_line(f"Too fast to have read: {hurried_line(now.too_fast)}")
    for name in now.below_in:
        median = now.wages[name].median or 0
        print_line(
            f"{name}: the median hourly wage is {money_text(median, pay.currency)}, which is below your minimum."
        )
    for line in _retention_lines(study):
        print_line(line)
