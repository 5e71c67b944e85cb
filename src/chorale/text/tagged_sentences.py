"""Sentences with their parts of speech: those a file gives, and those a tagger finds."""

from collections.abc import Iterator, Sequence
from itertools import count

from chorale.text.sentence_files import GivenSentence
from chorale.text.tagger import Sentence, Tagged, Tagger
from chorale.text.tokens import tokenize


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
