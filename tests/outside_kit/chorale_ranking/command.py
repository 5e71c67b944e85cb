"""`chorale rank`"""

from chorale.cli.arguments import AsJson
from chorale.cli.scoring import AsLatex, print_scored
from chorale.metrics.reading.judged import Reading, judged_in
from chorale.metrics.reading.judgments_options import JudgmentsFile, ReaderName
from chorale.metrics.score import Result
from chorale.metrics.score_table import ScoreTable
from chorale.metrics.signatures import signature
from chorale_ranking.borda import rankings_by_task
from chorale_ranking.rankings import borda_points, borda_ranking


def rank(file: JudgmentsFile, reader: ReaderName = None, as_json: AsJson = False, as_latex: AsLatex = False) -> None:
    """Order the texts of every task by Borda count."""
    judged = judged_in(file, Reading(reader=reader))
    said = rankings_by_task(judged.judgments)
    rows = []
    for task, votes in sorted(said.items()):
        points = borda_points((vote, 1.0) for vote in votes)
        rows.append((task, " > ".join(borda_ranking(points)), len(votes)))
    result = Result(
        {"rankings": {task: ranking.split(" > ") for task, ranking, _ in rows}},
        [ScoreTable("Rankings", ("task", "ranking", "votes#"), rows)],
        signature("rank", {"reader": reader}, {"file": judged.digest}),
    )
    print_scored(result, as_json=as_json, as_latex=as_latex)
