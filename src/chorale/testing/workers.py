"""Workers in tests: they join a study, get items and submit answers by the functions that the site calls."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from chorale.engine import entering, work
from chorale.engine.running import Study
from chorale.engine.work import Offer, SubmitOutcome
from chorale.model import UserError

Result = TypeVar("Result")


def act(study: Study, function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """Run `function(tx, study, …)` in a transaction and wait for it."""
    return study.store.write(lambda tx: function(tx, study, *args, **kwargs)).result()


class ScriptedWorker:
    """A worker who has joined a study and agreed to its consent form.

    `name` is their ID on the platform `panel`. If a name is used again, it is the same worker.
    """

    def __init__(self, study: Study, name: str, panel: str = "test") -> None:
        self.study = study
        arrived = act(study, entering.arrive, panel, name, {})
        self.id, self.pseudonym = arrived.id, arrived.pseudonym
        act(study, entering.consent, self.id)

    def next(self, stage: str) -> Offer:
        """Their next item in a stage. Its `view` is what the page shows; None if there is nothing to do."""
        return act(self.study, work.next_item, self.study.stage(stage), self.id)

    def submit(self, offer: Offer, answer: Any, key: str = "key-00000001", ms: int | None = 1000) -> SubmitOutcome:
        """Submit an answer. `key` is that of the request, and `ms` how long the item was in view."""
        if offer.lease is None:
            raise UserError(f"There is no item to answer ({offer.status}). {offer.message}")
        return act(self.study, work.submit, self.id, offer.lease.token, answer, key, ms)

    def give_back(self, offer: Offer) -> None:
        """Return an item without an answer."""
        if offer.lease is None:
            raise UserError(f"There is no item to return ({offer.status}). {offer.message}")
        act(self.study, work.give_back, self.id, offer.lease.token)

    def work(self, stage: str, answer: Callable[[Mapping[str, Any]], Any]) -> int:
        """Submit `answer(view)` to every item they get in a stage; the number of answers."""
        count = 0
        while (offer := self.next(stage)).view is not None:
            self.submit(offer, answer(offer.view))
            count += 1
        return count
