"""Mechanical Turk's interface in tests: a study whose site runs, a boto3 client of it, and somebody who works there."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import boto3
import httpx
from botocore.config import Config

from browsing import Site
from chorale.engine.running import Study
from chorale.folder.templates import create_study
from chorale.kits.mturk.market.access import NewKey, make_key
from serving import PATIENCE_SECONDS

SPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
FORM_SPACE = f"{SPACE}/2017-11-06/QuestionForm.xsd"
LAYOUT = """<!DOCTYPE html>
<html><head><title>Colours</title><script src='https://s3.amazonaws.com/mturk-public/externalHIT_v1.js'></script></head>
<body><form name='mturk_form' method='post' id='mturk_form' action='https://www.mturk.com/mturk/externalSubmit'>
<input type='hidden' value='' name='assignmentId' id='assignmentId'/>
<label>Which colour is the sea? <input type='text' name='colour' required></label>
<label><input type='checkbox' name='sure' value='very'> Very sure</label>
<label><input type='checkbox' name='sure' value='always'> Always sure</label>
<input type='submit' id='submitButton' value='Send'>
</form><script>turkSetAssignmentID();</script></body></html>"""
HTML_QUESTION = (
    f'<HTMLQuestion xmlns="{SPACE}/2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[{LAYOUT}]]></HTMLContent>'
    "<FrameHeight>450</FrameHeight></HTMLQuestion>"
)
FORM = f"""<?xml version="1.0" encoding="UTF-8"?>
<QuestionForm xmlns="{FORM_SPACE}">
<Overview><Title>A short test</Title><List><ListItem>Read it</ListItem></List></Overview>
<Question><QuestionIdentifier>sum</QuestionIdentifier><DisplayName>A sum</DisplayName><IsRequired>true</IsRequired>
<QuestionContent><Text>What is two and two?</Text></QuestionContent>
<AnswerSpecification><SelectionAnswer><StyleSuggestion>radiobutton</StyleSuggestion><Selections>
<Selection><SelectionIdentifier>four</SelectionIdentifier><Text>Four</Text></Selection>
<Selection><SelectionIdentifier>five</SelectionIdentifier><Text>Five</Text></Selection>
</Selections></SelectionAnswer></AnswerSpecification></Question>
<Question><QuestionIdentifier>why</QuestionIdentifier><IsRequired>false</IsRequired>
<QuestionContent><Text>Why?</Text></QuestionContent>
<AnswerSpecification><FreeTextAnswer><Constraints><Length minLength="2" maxLength="20"/></Constraints></FreeTextAnswer>
</AnswerSpecification></Question>
</QuestionForm>"""
ANSWER_KEY = f"""<AnswerKey xmlns="{SPACE}/2005-10-01/AnswerKey.xsd">
<Question><QuestionIdentifier>sum</QuestionIdentifier>
<AnswerOption><SelectionIdentifier>four</SelectionIdentifier><AnswerScore>10</AnswerScore></AnswerOption>
<DefaultScore>0</DefaultScore></Question>
<QualificationValueMapping><PercentageMapping><MaximumSummedScore>10</MaximumSummedScore></PercentageMapping>
</QualificationValueMapping></AnswerKey>"""
PROPERTIES: dict[str, Any] = {
    "AssignmentDurationInSeconds": 600,
    "Reward": "0.25",
    "Title": "Name a colour",
    "Description": "Say which colour something has.",
    "Keywords": "colour, sea",
    "AutoApprovalDelayInSeconds": 3600,
}


def write_market(folder: Path, *, rows: bool = False, pay: str = "", options: str = "") -> None:
    """A study that is there for scripts; with the template's rows beside them if asked for."""
    create_study(folder, "mturk")
    settings = (folder / "study.toml").read_text()
    settings = settings.replace("minimum_hourly = 1200", f"minimum_hourly = 0\n{pay}")
    settings = settings.replace('# worker_pattern = "[0-9a-f]{24}"', 'worker_pattern = "[A-Za-z0-9-]{1,64}"')
    settings = settings.replace("# panel = ", "panel = ")
    settings = settings.replace("[stage.options]\n", f"[stage.options]\n{options}")
    if not rows:
        settings = re.sub(r"(?ms)^\[stage\.gold\].*?(?=^\[stage\.pay\])", "", settings)
        settings = re.sub(r"(?ms)^\[stage\.rehearsal\].*?(?=^\[stage\.options\])", "", settings)
        (folder / "batch.jsonl").write_text("")
    (folder / "study.toml").write_text(settings)


def _check_answer(http_response: Any, model: Any, **_: Any) -> None:
    """Whether an answer is what the service's own description says: every answer that boto3 gets in tests."""
    if http_response.status_code == 200:
        body = json.loads(http_response.content)
        wrong = _misfits(model.output_shape, body, model.name) if model.output_shape is not None else list(body)
        assert wrong == []


