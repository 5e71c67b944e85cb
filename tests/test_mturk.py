"""Mechanical Turk's interface through the real boto3 client against a running site."""

import json
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import boto3
import httpx
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from click.testing import CliRunner

from chorale.audit.verify import verify
from chorale.cli import app
from chorale.engine.started import started_study
from chorale.folder.templates import create_study
from chorale.kits.mturk.api.answers import fields_in
from chorale.kits.mturk.api.requests import OPERATIONS
from chorale.kits.mturk.market.working import MOST_HELD
from serving import PATIENCE_SECONDS
from turk import ANSWER_KEY, FORM, HTML_QUESTION, PROPERTIES, Market, open_market, policy, write_market

EXTERNAL = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
    'ExternalQuestion.xsd"><ExternalURL>{}</ExternalURL><FrameHeight>400</FrameHeight></ExternalQuestion>'
)


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    with open_market(tmp_path_factory.mktemp("market") / "study", pay="fee_percent = 10") as opened:
        yield opened


def refused(call: Any, **given: Any) -> str:
    """The code with which a call is refused, as scripts see it."""
    with pytest.raises(ClientError) as caught:
        call(**given)
    answer: dict[str, Any] = caught.value.response
    code = answer["Error"]["Code"]
    return str(answer["TurkErrorCode"]) if code in ("RequestError", "ServiceFault") else str(code)


def test_a_worker_holds_so_many_hits_at_once(tmp_path: Path) -> None:
    with open_market(tmp_path / "study") as market:
        worker = market.worker("collector")
        hits = [market.hit(MaxAssignments=1)["HITId"] for _ in range(MOST_HELD + 1)]
        for hit in hits[:MOST_HELD]:
            assert worker.accept(hit)
        page = worker.http.post(f"/hits/{hits[-1]}/accept")
        assert f"You already have {MOST_HELD} tasks. Submit or return one" in page.text


AWAY_TWICE = """
from chorale.kits.mturk.web import endpoint
from chorale.model.problems import UnavailableError
secret, left = endpoint._secret, [2]

def away_twice(tx, study, key):
    if left[0]:
        left[0] -= 1
        raise UnavailableError("away")
    return secret(tx, study, key)

endpoint._secret = away_twice
"""


def test_scripts_try_again_while_the_database_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hook.py").write_text(AWAY_TWICE)
    monkeypatch.setenv("CHORALE_TEST_HOOK", str(tmp_path / "hook.py"))
    with open_market(tmp_path / "study") as market:
        with pytest.raises(ClientError) as caught:
            market.client.get_account_balance()
        assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 503
        assert caught.value.response["Error"]["Code"] == "ServiceUnavailable"
        assert caught.value.response["ResponseMetadata"]["HTTPHeaders"]["retry-after"] == "5"
        patient = boto3.client(
            "mturk",
            endpoint_url=market.site.url,
            region_name="us-east-1",
            aws_access_key_id=market.key.access_key,
            aws_secret_access_key=market.key.secret,
        )
        reply = patient.get_account_balance()
        assert reply["ResponseMetadata"]["RetryAttempts"] == 1
        patient.close()


def test_every_operation_of_the_service_is_there() -> None:
    model = boto3.client("mturk", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="y").meta
    shapes = model.service_model
    assert set(OPERATIONS) == set(shapes.operation_names)
    for name, parameters in OPERATIONS.items():
        wanted = shapes.operation_model(name).input_shape
        assert set(parameters) == set(wanted.members), name
        assert {one for one, parameter in parameters.items() if parameter.required} == set(wanted.required_members), (
            name
        )


