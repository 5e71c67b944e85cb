"""Reads and checks the stages of a study: each alone, then their dependencies."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from chorale.contract import Task
from chorale.contract.reading_time import estimated_seconds
from chorale.contract.task import one_part
from chorale.folder.checking.content import KnownAnswers
from chorale.folder.checking.drafts import Draft, earlier_stage
from chorale.folder.checking.report import CheckReport
from chorale.folder.checking.settings_shape import salvaged
from chorale.folder.checking.stage_files import StageFiles, read_stage_files
from chorale.folder.expected_pay import expected_pay, expected_writing, works_for_nothing
from chorale.model import (
    EntrySettings,
    GoldSettings,
    ItemSettings,
    JudgmentSettings,
    PaySettings,
    RoundSettings,
    StagePay,
    money_text,
)


def read_stages(raw: Mapping[str, Any], report: CheckReport) -> list[StageFiles]:
    """The content of every stage of the study file that can be read."""
    pay = salvaged(PaySettings, raw.get("pay", {}))
    stages = raw.get("stage")
    drafts = [
        Draft(index, stage)
        for index, stage in enumerate(stages if isinstance(stages, list) else [])
        if isinstance(stage, dict)
    ]
    _check_names(drafts, report)
    contents: list[StageFiles] = []
    for draft in drafts:
        contents.append(read_stage_files(draft, drafts, contents, report))
        _check_pay(draft, pay, contents[-1], report)
        _check_parts(draft, contents[-1].task, report)
        _check_needed_fields(draft, contents[-1].task, report)
    _check_confidence(drafts, report)
    _check_entry(drafts, contents, report)
    return contents


def _check_names(drafts: Sequence[Draft], report: CheckReport) -> None:
    seen: set[str] = set()
    for draft in drafts:
        if draft.name in seen:
            report.setting(
                draft.at("name"),
                "`stage.name` is also the name of an earlier stage",
                "Give every stage a unique name.",
                draft.name,
            )
        elif draft.name is not None:
            seen.add(draft.name)


def _check_pay(draft: Draft, pay: PaySettings | None, content: StageFiles, report: CheckReport) -> None:
    """Report pay below the minimum, by the expected time per answer or the time to read the items."""
    stage = draft.table(StagePay, "pay")
    if stage is None or pay is None or not pay.minimum_hourly:
        return
    # Unpaid work has no wage, unless the study file sets the expected time.
    reading = (
        _reading_seconds(draft, content) if stage.per_judgment or stage.by_length or stage.expected_seconds else 0.0
    )
    if stage.expected_seconds is None and not reading:
        return
    seconds = max(stage.expected_seconds or 0, reading)
    entry = draft.table(EntrySettings, "entry")
    if entry is not None and works_for_nothing(entry, stage):
        return
    # The pay for finishing a round is spread over its answers.
    asked = draft.table(RoundSettings, "round") if "round" in draft.raw else None
    size = (asked.size if asked else None) or content.gold_count or 0
    each = _for_an_answer(stage, content) + (stage.finished / size if asked and size else 0)
    if each * 3600 < pay.minimum_hourly * seconds:
        enough = stage.per_judgment + math.ceil(pay.minimum_hourly * seconds / 3600 - each)
        hourly = int(each * 3600 // seconds)
        doing = "read and answer in writing" if _writing_seconds(draft, content) else "read"
        why = (
            f": an item takes about {reading:.0f} seconds to {doing}" if reading > (stage.expected_seconds or 0) else ""
        )
        report.setting(
            draft.at("pay", "per_judgment"),
            f"`stage.pay` pays {money_text(hourly, pay.currency)} an hour, below `pay.minimum_hourly` "
            f"({money_text(pay.minimum_hourly, pay.currency)}){why}",
            f"Pay at least {enough} ({money_text(enough, pay.currency)}) per judgment.",
            stage.per_judgment,
        )


def _reading_seconds(draft: Draft, content: StageFiles) -> float:
    """The mean of the minimum times for items; 0 if the items are derived later."""
    items = [row.item for row in content.gold] if "round" in draft.raw else content.items
    if content.task is None or not items:
        return 0.0
    task = content.task
    return fmean(estimated_seconds(task, item.payload) for item in items) + _writing_seconds(draft, content)


def _writing_seconds(draft: Draft, content: StageFiles) -> float:
    """The time to write an answer; 0 if nothing is written."""
    pay = draft.table(StagePay, "pay")
    if pay is None or content.task is None:
        return 0.0
    return expected_writing(pay, content.task, _known(content, content.task))


def _known(content: StageFiles, task: Task) -> KnownAnswers:
    return KnownAnswers.of(task, content.items, content.gold, content.truth)


def _check_parts(draft: Draft, task: Task | None, report: CheckReport) -> None:
    """Report pay for more parts than an answer can have."""
    pay = draft.table(StagePay, "pay")
    if pay is None or pay.parts is None or task is None:
        return
    most = 1 if task.grading.parts is one_part else task.grading.most_parts
    if most is not None and pay.parts.beyond >= most:
        fields = "Set `part = true` in more fields" if task.shape.fields else "Lower `beyond`"
        report.setting(
            draft.at("pay", "parts"),
            f"is never paid: the maximum number of parts of an answer is {most}, and it pays for those beyond "
            f"{pay.parts.beyond}",
            f"{fields}, or leave `parts` out.",
        )


def _check_needed_fields(draft: Draft, task: Task | None, report: CheckReport) -> None:
    """Check that deciding fields exist and are compared."""
    rule = draft.table(JudgmentSettings, "judgments") if isinstance(draft.raw.get("judgments"), Mapping) else None
    if rule is None or not rule.fields or task is None:
        return
    compared = [field.name for field in task.shape.compared]
    for name in rule.fields:
        if name not in compared:
            known = ", ".join(f"`{each}`" for each in compared)
            fix = f"Use some of: {known}." if known else "Leave it out: answers here have no fields to compare."
            kind = "free text" if name in {each.name for each in task.shape.fields} else "not a field of the answer"
            report.setting(draft.at("judgments", "fields"), f"names {name!r}, which is {kind}", fix)


def _for_an_answer(pay: StagePay, content: StageFiles) -> float:
    if content.task is None:
        return pay.per_judgment
    shown = [item.payload for item in content.items or [row.item for row in content.gold]]
    return expected_pay(pay, content.task, _known(content, content.task), shown)


def _check_confidence(drafts: Sequence[Draft], report: CheckReport) -> None:
    """Items are derived only from accepted results, so a lower confidence has no effect."""
    by_name = {draft.name: draft for draft in reversed(drafts)}
    for draft in drafts:
        items = draft.table(ItemSettings, "items")
        if items is None or items.of != "results":
            continue
        for name in items.from_:
            source = by_name.get(name)
            released = source and source.number("release_confidence")
            # Values above 1 are reported separately.
            if released and items.confidence < released <= 1:
                report.setting(
                    draft.at("items", "confidence"),
                    f"`stage.items.confidence` is below the `release_confidence` of `{name}` ({released:g}), "
                    "so it has no effect",
                    f"Write at least {released:g}, or lower the `release_confidence` there.",
                    items.confidence,
                )


def _check_entry(drafts: Sequence[Draft], contents: Sequence[StageFiles], report: CheckReport) -> None:
    """Check that people can qualify in the earlier stage."""
    for draft in drafts:
        entry = draft.table(EntrySettings, "entry")
        if entry is None or entry.qualified_in is None:
            continue
        at = draft.at("entry", "qualified_in")
        index = earlier_stage(entry.qualified_in, draft, drafts, at, report)
        if index is None:
            continue
        gold = drafts[index].table(GoldSettings, "gold")
        if "gold" not in drafts[index].raw or (gold and gold.share == 0):
            report.setting(
                at, "is a stage without gold, so nobody can qualify there", "Give that stage gold.", entry.qualified_in
            )
        elif gold:
            _check_answered(draft, entry, drafts[index], gold.share, contents[index].gold_count, report)


def _check_answered(
    draft: Draft, entry: EntrySettings, there: Draft, share: float, gold_count: int | None, report: CheckReport
) -> None:
    """Check that there is enough gold to qualify, within the limit of answers per person."""
    at = draft.at("entry", "answered")
    if gold_count is not None and gold_count < entry.answered:
        report.setting(
            at,
            f"the stage `{there.name}` has {gold_count} gold rows, too few for anybody to qualify",
            f"Write at least {entry.answered} gold rows there, or lower `answered`.",
            entry.answered,
        )
    limit = there.number("max_per_worker")
    # With a tolerance, since 100 * 0.29 is below 29. Limits below 1 are reported separately.
    if limit is not None and limit >= 1 and limit * share < entry.answered - 1e-9:
        report.setting(
            at,
            f"workers see about {limit * share:.2g} gold items in the stage `{there.name}`, too few to qualify: its "
            f"`max_per_worker` is {limit}",
            "Raise `max_per_worker` or the share of gold there, or lower `answered`.",
            entry.answered,
        )
