"""Alarms about careless answers: too fast, all the same, copied from the item, or the same text repeated."""

import json
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from chorale.contract import AnswerField
from chorale.engine.running import RunningStage, Study
from chorale.model import AssignmentKind, Response, SenseSettings
from chorale.model.plural import plural
from chorale.monitor.alarm import Alarm
from chorale.protocol.sense import straight_lines, too_fast
from chorale.store import Tx
from chorale.store.codec import as_text
from chorale.store.responses import all_responses
from chorale.store.watching import answered_before
from chorale.text.near_duplicates import contains_copy, near_duplicates
from chorale.text.scripts import length_in_words

MOST_LOOKED_AT = 10_000
"""How many of the latest answers of a stage are checked."""


def senseless_answers(tx: Tx, study: Study) -> Iterator[Alarm]:
    """Alarms by the checks in the study file, for every stage with items."""
    for stage in study.stages.values():
        if stage.round_size is not None or stage.is_for_experts:
            continue
        rule = stage.settings.sense
        answers = _latest(tx, stage)
        yield from _fast(stage, rule, answers)
        yield from _the_same(stage, rule, answers)
        for field in stage.task.shape.fields:
            if not field.compared:
                yield from _copied(stage, rule, field, answers)
                yield from _again(stage, rule, field, answers)


def _latest(tx: Tx, stage: RunningStage) -> list[Response]:
    """The latest answers, without those of removed workers: nothing is left to do about them."""
    after = answered_before(tx, stage.id, MOST_LOOKED_AT)
    given = all_responses(tx, stage_name=stage.name, after=after)
    return [one for one in given if one.kind == AssignmentKind.PRODUCTION and one.counts]


def _by_worker(answers: Sequence[Response]) -> dict[str, list[Response]]:
    by_worker: dict[str, list[Response]] = defaultdict(list)
    for response in answers:
        by_worker[response.worker].append(response)
    return by_worker


def _fast(stage: RunningStage, rule: SenseSettings, answers: Sequence[Response]) -> Iterator[Alarm]:
    if rule.min_seconds is None:
        return
    given = {name: [(one.item, one.duration_ms) for one in some] for name, some in _by_worker(answers).items()}
    hurried = too_fast(given, rule.min_seconds * 1000)
    if hurried:
        worst = hurried[0]
        yield Alarm(
            "too-fast",
            f"{plural(len(hurried), 'worker answers', 'workers answer')} in less than {_seconds(rule.min_seconds)} in "
            f"“{stage.settings.title}”: {worst.worker} gave {worst.fast} of "
            f"{plural(worst.answers, 'answer', 'answers')} this fast, the fastest in "
            f"{worst.fastest_ms / 1000:.1f} seconds",
            "Check these answers, and remove the workers if they did not read the items.",
            tuple(one.worker for one in hurried),
            items=tuple((stage.name, item) for item in worst.items),
            stages=(stage.name,),
            serious=True,
        )


def _seconds(number: float) -> str:
    return "1 second" if number == 1 else f"{number:g} seconds"


def _the_same(stage: RunningStage, rule: SenseSettings, answers: Sequence[Response]) -> Iterator[Alarm]:
    if not rule.same_answers:
        return
    compared: dict[str, list[tuple[str, Hashable]]] = {
        name: [(one.item, _chosen(stage, one)) for one in some] for name, some in _by_worker(answers).items()
    }
    lines = straight_lines(compared, rule.same_answers)
    if lines:
        worst = lines[0]
        yield Alarm(
            "straight-line",
            f"{plural(len(lines), 'worker gives', 'workers give')} the same answer to many items in a row in "
            f"“{stage.settings.title}”: the longest run is {worst.length} items, by {worst.worker}; "
            f"{worst.others:.0%} of other workers' answers to these items are different",
            "Check these answers, and remove the workers if they did not read the items.",
            tuple(one.worker for one in lines),
            items=tuple((stage.name, item) for item in worst.items),
            stages=(stage.name,),
            serious=True,
        )


def _chosen(stage: RunningStage, given: Response) -> Hashable:
    """An answer reduced to chosen options, for comparison: spans and texts differ anyway."""
    if not stage.task.shape.fields:
        return as_text(given.answer)
    chosen = {field.name: given.answer.get(field.name) for field in stage.task.shape.compared if field.item is None}
    return as_text(chosen or given.answer)


def _copied(
    stage: RunningStage, rule: SenseSettings, field: AnswerField, answers: Sequence[Response]
) -> Iterator[Alarm]:
    if not rule.copied_words:
        return
    copies: dict[str, list[Response]] = defaultdict(list)
    for response in answers:
        text = response.answer.get(field.name)
        if isinstance(text, str) and length_in_words(text) >= rule.copied_words:
            shown = stage.task.form.view(json.loads(response.item_payload)).values()
            if any(contains_copy(text, _shown_text(part), rule.copied_words) for part in shown):
                copies[response.worker].append(response)
    if copies:
        worst, those = max(copies.items(), key=lambda one: (len(one[1]), one[0]))
        yield Alarm(
            "copied",
            f"{plural(len(copies), 'worker copies', 'workers copy')} the item into {field.name} in "
            f"“{stage.settings.title}”: {worst} did so {plural(len(those), 'time', 'times')}",
            "Check these answers. In the guidelines, ask workers to use their own words.",
            tuple(sorted(copies, key=lambda name: (-len(copies[name]), name))),
            items=tuple((stage.name, one.item) for one in those),
            stages=(stage.name,),
        )


def _shown_text(value: Any) -> str:
    """The text of a column that people see: a text, a list of tokens, or the turns of a dialogue."""
    if isinstance(value, str):
        return value
    parts = value if isinstance(value, Sequence) else ()
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in parts)
    return " ".join(text for text in texts if isinstance(text, str))


def _again(
    stage: RunningStage, rule: SenseSettings, field: AnswerField, answers: Sequence[Response]
) -> Iterator[Alarm]:
    if not rule.same_text:
        return
    again: dict[str, tuple[int, str, list[Response]]] = {}
    for name, some in _by_worker(answers).items():
        written = [one for one in some if isinstance(one.answer.get(field.name), str)]
        clusters = near_duplicates([one.answer[field.name] for one in written])
        if clusters and len(clusters[0]) >= rule.same_text:
            those = [written[place] for place in clusters[0]]
            again[name] = (len(those), those[0].answer[field.name], those)
    if again:
        worst, (times, text, those) = max(again.items(), key=lambda one: (one[1][0], one[0]))
        yield Alarm(
            "same-text",
            f"{plural(len(again), 'worker writes', 'workers write')} nearly the same {field.name} many times in "
            f"“{stage.settings.title}”: {worst} wrote “{text[:80]}” {plural(times, 'time', 'times')}",
            "Check these answers, and remove the workers if they did not read the items.",
            tuple(sorted(again, key=lambda name: (-again[name][0], name))),
            items=tuple((stage.name, one.item) for one in those),
            stages=(stage.name,),
        )
