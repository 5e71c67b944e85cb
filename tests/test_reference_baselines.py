"""Baselines on the published data."""

from pathlib import Path

import pytest

from chorale.kits.frames.baselines import frames_by_sense, scores_of
from chorale.kits.frames.baselines.fulltext import most_frequent_frames, sentences_of, targets_in
from chorale.kits.frames.candidates import CandidateFrames
from chorale.kits.frames.files.scores import read_frame_scores
from chorale.kits.frames.files.sense_map import read_frame_map
from chorale.kits.frames.files.words import read_frame_words
from chorale.kits.frames.framenet import FrameNet, read_framenet
from chorale.kits.frames.metrics.agreement import frame_agreement
from chorale.kits.questions.baselines import LightChoice, cross_validate, examples_of
from chorale.kits.questions.files.questions import read_mcq
from chorale.text.wordnet import read_wordnet

SHARED = Path(__file__).parents[2] / "shared"
DATA = SHARED / "data"
FRAMENET = DATA / "framenet" / "framenet_v17-frames-fulltext.tar.gz"
CROWD = [DATA / "frames" / f"FSS_{number:02}.csv" for number in (1, 2, 3)]
WORDNET = Path("/usr/share/wordnet")

pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the reference data, which is not part of the project"
)


@pytest.fixture(scope="module")
def framenet() -> FrameNet:
    return read_framenet(FRAMENET)


@pytest.mark.slow
def test_answers_are_told_by_the_passage_in_the_baseline_arm_far_more_than_in_the_crowd_arm() -> None:
    accuracy = {}
    for arm in ("baseline", "crowd"):
        examples = examples_of(read_mcq(DATA / "nangia" / f"{arm}.json.gz")[0])
        for given in ("pa", "a"):
            accuracy[arm, given] = cross_validate(LightChoice(), examples, given).accuracy
    # Nangia et al.'s Table 2 has 69.9, 57.7, 34.9 and 35.2 with a model that has read the web.
    assert accuracy["baseline", "pa"] == pytest.approx(0.5695, abs=0.005)
    assert accuracy["crowd", "pa"] == pytest.approx(0.4151, abs=0.005)
    assert accuracy["baseline", "a"] == pytest.approx(0.3526, abs=0.005)
    assert accuracy["crowd", "a"] == pytest.approx(0.3486, abs=0.005)


@pytest.mark.slow
def test_held_out_texts_are_as_many_as_are_there_and_mostly_have_the_most_frequent_frame(framenet: FrameNet) -> None:
    parts = sentences_of(framenet)
    usual = most_frequent_frames(parts["train"], framenet.lexical_units)
    targets = [target for _, target in targets_in(parts["test"])]
    assert len(targets) == 3578
    share = sum(usual.get(target.unit) == target.frame for target in targets) / len(targets)
    assert share == pytest.approx(0.8664, abs=5e-5)


@pytest.mark.slow
@pytest.mark.skipif(not (WORDNET / "index.verb").is_file(), reason="needs WordNet where Debian has it")
def test_frames_by_sense_score_about_what_the_paper_has(framenet: FrameNet) -> None:
    wordnet = read_wordnet(WORDNET)
    mapped = read_frame_map([DATA / "wordnet-map" / "FnWnVerbMap.1.0.txt"], framenet, wordnet)
    crowd = read_frame_scores(CROWD, need_scores=True)
    words = read_frame_words(CROWD)
    assert len(words) == 1767
    found = frame_agreement(
        crowd, scores_of(frames_by_sense(words, CandidateFrames(framenet, wordnet, mapped.frames, "related")))
    )
    values = found.metric().scores(found.statistics())
    assert 0.2 < values["tau_auc"] < 0.4
    assert 0.4 < values["cosine_auc"] < 0.65


@pytest.mark.slow
def test_a_classifier_of_two_epochs_names_four_of_five_frames_and_os_plus_comes_before_os(framenet: FrameNet) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    from chorale.kits.frames.baselines.training import FrameTraining, train_frames  # noqa: PLC0415 - needs torch

    classifier = train_frames(framenet, FrameTraining(epochs=2))
    held_out = classifier.training["held_out"]["test"]
    assert held_out["accuracy"] > 0.8
    assert held_out["ambiguous"] == 1983
    crowd, words = read_frame_scores(CROWD, need_scores=True), read_frame_words(CROWD)
    values = {}
    for label in ("one", "several"):
        found = frame_agreement(crowd, scores_of(classifier.predict(words, label)))
        values[label] = found.metric().scores(found.statistics())
    assert values["several"]["tau_auc"] > values["one"]["tau_auc"] > 0.25
    assert values["several"]["cosine_auc"] > values["one"]["cosine_auc"] > 0.45
