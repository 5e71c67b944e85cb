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
    """How many of the digits of an amount stand behind the point."""


def opened_with(tx: Tx) -> LedgerCurrency | None:
    """The currency of the ledger; None while it has no entries."""
    if not beginnings.anything_in_ledger(tx):
        return None
    stored = settings.setting_value(tx, _KEY)
    if stored is not None:
        return LedgerCurrency(*json.loads(stored))
    # A study from before this was stored: the study file in force when the first amount was entered says.
    currency = currency_at(currencies(tx), beginnings.first_entry_at(tx) or 0)
    return LedgerCurrency(currency, minor_digits(currency))


def keep_currency(tx: Tx, currency: str) -> None:
    """Store what the ledger is in, or will be in from its first entry on."""
    opened = opened_with(tx) or LedgerCurrency(currency, minor_digits(currency))
    settings.set_setting(tx, _KEY, json.dumps(opened))


def currencies(tx: Tx) -> list[tuple[int, str]]:
    """The currencies that versions of the study file named, with the moments they came into force, oldest first."""
    versions = reversed(events.recent(tx, ALL, kinds=("settings",)))
    return [(event.at, _currency_in(event.evidence["study.toml"])) for event in versions]


def currency_at(versions: Sequence[tuple[int, str]], moment: int) -> str:
    """The currency that the study file in force at a moment named."""
    index = bisect_right(versions, moment, key=lambda version: version[0]) - 1
    return versions[max(index, 0)][1] if versions else _DEFAULT


def currency_problem(tx: Tx, currency: str) -> Problem | None:
    """What is wrong with a study file that names this currency, if anything."""
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
    """Refuse to open a study if its file, or what its database recorded of it, names another currency."""
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
    """The study file as it is now, if it can be read: somebody may be editing it."""
    try:
        text = (directory / SETTINGS_FILE).read_text("utf-8")
        tomllib.loads(text)
    except (OSError, ValueError, RecursionError):
        return None
    return text
