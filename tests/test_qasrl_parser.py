"""The QA-SRL parser: candidates, participants, questions, training, saving, and the two commands."""

import csv
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from chorale.cli import app
from chorale.kits.qasrl.files import read_bank, read_qasrl, read_sentences
from chorale.kits.qasrl.grammar import Context, NotAQuestion, Slots, parse, render, suggest
from chorale.kits.qasrl.parser.answering import recorded_answer
from chorale.kits.qasrl.parser.candidates import candidates
from chorale.kits.qasrl.parser.clauses import participants, parts_below
from chorale.kits.qasrl.parser.examples import examples_of, gold_examples, is_gold, targets_of
from chorale.kits.qasrl.parser.inventory import QuestionInventory, codes_of
from chorale.kits.qasrl.parser.parsing import ParsedQuestion, ParsedVerb, best_spans
from chorale.kits.qasrl.parser.suggesting import ranked
from chorale.kits.qasrl.parser.vocabulary import HashedVocabulary
from chorale.kits.qasrl.tasks.write import QASRL_WRITE
from chorale.metrics import FloatArray
from chorale.model import UserError
from chorale.text.inflections import VerbForms, inflect
from chorale.text.predicates import Predicate, forms_of
from chorale.text.tagger import Sentence, Tagged
from qasrl_files import judged, write_bank

PEOPLE, THINGS = (
    ("The teacher", "A sailor", "My aunt", "The boy"),
    ("the boat", "a letter", "the old bridge", "some bread"),
)
PLACES = ("in the harbour", "at the market", "near the castle")
LICENCE = Path("/usr/share/common-licenses/GPL-3")
VERBS = {"painted": "paint", "followed": "follow", "lifted": "lift", "wanted": "want"}


def tree(*words: tuple[str, str, str, str, int]) -> Sentence:
    """From word, part of speech, tag, relation and head."""
    return [
        Tagged(text, text.lower(), pos, tag=tag, relation=relation, head=head)
        for text, pos, tag, relation, head in words
    ]


RELATIVE = tree(
    ("The", "DET", "DT", "det", 1), ("man", "NOUN", "NN", "nsubj", 6), ("who", "PRON", "WP", "nsubj", 3),
    ("wanted", "VERB", "VBD", "relcl", 1), ("to", "PART", "TO", "aux", 5), ("sing", "VERB", "VB", "xcomp", 3),
    ("left", "VERB", "VBD", "ROOT", 6), (".", "PUNCT", ".", "punct", 6),
)  # fmt: skip


def test_candidates_are_subtrees_whole_and_cut() -> None:
    spans = {(span.start, span.end) for span in candidates(RELATIVE)}
    assert {(0, 6), (0, 2), (2, 6), (4, 6), (0, 7)} <= spans
    assert all(end <= 7 for _, end in spans), "a full stop is part of no argument"


def test_participants_are_found_in_other_clauses() -> None:
    below = parts_below(RELATIVE)
    assert participants(RELATIVE, below, 3) == (1, 5), "who is the man"
    assert participants(RELATIVE, below, 5).subject == 1, "he is who would sing"
    assert participants(RELATIVE, below, 6) == (1, -1)
    passive = tree(
        ("Bread", "NOUN", "NN", "nsubjpass", 2), ("was", "AUX", "VBD", "auxpass", 2),
        ("eaten", "VERB", "VBN", "ROOT", 2), ("by", "ADP", "IN", "agent", 2), ("Tom", "PROPN", "NNP", "pobj", 3),
    )  # fmt: skip
    assert participants(passive, parts_below(passive), 2) == (0, 4)


def test_features_that_were_rare_have_the_number_of_unseen_ones() -> None:
    kept = HashedVocabulary.of([np.array([7, 7, 9]), np.array([7, 4, 4])], at_least=2)
    assert kept.numbers(np.array([4, 7, 9, 100])).tolist() == [1, 2, 0, 0]
    assert HashedVocabulary.of([], at_least=2).numbers(np.array([4])).tolist() == [0]


