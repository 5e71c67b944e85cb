"""Tests whether accounts that work together can distinguish gold from items, with every strategy that we know.

A group of accounts, alone or among honest workers, requests items and answers or skips them. It records everything that
a browser receives: which item, when, in which order, and the reply. Each strategy gives a score to every item that the
group received, and calls those with the highest (or the lowest) scores gold. The precision of the best strategy is
compared with the share of gold among the group's items, which is the precision of guessing. A strategy recognises gold
if its precision is more than 0.05 above that share.

The best strategy is chosen on half of the runs and measured on the others, so that its precision is not inflated by the
choice. The difference between precision and share varies from run to run. So its mean over runs has an interval by
Student's t. Gold is recognised if the mean is above 0.05 at an error rate of 1%, and hidden if it is below 0.05 at an
error rate of 5%. Otherwise there are too few runs to decide.

    PYTHONPATH=tests python -m bench.gold_attack --seeds 100   all cases, as a table

`bench.gold_timing` measures over HTTP whether response times reveal gold.
"""

import argparse
import re
import tempfile
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from math import inf, sqrt
from pathlib import Path
from random import Random
from statistics import fmean, pvariance, stdev
from typing import Any, NamedTuple

from chorale.engine import entering, work
from chorale.engine.opening import bring_in
from chorale.engine.running import Study
from chorale.engine.settling import settle_everything
from chorale.folder.reading import load_folder
from chorale.metrics.student import t_bound
from chorale.model import Refusal
from chorale.store import open_memory_store
from small_study import write_small_study

MARGIN = 0.05
FIRST_STAGE = "meaningful"
LONGEST_GRACE = 30


@dataclass(frozen=True)
class Case:
    """A study and who comes to it."""

    name: str
    items: int = 600
    gold: int = 67
    share: float = 0.1
    judgments: str = "3"
    gang: int = 10
    honest: int = 0
    skipping: float = 0.0
    """How likely an account of the group is to skip an item, as long as it may."""
    right: float = 1.0
    """How likely it is to answer gold correctly."""
    only_skips: bool = False
    """Whether an account leaves when it may not skip any more."""
    until: float = 0.9
    """Up to which part of all servings the study goes: when nothing is left, knowing gold is worth nothing."""
    floor: float = 0.0
    feedback: str = "none"
    grace: int = LONGEST_GRACE
    reuse: bool | None = None
    stage: str = "meaningful"
    """Where the group works. Honest workers fill the first stage, which the second is derived from."""


class Serving(NamedTuple):
    """What an account of the group gets to know with one item."""

    account: int
    item: str
    place: int
    """How many items the account got before."""
    at: int
    """How many items the group got before."""
    told: bool
    """Whether the reply to its answer said more than that the answer was taken, or paid more than others."""
    ended: bool
    """Whether the account was removed with it."""


@dataclass
class Seen:
    """All that the group knows."""

    servings: list[Serving] = field(default_factory=list)
    gold: set[str] = field(default_factory=set)
    """Which of them were gold: for grading strategies, not known to the group."""

    @property
    def share(self) -> float:
        return sum(one.item in self.gold for one in self.servings) / len(self.servings)

    def streams(self) -> list[list[Serving]]:
        """What each account was served."""
        streams: dict[int, list[Serving]] = defaultdict(list)
        for one in self.servings:
            streams[one.account].append(one)
        return list(streams.values())

    def by_account(self) -> list[list[str]]:
        return [[one.item for one in stream] for stream in self.streams()]

    def by_item(self) -> dict[str, list[Serving]]:
        met: dict[str, list[Serving]] = defaultdict(list)
        for one in self.servings:
            met[one.item].append(one)
        return met


SETTLED_EVERY_MS = 10_000
"""How often a site updates labels. Then the items of removed workers are offered to others."""


class _Clock:
    now = 1_800_000_000_000

    def __call__(self) -> int:
        return self.now


