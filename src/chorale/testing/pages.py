"""Checks of a task's pages, files and exports."""

import re
from pathlib import Path

from chorale.contract import ItemError, Seeds, StageResults
from chorale.model import Judgment, Label, SourceItem
from chorale.testing.subject import Subject, as_json, promised

_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_SECRET = "what-only-experts-know"  # noqa: S105 - nobody's password
_ELSEWHERE = re.compile(
    r"""(?:src|href|action|from|import|url)\s*[=(]?\s*["']?\s*(?:https?:)?//[^\s"')]+""", re.IGNORECASE
)
_MOUNT = re.compile(r"export (async )?function mount\b")
_INLINE = {"<script": "a script", " style=": "a style", " onclick=": "a script", "<style": "a style"}
_ENDINGS = (".csv", ".tsv", ".jsonl")


def description(subject: Subject) -> None:
    task = subject.task
    fits = _NAME.fullmatch(task.name) is not None
    promised(fits, f"its name is {task.name!r}: use lower-case letters, digits and hyphens")
    promised(task.version >= 1, f"its version is {task.version}")
    promised(bool(task.summary.strip()), "its summary is empty")
    for name, field in task.options.model.model_fields.items():
        promised(bool(field.description), f"the option `{name}` has no description")


def view(subject: Subject) -> None:
    task = subject.task
    for example in subject.examples:
        for item in example.items:
            shown = as_json(task.form.shown(item.payload), f"{example.name}: the view")
            promised(isinstance(shown, dict), f"{example.name}: the view is not a dict")
            again = as_json(task.form.shown(item.payload), "the view")
            promised(shown == again, f"{example.name}: two calls of `view` return different views")
        payload = {**example.item, **dict.fromkeys(("answer", "explanation", "gold"), _SECRET)}
        try:
            known = task.shape.parse_item(payload)
        except ItemError:
            continue
        leaks = _SECRET in str(task.form.shown(known))
        promised(not leaks, "an item with a column `answer`, `explanation` or `gold` shows it to workers")


def reveal(subject: Subject) -> None:
    """Check a form in two steps: the second is not in the view, and each step has its own part of the answer."""
    task, later = subject.task, subject.task.form.reveal
    if later is None:
        return
    promised(bool(later.fields), "its `reveal` names no field that is answered first")
    for example in subject.examples:
        both = task.form.view(example.item).keys() & later.view(example.item).keys()
        promised(not both, f"{example.name}: {', '.join(sorted(both))} is shown before the first answer is stored")
        first = task.shape.parse_first(later.first_of(example.answer), later)
        promised(first == later.first_of(example.answer), f"{example.name}: its first part is {first!r} when stored")
    promised("data-reveal" in task.form.html, "no element of the page has `data-reveal`, so nothing is hidden at first")


def page(subject: Subject) -> None:
    form = subject.task.form
    html = form.html
    for mark, element in _INLINE.items():
        promised(mark not in html, f"the page has {element} inline (`{mark.strip()}`): use a module or a style sheet")
    _loads_nothing("the page", html)
    if form.module is not None:
        return
    promised('name="answer' in html, 'the page has no field with `name="answer"`, and the form has no module')
    for field in subject.view(subject.examples[0]):
        promised(f'data-text="{field}"' in html, f"the page does not show `{field}` of the view (`data-text`)")


def _loads_nothing(part: str, text: str) -> None:
    address = _ELSEWHERE.search(text)
    promised(address is None, f"{part} loads {address[0] if address else ''!r} from another site")


def files(subject: Subject) -> None:
    form = subject.task.form
    ours = [path for path in (form.module, form.style, *form.shared) if path is not None]
    for path in (*ours, *((form.page,) if isinstance(form.page, Path) else ())):
        promised(path.is_file(), f"there is no file {path}")
    for path in ours:
        _loads_nothing(path.name, path.read_text("utf-8"))
    if form.module is not None:
        text = form.module.read_text("utf-8")
        promised(_MOUNT.search(text) is not None, "its module exports no function `mount`")


def arrangement(subject: Subject) -> None:
    arrange = subject.task.form.arrange
    if arrange is None:
        return
    for example in subject.examples:
        seeds = Seeds.of(1, "stage", "worker", "item")
        first, again = (as_json(arrange(example.items[0].payload, seeds), "an arrangement") for _ in range(2))
        promised(first == again, f"{example.name}: two calls of `arrange` return {first!r} and {again!r}")


def exports(subject: Subject) -> None:
    names = [table.name for table in subject.task.exports]
    promised(len(set(names)) == len(names), f"two exports have the same name: {', '.join(names)}")
    for table in subject.task.exports:
        promised(bool(table.summary), f"export {table.name} has no summary")
        ends_well = table.file_name.endswith(_ENDINGS)
        promised(ends_well, f"export {table.name}: {table.file_name} ends in none of {', '.join(_ENDINGS)}")
        promised(len(set(table.columns)) == len(table.columns), f"export {table.name} has a column twice")
        rows = list(table.rows(_results(subject)))
        given = {name for row in rows for name in row}
        missing = ", ".join(name for name in table.columns if rows and name not in given)
        promised(not missing, f"no row of export {table.name} has the column {missing}")


def _results(subject: Subject) -> StageResults:
    """A stage with the examples as items, each answered by two people."""
    task = subject.task
    items, given = [], {}
    for example in subject.examples:
        label = Label(example.answer, 1.0, 2, True)
        source = SourceItem(example.number, f"k{example.number}", f"k{example.number}", example.items[0].payload, label)
        items.append(source)
        given[source.key] = tuple(
            Judgment(f"w{who}", example.answer, 0.9, 2 * example.number + who) for who in range(2)
        )
    return StageResults(
        items=items,
        sources=None,
        confidence=0.7,
        options=task.options.model.model_validate(task.options.example),
        judgments=lambda item: given[item.key],
        seeds=lambda worker, item: Seeds.of(1, "stage", worker, item),
    )
