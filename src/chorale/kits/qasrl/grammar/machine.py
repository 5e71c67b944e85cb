"""State machine of the grammar for one verb: parses questions, and explains where and why a text is not a question."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import takewhile
from typing import NamedTuple

from chorale.kits.qasrl.grammar.slots import NotAQuestion, Parsed, Slots, all_spelt, render
from chorale.kits.qasrl.grammar.table import SLOTS, table
from chorale.text.inflections import KEYS, VerbForms

_WORD = re.compile(r"[^ \t\r\n\u00a0]+")
_LAST_MARK = re.compile(r"[ \t\r\n\u00a0]*[?]?[ \t\r\n\u00a0]*\Z")
_EXTRA_WEIGHT = 1
LONGEST_QUESTION = 300
_MOST_NAMED = 4
_MOST_MACHINES = 512


class Arc(NamedTuple):
    slot: int
    value: str
    words: tuple[str, ...]
    target: str
    weight: int
    is_variant: bool = False
    """Whether it is a spelling variant of the verb: accepted but never suggested."""


class Path(NamedTuple):
    """One reading of the words so far. Inside a value of several words, `arc` is the unfinished arc."""

    state: str
    slots: Slots
    arc: Arc | None = None
    matched: int = 0


class Next(NamedTuple):
    """A piece that may follow."""

    text: str
    slot: str
    value: str
    weight: int
    after: Path


class QuestionWord(NamedTuple):
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class _GrammarState:
    ends: bool
    arcs: tuple[Arc, ...]
    by_first_word: dict[str, tuple[Arc, ...]]


def _spread(name: str, forms: VerbForms | None, more_prepositions: Mapping[str, int]) -> _GrammarState:
    """A state with an arc for every value."""
    state, groups = table()["states"][name], table()["groups"]
    arcs = []
    for slot, group, target in state["arcs"]:
        values = groups[group] | more_prepositions if slot == "prep" else groups[group]
        for value, weight in values.items():
            spellings = all_spelt(value, forms) if slot == "verb" and forms is not None else [value]
            arcs += [
                Arc(SLOTS.index(slot), value, tuple(words.split()), target, weight, number > 0)
                for number, words in enumerate(spellings)
            ]
    first: dict[str, list[Arc]] = {}
    for arc in arcs:
        first.setdefault(arc.words[0], []).append(arc)
    return _GrammarState(state.get("ends", False), tuple(arcs), {word: tuple(found) for word, found in first.items()})


@cache
def _shared(name: str) -> _GrammarState:
    """Expands a state that is the same for all verbs."""
    return _spread(name, None, {})


@cache
def _table_words() -> frozenset[str]:
    groups = table()["groups"].values()
    return frozenset(word for values in groups for value in values for word in value.split()).difference(KEYS)


class Machine:
    """All questions about one verb. States are expanded when first reached, because most are never needed."""

    def __init__(self, forms: VerbForms, more_prepositions: Iterable[str] = ()) -> None:
        self.forms = forms
        known: dict[str, int] = table()["groups"]["preposition"]
        self._more = {word: _EXTRA_WEIGHT for word in map(str.lower, more_prepositions) if word not in known}
        self._reached: dict[str, _GrammarState] = {}

    def _state(self, name: str) -> _GrammarState:
        state = self._reached.get(name)
        if state is None:
            slots = {slot for slot, _, _ in table()["states"][name]["arcs"]}
            own = "verb" in slots or ("prep" in slots and self._more)
            state = self._reached[name] = _spread(name, self.forms, self._more) if own else _shared(name)
        return state

    def _knows(self, word: str) -> bool:
        return (
            word in _table_words() or word in table()["insteadOf"] or word in self._more or word in self.forms.words()
        )

    # Walking

    def start(self) -> list[Path]:
        return [Path(str(table()["start"]), Slots("", verb=""))]

    def step(self, paths: Iterable[Path], word: str) -> list[Path]:
        """All paths with one more word; empty if the word cannot follow."""
        onward = []
        for path in paths:
            if path.arc is not None:
                if path.arc.words[path.matched] == word:
                    onward.append(_advanced(path, path.arc, path.matched + 1))
            else:
                arcs = self._state(path.state).by_first_word.get(word, ())
                onward += [_advanced(path, arc, 1) for arc in arcs]
        return onward

    def ended(self, paths: Iterable[Path]) -> list[Slots]:
        """The complete questions at this point, likeliest reading first."""
        return [path.slots for path in paths if path.arc is None and self._state(path.state).ends]

    def following(self, paths: Iterable[Path]) -> list[Next]:
        """All pieces that may follow, in table order, without spelling variants of the verb."""
        pieces = []
        for path in paths:
            if path.arc is not None:
                # A variant differs only in its last word, so a started variant is also a started form.
                if path.arc.is_variant:
                    continue
                rest = " ".join(path.arc.words[path.matched :])
                pieces.append(Next(rest, SLOTS[path.arc.slot], path.arc.value, path.arc.weight, path))
            else:
                pieces += [
                    Next(" ".join(arc.words), SLOTS[arc.slot], arc.value, arc.weight, path)
                    for arc in self._state(path.state).arcs
                    if not arc.is_variant
                ]
        return pieces

    def walk(self, words: Iterable[str]) -> list[Path]:
        paths = self.start()
        for word in words:
            paths = self.step(paths, word)
        return paths

    # Parsing

    def parse(self, question: str) -> Parsed | NotAQuestion:
        if len(question) > LONGEST_QUESTION:
            return NotAQuestion("This is too long for a question.", LONGEST_QUESTION)
        words = words_of(_LAST_MARK.sub("", question, count=1))
        if not words:
            return NotAQuestion(self._why_not_begun(), 0)
        paths = self.start()
        for number, word in enumerate(words):
            after = self.step(paths, word.text)
            if not after:
                return NotAQuestion(self._why_not(paths, words[:number], words[number:]), word.start)
            paths = after
        whole = self.ended(paths)
        if not whole:
            end = words[-1].start + len(words[-1].text)
            return NotAQuestion(f"The question is not finished. {self._what_follows(paths, words)}", end)
        return Parsed(whole[0], render(whole[0], self.forms))

    # Explaining

    def _why_not_begun(self) -> str:
        return f"A question begins with {_listed([piece.text for piece in self.following(self.start())])}."

    def _why_not(self, paths: list[Path], before: Sequence[QuestionWord], rest: Sequence[QuestionWord]) -> str:
        """Explains why the first remaining word cannot follow."""
        word = rest[0].text
        following = self.following(paths)
        first_words = {piece.text.split()[0] for piece in following}
        instead = table()["insteadOf"].get(word)
        if instead in first_words:
            return f"Write “{instead}” in place of “{word}”."
        if not before:
            return self._preposition_first(word) or self._why_not_begun()
        both = f"{before[-1].text} {word}"
        if len(before) == 1 and both in table()["insteadOfTwo"]:
            return f"Write “{table()['insteadOfTwo'][both]}” in place of “{both}”."
        if "someone" in first_words and not self._knows(word):
            unknown = " ".join(typed.text for typed in takewhile(lambda typed: not self._knows(typed.text), rest))
            return f"Write “someone” or “something” in place of “{unknown}”."
        if word == self.forms.stem and (finite := self._without_do(paths[0].slots)):
            return f"Write “{finite}” in place of “{before[-1].text} {word}”."
        of_verb = [piece for piece in following if piece.slot == "verb" and not piece.text.startswith("not ")]
        if of_verb and word in self.forms.words():
            return _verb_must_be(before, of_verb)
        if following and word in table()["groups"]["someone"] and paths[0].slots.wh in table()["groups"]["argument"]:
            if len(before) == 1:
                return f"Write “did” or a similar word first: “{_text(before)} did {word} {self.forms.stem}?”"
            return f"Leave out “{word}” here: this is what the question asks for."
        if of_verb and not self._knows(word):
            return f"{self._what_follows(paths, before)} The question is about the verb “{self.forms.stem}”."
        if not following:
            return f"Nothing can follow “{_text(before)}”. The question ends there."
        return self._what_follows(paths, before)

    def _preposition_first(self, word: str) -> str:
        if word not in table()["groups"]["preposition"] and word not in self._more:
            return ""
        return f"Put “{word}” at the end: “What did someone {self.forms.stem} something {word}?”"

    def _without_do(self, slots: Slots) -> str:
        """The finite verb form that replaces *did* or *does* without a subject; empty for other words."""
        if slots.subj or slots.wh not in table()["groups"]["argument"]:
            return ""
        return {"did": self.forms.past, "does": self.forms.present_singular_3rd}.get(slots.aux, "")

    def _what_follows(self, paths: list[Path], before: Sequence[QuestionWord]) -> str:
        following = self.following(paths)
        if all(piece.slot == "verb" for piece in following):
            return _verb_must_be(before, following)
        pieces = _by_weight(following)
        may_end = "the question may end, or continue with" if self.ended(paths) else "comes"
        return f"After “{_text(before)}” {may_end} {_listed(pieces, _MOST_NAMED)}."


def _verb_must_be(before: Sequence[QuestionWord], following: Iterable[Next]) -> str:
    return f"After “{_text(before)}” the verb must be {_listed(_by_weight(following), _MOST_NAMED)}."


def _by_weight(following: Iterable[Next]) -> list[str]:
    """Common pieces first; rare pieces only if there are no others."""
    pieces = dict.fromkeys(piece.text for piece in sorted(following, key=lambda piece: -piece.weight))
    return [piece for piece in pieces if piece != "it" and not piece.startswith("not ")] or list(pieces)


def _advanced(path: Path, arc: Arc, matched: int) -> Path:
    if matched < len(arc.words):
        return Path(path.state, path.slots, arc, matched)
    return Path(arc.target, filled(path.slots, arc.slot, arc.value))


def filled(slots: Slots, slot: int, value: str) -> Slots:
    """Adds the value to its slot. A slot may already have a value, because a preposition may have two words."""
    there = slots[slot]
    return Slots._make((*slots[:slot], f"{there} {value}" if there else value, *slots[slot + 1 :]))


def words_of(text: str) -> list[QuestionWord]:
    return [QuestionWord(found[0].lower().replace("\u2019", "'"), found.start()) for found in _WORD.finditer(text)]


def _text(words: Sequence[QuestionWord]) -> str:
    text = " ".join(word.text for word in words)
    return text[:1].upper() + text[1:]


def _listed(pieces: Sequence[str], most: int | None = None) -> str:
    """“a”, “b” or “c”; longer lists end with “a similar word”."""
    shown = [f"“{piece}”" for piece in pieces[:most]]
    if most is not None and len(pieces) > most:
        return f"{', '.join(shown)} or a similar word"
    if len(shown) == 1:
        return shown[0]
    return f"{', '.join(shown[:-1])} or {shown[-1]}"


@lru_cache(_MOST_MACHINES)
def machine(forms: VerbForms, more_prepositions: tuple[str, ...] = ()) -> Machine:
    """The cached state machine of a verb."""
    return Machine(forms, more_prepositions)


def parse(question: str, forms: VerbForms, prepositions: Iterable[str] = ()) -> Parsed | NotAQuestion:
    """Parses a question about the verb with these forms, or explains why it is invalid. `prepositions` are allowed in
    addition to the usual ones.

    >>> from chorale.text.inflections import inflect
    >>> parse("What might someone have cut with?", inflect("cut")).slots.verb
    'have pastParticiple'
    >>> parse("Who has cutting something?", inflect("cut")).reason
    'After “Who has” the verb must be “cut”, “been cut” or “been cutting”.'
    """
    return machine(forms, tuple(prepositions)).parse(question)