class World:
    """A study in memory and the people in it."""

    def __init__(self, case: Case, seed: int) -> None:
        self.case, self.rng, self.seen = case, Random(f"{seed}:{case.name}"), Seen()
        with tempfile.TemporaryDirectory() as name:
            write_small_study(
                Path(name),
                applications=case.items // 2,
                gold=case.gold,
                share=case.share,
                judgments=case.judgments,
                floor=case.floor,
                after=4,
                feedback=case.feedback,
                grace=case.grace,
                reuse=case.reuse,
                # Otherwise, gold of every run would have its place in the same order, which no group can know.
                seed=seed,
            )
            self._clock = _Clock()
            study = bring_in(load_folder(Path(name)), open_memory_store(), self._clock)
        self.study: Study = replace(study, secrets=Random(f"{seed}:{case.name}:secrets"))
        self._last_pay: dict[int, int] = defaultdict(int)
        self._settled_at = self._clock.now

    def act(self, what: Callable[..., Any], *args: Any) -> Any:
        return self.study.store.write(lambda tx: what(tx, self.study, *args)).result()

    def run(self) -> Seen:
        case = self.case
        everybody = list(range(case.gang + case.honest))
        ids = [self.act(entering.arrive, "prolific", f"person-{number}", {}).id for number in everybody]
        for worker_id in ids:
            self.act(entering.consent, worker_id)
        places = [0] * len(ids)
        fewest = int(re.findall(r"\d+", case.judgments)[0])
        last = case.until * case.items * fewest / (1 - case.share)
        if case.stage != FIRST_STAGE:
            # One item for every two of the first stage.
            last *= 1.5
        # As long as somebody of the group is there: the honest alone learn it nothing.
        while everybody and everybody[0] < case.gang and sum(places) < last:
            number = self.rng.choice(everybody)
            self._clock.now += self.rng.randrange(200, 2000)
            met = self._turn(number, ids[number], places[number])
            if met is None:
                everybody.remove(number)
            places[number] += bool(met)
        self.study.close()
        return self.seen

    def _turn(self, number: int, worker_id: int, place: int) -> bool | None:
        """Let somebody do one item; False if there is none for them yet, None if there is none any more."""
        in_gang = number < self.case.gang
        stage = self.case.stage if in_gang else FIRST_STAGE
        offer = self.act(work.next_item, self.study.stage(stage), worker_id)
        if offer.lease is None:
            return False if offer.status == "wait" else None
        text = next(iter(offer.view.values()))
        is_gold = "gold" in text
        if in_gang and self.rng.random() < self.case.skipping and self._skip(worker_id, offer.lease.token):
            self._note(number, text, place, told=False, ended=False)
            return True
        if in_gang and self.case.only_skips:
            self._note(number, text, place, told=False, ended=False)
            return None
        answer = "yes"
        if is_gold:
            right = self.rng.random() < (self.case.right if in_gang else 0.9)
            answer = "no" if (int(text.split()[-1]) % 2 == 1) == right else "yes"
        outcome = self.act(work.submit, worker_id, offer.lease.token, answer, f"key-{place:08d}", None)
        self._settle(removed=outcome.standing == "dropped")
        if in_gang:
            paid, self._last_pay[number] = outcome.progress.earned - self._last_pay[number], outcome.progress.earned
            told = (
                outcome.explanation is not None
                or outcome.right is not None
                or paid != (3 if stage == FIRST_STAGE else 4)
            )
            self._note(number, text, place, told=told, ended=outcome.standing == "dropped")
        if is_gold and in_gang:
            self.seen.gold.add(text)
        return True

    def _settle(self, *, removed: bool) -> None:
        """Update labels as a site does: regularly, and when a worker is informed of a removal."""
        if removed or self._clock.now >= self._settled_at + SETTLED_EVERY_MS:
            settle_everything(self.study)
            self._settled_at = self._clock.now

    def _skip(self, worker_id: int, token: str) -> bool:
        try:
            self.act(work.skip, worker_id, token)
        except Refusal:
            return False
        return True

    def _note(self, number: int, text: str, place: int, *, told: bool, ended: bool) -> None:
        self.seen.servings.append(Serving(number, text, place, len(self.seen.servings), told, ended))
        if "gold" in text:
            self.seen.gold.add(text)


# Strategies: a score for every item that the group met.

Scores = Mapping[str, float]


def _accounts(seen: Seen) -> Scores:
    """How many accounts met it: gold that is short comes to more of them."""
    return {item: len(met) for item, met in seen.by_item().items()}


def _common_order(seen: Seen) -> Scores:
    """How often it is in the longest common order of two accounts."""
    kept: dict[str, int] = defaultdict(int)
    shared: dict[str, int] = defaultdict(int)
    for first, second in combinations(seen.by_account(), 2):
        places = {item: place for place, item in enumerate(first)}
        common = [item for item in second if item in places]
        for item in common:
            shared[item] += 1
        for item in _longest_increasing(common, places):
            kept[item] += 1
    return {item: kept[item] / times for item, times in shared.items()}


def _longest_increasing(items: Sequence[str], places: Mapping[str, int]) -> list[str]:
    """The longest part of the items that stands in the order of their places."""
    ends: list[int] = []
    at: list[int] = []
    before = [-1] * len(items)
    for number, item in enumerate(items):
        place = bisect_left(ends, places[item])
        if place == len(ends):
            ends.append(places[item])
            at.append(number)
        else:
            ends[place], at[place] = places[item], number
        before[number] = at[place - 1] if place else -1
    found, number = [], at[-1] if at else -1
    while number >= 0:
        found.append(items[number])
        number = before[number]
    return found


