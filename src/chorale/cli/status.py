"""`chorale status`"""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from typing import TYPE_CHECKING

from chorale.cli.arguments import AsJson, Database, StudyFolder
from chorale.cli.output import print_json, say, show

if TYPE_CHECKING:
    from chorale.study import Study


def status(directory: StudyFolder, db: Database = None, as_json: AsJson = False) -> None:
    """Show where a study stands: stages, workers, cost, wages."""
    from chorale.study.settling import settle_everything
    from chorale.study.started import started_study
    from chorale.study.status import summary

    with started_study(directory, db) as study:
        settle_everything(study)
        if as_json:
            print_json(study.store.read(lambda tx: summary(tx, study)).result())
            return
        _print_status(study)


def _print_status(study: "Study") -> None:
    from chorale.model import money_text
    from chorale.report import dropped_table, outcomes_table, stages_table, wage_line
    from chorale.study.outcomes import tallies
    from chorale.study.status import status as current_status

    now = study.store.read(lambda tx: current_status(tx, study)).result()
    pay = study.settings.pay
    say(study.settings.study.title)
    show(
        stages_table(now, pay.currency),
        *[outcomes_table(tally) for tally in study.store.read(lambda tx: tallies(tx, study)).result().values()],
        *([dropped_table(now.dropped, pay.currency)] if now.dropped else []),
    )
    fees = money_text(now.totals["fee"], pay.currency)
    say(f"Spent {money_text(now.spent, pay.currency)}, of which {fees} in fees.")
    say(wage_line(now, pay.currency, pay.minimum_hourly))
