"""Sentences with parts of speech, from a file or a tagger."""

from collections.abc import Iterator, Sequence
from itertools import count

from chorale.text.sentence_files import GivenSentence
from chorale.text.tagger import Sentence, Tagged, Tagger
from chorale.text.tokens import tokenize


def is_complete(given: GivenSentence) -> bool:
    return bool(given.upos) or (bool(given.tokens) and given.verbs is not None)


def tagged_sentences(
    given: Sequence[GivenSentence], tagger: Tagger | None
) -> Iterator[tuple[GivenSentence, list[tuple[str, Sentence]]]]:
    """Each given text with its tagged sentences, in order; the tagger works in batches."""
    if tagger is None:
        for sentence in given:
            yield sentence, [(sentence.name, _as_given(sentence))]
        return
    whole = tagger.tag(tokens_of(sentence) for sentence in given if sentence.is_one and not is_complete(sentence))
    split = tagger.split(sentence.text for sentence in given if not sentence.is_one)
    for sentence in given:
        if is_complete(sentence):
            yield sentence, [(sentence.name, _as_given(sentence))]
        elif sentence.is_one:
            yield sentence, [(sentence.name, next(whole))]
        else:
            yield sentence, list(zip((f"{sentence.name}.{number}" for number in count(1)), next(split), strict=False))


def tokens_of(given: GivenSentence) -> Sequence[str]:
    """The tokens from the file, or else those of the text."""
    return given.tokens or [token.text for token in tokenize(given.text)]


def _as_given(given: GivenSentence) -> Sentence:
    if not given.upos:
        return [Tagged(token, "", "") for token in given.tokens]
    columns = zip(given.tokens, given.lemmas, given.upos, given.relations, strict=True)
    return [
        Tagged(token, token if lemma == "_" else lemma, pos, relation.startswith("aux"))
        for token, lemma, pos, relation in columns
    ]
