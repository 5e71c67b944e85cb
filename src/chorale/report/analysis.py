"""A trial in one table: the arms as columns, with people, outcomes, comparisons and costs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chorale.engine.running import Study
from chorale.folder.checking.analysis import comparable
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import Cell, ScoreTable, shown_interval, shown_number
from chorale.model import AnalysisSettings, PlannedOutcome, money_text
from chorale.monitor.arm_measures import ComparedArms, compare_arms
from chorale.monitor.costs import arm_costs
from chorale.report.document import Bullets, Part, Section
from chorale.report.flow import participant_flow
from chorale.store import Tx
from chorale.store.arms import arms_by_worker

_HIDDEN = "Results by arm are not shown. --arms shows them; the activity log records that you looked."
_TITLE = "Planned comparisons"


@dataclass(frozen=True, slots=True)
class TrialResult:
    """The results of a trial by arm."""

    table: ScoreTable | None
    """Arms as columns; None if arms are hidden."""
    section: Section


def trial(tx: Tx, study: Study, resampling: Resampling, *, with_arms: bool) -> TrialResult | None:
    """The comparisons of a trial; None for a study without arms."""
    if study.settings.arms is None:
        return None
    plan, known = study.settings.analysis, comparable(stage.task for stage in study.stages.values())
    names = study.settings.arms.names
    parts: list[Part] = list(_plan_in_words(plan, known, names[0]))
    planned = () if plan is None else plan.planned
    others = [PlannedOutcome(outcome=name) for name in known if name not in {one.outcome for one in planned}]
    json: dict[str, Any] = {"planned": [one.model_dump(mode="json") for one in planned], "outcomes": {}}
    if not with_arms:
        return TrialResult(None, Section("analysis", _TITLE, [*parts, _HIDDEN], json))
    compared = [compare_arms(tx, study, one, resampling) for one in (*planned, *others)]
    tested = [row for one in compared if one.planned in planned for row in _tested(one, known)]
    details: list[Part] = []
    if tested:
        columns = ("outcome", "arm", "against", "difference#", "95% interval#", "p#", "p, Holm#")
        details.append(ScoreTable("Planned comparisons of arms", columns, tested, digits=3))
    parts.append(
        "Outcomes that were not planned have no test: with many outcomes, some differ without a real effect. "
        "Comparisons of arms in other tables were not planned either."
    )
    json["outcomes"] = {one.planned.outcome: _json(one, is_planned=one.planned in planned) for one in compared}
    seen = [one for one in compared if any(one.units.values())]
    unplanned = [one for one in seen if plan is not None and one.planned not in planned]
    table = _arms_table(tx, study, [one for one in seen if one not in unplanned], known)
    if unplanned:
        rows = [(known[one.planned.outcome], *(_shown_mean(one, arm) for arm in names)) for one in unplanned]
        title = "Outcomes that were not planned, by arm"
        details.append(ScoreTable(title, ("outcome", *(f"{arm}#" for arm in names)), rows))
    return TrialResult(table, Section("analysis", _TITLE, parts, json, details))


def _arms_table(tx: Tx, study: Study, compared: Sequence[ComparedArms], known: Mapping[str, str]) -> ScoreTable:
    names = study.settings.arms.names if study.settings.arms else ()
    plan = study.settings.analysis
    flow = participant_flow(tx, study, arms_by_worker(tx))
    rows: list[tuple[Cell, ...]] = [
        ("people assigned", *(flow[arm][0].counts["assigned"] for arm in names)),
        ("people analysed", *(flow[arm][-1].counts["people"] for arm in names)),
    ]
    for outcome in compared:
        title = f"{known[outcome.planned.outcome]} ({_role(plan, outcome.planned)})"
        rows += _outcome_rows(outcome, title, names, is_planned=plan is not None)
    rows += _cost_rows(tx, study, names)
    return ScoreTable("Results by arm", ("", *(f"{arm}#" for arm in names)), rows)


def _outcome_rows(
    compared: ComparedArms, title: str, names: Sequence[str], *, is_planned: bool
) -> Iterator[tuple[Cell, ...]]:
    """The mean of every arm, and for planned outcomes its difference from the reference with the test."""
    yield title, *(_shown_mean(compared, arm) for arm in names)
    tests = {one.arm: one for one in compared.comparisons}
    if not tests or not is_planned:
        return
    against = next(iter(tests.values())).against

    def shown(arm: str) -> str:
        if arm not in tests:
            return "reference" if arm == against else "–"
        test = tests[arm]
        return f"{shown_number(test.compared.difference, 3)} ({shown_interval(test.compared.interval, 3)})"

    yield "  difference (95% interval)", *map(shown, names)
    yield "  p, Holm", *(f"{tests[arm].adjusted:.3f}" if arm in tests else "" for arm in names)


def _cost_rows(tx: Tx, study: Study, names: Sequence[str]) -> Iterator[tuple[Cell, ...]]:
    currency = study.settings.pay.currency
    costs = arm_costs(tx, study)

    def shown(amount: float | None) -> str:
        return "–" if amount is None else money_text(round(amount), currency)

    own = [costs.own[arm] for arm in names]
    [unit] = {one.unit for one in own}
    yield f"{unit}s", *(one.results for one in own)
    yield "cost of the arm's own stages", *(money_text(one.cost, currency) for one in own)
    yield f"  per {unit}", *(shown(one.per_result) for one in own)
    if any(one.training for one in own):
        yield f"  per {unit}, without training", *(shown(one.per_result_without_training) for one in own)


def _plan_in_words(plan: AnalysisSettings | None, known: Mapping[str, str], first: str) -> Iterator[Part]:
    if plan is None:
        yield "The study file plans no comparison of arms ([analysis]): every comparison in this report is exploratory."
        return
    where = f" (registered at {plan.registered})" if plan.registered else ""
    yield f"The study file planned these comparisons{where} before anybody was assigned to an arm:"
    yield Bullets(
        [
            f"{_role(plan, one)}: {known[one.outcome]} ({one.outcome}). One observation per {one.unit}; {one.test} "
            f"test of every other arm against {one.against or first}."
            for one in plan.planned
        ]
    )
    yield (
        "Holm's correction is applied to each outcome separately. The tests of an outcome compare all other arms with "
        "the reference arm."
    )


def _role(plan: AnalysisSettings | None, outcome: PlannedOutcome) -> str:
    if plan is None or outcome not in plan.planned:
        return "not planned"
    return "primary" if outcome == plan.primary else "secondary"


def _shown_mean(compared: ComparedArms, arm: str) -> str:
    mean = compared.means[arm]
    return "–" if mean is None else f"{mean:.3f} (n = {compared.units[arm]:,})"


def _tested(compared: ComparedArms, known: Mapping[str, str]) -> Iterator[tuple[Cell, ...]]:
    for test in compared.comparisons:
        difference = test.compared.difference, shown_interval(test.compared.interval, 3)
        yield (
            known[compared.planned.outcome],
            test.arm,
            test.against,
            *difference,
            test.p,
            test.adjusted,
        )


def _json(compared: ComparedArms, *, is_planned: bool) -> dict[str, Any]:
    tests = [
        {**one.compared.as_dict(), "arm": one.arm, "against": one.against, "p": one.p, "p_holm": one.adjusted}
        for one in compared.comparisons
    ]
    return {"means": dict(compared.means), "units": dict(compared.units), **({"tests": tests} if is_planned else {})}
