"""The report's section on inference rules."""

from collections import Counter

from chorale.engine.running import Study
from chorale.kits.rules.checking import CHECK_TASK, check_parts, check_score, check_tables, checked_applications
from chorale.kits.rules.tasks.entailment import applications
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import ScoreTable
from chorale.monitor.outcomes import stage_results
from chorale.report.document import SectionContent
from chorale.store import Tx

_SHOWN = 10


def rules_section(tx: Tx, study: Study, resampling: Resampling) -> SectionContent | None:
    judged = [
        application
        for stage in study.stages.values()
        if stage.task.name == "rules-entailment" and stage.settings.sources
        for application in applications(stage_results(tx, study, stage))
        if application.judgment is not None
    ]
    if not judged:
        return None
    counts = Counter(str(application.judgment) for application in judged)
    surest = sorted(judged, key=lambda each: (-(each.confidence or 0.0), str(each.payload)))[:_SHOWN]
    rows = [(each.payload["lhs"], each.payload["rhs"], str(each.judgment), each.confidence) for each in surest]
    columns = ("left side", "right side", "label", "confidence#")
    tables = [ScoreTable("Rule applications by label", ("label", "applications#"), sorted(counts.items()))]
    surest_table = ScoreTable("Rule applications with the highest confidence", columns, rows, digits=2)
    checks = {}
    for stage in study.stages.values():
        checked = checked_applications(tx, study, stage) if stage.task.name == CHECK_TASK else []
        scores = {name: check_score(part, resampling) for name, part in check_parts(checked) if part}
        if checked:
            tables += check_tables(scores, checked)
            checks[stage.name] = {name: score.json for name, score in scores.items()}
    json = {"judged": dict(counts), **({"checks": checks} if checks else {})}
    return SectionContent(tables, json, details=[surest_table])
