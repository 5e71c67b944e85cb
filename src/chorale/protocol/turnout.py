"""The minimum number of people a study needs, and how many of them pass through each stage."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from chorale.model import EXPERT, GateSettings, NewItem, StageSettings, StudySettings
from chorale.protocol.gates import share_of


@dataclass(frozen=True, slots=True)
class Turnout:
    """The minimum number of people who can complete a study, if nobody fails a gate that could pass everybody."""

    workers: int
    stages: Mapping[str, int]
    """People by stage; 0 if only experts work there."""
    scored: Mapping[str, int]
    """By gate: the number of people it decides about. If it closes at `workers` people, it is this number; otherwise,
    enough people for the required number to pass.
    """
    needed: Mapping[str, int]
    """By gate: the number who must pass."""

    def passing(self, gate: GateSettings) -> int:
        """The maximum number who pass a gate, not counting ties."""
        return passing(gate, self.scored[gate.name])


def passing(gate: GateSettings, scored: int) -> int:
    """The maximum number of people who can pass a gate if this number of people is scored."""
    if gate.top is not None:
        return min(scored, gate.top)
    return scored if gate.top_share is None else share_of(scored, gate.top_share)


def closes_at(gate: GateSettings, stages: Mapping[str, StageSettings]) -> int | None:
    """The number of scored workers at which a gate closes automatically; None if there may be more, or a person closes
    it. Rounds are graded at once. If people grade, the gate waits for all grades, and more workers may be scored by
    then.
    """
    if gate.workers is None or gate.decides_each or any(stages[name].round is None for name in gate.stage):
        return None
    return gate.workers


def fewest_people(
    settings: StudySettings,
    items: Mapping[str, Sequence[NewItem]],
    *,
    most_judgments: bool = False,
    as_expected: bool = False,
) -> Turnout:
    """Count back from the last stages to the first: a worker in a stage has passed through all earlier ones.

    `items` are the items from files, by stage. With `most_judgments`, there are enough people for the maximum number
    of judgments; with `as_expected`, at least `expected` people reach each gate.
    """
    counting = _Counting(settings, items, most_judgments=most_judgments, as_expected=as_expected)
    return Turnout(
        counting.together(settings.stage),
        {stage.name: counting.doing(stage) for stage in settings.stage},
        {gate.name: counting.scored(gate) for gate in settings.gate},
        {gate.name: counting.needed(gate) for gate in settings.gate},
    )


class _Counting:
    def __init__(
        self,
        settings: StudySettings,
        items: Mapping[str, Sequence[NewItem]],
        *,
        most_judgments: bool,
        as_expected: bool,
    ) -> None:
        self._settings = settings
        self._items = items
        self._most_judgments = most_judgments
        self._as_expected = as_expected
        self._stages = {stage.name: stage for stage in settings.stage}
        self._people_in: dict[str, int] = {}

    def doing(self, stage: StageSettings) -> int:
        """The required number of people; for a round, the expected number admitted, since practice is paid as well."""
        asked = set(stage.entry.qualifications)
        through = [passing(gate, self.scored(gate)) for gate in self._settings.gate if gate.name in asked]
        let_in = min(through, default=1) if self._as_expected and stage.round is not None and not stage.arms else 1
        return max(self.in_stage(stage), let_in)

    def in_stage(self, stage: StageSettings) -> int:
        if stage.name not in self._people_in:
            later = (other for other in self._settings.stage if other.entry.qualified_in == stage.name)
            self._people_in[stage.name] = (
                0
                if EXPERT in stage.entry.qualifications
                else max(
                    self._for_its_own_work(stage),
                    *(self.scored(gate) for gate in self._settings.gate if stage.name in gate.stage),
                    *map(self.in_stage, later),
                    1,
                )
            )
        return self._people_in[stage.name]

    def scored(self, gate: GateSettings) -> int:
        ends = closes_at(gate, self._stages)
        if ends is not None:
            return ends
        share = gate.top_share or 1.0
        for_passing = ceil(self.needed(gate) / share)
        promote = gate.promote
        promoted = 0 if promote is None else self._needed_with(promote.to, gate)
        for_promotion = ceil(promoted / promote.top_share) if promote is not None and promote.top_share else promoted
        expected = gate.expected if self._as_expected and gate.expected is not None else 1
        return max(gate.workers or 1, expected, for_passing, for_promotion)

    def needed(self, gate: GateSettings) -> int:
        return self._needed_with(gate.name, gate)

    def together(self, stages: Iterable[StageSettings], among: frozenset[str] = frozenset()) -> int:
        """The number of people needed for all of these stages, if everybody works in every stage open to their arm.

        Only people of the arms `among` are counted, or people of all arms if `among` is empty.
        """
        arms = self._settings.arms
        weights = {} if arms is None else dict(zip(arms.names, arms.weights or (1,) * len(arms.names), strict=False))
        needed = 0
        for stage in stages:
            people = self.in_stage(stage)
            theirs = sum(weight for arm, weight in weights.items() if arm in stage.arms and (arm in among or not among))
            # Only a part of all people is assigned to an arm of this stage.
            everybody = sum(weight for arm, weight in weights.items() if arm in among or not among)
            needed = max(needed, ceil(people * everybody / theirs) if theirs else people)
        return needed

    def _needed_with(self, qualification: str, gate: GateSettings) -> int:
        among = (frozenset(self._stages[name].arms) for name in gate.stage if self._stages[name].arms)
        return self.together(self._that_ask_for(qualification, gate), frozenset().union(*among))

    def _that_ask_for(self, qualification: str, gate: GateSettings) -> list[StageSettings]:
        arms = self._settings.arms
        for_arms = arms is not None and arms.after == qualification
        return [
            stage
            for stage in self._settings.stage
            if stage.name not in gate.stage
            and (qualification in stage.entry.qualifications or (for_arms and bool(stage.arms)))
        ]

    def _for_its_own_work(self, stage: StageSettings) -> int:
        if stage.round is not None:
            return 1
        judgments = self._judgments(stage)
        items = self._items.get(stage.name, ())
        parts = Counter(item.group for item in items)
        people = max(parts.values(), default=1) * judgments
        if stage.sources and stage.entry.exclude_contributors:
            people += self._contributors(stage)
        if stage.max_per_worker:
            people = max(people, ceil(len(items) * judgments / stage.max_per_worker))
        return people

    def _judgments(self, stage: StageSettings) -> int:
        asked = stage.judgments.max if self._most_judgments else stage.judgments.min
        more = stage.judgments.sample
        return asked if more is None else max(asked, more.judgments)

    def _contributors(self, stage: StageSettings) -> int:
        """The number of people who worked on the source of an item and do not get it."""
        if stage.items is not None and stage.items.of == "answers":
            return 1
        sources = (self._stages[name] for name in stage.sources)
        return max((self._judgments(one) for one in sources if EXPERT not in one.entry.qualifications), default=0)
