"""Sections that kits add to a report, each about one kind of work."""

from collections import Counter
from collections.abc import Callable, Collection

from chorale.engine.running import Study
from chorale.lazy import load
from chorale.metrics.resampling import Resampling
from chorale.model import UserError
from chorale.registry import ReportSection, blaming, clash, sections
from chorale.report.document import Bullets, Part, Section, SectionContent
from chorale.store import Tx
from chorale.store.database import savepoint

SectionBuilder = Callable[[Tx, Study, Resampling], SectionContent | None]


def kit_sections(
    tx: Tx, study: Study, resampling: Resampling, taken: Collection[str], *, with_arms: bool
) -> tuple[list[Section], list[str]]:
    """The sections of kits whose tasks the study has, and the problems of those that could not be made.

    `taken` are the names of the report's other sections.
    """
    declared, problems = declared_sections(study, taken)
    made = []
    for kit, each in declared:
        try:
            # An error in the database must not end the transaction that the other sections read in.
            with savepoint(tx):
                section = _section(kit, each, tx, study, resampling, with_arms=with_arms)
        except UserError as error:
            problems.append(error.message)
            section = Section(each.name, each.title, [error.message], None)
        if section is not None:
            made.append(section)
    return made, problems


def declared_sections(study: Study, taken: Collection[str] = ()) -> tuple[list[tuple[str, ReportSection]], list[str]]:
    """The sections about the study's tasks, with their kits; and an error for every name that is used more than once.

    Sections with such a name are left out.
    """
    declared = [(kit, section) for kit, section in sections() if study.task_names & section.tasks]
    count = Counter(section.name for _, section in declared)
    wrong = [name for name in count if count[name] > 1 or name in taken]
    problems = [
        clash("report section", name, [kit for kit, each in declared if each.name == name], own=name in taken).message
        for name in wrong
    ]
    return [(kit, section) for kit, section in declared if section.name not in wrong], problems


def section_content(
    kit: str, declared: ReportSection, study: Study, tx: Tx, resampling: Resampling | None = None
) -> SectionContent | None:
    """The content of a kit's section; None if there is nothing yet."""
    with blaming(f"report section `{declared.name}` of the kit `{kit}`"):
        build: SectionBuilder = load(declared.place)
        return build(tx, study, resampling or Resampling())


def _section(
    kit: str, declared: ReportSection, tx: Tx, study: Study, resampling: Resampling, *, with_arms: bool
) -> Section | None:
    if declared.by_arm and study.settings.arms is not None and not with_arms:
        words = "Results by arm are not shown. --arms shows them; the activity log records that you looked."
        return Section(declared.name, declared.title, [words], None)
    content = section_content(kit, declared, study, tx, resampling)
    if content is None:
        return None
    notes = [Bullets(list(content.notes))] if content.notes else []
    parts: list[Part] = [*content.tables, *content.figures]
    details: list[Part] = [*content.details, *notes]
    json = {name: value for name, value in content.json.items() if name not in content.keys_of_workers}
    return Section(declared.name, declared.title, parts, json, details)
