"""Browsable frame annotations: sentence quality, and confused frames."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chorale.engine.quality import stage_quality
from chorale.engine.running import RunningStage, Study
from chorale.kits.frames.files.sentences import FrameScore, FrameSentence, FrameSentences, with_lexical_units
from chorale.kits.frames.framenet import FrameNet
from chorale.kits.frames.metrics.ambiguity import (
    BOUND,
    ConfusedPair,
    FrameRelating,
    Majorities,
    Relation,
    confused_pairs,
    histogram,
    majorities,
    majority_frames,
    none_score,
    seen_frames,
    why_unclear,
)
from chorale.metrics import signature
from chorale.metrics.aggregation.crowdtruth import CrowdTruth
from chorale.metrics.score import Result
from chorale.metrics.score_table import ScoreTable
from chorale.store.items import all_items

BINS = 20
_SHOWN = 15
_LONGEST_SHOWN = 90
_IN_WORDS = {True: "LU in FrameNet", False: "LU not in FrameNet", None: "not looked up in FrameNet"}
_EXAMPLES = {
    Relation.PARENT_CHILD: "Unclear sentences with a frame and a more general frame",
    Relation.OVERLAPPING: "Unclear sentences with overlapping frames",
    Relation.COMPOSED: "Unclear sentences with frames that together describe the meaning of the word",
}


@dataclass(frozen=True)
class FrameBrowsing:
    """Sentences with their frames, and all displayed information."""

    sentences: tuple[FrameSentence, ...]
    digest: str
    framenet: FrameNet | None = None
    bound: float = BOUND
    qualities: CrowdTruth | None = None
    """Quality of workers and frames, if the judgments are available."""

    @cached_property
    def relating(self) -> FrameRelating | None:
        return None if self.framenet is None else FrameRelating(self.framenet)

    @cached_property
    def majorities(self) -> Majorities:
        return majorities(self.sentences)

    @cached_property
    def pairs(self) -> list[ConfusedPair]:
        return confused_pairs(self.sentences, self.relating, self.bound)

    @cached_property
    def reasons(self) -> Mapping[str, Relation | None]:
        """The reason why each sentence is unclear, if FrameNet provides it."""
        if self.relating is None:
            return {}
        return {each.id: why_unclear(each, self.relating, self.bound) for each in self.sentences}

    def by_quality(self) -> list[FrameSentence]:
        """Clearest first: ordered by SQS, or by the score of the top frame if there is no SQS."""
        return sorted(self.sentences, key=lambda each: (-_quality(each), each.id))

    def histograms(self) -> dict[str, list[int]]:
        """Histogram of SQS from 0 to 1, for words in FrameNet and others."""
        by_kind: dict[str, list[int]] = {}
        for kind, name in _IN_WORDS.items():
            values = [each.quality for each in self.sentences if each.in_framenet is kind and each.quality is not None]
            if values:
                by_kind[name] = histogram(values, BINS)
        return by_kind


def browsing_of_files(
    sentences: FrameSentences, framenet: FrameNet | None = None, bound: float = BOUND
) -> FrameBrowsing:
    return FrameBrowsing(sentences.sentences, sentences.digest, framenet, bound)


def browsing_of_study(
    study: Study,
    stage: RunningStage,
    framenet: FrameNet | None = None,
    bound: float = BOUND,
    known_word: Callable[[str], bool] | None = None,
) -> FrameBrowsing:
    """The current state of a stage: its annotations, and the quality scores computed from them.

    `known_word` decides whether FrameNet has a word, for items that do not record it.
    """
    known = stage_quality(study, stage, at_once=True)
    items = study.store.read(lambda tx: list(all_items(tx, stage.name))).result()
    payloads = {item.key: item.payload for item in items}
    sentences = tuple(_judged(known.crowdtruth, payloads)) if known.crowdtruth is not None else ()
    judged = FrameSentences(sentences, f"{len(known.answers)}-judgments")
    if known_word is not None:
        judged = with_lexical_units(judged, known_word)
    return FrameBrowsing(judged.sentences, judged.digest, framenet, bound, known.crowdtruth)


def _judged(crowdtruth: CrowdTruth, payloads: Mapping[str, Mapping[str, Any]]) -> Iterable[FrameSentence]:
    initial = dict(crowdtruth.unit_annotation_scores(initial=True))
    quality = dict(zip(crowdtruth.units, crowdtruth.uqs.tolist(), strict=True))
    for key, scores in crowdtruth.unit_annotation_scores():
        payload = payloads[key]
        names = [*(candidate["frame"] for candidate in payload["candidates"]), "none"]
        frames = {name: FrameScore(scores.get(name, 0.0), initial[key].get(name, 0.0)) for name in names}
        yield FrameSentence(key, payload["sentence"], payload["word"], frames, quality[key], payload.get("in_framenet"))


def browsing_scored(browsing: FrameBrowsing, shown: int = _SHOWN) -> Result:
    """All results for `--json`, and tables of the most informative rows for people."""
    settings = {"bound": browsing.bound} | ({"framenet": browsing.framenet.digest} if browsing.framenet else {})
    tables = [summary_table(browsing), *histogram_tables(browsing), sentences_table(browsing, shown)]
    tables += [pairs_table(browsing, shown), *reason_tables(browsing, shown), *quality_tables(browsing, shown)]
    signed = signature("frames-browse", settings, {"input": browsing.digest})
    return Result(_json(browsing), tables, signed, _notes(browsing))


def summary_table(browsing: FrameBrowsing) -> ScoreTable:
    counts = browsing.majorities
    rows: list[tuple[str, int | float | None]] = [
        ("sentences", counts.sentences),
        ("with two or more majority frames", counts.several),
        ("with one majority frame", counts.single),
        ("without a majority frame", counts.none),
    ]
    for kind, name in _IN_WORDS.items():
        many = [each for each in browsing.sentences if each.in_framenet is kind]
        if many and len(many) < len(browsing.sentences):
            rows.append((f"{name}: sentences", len(many)))
            rows.append((f"{name}: without a majority frame", majorities(many).none))
        if clear := [each.quality for each in many if each.quality is not None]:
            rows.append((f"{name}: mean SQS", sum(clear) / len(clear)))
    for relation in Relation if browsing.reasons else ():
        related = sum(reason is relation for reason in browsing.reasons.values())
        rows.append((f"unclear sentences, frames: {relation}", related))
    return ScoreTable("Sentences and majority frames", ("quantity", "value#"), rows, digits=3)


def histogram_tables(browsing: FrameBrowsing) -> list[ScoreTable]:
    histograms = browsing.histograms()
    if not histograms:
        return []
    rows: list[tuple[str | int, ...]] = [
        (f"{place / BINS:.2f} to {(place + 1) / BINS:.2f}", *(counts[place] for counts in histograms.values()))
        for place in range(BINS)
    ]
    return [ScoreTable("Sentence quality (SQS)", ("SQS", *(f"{name}#" for name in histograms)), rows)]


def sentences_table(browsing: FrameBrowsing, shown: int) -> ScoreTable:
    ordered = browsing.by_quality()
    few = ordered if len(ordered) <= 2 * shown else [*ordered[:shown], *ordered[-shown:]]
    title = "Sentences by quality" + ("" if len(few) == len(ordered) else f": the first and last {shown}")
    rows = [
        (each.id, each.word, each.quality, in_short(each.sentence), frames_in_words(each, browsing.bound))
        for each in few
    ]
    return ScoreTable(title, ("sentence", "word", "SQS#", "text", "frames (FSS)"), rows, digits=3)


def pairs_table(browsing: FrameBrowsing, shown: int) -> ScoreTable:
    """Without FrameNet, no pair has a relation, and the table has no columns for it."""
    columns: tuple[str, ...] = ("frame", "frame ", "sentences#", "weight#")
    related = any(pair.relation for pair in browsing.pairs)
    if related:
        columns += ("relation", "FrameNet's links")
    rows = [
        (pair.first, pair.second, len(pair.sentences), pair.weight)
        + ((pair.relation or "", ", ".join(pair.links)) if related else ())
        for pair in browsing.pairs[:shown]
    ]
    return ScoreTable(f"Confused frames: {len(rows)} of {len(browsing.pairs):,} pairs", columns, rows, digits=2)


def reason_tables(browsing: FrameBrowsing, shown: int) -> list[ScoreTable]:
    """Unclear sentences by the relation between their frames, as in the paper's appendix."""
    tables = []
    for kind, title in _EXAMPLES.items():
        several = [each for each in browsing.by_quality() if browsing.reasons.get(each.id) is kind]
        rows = [
            (each.word, in_short(each.sentence), each.quality, frames_in_words(each, browsing.bound))
            for each in several[:shown]
        ]
        if rows:
            columns = ("word", "text", "SQS#", "frames (FSS)")
            tables.append(ScoreTable(f"{title}: {len(rows)} of {len(several):,}", columns, rows, digits=3))
    return tables


