"""Tables of a study's status for terminals."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rich.table import Table

from chorale.engine.gates import GateStatus
from chorale.engine.sessions import moment_text
from chorale.engine.team import TeamMember
from chorale.files.shortening import shortened
from chorale.model import money_text
from chorale.model.plural import plural
from chorale.monitor.costs import ArmCosts, CostTerms, money_or_nothing
from chorale.monitor.status import DroppedWorker, Status
from chorale.present.terminal import add_row, filled_table, table_of
from chorale.protocol import GateVerdict
from chorale.store.stages import StageCounts

_LONGEST_TEXT = 80
_FEW_STAGES = 3


def stages_table(status: Status, currency: str, confidence: Mapping[str, float | None] | None = None) -> Table:
    """The status of each stage, with the mean confidence of its labels if given.

    Up to three stages have a column each. More stages have a row each.
    """
    stages, rounds = status.stages, status.rounds
    lines: list[tuple[str, list[str]]] = []

    def add_line(title: str, text_of: Callable[[StageCounts], str], *, of_rounds: bool | None = None) -> None:
        """Add a line for all stages, for training rounds, or for the others; a cell that does not apply is empty, not
        0.
        """
        about = [of_rounds is None or (stage.name in rounds) is of_rounds for stage in stages]
        if any(about):
            lines.append(
                (title, [text_of(stage) if is_shown else "" for stage, is_shown in zip(stages, about, strict=True)])
            )

    add_line("state", lambda stage: status.conditions[stage.name].words)
    add_line("items complete", lambda stage: f"{stage.complete:,} of {stage.items:,}", of_rounds=False)
    add_line("labels accepted", lambda stage: f"{stage.released:,}", of_rounds=False)
    if confidence is not None:
        add_line("mean confidence", lambda stage: _share(confidence.get(stage.name)), of_rounds=False)
    add_line("annotations", lambda stage: f"{stage.judgments:,}", of_rounds=False)
    add_line("annotations excluded", lambda stage: f"{stage.discarded:,}", of_rounds=False)
    add_line("answers to gold", lambda stage: f"{stage.gold_answers:,}", of_rounds=False)
    add_line("training answers", lambda stage: f"{stage.answers:,}", of_rounds=True)
    add_line("people who finished training", lambda stage: f"{rounds[stage.name].finished:,}", of_rounds=True)
    add_line("workers", lambda stage: f"{stage.workers:,}")
    add_line("workers removed", lambda stage: f"{stage.dropped:,}")
    add_line("cost", lambda stage: money_text(stage.paid + stage.fees, currency))
    if len(stages) <= _FEW_STAGES:
        by_line = ((title, *cells) for title, cells in lines)
        return filled_table("stage", *(f"{stage.name}#" for stage in stages), rows=by_line)
    by_stage = zip((stage.name for stage in stages), *(cells for _, cells in lines), strict=True)
    return filled_table("stage", "state", *(f"{title}#" for title, _ in lines[1:]), rows=by_stage)


def gates_table(gates: Iterable[GateStatus]) -> Table:
    """The status of each gate."""
    table = table_of("gate", "after", "state", "scored, undecided#", "not graded yet#", "passed#", "not passed#")
    for gate in gates:
        state = "decides for each worker" if gate.state == "each" else gate.state
        counts = (gate.scored, gate.waiting, gate.passed, gate.not_passed)
        shown = "open, beyond the budget" if gate.lacking else state
        add_row(table, gate.name, ", ".join(gate.stages), shown, *(f"{count:,}" for count in counts))
    return table


def arms_table(workers: Mapping[str, int], costs: ArmCosts, currency: str) -> Table:
    """The cost and results of each arm, shared costs, and the total."""
    with_fees = any(terms.fees for terms in costs.own.values())
    [unit] = {terms.unit for terms in costs.own.values()}
    table = table_of(
        *("arm", "workers#", "cost of own stages#", f"{unit}s#", f"cost per {unit}#", "cost per annotation#"),
        "cost per annotation without training#",
        *(("cost per annotation without training and fees#",) if with_fees else ()),
        "cost in shared stages#",
    )
    for name, terms in costs.own.items():
        add_row(
            table,
            name,
            f"{workers.get(name, 0):,}",
            money_text(terms.cost, currency),
            f"{terms.results:,}",
            money_or_nothing(terms.per_result, currency),
            money_or_nothing(terms.per_answer, currency),
            money_or_nothing(terms.per_answer_without_training, currency),
            *((money_or_nothing(terms.paid_per_answer_without_training, currency),) if with_fees else ()),
            money_text(costs.shared_by[name], currency),
        )
    empty = [""] * (len(table.columns) - 4)
    shared, of_arms = costs.shared.cost, sum(costs.shared_by.values())
    whole = shared + sum(terms.cost for terms in costs.own.values())
    add_row(table, "shared by arms", "", money_text(shared, currency), *empty, money_text(of_arms, currency))
    add_row(table, "total", "", money_text(whole, currency), *empty, "")
    return table


def cost_lines(terms: CostTerms, currency: str) -> list[str]:
    """Costs per result and per annotation, in sentences."""
    if not terms.cost:
        return []
    lines = []
    if terms.training or terms.discarded:
        named = (("training", terms.training), ("excluded annotations", terms.discarded))
        spent = [f"{what} cost {money_text(cost, currency)}" for what, cost in named if cost]
        lines.append(f"Of the total, {' and '.join(spent)}.")
    of_results = (terms.per_result, terms.per_result_without_training, terms.per_result_without_discarded)
    of_answers = (terms.per_answer, terms.per_answer_without_training, terms.per_answer_without_discarded)
    for unit, count, costs in ((terms.unit, terms.results, of_results), ("annotation", terms.answers, of_answers)):
        if count:
            whole, bare, least = (money_or_nothing(cost, currency) for cost in costs)
            rest = ""
            if terms.training or terms.discarded:
                both = "training and excluded annotations" if terms.training else "excluded annotations"
                rest = f"; {bare} without training" if terms.training else ""
                rest += f"; {least} without {both}" if terms.discarded else ""
            counted = f"{plural(count, unit, f'{unit}s')} in the final stages"
            lines.append(f"Cost per {unit}: {whole} (cost of all stages ÷ {counted}){rest}.")
    return lines


def dropped_table(dropped: Iterable[DroppedWorker], currency: str) -> Table:
    """Removed workers, with the reason."""
    rows = (
        (one.worker, one.stage, one.reason, f"{one.judgments:,}", money_text(one.paid, currency)) for one in dropped
    )
    return filled_table("removed worker", "stage", "reason", "answers#", "earned#", rows=rows)


def verdicts_table(verdicts: Iterable[GateVerdict]) -> Table:
    """The decisions of a gate, the best score first."""
    table = table_of("worker", "score#", "graded#", "outcome")
    for verdict in verdicts:
        outcome = "passed, promoted" if verdict.promoted else "passed" if verdict.passed else "not passed"
        add_row(table, verdict.worker, f"{verdict.score:.3f}", verdict.evidence["graded"], outcome)
    return table


def gold_table(gold: Iterable[Mapping[str, Any]]) -> Table:
    """A stage's gold and how many answered it correctly."""
    table = table_of("item", "answer", "from", "correct#", "in use", "text")
    for row in gold:
        right = f"{row['right']} of {row['answered']}"
        use = "yes" if row["active"] else "retired"
        add_row(table, row["item"], _brief(row["words"]), row["origin"], right, use, row["text"])
    return table


