"""Old layouts and batch files as studies, and what HITs promise, without a server."""

import csv
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from chorale.audit.verify import verify
from chorale.cli import app
from chorale.contract import Combined
from chorale.contract.reading_time import shown_words
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.folder.plan import study_notes
from chorale.folder.reading import check_folder, load_folder
from chorale.kits.mturk.api.errors import TurkError
from chorale.kits.mturk.api.questions import Page, read_question
from chorale.kits.mturk.batch_columns import BATCH_COLUMNS
from chorale.kits.mturk.layouts import ADDED_BUTTON, in_form
from chorale.kits.mturk.market import perform, sweep, working
from chorale.kits.mturk.market.operations import Call
from chorale.kits.mturk.market.stage import layout_id, market_stage
from chorale.kits.mturk.site import SITE
from chorale.kits.mturk.task import MTURK, LayoutOptions
from chorale.kits.mturk.task.simulating import guessed
from chorale.kits.mturk.web.frames import page_html
from chorale.model import Judgment, Refusal
from chorale.present.languages import languages
from chorale.web.pages import Pages, add_static
from conftest import ManualClock
from crowd import Person, do, look
from turk import HTML_QUESTION, PROPERTIES, policy, write_market

LAYOUT = "<p>${word} &amp; ${ second word }</p><p>It's '''odd''' \\n \"quoted\"</p><input name='Q1'>"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def write_batch(
    folder: Path, layout: str = LAYOUT, rows: str = "word,id,second word\nwren,7,=1+1\nowl,7,\n"
) -> list[str]:
    (folder / "layout.html").write_text(layout, "utf-8")
    (folder / "batch.csv").write_text(rows, "utf-8")
    files = ["--html", str(folder / "layout.html"), "--csv", str(folder / "batch.csv")]
    return ["new", str(folder / "study"), "--template", "mturk", *files]


def test_a_layout_and_its_batch_become_a_study_and_come_back_as_a_batch(tmp_path: Path, clock: ManualClock) -> None:
    made = run(*write_batch(tmp_path))
    assert made.exit_code == 0, made.stderr
    folder = tmp_path / "study"
    assert check_folder(folder)[1] == []
    study = open_study(folder, None, clock)
    try:
        ada = Person(study, "ada")
        offer = ada.next("batch")
        assert offer.view is not None
        assert offer.view["html"] in (
            LAYOUT.replace("${word}", "wren").replace("${ second word }", "=1+1"),
            LAYOUT.replace("${word}", "owl").replace("${ second word }", ""),
        )
        clock.pass_minutes(2)
        ada.submit(offer, {"Q1": "yes|no", "comment": "=SUM(A1)"})
        assert look(study, lambda tx: verify(tx, study)).differences == []
    finally:
        study.close()
    out = tmp_path / "results.csv"
    assert run("export", str(folder), "--format", "mturk", "--out", str(out)).exit_code == 0
    with out.open(encoding="utf-8", newline="") as file:
        [row] = csv.DictReader(file)
    assert list(row) == [
        *BATCH_COLUMNS,
        *("Input.word", "Input.id", "Input.second word", "Answer.Q1", "Answer.comment", "Approve", "Reject"),
    ]
    assert (row["Input.id"], row["Answer.Q1"], row["Reward"]) == ("7", "yes|no", "$0.08")
    assert (row["Answer.comment"], row["WorkTimeInSeconds"]) == ("'=SUM(A1)", "120")
    assert row["WorkerId"] == f"A{ada.pseudonym[2:].upper()}"
    assert row["LifetimeApprovalRate"] == "100% (1/1)"
    judged = run("aggregate", str(out), "--label", "Answer.Q1", "--json")
    assert judged.exit_code == 0, judged.stderr


