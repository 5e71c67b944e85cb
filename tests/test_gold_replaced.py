"""Gold that removed workers answered is shown to others, as often as the items they answered."""

from dataclasses import replace
from functools import partial
from random import Random

import pytest
from sqlalchemy import select

from chorale.audit.verify import verify
from chorale.engine.forgetting import BY_REQUESTER, ErasureRequest, forget
from chorale.engine.managing import Act, end_work
from chorale.engine.running import Study
from chorale.engine.settling import settle_everything
from chorale.store.gold_supply import replace_on_gold
from chorale.store.schema import gold
from conftest import StudyMaker
from crowd import Person, do, gold_answer, is_gold, look, work_through


def _work(study: Study, *names: str) -> tuple[list[Person], int, int]:
    """New workers do all there is for them; how many items they got, and how many of these were gold."""
    everybody = [Person(study, name) for name in names]
    given: list[bool] = []

    def answer(_person: Person, offer: object) -> str:
        given.append(is_gold(offer))  # type: ignore[arg-type]
        return gold_answer(offer) if given[-1] else "yes"  # type: ignore[arg-type]

    work_through(everybody, answer)
    return everybody, len(given), sum(given)


def _wanted(study: Study) -> list[tuple[int, int]]:
    return look(study, lambda tx: [(row.taken, row.wanted) for row in tx.execute(select(gold.c.taken, gold.c.wanted))])


@pytest.mark.parametrize("how", ["removed", "erased"])
def test_workers_who_replace_removed_ones_get_as_much_gold(make_study: StudyMaker, how: str) -> None:
    """Before, it counted as shown, so they got half as much, and a group could recognise gold."""
    study = make_study(applications=40, gold=20, share=0.2, judgments="2", floor=0.0)
    study = replace(study, secrets=Random(5))
    gone, items, of_gold = _work(study, "first", "second")
    assert (items, of_gold > 12) == (80 + of_gold, True)
    for person in gone:
        if how == "erased":
            forget(study, person.id, ErasureRequest(BY_REQUESTER, answers=True, even_unpaid=True))
        else:
            act = Act("ada", "no care", f"act-{person.id:08d}")
            remove = partial(end_work, pseudonym=person.pseudonym, stage=study.stage("meaningful"), act=act)
            do(study, remove)
    settle_everything(study)
    _, items, again = _work(study, "third", "fourth")
    assert items == 80 + again
    assert abs(again - of_gold) <= 4
    assert look(study, lambda tx: verify(tx, study)).differences == []


def test_gold_of_the_answers_after_a_removal_is_replaced_too(make_study: StudyMaker) -> None:
    study = make_study(
        applications=60, gold=30, share=0.4, floor=0.6, after=3, grace=20, feedback="none", judgments="1"
    )
    study = replace(study, secrets=Random(5))
    person = Person(study, "careless")
    answered, removed_at = 0, 0
    while (offer := person.next()).status == "item":
        wrong = {"yes": "no", "no": "yes"}[gold_answer(offer)] if is_gold(offer) else "yes"
        answered += 1
        removed_at = answered if person.submit(offer, wrong).stopped_counting else removed_at
    assert 0 < removed_at < answered
    shown = [row for row in _wanted(study) if row[0]]
    assert len(shown) > 3
    assert {wanted - taken for taken, wanted in shown} == {1}
    settle_everything(study)
    assert look(study, lambda tx: verify(tx, study)).differences == []


def test_gold_of_a_worker_who_counts_again_is_not_replaced(make_study: StudyMaker) -> None:
    study = make_study(applications=20, gold=10, share=0.3, judgments="1", floor=0.0)
    [person], _, of_gold = _work(study, "first")
    before = _wanted(study)
    assert sum(taken for taken, _ in before) == of_gold > 2
    stage = study.stage("meaningful").id
    do(study, lambda tx, _study: replace_on_gold(tx, stage, person.id))
    assert sum(wanted - taken for taken, wanted in _wanted(study) if taken) == of_gold
    do(study, lambda tx, _study: replace_on_gold(tx, stage, person.id, counts_again=True))
    assert sorted(_wanted(study)) == sorted(before)
    do(study, lambda tx, _study: replace_on_gold(tx, stage, person.id, counts_again=True))
    assert all(wanted >= taken for taken, wanted in _wanted(study))