def candidates_table(items: Iterable[Mapping[str, Any]]) -> Table:
    """Annotated items that could become gold."""
    table = table_of("item", "label", "confidence#", "annotations#", "text")
    for row in items:
        confidence = _share(row["confidence"])
        add_row(table, row["item"], _brief(row["words"]), confidence, row["judgments"], row["text"])
    return table


def outcomes_table(counts: Mapping[str, int]) -> Table:
    """How many items have each outcome."""
    return filled_table("outcome", "items#", rows=((outcome, f"{count:,}") for outcome, count in counts.items()))


def wage_line(status: Status, currency: str, minimum: int) -> str:
    """Hourly wages, in a sentence."""
    wage = status.wage
    if wage.median is None or wage.tenth_percentile is None:
        if any(stage.workers or stage.judgments for stage in status.stages):
            return "Hourly wage unknown: no pay or no working time is recorded."
        return "Nobody has worked yet."
    line = (
        f"Hourly wage {money_text(wage.median, currency)} (median of {plural(wage.workers, 'worker', 'workers')}; "
        f"10th percentile {money_text(wage.tenth_percentile, currency)})."
    )
    if wage.median < minimum:
        return f"{line} That is below your minimum of {money_text(minimum, currency)}."
    if wage.tenth_percentile < minimum:
        return f"{line} At least one worker in ten earns less than your minimum of {money_text(minimum, currency)}."
    return line


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _brief(value: Any) -> str:
    if isinstance(value, str):
        value = value.replace("\n", " · ")
        return value if len(value) <= _LONGEST_TEXT else f"{value[: _LONGEST_TEXT - 1]}…"
    return shortened(value)


def team_table(accounts: Iterable[TeamMember]) -> Table:
    """Annotators with a password."""
    table = table_of("name", "state", "last sign-in")
    for account in accounts:
        signed_in = "never" if account.signed_in_at is None else moment_text(account.signed_in_at)
        add_row(table, account.name, account.state, signed_in)
    return table
