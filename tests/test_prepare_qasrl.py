"""`chorale prepare qasrl`: from texts to items, and what is wrong with a text."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from chorale.cli import app
from chorale.contract import installed_tasks
from chorale.engine.opening import open_study
from chorale.kits.qasrl.tasks.shared.answers import canonical
from chorale.model import UserError
from chorale.text import tagger
from chorale.text.attested import WrittenWords, is_attested
from chorale.text.predicates import forms_of, predicates
from chorale.text.tagger import Tagged, digest_of_folder
from chorale.text.tokens import tokenize

pytest.importorskip("spacy", reason="needs the extra `text`")

TEXT = """The cook didn't slice the bread, but she had been baking since noon.
It is late. Can't we leave?

“They have two cats,” said Ann's neighbour (a 43-year-old teacher).
"""
CONLLU = """# sent_id = d-1
# text = Ann didn't sleep; she was tired.
1\tAnn\tAnn\tPROPN\tNNP\t_\t4\tnsubj\t_\t_
2-3\tdidn't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdid\tdo\tAUX\tVBD\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tslept\tsleep\tVERB\tVB\t_\t0\troot\t_\t_
5\tshe\tshe\tPRON\tPRP\t_\t7\tnsubj\t_\t_
6\twas\tbe\tAUX\tVBD\t_\t7\tcop\t_\t_
7\ttired\ttired\tADJ\tJJ\t_\t4\tparataxis\t_\t_