def test_a_script_creates_polls_approves_and_pays_a_bonus(market: Market) -> None:
    client = market.client
    kind = client.create_hit_type(**PROPERTIES)["HITTypeId"]
    assert client.create_hit_type(**PROPERTIES)["HITTypeId"] == kind
    made = client.create_hit_with_hit_type(
        HITTypeId=kind,
        MaxAssignments=2,
        LifetimeInSeconds=3600,
        Question=HTML_QUESTION,
        RequesterAnnotation="batch 7",
        UniqueRequestToken="once",
    )["HIT"]
    assert (made["HITStatus"], made["NumberOfAssignmentsAvailable"], made["Reward"]) == ("Assignable", 2, "0.25")
    again = {"HITTypeId": kind, "LifetimeInSeconds": 60, "Question": HTML_QUESTION, "UniqueRequestToken": "once"}
    assert refused(client.create_hit_with_hit_type, **again) == "AWS.MechanicalTurk.HITAlreadyExists"
    hit = made["HITId"]
    # Ada comes from the platform, which charges a fee; Ben by a link.
    ada, ben = market.worker("script-ada", market.site.panel_link("script-ada")), market.worker("script-ben")
    first = ada.do(hit, colour="blue <& green>", sure=["very", "always"])
    second = ben.accept(hit)
    assert client.get_hit(HITId=hit)["HIT"]["HITStatus"] == "Unassignable"
    assert refused(client.get_assignment, AssignmentId=second) == "AWS.MechanicalTurk.AssignmentDoesNotExist"
    ben.submit(second, colour="grey")
    assert ben.submit(second, colour="another one").status_code == 200  # and nothing changes
    [reviewable] = client.list_reviewable_hits(HITTypeId=kind)["HITs"]
    assert reviewable["HITId"] == hit
    pages = client.get_paginator("list_assignments_for_hit").paginate(HITId=hit, PaginationConfig={"PageSize": 1})
    found = [one for page in pages for one in page["Assignments"]]
    assert [(one["WorkerId"], one["AssignmentStatus"]) for one in found] == [
        (ada.id, "Submitted"),
        (ben.id, "Submitted"),
    ]
    assert "<FreeText>blue &lt;&amp; green&gt;</FreeText>" in found[0]["Answer"]
    assert "<FreeText>very|always</FreeText>" in found[0]["Answer"]
    assert "<FreeText>grey</FreeText>" in found[1]["Answer"]
    assert found[0]["AutoApprovalTime"] - found[0]["SubmitTime"] == timedelta(hours=1)
    client.approve_assignment(AssignmentId=first, RequesterFeedback="Nice")
    assert refused(client.approve_assignment, AssignmentId=first) == "AWS.MechanicalTurk.InvalidAssignmentState"
    bonus = {"WorkerId": ada.id, "AssignmentId": first, "BonusAmount": "1.50", "Reason": "Well done"}
    client.send_bonus(**bonus, UniqueRequestToken="bonus-1")
    assert refused(client.send_bonus, **bonus, UniqueRequestToken="bonus-1") == "AWS.MechanicalTurk.DuplicateRequest"
    [paid] = client.list_bonus_payments(AssignmentId=first)["BonusPayments"]
    assert (paid["BonusAmount"], paid["WorkerId"], paid["Reason"]) == ("1.50", ada.id, "Well done")
    client.reject_assignment(AssignmentId=second, RequesterFeedback="The sea is blue")
    assert refused(client.reject_assignment, AssignmentId=second, RequesterFeedback="x").endswith(
        "InvalidAssignmentState"
    )
    assert "The sea is blue" in ben.http.get("/").text
    client.approve_assignment(AssignmentId=second, OverrideRejection=True)
    got = client.get_assignment(AssignmentId=second)
    assert got["Assignment"]["AssignmentStatus"] == "Approved"
    assert got["HIT"]["NumberOfAssignmentsCompleted"] == 2
    client.update_hit_review_status(HITId=hit)
    assert client.list_reviewable_hits(HITTypeId=kind, Status="Reviewing")["HITs"][0]["HITId"] == hit
    client.update_hit_review_status(HITId=hit, Revert=True)
    client.delete_hit(HITId=hit)
    assert refused(client.delete_hit, HITId=hit) == "AWS.MechanicalTurk.InvalidHITState"
    assert hit not in [one["HITId"] for one in client.list_hits()["HITs"]]
    ledger = market.site.query(
        "SELECT pseudonym, kind, amount FROM entry JOIN worker ON worker.id = worker_id WHERE cause LIKE 'mturk:%' "
        "AND pseudonym IN (?, ?) ORDER BY entry.id",
        ada.pseudonym,
        ben.pseudonym,
    )
    # Fees add up over what somebody earned: 10% of 25 cents, then of 175.
    assert [row for row in ledger if row[0] == ada.pseudonym] == [
        (ada.pseudonym, "base", 25),
        (ada.pseudonym, "fee", ledger[1][2]),
        (ada.pseudonym, "bonus", 150),
        (ada.pseudonym, "fee", ledger[3][2]),
    ]
    assert sum(row[2] for row in ledger if row[:2] == (ben.pseudonym, "base")) == 25


def test_hits_expire_are_extended_and_get_more_places(market: Market) -> None:
    client = market.client
    hit = market.hit(MaxAssignments=1, Title="Short lived")["HITId"]
    worker = market.worker("extra")
    assert refused(client.delete_hit, HITId=hit) == "AWS.MechanicalTurk.InvalidHITState"
    client.update_expiration_for_hit(HITId=hit, ExpireAt=datetime(2020, 1, 1, tzinfo=UTC))
    assert client.get_hit(HITId=hit)["HIT"]["HITStatus"] == "Reviewable"
    assert worker.http.post(f"/hits/{hit}/accept").status_code == 409
    client.update_expiration_for_hit(HITId=hit, ExpireAt=datetime.now(UTC) + timedelta(hours=2))
    worker.do(hit)
    more = {"HITId": hit, "NumberOfAdditionalAssignments": 3, "UniqueRequestToken": "more"}
    client.create_additional_assignments_for_hit(**more)
    assert refused(client.create_additional_assignments_for_hit, **more).endswith("DuplicateRequest")
    got = client.get_hit(HITId=hit)["HIT"]
    assert (got["MaxAssignments"], got["NumberOfAssignmentsAvailable"]) == (4, 3)
    other = client.create_hit_type(**{**PROPERTIES, "Title": "Another name", "Reward": "0.5"})["HITTypeId"]
    client.update_hit_type_of_hit(HITId=hit, HITTypeId=other)
    assert client.get_hit(HITId=hit)["HIT"]["Title"] == "Another name"
    pages = list(client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 1}))
    names = [one["HITId"] for page in pages for one in page["HITs"]]
    assert len(names) == len(set(names)) >= 1
    assert all(page["NumResults"] == 1 for page in pages[:-1])


