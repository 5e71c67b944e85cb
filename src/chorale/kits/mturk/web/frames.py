"""Third-party pages in sandboxed frames without an origin, isolated from the site."""

import re
from html import escape
from typing import Any

from fastapi.responses import HTMLResponse

from chorale.kits.mturk.api.answers import OTHER
from chorale.kits.mturk.api.questions import HIGHEST, LOWEST, Choice, Content, FormQuestion, Page, QuestionForm
from chorale.kits.mturk.layouts import ADDED_BUTTON
from chorale.present.language import Language, translated_html
from chorale.web.pages import Pages, static_url

SUBMIT_PATH = "/mturk/externalSubmit"
SANDBOX = "allow-scripts allow-forms allow-popups allow-modals"
DEFAULT_HEIGHT = 600
# Old layouts load scripts and styles from anywhere. The sandbox allows that: the page has its own origin, so it has no
# cookies of the site and cannot access the site or the surrounding page.
POLICY = (
    f"sandbox {SANDBOX}; default-src 'none'; script-src * data: blob: 'unsafe-inline' 'unsafe-eval'; "
    "style-src * data: 'unsafe-inline'; img-src * data: blob:; font-src * data:; media-src * data: blob:; "
    "connect-src *; frame-src https: http:; form-action 'self'; frame-ancestors 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "SAMEORIGIN",
    # No referrer either: linked pages on other sites learn nothing about workers.
    "Referrer-Policy": "no-referrer",
}
_SUBMIT = re.compile(r"https?://(?:www|workersandbox)\.mturk\.com/mturk/externalSubmit", re.IGNORECASE)
# The scripts for Amazon's larger elements.
_ELEMENTS = ("mturk/crowd-text.js", "drawing.js", "mturk/crowd-drawing.js")
# Bounded, so that no page makes the search slow.
_HELPER = re.compile(r"""(?:https?:)?//[^"'\s<>]{0,200}/externalHIT_v1\.js""", re.IGNORECASE)
_CROWD = re.compile(r"""(?:https?:)?//[^"'\s<>]{0,200}/crowd-html-elements[\w.-]{0,40}\.js""", re.IGNORECASE)
_HEAD = re.compile(r"<head(?:\s[^>]{0,1000})?>", re.IGNORECASE)
_ROOT = re.compile(r"<html(?:\s[^>]{0,1000})?>", re.IGNORECASE)


def framed(html: str) -> HTMLResponse:
    return HTMLResponse(html, headers=HEADERS)


def page_html(page: Page, root: str = "", pages: Pages | None = None) -> str:
    """An HTMLQuestion as a page that submits to this site. `root` is the path of the study.

    With the study's `pages`, Chorale's own texts are in the study's language.
    """
    html = _HELPER.sub(static_url("mturk/frame.js"), _SUBMIT.sub(root + SUBMIT_PATH, page.html))
    html = _CROWD.sub(static_url("mturk/crowd.js"), html)
    language = pages.language if pages else Language()
    html = html.replace(ADDED_BUTTON, translated_html(ADDED_BUTTON, language.say))
    script = _helper(root)
    if "<crowd-" in html.lower():
        script = _scripts(pages.sentences_url if pages else None) + script + _scripts(*map(static_url, _ELEMENTS))
    for pattern in (_HEAD, _ROOT):
        if tag := pattern.search(html):
            return html[: tag.end()] + script + html[tag.end() :]
    return _document(script + html, language)


def _helper(root: str) -> str:
    """The script tags of a frame; the first contains the path of the study."""
    own = f'<script src="{static_url("mturk/frame.js")}" data-root="{escape(root)}"></script>'
    return own + _scripts(static_url("presses.js"))


def _scripts(*addresses: str | None) -> str:
    return "".join(f'<script src="{escape(address)}"></script>' for address in addresses if address)


def _document(inside: str, language: Language) -> str:
    style = static_url("mturk/frame.css")
    title = escape(language.say("Task"))
    return (
        f'<!doctype html>\n<html lang="{language.code}" dir="{language.direction}"><head><meta charset="utf-8">'
        f"<title>{title}</title>"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="stylesheet" href="{style}"></head><body>{inside}</body></html>'
    )


