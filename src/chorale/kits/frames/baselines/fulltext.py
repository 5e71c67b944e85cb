"""FrameNet's annotated texts as training data for a classifier, with the held-out texts."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from chorale.kits.frames.framenet import FrameNet

Part = Literal["train", "dev", "test"]

TEST_DOCUMENTS = frozenset(
    {
        "ANC__110CYL067",
        "ANC__110CYL069",
        "ANC__112C-L013",
        "ANC__IntroHongKong",
        "ANC__StephanopoulosCrimes",
        "ANC__WhereToHongKong",
        "KBEval__atm",
        "KBEval__Brandeis",
        "KBEval__cycorp",
        "KBEval__parc",
        "KBEval__Stanford",
        "KBEval__utd-icsi",
        "LUCorpus-v0.3__20000410_nyt-NEW",
        "LUCorpus-v0.3__AFGP-2002-602187-Trans",
        "LUCorpus-v0.3__enron-thread-159550",
        "LUCorpus-v0.3__IZ-060316-01-Trans-1",
        "LUCorpus-v0.3__SNO-525",
        "LUCorpus-v0.3__sw2025-ms98-a-trans.ascii-1-NEW",
        "Miscellaneous__Hound-Ch14",
        "Miscellaneous__SadatAssassination",
        "NTI__NorthKorea_Introduction",
        "NTI__Syria_NuclearOverview",
        "PropBank__AetnaLifeAndCasualty",
    }
)
"""Test texts of Das et al. (2014) and later work such as Swayamdipta et al. (2017)."""
DEV_DOCUMENTS = frozenset(
    {
        "ANC__110CYL072",
        "KBEval__MIT",
        "LUCorpus-v0.3__20000415_apw_eng-NEW",
        "LUCorpus-v0.3__ENRON-pearson-email-25jul02",
        "Miscellaneous__Hijack",
        "NTI__NorthKorea_NuclearOverview",
        "NTI__WMDNews_062606",
        "PropBank__TicketSplitting",
    }
)
"""Development texts of Swayamdipta et al. (2017)."""

_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class TargetWord:
    """The tokens that together evoke a frame, as a lexical unit of FrameNet."""

    tokens: tuple[int, ...]
    unit: str
    """In lower case: `give up.v`."""
    frame: str
    """Empty if it is to be predicted."""


@dataclass(frozen=True, slots=True)
class TargetSentence:
    id: str
    tokens: tuple[str, ...]
    targets: tuple[TargetWord, ...]


def part_of(document: str) -> Part:
    if document in TEST_DOCUMENTS:
        return "test"
    return "dev" if document in DEV_DOCUMENTS else "train"


def sentences_of(framenet: FrameNet) -> dict[Part, list[TargetSentence]]:
    """All annotated sentences, grouped into training, development and test texts."""
    by_part: dict[Part, list[TargetSentence]] = {"train": [], "dev": [], "test": []}
    for document in framenet.fulltext():
        for sentence in document.sentences:
            tokens, places = tokens_of(sentence.text)
            targets = tuple(
                TargetWord(touched, target.lexical_unit.casefold(), target.frame)
                for target in sentence.targets
                if (touched := _touched(places, target.spans))
            )
            if targets:
                name = f"{document.name}/{sentence.number}"
                by_part[part_of(document.name)].append(TargetSentence(name, tokens, targets))
    return by_part


def tokens_of(text: str) -> tuple[tuple[str, ...], list[tuple[int, int]]]:
    """Words and punctuation with their positions, tokenized in the same way for all texts."""
    matches = list(_TOKEN.finditer(text))
    return tuple(match.group() for match in matches), [match.span() for match in matches]


def touched_by(text: str, spans: Sequence[tuple[int, int]]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The tokens of a text, and which of them the spans touch."""
    tokens, places = tokens_of(text)
    return tokens, _touched(places, spans)


def _touched(places: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(
        number for number, (start, end) in enumerate(places) if any(start < to and at < end for at, to in spans)
    )


def targets_in(sentences: Sequence[TargetSentence]) -> Iterator[tuple[str, TargetWord]]:
    """Every target with its own ID."""
    for sentence in sentences:
        for number, target in enumerate(sentence.targets):
            yield f"{sentence.id}/{number}", target


def most_frequent_frames(sentences: Sequence[TargetSentence], units: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The most frequent candidate of every lexical unit, or for unseen units the candidate most frequent overall."""
    targets = [target for sentence in sentences for target in sentence.targets]
    of_unit = Counter((target.unit, target.frame) for target in targets)
    of_frame = Counter(target.frame for target in targets)
    return {
        unit: max(sorted(frames), key=lambda frame: (of_unit[unit, frame], of_frame[frame]))
        for unit, frames in units.items()
        if frames
    }
