"""Texts for workers about pay."""

from collections.abc import Sequence

from chorale.engine.expected_time import ExpectedTime
from chorale.engine.finishing import Finish
from chorale.engine.running import RunningStage, Study
from chorale.model import PartsBonus, StagePay, StageSettings
from chorale.present.language import Language
from chorale.protocol import parts_bonus

COUNTED = 41
"""Number of bonuses sent with a page: those for 0 to 40 parts."""


def bonus_texts(pay: StagePay, currency: str, language: Language) -> list[str]:
    """The bonus for each number of parts. Forms show it while people write, as the number of parts grows."""
    if pay.parts is None:
        return []
    bonuses = [parts_bonus(count, pay.parts) for count in range(COUNTED)]
    return [language.money(bonus, currency) if bonus else "" for bonus in bonuses]


def _money(amount: int, study: Study) -> str:
    return study.language.money(amount, study.settings.pay.currency)


def pay_text(stage: StageSettings, study: Study) -> str:
    """The pay of a stage in a few words; empty if another stage pays for it."""
    pay, say = stage.pay, study.language.say
    words = []
    if pay.per_judgment:
        words.append(say("{amount} per answer", amount=_money(pay.per_judgment, study)))
    if pay.by_length is not None:
        per, most = (_money(amount, study) for amount in (pay.by_length.per_100_words, pay.by_length.most))
        words.append(say("{amount} per 100 words that you read (at most {most})", amount=per, most=most))
    if pay.finished:
        words.append(_finished_text(stage, study))
    if pay.kept is not None:
        words.append(_kept_text(pay.kept, study))
    return say(", ").join(words)


def _finished_text(stage: StageSettings, study: Study) -> str:
    amount, say = _money(stage.pay.finished, study), study.language.say
    if not stage.grades:
        return say("{amount} when you have finished", amount=amount)
    # Grading has no end for a worker: those who have done enough are paid when the gate closes.
    if stage.pay.finished_from > 1:
        least = stage.pay.finished_from
        return say("{amount} when this part closes, if you give at least {number} answers", amount=amount, number=least)
    return say("{amount} when this part closes", amount=amount)


def _kept_text(rule: PartsBonus, study: Study) -> str:
    amount, say = _range(rule.amounts, study), study.language.say
    if not rule.beyond:
        return say("{amount} for each part of your answer that is kept", amount=amount)
    if rule.beyond == 1:
        return say("{amount} for each part of your answer that is kept, from the second on", amount=amount)
    return say("{amount} for each kept part of your answer after the first {number}", amount=amount, number=rule.beyond)


def screenout_text(finish: Finish, study: Study) -> str:
    """The pay of people for whom the study ends early."""
    joined, say = finish.joined, study.language.say
    if joined is None:
        return say("You are paid what you have earned. Your earnings are shown below.")
    if joined.screenout == "fixed":
        fixed = _money(joined.screenout_reward or 0, study)
        return say(
            "Prolific pays you {amount} for your time. If you have earned more here, the rest is paid as a bonus.",
            amount=fixed,
        )
    if joined.screenout == "return":
        return say("Prolific asks you to return your submission. What you have earned here is paid to you as a bonus.")
    return say("You still receive the full reward of {amount}.", amount=_money(joined.reward, study))


def time_text(expected: ExpectedTime, size: int | None, language: Language) -> str:
    """The expected time of a round, or per answer elsewhere; empty if unknown."""
    if expected.seconds is None:
        return ""
    if size:
        return language.say("about {time} in total", time=_duration(expected.seconds * size, language))
    return language.say("about {time} each", time=_duration(expected.seconds, language))


def hourly_text(pay: StagePay, expected: ExpectedTime, size: int | None, study: Study) -> str:
    """The expected hourly pay without bonuses; empty if unknown or unpaid."""
    if not expected.seconds:
        return ""
    # Graders are paid for finishing when the round ends, whatever their number of answers.
    amount = pay.per_judgment + expected.for_length + (pay.finished / size if size else 0)
    hourly, say = _money(int(amount * 3600 / expected.seconds), study), study.language.say
    if not amount:
        return ""
    if pay.parts is not None or pay.kept is not None:
        return say("about {amount} an hour without bonuses", amount=hourly)
    return say("about {amount} an hour", amount=hourly)


def work_facts(stage: RunningStage, expected: ExpectedTime, study: Study) -> list[str]:
    """The pay, time and hourly pay of a stage, if known."""
    texts = (
        pay_text(stage.settings, study),
        time_text(expected, stage.round_size, study.language),
        hourly_text(stage.settings.pay, expected, stage.round_size, study),
    )
    return [text for text in texts if text]


def offers_facts(offers: Sequence[tuple[int, ExpectedTime]], study: Study) -> list[str]:
    """The pay per answer and per hour of one or several kinds of work, given their rewards."""
    if not offers:
        return []
    say, (_, first) = study.language.say, offers[0]
    texts = [say("{amount} per answer", amount=_range([reward for reward, _ in offers], study))]
    if len(offers) == 1:
        texts.append(time_text(first, None, study.language))
    hourly = [int(reward * 3600 / expected.seconds) for reward, expected in offers if expected.seconds]
    if len(hourly) == len(offers) and any(hourly):
        texts.append(say("about {amount} an hour", amount=_range(hourly, study)))
    return [text for text in texts if text]


def _range(amounts: Sequence[int], study: Study) -> str:
    return "–".join(_money(amount, study) for amount in sorted({min(amounts), max(amounts)}))


def _duration(seconds: int, language: Language) -> str:
    if seconds < 90:
        return language.say_count(seconds, "{count} second", "{count} seconds")
    minutes, rest = divmod(seconds, 60)
    if minutes < 5 and rest:
        return language.say("{minutes} min {seconds} s", minutes=minutes, seconds=rest)
    minutes = round(seconds / 60)
    if minutes < 90:
        return language.say_count(minutes, "{count} minute", "{count} minutes")
    return language.say("{number} hours", number=round(seconds / 3600, 1))
