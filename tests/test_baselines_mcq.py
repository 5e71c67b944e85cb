"""Partial-input baselines of multiple-choice questions: the light model, a folder's model, trials, the command."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from chorale.cli import app
from chorale.kits.questions.baselines import (
    ChoiceExample,
    LightChoice,
    choice_model,
    cross_validate,
    examples_of,
    folds_of,
    lacking,
    transfer,
)
from chorale.kits.questions.baselines.choice_models import writes_text
from chorale.kits.questions.baselines.light import FittedLight
from chorale.kits.questions.files.questions import read_mcq
from chorale.kits.questions.text_answers import option_in, prompt
from chorale.model import UserError

PLACES = ("harbour", "market", "forest", "castle", "station", "library", "bakery", "orchard", "tunnel", "meadow")
NAMES = ("Ada", "Ben", "Cleo", "Dov", "Eda", "Finn", "Gus", "Hana")


def copied(number: int, *, rng: random.Random) -> ChoiceExample:
    """A question whose right option is the only one that the passage has a word of."""
    here, *elsewhere = rng.sample(PLACES, 4)
    right = rng.randrange(4)
    options = [f"the {place}" for place in elsewhere]
    options.insert(right, f"the {here}")
    passage = f"Number {number}. {rng.choice(NAMES)} walked to the {here} at noon. Nobody was surprised."
    return ChoiceExample(f"q{number:03}", passage, "Where did they walk?", tuple(options), right)


def long_answers(number: int, *, rng: random.Random) -> ChoiceExample:
    """A question whose right option is the longest, and nothing else tells it."""
    right = rng.randrange(4)
    options = [rng.choice(PLACES) for _ in range(4)]
    options[right] += " behind the very old wall"
    return ChoiceExample(f"l{number:03}", f"Passage {number} says little.", "Which?", tuple(options), right)


@pytest.fixture(scope="module")
def copies() -> list[ChoiceExample]:
    rng = random.Random(5)
    return [copied(number, rng=rng) for number in range(60)]


def record(one: ChoiceExample, **more: object) -> dict[str, object]:
    return {
        "question_id": one.id,
        "question": one.question,
        "document": one.passage,
        "options": list(one.options),
        "gold_answer": f"option{one.right + 1}",
        **more,
    }


def write(path: Path, examples: Sequence[ChoiceExample]) -> Path:
    path.write_text("\n".join(json.dumps(record(one)) for one in examples), "utf-8")
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["baseline", "mcq", *map(str, arguments)])


# The light model


def test_the_light_model_finds_what_gives_answers_away_and_only_with_what_it_is_shown(
    copies: list[ChoiceExample],
) -> None:
    accuracy = {shown: cross_validate(LightChoice(), copies, shown).accuracy for shown in ("pqa", "pa", "qa", "a")}
    assert accuracy["pa"] > 0.9
    assert accuracy["pqa"] > 0.9
    assert accuracy["qa"] < 0.5
    assert accuracy["a"] < 0.5


def test_the_light_model_learns_that_the_longest_answer_is_right() -> None:
    rng = random.Random(3)
    assert cross_validate(LightChoice(), [long_answers(n, rng=rng) for n in range(40)], "a").accuracy > 0.9


def test_nothing_depends_on_the_order_of_questions_or_on_hashes(copies: list[ChoiceExample]) -> None:
    shuffled = random.Random(1).sample(copies, len(copies))
    first, second = (cross_validate(LightChoice(), some, "pa", seed=4) for some in (copies, shuffled))
    assert first.ids == second.ids
    assert first.chosen.tolist() == second.chosen.tolist()
    assert first.fold.tolist() == second.fold.tolist()
    weights = LightChoice().fit(copies).weights, LightChoice().fit(shuffled).weights
    assert np.array_equal(*weights)


def test_probabilities_are_of_the_options_there_are() -> None:
    mixed = [
        ChoiceExample("a", "", "", ("one", "two"), 0),
        ChoiceExample("b", "", "", ("one", "two", "three four", ""), 2),
        ChoiceExample("c", "", "", ("\U0001f600", "\ud800", "=1+1"), 1),
    ]
    chances = LightChoice().fit(mixed).predict(mixed)
    assert [len(one) for one in chances] == [2, 4, 3]
    assert all(abs(one.sum() - 1) < 1e-12 and (one > 0).all() for one in chances)
    assert LightChoice().fit(mixed).predict([]) == []
    with pytest.raises(ValueError, match="no examples to train on"):
        LightChoice().fit([])


@given(
    st.lists(
        st.tuples(st.text(max_size=40), st.text(max_size=20), st.lists(st.text(max_size=12), min_size=2, max_size=5)),
        min_size=1,
        max_size=6,
    )
)
def test_any_text_can_be_learnt_from_and_answered(texts: list[tuple[str, str, list[str]]]) -> None:
    examples = [
        ChoiceExample(str(number), passage, question, tuple(options), number % len(options))
        for number, (passage, question, options) in enumerate(texts)
    ]
    for one, chances in zip(examples, LightChoice().fit(examples).predict(examples), strict=True):
        assert len(chances) == len(one.options)
        assert abs(chances.sum() - 1) < 1e-9


def test_what_is_not_shown_is_not_there() -> None:
    whole = ChoiceExample("a", "passage", "question", ("one", "two"), 0)
    assert whole.seen("pa") == ChoiceExample("a", "passage", "", ("one", "two"), 0)
    assert whole.seen("qa") == ChoiceExample("a", "", "question", ("one", "two"), 0)
    assert whole.seen("a") == ChoiceExample("a", "", "", ("one", "two"), 0)
    assert lacking([whole.seen("qa")], "pa") == ["a"]
    assert lacking([whole.seen("qa")], "qa") == []


# Trials


def test_a_passage_is_never_learnt_from_and_asked_about() -> None:
    examples = [ChoiceExample(f"q{n}", f"passage {n // 3}", "?", ("a", "b"), n % 2) for n in range(60)]
    fold = folds_of(examples, 5, seed=1)
    by_passage: dict[str, set[int]] = {}
    for one, number in zip(examples, fold.tolist(), strict=True):
        by_passage.setdefault(one.passage, set()).add(number)
    assert all(len(found) == 1 for found in by_passage.values())
    assert np.bincount(fold).tolist() == [12] * 5
    assert folds_of(examples, 5, seed=2).tolist() != fold.tolist()
    with pytest.raises(ValueError, match="cannot make 21 folds from 20 passages"):
        folds_of(examples, 21, seed=1)


def test_transfer_goes_every_way(copies: list[ChoiceExample]) -> None:
    rng = random.Random(9)
    others = [long_answers(number, rng=rng) for number in range(40)]
    found = transfer(LightChoice(), {"copies": copies, "long": others}, "pa")
    assert set(found) == {("copies", "long"), ("long", "copies")}
    assert found["copies", "long"].ids == tuple(one.id for one in copies)
    assert found["long", "copies"].guessing == 0.25
    assert np.unique(found["long", "copies"].fold).tolist() == [0]


def test_transfer_never_trains_on_a_passage_that_it_tests(copies: list[ChoiceExample]) -> None:
    """The arms of a trial write about the same passages. The model for a fold has not seen the fold's passages."""
    trained: list[set[str]] = []

    class Watching(LightChoice):
        def fit(self, examples: Sequence[ChoiceExample], seed: int = 1) -> FittedLight:
            trained.append({one.passage for one in examples})
            return LightChoice().fit(examples, seed)

    other = [replace(one, id=f"other-{one.id}") for one in copies]
    others = [*other, *(replace(one, id=f"new-{one.id}", passage=f"new {one.passage}") for one in copies[:7])]
    found = transfer(Watching(), {"a": copies, "b": others}, "pa", folds=4)
    assert found["a", "b"].accuracy == found["b", "a"].accuracy == 1
    asked = sorted(copies, key=lambda one: one.id)
    tested = [{asked[place].passage for place in np.flatnonzero(found["a", "b"].fold == fold)} for fold in range(4)]
    assert all(passages.isdisjoint(seen) for passages, seen in zip(tested, trained[:4], strict=True))
    assert all(len(seen) > 20 for seen in trained)
    assert sorted(np.unique(found["b", "a"].fold)) == [0, 1, 2, 3]