def test_only_what_people_choose_in_a_layout_becomes_a_label(tmp_path: Path, clock: ManualClock) -> None:
    layout = (
        "<p>${word}</p><input type='hidden' name='started'><!-- <input type='radio' name='old' value='a'> -->"
        "<input type='radio' name='sings' value='yes'><input type='radio' name='sings' value='no'>"
        "<textarea name='comment'></textarea>"
    )
    assert run(*write_batch(tmp_path, layout)).exit_code == 0
    folder = tmp_path / "study"
    settings = (folder / "study.toml").read_text("utf-8")
    assert 'judged = ["sings"]  # fields aggregated into labels; not: started, comment' in settings
    assert check_folder(folder)[1] == []
    # Without the setting, scripts' own fields are not compared either.
    answers = [{"started": "1", "sings": "yes"}, {"started": "2", "sings": "yes"}]
    options = LayoutOptions(html=layout)
    combining = MTURK.configured(options).combining
    assert combining.distance(*answers) == 0
    result = combining.combine([Judgment(f"w{at}", answer, 1.0) for at, answer in enumerate(answers)])
    assert result is not None and (result.answer, result.confidence) == ({"sings": "yes"}, 1.0)
    named = MTURK.configured(LayoutOptions(html=layout, judged=("started",))).combining
    assert named.distance(*answers) == 1


def test_a_study_from_a_layout_asks_for_its_own_purpose_and_guidelines(tmp_path: Path) -> None:
    assert run(*write_batch(tmp_path)).exit_code == 0
    consent = (tmp_path / "study" / "consent.md").read_text("utf-8")
    # The template is about sentences, and has gold; nothing is known about this study's purpose, and it has no gold.
    assert "sentences" not in consent and "upsetting" not in consent and "Known answers" not in consent
    [of_consent] = [line for line in study_notes(load_folder(tmp_path / "study")) if line.startswith("consent.md")]
    assert "[purpose of the study]" in of_consent and "[risks]" in of_consent
    [of_guidelines] = [
        line for line in study_notes(load_folder(tmp_path / "study")) if line.startswith("guidelines.md")
    ]
    assert "[what to look at and how to decide], [two or three examples with their answers]" in of_guidelines


@pytest.mark.parametrize(
    ("layout", "rows", "told"),
    [
        ("<p>${bird}</p>", "word\nx\n", "has no column for the variable 'bird'"),
        ("   ", "word\nx\n", "is empty"),
        ("<p>\x00</p>", "word\nx\n", "control character"),
        ("<p>${word}</p>", "word\n", "no rows"),
        ("<p>${word}</p>", 'word\n"a\x07b"\n', "control characters"),
        ("x" * 1_000_001, "word\nx\n", "longer than"),
        ("<crowd-form>\n<crowd-instance-segmentation>${word}", "word\nx\n", "layout.html:2: has an element that"),
        ("<p>{{ task.input.bird }}</p>", "word\nx\n", "has no column for the variable 'bird'"),
        ("<p>\n{% for w in task.input.word %}", "word\nx\n", "is not valid Liquid in line 2"),
        ("<p>{{ task.input.word | weigh }}</p>", "word\nx\n", "uses an unknown Liquid filter: weigh"),
        ("<p>{{ task.input.word }} {{ labels }}</p>", "word\nx\n", "uses labels, but only task.input"),
    ],
)
def test_mistakes_in_a_layout_or_its_batch_are_told(tmp_path: Path, layout: str, rows: str, told: str) -> None:
    refused = run(*write_batch(tmp_path, layout, rows))
    assert refused.exit_code == 2
    assert told in " ".join(refused.stderr.split())
    assert not (tmp_path / "study").exists()


