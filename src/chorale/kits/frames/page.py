"""Frame annotations as a self-contained HTML page or section, with charts and tables."""

from collections.abc import Sequence
from html import escape

from chorale.kits.frames.browsing import (
    BINS,
    FrameBrowsing,
    pairs_table,
    quality_tables,
    reason_tables,
    sentences_table,
    summary_table,
)
from chorale.metrics.score_html import html_table
from chorale.present.html import html_figure, html_page
from chorale.present.svg import PAGE_STYLE, Axis, Curve, curve_chart

_SHOWN = 40


def frames_section(browsing: FrameBrowsing, shown: int = _SHOWN) -> str:
    """The section of a frame study in a report, without page markup."""
    parts = [html_table(summary_table(browsing))]
    if histograms := browsing.histograms():
        parts.append(html_figure("Sentence quality: fraction of sentences by SQS", _histogram(histograms)))
    parts.append(html_table(pairs_table(browsing, shown)))
    parts += [html_table(table) for table in reason_tables(browsing, shown)]
    parts.append(html_table(sentences_table(browsing, shown)))
    parts += [html_table(table) for table in quality_tables(browsing, shown)]
    return "\n".join(parts)


def frames_page(browsing: FrameBrowsing, title: str, notes: Sequence[str] = (), shown: int = _SHOWN) -> str:
    """One self-contained HTML file without scripts."""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    body = f"<h1>{escape(title)}</h1>\n{f'<ul>{items}</ul>' if items else ''}\n{frames_section(browsing, shown)}"
    return html_page(title, _STYLE + PAGE_STYLE, body)


def _histogram(histograms: dict[str, list[int]]) -> str:
    """A histogram of each group, in fractions of the group: far more words are in FrameNet than not."""
    curves = []
    for group, (name, counts) in enumerate(histograms.items()):
        whole = sum(counts) or 1
        points = [
            (edge, count / whole) for place, count in enumerate(counts) for edge in (place / BINS, (place + 1) / BINS)
        ]
        curves.append(Curve(f"{name} ({whole:,})", points, group, dash=group))
    shares = Axis("fraction of sentences", lambda share: f"{share:.0%}", zero=True)
    return curve_chart("Histogram of SQS", curves, Axis("SQS", low=0, high=1), shares)


_STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5b6676; --line: #d5dbe3; --back: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --soft: #a3adbb; --line: #3a4452; --back: #14181f; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); max-width: 72rem;
  margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; }
.wide { overflow-x: auto; margin: 1.75rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
caption, figcaption { text-align: left; font-weight: 600; padding: 0.3rem 0; }
th, td { padding: 0.3rem 0.9rem 0.3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.text { min-width: 6rem; max-width: 30rem; }
th { color: var(--soft); font-weight: 500; } .text { text-align: left; } .number { text-align: right; }
figure { margin: 1.75rem 0; } figure .wide { margin: 0; }
svg { display: block; }
footer { color: var(--soft); font-size: 0.85rem; margin-top: 3rem; }
@media print { body { margin: 0; max-width: none; font-size: 10pt; } figure, tr { break-inside: avoid; } }
"""
