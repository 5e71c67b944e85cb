"""Signatures for reproducing a score: metric, options, input and version."""

from collections.abc import Mapping

from chorale import __version__

Setting = bool | int | float | str | tuple[str, ...] | None
_ESCAPED = str.maketrans({mark: f"%{ord(mark):02X}" for mark in "%|\n\r"})
_ESCAPED_PART = _ESCAPED | str.maketrans({",": "%2C"})
_ESCAPED_NAME = _ESCAPED | str.maketrans({":": "%3A"})


def signature(metric: str, settings: Mapping[str, Setting], inputs: Mapping[str, str]) -> str:
    """`metric|option:value|…|input:hash|…|version:…`, in the style of sacreBLEU.

    Different settings always have different signatures: numbers have all digits, and separators inside values are
    escaped.

    >>> signature("alpha", {"level": "nominal", "ci": False}, {"file": "0123abcd"}).rpartition("|")[0]
    'alpha|level:nominal|ci:no|file:0123abcd'
    """
    parts = [metric]
    parts += [f"{name}:{_shown(value)}" for name, value in settings.items() if value is not None]
    parts += [f"{name.translate(_ESCAPED_NAME)}:{digest}" for name, digest in inputs.items()]
    return "|".join([*parts, f"version:{__version__}"])


def _shown(value: Setting) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    if isinstance(value, tuple):
        return ",".join(part.translate(_ESCAPED_PART) for part in value)
    return str(value).translate(_ESCAPED)