def likely(size: int, place: int) -> FloatArray:
    """Logits of one row, with nearly all of the probability in one place."""
    logits = np.zeros((1, size))
    logits[0, place] = 20
    return logits


def test_the_question_is_that_of_the_likeliest_role_not_the_likeliest_wording() -> None:
    forms = inflect("give")
    texts = (
        "What was given?",
        "Who gave something?",
        "Who gave something to someone?",
        "Who gave something for something?",
    )
    slots = [parsed.slots for text in texts if not isinstance(parsed := parse(text, forms), NotAQuestion)]
    inventory = QuestionInventory.of(slots, at_least=1)
    shares = {"What was given?": 0.4, "Who gave something?": 0.3, "Who gave something to someone?": 0.2,
              "Who gave something for something?": 0.1}  # fmt: skip
    logits = np.full((1, len(inventory.shapes)), -20.0)
    for text, one in zip(texts, slots, strict=True):
        logits[0, codes_of(inventory, [one])[0][0]] = np.log(shares[text])
    (made,) = inventory.choose(
        logits, np.zeros((1, len(inventory.polarities))), np.zeros((1, len(inventory.prepositions)))
    )
    assert made is not None
    assert render(made.slots, forms) == "Who gave something?"
    assert made.probability == pytest.approx(0.6)


def test_every_question_put_together_is_one_that_people_could_write() -> None:
    texts = ("Who gave something?", "What was given to someone?", "When might someone give something?",
             "Where didn't someone give something?")  # fmt: skip
    forms = inflect("give")
    slots = [parsed.slots for text in texts if not isinstance(parsed := parse(text, forms), NotAQuestion)]
    assert len(slots) == len(texts)
    inventory = QuestionInventory.of(slots, at_least=1)
    for shape, polarity in product(range(len(inventory.shapes)), range(len(inventory.polarities))):
        scores = (likely(len(inventory.shapes), shape), likely(len(inventory.polarities), polarity), np.ones((1, 1)))
        (made,) = inventory.choose(*scores)
        assert made is not None
        assert codes_of(inventory, [made.slots])[0][0] >= 0
    for question, code in zip(slots, codes_of(inventory, slots), strict=True):
        (made,) = inventory.choose(*(likely(size, place) for size, place in zip((4, 3, 1), code, strict=True)))
        assert made is not None
        assert made.slots == question
        assert made.probability > 0.99
    assert codes_of(inventory, [Slots("why", "did", "someone")]) == [(-1, codes_of(inventory, slots[:1])[0][1], -1)]


def test_overlapping_spans_give_way_to_the_better_one() -> None:
    spans = np.array([[0, 5], [0, 2], [3, 5], [6, 7]])
    scores = np.array([[0.9, 0.3], [0.8, 0.8], [0.7, 0.9], [0.1, 1.0]])
    assert best_spans(spans, scores, 0.25).tolist() == [1, 2]
    assert best_spans(spans, scores, 0.05).tolist() == [1, 2, 3]
    assert best_spans(np.zeros((0, 2), dtype=np.int64), np.zeros((0, 2)), 0.2).tolist() == []


def test_questions_that_most_judges_reject_teach_nothing(tmp_path: Path) -> None:
    lines = list(bank_lines(1))
    entry = next(iter(lines[0]["verbEntries"].values()))
    entry["questionLabels"]["Why did someone paint something?"] = judged(
        "Why did someone paint something?", [[(0, 2)], None, None], wh="why", aux="did", subj="someone", verb="stem",
        obj="something",
    )  # fmt: skip
    (example,) = examples_of(read_bank(write_bank(tmp_path / "bank.jsonl", lines)))
    (verb,) = example.verbs
    assert [question.slots.wh for question in verb.asked] == ["who", "what", "where"]
    targets = targets_of(np.array([[0, 2], [0, 1], [3, 5]]), verb.asked)
    assert targets.argument.tolist() == [1.0, 1.0, 1.0]
    assert targets.exact.tolist() == [1.0, 0.5, 1.0]
    assert [(span, question) for span, question, _ in targets.asked] == [(0, 0), (1, 0), (2, 1)]


