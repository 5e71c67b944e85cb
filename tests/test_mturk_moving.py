"""Moving from Mechanical Turk: what scripts ask for by old ids, and what cannot be checked here."""

import csv
import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError
from click.testing import CliRunner

from chorale.cli import app
from serving import PATIENCE_SECONDS
from turk import HTML_QUESTION, PROPERTIES, Market, open_market

OLD_TYPE = "3AWO4KN9YO3JRSN25G0KTXS4AQW9I7"
LOCALE, MASTERS, APPROVED = "00000000000000000071", "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "000000000000000000L0"


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    with open_market(tmp_path_factory.mktemp("market") / "study") as opened:
        yield opened


def refusal(call: Any, **given: Any) -> tuple[str, str]:
    """The code and the message with which a call is refused."""
    with pytest.raises(ClientError) as caught:
        call(**given)
    answer = caught.value.response
    return str(answer.get("TurkErrorCode")), str(answer["Error"]["Message"])


def chorale(*arguments: str) -> Any:
    done = CliRunner().invoke(app, [*arguments, "--json"])
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def folder_of(market: Market) -> str:
    return str(market.site.database.parent)


def requires(name: str, comparator: str = "Exists", **more: Any) -> dict[str, Any]:
    return {"QualificationRequirements": [{"QualificationTypeId": name, "Comparator": comparator, **more}]}


def dump(market: Market) -> str:
    """Everything in the database."""
    with closing(sqlite3.connect(market.site.database)) as connection:
        return "\n".join(connection.iterdump())


def warning_in(reply: Any) -> str:
    return str(reply["ResponseMetadata"]["HTTPHeaders"].get("x-chorale-warning", ""))


def test_a_hit_that_nobody_could_do_is_refused_until_its_qualification_is_mapped(market: Market) -> None:
    for comparator in ("Exists", "DoesNotExist"):
        code, message = refusal(market.hit, **requires(OLD_TYPE, comparator))
        assert code == "AWS.MechanicalTurk.QualificationTypeDoesNotExist"
        assert f"chorale mturk map-qualification DIR {OLD_TYPE} NAME" in message
    code, _ = refusal(market.client.create_hit_type, **PROPERTIES, **requires(OLD_TYPE))
    assert code.endswith("QualificationTypeDoesNotExist")
    chorale("mturk", "map-qualification", folder_of(market), OLD_TYPE, "Passed our test")
    hit = market.hit(**requires(OLD_TYPE), Title="For those who passed")["HITId"]
    ada = market.worker("mapped-ada")
    assert ada.http.post(f"/hits/{hit}/accept").status_code == 403
    market.client.associate_qualification_with_worker(QualificationTypeId=OLD_TYPE, WorkerId=ada.id)
    ada.do(hit)
    again = CliRunner().invoke(app, ["mturk", "map-qualification", folder_of(market), OLD_TYPE, "Another"])
    assert again.exit_code == 2 and "is already the ID of the qualification type 'Passed our test'" in again.stderr


def test_a_requirement_without_a_value_is_refused(market: Market) -> None:
    code, message = refusal(market.hit, **requires(APPROVED, "GreaterThan"))
    assert code.endswith("InvalidParameterValue") and "has the comparator GreaterThan but no value" in message


def test_a_page_that_nobody_can_submit_is_warned_about(market: Market) -> None:
    start, _, rest = HTML_QUESTION.partition("<![CDATA[")
    for page, warned in (
        ("<input name=w>", True),
        ("<form><input name=w></form>", False),
        ("<script></script>", False),
    ):
        question = f"{start}<![CDATA[{page}]]>{rest.partition(']]>')[2]}"
        given = {**PROPERTIES, "LifetimeInSeconds": 60, "Question": question}
        assert ("nobody can submit it" in warning_in(market.client.create_hit(**given))) == warned, page