def quality_tables(browsing: FrameBrowsing, shown: int) -> list[ScoreTable]:
    known = browsing.qualities
    if known is None:
        return []
    workers = zip(known.workers, known.wqs.tolist(), known.wwa.tolist(), known.wua.tolist(), strict=True)
    frames = zip(known.annotations, known.aqs.tolist(), strict=True)
    tables = []
    for title, columns, named in (
        ("Workers, least agreement first", ("worker", "WQS#", "WWA#", "WSA#"), workers),
        ("Frames, least agreement first", ("frame", "FQS#"), frames),
    ):
        rows: list[tuple[Any, ...]] = sorted(named, key=lambda row: (row[1], row[0]))
        title_of = f"{title}: {min(shown, len(rows))} of {len(rows)}"
        tables.append(ScoreTable(title_of, columns, rows[:shown], digits=3))
    return tables


def frames_in_words(sentence: FrameSentence, bound: float) -> str:
    """The frames above the threshold with their scores; if there are none, the top frame."""
    leading = [(name, score) for name, score in sentence.ranked() if score.final > bound] or sentence.ranked()[:1]
    parts = [f"{name} ({score.final:.3f})" for name, score in leading]
    if (nothing := none_score(sentence)) > bound:
        parts.append(f"no frame ({nothing:.3f})")
    return ", ".join(parts)


