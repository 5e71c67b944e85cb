"""A QA-SRL study in the terms of Roit et al. (2020): roles per verb, cost per predicate, agreement."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from chorale.engine.running import RunningStage, Study
from chorale.kits.qasrl.files import Qa, QuestionAnswers, Verb
from chorale.kits.qasrl.metrics import QasrlAgreement, agreement, consolidated_agreement
from chorale.kits.qasrl.tasks.shared.answers import as_qas
from chorale.kits.qasrl.tasks.shared.tables import Annotation, everybodys, results_of
from chorale.metrics.score_table import ScoreTable
from chorale.model import money_text
from chorale.monitor.costs import study_costs
from chorale.monitor.outcomes import stage_results
from chorale.store import Tx

WRITING, CONSOLIDATING = "qasrl-write", "qasrl-consolidate"
_AGREED = ("ua_f1", "la_f1")


@dataclass(frozen=True, slots=True)
class StageYield:
    """What came of the verbs of a stage."""

    stage: str
    verbs: int
    annotations: int
    roles_per_verb: float
    """Questions, in the mean over annotations."""
    answers_per_role: float


@dataclass(frozen=True, slots=True)
class StageAgreement:
    """How far people agree, or teams of writers and consolidator that share nobody: F1, in the mean over pairs."""

    stage: str
    of: str
    pairs: int
    verbs: int
    ua_f1: float
    la_f1: float


@dataclass(frozen=True, slots=True)
class QasrlStudy:
    """The numbers of one study."""

    yields: tuple[StageYield, ...]
    agreements: tuple[StageAgreement, ...]
    cost_per_predicate: float | None
    """In minor units, with all that was spent on training."""
    cost_without_training: float | None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def tables(self, currency: str) -> list[ScoreTable]:
        yields = ScoreTable(
            "Questions and answers",
            ("stage", "verbs#", "annotations#", "roles per verb#", "answers per role#"),
            [(row.stage, row.verbs, row.annotations, row.roles_per_verb, row.answers_per_role) for row in self.yields],
            digits=2,
        )
        shown = [yields]
        if self.agreements:
            rows = [(row.stage, row.of, row.pairs, row.verbs, row.ua_f1, row.la_f1) for row in self.agreements]
            columns = ("stage", "between", "pairs#", "verbs#", "UA F1#", "LA F1#")
            shown.append(ScoreTable("Agreement, mean over pairs", columns, rows))
        costs = (("with training", self.cost_per_predicate), ("without training", self.cost_without_training))
        if self.cost_per_predicate is not None:
            amounts = [(words, money_text(round(cost), currency)) for words, cost in costs if cost is not None]
            shown.append(ScoreTable("Cost", ("cost of a predicate", "amount#"), list(amounts)))
        return shown


def qasrl_study(tx: Tx, study: Study) -> QasrlStudy | None:
    """The numbers of a study with QA-SRL in it that somebody has worked on; None of any other."""
    stages = [
        stage
        for stage in study.stages.values()
        if stage.task.name in (WRITING, CONSOLIDATING) and stage.settings.round is None
    ]
    everybody = {stage.name: list(everybodys(stage_results(tx, study, stage))) for stage in stages}
    if not any(everybody.values()):
        return None
    costs = study_costs(tx, study)
    settled = {stage.name: _settled(tx, study, stage, everybody[stage.name]) for stage in stages}
    return QasrlStudy(
        yields=tuple(_yield(name, given) for name, given in settled.items() if given),
        agreements=(*_of_people(everybody), *_of_teams(everybody)),
        cost_per_predicate=costs.per_result,
        cost_without_training=costs.per_result_without_training,
    )


def _settled(tx: Tx, study: Study, stage: RunningStage, everybody: list[Annotation]) -> list[Annotation]:
    """Of writers all they wrote, of consolidators what is the verb's result."""
    return everybody if stage.task.name == WRITING else list(results_of(stage_results(tx, study, stage)))


def _yield(stage: str, given: Sequence[Annotation]) -> StageYield:
    qas = [qa for one in given for qa in as_qas(one.given)]
    return StageYield(
        stage,
        verbs=len({_verb(one) for one in given}),
        annotations=len(given),
        roles_per_verb=len(qas) / len(given),
        answers_per_role=sum(len(qa.spans) for qa in qas) / len(qas) if qas else 0.0,
    )


def _of_people(everybody: Mapping[str, Sequence[Annotation]]) -> Iterable[StageAgreement]:
    for stage, given in everybody.items():
        agreed = agreement(_table({stage: given}))
        if agreed is not None:
            yield _stage_agreement(stage, "people", agreed)


def _of_teams(everybody: Mapping[str, Sequence[Annotation]]) -> Iterable[StageAgreement]:
    """All stages together: in one of them, a verb has one team of writers only."""
    consolidated = {stage: given for stage, given in everybody.items() if any(one.sources for one in given)}
    agreed = consolidated_agreement(_table(consolidated))
    if agreed is not None:
        yield _stage_agreement(" and ".join(consolidated), "teams that share nobody", agreed)


def _stage_agreement(stage: str, of: str, agreed: QasrlAgreement) -> StageAgreement:
    return StageAgreement(stage, of, len(agreed.pairs), len(agreed.verbs), *(agreed.scores[name] for name in _AGREED))


def _table(everybody: Mapping[str, Sequence[Annotation]]) -> QuestionAnswers:
    """What people have said in some stages. Somebody who worked on a verb in two of them is there twice."""
    listed: dict[Verb, list[Qa]] = {}
    teams: dict[tuple[Verb, str], frozenset[str]] = {}
    for stage, given in everybody.items():
        for annotation in given:
            name = f"{stage}/{annotation.worker}"
            listed.setdefault(_verb(annotation), []).extend(as_qas(annotation.given, name))
            if annotation.sources:
                teams[_verb(annotation), name] = frozenset(
                    {annotation.worker, *(source.worker for source in annotation.sources)}
                )
    return replace(QuestionAnswers.of(listed), teams=teams)


def _verb(annotation: Annotation) -> Verb:
    item: Mapping[str, Any] = annotation.item
    return Verb(item["sentence_id"], item["verb_index"])
