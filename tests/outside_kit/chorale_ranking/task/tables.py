"""The export `ranking-points`: every text with its Borda points."""

from collections.abc import Iterator, Mapping
from typing import Any

from chorale.contract import StageResults, TaskExport
from chorale_ranking.rankings import borda_points, borda_ranking


def _rows(results: StageResults) -> Iterator[Mapping[str, Any]]:
    for item in results.items:
        judgments = results.judgments(item)
        points = borda_points((judgment.answer, judgment.trust) for judgment in judgments)
        for rank, name in enumerate(borda_ranking(points), 1):
            text = item.payload["texts"][name]
            yield {"item": item.key, "name": name, "text": text, "rank": rank, "points": points[name]}


POINTS_TABLE = TaskExport(
    "ranking-points",
    "every text with its rank and Borda points, as CSV",
    "ranking-points.csv",
    ("item", "name", "text", "rank", "points"),
    _rows,
)
