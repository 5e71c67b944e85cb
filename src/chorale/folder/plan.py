"""The plan of a study: items, judgments, cost, wages and workers, before anybody has worked."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from chorale.folder.expected_pay import works_for_nothing
from chorale.folder.field_notes import about_fields, about_media
from chorale.folder.gold_notes import about_gold, parts_of_gold, planned_gold_share
from chorale.folder.panel_notes import about_panel
from chorale.folder.planned_judgments import planned_judgments
from chorale.folder.reading import StageContent, StudyFolder
from chorale.folder.reading_plan import Pace, ReadingPlan, pace_of, pay_each, reading_notes, reading_plan
from chorale.folder.study_language import about_language
from chorale.folder.templates import is_from_template
from chorale.folder.wage_notes import wage_notes
from chorale.model import GateSettings, money_text
from chorale.protocol import Turnout, fee_due, fee_on, fewest_people, hourly_wage


@dataclass(frozen=True, slots=True)
class StagePlan:
    name: str
    task: str
    items: int
    at_most: bool
    """Whether the number of items depends on an earlier stage's results; `items` is then the maximum."""
    gold_items: int
    judgments: int
    """The minimum number of judgments that complete all items."""
    gold_answers: int
    """Number of gold answers, which are also paid."""
    cost: int
    """The cost of these judgments and gold answers, including fees, without replaced work."""
    most: int
    """The cost if every item needs the most judgments."""
    hourly_wage: int | None
    """Hourly wage, by the expected time per judgment or the time to read and write, plus the guidelines once per
    worker; None if unknown.
    """
    pace: Pace | None = None
    """How the hourly wage is computed; None if it is unknown."""
    per_worker: int | None = None
    """In a round: the cost per worker, including fees."""
    workers: int | None = None
    """In a round: the number of workers that the cost assumes: a gate's `expected` or `workers`, or the minimum."""
    reading: ReadingPlan | None = None
    """The minimum time for its items; None if they are derived later."""
    by_chance: bool = False
    """Whether items are a random sample of an earlier stage's results, so their number is approximate."""
    asked: float | None = None
    """If a model answers first: the fraction of items that people are expected to judge; None if all."""


@dataclass(frozen=True, slots=True)
class GatePlan:
    name: str
    workers: int
    """The number of workers the gate decides about: its `expected`, or the minimum who can complete the study."""
    passing: int
    """The maximum number who can pass, not counting ties."""
    cost: int
    """The cost of their bonuses, including fees."""


@dataclass(frozen=True, slots=True)
class StudyPlan:
    title: str
    currency: str
    stages: tuple[StagePlan, ...]
    cost: int
    most: int
    workers: int
    """The planned number of people: the minimum if everybody passes, or a gate's `expected`."""
    gates: tuple[GatePlan, ...] = ()
    parts: bool = False
    """Whether items have groups, of which nobody judges two items."""
    training: int = 0
    """The cost of all rounds per worker, including fees."""


def plan_study(folder: StudyFolder, unsure: Mapping[str, float] = MappingProxyType({})) -> StudyPlan:
    """The plan of a study. `unsure` is the fraction of items, by stage, that a model was measured to be unsure of."""
    pay = folder.settings.pay
    turnout = _turnout(folder)
    coming = _coming(folder, turnout)
    stages = []
    for content in folder.stages:
        name = content.settings.name
        items = coming[name] if content.settings.sources else {name: len(content.items)}
        if content.settings.round is None:
            stages.append(plan_stage(content, items, pay.fee_percent, turnout.stages[name], unsure.get(name)))
        else:
            stages.append(_plan_round(content, turnout.stages[name], pay.fee_percent))
    gates = tuple(_plan_gate(gate, turnout, pay.fee_percent) for gate in folder.settings.gate)
    bonuses = sum(gate.cost for gate in gates)
    return StudyPlan(
        folder.settings.study.title,
        pay.currency,
        tuple(stages),
        sum(stage.cost for stage in stages) + bonuses,
        sum(stage.most for stage in stages) + bonuses,
        turnout.workers,
        gates,
        any(len({item.group for item in content.items}) < len(content.items) for content in folder.stages),
        sum(stage.per_worker or 0 for stage in stages),
    )