def test_deleting_a_qualification_ends_the_hits_that_ask_for_it(market: Market) -> None:
    made = {"Name": "Short lived", "Description": "x", "QualificationTypeStatus": "Active"}
    name = market.client.create_qualification_type(**made)["QualificationType"]["QualificationTypeId"]
    hit = market.hit(**requires(name), Title="Ends with its qualification")
    reply = market.client.delete_qualification_type(QualificationTypeId=name)
    assert "1 open HIT required this qualification" in warning_in(reply)
    assert market.client.get_hit(HITId=hit["HITId"])["HIT"]["HITStatus"] == "Reviewable"
    given = {"HITTypeId": hit["HITTypeId"], "LifetimeInSeconds": 60, "Question": hit["Question"]}
    assert refusal(market.client.create_hit_with_hit_type, **given)[0].endswith("QualificationTypeDoesNotExist")


def test_requirements_that_cannot_be_checked_are_warned_about(market: Market) -> None:
    asked = [
        {"QualificationTypeId": LOCALE, "Comparator": "EqualTo", "LocaleValues": [{"Country": "US"}]},
        {"QualificationTypeId": MASTERS, "Comparator": "Exists"},
        {"QualificationTypeId": APPROVED, "Comparator": "GreaterThan", "IntegerValues": [95]},
    ]
    reply = market.client.create_hit_type(**{**PROPERTIES, "Title": "Warned"}, QualificationRequirements=asked)
    for what in ("locale", "Masters", "approval rate"):
        assert f"The {what} requirement is not checked" in warning_in(reply)
    made = {"HITTypeId": reply["HITTypeId"], "LifetimeInSeconds": 60, "Question": market.hit()["Question"]}
    assert "locale" in warning_in(market.client.create_hit_with_hit_type(**made))
    assert "The Masters requirement is not checked" in market.site.server.log.read_text()
    assert warning_in(market.client.create_hit_type(**PROPERTIES)) == ""


def test_codes_of_countries_and_regions_are_checked(market: Market) -> None:
    def asking(**locale: str) -> dict[str, Any]:
        return requires(LOCALE, "In", LocaleValues=[locale])

    shown = market.hit(**asking(Country="AU", Subdivision="NSW"))["QualificationRequirements"]
    assert shown[0]["LocaleValues"] == [{"Country": "AU", "Subdivision": "NSW"}]
    for wrong in ({"Country": "USA"}, {"Country": "us"}, {"Country": "US", "Subdivision": "US-CA"}):
        code, message = refusal(market.hit, **asking(**wrong))
        assert code.endswith("InvalidParameterValue") and "ISO 3166" in message, wrong


def test_addresses_that_scripts_print_lead_to_the_next_hit(market: Market) -> None:
    hit = market.hit(Title="By its group", MaxAssignments=1)
    ada, ben = market.worker("group-ada"), market.worker("group-ben")
    for path in (
        f"/mturk/preview?groupId={hit['HITGroupId']}",
        f"/mturk/preview?groupId={hit['HITTypeId']}",
        f"/projects/{hit['HITGroupId']}/tasks",
    ):
        assert ada.http.get(path).url.path == f"/hits/{hit['HITId']}"
    ada.do(hit["HITId"])
    assert ben.http.get(f"/mturk/preview?groupId={hit['HITGroupId']}").url.path == "/hits"
    assert ben.http.get("/mturk/preview?groupId=3NOBODY").url.path == "/hits"
    assert ben.http.get("/mturk/preview?groupId=no+id").status_code == 422
    stranger = httpx.get(f"{market.site.url}/mturk/preview?groupId={hit['HITGroupId']}", timeout=PATIENCE_SECONDS)
    assert stranger.status_code == 401


def test_a_rejection_that_is_overridden_corrects_its_message(market: Market) -> None:
    ada = market.worker("wronged-ada")
    hit = market.hit(Title="Judged too fast")["HITId"]
    assignment = ada.do(hit)
    market.client.reject_assignment(AssignmentId=assignment, RequesterFeedback="Nonsense!")
    assert "Nonsense!" in ada.http.get("/").text
    market.client.approve_assignment(AssignmentId=assignment, OverrideRejection=True)
    home = ada.http.get("/").text
    assert "Your work is accepted after all" in home
    assert "Nonsense!" not in home + ada.http.get(f"/hits/{hit}").text
    assert "RequesterFeedback" not in market.client.get_assignment(AssignmentId=assignment)["Assignment"]


