"""The protocol by itself: requests, questions, answers, requirements and names, without a server."""

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chorale.kits.mturk.api import markup
from chorale.kits.mturk.api.answers import answers_xml, fields_in, joined, misfit, read_answer_key
from chorale.kits.mturk.api.errors import TurkError
from chorale.kits.mturk.api.names import id_from, pseudonym, worker_id
from chorale.kits.mturk.api.questions import External, Page, QuestionForm, html_question, read_question
from chorale.kits.mturk.api.requests import COMPARATORS, OPERATIONS, money, money_as_sent, read_request
from chorale.kits.mturk.api.requirements import guards, holds
from chorale.kits.mturk.layouts import cannot_submit, fill_in, in_form, unknown_elements, variables_in
from chorale.kits.mturk.site import SITE
from chorale.kits.mturk.web.frames import page_html
from chorale.web.pages import add_static
from turk import ANSWER_KEY, FORM, FORM_SPACE, HTML_QUESTION, LAYOUT

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=25)
@given(operation=st.sampled_from(sorted(OPERATIONS)), data=st.data())
def test_whatever_comes_is_read_or_refused(operation: str, data: st.DataObject) -> None:
    body = data.draw(JSON | st.dictionaries(st.sampled_from(sorted(OPERATIONS[operation]) or ["x"]), JSON))
    try:
        read = read_request(operation, body)
    except TurkError as error:
        assert error.body["TurkErrorCode"].startswith("AWS.")
        assert error.status == 400
    else:
        assert set(read) == set(OPERATIONS[operation])


@settings(max_examples=25)
@given(st.text(max_size=300))
def test_any_text_is_a_question_or_refused(text: str) -> None:
    try:
        read_question(text)
    except TurkError as error:
        assert error.turk_code.startswith("AWS.")


@settings(max_examples=25)
@given(
    st.dictionaries(
        st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=20),
        st.text(max_size=50),
        max_size=5,
    )
)
def test_answers_come_back_from_their_xml(fields: dict[str, str]) -> None:
    fields = {name: value for name, value in fields.items() if name.strip() == name}
    kept = {
        name: "".join(s for s in value if s in "\t\n\r" or (s >= " " and s not in "\ufffe\uffff"))
        for name, value in fields.items()
    }
    # What was left empty is left out, as Mechanical Turk did: scripts pay by what is there.
    assert fields_in(answers_xml(fields)) == {name: value for name, value in kept.items() if fields[name] != ""}


@given(st.integers(0, 10**9))
def test_amounts_come_back_as_they_were_sent(amount: int) -> None:
    assert money("Reward", money_as_sent(amount)) == amount


@pytest.mark.parametrize("wrong", [5, 0.05, "", "-1", "1.234", ".5", "1,5", "1e3", "१", None, "9" * 12])
def test_amounts_are_text_with_two_decimals(wrong: Any) -> None:
    with pytest.raises(TurkError):
        money("Reward", wrong)


def test_xml_is_read_with_care() -> None:
    deep = "<a>" * 100 + "</a>" * 100
    many = "<a>" + "<b/>" * 6000 + "</a>"
    # A comment that begins a CDATA section begins none.
    hidden = '<!-- <![CDATA[ --><!DOCTYPE a [<!ENTITY b "cc">]><a>&b;<!-- ]]> --></a>'
    for text in (
        deep,
        many,
        hidden,
        "<!DOCTYPE a><a/>",
        '<!ENTITY x "y"><a/>',
        "<a>&b;</a>",
        "",
        "<a/><b/>",
        "x" * 200_000,
    ):
        with pytest.raises(TurkError):
            markup.parsed("Question", text)
    # A page in a CDATA section may well have a document type.
    page = read_question(HTML_QUESTION)
    assert isinstance(page, Page)
    assert (page.html, page.height) == (LAYOUT, 450)
    assert read_question(html_question("<p>]]></p>")) == Page("<p>]]></p>", 0)


