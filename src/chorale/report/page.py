"""A report as one HTML file: no scripts, nothing to load, and made to be printed as well."""

import json
from html import escape

from chorale import __version__
from chorale.metrics.score_html import html_table, html_text
from chorale.present.html import html_figure
from chorale.present.svg import PAGE_STYLE
from chorale.report.document import Bullets, Drawn, Figure, Part, Quoted, Section, StudyReport


def report_page(report: StudyReport) -> str:
    contents = "".join(f'<li><a href="#{one.name}">{html_text(one.title)}</a></li>' for one in report.sections)
    notes = "".join(f"<li>{html_text(note)}</li>" for note in report.notes)
    body = [
        f"<header><h1>{html_text(report.title)}</h1><p>{html_text(report.subtitle)}</p></header>",
        f'<nav aria-label="Contents"><ol>{contents}</ol></nav>',
        f'<ul class="notes">{notes}</ul>' if notes else "",
        "<main>",
        *(_section(section) for section in report.sections),
        "</main>",
    ]
    # Inside a script element, only these characters could end it or begin a comment.
    metadata = json.dumps(report.croissant, ensure_ascii=True, indent=1).replace("<", "\\u003c").replace(">", "\\u003e")
    return _PAGE.format(
        title=html_text(report.title),
        style=_STYLE + PAGE_STYLE,
        body="\n".join(part for part in body if part),
        metadata=metadata,
        version=escape(__version__),
    )


def _section(section: Section) -> str:
    parts = "\n".join(_part(part) for part in section.parts)
    return f'<section id="{section.name}" aria-labelledby="{section.name}-title">\n' + (
        f'<h2 id="{section.name}-title">{html_text(section.title)}</h2>\n{parts}\n</section>'
    )


def _part(part: Part) -> str:
    match part:
        case str():
            return f"<p>{html_text(part)}</p>"
        case Bullets():
            return "<ul>" + "".join(f"<li>{html_text(line)}</li>" for line in part.lines) + "</ul>"
        case Quoted():
            return f"<blockquote><p>{html_text(part.text)}</p></blockquote>"
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
.number { text-align: right; } td.number { white-space: nowrap; }
figure { margin: 1.5rem 0; } figure .wide { margin: 0.4rem 0; }
figure svg { display: block; }
blockquote { margin: 1.2rem 0; padding: 0.2rem 1.2rem; background: var(--card); border-left: 3px solid var(--mark); }
footer { color: var(--soft); font-size: 0.85rem; margin-top: 3rem; }
@page { size: A4; margin: 18mm 16mm; }
@media print {
  :root { --ink: #000; --soft: #444; --line: #bbb; --back: #fff; --mark: #0b5fa5; --card: #f4f6f9; }
  body { margin: 0; max-width: none; padding: 0; font-size: 10pt; }
  .wide { overflow: visible; } table { font-size: 8.5pt; } th, td { padding-right: 0.6rem; }
  nav { display: none; } h2, caption, figcaption { break-after: avoid; }
  p:has(+ .wide), p:has(+ ul) { break-after: avoid; }
  figure, table, tr, p, li, blockquote, #verification { break-inside: avoid; }
  figure svg { max-width: 100%; max-height: 205mm; width: auto; height: auto; }
  a { color: inherit; text-decoration: none; }
  blockquote, .notes { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
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
<footer>Made by chorale {version}. Every number here can be computed again: chorale verify, chorale report.</footer>
</body>
</html>
"""