def write_list(path: Path, *rows: dict[str, str]) -> str:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def listed(old_id: str, person: str, *, block: str = "", score: str = "", update: str = "") -> dict[str, str]:
    return {
        "Worker ID": old_id,
        "CURRENT BlockStatus": block,
        "CURRENT-Good Tagger": score,
        "UPDATE-Good Tagger": update,
        "person": person,
    }


def test_old_worker_ids_stand_for_people_who_are_here_or_will_be(market: Market, tmp_path: Path) -> None:
    ada = market.worker("moved-ada")
    file = write_list(
        tmp_path / "workers.csv",
        listed("A1OLDADA", ada.pseudonym, score="80", update="95"),
        listed("A1OLDBEN", "panel-ben-1", block="Blocked", score="70"),
        listed("A1OLDCLEO", "panel-cleo-1", score="60", update="Revoke"),
        listed("A1OLDDAN", "", score="90"),
    )
    folder = folder_of(market)
    done = chorale("mturk", "map-workers", folder, file)
    assert done == {"workers": 3, "blocked": 1, "granted": 2, "types": ["Good Tagger"], "without_person": 1}
    assert chorale("mturk", "map-workers", folder, file) == {**done, "blocked": 0, "granted": 0, "types": []}
    client = market.client
    [kind] = client.list_qualification_types(Query="Good Tagger", MustBeRequestable=False)["QualificationTypes"]
    score = {"QualificationTypeId": kind["QualificationTypeId"]}
    assert client.get_qualification_score(WorkerId="A1OLDADA", **score)["Qualification"]["WorkerId"] == ada.id
    assert refusal(client.get_qualification_score, WorkerId="A1OLDCLEO", **score)[0].endswith("DoesNotExist")
    ben = market.worker("ben", market.site.panel_link("panel-ben-1"))
    hit = market.hit(Title="Not for the blocked")["HITId"]
    assert ben.http.post(f"/hits/{hit}/accept").status_code == 403
    assert client.list_worker_blocks()["WorkerBlocks"] == [{"WorkerId": ben.id, "Reason": "blocked on Mechanical Turk"}]
    client.delete_worker_block(WorkerId="A1OLDBEN")
    ben.do(hit)
    assert (
        client.notify_workers(Subject="Hi", MessageText="x", WorkerIds=["A1OLDCLEO"])["NotifyWorkersFailureStatuses"]
        == []
    )
    assert refusal(client.create_worker_block, WorkerId="A1OLDDAN", Reason="x")[0].endswith("WorkerDoesNotExist")


def test_lists_of_workers_that_cannot_be_used_change_nothing(market: Market, tmp_path: Path) -> None:
    folder = folder_of(market)
    before = market.site.query("SELECT COUNT(*) FROM worker")
    for rows, message in (
        ([{"Worker ID": "A1"}], 'no column named "person"'),
        ([{"person": "x", "name": "y"}], 'no column named "Worker ID"'),
        (
            [listed("A1", "p-one"), listed("A1", "p-two")],
            "names a different person than an earlier row for the same worker",
        ),
        ([listed("A1", "p-one", score="good")], "has a score that is not a number"),
        ([listed("a1", "p-one")], "is not a worker ID"),
        ([listed("A1", "p-one"), listed("A2", "not anybody")], "'not anybody' is neither a participant ID"),
    ):
        run = CliRunner().invoke(app, ["mturk", "map-workers", folder, write_list(tmp_path / "wrong.csv", *rows)])
        assert run.exit_code == 2 and message in run.stderr, run.stderr
    missing = CliRunner().invoke(app, ["mturk", "map-workers", folder, str(tmp_path / "none.csv")])
    assert missing.exit_code == 2 and "none.csv does not exist" in missing.stderr
    assert market.site.query("SELECT COUNT(*) FROM worker") == before


