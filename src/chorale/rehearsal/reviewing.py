"""Feedback: experts send messages one after the other without changes, and people learn from them."""

from collections.abc import Iterator, Mapping

from chorale.engine.gates import send_message, stages_of
from chorale.engine.running import Study
from chorale.model import Message
from chorale.rehearsal.person import Person
from chorale.rehearsal.simulated import mistakes_explained
from chorale.store import Tx
from chorale.store.gates import verdicts_so_far
from chorale.store.grades import graded_answers
from chorale.store.messages import drafts, messages_to

WORDS_PER_SECOND = 4.0


def reading_seconds(text: str) -> float:
    return len(text.split()) / WORDS_PER_SECOND


class ExpertDesk:
    """The experts' queue of messages to review. Without experts, no message is sent."""

    def __init__(self, study: Study, experts: int) -> None:
        self._study = study
        self._experts = experts
        self._seen = 0
        """The number of gate decisions when drafts were last read: there are no new drafts before the next one."""
        self._in_hand: set[int] = set()
        self._free_at = 0
        self.sent = 0

    def take_up(self, now: int) -> Iterator[tuple[float, Message]]:
        """The messages that need a review, each with the seconds until it is read."""
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
            return send_message(tx, self._study, message.id, message.body, "the simulation")

        self.sent += self._study.store.write(send).result()


def learn_from_feedback(study: Study, person: Person, qualities: Mapping[int, float]) -> None:
    """Learn from the messages of gates, in proportion to the correctness of their grades."""
    for message in study.store.read(lambda tx: messages_to(tx, person.worker_id)).result():
        kind, _, name = message.cause.partition(":")
        if message.id in person.read or kind != "gate" or name not in study.gates:
            continue
        person.read.add(message.id)
        ids = [stage.id for stage in stages_of(study, study.gates[name])]
        for answer in study.store.read(lambda tx: graded_answers(tx, ids, person.worker_id)).result():  # noqa: B023
            task = study.stage_by_id(answer.stage_id).task.name
            # Grades by comparison with an expert's answer are correct.
            person.learn(task, mistakes_explained(answer.score, qualities.get(answer.response_id, answer.score)))
