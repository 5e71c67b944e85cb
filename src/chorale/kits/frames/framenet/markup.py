"""Converts FrameNet's definitions to readable text: without role markup, and with separate examples."""

import re
from dataclasses import dataclass
from html import unescape
from itertools import pairwise

_EXAMPLE = re.compile(r"<ex>(.*?)(?:</ex>|$)", re.DOTALL)
_MENTION = re.compile(r"<(ment|m)>(.*?)</\1>", re.DOTALL)
_TARGET = re.compile(r"<(?:t|target|mark)>(.*?)</(?:t|target|mark)>", re.DOTALL)
_RUN_INTO = re.compile(r"(?<=[A-Za-z])(?=<fen>)|(?<=</fen>)(?=[A-Za-z])(?!(?:e?s|ed|ing)\b)")
"""A word and a role name without a space between them."""
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_SPACE_BEFORE = re.compile(r" +([.,;:!?)’]|'(?:s|re|ve|ll|d|m)\b|n't\b)")
_ABSENT = re.compile(r"\s*[\[(]?\b(?:[CDI]NI|INC)\b[\])]?")
"""FrameNet's marker after an example for a role without a filler."""
_LABEL = re.compile(r"^\s*[A-Z][A-Z_]{3,}:\s+")
"""The name of a frame before an example that another frame has too."""
_UNGRAMMATICAL = "*"
"""Linguists' sign before a sentence that nobody would say."""
_LOST = "\N{REPLACEMENT CHARACTER}"
"""Stands for a character that an earlier conversion of the file lost, most often a quotation mark."""
_LOST_QUOTES = re.compile(rf"{_LOST}([^{_LOST}]{{1,80}}){_LOST}")
_STOPPED_TWICE = re.compile(r"([.!?])\s*\.+$")
_IN_SHORT = {
    "LU": "word",
    "LUs": "words",
    "FE": "role",
    "FEs": "roles",
    **dict.fromkeys(("CNI", "DNI", "INI"), "left unsaid"),
}
_SHORT = re.compile(rf"\b(?:{'|'.join(sorted(_IN_SHORT, reverse=True))})\b")
_NOTES = re.compile(r"\n\s*\n|(?:^|\s)\[?(?:NB|N\.B\.|Note)\b")
_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!cf)(?<!etc)[.!?](?=\s|$)")
_JOINED = re.compile(r"(?<=[^\W_])_(?=[^\W_])")
"""Spelling of frame and role names."""
_OF_LINGUISTS = re.compile(
    r"\b(?:annotat\w+|lexical units?|frame elements?|semantic types?|inherit\w*|syntactic\w*|constituents?|predicates?|"
    r"arguments?|oblique|direct objects?|non-lexical|role names?|perspectiviz\w+|profiled|raising constructions?|"
    r"target words?|stage-level|individual-level|subframes?|metonym\w+|place-?holders?|FrameNet)\b|"
    r"\b\w+\.(?:v|n|a|adv|prep)\b",
    re.IGNORECASE,
)
"""Sentences with these terms are of interest only to lexicographers."""
_WORDS = r"(?:words|verbs|nouns|adjectives|terms)\b"
_LAY_WORDING = (
    (re.compile(r"\blexical unit(s?)\b", re.IGNORECASE), r"word\1"),
    (re.compile(r"\bframe element(s?)\b", re.IGNORECASE), r"role\1"),
    (re.compile(r"\bsubframe(s?)\b", re.IGNORECASE), r"part\1"),
    (re.compile(r"^In this frame,? +", re.IGNORECASE), ""),
    (re.compile(rf"^This frame (?:contains|consists of|includes|covers|is for) (?=(?:\w+ ){{0,3}}{_WORDS})"), ""),
    (re.compile(r"^This frames\b"), "This frame"),
    (re.compile(r"\b(words|verbs|nouns|terms) (?:in|of) this frame\b", re.IGNORECASE), r"\1 with this meaning"),
    (re.compile(r"\b(?:[Tt]he )?(?!Th(?:e|is|at)\b)([A-Z]\w+(?: \w+)?) frame\b"), r"the meaning “\1”"),
    (re.compile(r"\b(?:non-perspectivized |non-lexical )?frame\b", re.IGNORECASE), "meaning"),
    (re.compile(r"\bframes\b"), "meanings"),
    (re.compile(r"\bthe target\b"), "the word"),
)
_LONGEST = 20_000
"""Maximum number of characters processed, three times the length of FrameNet's longest definition."""
_OPEN, _CLOSE = "\ue000", "\ue001"