@pytest.mark.parametrize("answers", ["keep", "remove"])
def test_who_is_forgotten_has_no_old_id_and_nothing_written_about_them(
    market: Market, tmp_path: Path, answers: str
) -> None:
    ada, client, name = market.worker(f"forgotten-{answers}"), market.client, f"A1{answers.upper()}FORGOTTEN"
    chorale("mturk", "map-workers", folder_of(market), write_list(tmp_path / "w.csv", listed(name, ada.pseudonym)))
    said = f"Ada of {answers} was careless"
    for overridden in (False, True):
        assignment = ada.do(market.hit()["HITId"], colour="blue")
        client.reject_assignment(AssignmentId=assignment, RequesterFeedback=said)
        if overridden:
            client.approve_assignment(AssignmentId=assignment, RequesterFeedback=said, OverrideRejection=True)
    client.send_bonus(WorkerId=ada.id, AssignmentId=assignment, BonusAmount="0.50", Reason=said)
    client.create_worker_block(WorkerId=ada.id, Reason=said)
    client.delete_worker_block(WorkerId=ada.id, Reason=said)
    client.create_worker_block(WorkerId=ada.id, Reason=said)
    erasing = ["forget", folder_of(market), ada.pseudonym, "--yes", "--answers", answers, "--even-unpaid"]
    assert said in dump(market) and name in dump(market)
    assert CliRunner().invoke(app, erasing).exit_code == 0
    assert said not in dump(market) and name not in dump(market)
    assert CliRunner().invoke(app, ["verify", folder_of(market)]).exit_code == 0


def test_old_ids_that_an_earlier_version_kept_are_erased(tmp_path: Path) -> None:
    with open_market(tmp_path / "study") as market:
        ada, bo = market.worker("ada"), market.worker("bo")
        rows = [listed("A1ADA", ada.pseudonym), listed("A1BO", bo.pseudonym)]
        chorale("mturk", "map-workers", folder_of(market), write_list(tmp_path / "workers.csv", *rows))
        erasing = ["forget", folder_of(market), ada.pseudonym, "--yes", "--answers", "keep"]
        assert CliRunner().invoke(app, erasing).exit_code == 0
    with closing(sqlite3.connect(market.site.database)) as connection, connection:
        connection.execute("INSERT INTO mturk_old_worker SELECT 'A1ADA', worker_id FROM erasure")
        connection.execute("UPDATE setting SET value = '2' WHERE key = 'tables of mturk'")
    assert CliRunner().invoke(app, ["status", folder_of(market)]).exit_code == 0
    assert "A1ADA" not in dump(market) and "A1BO" in dump(market)


def test_databases_from_before_get_the_table_of_old_workers(tmp_path: Path) -> None:
    with open_market(tmp_path / "study") as market:
        database = market.site.database
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("DROP TABLE mturk_old_worker")
        connection.execute("DROP INDEX ix_mturk_assignment_submitted")
        connection.execute("ALTER TABLE mturk_assignment DROP COLUMN worked_ms")
        connection.execute("UPDATE setting SET value = '0' WHERE key = 'tables of mturk'")
    file = write_list(tmp_path / "workers.csv", listed("A1OLD", "panel-one"))
    assert chorale("mturk", "map-workers", str(tmp_path / "study"), file)["workers"] == 1


OLD_SCRIPT = """
import json, sys, boto3
session = boto3.Session(profile_name="an-account-that-is-gone", region_name="eu-west-3")
client = session.client(
    "mturk",
    endpoint_url="https://mturk-requester-sandbox.us-east-1.amazonaws.com",
    aws_access_key_id="AKIAOLD",
    aws_secret_access_key="gone",
)
asked = [{"QualificationTypeId": "00000000000000000071", "Comparator": "EqualTo", "LocaleValues": [{"Country": "US"}]}]
hit = client.create_hit(QualificationRequirements=asked, **json.loads(sys.argv[sys.argv.index("--hit") + 1]))["HIT"]
other = boto3.client("s3", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="y")
seen = [hit["HITId"], other.meta.endpoint_url, client.get_account_balance()["AvailableBalance"]]
open(sys.argv[1], "w").write(json.dumps(seen))
sys.exit(3)
"""


