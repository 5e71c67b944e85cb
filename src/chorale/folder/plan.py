"""What a study will ask for and cost, before anybody has worked in it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chorale.folder.expected_pay import works_for_nothing
from chorale.folder.field_notes import about_fields, about_media
from chorale.folder.gold_notes import about_gold, parts_of_gold
from chorale.folder.panel_notes import about_panel
from chorale.folder.reading import StageContent, StudyFolder
from chorale.folder.reading_plan import ReadingPlan, pay_each, reading_notes, reading_plan
from chorale.folder.templates import is_from_template
from chorale.model import GateSettings, money_text
from chorale.model.stage_settings import SampledJudgments
from chorale.protocol import Turnout, fee_due, fee_on, fewest_people, hourly_wage


@dataclass(frozen=True, slots=True)
class StagePlan:
    name: str
    task: str
    items: int
    at_most: bool
    """Whether the number of items depends on the results of an earlier stage, and is no more than this."""
    gold_items: int
    judgments: int
    """The fewest judgments that complete all items."""
    gold_answers: int
    """Answers to gold in between, which are paid as well."""
    cost: int
    """Of those judgments and gold answers, fees included; work that has to be done again comes on top."""
    most: int
    """The same if every item asks for the most judgments it can."""
    hourly_wage: int | None
    """By the time a judgment is expected to take, or what there is to read and write takes, and the guidelines once for
    each worker; None if the study does not say."""
    per_worker: int | None = None
    """In a round: what it costs for each worker, fees included."""
    workers: int | None = None
    """In a round: for how many its cost is: as a gate's `expected` or `workers` says, or the fewest who can do it."""
    reading: ReadingPlan | None = None
    """How long its items take at least; None where they are still to come."""
    by_chance: bool = False
    """Whether each item is drawn by chance from what an earlier stage gives: there may be more."""


@dataclass(frozen=True, slots=True)
class GatePlan:
    name: str
    workers: int
    """How many it decides about: as many as it says, or the fewest who can do the study."""
    passing: int
    """How many of them pass at most, but for those who share a place."""
    cost: int
    """Of their bonuses, fees included."""


@dataclass(frozen=True, slots=True)
class StudyPlan:
    title: str
    currency: str
    stages: tuple[StagePlan, ...]
    cost: int
    most: int
    workers: int
    """For how many it is planned: the fewest who can do it, if all pass wherever they can, or a gate's `expected`."""
    gates: tuple[GatePlan, ...] = ()
    parts: bool = False
    """Whether there are things with several parts, of which nobody judges two."""
    training: int = 0
    """What all rounds cost for each worker who does them, fees included."""


def plan_study(folder: StudyFolder) -> StudyPlan:
    pay = folder.settings.pay
    turnout = _turnout(folder)
    coming = _coming(folder, turnout)
    stages = []
    for content in folder.stages:
        name = content.settings.name
        items = coming[name] if content.settings.sources else {name: len(content.items)}
        if content.settings.round is None:
            stages.append(plan_stage(content, items, pay.fee_percent, turnout.stages[name]))
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
    """For how many people a study is planned."""
    files = {content.settings.name: content.items for content in folder.stages}
    return fewest_people(folder.settings, files, most_judgments=True, as_expected=True)


def _with_fee(paid: int, fee_percent: float) -> int:
    return paid + fee_due(fee_on(paid, fee_percent), 0)


def _plan_round(content: StageContent, workers: int, fee_percent: float) -> StagePlan:
    """What a round costs for each worker, and for all who must go through it."""
    stage = content.settings
    size = (stage.round.size if stage.round else None) or len(content.gold)
    each = pay_each(content)
    paid = round(size * each) + stage.pay.finished
    reading = reading_plan(content)
    seconds = _seconds_each(stage.pay.expected_seconds, reading, size)
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
        hourly_wage=None if seconds is None else hourly_wage(paid, round(size * seconds * 1000)),
        reading=reading,
        per_worker=_with_fee(paid, fee_percent),
        workers=workers,
    )


def _seconds_each(expected: int | None, reading: ReadingPlan | None, answers: float) -> float | None:
    """How long an answer takes: what the study file expects, and no less than what there is to read and to write.

    Everybody reads the guidelines once, for so many answers.
    """
    if expected is None or reading is None:
        return expected
    return max(expected, reading.mean + reading.writing) + reading.guidelines / max(answers, 1)


def _plan_gate(gate: GateSettings, turnout: Turnout, fee_percent: float) -> GatePlan:
    passing = turnout.passing(gate)
    return GatePlan(gate.name, turnout.scored[gate.name], passing, _with_fee(passing * gate.bonus, fee_percent))