1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_
"""


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["prepare", "qasrl", *map(str, arguments)])


def prepared(path: Path, *options: str) -> list[dict[str, Any]]:
    out = path.with_name("items.jsonl")
    result = run(path, "--out", out, "--force", *options)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# What comes out


def test_a_text_becomes_an_item_for_every_verb(tmp_path: Path) -> None:
    items = prepared(write(tmp_path, "kitchen.txt", TEXT))
    assert [(item["id"], item["verb"], item["forms"]["stem"]) for item in items] == [
        ("kitchen:1.1:4", "slice", "slice"),
        ("kitchen:1.1:12", "baking", "bake"),
        ("kitchen:1.3:3", "leave", "leave"),
        ("kitchen:2.1:2", "have", "have"),
        ("kitchen:2.1:7", "said", "say"),
    ]
    assert items[-1]["tokens"] == ["“", "They", "have", "two", "cats", ",", "”", "said", "Ann", "'s", "neighbour", "(",
                                   "a", "43-year-old", "teacher", ")", "."]  # fmt: skip
    assert items[1]["forms"] == {
        "stem": "bake",
        "presentSingular3rd": "bakes",
        "presentParticiple": "baking",
        "past": "baked",
        "pastParticiple": "baked",
    }


def test_items_are_rows_that_the_task_takes(tmp_path: Path) -> None:
    task = installed_tasks()["qasrl-write"]
    for item in prepared(write(tmp_path, "kitchen.txt", TEXT)):
        row = {name: value for name, value in item.items() if name != "id"}
        assert task.shape.parse_row(row)["verb"] == item["tokens"][item["verb_index"]]


def test_helping_verbs_and_be_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "kitchen.txt", TEXT)
    assert [item["verb"] for item in prepared(path, "--copulas") if item["forms"]["stem"] == "be"] == ["is"]
    helping = [item["verb"] for item in prepared(path, "--auxiliaries")]
    assert helping == ["did", "slice", "had", "been", "baking", "leave", "have", "said"]


def test_a_typographic_apostrophe_makes_no_verb(tmp_path: Path) -> None:
    """*’ll* and *’s* were tagged as verbs with the stems *’ll* and *’*."""
    typed = "Now you'll see that it's easy, and we've found what they'd like. It doesn't hurt: that's what I'm told."
    rows = [prepared(write(tmp_path, "text.txt", text), "--copulas") for text in (typed, typed.replace("'", "’"))]
    plain, curly = ([(row["verb"], row["forms"]) for row in of_text] for of_text in rows)
    assert [(verb.replace("’", "'"), forms) for verb, forms in curly] == plain
    assert {verb for verb, _ in curly} == {"see", "’s", "found", "like", "hurt", "told"}
    assert "’ll" in rows[1][0]["tokens"], "tokens stay as they are in the text"


def test_given_tokens_stay_as_they_are(tmp_path: Path) -> None:
    tokens = ["He", "did", "n't", "re-paint", "walls", "in", "Mr.Lee", "-LRB-", "'s", "-RRB-", "house", "."]
    rows = [
        {"id": "a", "tokens": tokens},
        {"sentence_id": "b", "tokens": "Dogs ran home .", "verb_indices": [1]},
        {"tokens": ["They", "spoke"], "verb_index": 1},
        {"id": "d", "sentence": "It rained. It poured."},
        {"id": "e", "text": "It rained. It poured."},
    ]
    items = prepared(write(tmp_path, "rows.jsonl", "\n".join(map(json.dumps, rows))))
    by_sentence = {item["sentence_id"]: item for item in items}
    assert by_sentence["a"]["tokens"] == tokens
    assert (by_sentence["b"]["id"], by_sentence["b"]["forms"]["past"]) == ("b:1", "ran")
    assert by_sentence["rows:3"]["forms"]["pastParticiple"] == "spoken"
    assert [item["id"] for item in items if item["sentence_id"] == "d"] == ["d:1", "d:4"]
    assert [item["id"] for item in items if item["sentence_id"].startswith("e")] == ["e.1:1", "e.2:1"]


def test_conllu_keeps_tokens_lemmas_and_parts_of_speech(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorale.model.extras.find_spec", lambda _: None)  # nothing is left to find
    path = write(tmp_path, "small.conllu", CONLLU)
    items = prepared(path)
    assert [(item["id"], item["verb"]) for item in items] == [("d-1:3", "slept"), ("small:2:0", "Go")]
    assert items[0]["tokens"] == ["Ann", "did", "n't", "slept", "she", "was", "tired"]
    assert [item["id"] for item in prepared(path, "--copulas", "--auxiliaries")][:3] == ["d-1:1", "d-1:3", "d-1:5"]
    assert "prepositions" not in items[0]
    words = ["Go", "Notwithstanding", "rain", "to", "a-b", "<b>"]
    tags = ["VERB", "ADP", "NOUN", "ADP", "ADP", "ADP"]
    tagged = enumerate(zip(words, tags, strict=True), 1)
    lines = [f"{number}\t{word}\t{word}\t{tag}\t_\t_\t0\tx\t_\t_" for number, (word, tag) in tagged]
    (item,) = prepared(write(tmp_path, "own.conllu", "\n".join(lines) + "\n"))
    assert item["prepositions"] == ["notwithstanding", "a-b"]
    assert installed_tasks()["qasrl-write"].shape.parse_row(
        {name: value for name, value in item.items() if name != "id"}
    )


def test_lines_may_be_sentences(tmp_path: Path) -> None:
    items = prepared(write(tmp_path, "two.txt", "It rained. It poured.\n\n  We stayed  in.\n"), "--one-per-line")
    assert [(item["id"], len(item["tokens"])) for item in items] == [("two:1:1", 6), ("two:1:4", 6), ("two:2:1", 4)]


def test_the_outcome_is_told(tmp_path: Path) -> None:
    path = write(tmp_path, "kitchen.txt", TEXT)
    told = json.loads(run(path, "--out", tmp_path / "a.jsonl", "--json").stdout)
    assert (told["items"], told["sentences"], told["sentences_without_verbs"]) == (5, 4, 1)
    assert told["model"].startswith("en_core_web_sm")
    result = run(path, "--out", tmp_path / "b.jsonl")
    assert "5 verbs of 4 sentences" in result.stdout
    assert "1 sentence has no verb to ask about" in result.stdout


def test_addresses_options_and_names_of_programs_are_no_verbs() -> None:
    others = (
        "/etc/apt",
        "http://x.org/a",
        "object_name",
        "C.UTF-8",
        "no-x=yes",
        "1d2h",
        "autoScaling",
        "qw(&runs",
        "s",
        "’s",
        "’expand",
    )
    tokens = (*others, "re-elected", "e-mailed", "RUN")
    sentence = [*(Tagged(text, text.lower(), "VERB") for text in tokens), Tagged("’ve", "have", "VERB")]
    asked = list(predicates(sentence))
    assert [sentence[verb.index].text for verb in asked] == ["re-elected", "e-mailed", "RUN", "’ve"]
    assert asked[-1].forms.past == "had"
    assert forms_of("snuck", "snuck").stem == "sneak"
    # A tagger's lemma that only cuts the last letter off is no stem.
    assert forms_of("dependencies", "dependencie").stem == "dependency"
    assert [forms_of(word, word[:-1]).stem for word in ("dies", "ties", "lies")] == ["die", "tie", "lie"]


def test_a_sentence_that_is_too_long_is_left_out_and_the_rest_is_used(tmp_path: Path) -> None:
    path = write(tmp_path, "long.txt", "It rained.\n\n" + "x" * 300 + " fell.\n\n" + "so " * 600 + "it stopped.\n")
    told = json.loads(run(path, "--out", tmp_path / "a.jsonl", "--json").stdout)
    assert (told["items"], told["sentences"], told["sentences_left_out"]) == (1, 1, 2)
    shown = run(path, "--out", tmp_path / "b.jsonl").stdout
    assert "2 sentences were left out" in shown and "(lines 3, 5)" in shown
    rows = [["It", "rained"], ["It", *["so"] * 600, "stopped"]]
    text = "".join(json.dumps({"tokens": tokens, "verb_indices": [1]}) + "\n" for tokens in rows)
    told = json.loads(run(write(tmp_path, "long.jsonl", text), "--out", tmp_path / "c.jsonl", "--json").stdout)
    assert (told["items"], told["sentences_left_out"]) == (1, 1)


# What goes wrong


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.txt", b"It rained.\n\nCaf\xe9s were shut.\n", ":3: is not UTF-8 text (found"),
        ("a.txt", b"", "is empty"),
        ("a.txt", b"Rain\0fell.", ":1: contains a NUL character"),
        ("a.txt", b"word" * 300 + b" fell.", ":1: has a word that is too long"),
        ("a.txt", b"\n\n" + b"so " * 600 + b"it rained.", ":3: has a sentence of"),
        ("a.txt", b"It rained. " * 10_000, ":1: begins a text of 109,999 characters"),
        ("a.jsonl", b'{"id": "a", "text": "It rained."}\n{"id": "a.1", "text": "It snowed.", "sentence": "Go."}',
         ":2: has a sentence with the same ID as another sentence"),
        ("a.pdf", b"%PDF", "has an unsupported format"),
        ("a.jsonl", b'{"tokens": ["It", "rained"], "verb_index": 2}', "not a token (found '2'). The sentence"),
        ("a.jsonl", b'{"tokens": ["It", "rained"], "verb_indices": [1, -1, "x", true]}', "(found 'True')"),
        ("a.jsonl", b'{"sentence": "It rained", "verb_index": 1}', "has a verb index, but no tokens"),
        ("a.jsonl", b'{"tokens": ["It", 3]}', "has tokens that are not a list of texts"),
        ("a.jsonl", b'{"tokens": ["It rained", "a lot"]}', "has an invalid token"),
        ("a.jsonl", b'{"text": "It rained."}\n{"text": "It po', ":2: is truncated"),
        ("a.jsonl", b'{"title": "x"}', "has no tokens, sentence or text"),
        ("a.jsonl", b'{"id": "a", "text": "It rained."}\n{"id": "a", "text": "It snowed."}', ":2: has the same id as"),
        ("a.jsonl", b'{"id": "a\\u0007", "text": "It rained."}', "has an invalid id"),
        ("a.csv", b"id,sentence\n1,It rained.\n2\n", ":3: does not have the 2 cells"),
        ("a.conllu", b"1\tGo\tgo\tVERB\n", "has only 4 columns"),
        ("a.conllu", CONLLU.encode()[:-30], "but the sentence's first line has 10"),
        ("a.conllu", CONLLU.replace("\n4\tslept", "\n5\tslept").encode(), ":7: should be token 4"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_with_its_line_and_nothing_is_written(
    tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    path = write(tmp_path, name, content)
    if "the sentence's first line" in told:  # cut in the middle of the last line of the first sentence
        path.write_bytes(CONLLU.encode().split(b"\tJJ")[0])
    out = tmp_path / "items.jsonl"
    result = run(path, "--out", out)
    assert result.exit_code == 2, result.output
    assert told in result.stderr, result.stderr
    assert name in result.stderr
    assert not out.exists()
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    path, out = write(tmp_path, "a.txt", "It rained."), write(tmp_path, "items.jsonl", "mine")
    assert run(path, "--out", out).exit_code == 2
    assert out.read_text() == "mine"
    assert run(path, "--out", tmp_path / "items.csv").exit_code == 2
    assert run(path, "--out", tmp_path / "no" / "items.jsonl").exit_code == 2
    assert run(tmp_path / "missing.txt", "--out", tmp_path / "new.jsonl").exit_code == 2


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorale.model.extras.find_spec", lambda _: None)
    result = run(write(tmp_path, "a.txt", "It rained."), "--out", tmp_path / "items.jsonl")
    assert result.exit_code == 2
    assert "pip install 'chorale-crowd[text]'" in result.stderr


def test_a_model_that_is_not_the_checked_one_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip(tagger.COPY)
    tagger.check_copy()
    monkeypatch.setattr(tagger, "COPY_SHA256", "0" * 64)
    with pytest.raises(UserError, match="is not the one that was checked"):
        tagger.check_copy()
    write(tmp_path, "a", "x")
    before = digest_of_folder(tmp_path)
    (tmp_path / "a").rename(tmp_path / "b")
    assert digest_of_folder(tmp_path) != before


def install_official_model(folder: Path) -> None:
    """A package under the official model's name, with the files of the copy and a version of its own."""
    copy = Path(str(import_module(tagger.COPY).__file__)).parent / f"{tagger.COPY}-{tagger.COPY_VERSION}"
    meta = json.loads((copy / "meta.json").read_text("utf-8")) | {"name": "core_web_sm", "version": "9.9.9"}
    package = folder / tagger.OFFICIAL
    data = package / f"{tagger.OFFICIAL}-9.9.9"
    data.mkdir(parents=True)
    for path in copy.iterdir():
        (data / path.name).symlink_to(path)
    (data / "meta.json").unlink()
    for place in (package, data):
        (place / "meta.json").write_text(json.dumps(meta), "utf-8")
    loading = "from spacy.util import load_model_from_init_py\n\n\ndef load(**given):\n"
    write(package, "__init__.py", f"{loading}    return load_model_from_init_py(__file__, **given)\n")
    about = folder / f"{tagger.OFFICIAL}-9.9.9.dist-info"
    about.mkdir()
    write(about, "METADATA", f"Metadata-Version: 2.1\nName: {tagger.OFFICIAL}\nVersion: 9.9.9\n")


