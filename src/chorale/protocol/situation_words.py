"""What workers read about their situation in a stage. Pages and the interface show these words and no others."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from chorale.protocol.eligibility import Admission
from chorale.protocol.situation import Reason, Situation, State

NO_CONSENT = "Please read and accept the consent form first."
PAUSED = "This part is paused for now. Everything you submitted is saved and paid. Check again later."
MESSAGES: Mapping[Reason, str] = {
    Reason.NO_CONSENT: NO_CONSENT,
    Reason.BELOW_GOLD: (
        "Thank you for your work. Too many of your answers differed from answers that we know to be correct, so this "
        "part has ended for you. You are paid for everything you submitted."
    ),
    Reason.BELOW_QUALITY: (
        "Thank you for your work. Over many questions your answers differed too much from those of other people, so "
        "this part has ended for you. You are paid for everything you submitted."
    ),
    Reason.BLOCKED: "The work here is no longer open to you. You are paid for everything that was accepted.",
    Reason.HOLDS_ITEM: "",
    Reason.HAS_ROOM: "",
    Reason.ROUND_FINISHED: "You have finished this part. Thank you!",
    Reason.ENDED: "This part has ended. Thank you for your work!",
    Reason.NO_PLACES: (
        "All places are taken for now: enough people are learning this for the work that is left. "
        "More places may open, so check again later."
    ),
    Reason.NO_WORK_LEFT: "This part is closed. It prepares for other parts, and no work is left in them.",
    Reason.PAUSED: PAUSED,
    Reason.BUDGET: PAUSED,
    Reason.LIMIT: "You have reached the maximum number of answers per person in this part. Thank you!",
    Reason.MORE_MAY_COME: (
        "There is nothing for you to do right now. More may become available, so check again later."
    ),
    Reason.NOTHING_LEFT: "All done. There is nothing left to do in this part. Thank you!",
}
RESULT_FOLLOWS = "Your result and the next steps will appear on your overview page."
_MAY_HAVE_RESULTS = frozenset({Reason.ROUND_FINISHED, Reason.LIMIT, Reason.MORE_MAY_COME, Reason.NOTHING_LEFT})
LAST_BEFORE_PAUSE = (
    "This part is paused for now, but you can still finish the question you have started. You are paid for it."
)
LAST_OF_ALL = "This part has ended, but you can still finish the question you have started. You are paid for it."


class WayIn(NamedTuple):
    """The earlier work that opens a stage to a worker."""

    stages: tuple[str, ...] = ()
    """The stages whose answers decide; none where no work opens it."""
    finished: bool = False
    """Whether the worker has done what they are asked for there."""
    decided: bool = False
    """Whether it was decided, and not in their favour."""

    @property
    def is_open(self) -> bool:
        """Whether it can still open to them."""
        return bool(self.stages) and not self.decided


NO_WAY_IN = WayIn()
_STAGE_NAME = re.compile(r"`([^`]+)`")


def places_text(places: int | None) -> str:
    """How many places are left, for somebody who has not begun; nothing where there is no limit."""
    if places is None:
        return ""
    return "1 place is left." if places == 1 else f"{places:,} places are left."


def message(
    situation: Situation, titles: Mapping[str, str], awaits_result: Callable[[], bool], way_in: WayIn = NO_WAY_IN
) -> str:
    """What a worker reads; nothing where there is something for them to do.

    `titles` are those of the stages by name. `awaits_result` is asked only where a result may still follow. `way_in` is
    the earlier work that the stage asks for, where they are not admitted.
    """
    if situation.admission is not None:
        return _not_admitted(situation.admission, titles, way_in)
    words = MESSAGES[situation.reason]
    if situation.reason in _MAY_HAVE_RESULTS and awaits_result():
        return f"{words} {RESULT_FOLLOWS}"
    return words


def message_with_item(afterwards: Situation) -> str:
    """What somebody reads who holds an item, if it is the last for now; nothing if others may follow it."""
    if afterwards.state is State.PAUSED:
        return LAST_BEFORE_PAUSE
    if afterwards.state is State.LOCKED or afterwards.reason is Reason.ENDED:
        return LAST_OF_ALL
    return ""


def _not_admitted(admission: Admission, titles: Mapping[str, str], way_in: WayIn) -> str:
    """Why a worker may not work in a stage, with the titles they know."""

    def by_title(named: re.Match[str]) -> str:
        title = titles.get(named[1])
        return named[0] if title is None else f"“{title}”"

    if way_in.stages:
        earlier = _listed([f"“{titles[name]}”" for name in way_in.stages])
        if "answered_needed" in admission.evidence:
            return (
                f"This part is for people with a better result in {earlier}."
                if way_in.decided
                else f"Answer more questions in {earlier} first."
            )
        if way_in.decided:
            return f"This part is for people who qualified in {earlier}."
        if way_in.finished:
            return f"You have finished {earlier}. This part opens if your result there qualifies you for it."
        return f"Finish {earlier} first."
    return f"This part is not open to you: {_STAGE_NAME.sub(by_title, admission.reason)}."


def _listed(names: Sequence[str]) -> str:
    """Names as they are read out: the last one after "and"."""
    names = list(dict.fromkeys(names))
    return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), names[-1]])
