"""Questions of a HIT or qualification test: an external URL, an HTML page, or a form in XML."""

import re
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from typing import Literal
from urllib.parse import urlencode, urlsplit
from xml.etree.ElementTree import Element

from chorale.kits.mturk.api.errors import bad_xml, invalid
from chorale.kits.mturk.api.markup import child, children, kind_of, parsed, text_of, whole_number

LOWEST, HIGHEST = 100, 2_000
"""Maximum height of a frame in pixels."""
_IDENTIFIER = re.compile(r"[\w .:-]{1,200}")
_NETLOC = re.compile(r"[\w.:\[\]-]+", re.ASCII)


def origin_of(url: str) -> str:
    """The normalised origin of a URL.

    >>> origin_of("HTTPS://Study.example.org:443/a"), origin_of("http://[::1]:8000/")
    ('https://study.example.org', 'http://[::1]:8000')
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    host = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{host}" + ("" if parts.port in (None, usual) else f":{parts.port}")


@dataclass(frozen=True, slots=True)
class External:
    """A page on an external site."""

    url: str
    height: int

    @property
    def origin(self) -> str:
        return origin_of(self.url)

    def address(self, values: dict[str, str]) -> str:
        """The URL of the page for one assignment."""
        query = urlencode(values)
        return f"{self.url}{'&' if urlsplit(self.url).query else '?'}{query}"


@dataclass(frozen=True, slots=True)
class Page:
    """A page of HTML."""

    html: str
    height: int


@dataclass(frozen=True, slots=True)
class Content:
    """A piece of displayed content."""

    kind: Literal["title", "text", "list", "html", "image"]
    text: str = ""
    entries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    identifier: str
    label: str
    html: str = ""
    """Formatted text, if any."""


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """A question of a form."""

    identifier: str
    name: str
    required: bool
    content: tuple[Content, ...]
    choices: tuple[Choice, ...] | None
    """None for free text."""
    fewest: int = 0
    most: int = 1
    style: str = ""
    other: bool = False
    default: str = ""
    lines: int = 1
    numeric: tuple[float | None, float | None] | None = None
    length: tuple[int, int | None] = (0, None)
    patterns: tuple[tuple[str, str], ...] = ()
    """Regular expressions, each with an error message."""


@dataclass(frozen=True, slots=True)
class QuestionForm:
    overview: tuple[Content, ...]
    asked: tuple[FormQuestion, ...] = field(default=())


Question = External | Page | QuestionForm


def read_question(text: str, name: str = "Question") -> Question:
    """Parses the question of a request."""
    root = parsed(name, text)
    match kind_of(root):
        case "ExternalQuestion":
            return _external(root, name)
        case "HTMLQuestion":
            html = text_of(root, "HTMLContent")
            if not html:
                raise bad_xml(name, "has no HTMLContent")
            return Page(html, _number(root, "FrameHeight", name))
        case "QuestionForm":
            return _form(root, name)
        case other:
            raise bad_xml(name, f"must be an HTMLQuestion, an ExternalQuestion or a QuestionForm, not {other!r}")


def read_test(text: str) -> QuestionForm:
    """Parses a qualification test, which must be a form."""
    form = read_question(text, "Test")
    if not isinstance(form, QuestionForm):
        raise invalid("Test", "must be a QuestionForm")
    return form


def html_question(html: str) -> str:
    """An HTML page as HTMLQuestion XML."""
    inside = html.replace("]]>", "]]]]><![CDATA[>")
    space = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"
    return (
        f'<HTMLQuestion xmlns="{space}"><HTMLContent><![CDATA[{inside}]]></HTMLContent>'
        "<FrameHeight>0</FrameHeight></HTMLQuestion>"
    )


def _number(element: Element, kind: str, name: str, otherwise: int = 0) -> int:
    """The number in a child element, if any."""
    text = text_of(element, kind)
    return whole_number(text, name, kind) if text else otherwise


def _external(root: Element, name: str) -> External:
    url = text_of(root, "ExternalURL")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    # The origin becomes part of a page header, so it must not contain characters that end the directive.
    if not host or parts.scheme not in ("https", "http") or not _NETLOC.fullmatch(parts.netloc):
        raise invalid(name, "has an ExternalURL that is not an ASCII http or https URL")
    return External(url, _number(root, "FrameHeight", name))


def _form(root: Element, name: str) -> QuestionForm:
    overview: list[Content] = []
    asked: list[FormQuestion] = []
    for part in root:
        if kind_of(part) == "Overview":
            overview += (_content(one, name) for one in part)
        elif kind_of(part) == "Question":
            asked.append(_asked(part, name))
    identifiers = [one.identifier for one in asked]
    if not asked or len(set(identifiers)) < len(identifiers):
        raise bad_xml(name, "must have questions, each with a unique QuestionIdentifier")
    return QuestionForm(tuple(overview), tuple(asked))


def _content(part: Element, name: str) -> Content:
    text = (part.text or "").strip()
    match kind_of(part):
        case "Title":
            return Content("title", text)
        case "Text":
            return Content("text", text)
        case "List":
            return Content("list", "", tuple((one.text or "").strip() for one in children(part, "ListItem")))
        case "FormattedContent":
            return Content("html", text)
        case "Binary":
            return Content("image", text_of(part, "DataURL"), (text_of(part, "AltText"),))
        case other:
            raise bad_xml(name, f"has content of the unsupported type {other!r}")


def _asked(element: Element, name: str) -> FormQuestion:
    identifier = text_of(element, "QuestionIdentifier")
    if not _IDENTIFIER.fullmatch(identifier):
        raise bad_xml(name, "has a question without a QuestionIdentifier of letters, digits and . : _ -")
    content, specification = child(element, "QuestionContent"), child(element, "AnswerSpecification")
    answer = None if specification is None else next(iter(specification), None)
    if content is None or answer is None:
        raise bad_xml(name, f"has a question {identifier!r} without its content or its AnswerSpecification")
    required = text_of(element, "IsRequired") == "true"
    contents = tuple(_content(part, name) for part in content)
    asked = FormQuestion(identifier, text_of(element, "DisplayName"), required, contents, None)
    match kind_of(answer):
        case "FreeTextAnswer":
            return _free_text(answer, name, asked)
        case "SelectionAnswer":
            return _selection(answer, name, asked)
        case other:
            raise bad_xml(name, f"has an unsupported answer type for {identifier!r}: {other!r}")


def _selection(answer: Element, name: str, asked: FormQuestion) -> FormQuestion:
    style = text_of(answer, "StyleSuggestion")
    listed = child(answer, "Selections")
    choices = [] if listed is None else [_choice(one, name) for one in children(listed, "Selection")]
    identifiers = {choice.identifier for choice in choices}
    if not choices or len(identifiers) < len(choices):
        raise bad_xml(name, "must have selections, each with a unique SelectionIdentifier")
    several = style in ("checkbox", "list", "multichooser")
    return replace(
        asked,
        choices=tuple(choices),
        fewest=_number(answer, "MinSelectionCount", name),
        most=_number(answer, "MaxSelectionCount", name, len(choices) if several else 1),
        style=style,
        other=listed is not None and child(listed, "OtherSelection") is not None,
    )


def _choice(element: Element, name: str) -> Choice:
    identifier = text_of(element, "SelectionIdentifier")
    if not _IDENTIFIER.fullmatch(identifier):
        raise bad_xml(name, "has a selection without a SelectionIdentifier")
    return Choice(identifier, text_of(element, "Text") or identifier, text_of(element, "FormattedContent"))


def _free_text(answer: Element, name: str, asked: FormQuestion) -> FormQuestion:
    given = child(answer, "Constraints")
    constraints = Element("Constraints") if given is None else given
    numeric, length = child(constraints, "IsNumeric"), child(constraints, "Length")
    shortest, longest = (
        None if length is None else _bound(length, limit, name) for limit in ("minLength", "maxLength")
    )
    patterns = children(constraints, "AnswerFormatRegex")
    return replace(
        asked,
        default=text_of(answer, "DefaultText"),
        lines=max(1, min(40, _number(answer, "NumberOfLinesSuggestion", name))),
        numeric=None if numeric is None else (_bound(numeric, "minValue", name), _bound(numeric, "maxValue", name)),
        length=(int(shortest or 0), None if longest is None else int(longest)),
        patterns=tuple((one.get("regex", ""), one.get("errorText", "")) for one in patterns),
    )


def _bound(element: Element, attribute: str, name: str) -> float | None:
    text = element.get(attribute)
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        number = inf
    if not isfinite(number):
        raise bad_xml(name, f"has a {attribute} that is not a number")
    return number
