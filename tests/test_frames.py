"""FrameNet, WordNet and maps between them: read as they are, and what is wrong with them told."""

import json
import tarfile
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from chorale.cli import app
from chorale.kits.frames.candidates import CandidateFrames
from chorale.kits.frames.files.sense_map import read_frame_map
from chorale.kits.frames.files.sentences import read_frame_sentences
from chorale.kits.frames.framenet import Marked, frame_key, newer_names, read_framenet, read_name_changes
from chorale.kits.frames.framenet.markup import brief, readable
from chorale.kits.frames.preparing import CandidateWord, WordSelection, chosen_words, lemma_of
from chorale.model import UserError
from chorale.text.tagger import Tagged
from chorale.text.wordnet import read_wordnet
from framenet_files import UNITS, Synsets, write_framenet, write_map, write_wordnet


def refused_by(error: pytest.ExceptionInfo[UserError]) -> str:
    return str(error.value)


# FrameNet


def test_framenet_is_read_from_its_folder_or_packed(tmp_path: Path) -> None:
    folder = write_framenet(tmp_path / "corpora" / "framenet_v17")
    with tarfile.open(tmp_path / "fn.tar.gz", "w:gz") as archive:
        archive.add(folder, "framenet_v17")
    with zipfile.ZipFile(tmp_path / "fn.zip", "w") as packed:
        for path in folder.rglob("*.xml"):
            packed.write(path, path.relative_to(tmp_path))
    readings = [read_framenet(path) for path in (folder, folder.parent, tmp_path / "fn.tar.gz", tmp_path / "fn.zip")]
    assert len({found.digest for found in readings}) == 1
    for found in readings:
        assert found.frames == ("Going", "Leading", "Moving", "Speaking", "Working")
        assert found.units("Run", "v") == ("Leading", "Moving", "Working")
        assert found.units("talk", "v") == ("Speaking",)
        assert found.known("f:moving") == "Moving" and found.known("flying") is None
        assert found.missing_documents() == ("Our__gone",)
        ((text,),) = [document.sentences for document in found.fulltext()]
        assert text.text == "Ann runs it ."
        assert [(target.frame, target.lexical_unit, target.spans) for target in text.targets] == [
            ("Leading", "run.v", ((4, 8),))
        ]


