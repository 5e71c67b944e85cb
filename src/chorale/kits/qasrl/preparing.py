"""Turns sentences into the items of a QA-SRL study, one per verb."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chorale.files.source import MOST_PROBLEMS
from chorale.kits.qasrl.grammar import prepositions
from chorale.kits.qasrl.tasks.shared.predicates import with_variants
from chorale.model import Problem, UserError
from chorale.model.extras import need
from chorale.text.attested import WrittenWords, follows_dash, is_attested
from chorale.text.inflections import VerbForms, is_verb
from chorale.text.predicates import Predicate, forms_of, predicates
from chorale.text.sentence_files import LONGEST_TOKEN, MOST_TOKENS, GivenSentence
from chorale.text.tagged_sentences import is_complete, tagged_sentences
from chorale.text.tagger import Sentence, Tagged, load_tagger

MOST_PREPOSITIONS = 20
_PREPOSITION = re.compile(r"(?=.{1,25}\Z)[a-z]+(?:-[a-z]+)*")
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class QasrlItems:
    """The items and their statistics."""

    rows: tuple[Mapping[str, Any], ...]
    sentences: int
    without_verbs: int
    model: str
    """Name of the model that found the verbs; empty if the file lists them."""
    left_out: tuple[Problem, ...] = ()
    """Sentences that are too long to show, or that contain a word that is too long."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Words left out because their stem is unknown, with how often they occur."""
    guessed: Mapping[str, str] = field(default_factory=dict)
    """Words that the file lists as verbs, but whose stem is only a guess, with that stem."""


@dataclass(frozen=True, slots=True)
class VerbFilter:
    """Additional verbs to ask about."""

    copulas: bool = False
    auxiliaries: bool = False


def qasrl_items(
    given: Sequence[GivenSentence], file: str, wanted: VerbFilter | None = None, progress: Progress | None = None
) -> QasrlItems:
    """The items of these sentences, in order, without sentences that are too long. `file` is for messages."""
    wanted = wanted or VerbFilter()
    tagger = None
    if not all(map(is_complete, given)):
        need("lemminflect")  # without a dictionary, few stems are known
        tagger = load_tagger()
    rows: list[dict[str, Any]] = []
    stems = _Stems()
    names: set[str] = set()
    problems: list[Problem] = []
    left_out: list[Problem] = []
    for done, (given_sentence, sentences) in enumerate(tagged_sentences(given, tagger), 1):
        for name, sentence in sentences:
            if flaw := _flaw(sentence, file, given_sentence.line):
                left_out.append(flaw)
                continue
            if name in names:
                fix = "Give every sentence and text a unique ID."
                problems.append(
                    Problem(file, given_sentence.line, "has a sentence with the same ID as another sentence", fix, name)
                )
            names.add(name)
            verbs = _verbs(given_sentence, sentence, wanted)
            stems.read(sentence)
            for verb in verbs:
                rows.append(_row(name, sentence, verb))
                stems.check(rows[-1], sentence, verb.index, given_sentence)
        if progress:
            progress(done, len(given))
        if len(problems) >= MOST_PROBLEMS:
            break
    if problems or (left_out and not names):
        raise UserError(f"{file} can't be used", (problems or left_out)[:MOST_PROBLEMS])
    stems.settle()
    kept = tuple(row for row in rows if row["id"] not in stems.left_out)
    without = len(names - {row["sentence_id"] for row in kept})
    model = tagger.name if tagger else ""
    return QasrlItems(kept, len(names), without, model, tuple(left_out), stems.unknown, stems.guessed)


class _Stems:
    """Decides whether to keep verbs that no dictionary lists. Some are nouns that the tagger mistook for verbs.

    A form that confirms the stem may come later in the text, so everything is read before anything is left out.
    """

    def __init__(self) -> None:
        self.left_out: set[str] = set()
        self.unknown: Counter[str] = Counter()
        self.guessed: dict[str, str] = {}
        self._written = WrittenWords()
        self._doubtful: list[tuple[dict[str, Any], Tagged, bool]] = []

    def read(self, sentence: Sentence) -> None:
        self._written.read(sentence)

    def check(self, row: dict[str, Any], sentence: Sentence, index: int, given: GivenSentence) -> None:
        token, forms = sentence[index], VerbForms.from_bank(row["forms"])
        is_from_file = bool(given.upos) and forms.stem == token.lemma.lower()
        if not is_from_file and not is_verb(forms.stem):
            is_listed = given.verbs is not None
            if follows_dash(sentence, index) and not is_listed:
                self._leave_out(row, token)
                return
            self._written.note(forms.stem, token.text.lower())
            self._doubtful.append((row, token, is_listed))

    def settle(self) -> None:
        for row, token, is_listed in self._doubtful:
            forms = forms_of(token.text, token.lemma, written=self._written.words)
            if is_attested(forms, token, self._written):
                row |= {"forms": forms.as_bank(), **with_variants(forms, token.text)}
            elif is_listed:
                self.guessed[token.text] = forms.stem
            else:
                self._leave_out(row, token)

    def _leave_out(self, row: Mapping[str, Any], token: Tagged) -> None:
        self.left_out.add(row["id"])
        self.unknown[token.text] += 1


def _verbs(given: GivenSentence, sentence: Sentence, wanted: VerbFilter) -> list[Predicate]:
    if given.verbs is not None:
        return [Predicate(index, forms_of(sentence[index].text)) for index in given.verbs if index < len(sentence)]
    return list(predicates(sentence, copulas=wanted.copulas, auxiliaries=wanted.auxiliaries))


def _flaw(sentence: Sentence, file: str, line: int) -> Problem | None:
    """The reason why a sentence cannot be shown, or None."""
    if len(sentence) > MOST_TOKENS:
        fix = f"Split it into sentences of at most {MOST_TOKENS} tokens."
        return Problem(file, line, f"has a sentence of {len(sentence):,} tokens", fix, sentence[0].text[:LONGEST_TOKEN])
    longest = max((token.text for token in sentence), key=len, default="")
    if len(longest) > LONGEST_TOKEN:
        fix = f"Words may have at most {LONGEST_TOKEN} characters."
        return Problem(file, line, "has a word that is too long", fix, f"{longest[:40]}…")
    return None


def _row(name: str, sentence: Sentence, verb: Predicate) -> dict[str, Any]:
    return {
        "id": f"{name}:{verb.index}",
        "sentence_id": name,
        "tokens": [token.text for token in sentence],
        "verb_index": verb.index,
        "verb": sentence[verb.index].text,
        "forms": verb.forms.as_bank(),
        **with_variants(verb.forms, sentence[verb.index].text),
        **_own_prepositions(sentence),
    }


def _own_prepositions(sentence: Sentence) -> dict[str, list[str]]:
    """Prepositions of the sentence, allowed in its questions in addition to the usual ones."""
    words = (token.text.lower() for token in sentence if token.pos == "ADP")
    own = [word for word in dict.fromkeys(words) if word not in prepositions() and _PREPOSITION.fullmatch(word)]
    return {"prepositions": own[:MOST_PREPOSITIONS]} if own else {}
