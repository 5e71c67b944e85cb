"""Automatic retention: erase personal data at the times set in the study file."""

from collections.abc import Sequence
from dataclasses import dataclass

from chorale.engine.entering import EXPERTS_PANEL
from chorale.engine.forgetting import BY_DATE, ErasureRequest, Forgotten, Unpaid, finish, forget, pending, scrub, unpaid
from chorale.engine.running import Study
from chorale.store import Tx, remaining, settings
from chorale.store.remaining import WorkLeft

DAY = 86_400_000
LAST_RUN = "retention"


@dataclass(frozen=True, slots=True)
class DueErasure:
    """A person whose data are due to be erased."""

    worker_id: int
    worker: str
    identity: bool
    answers: bool
    unpaid: Unpaid | None
    """Unpaid amounts; their identity is kept until they are paid."""


def due(tx: Tx, study: Study) -> list[DueErasure]:
    """People whose data are due to be erased: by date, or because they withdrew and have been paid."""
    rule, now = study.settings.retention, study.clock()
    waiting = {one.worker_id for one in pending(tx)}
    erasures = []
    for person in remaining.last_seen(tx, EXPERTS_PANEL, _work_beside(tx, study)):
        age = now - person.at
        identity = person.identified and (person.worker_id in waiting or _is_over(age, rule.identities_days))
        answers = person.has_answers and _is_over(age, rule.answers_days)
        if identity or answers:
            erasures.append(
                DueErasure(person.worker_id, person.worker, identity, answers, unpaid(tx, person.worker_id))
            )
    return erasures


def _work_beside(tx: Tx, study: Study) -> dict[int, WorkLeft]:
    """People's work in tables of kits, by worker number."""
    total: dict[int, WorkLeft] = {}
    for part in study.work_parts.values():
        for worker_id, work in ({} if part.work_left is None else part.work_left(tx)).items():
            before = total.get(worker_id, remaining.NO_WORK)
            total[worker_id] = WorkLeft(max(before.last_at, work.last_at), before.answers + work.answers)
    return total


def _is_over(age: int, days: int | None) -> bool:
    return days is not None and age >= days * DAY


def act(study: Study) -> Sequence[Forgotten]:
    """Erase data that are due. Identities of people who are owed money are kept."""
    done = []
    for person in study.store.look(lambda tx: due(tx, study)):
        if person.answers or person.unpaid is None:
            done.append(forget(study, person.worker_id, ErasureRequest(BY_DATE, person.answers)))
    finish(study)
    scrub(study)
    study.store.do(lambda tx: settings.set_setting(tx, LAST_RUN, str(study.clock())))
    return done


def act_daily(study: Study) -> Sequence[Forgotten]:
    """Erase what is due, once a day."""
    last = study.store.look(lambda tx: settings.setting_value(tx, LAST_RUN))
    return () if last is not None and study.clock() - int(last) < DAY else act(study)