def test_hostile_archives_are_refused_and_lead_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_framenet(tmp_path / "fn")
    with zipfile.ZipFile(tmp_path / "fn.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for path in folder.rglob("*.xml"):
            packed.write(path, path.relative_to(folder))
        packed.writestr("lu/lu1.xml", "<lexUnit/>" * 100_000)  # not needed, so not kept
    whole = (tmp_path / "fn.zip").read_bytes()
    assert read_framenet(tmp_path / "fn.zip").frames
    middle = whole.index(b"frameIndex.xml") + 20
    spoiled = [whole[: len(whole) // 2], whole[:middle] + bytes(60) + whole[middle + 60 :], b"PK\x05\x06" + bytes(18)]
    with tarfile.open(tmp_path / "fn.tar.gz", "w:gz") as archive:
        archive.add(folder, "fn")
    packed_tar = (tmp_path / "fn.tar.gz").read_bytes()
    half = len(packed_tar) // 2
    spoiled += [packed_tar[:half], packed_tar[:half] + b"\xff" * 40 + packed_tar[half + 40 :], b"", b"\x1f\x8b"]
    for content in spoiled:
        (tmp_path / "spoiled").write_bytes(content)
        with pytest.raises(UserError) as error:
            read_framenet(tmp_path / "spoiled").check_frames()
        assert "spoiled" in refused_by(error)
    monkeypatch.setattr("chorale.kits.frames.framenet.release_files._LARGEST_TOGETHER", 100)
    with pytest.raises(UserError, match="contains more than"):
        read_framenet(tmp_path / "fn.zip")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (f"<!--{' ' * 5000}--><!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>".encode(), "document type"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>".encode("utf-16"), "not encoded in UTF-8"),
        (b'<?xml version="1.0" encoding="shift_jis"?><a/>', "encoding"),
        (b'<?xml version="1.0" encoding="nothing"?><a/>', "encoding"),
        (b"<frameIndex>" + b"<a>" * 100_000, "is not XML"),
        (b"<a>" * 100_000 + b"</a>" * 100_000, "lists no frames"),
        (b"", "is not XML"),
    ],
)
def test_hostile_xml_is_refused(tmp_path: Path, content: bytes, told: str) -> None:
    folder = write_framenet(tmp_path)
    (folder / "frameIndex.xml").write_bytes(content)
    with pytest.raises(UserError) as error:
        read_framenet(folder)
    assert "frameIndex.xml" in refused_by(error) and told in refused_by(error)


def test_a_frames_name_leads_to_no_other_folder(tmp_path: Path) -> None:
    folder = write_framenet(tmp_path / "fn")
    (tmp_path / "secret.xml").write_text("<frame><definition>secret</definition></frame>")
    index = folder / "frameIndex.xml"
    index.write_text(index.read_text("utf-8").replace('"Going"', '"../../secret"'))
    with pytest.raises(UserError, match="does not exist"):
        read_framenet(folder).frame("../../secret")


def test_definitions_are_readable_and_examples_keep_their_word(tmp_path: Path) -> None:
    found = read_framenet(write_framenet(tmp_path))
    moving = found.frame("Moving")
    assert moving.brief == "A Mover of things goes somewhere, e.g. home. It may take time."
    assert moving.examples == (Marked("The cat ran up the tree.", ((8, 11),)),)
    assert found.frame("Leading").definition == "Somebody leads a Group, as in “run a shop”."
    assert found.frame("Going").definition == "Something goes & comes."
    assert found.frame("Speaking").examples == (Marked("She has said so.", ((8, 12),)),)


@given(st.text(alphabet="<>/tmexfen= \n.abc_&;", max_size=200))
def test_no_mark_up_is_left_whatever_it_is(text: str) -> None:
    definition, examples = readable(f"<def-root>{text}</def-root>")
    for marked in examples:
        assert all(0 <= start < end <= len(marked.text) for start, end in marked.spans)
    assert "<t>" not in definition and "<ex>" not in definition
    assert len(brief(definition, 40)) <= 42


@pytest.mark.parametrize(
    ("definition", "lay"),
    [
        ("In this frame an Agent acts.", "An Agent acts."),
        ("This frame is about acts. It inherits from Event.", "This meaning is about acts."),
        ("An Agent acts. Raising constructions are common. He rests.", "An Agent acts. He rests."),
        ("Words in this frame name acts.", "Words with this meaning name acts."),
        ("This frame consists of words that describe a fight.", "Words that describe a fight."),
        ("This frame contains verbs and nouns denoting noise.", "Verbs and nouns denoting noise."),
        ("This frame contains an Agent.", "This meaning contains an Agent."),
        ("This frames describes a relation.", "This meaning describes a relation."),
        ("Unlike the Event frame, acts have an Agent.", "Unlike the meaning “Event”, acts have an Agent."),
        ("A level given by the target.", "A level given by the word."),
        ("An Agent acts. This frame is a subframe of Event.", "An Agent acts."),
        ("Subframe of Transfer in which somebody gives.", "Part of Transfer in which somebody gives."),
        ("The lexical units in this frame name acts.", "The words with this meaning name acts."),
        ("An Agent acts. [Note the connection with Event. Words in this frame name acts.]", "An Agent acts."),
        ("Smells have one main frame element, Source.", "Smells have one main role, Source."),
    ],
)
def test_definitions_speak_of_meanings_and_not_of_frames(definition: str, lay: str) -> None:
    assert brief(definition) == lay


def test_characters_that_a_file_has_lost_are_not_shown() -> None:
    text = "From <em>frozen</em> to \ufffdunfrozen\ufffd, for \ufffd6 at 3 degrees."
    assert readable(text)[0] == "From frozen to “unfrozen”, for 6 at 3 degrees."
    assert readable("<ex>Say \ufffd<t>Sir</t>\ufffd .</ex>")[1] == (Marked("Say “Sir”.", ((5, 8),)),)


def test_a_role_run_into_a_word_gets_its_space() -> None:
    text = "the<fen>Donor</fen>no longer has it, and two <fen>Agent</fen>s do."
    assert readable(text)[0] == "the Donor no longer has it, and two Agents do."


@pytest.mark.parametrize(
    ("raw", "text", "word"),
    [
        ("<ex>It was <t>drawn</t> on paper. <fex name='A'>CNI</fex></ex>", "It was drawn on paper.", "drawn"),
        ("<ex>She 's not <t>ready</t> ! DNI.</ex>", "She's not ready!", "ready"),
        ("<ex>He <t>waited</t> DNI .</ex>", "He waited.", "waited"),
        ("<ex>It (INI) did n't <t>grow</t>. [CNI] INI</ex>", "It didn't grow.", "grow"),
        ("<ex>*Turbot <t>grew</t> in catches.</ex><ex>It <t>grew</t>. INC</ex>", "It grew.", "grew"),
        ("<ex>JUDGMENT: She <t>grew</t> fond of it.</ex>", "She grew fond of it.", "grew"),
        ("<ex>The CNIX <t>grew</t>...</ex>", "The CNIX grew.", "grew"),
    ],
)
def test_examples_have_no_signs_of_roles_that_nothing_fills(raw: str, text: str, word: str) -> None:
    (example,) = readable(raw)[1]
    assert example.text == text
    assert [example.text[start:end] for start, end in example.spans] == [word]


def test_relations_have_a_direction_and_a_kind(tmp_path: Path) -> None:
    links = read_framenet(write_framenet(tmp_path)).links
    assert links.parents("Moving") == {"Going"}
    assert links.parents("Going") == frozenset()
    assert [link.kind for link in links.between("Moving", "Working")] == ["See_also"]
    assert links.between("Going", "Speaking") == ()


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda folder: (folder / "frameIndex.xml").unlink(), "frameIndex.xml: does not exist"),
        (lambda folder: (folder / "luIndex.xml").unlink(), "luIndex.xml: does not exist"),
        (lambda folder: (folder / "frRelation.xml").write_text("<a>\n<b></a>"), "frRelation.xml:2: is not XML"),
        (lambda folder: (folder / "frameIndex.xml").write_text("<frameIndex/>"), "lists no frames"),
        (lambda folder: (folder / "luIndex.xml").write_text("<luIndex/>"), "lists no lexical units"),
        (lambda folder: (folder / "luIndex.xml").write_text('<!DOCTYPE x [<!ENTITY a "b">]><x/>'), "document type"),
    ],
)
def test_what_is_missing_in_framenet_is_named(tmp_path: Path, spoil: object, told: str) -> None:
    folder = write_framenet(tmp_path / "fn")
    spoil(folder)  # type: ignore[operator]
    with pytest.raises(UserError) as refused:
        read_framenet(folder)
    assert told in refused_by(refused) and str(folder) in refused_by(refused)


