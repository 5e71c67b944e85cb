"""The formats of the kit: a ranking a line, such as `task worker b>a>c`."""

from collections.abc import Iterator
from pathlib import Path

from chorale.files.source import read_source
from chorale.model import Problem, UserError
from chorale_ranking.rankings import parse_ranking


def read_ranks(path: Path) -> Iterator[tuple[str, str, str]]:
    """Rows of task, worker and ranking, from lines such as `t1 ann b>a>c`."""
    for (task, worker), ranking in ranked_lines(path, "t1 ann b>a>c"):
        yield task, worker, ">".join(ranking)


def ranked_lines(path: Path, example: str) -> Iterator[tuple[list[str], tuple[str, ...]]]:
    """The names in front of every ranking, and the ranking. Empty lines and those that begin with # are left out."""
    source, names = read_source(path), len(example.split()) - 1
    for number, line in enumerate(source.text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split(maxsplit=names)
        try:
            if len(parts) <= names:
                raise ValueError(f"{line!r} has {len(parts)} parts")
            yield parts[:names], parse_ranking(parts[names])
        except ValueError as error:
            fix = f"Write lines such as `{example}`."
            raise UserError("The rankings can't be used", [Problem(source.name, number, str(error), fix)]) from None
