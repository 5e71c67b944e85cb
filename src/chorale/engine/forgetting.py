"""Erasing a person's identity and, depending on the settings, their answers.

Append-only tables change only in the transaction of an erasure. What remains is a row with the time, actor and extent
of the erasure, and the counts and sums that other workers' results and the ledger depend on.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from chorale.contract.fields import FieldKind
from chorale.engine.leases import give_back_everything
from chorale.engine.running import Study
from chorale.engine.settling import settle_everything, settle_group
from chorale.model import Refusal, UserError, Worker, is_model
from chorale.model.wording import worded
from chorale.store import Tx, erasing, events, participations, payments, settings, workers
from chorale.store.erased_labels import Written
from chorale.store.erasing import Erasure

BY_ERASURE = "erased"
"""The removal rule for workers whose answers were erased."""
UNSCRUBBED = "unscrubbed"
BY_WORKER, BY_REQUESTER, BY_DATE = "worker", "requester", "date"


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """A request to erase a person's data."""

    by: str
    answers: bool
    even_unpaid: bool = False
    """Whether to erase their identity at once even if they are owed money. They can then no longer be paid."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The result of an erasure."""

    worker: str
    identity: bool
    """False if their identity is kept until they are paid."""
    answers: bool
    owed: int
    erased: dict[str, int]


def worker_to_forget(tx: Tx, name: str) -> Worker:
    """The worker with a participant ID or platform ID."""
    worker = workers.find_by_pseudonym(tx, name) or workers.find_by_panel_id(tx, name)
    if worker is None:
        raise UserError(
            "No worker has this participant ID or platform ID. `chorale export DIR --format workers` lists participant "
            "IDs."
        )
    if is_model(worker.pseudonym):
        raise UserError(f"{worker.pseudonym} is a model, and only people can be erased. Nothing was erased.")
    return worker


def forget(study: Study, worker_id: int, request: ErasureRequest) -> Forgotten:
    """Erase a person, and update the labels that depended on their answers. Idempotent."""
    done = study.store.do(partial(erase, study=study, worker_id=worker_id, request=request))
    if request.answers:
        finish(study)
    return done


def scrub(study: Study) -> bool:
    """Overwrite the data erased since the last call; False if there were none."""
    due = study.store.look(lambda tx: settings.setting_value(tx, UNSCRUBBED)) == "yes"
    if due:
        # Read first, so that data erased in the meantime are overwritten the next time.
        study.store.do(lambda tx: settings.set_setting(tx, UNSCRUBBED, "no"))
        of_kits = [part.tables for part in study.work_parts.values() if part.tables is not None]
        study.store.scrub(of_kits)
    return due


def finish(study: Study) -> None:
    """Update labels that depended on erased answers. Erase items made from these, and the answers to such items.

    This covers every erasure so far: a process may have died before it finished.
    """
    erased = study.store.look(_without_answers)
    if erased:
        settle_everything(study)
    for worker_id in erased:
        study.store.do(partial(_empty_derived, study=study, worker_id=worker_id))


def made_of_answers(study: Study) -> list[int]:
    """The stages whose items are made from single answers or from all answers to an item."""
    stages = study.stages.values()
    return [one.id for one in stages if one.settings.items is not None and one.settings.items.of != "results"]


def written_fields(study: Study) -> Written:
    """The free-text fields, by stage."""
    return {
        stage.id: frozenset(field.name for field in stage.task.shape.fields if field.kind is FieldKind.TEXT)
        for stage in study.stages.values()
        if stage.task.shape.fields
    }


def _without_answers(tx: Tx) -> list[int]:
    return sorted({one.worker_id for one in erasing.erasures(tx) if one.answers})


def _empty_derived(tx: Tx, study: Study, worker_id: int) -> None:
    where = erasing.repeated(tx, made_of_answers(study), worker_id)
    answered = erasing.is_there(tx, where.responses) or erasing.has_model_answers(tx, where.items)
    if not answered and not erasing.to_empty(tx, worker_id):
        return
    now = study.clock()
    number = erasing.begin(tx, worker_id, BY_ERASURE, now, identity=False, answers=True)
    erased = {"answers to items made from these answers": erasing.erase_repeated(tx, where, now)}
    for stage_id, group in sorted(erasing.groups_of(tx, where.items)):
        settle_group(tx, study, study.stage_by_id(stage_id), group)
    erased["items"] = erasing.erase_derived(tx, worker_id)
    erasing.end(tx, number, erased, now)
    _record(tx, now, worker_id, BY_ERASURE, identity=False, answers=True, erased=erased)


