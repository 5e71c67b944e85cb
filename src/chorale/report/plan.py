"""What a study will ask for and cost, before anybody has worked in it."""

import re
from dataclasses import dataclass

from chorale.protocol import fee_due, hourly_wage
from chorale.study import StudyFolder
from chorale.study.folder import StageContent


@dataclass(frozen=True, slots=True)
class StagePlan:
    name: str
    task: str
    items: int
    at_most: bool
    """Whether the number of items depends on the results of an earlier stage."""
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
    """By the time a judgment is expected to take; None if the study does not say."""


@dataclass(frozen=True, slots=True)
class StudyPlan:
    title: str
    currency: str
    stages: tuple[StagePlan, ...]
    cost: int
    most: int


def plan_study(folder: StudyFolder) -> StudyPlan:
    pay = folder.settings.pay
    groups: dict[str, int] = {}
    stages = []
    for content in folder.stages:
        source = content.settings.items.from_
        items = len(content.items) if source is None else groups[source]
        # A later stage can't get more than an item for every group of this one.
        groups[content.settings.name] = items if source else len({item.group for item in content.items})
        stages.append(plan_stage(content, items, pay.fee_percent))
    return StudyPlan(
        folder.settings.study.title,
        pay.currency,
        tuple(stages),
        sum(stage.cost for stage in stages),
        sum(stage.most for stage in stages),
    )


def plan_stage(content: StageContent, items: int, fee_percent: float) -> StagePlan:
    """What a stage will ask for if it gets this many items."""
    stage = content.settings
    share = stage.gold.share if stage.gold else 0.0

    def gold_among(judgments: int) -> int:
        return round(judgments * share / (1 - share))

    def cost(judgments: int) -> int:
        paid = (judgments + gold_among(judgments)) * stage.pay.per_judgment
        return paid + fee_due(paid, 0, fee_percent)

    judgments = items * stage.judgments.min
    seconds = stage.pay.expected_seconds
    return StagePlan(
        name=stage.name,
        task=stage.task,
        items=items,
        at_most=stage.items.from_ is not None,
        gold_items=len(content.gold),
        judgments=judgments,
        gold_answers=gold_among(judgments),
        cost=cost(judgments),
        most=cost(items * stage.judgments.max),
        hourly_wage=None if seconds is None else hourly_wage(stage.pay.per_judgment, seconds * 1000),
    )


_PLACEHOLDER = re.compile(r"\[[a-z][a-z ]{0,40}\](?!\()")


def placeholders_left(folder: StudyFolder) -> list[str]:
    """What a template left for the requester to fill in and is still there."""
    info = folder.settings.study
    found = dict.fromkeys(_PLACEHOLDER.findall(folder.consent))
    notes = [f"{info.consent} still says {' and '.join(found)}"] if found else []
    if info.contact.endswith("@example.org"):
        notes.append(f"the contact in study.toml is still {info.contact}")
    return notes