def test_layouts_for_ground_truth_get_their_values_as_there(tmp_path: Path, clock: ManualClock) -> None:
    layout = (
        "<p title='{{ task.input.word }}'>{{ task.input.word | skip_autoescape }}</p>"
        "<img src='{{ task.input.src | grant_read_access }}'><p data-all='{{ task.input.pairs | to_json }}'></p>"
        "{% for pair in task.input.pairs %}<i>{{ forloop.index }}{{ pair.a }}</i>{% endfor %}"
        "<script>const shown = `${word}`;</script>"
    )
    rows = """word,src,pairs\n<b>it's</b>,/a.png?b=1&c=2,"[{""a"": 1}, {""a"": ""<""}]"\n"""
    made = run(*write_batch(tmp_path, layout, rows))
    assert made.exit_code == 0, made.stderr
    study = open_study(tmp_path / "study", None, clock)
    try:
        view = Person(study, "ada").next("batch").view
    finally:
        study.close()
    assert view is not None
    assert view["html"] == (
        "<p title='&lt;b&gt;it&#39;s&lt;/b&gt;'><b>it's</b></p>"
        "<img src='/a.png?b=1&amp;c=2'><p data-all='[{&#34;a&#34;: 1}, {&#34;a&#34;: &#34;&lt;&#34;}]'></p>"
        "<i>11</i><i>2&lt;</i><script>const shown = `${word}`;</script>"
    )


def test_a_row_that_a_layout_for_ground_truth_cannot_show_is_told(tmp_path: Path) -> None:
    run(*write_batch(tmp_path, "<p>{{ 12 | divided_by: task.input.parts }}</p>", "parts\n3\n0\n"))
    [problem] = check_folder(tmp_path / "study")[1]
    assert (problem.file, problem.line) == ("batch.jsonl", 2) and "does not fit the layout" in str(problem)


def test_a_parameter_that_the_layout_cannot_show_is_refused(tmp_path: Path, clock: ManualClock) -> None:
    run(*write_batch(tmp_path, "<p>{{ 12 | divided_by: task.input.parts }}</p>", "parts\n3\n"))
    study = open_study(tmp_path / "study", None, clock)
    try:
        stage = market_stage(study)
        assert stage is not None
        given = {key: value for key, value in PROPERTIES.items() if key != "Question"}
        given |= {"LifetimeInSeconds": 3600, "HITLayoutId": layout_id(stage)}
        with pytest.raises(TurkError, match="HITLayoutParameters does not fit the layout"):
            ask(study, "CreateHIT", **given, HITLayoutParameters=[{"Name": "parts", "Value": "0"}])
    finally:
        study.close()


def test_only_what_people_see_of_a_layout_counts_as_reading(tmp_path: Path) -> None:
    hidden = "word " * 500
    layout = (
        f"<!-- {hidden} --><style>p {{ content: '{hidden}' }}</style><title>{hidden}</title><p>Read ${{word}}</p>"
        f"<crowd-input label='two words' pattern='{hidden}'></crowd-input><script>const a = '{hidden}';</script>"
    )
    assert run(*write_batch(tmp_path, layout, "word\nthis now\n")).exit_code == 0
    folder, problems = check_folder(tmp_path / "study")
    assert problems == []
    assert folder is not None
    [stage] = folder.stages
    [item] = stage.items
    assert shown_words(stage.task, item.payload) == 5


@pytest.mark.parametrize("words", [5, 400])
def test_a_study_from_a_layout_pays_for_the_length_of_its_pages(tmp_path: Path, words: int) -> None:
    made = run(*write_batch(tmp_path, f"<p>{'word ' * words}</p>{LAYOUT}"))
    assert made.exit_code == 0, made.stderr
    assert "seconds to read" not in made.output
    assert "pays less" not in made.output
    folder, _ = check_folder(tmp_path / "study")
    assert folder is not None
    pay = folder.stages[0].settings.pay
    assert pay.expected_seconds is not None
    assert pay.expected_seconds >= 2 * words * 60 / 238
    assert 1200 <= pay.per_judgment * 3600 / pay.expected_seconds < 1800


