"""FrameNet, WordNet and the published corpus as they are: candidates, definitions, relations."""

from pathlib import Path

import pytest

from chorale.kits.frames.candidates import CandidateFrames
from chorale.kits.frames.files.sense_map import read_frame_map
from chorale.kits.frames.files.sentences import FrameSentences, read_frame_sentences
from chorale.kits.frames.framenet import FrameNet, read_framenet, read_name_changes
from chorale.kits.frames.metrics.ambiguity import FrameRelating, Relation, majorities
from chorale.kits.frames.reproduction_framenet import coverage, framenet_in
from chorale.text.wordnet import WordNet, find_wordnet, read_wordnet

SHARED = Path(__file__).parents[2] / "shared"
DATA = SHARED / "data"

pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the reference data, which is not part of the project"
)


@pytest.fixture(scope="module")
def framenet() -> FrameNet:
    place = framenet_in(DATA)
    assert place is not None
    return read_framenet(place)


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    if find_wordnet() is None:
        pytest.skip("needs WordNet: on Debian, the package wordnet-base")
    return read_wordnet()


@pytest.fixture(scope="module")
def corpus(framenet: FrameNet) -> FrameSentences:
    files = [DATA / "frames" / f"FSS_{number:02}.csv" for number in (1, 2, 3)]
    return read_frame_sentences(files, framenet=framenet)


def test_every_definition_and_example_is_readable(framenet: FrameNet) -> None:
    assert len(framenet.frames) == 1221
    with_examples = 0
    for name in framenet.frames:
        frame = framenet.frame(name)
        assert frame.brief and len(frame.brief) <= 402
        texts = [frame.brief, *(example.text for example in frame.examples)]
        assert not any(mark in text for text in texts for mark in ("<fen", "<t>", "<ex", "&lt;", "</", "CNI", "DNI"))
        with_examples += any(example.spans for example in frame.examples)
    assert with_examples > 1000


@pytest.mark.slow
def test_the_annotated_texts_are_all_there_but_one(framenet: FrameNet) -> None:
    documents = list(framenet.fulltext())
    assert len(documents) == 106 and framenet.missing_documents() == ("ANC__WhereToHongKong",)
    targets = [target for text in documents for sentence in text.sentences for target in sentence.targets]
    assert len(targets) == 25763
    assert {target.frame for target in targets} <= set(framenet.frames)


@pytest.mark.slow
def test_candidates_cover_the_corpus(framenet: FrameNet, wordnet: WordNet, corpus: FrameSentences) -> None:
    changes = read_name_changes(DATA / "frames" / "fn_1.5_1.7_conversion.csv")
    mapped = read_frame_map([DATA / "wordnet-map" / "FnWnVerbMap.1.0.txt"], framenet, wordnet, changes)
    assert mapped.unknown_frames == ("skill_test",) and mapped.unknown_senses == 15
    widest = CandidateFrames(framenet, wordnet, mapped.frames, "related")
    recall, precision, top = coverage(corpus.sentences, widest, wordnet)
    assert recall >= 0.97 and precision == pytest.approx(0.095, abs=0.001) and top > 0.98
    recall, precision, top = coverage(corpus.sentences, widest, wordnet, 25)
    assert [recall, precision, top] == pytest.approx([0.698, 0.319, 0.941], abs=0.001)
    recall, precision, _ = coverage(corpus.sentences, CandidateFrames(framenet, reach="units"), wordnet)
    assert recall == pytest.approx(0.174, abs=0.005) and precision > 0.99


@pytest.mark.slow
def test_the_default_reach_covers_words_outside_framenet(framenet: FrameNet, wordnet: WordNet) -> None:
    """Batch 7 played no part in choosing how `related` works."""
    changes = read_name_changes(DATA / "frames" / "fn_1.5_1.7_conversion.csv")
    mapped = read_frame_map([DATA / "wordnet-map" / "FnWnVerbMap.1.0.txt"], framenet, wordnet, changes).frames
    sentences = read_frame_sentences([DATA / "frames" / "FSS_07.csv"], framenet=framenet).sentences
    related = CandidateFrames(framenet, wordnet, mapped, "related")
    assert coverage(sentences, related, wordnet)[2] == pytest.approx(0.975, abs=0.001)
    assert coverage(sentences, related, wordnet, 25) == pytest.approx((0.815, 0.198, 0.905), abs=0.001)
    assert coverage(sentences, CandidateFrames(framenet, wordnet, mapped, "map"), wordnet)[2] < 0.07


def test_majorities_and_relations_of_the_corpus(framenet: FrameNet, corpus: FrameSentences) -> None:
    counts = majorities(corpus.sentences)
    assert (counts.several, counts.none) == (382, 249)
    relating = FrameRelating(framenet)
    assert relating.between("Statement", "Communication")[0] is Relation.PARENT_CHILD
    assert relating.between("Receiving", "Getting") == (Relation.PARENT_CHILD, ("Inheritance",))
    assert relating.between("Emphasizing", "Convey_importance")[0] is Relation.OVERLAPPING
    assert relating.between("Dodging", "Compliance")[0] is Relation.COMPOSED