def _turnout(folder: StudyFolder) -> Turnout:
    """The number of people a study is planned for."""
    files = {content.settings.name: content.items for content in folder.stages}
    return fewest_people(folder.settings, files, most_judgments=True, as_expected=True)


def _with_fee(paid: int, fee_percent: float) -> int:
    return paid + fee_due(fee_on(paid, fee_percent), 0)


def _plan_round(content: StageContent, workers: int, fee_percent: float) -> StagePlan:
    """The cost of a round per worker, and for everybody who must do it."""
    stage = content.settings
    size = (stage.round.size if stage.round else None) or len(content.gold)
    each = pay_each(content)
    paid = round(size * each) + stage.pay.finished
    reading = reading_plan(content)
    pace = pace_of(stage.pay.expected_seconds, reading, size, paid / size)
    cost = _with_fee(paid * workers, fee_percent)
    return StagePlan(
        name=stage.name,
        task=stage.task,
        items=size,
        at_most=False,
        gold_items=size,
        judgments=size * workers,
        gold_answers=0,
        cost=cost,
        most=cost,
        hourly_wage=None if pace is None else hourly_wage(paid, round(size * pace.seconds * 1000)),
        pace=pace,
        reading=reading,
        per_worker=_with_fee(paid, fee_percent),
        workers=workers,
    )


def _plan_gate(gate: GateSettings, turnout: Turnout, fee_percent: float) -> GatePlan:
    passing = turnout.passing(gate)
    return GatePlan(gate.name, turnout.scored[gate.name], passing, _with_fee(passing * gate.bonus, fee_percent))


def _coming(folder: StudyFolder, turnout: Turnout) -> dict[str, dict[str, int]]:
    """The maximum number of groups in each stage, which is the maximum number of items for one person, by source stage.

    Items from a file have the stage itself as source.
    """
    groups: dict[str, dict[str, int]] = {}
    things: dict[str, int] = {}
    answers: dict[str, int] = {}
    for content in folder.stages:
        stage = content.settings
        items = len(content.items)
        # Duplicate rows are asked once, but each row can still become an item of a later stage.
        things[stage.name] = len({item.group for item in content.unmerged})
        groups[stage.name] = {stage.name: len({item.group for item in content.items})}
        if stage.items is not None and stage.sources:
            # A later stage gets at most one item per group, or per answer, of its source stages.
            of = answers if stage.items.of == "answers" else things
            groups[stage.name] = {name: _drawn(of[name], stage.items.sample) for name in stage.sources}
            if stage.items.per_worker is not None:
                drawn = {name: stage.items.per_worker * turnout.stages[name] for name in stage.sources}
                groups[stage.name] = {name: min(count, drawn[name]) for name, count in groups[stage.name].items()}
            items = things[stage.name] = sum(groups[stage.name].values())
        answers[stage.name] = items * stage.judgments.max
    return groups


def _drawn(of: int, share: float) -> int:
    """The approximate number of sampled items; at least one if there are any."""
    return max(round(of * share), 1 if of and share else 0)