def test_options_that_do_not_go_together_are_told(tmp_path: Path) -> None:
    command = write_batch(tmp_path)
    assert run(*command[:-2]).exit_code == 2
    assert run("new", str(tmp_path / "x"), *command[4:]).exit_code == 0, "only one template takes a layout"
    assert run(*command[:-1], str(tmp_path / "nowhere.csv")).exit_code == 2
    (tmp_path / "layout.html").write_bytes(b"\xff\xfe<p>")
    assert "UTF-8" in run(*command).stderr
    run("new", str(tmp_path / "form"), "--template", "form")
    assert "no stage with the task" in run("keys", str(tmp_path / "form")).stderr


@pytest.fixture
def market(tmp_path: Path, clock: ManualClock) -> Iterator[Study]:
    write_market(tmp_path / "study", pay="budget = 100")
    study = open_study(tmp_path / "study", None, clock)
    yield study
    assert look(study, lambda tx: verify(tx, study)).differences == []
    study.close()


def ask(study: Study, operation: str, signature: str = "", **given: Any) -> dict[str, Any]:
    body = json.loads(json.dumps(given))
    call = Call(operation, body, signature or json.dumps([operation, given, study.secrets.random()]))
    return do(study, perform, call).body


def make_hit(study: Study, **more: Any) -> str:
    given = {**PROPERTIES, "LifetimeInSeconds": 3600, "Question": HTML_QUESTION, **more}
    made: str = ask(study, "CreateHIT", **given)["HIT"]["HITId"]
    return made


def test_the_budget_is_what_can_be_promised(market: Study) -> None:
    def balance() -> str:
        return str(ask(market, "GetAccountBalance")["AvailableBalance"])

    assert balance() == "1.00"
    hit = make_hit(market, MaxAssignments=3)
    assert balance() == "0.25"
    with pytest.raises(TurkError, match="budget"):
        make_hit(market, MaxAssignments=2)
    with pytest.raises(TurkError, match="budget"):
        ask(market, "CreateAdditionalAssignmentsForHIT", HITId=hit, NumberOfAdditionalAssignments=2)
    ask(market, "UpdateExpirationForHIT", HITId=hit, ExpireAt=0)
    assert balance() == "1.00"


def test_the_same_request_is_done_once(market: Study, clock: ManualClock) -> None:
    given = {**PROPERTIES, "LifetimeInSeconds": 3600, "Question": HTML_QUESTION, "Reward": "0.00"}
    # A loop makes two alike in a second; the same signature later is somebody else's.
    first, second = (ask(market, "CreateHIT", "same", **given)["HIT"]["HITId"] for _ in range(2))
    assert first != second
    clock.pass_minutes(0.1)
    with pytest.raises(TurkError, match="already made"):
        ask(market, "CreateHIT", "same", **given)
    ada = Person(market, "ada")
    name = do(market, working.accept, ada.id, first)
    do(market, working.submit, name, [("colour", "blue")])
    bonus = {
        "WorkerId": f"A{ada.pseudonym[2:].upper()}",
        "AssignmentId": name,
        "BonusAmount": "0.10",
        "Reason": "Good",
    }
    ask(market, "SendBonus", "paid", **bonus)
    with pytest.raises(TurkError, match="already made"):
        ask(market, "SendBonus", "paid", **bonus)


def test_time_runs_out_and_unreviewed_work_is_approved_once(market: Study, clock: ManualClock) -> None:
    hit = make_hit(market, MaxAssignments=1)
    ada, ben = Person(market, "ada"), Person(market, "ben")
    late = do(market, working.accept, ada.id, hit)
    clock.pass_minutes(11)
    do(market, sweep)
    assert ask(market, "GetHIT", HITId=hit)["HIT"]["NumberOfAssignmentsAvailable"] == 1
    done = do(market, working.accept, ben.id, hit)
    with pytest.raises(Refusal, match="time"):
        do(market, working.submit, late, [("colour", "too late")])
    do(market, working.submit, done, [("colour", "blue")])
    clock.pass_minutes(61)
    for _ in range(2):
        do(market, sweep)
    [found] = ask(market, "ListAssignmentsForHIT", HITId=hit)["Assignments"]
    assert (found["AssignmentStatus"], found["AssignmentId"]) == ("Approved", done)


