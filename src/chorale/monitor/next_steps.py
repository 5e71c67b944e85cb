"""The next steps in a study, most urgent first."""

from dataclasses import dataclass

from chorale.engine.asking_experts import questions
from chorale.engine.gates import gate_statuses
from chorale.engine.payouts import books
from chorale.engine.running import Study
from chorale.engine.simulation import has_simulated_people
from chorale.model import money_text
from chorale.model.plural import plural
from chorale.monitor.overview import Overview
from chorale.store import Tx, console, messages, payments, submissions
from chorale.store.payments import FILE, PLANNED, SENT

LEDGER_READ_ANEW = 20_000
"""Up to this number of ledger entries, balances are computed on every request; beyond it, once a minute."""
_MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class NextStep:
    """A next step, and how to do it."""

    kind: str
    title: str
    advice: str
    place: str = ""
    """The gate it is about, if any."""


def next_steps(tx: Tx, study: Study, now: Overview) -> list[NextStep]:
    """Everything that needs the owner or the team, most urgent first."""
    return [
        *_alarms(now),
        *_people(now),
        *_reviews(tx, study),
        *_gates(tx, study),
        *_paused(now),
        *_payments(tx, study),
        *_results(study, now),
    ]


def _alarms(now: Overview) -> list[NextStep]:
    if not now.alarms:
        return []
    return [
        NextStep("alarms", plural(len(now.alarms), "alarm", "alarms"), "The causes and what to do are listed below.")
    ]


def _people(now: Overview) -> list[NextStep]:
    if now.phase != "new":
        return []
    return [NextStep("recruit", "Nobody has joined yet", "Share an invitation link or publish the study.")]


def _reviews(tx: Tx, study: Study) -> list[NextStep]:
    steps = []
    open_items = console.open_items(tx)
    items = sum(open_items.get(stage.id, 0) for stage in study.stages.values() if stage.is_for_experts)
    waiting = items + questions(tx, 0)[1]
    if waiting:
        title = plural(waiting, "answer to review", "answers to review")
        steps.append(NextStep("review", title, "Open the review queue."))
    if drafts := len(messages.drafts(tx)):
        title = plural(drafts, "message to check and send", "messages to check and send")
        steps.append(NextStep("messages", title, "Check the text and send it to the worker."))
    statuses = submissions.counts(tx).items()
    if submitted := sum(count for (_, status), count in statuses if status == "AWAITING REVIEW"):
        title = plural(submitted, "Prolific submission needs a decision", "Prolific submissions need a decision")
        steps.append(NextStep("submissions", title, "Approve or reject them."))
    return steps


def _gates(tx: Tx, study: Study) -> list[NextStep]:
    if not study.gates:
        return []
    ready = [one for one in gate_statuses(tx, study) if one.state == "open" and one.scored and not one.waiting]
    return [
        NextStep(
            "gate",
            f"Gate {one.name} can be closed",
            f"{plural(one.scored, 'person is scored', 'people are scored')}. Close it when nobody else will join.",
            one.name,
        )
        for one in ready
    ]


def _paused(now: Overview) -> list[NextStep]:
    paused = [stage.title for stage in now.stages if stage.condition.state == "paused"]
    if not paused:
        return []
    names = ", ".join(f"“{title}”" for title in paused)
    title = plural(len(paused), "stage is paused", "stages are paused")
    return [NextStep("paused", title, f"Resume when you are ready: {names}.")]


def _payments(tx: Tx, study: Study) -> list[NextStep]:
    steps: list[NextStep] = []
    if has_simulated_people(tx):
        return steps
    people, amount = _balance(tx, study)
    if people:
        title = f"Balance due for {plural(people, 'person', 'people')}"
        owed = money_text(amount, study.settings.pay.currency)
        steps.append(NextStep("pay", title, f"{owed} can be paid now."))
    files = [row for row in payments.payouts(tx, states=(PLANNED, SENT)) if row.platform.endswith(FILE)]
    if files:
        title = plural(len(files), "payout file is not marked as paid", "payout files are not marked as paid")
        steps.append(NextStep("mark", title, "Download the file, pay the people in it, then mark it as paid."))
    return steps


def _balance(tx: Tx, study: Study) -> tuple[int, int]:
    """The number of people who can be paid now, and the amount. A large ledger is read at most once a minute."""
    newest, payouts_made = payments.newest_entry(tx), len(payments.payouts(tx))
    at = study.clock()
    known: tuple[int, int, int, int] | None = study.memory.get("balance due")
    if known is not None and newest > LEDGER_READ_ANEW and known[1] == payouts_made and at - known[0] < _MINUTE_MS:
        return known[2], known[3]
    now = books(tx, study)
    payable = [one for one in now.due if one.why_not is None]
    study.memory["balance due"] = (at, payouts_made, len(payable), now.now)
    return len(payable), now.now


def _results(study: Study, now: Overview) -> list[NextStep]:
    steps = []
    if now.phase == "finished":
        steps.append(NextStep("results", "All items are complete", "Create the report and export the data."))
    if now.phase == "imported":
        advice = "The work was done elsewhere. Create the report and export the data."
        steps.append(NextStep("results", "The imported study is ready", advice))
    # Gates use every grade: nothing follows from whether the label of a grading stage is accepted.
    labelled = [one.counts for one in now.stages if not study.stage(one.counts.name).settings.grades]
    not_accepted = sum(counts.complete - counts.released for counts in labelled)
    if steps and not_accepted > 0:
        title = plural(not_accepted, "label is not accepted", "labels are not accepted")
        advice = "Their confidence is below the threshold. If you need these labels, decide them by adjudication."
        steps.append(NextStep("adjudicate", title, advice))
    return steps