def test_a_place_is_given_to_one_and_comes_back_when_it_is_returned(market: Market) -> None:
    hit = market.hit(MaxAssignments=1, Title="Only one")["HITId"]
    ada, ben = market.worker("place-ada"), market.worker("place-ben")
    assignment = ada.accept(hit)
    assert ada.accept(hit) == assignment
    assert ben.http.post(f"/hits/{hit}/accept").status_code == 409
    assert ben.http.post(f"/hits/assignments/{assignment}/return").status_code == 404
    ada.http.post(f"/hits/assignments/{assignment}/return")
    assert ada.submit(assignment, colour="late").status_code == 409
    ben.do(hit)
    assert [one["WorkerId"] for one in market.client.list_assignments_for_hit(HITId=hit)["Assignments"]] == [ben.id]


def test_a_revoked_expert_submits_no_hit_they_hold(market: Market) -> None:
    """Frames have no session, so nothing but the id of the assignment says who submits."""
    ada = market.worker("revoked-ada")
    hit = market.hit(Title="Held")["HITId"]
    assignment = ada.accept(hit)
    with closing(sqlite3.connect(market.site.database)) as connection, connection:
        connection.execute("UPDATE worker_identity SET panel = 'expert' WHERE external_id = 'revoked-ada'")
        connection.execute(
            "INSERT INTO requester (name, role, session_version, revoked_at) VALUES ('revoked-ada', 'expert', 1, 1)"
        )
    refused = ada.submit(assignment, colour="late")
    assert refused.status_code == 403 and "was revoked" in refused.text
    assert market.client.list_assignments_for_hit(HITId=hit)["Assignments"] == []