def in_short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST_SHOWN else flat[: _LONGEST_SHOWN - 1].rstrip() + "…"


def _quality(sentence: FrameSentence) -> float:
    if sentence.quality is not None:
        return sentence.quality
    return max((score.final for score in sentence.frames.values()), default=0.0)


def _json(browsing: FrameBrowsing) -> dict[str, Any]:
    counts = browsing.majorities
    known = browsing.qualities
    json: dict[str, Any] = {
        "sentences": [_sentence_json(each, browsing) for each in browsing.by_quality()],
        "majorities": {"several": counts.several, "one": counts.single, "none": counts.none},
        "sqs": browsing.histograms(),
        "pairs": [
            {
                "frames": [pair.first, pair.second],
                "sentences": list(pair.sentences),
                "weight": pair.weight,
                "relation": pair.relation,
                "links": list(pair.links),
            }
            for pair in browsing.pairs
        ],
        "reasons": dict(Counter(str(reason) for reason in browsing.reasons.values() if reason is not None)),
    }
    if known is not None:
        columns = zip(known.workers, known.wqs.tolist(), known.wwa.tolist(), known.wua.tolist(), strict=True)
        json["workers"] = {name: {"wqs": wqs, "wwa": wwa, "wsa": wsa} for name, wqs, wwa, wsa in columns}
        json["frames"] = dict(zip(known.annotations, known.aqs.tolist(), strict=True))
    return json


def _sentence_json(sentence: FrameSentence, browsing: FrameBrowsing) -> dict[str, Any]:
    return {
        "id": sentence.id,
        "word": sentence.word,
        "sentence": sentence.sentence,
        "sqs": sentence.quality,
        "in_framenet": sentence.in_framenet,
        "majority": majority_frames(sentence),
        "seen": seen_frames(sentence, browsing.bound),
        "reason": browsing.reasons.get(sentence.id),
        "fss": {name: score.final for name, score in sorted(sentence.frames.items())},
        "fss_initial": {name: score.initial for name, score in sorted(sentence.frames.items())},
    }


def _notes(browsing: FrameBrowsing) -> Sequence[str]:
    notes = []
    if not browsing.sentences:
        notes.append("No sentence has two annotations yet, so sentence quality is unknown.")
    elif all(each.quality is None for each in browsing.sentences):
        notes.append(
            "The files have no sentence quality (SQS), so sentences are ordered by the score of their top frame."
        )
    if any(each.in_framenet is None for each in browsing.sentences):
        notes.append(
            "Some items do not record whether their word is in FrameNet, for example in imported studies. Set "
            "--framenet and --wordnet to look these words up."
        )
    if browsing.framenet is None:
        notes.append("Without --framenet, relations between frames are not shown.")
    return notes