def plan_stage(
    content: StageContent,
    coming: Mapping[str, int],
    fee_percent: float,
    workers: int = 1,
    unsure: float | None = None,
) -> StagePlan:
    """The plan of a stage, by the number of its items from each source stage and its number of workers."""
    stage = content.settings
    share = planned_gold_share(content, sum(coming.values()))

    def gold_among(judgments: int) -> int:
        return round(judgments * share / (1 - share))

    each = pay_each(content)
    bonus = stage.gold.bonus if stage.gold else None

    def cost(judgments: int) -> int:
        paid = round((judgments + gold_among(judgments)) * each)
        if bonus is not None:
            # Assuming that everybody gets the bonus.
            paid += gold_among(judgments) * parts_of_gold(content) // bonus.of * bonus.amount
        if judgments and stage.grades:
            # The number of graders per answer; there may be more graders in total.
            paid += stage.judgments.min * stage.pay.finished
        return paid + fee_due(fee_on(paid, fee_percent), 0)

    planned = planned_judgments(stage, coming, unsure)
    judgments = planned.expected
    reading = reading_plan(content)
    each_answers = (judgments + gold_among(judgments)) / max(workers, 1)
    answers = min(each_answers, stage.max_per_worker or each_answers)
    on_average = each + (share * bonus.amount / bonus.of if bonus else 0)
    pace = None
    if not works_for_nothing(stage.entry, stage.pay):
        pace = pace_of(stage.pay.expected_seconds, reading, answers, on_average)
    by_chance = stage.items is not None and 0 < stage.items.sample < 1
    return StagePlan(
        name=stage.name,
        task=stage.task,
        items=sum(coming.values()),
        at_most=bool(stage.sources) and not by_chance,
        gold_items=len(content.gold),
        judgments=judgments,
        gold_answers=gold_among(judgments),
        cost=cost(judgments),
        most=cost(planned.most),
        hourly_wage=None if pace is None else hourly_wage(on_average, round(pace.seconds * 1000)),
        pace=pace,
        reading=reading,
        by_chance=by_chance,
        asked=planned.asked,
    )


_STAGES = "stage \0"
_PLACEHOLDER = re.compile(r"\[[a-z][a-z ]{0,40}\](?!\()")


def study_notes(folder: StudyFolder) -> list[str]:
    """Notes on what to do or review before launch. They are not errors."""
    turnout = _turnout(folder)
    coming = _coming(folder, turnout)
    per_stage: dict[str, list[str]] = {}
    notes = [
        *_placeholders_left(folder),
        *_examples_left(folder),
        *about_language(folder),
        *_budget_runs_out(folder),
        *wage_notes(folder, {stage.name: stage.hourly_wage for stage in plan_study(folder).stages}),
        *reading_notes(folder),
        *about_panel(folder),
    ]
    for content in folder.stages:
        name = content.settings.name
        each = coming[name]
        most = sum(each.values())
        stage_notes = (
            *(_gold_runs_out(content, most), _sample_is_short(content, each), *_few_qualify(content, most, folder)),
        )
        # A group's items count one by one here: different people answer them, each with gold in between.
        items = each if content.settings.sources else {name: len(content.items)}
        few_removed = _hardly_anybody_is_reviewed(content, most)
        for note in (*stage_notes, few_removed, *about_gold(content, items, turnout.workers, warned=bool(few_removed))):
            if note:
                per_stage.setdefault(note.replace(f"stage {name}", _STAGES), []).append(name)
        notes += about_fields(content)
        notes += about_media(content, folder.path)
    return notes + [note.replace(_STAGES, _stages(names)) for note, names in per_stage.items()]


def _stages(names: Sequence[str]) -> str:
    return f"stage {names[0]}" if len(names) == 1 else f"stages {', '.join(names)}"


def _most_items(content: StageContent, groups: int) -> int:
    """The maximum number of items per worker, including gold."""
    share = planned_gold_share(content, groups)
    items = round(groups / (1 - share))
    return min(items, content.settings.max_per_worker or items)


def _hardly_anybody_is_reviewed(content: StageContent, groups: int) -> str | None:
    """A note if even a worker who does all items sees too little gold, on average, for the minimum accuracy."""
    stage = content.settings
    if stage.gold is None or stage.gold.share == 0:
        return None
    met = _most_items(content, groups) * planned_gold_share(content, groups) * parts_of_gold(content)
    if met >= stage.gold.after:
        return None
    return (
        f"hardly anybody in stage {stage.name} can be removed: a worker who does all items gives about {met:.2g} gold "
        f"answers, and the minimum accuracy applies after {stage.gold.after} (gold.after). Lower gold.after, or add "
        "gold"
    )


