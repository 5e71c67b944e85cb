"""Turns sentences into the items of a frame study: words with their candidates, selected to cover many frames."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import accumulate
from math import log
from random import Random
from typing import Any, Literal

from chorale.kits.frames.candidates import CandidateFrames
from chorale.kits.frames.framenet import Frame
from chorale.text.sentence_files import GivenSentence
from chorale.text.tagged_sentences import is_complete, tagged_sentences
from chorale.text.tagger import Sentence, Tagged, load_tagger
from chorale.text.tokens import tokenize
from chorale.text.wordnet import WordNet

Progress = Callable[[int, int], None]
Over = Literal["leave-out", "cut"]
POS = {"VERB": "v", "NOUN": "n", "ADJ": "a", "ADV": "adv"}
"""FrameNet's names of Universal Dependencies' parts of speech."""
_WORDNETS = {"v": "v", "n": "n", "a": "a", "adv": "r"}
_LONGEST_EXAMPLE = 180
LONGEST_SENTENCE = 1000
LONGEST_WORD = 60


@dataclass(frozen=True, slots=True)
class WordSelection:
    """Criteria for words that become items."""

    sentences: int | None = None
    """Number of words to select. Default: all."""
    most: int = 25
    """Maximum number of candidates per word."""
    over: Over = "cut"
    """Handling of words with more candidates than the maximum."""
    least: int = 2
    """Minimum number of candidates per word. A single candidate would leave no choice."""
    pos: tuple[str, ...] = ("v",)
    seed: int = 1
    per_sentence: int = 1
    """Maximum number of words per sentence."""
    examples: int = 3
    """Maximum number of examples per frame."""
    outside: int | None = None
    """Number of selected words whose lemma is not in FrameNet. Default: no quota."""


@dataclass(frozen=True, slots=True)
class CandidateWord:
    """A word in a sentence, and its position."""

    sentence: int
    """Number of its sentence."""
    name: str
    lemma: str
    pos: str
    form: str
    start: int


@dataclass(frozen=True, slots=True)
class FrameItems:
    """The selected items, with statistics."""

    rows: tuple[Mapping[str, Any], ...]
    sentences: int
    words: int
    """Number of words with the requested parts of speech."""
    without_candidates: int
    over: int
    """Number of words with more candidates than allowed."""
    frames: int
    """Number of distinct frames among the candidates of the selected words."""
    evenness: float
    """Evenness of frames from 0 to 1: their entropy divided by the maximum entropy."""
    not_in_framenet: int
    """Number of selected words whose lemma is not in FrameNet."""
    model: str
    too_long: int = 0
    """Sentences that are too long to show."""
    long_words: int = 0
    """Words that are too long to show."""
    not_chosen: int = 0
    """Number of words with candidates that were not selected."""

    @property
    def lemmas(self) -> int:
        """Number of distinct lemmas of the selected words."""
        return len({row["lemma"] for row in self.rows})


def frame_items(
    given: Sequence[GivenSentence],
    candidates: CandidateFrames,
    wanted: WordSelection | None = None,
    progress: Progress | None = None,
    wordings: Mapping[str, Frame] | None = None,
) -> FrameItems:
    """Selects items from these sentences, in text order.

    Frames in `wordings` are shown with those definitions, others with FrameNet's.
    """
    wanted = wanted or WordSelection()
    tagger = None if all(map(is_complete, given)) else load_tagger()
    texts: list[str] = []
    words: list[CandidateWord] = []
    too_long = long_words = 0
    for done, (source, parsed) in enumerate(tagged_sentences(given, tagger), 1):
        for name, sentence, text, offsets in _placed(source, parsed):
            if len(text) > LONGEST_SENTENCE:
                too_long += 1
            else:
                for index, lemma, pos in _words(source, sentence, candidates.wordnet, wanted):
                    place, form = offsets[index], sentence[index].text
                    if len(form) > LONGEST_WORD:
                        long_words += 1
                        continue
                    words.append(CandidateWord(len(texts), f"{name}:{index}", lemma, pos, form, place))
            texts.append(text)
        if progress:
            progress(done, len(given))
    lists, missing, over = _lists(words, candidates, wanted)
    usable = [word for word in words if (word.lemma, word.pos) in lists]
    outside = {key for key in lists if not candidates.in_framenet(*key)}
    chosen = chosen_words(usable, lists, wanted, outside)
    counts = Counter(frame for word in chosen for frame in lists[word.lemma, word.pos])
    frames = ((wordings or {}).get(name) or candidates.framenet.frame(name) for name in sorted(counts))
    shown = {frame.name: shown_frame(frame, wanted.examples) for frame in frames}
    return FrameItems(
        rows=tuple(_row(word, texts, lists, candidates, shown) for word in chosen),
        sentences=len(texts),
        words=len(words),
        without_candidates=missing,
        over=over,
        frames=len(counts),
        evenness=_evenness(counts),
        not_in_framenet=sum((word.lemma, word.pos) in outside for word in chosen),
        model=tagger.name if tagger else "",
        too_long=too_long,
        long_words=long_words,
        not_chosen=len(usable) - len(chosen),
    )


def chosen_words(
    words: Sequence[CandidateWord],
    lists: Mapping[tuple[str, str], Sequence[str]],
    wanted: WordSelection,
    outside: Collection[tuple[str, str]] = (),
) -> list[CandidateWord]:
    """Greedy selection: the next word adds the most to Σ_f (1 + 1/2 + … + 1/n_f).

    n_f is the number of selected words with the frame f among their candidates, so rare frames count most. The gain of
    a word never increases, so it is recomputed only for the current best (lazy greedy), and once per lemma, whose words
    have the same candidates. With a quota for words outside FrameNet, those are selected first.
    """
    rng = Random(f"{wanted.seed}:frames")
    waiting: dict[tuple[str, str], list[CandidateWord]] = {}
    for word in words:
        waiting.setdefault((word.lemma, word.pos), []).append(word)
    for key in sorted(waiting):
        rng.shuffle(waiting[key])
    most = len(words) if wanted.sentences is None else wanted.sentences
    choice = _Choice(waiting, lists, wanted.per_sentence)
    if wanted.outside is None:
        choice.choose(waiting, most)
    else:
        choice.choose([key for key in waiting if key in outside], min(most, wanted.outside))
        choice.choose([key for key in waiting if key not in outside], most)
    return sorted(choice.chosen, key=lambda word: (word.sentence, word.start))


class _Choice:
    """The words selected so far, and those still available."""

    def __init__(
        self,
        waiting: Mapping[tuple[str, str], list[CandidateWord]],
        lists: Mapping[tuple[str, str], Sequence[str]],
        per_sentence: int,
    ) -> None:
        self._waiting, self._lists, self._per_sentence = waiting, lists, per_sentence
        self._frames: Counter[str] = Counter()
        self._taken: Counter[int] = Counter()
        self.chosen: list[CandidateWord] = []

    def _gain(self, key: tuple[str, str]) -> float:
        return sum(1 / (self._frames[frame] + 1) for frame in self._lists[key])

    def choose(self, keys: Iterable[tuple[str, str]], most: int) -> None:
        """Selects words of these lemmas until the total is reached or none is left."""
        heap = [(-self._gain(key), key) for key in sorted(keys)]
        heapify(heap)
        while heap and len(self.chosen) < most:
            promised, key = heappop(heap)
            now = -self._gain(key)
            if now > promised + 1e-12:
                heappush(heap, (now, key))
                continue
            waiting = self._waiting[key]
            while waiting and self._taken[waiting[-1].sentence] >= self._per_sentence:
                waiting.pop()
            if waiting:
                free = waiting.pop()
                self.chosen.append(free)
                self._taken[free.sentence] += 1
                self._frames.update(self._lists[key])
                heappush(heap, (-self._gain(key), key))


def _placed(
    source: GivenSentence, parsed: list[tuple[str, Sentence]]
) -> Iterator[tuple[str, Sentence, str, list[int]]]:
    """Each sentence with its text and the start positions of its tokens."""
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
    """Positions of the requested words, with their lemmas and parts of speech."""
    for index, token in enumerate(sentence):
        if source.verbs is not None:
            pos = "v" if index in source.verbs else None
        else:
            pos = None if token.helps else POS.get(token.pos)
        is_word = any(map(str.isalpha, token.text))
        if pos is not None and pos in wanted.pos and is_word:
            yield index, lemma_of(token, pos, wordnet), pos


def lemma_of(token: Tagged, pos: str, wordnet: WordNet | None) -> str:
    """The dictionary form of a word: the tagger's lemma, unless WordNet has a better one.

    WordNet handles regular endings; for irregular forms (*saw*), the tagger's lemma is used.
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
    """The candidates of every lemma with an allowed number of candidates, and the number of words with too few or too
    many.
    """
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
    shown: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    names = lists[word.lemma, word.pos]
    left_out = len(candidates.candidates(word.lemma, word.pos)) - len(names)
    return {
        "id": word.name,
        "sentence": texts[word.sentence],
        "word": word.form,
        "start": word.start,
        "lemma": word.lemma,
        "in_framenet": candidates.in_framenet(word.lemma, word.pos),
        "candidates": [shown[name] for name in sorted(names)],
        **({"left_out": left_out} if left_out else {}),
    }


def shown_frame(frame: Frame, most: int = 1) -> dict[str, Any]:
    """A frame as stored in an item: its definition and up to `most` examples.

    Short examples with a marked word come first, then other examples with a marked word.
    """
    marked = [example for example in frame.examples if example.spans]
    short = [example for example in marked if len(example.text) <= _LONGEST_EXAMPLE]
    examples = list(dict.fromkeys([*short, *marked, *frame.examples]))[:most]
    row: dict[str, Any] = {"frame": frame.name, "definition": frame.brief or frame.name.replace("_", " ")}
    if examples:
        row["example"] = examples[0].text
        if examples[0].spans:
            row["example_word"] = list(examples[0].spans[0])
    if more := [[each.text, *(each.spans[0] if each.spans else (0, 0))] for each in examples[1:]]:
        row["more_examples"] = more
    return row


def _evenness(counts: Counter[str]) -> float:
    whole = sum(counts.values())
    if len(counts) < 2:
        return 0.0
    entropy = -sum(count / whole * log(count / whole) for count in counts.values())
    return min(1.0, entropy / log(len(counts)))
