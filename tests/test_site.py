"""The site against malformed, oversized, forged, replayed and hostile requests."""

import json
import re
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from starlette.testclient import TestClient

from chorale.engine import entering, settling
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.sessions import NewSession
from chorale.folder.templates import create_study
from chorale.model import Worker
from chorale.store.settings import secret
from chorale.web import app as web_app
from chorale.web.app import create_app
from chorale.web.pages import HERE, markdown
from chorale.web.security import HEADERS, MOST_BYTES
from chorale.web.sessions import WORKER_COOKIE, Sessions
from conftest import StudyMaker
from cookies import worker_cookie
from examples import examples
from small_study import write_small_study

JSON = {"content-type": "application/json"}
HOSTILE = "<script>alert(1)</script>\"'&{{7*7}}<img src=x onerror=alert(1)>"


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    write_small_study(tmp_path, applications=20, share=0.0, texts=(f"left {HOSTILE}", f"right {HOSTILE}"))
    opened = open_study(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def app(study: Study) -> FastAPI:
    return create_app(study)


@pytest.fixture
def site(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, follow_redirects=False) as client:
        yield client


def join(client: TestClient, name: str = "somebody") -> None:
    assert client.get("/join", params={"PROLIFIC_PID": name}).status_code == 303
    assert client.post("/consent", data={"agree": "yes"}).status_code == 303


def lease(client: TestClient) -> str:
    offer = client.post("/api/stages/meaningful/next", json={}).json()
    token: str = offer["assignment"]["id"]
    return token


def submit(client: TestClient, token: str, **body: Any) -> Any:
    return client.post(f"/api/assignments/{token}/submit", json={"key": "key-00000001", "answer": "yes"} | body)


@pytest.mark.parametrize(
    "path", ["/", "/join?PROLIFIC_PID=abc", "/nothing", "/static/chorale.css", "/openapi.json", "/stages/meaningful"]
)
def test_every_answer_has_the_security_headers(site: TestClient, path: str) -> None:
    answer = site.get(path)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value


def test_pages_load_nothing_from_elsewhere() -> None:
    folders = [HERE / "templates", HERE / "static", HERE.parent / "tasks"]
    kinds = (".html", ".js", ".css", ".svg")
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in kinds]
    assert len(files) > 10
    for path in files:
        text = path.read_text("utf-8")
        found = re.findall(r"""(?:src|href|action)=["']?(?:https?:)?//|@import|url\(\s*["']?(?:https?:)?//""", text)
        assert not found, path
        if path.suffix == ".html":
            assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=", text), path


def test_a_whole_visit(site: TestClient) -> None:
    assert "link" in site.get("/").text
    site.get("/join", params={"PROLIFIC_PID": "visitor"})
    assert 'name="agree"' in site.get("/").text
    assert site.post("/api/stages/meaningful/next", json={}).json()["error"]["code"] == "no_consent"
    assert site.post("/consent", data={}).status_code == 422
    site.post("/consent", data={"agree": "yes"})
    assert "/stages/meaningful" in site.get("/").text
    page = site.get("/stages/meaningful")
    assert page.status_code == 200
    assert 'data-text="phrase"' in page.text
    outcome = submit(site, lease(site)).json()
    assert outcome["status"] == "accepted"
    assert outcome["progress"] == {"answered": 1, "earned": 3, "earned_text": "$0.03"}
    assert "$0.03" in site.get("/").text


def test_item_text_arrives_as_it_is_and_never_in_a_page(site: TestClient) -> None:
    join(site)
    offer = site.post("/api/stages/meaningful/next", json={})
    assert offer.headers["content-type"] == "application/json"
    assert HOSTILE in offer.json()["assignment"]["item"]["phrase"]
    for path in ("/", "/stages/meaningful"):
        assert "onerror" not in site.get(path).text


def test_markdown_is_harmless() -> None:
    html = str(markdown(f"{HOSTILE}\n\n[x](javascript:alert(1)) ![y](http://elsewhere/z.png)"))
    assert "<script" not in html
    assert "<img src=x" not in html
    assert 'href="javascript' not in html


@pytest.mark.parametrize("name", ["", "no spaces", "a" * 65, "ä", "x\x00y", "../../etc", "'; DROP TABLE worker; --"])
def test_forged_worker_ids_are_refused(site: TestClient, name: str) -> None:
    answer = site.get("/join", params={"PROLIFIC_PID": name})
    assert answer.status_code == 400
    assert "set-cookie" not in answer.headers