def answer(study: Study, hit: str, name: str, **fields: str) -> str:
    assignment = do(study, working.accept, Person(study, name).id, hit)
    do(study, working.submit, assignment, list(fields.items()))
    return str(assignment)


def statuses(study: Study, hit: str) -> dict[str, str]:
    found = ask(study, "ListAssignmentsForHIT", HITId=hit)["Assignments"]
    return {one["AssignmentId"]: one["AssignmentStatus"] for one in found}


def test_a_hit_is_extended_until_people_agree_and_then_reviewed_once(market: Study, clock: ManualClock) -> None:
    agree = {"QuestionIds": ["colour", "size"], "QuestionAgreementThreshold": 50}
    extend = {
        "ExtendIfHITAgreementScoreIsLessThan": 100,
        "ExtendMaximumAssignments": 3,
        "ExtendMinimumTimeInSeconds": 3600,
    }
    act = {"ApproveIfWorkerAgreementScoreIsAtLeast": 100, "RejectIfWorkerAgreementScoreIsLessThan": 50}
    plurality = policy("SimplePlurality", **agree, **extend, **act, RejectReason="Others said otherwise")
    hit = make_hit(market, MaxAssignments=2, HITReviewPolicy=plurality)
    first = answer(market, hit, "ada", colour=" blue ", size="large")
    second = answer(market, hit, "ben", colour="grey", size="small")
    do(market, sweep)
    got = ask(market, "GetHIT", HITId=hit)["HIT"]
    assert (got["MaxAssignments"], got["HITStatus"]) == (3, "Assignable")
    assert set(statuses(market, hit).values()) == {"Submitted"}
    third = answer(market, hit, "cleo", colour="blue", size="large")
    for _ in range(2):
        do(market, sweep)
    assert statuses(market, hit) == {first: "Approved", second: "Rejected", third: "Approved"}
    told = ask(market, "ListReviewPolicyResultsForHIT", HITId=hit)["HITReviewReport"]
    found = {(one["Key"], one.get("QuestionId"), one["Value"]) for one in told["ReviewResults"]}
    assert {("AgreedAnswer", "colour", "blue"), ("QuestionAgreementScore", "size", "66")} <= found
    assert ("HITAgreementScore", None, "100") in found
    acted = [(one["ActionName"], one["Status"]) for one in told["ReviewActions"]]
    assert acted == [
        ("extend", "Succeeded"),
        *(("approve", "Succeeded"), ("reject", "Succeeded"), ("approve", "Succeeded")),
    ]
    # Of a dollar, 50 cents are paid and 40 promised: there are no 40 more, and that is told.
    dear = make_hit(market, MaxAssignments=1, Reward="0.40", HITReviewPolicy=plurality)
    answer(market, dear, "ada", colour="", size="x" * 300)
    do(market, sweep)
    [failed, *_] = ask(market, "ListReviewPolicyResultsForHIT", HITId=dear)["HITReviewReport"]["ReviewActions"]
    assert (failed["ActionName"], failed["Status"], "budget" in failed["Result"]) == ("extend", "Failed", True)


def test_a_late_answer_is_taken_while_its_place_is_free(market: Study, clock: ManualClock) -> None:
    hit = make_hit(market, MaxAssignments=1)
    ada = Person(market, "ada")
    late = do(market, working.accept, ada.id, hit)
    assert ask(market, "GetHIT", HITId=hit)["HIT"]["NumberOfAssignmentsAvailable"] == 0
    clock.pass_minutes(11)
    do(market, sweep)
    assert ask(market, "GetHIT", HITId=hit)["HIT"]["NumberOfAssignmentsAvailable"] == 1
    do(market, working.submit, late, [("colour", "late but here")])
    assert ask(market, "GetHIT", HITId=hit)["HIT"]["HITStatus"] == "Reviewable"


