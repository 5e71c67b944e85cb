"""Reads WordNet's database files: words, senses, relations and irregular forms."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from chorale.files.source import digest_of, read_bytes, refused

USUAL_PLACES = (
    "/usr/share/wordnet",
    "/usr/local/share/wordnet",
    "/opt/homebrew/share/wordnet",
    "~/nltk_data/corpora/wordnet",
    "/usr/share/nltk_data/corpora/wordnet",
)
_FILES = {"v": "verb", "n": "noun", "a": "adj", "r": "adv"}
_NUMBERS = {"n": "1", "v": "2", "a": "3", "r": "4"}
_ENDINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}
_GET = "Install WordNet (on Debian the package wordnet-base, in NLTK the corpus wordnet) and name its folder"


@dataclass(frozen=True, slots=True)
class Synset:
    """A set of synonyms."""

    name: str
    """Offset and part of speech: `01617192-v`."""
    lemmas: tuple[str, ...]
    """In lower case, with underscores for spaces."""
    links: tuple[tuple[str, str], ...]
    """Relations: WordNet's pointer symbol (`@` for hypernyms, `+` for derivations) and the other synset's name."""
    gloss: str
    derived: tuple[tuple[str, str, int], ...] = ()
    """Derivations: the lemma, the other synset's name, and the index of the derived word in it."""


@dataclass(frozen=True, slots=True)
class _Part:
    """The data of one part of speech."""

    senses: Mapping[str, tuple[str, ...]]
    synsets: Mapping[str, Synset]
    keys: Mapping[str, str]
    irregular: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class WordNet:
    """A folder of database files. A part of speech (`v`, `n`, `a`, `r`) is read when it is first used."""

    folder: Path
    digest: str
    """The digest of the verbs' index."""
    _parts: dict[str, _Part] = field(default_factory=dict, repr=False)

    def senses(self, lemma: str, pos: str) -> tuple[str, ...]:
        """The names of a lemma's synsets, the most frequent sense first."""
        return self._part(pos).senses.get(_folded(lemma), ())

    def synset(self, name: str) -> Synset | None:
        return self._part(name[-1]).synsets.get(name) if name[-1:] in _FILES else None

    def of_key(self, key: str) -> str | None:
        """The synset of a sense key (`abandon%2:40:01::`)."""
        pos = {number: pos for pos, number in _NUMBERS.items()}.get(key.partition("%")[2][:1])
        return None if pos is None else self._part(pos).keys.get(key.lower())

    def lemmas(self, form: str, pos: str) -> tuple[str, ...]:
        """The possible lemmas of a form, by WordNet's irregular forms and its rules for endings."""
        part, folded = self._part(pos), _folded(form)
        regular = (folded.removesuffix(end) + new for end, new in _ENDINGS[pos] if folded.endswith(end))
        possible = (folded, *part.irregular.get(folded, ()), *regular)
        return tuple(dict.fromkeys(each for each in possible if each in part.senses))

    def derived(self, lemma: str, pos: str) -> frozenset[tuple[str, str]]:
        """Words derivationally related to a lemma, with their parts of speech."""
        folded = _folded(lemma)
        synsets = (synset for sense in self.senses(lemma, pos) if (synset := self.synset(sense)) is not None)
        places = {(other, place) for each in synsets for own, other, place in each.derived if own == folded}
        return frozenset(
            (synset.lemmas[place], name[-1])
            for name, place in places
            if (synset := self.synset(name)) is not None and place < len(synset.lemmas)
        )

    def _part(self, pos: str) -> _Part:
        if pos not in self._parts:
            self._parts[pos] = _read_part(self.folder, pos)
        return self._parts[pos]