def test_arrival_can_be_limited(tmp_path: Path) -> None:
    write_small_study(tmp_path)
    toml = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(toml.replace("[arrival]", '[arrival]\nstudy_id = "right"'))
    study = open_study(tmp_path)
    with TestClient(create_app(study), follow_redirects=False) as client:
        assert client.get("/join?PROLIFIC_PID=abc&STUDY_ID=wrong").status_code == 400
        assert client.get("/join?PROLIFIC_PID=abc&STUDY_ID=right").status_code == 303
    study.close()
    (tmp_path / "study.toml").write_text(toml.replace("[arrival]", "[arrival]\nby_url = false"))
    study = open_study(tmp_path)
    with TestClient(create_app(study), follow_redirects=False) as client:
        assert client.get("/join?PROLIFIC_PID=abc").status_code == 403
    study.close()


def sessions_of(study: Study) -> Sessions:
    return Sessions(study.store.write(lambda tx: secret(tx, "sessions")).result())


def test_invitations_are_signed(site: TestClient, study: Study) -> None:
    token = sessions_of(study).link_token("invitation", "guest-1")
    assert site.get(f"/join/{token}").status_code == 303
    pseudonyms = set()
    for _ in range(2):
        site.cookies.clear()
        site.get(f"/join/{token}")
        site.post("/consent", data={"agree": "yes"})
        pseudonyms.add(re.search(r"w-[a-z0-9]{10}", site.get("/").text)[0])  # type: ignore[index]
    assert len(pseudonyms) == 1, "the same invitation is the same person, on any device"
    expert = sessions_of(study).link_token("expert", "guest-1")
    stranger = Sessions("another secret").link_token("invitation", "guest-1")
    for bad in (token[:-1], token + "x", "x", expert, stranger, "a.b"):
        site.cookies.clear()
        answer = site.get(f"/join/{bad}")
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


def test_forged_cookies_are_nobody(site: TestClient, study: Study) -> None:
    join(site)
    good = site.cookies[WORKER_COOKIE]
    forged = Sessions("guessed").worker_cookie(NewSession(1, "w-guess", "epoch", "token"))
    staff_as_worker = sessions_of(study).link_token("invitation", "1")
    for bad in (good[:-6] + "xxxxxx", forged, staff_as_worker, "1", "", "W10.x.y"):
        site.cookies.clear()
        site.cookies.set(WORKER_COOKIE, bad)
        answer = site.post("/api/stages/meaningful/next", json={})
        assert answer.status_code == 401
        assert answer.json()["error"]["code"] == "signed_out"


def test_nobody_acts_for_somebody_else(site: TestClient) -> None:
    join(site, "owner")
    token = lease(site)
    site.cookies.clear()
    join(site, "thief")
    assert submit(site, token).status_code == 404
    assert site.post(f"/api/assignments/{token}/return").status_code == 404
    # Worker ids in the address or body are nothing to us.
    assert site.post("/api/stages/meaningful/next?worker=1&worker_id=1", json={"worker_id": 1}).status_code == 200


def test_a_page_of_somebody_elses_session_is_told_so(site: TestClient) -> None:
    """Two people on one device: the first one's page must not lose its answer as the second one's."""
    join(site, "first")
    first = re.search(r"w-[a-z0-9]{10}", site.get("/").text)
    assert first is not None
    token = lease(site)
    page = {"x-chorale-worker": first[0]}
    join(site, "second")
    body = {"key": "key-00000001", "answer": "yes"}
    answer = site.post(f"/api/assignments/{token}/submit", json=body, headers=page)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "signed_out")
    assert site.post("/leave").status_code == 303
    assert WORKER_COOKIE not in site.cookies
    join(site, "first")
    assert site.post(f"/api/assignments/{token}/submit", json=body, headers=page).json()["status"] == "accepted"


def test_replayed_and_late_requests(site: TestClient) -> None:
    join(site)
    token = lease(site)
    assert submit(site, token).json()["status"] == "accepted"
    again = submit(site, token, answer="no")
    assert (again.status_code, again.json()["status"]) == (200, "already_submitted")
    assert again.json()["progress"]["answered"] == 1
    assert site.post(f"/api/assignments/{token}/return").status_code == 409
    returned = lease(site)
    assert site.post(f"/api/assignments/{returned}/return").json() == {"status": "returned"}
    late = submit(site, returned)
    assert (late.status_code, late.json()["error"]["code"]) == (409, "lease_ended")