@pytest.mark.slow
def test_the_official_model_is_taken_if_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(tagger.COPY)
    if find_spec(tagger.OFFICIAL) is not None:
        pytest.skip("the official model itself is installed here, and the other tests use it")
    path = write(tmp_path, "a.txt", "The twins sold lemonade.")
    assert json.loads(run(path, "--out", tmp_path / "copy.jsonl", "--json").stdout)["model"].startswith(tagger.COPY)
    install_official_model(tmp_path / "installed")
    monkeypatch.syspath_prepend(tmp_path / "installed")
    try:
        told = json.loads(run(path, "--out", tmp_path / "official.jsonl", "--json").stdout)
    finally:
        sys.modules.pop(tagger.OFFICIAL, None)
        tagger._loaded.cache_clear()
    assert told["model"] == f"{tagger.OFFICIAL} 9.9.9"
    assert (tmp_path / "official.jsonl").read_bytes() == (tmp_path / "copy.jsonl").read_bytes()


# Tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("We can't, won't and cannot.", "We|ca|n't|,|wo|n't|and|can|not|."),
        ("It cost $5,000.50 (about 3%)—a lot...", "It|cost|$|5,000.50|(|about|3|%|)|—|a|lot|..."),
        ("Dr. Lee met J. Smith Jr. at 5 p.m. in the U.S. today.",
         "Dr.|Lee|met|J.|Smith|Jr.|at|5|p.m.|in|the|U.S.|today|."),
        ("“They’re Ann’s,” he said; “isn’t it?”", "“|They|’re|Ann|’s|,|”|he|said|;|“|is|n’t|it|?|”"),
        ("the dogs' tails in the '90s", "the|dogs|'|tails|in|the|'90s"),
        ("see http://a.org/b?c=1, or me@a.org.", "see|http://a.org/b?c=1|,|or|me@a.org|."),
        ("red,green and well-known and/or word(s) 10:30", "red|,|green|and|well-known|and/or|word|(|s|)|10:30"),
    ],
)  # fmt: skip
def test_texts_are_cut_in_the_manner_of_the_penn_treebank(text: str, tokens: str) -> None:
    assert "|".join(token.text for token in tokenize(text)) == tokens


