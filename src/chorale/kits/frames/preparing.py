"""From sentences to the items of a frame study: words with their candidates, chosen so that many frames are there."""

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
    over: Over = "cut"
    """What becomes of words with more."""
    least: int = 2
    """Candidates a word must have: one leaves nothing to choose."""
    pos: tuple[str, ...] = ("v",)
    seed: int = 1
    per_sentence: int = 1
    """Words of a sentence that may be chosen."""
    examples: int = 3
    """Of a frame, at most."""
    outside: int | None = None
    """How many of the chosen words are ones whose lemma FrameNet does not have; however many come if not given."""


@dataclass(frozen=True, slots=True)
class CandidateWord:
    """A word in a sentence, and its position."""

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
    not_chosen: int = 0
    """Words that could have become items: others of their sentence were chosen, or enough."""


def frame_items(
    given: Sequence[GivenSentence],
    candidates: CandidateFrames,
    wanted: WordSelection | None = None,
    progress: Progress | None = None,
    wordings: Mapping[str, Frame] | None = None,
) -> FrameItems:
    """The items of these sentences, the chosen words in the order of the text.

    Frames among the `wordings` are shown in those words, and others in FrameNet's.
    """
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
        not_chosen=len(usable) - len(chosen),
    )


def chosen_words(
    words: Sequence[CandidateWord],
    lists: Mapping[tuple[str, str], Sequence[str]],
    wanted: WordSelection,
    outside: Collection[tuple[str, str]] = (),
) -> list[CandidateWord]:
    """Words chosen one by one: the next is the one that adds most to Σ_f (1 + 1/2 + … + 1/n_f).

    n_f is how many of the chosen have the frame f among their candidates, so frames that are rare so far count most.
    What a word adds only ever gets less, so it is computed again only for the one that seems best (lazy greedy), and
    once for all words of a lemma, which have the same candidates. With a quota for words outside FrameNet, those are
    chosen first.
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
    """What was chosen so far, and what can still be."""

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
        """Choose words of these lemmas until so many are chosen altogether, or none is left."""
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

    Those that are short and have their word marked come first, then others with a word.
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
