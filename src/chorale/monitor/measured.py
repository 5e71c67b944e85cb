"""Hourly wages by measured time, for `chorale check` of a study that has started."""

from pathlib import Path

from chorale.engine.started import started_study
from chorale.model import UserError, money_text
from chorale.model.plural import plural
from chorale.monitor.status import wages
from chorale.store.participations import participation_summaries


def measured_wages(directory: Path, database: str | None) -> list[str]:
    """A sentence for each stage with paid work, with a warning if the wage is below the minimum."""
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
            return sentences
    except UserError as error:
        return [f"Measured times cannot be read: {error.message}"]