def test_gold_is_the_majority_with_the_writer_and_broken_questions_are_left_out(tmp_path: Path) -> None:
    def votes(*answers: str) -> list[dict[str, object]]:
        return [{"worker_answer": one, "unanswerable": False} for one in answers]

    base = {"question": "Why?", "document": "Because.", "options": ["x", "y"], "gold_answer": "option1"}
    rows = [
        {**base, "question_id": "agreed", "validation_data": votes("option1", "option1")},
        {**base, "question_id": "corrected", "validation_data": votes("option2", "option2")},
        {**base, "question_id": "invalid", "validation_data": votes("option3", "option3")},
        {**base, "question_id": "unseen"},
    ]
    path = tmp_path / "some.json"
    path.write_text(json.dumps(rows), "utf-8")
    questions, _ = read_mcq(path)
    assert {one.id: one.right for one in examples_of(questions)} == {"agreed": 0, "corrected": 1, "unseen": 0}
    assert {one.right for one in examples_of(questions, "writer")} == {0}
    assert len(examples_of(questions, "writer")) == 4


# The command


def test_the_command_tells_accuracies_transfer_and_comparisons(tmp_path: Path, copies: list[ChoiceExample]) -> None:
    rng = random.Random(2)
    first = write(tmp_path / "copies.jsonl", copies[:30])
    second = write(tmp_path / "long.jsonl", [long_answers(number, rng=rng) for number in range(30)])
    out = tmp_path / "answers.csv"
    options = ["--input", "a", "--input", "pa", "--folds", 3, "--ci", "--resamples", 200, "--out", out]
    done = run(first, second, *options, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert set(found["files"]["copies"]) == {"pa", "a"}
    assert found["files"]["copies"]["pa"]["accuracy"] > 0.9
    assert found["files"]["long"]["a"]["accuracy"] > 0.9
    low, high = found["files"]["copies"]["pa"]["ci"]
    assert low <= found["files"]["copies"]["pa"]["accuracy"] <= high
    assert set(found["transfer"]["copies"]) == {"long"}
    assert {one["shown"] for one in found["compared"]} == {"pa", "a"}
    assert "penalty" in found["signature"]
    assert "copies: resampled by question" in "\n".join(found["notes"])
    assert out.read_text("utf-8").startswith("question_id,model,answer")
    again = CliRunner().invoke(app, ["evaluate", "mcq", str(first), str(second), "--predictions", str(out), "--json"])
    assert again.exit_code == 0, again.output
    assert "light:pa" in again.stdout
    table = run(first, "--input", "a", "--folds", 2)
    assert "answers alone" in table.stdout


def test_mistakes_are_told_with_a_fix(tmp_path: Path, copies: list[ChoiceExample]) -> None:
    file = write(tmp_path / "copies.jsonl", copies[:6])
    bare = write(tmp_path / "bare.jsonl", [one.seen("a") for one in copies[:6]])
    for arguments, words in (
        ((file, "--folds", 40), "40 folds"),
        ((bare, "--input", "pa"), "requires passages and questions"),
        ((file, "--model", tmp_path / "nowhere"), "is not a folder"),
        ((file, "--model", tmp_path), "config.json"),
        ((file, "--out", tmp_path / "answers.txt"), ".csv, .tsv or .jsonl"),
        ((file, "--input", "q"), "not one of"),
    ):
        done = run(*arguments)
        assert done.exit_code == 2, (arguments, done.output)
        assert words in done.output, (words, done.output)
        assert "Traceback" not in done.output
    assert run(bare, "--input", "a", "--folds", 2).exit_code == 0


def test_a_model_of_a_folder_needs_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", "utf-8")
    monkeypatch.setattr("chorale.model.extras.find_spec", lambda _name: None)
    with pytest.raises(UserError, match=r"pip install 'chorale-crowd\[models\]'"):
        choice_model(str(tmp_path))


# Models from text to text


@pytest.mark.parametrize(
    ("said", "options", "option"),
    [
        ("the old dog", ["The cat", "The old dog"], 1),
        ("it's late", ["Its late", "It's late"], 1),
        ("its late", ["It is", "It's late"], 1),
        ("a dog in the yard", ["a cat in the house", "a dog in a yard", "none"], 1),
        ("the", ["the cat", "the dog"], 0),
        ("dogs", ["cat", "dog"], None),
        ("(b)", ["cat", "dog"], 1),
        ("", ["cat", "dog"], None),
    ],
)
def test_the_most_similar_option_is_the_answer(said: str, options: list[str], option: int | None) -> None:
    assert option_in(said, options) == option


def test_the_input_is_that_of_unifiedqa() -> None:
    assert prompt("Which is best  conductor?", ["Iron", "Feather"], "") == (
        r"which is best conductor? \n (a) iron (b) feather"
    )
    assert prompt("", ["Iron", "Feather"], "Metal\nconducts.") == r"(a) iron (b) feather \n metal conducts."


def test_texts_are_read_as_predictions(tmp_path: Path, copies: list[ChoiceExample]) -> None:
    file = write(tmp_path / "copies.jsonl", copies[:8])
    texts = [one.options[one.right].upper() if place < 6 else "zzz" for place, one in enumerate(copies[:8])]
    rows = [
        {"question_id": one.id, "model": "unifiedqa", "text": text} for one, text in zip(copies[:8], texts, strict=True)
    ]
    predictions = tmp_path / "texts.jsonl"
    predictions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["evaluate", "mcq", str(file), "--predictions", str(predictions), "--json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)["files"].values()
    assert found["models"]["unifiedqa"]["all"]["accuracy"] == 0.75  # what is like no option is wrong, not left out
    predictions.write_text(json.dumps({"question_id": copies[0].id, "model": "unifiedqa"}) + "\n")
    refused = CliRunner().invoke(app, command)
    assert refused.exit_code == 2 and "has neither `answer` nor `text`" in refused.output


def test_a_text_to_text_model_is_not_trained(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"architectures": ["T5ForConditionalGeneration"]}', "utf-8")
    assert writes_text(tmp_path)
    with pytest.raises(UserError, match="Add --epochs 0"):
        choice_model(str(tmp_path))


@pytest.mark.slow
def test_a_folder_with_t5_answers_zero_shot(tmp_path: Path, copies: list[ChoiceExample]) -> None:
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from chorale.kits.questions.baselines.hugging_face import FittedText  # noqa: PLC0415 - after the check

    folder = tmp_path / "t5"
    words = ["<pad>", "</s>", "<unk>", "castle", "forest", "market", "the"]
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: n for n, word in enumerate(words)}, "<unk>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
    ).save_pretrained(folder)
    config = transformers.T5Config(
        vocab_size=len(words), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0
    )
    model = transformers.T5ForConditionalGeneration(config)
    # Whatever it reads, it writes “castle” again and again.
    model.lm_head = type(model.lm_head)(16, len(words))
    model.lm_head.weight.data.zero_()
    model.lm_head.bias.data.copy_(model.lm_head.bias.data.new_tensor([-9, -9, -9, 9, -9, -9, -9]))
    fitted = FittedText(model.eval(), transformers.AutoTokenizer.from_pretrained(folder), 64, 2)
    asked = [
        ChoiceExample("a", "castle " * 99, "where?", ("the forest", "the castle"), 1),
        ChoiceExample("b", "", "", ("one", "two", "three"), 2),
        ChoiceExample("c", "", "where?", ("castle", "forest"), 0),
    ]
    assert [one.tolist() for one in fitted.predict(asked)] == [[0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0]]
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    file = write(tmp_path / "copies.jsonl", copies[:8])
    out = tmp_path / "out.csv"
    done = run(file, "--model", folder, "--epochs", 0, "--input", "pqa", "--folds", 2, "--out", out, "--json")
    assert done.exit_code == 0, done.output
    assert "hugging-face" in json.loads(done.stdout)["signature"]
    done = CliRunner().invoke(app, ["evaluate", "mcq", str(file), "--predictions", str(out), "--json"])
    assert done.exit_code == 0, done.output


