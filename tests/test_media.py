"""Pictures, audio and video of a study: who may load them, and nothing else."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.folder.plan import study_notes
from chorale.folder.reading import check_folder, load_folder
from chorale.web.app import create_app
from chorale.web.links import invitation_path, study_sessions
from chorale.web.media import file_within
from chorale.web.pages import strangers_markdown

SECRET = "the answer is b"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
OPTIONS = """
[stage.options]
shows = [{ item = "picture", look = "picture" }, { item = "note", look = "markdown" }]
fields = [{ name = "ok", kind = "choice", ask = "Is it good?", options = ["a", "b"] }]
"""


def write_study(folder: Path, options: str = OPTIONS, **row: Any) -> Path:
    (folder / "media").mkdir(parents=True)
    (folder / "media" / "a b.png").write_bytes(PNG)
    (folder / "text.md").write_text("Read.\n")
    item = {"id": "i1", "picture": "media/a b.png", "note": "**Look**", **row}
    (folder / "items.jsonl").write_text(json.dumps(item) + "\n")
    (folder / "gold.png.jsonl").write_text(SECRET)
    (folder / "study.toml").write_text(
        f"""\
study = {{ title = "Pictures", contact = "team@example.org", consent = "text.md" }}
[[stage]]
name = "only"
title = "The only stage"
task = "form"
guidelines = "text.md"
items = {{ file = "items.jsonl" }}
judgments = 5
{options}"""
    )
    return folder


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    opened = open_study(write_study(tmp_path / "study"))
    yield opened
    opened.close()


def client_of(study: Study, folder: Path, name: str) -> TestClient:
    client = TestClient(create_app(study, folder=folder))
    client.get(invitation_path(study_sessions(study), name))
    client.post("/consent", data={"agree": "yes"})
    return client


def picture_for(client: TestClient) -> str:
    item = client.post("/api/stages/only/next").json()["assignment"]["item"]
    assert item["rendered"] == {"note": "<p><strong>Look</strong></p>\n"}
    address: str = item["picture"]
    return address


def test_the_worker_who_has_the_item_gets_the_file_and_ranges_of_it(study: Study, tmp_path: Path) -> None:
    client = client_of(study, tmp_path / "study", "ada")
    address = picture_for(client)
    assert "media/a" not in address
    whole = client.get(address)
    assert (whole.status_code, whole.content, whole.headers["content-type"]) == (200, PNG, "image/png")
    assert whole.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in whole.headers["content-security-policy"]
    part = client.get(address, headers={"Range": "bytes=8-11"})
    assert (part.status_code, part.content) == (206, PNG[8:12])
    assert part.headers["content-range"] == f"bytes 8-11/{len(PNG)}"
    assert client.get(address, headers={"Range": "bytes=9999999-"}).status_code == 416
    policy = client.get("/stages/only").headers["content-security-policy"]
    assert "media-src 'self'" in policy
    assert "img-src 'self' data:" in policy


def test_nobody_else_does(study: Study, tmp_path: Path) -> None:
    ada = client_of(study, tmp_path / "study", "ada")
    address = picture_for(ada)
    ben = client_of(study, tmp_path / "study", "ben")
    assert ben.get(address).status_code == 404, "addresses are the worker's own"
    assert TestClient(create_app(study, folder=tmp_path / "study")).get(address).status_code == 401
    _, _, token, name = address.split("/")
    for other in (
        f"/media/{token}x/{name}",
        f"/media/{token}/other.png",
        "/media/x/a.png",
        "/media/",
        "/media",
        "/media/media/a%20b.png",
        f"/media/{token}/..%2f..%2fstudy.toml",
        "/static/../study.toml",
    ):
        answer = ada.get(other)
        assert answer.status_code in (404, 405), other
        assert SECRET not in answer.text
    assert TestClient(create_app(study)).get(address).status_code == 401


def test_only_the_software_s_own_files_are_sent_packed(study: Study, tmp_path: Path) -> None:
    client = client_of(study, tmp_path / "study", "ada")
    page = client.get("/stages/only").text
    own = re.findall(r'(?:src|href)="(/(?:static|tasks)/[^"]+\.(?:js|css)[^"]*)"', page)
    assert own
    for address in own:
        whole = client.get(address, headers={"Accept-Encoding": "identity"})
        packed = client.get(address, headers={"Accept-Encoding": "gzip"})
        assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "Accept-Encoding")
        assert packed.text == whole.text and "content-encoding" not in whole.headers
    item = client.post("/api/stages/only/next", headers={"Accept-Encoding": "gzip"})
    for answer in (
        item,
        *(
            client.get(address, headers={"Accept-Encoding": "gzip"})
            for address in (
                "/",
                "/stages/only",
                "/login",
                "/openapi.json",
                item.json()["assignment"]["item"]["picture"],
            )
        ),
    ):
        assert answer.status_code == 200 and "content-encoding" not in answer.headers, answer.url


@pytest.mark.parametrize(
    "place",
    [
        "../outside.png",
        "/etc/passwd",
        "media/../../outside.png",
        "study.toml",
        "gold.png.jsonl",
        "media",
        "media/link.png",
        ".hidden/a.png",
        "media/no such.png",
        "media/\0.png",
        "",
    ],
)
def test_only_files_of_the_folder_that_a_browser_shows_are_ever_sent(tmp_path: Path, place: str) -> None:
    folder = write_study(tmp_path / "study")
    (tmp_path / "outside.png").write_bytes(PNG)
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "a.png").write_bytes(PNG)
    (folder / "media" / "link.png").symlink_to(tmp_path / "outside.png")
    assert file_within(folder, place) is None
    assert file_within(folder, "media/a b.png") == folder / "media" / "a b.png"


def test_check_reports_files_that_are_not_there_once(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "study")
    rows = [{"id": f"i{number}", "picture": f"media/{number}.png", "note": "x"} for number in range(60)]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (problem,) = check_folder(folder)[1]
    assert "items name 60 files that the study folder does not have" in str(problem)


def test_check_warns_of_recordings_that_are_a_burden_on_a_phone(tmp_path: Path) -> None:
    options = OPTIONS.replace('look = "picture"', 'look = "audio"')
    folder = write_study(tmp_path / "study", options, picture="media/long.wav")
    with (folder / "media" / "long.wav").open("wb") as file:
        file.truncate(20 * 10**6)
    assert not any("recording" in note for note in study_notes(load_folder(folder)))
    with (folder / "media" / "long.wav").open("wb") as file:
        file.truncate(20 * 10**6 + 1)
    assert any("only: 1 recording is larger than 20 MB" in note for note in study_notes(load_folder(folder)))


def test_feedback_in_practice_shows_the_picture_itself(tmp_path: Path) -> None:
    options = OPTIONS.replace('item = "picture", look', 'item = "picture", alt = "note", look')
    folder = write_study(tmp_path / "study", options)
    known = {"answer": {"ok": "a"}, "explanation": "It is good."}
    row = {"id": "i1", "picture": "media/a b.png", "note": "A square", **known}
    (folder / "items.jsonl").write_text(json.dumps(row) + "\n")
    text = (folder / "study.toml").read_text()
    text = text.replace("items = {", "round = {").replace('.jsonl" }', '.jsonl", feedback = "at once" }')
    gate = '[[gate]]\nname = "passed"\nstage = "only"\nthreshold = 0.5\n'
    (folder / "study.toml").write_text(text.replace("judgments = 5\n", "") + gate)
    opened = open_study(folder)
    try:
        client = client_of(opened, folder, "ada")
        item = client.post("/api/stages/only/next").json()["assignment"]
        sent = {"key": "key-00000001", "answer": {"ok": "b"}}
        feedback = client.post(f"/api/assignments/{item['id']}/submit", json=sent).json()["feedback"]
        (picture, _) = feedback["details"]["shown"]
        assert (picture["look"], picture["alt"]) == ("picture", "A square")
        assert client.get(picture["media"]).content == PNG
        assert "media/a b.png" not in json.dumps(feedback["details"])
    finally:
        opened.close()


def test_listed_servers_are_let_in_by_the_page_s_policy(tmp_path: Path) -> None:
    options = OPTIONS.replace("[stage.options]", '[stage.options]\nhosts = ["https://media.example.org"]')
    folder = write_study(tmp_path / "study", options, picture="https://media.example.org/a.png")
    study = open_study(folder)
    try:
        client = client_of(study, folder, "ada")
        assert picture_for(client) == "https://media.example.org/a.png"
        policy = client.get("/stages/only").headers["content-security-policy"]
        assert "img-src 'self' https://media.example.org data:" in policy
        assert "media-src 'self' https://media.example.org" in policy
        assert "script-src 'self';" in policy
    finally:
        study.close()


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "![tracker](https://elsewhere.example/a.png)",
        "<iframe src=https://elsewhere.example>",
        '<a href="https://x" onclick="alert(1)" style="position:fixed">x</a>',
        "<svg><animate onbegin=alert(1)>",
        "`<style>*{display:none}</style>`",
        "[x]: https://elsewhere.example/a.png\n![x]",
    ],
)
def test_markdown_of_items_runs_and_loads_nothing(text: str) -> None:
    found = Elements()
    found.feed(strangers_markdown(text))
    assert {tag for tag, _ in found.all} <= {"p", "code", "a"}
    for _, attributes in found.all:
        assert attributes.keys() <= {"href", "rel", "target"}
        assert attributes.get("href", "https://").startswith("https://")


class Elements(HTMLParser):
    """All elements of a page, with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, {name: value or "" for name, value in attrs}))


def test_markdown_keeps_what_people_write() -> None:
    html = strangers_markdown(
        "# A\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```py\nx < 1\n```\n\n[site](https://a.example)"
    )
    for wanted in (
        "<h1>A</h1>",
        "<td>1</td>",
        "x &lt; 1",
        'href="https://a.example"',
        'rel="noopener noreferrer nofollow"',
    ):
        assert wanted in html
