"""Files of semantic roles: read, and refused with reasons."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from chorale.cli import app
from chorale.files.source import Source
from chorale.kits.srl.files import (
    READERS,
    Corpus,
    SrlArgument,
    as_spans,
    canonical,
    check_alignment,
    lemma_of,
    parse_srl,
    read_frame_relations,
    read_srl,
    subtrees,
    with_spans,
)
from chorale.model import UserError
from srl_files import written

CONLLU = """\
# text = Ann gave Bob tea
1	Ann	Ann	PROPN	NNP	_	2	nsubj	_	_	A0
2	gave	give	VERB	VBD	_	0	root	Y	give.01	_
3	Bob	Bob	PROPN	NNP	_	2	iobj	_	_	A2
4	tea	tea	NOUN	NN	_	2	obj	_	_	A1

# text = Hello
1	Hello	hello	INTJ	UH	_	0	root	_	_
"""
UP = """\
1-2	Anns	_	_	_	_	_	_	_	_
1	Ann	Ann	PROPN	NNP	_	3	nsubj	_	_	_	ARG0
2	's	's	PART	POS	_	1	case	_	_	_	_
3	sleeps	sleep	VERB	VBZ	_	0	root	_	_	sleep.01	V
4	late	late	ADV	RB	_	3	advmod	_	_	_	ARGM-TMP

