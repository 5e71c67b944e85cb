"""What a report says of particular kinds of work: one line for each in `SECTIONS`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chorale.engine.running import Study
from chorale.kits.frames.browsing import (
    browsing_of_study,
    clarity_table,
    histogram_tables,
    pairs_table,
    summary_table,
)
from chorale.kits.qasrl.study_numbers import qasrl_study
from chorale.kits.questions.scoring.pictures import lengths_table, pictures
from chorale.kits.questions.scoring.study import mcq_study
from chorale.kits.questions.tasks.grade.rubric import RUBRIC
from chorale.kits.rules.tasks.entailment import applications
from chorale.metrics.drawing import Drawing
from chorale.monitor.outcomes import stage_results
from chorale.present.scoring import ScoreTable
from chorale.report.document import Bullets, Figure, Part, Section
from chorale.store import Tx

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Found:
    """What a section is made of."""

    tables: Sequence[ScoreTable]
    json: Mapping[str, Any]
    notes: Sequence[str] = ()
    figures: Sequence[Figure] = ()


def task_sections(tx: Tx, study: Study, drawing: Drawing, *, with_arms: bool) -> list[Section]:
    """A section for every kind of work that has one and was done in the study."""
    there = {stage.task.name for stage in study.stages.values()}
    sections = []
    for name, (title, tasks, by_arm, tell) in SECTIONS.items():
        if not there & tasks:
            continue
        if by_arm and study.settings.arms is not None and not with_arms:
            words = "What came of every arm is left out: --arms puts it in, and writes down that you looked."
            sections.append(Section(name, title, [words], None))
            continue
        found = tell(tx, study, drawing)
        if found is not None:
            parts: list[Part] = [*found.tables, *found.figures, *([Bullets(list(found.notes))] if found.notes else [])]
            sections.append(Section(name, title, parts, found.json))
    return sections


def _qasrl(tx: Tx, study: Study, _drawing: Drawing) -> Found | None:
    told = qasrl_study(tx, study)
    return None if told is None else Found(told.tables(study.settings.pay.currency), told.as_json())


def _frames(_tx: Tx, study: Study, _drawing: Drawing) -> Found | None:
    tables: list[ScoreTable] = []
    told: dict[str, Any] = {}
    for stage in study.stages.values():
        if stage.task.name != "frames" or stage.settings.round is not None:
            continue
        found = browsing_of_study(study, stage)
        if found.sentences:
            tables += [summary_table(found), *histogram_tables(found)]
            tables += [clarity_table(found, _SHOWN), pairs_table(found, _SHOWN)]
            counts = found.majorities
            told[stage.name] = {
                "sentences": counts.sentences,
                "majorities": {"several": counts.several, "one": counts.one, "none": counts.none},
                "sqs": found.histograms(),
            }
    return Found(tables, told) if tables else None


def _questions(tx: Tx, study: Study, drawing: Drawing) -> Found | None:
    scored = mcq_study(tx, study, drawing)
    if scored is None:
        return None
    lengths = Figure(
        "How many words options have", lengths_table(scored.json), pictures(scored.json)["answer-lengths.svg"]
    )
    return Found(scored.tables, scored.as_json(), [*scored.notes, scored.signature], [lengths])


def _rubric(_tx: Tx, _study: Study, _drawing: Drawing) -> Found:
    rows = [
        ("" if number else criterion.ask, words, points)
        for criterion in RUBRIC
        for number, (words, points) in enumerate(zip(criterion.levels.values(), criterion.points, strict=True))
    ]
    json = {one.name: dict(zip(one.levels, one.points, strict=True)) for one in RUBRIC}
    return Found(
        [ScoreTable("What graders are asked about a question", ("question", "answer", "points#"), rows, digits=2)], json
    )


def _rules(tx: Tx, study: Study, _drawing: Drawing) -> Found | None:
    judged = [
        each
        for stage in study.stages.values()
        if stage.task.name == "rules-entailment" and stage.settings.sources
        for each in applications(stage_results(tx, study, stage))
    ]
    with_result = [each for each in judged if each.judgment is not None]
    if not with_result:
        return None
    said: dict[str, int] = {}
    for each in with_result:
        said[str(each.judgment)] = said.get(str(each.judgment), 0) + 1
    confident = sorted(with_result, key=lambda each: (-(each.confidence or 0.0), str(each.payload)))[:_SHOWN]
    rows = [(each.payload["lhs"], each.payload["rhs"], str(each.judgment), each.confidence) for each in confident]
    counts = ScoreTable("Judged rule applications", ("judgment", "applications#"), sorted(said.items()))
    columns = ("first phrase", "second phrase", "judgment", "confidence#")
    return Found([counts, ScoreTable("The surest of them", columns, rows, digits=2)], {"judged": said})


_Tell = Callable[[Tx, Study, Drawing], Found | None]
SECTIONS: Mapping[str, tuple[str, frozenset[str], bool, _Tell]] = {
    "qasrl": ("Questions and answers about verbs", frozenset({"qasrl-write", "qasrl-consolidate"}), False, _qasrl),
    "frames": ("Frames", frozenset({"frames"}), False, _frames),
    "rubric": ("The rubric of graders", frozenset({"mcq-grade"}), False, _rubric),
    "questions": ("Multiple-choice questions", frozenset({"mcq-validate"}), True, _questions),
    "rules": ("Inference rules", frozenset({"rules-entailment"}), False, _rules),
}
"""By name: the heading, the tasks it is about, whether it tells arms apart, and what tells it."""
