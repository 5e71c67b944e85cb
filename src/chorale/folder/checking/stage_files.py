"""Reads what the settings of one stage name: its task, guidelines, items, gold and truth."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pydantic import BaseModel

from chorale.contract import Task, installed_tasks
from chorale.folder.checking.assigned import read_assigned
from chorale.folder.checking.content import GoldRow, StageContent, TruthRow
from chorale.folder.checking.drafts import Draft, earlier_stage
from chorale.folder.checking.label_items import EXAMPLES, check_label_items, check_where, texts_in
from chorale.folder.checking.media_files import check_media
from chorale.folder.checking.named_files import read_markdown
from chorale.folder.checking.report import CheckReport, did_you_mean, printable
from chorale.folder.checking.row_files import RowFile, row_file
from chorale.folder.checking.settings_shape import is_valid, parsed_settings
from chorale.model import GoldSettings, ItemSettings, NewItem, Payload, RehearsalSettings, RoundSettings, StageSettings
from chorale.model.plural import plural
from chorale.registry import installed

_NAMING_COLUMNS = ("item", "highlight")
"""Options whose values are names of columns."""


@dataclass(frozen=True)
class StageFiles:
    """The content of a stage's files."""

    task: Task | None
    options: BaseModel | None
    items: tuple[NewItem, ...]
    gold: tuple[GoldRow, ...]
    gold_count: int | None
    """Number of rows in the gold file; None if it is unknown because of problems."""
    truth: tuple[TruthRow, ...]
    guidelines: str
    unmerged: tuple[NewItem, ...]
    """The items before duplicates were merged."""
    taken: frozenset[str]
    """Keys and groups of the stage's items or their sources: gold must have different ones."""
    assigned: Mapping[str, frozenset[str]]
    """The assignees of items, by key."""
    examples: tuple[Payload, ...]
    """Some of the stage's items. Without items yet: examples that labels of earlier stages could produce."""

    def complete(self, settings: StageSettings) -> StageContent:
        if self.task is None or self.options is None:
            raise ValueError(f"stage {settings.name} has problems that were not reported")
        return StageContent(
            settings,
            self.task,
            self.options,
            self.items,
            self.gold,
            self.truth,
            self.guidelines,
            self.unmerged,
            self.assigned,
        )


def read_stage_files(
    draft: Draft, drafts: Sequence[Draft], earlier: Sequence[StageFiles], report: CheckReport
) -> StageFiles:
    """Read the files of the stage `draft`. `earlier` has those of the stages before it in `drafts`."""
    kind = _task_of(draft, report)
    options = None if kind is None else _options_of(draft, kind, drafts, report)
    # Without its options, a task that depends on them can't parse items.
    task = None if kind is None or (options is None and kind.options.configure) else kind
    if task is None and (file := _own_file(draft, report)) is not None:
        _check_rows(file, BaseModel)
    if task is not None and options is not None:
        task = task.configured(options)
    if task is not None and not _names_columns_that_are_there(draft, task, report):
        # Problems in rows would only follow from this.
        task = None
    if task is not None and task.combining.chosen is None:
        _check_no_choices(draft, task, report)
    guidelines = read_markdown(draft.text("guidelines"), draft.at("guidelines"), report)
    unmerged, taken = _read_items_of(draft, task, drafts, earlier, report)
    once = None if task is None else task.shape.asked_once
    items = unmerged if once is None else tuple(once.merged(unmerged))
    made_up = _check_sources(draft, task, options, drafts, earlier, report)
    gold, gold_count = _read_gold_of(draft, task, items, taken, report)
    truth = _read_truth_of(draft, task, report)
    if task is not None and task.form.media:
        check_media(task, [*items, *(row.item for row in gold)], draft.at("options"), report)
    assigned = read_assigned(draft, items, report)
    examples = tuple([item.payload for item in items[:EXAMPLES]] or made_up)
    return StageFiles(task, options, items, gold, gold_count, truth, guidelines, unmerged, taken, assigned, examples)


def _names_columns_that_are_there(draft: Draft, task: Task, report: CheckReport) -> bool:
    """Whether every column named in the options exists in the stage's file.

    A misspelt name is one error in the study file, not one in every row.
    """
    file = _own_file(draft, report)
    if file is None:
        return True
    required = {field.alias or name for name, field in task.shape.item_type.model_fields.items() if field.is_required()}
    named = [
        (at, name)
        for at, name in texts_in(draft.raw.get("options"), draft.at("options"), _NAMING_COLUMNS)
        if name in required
    ]
    there = file.columns({name for _, name in named})
    wrong = [(at, name) for at, name in named if name not in there]
    # A file without rows is reported separately.
    if not wrong or not there:
        return True
    for at, name in wrong:
        message = f"no row of {file.shown_as} has a column `{printable(name)}`"
        report.setting(at, message, did_you_mean(name, there))
    _check_rows(file, task.shape.item_type)
    return False


