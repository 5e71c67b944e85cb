"""Sections that kits add to a report, each about one kind of work."""

from collections.abc import Callable

from chorale.engine.running import Study
from chorale.lazy import load
from chorale.metrics.resampling import Resampling
from chorale.registry import ReportSection, sections
from chorale.report.document import Bullets, Part, Section, SectionContent
from chorale.store import Tx

SectionBuilder = Callable[[Tx, Study, Resampling], SectionContent | None]


def kit_sections(tx: Tx, study: Study, resampling: Resampling, *, with_arms: bool) -> list[Section]:
    """A section for every kind of work that has one and was done in the study."""
    return [
        section
        for declared in declared_sections(study)
        if (section := _section(declared, tx, study, resampling, with_arms=with_arms)) is not None
    ]


def declared_sections(study: Study) -> list[ReportSection]:
    """The sections about tasks that the study has."""
    return [declared for declared in sections() if study.task_names & declared.tasks]


def section_content(declared: ReportSection, tx: Tx, study: Study, resampling: Resampling) -> SectionContent | None:
    """What the kit has to show; None if there is nothing yet."""
    build: SectionBuilder = load(declared.place)
    return build(tx, study, resampling)


def _section(
    declared: ReportSection, tx: Tx, study: Study, resampling: Resampling, *, with_arms: bool
) -> Section | None:
    if declared.by_arm and study.settings.arms is not None and not with_arms:
        words = "Results by arm are left out. --arms includes them, and records that you looked."
        return Section(declared.name, declared.title, [words], None)
    content = section_content(declared, tx, study, resampling)
    if content is None:
        return None
    notes = [Bullets(list(content.notes))] if content.notes else []
    parts: list[Part] = [*content.tables, *content.figures, *notes]
    return Section(declared.name, declared.title, parts, content.json)
