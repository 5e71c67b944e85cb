"""The verbs of the QA-SRL Bank: whatever a tagger makes of a word, its stem is a verb that exists."""

import gzip
import json
from itertools import islice
from pathlib import Path

import pytest

from chorale.text.attested import is_attested
from chorale.text.predicates import forms_of
from chorale.text.tagger import Tagged

DATA = Path(__file__).parents[2] / "shared" / "data"
VERBS = 10_000
pytestmark = [
    pytest.mark.skipif(not DATA.is_dir(), reason="needs the reference data, which is not part of the project"),
    pytest.mark.slow,
]


def test_no_stem_is_invented() -> None:
    """Also with the lemma of a tagger that only cuts the last letter off a word it does not know."""
    pytest.importorskip("lemminflect")
    with gzip.open(DATA / "inflections" / "en_verb_inflections.txt.gz", "rt", encoding="utf-8") as table:
        exist = {line.split("\t")[0].strip().lower() for line in table}
    seen = 0
    wrong: list[tuple[str, str, str]] = []
    for word, stem in islice(_verbs(), VERBS):
        seen += 1
        for lemma in ("", word[:-1], word):
            forms = forms_of(word, lemma)
            wrong += [(word, lemma, forms.stem)] * (forms.stem not in exist and forms.stem != stem)
    assert seen == VERBS
    assert sorted(set(wrong)) == []


def test_no_verb_is_left_out() -> None:
    """A word is left out if nothing confirms its stem; that of every verb in the Bank is confirmed."""
    pytest.importorskip("lemminflect")
    words = {word for word, _ in _verbs()}
    assert len(words) > 2_000
    left_out = {word for word in words if not is_attested(forms_of(word), Tagged(word, "", "VERB"))}
    # Adjectives, for which the Bank invents verbs like *upcome* and *cell*, and worms.
    assert left_out <= {"upcoming", "temperate", "flukes", "celled", "down-curved", "down-dropped"}


def _verbs() -> list[tuple[str, str]]:
    """Words of the Bank's sentences that are asked about, with the stem that the Bank gives them."""
    verbs = []
    with gzip.open(DATA / "qasrl-bank" / "train.jsonl.gz", "rt", encoding="utf-8") as sentences:
        for line in islice(sentences, 8_000):
            sentence = json.loads(line)
            for index, entry in sentence["verbEntries"].items():
                word = sentence["sentenceTokens"][int(index)].lower()
                verbs.append((word, entry["verbInflectedForms"]["stem"]))
    return verbs