def _check_rows(file: RowFile, kind: type[BaseModel]) -> None:
    """Check broken lines and ids, where rows can't be parsed as items."""
    lines: dict[str, int] = {}
    for row in file.rows(kind):
        file.key_of(row, lines)


def _own_file(draft: Draft, report: CheckReport) -> RowFile | None:
    if "round" in draft.raw:
        asked = draft.table(RoundSettings, "round")
        return row_file(asked.file, draft.at("round", "file"), report) if asked else None
    items = draft.table(ItemSettings, "items")
    return row_file(items.file, draft.at("items", "file"), report, items.id) if items else None


def _check_no_choices(draft: Draft, task: Task, report: CheckReport) -> None:
    """Report settings that need a task where people choose from a list."""
    asked = draft.raw.get("judgments")
    wrong, fix = "`{}` needs a task where people choose from a list", "Leave it out, or give the stage another task."
    if isinstance(asked, dict) and "stable" in asked:
        report.setting(draft.at("judgments", "stable"), wrong.format("stable"), fix, task.name)
    if "quality" in draft.raw:
        report.setting(draft.at("quality"), wrong.format("quality"), fix, task.name)


def _task_of(draft: Draft, report: CheckReport) -> Task | None:
    name = draft.text("task")
    tasks = installed_tasks()
    if name is not None and name not in tasks:
        broken = [kit.package for kit in installed().broken]
        repair = f" Or repair the kits that could not be loaded: {', '.join(broken)}." if broken else ""
        fix = did_you_mean(name, tasks) + repair
        report.setting(draft.at("task"), "there is no such task", fix, name, missing=True)
    return None if name is None else tasks.get(name)


def _options_of(draft: Draft, task: Task, drafts: Sequence[Draft], report: CheckReport) -> BaseModel | None:
    options = draft.raw.get("options", {})
    if not isinstance(options, dict):
        return None
    at = draft.at("options")
    if "options_from" in draft.raw:
        source = _options_source(draft, drafts, report)
        if source is None or not is_valid(task.options.model, source.raw.get("options", {})):
            return None  # their problems are reported there
        at = draft.at("options" if draft.raw["options"] != source.raw.get("options", {}) else "options_from")
    return parsed_settings(task.options.model, options, at, report)


def _options_source(draft: Draft, drafts: Sequence[Draft], report: CheckReport) -> Draft | None:
    """The stage whose options are shared here; None if they can't be."""
    name = draft.text("options_from")
    if name is None:
        return None  # not a text, which is reported with the other settings
    at = draft.at("options_from")
    sharing = [each for each in drafts if each.text("task") == draft.text("task") and "options_from" not in each.raw]
    source = next((each for each in drafts if each.name == name), None)
    if source in sharing:
        return source
    if source is None:
        problem = "there is no such stage"
    elif source is draft:
        problem = "is the stage itself"
    elif source.text("task") != draft.text("task"):
        problem = f"is a stage with another task (`{source.text('task')}`)"
    else:
        problem = "takes its own options from another stage"
    fix = did_you_mean(name, [each.name for each in sharing if each.name])
    report.setting(at, problem, fix, name, missing=source is None)
    return None


def _read_items_of(
    draft: Draft, task: Task | None, drafts: Sequence[Draft], earlier: Sequence[StageFiles], report: CheckReport
) -> tuple[tuple[NewItem, ...], frozenset[str]]:
    """Read the items of a stage from its file, and the ids that gold can't have."""
    settings = draft.table(ItemSettings, "items")
    if settings is None:
        return (), frozenset()
    if settings.from_:
        at = draft.at("items", "from")
        sources = [earlier_stage(name, draft, drafts, at, report) for name in settings.from_]
        if settings.of == "results" and task and task.deriving.derive is None and not task.deriving.from_results:
            fix = 'Give the stage a `file` of items, set `of = "answers"` in [stage.items], or choose another task.'
            report.setting(draft.at("task"), "is a task that can't derive items from another stage", fix, task.name)
        return (), frozenset().union(*(earlier[source].taken for source in sources if source is not None))
    file = row_file(settings.file, draft.at("items", "file"), report, settings.id)
    if file is None or task is None:
        return (), frozenset()
    items = tuple(_items_in(file, task))
    return items, frozenset(item.key for item in items) | frozenset(item.group for item in items)


def _check_sources(
    draft: Draft,
    task: Task | None,
    options: BaseModel | None,
    drafts: Sequence[Draft],
    earlier: Sequence[StageFiles],
    report: CheckReport,
) -> list[Payload]:
    """Check that a stage can take its items from its source stages. Returns examples of items made from labels."""
    settings = draft.table(ItemSettings, "items")
    examples: list[Payload] = []
    for other, source in zip(drafts, earlier, strict=False):
        if settings is None or other.name not in settings.from_ or source.task is None:
            continue
        possible = check_where(draft, settings, other.name, source.task, report)
        if task is None:
            continue
        if possible and settings.of == "results" and task.deriving.from_results and task.deriving.derive is None:
            examples += check_label_items(draft, other.name, source.task, task, source.examples, report)
        problem = (
            None if task.deriving.source_problem is None else task.deriving.source_problem(options, source.options)
        )
        if problem is not None:
            message = f"does not match the stage {other.name!r} that its items come from: {problem.message}"
            report.setting(draft.at("options"), message, problem.fix, problem.value)
    return examples