def test_a_frame_without_its_file_is_missed_only_when_it_is_needed(tmp_path: Path) -> None:
    found = read_framenet(write_framenet(tmp_path, without=("frame/Going.xml", "fulltext/Our__news.xml")))
    assert found.frame("Moving").name == "Moving"
    with pytest.raises(UserError, match=r"frame/Going\.xml: does not exist"):
        found.frame("Going")
    with pytest.raises(UserError, match="has no frame named"):
        found.frame("Flying")
    with pytest.raises(UserError, match="has no annotated texts"):
        list(found.fulltext())


def test_what_is_no_framenet_at_all_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as packed:
        packed.writestr("a.xml", "<a/>")
    for name, told in (("notes.txt", "neither a folder nor"), ("gone", "does not exist"), ("empty.zip", "frameIndex")):
        with pytest.raises(UserError, match=told):
            read_framenet(tmp_path / name)


def test_old_names_become_the_new_ones(tmp_path: Path) -> None:
    assert newer_names("invention") == ("Coming_up_with",)
    assert newer_names("Motion") == ("Motion",)
    (tmp_path / "names.csv").write_text("old_frame,new_frame\nMotion,Moving\n")
    changes = read_name_changes(tmp_path / "names.csv")
    assert newer_names("motion", changes) == ("Moving",)
    (tmp_path / "bad.csv").write_text("old_frame,new_frame\nMotion,\n")
    with pytest.raises(UserError, match=r"bad\.csv:2: has no old_frame or no new_frame"):
        read_name_changes(tmp_path / "bad.csv")
    assert frame_key("f:Cause harm") == frame_key("Cause_Harm")


# WordNet and the map


def test_wordnet_is_read_from_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_wordnet(tmp_path / "nltk" / "corpora" / "wordnet")
    found = read_wordnet(folder)
    assert found.senses("run", "v") == ("00000001-v", "00000002-v")
    assert found.of_key("run%2:29:00::") == "00000001-v" and found.of_key("run%2:99:00::") is None
    sprint = found.synset("00000003-v")
    assert sprint is not None and sprint.links == (("@", "00000001-v"), ("+", "00000009-n"))
    assert found.lemmas("ran", "v") == ("run",)
    assert found.lemmas("saw", "v") == ("saw", "see")
    assert found.lemmas("sprinted", "v") == ("sprint",)
    assert found.lemmas("xyzzy", "v") == ()
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "nltk"))
    monkeypatch.setattr("chorale.text.wordnet.USUAL_PLACES", ())
    assert read_wordnet().digest == found.digest
    monkeypatch.delenv("NLTK_DATA")
    with pytest.raises(UserError, match="wordnet-base"):
        read_wordnet()
    (folder / "data.verb").write_text("  licence\n00000001 29 v zz\n")
    with pytest.raises(UserError, match=r"data\.verb:2: is not a valid line of WordNet"):
        read_wordnet(folder).synset("00000001-v")


