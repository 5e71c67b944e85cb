"""What published projects did with Mechanical Turk, step by step, each written anew: their calls, their order, and what
they read from the answers. `docs/mturk.md` names the projects and says which of them were run as they are.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.dom import minidom
from xml.etree import ElementTree

import pytest
from botocore.exceptions import ClientError

from turk import ANSWER_KEY, FORM, HTML_QUESTION, PROPERTIES, Market, open_market

APPROVED_HITS, APPROVED_PERCENT = "00000000000000000040", "000000000000000000L0"
LOCALE, MASTERS_SANDBOX = "00000000000000000071", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"
LONG_AGO = datetime(2015, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    with open_market(tmp_path_factory.mktemp("flows") / "study") as opened:
        yield opened


def at_least(name: str, value: int) -> dict[str, Any]:
    return {"QualificationTypeId": name, "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [value]}


def in_country(code: str) -> dict[str, Any]:
    return {"QualificationTypeId": LOCALE, "Comparator": "EqualTo", "LocaleValues": [{"Country": code}]}


def test_as_the_samples_of_aws(market: Market) -> None:
    """Balance, a HIT for people with 80% approved, its address by the HIT type, answers by the first FreeText."""
    client = market.client
    assert client.get_account_balance()["AvailableBalance"] == "10000.00"
    asked = [{**at_least(APPROVED_PERCENT, 80), "RequiredToPreview": True}]
    hit = market.hit(MaxAssignments=3, LifetimeInSeconds=600, Reward="0.11", QualificationRequirements=asked)
    ada = market.worker("samples-ada")
    assert ada.http.get(f"/mturk/preview?groupId={hit['HITTypeId']}").url.path == f"/hits/{hit['HITId']}"
    ada.do(hit["HITId"], answer="A company")
    found = client.list_assignments_for_hit(
        HITId=hit["HITId"], AssignmentStatuses=["Submitted", "Approved"], MaxResults=10
    )["Assignments"]
    [first] = minidom.parseString(found[0]["Answer"]).getElementsByTagName("FreeText")
    assert first.firstChild is not None and first.firstChild.nodeValue == "A company"
    client.approve_assignment(AssignmentId=found[0]["AssignmentId"], RequesterFeedback="good", OverrideRejection=False)


def test_as_amti(market: Market, tmp_path: Path) -> None:
    """A batch: a type, a HIT for each row, status, review of what is reviewable, saving, expiring, deleting."""
    client = market.client
    kind = client.create_hit_type(**{**PROPERTIES, "Title": "A batch"}, QualificationRequirements=[])["HITTypeId"]
    rows = [{"word": "sea"}, {"word": "sky"}]
    hits = [
        client.create_hit_with_hit_type(
            HITTypeId=kind,
            Question=HTML_QUESTION.replace("sea", row["word"]),
            RequesterAnnotation="batch=1234",
            MaxAssignments=1,
            LifetimeInSeconds=3600,
        )["HIT"]["HITId"]
        for row in rows
    ]
    market.worker("amti-ada").do(hits[0])
    status = {hit: client.get_hit(HITId=hit)["HIT"]["HITStatus"] for hit in hits}
    assert list(status.values()) == ["Reviewable", "Assignable"]
    for page in client.get_paginator("list_assignments_for_hit").paginate(HITId=hits[0]):
        for assignment in page["Assignments"]:
            minidom.parseString(assignment["Answer"]).toprettyxml()
            client.approve_assignment(AssignmentId=assignment["AssignmentId"], OverrideRejection=False)
    saved = [
        one
        for hit in hits
        for page in client.get_paginator("list_assignments_for_hit").paginate(HITId=hit)
        for one in page["Assignments"]
    ]
    (tmp_path / "assignments.jsonl").write_text("".join(json.dumps(one, default=str) + "\n" for one in saved))
    assert [one["HITId"] for one in saved] == [hits[0]]
    assert client.get_hit(HITId=hits[0])["HIT"]["RequesterAnnotation"] == "batch=1234"
    for hit in hits:
        client.update_expiration_for_hit(HITId=hit, ExpireAt=LONG_AGO)
        client.delete_hit(HITId=hit)
        assert client.get_hit(HITId=hit)["HIT"]["HITStatus"] == "Disposed"


def test_as_amti_keeps_its_lists_of_workers(market: Market) -> None:
    client = market.client
    workers = [market.worker(f"listed-{number}").id for number in range(3)]
    made = {"Name": "Associated", "Description": "x", "QualificationTypeStatus": "Active"}
    kind = client.create_qualification_type(**made)["QualificationType"]["QualificationTypeId"]
    for worker in workers:
        client.associate_qualification_with_worker(
            QualificationTypeId=kind, WorkerId=worker, IntegerValue=1, SendNotification=False
        )
        client.create_worker_block(WorkerId=worker, Reason="It is their turn")
    pages = client.get_paginator("list_worker_blocks").paginate(PaginationConfig={"PageSize": 2})
    assert {one["WorkerId"] for page in pages for one in page["WorkerBlocks"]} >= set(workers)
    holders = client.get_paginator("list_workers_with_qualification_type").paginate(QualificationTypeId=kind)
    assert [one["WorkerId"] for page in holders for one in page["Qualifications"]] == workers
    assert client.notify_workers(Subject="Hi", MessageText="x", WorkerIds=workers)["NotifyWorkersFailureStatuses"] == []
    for worker in workers:
        client.delete_worker_block(WorkerId=worker, Reason="Over")
        client.disassociate_qualification_from_worker(QualificationTypeId=kind, WorkerId=worker, Reason="Over")


def test_as_simple_amt_and_easyturk(market: Market) -> None:
    """An answer is JSON in the first field: what can be read is approved, and what cannot is rejected."""
    client = market.client
    asked = [at_least(APPROVED_HITS, 0), in_country("US"), at_least(APPROVED_PERCENT, 0)]
    hits = [market.hit(Title=f"JSON {n}", MaxAssignments=2, QualificationRequirements=asked)["HITId"] for n in range(2)]
    ada, ben = market.worker("json-ada"), market.worker("json-ben")
    for hit in hits:
        ada.do(hit, **{"results-json": json.dumps([{"box": [1, 2]}])})
        ben.do(hit, **{"results-json": "{not json"})
    outputs, rejected = [], []
    for hit in hits:
        progress = client.get_hit(HITId=hit)["HIT"]
        assert progress["MaxAssignments"] - progress["NumberOfAssignmentsAvailable"] == 2
        for one in client.list_assignments_for_hit(HITId=hit, AssignmentStatuses=["Approved", "Submitted", "Rejected"])[
            "Assignments"
        ]:
            try:
                outputs.append(json.loads(ElementTree.fromstring(one["Answer"])[0][1].text or ""))
                client.approve_assignment(
                    AssignmentId=one["AssignmentId"], RequesterFeedback="Good job", OverrideRejection=False
                )
            except ValueError:
                client.reject_assignment(AssignmentId=one["AssignmentId"], RequesterFeedback="Invalid results")
                rejected.append(one["WorkerId"])
    assert outputs == [[{"box": [1, 2]}]] * 2 and rejected == [ben.id] * 2
    for hit in hits:
        client.delete_hit(HITId=hit)


def test_as_mic_and_normbank(market: Market) -> None:
    """A qualification with a test and its key; its scores; a HIT for those who passed and one for others."""
    client = market.client
    kind = client.create_qualification_type(
        Name="Understands the task",
        Keywords="qualification, test",
        Description="Please answer these easy questions",
        QualificationTypeStatus="Active",
        Test=FORM,
        AnswerKey=ANSWER_KEY,
        TestDurationInSeconds=7200,
    )["QualificationType"]["QualificationTypeId"]
    passed = {"QualificationTypeId": kind, "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [80]}
    excluded = {"QualificationTypeId": kind, "Comparator": "DoesNotExist"}
    for_passed = market.hit(Title="Passed", QualificationRequirements=[passed, in_country("US")])["HITId"]
    for_new = market.hit(Title="New", QualificationRequirements=[excluded])["HITId"]
    ada = market.worker("tested-ada")
    ada.do(for_new)
    assert ada.http.post(f"/hits/{for_passed}/accept").status_code == 403
    page = ada.http.post(f"/hits/qualifications/{kind}").text
    request = page.partition("assignmentId=")[2].partition('"')[0]
    assert ada.submit(request, sum="four").status_code == 200
    ada.do(for_passed)
    reply = client.list_workers_with_qualification_type(QualificationTypeId=kind, Status="Granted", MaxResults=100)
    assert [(one["WorkerId"], one["IntegerValue"]) for one in reply["Qualifications"]] == [(ada.id, 100)]
    rest = client.list_workers_with_qualification_type(QualificationTypeId=kind, NextToken=reply["NextToken"])
    assert rest["Qualifications"] == []


def test_as_the_utilities_of_mephisto(market: Market) -> None:
    """Qualifications found or made, bonuses within the balance, all HITs read until a page is empty, deleted."""
    client = market.client
    made = {"Name": "Soft block", "Description": "x", "QualificationTypeStatus": "Active"}
    kind = client.create_qualification_type(**made)["QualificationType"]["QualificationTypeId"]
    for owned in (True, False):
        found = client.list_qualification_types(Query="Soft block", MustBeRequestable=True, MustBeOwnedByCaller=owned)[
            "QualificationTypes"
        ]
        assert [one["QualificationTypeId"] for one in found if one["Name"] == "Soft block"] == [kind]
    with pytest.raises(ClientError) as caught:
        client.create_qualification_type(**made)
    message = caught.value.response["Error"]["Message"]
    assert message.startswith("You have already created a QualificationType with this name.")
    barred = {"QualificationTypeId": kind, "Comparator": "DoesNotExist", "ActionsGuarded": "DiscoverPreviewAndAccept"}
    hit = market.hit(Title="Not for the blocked", QualificationRequirements=[barred], MaxAssignments=1)["HITId"]
    ada, ben = market.worker("soft-ada"), market.worker("soft-ben")
    client.associate_qualification_with_worker(
        QualificationTypeId=kind, WorkerId=ben.id, IntegerValue=1, SendNotification=False
    )
    assert "Not for the blocked" not in ben.http.get("/hits").text
    assignment = ada.do(hit)
    client.approve_assignment(AssignmentId=assignment, OverrideRejection=False)
    assert float(client.get_account_balance()["AvailableBalance"]) > 0.6
    bonus = {"WorkerId": ada.id, "AssignmentId": assignment, "Reason": "Thanks", "UniqueRequestToken": "meph-1"}
    client.send_bonus(**bonus, BonusAmount=str(0.5))
    assert ada.id not in [one["WorkerId"] for one in client.list_worker_blocks(MaxResults=100)["WorkerBlocks"]]
    page, all_hits = client.list_hits(MaxResults=3), []
    while page["HITs"]:
        all_hits += page["HITs"]
        page = client.list_hits(MaxResults=3, NextToken=page["NextToken"])
    names = [one["HITId"] for one in all_hits]
    assert hit in names and len(names) == len(set(names))
    client.delete_hit(HITId=hit)


def test_as_psiturk(market: Market) -> None:
    """An experiment on a site of its own: a type with all requirements, an ExternalQuestion, extended and expired."""
    client = market.client
    asked = [
        at_least(APPROVED_PERCENT, 95),
        at_least(APPROVED_HITS, 100),
        {"QualificationTypeId": MASTERS_SANDBOX, "Comparator": "Exists"},
        in_country("US"),
    ]
    kind = client.create_hit_type(
        Title="Psi",
        Description="An experiment",
        Reward="0.50",
        AssignmentDurationInSeconds=5400,
        Keywords="psychology",
        QualificationRequirements=asked,
    )["HITTypeId"]
    question = (
        "<ExternalQuestion><ExternalURL>https://psi.example/ad</ExternalURL><FrameHeight>600</FrameHeight>"
        "</ExternalQuestion>"
    )
    hit = client.create_hit_with_hit_type(
        HITTypeId=kind, Question=question, LifetimeInSeconds=86_400, MaxAssignments=1
    )["HIT"]
    ada = market.worker("psi-ada")
    assert "90 minutes" in ada.http.get("/hits").text
    assignment = ada.accept(hit["HITId"])
    assert ada.submit(assignment, uniqueid=f"{ada.id}:{assignment}").status_code == 200
    client.create_additional_assignments_for_hit(HITId=hit["HITId"], NumberOfAdditionalAssignments=2)
    later = hit["Expiration"] + timedelta(minutes=10)
    # It rejects with an empty reason, and takes that back.
    refused = client.reject_assignment(AssignmentId=assignment, RequesterFeedback="")
    assert "RequesterFeedback is empty" in str(refused["ResponseMetadata"]["HTTPHeaders"])
    assert "No reason was given." in ada.http.get("/").text
    client.approve_assignment(AssignmentId=assignment, OverrideRejection=True)
    client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=later)
    assert client.get_hit(HITId=hit["HITId"])["HIT"]["Expiration"] == later
    client.send_bonus(WorkerId=ada.id, AssignmentId=assignment, BonusAmount="0.25", Reason="Points")
    client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=LONG_AGO)
    client.delete_hit(HITId=hit["HITId"])


def test_as_chateval(market: Market) -> None:
    """Comparisons in one HIT, read as a table; those who did more get a bonus, those who did it once are kept out."""
    client = market.client
    made = {"Name": "Has done it", "Description": "x", "QualificationTypeStatus": "Active"}
    kind = client.create_qualification_type(**made)["QualificationType"]["QualificationTypeId"]
    asked = [{"QualificationTypeId": kind, "Comparator": "DoesNotExist"}, at_least(APPROVED_PERCENT, 90)]
    hit = market.hit(Title="Which is better?", MaxAssignments=2, QualificationRequirements=asked)["HITId"]
    ada = market.worker("chat-ada")
    assignment = ada.do(hit, **{f"comparison-{n}": "left" if n % 2 else "right" for n in range(10)}, extra="")
    [found] = client.list_assignments_for_hit(HITId=hit)["Assignments"]
    answers = {
        one[0].text: one[1].text for one in ElementTree.fromstring(found["Answer"]) if one.tag.endswith("Answer")
    }
    assert len(answers) == 10 and set(answers.values()) == {"left", "right"}
    client.approve_assignment(AssignmentId=assignment)
    client.associate_qualification_with_worker(QualificationTypeId=kind, WorkerId=ada.id, IntegerValue=1)
    # An optional field that was left empty is no answer, and no reason for a bonus.
    assert [name for name in answers if name and name.startswith("extra")] == []
    again = market.hit(Title="Which is better now?", QualificationRequirements=asked)["HITId"]
    assert ada.http.post(f"/hits/{again}/accept").status_code == 403