@pytest.mark.slow
def test_requirements_of_amazon_let_everybody_through_unless_counted_here(tmp_path: Path, clock: ManualClock) -> None:
    asked = [
        {"QualificationTypeId": "00000000000000000071", "Comparator": "EqualTo", "LocaleValues": [{"Country": "US"}]},
        {"QualificationTypeId": "00000000000000000040", "Comparator": "GreaterThan", "IntegerValues": [0]},
    ]
    for options, may in (("", True), ('track_record = "here"\n', False)):
        folder = tmp_path / f"study-{may}"
        write_market(folder, options=options)
        study = open_study(folder, None, clock)
        try:
            hit = make_hit(study, QualificationRequirements=asked)
            ada = Person(study, "ada")
            if may:
                assert do(study, working.accept, ada.id, hit)
            else:
                with pytest.raises(Refusal, match="qualification"):
                    do(study, working.accept, ada.id, hit)
        finally:
            study.close()


def test_a_study_for_scripts_opens_again_with_what_they_made(tmp_path: Path, clock: ManualClock) -> None:
    write_market(tmp_path / "study")
    study = open_study(tmp_path / "study", None, clock)
    hit = make_hit(study)
    study.close()
    study = open_study(tmp_path / "study", None, clock)
    assert ask(study, "GetHIT", HITId=hit)["HIT"]["HITId"] == hit
    study.close()


@pytest.mark.slow
def test_hits_keep_their_promises_when_everybody_comes_at_once(tmp_path: Path, database: str | None) -> None:
    """Ten people for three places, ten submits of each assignment, ten approvals: three rewards, on both databases."""
    write_market(tmp_path / "study", pay="budget = 1000\nfee_percent = 20")
    study = open_study(tmp_path / "study", database)
    try:
        hit = make_hit(study, MaxAssignments=3)
        everybody = [Person(study, f"person-{number}") for number in range(10)]

        def tried(work: Callable[[], Any]) -> Any:
            try:
                return work()
            except Refusal as refusal:
                return refusal

        with ThreadPoolExecutor(10) as pool:
            accepting = [partial(do, study, working.accept, person.id, hit) for person in everybody]
            names = [name for name in pool.map(tried, accepting) if isinstance(name, str)]
            assert len(names) == 3
            submitting = [partial(do, study, working.submit, name, [("colour", "blue")]) for name in names * 10]
            assert all(done is True for done in pool.map(tried, submitting))
            approving = [partial(ask, study, "ApproveAssignment", AssignmentId=name) for name in names * 10]
            approved = [done for done in pool.map(tried, approving) if done == {}]
        assert len(approved) == 3
        got = ask(study, "GetHIT", HITId=hit)["HIT"]
        assert (got["HITStatus"], got["NumberOfAssignmentsCompleted"]) == ("Reviewable", 3)
        assert ask(study, "ListReviewableHITs")["HITs"][0]["HITId"] == hit
        # 10.00 without three times 25 cents and 20% of it.
        assert ask(study, "GetAccountBalance")["AvailableBalance"] == "9.10"
        assert len(ask(study, "ListAssignmentsForHIT", HITId=hit, MaxResults=2)["Assignments"]) == 2
        do(study, sweep)
        assert look(study, lambda tx: verify(tx, study)).differences == []
    finally:
        study.close()


ASKED = """
<form><input type="radio" name="a" value="yes"><input type="radio" name="a" value="no">
<select name="b"><option value="">Choose</option><option value="x">X</option><option>Plain text</option></select>
<input type="checkbox" name="c" value="1"><input type="checkbox" name="c" value="2">
<textarea name="why" required></textarea><input name="comment"><input type="hidden" name="assignmentId" required>
<input type="number" name="n" min="3" required><input type="submit" name="go"><select><option>nameless</option></select>
</form>"""