def test_a_map_may_have_many_forms(tmp_path: Path) -> None:
    framenet, wordnet = read_framenet(write_framenet(tmp_path / "fn")), read_wordnet(write_wordnet(tmp_path / "wn"))
    lines = read_frame_map([write_map(tmp_path / "map.txt")], framenet, wordnet)
    assert lines.frames == {"00000001-v": frozenset({"Moving"})}
    assert (lines.unknown_senses, lines.unknown_frames) == (1, ("gone",))
    (tmp_path / "map.tsv").write_text(
        "frame\tsynset\nMoving\t00000001-v\nMoving\tv00000003\nLeading\trun.v.02\nSpeaking\tsynset-see-verb-1\n"
    )
    rows = read_frame_map([tmp_path / "map.tsv"], framenet, wordnet)
    assert {name: sorted(frames) for name, frames in rows.frames.items()} == {
        "00000001-v": ["Moving"],
        "00000002-v": ["Leading"],
        "00000003-v": ["Moving"],
        "00000006-v": ["Speaking"],
    }
    (tmp_path / "map.ttl").write_text(
        "@prefix fn: <https://w3id.org/framester/framenet/abox/frame/> .\n"
        "<https://w3id.org/framester/framenet/abox/frame/Leading> <http://www.w3.org/2004/02/skos/core#closeMatch>\n"
        "  <https://w3id.org/framester/wn/wn30/instances/synset-direct-verb-1> ,\n"
        "  <https://w3id.org/framester/wn/wn30/instances/synset-run-verb-2> .\n"
    )
    turtle = read_frame_map([tmp_path / "map.ttl", tmp_path / "map.txt"], framenet, wordnet)
    assert set(turtle.frames) == {"00000001-v", "00000002-v", "00000004-v"}
    (tmp_path / "bad.txt").write_text("moving run run%2:29:00::\nmoving run fast\n")
    with pytest.raises(UserError, match=r"bad\.txt:2: is not a line of a frame map"):
        read_frame_map([tmp_path / "bad.txt"], framenet, wordnet)
    (tmp_path / "bad.ttl").write_text("<a> <b> <c> .\n")
    with pytest.raises(UserError, match="no statement about a frame and a synset"):
        read_frame_map([tmp_path / "bad.ttl"], framenet, wordnet)


# Candidates


def test_candidates_come_from_units_the_map_and_wordnets_relations(tmp_path: Path) -> None:
    framenet, wordnet = read_framenet(write_framenet(tmp_path / "fn")), read_wordnet(write_wordnet(tmp_path / "wn"))
    mapped = {"00000004-v": ["Speaking"], "00000002-v": ["Speaking"]}
    units = CandidateFrames(framenet, reach="units")
    assert units.candidates("run") == ["Leading", "Moving", "Working"]
    assert units.candidates("sprint") == []
    by_map = CandidateFrames(framenet, wordnet, mapped)
    assert by_map.candidates("run") == ["Leading", "Moving", "Working", "Speaking"]
    assert by_map.candidates("direct") == ["Speaking"], "a lemma FrameNet does not have"
    assert by_map.candidates("operate") == ["Speaking"]
    synonyms = CandidateFrames(framenet, wordnet, mapped, "synonyms")
    assert set(synonyms.candidates("operate")) == {"Leading", "Moving", "Speaking", "Working"}
    assert synonyms.candidates("sprint") == []
    related = CandidateFrames(framenet, wordnet, mapped, "related")
    # By what is more general, and by the noun it derives.
    ranked = related.ranked("sprint")
    assert next(iter(ranked)) == "Moving" and set(ranked) == {"Leading", "Moving", "Working"}
    assert 0 < ranked["Working"] < ranked["Moving"] <= 1
    assert not related.in_framenet("sprint") and related.in_framenet("run")
    assert related.candidates("flummox") == []
    with pytest.raises(ValueError, match="requires WordNet"):
        CandidateFrames(framenet)