def test_qualifications_with_a_test_decide_who_may_work(market: Market) -> None:
    client = market.client
    kind = client.create_qualification_type(
        Name="Sums",
        Description="Can add",
        Keywords="numbers",
        QualificationTypeStatus="Active",
        Test=FORM,
        AnswerKey=ANSWER_KEY,
        TestDurationInSeconds=600,
    )["QualificationType"]
    name = kind["QualificationTypeId"]
    taken = {"Name": "Sums", "Description": "x", "QualificationTypeStatus": "Active"}
    assert refused(client.create_qualification_type, **taken).endswith("QualificationTypeAlreadyExists")
    asked = [{"QualificationTypeId": name, "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [80]}]
    hit = market.hit(QualificationRequirements=asked, Title="For those who can add")["HITId"]
    assert client.list_hits_for_qualification_type(QualificationTypeId=name)["HITs"][0]["HITId"] == hit
    ada = market.worker("sum-ada")
    assert ada.http.post(f"/hits/{hit}/accept").status_code == 403
    assert f"/hits/qualifications/{name}" in ada.http.get("/hits").text
    page = ada.http.post(f"/hits/qualifications/{name}").text
    found = re.search(r"assignmentId=([A-Z0-9]+)", page)
    assert found is not None
    assert ada.submit(found[1], sum="six").status_code == 422
    assert ada.submit(found[1], sum="four", why="Because").status_code == 200
    held = client.get_qualification_score(QualificationTypeId=name, WorkerId=ada.id)["Qualification"]
    assert (held["IntegerValue"], held["Status"]) == (100, "Granted")
    ada.do(hit)
    client.disassociate_qualification_from_worker(WorkerId=ada.id, QualificationTypeId=name, Reason="Too good")
    again = {"WorkerId": ada.id, "QualificationTypeId": name}
    assert refused(client.disassociate_qualification_from_worker, **again).endswith("InvalidQualificationState")
    listed = client.list_workers_with_qualification_type(QualificationTypeId=name, Status="Revoked")["Qualifications"]
    assert [one["WorkerId"] for one in listed] == [ada.id]
    client.update_qualification_type(QualificationTypeId=name, Description="Can add well", RetryDelayInSeconds=0)
    assert client.get_qualification_type(QualificationTypeId=name)["QualificationType"]["Description"] == "Can add well"
    found_types = client.list_qualification_types(Query="sums", MustBeRequestable=True)["QualificationTypes"]
    assert [one["QualificationTypeId"] for one in found_types] == [name]
    client.delete_qualification_type(QualificationTypeId=name)
    assert refused(client.get_qualification_type, QualificationTypeId=name).endswith("QualificationTypeDoesNotExist")


def test_qualifications_are_asked_for_granted_and_refused_by_hand(market: Market) -> None:
    client = market.client
    make = {"Description": "By hand", "QualificationTypeStatus": "Active"}
    name = client.create_qualification_type(Name="By hand", **make)["QualificationType"]["QualificationTypeId"]
    auto = client.create_qualification_type(Name="At once", AutoGranted=True, AutoGrantedValue=5, **make)
    ada, ben = market.worker("hand-ada"), market.worker("hand-ben")
    for worker in (ada, ben):
        worker.http.post(f"/hits/qualifications/{name}")
    requests = client.list_qualification_requests(QualificationTypeId=name)["QualificationRequests"]
    assert [one["WorkerId"] for one in requests] == [ada.id, ben.id]
    client.accept_qualification_request(QualificationRequestId=requests[0]["QualificationRequestId"], IntegerValue=7)
    client.reject_qualification_request(QualificationRequestId=requests[1]["QualificationRequestId"], Reason="Not yet")
    assert client.list_qualification_requests()["QualificationRequests"] == []
    assert (
        client.get_qualification_score(QualificationTypeId=name, WorkerId=ada.id)["Qualification"]["IntegerValue"] == 7
    )
    assert refused(client.get_qualification_score, QualificationTypeId=name, WorkerId=ben.id).endswith("DoesNotExist")
    at_once = auto["QualificationType"]["QualificationTypeId"]
    ada.http.post(f"/hits/qualifications/{at_once}")
    score = client.get_qualification_score(QualificationTypeId=at_once, WorkerId=ada.id)["Qualification"]
    assert score["IntegerValue"] == 5
    client.associate_qualification_with_worker(QualificationTypeId=name, WorkerId=ben.id, IntegerValue=3)
    assert "By hand" in ben.http.get("/").text


def test_workers_are_written_to_and_kept_out(market: Market) -> None:
    client = market.client
    ada = market.worker("kept-ada")
    said = client.notify_workers(Subject="Hello", MessageText="A **note**", WorkerIds=[ada.id, "A2NOBODY22"])
    assert [one["WorkerId"] for one in said["NotifyWorkersFailureStatuses"]] == ["A2NOBODY22"]
    assert "Hello" in ada.http.get("/").text
    hit = market.hit(Title="Not for everybody")["HITId"]
    client.create_worker_block(WorkerId=ada.id, Reason="Copied answers")
    assert client.list_worker_blocks()["WorkerBlocks"] == [{"WorkerId": ada.id, "Reason": "Copied answers"}]
    assert ada.http.post(f"/hits/{hit}/accept").status_code == 403
    client.delete_worker_block(WorkerId=ada.id)
    assert refused(client.delete_worker_block, WorkerId=ada.id).endswith("InvalidParameterValue")
    ada.accept(hit)


class _Queue(BaseHTTPRequestHandler):
    heard: list[dict[str, Any]]

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
        self.heard.append(json.loads(form["MessageBody"][0]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


def test_a_queue_hears_what_happens_to_hits(market: Market) -> None:
    client = market.client
    heard: list[dict[str, Any]] = []
    server = HTTPServer(("127.0.0.1", 0), type("Queue", (_Queue,), {"heard": heard}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        wanted = {
            "Destination": f"http://127.0.0.1:{server.server_port}/queue",
            "Transport": "SQS",
            "Version": "2006-05-05",
            "EventTypes": ["AssignmentSubmitted", "HITReviewable"],
        }
        hit = market.hit(Title="Told of", MaxAssignments=1)
        client.update_notification_settings(HITTypeId=hit["HITTypeId"], Notification=wanted, Active=True)
        client.send_test_event_notification(Notification=wanted, TestEventType="Ping")
        assignment = market.worker("told").do(hit["HITId"])
        deadline = datetime.now(UTC) + timedelta(seconds=PATIENCE_SECONDS)
        while len(heard) < 3 and datetime.now(UTC) < deadline:
            threading.Event().wait(0.1)
    finally:
        server.shutdown()
        server.server_close()
    told = {one["Events"][0]["EventType"]: one["Events"][0] for one in heard}
    assert set(told) == {"Ping", "AssignmentSubmitted", "HITReviewable"}
    assert told["AssignmentSubmitted"]["AssignmentId"] == assignment


def test_notifications_wait_in_queues_that_boto3_asks(market: Market) -> None:
    queue = market.client_with(market.key.access_key, market.key.secret, service="sqs")
    ours = queue.create_queue(QueueName="hits")["QueueUrl"]
    assert queue.get_queue_url(QueueName="hits")["QueueUrl"] == ours == f"{market.site.url}/mturk/queue/hits"
    queue.set_queue_attributes(QueueUrl=ours, Attributes={"Policy": "{}"})
    hit = market.hit(Title="Kept", MaxAssignments=1)
    told = {"Version": "2014-08-15", "EventTypes": ["AssignmentSubmitted", "AssignmentApproved"]}
    here = {**told, "Transport": "SQS", "Destination": ours}
    market.client.update_notification_settings(HITTypeId=hit["HITTypeId"], Notification=here, Active=True)
    assert "Messages" not in queue.receive_message(QueueUrl=ours)
    assignment = market.worker("kept").do(hit["HITId"])
    market.client.approve_assignment(AssignmentId=assignment)
    assert queue.get_queue_attributes(QueueUrl=ours)["Attributes"]["ApproximateNumberOfMessages"] == "2"
    [first] = queue.receive_message(QueueUrl=ours, WaitTimeSeconds=20)["Messages"]
    [event] = json.loads(first["Body"])["Events"]
    assert (event["EventType"], event["AssignmentId"]) == ("AssignmentSubmitted", assignment)
    # Not taken out, it comes again; until then, others do.
    [second] = queue.receive_message(QueueUrl=ours, VisibilityTimeout=0, MaxNumberOfMessages=10)["Messages"]
    [again] = queue.receive_message(QueueUrl=ours, MaxNumberOfMessages=10)["Messages"]
    assert second["MessageId"] == again["MessageId"] != first["MessageId"]
    queue.delete_message(QueueUrl=ours, ReceiptHandle=first["ReceiptHandle"])
    done = queue.delete_message_batch(QueueUrl=ours, Entries=[{"Id": "1", "ReceiptHandle": again["ReceiptHandle"]}])
    assert [one["Id"] for one in done["Successful"]] == ["1"]
    assert queue.get_queue_attributes(QueueUrl=ours)["Attributes"]["ApproximateNumberOfMessages"] == "0"
    # Scripts that never heard of it go on: what can't be sent from here waits under the name it was to go to.
    for transport, destination, name in (
        ("SQS", "https://sqs.us-east-1.amazonaws.com/1234/old", "old"),
        ("SNS", "arn:aws:sns:us-east-1:1234:topic", "topic"),
        ("Email", "me@example.org", "me-example-org"),
    ):
        wanted = {**told, "Transport": transport, "Destination": destination}
        market.client.send_test_event_notification(Notification=wanted, TestEventType="Ping")
        [ping] = queue.receive_message(QueueUrl=name)["Messages"]
        assert json.loads(ping["Body"])["Events"][0]["EventType"] == "Ping"
        queue.purge_queue(QueueUrl=name)
    with pytest.raises(ClientError, match="UnknownOperation"):
        queue.tag_queue(QueueUrl=ours, Tags={})
    with pytest.raises(ClientError, match="was not issued by this queue"):
        queue.delete_message(QueueUrl=ours, ReceiptHandle="x")
    # A signature for one service does not open the other.
    forged = market.client_with(market.key.access_key, "wrong", service="sqs")
    with pytest.raises(ClientError, match="InvalidSignature"):
        forged.receive_message(QueueUrl=ours)


def test_known_answers_decide_as_they_come_in(market: Market) -> None:
    acts = {"ApproveIfKnownAnswerScoreIsAtLeast": 100, "RejectIfKnownAnswerScoreIsLessThan": 50}
    known = policy("ScoreMyKnownAnswers", AnswerKey={"sea": ["blue", "green"], "sky": ["blue"]}, **acts)
    hit = market.hit(Title="Known", MaxAssignments=3, AssignmentReviewPolicy=known)["HITId"]
    right = market.worker("known-ada").do(hit, sea=["green", "blue"], sky="blue")
    half = market.worker("known-ben").do(hit, sea="blue", sky=" blue")
    wrong = market.worker("known-cleo").do(hit, sea="red", sky="red")
    found = market.client.list_assignments_for_hit(HITId=hit)["Assignments"]
    assert {one["AssignmentId"]: one["AssignmentStatus"] for one in found} == {
        right: "Approved",
        half: "Submitted",
        wrong: "Rejected",
    }
    told = market.client.list_review_policy_results_for_hit(HITId=hit, MaxResults=2)
    scores = {one["SubjectId"]: one["Value"] for one in told["AssignmentReviewReport"]["ReviewResults"]}
    assert scores == {right: "100", half: "50"}
    actions = told["AssignmentReviewReport"]["ReviewActions"]
    assert [(one["ActionName"], one["TargetId"]) for one in actions] == [("approve", right), ("reject", wrong)]
    rest = market.client.list_review_policy_results_for_hit(HITId=hit, MaxResults=2, NextToken=told["NextToken"])
    assert {one["SubjectId"] for one in rest["AssignmentReviewReport"]["ReviewResults"]} == {wrong}
    assert told["AssignmentReviewPolicy"]["PolicyName"] == known["PolicyName"]


def test_mistakes_are_told_with_the_codes_scripts_know(market: Market) -> None:
    client = market.client
    hit = {**PROPERTIES, "LifetimeInSeconds": 60, "Question": HTML_QUESTION}
    nobody = "3" + "A" * 29
    assert refused(client.get_hit, HITId=nobody) == "AWS.MechanicalTurk.HITDoesNotExist"
    assert refused(client.get_hit, HITId="not an id") == "AWS.MechanicalTurk.InvalidParameterValue"
    assert refused(client.create_hit, **{**hit, "Reward": "five"}) == "AWS.MechanicalTurk.InvalidParameterValue"
    assert refused(client.create_hit, **{**hit, "LifetimeInSeconds": 5}) == "AWS.ParameterOutOfRange"
    assert refused(client.create_hit, **{**hit, "Question": "<HTMLQuestion>"}) == "AWS.MechanicalTurk.XMLParseError"
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa">]><HTMLQuestion><HTMLContent>&a;</HTMLContent></HTMLQuestion>'
    assert refused(client.create_hit, **{**hit, "Question": bomb}) == "AWS.MechanicalTurk.XMLParseError"
    elsewhere = EXTERNAL.format("javascript:alert(1)")
    assert refused(client.create_hit, **{**hit, "Question": elsewhere}) == "AWS.MechanicalTurk.InvalidParameterValue"
    for wrong in (
        {"PolicyName": "SimplePlurality/2011-09-01"},
        {"PolicyName": "Wisdom/2026-01-01", "Parameters": []},
        policy("SimplePlurality", QuestionIds="a", QuestionAgreementThreshold="many"),
        policy("SimplePlurality", QuestionIds="a", QuestionAgreementThreshold=50, Odd=1),
        policy("SimplePlurality", QuestionIds="a", QuestionAgreementThreshold=5, ExtendIfHITAgreementScoreIsLessThan=9),
    ):
        assert refused(client.create_hit, **hit, HITReviewPolicy=wrong).startswith("AWS."), wrong
    assert refused(client.create_hit, **{**hit, "Question": HTML_QUESTION, "HITLayoutId": nobody}).endswith("Value")
    assert refused(client.list_hits, NextToken="bm9uc2Vuc2U=").endswith("InvalidParameterValue")
    assert refused(client.list_bonus_payments).endswith("InvalidParameterValue")
    assert refused(client.get_file_upload_url, AssignmentId=nobody, QuestionIdentifier="x").endswith("NotSupported")
    made = client.create_hit(**hit)["HIT"]["HITId"]
    assert client.list_review_policy_results_for_hit(HITId=made)["HITId"] == made
    assert client.get_account_balance()["AvailableBalance"] == "10000.00"


def signed(market: Market, secret: str, headers: dict[str, str] | None = None) -> tuple[dict[str, str], str]:
    """The headers and the body of a signed request to make a qualification type."""
    body = json.dumps({"Name": f"Replay {secret[:4]}", "Description": "x", "QualificationTypeStatus": "Active"})
    target = "MTurkRequesterServiceV20170117.CreateQualificationType"
    given = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": target, **(headers or {})}
    request = AWSRequest("POST", f"{market.site.url}/mturk", headers=given, data=body)
    SigV4Auth(Credentials(market.key.access_key, secret), "mturk-requester", "us-east-1").add_auth(request)
    return dict(request.headers.items()), body


def test_forged_stale_and_replayed_requests_are_refused(market: Market) -> None:
    url = f"{market.site.url}/mturk"

    def sent(headers: dict[str, str], body: str) -> tuple[int, str]:
        answer = httpx.post(url, headers=headers, content=body, timeout=PATIENCE_SECONDS)
        return answer.status_code, answer.json().get("__type", "")

    headers, body = signed(market, market.key.secret)
    invalid = (400, "InvalidSignatureException")
    assert sent(headers, body.replace("Replay", "Forged")) == invalid
    assert sent({**headers, "X-Amz-Target": headers["X-Amz-Target"].replace("Create", "Delete")}, body) == invalid
    assert sent(signed(market, "not the secret")[0], body) == invalid
    assert sent({**headers, "X-Amz-Date": "20200101T000000Z"}, body) == invalid
    headers["amz-sdk-invocation-id"] = "one-attempt"
    assert sent(headers, body) == (200, "")
    assert sent(headers, body) == invalid  # the very same, a second time
    unsigned = {name: value for name, value in headers.items() if name != "Authorization"}
    assert sent(unsigned, body) == (400, "MissingAuthenticationTokenException")
    # What is not among the signed headers could have been put there by anybody.
    bare = headers["Authorization"].replace(";x-amz-target", "")
    assert sent({**headers, "Authorization": bare}, body) == (400, "IncompleteSignatureException")
    stranger = market.client_with("CHORALESTRANGER12345", market.key.secret)
    assert refused(stranger.get_account_balance) == "UnrecognizedClientException"
    assert refused(market.client_with(market.key.access_key, "wrong").list_hits) == "InvalidSignatureException"
    assert market.client_with(market.key.access_key, market.key.secret, "/mturk").list_hits()["NumResults"] >= 0
    # A page elsewhere that has somebody's browser send it: refused before anything is looked at.
    headers, body = signed(market, market.key.secret)
    answer = httpx.post(
        url,
        headers={**headers, "origin": "https://evil.example", "sec-fetch-site": "cross-site"},
        content=body,
        timeout=PATIENCE_SECONDS,
    )
    assert answer.status_code == 403


def test_listing_keys_starts_no_study(tmp_path: Path) -> None:
    create_study(tmp_path / "study", "mturk")
    before = sorted(path.name for path in (tmp_path / "study").iterdir())
    listed = CliRunner().invoke(app, ["keys", str(tmp_path / "study")])
    assert listed.exit_code == 0 and "No keys yet" in listed.stdout
    assert sorted(path.name for path in (tmp_path / "study").iterdir()) == before
    made = CliRunner().invoke(app, ["keys", str(tmp_path / "study"), "--new", "laptop"])
    assert made.exit_code == 0
    again = CliRunner().invoke(app, ["keys", str(tmp_path / "study")])
    assert listed.stdout.splitlines()[-1] == again.stdout.splitlines()[-1], "the same HITLayoutId"


def test_keys_are_made_listed_and_ended_by_the_owner(market: Market, tmp_path: Path) -> None:
    folder = Path(market.site.query("PRAGMA database_list")[0][2]).parent
    runner = CliRunner()
    made = json.loads(runner.invoke(app, ["keys", str(folder), "--new", "laptop", "--json"]).stdout)
    client = market.client_with(made["access_key"], made["secret"])
    assert client.get_account_balance()["AvailableBalance"]
    listed = runner.invoke(app, ["keys", str(folder)]).stdout
    assert made["access_key"] in listed
    assert made["secret"] not in listed
    assert runner.invoke(app, ["keys", str(folder), "--revoke", made["access_key"]]).exit_code == 0
    assert refused(client.get_account_balance) == "UnrecognizedClientException"
    wrong = runner.invoke(app, ["keys", str(folder), "--revoke", "NOBODY"])
    assert wrong.exit_code == 2
    assert "No active key" in wrong.stderr
    assert runner.invoke(app, ["keys", str(folder), "--new", "  "]).exit_code == 2
    assert made["secret"] not in market.site.server.log.read_text()
    secrets_kept = json.dumps(market.site.query("SELECT evidence FROM event"))
    assert made["secret"] not in secrets_kept


def test_the_layout_of_the_study_can_be_asked_for_by_its_id(market: Market) -> None:
    folder = Path(market.site.query("PRAGMA database_list")[0][2]).parent
    layout = json.loads(CliRunner().invoke(app, ["keys", str(folder), "--json"]).stdout)["layout"]
    given = {key: value for key, value in PROPERTIES.items() if key != "Question"}
    asked = {**given, "LifetimeInSeconds": 60, "HITLayoutId": layout}
    values = [{"Name": "first", "Value": "It <b>rains</b>."}, {"Name": "second", "Value": "It is wet."}]
    made = market.client.create_hit(**asked, HITLayoutParameters=values)["HIT"]
    assert made["HITLayoutId"] == layout
    frame = market.worker("layout-ada").http.get(f"/mturk/frame/{made['HITId']}").text
    assert "It <b>rains</b>." in frame and "<p><button>Submit</button></p></form>" in frame
    assert refused(market.client.create_hit, **asked, HITLayoutParameters=values[:1]).endswith("InvalidParameterValue")


def test_panel_ids_reach_no_script_and_no_page(market: Market) -> None:
    panel_id = "5f0000000000secretpanelid"
    browser = market.worker("panel", market.site.panel_link(panel_id)).http
    hit = market.hit(Title="Who are you?")["HITId"]
    page = browser.post(f"/hits/{hit}/accept").text
    frame = re.search(r'src="(/mturk/frame/[^"]+)"', page)
    assert frame is not None
    address = frame[1].replace("&amp;", "&")
    shown = page + browser.get(address).text + browser.get("/hits").text
    assignment = re.search(r"assignmentId=([A-Z0-9]+)", address)
    assert assignment is not None
    httpx.post(
        f"{market.site.url}/mturk/externalSubmit",
        data={"assignmentId": assignment[1], "colour": "x"},
        timeout=PATIENCE_SECONDS,
    )
    told = json.dumps(market.client.list_assignments_for_hit(HITId=hit)["Assignments"], default=str)
    assert "secretpanelid" not in shown + told
    assert re.search(r"workerId=A[0-9A-Z]+", address)


def test_frames_are_sandboxed_and_other_sites_cannot_frame_the_pages(market: Market) -> None:
    ada = market.worker("frame-ada")
    hit = market.hit(Title="In a frame")["HITId"]
    preview = ada.http.get(f"/hits/{hit}")
    assert "frame-ancestors 'none'" in preview.headers["content-security-policy"]
    assert preview.headers["x-frame-options"] == "DENY"
    assert "allow-same-origin" not in preview.text
    assert "assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE" in preview.text
    assert "workerId" not in preview.text
    frame = ada.http.get(f"/mturk/frame/{hit}?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId={hit}")
    policy = frame.headers["content-security-policy"]
    assert policy.startswith("sandbox ")
    assert "allow-same-origin" not in policy
    assert "frame-ancestors 'self'" in policy
    assert "mturk.com" not in frame.text
    assert ada.submit("ASSIGNMENT_ID_NOT_AVAILABLE", colour="x").status_code == 404
    assert httpx.get(f"{market.site.url}/mturk/frame/{hit}", timeout=PATIENCE_SECONDS).status_code == 401
    outside = market.hit(Question=EXTERNAL.format("https://survey.example/start?x=1&amp;y=2"), Title="Elsewhere")[
        "HITId"
    ]
    page = ada.http.post(f"/hits/{outside}/accept")
    assert "frame-src 'self' https://survey.example" in page.headers["content-security-policy"]
    assert "https://survey.example/start?x=1&amp;y=2&amp;assignmentId=" in page.text
    assert "turkSubmitTo=http" in page.text
    own = market.hit(Question=EXTERNAL.format(f"{market.site.url}/static/icon.svg"), Title="Ourselves")["HITId"]
    assert "allow-same-origin" not in ada.http.get(f"/hits/{own}").text
    # What a frame could try with somebody's session is refused for where it comes from.
    headers = {"origin": "null", "sec-fetch-site": "cross-site"}
    assert ada.http.post(f"/hits/{hit}/accept", headers=headers).status_code == 403
    assert ada.http.post("/leave", headers=headers).status_code == 403


def test_a_page_elsewhere_can_submit_in_the_address(market: Market) -> None:
    ada = market.worker("address-ada")
    hit = market.hit(Question=EXTERNAL.format("https://survey.example/"), Title="By its address")["HITId"]
    address = f"{market.site.url}/mturk/externalSubmit?word=caf%E9%20%u2013&empty=&assignmentId="
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert httpx.get(f"{address}ASSIGNMENT_ID_NOT_AVAILABLE", timeout=PATIENCE_SECONDS).status_code == 404
    assignment = ada.accept(hit)
    for _ in range(2):
        reply = httpx.get(address + assignment, headers=headers, timeout=PATIENCE_SECONDS)
        assert (reply.status_code, reply.headers["x-frame-options"]) == (200, "SAMEORIGIN")
    [done] = market.client.list_assignments_for_hit(HITId=hit)["Assignments"]
    assert fields_in(done["Answer"]) == {"word": "café –"}


def test_everything_adds_up_at_the_end(market: Market) -> None:
    # Whatever others have done here before, there is this.
    hit = market.hit(MaxAssignments=5, Title="The last of them")["HITId"]
    for number in range(5):
        market.worker(f"last-{number}").do(hit)
    folder = Path(market.site.query("PRAGMA database_list")[0][2]).parent
    with started_study(folder, None) as study:
        assert study.store.read(lambda tx: verify(tx, study)).result().differences == []
    # Who has submitted HITs has worked, though no time was measured and no item judged.
    did = market.site.query("SELECT COUNT(DISTINCT worker_id) FROM mturk_assignment WHERE submitted_at IS NOT NULL")
    status = CliRunner().invoke(app, ["status", str(folder)])
    assert did[0][0] > 0 and re.search(rf"^workers +{did[0][0]}$", status.stdout, re.MULTILINE)
    assert "Nobody has worked" not in status.stdout
    out = folder.parent / "batch.csv"
    exported = CliRunner().invoke(app, ["export", str(folder), "--format", "mturk", "--out", str(out)])
    assert exported.exit_code == 0, exported.stderr
    header, *rows = out.read_text("utf-8").splitlines()
    assert header.startswith("HITId,HITTypeId,Title,Description,Keywords,Reward,CreationTime,MaxAssignments")
    assert header.endswith("Approve,Reject")
    assert "Answer.colour" in header
    assert len(rows) >= 5


@pytest.mark.slow
def test_a_budget_is_what_scripts_can_spend(tmp_path: Path) -> None:
    write_market(tmp_path / "study", pay="budget = 100")
    with open_market(tmp_path / "study") as market:
        assert market.client.get_account_balance()["AvailableBalance"] == "1.00"
        hit = market.hit(MaxAssignments=3, AutoApprovalDelayInSeconds=0)["HITId"]
        assert market.client.get_account_balance()["AvailableBalance"] == "0.25"
        with pytest.raises(ClientError, match="budget"):
            market.hit(MaxAssignments=2)
        ada = market.worker("budget-ada")
        assignment = ada.do(hit)
        bonus = {"WorkerId": ada.id, "AssignmentId": assignment, "BonusAmount": "0.30", "Reason": "x"}
        assert refused(market.client.send_bonus, **bonus) == "AWS.MechanicalTurk.InsufficientFunds"
        # Killed and started again, it is as it was; and what nobody reviews is approved by itself, and paid once.
        market.site.server.kill()
        market.site.restart()
        deadline = datetime.now(UTC) + timedelta(seconds=PATIENCE_SECONDS)
        while datetime.now(UTC) < deadline:
            [found] = market.client.list_assignments_for_hit(HITId=hit)["Assignments"]
            if found["AssignmentStatus"] == "Approved":
                break
            threading.Event().wait(0.2)
        assert market.site.query("SELECT kind, amount FROM entry") == [("base", 25)]
        assert market.client.get_account_balance()["AvailableBalance"] == "0.25"


def test_a_locale_without_a_subdivision_comes_back_without_one(market: Market) -> None:
    """The client of these tests checks every answer by the schema of the interface."""
    countries = [{"Country": "US"}, {"Country": "CA"}]
    asked = {"QualificationTypeId": "00000000000000000071", "Comparator": "In", "LocaleValues": countries}
    hit = market.hit(QualificationRequirements=[{**asked, "RequiredToPreview": True}])
    assert hit["QualificationRequirements"][0]["LocaleValues"] == countries