def test_addresses_elsewhere_are_web_addresses() -> None:
    asked = "<ExternalQuestion><ExternalURL>{}</ExternalURL><FrameHeight>300</FrameHeight></ExternalQuestion>"
    found = read_question(asked.format("https://a.example/x?y=1"))
    assert isinstance(found, External)
    assert found.address({"hitId": "3A"}) == "https://a.example/x?y=1&hitId=3A"
    assert found.origin == "https://a.example"
    for wrong in (
        "javascript:alert(1)",
        "data:text/html,x",
        "//a.example",
        "https://a; script-src *",
        "https://",
        "https://[x",
        "https://例え.jp/",
    ):
        with pytest.raises(TurkError):
            read_question(asked.format(wrong))


def test_forms_say_what_keeps_an_answer_from_being_taken() -> None:
    form = read_question(FORM)
    assert isinstance(form, QuestionForm)
    assert misfit(form, {"sum": "four"}) is None
    assert misfit(form, {}) == "A sum: choose an answer"
    assert misfit(form, {"sum": "four|five"}) == "A sum: choose at most 1 answer"
    assert misfit(form, {"sum": "six"}) == "A sum: this is not one of the choices"
    assert misfit(form, {"sum": "four", "why": "x"}) == "why: write at least 2 characters"
    assert misfit(form, {"sum": "four", "why": "x" * 21}) == "why: write at most 20 characters"
    xml = answers_xml({"sum": "four", "why": "so <it> is"}, form)
    assert "<SelectionIdentifier>four</SelectionIdentifier>" in xml
    assert fields_in(xml) == {"sum": "four", "why": "so <it> is"}
    number = FORM.replace('<Length minLength="2" maxLength="20"/>', '<IsNumeric minValue="1" maxValue="9"/>')
    counted = read_question(number)
    assert isinstance(counted, QuestionForm)
    assert misfit(counted, {"sum": "four", "why": "10"}) == "why: the number is out of range"
    assert misfit(counted, {"sum": "four", "why": "nan"}) == "why: the number is out of range"
    assert misfit(counted, {"sum": "four", "why": "many"}) == "why: write a number"
    for wrong in ("FileUploadAnswer", "Nonsense"):
        with pytest.raises(TurkError, match="unsupported answer type"):
            read_question(FORM.replace("FreeTextAnswer", wrong))
    with pytest.raises(TurkError, match="unique QuestionIdentifier"):
        read_question(FORM.replace(">why<", ">sum<"))
    with pytest.raises(TurkError, match="must have questions"):
        read_question(f'<QuestionForm xmlns="{FORM_SPACE}"></QuestionForm>')


def test_numbers_nobody_could_store_are_refused() -> None:
    answer = "<FreeTextAnswer><Constraints><Length {}/></Constraints></FreeTextAnswer>"
    question = "<QuestionContent><Text>x</Text></QuestionContent><AnswerSpecification>{}</AnswerSpecification>"
    asked = f"<Question><QuestionIdentifier>q</QuestionIdentifier>{question.format(answer)}</Question>"
    for wrong in ('maxLength="inf"', 'minLength="nan"', 'maxLength="1e999"'):
        with pytest.raises(TurkError):
            read_question(f"<QuestionForm>{asked.format(wrong)}</QuestionForm>")
    option = "<AnswerOption><SelectionIdentifier>a</SelectionIdentifier><AnswerScore>{}</AnswerScore></AnswerOption>"
    key = f"<AnswerKey><Question><QuestionIdentifier>q</QuestionIdentifier>{option}</Question>{{}}</AnswerKey>"
    mapping = "<QualificationValueMapping><ScaleMapping><SummedScoreMultiplier>{}</SummedScoreMultiplier>"
    mapping += "</ScaleMapping></QualificationValueMapping>"
    for score, scaled in (("9" * 30, ""), ("1", mapping.format("1e300")), ("1", mapping.format("nan"))):
        with pytest.raises(TurkError):
            read_answer_key(key.format(score, scaled))
    large = read_answer_key(key.format("2000000000", mapping.format("2000000000")))
    assert large.score({"q": "a"}) == 2**31 - 1