def _coming(folder: StudyFolder, turnout: Turnout) -> dict[str, dict[str, int]]:
    """How many groups of items a stage has at most, as many as one person can get items: by the stages they come from.

    Items of a file come from the stage itself.
    """
    groups: dict[str, dict[str, int]] = {}
    things: dict[str, int] = {}
    answers: dict[str, int] = {}
    for content in folder.stages:
        stage = content.settings
        items = len(content.items)
        # What several rows ask is asked once, and each of the rows can still come to a later stage.
        things[stage.name] = len({item.group for item in content.unmerged})
        groups[stage.name] = {stage.name: len({item.group for item in content.items})}
        if stage.items is not None and stage.sources:
            # A later stage can't get more than an item for every group, or every answer, of those it is derived from.
            of = answers if stage.items.of == "answers" else things
            groups[stage.name] = {name: _drawn(of[name], stage.items.sample) for name in stage.sources}
            if stage.items.per_worker is not None:
                drawn = {name: stage.items.per_worker * turnout.stages[name] for name in stage.sources}
                groups[stage.name] = {name: min(count, drawn[name]) for name, count in groups[stage.name].items()}
            items = things[stage.name] = sum(groups[stage.name].values())
        answers[stage.name] = items * stage.judgments.max
    return groups


def _drawn(of: int, share: float) -> int:
    """How many items a share is about. One is planned for where there may be some: each is drawn by itself."""
    return max(round(of * share), 1 if of and share else 0)


def plan_stage(content: StageContent, coming: Mapping[str, int], fee_percent: float, workers: int = 1) -> StagePlan:
    """What a stage will ask of so many workers if it gets this many items from each stage they come from."""
    stage = content.settings
    items = sum(coming.values())
    share = stage.gold.share if stage.gold else 0.0

    def gold_among(judgments: int) -> int:
        return round(judgments * share / (1 - share))

    each = pay_each(content)
    bonus = stage.gold.bonus if stage.gold else None

    def cost(judgments: int) -> int:
        paid = round((judgments + gold_among(judgments)) * each)
        if bonus is not None:
            # As if everybody answered it well.
            paid += gold_among(judgments) * parts_of_gold(content) // bonus.of * bonus.amount
        if judgments and stage.grades:
            # Every answer has so many graders; there may be more of them.
            paid += stage.judgments.min * stage.pay.finished
        return paid + fee_due(fee_on(paid, fee_percent), 0)

    more = stage.judgments.sample
    drawn = 0 if more is None else _sampled(more, coming)
    extra = drawn * (more.judgments - stage.judgments.min) if more is not None else 0
    judgments = items * stage.judgments.min + extra
    reading = reading_plan(content)
    each_answers = (judgments + gold_among(judgments)) / max(workers, 1)
    answers = min(each_answers, stage.max_per_worker or each_answers)
    seconds = _seconds_each(stage.pay.expected_seconds, reading, answers)
    by_chance = stage.items is not None and 0 < stage.items.sample < 1
    on_average = each + (share * bonus.amount / bonus.of if bonus else 0)
    return StagePlan(
        name=stage.name,
        task=stage.task,
        items=items,
        at_most=bool(stage.sources) and not by_chance,
        gold_items=len(content.gold),
        judgments=judgments,
        gold_answers=gold_among(judgments),
        cost=cost(judgments),
        most=cost(items * stage.judgments.max + max(0, extra)),
        hourly_wage=None
        if seconds is None or works_for_nothing(stage.entry, stage.pay)
        else hourly_wage(on_average, round(seconds * 1000)),
        reading=reading,
        by_chance=by_chance,
    )


def _sampled(more: SampledJudgments, coming: Mapping[str, int]) -> int:
    """How many items get another number of judgments: a share of all, or so many from each stage they come from."""
    if more.items is None:
        return round((more.share or 0.0) * sum(coming.values()))
    return sum(min(more.items, count) for count in coming.values())


_PLACEHOLDER = re.compile(r"\[[a-z][a-z ]{0,40}\](?!\()")


def study_notes(folder: StudyFolder) -> list[str]:
    """What is no mistake, and should be looked at before people come."""
    turnout = _turnout(folder)
    coming = _coming(folder, turnout)
    notes = [
        *_placeholders_left(folder),
        *_examples_left(folder),
        *_budget_runs_out(folder),
        *_wages_not_checked(folder),
        *reading_notes(folder),
        *about_panel(folder),
    ]
    for content in folder.stages:
        each = coming[content.settings.name]
        most = sum(each.values())
        stage_notes = (
            _gold_runs_out(content, most),
            _nobody_is_reviewed(content, most),
            *_few_qualify(content, most, folder),
            _sample_is_short(content, each),
        )
        notes += [note for note in (*stage_notes, *about_gold(content, each, turnout.workers)) if note]
        notes += about_fields(content)
        notes += about_media(content, folder.path)
    return notes


def _most_items(content: StageContent, groups: int) -> int:
    """The most items one worker can get, gold included."""
    share = content.settings.gold.share if content.settings.gold else 0.0
    items = round(groups / (1 - share))
    return min(items, content.settings.max_per_worker or items)