def _sample_is_short(content: StageContent, coming: Mapping[str, int]) -> str | None:
    """A note if there are fewer items than the study file samples."""
    more = content.settings.judgments.sample
    if more is None or more.items is None:
        return None
    own = content.settings.name
    there = ", ".join(
        f"{count:,} in its file" if name == own else f"{count:,} from {name}"
        for name, count in coming.items()
        if count < more.items
    )
    if not there:
        return None
    return (
        f"stage {content.settings.name} samples {more.items:,} items for {more.judgments} judgments each, but there "
        f"are at most {there}. Add items, or lower judgments.sample.items"
    )


def _few_qualify(content: StageContent, groups: int, folder: StudyFolder) -> Iterator[str]:
    """A note if most people can't see enough gold here to qualify for another stage."""
    here = content.settings
    if here.gold is None:
        return
    met = _most_items(content, groups) * planned_gold_share(content, groups)
    for stage in folder.settings.stage:
        if stage.entry.qualified_in == here.name and met < stage.entry.answered:
            yield (
                f"few people qualify for stage {stage.name}: a worker who does all items of {here.name} gives about "
                f"{met:.1f} gold answers, and {stage.entry.answered} are needed (entry.answered). Add items or "
                "gold, raise gold.share, or lower entry.answered"
            )


def _gold_runs_out(content: StageContent, groups: int) -> str | None:
    """A note if gold runs out: nobody gets a gold item twice, so later work is no longer checked."""
    stage = content.settings
    if stage.gold is None or stage.gold.share == 0:
        return None
    items, share = _most_items(content, groups), planned_gold_share(content, groups)
    enough = round(items * share)
    if len(content.gold) >= enough:
        return None
    seen = len(content.gold) / share
    return (
        f"the gold of stage {stage.name} runs out: a worker can do {items:,} items, and has seen all "
        f"{len(content.gold):,} gold items after about {seen:,.0f}. Write {enough:,} gold items in total, or "
        "limit max_per_worker"
    )


def _budget_runs_out(folder: StudyFolder) -> list[str]:
    """A note if the budget covers the minimum cost, but not the planned or the maximum cost."""
    pay, plan = folder.settings.pay, plan_study(folder)
    if pay.budget is None or pay.budget >= plan.most:
        return []
    budget, planned, most = (money_text(amount, pay.currency) for amount in (pay.budget, plan.cost, plan.most))
    if pay.budget >= plan.cost:
        return [
            f"the budget of {budget} does not cover {most}, the cost if every item needs the maximum number of "
            "annotations. Work stops when the budget is spent"
        ]
    return [f"the budget of {budget} does not cover the estimated {planned}. Work stops when the budget is spent"]


def _examples_left(folder: StudyFolder) -> list[str]:
    """Files that still have the template's items."""
    files = {
        content.settings.items.file: len(content.items)
        for content in folder.stages
        if content.settings.items is not None and content.settings.items.file is not None
    }
    left = [f"{name} (items: {count:,})" for name, count in files.items() if is_from_template(folder.path, name)]
    if not left:
        return []
    which = "still has the template's items" if len(left) == 1 else "still have the template's items"
    return [f"{', '.join(left)} {which}. Replace them with your own, as README.md explains"]


def consent_placeholders(text: str) -> list[str]:
    """Placeholders left in a consent form, e.g. `[institution]`."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(text)))


def _placeholders_left(folder: StudyFolder) -> list[str]:
    """Placeholders of the template that are still to be filled in."""
    info = folder.settings.study
    notes = []
    if left := consent_placeholders(folder.consent):
        notes.append(
            f"{info.consent} has placeholders: {', '.join(left)}. Until they are filled in, `serve --public-url` "
            "refuses to open the site"
        )
    for name, text in {each.settings.guidelines: each.guidelines for each in folder.stages}.items():
        if left := consent_placeholders(text):
            notes.append(f"{name} has placeholders: {', '.join(left)}")
    if info.contact.endswith("@example.org"):
        notes.append(f"the contact in study.toml is still {info.contact}. Write your own address")
    return notes