@given(st.text(st.sampled_from("ab'’.,()\"“—-$%n't s1… \n\u00a0")) | st.text())
def test_tokens_and_their_places_make_the_text_again(text: str) -> None:
    end = 0
    for token in tokenize(text):
        assert token.text
        assert text[token.start : token.end] == token.text
        assert not text[end : token.start].strip()
        end = token.end
    assert not text[end:].strip()


@pytest.mark.slow
def test_the_first_commands_of_the_docs_work_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(tagger.COPY)
    monkeypatch.chdir(tmp_path)
    Path("my-text.txt").write_text("The ferry left at dawn. The captain called off the trip.\n", "utf-8")
    page = (Path(__file__).parents[1] / "docs/qasrl.md").read_text("utf-8")
    block = page.split("```console\n")[1].split("```")[0]
    commands = [line.removeprefix("$ chorale ").split() for line in block.splitlines()]
    assert [command[0] for command in commands] == ["new", "prepare", "check", "rehearse", "serve", "export"]
    for command in commands:
        if command[0] == "serve":
            open_study(Path(command[1])).close()
            continue
        more = ["--seeds", "1"] if command[0] == "rehearse" else []
        done = CliRunner().invoke(app, [*command, *more])
        assert done.exit_code == 0, f"{command}: {done.output}"


