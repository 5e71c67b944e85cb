"""What work pays, as workers read it."""

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
    when = "when you have finished"
    if stage.grades:
        # Nobody finishes grading: who has done enough of it is paid when the gate closes.
        when = "when the round is over"
        when += f", for {pay.finished_from:,} answers or more" if pay.finished_from > 1 else ""
    whole = f"{money_text(pay.finished, currency)} {when}" if pay.finished else ""
    return ", ".join(part for part in (each, length, whole) if part)