def _nobody_is_reviewed(content: StageContent, groups: int) -> str | None:
    """Too little work for anybody to meet the gold it takes to be reviewed."""
    stage = content.settings
    if stage.gold is None or stage.gold.share == 0:
        return None
    met = _most_items(content, groups) * stage.gold.share
    if met >= stage.gold.after:
        return None
    return (
        f"nobody in stage {stage.name} can be dropped: who does all there is meets about {met:.0f} gold rows, and it "
        f"takes {stage.gold.after} (gold.after). Lower it, or raise gold.share"
    )


def _sample_is_short(content: StageContent, coming: Mapping[str, int]) -> str | None:
    """Fewer items than the study file wants to draw: all of them are drawn, and they are too few."""
    more = content.settings.judgments.sample
    short = {} if more is None or more.items is None else {k: n for k, n in coming.items() if n < more.items}
    if more is None or not short:
        return None
    there = ", ".join(f"{count:,} from {name}" for name, count in short.items())
    return (
        f"stage {content.settings.name} is to draw {more.items:,} items for {more.judgments} judgments each, and there "
        f"are at most {there}. Bring more items, or lower judgments.sample.items"
    )


def _few_qualify(content: StageContent, groups: int, folder: StudyFolder) -> Iterator[str]:
    """Too little work for most people to meet the gold here that lets them into another stage."""
    here = content.settings
    if here.gold is None:
        return
    met = _most_items(content, groups) * here.gold.share
    for stage in folder.settings.stage:
        if stage.entry.qualified_in == here.name and met < stage.entry.answered:
            yield (
                f"few people get into stage {stage.name}: who does all there is in {here.name} meets about {met:.1f} "
                f"gold rows, and it takes {stage.entry.answered} (entry.answered). Bring more items, raise gold.share "
                "there, or lower it"
            )


def _gold_runs_out(content: StageContent, groups: int) -> str | None:
    """Nobody meets gold twice: whoever has met it all goes on unchecked."""
    stage = content.settings
    if stage.gold is None or stage.gold.share == 0:
        return None
    items = _most_items(content, groups)
    enough = round(items * stage.gold.share)
    if len(content.gold) >= enough:
        return None
    seen = len(content.gold) / stage.gold.share
    return (
        f"the gold of stage {stage.name} runs out: a worker can do {items:,} items, and has seen all "
        f"{len(content.gold):,} gold rows after about {seen:,.0f}. Write {enough:,}, or limit max_per_worker"
    )


def _budget_runs_out(folder: StudyFolder) -> list[str]:
    """A budget that covers the least a study costs, and not what it is planned to or can."""
    pay, plan = folder.settings.pay, plan_study(folder)
    if pay.budget is None or pay.budget >= plan.most:
        return []
    budget, planned, most = (money_text(amount, pay.currency) for amount in (pay.budget, plan.cost, plan.most))
    if pay.budget >= plan.cost:
        return [
            f"the budget of {budget} does not cover the {most} above if every item asks for the most judgments: work "
            "ends when it is spent"
        ]
    return [f"the budget of {budget} does not cover the {planned} above: work ends when it is spent"]


def _wages_not_checked(folder: StudyFolder) -> list[str]:
    """Stages that don't say how long an answer takes: what they pay an hour, nobody can tell."""
    pay = folder.settings.pay
    names = [
        stage.name
        for stage in folder.settings.stage
        if stage.pay.expected_seconds is None and not works_for_nothing(stage.entry, stage.pay)
    ]
    if not pay.minimum_hourly or not names:
        return []
    least = money_text(pay.minimum_hourly, pay.currency)
    which = f"stage {names[0]} pays" if len(names) == 1 else f"stages {', '.join(names)} pay"
    return [
        f"whether {which} {least} an hour (pay.minimum_hourly) is not checked. Set stage.pay.expected_seconds there to "
        "the seconds an answer takes"
    ]


def _examples_left(folder: StudyFolder) -> list[str]:
    """Items that came with the template: enough to try a study out, and nobody's data."""
    files = {
        content.settings.items.file: len(content.items)
        for content in folder.stages
        if content.settings.items is not None and content.settings.items.file is not None
    }
    left = [f"{name} ({count:,})" for name, count in files.items() if is_from_template(folder.path, name)]
    if not left:
        return []
    which = "still has the template's items" if len(left) == 1 else "still have the template's items"
    return [f"{', '.join(left)} {which}. Bring your own, as many as the study is to have: README.md says how"]


def consent_placeholders(text: str) -> list[str]:
    """What is left to fill in in a consent form, e.g. `[institution]`."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(text)))


def _placeholders_left(folder: StudyFolder) -> list[str]:
    """What a template left for the requester to fill in and is still there."""
    info = folder.settings.study
    notes = []
    if left := consent_placeholders(folder.consent):
        notes.append(f"{info.consent} has placeholders: {', '.join(left)}. With --public-url the site does not open")
    for name, text in {each.settings.guidelines: each.guidelines for each in folder.stages}.items():
        if left := consent_placeholders(text):
            notes.append(f"{name} has placeholders: {', '.join(left)}")
    if info.contact.endswith("@example.org"):
        notes.append(f"the contact in study.toml is still {info.contact}")
    return notes