@pytest.mark.parametrize(
    ("layout", "shown"),
    [
        (
            "<html><body class=a><input name=w></body></html>",
            "<body class=a><form {}><input name=w>{}</form></body></html>",
        ),
        ("<body><input name=w>", "<body><form {}><input name=w>{}</form>"),
        ("<body>İİİ<input name=w></body>", "<body><form {}>İİİ<input name=w>{}</form></body>"),
        ("<!-- <form> --><input name=w>", "<form {}><!-- <form> --><input name=w>{}</form>"),
        ("<button class=option>Sad</button>", "<form {}><button class=option>Sad</button>{}</form>"),
        ("<form {}><input name=w></form><p>End", "<form {}><input name=w>{}</form><p>End"),
        (
            "<form {}><button type='button'>Help</button></form>",
            "<form {}><button type='button'>Help</button>{}</form>",
        ),
    ],
)
def test_a_layout_without_a_form_gets_one_with_a_button(layout: str, shown: str) -> None:
    opening, button = 'id="mturk_form" method="post"', f"<p>{ADDED_BUTTON}</p>"
    layout = layout.format(opening)
    assert shown.format(opening, button) in in_form(layout)
    for own in ("<button> Submit it </button>", "<input name=x type='submit'>", '<input type="button" value="Submit">'):
        assert in_form(layout + own).count("Submit") + in_form(layout + own).count("'submit'") == 1
    for complete in (f"<crowd-form>{layout}</crowd-form>", "<form><button>Send</button></form>"):
        assert in_form(complete) == complete


def test_the_button_added_to_a_layout_follows_the_language_of_the_study(tmp_path: Path, clock: ManualClock) -> None:
    # A HIT outlives a change of the study's language, so what is stored of it is in no language but English.
    run(*write_batch(tmp_path, "<p>${word}</p><input name=Q1>", "word\nwren\n"))
    settings = tmp_path / "study" / "study.toml"
    given = {key: value for key, value in PROPERTIES.items() if key != "Question"} | {"LifetimeInSeconds": 3600}
    english, stored = settings.read_text("utf-8"), ""
    assert SITE.static is not None
    add_static(SITE.name, SITE.static)
    buttons = {}
    for code in languages():
        settings.write_text(english.replace("[study]\n", f'[study]\nlanguage = "{code}"\n'), "utf-8")
        study = open_study(tmp_path / "study", None, clock)
        try:
            stage = market_stage(study)
            assert stage is not None
            if not stored:
                parameters = [{"Name": "word", "Value": "wren"}]
                hit = ask(study, "CreateHIT", **given, HITLayoutId=layout_id(stage), HITLayoutParameters=parameters)
                stored = hit["HIT"]["Question"]
            question = read_question(stored)
            assert isinstance(question, Page)
            shown = page_html(question, pages=Pages(study))
        finally:
            study.close()
        buttons[code] = re.findall("<button>(.*?)</button>", shown)
    assert buttons["en"] == ["Submit"] and buttons["de"] == ["Abschicken"] and buttons["ja"] == ["送信"]
    assert all(len(found) == 1 for found in buttons.values())
    assert sum(found == ["Submit"] for found in buttons.values()) == 1


def test_simulated_people_answer_the_fields_of_a_layout() -> None:
    answers = [guessed({"html": ASKED}, None, Random(seed)) for seed in range(40)]
    assert {answer["a"] for answer in answers} == {"yes", "no"}
    assert {answer["b"] for answer in answers} == {"x", "Plain text"}
    assert {answer.get("c") for answer in answers} == {None, "1", "2", "1|2"}
    assert {answer["n"] for answer in answers} == {"3"} and all(answer["why"] for answer in answers)
    assert set().union(*answers) == {"a", "b", "c", "why", "n"}, "nothing is invented for what nobody has to fill in"
    assert guessed({"html": ASKED}, {"a": "no"}, None)["a"] == "no", "what is known stays"
    for odd in (
        "",
        "<p>no fields</p>",
        "<select name=x>",
        "<input name>",
        "<crowd-form><crowd-input name=q></crowd-form>",
    ):
        assert guessed({"html": odd}, None, Random(1)) == {}


