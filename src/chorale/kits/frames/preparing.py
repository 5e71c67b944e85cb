"""From sentences to the items of a frame study: words with their candidates, chosen so that many frames are there."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import accumulate
from math import log
from random import Random
from typing import Any, Literal

from chorale.kits.frames.candidates import CandidateFrames
from chorale.kits.frames.framenet import FrameNet
from chorale.text.sentence_files import GivenSentence
from chorale.text.tagged_sentences import is_complete, tagged_sentences
from chorale.text.tagger import Sentence, Tagged, load_tagger
from chorale.text.tokens import tokenize
from chorale.text.wordnet import WordNet

Progress = Callable[[int, int], None]
Over = Literal["leave-out", "cut"]
POS = {"VERB": "v", "NOUN": "n", "ADJ": "a", "ADV": "adv"}
"""Universal Dependencies' parts of speech as FrameNet has them."""
_WORDNETS = {"v": "v", "n": "n", "a": "a", "adv": "r"}
_LONGEST_EXAMPLE = 180
LONGEST_SENTENCE = 1000
_LONGEST_WORD = 60


@dataclass(frozen=True, slots=True)
class WordSelection:
    """Which words become items."""

    sentences: int | None = None
    """How many are chosen; all if not given."""
    most: int = 25
    """Candidates a word may have."""
    over: Over = "leave-out"
    """What becomes of words with more."""
    least: int = 2
    """Candidates a word must have: one leaves nothing to choose."""
    pos: tuple[str, ...] = ("v",)
    seed: int = 1


@dataclass(frozen=True, slots=True)
class CandidateWord:
    """A word in a sentence, and where it stands."""

    sentence: int
    """The number of its sentence."""
    name: str
    lemma: str
    pos: str
    form: str
    start: int


@dataclass(frozen=True, slots=True)
class FrameItems:
    """What was found and what was chosen of it."""

    rows: tuple[Mapping[str, Any], ...]
    sentences: int
    words: int
    """Of the parts of speech asked for."""
    without_candidates: int
    over: int
    """Words with more candidates than allowed."""
    frames: int
    """Different frames among the candidates of what was chosen."""
    evenness: float
    """From 0 to 1, where 1 has every frame equally often: their entropy over the largest it could have."""
    not_in_framenet: int
    """Chosen words whose lemma FrameNet does not have."""
    model: str
    too_long: int = 0
    """Sentences of more characters than people can be asked to read."""


def frame_items(
    given: Sequence[GivenSentence],
    candidates: CandidateFrames,
    wanted: WordSelection | None = None,
    progress: Progress | None = None,
) -> FrameItems:
    """The items of these sentences: one word of a sentence at most, the chosen ones in the order of the text."""
    wanted = wanted or WordSelection()
    tagger = None if all(map(is_complete, given)) else load_tagger()
    texts: list[str] = []
    words: list[CandidateWord] = []
    too_long = 0
    for done, (source, parsed) in enumerate(tagged_sentences(given, tagger), 1):
        for name, sentence, text, offsets in _placed(source, parsed):
            if len(text) > LONGEST_SENTENCE:
                too_long += 1
            else:
                for index, lemma, pos in _words(source, sentence, candidates.wordnet, wanted):
                    place, form = offsets[index], sentence[index].text
                    words.append(CandidateWord(len(texts), f"{name}:{index}", lemma, pos, form, place))
            texts.append(text)
        if progress:
            progress(done, len(given))
    lists, missing, over = _lists(words, candidates, wanted)
    usable = [word for word in words if (word.lemma, word.pos) in lists]
    chosen = chosen_words(usable, lists, wanted)
    counts = Counter(frame for word in chosen for frame in lists[word.lemma, word.pos])
    return FrameItems(
        rows=tuple(_row(word, texts, lists, candidates) for word in chosen),
        sentences=len(texts),
        words=len(words),
        without_candidates=missing,
        over=over,
        frames=len(counts),
        evenness=_evenness(counts),
        not_in_framenet=sum(not candidates.in_framenet(word.lemma, word.pos) for word in chosen),
        model=tagger.name if tagger else "",
        too_long=too_long,
    )


def chosen_words(
    words: Sequence[CandidateWord], lists: Mapping[tuple[str, str], Sequence[str]], wanted: WordSelection
) -> list[CandidateWord]:
    """Words of different sentences, chosen one by one: the next is the one that adds most to Σ_f (1 + 1/2 + … + 1/n_f).

    n_f is how many of the chosen have the frame f among their candidates, so frames that are rare so far count most.
    What a word adds only ever gets less, so it is computed again only for the one that seems best (lazy greedy), and
    once for all words of a lemma, which have the same candidates.
    """
    rng = Random(f"{wanted.seed}:frames")
    waiting: dict[tuple[str, str], list[CandidateWord]] = {}
    for word in words:
        waiting.setdefault((word.lemma, word.pos), []).append(word)
    for key in sorted(waiting):
        rng.shuffle(waiting[key])
    counts: Counter[str] = Counter()
    taken: set[int] = set()

    def gain(key: tuple[str, str]) -> float:
        return sum(1 / (counts[frame] + 1) for frame in lists[key])

    heap = [(-gain(key), key) for key in sorted(waiting)]
    heapify(heap)
    chosen: list[CandidateWord] = []
    most = len(words) if wanted.sentences is None else wanted.sentences
    while heap and len(chosen) < most:
        promised, key = heappop(heap)
        now = -gain(key)
        if now > promised + 1e-12:
            heappush(heap, (now, key))
            continue
        while waiting[key] and waiting[key][-1].sentence in taken:
            waiting[key].pop()
        if waiting[key]:
            free = waiting[key].pop()
            chosen.append(free)
            taken.add(free.sentence)
            counts.update(lists[key])
            heappush(heap, (-gain(key), key))
    return sorted(chosen, key=lambda word: (word.sentence, word.start))


