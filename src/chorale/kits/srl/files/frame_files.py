"""Frame files of PropBank and NomBank: their senses, with the numbered roles of each sense."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from chorale.files.source import digest_of, read_bytes, refused
from chorale.kits.srl.files.model import canonical

_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_ROLE = re.compile(rb'<role\s[^>]*?\bn\s*=\s*"([^"]+)"')
_ROLESET = re.compile(rb'<roleset[^>]*?\bid\s*=\s*"([^"]+)"')


@dataclass(frozen=True, slots=True)
class SenseInventory:
    """Requested senses that were found, with their roles: `A0`, `AA`, …"""

    roles: dict[str, frozenset[str]]
    digest: str = ""


def read_frame_files(folder: Path, senses: Iterable[str]) -> SenseInventory:
    """Looks up senses in the files of a folder and its subfolders. Files named after the lemma are read first."""
    fix = "Give the folder with the frame files (.xml) of PropBank or NomBank"
    if not folder.is_dir():
        raise refused(folder, None, "is not a folder", fix)
    files = sorted(folder.rglob("*.xml"))
    if not files:
        raise refused(folder, None, "contains no frame files (.xml)", fix)
    wanted = frozenset(senses)
    stems = {stem for sense in wanted for stem in _stems(sense)}
    likely = [path for path in files if path.stem in stems]
    roles: dict[str, frozenset[str]] = {}
    _add(likely, wanted, roles)
    if missing := wanted - roles.keys():
        # A sense may be in the file of another word: `lighten_up.02` of lighten, `pasted.01` of paste.
        tried = set(likely)
        _add((path for path in files if path not in tried and _has_any(path, missing)), wanted, roles)
    return SenseInventory(
        roles, digest_of(repr(sorted((sense, *sorted(names)) for sense, names in roles.items())).encode())
    )


def _stems(sense: str) -> Iterator[str]:
    lemma = sense.rpartition(".")[0] or sense
    for name in {lemma, lemma.partition("_")[0], lemma.replace("_", "-")}:
        yield from (name, f"{name}-v", f"{name}-n", f"{name}-j")


def _has_any(path: Path, senses: frozenset[str]) -> bool:
    return any(name.decode("utf-8", "replace") in senses for name in _ROLESET.findall(read_bytes(path)))


def _add(files: Iterable[Path], wanted: frozenset[str], roles: dict[str, frozenset[str]]) -> None:
    for path in files:
        for sense, names in _rolesets(path):
            if sense in wanted:
                # PropBank and NomBank may define a verb and a noun with the same name.
                roles[sense] = roles.get(sense, frozenset()) | names


def _rolesets(path: Path) -> Iterator[tuple[str, frozenset[str]]]:
    """Finds senses by their tags only, because some published files are not well-formed XML."""
    text = _COMMENT.sub(b"", read_bytes(path))
    starts = list(_ROLESET.finditer(text))
    for start, following in zip(starts, [*starts[1:], None], strict=True):
        part = text[start.end() : None if following is None else following.start()]
        numbers = (number.decode("ascii", "replace").upper() for number in _ROLE.findall(part))
        yield start[1].decode("utf-8", "replace"), frozenset(canonical(f"ARG{number}") for number in numbers)