# A small model, trained on sentences of the project's own


def bank_lines(most: int = 1_000) -> Iterator[dict[str, Any]]:
    made = product(PEOPLE, VERBS, THINGS, PLACES)
    for number, (person, verb, thing, place) in zip(range(most), made, strict=False):
        tokens = [*person.split(), verb, *thing.split(), *place.split(), "."]
        object_end = 3 + len(thing.split())
        stem = VERBS[verb]
        questions = [
            judged(f"Who {verb} something?", [[(0, 2)]] * 3, obj="something"),
            judged(f"What did someone {stem}?", [[(3, object_end)]] * 3, wh="what", aux="did", subj="someone",
                   verb="stem"),
            judged(f"Where did someone {stem} something?", [[(object_end, len(tokens) - 1)]] * 3, wh="where", aux="did",
                   subj="someone", verb="stem", obj="something"),
        ]  # fmt: skip
        forms = VerbForms(stem, f"{stem}s", f"{stem}ing", verb, verb).as_bank()
        entry = {
            "verbIndex": 2,
            "verbInflectedForms": forms,
            "questionLabels": {question["questionString"]: question for question in questions},
        }
        yield {"sentenceId": f"own:{number}", "sentenceTokens": tokens, "verbEntries": {"2": entry}}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict[str, Any]]:
    for package in ("torch", "safetensors", "spacy"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("parser")
    bank = write_bank(folder / "own.jsonl", bank_lines())
    done = run("train", "qasrl", folder / "model", "--data", bank, "--epochs", 12, "--seed", 2, "--json")
    assert done.exit_code == 0, done.output
    return folder / "model", bank, json.loads(done.stdout)


@pytest.mark.slow
def test_a_small_parser_asks_and_answers_about_sentences_it_never_saw(
    trained: tuple[Path, Path, dict[str, Any]], tmp_path: Path
) -> None:
    model, _, card = trained
    assert card["sentences"] == len(PEOPLE) * len(VERBS) * len(THINGS) * len(PLACES)
    assert card["seed"] == 2
    (digest,) = card["data"].values()
    assert f"bank:{digest[:8]}" in card["signature"]
    text = tmp_path / "new.txt"
    text.write_text("The farmer followed a heavy basket near the river. Nothing here.\n", "utf-8")
    out = tmp_path / "parsed.csv"
    done = run("parse", "qasrl", text, "--model", model, "--out", out)
    assert done.exit_code == 0, done.output
    with out.open(encoding="utf-8", newline="") as file:
        rows = {row["question"]: row for row in csv.DictReader(file)}
    assert rows["Who followed something?"]["answer"] == "The farmer"
    assert rows["What did someone follow?"]["answer"] == "a heavy basket"
    assert rows["Where did someone follow something?"]["answer"] == "near the river"
    assert all(0 < float(share) <= 1 for row in rows.values() for share in row["probability"].split("~!~"))
    table = read_qasrl(out)
    assert {question.wh for question in table.questions} == {"who", "what", "where"}
    for name in ("--threshold", "--question-threshold"):
        out = tmp_path / f"strict{name}.csv"
        strict = run("parse", "qasrl", text, "--model", model, "--out", out, name, 1, "--json")
        assert json.loads(strict.stdout)["questions"] == 0


@pytest.mark.slow
@pytest.mark.skipif(not LICENCE.exists(), reason=f"needs {LICENCE}, a text of somebody else's that Debian has")
def test_questions_about_a_text_nobody_here_wrote_pass_the_grammar_and_the_scorer(
    trained: tuple[Path, Path, dict[str, Any]], tmp_path: Path
) -> None:
    text, out = tmp_path / "licence.txt", tmp_path / "parsed.csv"
    text.write_text("\n".join(LICENCE.read_text("utf-8").splitlines()[:120]), "utf-8")
    done = run("parse", "qasrl", text, "--model", trained[0], "--out", out, "--threshold", 0.01)
    assert done.exit_code == 0, done.output
    with out.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["question"]]
    assert len(rows) > 50
    for row in rows:
        either = [parse(row["question"], forms_of(row["verb"], is_participle=past)) for past in (False, True)]
        assert not all(isinstance(one, NotAQuestion) for one in either), row
    scored = json.loads(run("evaluate", "qasrl", out, out, "--json").stdout)
    assert [scored[measure]["f1"] for measure in ("ua", "la", "role")] == [1.0, 1.0, 1.0]


