"""A study as it can be published: protocol, funnel, costs, agreement, disagreement, people, data card, methods."""

from dataclasses import asdict
from pathlib import Path

from chorale.audit.verify import verify
from chorale.engine.entering import EXPERTS_PANEL
from chorale.engine.running import Study
from chorale.metrics.resampling import Resampling
from chorale.model import ItemState
from chorale.model.plural import plural
from chorale.monitor.costs import study_costs
from chorale.monitor.models import model_records
from chorale.monitor.status import status
from chorale.report.agreement import aggregation_section, agreement_section
from chorale.report.analysis import analysis_sections
from chorale.report.costs import costs_section, planned_section
from chorale.report.data_card import data_card_section, data_files, day
from chorale.report.disagreement import disagreement_section
from chorale.report.document import (
    OTHER_KEYS,
    Bullets,
    Part,
    Quoted,
    ReportOptions,
    Section,
    SectionContent,
    StudyReport,
)
from chorale.report.fields import fields_sections
from chorale.report.kit_sections import kit_sections
from chorale.report.methods import methods_paragraph
from chorale.report.models import model_sentences, models_sections
from chorale.report.monitoring import monitoring_sections
from chorale.report.page import report_page
from chorale.report.people import funnel_section, workers_section
from chorale.report.protocol import protocol_section
from chorale.report.questions import answered_questions, counted_answers
from chorale.store import Tx, events, settings
from chorale.store.items import all_items
from chorale.store.workers import Attendees, attendees

__all__ = ["ReportOptions", "SectionContent", "StudyReport", "report_page", "study_report"]


def study_report(
    study: Study, directory: Path, data: Path, options: ReportOptions, resampling: Resampling
) -> StudyReport:
    """The report on a study, all of it from one state of its database.

    `directory` is the study's folder, where a forecast may be kept. The study's data are written to the folder `data`,
    so that their digests are known. Labels should have been brought up to date before.
    """
    return study.store.read(lambda tx: _report(tx, study, directory, data, options, resampling)).result()


def _report(
    tx: Tx, study: Study, directory: Path, data: Path, options: ReportOptions, resampling: Resampling
) -> StudyReport:
    # First, because it holds as much as all the rest.
    checked = _verification_section(tx, study)
    now, came = status(tx, study), attendees(tx, EXPERTS_PANEL)
    stages = {
        name: (stage, counted_answers(tx, stage))
        for name, stage in study.stages.items()
        if stage.settings.round is None
    }
    questions = [one for stage, responses in stages.values() for one in answered_questions(stage, responses)]
    items = {name: [item for item in all_items(tx, name) if item.state != ItemState.WITHDRAWN] for name in stages}
    agreement = agreement_section(stages, questions, resampling)
    imported = sorted(str(event.evidence["file"]) for event in events.recent(tx, 1_000, kinds=("imported",)))
    funnel = funnel_section(tx, study, now, came, imported, draw=options.charts)
    costs = study_costs(tx, study)
    records, currency = model_records(tx, study), study.settings.pay.currency
    of_models = list(model_sentences(records, currency))
    methods = " ".join([methods_paragraph(study, now, costs, funnel.json, agreement.json, imported), *of_models])
    card, metadata = data_card_section(
        study,
        data_files(tx, study, data),
        came,
        licence=options.licence,
        url=options.url,
        methods=methods,
        models=of_models,
    )
    sections = [
        Section("methods", "Methods, in a paragraph", [Quoted(methods)], methods),
        protocol_section(study),
        funnel,
        costs_section(tx, study, now, costs, with_arms=options.arms),
        planned_section(tx, study, directory, now, costs, came),
        agreement,
        aggregation_section(questions, resampling),
        disagreement_section(stages, items, draw=options.charts),
        *fields_sections(tx, study, stages),
        *monitoring_sections(stages, items),
        workers_section(tx, study, now, draw=options.charts),
        *models_sections(records, currency),
    ]
    sections[3:3] = analysis_sections(tx, study, came, resampling, with_arms=options.arms, draw=options.charts)
    taken = {*OTHER_KEYS, *(section.name for section in (*sections, card, checked))}
    of_kits, notes = kit_sections(tx, study, resampling, taken, with_arms=options.arms)
    sections += [*of_kits, card, checked]
    if checked.json["differences"]:
        differing = plural(len(checked.json["differences"]), "number differs", "numbers differ")
        notes.append(f"{differing} from what was recorded: see Verification.")
    return StudyReport(
        study.settings.study.title, _subtitle(came, simulated=settings.is_simulated(tx)), sections, metadata, notes
    )


def _subtitle(came: Attendees, *, simulated: bool) -> str:
    people = "All people are simulated. " if simulated else ""
    if came.last_at is None:
        return f"{people}Nobody has answered anything yet."
    return f"{people}As of the last answer, on {day(came.last_at)}."


def _verification_section(tx: Tx, study: Study) -> Section:
    """Every derived number computed again from responses, gold and settings, as `chorale verify` does."""
    verification = verify(tx, study)
    again = ", ".join(f"{count:,} {what}" for what, count in verification.checked.items())
    parts: list[Part] = [f"Computed again from what was recorded: {again}."]
    if verification.differences:
        parts += [
            "These differ from the database, and what is said here rests on them:",
            Bullets(verification.differences[:50]),
        ]
    else:
        parts.append(verification.conclusion)
    parts += [f"Not checked: {what}." for what in verification.unchecked]
    return Section("verification", "Verification", parts, asdict(verification))
