"""The report's sections about multiple-choice questions and their rubric."""

from chorale.engine.running import Study
from chorale.kits.questions.scoring.charts import lengths_table, pictures
from chorale.kits.questions.scoring.study import mcq_study
from chorale.kits.questions.tasks.grade.rubric import RUBRIC
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import ScoreTable
from chorale.report.document import Figure, SectionContent
from chorale.store import Tx


def questions_section(tx: Tx, study: Study, resampling: Resampling) -> SectionContent | None:
    scored = mcq_study(tx, study, resampling)
    if scored is None:
        return None
    lengths = Figure(
        "How many words options have", lengths_table(scored.json), pictures(scored.json)["answer-lengths.svg"]
    )
    return SectionContent(scored.tables, scored.as_json(), [*scored.notes, scored.signature], [lengths])


def rubric_section(_tx: Tx, _study: Study, _resampling: Resampling) -> SectionContent:
    rows = [
        ("" if number else criterion.ask, words, points)
        for criterion in RUBRIC
        for number, (words, points) in enumerate(zip(criterion.levels.values(), criterion.points, strict=True))
    ]
    json = {criterion.name: dict(zip(criterion.levels, criterion.points, strict=True)) for criterion in RUBRIC}
    columns = ("question", "answer", "points#")
    return SectionContent([ScoreTable("What graders are asked about a question", columns, rows, digits=2)], json)