def test_far_away_only_what_is_sure_counts_and_derived_words_count_in_every_sense(tmp_path: Path) -> None:
    verbs: Synsets = {
        "00000001": ("say", "32", [("+", "00000020", "n")], ""),
        "00000002": ("go", "38", [], ""),
        "00000003": ("go", "38", [], ""),
        "00000004": ("babble", "32", [("@", "00000005", "v")], ""),
        "00000005": ("utter", "32", [("$", "00000003", "v"), ("^", "00000001", "v")], ""),
        "00000006": ("quote", "32", [("+", "00000022", "n")], ""),
    }
    nouns: Synsets = {
        "00000020": ("saying", "10", [], ""),
        "00000021": ("saying", "10", [], ""),
        "00000022": ("quotation", "10", [("@", "00000021", "n")], ""),
    }
    wordnet = read_wordnet(write_wordnet(tmp_path / "wn", verbs, nouns))
    assert wordnet.derived("say", "v") == {("saying", "n")}
    related = CandidateFrames(read_framenet(write_framenet(tmp_path / "fn")), wordnet, {}, "related")
    assert set(related.candidates("utter")) == {"Going", "Moving", "Speaking"}
    # Of what is beside the more general *utter*, *say* has one sense only; which of its two *go* has there is not sure.
    assert related.candidates("babble") == ["Speaking"]
    # *Saying* comes of *say* in one sense, and *quotation* is under its other.
    assert related.candidates("quote") == ["Speaking"]


def test_the_lemma_is_the_one_a_dictionary_has(tmp_path: Path) -> None:
    wordnet = read_wordnet(write_wordnet(tmp_path))
    assert lemma_of(Tagged("saw", "see", "VERB"), "v", wordnet) == "see"
    assert lemma_of(Tagged("runs", "ru", "VERB"), "v", wordnet) == "run"
    assert lemma_of(Tagged("ran", "", ""), "v", wordnet) == "run"
    assert lemma_of(Tagged("Frobbed", "frob", "VERB"), "v", wordnet) == "frob"


def word(sentence: int, lemma: str) -> CandidateWord:
    return CandidateWord(sentence, f"{sentence}:0", lemma, "v", lemma, 0)


@given(st.data())
def test_choosing_lazily_chooses_what_looking_at_all_would(data: st.DataObject) -> None:
    lemmas = [f"l{number}" for number in range(6)]
    lists = {
        (lemma, "v"): sorted(data.draw(st.sets(st.sampled_from("abcdefgh"), min_size=1, max_size=5)))
        for lemma in lemmas
    }
    words = [word(number, data.draw(st.sampled_from(lemmas))) for number in range(data.draw(st.integers(1, 25)))]
    many = data.draw(st.integers(1, 25))
    lazily = chosen_words(words, lists, WordSelection(sentences=many, seed=3))
    counts: dict[str, int] = {}
    left = list(words)
    plainly: list[str] = []
    while left and len(plainly) < many:
        gains = {one.lemma: sum(1 / (counts.get(frame, 0) + 1) for frame in lists[one.lemma, "v"]) for one in left}
        best = min(gains, key=lambda lemma: (-round(gains[lemma], 9), lemma))
        plainly.append(best)
        left.remove(next(one for one in left if one.lemma == best))
        for frame in lists[best, "v"]:
            counts[frame] = counts.get(frame, 0) + 1
    assert len(lazily) == min(many, len(words))

    def worth(chosen: list[str]) -> float:
        seen: dict[str, int] = {}
        total = 0.0
        for lemma in chosen:
            for frame in lists[lemma, "v"]:
                seen[frame] = seen.get(frame, 0) + 1
                total += 1 / seen[frame]
        return total

    assert worth([one.lemma for one in lazily]) == pytest.approx(worth(plainly), abs=1e-6)


def test_no_sentence_is_chosen_twice() -> None:
    words = [word(1, "a"), word(1, "b"), word(2, "a")]
    lists = {("a", "v"): ["x", "y"], ("b", "v"): ["y"]}
    chosen = chosen_words(words, lists, WordSelection())
    assert sorted(one.sentence for one in chosen) == [1, 2]


def test_a_sentence_can_have_several_words() -> None:
    words = [word(1, "a"), word(1, "b"), word(1, "a"), word(2, "a")]
    lists = {("a", "v"): ["x", "y"], ("b", "v"): ["y"]}
    chosen = chosen_words(words, lists, WordSelection(per_sentence=2))
    assert sorted(one.sentence for one in chosen) == [1, 1, 2]


@pytest.mark.parametrize(("outside", "expected"), [(None, 0), (2, 2), (9, 3)])
def test_a_quota_of_words_outside_framenet_is_kept(outside: int | None, expected: int) -> None:
    """Without a quota, the long lists of words that FrameNet has win."""
    words = [word(number, "in") for number in range(4)] + [word(4 + number, "out") for number in range(3)]
    lists = {("in", "v"): [f"f{number}" for number in range(20)], ("out", "v"): ["y", "z"]}
    chosen = chosen_words(words, lists, WordSelection(sentences=4, outside=outside), {("out", "v")})
    assert sum(one.lemma == "out" for one in chosen) == expected
    assert len(chosen) == 4


