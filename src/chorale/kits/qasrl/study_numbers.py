"""A QA-SRL study in the terms of Roit et al. (2020): roles per verb, cost per predicate, agreement."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from statistics import fmean
from typing import Any

from chorale.contract.exporting import StageResults
from chorale.engine.running import Study
from chorale.kits.qasrl.files import Qa, QuestionAnswers, Verb
from chorale.kits.qasrl.metrics import QasrlAgreement, agreement, consolidated_agreement
from chorale.kits.qasrl.tasks.shared.answers import as_qas
from chorale.kits.qasrl.tasks.shared.comparing import KEPT, kept
from chorale.kits.qasrl.tasks.shared.tables import VerbAnnotation, everybodys, results_of
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import ScoreTable
from chorale.model import money_text
from chorale.monitor.costs import study_costs
from chorale.monitor.outcomes import stage_results
from chorale.report.document import SectionContent
from chorale.store import Tx

MOST_WRITERS = 20
WRITING, CONSOLIDATING, VALIDATING = "qasrl-write", "qasrl-consolidate", "qasrl-validate"


@dataclass(frozen=True, slots=True)
class StageYield:
    """Results for the verbs of a stage."""

    stage: str
    verbs: int
    annotations: int
    roles_per_verb: float
    """Mean number of questions per annotation."""
    answers_per_role: float
    nothing_to_ask: int
    """Number of annotations with nothing to ask."""


@dataclass(frozen=True, slots=True)
class StageAgreement:
    """Agreement between people, or between disjoint teams of writers and consolidator: F1, averaged over pairs."""

    stage: str
    of: str
    pairs: int
    verbs: int
    ua_f1: float
    la_f1: float


@dataclass(frozen=True, slots=True)
class WriterKept:
    """Fraction of a writer's work that remains after consolidation."""

    writer: str
    verbs: int
    roles_kept: float
    """Fractions, averaged over verbs."""
    answers_kept: float


@dataclass(frozen=True, slots=True)
class StageValidity:
    """Judgments of the validators of a stage."""

    stage: str
    questions: int
    """Number of questions with enough validators."""
    valid: int
    answered: float
    """Fraction of validators' answers that call the question valid."""


@dataclass(frozen=True, slots=True)
class QasrlStudy:
    """The numbers of one study."""

    yields: tuple[StageYield, ...]
    agreements: tuple[StageAgreement, ...]
    writers: tuple[WriterKept, ...]
    """Ordered by the fraction kept, lowest first."""
    validity: tuple[StageValidity, ...]
    cost_per_predicate: float | None
    """In minor units, including the cost of training."""
    cost_without_training: float | None

    def tables(self, currency: str) -> list[ScoreTable]:
        columns: tuple[str, ...] = (
            "stage", "verbs#", "annotations#", "roles per verb#", "answers per role#", "nothing to ask#"
        )  # fmt: skip
        shown = [ScoreTable("Questions and answers", columns, list(map(astuple, self.yields)), digits=2)]
        if self.validity:
            columns = ("stage", "questions#", "valid questions#", "judged valid (fraction of answers)#")
            shown.append(ScoreTable("Validation", columns, list(map(astuple, self.validity)), digits=2))
        if self.agreements:
            columns = ("stage", "between", "pairs#", "verbs#", "UA F1#", "LA F1#")
            shown.append(ScoreTable("Agreement, mean over pairs", columns, list(map(astuple, self.agreements))))
        costs = (("with training", self.cost_per_predicate), ("without training", self.cost_without_training))
        if self.cost_per_predicate is not None:
            amounts = [(words, money_text(round(cost), currency)) for words, cost in costs if cost is not None]
            shown.append(ScoreTable("Cost per predicate", ("cost", "amount#"), amounts))
        return shown

    def writers_tables(self) -> list[ScoreTable]:
        """Writers with the fraction of their work that consolidation kept, lowest first; empty without writers."""
        if not self.writers:
            return []
        columns = ("writer", "verbs#", "roles kept#", "answers kept#")
        listed = [astuple(one) for one in self.writers[:MOST_WRITERS]]
        title = "Writers: fraction of their work kept in consolidation" + (
            f" (the lowest {MOST_WRITERS} of {len(self.writers):,})" if len(self.writers) > MOST_WRITERS else ""
        )
        return [ScoreTable(title, columns, listed, digits=2)]


def qasrl_section(tx: Tx, study: Study, _resampling: Resampling) -> SectionContent | None:
    """The report's section on questions and answers."""
    numbers = qasrl_study(tx, study)
    if numbers is None:
        return None
    return SectionContent(
        numbers.tables(study.settings.pay.currency),
        asdict(numbers),
        of_workers=numbers.writers_tables(),
        keys_of_workers=frozenset({"writers"}),
    )