def _items_in(file: RowFile, task: Task) -> Iterator[NewItem]:
    lines: dict[str, int] = {}
    keys: set[str] = set()
    if task.shape.may_be_empty and file.is_blank:
        return
    for row in file.rows(task.shape.of_rows):
        key = file.key_of(row, lines)
        payload = file.shaped(row, task.shape.of_rows, task.shape.parse_row)
        if key is None or payload is None:
            continue
        for item in task.shape.expand(payload, key):
            if item.key in keys:
                message = "`id` gives an item the same ID as an item of another row"
                file.problem(row.line, message, "Give the row another `id`.", key)
            keys.add(item.key)
            yield item
    if file.count == 0:
        file.problem(None, "has no items", "Write one row per item.")


def _read_gold_of(
    draft: Draft, task: Task | None, items: Sequence[NewItem], taken: frozenset[str], report: CheckReport
) -> tuple[tuple[GoldRow, ...], int | None]:
    if "round" in draft.raw:
        return _read_round_of(draft, task, report)
    settings = draft.table(GoldSettings, "gold")
    items_of = draft.table(ItemSettings, "items")
    ids = items_of.id if items_of else "id"
    file = settings and row_file(settings.file, draft.at("gold", "file"), report, ids, or_id=True)
    if not settings or not file or not task:
        return (), None
    if settings.unit == "part" and task.grading.gold_parts == 1:
        report.setting(
            draft.at("gold", "unit"),
            f"the task {task.name} grades every answer as a whole, so there are no parts to count",
            'Leave `unit` out, or set it to "item".',
            settings.unit,
        )
    gold = tuple(_gold_in(file, task, taken, items))
    if settings.share > 0 and file.count is not None and file.count < settings.after:
        report.setting(
            draft.at("gold", "after"),
            f"{settings.file} has {plural(file.count, 'row', 'rows')}, but the minimum accuracy applies only after "
            f"{settings.after} gold answers (`after`)",
            f"Write at least {settings.after} gold rows, or lower `after`.",
            settings.after,
        )
    return gold, file.count


def _read_round_of(draft: Draft, task: Task | None, report: CheckReport) -> tuple[tuple[GoldRow, ...], int | None]:
    """Read the items of a round, which all have known answers."""
    settings = draft.table(RoundSettings, "round")
    file = settings and row_file(settings.file, draft.at("round", "file"), report)
    if not settings or not file or not task:
        return (), None
    rows = tuple(_gold_in(file, task, frozenset()))
    if settings.size is not None and file.count is not None and file.count < settings.size:
        report.setting(
            draft.at("round", "size"),
            f"{settings.file} has {plural(file.count, 'row', 'rows')}, fewer than the `size` of the round",
            f"Write at least {settings.size} rows, or lower `size`.",
            settings.size,
        )
    if file.count == 0:
        file.problem(None, "has no items", "Write one row per item.")
    return rows, file.count


def _gold_in(file: RowFile, task: Task, taken: frozenset[str], items: Sequence[NewItem] = ()) -> Iterator[GoldRow]:
    lines: dict[str, int] = {}
    once = task.shape.asked_once
    groups = {} if once is None else once.groups(items)
    for row in file.rows(task.shape.item_type):
        key = file.key_of(row, lines)
        if key in taken:
            file.problem(row.line, "`id` is already used by an item", "Give the gold row another `id`.", key)
        payload = file.shaped(row, task.shape.item_type, task.shape.parse_item)
        answered, answer = file.answer_of(row, partial(task.shape.parse_gold, item=payload))
        explanation = file.explanation_of(row)
        if key is not None and payload is not None and answered and explanation is not None:
            # Gold that equals an item is in the item's group: nobody gets both.
            group = key if once is None else groups.get(once.identity(payload), key)
            yield GoldRow(NewItem(key=key, payload=payload, group=group), answer, explanation)


def _read_truth_of(draft: Draft, task: Task | None, report: CheckReport) -> tuple[TruthRow, ...]:
    settings = draft.table(RehearsalSettings, "rehearsal")
    file = settings and row_file(settings.truth, draft.at("rehearsal", "truth"), report)
    return tuple(_truth_in(file, task)) if file and task else ()


def _truth_in(file: RowFile, task: Task) -> Iterator[TruthRow]:
    for row in file.rows(task.shape.item_type):
        payload = file.shaped(row, task.shape.item_type, task.shape.parse_item)
        answered, answer = file.answer_of(row, partial(task.shape.parse_answer, item=payload))
        if payload is not None and answered:
            yield TruthRow(task.form.shown(payload), answer)
