"""Inter-annotator agreement: annotators are scored against each other (Roit et al. 2020, section 4).

A pair of annotators is scored on the verbs both annotated. With redundant answers, the score depends slightly on which
annotator is the gold, so the scores of both directions are averaged. The agreement of a group is the mean over its
pairs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from chorale.kits.qasrl.files import Integers, QuestionAnswers, Rows, SpanColumns, Verb
from chorale.kits.qasrl.metrics.measures import MEASURES, Rules, align, counts_of, metric, statistics
from chorale.metrics import Counts, FloatArray, Metric, Statistics

_COUNTS = 3 * len(MEASURES)
_TeamOf = Callable[[int, int], frozenset[str]]
"""Maps verb and worker numbers to the people behind the annotation."""


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two annotators or two teams. `counts` are summed over both directions."""

    first: str
    second: str
    verbs: int
    counts: Mapping[str, Counts]
    scores: Mapping[str, float]
    """`ua_f1` and so on: the mean of both directions."""


@dataclass(frozen=True, slots=True, eq=False)
class QasrlAgreement:
    pairs: tuple[PairAgreement, ...]
    scores: Mapping[str, float]
    """Agreement as the mean over pairs."""
    counts: Mapping[str, Counts]
    verbs: tuple[str, ...]
    """The verbs with two or more annotators."""
    _place: Integers
    """The verb number of every comparison."""
    _pair: Integers
    """The pair number of every comparison, times two, plus the direction."""
    _rows: FloatArray
    """The counts of every comparison."""

    def statistics(self) -> Statistics:
        """Counts of every pair in both directions as columns, one row per verb."""
        names = [(pair.first, pair.second) for pair in self.pairs]
        return Statistics(self.verbs, self._laid_out(self.verbs, names))

    def of_pairs(self) -> list[Statistics]:
        """For each pair and each common verb: nine counts per direction."""
        cells, cell = np.unique(self._pair // 2 * len(self.verbs) + self._place, return_inverse=True)
        both = np.zeros((len(cells), 2, _COUNTS))
        np.add.at(both, (cell.reshape(-1), self._pair % 2), self._rows)
        edges = np.searchsorted(cells, np.arange(len(self.pairs) + 1) * len(self.verbs))
        rows = both.reshape(len(cells), -1)
        names = [self.verbs[verb] for verb in (cells % len(self.verbs)).tolist()]
        return [Statistics(tuple(names[low:high]), rows[low:high]) for low, high in pairwise(edges.tolist())]

    def beside(self, other: "QasrlAgreement") -> tuple[Statistics, Statistics, Metric] | None:
        """Statistics of both files over their common verbs and the pairs of either, or None without a common verb.

        A pair that only one file has gets zero counts in the other file, and is left out of the other file's mean.
        """
        verbs = sorted(set(self.verbs) & set(other.verbs))
        if not verbs:
            return None
        names = sorted({(pair.first, pair.second) for one in (self, other) for pair in one.pairs})
        ours, theirs = (Statistics(tuple(verbs), one._laid_out(verbs, names)) for one in (self, other))
        return ours, theirs, agreement_metric(len(names))

    def _laid_out(self, verbs: Sequence[str], names: Sequence[tuple[str, str]]) -> FloatArray:
        at = {verb: place for place, verb in enumerate(verbs)}
        number = {name: place for place, name in enumerate(names)}
        place = np.array([at.get(verb, -1) for verb in self.verbs], dtype=np.int64)[self._place]
        pair = np.array([number[one.first, one.second] for one in self.pairs], dtype=np.int64)[self._pair // 2]
        kept = place >= 0
        table = np.zeros((len(verbs), 2 * len(names), _COUNTS))
        np.add.at(table, (place[kept], (2 * pair + self._pair % 2)[kept]), self._rows[kept])
        return table.reshape(len(verbs), -1)


def agreement(table: QuestionAnswers, rules: Rules | None = None) -> QasrlAgreement | None:
    """Agreement between the workers of one file, or None if no verb has two workers."""

    def alone(_verb: int, worker: int) -> frozenset[str]:
        return frozenset({table.workers[worker]})

    return _agreement(table, rules or Rules(), alone, disjoint=False)


def consolidated_agreement(table: QuestionAnswers, rules: Rules | None = None) -> QasrlAgreement | None:
    """Agreement between consolidated annotations of the same verbs by disjoint teams, or None if there are none.

    A team is a consolidator and the writers whose work they saw, usually three people.
    """

    def team(verb: int, worker: int) -> frozenset[str]:
        return table.teams.get((table.verbs[verb], table.workers[worker]), frozenset())

    return _agreement(table, rules or Rules(), team, disjoint=True)


def agreement_metric(pairs: int) -> Metric:
    """The mean over pairs, from the columns of `QasrlAgreement.statistics`. Pairs without counts are left out."""
    of_pair = metric()

    def formula(sums: FloatArray) -> dict[str, FloatArray | float]:
        by_pair = sums.reshape(*sums.shape[:-1], pairs, 2, _COUNTS)
        there = by_pair.any(axis=(-1, -2))
        weights = there / np.maximum(1, there.sum(axis=-1, keepdims=True))
        scores = of_pair.formula(by_pair)
        return {name: (np.asarray(value).mean(axis=-1) * weights).sum(axis=-1) for name, value in scores.items()}

    return Metric(formula)


def _agreement(table: QuestionAnswers, rules: Rules, team_of: _TeamOf, *, disjoint: bool) -> QasrlAgreement | None:
    compared = _comparisons(table, team_of, disjoint=disjoint)
    if not compared:
        return None
    keys = sorted({_unordered(first, second) for _, _, _, first, second in compared})
    number = {key: place for place, key in enumerate(keys)}
    shared = sorted({verb for verb, *_ in compared})
    place_of = {verb: place for place, verb in enumerate(shared)}
    place = np.array([place_of[verb] for verb, *_ in compared], dtype=np.int64)
    listed = [2 * number[_unordered(first, second)] + (first > second) for _, _, _, first, second in compared]
    pair = np.array(listed, dtype=np.int64)
    rows = _compare(table, [(verb, one, other) for verb, one, other, _, _ in compared], rules)
    sums = np.zeros((2 * len(keys), _COUNTS))
    np.add.at(sums, pair, rows)
    verbs = np.bincount(pair // 2, minlength=len(keys)) // 2
    pairs = tuple(
        PairAgreement(*key, int(verbs[at]), counts_of(sums[2 * at : 2 * at + 2].sum(axis=0)), _both(sums[2 * at :][:2]))
        for at, key in enumerate(keys)
    )
    means = {name: float(np.mean([one.scores[name] for one in pairs])) for name in pairs[0].scores}
    names = tuple(str(table.verbs[verb]) for verb in shared)
    return QasrlAgreement(pairs, means, counts_of(sums.sum(axis=0)), names, place, pair, rows)


def _unordered(first: str, second: str) -> tuple[str, str]:
    return min(first, second), max(first, second)


def _comparisons(table: QuestionAnswers, team_of: _TeamOf, *, disjoint: bool) -> list[tuple[int, int, int, str, str]]:
    """Every ordered pair of workers on a verb: verb, both worker numbers, and the names of both sides."""
    workers_of: dict[int, list[int]] = {}
    there = np.unique(np.column_stack([table.rows.verb, table.rows.worker]), axis=0)
    for verb, worker in there.tolist():
        if table.workers[worker]:
            workers_of.setdefault(verb, []).append(worker)
    comparisons = []
    for verb, workers in workers_of.items():
        teams = {worker: team_of(verb, worker) for worker in workers} if len(workers) > 1 else {}
        for worker, first in teams.items():
            for other, second in teams.items():
                if worker != other and first and second and not (disjoint and first & second):
                    comparisons.append((verb, worker, other, "+".join(sorted(first)), "+".join(sorted(second))))
    return comparisons


def _compare(table: QuestionAnswers, compared: list[tuple[int, int, int]], rules: Rules) -> FloatArray:
    """Counts of all comparisons from one alignment, where each comparison is a separate verb."""
    names = tuple(Verb(f"{number:09d}", 0) for number in range(len(compared)))
    verb, first, second = (np.array(column, dtype=np.int64) for column in zip(*compared, strict=True))
    system, gold = (_copied(table, names, verb * len(table.workers) + worker) for worker in (first, second))
    return statistics(align(system, gold, rules)).rows


def _copied(table: QuestionAnswers, names: tuple[Verb, ...], wanted: Integers) -> QuestionAnswers:
    """A table with one verb per requested annotation (verb and worker as one number)."""
    key = table.rows.verb * len(table.workers) + table.rows.worker
    rows, number = _members(np.argsort(key, kind="stable"), key, wanted)
    spans, row = _members(np.argsort(table.answers.row, kind="stable"), table.answers.row, rows)
    return replace(
        table,
        verbs=names,
        words=("",) * len(names),
        rows=Rows(number, table.rows.question[rows], table.rows.worker[rows]),
        answers=SpanColumns(row, table.answers.start[spans], table.answers.end[spans]),
    )


def _members(order: Integers, key: Integers, wanted: Integers) -> tuple[Integers, Integers]:
    """Positions of every requested key, concatenated, with the index of the key for each position."""
    ordered = key[order]
    first = np.searchsorted(ordered, wanted, "left")
    count = np.searchsorted(ordered, wanted, "right") - first
    of_wanted = np.repeat(np.arange(len(wanted)), count)
    within = np.arange(len(of_wanted)) - np.repeat(np.cumsum(count) - count, count)
    return order[first[of_wanted] + within], of_wanted


def _both(directions: FloatArray) -> dict[str, float]:
    return {name: float(np.mean(value)) for name, value in metric().formula(directions).items()}