DEEP = b'{"key":"key-00000001","answer":' + b"[" * 60_000 + b"]" * 60_000 + b"}"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe",
        b'{"key":"key-00000001"}',
        b'{"answer":"yes"}',
        b'{"key":"short","answer":"yes"}',
        b'{"key":"key-00000001","answer":"yes","extra":1}',
        b'{"key":"key-00000001","answer":"maybe"}',
        b'{"key":"key-00000001","answer":NaN}',
        b'{"key":"key-00000001","answer":"\\u0000"}',
        b'{"key":"key-00000001","answer":"\\ud800"}',
        b'{"key":"key-00000001","answer":"yes","duration_ms":-1}',
        b'{"key":"key-00000001","answer":"yes","duration_ms":1e400}',
        b'{"key":"key-\\ud800-001","answer":"yes"}',
        DEEP,
    ],
    ids=lambda body: repr(body[:50]),
)
def test_malformed_submissions_are_refused_and_change_nothing(site: TestClient, body: bytes) -> None:
    join(site)
    token = lease(site)
    answer = site.post(f"/api/assignments/{token}/submit", content=body, headers=JSON)
    assert answer.status_code in (400, 422)
    error = answer.json()["error"]
    assert error["code"]
    assert error["message"]
    assert submit(site, token).json()["status"] == "accepted"


@pytest.fixture
def site_on_either(make_study: StudyMaker) -> Iterator[TestClient]:
    """On SQLite and on PostgreSQL."""
    with TestClient(create_app(make_study()), follow_redirects=False) as client:
        yield client


def test_nul_characters_are_refused_for_what_they_are(site_on_either: TestClient) -> None:
    """PostgreSQL has no place for them; SQLite would keep them until a study moves."""
    site = site_on_either
    join(site)
    token = lease(site)
    for answer in ("a\0", ["a", {"b": ["\0"]}], {"\0": 1}, "\\\0"):
        refused = submit(site, token, answer=answer)
        assert refused.status_code == 422
        assert "NUL characters" in refused.json()["error"]["message"]
    # The text of the escape is no NUL. It is no answer here either, which is for the task to say.
    plain = submit(site, token, answer="\\u0000")
    assert plain.status_code == 422
    assert "NUL characters" not in plain.json()["error"]["message"]
    assert submit(site, token).json()["status"] == "accepted"


def test_nul_characters_in_a_platforms_link_keep_nobody_out(site_on_either: TestClient) -> None:
    """Before, a link with one was an internal error on PostgreSQL."""
    link = "/join?PROLIFIC_PID=5f0c5f0c5f0c5f0c5f0c5f0c&STUDY_ID=a%00&SESSION_ID=%00%ff"
    assert site_on_either.get(link).status_code == 303
    assert site_on_either.get("/").status_code == 200


def test_oversized_bodies_are_refused(site: TestClient) -> None:
    join(site)
    token = lease(site)
    big = json.dumps({"key": "key-00000001", "answer": "x" * MOST_BYTES}).encode()

    def in_pieces() -> Iterator[bytes]:
        for start in range(0, len(big), 10_000):
            yield big[start : start + 10_000]

    for content in (big, in_pieces()):
        answer = site.post(f"/api/assignments/{token}/submit", content=content, headers=JSON)
        assert answer.status_code == 413
        assert answer.json()["error"]["code"] == "too_large"


def test_browsers_get_a_page_when_a_form_is_too_large_or_comes_from_another_site(site: TestClient) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml"}
    big = site.post("/consent", data={"agree": "y" * MOST_BYTES}, headers=browser)
    foreign = site.post("/consent", data={"agree": "yes"}, headers=browser | {"Origin": "https://evil.example"})
    for answer, status, words in ((big, 413, "Send less."), (foreign, 403, "came from another site")):
        assert answer.status_code == status
        assert answer.headers["content-type"].startswith("text/html") and words in answer.text
        assert "Content-Security-Policy" in answer.headers


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_only_json_is_taken(site: TestClient, kind: str) -> None:
    """A form of another site can send these types without asking first, so they must not work."""
    join(site)
    token = lease(site)
    body = b'{"key":"key-00000001","answer":"yes"}'
    answer = site.post(f"/api/assignments/{token}/submit", content=body, headers={"content-type": kind})
    assert 400 <= answer.status_code < 500


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://testserver.evil.example"},
    ],
)
def test_other_sites_can_change_nothing(site: TestClient, headers: dict[str, str]) -> None:
    join(site)
    for path in ("/consent", "/api/stages/meaningful/next", "/login"):
        assert site.post(path, headers=headers).status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2f..%2fapp.py",
        "/static//etc/passwd",
        "/stages/..%2f..",
        "/tasks/..%2f..%2f/module.js",
        "/join/%00",
        "/stages/" + "a" * 5000,
    ],
)
def test_paths_lead_nowhere_else(site: TestClient, path: str) -> None:
    join(site)
    answer = site.get(path)
    assert 400 <= answer.status_code < 500
    assert "root:" not in answer.text
    assert "import" not in answer.text