@pytest.mark.slow
def test_prepared_items_get_the_questions_of_a_parser_in_the_order_of_their_probability(
    trained: tuple[Path, Path, dict[str, Any]], tmp_path: Path
) -> None:
    text, out = tmp_path / "new.txt", tmp_path / "items.jsonl"
    text.write_text("The farmer followed a heavy basket near the river.\n", "utf-8")
    done = run("prepare", "qasrl", text, "--model", trained[0], "--out", out, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["suggested_by"] == str(trained[0])
    (row,) = map(json.loads, out.read_text("utf-8").splitlines())
    item = QASRL_WRITE.shape.parse_row({name: value for name, value in row.items() if name != "id"})
    assert set(item["suggested"]) >= {"Who followed something?", "What did someone follow?"}
    context = Context(tuple(row["tokens"]), row["verb_index"], ranked=tuple(row["suggested"]))
    assert suggest(inflect("follow"), context)[: len(row["suggested"])] == row["suggested"]
    refused = run("prepare", "qasrl", text, "--model", tmp_path, "--out", tmp_path / "none.jsonl")
    assert refused.exit_code != 0
    assert "model.json" in refused.output
    assert not (tmp_path / "none.jsonl").exists()


@pytest.mark.slow
def test_a_parser_answers_the_items_of_a_study_as_a_model(
    trained: tuple[Path, Path, dict[str, Any]], tmp_path: Path
) -> None:
    text, items, out = tmp_path / "new.txt", tmp_path / "items.jsonl", tmp_path / "answers.jsonl"
    text.write_text("The farmer followed a heavy basket near the river.\n", "utf-8")
    assert run("prepare", "qasrl", text, "--out", items).exit_code == 0
    done = run("parse", "qasrl", items, "--model", trained[0], "--stage", "write", "--out", out, "--json")
    assert done.exit_code == 0, done.output
    (item,) = map(json.loads, items.read_text("utf-8").splitlines())
    (recorded,) = map(json.loads, out.read_text("utf-8").splitlines())
    assert (recorded["stage"], recorded["item"]) == ("write", item["id"])
    shown = QASRL_WRITE.form.view(QASRL_WRITE.shape.parse_row({k: v for k, v in item.items() if k != "id"}))
    assert QASRL_WRITE.prompting.read is not None
    read = QASRL_WRITE.prompting.read(shown, recorded["output"]["answer"])
    answer = QASRL_WRITE.shape.parse_answer(read, item)
    assert {one["question"] for one in answer} >= {"Who followed something?", "What did someone follow?"}
    assert json.loads(done.stdout)["questions"] == len(answer)
    refused = run("parse", "qasrl", text, "--model", trained[0], "--stage", "write", "--out", tmp_path / "no.jsonl")
    assert refused.exit_code == 2, refused.output
    assert not (tmp_path / "no.jsonl").exists()


def test_only_legal_questions_of_a_parser_become_answers() -> None:
    verb = Predicate(2, inflect("follow"))
    asked = [
        ParsedQuestion(Slots("who"), text, ((0, 2),), (0.9,), right)
        for text, right in (("Who followed something?", 0.2), ("Who bought something?", 0.9), ("What?", 0.8))
    ]
    row: dict[str, Any] = {"id": "i1", "tokens": ["A", "boy", "followed", "it"], "verb_index": 2, "verb": "follow",
           "forms": inflect("follow").as_bank()}  # fmt: skip
    recorded = recorded_answer(row, ParsedVerb("s", tuple(row["tokens"]), verb, tuple(asked)), "write")
    [question] = recorded["output"]["answer"]
    assert question["question"] == "Who followed something?"
    assert QASRL_WRITE.prompting.read is not None
    [read] = QASRL_WRITE.prompting.read(QASRL_WRITE.form.view(row), [question])
    assert read["answers"] == [[0, 2]]


def test_suggestions_are_ranked_by_the_probability_that_the_question_is_right() -> None:
    verb = Predicate(2, inflect("follow"))
    rights = {"Who followed something?": 0.2, "What did someone follow?": 0.7, "Who bought something?": 0.9}
    asked = [ParsedQuestion(Slots("who"), text, ((0, 1),), (0.9,), right) for text, right in rights.items()]
    parsed = ParsedVerb("s", ("A", "boy", "followed", "it"), verb, tuple(asked))
    assert ranked(parsed) == ["What did someone follow?", "Who followed something?"], "what is no question is left out"


@pytest.mark.slow
def test_training_that_was_interrupted_goes_on_to_the_same_weights(
    trained: tuple[Path, Path, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chorale.kits.qasrl.parser.learning import Learning  # noqa: PLC0415 - needs torch

    model, bank, _ = trained
    once = Learning.epoch

    def stopped(self: Learning, *rest: Any) -> None:
        if len(self.losses) == 7:
            raise KeyboardInterrupt
        once(self, *rest)

    options = ("--data", bank, "--epochs", 12, "--seed", 2)
    with monkeypatch.context() as patched:
        patched.setattr(Learning, "epoch", stopped)
        assert run("train", "qasrl", tmp_path / "again", *options).exit_code != 0
    assert [path.name for path in (tmp_path / "again").iterdir()] == ["training.safetensors"]
    other = run("train", "qasrl", tmp_path / "again", "--data", bank, "--epochs", 4)
    assert "belongs to a training run with other data or settings" in other.output
    assert run("train", "qasrl", tmp_path / "again", *options).exit_code == 0
    assert sorted(path.name for path in (tmp_path / "again").iterdir()) == [
        "README.md",
        "model.json",
        "model.safetensors",
    ]
    for name in ("README.md", "model.json", "model.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (model / name).read_bytes()
    assert "Add --force" in run("train", "qasrl", tmp_path / "again", *options).output


@pytest.mark.slow
def test_broken_and_foreign_model_folders_are_refused(
    trained: tuple[Path, Path, dict[str, Any]], tmp_path: Path
) -> None:
    from chorale.kits.qasrl.parser.saved import load_parser  # noqa: PLC0415 - needs torch

    model, _, _ = trained
    about = json.loads((model / "model.json").read_text("utf-8"))
    weights = (model / "model.safetensors").read_bytes()
    spoiled = {
        "is not JSON": (b"{", weights),
        "does not describe a QA-SRL parser": (
            json.dumps({**about, "kind": "chorale frame classifier"}).encode(),
            weights,
        ),
        "was written by another version": (json.dumps({**about, "version": 0}).encode(), weights),
        "has no usable value for 'shapes'": (json.dumps({**about, "shapes": 3}).encode(), weights),
        "has no usable value for 'encoder'": (json.dumps({**about, "encoder": 3}).encode(), weights),
        "does not fit its weights": (json.dumps({**about, "shapes": about["shapes"][:1]}).encode(), weights),
        "is not the file that model.json describes": (json.dumps(about).encode(), weights[:-1]),
    }
    for place, (message, (card, state)) in enumerate(spoiled.items()):
        folder = tmp_path / str(place)
        folder.mkdir()
        (folder / "model.json").write_bytes(card)
        (folder / "model.safetensors").write_bytes(state)
        with pytest.raises(UserError) as refusal:
            load_parser(folder)
        assert message in str(refusal.value), message


GOLD_COLUMNS = ("qasrl_id", "verb_idx", "verb", "question", "answer_range", "wh", "subj", "obj", "aux", "is_passive",
                "is_negated")  # fmt: skip


def write_gold(folder: Path) -> tuple[Path, Path]:
    """A gold standard of one sentence, and its tokens."""
    gold, sentences = folder / "gold.csv", folder / "sentences.csv"
    with gold.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(GOLD_COLUMNS)
        writer.writerow(("Wiki1k:n:1:0:0", 2, "followed", "Who followed something?", "0:2", "who", "", "something", "",
                         "False", "False"))  # fmt: skip
    sentences.write_text("qasrl_id,tokens\nWiki1k:n:1:0:0,The boy followed the boat .\n", "utf-8")
    return gold, sentences


def test_verbs_of_a_gold_standard_are_examples(tmp_path: Path) -> None:
    gold, file = write_gold(tmp_path)
    sentences = read_sentences(file)
    (example,) = gold_examples(read_qasrl(gold, sentences), sentences)
    assert is_gold(example)
    assert example.tokens == ("The", "boy", "followed", "the", "boat", ".")
    (verb,) = example.verbs
    assert [(asked.slots.wh, asked.valid, asked.marked) for asked in verb.asked] == [("who", 1.0, (((0, 2),),))]


def write_encoder(folder: Path) -> Path:
    """A tiny encoder with random weights, as a Hugging Face folder."""
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    words = sorted({word for line in bank_lines() for word in line["sentenceTokens"]})
    known = {word: number for number, word in enumerate(["[PAD]", "[UNK]", *words])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(known, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    config = transformers.BertConfig(
        vocab_size=len(known), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=32,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.mark.slow
def test_a_gold_standard_and_a_pretrained_encoder_take_part_in_training(tmp_path: Path) -> None:
    for package in ("torch", "safetensors", "spacy"):
        pytest.importorskip(package)
    encoder = write_encoder(tmp_path / "encoder")
    bank = write_bank(tmp_path / "own.jsonl", bank_lines(24))
    gold, sentences = write_gold(tmp_path)
    options = ("--data", bank, "--epochs", 1, "--gold", gold)
    lacking = run("train", "qasrl", tmp_path / "model", *options)
    assert "1 sentence has no tokens, such as 'Wiki1k:n:1:0:0'" in lacking.output
    whole = (*options, "--sentences", sentences, "--encoder")
    assert "is not a folder" in run("train", "qasrl", tmp_path / "model", *whole, tmp_path / "none").output
    done = run("train", "qasrl", tmp_path / "model", *whole, encoder, "--json")
    assert done.exit_code == 0, done.output
    card = json.loads(done.stdout)
    assert (card["sentences"], len(card["data"]), card["encoder"]["folder"]) == (25, 2, "encoder")
    assert f"encoder:{card['encoder']['digest']}" in card["signature"]
    text = tmp_path / "new.txt"
    text.write_text("The farmer followed a heavy basket near the river.\n", "utf-8")
    for folder in (tmp_path / "encoder").iterdir():
        folder.unlink()  # the parser has all it needs
    parsed = run("parse", "qasrl", text, "--model", tmp_path / "model", "--out", tmp_path / "p.csv", "--threshold", 0)
    assert parsed.exit_code == 0, parsed.output
    assert read_qasrl(tmp_path / "p.csv").questions


@pytest.mark.slow
def test_folders_that_are_no_encoder_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from chorale.kits.qasrl.parser.encoder import PretrainedEncoder  # noqa: PLC0415 - needs transformers

    spoiled = {"config.json": "{", "tokenizer.json": "[]", "model.safetensors": "weights"}
    for name, content in spoiled.items():
        folder = write_encoder(tmp_path / name)
        (folder / name).write_text(content, "utf-8")
        with pytest.raises(UserError, match="cannot be loaded as an encoder"):
            PretrainedEncoder.from_folder(folder)
        (folder / name).unlink()
        with pytest.raises(UserError, match=name):
            PretrainedEncoder.from_folder(folder)
