"""A report on a study: results first, then methods, participant flow and costs; details in an appendix."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from chorale.audit.verify import verify
from chorale.engine.entering import EXPERTS_PANEL
from chorale.engine.running import Study
from chorale.engine.simulation import has_simulated_people
from chorale.exchange.export import export_file_name
from chorale.metrics.resampling import Resampling
from chorale.model import ItemState
from chorale.model.plural import plural
from chorale.monitor.costs import CostTerms, study_costs
from chorale.monitor.first_pass import first_records, first_sentences
from chorale.monitor.models import model_records
from chorale.monitor.status import Status, status
from chorale.report.agreement import aggregation_section, agreement_section
from chorale.report.analysis import TrialResult, trial
from chorale.report.costs import costs_section, planned_section
from chorale.report.data_card import data_card_section, data_files, day
from chorale.report.disagreement import disagreement_section
from chorale.report.document import (
    OTHER_KEYS,
    Bullets,
    PaperParagraph,
    Part,
    ReportOptions,
    Section,
    SectionContent,
    StudyReport,
)
from chorale.report.fields import fields_sections
from chorale.report.flow import flow_section
from chorale.report.imported import annotations_per_item, logged_imports
from chorale.report.kit_sections import kit_sections
from chorale.report.methods import MethodsFacts, main_stages, methods_paragraphs
from chorale.report.models import model_sentences, models_sections
from chorale.report.monitoring import monitoring_sections
from chorale.report.page import appendix_page, report_page
from chorale.report.people import funnel_section, workers_section
from chorale.report.protocol import protocol_section
from chorale.report.questions import answered_questions, counted_answers
from chorale.report.results import ResultsFacts, decided_results, results_section
from chorale.store import Tx
from chorale.store.items import all_items
from chorale.store.workers import Attendees, attendees

__all__ = ["ReportOptions", "SectionContent", "StudyReport", "appendix_page", "report_page", "study_report"]


def study_report(
    study: Study, directory: Path, data: Path, options: ReportOptions, resampling: Resampling
) -> StudyReport:
    """The report on a study, all of it from one state of its database.

    `directory` is the study's folder, where a forecast may be saved. The study's data are written to the folder `data`,
    so that their digests are known. Labels should have been brought up to date before.
    """
    return study.store.read(lambda tx: _report(tx, study, directory, data, options, resampling)).result()


def _report(
    tx: Tx, study: Study, directory: Path, data: Path, options: ReportOptions, resampling: Resampling
) -> StudyReport:
    # First, because it needs as much memory as all the rest.
    checked = _verification_section(tx, study)
    now, came, costs = status(tx, study), attendees(tx, EXPERTS_PANEL), study_costs(tx, study)
    records, currency = model_records(tx, study), study.settings.pay.currency
    made = _Made(tx, study, now, came, costs, options, resampling)
    first = first_records(tx, study)
    of_models = [*model_sentences(records, currency), *first_sentences(first)]
    paragraphs = made.methods(of_models)
    files = data_files(tx, study, data)
    card, metadata = data_card_section(study, files, came, options, " ".join(paragraphs.values()), of_models)
    compared = trial(tx, study, resampling, with_arms=options.arms)
    sections = [
        made.results(compared),
        Section("methods", "Methods", [PaperParagraph(*one) for one in paragraphs.items()], paragraphs),
        *([] if compared is None else [compared.section]),
        flow_section(
            tx,
            study,
            now,
            came,
            made.imported,
            by_arm=compared is not None and options.arms,
            draw=options.charts,
        ),
        costs_section(tx, study, now, costs, made.imported, with_arms=options.arms),
        made.disagreement,
        planned_section(tx, study, directory, now, costs, came),
        *monitoring_sections(made.stages, made.items),
        *models_sections(tx, study, records, first, resampling, with_arms=options.arms, draw=options.charts),
    ]
    details = [
        protocol_section(study, made.per_item),
        made.funnel,
        made.agreement,
        aggregation_section(made.questions, resampling),
        *made.fields,
        workers_section(tx, study, now, draw=options.charts),
    ]
    taken = {*OTHER_KEYS, *(section.name for section in (*sections, *details, card, checked))}
    of_kits, problems = kit_sections(tx, study, resampling, taken, with_arms=options.arms)
    notes = [*(_about_simulation(study) if made.simulated else []), *problems]
    if checked.json["differences"]:
        differing = plural(len(checked.json["differences"]), "difference", "differences")
        notes.append(f"{differing} from the recorded data: see Verification.")
    everything = [*sections, *of_kits, card, checked, *details]
    return StudyReport(study.settings.study.title, _subtitle(came), everything, metadata, notes)


class _Made:
    """The sections that other parts of the report take their numbers from, each made once."""

    def __init__(
        self,
        tx: Tx,
        study: Study,
        now: Status,
        came: Attendees,
        costs: CostTerms,
        options: ReportOptions,
        resampling: Resampling,
    ) -> None:
        self.study, self.now, self.costs, self.resampling = study, now, costs, resampling
        judged = (stage for stage in study.stages.values() if stage.settings.round is None)
        self.stages = {stage.name: (stage, counted_answers(tx, stage)) for stage in judged}
        self.questions = [one for pair in self.stages.values() for one in answered_questions(*pair)]
        self.items = {
            name: [item for item in all_items(tx, name) if item.state != ItemState.WITHDRAWN] for name in self.stages
        }
        self.imported = logged_imports(tx)
        # The settings of an imported stage fit any number of annotations, so its items show how many there are.
        self.per_item = {
            name: annotations_per_item(items) for name, items in self.items.items() if items and self.imported
        }
        self.simulated = has_simulated_people(tx)
        self.decided = decided_results(tx, study, costs)
        self.funnel = funnel_section(tx, study, now, came, self.imported)
        self.agreement = agreement_section(self.stages, self.questions, resampling, export_file_name(study, "jsonl"))
        shown = {stage.name for stage in main_stages(study)}
        self.disagreement = disagreement_section(self.stages, self.items, shown, draw=options.charts)
        self.fields = fields_sections(tx, study, self.stages, self.items)

    def methods(self, models: Sequence[str]) -> dict[str, str]:
        """The paragraphs on methods, by their headings. `models` are sentences on the models that annotated."""
        of_study = (self.now, self.costs, self.decided, self.funnel.json, self.agreement.json, self.resampling)
        reviewed = self.fields[0].json["reviewed"] if self.fields else ()
        return methods_paragraphs(
            self.study, MethodsFacts(*of_study, self.imported, self.per_item, self.simulated, models, reviewed)
        )

    def results(self, compared: TrialResult | None) -> Section:
        of_study = (self.now, self.costs, self.decided, self.funnel.json, self.agreement.json, self.disagreement.json)
        fields = self.fields[0].json if self.fields else {}
        arms = None if compared is None else compared.table
        return results_section(self.study, ResultsFacts(*of_study, fields, self.items, arms, self.imported is not None))


def _about_simulation(study: Study) -> list[str]:
    warnings = (stage.task.simulating.warning(stage.name) for stage in study.stages.values())
    return [
        "All people in this study were simulated. The numbers in this report do not describe real people.",
        *(warning for warning in warnings if warning is not None),
    ]


def _subtitle(came: Attendees) -> str:
    if came.last_at is None:
        return "There are no answers yet."
    return f"Data up to the last answer, on {day(came.last_at)}."


def _verification_section(tx: Tx, study: Study) -> Section:
    """Every derived number, recomputed from responses, gold and settings, as `chorale verify` does."""
    verification = verify(tx, study)
    checked = verification.checked.items()
    again = ", ".join(plural(count, what.removesuffix("s"), what) for what, count in checked if count)
    parts: list[Part] = [f"Recomputed from the recorded data: {again or 'nothing yet'}."]
    if verification.differences:
        parts += ["Differences between the recorded data and the database:", Bullets(verification.differences[:50])]
    else:
        parts.append(verification.conclusion)
    details = [Bullets([f"Not checked: {what}." for what in verification.unchecked])] if verification.unchecked else []
    return Section("verification", "Verification", parts, asdict(verification), details)
