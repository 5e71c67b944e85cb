"""The maximum number of people who can reach a stage or gate, and where the study itself requires more people.

Unknown numbers are ignored: how many people join or fail, ties at a cut-off, people who finish just before a gate
closes, and manual admissions.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import ceil, inf
from typing import NamedTuple

from chorale.model import EXPERT, GateSettings, NewItem, StageSettings, StudySettings
from chorale.protocol.gates import share_of
from chorale.protocol.turnout import closes_at


class Limit(NamedTuple):
    """The maximum number of people, and the name of the gate or stage that sets it."""

    people: float
    by: str = ""


_NONE = Limit(inf)


class Shortage(NamedTuple):
    """A stage or gate that needs more people than can ever reach it."""

    name: str
    takes: int
    most: Limit


def stages_too_small(settings: StudySettings, items: Mapping[str, Sequence[NewItem]]) -> list[Shortage]:
    """The stages that can never be finished, because too few people can enter.

    `items` are the items from files, by stage; derived items are not included.
    """
    limits = _Limits(settings, items)
    entering = (Shortage(stage.name, limits.takes(stage), limits.in_stage(stage)) for stage in settings.stage)
    too_small = {one.name: one for one in entering if one.takes > one.most.people}
    reviewing = (one for stage in settings.stage for one in limits.among_writers(stage))
    return [
        *too_small.values(),
        *(one for one in reviewing if one.takes > one.most.people and one.name not in too_small),
    ]


def gates_that_wait(settings: StudySettings, items: Mapping[str, Sequence[NewItem]]) -> list[Shortage]:
    """The gates that wait for more scored people than there can be."""
    limits = _Limits(settings, items)
    waiting = (gate for gate in settings.gate if gate.workers is not None and not gate.decides_each)
    shortages = (Shortage(gate.name, gate.workers or 0, limits.scored(gate)) for gate in waiting)
    return [one for one in shortages if one.takes > one.most.people]


class _Limits:
    def __init__(self, settings: StudySettings, items: Mapping[str, Sequence[NewItem]]) -> None:
        self._settings = settings
        self._items = items
        self._stages = {stage.name: stage for stage in settings.stage}

    def in_stage(self, stage: StageSettings) -> Limit:
        if EXPERT in stage.entry.qualifications:
            return _NONE
        limits = [self._holding(name) for name in stage.entry.qualifications]
        if stage.entry.qualified_in is not None:
            limits.append(self.in_stage(self._stages[stage.entry.qualified_in]))
        if stage.arms:
            limits.append(self._in_arms(stage.arms))
        return min(limits, default=_NONE)

    def scored(self, gate: GateSettings) -> Limit:
        stages = [self._stages[name] for name in gate.stage]
        ends = closes_at(gate, self._stages)
        limits = [_NONE if ends is None else Limit(ends, gate.name)]
        for stage in stages:
            limits += (self.in_stage(stage), self._answering(stage, gate.graded), self._graded(stage))
        return min(limits)

    def takes(self, stage: StageSettings) -> int:
        """The number of different people a stage needs; if a gate may end it early, the number for a single answer."""
        if stage.round is not None:
            return 1
        each = _fewest(stage)
        if stage.grades:
            return each + min(1, self._kept_out(stage))
        if self._may_end(stage):
            return 1
        items = self._items.get(stage.name, ())
        people = each * max(Counter(item.group for item in items).values(), default=1)
        people = max(people, self._for_a_sampled_one(stage))
        if stage.max_per_worker is not None:
            people = max(people, ceil(len(items) * each / stage.max_per_worker))
        return people + self._kept_out(stage)

    def _for_a_sampled_one(self, stage: StageSettings) -> int:
        """The number of judgments of a sampled item, if at least one is certain to be sampled."""
        more = stage.judgments.sample
        if more is None:
            return 0
        drawn = (
            more.items if more.items is not None else round((more.share or 0) * len(self._items.get(stage.name, ())))
        )
        return more.judgments if drawn else 0

    def among_writers(self, stage: StageSettings) -> Iterator[Shortage]:
        """The number of people an item needs if the same people write and review: the sum of writers and reviewers.

        Nobody reviews answers to an item they wrote about.
        """
        if not stage.entry.exclude_contributors:
            return
        for source in (self._stages[name] for name in stage.sources):
            if set(source.entry.qualifications) <= self._implied(stage) and self._same_people(stage, source):
                yield Shortage(stage.name, _fewest(stage) + self._writers(source), self.in_stage(source))

    def _implied(self, stage: StageSettings) -> set[str]:
        """The qualifications of everybody who may enter a stage: the required ones, and those that they imply."""
        held = list(stage.entry.qualifications)
        for name in held:
            for gate in self._settings.gate:
                if name == gate.name or (gate.promote is not None and name == gate.promote.to):
                    asked = (one for each in gate.stage for one in self._stages[each].entry.qualifications)
                    held += [one for one in (gate.name, *asked) if one not in held]
        return set(held)

    def _same_people(self, stage: StageSettings, source: StageSettings) -> bool:
        """Whether admission to the two stages differs only in qualifications."""
        arms = not source.arms or (bool(stage.arms) and set(stage.arms) <= set(source.arms))
        return arms and source.entry.qualified_in in (None, stage.entry.qualified_in)

    def _writers(self, source: StageSettings) -> int:
        """The number of people who work on at least one item of a stage before a gate ends it or it is full."""
        if not self._may_end(source):
            return _fewest(source)
        items = len(self._items.get(source.name, ()))
        gates = [gate for gate in self._settings.gate if source.name in gate.stage and not gate.decides_each]
        scored = max(((gate.workers or 1) * gate.graded for gate in gates), default=1)
        return ceil(scored / items) if items else 1

    def _may_end(self, stage: StageSettings) -> bool:
        """Whether a gate ends the stage when it closes, full or not."""
        return any(not gate.decides_each and stage.name in gate.stage for gate in self._settings.gate)

    def _holding(self, qualification: str) -> Limit:
        for gate in self._settings.gate:
            if gate.name == qualification:
                return self._passing(gate)
            if gate.promote is not None and gate.promote.to == qualification:
                return self._share(gate, gate.promote.top_share)
        return _NONE

    def _passing(self, gate: GateSettings) -> Limit:
        if gate.top is not None:
            return min(self.scored(gate), Limit(gate.top, gate.name))
        return self.scored(gate) if gate.top_share is None else self._share(gate, gate.top_share)

    def _share(self, gate: GateSettings, share: float) -> Limit:
        scored = self.scored(gate)
        if scored.people == inf or (gate.ties == "pass" and scored.by == gate.name):
            # All workers scored when the gate closes may be tied, and then all of them pass.
            return scored
        return Limit(share_of(int(scored.people), share), gate.name)

    def _in_arms(self, names: Sequence[str]) -> Limit:
        """The maximum number of people in these arms: each block has people of every arm by the arms' weights."""
        arms = self._settings.arms
        if arms is None or arms.after is None:
            return _NONE
        everybody = self._holding(arms.after)
        if everybody.people == inf or arms.stratify is not None:
            return everybody
        weights = dict(zip(arms.names, arms.weights or (1,) * len(arms.names), strict=True))
        theirs = sum(weights[name] for name in names)
        people, once, largest = int(everybody.people), sum(weights.values()), max(arms.blocks)
        # In an incomplete block, places of these arms may all come first.
        most = max(
            full * theirs + min(people - full * once, largest * theirs)
            for full in range(max(0, people // once - largest), people // once + 1)
        )
        return Limit(most, everybody.by)

    def _answering(self, stage: StageSettings, graded: int) -> Limit:
        """How many people can give this number of answers each in a stage, limited by its items."""
        if stage.name not in self._items or stage.round is not None or stage.sources:
            return _NONE
        more = stage.judgments.sample
        each = max(stage.judgments.max, more.judgments if more else 0)
        return Limit(len(self._items.get(stage.name, ())) * each // graded, stage.name)

    def _graded(self, stage: StageSettings) -> Limit:
        """How many people's work can be graded: not the graders' own if there are too few graders for that."""
        grading = [one for one in self._settings.stage if one.grades and stage.name in one.sources]
        if len(grading) != 1 or not grading[0].entry.exclude_contributors:
            return _NONE
        graders, everybody = self.in_stage(grading[0]), self.in_stage(stage)
        among = set(stage.entry.qualifications) <= self._implied(grading[0]) and self._same_people(grading[0], stage)
        if everybody.people == inf or graders.people > _fewest(grading[0]) or not among:
            return _NONE
        return Limit(max(0, everybody.people - graders.people), grading[0].name)

    def _kept_out(self, stage: StageSettings) -> int:
        """The minimum number of admitted people who worked on an item's source and so do not get the item.

        This is certain only if everybody who worked there may enter here.
        """
        if not stage.entry.exclude_contributors:
            return 0
        asked = set(stage.entry.qualifications)
        kept_out = 0
        for source in (self._stages[name] for name in stage.sources):
            inside = not stage.arms or (bool(source.arms) and set(source.arms) <= set(stage.arms))
            if inside and asked <= set(source.entry.qualifications):
                early = stage.items is not None and stage.items.of == "answers" and self._may_end(source)
                kept_out = max(kept_out, 1 if early else _fewest(source))
        return kept_out


def _fewest(stage: StageSettings) -> int:
    """The minimum number of judgments that can complete an item."""
    more = stage.judgments.sample
    return stage.judgments.min if more is None else min(stage.judgments.min, more.judgments)
