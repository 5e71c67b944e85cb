"""Standalone HTML pages."""

from chorale import __version__
from chorale.metrics.score_html import html_text


def html_page(title: str, style: str, body: str) -> str:
    """A standalone HTML file without scripts or external resources. The body is already HTML."""
    return _PAGE.format(title=html_text(title), style=style, body=body, version=html_text(__version__))


def html_figure(caption: str, picture: str) -> str:
    """A picture that scrolls sideways on a narrow screen."""
    drawing = f'<div class="wide" tabindex="0">{picture}</div>'
    return f"<figure><figcaption>{html_text(caption)}</figcaption>{drawing}</figure>"


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
<footer>Made by Chorale {version}.</footer>
</body>
</html>
"""