def _misfits(shape: Any, value: Any, at: str) -> list[str]:
    """What in an answer is not as it should be: names nobody knows, what is missing, and wrong types."""
    kinds: dict[str, Any] = {"string": str, "integer": int, "long": int, "boolean": bool, "timestamp": float}
    wanted = {**kinds, "list": list}.get(shape.type_name, dict)
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        return [f"{at} is {value!r} and no {shape.type_name}"]
    if shape.type_name == "list":
        return [wrong for one in value for wrong in _misfits(shape.member, one, f"{at}[]")]
    if shape.type_name == "map":
        return [wrong for key, one in value.items() for wrong in _misfits(shape.value, one, f"{at}.{key}")]
    if shape.type_name == "structure":
        wrong = [f"{at}.{name} is missing" for name in shape.required_members if name not in value]
        for name, one in value.items():
            known = shape.members.get(name)
            wrong += [f"{at}.{name} is not known"] if known is None else _misfits(known, one, f"{at}.{name}")
        return wrong
    if getattr(shape, "enum", None) and value not in shape.enum:
        return [f"{at} is {value!r} and none of {shape.enum}"]
    return []


class Market:
    """The site of such a study, and who uses it."""

    def __init__(self, site: Site, key: NewKey) -> None:
        self.site = site
        self.key = key
        self._to_close: list[Any] = []
        self.client = self.client_with(key.access_key, key.secret)

    def client_with(self, access_key: str, secret: str, path: str = "", service: str = "mturk") -> Any:
        client = boto3.client(
            service,
            endpoint_url=self.site.url + path,
            region_name="us-east-1",
            aws_access_key_id=access_key,
            aws_secret_access_key=secret,
            config=Config(retries={"max_attempts": 0}, connect_timeout=PATIENCE_SECONDS, read_timeout=PATIENCE_SECONDS),
        )
        client.meta.events.register(f"after-call.{service}.*", _check_answer)
        self._to_close.append(client)
        return client

    def hit(self, **more: Any) -> dict[str, Any]:
        given = {**PROPERTIES, "MaxAssignments": 2, "LifetimeInSeconds": 3600, "Question": HTML_QUESTION, **more}
        made: dict[str, Any] = self.client.create_hit(**given)["HIT"]
        return made

    def worker(self, name: str, link: str | None = None) -> "Turker":
        turker = Turker(self.site, link or self.site.invitation(name))
        self._to_close.append(turker.http)
        return turker

    def close(self) -> None:
        for one in self._to_close:
            one.close()


class Turker:
    """Somebody who works, over HTTP."""

    def __init__(self, site: Site, link: str) -> None:
        self.http = httpx.Client(base_url=site.url, follow_redirects=True, timeout=PATIENCE_SECONDS)
        self.http.get(link)
        home = self.http.post("/consent", data={"agree": "yes"}).text
        found = re.search(r'data-owner="(w-[^"]+)"', home)
        assert found is not None, home
        self.pseudonym = found[1]
        self.id = f"A{self.pseudonym[2:].upper()}"

    def accept(self, hit: str) -> str:
        """The id of the assignment."""
        page = self.http.post(f"/hits/{hit}/accept").text
        found = re.search(r'data-assignment="([A-Z0-9]+)"', page)
        assert found is not None, page
        return found[1]

    def submit(self, assignment: str, **fields: str | list[str]) -> httpx.Response:
        # As a frame of no origin does: without the session, and saying that it comes from elsewhere.
        return httpx.post(
            f"{self.http.base_url}/mturk/externalSubmit",
            data={"assignmentId": assignment, **fields},
            headers={"origin": "null", "sec-fetch-site": "cross-site"},
            timeout=PATIENCE_SECONDS,
        )

    def do(self, hit: str, **fields: str | list[str]) -> str:
        assignment = self.accept(hit)
        assert self.submit(assignment, **(fields or {"colour": "blue"})).status_code == 200
        return assignment


@contextmanager
def open_market(folder: Path, **more: Any) -> Iterator[Market]:
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_MTURK"):
        os.environ.pop(name, None)
    if not (folder / "study.toml").exists():
        write_market(folder, **more)
    made: list[NewKey] = []

    def make(study: Study) -> None:
        made.append(study.store.write(lambda tx: make_key(tx, study, "tests", "a test")).result())

    with Site(folder, make) as site, closing(Market(site, made[0])) as market:
        yield market


def policy(name: str, **parameters: object) -> dict[str, Any]:
    """A review policy as scripts write it: texts, lists of them, or answers by question."""
    written = []
    for key, value in parameters.items():
        if isinstance(value, dict):
            entries = [{"Key": question, "Values": answers} for question, answers in value.items()]
            written.append({"Key": key, "MapEntries": entries})
        else:
            written.append({"Key": key, "Values": value if isinstance(value, list) else [str(value)]})
    return {"PolicyName": f"{name}/2011-09-01", "Parameters": written}


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
