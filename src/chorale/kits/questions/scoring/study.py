"""A study of multiple-choice questions for the report: each arm separately, read from its database."""

from collections.abc import Iterator
from dataclasses import dataclass

from chorale.engine.running import Study
from chorale.exchange.export_rows import ledger_rows, response_rows
from chorale.kits.questions.files.questions import McqQuestions, mcq_of_records
from chorale.kits.questions.files.study_exports import paid_of, worked_of
from chorale.kits.questions.metrics.costs import GRADING, VALIDATING, WRITING, costs_by_arm
from chorale.kits.questions.scoring.exported import costs_section, grades_section
from chorale.kits.questions.scoring.measured import McqOptions, McqSection, NamedQuestions, arms_of, with_sections
from chorale.kits.questions.scoring.scores import score_mcq
from chorale.kits.questions.scoring.written_questions import written_section
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Result
from chorale.monitor.outcomes import stage_results
from chorale.store import Tx


@dataclass(frozen=True, slots=True)
class StudyQuestions:
    questions: McqQuestions
    """Validated questions with the arm of their writer."""
    sections: tuple[McqSection, ...]
    """Agreement of graders, and cost per question in each arm."""
    rounds: tuple[NamedQuestions, ...] = ()
    """Discarded questions of earlier stages, such as a tutorial or rounds with feedback, by stage."""
    arms: tuple[str, ...] = ()
    """In the order of the study file."""


def study_questions(tx: Tx, study: Study, resampling: Resampling, *, expert_hourly: int = 0) -> StudyQuestions | None:
    """None if no written questions have validations. Labels should be up to date."""
    records = [row for stage in _stages(study, VALIDATING) for row in _rows(tx, study, stage, "mcq")]
    # Questions from a file have no writer, and unanswered questions have no result yet.
    records = [row for row in records if row["protocol"] is not None and row["validation_data"]]
    if not records:
        return None
    sections = []
    grades = [row for stage in _stages(study, GRADING) for row in _rows(tx, study, stage, "mcq-grades")]
    if grades:
        texts = [{name: str(value) for name, value in row.items() if value is not None} for row in grades]
        sections.append(grades_section(texts, resampling))
    if study.settings.arms is not None:
        worked = [worked_of(row) for row in response_rows(tx, study)]
        costs = costs_by_arm(worked, [paid_of(row) for row in ledger_rows(tx, study)])
        if any(one.questions for one in costs.values()):
            sections.append(costs_section(costs, expert_hourly))
    arms = study.settings.arms.names if study.settings.arms is not None else ()
    return StudyQuestions(mcq_of_records(records, "the study"), tuple(sections), tuple(_rounds(tx, study)), arms)


def mcq_study(tx: Tx, study: Study, resampling: Resampling, *, expert_hourly: int = 0) -> Result | None:
    """The result of `chorale evaluate mcq` for a study folder, or None without data."""
    of_study = study_questions(tx, study, resampling, expert_hourly=expert_hourly)
    if of_study is None:
        return None
    named = arms_of([NamedQuestions("study", of_study.questions, "")], of_study.arms)
    options = McqOptions()
    written = written_section(named, options, resampling)
    return with_sections(score_mcq(named, options, resampling), [written, *of_study.sections])


def _rounds(tx: Tx, study: Study) -> Iterator[NamedQuestions]:
    """The questions of stages without validation."""
    validated = {name for stage in _stages(study, VALIDATING) for name in study.stage(stage).settings.sources}
    for name, stage in study.stages.items():
        if stage.task.name == WRITING and name not in validated:
            rows = _rows(tx, study, name, "mcq-written")
            if rows:
                arms = " and ".join(stage.settings.arms)
                yield NamedQuestions(f"{arms}: {name}" if arms else name, mcq_of_records(rows, name), "")


def _stages(study: Study, task: str) -> list[str]:
    return [name for name, stage in study.stages.items() if stage.task.name == task and stage.settings.sources]


def _rows(tx: Tx, study: Study, stage: str, table: str) -> list[dict[str, object]]:
    running = study.stage(stage)
    export = next(one for one in running.task.exports if one.name == table)
    return [dict(row) for row in export.rows(stage_results(tx, study, running))]
