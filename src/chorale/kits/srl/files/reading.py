"""Reads semantic role files in all supported formats."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from chorale.files.blocks import ProblemReport, TooManyError, blocks
from chorale.files.source import MOST_PROBLEMS, Source, read_source, refused
from chorale.kits.srl.files.conllup import GLOBAL_COLUMNS, read_conllup, read_conllup_spans
from chorale.kits.srl.files.dependencies import read_conll09, read_conllu
from chorale.kits.srl.files.model import Corpus, Sentence
from chorale.kits.srl.files.ontonotes import read_conll12
from chorale.kits.srl.files.props import read_conll05
from chorale.model import Problem, UserError
from chorale.model.problems import did_you_mean

READERS: dict[str, Callable[[str, ProblemReport], Iterator[Sentence]]] = {
    "conll05": read_conll05,
    "conll09": read_conll09,
    "conll12": read_conll12,
    "conllu": read_conllu,
    "conllup": read_conllup,
    "conllup-spans": read_conllup_spans,
}
_TOKEN_NUMBER = re.compile(r"\d+([-.]\d+)?")
_BRACKETS = re.compile(r"(\([^*()\s]+)*\*([^*()\s]*\))*")


def read_srl(path: Path, format_name: str = "auto") -> Corpus:
    """Reads the sentences of a file, with their predicates and arguments."""
    return parse_srl(read_source(path), format_name)


def parse_srl(source: Source, format_name: str = "auto") -> Corpus:
    """Reads text in memory. `auto` detects the format from the first sentence."""
    name = detected(source) if format_name == "auto" else format_name
    if name not in READERS:
        meant = did_you_mean(name, ("auto", *READERS))
        raise UserError(f"unknown format {name!r}. Use auto, {', '.join(READERS)}.{meant}")
    report = ProblemReport(source.name)
    sentences: list[Sentence] = []
    with suppress(TooManyError):
        sentences.extend(READERS[name](source.text, report))
    if report.problems:
        _suspect_a_cut(source.text, report)
        raise UserError(f"{source.name} can't be used", report.problems)
    if not sentences:
        raise refused(source.name, None, "has no sentences", "Check the file name")
    return Corpus(source.name, name, source.digest, sentences)


def _suspect_a_cut(text: str, report: ProblemReport) -> None:
    """Suggests a truncated download if only the last sentence is invalid and no blank line follows it."""
    if text.endswith("\n\n"):
        return
    first_line = max((block.numbers[0] for block in blocks(text, comments=True)), default=None)
    if first_line is not None and all(
        problem.line is not None and problem.line >= first_line for problem in report.problems
    ):
        report.problems[0] = replace(
            report.problems[0],
            fix=f"{report.problems[0].fix} This is the last sentence and no blank line follows it: the file may be "
            "truncated. If so, download it again.",
        )


def detected(source: Source) -> str:
    """Detects the format of a file from its first sentence."""
    if source.text.startswith(GLOBAL_COLUMNS) and "UP:" in source.text.partition("\n")[0]:
        return "conllup"
    first = next(blocks(source.text, comments=True), None)
    if first is None:
        raise refused(source.name, None, "has no sentences", "Check the file name")
    rows = [line.split("\t") for line in first.lines]
    if _TOKEN_NUMBER.fullmatch(rows[0][0]):
        if len(rows[0]) >= 14 and all(len(row) > 10 and row[8].isdigit() and not row[6].isdigit() for row in rows):
            return "conll09"
        return "conllu"
    cells = [line.split() for line in first.lines]
    if all(len(row) > 11 and row[2] == str(index) and "*" in row[5] for index, row in enumerate(cells)):
        return "conll12"
    # A sentence without verbs has a single column of dashes. Lines without spaces have one column in any file.
    in_columns = any(len(row) > 1 for row in cells) or all(row == ["-"] for row in cells)
    if in_columns and all(row and all(_BRACKETS.fullmatch(cell) for cell in row[1:]) for row in cells):
        return "conll05"
    fix = f"Set --format to one of: {', '.join(READERS)}"
    if all("," in line for line in first.lines):
        fix = "It looks like a CSV file, but semantic roles are read from CoNLL files. Check the file name"
    raise refused(source.name, first.numbers[0], "is not in a supported format", fix, first.lines[0][:80])


def check_alignment(system: Corpus, gold: Corpus) -> None:
    """Raises an error if system and gold do not have the same sentences with the same tokens."""
    problems: list[Problem] = []
    for number, (theirs, ours) in enumerate(zip(system.sentences, gold.sentences, strict=False), 1):
        if difference := _difference(theirs, ours):
            message = f"differs from {gold.name}:{ours.line} in sentence {number}: {difference}"
            fix = "Give both files the same sentences in the same order, split into the same tokens."
            problems.append(Problem(system.name, theirs.line, message, fix))
            if len(problems) >= MOST_PROBLEMS:
                break
    if len(system.sentences) != len(gold.sentences):
        message = f"has {len(system.sentences):,} sentences, but {gold.name} has {len(gold.sentences):,}"
        problems.append(Problem(system.name, None, message, "Give both files the same sentences in the same order."))
    if problems:
        raise UserError(f"{system.name} and {gold.name} do not have the same sentences", problems)


def _difference(theirs: Sentence, ours: Sentence) -> str | None:
    if theirs.length != ours.length:
        return f"{theirs.length} tokens here and {ours.length} there"
    if theirs.forms != ours.forms and theirs.forms and ours.forms:
        places = zip(theirs.forms, ours.forms, strict=True)
        index, (here, there) = next((i, pair) for i, pair in enumerate(places, 1) if pair[0] != pair[1])
        return f"token {index} is {here!r} here and {there!r} there"
    return None
