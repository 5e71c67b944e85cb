"""Collects the sentences that people can read: messages, help, settings, pages and docs; and measures them."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

GAP = "{}"
"""Stands for a value that a message fills in."""
_NOT_READ = {"execute", "exec_driver_sql", "text", "compile", "import_module", "load", "TypeVar", "NewType"}
"""Calls whose strings are code, not sentences."""
_CODE = re.compile(
    r"^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|PRAGMA|WITH|BEGIN|COMMIT|EXISTS|ON CONFLICT|VACUUM)\b"
    r"|^\s*<!doctype html>"
)
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TEMPLATE = re.compile(r"\{#.*?#\}|\{%.*?%\}", re.DOTALL)
_ALTERNATIVE = re.compile(r"\{%-?\s*(else|elif)\b.*?%\}", re.DOTALL)
_VALUE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_MARKUP = re.compile(r"<(script|style)\b.*?</\1>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
_BLOCK = re.compile(
    r"</?(p|li|ul|ol|dl|dt|dd|div|h[1-6]|td|th|tr|table|thead|tbody|caption|label|button|legend|option|section|summary|"
    r"details|header|footer|main|nav|form|fieldset|select|title|head|body|html|br|a|input|figure|figcaption)\b[^>]*>",
    re.IGNORECASE,
)
_TAG = re.compile(r"<[^>]*>")
_INLINE_CODE = re.compile(r"(`+)(?:(?!\1).)+\1")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_LISTED = re.compile(r"\bCode\b(?:(?:,? (?:and|or) |, )Code\b)+")
_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+|(?<=[.!?:][*][*])\s+|(?<=[.!?][)”\"])\s+|\s+·\s+|\n\s*\n|\s+—\s+")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_SCRIPT_COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'`\w\\])//[^\n]*", re.DOTALL)
_SCRIPT_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`(?:[^`\\]|\\.)*`')
_SCRIPT_VALUE = re.compile(r"\$\{[^}]*\}")
_SCRIPT_CODE = re.compile(r"[<>=\[\]#@]|--|;\s*$")
_STUDY_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_LEAST_WORDS = 3


@dataclass(frozen=True, slots=True)
class Sentence:
    """Text that people can read, and its place."""

    path: str
    line: int
    text: str
    of_code: bool = False
    """Whether it explains code: a docstring, with formulas and examples."""

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


def words_of(text: str) -> list[str]:
    """The words of a sentence. Code counts as one word, as does a list of names in code; a value as none."""
    return _WORD.findall(_LISTED.sub("Code", _INLINE_CODE.sub("Code", text)).replace(GAP, " "))


def sentences_of(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def python_texts(path: Path, name: str) -> Iterator[Sentence]:
    """String literals of a module that read like sentences, and docstrings of its public names."""
    tree = ast.parse(path.read_text("utf-8"))
    yield from _docstrings(tree, name)
    skipped = {id(node) for node in _unread(tree)}
    for node in _unskipped(tree, skipped):
        text = _literal(node)
        if text is not None and _reads_like_a_sentence(text):
            yield Sentence(name, node.lineno, text)


def _unskipped(tree: ast.AST, skipped: set[int]) -> Iterator[ast.expr]:
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if id(node) in skipped:
            continue
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            yield node
            # What is inside an f-string's values is text too: a plural, an alternative.
            if isinstance(node, ast.JoinedStr):
                waiting.extend(part.value for part in node.values if isinstance(part, ast.FormattedValue))
            continue
        waiting.extend(ast.iter_child_nodes(node))


def _unread(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in _NOT_READ:
                yield from node.args


def _literal(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else GAP for part in node.values)
    return None


def _reads_like_a_sentence(text: str) -> bool:
    # Many lines are programs, styles and templates of files: what people read is on pages and in messages.
    if len(words_of(text)) < _LEAST_WORDS or text.count("\n") > 3 or _CODE.match(text):
        return False
    # Lists of settings, such as `stage.gold stage.gold.share`, are no sentences.
    parts = text.split()
    return sum("." in part[:-1] for part in parts) < len(parts) / 2


def _docstrings(tree: ast.Module, name: str) -> Iterator[Sentence]:
    def of(body: list[ast.stmt], *, is_class: bool) -> Iterator[Sentence]:
        for node in body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            if node.name.startswith("_"):
                continue
            if (text := ast.get_docstring(node)) is not None:
                yield Sentence(name, node.body[0].lineno, text, of_code=True)
            if isinstance(node, ast.ClassDef) and not is_class:
                yield from of(node.body, is_class=True)

    if (text := ast.get_docstring(tree)) is not None:
        yield Sentence(name, 1, text, of_code=True)
    yield from of(tree.body, is_class=False)


def markdown_texts(path: Path, name: str) -> Iterator[Sentence]:
    """Paragraphs, headings, list items and table cells of a page; nothing that is code."""
    text = path.read_text("utf-8")
    for hidden in (_FENCED, _COMMENT):
        text = hidden.sub(lambda match: "\n" * match[0].count("\n"), text)
    block: list[str] = []
    first = 0

    def flush() -> Iterator[Sentence]:
        if block:
            yield Sentence(name, first, _LINK.sub(r"\1", " ".join(block)))
            block.clear()

    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        starts = re.match(r"([-*+]|\d+\.|#+|>|\|)\s*", stripped)
        if not stripped or starts or line.startswith("    "):
            yield from flush()
        if not stripped or set(stripped) <= set("|-: "):
            continue
        if stripped.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", stripped.strip("|")):
                if cell.strip():
                    yield Sentence(name, number, _LINK.sub(r"\1", cell.strip()))
            continue
        if not block:
            first = number
        block.append(stripped.lstrip("#").lstrip("-*+> ").strip())
        if stripped.startswith("#"):
            yield from flush()
    yield from flush()


def page_texts(path: Path, name: str) -> Iterator[Sentence]:
    """Texts between the tags of an HTML template, where the browser starts a new line."""
    text = path.read_text("utf-8")
    text = _ALTERNATIVE.sub(lambda match: "\x00" + "\n" * match[0].count("\n"), text)
    for hidden in (_TEMPLATE, _MARKUP):
        text = hidden.sub(lambda match: "\n" * match[0].count("\n"), text)
    text = _VALUE.sub(lambda match: GAP + "\n" * match[0].count("\n"), text)
    text = _TAG.sub(_keep_lines, _BLOCK.sub(lambda match: "\x00" + "\n" * match[0].count("\n"), text))
    line = 1
    for piece in text.split("\x00"):
        start = line + len(piece[: len(piece) - len(piece.lstrip())].splitlines() or [""]) - 1
        if words_of(piece):
            yield Sentence(name, start, " ".join(piece.split()))
        line += piece.count("\n")


def script_texts(path: Path, name: str) -> Iterator[Sentence]:
    """String literals of a script that read like sentences; a value in a template string is a gap."""
    source = _SCRIPT_COMMENT.sub(_keep_lines, path.read_text("utf-8"))
    for match in _SCRIPT_STRING.finditer(source):
        text = _SCRIPT_VALUE.sub(GAP, match[0][1:-1])
        if _reads_like_a_sentence(text) and not _SCRIPT_CODE.search(text):
            yield Sentence(name, source.count("\n", 0, match.start()) + 1, text)


def study_file_texts(path: Path, name: str) -> Iterator[Sentence]:
    """Comments and texts of a study file: people read and copy both."""
    block: list[str] = []
    first = 0
    for number, line in enumerate([*path.read_text("utf-8").splitlines(), ""], 1):
        setting, _, comment = _study_comment(line)
        if comment and not setting.strip():
            first = first if block else number
            block.append(comment.strip())
            continue
        if block:
            # A setting that is commented out is code.
            yield from (Sentence(name, first, part) for part in [" ".join(block)] if " = " not in part)
            block = []
        if comment:
            yield Sentence(name, number, comment.strip())
        for text in _STUDY_STRING.findall(setting):
            if _reads_like_a_sentence(text):
                yield Sentence(name, number, text)


def _study_comment(line: str) -> tuple[str, str, str]:
    """What is before a comment, its sign, and the comment; a # within quotes is none."""
    quoted = [match.span() for match in _STUDY_STRING.finditer(line)]
    for at, sign in enumerate(line):
        if sign == "#" and not any(start <= at < end for start, end in quoted):
            return line[:at], sign, line[at + 1 :]
    return line, "", ""


def _keep_lines(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


_TABLES = {"question_weights.js"}
"""Numbers for words of published texts, which nobody reads as sentences."""


def visible_texts(root: Path) -> Iterator[Sentence]:
    """All of it: the package's Python, pages, scripts and study files, and the docs."""
    for path in sorted((root / "src" / "chorale").rglob("*")):
        name = path.relative_to(root).as_posix()
        if "/migrations/" in name or "__pycache__" in name or path.name in _TABLES:
            continue
        if path.suffix == ".py":
            yield from python_texts(path, name)
        elif path.suffix == ".html":
            yield from page_texts(path, name)
        elif path.suffix == ".md":
            yield from markdown_texts(path, name)
        elif path.suffix == ".js":
            yield from script_texts(path, name)
        elif path.suffix == ".toml":
            yield from study_file_texts(path, name)
    for path in sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")]):
        yield from markdown_texts(path, path.relative_to(root).as_posix())
