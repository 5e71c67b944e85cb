"""Assignment of items to people: a file with a row for every item and annotator."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from chorale.files.rows import Row, read_rows
from chorale.files.shortening import shortened
from chorale.folder.checking.drafts import Draft
from chorale.folder.checking.named_files import located
from chorale.folder.checking.report import CheckReport, printable
from chorale.model import ItemSettings, JudgmentSettings, NewItem, Problem
from chorale.model.logins import login_of

_COLUMNS = ("item", "annotator")
_NAMED = 5


def read_assigned(draft: Draft, items: Sequence[NewItem], report: CheckReport) -> Mapping[str, frozenset[str]]:
    """The assignees of a stage's items, by item key; problems are reported."""
    settings = draft.table(ItemSettings, "items")
    if settings is None or settings.assigned is None or not items:
        return {}
    path = located(settings.assigned, draft.at("items", "assigned"), report)
    if path is None:
        return {}
    unread: list[Problem] = []
    rows = list(read_rows(path, shown_as=settings.assigned, problems=unread))
    report.problems += unread
    if missing := [name for name in _COLUMNS if rows and not any(name in row.values for row in rows)]:
        columns = ", ".join(map(printable, rows[0].values))
        report.add(
            settings.assigned,
            1,
            f'no column named "{missing[0]}" (found: {columns})',
            "Write the columns `item` and `annotator`, one row per pair.",
        )
        return {}
    assigned = _people(rows, items, settings.assigned, report)
    _check_enough(draft, assigned, settings.assigned, report)
    return assigned


def _people(
    rows: Sequence[Row], items: Sequence[NewItem], file: str, report: CheckReport
) -> Mapping[str, frozenset[str]]:
    """The assignees of every item. A row of the items file that makes several items is named by its own ID."""
    keys: dict[str, set[str]] = defaultdict(set)
    for item in items:
        keys[item.group].add(item.key)
        keys[item.key].add(item.key)
    people: dict[str, set[str]] = defaultdict(set)
    unknown: list[tuple[int, str]] = []
    for row in rows:
        of, name = (str(row.values.get(column) or "").strip() for column in _COLUMNS)
        if not of or not name:
            report.add(file, row.line, "`item` or `annotator` is empty", "Fill in both, or delete the row.")
        elif of not in keys:
            unknown.append((row.line, of))
        else:
            for key in keys[of]:
                people[key].add(login_of(name))
    if unknown:
        line, first = unknown[0]
        some = f"{len(unknown):,} rows name items that the stage does not have, such as {shortened(first)}"
        message = some if len(unknown) > 1 else f"the stage has no item {shortened(first)}"
        report.add(file, line, message, "Correct the ID.")
    return {key: frozenset(logins) for key, logins in people.items()}


def _check_enough(draft: Draft, assigned: Mapping[str, frozenset[str]], file: str, report: CheckReport) -> None:
    """Report items assigned to fewer people than the judgments they may need: they might never be complete."""
    asked = draft.raw.get("judgments")
    judgments = draft.table(JudgmentSettings, "judgments") if isinstance(asked, dict) else None
    most = asked if isinstance(asked, int) else (judgments or JudgmentSettings()).max
    few = sorted(key for key, logins in assigned.items() if len(logins) < most)
    if few:
        shown = ", ".join(few[:_NAMED]) + (" …" if len(few) > _NAMED else "")
        report.add(
            file,
            None,
            f"{len(few):,} {'item is' if len(few) == 1 else 'items are'} assigned to fewer people than the {most} "
            f"judgments per item that may be needed: {printable(shown)}",
            f"Assign each to at least {most} people, or lower `judgments`.",
        )
