"""People in tests: those that `chorale.testing` ships, with the names of the small study."""

from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import text

from chorale.engine.finishing import parts_done
from chorale.engine.running import Study
from chorale.engine.visit import visit
from chorale.engine.work import Offer, SubmitOutcome
from chorale.protocol import Ending, ending
from chorale.store import Tx
from chorale.testing.workers import ScriptedWorker, act

T = TypeVar("T")
do = act


def look(study: Study, what: Callable[[Tx], T]) -> T:
    return study.store.read(what).result()


def tamper(study: Study, statement: str) -> None:
    """Change rows behind everybody's back, also of tables that can only grow, and leave no trace of how."""

    def changed(tx: Tx, _study: Study) -> int:
        triggers = tx.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")).all()
        for name, _ in triggers:
            tx.execute(text(f"DROP TRIGGER {name}"))
        rows = tx.execute(text(statement)).rowcount
        for _, sql in triggers:
            tx.exec_driver_sql(sql)
        return rows

    assert do(study, changed) > 0, "the study has nothing of the kind"


class Person(ScriptedWorker):
    """A worker from Prolific who has consented."""

    def __init__(self, study: Study, name: str) -> None:
        super().__init__(study, name, "prolific")

    def next(self, stage: str = "meaningful") -> Offer:
        return super().next(stage)

    def submit(
        self, offer: Offer, answer: Any = "yes", key: str = "key-00000001", ms: int | None = 1000
    ) -> SubmitOutcome:
        return super().submit(offer, answer, key, ms)

    def judge(self, answer: Any = "yes", stage: str = "meaningful") -> tuple[Offer, SubmitOutcome]:
        offer = self.next(stage)
        return offer, self.submit(offer, answer)


def ending_for(study: Study, person: Person, after: int = 99) -> Ending | None:
    """How somebody may go back to their platform, once they have answered `after` times or have nothing left to do."""

    def decide(tx: Tx) -> Ending | None:
        seen = visit(tx, study, person.id)
        assert seen is not None
        return ending(parts_done(tx, study, seen), after)

    return look(study, decide)


def people(study: Study, count: int) -> list[Person]:
    return [Person(study, f"person-{number}") for number in range(count)]


def is_gold(offer: Offer) -> bool:
    """Tests know gold by its text; workers can't."""
    assert offer.view is not None
    return "gold" in next(iter(offer.view.values()))


def gold_answer(offer: Offer) -> str:
    assert offer.view is not None
    return "no" if int(next(iter(offer.view.values())).split()[-1]) % 2 else "yes"


def work_through(everyone: list[Person], answer: Callable[[Person, Offer], Any], stage: str = "meaningful") -> int:
    """Everybody takes turns until nobody gets an item; how many judgments were given."""
    given = 0
    busy = True
    while busy:
        busy = False
        for person in everyone:
            offer = person.next(stage)
            if offer.lease is not None:
                person.submit(offer, answer(person, offer))
                given += 1
                busy = True
    return given