def erase(tx: Tx, study: Study, worker_id: int, request: ErasureRequest) -> Forgotten:
    """Erase a person's data in one transaction.

    Once it is committed, the person gets no more work and is not shown anywhere.
    """
    worker = workers.find_worker(tx, worker_id)
    if worker is None:
        raise Refusal("signed_out", worded("You are not signed in. Open your link again."), 401)
    earlier = [one for one in erasing.erasures(tx) if one.worker_id == worker_id]
    to_pay = unpaid(tx, worker_id)
    owed = 0 if to_pay is None else to_pay.owed
    identity = (to_pay is None or request.even_unpaid) and not any(one.identity for one in earlier)
    answers = request.answers and not any(one.answers for one in earlier)
    if worker.consent_version != erasing.WITHDRAWN:
        give_back_everything(tx, study, worker_id)
        erasing.stop(tx, worker_id)
    elif not identity and not answers:
        return Forgotten(worker.pseudonym, any(one.identity for one in earlier), bool(earlier), owed, {})
    now = study.clock()
    number = erasing.begin(tx, worker_id, request.by, now, identity=identity, answers=answers)
    erased: Counter[str] = Counter()
    parts = study.work_parts.values()
    if identity:
        erased.update(erasing.erase_identity(tx, worker_id, now))
        erased["ids"] += _erase_by(tx, worker_id, (part.erase_identity for part in parts))
    erased.update(erasing.erase_texts(tx, worker_id, now))
    erased["reasons"] += _erase_by(tx, worker_id, (part.erase_texts for part in parts))
    if answers:
        _remove(tx, study, worker_id)
        erased.update(erasing.erase_answers(tx, worker_id, worker.pseudonym, now, written_fields(study)))
        erased["answers"] += _erase_by(tx, worker_id, (part.erase for part in parts))
    erasing.end(tx, number, dict(erased), now)
    settings.set_setting(tx, UNSCRUBBED, "yes")
    _record(tx, now, worker_id, request.by, identity=identity, answers=answers, erased=dict(erased))
    return Forgotten(worker.pseudonym, identity or any(one.identity for one in earlier), answers, owed, dict(erased))


def _erase_by(tx: Tx, worker_id: int, hooks: Iterable[Callable[[Tx, int], int] | None]) -> int:
    """Erase a person's data stored by kits; returns the number of rows."""
    return sum(hook(tx, worker_id) for hook in hooks if hook is not None)


class Unpaid(NamedTuple):
    """A person's unpaid earnings and pending payments."""

    owed: int
    on_the_way: int
    """Payments that the platform has not confirmed yet and that can still fail, or whose file is not written yet."""


def unpaid(tx: Tx, worker_id: int) -> Unpaid | None:
    """The amount still to be paid to a person; None if nothing is."""
    for account in payments.accounts(tx, worker_id):
        if account.owed or account.on_the_way:
            return Unpaid(account.owed, account.on_the_way)
    return None


def _remove(tx: Tx, study: Study, worker_id: int) -> None:
    """Remove a worker from every stage, so that their answers do not count."""
    for stage in study.stages.values():
        if participations.drop(tx, stage.id, worker_id):
            events.record(tx, study.clock(), "dropped", {"rule": BY_ERASURE}, stage_id=stage.id, worker_id=worker_id)


def _record(
    tx: Tx, now: int, worker_id: int, by: str, *, identity: bool, answers: bool, erased: dict[str, int]
) -> None:
    evidence = {"by": by, "identity": identity, "answers": answers, "erased": erased}
    events.record(tx, now, "erased", evidence, worker_id=worker_id)


def pending(tx: Tx) -> list[Erasure]:
    """Erasures of people whose identity is kept until they are paid."""
    all_of_them = erasing.erasures(tx)
    done = {one.worker_id for one in all_of_them if one.identity}
    return list({one.worker_id: one for one in all_of_them if one.worker_id not in done}.values())