def test_answer_keys_score_tests() -> None:
    key = read_answer_key(ANSWER_KEY)
    assert (key.score({"sum": "four"}), key.score({"sum": "five"}), key.score({})) == (100, 0, 0)
    scaled = ANSWER_KEY.replace(
        "<PercentageMapping><MaximumSummedScore>10</MaximumSummedScore></PercentageMapping>",
        "<ScaleMapping><SummedScoreMultiplier>2.5</SummedScoreMultiplier></ScaleMapping>",
    )
    assert read_answer_key(scaled).score({"sum": "four"}) == 25
    ranged = ANSWER_KEY.replace(
        "<PercentageMapping><MaximumSummedScore>10</MaximumSummedScore></PercentageMapping>",
        "<RangeMapping><SummedScoreRange><InclusiveLowerBound>5</InclusiveLowerBound><InclusiveUpperBound>10"
        "</InclusiveUpperBound><QualificationValue>3</QualificationValue></SummedScoreRange>"
        "<OutOfRangeQualificationValue>-1</OutOfRangeQualificationValue></RangeMapping>",
    )
    assert (read_answer_key(ranged).score({"sum": "four"}), read_answer_key(ranged).score({})) == (3, -1)
    for wrong in (
        "<AnswerKey><x/>",
        "<Other/>",
        ANSWER_KEY.replace(">10<", ">ten<"),
        ANSWER_KEY.replace(">10</M", ">0</M"),
    ):
        with pytest.raises(TurkError):
            read_answer_key(wrong)


@pytest.mark.parametrize("comparator", COMPARATORS)
def test_requirements_are_met_as_their_comparator_says(comparator: str) -> None:
    met = {value for value in (None, 1, 2, 3) if holds({"Comparator": comparator, "IntegerValues": [2, 3]}, value)}
    assert (
        met
        == {
            "LessThan": {1},
            "LessThanOrEqualTo": {1, 2},
            "GreaterThan": {3},
            "GreaterThanOrEqualTo": {2, 3},
            "EqualTo": {2},
            "NotEqualTo": {1, 3},
            "Exists": {1, 2, 3},
            "DoesNotExist": {None},
            "In": {2, 3},
            "NotIn": {1},
        }[comparator]
    )


def test_requirements_guard_what_they_say() -> None:
    assert guards({}) == "Accept"
    assert guards({"RequiredToPreview": True}) == "PreviewAndAccept"
    assert guards({"ActionsGuarded": "DiscoverPreviewAndAccept"}) == "DiscoverPreviewAndAccept"


def test_ids_have_the_shape_scripts_expect() -> None:
    assert pseudonym(worker_id("w-abc234defg")) == "w-abc234defg"
    assert pseudonym("A0O1") is None
    assert id_from("a", "b") == id_from("a", "b") != id_from("ab", "")
    assert len(id_from("a")) == 30
    with pytest.raises(ValueError, match="pseudonym"):
        worker_id("somebody")


def test_no_layout_takes_long_to_look_through() -> None:
    assert SITE.static is not None
    add_static(SITE.name, SITE.static)
    began = time.process_time()
    for piece in ("<!--", "${ ", "<head ", "//", "<crowd-", "<title ", "<button ", "<input ", "<body "):
        layout = piece * (65_000 // len(piece))
        assert fill_in(layout, {}) == layout
        assert unknown_elements(layout) in ([], ["crowd-"])
        page_html(Page(in_form(layout), 0))
        assert not cannot_submit(f"<script>{layout}")
    # Looked for without bounds, each of them takes that long alone.
    assert time.process_time() - began < 10


def test_layouts_are_filled_as_they_are() -> None:
    layout = "<p>${word}: ${ text } ${word} $5 {x} ${not\nthis}</p>"
    assert variables_in(layout) == ["word", "text"]
    assert fill_in(layout, {"word": "${text}", "text": "<b>"}) == "<p>${text}: <b> ${text} $5 {x} ${not\nthis}</p>"
    assert joined([("a", "1"), ("b", "2"), ("a", "3")]) == {"a": "1|3", "b": "2"}
    assert json.dumps(joined([])) == "{}"
