"""What work pays, as workers read it."""

from chorale.engine.finishing import Finish
from chorale.engine.running import Study
from chorale.model import StagePay, StageSettings
from chorale.present.language import Language
from chorale.protocol import parts_bonus

COUNTED = 41
"""Parts of an answer whose bonus a page shows beforehand, from none on."""


def bonus_texts(pay: StagePay, currency: str, language: Language) -> list[str]:
    """What an answer earns beyond its pay by its number of parts, for forms that count as people write."""
    if pay.parts is None:
        return []
    bonuses = [parts_bonus(count, pay.parts) for count in range(COUNTED)]
    return [language.money(bonus, currency) if bonus else "" for bonus in bonuses]


def _money(amount: int, study: Study) -> str:
    return study.language.money(amount, study.settings.pay.currency)


def pay_text(stage: StageSettings, study: Study) -> str:
    """What a stage pays, in a few words; nothing where another stage pays for it."""
    pay, say = stage.pay, study.language.say
    words = []
    if pay.per_judgment:
        words.append(say("{amount} per answer", amount=_money(pay.per_judgment, study)))
    if pay.by_length is not None:
        per, most = (_money(amount, study) for amount in (pay.by_length.per_100_words, pay.by_length.most))
        words.append(say("{amount} per 100 words, up to {most} for the length", amount=per, most=most))
    if pay.finished:
        words.append(_finished_text(stage, study))
    if pay.kept is not None:
        words.append(say("a bonus for each part of your answer that is kept"))
    return say(", ").join(words)


def _finished_text(stage: StageSettings, study: Study) -> str:
    amount, say = _money(stage.pay.finished, study), study.language.say
    if not stage.grades:
        return say("{amount} when you have finished", amount=amount)
    # Nobody finishes grading: who has done enough of it is paid when the gate closes.
    if stage.pay.finished_from > 1:
        least = stage.pay.finished_from
        return say("{amount} when this part closes, for at least {number} answers", amount=amount, number=least)
    return say("{amount} when this part closes", amount=amount)


def screenout_text(finish: Finish, study: Study) -> str:
    """How somebody is paid for whom the study ends early."""
    joined, say = finish.joined, study.language.say
    if joined is None:
        return say("You are paid for what you have earned. Your earnings are shown below.")
    if joined.screenout == "fixed":
        fixed = _money(joined.screenout_reward or 0, study)
        return say(
            "Prolific pays you {amount} for your time. If you have earned more here, the rest is paid as a bonus.",
            amount=fixed,
        )
    if joined.screenout == "return":
        return say("Prolific asks you to return your submission. You are paid what you have earned here as a bonus.")
    return say("You still receive the full reward of {amount}.", amount=_money(joined.reward, study))


def time_text(stage: StageSettings, size: int | None, language: Language) -> str:
    """How long a round, or an answer elsewhere, is expected to take; nothing where the study file does not say."""
    seconds = stage.pay.expected_seconds
    if seconds is None:
        return ""
    if size:
        return language.say("about {time} in total", time=_duration(seconds * size, language))
    return language.say("about {time} each", time=_duration(seconds, language))


def hourly_text(stage: StageSettings, size: int | None, study: Study) -> str:
    """What an hour pays by the expected time, without bonuses; nothing where that is not known beforehand."""
    pay = stage.pay
    if pay.expected_seconds is None or pay.by_length is not None:
        return ""
    # Those who grade are paid for finishing when the round is over, for more or fewer answers.
    amount = pay.per_judgment + (pay.finished / size if size else 0)
    hourly = _money(int(amount * 3600 / pay.expected_seconds), study)
    return study.language.say("about {amount} an hour", amount=hourly) if amount else ""


def _duration(seconds: int, language: Language) -> str:
    if seconds < 90:
        return language.say_count(seconds, "{count} second", "{count} seconds")
    minutes = round(seconds / 60)
    if minutes < 90:
        return language.say_count(minutes, "{count} minute", "{count} minutes")
    return language.say("{number} hours", number=round(seconds / 3600, 1))
