"""Results that need FrameNet and WordNet: the candidate lists of the corpus, and relations between confused frames."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from chorale.kits.frames.candidates import CandidateFrames
from chorale.kits.frames.files.sense_map import read_frame_map
from chorale.kits.frames.files.sentences import NONE, FrameSentence, FrameSentences, read_frame_sentences
from chorale.kits.frames.framenet import FrameNet, frame_key, read_framenet
from chorale.kits.frames.metrics.ambiguity import FrameRelating, Relation, majorities
from chorale.reproduce.contract import Cell, NeededFile, PaperData, Repository
from chorale.text.wordnet import WordNet, find_wordnet, read_wordnet

MAP = "wordnet-map/FnWnVerbMap.1.0.txt"
FRAMENET = "framenet/framenet_v17.zip"
_MOST = 25
_FRAMESTER = (
    "The corpus's lists were made with Framester's map, which is not available. Our lists use FnWnVerbMap, FrameNet's "
    "lexical units and WordNet's relations."
)
_OWN_WORDS = "The authors sorted the examples manually. Here, FrameNet's relations and lexical units decide."

_EXAMPLES: Mapping[str, tuple[Relation, tuple[tuple[str, ...], ...]]] = {
    "Table 3": (
        Relation.PARENT_CHILD,
        (
            ("activity_ongoing", "process_continue"),
            ("inclusion", "cause_to_be_included"),
            ("endeavor_failure", "success_or_failure"),
            ("using_resource", "using", "tool_purpose"),
            ("receiving", "getting"),
            ("dominate_situation", "dominate_competitor", "being_in_control"),
        ),
    ),
    "Table 4": (
        Relation.OVERLAPPING,
        (
            ("withdraw_from_participation", "removing"),
            ("differentiation", "distinctiveness"),
            ("improvement_or_decline", "cause_to_make_progress"),
            ("emphasizing", "convey_importance"),
            ("cause_to_continue", "activity_ongoing"),
            ("taking_time", "expend_resource"),
        ),
    ),
    "Table 5": (
        Relation.COMPOSED,
        (
            ("arranging", "adjusting", "assessing", "compatibility", "undergo_change"),
            ("dodging", "compliance", "surpassing"),
            ("education_teaching", "communication"),
            ("difficulty", "competition", "taking_sides", "communication"),
            ("speed_description", "assistance", "self_motion", "travel", "causation"),
        ),
    ),
}
"""The frames of the paper's examples for each kind of disagreement, in order."""

RESOURCES = (
    Repository(
        name="FrameNet 1.7 (NLTK package)",
        address="https://github.com/nltk/nltk_data",
        commit="gh-pages",
        licence="CC BY 3.0",
        files=(NeededFile(FRAMENET, "packages/corpora/framenet_v17.zip", optional=True),),
    ),
    Repository(
        name="FnWnVerbMap 1.0",
        address="https://web.eecs.umich.edu/~mihalcea/downloads.html",
        commit="1.0",
        licence="not stated",
        files=(NeededFile(MAP, "FnWnVerbMap.1.0.txt", "1f471a2a", optional=True),),
    ),
)


def frame_cells(data: PaperData, scores: Sequence[Path]) -> Iterator[Cell]:
    """Cells that require more than the scores: FrameNet and, for candidates, WordNet and the map."""
    place = next(filter(None, map(framenet_in, data.folders)), None)
    if place is None:
        missing = f"Needs FrameNet 1.7: its folder or archive in {Path(FRAMENET).parent}."
        yield Cell("Section 2.1", "recall of the corpus's candidates, %", None, None, 1, missing)
        return
    framenet = read_framenet(place)
    sentences = read_frame_sentences(scores, framenet=framenet)
    counts = majorities(sentences.sentences)
    there = f"of the {len(scores)} available batches"
    yield Cell("Section 2.3", f"sentences {there} with two majority frames", None, counts.several, 0)
    yield Cell("Section 2.3", f"sentences {there} without a majority frame", None, counts.none, 0)
    yield from _relation_cells(framenet)
    yield from _candidate_cells(data, framenet, sentences)