def test_a_failure_of_ours_tells_nothing(app: FastAPI) -> None:
    @app.get("/api/broken")
    async def broken() -> None:
        raise RuntimeError("secret detail")

    with TestClient(app, raise_server_exceptions=False) as client:
        answer = client.get("/api/broken")
    assert answer.status_code == 500
    assert "secret detail" not in answer.text
    assert "try again" in answer.json()["error"]["message"]
    assert answer.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]


def test_completion_codes_are_for_those_who_finished(tmp_path: Path) -> None:
    write_small_study(tmp_path, applications=1, judgments="1")
    study = open_study(tmp_path)
    with TestClient(create_app(study), follow_redirects=False) as client:
        join(client, "one")
        assert "DONE1" not in client.get("/").text
        submit(client, lease(client), answer="no")
        client.cookies.clear()
        join(client, "two")
        submit(client, lease(client), answer="no")
        page = client.get("/").text
        assert "https://app.prolific.com/submissions/complete?cc=DONE1" in page
        assert "OUT1" not in page
        client.cookies.clear()
        join(client, "did-nothing")
        assert "DONE1" not in client.get("/").text
    study.close()


def test_no_request_breaks_the_interface(app: FastAPI, study: Study) -> None:
    """schemathesis makes requests from the OpenAPI description, valid and not, as a signed-in worker and as nobody."""
    cookie = worker_cookie(study, study.store.write(lambda tx: _consenting_worker(tx, study)).result())
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    operations = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
    assert len(operations) >= 4
    for operation in operations:

        @settings(max_examples=examples(25, 60), suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy(), signed_in=st.booleans())
        def try_it(case: schemathesis.Case[Any], signed_in: bool) -> None:
            cookies = {WORKER_COOKIE: cookie} if signed_in else {}
            case.call_and_validate(cookies=cookies, checks=[not_a_server_error])

        try_it()


def _consenting_worker(tx: Any, study: Study) -> Worker:
    worker = entering.arrive(tx, study, "prolific", "fuzzer", {})
    entering.consent(tx, study, worker.id)
    return worker


def test_parts_that_are_not_open_yet_fold_away_where_they_are_many(tmp_path: Path) -> None:
    create_study(tmp_path / "trial", "mcq-trial")
    trial = open_study(tmp_path / "trial")
    pages = []
    try:
        # Two of the four arms have many parts. A block of 16 people has 4 in the others, so one of 5 is in such an arm.
        for number in range(5):
            with TestClient(create_app(trial), follow_redirects=False) as client:
                join(client, f"5e0f6b2c9d1a4b7c8e3f2a1{number}")
                pages.append(client.get("/").text)
    finally:
        trial.close()
    folded = {page: re.search(r"<summary>(\d+) more parts are locked</summary>", page) for page in pages}
    long_pages = {page: int(match[1]) for page, match in folded.items() if match is not None}
    assert long_pages
    for page, parts in long_pages.items():
        assert parts > page.count('class="card stage-card') > 0
    for page in pages:
        assert "Not open to you" not in page
        assert "$0.00 per answer" not in page  # the whole tutorial is paid at its end


def test_updating_labels_takes_a_tenth_of_the_time_at_most(
    make_study: StudyMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    took = 0.05
    updates: list[float] = []

    def settle(_study: Study) -> None:
        updates.append(time.monotonic())
        time.sleep(took)

    monkeypatch.setattr(web_app, "SWEEP_SECONDS", 0.001)
    monkeypatch.setattr(settling, "settle_everything", settle)
    with TestClient(create_app(make_study())):
        while len(updates) < 3:
            time.sleep(0.01)
    assert min(later - earlier for earlier, later in pairwise(updates)) >= took / web_app.SETTLING_SHARE
