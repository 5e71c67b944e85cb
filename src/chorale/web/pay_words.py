"""What work pays, as workers read it."""

from chorale.engine.finishing import Finish
from chorale.model import StagePay, StageSettings, money_text
from chorale.protocol import parts_bonus

COUNTED = 41
"""Parts of an answer whose bonus a page shows beforehand, from none on."""


def bonus_texts(pay: StagePay, currency: str) -> list[str]:
    """What an answer with so many parts earns beyond its pay, for forms that count as people write."""
    if pay.parts is None:
        return []
    return [money_text(bonus, currency) if (bonus := parts_bonus(count, pay.parts)) else "" for count in range(COUNTED)]


def pay_text(stage: StageSettings, currency: str) -> str:
    """What a stage pays, in a few words; nothing where another stage pays for it."""
    pay = stage.pay
    each = f"{money_text(pay.per_judgment, currency)} per answer" if pay.per_judgment else ""
    length = ""
    if pay.by_length is not None:
        per, most = (money_text(amount, currency) for amount in (pay.by_length.per_100_words, pay.by_length.most))
        length = f"{per} per 100 words, up to {most} for the length"
    later = "a bonus for what is kept of your answer" if pay.kept is not None else ""
    when = "when you have finished"
    if stage.grades:
        # Nobody finishes grading: who has done enough of it is paid when the gate closes.
        when = "when the round is over"
        when += f", for {pay.finished_from:,} answers or more" if pay.finished_from > 1 else ""
    whole = f"{money_text(pay.finished, currency)} {when}" if pay.finished else ""
    return ", ".join(part for part in (each, length, whole, later) if part)


def screenout_text(finish: Finish, currency: str) -> str:
    """How somebody is paid for whom the study ends early."""
    joined = finish.joined
    if joined is None:
        return "You are paid what you have earned: see your earnings below."
    if joined.screenout == "fixed":
        fixed = money_text(joined.screenout_reward or 0, currency)
        return f"Prolific pays you {fixed} for your time. If you have earned more here, the rest is paid as a bonus."
    if joined.screenout == "return":
        return "Prolific asks you to return your submission. What you have earned here is paid to you as a bonus."
    return f"You receive the reward of {money_text(joined.reward, currency)} all the same."


def time_text(stage: StageSettings, size: int | None) -> str:
    """How long a round, or an answer elsewhere, is expected to take; nothing where the study file does not say."""
    seconds = stage.pay.expected_seconds
    if seconds is None:
        return ""
    return f"about {_duration(seconds * size)} in all" if size else f"about {_duration(seconds)} each"


def hourly_text(stage: StageSettings, size: int | None, currency: str) -> str:
    """What an hour pays by the expected time, without bonuses; nothing where that is not known beforehand."""
    pay = stage.pay
    if pay.expected_seconds is None or pay.by_length is not None:
        return ""
    # Those who grade are paid for finishing when the round is over, for more or fewer answers.
    amount = pay.per_judgment + (pay.finished / size if size else 0)
    return f"about {money_text(int(amount * 3600 / pay.expected_seconds), currency)} an hour" if amount else ""


def _duration(seconds: int) -> str:
    if seconds < 90:
        return "1 second" if seconds == 1 else f"{seconds} seconds"
    minutes = round(seconds / 60)
    return f"{minutes} minutes" if minutes < 90 else f"{seconds / 3600:.1f} hours"
