"""Payouts missing from a restored study: nobody is paid until a person has checked them."""

from chorale.engine.running import Study
from chorale.engine.sessions import moment_text
from chorale.store import Tx, epochs, events, settings

SETTING = "unknown_payouts"
SOME = "some"


def note_unknown_payouts(tx: Tx, count: int | None) -> None:
    """Record the number of payouts made after the backup, or None if it is unknown."""
    settings.set_setting(tx, SETTING, SOME if count is None else str(count))


def refusal_to_pay(tx: Tx) -> str | None:
    """Why payments are blocked; None if they are not."""
    noted, epoch = settings.setting_value(tx, SETTING), epochs.latest(tx)
    if noted in (None, "0") or epoch is None or epoch.backup_at is None:
        return None
    how_many = "Payouts may have been" if noted == SOME else payouts_were(int(str(noted)))
    return (
        f"Nobody was paid. This study was restored on {moment_text(epoch.began_at)}. {how_many} made after the "
        f"backup of {moment_text(epoch.backup_at)}. This study has no record of that, so people could be paid twice."
    )


def payouts_were(count: int) -> str:
    """The number of payouts as the start of a sentence that continues with "made".

    >>> payouts_were(1), payouts_were(1200)
    ('1 payout was', '1,200 payouts were')
    """
    return "1 payout was" if count == 1 else f"{count:,} payouts were"


def accept_unknown_payouts(tx: Tx, study: Study, by: str) -> None:
    """Allow payments again, after a person has checked the payouts."""
    if refusal_to_pay(tx) is not None:
        settings.set_setting(tx, SETTING, "0")
        events.record(tx, study.clock(), "paying after a restore", {"by": by})
