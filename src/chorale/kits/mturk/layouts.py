"""Mechanical Turk layouts: HTML pages with variables, filled from batch files."""

import re
from collections.abc import Mapping
from functools import lru_cache
from html.parser import HTMLParser
from typing import Any

from chorale.contract.fields import FieldKind
from chorale.contract.reading_time import ANSWER_SECONDS, FIELD_SECONDS, shown_seconds
from chorale.kits.mturk.liquid_layouts import fill_in_liquid, is_liquid, liquid_variables

MOST_LAYOUT = 1_000_000
"""Maximum length of a layout in characters."""
ADDED_BUTTON = "<button data-say>Submit</button>"
"""The button that Chorale adds to a layout. It is stored in English and shown in the study's language."""
_ELEMENT = re.compile(r"<(crowd-[a-z0-9-]+)", re.IGNORECASE)
_ANSWERED = frozenset(
    "crowd-" + name
    for name in (
        *("input", "text-area", "checkbox", "radio-group", "radio-button", "slider", "toggle-button"),
        *("classifier", "classifier-multi-select", "image-classifier", "image-classifier-multi-select"),
        *("entity-annotation", "text-ranking", "question-answer-generation"),
        *("bounding-box", "keypoint", "line", "polygon", "polyline"),
    )
)
_KNOWN = _ANSWERED | frozenset(
    "crowd-" + name
    for name in (
        *("form", "slider-label", "button"),
        *("alert", "badge", "card", "icon", "fab", "icon-button", "instructions", "modal", "tab", "tabs", "toast"),
    )
)
_SEVERAL_FIELDS = re.compile(
    r"<input\s[^<>]{0,1000}type\s*=\s*[\"']?checkbox|<select\s[^<>]{0,1000}multiple", re.IGNORECASE
)
_SEVERAL_ELEMENTS = re.compile(r"<crowd-[a-z-]{0,40}multi-select|<select\s[^<>]{0,1000}multiple", re.IGNORECASE)
_FORM = re.compile(r"<form[\s>]", re.IGNORECASE)
_BUTTON = re.compile(r"<button(?![^<>]{0,1000}type=[\"']?(?:button|reset))", re.IGNORECASE)
_SUBMIT = re.compile(
    r"<(?:button|input)\s[^<>]{0,1000}(?:type=[\"']?(?:submit|image)|value=[\"']?submit)|<button[^<>]{0,1000}>[^<]{0,100}\bsubmit\b",
    re.IGNORECASE,
)
_BODY = re.compile(r"<body(?:\s[^<>]{0,1000})?>", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\{([^{}\n]{1,200})\}")


def variables_in(layout: str) -> list[str]:
    """The variables of a layout, in order of first occurrence.

    >>> variables_in("<p>${word} in ${text}, ${ word }</p>")
    ['word', 'text']
    """
    if is_liquid(layout):
        return list(liquid_variables(layout))
    return [name for name in dict.fromkeys(map(str.strip, _VARIABLE.findall(layout))) if name]


def fill_in(layout: str, values: Mapping[str, str]) -> str:
    """A layout with its variables filled in. Values are not escaped: they may be HTML, and run in a sandbox.

    >>> fill_in("<p>${word}</p>", {"word": "<b>hull</b>"})
    '<p><b>hull</b></p>'
    """
    if is_liquid(layout):
        # In Liquid layouts, `${…}` belongs to a script.
        return fill_in_liquid(layout, values)
    return _VARIABLE.sub(
        lambda variable: values.get(variable[1].strip(), "") if variable[1].strip() else variable[0], layout
    )


def unknown_elements(layout: str) -> list[str]:
    """Unsupported Amazon elements in a layout, such as semantic segmentation.

    >>> unknown_elements("<crowd-form><crowd-semantic-segmentation /><crowd-line /><!-- <crowd-x> --></crowd-form>")
    ['crowd-semantic-segmentation']
    """
    return sorted({name.lower() for name in _ELEMENT.findall(_without_comments(layout))} - _KNOWN)


def answer_elements(layout: str) -> tuple[str, ...]:
    """Amazon's elements that people fill in, in order of first occurrence.

    >>> answer_elements("<crowd-form><crowd-card>Red?</crowd-card><crowd-input name=a /><crowd-input name=b />")
    ('<crowd-input>',)
    """
    names = dict.fromkeys(name.lower() for name in _ELEMENT.findall(_without_comments(layout)))
    return tuple(f"<{name}>" for name in names if name in _ANSWERED)


def may_be_empty(layout: str) -> bool:
    """Whether an empty answer can be intentional, for example with no box ticked.

    Rows or scripts may add fields that are unknown here, so the answer to a page without fields may be empty too.

    >>> may_be_empty("<input type=checkbox name=a>"), may_be_empty("<input type=radio name=a>"), may_be_empty("<p>")
    (True, False, True)
    """
    shown = _without_comments(layout)
    if re.search("<crowd-form", shown, re.IGNORECASE):
        # Without the format `flatten-objects`, the form always submits the field `taskAnswers`.
        return "flatten-objects" in shown and _SEVERAL_ELEMENTS.search(shown) is not None
    return not _read(shown).fields or _SEVERAL_FIELDS.search(shown) is not None


def hidden_fields(layout: str) -> list[str]:
    """Hidden fields of a layout, which its scripts fill in, in addition to the fields that people fill in.

    Empty if all fields are hidden, because scripts then write people's answers into the hidden fields.

    >>> hidden_fields("<input type=hidden name=at><!-- <input type=hidden name=old> --><input type=radio name=red>")
    ['at']
    >>> hidden_fields("<div id=drawing></div><input type=hidden name=strokes>")
    []
    """
    reader = _read(layout)
    return reader.hidden if reader.fields else []


def chosen_fields(layout: str) -> list[str]:
    """Fields in which people choose an answer: without hidden fields and text fields.

    >>> chosen_fields("<input type=radio name=red><!-- <select name=old> --><textarea name=comment></textarea>")
    ['red']
    """
    return [name for name, kind in _read(layout).fields.items() if kind is not FieldKind.TEXT]


def written_fields(layout: str) -> list[str]:
    """Fields in which people write a text, such as comments.

    >>> written_fields("<input type=radio name=red><textarea name=comment></textarea>")
    ['comment']
    """
    return [name for name, kind in _read(layout).fields.items() if kind is FieldKind.TEXT]


def in_form(layout: str) -> str:
    """Adds a missing form and Submit button to a layout, as Mechanical Turk did for layouts with an ID.

    >>> in_form("<input name=word>")
    '<form id="mturk_form" method="post"><input name=word><p><button data-say>Submit</button></p></form>'
    >>> in_form("<form><input name=word></form>")
    '<form><input name=word><p><button data-say>Submit</button></p></form>'
    """
    shown = _without_comments(layout)
    if _ELEMENT.search(shown):
        # Amazon's elements have their own form and button.
        return layout
    own = bool(_FORM.search(shown))
    # In the layout's own form, every button submits. In an added form, a button may do anything.
    added = "" if _SUBMIT.search(shown) or (own and _BUTTON.search(shown)) else f"<p>{ADDED_BUTTON}</p>"
    body = _BODY.search(layout)
    start = body.end() if body and not own else 0
    # Not in `layout.lower()`, which can change the length of the text.
    ends = [found.start() for found in re.finditer("</form>" if own else "</body>", layout, re.IGNORECASE)]
    stop = ends[-1] if ends and ends[-1] >= start else len(layout)
    before, inside, after = layout[:start], layout[start:stop], layout[stop:]
    if own:
        return inside + added + after
    return f'{before}<form id="mturk_form" method="post">{inside}{added}</form>{after}'


def cannot_submit(html: str) -> bool:
    """Whether a page cannot be submitted, because it has neither a form nor a script.

    >>> cannot_submit("<input name=word>"), cannot_submit("<form><button>Submit</button></form>")
    (True, False)
    """
    shown = _without_comments(html)
    return not (_FORM.search(shown) or _ELEMENT.search(shown) or "<script" in shown.lower())


def _without_comments(layout: str) -> str:
    first, *rest = layout.split("<!--")
    return first + "".join(piece.partition("-->")[2] for piece in rest)


def readable(html: str) -> dict[str, Any]:
    """The readable content of a page, without scripts, styles and comments: texts and images.

    >>> readable("<style>p { color: red }</style><p>Is it <b>red</b>?</p><img src='/a'><script>let a = 1;</script>")
    {'texts': ['Is it', 'red', '?'], 'pictures': ['data:image/']}
    """
    reader = _read(html)
    return {"texts": reader.texts, "pictures": ["data:image/"] * reader.pictures}


@lru_cache(maxsize=64)
def seconds_of(html: str) -> float:
    """Minimum time for a page: to read it and fill in each of its fields once.

    >>> page = "<p>Is it red?</p><input type=radio name=red value=y><input type=radio name=red value=n>"
    >>> round(seconds_of(page), 1), round(seconds_of(page + "<textarea name=why></textarea>"), 1)
    (3.3, 8.3)
    """
    return (
        shown_seconds(readable(html))
        + ANSWER_SECONDS
        + sum(FIELD_SECONDS[kind] for kind in _read(html).fields.values())
    )


def _read(html: str) -> "_LayoutReader":
    reader = _LayoutReader()
    reader.feed(html)
    reader.close()
    return reader


_WRITTEN = frozenset(("textarea", "crowd-input", "crowd-text-area"))
_FIELDS = frozenset(("input", "select", "textarea"))
_NO_FIELDS = frozenset(("crowd-button", "crowd-form"))
_WRITTEN_TYPES = frozenset(("email", "number", "search", "tel", "text", "url"))
_NO_FIELD_TYPES = frozenset(("button", "hidden", "image", "reset", "submit"))


def _field_kind(tag: str, given: Mapping[str, str | None]) -> FieldKind | None:
    """Input type of a field, or None if the element is not a field."""
    if not given.get("name") or tag in _NO_FIELDS or not (tag in _FIELDS or tag.startswith("crowd-")):
        return None
    kind = (given.get("type") or "text").lower() if tag == "input" else ""
    if kind in _NO_FIELD_TYPES:
        return None
    return FieldKind.TEXT if tag in _WRITTEN or kind in _WRITTEN_TYPES else FieldKind.LABEL


class _LayoutReader(HTMLParser):
    _UNREAD = frozenset(("script", "style", "template", "title"))
    _SHOWN = frozenset(("header", "instructions", "label", "text"))

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.pictures = 0
        self.fields: dict[str, FieldKind] = {}
        self.hidden: list[str] = []
        self._unread = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._unread += tag in self._UNREAD
        if (kind := _field_kind(tag, given)) is not None:
            self.fields[given["name"] or ""] = kind
        if tag == "input" and (given.get("type") or "").lower() == "hidden" and given.get("name"):
            self.hidden.append(given["name"] or "")
        self.pictures += tag == "img" or (tag.startswith("crowd-") and "src" in given)
        if tag.startswith("crowd-"):
            self.texts += [value for name, value in given.items() if name in self._SHOWN and value]

    def handle_endtag(self, tag: str) -> None:
        if tag in self._UNREAD and self._unread:
            self._unread -= 1

    def handle_data(self, data: str) -> None:
        if not self._unread and data.strip():
            self.texts.append(data.strip())