def shell_html() -> str:
    """An empty page that the surrounding page fills."""
    return _document(_scripts(static_url("mturk/shell.js")), Language())


def form_html(form: QuestionForm, assignment: str, root: str = "", language: Language | None = None) -> str:
    """A QuestionForm as an HTML page. `root` is the path of the study."""
    language = language or Language()
    overview = "".join(map(_content, form.overview))
    asked = "".join(_asked(question, escape(language.say("Other:"))) for question in form.asked)
    return _document(
        f'{_helper(root)}<main><form method="post" action="{escape(root + SUBMIT_PATH)}" id="mturk_form">'
        f'<input type="hidden" name="assignmentId" value="{escape(assignment)}">{overview}{asked}'
        f'<p><button type="submit">{escape(language.say("Submit"))}</button></p></form></main>',
        language,
    )


def _content(content: Content) -> str:
    match content.kind:
        case "title":
            return f"<h2>{escape(content.text)}</h2>"
        case "text":
            return f"<p>{escape(content.text)}</p>"
        case "list":
            return "<ul>" + "".join(f"<li>{escape(entry)}</li>" for entry in content.entries) + "</ul>"
        case "image":
            return f'<p><img src="{escape(content.text)}" alt="{escape(content.entries[0])}"></p>'
        case "html":
            return f"<div>{content.text}</div>"


def _asked(asked: FormQuestion, other: str) -> str:
    content = "".join(map(_content, asked.content))
    name = f"<legend>{escape(asked.name)}</legend>" if asked.name else ""
    return f"<fieldset>{name}{content}{_field(asked, other)}</fieldset>"


def _field(asked: FormQuestion, other: str) -> str:
    label = asked.name or asked.identifier
    if asked.choices is None:
        return _text_field(asked, label)
    several = asked.most > 1
    if asked.style == "dropdown" and not several:
        options = "".join(
            f'<option value="{escape(choice.identifier)}">{escape(choice.label)}</option>' for choice in asked.choices
        )
        rules = {"name": asked.identifier, "aria-label": label, "required": "" if asked.required else None}
        return f'<p><select{_attributes(rules)}><option value=""></option>{options}</select></p>'
    choices = "".join(_choice(asked, choice, several=several) for choice in asked.choices)
    if asked.other:
        name = escape(asked.identifier + OTHER)
        choices += f'<p><label>{other} <input type="text" name="{name}" maxlength="1000"></label></p>'
    return choices


def _choice(asked: FormQuestion, choice: Choice, *, several: bool) -> str:
    kind = "checkbox" if several else "radio"
    needed = asked.required and not several and not asked.other
    rules = {"type": kind, "name": asked.identifier, "value": choice.identifier, "required": "" if needed else None}
    return f"<p><label><input{_attributes(rules)}> {choice.html or escape(choice.label)}</label></p>"


def _text_field(asked: FormQuestion, label: str) -> str:
    shortest, longest = asked.length
    rules: dict[str, Any] = {
        "name": asked.identifier,
        "aria-label": label,
        "minlength": shortest or None,
        "maxlength": longest,
        "required": "" if asked.required else None,
    }
    if asked.lines > 1:
        return f'<p><textarea rows="{asked.lines}"{_attributes(rules)}>{escape(asked.default)}</textarea></p>'
    if asked.numeric is not None:
        low, high = asked.numeric
        rules |= {"type": "number", "step": "any", "min": low, "max": high, "minlength": None, "maxlength": None}
    elif asked.patterns:
        pattern, message = asked.patterns[0]
        rules |= {"pattern": pattern, "title": message or None}
    return f"<p><input{_attributes({'type': 'text', 'value': asked.default or None, **rules})}></p>"


def _attributes(rules: dict[str, Any]) -> str:
    return "".join(f' {name}="{escape(str(value))}"' for name, value in rules.items() if value is not None)


def frame_height(asked: int) -> int:
    """Height of a frame in pixels, within the limits; 0 means the default height."""
    return min(max(asked, LOWEST), HIGHEST) if asked else DEFAULT_HEIGHT