def framenet_in(data: Path) -> Path | None:
    """FrameNet under a data folder, packed or not."""
    folder = data / Path(FRAMENET).parent
    if any(folder.glob("frameIndex.xml")) or any(folder.glob("*/frameIndex.xml")):
        return folder
    return next(iter(sorted([*folder.glob("*.zip"), *folder.glob("*.tar.gz"), *folder.glob("*.tgz")])), None)


def _relation_cells(framenet: FrameNet) -> Iterator[Cell]:
    relating = FrameRelating(framenet)
    for table, (kind, examples) in _EXAMPLES.items():
        agreeing = 0
        for frames in examples:
            kinds = {relating.between(one, other)[0] for one, other in combinations(frames, 2)}
            agreeing += next(each for each in Relation if each in kinds) is kind
        yield Cell(table, f"examples with {kind} frames, of {len(examples)}", None, agreeing, 0, _OWN_WORDS)


def _candidate_cells(data: PaperData, framenet: FrameNet, sentences: FrameSentences) -> Iterator[Cell]:
    mapping = data.find(MAP)
    place = find_wordnet()
    if mapping is None or place is None:
        lacking = f"Needs {MAP}." if mapping is None else "Needs WordNet: install wordnet-base, or NLTK's wordnet."
        yield Cell("Section 2.1", "recall of the corpus's candidates, %", None, None, 1, lacking)
        return
    wordnet = read_wordnet(place)
    mapped = read_frame_map([mapping], framenet, wordnet).frames
    lemmas = {lemma for each in sentences.sentences for lemma in wordnet.lemmas(each.word, "v")[:1]}
    yield Cell("Section 2.1", "lemmas of the available batches", None, len(lemmas), 0)
    outside = sum(
        not any(framenet.units(one, "v") for one in wordnet.lemmas(each.word, "v")) for each in sentences.sentences
    )
    yield Cell("Section 2.1", "sentences of the available batches whose verb is not in FrameNet", None, outside, 0)
    related = CandidateFrames(framenet, wordnet, mapped, "related")
    for candidates, most, name in (
        (CandidateFrames(framenet, reach="units"), None, "by lexical units"),
        (CandidateFrames(framenet, wordnet, mapped, "map"), None, "with FnWnVerbMap"),
        (related, None, "with WordNet's relations"),
        (related, _MOST, f"with WordNet's relations, the nearest {_MOST}"),
    ):
        shares = coverage(sentences.sentences, candidates, wordnet, most)
        for measure, value in zip(
            ("recall of the corpus's candidates", "precision of our candidates", "recall of the corpus's top frames"),
            shares,
            strict=True,
        ):
            yield Cell("Section 2.1", f"{measure}, {name}, %", None, 100 * value, 1, _FRAMESTER)


def coverage(
    sentences: Sequence[FrameSentence], candidates: CandidateFrames, wordnet: WordNet, most: int | None = None
) -> tuple[float, float, float]:
    """The fraction of the corpus's candidates among ours, of our candidates among the corpus's, and of sentences whose
    top frame is among ours. A word form may belong to several lemmas, whose candidates are merged.
    """
    both = theirs = ours = top = tops = 0
    for each in sentences:
        scores: dict[str, float] = {}
        for lemma in wordnet.lemmas(each.word, "v"):
            for frame, score in candidates.ranked(lemma, "v").items():
                scores[frame] = max(score, scores.get(frame, 0.0))
        ranked = sorted(scores, key=lambda frame: (-scores[frame], frame))[:most]
        candidate_keys = {frame_key(frame) for frame in ranked}
        listed = {frame_key(frame) for frame in each.frames if frame != NONE}
        both, theirs, ours = both + len(candidate_keys & listed), theirs + len(listed), ours + len(candidate_keys)
        if leading := each.ranked():
            tops += 1
            top += frame_key(leading[0][0]) in candidate_keys
    return both / max(1, theirs), both / max(1, ours), top / max(1, tops)
