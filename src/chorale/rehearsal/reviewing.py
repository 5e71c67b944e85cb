"""Feedback that waits for an expert: experts read one message after the other, and send it as it is."""

from collections.abc import Iterator

from chorale.engine.gates import send_message
from chorale.engine.running import Study
from chorale.model import Message
from chorale.store import Tx
from chorale.store.gates import verdicts_so_far
from chorale.store.messages import drafts

WORDS_PER_SECOND = 4.0


def reading_seconds(text: str) -> float:
    return len(text.split()) / WORDS_PER_SECOND


class Desk:
    """What experts have to read before it goes out. With no experts, nothing ever does."""

    def __init__(self, study: Study, experts: int) -> None:
        self._study = study
        self._experts = experts
        self._seen = 0
        """How often gates had decided when drafts were last looked for: there are no new ones before the next time."""
        self._in_hand: set[int] = set()
        self._free_at = 0
        self.sent = 0

    def take_up(self, now: int) -> Iterator[tuple[float, Message]]:
        """The messages that have come to the desk, each with the seconds until somebody has read it."""
        so_far = self._study.store.read(verdicts_so_far).result()
        if so_far == self._seen or not self._experts:
            return
        self._seen = so_far
        for message in self._study.store.read(drafts).result():
            if message.id not in self._in_hand:
                self._in_hand.add(message.id)
                takes = reading_seconds(message.body) / self._experts
                self._free_at = max(self._free_at, now) + round(takes * 1000)
                yield (self._free_at - now) / 1000, message

    def send(self, message: Message) -> None:
        def send(tx: Tx) -> bool:
            return send_message(tx, self._study, message.id, message.body, "the rehearsal")

        self.sent += self._study.store.write(send).result()
