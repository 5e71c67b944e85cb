"""A report's main part to paste into a paper: methods and tables, as Markdown or LaTeX."""

from collections.abc import Iterator

from chorale import __version__
from chorale.metrics.score_table import ScoreTable
from chorale.present.latex import latex_float, latex_text
from chorale.present.markdown import markdown_table, markdown_text
from chorale.report.document import Bullets, Drawn, Figure, PaperParagraph, Part, StudyReport


def report_markdown(report: StudyReport) -> str:
    """The main part, without its pictures."""
    blocks = [f"# {markdown_text(report.title)}", markdown_text(report.subtitle)]
    blocks += [_markdown(Bullets(list(report.notes)))] if report.notes else []
    for section in report.sections:
        if shown := [part for part in section.parts if not isinstance(part, Drawn)]:
            blocks += [f"## {markdown_text(section.title)}", *map(_markdown, shown)]
    return "\n\n".join([*blocks, f"Made by Chorale {__version__}."]) + "\n"


def _markdown(part: Part) -> str:
    match part:
        case str():
            return markdown_text(part)
        case Bullets():
            return "\n".join(f"- {markdown_text(line)}" for line in part.lines)
        case PaperParagraph():
            return f"### {markdown_text(part.heading)}\n\n{markdown_text(part.text)}"
        case Figure():
            return markdown_table(part.table)
        case Drawn():
            return markdown_text(part.caption)
    return markdown_table(part)


def report_latex(report: StudyReport) -> str:
    """The paragraphs on methods and the main tables, for a document that loads booktabs."""
    blocks = [
        f"% {latex_text(report.title)}\n% {latex_text(report.subtitle)} Made by Chorale {__version__}.\n"
        r"% In the preamble: \usepackage[T1]{fontenc}, \usepackage[utf8]{inputenc}, \usepackage{booktabs}"
    ]
    blocks += [f"% {latex_text(note)}" for note in report.notes]
    for section in report.sections:
        quoted = [part for part in section.parts if isinstance(part, PaperParagraph)]
        blocks += [rf"\paragraph{{{latex_text(part.heading)}.}} {latex_text(part.text)}" for part in quoted]
    numbers: dict[str, int] = {}
    for name, table in _tables(report):
        numbers[name] = numbers.get(name, 0) + 1
        blocks.append(latex_float(table, f"{name}-{numbers[name]}"))
    return "\n\n".join(blocks) + "\n"


def _tables(report: StudyReport) -> Iterator[tuple[str, ScoreTable]]:
    for section in report.sections:
        for part in section.parts:
            if isinstance(part, ScoreTable):
                yield section.name, part
            elif isinstance(part, Figure):
                yield section.name, part.table
