"""The numbers of two papers computed once more, from exported responses alone and with nothing of Chorale."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import permutations
from math import sqrt
from typing import Any, NamedTuple

Votes = Mapping[str, Mapping[str, frozenset[str]]]
"""By sentence and worker: what they chose."""


class Scores(NamedTuple):
    sqs: dict[str, float]
    wqs: dict[str, float]
    fqs: dict[str, float]
    fss: dict[tuple[str, str], float]


def crowdtruth_scores(votes: Votes, tolerance: float = 0.001) -> Scores:
    """CrowdTruth 2.0 of a closed task, by the formulas of Dumitrache et al. (2018b), sum by sum."""
    workers = sorted({worker for given in votes.values() for worker in given})
    frames = sorted({frame for given in votes.values() for chosen in given.values() for frame in chosen})
    sqs, wqs = dict.fromkeys(votes, 1.0), dict.fromkeys(workers, 1.0)
    fqs = dict.fromkeys(frames, 1.0)
    while True:
        now = _improved(votes, sqs, wqs, fqs)
        moved = max(abs(new[name] - old[name]) for new, old in zip(now, (sqs, wqs, fqs), strict=True) for name in new)
        sqs, wqs, fqs = now
        if moved < tolerance:
            break
    fss = {
        (sentence, frame): sum(wqs[w] for w, chosen in given.items() if frame in chosen) / sum(wqs[w] for w in given)
        for sentence, given in votes.items()
        for frame in frames
    }
    return Scores(sqs, wqs, fqs, fss)


def _improved(
    votes: Votes, sqs: Mapping[str, float], wqs: Mapping[str, float], fqs: Mapping[str, float]
) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    def cosine(left: Mapping[str, float], right: Mapping[str, float]) -> float:
        inner = sum(fqs[frame] * left[frame] * right.get(frame, 0.0) for frame in left)
        norms = [sum(fqs[frame] * value**2 for frame, value in one.items()) for one in (left, right)]
        return inner / sqrt(norms[0] * norms[1]) if all(norms) else 0.0

    def vector(chosen: Iterable[str], weight: float = 1.0) -> dict[str, float]:
        return dict.fromkeys(chosen, weight)

    clear = {}
    with_workers: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    with_sentence: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    together: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for sentence, given in votes.items():
        pairs = []
        for one, other in permutations(given, 2):
            alike = cosine(vector(given[one]), vector(given[other]))
            pairs.append((alike, wqs[one] * wqs[other]))
            with_workers[one].append((alike, wqs[other] * sqs[sentence]))
            together[one, other].append(sentence)
        clear[sentence] = _mean(pairs)
        for one in given:
            rest: defaultdict[str, float] = defaultdict(float)
            for other in given:
                if other != one:
                    for frame in given[other]:
                        rest[frame] += wqs[other]
            with_sentence[one].append((cosine(vector(given[one], wqs[one]), rest), sqs[sentence]))
    quality = {worker: _mean(with_workers[worker]) * _mean(with_sentence[worker]) for worker in wqs}
    agreed = {frame: _mean(list(_chosen_too(frame, votes, together, sqs, wqs))) for frame in fqs}
    return clear, quality, {frame: value or 1e-8 for frame, value in agreed.items()}


def _chosen_too(
    frame: str,
    votes: Votes,
    together: Mapping[tuple[str, str], list[str]],
    sqs: Mapping[str, float],
    wqs: Mapping[str, float],
) -> Iterable[tuple[float, float]]:
    for (one, other), sentences in together.items():
        of_other = sum(sqs[sentence] for sentence in sentences if frame in votes[sentence][other])
        both = sum(sqs[s] for s in sentences if frame in votes[s][other] and frame in votes[s][one])
        if of_other:
            yield both / of_other, wqs[one] * wqs[other]


def _mean(weighted: list[tuple[float, float]]) -> float:
    whole = sum(weight for _, weight in weighted)
    return sum(value * weight for value, weight in weighted) / whole if whole else 0.0


def label_of(answers: list[str]) -> tuple[str, float]:
    """What most said, and their share, where all are trusted alike and there is no tie."""
    best = max(sorted(set(answers)), key=answers.count)
    return best, answers.count(best) / len(answers)


def judged_applications(
    rows: Iterable[Mapping[str, Any]], phrases: Mapping[str, list[str]], pairs: Mapping[tuple[str, str], list[str]]
) -> dict[str, str | None]:
    """Yes, No or nothing for every application, as section 4 of Zeichner et al. (2012) decides it."""
    found: dict[str, str | None] = {}
    for row in rows:
        left, right = (label_of(phrases[" ".join(row[side].split())]) for side in ("lhs", "rhs"))
        answers = pairs.get((row["lhs"], row["rhs"]))
        if left[1] < 0.7 or left[0] == "no":
            found[row["id"]] = None
        elif right[0] == "no" and right[1] >= 0.7:
            found[row["id"]] = "No"
        elif right[1] < 0.7 or answers is None or label_of(answers)[1] < 0.7:
            found[row["id"]] = None
        else:
            found[row["id"]] = label_of(answers)[0].capitalize()
    return found
