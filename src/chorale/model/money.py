"""Amounts of money as text."""

from functools import lru_cache

# Currencies whose smallest unit is not a hundredth (ISO 4217).
_DIGITS = {"BHD": 3, "CLP": 0, "ISK": 0, "JOD": 3, "JPY": 0, "KRW": 0, "KWD": 3, "OMR": 3, "TND": 3, "UGX": 0, "VND": 0}
_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹"}


def minor_digits(currency: str) -> int:
    """Number of decimal digits of a currency."""
    return _DIGITS.get(currency, 2)


@lru_cache(maxsize=1024)
def money_text(amount: int, currency: str) -> str:
    """An amount in minor units as text for people.

    >>> money_text(1234, "USD"), money_text(-5, "CHF"), money_text(1200, "JPY")
    ('$12.34', '-CHF 0.05', '¥1,200')
    """
    digits = minor_digits(currency)
    whole, part = divmod(abs(amount), 10**digits)
    number = f"{whole:,}" + (f".{part:0{digits}d}" if digits else "")
    return f"{'-' if amount < 0 else ''}{_SIGNS.get(currency, currency + ' ')}{number}"


def exact_money_text(billionths: int, currency: str) -> str:
    """An amount in billionths of a minor unit as text, with four more decimals than the currency.

    >>> exact_money_text(1_234_567_890_123, "USD"), exact_money_text(12_345_678, "USD")
    ('$12.345679', '$0.000123')
    """
    digits = minor_digits(currency) + 4
    whole, part = divmod(round(abs(billionths) / 10**5), 10**digits)
    return f"{'-' if billionths < 0 else ''}{_SIGNS.get(currency, currency + ' ')}{whole:,}.{part:0{digits}d}"


def money_number(amount: int, currency: str) -> str:
    """An amount in minor units as a plain number, for other programs.

    >>> money_number(1234, "USD"), money_number(1200, "JPY")
    ('12.34', '1200')
    """
    digits = minor_digits(currency)
    whole, part = divmod(abs(amount), 10**digits)
    return f"{'-' if amount < 0 else ''}{whole}" + (f".{part:0{digits}d}" if digits else "")


def minor_units(text: str, currency: str) -> int | None:
    """A typed amount in minor units; None if it is not a valid amount of the currency.

    >>> minor_units("1.5", "USD"), minor_units(" 20 ", "JPY"), minor_units("0.005", "USD")
    (150, 20, None)
    """
    digits = minor_digits(currency)
    whole, _, part = text.strip().partition(".")
    if not (whole + part).isdecimal() or not text.isascii() or len(whole) > 9 or len(part) > digits:
        return None
    scale: int = 10**digits
    return int(whole or "0") * scale + int(part.ljust(digits, "0") or "0")
