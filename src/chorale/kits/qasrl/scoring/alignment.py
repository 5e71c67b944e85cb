"""The alignment of two QA-SRL annotations as a file: a CSV table, or a page to read and print."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from chorale.files.tables import replacing, write_csv
from chorale.kits.qasrl.files import Span, Verb
from chorale.kits.qasrl.files.cells import SEPARATOR
from chorale.kits.qasrl.metrics import AlignedArgument
from chorale.model import UserError
from chorale.model.plural import plural

COLUMNS = (
    "qasrl_id", "verb_idx", "verb", "status", "same_role", "extra_questions", "iou", "gold_range", "gold_answer",
    "gold_questions", "system_range", "system_answer", "system_questions", "counted_with",
)  # fmt: skip
_SIGNS = {"matched": "✓", "missed": "−", "spurious": "+", "redundant": "≈"}
_MEANINGS = {
    "matched": "in both",
    "missed": "only in the gold",
    "spurious": "only in the system’s output",
    "redundant": "additional span of a matched argument, not counted",
}


def write_alignment(
    path: Path,
    rows: Iterable[AlignedArgument],
    sentences: Mapping[str, Sequence[str]],
    names: tuple[str, str],
    signature: str,
) -> None:
    """Writes the rows to a .csv or .html file. `names` are the names of system and gold."""
    if path.suffix.lower() == ".csv":
        write_csv(COLUMNS, map(cells_of, rows), path)
    elif path.suffix.lower() in (".html", ".htm"):
        with replacing(path) as draft, draft.open("x", encoding="utf-8") as file:
            file.writelines(_page(list(rows), sentences, names, signature))
    else:
        raise UserError(f"{path} has an unsupported extension. Use .csv or .html.")


def cells_of(row: AlignedArgument) -> dict[str, str | int]:
    """A row of the table."""
    return {
        "qasrl_id": row.verb.sentence,
        "verb_idx": row.verb.token,
        "verb": row.word,
        "status": row.status,
        "same_role": "" if row.same_role is None else str(row.same_role),
        "extra_questions": "" if row.same_role is None else row.extra_questions,
        "iou": "" if row.iou is None else f"{row.iou:.4f}",
        "gold_range": _range(row.gold_span),
        "gold_answer": row.gold_text,
        "gold_questions": SEPARATOR.join(row.gold_questions),
        "system_range": _range(row.system_span),
        "system_answer": row.system_text,
        "system_questions": SEPARATOR.join(row.system_questions),
        "counted_with": _range(row.counted_with),
    }


def _range(span: Span | None) -> str:
    return "" if span is None else f"{span[0]}:{span[1]}"


# The page


_STYLE = """
:root { color-scheme: light dark; --line: #8886; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1rem; margin: 2rem 0 .3rem; font-weight: 600; }
p.text { margin: .3rem 0 .6rem; } mark { padding: 0 .2em; border-radius: .2em; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; } th:first-child { width: 10rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .5rem; }
th { border-bottom: 2px solid var(--line); font-weight: 600; } td { border-bottom: 1px solid var(--line); }
td { overflow-wrap: anywhere; } td.status b { display: inline-block; width: 1.2em; text-align: center; }
tr.missed td.status, tr.spurious td.status { font-weight: 600; } tr.redundant { opacity: .7; }
.question { display: block; font-size: .9em; } .differs { text-decoration: underline wavy; }
.where, footer { font-size: .85em; opacity: .75; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dt { font-weight: 600; } dd { margin: 0; }
@media (max-width: 40rem) {
  th:first-child { width: 6.2rem; } th, td { padding: .3rem .25rem; } td.status .where { display: block; }
}
@media print {
  body { font-size: 10pt; margin: 0; max-width: none; } section { break-inside: avoid; } h2 { break-after: avoid; }
  thead { display: table-header-group; }
}
"""


def _page(
    rows: list[AlignedArgument], sentences: Mapping[str, Sequence[str]], names: tuple[str, str], signature: str
) -> Iterator[str]:
    system, gold = map(escape, names)
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>{system} against {gold}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
    yield f"<h1>{system} against {gold}</h1>\n<dl>\n"
    for status, meaning in _MEANINGS.items():
        count = sum(row.status == status for row in rows)
        errors = _errors(rows) if status == "spurious" else count
        counted = plural(errors, "error", "errors")
        together = "" if errors == count else f"; {counted}, because overlapping arguments count as one"
        arguments = plural(count, "argument", "arguments")
        yield f"<dt>{_SIGNS[status]} {status}</dt><dd>{arguments}: {meaning}{together}</dd>\n"
    other_role = sum(row.same_role is False for row in rows)
    differing = plural(other_role, "matched argument", "matched arguments")
    yield f'<dt><span class="differs">underlined</span></dt><dd>{differing} whose questions ask '
    yield "for different roles under STRICT-MATCH</dd>\n"
    extra = sum(row.extra_questions for row in rows)
    questions = plural(extra, "question", "questions")
    yield f"<dt>extra questions</dt><dd>{questions} about matched arguments. Extra questions count as errors.</dd>\n"
    yield "</dl>\n<main>\n"
    for verb, group in groupby(rows, key=lambda row: row.verb):
        yield from _verb(verb, list(group), sentences.get(verb.sentence, ()))
    yield f"</main>\n<footer><p>{escape(signature)}</p></footer>\n</body>\n</html>\n"


def _errors(rows: Iterable[AlignedArgument]) -> int:
    """Number of false positives. Overlapping spurious spans of a verb count once."""
    return len({(row.verb, row.counted_with) for row in rows if row.status == "spurious"})


def _verb(verb: Verb, rows: list[AlignedArgument], tokens: Sequence[str]) -> Iterator[str]:
    word = escape(rows[0].word or "verb")
    yield f'<section>\n<h2>{word} <span class="where">{escape(str(verb))}</span></h2>\n'
    if tokens:
        shown = [f"<mark>{escape(each)}</mark>" if at == verb.token else escape(each) for at, each in enumerate(tokens)]
        yield f'<p class="text">{" ".join(shown)}</p>\n'
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("status", "gold", "system"))
    yield f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n"
    for row in rows:
        differs = " differs" if row.same_role is False else ""
        overlap = "" if row.iou is None or row.iou == 1 else f' <span class="where">IOU {row.iou:.2f}</span>'
        yield f'<tr class="{row.status}"><td class="status"><b>{_SIGNS[row.status]}</b> {row.status}{overlap}</td>'
        yield _side(row.gold_span, row.gold_text, row.gold_questions, differs)
        yield _side(row.system_span, row.system_text, row.system_questions, differs) + "</tr>\n"
    yield "</tbody>\n</table>\n</section>\n"


def _side(span: Span | None, text: str, questions: Sequence[str], differs: str) -> str:
    if span is None:
        return "<td></td>"
    asked = "".join(f'<span class="question{differs}">{escape(question)}</span>' for question in questions)
    return f'<td>{escape(text)} <span class="where">{_range(span)}</span>{asked}</td>'
