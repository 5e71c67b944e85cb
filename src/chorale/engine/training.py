"""Number of people a training round still admits: one rule for the overview page, the next item and simulations."""

from collections import defaultdict

from chorale.engine.offering_room import more_may_come
from chorale.engine.running import RunningStage, Study
from chorale.protocol.training import NO_LIMIT, Places, RemainingWork, expected_each, places_left
from chorale.store import Tx, locks, offering, training
from chorale.store.credentials import Credentials


def places_in(tx: Tx, study: Study, stage: RunningStage, credentials: Credentials, *, entering: bool = False) -> Places:
    """Number of further people that a round admits.

    There is no limit if the round leads to no work, if a gate ranks workers, or if much work is left or still to come.
    With `entering`, others who enter at the same time wait until this transaction ends.
    """
    rule = stage.settings.round
    behind = study.work_behind(stage)
    work = [study.stage(name) for name in behind.work if study.stage(name).is_for_arm(credentials.arm)]
    if credentials.arm is None:
        work = [study.stage(name) for name in behind.work]
    if rule is None or not work:
        return NO_LIMIT
    if entering:
        locks.lock(tx, locks.Alone.ADMITS_TO_TRAINING)
    wanting = offering.stages_with_open_items(tx)
    under_way = any(more_may_come(study, each, credentials.closed, wanting) for each in work)
    if not under_way:
        return Places(0, may_open=False)
    rooms: dict[tuple[str, ...], list[RemainingWork]] = defaultdict(list)
    for each in work:
        left = training.left_in(tx, each.id)
        # Items that are still to be derived from earlier stages can't be counted yet.
        sources = any(study.stage(name).id in wanting for name in each.settings.sources)
        if left is None or behind.selects or sources:
            return NO_LIMIT
        expected = expected_each(each.settings.max_per_worker, left.people, left.answers)
        rooms[each.settings.arms].append(RemainingWork(left.places, left.most_on_one, expected))
    rounds = [study.stage(name) for name in behind.rounds]
    minutes = max(each.settings.lease_minutes for each in (*rounds, *work))
    since = study.clock() - int(minutes * 60_000)
    limits = [(each.id, each.settings.max_per_worker) for each in work]
    able = training.able_to_work(tx, behind.qualifications, limits, since, credentials.arm)
    ids = [each.id for each in rounds]
    trained = training.in_training(tx, ids, behind.gates, behind.qualifications, since, credentials.arm)
    return Places(places_left(rooms, able, trained, rule.over_admission))
