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
    turned = sum(application.rule.turned for application in applied.applications)
    rules = len({application.rule for application in applied.applications})
    counts = {
        "extractions": read.rows,
        "malformed": read.malformed,
        "matching": applied.matching,
        "drawn": applied.extractions,
        "applications": len(applied.applications),
        "rules": rules,
        "turned": turned,
    }
    tables = [
        ScoreTable(
            "Applications",
            ("what", "number#"),
            [
                ("extractions read", read.rows),
                ("malformed lines", read.malformed),
                ("extractions that enough rules fit", applied.matching),
                ("extractions drawn", applied.extractions),
                ("applications", len(applied.applications)),
                ("different rules", rules),
                ("applications with the arguments exchanged", turned),
            ],
        ),
        ScoreTable("Proposed by", ("resource", "applications#"), sorted(by_resource.items())),
    ]
    notes = [str(problem) for problem in read.problems]
    if read.malformed:
        notes.append(f"{plural(read.malformed, 'line is', 'lines are')} malformed and left out.")
    if applied.extractions < asked:
        notes.append(f"Only {applied.extractions:,} different extractions could be drawn, not the {asked:,} asked for.")
    return Result({**counts, "resources": dict(sorted(by_resource.items()))}, tables, "", tuple(notes))