def _placed(
    source: GivenSentence, parsed: list[tuple[str, Sentence]]
) -> Iterator[tuple[str, Sentence, str, list[int]]]:
    """Each sentence with its text and where its tokens begin in it."""
    if source.tokens or not source.text:
        for name, sentence in parsed:
            offsets = list(accumulate((len(token.text) + 1 for token in sentence), initial=0))
            yield name, sentence, " ".join(token.text for token in sentence), offsets
        return
    places = iter(tokenize(source.text))
    for name, sentence in parsed:
        tokens = [next(places) for _ in sentence]
        if tokens:
            start, end = tokens[0].start, tokens[-1].end
            text = source.text[start:end].replace("\n", " ")
            yield name, sentence, text, [token.start - start for token in tokens]


def _words(
    source: GivenSentence, sentence: Sentence, wordnet: WordNet | None, wanted: WordSelection
) -> Iterator[tuple[int, str, str]]:
    """Where the words asked for stand, with their lemmas and parts of speech."""
    for index, token in enumerate(sentence):
        if source.verbs is not None:
            pos = "v" if index in source.verbs else None
        else:
            pos = None if token.helps else POS.get(token.pos)
        is_word = len(token.text) <= _LONGEST_WORD and any(map(str.isalpha, token.text))
        if pos is not None and pos in wanted.pos and is_word:
            yield index, lemma_of(token, pos, wordnet), pos


def lemma_of(token: Tagged, pos: str, wordnet: WordNet | None) -> str:
    """The lemma a dictionary has: the tagger's, unless WordNet knows better.

    A regular ending is WordNet's to take off; among irregular forms (*saw*) the tagger knows which word it is.
    """
    given = token.lemma.lower() if token.lemma not in ("", "_") else token.text.lower()
    if wordnet is None:
        return given
    known = wordnet.lemmas(token.text, _WORDNETS[pos])
    if not known or (given in known and not token.text.lower().endswith("s")):
        return given
    return known[0].replace("_", " ")


def _lists(
    words: Sequence[CandidateWord], candidates: CandidateFrames, wanted: WordSelection
) -> tuple[dict[tuple[str, str], list[str]], int, int]:
    """The candidates of every lemma that has the right number of them; words with too few, and with too many."""
    many = Counter((word.lemma, word.pos) for word in words)
    lists: dict[tuple[str, str], list[str]] = {}
    missing = over = 0
    for key, count in sorted(many.items()):
        frames = candidates.candidates(*key)
        if len(frames) > wanted.most:
            over += count
            if wanted.over == "leave-out":
                continue
        if len(frames[: wanted.most]) < wanted.least:
            missing += count
        else:
            lists[key] = frames[: wanted.most]
    return lists, missing, over


def _row(
    word: CandidateWord,
    texts: Sequence[str],
    lists: Mapping[tuple[str, str], Sequence[str]],
    candidates: CandidateFrames,
) -> dict[str, Any]:
    return {
        "id": word.name,
        "sentence": texts[word.sentence],
        "word": word.form,
        "start": word.start,
        "lemma": word.lemma,
        "in_framenet": candidates.in_framenet(word.lemma, word.pos),
        "candidates": [shown_frame(candidates.framenet, name) for name in sorted(lists[word.lemma, word.pos])],
    }


def shown_frame(framenet: FrameNet, name: str) -> dict[str, Any]:
    """A frame as an item has it: what it is and, if there is one, an example.

    The first that is short and has its word marked; if there is none, the first with a word, or the first.
    """
    frame = framenet.frame(name)
    marked = [example for example in frame.examples if example.spans]
    short = [example for example in marked if len(example.text) <= _LONGEST_EXAMPLE]
    example = next(iter([*short, *marked, *frame.examples]), None)
    row: dict[str, Any] = {"frame": name, "definition": frame.brief or name.replace("_", " ")}
    if example is not None:
        row["example"] = example.text
        if example.spans:
            row["example_word"] = list(example.spans[0])
    return row


def _evenness(counts: Counter[str]) -> float:
    whole = sum(counts.values())
    if len(counts) < 2:
        return 0.0
    entropy = -sum(count / whole * log(count / whole) for count in counts.values())
    return min(1.0, entropy / log(len(counts)))