@dataclass(frozen=True, slots=True)
class Marked:
    """A text with marked words."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()
    """Start and end in characters, end exclusive."""


def readable(definition: str) -> tuple[str, tuple[Marked, ...]]:
    """The text of a definition, and its examples with the words that evoke the frame.

    >>> readable("<def-root>An <fen>Agent</fen> acts.<ex><fex name='A'>Ann</fex> <t>did</t> it .</ex></def-root>")
    ('An Agent acts.', (Marked(text='Ann did it.', spans=((4, 7),)),))
    """
    definition = definition[:_LONGEST]
    marked = map(marked_example, _EXAMPLE.findall(definition))
    examples = tuple(each for each in marked if each.text and _UNGRAMMATICAL not in each.text)
    text = _EXAMPLE.sub(" \n", definition)
    text = _RUN_INTO.sub(" ", text)
    text = _MENTION.sub(lambda found: f"“{found[2].strip()}”" if found[1] == "ment" else found[2], text)
    paragraphs = re.split(r"\n\s*\n", _JOINED.sub(" ", _plain(text)))
    return "\n\n".join(tidied for each in paragraphs if (tidied := _tidied(each)).strip(" '\"")), examples


def brief(definition: str, longest: int = 400) -> str:
    """The first sentences of a readable definition, without notes to annotators.

    Abbreviations of lexicographers (LU, FE) are expanded. Sentences about the lexicon are left out, and the others
    refer to meanings instead of frames.

    >>> brief("Somebody acts. Some LUs take time.\\n\\nNB: this is not for events.")
    'Somebody acts. Some words take time.'
    """
    note = _NOTES.search(definition)
    first = definition[: note.start()].strip() if note and note.start() > 0 else definition.strip()
    first = _about_meaning(_SHORT.sub(lambda short: _IN_SHORT[short[0]], first))
    if len(first) <= longest:
        return first
    ends = [match.end() for match in _SENTENCE_END.finditer(first, 0, longest)]
    if ends and ends[-1] >= longest // 4:
        return first[: ends[-1]]
    return first[:longest].rsplit(" ", 1)[0].rstrip(",;: ") + " …"


def marked_example(raw: str) -> Marked:
    """An example without markup, with the spans of its marked words.

    >>> marked_example("She <t>opened</t> it .")
    Marked(text='She opened it.', spans=((4, 10),))
    """
    text = _TARGET.sub(lambda found: f"{_OPEN}{found[1]}{_CLOSE}", raw)
    text = _STOPPED_TWICE.sub(r"\1", _tidied(_ABSENT.sub("", _LABEL.sub("", _plain(text)))))
    spans: list[tuple[int, int]] = []
    pieces: list[str] = []
    length = 0
    for piece in re.split(f"({_OPEN}.*?{_CLOSE})", text):
        if piece.startswith(_OPEN):
            word = piece.strip(_OPEN + _CLOSE)
            inner = word.strip()
            at = length + len(word) - len(word.lstrip())
            if inner:
                spans.append((at, at + len(inner)))
        else:
            word = piece.replace(_OPEN, "").replace(_CLOSE, "")
        pieces.append(word)
        length += len(word)
    return Marked("".join(pieces), tuple(spans))


def _about_meaning(text: str) -> str:
    """A definition for readers who do not know frames. The first sentence is always kept."""
    ends = [0, *(found.end() for found in _SENTENCE_END.finditer(text)), len(text)]
    sentences = [part for start, end in pairwise(ends) if (part := text[start:end].strip())]
    about = [each for number, each in enumerate(sentences) if number == 0 or not _OF_LINGUISTS.search(each)]
    for pattern, wording in _LAY_WORDING:
        about = [pattern.sub(wording, each) for each in about]
    return " ".join(each[0].upper() + each[1:] for each in about if each)


def _plain(text: str) -> str:
    text = unescape(_TAG.sub("", text)).replace("\x00", "")
    return _LOST_QUOTES.sub(r"“\1”", text).replace(_LOST, "")


def _tidied(text: str) -> str:
    return _SPACE_BEFORE.sub(r"\1", " ".join(text.split()))
