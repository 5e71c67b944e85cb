"""From sentences to the items of a QA-SRL study: one for every verb to ask about."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from chorale.files.source import MOST_PROBLEMS
from chorale.kits.qasrl.grammar import prepositions
from chorale.model import Problem, UserError
from chorale.text.predicates import Predicate, forms_of, predicates
from chorale.text.sentence_files import LONGEST_TOKEN, MOST_TOKENS, GivenSentence
from chorale.text.tagger import Sentence, Tagged, Tagger, load_tagger
from chorale.text.tokens import tokenize

MOST_PREPOSITIONS = 20
_PREPOSITION = re.compile(r"(?=.{1,25}\Z)[a-z]+(?:-[a-z]+)*")
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class QasrlItems:
    """What was found."""

    rows: tuple[Mapping[str, Any], ...]
    sentences: int
    without_verbs: int
    model: str
    """That found the verbs; empty if the file named them."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which verbs to ask about beside the others."""

    copulas: bool = False
    auxiliaries: bool = False


def qasrl_items(
    given: Sequence[GivenSentence], file: str, wanted: Wanted | None = None, progress: Progress | None = None
) -> QasrlItems:
    """The items of these sentences, in their order. `file` is for messages."""
    wanted = wanted or Wanted()
    tagger = None if all(map(is_complete, given)) else load_tagger()
    rows: list[dict[str, Any]] = []
    names: set[str] = set()
    without = 0
    problems: list[Problem] = []
    for done, (one, found) in enumerate(tagged_sentences(given, tagger), 1):
        for name, sentence in found:
            problems += _flaws(sentence, file, one.line)
            if name in names:
                fix = "Give every sentence and text an id of its own."
                problems.append(Problem(file, one.line, "has a sentence that gets the id of another", fix, name))
            names.add(name)
            verbs = _verbs(one, sentence, wanted)
            rows += [_row(name, sentence, verb) for verb in verbs]
            without += not verbs
        if progress:
            progress(done, len(given))
        if len(problems) >= MOST_PROBLEMS:
            break
    if problems:
        raise UserError(f"{file} can't be used", problems[:MOST_PROBLEMS])
    return QasrlItems(tuple(rows), len(names), without, tagger.name if tagger else "")


def is_complete(one: GivenSentence) -> bool:
    return bool(one.upos) or (bool(one.tokens) and one.verbs is not None)


def tagged_sentences(
    given: Sequence[GivenSentence], tagger: Tagger | None
) -> Iterator[tuple[GivenSentence, list[tuple[str, Sentence]]]]:
    """Each with the sentences it holds, in the order they were given; the tagger works through them in batches."""
    if tagger is None:
        for one in given:
            yield one, [(one.name, _as_given(one))]
        return
    whole = tagger.tag(_tokens_of(one) for one in given if one.is_one and not is_complete(one))
    split = tagger.split(one.text for one in given if not one.is_one)
    for one in given:
        if is_complete(one):
            yield one, [(one.name, _as_given(one))]
        elif one.is_one:
            yield one, [(one.name, next(whole))]
        else:
            yield one, list(zip((f"{one.name}.{number}" for number in count(1)), next(split), strict=False))


def _tokens_of(one: GivenSentence) -> Sequence[str]:
    return one.tokens or [token.text for token in tokenize(one.text)]


def _as_given(one: GivenSentence) -> Sentence:
    if not one.upos:
        return [Tagged(token, "", "") for token in one.tokens]
    columns = zip(one.tokens, one.lemmas, one.upos, one.relations, strict=True)
    return [
        Tagged(token, token if lemma == "_" else lemma, pos, relation.startswith("aux"))
        for token, lemma, pos, relation in columns
    ]


def _verbs(one: GivenSentence, sentence: Sentence, wanted: Wanted) -> list[Predicate]:
    if one.verbs is not None:
        return [Predicate(index, forms_of(sentence[index].text)) for index in one.verbs if index < len(sentence)]
    return list(predicates(sentence, copulas=wanted.copulas, auxiliaries=wanted.auxiliaries))


def _flaws(sentence: Sentence, file: str, line: int) -> Iterator[Problem]:
    if len(sentence) > MOST_TOKENS:
        fix = f"Cut it into sentences of at most {MOST_TOKENS}."
        yield Problem(file, line, f"has a sentence of {len(sentence):,} tokens", fix, sentence[0].text[:LONGEST_TOKEN])
    for token in sentence:
        if len(token.text) > LONGEST_TOKEN:
            fix = f"Words may have {LONGEST_TOKEN} characters."
            yield Problem(file, line, "has a word that is too long", fix, f"{token.text[:40]}…")
            return


def _row(name: str, sentence: Sentence, verb: Predicate) -> dict[str, Any]:
    return {
        "id": f"{name}:{verb.index}",
        "sentence_id": name,
        "tokens": [token.text for token in sentence],
        "verb_index": verb.index,
        "verb": sentence[verb.index].text,
        "forms": verb.forms.as_bank(),
        **_own_prepositions(sentence),
    }


def _own_prepositions(sentence: Sentence) -> dict[str, list[str]]:
    """Those of the sentence that questions have only where a sentence has them."""
    words = (token.text.lower() for token in sentence if token.pos == "ADP")
    found = [word for word in dict.fromkeys(words) if word not in prepositions() and _PREPOSITION.fullmatch(word)]
    return {"prepositions": found[:MOST_PREPOSITIONS]} if found else {}
