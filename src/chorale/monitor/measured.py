"""Measurements for `chorale check` from the database: wages, how often models are unsure, and missing accounts."""

from pathlib import Path

from chorale.engine.running import Study
from chorale.engine.started import started_study
from chorale.folder.assigned_notes import without_account
from chorale.model import UserError, money_text
from chorale.model.plural import plural
from chorale.monitor.first_pass import first_records
from chorale.monitor.status import wages
from chorale.protocol import WhyAsked
from chorale.store import assignees
from chorale.store.participations import participation_summaries


def measured_wages(directory: Path, database: str | None) -> list[str]:
    """Sentences about every stage with paid work, and about people with assigned items who can't sign in.

    Pay below the minimum is reported. Like the site, this refuses a study file that does not match the database.
    """
    try:
        with started_study(directory, database) as study:
            standings = study.store.read(participation_summaries).result()
            pay = study.settings.pay
            sentences = []
            for name, wage in wages(study, standings)[1].items():
                if wage.median is None:
                    continue
                here = [row for row in standings if row.stage == name and row.answered]
                answers, worked = sum(row.answered for row in here), sum(row.worked_ms for row in here)
                average = f"{worked / answers / 1000:.0f} seconds per answer on average, " if answers else ""
                people, median = plural(wage.workers, "worker", "workers"), money_text(wage.median, pay.currency)
                sentence = f"Measured in {name}: {people}, {average}median wage {median} an hour"
                if wage.median < pay.minimum_hourly:
                    least = money_text(pay.minimum_hourly, pay.currency)
                    sentence += f", below your minimum of {least}. Raise the pay, and pay a bonus to those who worked"
                sentences.append(f"{sentence}.")
            return sentences + people_without_account(study, directory)
    except UserError as error:
        if error.problems:
            raise
        return [f"Measured times cannot be read: {error.message}"]


def measured_unsure(directory: Path, database: str | None) -> dict[str, float]:
    """By stage, the fraction of items on which a model that answers first was unsure; 1 if the model was removed."""
    try:
        with started_study(directory, database) as study:
            records = study.store.look(lambda tx: first_records(tx, study))
    except UserError:
        return {}  # reported with the measured times
    sure = {one.stage: sum(one.why.get(why, 0) for why in (WhyAsked.AUDIT, WhyAsked.NOT_ASKED)) for one in records}
    return {one.stage: 1.0 if one.removed else 1 - sure[one.stage] / one.items for one in records if one.items}


def people_without_account(study: Study, directory: Path) -> list[str]:
    """A sentence about people with assigned items who can't sign in; empty if all can."""
    return without_account(study.store.look(assignees.strangers), directory)