def read_wordnet(folder: Path | None = None) -> WordNet:
    """WordNet 3.0 (or 3.1) from a folder with `index.verb` and `data.verb`; without one, from the usual places.

    Those are Debian's, Homebrew's and NLTK's, and `WNSEARCHDIR` and `NLTK_DATA` if they are set.
    """
    if folder is None:
        folder = find_wordnet()
        if folder is None:
            raise refused("WordNet", None, "was not found in the usual places", f"{_GET} with --wordnet")
    place = _dictionary(folder)
    if not (place / "index.verb").is_file():
        raise refused(place / "index.verb", None, "does not exist", f"{_GET}, the one that holds index.verb")
    return WordNet(place, digest_of(read_bytes(place / "index.verb")))


def find_wordnet() -> Path | None:
    """The first of the usual places that has WordNet."""
    return next((place for place in map(_dictionary, _usual()) if (place / "index.verb").is_file()), None)


def _usual() -> Iterable[Path]:
    if folder := os.environ.get("WNSEARCHDIR"):
        yield Path(folder)
    for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep):
        if folder:
            yield Path(folder) / "corpora" / "wordnet"
    for place in USUAL_PLACES:
        yield Path(place).expanduser()


def _dictionary(folder: Path) -> Path:
    """Princeton's own packages have the files in a folder `dict`."""
    return folder / "dict" if not (folder / "index.verb").is_file() and (folder / "dict").is_dir() else folder


def _folded(word: str) -> str:
    return "_".join(word.casefold().split())


def _read_part(folder: Path, pos: str) -> _Part:
    suffix = _FILES[pos]
    senses = {}
    for number, line in _lines(folder / f"index.{suffix}"):
        cells = line.split()
        try:
            count = int(cells[2])
            senses[cells[0]] = tuple(f"{offset}-{pos}" for offset in cells[-count:])
        except (IndexError, ValueError):
            raise _spoiled(folder / f"index.{suffix}", number, line) from None
    synsets: dict[str, Synset] = {}
    keys: dict[str, str] = {}
    for number, line in _lines(folder / f"data.{suffix}"):
        try:
            synset = _synset(line, pos, keys)
        except (IndexError, ValueError):
            raise _spoiled(folder / f"data.{suffix}", number, line) from None
        synsets[synset.name] = synset
    return _Part(senses, synsets, keys, _irregular(folder / f"{suffix}.exc"))


def _synset(line: str, pos: str, keys: dict[str, str]) -> Synset:
    """A line of a data file: offset, file number, kind, words with their ids, pointers, and the gloss after a bar."""
    fields, _, gloss = line.partition("|")
    cells = fields.split()
    name, count = f"{cells[0]}-{pos}", int(cells[3], 16)
    lemmas = []
    for place in range(4, 4 + 2 * count, 2):
        lemma = cells[place].partition("(")[0].lower()
        keys[f"{lemma}%{_NUMBERS[pos]}:{cells[1]}:{int(cells[place + 1], 16):02d}::"] = name
        lemmas.append(lemma)
    at = 5 + 2 * count
    links, derived = [], []
    for place in range(at, at + 4 * int(cells[at - 1]), 4):
        symbol, offset, part, words = cells[place : place + 4]
        other = f"{offset}-{'a' if part == 's' else part}"
        links.append((symbol, other))
        if symbol == "+" and words != "0000":
            derived.append((lemmas[int(words[:2], 16) - 1], other, int(words[2:], 16) - 1))
    return Synset(name, tuple(lemmas), tuple(links), gloss.strip(), tuple(derived))


def _irregular(path: Path) -> dict[str, tuple[str, ...]]:
    """Forms and lemmas from an optional file."""
    if not path.is_file():
        return {}
    rows = (line.split() for _, line in _lines(path))
    return {form: tuple(lemmas) for form, *lemmas in (row for row in rows if row)}


def _lines(path: Path) -> Iterable[tuple[int, str]]:
    """Lines with their numbers, without the licence at the start, whose lines begin with a space."""
    text = read_bytes(path).decode("utf-8", errors="replace")
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line and line[0] != " ")


def _spoiled(path: Path, number: int, line: str) -> Exception:
    return refused(path, number, "is not a valid line of WordNet", "Copy or install WordNet again", repr(line[:60]))