def test_words_get_the_parts_of_speech_and_lemmas_of_the_models_rules() -> None:
    """Each word is looked up once; rules about two words in a row hold all the same."""
    texts = ["There was a cat. They're gon na run, ain't they?", TEXT, "Let's go. I got ta say it does. It has a box."]
    loaded = tagger.load_tagger()
    model = loaded._model
    for _ in range(2):  # the second time, everything is known
        for text, sentences in zip(texts, loaded.split(texts), strict=True):
            whole = model(loaded._doc_of_text(text))
            found = [(token.text, token.lemma, token.pos) for sentence in sentences for token in sentence]
            assert found == [(token.text, token.lemma_, token.pos_) for token in whole]


# Stems


class _Tags:
    """A tagger that calls some words verbs, with lemmas as spaCy cuts them off."""

    name = "tags"

    def __init__(self, verbs: dict[str, str]) -> None:
        self._verbs = verbs

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[list[Tagged]]:
        for tokens in sentences:
            yield [Tagged(word, self._verbs.get(word, word), "VERB" if word in self._verbs else "X") for word in tokens]

    def split(self, texts: Iterable[str]) -> Iterator[list[list[Tagged]]]:
        yield from ([sentence] for sentence in self.tag(text.split() for text in texts))


def test_a_word_whose_stem_would_be_invented_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """*parentheses* became the verb *parenthese*, and *metaprogramming* the verb *metaprogramme*.

    The prefix of *metaprogramming* also makes nouns and adjectives, so it does not confirm a verb.
    """
    pytest.importorskip("lemminflect")
    verbs = {"parentheses": "parenthese", "metaprogramming": "metaprogramme", "unfollowed": "unfollowe"}
    verbs |= {"blorfing": "blorfe", "sold": "sell", "zoloned": "zolone", "user-defined": "user-define"}
    monkeypatch.setattr("chorale.kits.qasrl.preparing.load_tagger", lambda: _Tags(verbs))
    texts = [
        "zoloned parentheses user-defined .",
        "parentheses sold .",
        "unfollowed blorfing metaprogramming .",
        "I blorf",
    ]
    path = write(tmp_path, "text.txt", "\n\n".join(texts))
    stems = {item["verb"]: item["forms"]["stem"] for item in prepared(path)}
    expected = {"sold": "sell", "unfollowed": "unfollow", "blorfing": "blorf"}
    assert stems == expected, "the text itself has the stem of blorfing, and nothing has that of zoloned"
    shown = run(path, "--out", tmp_path / "a.jsonl").stdout
    left_out = "zoloned, parentheses, user-defined, metaprogramming"
    assert f"5 words were left out because no dictionary lists them as verbs: {left_out}." in shown
    assert "2 sentences have no verb to ask about." in shown
    told = json.loads(run(path, "--out", tmp_path / "b.jsonl", "--json").stdout)
    assert told["words_left_out"] == {"zoloned": 1, "parentheses": 2, "user-defined": 1, "metaprogramming": 1}