# The command


@pytest.fixture
def resources(tmp_path: Path) -> list[str]:
    write_framenet(tmp_path / "fn")
    write_wordnet(tmp_path / "wn")
    write_map(tmp_path / "map.txt")
    rows = [
        {"id": "s1", "tokens": ["Ann", "runs", "the", "shop", "."], "verb_indices": [1]},
        {"id": "s2", "tokens": ["They", "went", "and", "said", "so", "."], "verb_indices": [3]},
        {"id": "s3", "tokens": ["Dogs", "ran", "."], "verb_indices": [1]},
    ]
    (tmp_path / "text.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    names = {"--framenet": "fn", "--wordnet": "wn", "--map": "map.txt"}
    given = [part for option, name in names.items() for part in (option, str(tmp_path / name))]
    return [*given, "--reach", "map"]


def test_prepare_makes_items_that_the_check_accepts(tmp_path: Path, resources: list[str]) -> None:
    runner = CliRunner()
    out = tmp_path / "sentences.jsonl"
    command = ["prepare", "frames", str(tmp_path / "text.jsonl"), *resources, "--out", str(out), "--json"]
    done = runner.invoke(app, command)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["items"], told["sentences"], told["words"], told["without_candidates"]) == (2, 3, 3, 1)
    assert told["lemmas"] == 1, "runs and ran"
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["id"], row["word"], row["start"], row["lemma"]) for row in rows] == [
        ("s1:1", "runs", 4, "run"),
        ("s3:1", "ran", 5, "run"),
    ]
    moving = rows[0]["candidates"][1]
    assert moving["frame"] == "Moving" and moving["example"][slice(*moving["example_word"])] == "ran"
    study = tmp_path / "study"
    assert runner.invoke(app, ["new", str(study), "--template", "frames"]).exit_code == 0
    (study / "sentences.jsonl").write_text(out.read_text())
    assert runner.invoke(app, ["check", str(study)]).exit_code == 0
    again = runner.invoke(app, command)
    assert again.exit_code == 2 and "--force" in again.stderr
    few = runner.invoke(app, [*command, "--force", "-n", "1", "--most", "2", "--over", "cut"])
    assert json.loads(few.stdout)["items"] == 1
    assert len(json.loads(out.read_text())["candidates"]) == 2


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--most", "2", "--over", "leave-out"], "has no word that can become an item"),
        (["--pos", "verb"], "Invalid --pos 'verb'"),
        (["--framenet", "nowhere"], "nowhere: does not exist"),
        (["--wordnet", "nowhere"], "nowhere/index.verb: does not exist"),
        (["--map", "nowhere.txt"], "nowhere.txt: does not exist"),
        (["--names", "nowhere.csv"], "nowhere.csv: does not exist"),
        (["--out", "items.csv"], "ends in .jsonl"),
    ],
)
def test_what_prepare_cannot_use_is_told(tmp_path: Path, resources: list[str], more: list[str], told: str) -> None:
    command = ["prepare", "frames", str(tmp_path / "text.jsonl"), *resources, "--out", str(tmp_path / "o.jsonl"), *more]
    done = CliRunner().invoke(app, command)
    assert (done.exit_code, "Traceback" in done.output) == (2, False), done.output
    assert told in done.output


def test_frames_are_shown_in_words_of_ones_own(tmp_path: Path, resources: list[str]) -> None:
    out, words = tmp_path / "items.jsonl", tmp_path / "words.csv"
    text = "<p>(1) She <mark>ran</mark> home .</p><p>They walked.</p><p>Go on.</p>"
    words.write_text(f"frame,definition,example\nf:moving,<b>Somebody</b> moves.,{text}\nNonsense,Nothing.,\n")
    command = ["prepare", "frames", str(tmp_path / "text.jsonl"), *resources, "--out", str(out)]
    done = CliRunner().invoke(app, [*command, "--definitions", str(words), "--examples", "2"])
    assert done.exit_code == 0, done.output
    assert "has 1 frame that this FrameNet does not have: Nonsense" in done.output
    assert json.loads(out.read_text().splitlines()[0])["candidates"][1] == {
        "frame": "Moving",
        "definition": "Somebody moves.",
        "example": "She ran home.",
        "example_word": [4, 7],
        "more_examples": [["They walked.", 0, 0]],
    }
    words.write_text("frame,definition\nMoving,\n")
    done = CliRunner().invoke(app, [*command, "--force", "--definitions", str(words)])
    assert done.exit_code == 2 and "words.csv:2: has no frame or no definition" in done.output
    cut = CliRunner().invoke(app, [*command, "--force", "--most", "2", "--over", "cut"])
    assert cut.exit_code == 0 and json.loads(out.read_text().splitlines()[0])["left_out"] > 0