# Models that are trained once


def train(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["train", "mcq", *map(str, arguments)])


def test_a_light_model_is_trained_once_and_answers_other_questions(
    tmp_path: Path, copies: list[ChoiceExample], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("safetensors")
    seen, unseen = write(tmp_path / "seen.jsonl", copies[:30]), write(tmp_path / "unseen.jsonl", copies[30:])
    done = train(tmp_path / "model", "--data", seen, "--input", "pa", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["questions"] == 30
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == [
        "README.md", "model.json", "model.safetensors",
    ]  # fmt: skip
    card = (tmp_path / "model" / "README.md").read_text("utf-8")
    assert f"| seen | {json.loads(done.stdout)['data']['seen']} |" in card
    assert "Signature: `mcq-model|" in card
    assert train(tmp_path / "again", "--data", seen, "--input", "pa").exit_code == 0
    for name in ("README.md", "model.json", "model.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "model" / name).read_bytes()
    asked = run(unseen, "--model", tmp_path / "model", "--folds", 2, "--json")
    assert asked.exit_code == 0, asked.output
    found = json.loads(asked.stdout)["files"]["unseen"]
    assert list(found) == ["pa"], "it answers with the input it was trained on"
    light = LightChoice().fit([one.seen("pa") for one in copies[:30]])
    right = [int(light.predict([one.seen("pa")])[0].argmax()) == one.right for one in copies[30:]]
    assert found["pa"]["accuracy"] == pytest.approx(sum(right) / len(right))
    for arguments, words in (
        ((seen, "--model", tmp_path / "model"), "was trained on seen. Use questions that it has not seen."),
        ((unseen, "--model", tmp_path / "model", "--input", "a"), "was trained with --input pa"),
    ):
        refused = run(*arguments)
        assert (refused.exit_code, words in refused.output) == (2, True), refused.output
    monkeypatch.setattr("chorale.model.extras.find_spec", lambda _name: None)
    assert "pip install 'chorale-crowd[models]'" in train(tmp_path / "none", "--data", seen).output


def test_training_refuses_what_it_cannot_learn_from_or_write(tmp_path: Path, copies: list[ChoiceExample]) -> None:
    pytest.importorskip("safetensors")
    file = write(tmp_path / "copies.jsonl", copies[:6])
    bare = write(tmp_path / "bare.jsonl", [one.seen("a") for one in copies[:6]])
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    for arguments, words in (
        ((tmp_path / "m", "--data", bare), "6 questions lack the passage or the question"),
        ((tmp_path / "full", "--data", file), "has other files, such as thesis.tex"),
        ((file, "--data", file), "is a file. Name a folder."),
    ):
        refused = train(*arguments)
        assert (refused.exit_code, words in refused.output) == (2, True), refused.output
    assert not (tmp_path / "m").exists()
    assert train(tmp_path / "m", "--data", file).exit_code == 0
    assert "Add --force" in train(tmp_path / "m", "--data", file).output
    assert train(tmp_path / "m", "--data", file, "--force").exit_code == 0
    about = json.loads((tmp_path / "m" / "model.json").read_text("utf-8"))
    for broken, words in (
        ({**about, "kind": "chorale QA-SRL parser"}, "does not describe a light model"),
        ({**about, "shape": {**about["shape"], "buckets": 7}}, "does not fit its weights"),
        ({**about, "training": {}}, "does not fit its weights"),
    ):
        (tmp_path / "m" / "model.json").write_text(json.dumps(broken), "utf-8")
        refused = run(bare, "--model", tmp_path / "m")
        assert (refused.exit_code, words in refused.output) == (2, True), refused.output


# A model of Hugging Face's


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory, copies: list[ChoiceExample]) -> Path:
    """A folder with a small random model that knows the words of the examples."""
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    import torch  # noqa: PLC0415 - after the check that it is there

    folder = tmp_path_factory.mktemp("tiny")
    text = " ".join(f"{one.passage} {one.question} {' '.join(one.options)}" for one in copies)
    words = sorted({word.strip(".?").lower() for word in text.split()})
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", "?", *words]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), "utf-8")
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    transformers.BertForMultipleChoice(config).save_pretrained(folder)
    return folder


@pytest.mark.slow
def test_a_folder_of_hugging_face_answers_and_learns(tiny_model: Path, copies: list[ChoiceExample]) -> None:
    as_it_is = choice_model(str(tiny_model), epochs=0)
    chances = as_it_is.fit(copies, seed=1).predict(copies[:5])
    assert all(abs(one.sum() - 1) < 1e-9 and len(one) == 4 for one in chances)
    short = [one.seen("a") for one in copies[:24]]
    # The same option is always right: even a random model learns that from answers alone.
    same = [ChoiceExample(one.id, "", "", ("the castle", "the forest", "the market"), 1) for one in short]
    taught = choice_model(str(tiny_model), epochs=12, rate=5e-3)
    fitted = taught.fit(same, seed=2)
    assert all(int(one.argmax()) == 1 for one in fitted.predict(same))
    again = taught.fit(same[::-1], seed=2).predict(same)
    assert all(np.array_equal(one, other) for one, other in zip(fitted.predict(same), again, strict=True))
    assert taught.signature != as_it_is.signature


@pytest.mark.slow
def test_overlong_texts_are_cut_and_options_may_differ_in_number(tiny_model: Path) -> None:
    long = ChoiceExample("a", "castle " * 500, "where " * 300, ("the castle", "the forest " * 200), 0)
    wide = ChoiceExample("b", "", "", ("one", "two", "three"), 2)
    chances = choice_model(str(tiny_model), epochs=0).fit([], seed=1).predict([long, wide])
    assert [len(one) for one in chances] == [2, 3]
    assert all(np.isfinite(one).all() and abs(one.sum() - 1) < 1e-9 for one in chances)


@pytest.mark.slow
def test_the_command_takes_a_folder(tiny_model: Path, tmp_path: Path, copies: list[ChoiceExample]) -> None:
    file = write(tmp_path / "copies.jsonl", copies[:12])
    done = run(file, "--model", tiny_model, "--epochs", 1, "--folds", 2, "--input", "pqa", "--json")
    assert done.exit_code == 0, done.output
    assert "hugging-face" in json.loads(done.stdout)["signature"]
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "config.json").write_text('{"model_type": "no-such-model"}', "utf-8")
    refused = run(file, "--model", broken)
    assert refused.exit_code == 2
    assert "can't be used" in refused.output
    assert (
        "device:cpu"
        in json.loads(run(file, "--model", tiny_model, "--epochs", 0, "--device", "cpu", "--json").stdout)["signature"]
    )
    import torch  # noqa: PLC0415 - after the check that it is there

    if not torch.cuda.is_available():
        absent = run(file, "--model", tiny_model, "--device", "cuda")
        assert absent.exit_code == 2
        assert "torch finds no device 'cuda' on this machine. Use one of: auto, cpu" in absent.output


@pytest.mark.slow
def test_fine_tuning_that_was_interrupted_continues_to_the_same_weights(
    tiny_model: Path, tmp_path: Path, copies: list[ChoiceExample], monkeypatch: pytest.MonkeyPatch
) -> None:
    from chorale.files import training_progress  # noqa: PLC0415 - needs torch
    from chorale.kits.questions.baselines import hugging_face  # noqa: PLC0415 - needs torch

    seen, unseen = write(tmp_path / "seen.jsonl", copies[:12]), write(tmp_path / "unseen.jsonl", copies[12:24])
    options = ("--data", seen, "--model", tiny_model, "--epochs", 3, "--rate", 1e-3, "--seed", 4)
    done = train(tmp_path / "whole", *options)
    assert done.exit_code == 0, done.output
    once = training_progress.save_progress

    def stopped(*arguments: Any) -> None:
        once(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(hugging_face, "save_progress", stopped)
        assert train(tmp_path / "parts", *options).exit_code != 0
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["training.safetensors"]
    assert "other data or settings" in train(tmp_path / "parts", *options, "--seed", 5).output
    assert train(tmp_path / "parts", *options).exit_code == 0
    for name in ("README.md", "model.json", "model.safetensors"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    asked = run(unseen, "--model", tmp_path / "whole", "--folds", 2, "--json")
    assert asked.exit_code == 0, asked.output
    assert "was trained on seen" in run(seen, "--model", tmp_path / "whole").output
    (tmp_path / "whole" / "model.safetensors").write_bytes(b"other weights")
    assert "is not the file that model.json describes" in run(unseen, "--model", tmp_path / "whole").output
