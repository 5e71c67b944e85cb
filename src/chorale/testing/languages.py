"""Sentences of worker pages: collecting them, and checking catalogues for missing translations.

`python -m chorale.testing.languages FOLDER LANGUAGE ...` collects the sentences in the sources below a folder and
brings the catalogues in its folder `catalogues` up to date: new sentences are added without a translation, and obsolete
ones are removed. Catalogues of the named languages are created. Without a folder, it updates Chorale's own.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from gettext import c2py
from io import BytesIO
from itertools import takewhile
from pathlib import Path
from typing import Any

from babel import Locale
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.pofile import write_po
from babel.plural import to_gettext
from jinja2.ext import babel_extract

from chorale.present.language import said_in
from chorale.present.languages import CATALOGUES
from chorale.present.translated import read_catalogue

FOLDER = "catalogues"
PACKAGE = CATALOGUES.parent.parent
KITS = PACKAGE / "kits"
_KEYWORDS: Mapping[str, Any] = {
    "say": None,
    "worded": None,
    "say_count": (2, 3),
    "counted": (2, 3),
    "sayCount": (2, 3),
}
_METHODS = {".py": "python", ".js": "javascript"}
_SAYS = re.compile(r"/say\.js\"|choraleSay")
"""Scripts with sentences in the study's language."""
_PLACEHOLDER = re.compile(r"\{\w*\}")


def sentences_in(folder: Path, *, without: Iterable[Path] = ()) -> Catalog:
    """The sentences in the sources below a folder, with the files they are in."""
    catalogue = Catalog(fuzzy=False)
    left_out = tuple(without)
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".js", ".html") and not any(path.is_relative_to(other) for other in left_out):
            for source in _sentences_of(path):
                catalogue.add(source, locations=[(path.relative_to(folder).as_posix(), 0)])
    return catalogue


def _sentences_of(path: Path) -> Iterator[str | tuple[str, ...]]:
    if path.suffix == ".js" and not _SAYS.search(path.read_text("utf-8")):
        return  # a different `say`, for the console, which is not translated
    with path.open("rb") as file:
        method: Any = _METHODS.get(path.suffix, babel_extract)
        for _, source, *_ in extract(method, file, _KEYWORDS):
            yield source if isinstance(source, str) else tuple(source)
    if path.suffix == ".html":
        yield from (source for source in said_in(path.read_text("utf-8")) if "{{" not in source)


def problems_of(catalogue: Catalog, sources: Catalog) -> list[str]:
    """Problems of a catalogue: missing translations, wrong placeholders or plural forms."""
    problems = []
    for message in sources:
        if not message.id:
            continue
        own = catalogue.get(message.id if isinstance(message.id, str) else message.id[0])
        name = message.id if isinstance(message.id, str) else message.id[0]
        if own is None or own.id != message.id:
            problems.append(f"missing: {name}")
        else:
            problems += [f"{problem}: {name}" for problem in _problems(own, catalogue)]
    extra = [own for own in catalogue if own.id and own.id not in sources]
    return problems + [f"not in the sources: {own.id}" for own in extra]


def _problems(message: Message, catalogue: Catalog) -> Iterator[str]:
    sources = [message.id] if isinstance(message.id, str) else list(message.id)
    forms = [message.string] if isinstance(message.string, str) else list(message.string or ())
    if not forms or not all(forms):
        yield "not translated"
        return
    if len(sources) == 2 and len(forms) != catalogue.num_plurals:
        yield f"has {len(forms)} plural forms and needs {catalogue.num_plurals}"
    in_sources = [set(_PLACEHOLDER.findall(source)) for source in sources]
    allowed, needed = set().union(*in_sources), in_sources[-1]
    for number, form in enumerate(forms):
        used = set(_PLACEHOLDER.findall(form))
        if len(sources) == 2:
            # The form for 1 may spell the number out.
            needed = in_sources[-1] - {"{count}"}
            needed = needed & in_sources[0] if number == c2py(str(catalogue.plural_expr))(1) else needed
        if not needed <= used <= allowed:
            yield f"has the placeholders {sorted(used)} and needs {sorted(needed)}"


def update(folder: Path, languages: Iterable[str] = (), *, without: Iterable[Path] = ()) -> list[Path]:
    """Update the catalogues of a folder's sources and create those of new languages; returns the files."""
    sources, place = sentences_in(folder, without=without), folder / FOLDER
    place.mkdir(exist_ok=True)
    return write_catalogues(sources, place, languages)


def write_catalogues(sources: Catalog, place: Path, languages: Iterable[str] = ()) -> list[Path]:
    """Write the catalogues of a folder with the current sentences, keeping their translations and their order."""
    paths = sorted({*place.glob("*.po"), *(place / f"{language}.po" for language in languages)})
    for path in paths:
        before = {message.id: message.string for message in read_catalogue(path)} if path.is_file() else {}
        now = Catalog(locale=Locale.parse(path.stem, sep="-"))
        now.mime_headers = [("Plural-Forms", plural_forms(now.locale))]  # Babel's own are not always Unicode's
        wanted = {message.id: message for message in sources if message.id}
        # Sentences that move from file to file stay where they are in the catalogue; new ones come last.
        for key in dict.fromkeys([*(key for key in before if key in wanted), *wanted]):
            message = now.add(key, before.get(key) or "", locations=wanted[key].locations)
            message.flags.clear()  # Babel's versions differ in the formats that they recognise
        write_catalogue(now, path)
    return paths


def write_catalogue(catalogue: Catalog, path: Path) -> None:
    """Write a catalogue. The comments at its top are kept, and it contains no date."""
    locale = Locale.parse(path.stem, sep="-")
    old = path.read_text("utf-8").splitlines() if path.is_file() else []
    notes = list(takewhile(lambda line: line.startswith("#"), old)) or [f"# Worker pages in {locale.english_name}"]
    header = [f"Language: {locale}", f"Plural-Forms: {plural_forms(locale)}", "Content-Type: text/plain; charset=utf-8"]
    written = BytesIO()
    write_po(written, catalogue, width=120, include_lineno=False, omit_header=True)
    head = "\n".join([*notes, 'msgid ""', 'msgstr ""', *(f'"{line}\\n"' for line in header)])
    path.write_text(f"{head}\n\n{written.getvalue().decode()}", "utf-8")


def plural_forms(locale: Locale) -> str:
    """The plural forms of a language for numbers below a thousand, in gettext's syntax, by Unicode's rules."""
    used = {locale.plural_form(number) for number in range(1000)}
    rules = {tag: rule for tag, rule in locale.plural_form.rules.items() if tag in used}
    return to_gettext(rules)


def update_own(languages: Iterable[str] = ()) -> list[Path]:
    """Update the catalogues of Chorale and its own kits; returns the files."""
    codes = list(languages)
    written = write_catalogues(sentences_in(PACKAGE, without=[KITS]), CATALOGUES, codes)
    for place in sorted(KITS.glob(f"*/{FOLDER}")):
        written += update(place.parent, codes)
    return written


def main(arguments: list[str]) -> None:
    if arguments and Path(arguments[0]).is_dir():
        written = update(Path(arguments[0]), arguments[1:])
    else:
        written = update_own(arguments)
    print(*written, sep="\n")  # noqa: T201 - a program


if __name__ == "__main__":
    main(sys.argv[1:])