def test_sentences_that_are_too_long_are_left_out_and_told(tmp_path: Path, resources: list[str]) -> None:
    long = {"id": "s4", "tokens": ["Cats", "ran", *["home"] * 250, "."], "verb_indices": [1]}
    with (tmp_path / "text.jsonl").open("a") as file:
        file.write(json.dumps(long) + "\n")
    out = tmp_path / "o.jsonl"
    done = CliRunner().invoke(app, ["prepare", "frames", str(tmp_path / "text.jsonl"), *resources, "--out", str(out)])
    assert done.exit_code == 0 and "s4" not in out.read_text()
    assert "1 sentence has more than 1,000 characters and was left out." in done.output


def test_the_default_reach_finds_candidates_of_words_outside_framenet(tmp_path: Path, resources: list[str]) -> None:
    row = {"id": "s1", "tokens": ["They", "sprint", "."], "verb_indices": [1]}
    (tmp_path / "text.jsonl").write_text(json.dumps(row) + "\n")
    out = tmp_path / "o.jsonl"
    command = ["prepare", "frames", str(tmp_path / "text.jsonl"), *resources[:4], "--out", str(out)]
    assert CliRunner().invoke(app, [*command, "--reach", "map"]).exit_code == 2
    assert CliRunner().invoke(app, command).exit_code == 0
    assert [frame["frame"] for frame in json.loads(out.read_text())["candidates"]] == ["Leading", "Moving", "Working"]


def test_words_left_out_are_counted_with_the_reason(tmp_path: Path, resources: list[str]) -> None:
    command = ["prepare", "frames", str(tmp_path / "text.jsonl"), *resources, "--out", str(tmp_path / "o.jsonl")]
    done = CliRunner().invoke(app, [*command, "-n", "1", "--outside", "1"])
    assert done.exit_code == 0, done.output
    for line in (
        "o.jsonl: 1 word (1 lemma) from 3 sentences.",
        "1 word has fewer than 2 candidates: left out.",
        "1 word with candidates was not selected (-n, --per-sentence).",
        note := "Only 0 words outside FrameNet could be chosen, instead of 1.",
    ):
        assert line in " ".join(done.output.split()), done.output
    done = CliRunner().invoke(app, [*command, "-n", "1", "--outside", "1", "--force", "--json"])
    assert json.loads(done.stdout)["notes"][-1].startswith(note), done.output


