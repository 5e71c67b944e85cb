"""How far graders agree, criterion by criterion, as a command tells it."""

from collections.abc import Mapping, Sequence

from chorale.kits.questions.scoring.sections import McqSection
from chorale.metrics.agreement import krippendorff_alpha
from chorale.metrics.judgments import Judgments
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import Cell, ScoreTable, shown_interval

ALL = "all"


def grades_section(rows: Sequence[Mapping[str, str]], resampling: Resampling) -> McqSection:
    """Krippendorff's α for ranks: of every stage that was graded and all together, of every criterion."""
    stages = sorted({row.get("stage", "") for row in rows} - {""})
    criteria = list(dict.fromkeys(row["criterion"] for row in rows))
    json: dict[str, dict[str, object]] = {}
    table: list[list[Cell]] = []
    for stage in [ALL, *stages]:
        chosen = [row for row in rows if stage in (ALL, row.get("stage"))]
        json[stage] = {}
        for number, criterion in enumerate(criteria):
            graded = [row for row in chosen if row["criterion"] == criterion]
            alpha = krippendorff_alpha(
                Judgments.from_columns(
                    [row["task"] for row in graded], [row["worker"] for row in graded], [row["label"] for row in graded]
                ),
                level="ordinal",
            )
            interval = (
                resampling.intervals(*alpha.statistics())["value"]
                if resampling.ci and alpha.value is not None
                else None
            )
            json[stage][criterion] = {
                "alpha": alpha.value,
                "grades": len(graded),
                **({} if interval is None else {"ci": interval.as_list()}),
            }
            row: list[Cell] = ["" if number else stage, criterion, len(graded), alpha.value]
            table.append([*row, shown_interval(interval)] if resampling.ci else row)
    columns = ("graded stage", "criterion", "grades#", "Krippendorff's alpha#")
    return McqSection(
        "grades",
        json,
        [ScoreTable("Agreement of graders, ordinal", (*columns, "95% interval#") if resampling.ci else columns, table)],
    )
