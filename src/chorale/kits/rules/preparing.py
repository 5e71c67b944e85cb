"""What was drawn for people to judge."""

from collections import Counter

from chorale.kits.rules.files.extractions import ReadExtractions
from chorale.kits.rules.learning.applying import Applied
from chorale.metrics.score import Result
from chorale.metrics.score_table import ScoreTable
from chorale.model.plural import plural


def items_result(applied: Applied, read: ReadExtractions, asked: int) -> Result:
    """Counts of extractions and of applications, by the resources that proposed them."""
    by_resource = Counter(name for application in applied.applications for name in application.resources)
    rules = [application.rule for application in applied.applications]
    counts = {
        "extractions": ("extractions read", read.rows),
        "malformed": ("malformed lines", read.malformed),
        "matching": ("extractions that enough rules fit", applied.matching),
        "drawn": ("extractions drawn", applied.extractions),
        "applications": ("applications", len(rules)),
        "rules": ("different rules", len(set(rules))),
        "turned": ("applications with the arguments exchanged", sum(rule.turned for rule in rules)),
    }
    tables = [
        ScoreTable("Applications", ("what", "number#"), list(counts.values())),
        ScoreTable("Proposed by", ("resource", "applications#"), sorted(by_resource.items())),
    ]
    notes = [str(problem) for problem in read.problems]
    if read.malformed:
        notes.append(f"{plural(read.malformed, 'line is', 'lines are')} malformed and left out.")
    if applied.extractions < asked:
        notes.append(f"Only {applied.extractions:,} different extractions could be drawn, not the {asked:,} asked for.")
    json = {name: number for name, (_, number) in counts.items()}
    return Result({**json, "resources": dict(sorted(by_resource.items()))}, tables, "", tuple(notes))
