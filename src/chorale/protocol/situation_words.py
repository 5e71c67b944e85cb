"""Messages to workers about their situation in a stage, used by all pages and the API."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from chorale.model.wording import counted, joined, quoted, worded
from chorale.protocol.eligibility import Admission
from chorale.protocol.situation import Reason, Situation, State

NO_CONSENT = worded("Please read and accept the consent form first.")
PAUSED = worded("This part is paused for now. Everything you submitted is saved and paid. Check again later.")
MESSAGES: Mapping[Reason, str] = {
    Reason.NO_CONSENT: NO_CONSENT,
    Reason.BELOW_GOLD: worded(
        "Thank you for your work. This part has ended for you because you gave too many wrong answers to questions "
        "whose correct answers we know. You are paid for everything you submitted."
    ),
    Reason.BELOW_QUALITY: worded(
        "Thank you for your work. This part has ended for you because your answers often differed from those of other "
        "people. You are paid for everything you submitted."
    ),
    Reason.REMOVED_BY_STAFF: worded(
        "Thank you for your work. This part has ended for you. You are paid for everything you submitted."
    ),
    Reason.BLOCKED: worded("This work is no longer open to you. You are paid for everything that was accepted."),
    Reason.HOLDS_ITEM: "",
    Reason.HAS_ROOM: "",
    Reason.ROUND_FINISHED: worded("You have finished this part. Thank you!"),
    Reason.ENDED: worded("This part has ended. Thank you for your work!"),
    Reason.NO_PLACES: worded(
        "All places are taken for now, because enough people are training for the remaining work. More places may "
        "open. Check again later."
    ),
    Reason.NO_WORK_LEFT: worded("This training is closed, because all the work it prepares for is done."),
    Reason.PAUSED: PAUSED,
    Reason.BUDGET: PAUSED,
    Reason.LIMIT: worded("You have reached the maximum number of answers per person in this part. Thank you!"),
    Reason.MORE_MAY_COME: worded(
        "There is nothing for you to do right now. More work may become available. Check again later."
    ),
    Reason.NOTHING_LEFT: worded("All done. No work is left in this part. Thank you!"),
    Reason.TOO_LATE: worded("No work is left in this part."),
}
RESULT_FOLLOWS = worded("Your result and the next steps will appear on your overview.")
_MAY_HAVE_RESULTS = frozenset({Reason.ROUND_FINISHED, Reason.LIMIT, Reason.MORE_MAY_COME, Reason.NOTHING_LEFT})
LAST_BEFORE_PAUSE = worded(
    "This part is paused for now, but you can still finish the question you have started. You are paid for it."
)
LAST_OF_ALL = worded(
    "This part has ended, but you can still finish the question you have started. You are paid for it."
)


class WayIn(NamedTuple):
    """The earlier work that opens a stage to a worker."""

    stages: tuple[str, ...] = ()
    """The stages whose answers decide; empty if no work opens it."""
    finished: bool = False
    """Whether the worker has done the required work there."""
    decided: bool = False
    """Whether the decision was negative."""

    @property
    def is_open(self) -> bool:
        """Whether the stage can still open to the worker."""
        return bool(self.stages) and not self.decided


NO_WAY_IN = WayIn()


def places_text(places: int | None) -> str:
    """The number of places left, for a worker who has not started; empty if unlimited."""
    if places is None:
        return ""
    return counted(places, "{count} place left", "{count} places left")


def message(
    situation: Situation, titles: Mapping[str, str], awaits_result: Callable[[], bool], way_in: WayIn = NO_WAY_IN
) -> str:
    """The message to a worker; empty if there is work for them.

    `titles` are the stages' titles by name. `awaits_result` is called only if a result may still follow. `way_in` is
    the earlier work that the stage requires, if they are not admitted.
    """
    if situation.admission is not None:
        return _not_admitted(situation.admission, titles, way_in)
    words = MESSAGES[situation.reason]
    if situation.reason in _MAY_HAVE_RESULTS and awaits_result():
        return joined(words, RESULT_FOLLOWS)
    return words


def message_with_item(afterwards: Situation) -> str:
    """The message to a worker who holds their last item for now; empty if others may follow."""
    if afterwards.state is State.PAUSED:
        return LAST_BEFORE_PAUSE
    if afterwards.state is State.LOCKED or afterwards.reason is Reason.ENDED:
        return LAST_OF_ALL
    return ""


def _not_admitted(admission: Admission, titles: Mapping[str, str], way_in: WayIn) -> str:
    """Why a worker may not work in a stage, with the titles of stages that they see."""
    if way_in.stages:
        earlier = _listed([titles[name] for name in way_in.stages])
        if "answered_needed" in admission.evidence:
            if way_in.decided:
                return worded("This part is for people with a better result in {parts}.", parts=earlier)
            return worded("Locked for now. Answer more questions in {parts} first.", parts=earlier)
        if way_in.decided:
            return worded("You did not qualify in {parts}, so this part is not open to you.", parts=earlier)
        if way_in.finished:
            return worded("You have finished {parts}. This part opens if your result qualifies you.", parts=earlier)
        return worded("Locked for now. Finish {parts} first.", parts=earlier)
    if dropped := admission.evidence.get("dropped_from"):
        earlier = _listed([titles.get(name, name) for name in dropped])
        return worded("This part is not open to you, because your work in {parts} has ended.", parts=earlier)
    if "closed" in admission.evidence:
        # People who have worked there need no admission once it has ended.
        return worded("This part has ended.")
    if "arms" in admission.evidence:
        return worded("This part is for other participants.")
    return worded("You need a qualification for this part.")


def _listed(names: Sequence[str]) -> str:
    """Quoted names as a list, with "and" before the last."""
    first, *others = (quoted(name) for name in dict.fromkeys(names))
    listed = first
    for number, name in enumerate(others, 1):
        if number < len(others):
            listed = worded("{first}, {second}", first=listed, second=name)
        else:
            listed = worded("{first} and {second}", first=listed, second=name)
    return listed