def labelled(html: str, *answers: dict[str, str], judged: tuple[str, ...] = ()) -> Any:
    task = MTURK.configured(LayoutOptions(html=html, judged=judged))
    return task.combining.combine([Judgment(f"w{number}", each, 1.0) for number, each in enumerate(answers)])


def test_hidden_fields_alone_are_no_answer_unless_a_layout_has_no_others() -> None:
    said = [Judgment("a", {"started": "9:00"}, 1.0), Judgment("b", {"started": "9:00"}, 1.0)]
    hidden = "<input type=hidden name=started>"
    asking, drawing = (
        MTURK.configured(LayoutOptions(html=html)) for html in (f"<input type=radio name=red value=y>{hidden}", hidden)
    )
    assert asking.combining.combine is not None and drawing.combining.combine is not None
    assert asking.combining.combine(said) is None
    assert drawing.combining.combine(said) == Combined({"started": "9:00"}, 1.0)


def test_nothing_filled_in_is_a_label_only_where_boxes_can_stay_unticked() -> None:
    radio = "<form><input type=radio name=a value=1><input name=b></form>"
    flat = "<crowd-form answer-format='flatten-objects'>"
    assert labelled(radio, {}, {}, {}) is None
    assert labelled("<crowd-form><crowd-input name=a></crowd-form>", {}, {}, {}) is None
    assert labelled(f"{flat}<crowd-input name=a></crowd-form>", {}, {}) is None
    assert labelled(radio, {"b": "text"}, {}, {}) == ({}, pytest.approx(2 / 3)), "some people left a field empty"
    assert labelled(radio, {"b": "text"}, {"b": "text"}, judged=("a",)) == ({}, 1.0), "they answered another field"
    for several in (
        "<input type='checkbox' name=a>",
        "<form><select name=a multiple></select></form>",
        f"{flat}<crowd-classifier-multi-select name=a></crowd-form>",
        "<p>${form}</p>",
    ):
        assert labelled(several, {}, {}) == ({}, 1.0), several


@pytest.mark.parametrize("threshold", ["0.7", "0"])
def test_simulations_warn_of_elements_that_stay_empty(tmp_path: Path, threshold: str) -> None:
    layout = "<crowd-form><p>${word}</p><crowd-input name=q></crowd-input></crowd-form>"
    assert run(*write_batch(tmp_path, layout, "word\nwren\nowl\n")).exit_code == 0
    settings = (tmp_path / "study" / "study.toml").read_text("utf-8")
    changed = settings.replace("release_confidence = 0.7 ", f"release_confidence = {threshold} ")
    (tmp_path / "study" / "study.toml").write_text(changed, "utf-8")
    assert (changed != settings) == (threshold == "0")
    study, warning = (
        str(tmp_path / "study"),
        "Simulated people leave these elements of stage batch empty: <crowd-input>.",
    )
    assert warning in " ".join(run("check", study).output.split())
    assert warning in " ".join(json.loads(run("check", study, "--json").stdout)["notes"])
    simulated = run("simulate", study, "--workers", "4")
    assert simulated.exit_code == 0, simulated.output
    assert f"Warning: {warning}" in " ".join(simulated.output.split())
    [stage] = json.loads(run("status", f"{study}-simulated", "--json").stdout)["stages"]
    assert (stage["complete"], stage["released"]) == (2, 0), "without a label, nothing is accepted at any threshold"
    assert run("verify", f"{study}-simulated").exit_code == 0
    report = run("report", f"{study}-simulated", "--format", "markdown", "--out", str(tmp_path / "report.md"))
    assert report.exit_code == 0, report.output
    written = " ".join((tmp_path / "report.md").read_text("utf-8").replace("\\", "").split())
    assert warning.partition("<")[0] in written
    plain = tmp_path / "plain"
    plain.mkdir()
    assert run(*write_batch(plain)).exit_code == 0
    assert "Simulated people leave" not in run("check", str(plain / "study")).output
