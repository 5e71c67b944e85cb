"""The section of `chorale report` about rankings."""

from itertools import combinations

from chorale.engine.running import Study
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import ScoreTable
from chorale.monitor.outcomes import stage_results
from chorale.report.document import SectionContent
from chorale.store import Tx
from chorale_ranking.rankings import kendall_tau


def ranking_section(tx: Tx, study: Study, _resampling: Resampling) -> SectionContent | None:
    """Every ranked item with its label, and how far workers agree on it."""
    rows = []
    for stage in study.stages.values():
        if stage.task.name != "ranking":
            continue
        results = stage_results(tx, study, stage)
        for item in results.items:
            answers = [judgment.answer for judgment in results.judgments(item)]
            taus = [kendall_tau(left, right) for left, right in combinations(answers, 2)]
            if item.label is not None and taus:
                rows.append((item.key, " > ".join(item.label.answer), len(answers), sum(taus) / len(taus)))
    if not rows:
        return None
    mean = sum(tau for *_, tau in rows) / len(rows)
    columns = ("item", "ranking", "answers#", "mean tau of two workers#")
    table = ScoreTable("Ranked items", columns, rows, digits=2)
    return SectionContent([table], {"items": len(rows), "mean_tau": mean})