def qasrl_study(tx: Tx, study: Study) -> QasrlStudy | None:
    """The numbers of a QA-SRL study with annotations; None for other studies."""
    stages = [
        stage
        for stage in study.stages.values()
        if stage.task.name in (WRITING, CONSOLIDATING) and stage.settings.round is None
    ]
    everybody = {stage.name: list(everybodys(stage_results(tx, study, stage))) for stage in stages}
    validity = tuple(
        found
        for stage in study.stages.values()
        if stage.task.name == VALIDATING and stage.settings.round is None
        if (found := _validity(stage.name, stage_results(tx, study, stage))) is not None
    )
    if not any(everybody.values()) and not validity:
        return None
    costs = study_costs(tx, study)
    # All questions of writers, but only the final results of consolidators.
    settled = {
        stage.name: everybody[stage.name]
        if stage.task.name == WRITING
        else list(results_of(stage_results(tx, study, stage)))
        for stage in stages
    }
    return QasrlStudy(
        yields=tuple(_yield(name, given) for name, given in settled.items() if given),
        agreements=(*_of_people(everybody), *_of_teams(everybody)),
        validity=validity,
        writers=_kept([one for given in settled.values() for one in given if one.sources]),
        cost_per_predicate=costs.per_result,
        cost_without_training=costs.per_result_without_training,
    )


def _yield(stage: str, given: Sequence[VerbAnnotation]) -> StageYield:
    qas = [qa for one in given for qa in as_qas(one.given)]
    return StageYield(
        stage,
        verbs=len({_verb(one) for one in given}),
        annotations=len(given),
        roles_per_verb=len(qas) / len(given),
        answers_per_role=sum(len(qa.spans) for qa in qas) / len(qas) if qas else 0.0,
        nothing_to_ask=sum(not one.given for one in given),
    )


def _validity(stage: str, results: StageResults) -> StageValidity | None:
    items = list(results.items)
    verdicts = [bool(said["valid"]) for item in items for given in results.judgments(item) for said in given.answer]
    settled = [bool(said["valid"]) for item in items if item.label is not None for said in item.label.answer]
    return StageValidity(stage, len(settled), sum(settled), fmean(verdicts)) if verdicts else None


def _kept(consolidated: Iterable[VerbAnnotation]) -> tuple[WriterKept, ...]:
    by_writer: dict[str, list[Mapping[str, float]]] = {}
    for result in consolidated:
        for source in result.sources:
            by_writer.setdefault(source.worker, []).append(kept(source.answer, result.given).criteria)
    writers = (
        WriterKept(writer, len(verbs), *(fmean(verb[name] for verb in verbs) for name in KEPT))
        for writer, verbs in by_writer.items()
    )
    return tuple(sorted(writers, key=lambda one: (one.roles_kept, one.answers_kept, one.writer)))


def _of_people(everybody: Mapping[str, Sequence[VerbAnnotation]]) -> Iterable[StageAgreement]:
    for stage, given in everybody.items():
        agreed = agreement(_table({stage: given}))
        if agreed is not None:
            yield _stage_agreement(stage, "people", agreed)


def _of_teams(everybody: Mapping[str, Sequence[VerbAnnotation]]) -> Iterable[StageAgreement]:
    """Agreement over all stages together, because each stage has only one team of writers per verb."""
    consolidated = {stage: given for stage, given in everybody.items() if any(one.sources for one in given)}
    agreed = consolidated_agreement(_table(consolidated))
    if agreed is not None:
        yield _stage_agreement(" and ".join(consolidated), "disjoint teams", agreed)


def _stage_agreement(stage: str, of: str, agreed: QasrlAgreement) -> StageAgreement:
    scores = agreed.scores
    return StageAgreement(stage, of, len(agreed.pairs), len(agreed.verbs), scores["ua_f1"], scores["la_f1"])


def _table(everybody: Mapping[str, Sequence[VerbAnnotation]]) -> QuestionAnswers:
    """The annotations of several stages. Workers who annotated a verb in two stages appear twice."""
    listed: dict[Verb, list[Qa]] = {}
    teams: dict[tuple[Verb, str], frozenset[str]] = {}
    nothing: set[tuple[Verb, str]] = set()
    for stage, given in everybody.items():
        for annotation in given:
            name = f"{stage}/{annotation.worker}"
            asked = as_qas(annotation.given, name)
            listed.setdefault(_verb(annotation), []).extend(asked)
            if not asked:
                nothing.add((_verb(annotation), name))
            if annotation.sources:
                teams[_verb(annotation), name] = frozenset(
                    {annotation.worker, *(source.worker for source in annotation.sources)}
                )
    return replace(QuestionAnswers.of(listed, nothing=nothing), teams=teams)


def _verb(annotation: VerbAnnotation) -> Verb:
    item: Mapping[str, Any] = annotation.item
    return Verb(item["sentence_id"], item["verb_index"])