def _out_of_order(seen: Seen) -> Scores:
    """Among how many of the items that two accounts share it stands elsewhere in the other's order."""
    moved: dict[str, list[float]] = defaultdict(list)
    for first, second in combinations(seen.by_account(), 2):
        both = set(first) & set(second)
        ranks = [
            {item: rank for rank, item in enumerate(one for one in stream if one in both)} for stream in (first, second)
        ]
        for item in both:
            moved[item].append(abs(ranks[0][item] - ranks[1][item]) / len(both))
    return {item: fmean(distances) for item, distances in moved.items()}


def _spread(seen: Seen) -> Scores:
    """How much the places differ at which accounts met it."""
    return {item: pvariance([one.place for one in met]) for item, met in seen.by_item().items() if len(met) > 1}


def _first(seen: Seen) -> Scores:
    """When the group met it first."""
    return {item: met[0].at for item, met in seen.by_item().items()}


def _last(seen: Seen) -> Scores:
    """When the group met it last: what comes when nothing else is left."""
    return {item: met[-1].at for item, met in seen.by_item().items()}


def _comes_back(seen: Seen) -> Scores:
    """How long after the first account the last one met it."""
    return {item: met[-1].at - met[0].at for item, met in seen.by_item().items()}


def _place(seen: Seen) -> Scores:
    """At which place accounts met it first."""
    return {item: met[0].place for item, met in seen.by_item().items()}


def _told(seen: Seen) -> Scores:
    """Whether a reply said or paid something that others do not."""
    return {item: float(any(one.told for one in met)) for item, met in seen.by_item().items()}


def _ended(seen: Seen) -> Scores:
    """Whether an account was removed with it."""
    return {item: float(any(one.ended for one in met)) for item, met in seen.by_item().items()}


def _before_removal(seen: Seen) -> Scores:
    """How many accounts were removed with it or within the grace after it, and how many met it without that."""
    scores: dict[str, float] = defaultdict(float)
    for stream in seen.streams() if any(one.ended for one in seen.servings) else ():
        ends = stream[-1].ended
        for back, one in enumerate(reversed(stream)):
            # The later answers of the grace say no more than the earlier: each is as likely to be the one.
            scores[one.item] += 1.0 if ends and back <= LONGEST_GRACE else -0.1
    return scores


def _accounts_early(seen: Seen) -> Scores:
    """How many accounts met it, for how long the group has known it."""
    end = len(seen.servings)
    return {item: len(met) / (end - met[0].at + end / 10) for item, met in seen.by_item().items()}


STRATEGIES: Mapping[str, Callable[[Seen], Scores]] = {
    "accounts that met it": _accounts,
    "accounts relative to age": _accounts_early,
    "common order": _common_order,
    "out of order": _out_of_order,
    "spread of places": _spread,
    "first met": _first,
    "last met": _last,
    "comes back": _comes_back,
    "place in the stream": _place,
    "replies": _told,
    "removal": _ended,
    "before a removal": _before_removal,
}
PARTS = (0.25, 0.5, 1.0)
"""How many items are called gold, as parts of the gold that the group met."""
FEWEST_CALLED = 3


def precisions(seen: Seen, rng: Random) -> dict[str, float]:
    """The precision of every strategy, upwards and downwards, for each number of items called."""
    found = {}
    for name, strategy in STRATEGIES.items():
        scores = strategy(seen)
        # Of the same score, any.
        shuffled = sorted(scores, key=lambda _: rng.random())
        for sign, way in ((-1, "most"), (1, "least")):
            # Where few have the highest score (as with replies), more are not called.
            ranked = [
                item for _, _, item in sorted((sign * scores[item], at, item) for at, item in enumerate(shuffled))
            ]
            for part in PARTS:
                called = ranked[: max(FEWEST_CALLED, round(part * len(seen.gold)))]
                if name in {"replies", "removal"} and sign < 0:
                    called = [item for item in called if scores[item]]
                if called:
                    found[f"{name}, {way}, {part:g}"] = sum(item in seen.gold for item in called) / len(called)
    return found


SHOWS_ERROR, HIDDEN_ERROR = 0.01, 0.05
"""How often gold is said to show, or to be hidden, where it stands exactly at the limit."""