def test_a_script_with_an_endpoint_of_its_own_runs_unchanged(
    market: Market, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "old.py").write_text(OLD_SCRIPT)
    (tmp_path / "sitecustomize.py").write_text("import os\nos.environ['SHADOWED'] = 'loaded'\n")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    given = json.dumps({**PROPERTIES, "LifetimeInSeconds": 600, "Question": HTML_QUESTION, "Title": "By a script"})
    out = tmp_path / "out.json"
    command = ["mturk", "run", "--endpoint", market.site.url, folder_of(market)]
    ran = CliRunner().invoke(app, [*command, str(tmp_path / "old.py"), str(out), "--hit", given])
    assert ran.exit_code == 3, ran.stderr
    assert "chorale: The locale requirement is not checked" in capfd.readouterr().err
    hit, elsewhere, balance = json.loads(out.read_text())
    assert market.client.get_hit(HITId=hit)["HIT"]["Title"] == "By a script"
    assert (elsewhere, balance) == ("https://s3.amazonaws.com", "10000.00")
    # What was on the path before is loaded as before, and other commands get the environment, too.
    assert CliRunner().invoke(app, [*command, "sh", "-c", 'test -n "$AWS_ENDPOINT_URL_MTURK"']).exit_code == 0
    (tmp_path / "see.py").write_text("import os\nassert os.environ['SHADOWED'] == 'loaded'\n")
    assert CliRunner().invoke(app, [*command, str(tmp_path / "see.py")]).exit_code == 0
    (tmp_path / "boto").mkdir()
    (tmp_path / "boto" / "__init__.py").write_text("")
    (tmp_path / "older.py").write_text("import boto.mturk.connection\n")
    assert CliRunner().invoke(app, [*command, str(tmp_path / "older.py")]).exit_code == 1
    assert "Change the script to boto3" in capfd.readouterr().err
    # One key for all runs.
    assert len([one for one in chorale("keys", folder_of(market))["keys"] if one["name"] == "chorale mturk run"]) == 1


def test_runs_that_cannot_begin_say_why(market: Market, tmp_path: Path) -> None:
    folder = folder_of(market)
    for arguments, message in (
        (["--endpoint", "http://127.0.0.1:9", folder, "x.py"], "No site responds at http://127.0.0.1:9"),
        (["--endpoint", market.site.url, folder, "no-such-program"], "Command not found: 'no-such-program'"),
        ([folder], "Give either a script to run or --env"),
    ):
        run = CliRunner().invoke(app, ["mturk", "run", *arguments])
        assert run.exit_code == 2 and message in run.stderr
    shown = CliRunner().invoke(app, ["mturk", "run", "--env", "--endpoint", "https://study.example.org", folder]).stdout
    assert "export CHORALE_ENDPOINT=https://study.example.org\n" in shown
    assert "export PYTHONPATH=" in shown and "shim" in shown
    behind = ["mturk", "run", folder, "--endpoint", "https://study.example.org", "--env"]
    assert CliRunner().invoke(app, behind).stdout == shown


def test_a_study_for_scripts_has_no_items_and_opens(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    assert chorale("new", str(folder), "--template", "mturk", "--scripts-only")["template"] == "mturk"
    checked = CliRunner().invoke(app, ["check", str(folder)])
    assert checked.exit_code == 0 and "pay.minimum_hourly" not in checked.output
    assert "Not included: rewards of tasks that scripts create, and the cost of replacing" in " ".join(
        checked.output.split()
    )
    assert "Known answers" not in (folder / "consent.md").read_text("utf-8"), "HITs have no gold"
    assert "[purpose of the study]" in " ".join(checked.output.split())
    assert "guidelines.md has placeholders" not in " ".join(checked.output.split()), "not shown with HITs"
    with open_market(folder) as market:
        hit = market.hit()["HITId"]
        market.client.approve_assignment(AssignmentId=market.worker("only-ada").do(hit))
        assert "layout" in chorale("keys", str(folder)) and chorale("keys", str(folder))["layout"] == ""
        asked = {**PROPERTIES, "LifetimeInSeconds": 60, "HITLayoutId": "3LAYOUT"}
        assert refusal(market.client.create_hit, **asked)[0].endswith("HITLayoutDoesNotExist")
    (folder / "batch.jsonl").write_text('{"id": "1", "input": {"a": "b"}}\n')
    refused = CliRunner().invoke(app, ["check", str(folder)])
    assert refused.exit_code != 0 and "the stage has no layout" in " ".join((refused.stdout + refused.stderr).split())
    for more, message in ((["--html", "x"], "--scripts-only makes"), (["--template", "form"], "does not support")):
        run = CliRunner().invoke(app, ["new", str(tmp_path / "no"), "--template", "mturk", "--scripts-only", *more])
        assert run.exit_code == 2 and message in run.stderr
