"""Your own people: links of every kind, lists of addresses, other panels, the public page."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from starlette.testclient import TestClient

from browsing import Site
from chorale.audit.verify import verify
from chorale.cli import app
from chorale.engine.arrivals import arrival_url, by_url
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.files.addresses import read_addresses
from chorale.folder.panel_notes import about_panel
from chorale.folder.reading import check_folder, load_folder
from chorale.model import ArrivalSettings, ProlificFilter, ProlificStudy, UserError
from chorale.model.panels import PANELS
from chorale.web.app import create_app
from chorale.web.links import invitation_path, study_sessions
from serving import PATIENCE_SECONDS
from small_study import write_small_study

PUBLISHED = '[[prolific.study]]\nname = "a"\ndescription = "x"\nplaces = 1\nminutes = 1\nreward = 5'
ENTER_CODE = "enter this code. It shows that you have finished"


def chorale(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.output


def links(*arguments: object) -> list[str]:
    made: list[str] = json.loads(chorale("invite", *arguments, "--json"))["links"]
    return [link.removeprefix("http://127.0.0.1:8000") for link in made]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "study"
    write_small_study(made, entailment_extra='qualifications = ["invited-entailment"]')
    return made


@pytest.fixture
def study(folder: Path) -> Iterator[Study]:
    opened = open_study(folder)
    yield opened
    opened.close()


@pytest.fixture
def site(study: Study) -> Iterator[TestClient]:
    with TestClient(create_app(study)) as client:
        yield client


def who(site: TestClient) -> str:
    """The name of whoever is signed in, as their own page has it."""
    site.post("/consent", data={"agree": "yes"})
    found = re.search(r'data-owner="(w-\w+)"', site.get("/").text)
    assert found is not None
    return found[1]


def as_somebody_else(site: TestClient, path: str) -> str:
    site.cookies.clear()
    assert site.get(path).status_code == 200
    return who(site)


def test_a_link_is_one_worker_and_can_be_revoked_alone(folder: Path, study: Study, site: TestClient) -> None:
    one, two = links(folder, "--count", 2)
    first = as_somebody_else(site, one)
    assert as_somebody_else(site, one) == first != as_somebody_else(site, two)
    listed = json.loads(chorale("invite", folder, "--list", "--json"))["invitations"]
    assert [(row["kind"], row["uses"]) for row in listed] == [("single", 1), ("single", 1)]
    shown = chorale("invite", folder, "--list")
    assert "single" in shown and "Links of experts and viewers are on the console's page Team" in shown
    chorale("invite", folder, "--revoke", listed[0]["id"])
    assert "no valid link" in chorale("invite", folder, "--revoke", listed[0]["id"], code=2)
    site.cookies.clear()
    refused = site.get(one)
    assert (refused.status_code, "no longer valid" in refused.text) == (403, True)
    assert site.get(two).status_code == 200
    # Made before links were written down: still good, and forged ones never are.
    early = invitation_path(study_sessions(study), "an-early-one")
    assert as_somebody_else(site, early) == as_somebody_else(site, early)
    for forged in (one[:-2] + "xx", "/join/an-early-one", early.replace("join/", "join/Im5ldyI.")):
        assert site.get(forged).status_code in (403, 404), forged


def test_a_reusable_link_is_somebody_new_each_time_up_to_a_number(folder: Path, site: TestClient) -> None:
    [link] = links(folder, "--reusable", "--count", 2)
    first = as_somebody_else(site, link)
    # The same browser again is the same person.
    site.get(link)
    assert who(site) == first
    assert as_somebody_else(site, link) != first
    site.cookies.clear()
    assert "All places" in site.get(link).text


def test_a_link_to_a_stage_lets_into_it(folder: Path, study: Study, site: TestClient) -> None:
    [plain] = links(folder)
    [there] = links(folder, "--stage", "entailment")
    as_somebody_else(site, plain)
    assert site.post("/api/stages/entailment/next").json()["status"] == "locked"
    as_somebody_else(site, there)
    assert site.post("/api/stages/entailment/next").json()["status"] != "locked"
    assert str(site.get(there).url).endswith("/stages/entailment")
    assert "no stage" in chorale("invite", folder, "--stage", "entailmnt", code=2)
    assert study.store.read(lambda tx: verify(tx, study)).result().differences == []


def test_every_address_gets_a_link_of_its_own_once(
    folder: Path, study: Study, site: TestClient, tmp_path: Path
) -> None:
    people, out = tmp_path / "people.csv", tmp_path / "links.csv"
    people.write_text(
        'name,email\n"Doe, A",A@example.org\nB,b@example.org\nA again,a@EXAMPLE.org\n=1+1,=cmd@example.org\n'
    )
    chorale("invite", folder, "--emails", people, "--out", out)
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["email"] for row in rows] == ["a@example.org", "b@example.org", "'=cmd@example.org"]
    assert out.stat().st_mode & 0o777 == 0o600, "anyone with a link can join"
    people.write_text("b@example.org\nc@example.org\n")
    assert "already exists" in chorale("invite", folder, "--emails", people, "--out", out, code=2)
    chorale("invite", folder, "--emails", people, "--out", out, "--force")
    again = {row["email"]: row["link"] for row in csv.DictReader(out.read_text().splitlines())}
    assert again["b@example.org"] == rows[1]["link"]
    people.write_text("b@example.org\n")
    assert "links for 1 address." in chorale("invite", folder, "--emails", people, "--out", out, "--force")
    assert len(json.loads(chorale("invite", folder, "--list", "--json"))["invitations"]) == 4
    as_somebody_else(site, again["c@example.org"].removeprefix("http://127.0.0.1:8000"))
    page = site.get("/").text
    offer = site.post("/api/stages/meaningful/next").json()["assignment"]["id"]
    site.post(f"/api/assignments/{offer}/submit", json={"key": "key-00000001", "answer": "yes"})
    exported = "".join(
        chorale("export", folder, "--format", name, "--out", "-") for name in ("jsonl", "workers", "ledger")
    )
    events = study.store.read(lambda tx: tx.exec_driver_sql("SELECT evidence FROM event").all()).result()
    assert "example.org" not in (exported + repr(events)).replace("team@example.org", "")
    assert "c@example.org" not in page
    # Only whoever pays them needs to know where to.
    pay = tmp_path / "pay.csv"
    chorale("pay", folder, "--yes", "--file", pay)
    assert [row["id"] for row in csv.DictReader(pay.read_text().splitlines())] == ["c@example.org"]


def test_wrong_addresses_are_all_told_and_nobody_is_invited(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "people.txt"
    file.write_text("a@example.org\nnobody\nb@@example.org\nc@example\n")
    told = chorale("invite", folder, "--emails", file, "--out", tmp_path / "o.csv", code=2)
    assert "no valid e-mail address in 3 rows (lines 2, 3, 4)" in told
    assert "found 'nobody', 'b@@example.org', 'c@example'" in told
    assert json.loads(chorale("invite", folder, "--list", "--json"))["invitations"] == []
    for options, says in (
        (("--emails", file), "needs --out"),
        (("--out", tmp_path / "o.csv"), "--out needs --emails"),
        (("--send",), "--send needs --emails"),
        (("--expert", "x", "--reusable"), "one at a time"),
        (("--emails", file, "--out", tmp_path / "o.csv", "--count", 2), "Leave out"),
        (("--emails", tmp_path / "none", "--out", tmp_path / "o.csv"), "does not exist"),
    ):
        assert says in chorale("invite", folder, *options, code=2)


@given(st.text(max_size=60))
def test_any_text_as_a_list_of_addresses_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    file = tmp_path_factory.getbasetemp() / "list.txt"
    file.write_text(text, "utf-8", errors="ignore")
    try:
        assert all("@" in one and one == one.lower() for one in read_addresses(file))
    except UserError as error:
        assert error.message


def test_the_public_page_lets_anybody_in_only_where_it_is_on(folder: Path) -> None:
    toml = (folder / "study.toml").read_text()
    study = open_study(folder)
    with TestClient(create_app(study)) as site:
        assert "Open the link you were given" in site.get("/").text
        assert site.post("/welcome").status_code == 403
    study.close()
    (folder / "study.toml").write_text(toml.replace("[arrival]\n", "[arrival]\nlanding = true\n"))
    study = open_study(folder)
    with TestClient(create_app(study)) as site:
        assert "Take part" in site.get("/").text
        site.post("/welcome")
        first = who(site)
        site.post("/welcome")
        assert who(site) == first
        site.cookies.clear()
        assert site.post("/welcome", headers={"Origin": "https://elsewhere.example"}).status_code == 403
        site.post("/welcome")
        assert who(site) != first
    study.close()


@pytest.mark.slow
def test_every_way_in_works_on_a_running_site(folder: Path) -> None:
    toml = folder / "study.toml"
    wider = 'landing = true\npanel = "our-panel"\nworker_parameter = "pid"\n'
    toml.write_text(toml.read_text().replace("[arrival]\n", f"[arrival]\n{wider}"))
    with Site(folder) as running:
        base = ("--public-url", running.url)
        [one] = json.loads(chorale("invite", folder, *base, "--json"))["links"]
        [many] = json.loads(chorale("invite", folder, *base, "--reusable", "--count", 1, "--json"))["links"]
        [stage] = json.loads(chorale("invite", folder, *base, "--stage", "entailment", "--json"))["links"]

        def come(path: str, method: str = "GET", **more: Any) -> tuple[int, str]:
            with httpx.Client(base_url=running.url, follow_redirects=True, timeout=PATIENCE_SECONDS) as browser:
                came = browser.request(method, path, **more)
                browser.post("/consent", data={"agree": "yes"})
                found = re.search(r'data-owner="(w-\w+)"', browser.get("/").text)
                return came.status_code, "" if found is None else found[1]

        assert come(one) == come(one)
        first, second = come(many), come(many)
        assert (first[0], second) == (200, (403, ""))
        assert come(stage)[0] == 200
        panel = {"pid": "person-0001"}
        assert come("/join", params=panel) == come("/join", params=panel)
        assert come("/join", params={"pid": "<script>"}) == (400, "")
        assert come("/join", params={"PROLIFIC_PID": "person-0001"}) == (400, "")
        assert come(one[:-3] + "xyz") == (403, "")
        landed = {come("/welcome", "POST")[1] for _ in range(2)}
        assert len(landed - {""}) == 2
        assert come("/welcome", "POST", headers={"Origin": "https://elsewhere.example"})[0] == 403
        everybody = running.query("SELECT panel, count(*) FROM worker_identity GROUP BY panel ORDER BY panel")
        assert everybody == [("invitation", 3), ("our-panel", 1), ("public", 2)]


def set_arrival(folder: Path, settings: str) -> None:
    start, _, rest = (folder / "study.toml").read_text().partition("[arrival]\n")
    (folder / "study.toml").write_text(f"{start}[arrival]\n{settings}\n\n{rest[rest.index('[pay]') :]}")


def test_panels_bring_their_own_names_and_ways_back(folder: Path) -> None:
    connect = ArrivalSettings.model_validate({"panel": "connect", "completion_code": "C1"})
    assert (connect.worker_parameter, connect.completion_url) == ("participantId", None)
    assert arrival_url("https://s.example", connect) == "https://s.example/join"
    own = ArrivalSettings.model_validate({"panel": "sona", "worker_parameter": "id"})
    assert arrival_url("https://s.example", own) == "https://s.example/join?id=%SURVEY_CODE%"
    unknown = ArrivalSettings(
        panel="our-panel", worker_parameter="pid", study_parameter="job", session_parameter="visit"
    )
    assert arrival_url("https://s.example", unknown) == "https://s.example/join?pid={pid}&job={job}&visit={visit}"
    assert unknown.completion_url is None
    prolific = "https://app.prolific.com/submissions/complete?cc={code}"
    assert {one.completion_url for one in (ArrivalSettings(), ArrivalSettings(panel="prolific"))} == {prolific}
    assert set(PANELS) == {"prolific", "connect", "sona", "besample", "respondent"}
    back = "https://school.sona-systems.com/webstudy_credit.aspx?experiment_id=1&credit_token=x&survey_code={worker}"
    set_arrival(folder, f'panel = "sona"\ncompletion_url = "{back}"')
    study = open_study(folder)
    with TestClient(create_app(study)) as site:
        site.get("/join", params={"sona_id": "4711"})
        site.post("/consent", data={"agree": "yes"})
        assert "survey_code" not in site.get("/").text
        offer = site.post("/api/stages/meaningful/next").json()["assignment"]["id"]
        site.post(f"/api/assignments/{offer}/submit", json={"key": "key-00000001", "answer": "yes"})
        assert "survey_code=4711" in site.get("/").text
    study.close()


def test_connect_has_a_redirect_for_the_end_and_one_for_people_stopped_early(tmp_path: Path) -> None:
    write_small_study(tmp_path, share=0.5, after=1, grace=0, applications=8)
    done, out = (
        f"https://connect.cloudresearch.com/participant/project/{name}" for name in ("AB12/complete", "AB12/x")
    )
    with pytest.raises(ValidationError, match=r"does not contain \{code\}"):
        ArrivalSettings.model_validate({"panel": "prolific", "completion_url": done})
    set_arrival(tmp_path, f'panel = "connect"\ncompletion_url = "{done}"\nscreenout_url = "{out}"')
    study = open_study(tmp_path)
    with TestClient(create_app(study)) as site:
        site.get("/join", params={"participantId": "P0123456", "assignmentId": "A1", "projectId": "B1"})
        site.post("/consent", data={"agree": "yes"})
        for number in range(40):
            reply = site.post("/api/stages/meaningful/next").json()
            if reply["status"] != "item":
                break
            token = reply["assignment"]["id"]
            assert out not in site.get("/").text
            # Half of the gold answers are "yes": too many of these are wrong.
            site.post(f"/api/assignments/{token}/submit", json={"key": f"key-{number:08}", "answer": "no"})
        assert reply["status"] == "dropped"
        page = site.get("/").text
        assert out in page and done not in page
    study.close()


def test_people_from_an_unknown_panel_are_told_what_to_do_with_the_code(folder: Path) -> None:
    set_arrival(folder, 'panel = "our-panel"\nworker_parameter = "pid"\ncompletion_code = "DONE1"')
    study = open_study(folder)
    with TestClient(create_app(study)) as site:
        site.get("/join", params={"pid": "person-0001"})
        site.post("/consent", data={"agree": "yes"})
        assert ENTER_CODE not in site.get("/").text
        offer = site.post("/api/stages/meaningful/next").json()["assignment"]["id"]
        site.post(f"/api/assignments/{offer}/submit", json={"key": "key-00000001", "answer": "yes"})
        page = site.get("/").text
    study.close()
    assert ">DONE1<" in page
    assert ENTER_CODE in page
    assert "prolific" not in page.lower()


@pytest.mark.parametrize(
    ("arrival", "told"),
    [
        ("finish_after = 1", ""),
        ('panel = "prolific"', "prolific get neither a link nor a code"),
        ('panel = "prolific"\ncompletion_code = "C1"', ""),
        ('panel = "connect"\ncompletion_code = "C1"', ""),
        ('panel = "our-panel"\nby_url = false', ""),
        ('panel = "our-panel"\ncompletion_url = "https://p.example/{code}"\ncompletion_code = "C1"', ""),
        ('panel = "our-panel"\ncompletion_url = "https://p.example/{worker}"', ""),
        (
            'panel = "our-panel"\ncompletion_url = "https://p.example/{code}"',
            "our-panel get neither a link nor a code",
        ),
        ('panel = "our-panel"\ncompletion_code = "C1"', "our-panel only see the code C1"),
        ('panel = "our-panel"', "our-panel get neither a link nor a code"),
        ('panel = "connect"', "connect get neither a link nor a code"),
        ('panel = "sona"\ncompletion_code = "C1"', "sona only see the code C1"),
    ],
)
def test_check_says_where_people_have_no_way_back(folder: Path, arrival: str, told: str) -> None:
    set_arrival(folder, arrival)
    line = (folder / "study.toml").read_text().splitlines().index("[arrival]") + 2
    notes = [note for note in json.loads(chorale("check", folder, "--json"))["notes"] if "when they finish" in note]
    assert len(notes) == bool(told), notes
    for note in notes:
        assert note.startswith(f"study.toml:{line}: people from {told} when they finish. Set `completion_")
        assert ("completion_code" in note) == ("neither" in told)


@pytest.mark.parametrize(
    ("arrival", "fix"),
    [
        ('panel = "connect"\nby_url = true', "compare who joined with the platform's own list"),
        ('panel = "connect"', "Set `by_url = true` in [arrival] to accept unsigned links"),
        ('panel = "prolific"\nby_url = true', 'Set `signed = "prolific"` in [arrival]'),
        ('panel = "prolific"', "or `by_url = true` to accept unsigned links"),
    ],
)
def test_check_names_what_can_be_done_about_unsigned_links(folder: Path, arrival: str, fix: str) -> None:
    set_arrival(folder, arrival)
    [note] = [note for note in about_panel(load_folder(folder)) if "not signed" in note]
    assert fix in note and ("signed =" in note) == ("prolific" in arrival)


@pytest.mark.parametrize(
    ("arrival", "fix"),
    [
        ('panel = "sona"', "Only links from Prolific can be verified."),
        ('panel = "prolific"', 'Set `signed = "prolific"` in [arrival].'),
        (
            f'panel = "prolific"\n{PUBLISHED}',
            "Start the site with Prolific's token in the environment variable PROLIFIC_TOKEN.",
        ),
    ],
)
def test_a_public_site_names_the_check_that_its_platform_has(folder: Path, arrival: str, fix: str) -> None:
    set_arrival(folder, arrival)
    study = open_study(folder)
    note = study.store.look(lambda tx: by_url(tx, study, preview=False, asks_prolific=False)).note
    study.close()
    assert note is not None and fix in note and ("signed =" in note) == ("signed =" in fix)


@pytest.mark.parametrize(
    ("arrival", "told"),
    [
        ('panel = "our-panel"', True),
        ('panel = "our-panel"\nworker_parameter = "pid"', False),
        ('panel = "our-panel"\nby_url = false', False),
        ('panel = "sona"', False),
        ("", False),
    ],
)
def test_check_says_where_prolifics_name_for_people_is_taken_for_another_panels(
    folder: Path, arrival: str, told: bool
) -> None:
    set_arrival(folder, arrival)
    notes = json.loads(chorale("check", folder, "--json"))["notes"]
    found = [note for note in notes if "PROLIFIC_PID" in note]
    assert len(found) == told
    for note in found:
        assert "links from our-panel" in note
        assert "Set `worker_parameter` in [arrival]" in note


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ('reward = 0\nplaces = 1\nminutes = 1\ndescription = "x"\nname = "a"', "reward"),
        ('reward = 5\nplaces = 1\nminutes = 1\ndescription = " "\nname = "a"', "blank"),
        ('reward = 5\nplaces = 1\nminutes = 1\ndescription = "x"\nname = "a"\nstages = ["nowhere"]', "no such stage"),
        (
            'reward = 5\nplaces = 1\nminutes = 1\ndescription = "x"\nname = "a"\ninvite = "nobody"',
            "no gate grants this",
        ),
    ],
)
def test_mistakes_in_the_prolific_table_are_told_with_their_line(folder: Path, table: str, says: str) -> None:
    with (folder / "study.toml").open("a") as file:
        file.write(f"\n[prolific]\n[[prolific.study]]\n{table}\n")
    found, problems = check_folder(folder)
    assert found is None
    assert any(says in str(problem) and problem.line for problem in problems), problems


def test_filters_ask_for_choices_or_a_range() -> None:
    wanted: dict[str, Any] = {"name": "a", "description": "x", "places": 1, "minutes": 1, "reward": 1}
    assert (
        ProlificStudy.model_validate({**wanted, "filters": [{"filter_id": "age", "lower": 18}]}).filters[0].lower == 18
    )
    with pytest.raises(ValueError, match="selected_values"):
        ProlificFilter.model_validate({"filter_id": "age"})
    with pytest.raises(ValueError, match="same code"):
        ProlificStudy.model_validate({**wanted, "completion_code": "A", "screenout_code": "A"})