@pytest.mark.parametrize("word", ["theses", "algorithms", "dired"])
def test_nouns_and_adjectives_of_the_dictionary_make_no_verb(word: str) -> None:
    """The text has *these*, and the dictionary has the adjective *dire*."""
    pytest.importorskip("lemminflect")
    text = WrittenWords(words={"these", "algorithm"})
    assert not is_attested(forms_of(word), Tagged(word, "", "VERB"), text)
    assert is_attested(forms_of("dared"), Tagged("dared", "", "VERB"), text)


@pytest.mark.parametrize(
    "word",
    [
        "immediated",
        "sented",
        "seperated",
        "hollised",
        "popilarized",
        "distinguises",
        "dicedlemming",
        "meta-ing",
        "probably",
        "discusing",
        "writting",
        "beeing",
        "choses",
        "meeet",
    ],
)
def test_misspelt_words_names_and_other_parts_of_speech_make_no_verb(word: str) -> None:
    pytest.importorskip("lemminflect")
    text = WrittenWords({"immediate", "sent", "seperate", "discus", "writ"})
    assert not is_attested(forms_of(word), Tagged(word, "", "VERB"), text)


@pytest.mark.parametrize(
    ("word", "stem"),
    [("vlogged", "vlog"), ("monomorphizing", "monomorphize"), ("tokenised", "tokenise"), ("menuised", "menuise")],
)
def test_new_verbs_whose_spelling_allows_only_one_stem_are_kept(word: str, stem: str) -> None:
    pytest.importorskip("lemminflect")
    assert forms_of(word).stem == stem
    assert is_attested(forms_of(word), Tagged(word, "", "VERB"))


def test_the_rest_of_a_word_that_a_line_break_cut_is_no_verb() -> None:
    words = [Tagged("was", "be", "AUX", True), Tagged("imple-", "", "X"), Tagged("mented", "ment", "VERB")]
    assert list(predicates(words)) == []
    text = WrittenWords()
    text.read([Tagged("imple-", "", "X"), Tagged("ment", "", "X"), Tagged("with", "", "ADP")])
    assert text.words == {"imple-"}


def test_a_form_of_two_verbs_is_asked_about_with_either_stem(tmp_path: Path) -> None:
    """Taggers take *routing* for a form of *rout*."""
    pytest.importorskip("lemminflect")
    row = {"tokens": ["They", "routed", "packets"], "verb_indices": [1]}
    [item] = prepared(write(tmp_path, "rows.jsonl", json.dumps(row)))
    for stem in ("rout", "route"):
        [asked] = canonical([{"question": f"What did someone {stem}?", "answers": [[2, 3]]}], item)
        assert asked["question"] == f"What did someone {item['forms']['stem']}?"


def test_verbs_that_a_file_lists_are_kept_and_named_if_their_stem_is_a_guess(tmp_path: Path) -> None:
    pytest.importorskip("lemminflect")
    row = {"tokens": ["They", "zoloned", "and", "sold", "it"], "verb_indices": [1, 3]}
    path = write(tmp_path, "rows.jsonl", json.dumps(row))
    guessed, sold = prepared(path)
    assert [item["forms"]["stem"] for item in (guessed, sold)] == ["zolon", "sell"]
    assert guessed["variants"] == {"stem": ["zolone"], "presentSingular3rd": ["zolones"]}
    assert "variants" not in sold
    written = canonical([{"question": "What did someone zolone?", "answers": [[4, 5]]}], guessed)
    assert written[0]["question"] == "What did someone zolon?", "nobody must write a stem that is a guess"
    shown = run(path, "--out", tmp_path / "a.jsonl").stdout
    assert "Check the forms of 1 verb not found in any dictionary: zoloned (zolon)." in shown


def test_lemmas_of_a_file_are_stems(tmp_path: Path) -> None:
    file = "1\tThey\tthey\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tzoloned\tzolon\tVERB\t_\t_\t0\troot\t_\t_\n"
    assert [item["forms"]["stem"] for item in prepared(write(tmp_path, "a.conllu", file))] == ["zolon"]
