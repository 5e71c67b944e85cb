"""The currency of the ledger: fixed by its first entry, whatever the study file says later."""

import json
import tomllib
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from chorale.folder.reading import SETTINGS_FILE
from chorale.model import Problem, UserError
from chorale.model.money import minor_digits
from chorale.model.settings import PaySettings
from chorale.store import Tx, beginnings, events, settings

_KEY = "ledger"
ALL = 1_000_000


class LedgerCurrency(NamedTuple):
    currency: str
    digits: int
    """Number of decimal digits of an amount."""


def opened_with(tx: Tx) -> LedgerCurrency | None:
    """The currency of the ledger; None while it has no entries."""
    if not beginnings.anything_in_ledger(tx):
        return None
    stored = settings.setting_value(tx, _KEY)
    if stored is not None:
        return LedgerCurrency(*json.loads(stored))
    # The study predates this record: use the study file in force when the first amount was booked.
    currency = currency_at(currencies(tx), beginnings.first_entry_at(tx) or 0)
    return LedgerCurrency(currency, minor_digits(currency))


def keep_currency(tx: Tx, currency: str) -> None:
    """Store the currency of the ledger, also before its first entry."""
    opened = opened_with(tx) or LedgerCurrency(currency, minor_digits(currency))
    settings.set_setting(tx, _KEY, json.dumps(opened))


def currencies(tx: Tx) -> list[tuple[int, str]]:
    """The currencies in versions of the study file, with the times they came into force, oldest first."""
    versions = reversed(events.recent(tx, ALL, kinds=("settings",)))
    return [(event.at, _currency_in(event.evidence["study.toml"])) for event in versions]


def currency_at(versions: Sequence[tuple[int, str]], moment: int) -> str:
    """The currency in the study file that was in force at a given time."""
    index = bisect_right(versions, moment, key=lambda version: version[0]) - 1
    return versions[max(index, 0)][1] if versions else _DEFAULT


def currency_problem(tx: Tx, currency: str) -> Problem | None:
    """The problem with a study file that has this currency; None if it matches the ledger."""
    opened = opened_with(tx)
    if opened is None or opened == (currency, minor_digits(currency)):
        return None
    if opened.currency == currency:
        return Problem(
            SETTINGS_FILE,
            None,
            f"the ledger has amounts in {currency} with {opened.digits} decimals, and this version of Chorale counts "
            f"{minor_digits(currency)} decimals",
            "Use the version of Chorale that the study was started with.",
        )
    return Problem(
        SETTINGS_FILE,
        None,
        f'`pay.currency` is "{currency}", and the ledger has amounts in {opened.currency}',
        f'Restore currency = "{opened.currency}". For {currency}, start a new study in another folder; '
        "`chorale export` exports the data of this one.",
        currency,
    )


def refuse_other_currency(tx: Tx, directory: Path, recorded: str) -> None:
    """Refuse to open a study whose file, or an earlier version of it, has another currency than the ledger."""
    for text in (recorded, _file_text(directory)):
        problem = None if text is None else currency_problem(tx, _currency_in(text))
        if problem is not None:
            raise UserError("The study file does not match the ledger. Nothing was changed", [problem])


_DEFAULT: str = PaySettings.model_fields["currency"].default


def _currency_in(text: str) -> str:
    try:
        pay: Any = tomllib.loads(text).get("pay", {})
    except (tomllib.TOMLDecodeError, RecursionError):
        return _DEFAULT
    return str(pay.get("currency", _DEFAULT)) if isinstance(pay, dict) else _DEFAULT


def _file_text(directory: Path) -> str | None:
    """The current study file; None if it can't be read, for example while it is being edited."""
    try:
        text = (directory / SETTINGS_FILE).read_text("utf-8")
        tomllib.loads(text)
    except (OSError, ValueError, RecursionError):
        return None
    return text
