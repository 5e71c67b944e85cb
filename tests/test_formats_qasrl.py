"""QA-SRL files: read right where they are sound, and told about where they are not."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chorale.kits.qasrl.files import (
    QuestionAnswers,
    Verb,
    cells,
    joined,
    read_bank,
    read_qasrl,
    read_sentences,
    tabular,
)
from chorale.kits.qasrl.files.tokens import relocated
from chorale.model import UserError
from examples import examples
from qasrl_files import SENTENCE, bank_line, judged, row, where, write_bank, write_rows, write_sentences


def listed(table: QuestionAnswers) -> list[tuple[Verb, str, str, list[tuple[int, int]]]]:
    """Everything in a table, in plain values."""
    spans: dict[int, list[tuple[int, int]]] = {number: [] for number in range(len(table.rows.verb))}
    for at, start, end in zip(*(column.tolist() for column in table.answers), strict=True):
        spans[at].append((start, end))
    return sorted(
        (table.verbs[verb], table.workers[worker], table.questions[question].text if question >= 0 else "", spans[at])
        for at, (verb, question, worker) in enumerate(zip(*(column.tolist() for column in table.rows), strict=True))
    )


def told(path: Path, **options: object) -> str:
    with pytest.raises(UserError) as caught:
        read_qasrl(path, **options)  # type: ignore[arg-type]
    return str(caught.value)


def test_a_table_is_read_with_its_questions_and_answers(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.csv", [row(answer_range="0:2~!~9:10"), where(aux="might", worker_id="bob")])
    table = read_qasrl(file)
    assert listed(table) == [
        (Verb("s1", 2), "ann", "Who sat?", [(0, 2), (9, 10)]),
        (Verb("s1", 2), "bob", "Where did someone sit?", [(3, 7)]),
    ]
    assert table.words == ("sat",)
    asked = {question.text: question for question in table.questions}
    assert asked["Where did someone sit?"].aux == "might"
    assert asked["Where did someone sit?"].subj == "someone"
    assert asked["Who sat?"].obj == ""


def test_a_byte_order_mark_windows_line_ends_and_packing_make_no_difference(tmp_path: Path) -> None:
    plain = write_rows(tmp_path / "a.csv", [row(), where()])
    raw = plain.read_bytes()
    (tmp_path / "b.csv").write_bytes(b"\xef\xbb\xbf" + raw)
    (tmp_path / "c.csv").write_bytes(raw.replace(b"\r\n", b"\n"))
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(raw))
    for name in ("b.csv", "c.csv", "d.csv.gz"):
        assert listed(read_qasrl(tmp_path / name)) == listed(read_qasrl(plain))
    assert read_qasrl(tmp_path / "d.csv.gz").digest == read_qasrl(plain).digest


def test_a_missing_column_is_named_with_the_one_that_was_probably_meant(tmp_path: Path) -> None:
    renamed = {("is_pasive" if name == "is_passive" else name): value for name, value in row().items()}
    message = told(write_rows(tmp_path / "a.csv", [renamed]))
    assert "a.csv:1: has no column is_passive" in message
    assert "“is_pasive”" in message


def test_columns_that_a_file_of_another_kind_lacks_are_one_problem(tmp_path: Path) -> None:
    message = told(write_rows(tmp_path / "a.csv", [{"task": "t", "worker": "w", "label": "yes"}]))
    assert message.count("a.csv:1:") == 1
    assert "is missing the columns qasrl_id, verb_idx," in message and "columns of the QA-SRL gold standard" in message


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"answer_range": "5:3"}, "ends before it begins (found 5:3)"),
        ({"answer_range": "4:4"}, "ends before it begins (found 4:4)"),
        ({"answer_range": "3-5"}, "invalid answer_range (found '3-5')"),
        ({"answer_range": "1:2~!~"}, "invalid answer_range"),
        ({"answer_range": "-1:2"}, "invalid answer_range"),
        ({"answer_range": ""}, "has a question without answers"),
        ({"question": ""}, "has answers without a question"),
        ({"wh": ""}, "without a wh-word"),
        ({"verb_idx": "two"}, "verb_idx that is not a token position (found 'two')"),
        ({"verb_idx": "-2"}, "verb_idx that is not a token position"),
        ({"qasrl_id": ""}, "has no sentence ID"),
        ({"is_negated": "maybe"}, "for is_negated that is neither True nor False (found 'maybe')"),
    ],
)
def test_a_wrong_cell_is_told_with_its_line(tmp_path: Path, cells: dict[str, str], said: str) -> None:
    file = write_rows(tmp_path / "a.csv", [where(), row(**cells), where(verb_idx=3)])
    message = told(file)
    assert "a.csv:3: " in message
    assert said in message


def test_many_problems_are_told_at_once_but_not_all(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.csv", [row(answer_range="5:3", verb_idx=number) for number in range(200)])
    assert told(file).count("\n") == 50


def test_short_and_long_rows_are_told(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.csv", [row(), where()])
    whole = file.read_text("utf-8")
    file.write_text(whole + "s9,3\n", "utf-8")
    assert "a.csv:4: does not have the 12 cells" in told(file)
    file.write_text(whole.replace(",False\n", ",False,1\n", 1), "utf-8")
    assert "does not have the 12 cells" in told(file)


def test_column_names_given_twice_are_told(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("wh,wh,question\n1,2,3\n", "utf-8")
    assert "a.csv:1: has a duplicate column name (found 'wh')" in told(file)


def test_answers_outside_the_sentence_are_refused_or_noted(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.csv", [row(), where(answer_range="3:99")])
    known = {"s1": tuple(SENTENCE.split())}
    message = told(file, sentences=known)
    assert "a.csv:3: has an answer outside the sentence (found 3:99)" in message
    assert "ends at 13 at most" in message
    table = read_qasrl(file, known, may_leave_sentence=True)
    assert (3, 99) in [span for *_, spans in listed(table) for span in spans]
    assert "outside their sentences, scored as given: 1 (" in table.notes[0]
    assert "3:99 in line 3" in table.notes[0]


def test_a_verb_outside_the_sentence_is_refused(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.csv", [row(verb_idx=40)])
    assert "verb_idx outside the sentence (found 40)" in told(file, sentences={"s1": ("one", "two")})


def test_repeated_rows_count_once_and_that_is_said(tmp_path: Path) -> None:
    again = row(answer_range="9:10~!~0:2")
    file = write_rows(tmp_path / "a.csv", [row(answer_range="0:2~!~9:10"), again, where()])
    table = read_qasrl(file)
    assert len(table.rows.verb) == 2
    assert table.notes == ("1 row left out: it repeats another row of its verb.",)


def test_rows_marked_redundant_are_left_out(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.csv", [row() | {"is_redundant": "False"}, where() | {"is_redundant": "True"}])
    table = read_qasrl(file)
    assert [text for _, _, text, _ in listed(table)] == ["Who sat?"]
    assert "marked is_redundant" in table.notes[0]


def test_a_row_without_question_says_that_somebody_looked(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.csv", [row(), row(verb_idx=10, question="", answer_range="", wh="")])
    assert listed(read_qasrl(file))[1] == (Verb("s1", 10), "ann", "", [])


def test_nouns_are_verbs_too(tmp_path: Path) -> None:
    names = {"verb_idx": "target_idx", "verb": "noun"}
    file = write_rows(tmp_path / "a.csv", [{names.get(name, name): value for name, value in row().items()}])
    table = read_qasrl(file)
    assert (table.verbs, table.words) == ((Verb("s1", 2),), ("sat",))


def test_a_parsers_table_gets_its_voice_from_the_verb(tmp_path: Path) -> None:
    of_parser = [
        row(question="who was seen?", aux="was", is_passive="", obj="_", subj="_") | {"verb_form": "seen"},
        row(question="who was seeing?", aux="was", is_passive="", obj="_", subj="_") | {"verb_form": "seeing"},
    ]
    table = read_qasrl(write_rows(tmp_path / "a.csv", of_parser))
    assert [(one.text, one.passive, one.obj) for one in table.questions] == [
        ("who was seeing?", False, ""),
        ("who was seen?", True, ""),
    ]
    assert "2 rows have no is_passive" in table.notes[0]


def test_answers_stand_where_their_text_does(tmp_path: Path) -> None:
    moved = row(answer_range="9:14", answer="on the old mat", sentence=SENTENCE)
    table = read_qasrl(write_rows(tmp_path / "a.csv", [moved]))
    assert [spans for *_, spans in listed(table)] == [[(3, 7)]]
    assert table.notes == ("1 row has answer positions that do not match the answer text. The text is used.",)
    assert table.sentences["s1"] == tuple(SENTENCE.split())


def test_of_several_places_of_a_text_the_nearest_counts() -> None:
    tokens = ["the", "mat", "and", "the", "mat", "and", "-LRB-", "the", "mat", "-RRB-"]
    assert relocated("4:6", "the mat", tokens) == "3:5"
    assert relocated("9:11", "( the mat )", tokens) == "6:10"
    assert relocated("0:2~!~1:9", "The  mat~!~nowhere", tokens) == "0:2~!~1:9"


def test_one_id_stands_for_one_sentence(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.csv", [row(sentence=SENTENCE), where(sentence="Another one is here now , is it ?")])
    assert "a.csv:3: has a different sentence than an earlier row with the same ID" in told(file)


def test_sentences_that_differ_are_refused_with_both_files(tmp_path: Path) -> None:
    one = read_sentences(write_sentences(tmp_path / "one.csv", {"s1": "A ( b )", "s2": "c d"}))
    same = read_sentences(write_sentences(tmp_path / "same.csv", {"s1": "A -LRB- b -RRB-"}))
    other = read_sentences(write_sentences(tmp_path / "other.csv", {"s2": "c e"}))
    assert joined([("one", one), ("same", same)])["s1"] == ("A", "(", "b", ")")
    with pytest.raises(
        UserError, match="other: has a different text for sentence s2 than one: token 1 is 'e' here and 'd' there"
    ):
        joined([("one", one), ("other", other)])


def test_a_sentences_file_without_tokens_is_told(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "s.csv", [{"qasrl_ids": "s1", "tokens": "a b"}])
    with pytest.raises(UserError, match=r"has no column qasrl_id\. If “qasrl_ids” is the missing column"):
        read_sentences(file)


# The Bank


def test_the_bank_has_valid_questions_by_people(tmp_path: Path) -> None:
    spans = [(0, 2)]
    lines = [
        bank_line(
            judged("Who sat?", [spans] * 5 + [None]),
            judged("Who slept?", [spans] * 4 + [None] * 2),
            judged("Who sits?", [spans] * 6, source="model-x"),
        )
    ]
    bank = read_bank(write_bank(tmp_path / "b.jsonl", lines))
    assert [question.text for question in bank.answers().questions] == ["Who sat?"]
    assert len(bank.answers(valid=4).questions) == 2
    assert len(bank.answers(people_only=False).questions) == 2
    assert bank.answers().words == ("sat",)
    assert bank.answers().sentences["s1"] == tuple(SENTENCE.split())


def test_of_three_judges_the_same_share_must_agree(tmp_path: Path) -> None:
    lines = [bank_line(judged("Who sat?", [[(0, 2)]] * 3), judged("Who slept?", [[(0, 2)]] * 2 + [None]))]
    bank = read_bank(write_bank(tmp_path / "b.jsonl", lines))
    assert [question.text for question in bank.answers(valid=5).questions] == ["Who sat?"]
    assert len(bank.answers(valid=4).questions) == 2


def test_answers_of_the_bank_are_those_of_all_judges_or_each(tmp_path: Path) -> None:
    lines = [bank_line(judged("Who sat?", [[(0, 2)], [(1, 2)], [(1, 2), (9, 10)]]))]
    bank = read_bank(write_bank(tmp_path / "b.jsonl", lines))
    assert listed(bank.answers()) == [(Verb("s1", 2), "", "Who sat?", [(0, 2), (1, 2), (9, 10)])]
    by_judge = read_qasrl(tmp_path / "b.jsonl", by="worker_id")
    assert [(worker, spans) for _, worker, _, spans in listed(by_judge)] == [
        ("turk-1", [(0, 2)]),
        ("turk-2", [(1, 2)]),
        ("turk-3", [(1, 2), (9, 10)]),
    ]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda line: line.pop("sentenceId"), "b.jsonl:2: has no valid sentenceId"),
        (lambda line: line["verbEntries"]["2"].update(verbIndex=99), "has a verb outside the sentence (found 99)"),
        (lambda line: line["verbEntries"]["2"].update(questionLabels=[]), "has no valid questionLabels"),
        (lambda line: line.update(sentenceId="s1"), "repeats the sentence of an earlier line"),
    ],
)
def test_a_spoiled_line_of_the_bank_is_told(tmp_path: Path, spoil: object, said: str) -> None:
    lines = [bank_line(judged("Who sat?", [[(0, 2)]] * 6), given=name) for name in ("s1", "s2")]
    spoil(lines[1])  # type: ignore[operator]
    assert said in told(write_bank(tmp_path / "b.jsonl", lines))


def test_answers_outside_the_banks_sentence_and_broken_lines_are_told(tmp_path: Path) -> None:
    file = write_bank(tmp_path / "b.jsonl", [bank_line(judged("Who sat?", [[(4, 2)]] * 6))])
    assert "b.jsonl:1: has an answer outside the sentence (found [4, 2])" in told(file)
    file.write_text('{"sentenceId": \n', "utf-8")
    assert "b.jsonl:1: is not JSON" in told(file)
    file.write_text("[1]\n", "utf-8")
    assert "b.jsonl:1: has no valid sentenceId" in told(file)


def test_an_unknown_ending_and_an_empty_file_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("", "utf-8")
    assert "is empty" in told(tmp_path / "a.csv")
    (tmp_path / "a.txt").write_text("x\n", "utf-8")
    assert "a.txt" in told(tmp_path / "a.txt")
    assert "does not exist" in told(tmp_path / "none.csv")


# Two ways of reading that must agree

CELLS = st.fixed_dictionaries(
    {
        "qasrl_id": st.sampled_from(["s1", "s2", "s2", " s1 ", ""]),
        "verb_idx": st.sampled_from(["2", "3", " 3", "x", "٣", "1234567"]),
        "question": st.sampled_from(["Who sat?", 'What, "exactly"?', "a\nb?", ""]),
        "answer_range": st.sampled_from(["0:2", "3:5~!~0:2", "0:2~!~0:2", "5:3", "", "a:b", "0:40", "1:2~!~"]),
        "wh": st.sampled_from(["who", "What", ""]),
        "is_negated": st.sampled_from(["True", "false", "", "no way"]),
        "worker_id": st.sampled_from(["ann", "bob"]),
    }
)


@settings(max_examples=examples(40, 150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(CELLS, min_size=1, max_size=5), st.booleans())
def test_the_fast_and_the_careful_reader_agree(tmp_path: Path, drawn: list[dict[str, str]], known: bool) -> None:
    file = write_rows(tmp_path / "a.csv", [row(**cells) for cells in drawn])
    sentences = {"s1": tuple(SENTENCE.split())} if known else {}
    named = tabular._named(pl.read_csv(file, infer_schema=False), "a.csv", None)
    quickly = tabular._is_sound(named) and tabular._fits(tabular._by_their_text(named), sentences)
    slowly = True
    try:
        frame = tabular._row_by_row(file, sentences, None, None)
        assert frame.rows() == named.rows()
    except UserError:
        slowly = False
    assert quickly == slowly


@settings(max_examples=examples(40, 100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.integers(0, 400), st.sampled_from([".csv", ".jsonl", ".tsv", ".csv.gz"]))
def test_whatever_is_in_a_file_it_is_read_or_refused(tmp_path: Path, junk: bytes, place: int, ending: str) -> None:
    sound = json.dumps(bank_line(judged("Who sat?", [[(0, 2)]] * 6))).encode() if ending == ".jsonl" else None
    if sound is None:
        sound = write_rows(tmp_path / "sound.csv", [row(), where()]).read_bytes()
    file = tmp_path / f"a{ending}"
    file.write_bytes(sound[:place] + junk + sound[place:])
    try:
        read_qasrl(file)
    except UserError as error:
        assert error.problems


def test_negation_and_voice_are_read_from_the_words() -> None:
    assert cells.is_negated("did", "Why did someone not sit?")
    assert not cells.is_negated("did", "Who did nothing?")
    assert cells.is_passive("wasn't", "seen")
    assert not cells.is_passive("has", "been seeing")
    assert cells.is_passive("has", "been seen")
    assert not cells.is_passive("", "sat")
