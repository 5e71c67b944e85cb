"""The page about moving from Mechanical Turk to Prolific: its commands, one after the other, against a stand-in."""

import os
import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from prolific_stand_in import TOKEN, StandIn, stand_in
from prolific_study import participant
from serving import HOST, PATIENCE_SECONDS, free_port
from turk import HTML_QUESTION, PROPERTIES

PAGE = Path(__file__).parents[1] / "docs" / "mturk-to-prolific.md"
CLIENT = """
import boto3
client = boto3.client("mturk", endpoint_url="https://mturk-requester.us-east-1.amazonaws.com", region_name="us-east-1",
                      aws_access_key_id="AKIAOLD", aws_secret_access_key="gone")
"""
CREATE = f"""{CLIENT}
for number in range(2):
    client.create_hit(MaxAssignments=3, LifetimeInSeconds=3600, Question='''{HTML_QUESTION}''', **{PROPERTIES!r})
"""
REVIEW = f"""{CLIENT}
for hit in client.list_hits()["HITs"]:
    for one in client.list_assignments_for_hit(HITId=hit["HITId"], AssignmentStatuses=["Submitted"])["Assignments"]:
        if "blue" in one["Answer"]:
            client.approve_assignment(AssignmentId=one["AssignmentId"])
            client.send_bonus(WorkerId=one["WorkerId"], AssignmentId=one["AssignmentId"],
                              BonusAmount="1.90", Reason="Thank you")
        else:
            client.reject_assignment(AssignmentId=one["AssignmentId"], RequesterFeedback="Not blue")
"""


def commands_of_page() -> list[str]:
    text = PAGE.read_text("utf-8")
    steps = re.findall(r"^\d+\. .*?```sh\n(.*?)^ +```$", text, re.MULTILINE | re.DOTALL)
    assert len(steps) == len(re.findall(r"^\d+\. ", text, re.MULTILINE)) <= 8
    return [textwrap.dedent(step) for step in steps]


class Person:
    """Somebody from Prolific. The site is behind a proxy for them, so cookies are for encrypted connections only."""

    def __init__(self, url: str, world: StandIn, study_id: str, number: int) -> None:
        self.submission = world.arrive(study_id, participant(number))
        self._http = httpx.Client(base_url=url, timeout=PATIENCE_SECONDS)
        self._cookies: dict[str, str] = {}
        visit = {"PROLIFIC_PID": participant(number), "STUDY_ID": study_id, "SESSION_ID": self.submission}
        self.ask("GET", "/join", params=visit)
        self.ask("POST", "/consent", data={"agree": "yes"})

    def ask(self, method: str, path: str, **more: Any) -> str:
        given = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        reply = self._http.request(method, path, headers={"cookie": given, "x-forwarded-proto": "https"}, **more)
        for header in reply.headers.get_list("set-cookie"):
            name, _, value = header.partition(";")[0].partition("=")
            self._cookies[name] = value
        return self.ask("GET", reply.headers["location"]) if reply.is_redirect else reply.text

    def do_hit(self, colour: str) -> None:
        hit = re.search(r'href="/hits/([A-Z0-9]{30})"', self.ask("GET", "/hits"))
        assert hit is not None
        page = self.ask("POST", f"/hits/{hit[1]}/accept")
        found = re.search(r'data-assignment="([A-Z0-9]+)"', page)
        assert found is not None, page
        self.ask("POST", "/mturk/externalSubmit", data={"assignmentId": found[1], "colour": colour})

    def close(self) -> None:
        self._http.close()


@pytest.mark.slow
def test_the_steps_of_the_page_work_in_their_order(tmp_path: Path) -> None:
    new, edit, serve, create, publish, review, sync, pay = commands_of_page()
    port = free_port()
    with stand_in() as world:
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "SITE": "https://study.example.org",
            "PROLIFIC_TOKEN": TOKEN,
            "CHORALE_PROLIFIC_URL": world.address,
            # The public address is nobody's here.
            "CHORALE_ENDPOINT": f"http://{HOST}:{port}",
        }

        def run(command: str, said: str = "") -> str:
            shell = ["bash", "-e", "-c", command]
            done = subprocess.run(
                shell, cwd=tmp_path, env=environment, input=said, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, (command, done.stdout, done.stderr)
            return done.stdout

        run(new)
        run(edit)
        consent = tmp_path / "market" / "consent.md"
        consent.write_text(re.sub(r"\[[^\]]+\]", "us", consent.read_text("utf-8")), "utf-8")
        (tmp_path / "create.py").write_text(CREATE)
        (tmp_path / "review.py").write_text(REVIEW)
        log = (tmp_path / "serve.log").open("w")
        site = subprocess.Popen(
            ["bash", "-c", f"exec {serve.strip()} --port {port}"], cwd=tmp_path, env=environment, stdout=log, stderr=log
        )
        try:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while "Serving at" not in (tmp_path / "serve.log").read_text() and time.monotonic() < deadline:
                assert site.poll() is None, (tmp_path / "serve.log").read_text()
                time.sleep(0.1)
            run(create)
            assert "is published" in run(publish, "y\n")
            [study] = world.studies.values()
            code = study["completion_codes"][0]["code"]
            url = f"http://{HOST}:{port}"
            people = [Person(url, world, study["id"], number) for number in range(3)]
            for person, colour in zip(people, ("blue", "blue", "red"), strict=True):
                assert code not in person.ask("GET", "/")
                person.do_hit(colour)
                assert code in person.ask("GET", "/")
                world.finish(person.submission, code)
                person.close()
            run(review)
            run(sync)
            statuses = [world.submissions[person.submission]["status"] for person in people]
            # Who has done nothing that was accepted waits for a person to decide.
            assert statuses == ["APPROVED", "APPROVED", "AWAITING REVIEW"]
            run(pay)
        finally:
            site.terminate()
            site.wait(PATIENCE_SECONDS)
            log.close()
        # 25 cents and a bonus of 190, of which taking part has paid 200.
        assert [world.bonuses_of(participant(number)) for number in range(3)] == [15, 15, 0]
        assert "Everything" in run("chorale verify market")