1	Hello	hello	INTJ	UH	_	0	root	_	_
"""
CONLL09 = """\
1	Ann	Ann	Ann	N	NNP	_	_	2	2	SBJ	SBJ	_	_	A0
2	gave	give	give	V	VBD	_	_	0	0	ROOT	ROOT	Y	give.01	_
3	Bob	Bob	Bob	N	NNP	_	_	2	2	OBJ	OBJ	_	_	A2|AM-ADV
4	tea	tea	tea	N	NN	_	_	2	2	OBJ	OBJ	_	_	A1
"""
CONLL12 = """\
#begin document (made/up); part 000
made/up  0  0  Ann     NNP  (TOP(S(NP*)   -     -   -  ann  (PERSON)  (ARG0*)  *        (1)
made/up  0  1  wants   VBZ  (VP*          want  01  1  ann  *         (V*)     *        -
made/up  0  2  the     DT   (S(NP*        -     -   -  ann  *         (ARG1*   *        -
made/up  0  3  job     NN   *)            job   -   2  ann  *         *        (ARG1*)  -
made/up  0  4  done    VBN  (VP*))))      do    02  1  ann  *         *)       (V*)     -

made/up  0  0  Hello   UH   (TOP*)        -     -   -  ann  *         -
#end document
"""
CONLLUP = """\
# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC UP:PRED UP:ARGHEADS UP:ARGSPANS
# sent_id = 1
1	Ann	Ann	PROPN	_	_	2	nsubj	_	_	_	_	_
2	gave	give	VERB	_	_	0	root	_	_	give.01	ARG0:1|A1:4|V:2	ARG0:1-1|A1:3-4
3-4	tea's	_	_	_	_	_	_	_	_	_	_	_
3	warm	warm	ADJ	_	_	4	amod	_	_	_	_	_
4	tea	tea	NOUN	_	_	2	obj	_	_	_	_	_
"""
CONLLUP_BARE = """\
# global.columns = ID UP:PRED UP:ARGHEADS UP:ARGSPANS
1	_	_	_
2	give.01	ARG0:1|A1:4	ARG0:1-1|A1:3-4
3	_	_	_
4	_	_	_
"""
CONLL05 = """\
-     (A0*    *
give   (V*)   *
-     (A2*)   *
-     (A1*  (A1*)
go      *    (V*)
-       *)    *
"""


def corpus(text: str, format_name: str = "auto") -> Corpus:
    return parse_srl(Source("file", text, "00000000"), format_name)


def refusal(text: str, format_name: str = "auto") -> str:
    with pytest.raises(UserError) as caught:
        corpus(text, format_name)
    return str(caught.value)


# Reading


def test_conllu_with_roles_is_read() -> None:
    first, second = corpus(CONLLU).sentences
    (predicate,) = first.predicates
    assert (predicate.position, predicate.lemma, predicate.sense) == (1, "give", "give.01")
    assert predicate.arguments == (SrlArgument("A0", 0, 0), SrlArgument("A2", 2, 2), SrlArgument("A1", 3, 3))
    assert first.heads == (2, 0, 2, 2)
    assert first.text == "Ann gave Bob tea"
    assert (second.length, second.predicates, second.line) == (1, (), 8)


def test_universal_propbank_is_read_with_its_own_columns_and_labels() -> None:
    first, second = corpus(UP).sentences
    assert first.forms == ("Ann", "'s", "sleeps", "late")
    assert first.predicates[0].arguments == (SrlArgument("A0", 0, 0), SrlArgument("AM-TMP", 3, 3))
    assert second.predicates == ()


def test_twelve_fixed_columns_of_conllu_are_read() -> None:
    rows = [line.split("\t") for line in CONLLU.splitlines()[1:5]]
    text = "\n".join("\t".join([*row[:8], "_", "_", *row[8:]]) for row in rows)
    assert corpus(text).sentences[0].predicates == corpus(CONLLU).sentences[0].predicates


def test_conll09_is_read_and_a_token_may_have_two_roles() -> None:
    (sentence,) = corpus(CONLL09).sentences
    labels = [(argument.label, argument.first) for argument in sentence.predicates[0].arguments]
    assert labels == [("A0", 0), ("A2", 2), ("AM-ADV", 2), ("A1", 3)]
    assert sentence.xpos[1] == "VBD"


def test_conll05_is_read_and_the_verb_itself_is_no_argument() -> None:
    text = "-  (A0*\n-  *)\nrun  (V*)\n-  (AM-LOC*\n-  *)\n"
    (sentence,) = corpus(text).sentences
    assert sentence.predicates[0].arguments == (SrlArgument("A0", 0, 1), SrlArgument("AM-LOC", 3, 4))
    assert sentence.predicates[0].sense == "run"


def test_brackets_may_be_nested_and_close_by_name() -> None:
    (sentence,) = corpus("-  (A0(A1*A1)\nrun  *\n-  *A0)\n").sentences
    assert sentence.predicates[0].arguments == (SrlArgument("A0", 0, 2), SrlArgument("A1", 0, 0))


@pytest.mark.parametrize(
    ("text", "name"), [(CONLLU, "conllu"), (UP, "conllu"), (CONLL09, "conll09"), ("-  *\nre-elect  (V*)\n", "conll05")]
)
def test_the_format_is_found_from_the_content(text: str, name: str) -> None:
    assert corpus(text).format == name


def test_packed_files_and_files_with_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    path = tmp_path / "system.conllu"
    path.write_bytes(b"\xef\xbb\xbf" + CONLLU.replace("\n", "\r\n").encode())
    assert read_srl(path).sentences == corpus(CONLLU).sentences


def test_labels_and_lemmas_have_one_spelling() -> None:
    assert canonical("C-ARGM-CAU") == "C-AM-CAU"
    assert canonical("ARGUMENT") == "ARGUMENT"
    assert lemma_of("turn_out.11") == "turn"


# What is wrong with a file


@pytest.mark.parametrize(
    ("text", "format_name", "told"),
    [
        (CONLL05, "conll05", "file:1: opens a bracket"),
        ("-  *)\nrun  *\n", "conll05", "file:1: closes a bracket that was never opened (found '*)')"),
        ("-  (A0*\nrun  *\n", "conll05", "file:1: opens a bracket that is never closed (found '(A0*')"),
        ("-  (A0*A1)\nrun  *\n", "conll05", "file:1: closes A1, but the open bracket is A0"),
        ("-  A0\nrun  *\n", "conll05", "file:1: has an invalid bracket (found 'A0')"),
        ("-  (A0(A0*))\nrun  *\n", "conll05", "file:1: has the same argument twice"),
        ("-  *\nrun\n", "conll05", "file:2: has 1 column, but the sentence's first line has 2"),
        ("-  *\nrun  *\ngo  *\n", "conll05", "file:1: begins a sentence with 2 verbs but 1 column of arguments"),
        (CONLLU.replace("\tY\t", "\t_\t"), "conllu", "file:3: has a sense but is not marked as a predicate"),
        (CONLLU.replace("give.01", "_"), "conllu", "file:3: is marked as a predicate but has no sense"),
        (CONLLU.replace("\tA0", ""), "conllu", "file:3: has 11 columns, but the sentence's first line has 10"),
        (CONLLU.replace("4\ttea", "5\ttea"), "conllu", "file:5: should be token 4 of its sentence (found '5')"),
        (CONLLU.replace("\t2\tobj", "\t9\tobj"), "conllu", "file:5: has a head outside its sentence (found '9')"),
        (CONLLU.replace("\t2\tobj", "\t²\tobj"), "conllu", "file:5: has a head that is not a number"),
        (CONLLU.replace("\t2\tobj", f"\t{'9' * 5000}\tobj"), "conllu", "file:5: has a head outside its sentence"),
        (CONLLU.replace("\ttea\ttea", "\t\ttea"), "conllu", "file:5: is empty in column 2"),
        (CONLL09.replace("give.01", "_"), "conll09", "file:1: has an argument in an extra column"),
        (CONLL09.replace("\tA0", "").replace("\tA1", "").replace("\tA2|AM-ADV", "").replace("01\t_", "01"), "conll09",
         "file:1: begins a sentence with 1 predicate but 0 columns of arguments"),
        ("1\tAnn\tAnn\n", "conll09", "file:1: has only 3 columns"),
        ("once upon a time", "auto", "file:1: is not in a supported format"),
        ("# nothing\n", "auto", "file: has no sentences"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_line(text: str, format_name: str, told: str) -> None:
    assert told in refusal(text, format_name)


@pytest.mark.parametrize(
    ("text", "cut_off"),
    [
        (f"{CONLLU}\n{CONLLU[: CONLLU.index('tea	tea') + 9]}", True),
        (f"{CONLLU}\n{CONLLU[: CONLLU.index('2	gave')]}", True),
        (CONLLU.replace("\t2\tobj", "\t9\tobj"), False),
        (CONLLU.replace("\t0\troot\t_", "\t9\troot\t_") + "\n", False),
    ],
)
def test_a_file_that_ends_within_a_sentence_looks_cut_off(text: str, cut_off: bool) -> None:
    assert ("the file may be truncated" in refusal(text)) is cut_off


def test_a_table_with_commas_is_not_taken_for_columns_of_verbs() -> None:
    told = refusal("task,worker,label\nt1,ann,yes\nt1,bob,no\n")
    assert "file:1: is not in a supported format" in told
    assert "looks like a CSV file" in told
    assert corpus("-\n-\n\n-  (A0*)\nrun  (V*)\n").format == "conll05"


def test_many_mistakes_are_told_at_once_but_not_without_end() -> None:
    told = refusal("-  *)\nrun  *\n\n" * 200, "conll05")
    assert told.count("never opened") == 50


def test_an_unknown_format_is_refused() -> None:
    assert "unknown format 'conll13'" in refusal(CONLLU, "conll13")


@given(st.text(alphabet="01-_\t\n *()#ACRM.|V²", max_size=200), st.sampled_from(["auto", *READERS]))
def test_no_text_makes_a_reader_fail_without_a_reason(text: str, format_name: str) -> None:
    try:
        read = corpus(text, format_name)
    except UserError as error:
        assert error.problems or "format" in error.message
    else:
        for sentence in read.sentences:
            for predicate in sentence.predicates:
                assert 0 <= predicate.position < sentence.length
                assert all(0 <= one.first <= one.last < sentence.length for one in predicate.arguments)


@given(st.text(max_size=200))
def test_no_unicode_text_makes_a_reader_fail_without_a_reason(text: str) -> None:
    for format_name in ("auto", "conll05", "conll09", "conllu"):
        try:
            corpus(text, format_name)
        except UserError:
            continue


@given(st.sampled_from([CONLLU, UP, CONLL09]), st.integers(0, 400), st.sampled_from("\t\n_-#0129YA|.é"), st.booleans())
def test_one_wrong_character_is_read_or_told(text: str, place: int, character: str, instead: bool) -> None:
    place = min(place, len(text))
    spoiled = text[:place] + character + text[place + instead :]
    try:
        read = corpus(spoiled)
    except UserError as error:
        assert all(problem.file == "file" and problem.fix for problem in error.problems)
        return
    try:
        check_alignment(read, corpus(text))
    except UserError as error:
        assert error.problems


# Alignment


def test_files_about_other_sentences_are_refused_with_lines() -> None:
    gold = corpus(CONLLU)
    other = corpus(CONLLU.replace("\ttea\ttea", "\tmilk\tmilk"))
    with pytest.raises(UserError, match=r"file:2: differs from file:2 in sentence 1: token 4 is 'milk' here and 'tea'"):
        check_alignment(other, gold)
    longer = corpus(CONLLU + "2\tyou\tyou\tPRON\tPRP\t_\t1\tdep\t_\t_\n")
    with pytest.raises(UserError, match="differs from file:8 in sentence 2: 2 tokens here and 1 there"):
        check_alignment(longer, gold)
    shorter = corpus(CONLLU[: CONLLU.index("# text = Hello")])
    with pytest.raises(UserError, match="has 1 sentences, but file has 2"):
        check_alignment(shorter, gold)
    check_alignment(gold, gold)


# Spans


@given(st.integers(1, 12).flatmap(lambda size: st.lists(st.integers(0, size), min_size=size, max_size=size)))
def test_a_subtree_is_everything_that_leads_to_its_top(heads: list[int]) -> None:
    masks = subtrees(tuple(heads))
    for top in range(len(heads)):
        for start in range(len(heads)):
            reached, token = set(), start
            while token not in reached:
                reached.add(token)
                if heads[token]:
                    token = heads[token] - 1
            assert bool(masks[top] >> start & 1) == (top in reached)


def test_spans_follow_from_the_tree_and_smaller_arguments_keep_their_tokens() -> None:
    # 0 and 1 under 2; the whole sentence under 4; 3 the predicate.
    text = "\n".join(
        "\t".join([str(number), word, word, "_", "_", "_", str(head), "_", *marks])
        for number, (word, head, marks) in enumerate(
            [
                ("the", 3, ("_", "_", "_")),
                ("old", 3, ("_", "_", "_")),
                ("cat", 5, ("_", "_", "A0")),
                ("sat", 5, ("Y", "sit.01", "_")),
                ("there", 0, ("_", "_", "AM-LOC")),
            ],
            1,
        )
    )
    (sentence,) = corpus(text).sentences
    assert with_spans(sentence).predicates[0].arguments == (SrlArgument("A0", 0, 2), SrlArgument("AM-LOC", 3, 4))


def chain(roles: dict[int, str], heads: list[int]) -> str:
    """A sentence whose second token is the predicate."""
    return "\n".join(
        "\t".join([
            str(number), f"w{number}", f"w{number}", "_", "_", "_", str(head), "dep",
            *(("Y", "do.01") if number == 2 else ("_", "_")), roles.get(number, "_"),
        ])
        for number, head in enumerate(heads, 1)
    )  # fmt: skip


def test_neighbours_of_one_label_are_joined_or_stay_apart() -> None:
    (sentence,) = corpus(chain({3: "A1", 4: "A1"}, [2, 0, 2, 2])).sentences
    assert with_spans(sentence).predicates[0].arguments == (SrlArgument("A1", 2, 3),)
    assert with_spans(sentence, apart=True).predicates[0].arguments == (
        SrlArgument("A1", 2, 2),
        SrlArgument("A1", 3, 3),
    )


def test_spans_can_not_be_found_without_a_tree() -> None:
    (sentence,) = corpus(chain({3: "A1"}, [2, 0, 2])).sentences
    with pytest.raises(ValueError, match="without syntax"):
        with_spans(with_spans(sentence))


def test_a_label_that_comes_again_later_is_left_out() -> None:
    (sentence,) = corpus(chain({1: "A1", 3: "A0", 4: "A1"}, [2, 0, 2, 2])).sentences
    assert with_spans(sentence).predicates[0].arguments == (SrlArgument("A1", 0, 0), SrlArgument("A0", 2, 2))


# One format after another


@pytest.mark.parametrize("text", [CONLLU, CONLL09, UP])
@pytest.mark.parametrize("format_name", ["conll09", "conllu"])
def test_formats_of_heads_hold_the_same(text: str, format_name: str) -> None:
    read = corpus(text)
    again = corpus(written(read, format_name))
    assert again.format == format_name
    assert [one._replace(line=0) for one in again.sentences] == [one._replace(line=0) for one in read.sentences]


def test_spans_with_brackets_are_the_spans_of_the_tree() -> None:
    assert written(corpus(CONLLU), "conll05").split("\n")[:4] == ["- (A0*)", "give *", "- (A2*)", "- (A1*)"]
    again = corpus(written(corpus(CONLLU), "conll05"))
    assert written(again, "conll05") == written(corpus(CONLLU), "conll05")


def test_spans_are_not_invented_without_syntax() -> None:
    without_syntax = corpus(CONLLU.replace("\t2\t", "\t_\t").replace("\t0\t", "\t_\t"), "conllu")
    with pytest.raises(UserError, match="no syntax"):
        as_spans(without_syntax)


# FrameNet's relations

RELATIONS = """<frameRelations xmlns="http://framenet.icsi.berkeley.edu">
  <frameRelationType name="Inheritance">
    <frameRelation subFrameName="Buying" superFrameName="Getting">
      <FERelation subFEName="Buyer" superFEName="Recipient"/>
    </frameRelation>
    <frameRelation subFrameName="Getting" superFrameName="Event"/>
  </frameRelationType>
  <frameRelationType name="See_also">
    <frameRelation subFrameName="Buying" superFrameName="Selling"/>
  </frameRelationType>
</frameRelations>"""
FRAME = """<frame xmlns="http://framenet.icsi.berkeley.edu" name="Buying">
  <FE name="Buyer" coreType="Core"/><FE name="Time" coreType="Peripheral"/></frame>"""


def write_framenet(folder: Path) -> Path:
    (folder / "frame").mkdir(parents=True)
    (folder / "frRelation.xml").write_text(RELATIONS, "utf-8")
    (folder / "frame" / "Buying.xml").write_text(FRAME, "utf-8")
    return folder


def test_relations_of_frames_are_read_and_see_also_is_none(tmp_path: Path) -> None:
    relations = read_frame_relations(write_framenet(tmp_path / "framenet"), ["Buying", "../Buying", "Getting"])
    assert relations.distance("Buying", "Buying") == 0
    assert relations.distance("Event", "Buying") == 2
    assert relations.distance("Buying", "Selling") is None
    assert relations.element_distance(("Buying", "Buyer"), ("Getting", "Recipient")) == 1
    assert relations.peripheral == {("Buying", "Time")}


def test_a_folder_that_is_not_framenet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"frRelation.xml: does not exist"):
        read_frame_relations(tmp_path)
    (tmp_path / "frRelation.xml").write_text("<frameRelations>", "utf-8")
    with pytest.raises(UserError, match=r"frRelation.xml:1: is not valid XML"):
        read_frame_relations(tmp_path)


# CoNLL-2012 and Universal PropBank 2.0


def test_conll12_is_read_with_senses_and_spans() -> None:
    corpus = parse_srl(Source("x", CONLL12, ""))
    assert (corpus.format, corpus.marks_spans, corpus.has_senses, len(corpus.sentences)) == ("conll12", True, True, 2)
    first = corpus.sentences[0]
    assert first.forms == ("Ann", "wants", "the", "job", "done")
    assert [(each.position, each.lemma, each.sense) for each in first.predicates] == [
        (1, "want", "want.01"),
        (4, "do", "do.02"),
    ]
    assert first.predicates[0].arguments == (SrlArgument("A0", 0, 0), SrlArgument("A1", 2, 4))
    assert corpus.sentences[1].predicates == ()


def test_conllup_is_read_by_heads_or_by_spans() -> None:
    heads = parse_srl(Source("x", CONLLUP, ""))
    assert (heads.format, heads.marks_spans, heads.has_syntax) == ("conllup", False, True)
    assert heads.sentences[0].predicates[0].arguments == (SrlArgument("A0", 0, 0), SrlArgument("A1", 3, 3))
    spans = parse_srl(Source("x", CONLLUP, ""), "conllup-spans")
    assert spans.marks_spans
    assert spans.sentences[0].predicates[0].arguments == (SrlArgument("A0", 0, 0), SrlArgument("A1", 2, 3))
    bare = parse_srl(Source("x", CONLLUP_BARE, ""))
    assert bare.sentences[0].predicates == heads.sentences[0].predicates
    assert bare.sentences[0].forms == ()
    check_alignment(bare, heads)


def test_formats_with_senses_are_scored_by_them(tmp_path: Path) -> None:
    gold, system = tmp_path / "gold.txt", tmp_path / "system.txt"
    gold.write_text(CONLL12, "utf-8")
    system.write_text(CONLL12.replace("want  01", "want  02"), "utf-8")
    result = CliRunner().invoke(app, ["evaluate", "srl", str(system), str(gold), "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    scores = found["systems"]["system"]
    assert scores["primesrl"]["sense"]["f1"] == 0.5
    assert scores["primesrl"]["core"]["recall"] == pytest.approx(1 / 3)
    assert scores["conll05"]["f1"] == 1
    assert not any("has no senses" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("text", "format_name", "told"),
    [
        (
            CONLL12.replace("(V*)     *        -\nmade/up  0  2", "*        *        -\nmade/up  0  2"),
            "auto",
            "without (V*)",
        ),
        (CONLL12.replace("want  01", "-     -"), "auto", "is a predicate but has no lemma"),
        (CONLL12, "conllup", "does not name the columns"),
        ("a b c\n", "conll12", "has only 3 columns"),
        (CONLLUP.replace("A1:4|", "A1:9|"), "auto", "has an invalid argument"),
        (CONLLUP.replace("A1:3-4", "A1:4-3"), "conllup-spans", "has an invalid argument"),
        (CONLLUP.replace("UP:ARGHEADS", "UP:HEADS"), "auto", "UP:ARGHEADS"),
        (CONLLUP.replace(" DEPS", ""), "auto", "but the first line of the file names 12"),
    ],
)
def test_what_is_wrong_with_them_is_reported_with_its_line(text: str, format_name: str, told: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_srl(Source("x", text, ""), format_name)
    assert told in caught.value.problems[0].message
    assert caught.value.problems[0].line is not None
