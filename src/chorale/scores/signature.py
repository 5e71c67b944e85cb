"""The line that lets anybody compute a score again: metric, options, input and version."""

from collections.abc import Mapping

from chorale import __version__

Setting = bool | int | float | str | None


def signature(metric: str, settings: Mapping[str, Setting], inputs: Mapping[str, str]) -> str:
    """`metric|option:value|…|input:hash|…|version:…`, in the manner of sacreBLEU.

    >>> signature("alpha", {"level": "nominal", "ci": False}, {"file": "0123abcd"}).rpartition("|")[0]
    'alpha|level:nominal|ci:no|file:0123abcd'
    """
    parts = [metric]
    parts += [f"{name}:{_shown(value)}" for name, value in settings.items() if value is not None]
    parts += [f"{name}:{digest}" for name, digest in inputs.items()]
    return "|".join([*parts, f"version:{__version__}"])


def _shown(value: Setting) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text.replace("|", "/")
