"""Reads sentences from plain text, rows (JSONL, JSON or CSV), or CoNLL-U. Given tokens and tags are kept unchanged."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chorale.files.blocks import Block, ProblemReport, TooManyError, check_numbering, table_of
from chorale.files.rows import read_rows, suffix_of
from chorale.files.source import MOST_PROBLEMS, read_source
from chorale.model import Problem, UserError
from chorale.model.plural import plural

CONLLU = (".conllu", ".conllup", ".conll")
ROWS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
TEXT = (".txt", ".text", ".md", "")
MOST_TOKENS = 500
"""Maximum number of tokens of a sentence that can be shown. Longer ones are left out later, and do not stop a file."""
LONGEST_TOKEN = 200
LONGEST_ID = 180
LONGEST_TEXT = 100_000
"""Maximum length in characters of a text to split into sentences, which is processed in memory."""
IDS = ("sentence_id", "id", "sentenceId")
_TOKENS = ("tokens", "sentenceTokens")
_COLUMNS, _FEWEST_COLUMNS = 10, 8
_EMPTY = "_"
_SENT_ID = re.compile(r"#\s*sent_id\s*=\s*(.*\S)")


@dataclass(frozen=True, slots=True)
class GivenSentence:
    """One sentence, or a text to be split into sentences."""

    name: str
    line: int
    text: str = ""
    """Text to be split into tokens, and into sentences unless it is one."""
    is_one: bool = True
    tokens: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()
    upos: tuple[str, ...] = ()
    """Parts of speech, if given for all tokens."""
    relations: tuple[str, ...] = ()
    verbs: tuple[int, ...] | None = None
    """The tokens to ask about, if the file says so."""


def read_given(path: Path, *, one_per_line: bool = False, ids: Sequence[str] = IDS) -> list[GivenSentence]:
    """The sentences of a file, in the format given by its name.

    One error lists all problems. `ids` are columns that may have the sentence's id, in order of priority.
    """
    report = ProblemReport(str(path))
    suffix = suffix_of(path)
    sentences: list[GivenSentence] = []
    try:
        if suffix in CONLLU:
            sentences = list(_conllu(path, report))
        elif suffix in ROWS:
            sentences = list(_rows(path, report, ids))
        elif suffix in TEXT:
            sentences = list(_texts(path, one_per_line=one_per_line))
        else:
            report(None, "has an unsupported format", f"Use {', '.join((*TEXT[:1], *ROWS, CONLLU[0]))}.",
                   suffix)  # fmt: skip
        _check(sentences, report)
    except TooManyError:
        pass
    if not sentences and not report.problems:
        report.problems.append(Problem(str(path), None, "has no sentences", "Check the file name."))
    if report.problems:
        raise UserError(f"{path} can't be used", report.problems)
    return sentences


def _check(sentences: list[GivenSentence], report: ProblemReport) -> None:
    lines: dict[str, int] = {}
    for sentence in sentences:
        if lines.setdefault(sentence.name, sentence.line) != sentence.line:
            message = f"has the same id as the sentence in line {lines[sentence.name]}"
            report(sentence.line, message, "Give every sentence a unique id.", sentence.name)
        if len(sentence.text) > LONGEST_TEXT:
            fix = f"Put a blank line between paragraphs, or give texts of up to {LONGEST_TEXT:,} characters."
            report(sentence.line, f"begins a text of {len(sentence.text):,} characters", fix)
        if not (len(sentence.name) <= LONGEST_ID and sentence.name.isprintable() and sentence.name.strip()):
            fix = f"Use 1 to {LONGEST_ID} printable characters."
            report(sentence.line, "has an invalid id", fix, sentence.name)


# Plain text


def _texts(path: Path, *, one_per_line: bool) -> Iterator[GivenSentence]:
    """Paragraphs, separated by blank lines; or lines."""
    stem = path.name.partition(".")[0] or "text"
    paragraphs: list[tuple[int, list[str]]] = []
    is_new = True
    for number, line in enumerate(read_source(path).text.split("\n"), 1):
        words = line.split()
        if words and (is_new or one_per_line):
            paragraphs.append((number, words))
        elif words:
            paragraphs[-1][1].extend(words)
        is_new = not words
    for count, (number, words) in enumerate(paragraphs, 1):
        yield GivenSentence(f"{stem}:{count}", number, " ".join(words), is_one=one_per_line)


# Rows


def _rows(path: Path, report: ProblemReport, ids: Sequence[str]) -> Iterator[GivenSentence]:
    problems: list[Problem] = []
    stem = path.name.partition(".")[0] or "row"
    for number, row in enumerate(read_rows(path, shown_as=str(path), problems=problems), 1):
        name = next((str(row.values[key]).strip() for key in ids if str(row.values.get(key, "")).strip()), "")
        sentence = _of_row(row.values, name or f"{stem}:{number}", row.line, report)
        if sentence is not None:
            yield sentence
        if len(problems) >= MOST_PROBLEMS:
            break
    report.problems[:] = sorted([*problems, *report.problems], key=lambda problem: problem.line or 0)[:MOST_PROBLEMS]


def _of_row(values: dict[str, Any], name: str, line: int, report: ProblemReport) -> GivenSentence | None:
    tokens = next((values[key] for key in _TOKENS if values.get(key)), None)
    if tokens is not None:
        split = tokens.split() if isinstance(tokens, str) else tokens
        if not isinstance(split, list) or not all(isinstance(token, str) for token in split):
            report(line, "has tokens that are not a list of texts", 'Write "tokens": ["A", "dog", "ran"].',
                   str(tokens))  # fmt: skip
            return None
        verbs = _verbs_of(values, len(split), line, report)
        return GivenSentence(name, line, tokens=_sound(split, line, report), verbs=verbs)
    for key in ("sentence", "text"):
        if isinstance(values.get(key), str) and values[key].strip():
            if "verb_index" in values or "verb_indices" in values:
                report(line, "has a verb index, but no tokens", "Give tokens as a list.")
                return None
            return GivenSentence(name, line, " ".join(values[key].split()), is_one=key == "sentence")
    columns = f"columns {', '.join(map(str, values))}"
    report(line, "has no tokens, sentence or text", 'Write one of them: "sentence": "A dog ran."', columns)
    return None


def _verbs_of(values: dict[str, Any], length: int, line: int, report: ProblemReport) -> tuple[int, ...] | None:
    if "verb_indices" not in values and "verb_index" not in values:
        return None
    given = values["verb_indices"] if "verb_indices" in values else [values["verb_index"]]
    indices = []
    for index in given if isinstance(given, list) else [given]:
        number = int(index) if isinstance(index, str) and re.fullmatch(r"[0-9]{1,6}", index) else index
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < length:
            fix = f"The sentence has {length} tokens, counted from 0: the last is {length - 1}."
            report(line, "has a verb index that is not a token", fix, str(index))
        else:
            indices.append(number)
    return tuple(dict.fromkeys(indices))


def _sound(tokens: list[str], line: int, report: ProblemReport) -> tuple[str, ...]:
    if not tokens:
        report(line, "has no tokens", 'Write "tokens": ["A", "dog", "ran"].')
    for token in tokens:
        if not token.strip() or not set(token).isdisjoint(" \t\n\r"):
            fix = "A token has at least 1 character and no space in it."
            report(line, "has an invalid token", fix, token)
            break
    return tuple(tokens)


# CoNLL-U


def _conllu(path: Path, report: ProblemReport) -> Iterator[GivenSentence]:
    stem = path.name.partition(".")[0] or "sentence"
    for number, (name, block) in enumerate(_named_blocks(read_source(path).text), 1):
        # Additional columns of other formats are ignored.
        rows = [row.rstrip().split("\t")[:_COLUMNS] for row in block.lines]
        table = table_of(rows, block.numbers, report)
        if table is None:
            continue
        if len(table) < _FEWEST_COLUMNS:
            fix = "Give the ten columns of CoNLL-U, separated by tabs."
            report(block.numbers[0], f"has only {plural(len(table), 'column', 'columns')}", fix, block.lines[0])
        elif check_numbering(table[0], block.numbers, report):
            known = _EMPTY not in table[3]
            yield GivenSentence(
                name or f"{stem}:{number}",
                block.numbers[0],
                tokens=_sound(list(table[1]), block.numbers[0], report),
                lemmas=table[2],
                upos=table[3] if known else (),
                relations=table[7],
            )


def _named_blocks(text: str) -> Iterator[tuple[str, Block]]:
    """Sentences with their ids. Multiword tokens (1-2) and empty nodes (1.1) are left out."""
    name, block = "", Block([], [])
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if not line.strip():
            if block.lines:
                yield name, block
            name, block = "", Block([], [])
        elif line.startswith("#"):
            sent_id = _SENT_ID.match(line)
            name = sent_id[1] if sent_id else name
        elif not re.match(r"\d+[-.]\d+\t", line):
            block.lines.append(line)
            block.numbers.append(number)