@dataclass(frozen=True)
class Result:
    case: Case
    runs: int
    share: float
    strategy: str
    beyond: Sequence[float]
    """By how much the strategy's precision was above the share of gold, in each run it was measured in."""
    ways: Mapping[str, Sequence[float]]
    """The same of every strategy."""

    @property
    def precision(self) -> float:
        return self.share + fmean(self.beyond)

    @property
    def shows(self) -> bool:
        return bounds(self.beyond, SHOWS_ERROR)[0] > MARGIN

    @property
    def hidden(self) -> bool:
        return bounds(self.beyond, HIDDEN_ERROR)[1] <= MARGIN

    def row(self) -> str:
        low, high = (self.share + bound for bound in bounds(self.beyond, 0.025))
        verdict = "**shows**" if self.shows else "hidden" if self.hidden else "too few runs to tell"
        interval = f"{max(0.0, low):.3f}–{min(1.0, high):.3f}"
        return (
            f"| {self.case.name} | {self.share:.3f} | {self.precision:.3f} ({interval}) | {self.strategy} | {verdict} |"
        )


def bounds(values: Sequence[float], error: float) -> tuple[float, float]:
    """Below and above which the mean lies, each with this probability of being wrong."""
    middle = fmean(values)
    if len(values) < 2:
        return -inf, inf
    reach = t_bound(error, len(values) - 1) * stdev(values) / sqrt(len(values))
    return middle - reach, middle + reach


def attack(case: Case, seeds: Sequence[int]) -> Result:
    """The strategy that does best in half of the runs, and how well it does in the others."""
    halves: tuple[dict[str, list[float]], ...] = (defaultdict(list), defaultdict(list))
    shares = []
    for number, seed in enumerate(seeds):
        seen = World(case, seed).run()
        shares.append(seen.share)
        for name, precision in precisions(seen, Random(seed)).items():
            halves[number % 2][name].append(precision - seen.share)
    tried, measured = halves
    # What could be tried in few runs only, such as removals, is measured in as few.
    best = max(tried.keys() & measured.keys(), key=lambda name: fmean(tried[name]))
    return Result(case, len(shares), fmean(shares), best, measured[best], measured)


CASES = (
    Case("36 gold, three accounts that only skip", 648, 36, gang=3, skipping=1.0, only_skips=True, honest=20),
    Case("ten accounts that only skip", skipping=1.0, only_skips=True, honest=20),
    Case("ten accounts alone, answering"),
    Case("ten accounts alone, skipping what they may", skipping=0.3),
    Case("ten accounts alone, gold answered wrongly", right=0.3),
    Case("ten accounts alone, first third of the study", until=0.33),
    Case("ten among 30 honest", honest=30),
    Case("ten among 30 honest, skipping what they may", honest=30, skipping=0.3),
    Case("ten accounts alone, 2,000 items, 20% gold", 2000, 500, 0.2),
    Case("ten accounts alone, 5% gold", 1000, 53, 0.05),
    Case("ten accounts alone, 2 to 5 judgments", judgments="{ min = 2, max = 5, until = 0.9 }"),
    Case("ten accounts alone, three times the gold needed", gold=200),
    Case("ten accounts alone, when the study is over", until=2),
    Case("ten among 30 honest, when the study is over", honest=30, until=2),
    Case("ten accounts alone, three times the gold needed, when the study is over", gold=200, until=2),
    Case("ten accounts alone, half the gold needed", gold=33),
    Case("ten among 30 honest, a fifth of the gold needed", honest=30, gold=13),
    Case("ten accounts in a derived stage", 1200, 67, honest=20, stage="entailment"),
    Case("ten accounts in a derived stage, a fifth of the gold needed", 1200, 13, honest=20, stage="entailment"),
    Case("ten among 10 honest, removed below accuracy 0.6", right=0.3, floor=0.6, honest=10),
    # From here on gold shows, and `chorale check` says so.
    Case("ten accounts alone, half the gold needed, reuse = true", gold=33, reuse=True),
    Case("ten among 30 honest, a fifth of the gold needed, reuse = true", honest=30, gold=13, reuse=True),
    Case("ten among 10 honest, removed below accuracy 0.6 at once", right=0.3, floor=0.6, honest=10, grace=0),
    Case('ten accounts alone, feedback = "at once"', right=0.7, feedback="at once"),
)
HIDDEN = 20
"""How many of the cases, from the first on, are to hide gold."""


def _attacked(case: Case, runs: int) -> Result:
    return attack(case, range(runs))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=100, help="runs of each case")
    parser.add_argument("--only", default="")
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    print("| attackers | share of gold | best precision | strategy | gold |")
    print("| --- | ---: | ---: | --- | --- |")
    cases = [case for case in CASES if arguments.only in case.name]
    with ProcessPoolExecutor(arguments.processes) as pool:
        for result in pool.map(partial(_attacked, runs=arguments.seeds), cases):
            print(result.row(), flush=True)


if __name__ == "__main__":
    main()
