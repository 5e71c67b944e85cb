"""A report as one HTML file: no scripts, nothing to load, and made to be printed as well."""

import json
from collections.abc import Iterator, Sequence
from html import escape

from chorale import __version__
from chorale.metrics.score_html import html_table, html_text
from chorale.present.html import html_figure
from chorale.present.svg import PAGE_STYLE
from chorale.report.document import Bullets, Drawn, Figure, PaperParagraph, Part, Section, StudyReport


def report_page(report: StudyReport) -> str:
    """The whole report: its main part, and the appendix in parts that open with a click."""
    main = [section for section in report.sections if section.parts]
    details = [section for section in report.sections if section.details]
    contents = "".join(f'<li><a href="#{one.name}">{html_text(one.title)}</a></li>' for one in main)
    if details:
        contents += '<li><a href="#appendix">Appendix</a></li>'
    body = [
        _header(report),
        f'<nav aria-label="Contents"><ol>{contents}</ol></nav>',
        "<main>",
        *(_section(section) for section in main),
        *(_appendix(details, main) if details else ()),
        "</main>",
    ]
    return _page(report, body)


def appendix_page(report: StudyReport) -> str:
    """The appendix alone, with every part open: to be printed as a file of its own."""
    details = [section for section in report.sections if section.details]
    body = [
        _header(report, "Appendix to the report. "),
        "<main>",
        *(_opened(section.name, section.title, section.details) for section in details),
        "</main>",
    ]
    return _page(report, body)


def _header(report: StudyReport, before: str = "") -> str:
    notes = "".join(f"<li>{html_text(note)}</li>" for note in report.notes)
    listed = f'\n<ul class="notes">{notes}</ul>' if notes else ""
    return f"<header><h1>{html_text(report.title)}</h1><p>{before}{html_text(report.subtitle)}</p>{listed}</header>"


def _page(report: StudyReport, body: Sequence[str]) -> str:
    # Inside a script element, only these characters could end it or begin a comment.
    metadata = json.dumps(report.croissant, ensure_ascii=True, indent=1).replace("<", "\\u003c").replace(">", "\\u003e")
    return _PAGE.format(
        title=html_text(report.title),
        style=_STYLE + PAGE_STYLE,
        body="\n".join(body),
        metadata=metadata,
        version=escape(__version__),
    )


def _section(section: Section) -> str:
    return _opened(section.name, section.title, section.parts)


def _opened(name: str, title: str, shown: Sequence[Part]) -> str:
    parts = "\n".join(map(_part, shown))
    return (
        f'<section id="{name}" aria-labelledby="{name}-title">\n'
        f'<h2 id="{name}-title">{html_text(title)}</h2>\n{parts}\n</section>'
    )


def _appendix(details: Sequence[Section], main: Sequence[Section]) -> Iterator[str]:
    yield (
        '<section id="appendix" aria-labelledby="appendix-title">\n<h2 id="appendix-title">Appendix</h2>\n'
        "<p>Details for checking and repeating the study. On screen, select a heading to open it. "
        '<code>chorale report --appendix FILE</code> writes the whole appendix as a PDF.</p>\n<div class="folded">'
    )
    taken = {section.name for section in main}
    for section in details:
        name = f"{section.name}-details" if section.name in taken else section.name
        parts = "\n".join(map(_part, section.details))
        yield f'<details id="{name}"><summary>{html_text(section.title)}</summary>\n{parts}\n</details>'
    yield "</div></section>"


def _part(part: Part) -> str:
    match part:
        case str():
            return f"<p>{html_text(part)}</p>"
        case Bullets():
            return "<ul>" + "".join(f"<li>{html_text(line)}</li>" for line in part.lines) + "</ul>"
        case PaperParagraph():
            return f"<h3>{html_text(part.heading)}</h3><p>{html_text(part.text)}</p>"
        case Drawn():
            return html_figure(part.caption, part.svg)
        case Figure():
            drawing = "" if part.svg is None else html_figure(part.caption, part.svg) + "\n"
            return drawing + html_table(part.table)
    return html_table(part)


_STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #566172; --line: #d5dbe3; --back: #fff; --mark: #0b5fa5;
  --card: #f4f6f9; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --soft: #a9b3c1; --line: #3a4452; --back: #14181f; --mark: #8abdf0; --card: #1d232d; }
}
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--back); max-width: 54rem;
  margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word; }
a { color: var(--mark); }
header p { color: var(--soft); margin-top: 0; }
h1 { font-size: 1.7rem; line-height: 1.25; margin-bottom: 0.3rem; }
h2 { font-size: 1.25rem; margin-top: 2.8rem; padding-top: 0.6rem; border-top: 1px solid var(--line); }
nav ol { columns: 15rem; padding-left: 1.4rem; }
.notes { background: var(--card); border-left: 3px solid var(--mark); padding: 0.7rem 1rem 0.7rem 2rem; }
.wide { overflow-x: auto; margin: 1.2rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
caption, figcaption { text-align: left; font-weight: 600; padding: 0.3rem 0; }
th, td { padding: 0.25rem 1rem 0.25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 500; } .text { text-align: left; max-width: 26rem; overflow-wrap: break-word;
  white-space: pre-wrap; }
@media (min-width: 44rem) { caption { white-space: nowrap; } }
.number { text-align: right; } .interval { white-space: nowrap; display: inline-block; }
th:first-child, td:first-child { min-width: 9rem; }
figure { margin: 1.5rem 0; } figure .wide { margin: 0.4rem 0; }
figcaption { font-weight: 400; max-width: 46rem; } figure svg { display: block; }
h3 { font-size: 1rem; margin: 1.2rem 0 0; } h3 + p { margin-top: 0.3rem; max-width: 46rem; }
details { border-bottom: 1px solid var(--line); } summary { font-weight: 600; padding: 0.6rem 0; cursor: pointer; }
summary:focus-visible { outline: 2px solid var(--mark); }
footer { color: var(--soft); font-size: 0.85rem; margin-top: 3rem; }
@page { size: A4; margin: 18mm 16mm; }
@media print {
  :root { --ink: #000; --soft: #444; --line: #bbb; --back: #fff; --mark: #0b5fa5; --card: #f4f6f9; }
  body { margin: 0; max-width: none; padding: 0; font-size: 10pt; }
  .wide { overflow: visible; } table { font-size: 8.5pt; line-height: 1.35; }
  th, td { padding: 0.1rem 0.6rem 0.1rem 0; }
  nav { display: none; } h2, h3, caption, figcaption { break-after: avoid; }
  p:has(+ .wide), p:has(+ ul) { break-after: avoid; }
  h2 { margin-top: 1.4rem; padding-top: 0.4rem; font-size: 12.5pt; } h1 { font-size: 16pt; margin-top: 0; }
  .wide, figure { margin: 0.7rem 0; } summary { padding: 0.15rem 0; font-weight: 400; list-style: none; }
  details { border: 0; } .folded { columns: 3; break-inside: avoid; }
  figure, tr, p, li, summary { break-inside: avoid; } thead { display: table-header-group; }
  .wide:not(:has(tbody tr:nth-child(22))) { break-inside: avoid; }
  figure svg { max-width: 100%; max-height: 205mm; width: auto; height: auto; }
  a { color: inherit; text-decoration: none; }
  .notes { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Report: {title}</title>
<style>{style}</style>
<script type="application/ld+json">
{metadata}
</script>
</head>
<body>
{body}
<footer>Made by Chorale {version}. Recompute every number with chorale verify and chorale report.</footer>
</body>
</html>
"""