def test_a_token_that_is_too_long_is_left_out_and_not_the_text(tmp_path: Path, resources: list[str]) -> None:
    long = {"id": "s4", "tokens": ["Cats", "ran", "to", "w" * 300, "."], "verb_indices": [1, 3]}
    with (tmp_path / "text.jsonl").open("a") as file:
        file.write(json.dumps(long) + "\n")
    out = tmp_path / "o.jsonl"
    done = CliRunner().invoke(app, ["prepare", "frames", str(tmp_path / "text.jsonl"), *resources, "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert '"s4:1"' in out.read_text() and '"s4:3"' not in out.read_text()
    assert "1 word has more than 60 characters: left out." in done.output


def test_a_sentence_of_too_many_tokens_is_left_out_and_not_the_text(tmp_path: Path, resources: list[str]) -> None:
    long = {"id": "s4", "tokens": ["Cats", "ran", *["x"] * 500, "."], "verb_indices": [1]}
    with (tmp_path / "text.jsonl").open("a") as file:
        file.write(json.dumps(long) + "\n")
    out = tmp_path / "o.jsonl"
    done = CliRunner().invoke(app, ["prepare", "frames", str(tmp_path / "text.jsonl"), *resources, "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert '"s1:' in out.read_text() and '"s4:' not in out.read_text()
    assert "1 sentence has more than 1,000 characters and was left out." in done.output


def test_more_words_outside_framenet_than_words_are_refused(tmp_path: Path, resources: list[str]) -> None:
    command = ["prepare", "frames", str(tmp_path / "text.jsonl"), *resources, "--out", str(tmp_path / "o.jsonl")]
    done = CliRunner().invoke(app, [*command, "-n", "2", "--outside", "3"])
    assert done.exit_code == 2 and "--outside 3 is more than -n 2. Raise -n, or lower --outside." in done.output


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("name,definition\nMoving,It moves.\nWorking,It works.\n", ':1: has no column named "frame"'),
        ("frame;text\nMoving;It moves.\n", ':1: has no column named "definition" (found frame, text)'),
        ("frame,definition\nMoving,It moves.\nf:moving,It goes.\n", ":3: repeats the frame of line 2"),
    ],
)
def test_definitions_that_cannot_be_used_are_told(
    tmp_path: Path, resources: list[str], content: str, told: str
) -> None:
    (tmp_path / "words.csv").write_text(content)
    command = ["prepare", "frames", str(tmp_path / "text.jsonl"), *resources, "--out", str(tmp_path / "o.jsonl")]
    done = CliRunner().invoke(app, [*command, "--definitions", str(tmp_path / "words.csv")])
    assert done.exit_code == 2 and not (tmp_path / "o.jsonl").exists()
    assert done.output.count("words.csv:") == 1 and told in done.output, done.output


def test_a_partial_framenet_is_told_by_the_file_that_is_missing(tmp_path: Path, resources: list[str]) -> None:
    (tmp_path / "fn" / "frame" / "Leading.xml").unlink()
    command = ["prepare", "frames", str(tmp_path / "text.jsonl"), *resources, "--out", str(tmp_path / "o.jsonl")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 2 and "frame/Leading.xml: does not exist" in done.output
    assert not (tmp_path / "o.jsonl").exists()


@pytest.mark.slow
@pytest.mark.slow  # loads a model, as tests of `prepare qasrl` do
def test_plain_text_is_tagged_and_split(tmp_path: Path, resources: list[str]) -> None:
    pytest.importorskip("spacy")
    (tmp_path / "text.txt").write_text("Ann ran home. The pump runs all\nnight, and nobody has run it before.\n")
    out = tmp_path / "o.jsonl"
    done = CliRunner().invoke(app, ["prepare", "frames", str(tmp_path / "text.txt"), *resources, "--out", str(out)])
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert (rows[0]["sentence"], rows[0]["word"]) == ("Ann ran home.", "ran")
    for row in rows:
        assert row["sentence"][row["start"] :].startswith(row["word"])
    assert len(rows) == 2


# The corpus's columns


HEADER = "frame,fss_sent_centric,fss_sent_centric_initial,sent_id,sentence,word\n"


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("Moving,0.5,0.5,s1,Ann ran home.,walked\n", ":2: has a word that is not in its sentence (found 'walked')"),
        ("Mooving,0.5,0.5,s1,Ann ran home.,ran\n", "Did you mean Moving?"),
        ("Moving,1.5,0.5,s1,Ann ran home.,ran\n", ":2: has no score from 0 to 1"),
        (
            "Moving,0.5,0.5,s1,Ann ran home.,ran\nmoving,0.5,0.5,s1,Ann ran home.,ran\n",
            ":3: repeats a sentence and frame",
        ),
        ("Moving,0.5,0.5,s1,Ann ran home.,ran\nGoing,0.5,0.5,s1,Bob ran home.,ran\n", ":3: has a different sentence"),
        ("Moving,0.5,0.5,,Ann ran home.,ran\n", ":2: has an empty cell"),
    ],
)
def test_what_is_wrong_with_an_import_is_told_by_line(tmp_path: Path, rows: str, told: str) -> None:
    framenet = read_framenet(write_framenet(tmp_path / "fn"))
    (tmp_path / "FSS.csv").write_text(HEADER + rows)
    with pytest.raises(UserError) as refused:
        read_frame_sentences([tmp_path / "FSS.csv"], framenet=framenet)
    assert told in refused_by(refused)


def test_rows_that_lack_something_are_told(tmp_path: Path) -> None:
    whole = {"frame": "Moving", "fss_sent_centric": 1, "sent_id": 7, "sentence": "Ann ran.", "word": "ran"}
    rows = [whole, {"frame": "Going"}, {**whole, "frame": "Going", "fss_sent_centric": None}]
    (tmp_path / "FSS.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UserError) as refused:
        read_frame_sentences([tmp_path / "FSS.jsonl"])
    assert ":2: has an empty cell" in refused_by(refused) and ":3: has no score" in refused_by(refused)


def test_a_file_without_the_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "FSS.csv").write_text("frame,score\nMoving,1\n")
    with pytest.raises(UserError, match="has no column 'fss_sent_centric'"):
        read_frame_sentences([tmp_path / "FSS.csv"])


def test_every_unit_of_the_test_framenet_is_found(tmp_path: Path) -> None:
    found = read_framenet(write_framenet(tmp_path))
    for unit, frames in UNITS.items():
        assert found.lexical_units[unit] == tuple(sorted(frames))
