"""The report's sections on multiple-choice questions and the grading rubric."""

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
    first, *others = scored.tables
    lengths = Figure(
        "Length of the options. Correct options (solid) that are longer than wrong ones (dashed) can be guessed.",
        lengths_table(scored.json),
        pictures(scored.json)["answer-lengths.svg"],
    )
    notes = [*scored.notes, f"Signature: {scored.signature}"]
    return SectionContent([first], scored.as_json(), notes, details=[*others, lengths])


def rubric_section(_tx: Tx, _study: Study, _resampling: Resampling) -> SectionContent:
    rows = [
        ("" if number else criterion.ask, words, points)
        for criterion in RUBRIC
        for number, (words, points) in enumerate(zip(criterion.levels.values(), criterion.points, strict=True))
    ]
    json = {criterion.name: dict(zip(criterion.levels, criterion.points, strict=True)) for criterion in RUBRIC}
    columns = ("question", "answer", "points#")
    table = ScoreTable("Grading rubric for a question", columns, rows, digits=2)
    return SectionContent([], json, details=[table])
