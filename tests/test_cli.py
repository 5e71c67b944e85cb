"""The command line, through its real entry point."""

import csv
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import httpx2 as httpx
import pytest
from click.testing import CliRunner, Result

from chorale import __version__
from chorale.cli import app
from chorale.cli.addresses import port_of, reserve
from chorale.cli.groups import INTERRUPTED
from chorale.engine.opening import open_study
from chorale.model import UserError
from chorale.model.problems import DamagedError
from chorale.store.settings import set_setting
from conftest import ManualClock
from crowd import people, work_through
from serving import free_port
from small_study import write_small_study

DOCS = Path(__file__).parents[1] / "docs"
COMMANDS = (
    "new", "design", "check", "rehearse", "simulate", "serve", "status", "export", "report", "verify", "forget",
    "retention", "person", "gold", "invite", "team", "mail", "publish", "sync", "message", "review", "pay", "password",
    "rotate", "backup", "restore", "pause", "resume", "close", "aggregate", "agreement", "annotate", "models",
    "estimate", "irt", "reproduce",
)  # fmt: skip
OF_KITS = ("keys", "mturk", "demo")
FAMILIES = ("prepare", "import", "learn", "evaluate", "browse", "train", "parse", "baseline")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def chorale(*arguments: object, code: int = 0, **options: Any) -> Result:
    """Run a command; nothing it prints moves the cursor, and no mistake shows a traceback."""
    given = [str(argument) for argument in arguments]
    if given[:1] == ["serve"] and "--port" not in given:
        given[1:1] = ["--port", "0"]  # whatever else runs on this machine
    result = CliRunner().invoke(app, given, **options)
    assert result.exit_code == code, (result.output, result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert not CONTROL.search(result.output)
    return result


def chorale_json(*arguments: object, code: int = 0) -> dict[str, Any]:
    result = chorale(*arguments, "--json", code=code)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A study nobody has started."""
    write_small_study(tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def judged(fresh: Path) -> Path:
    """A study whose first application splits the crowd and whose others everybody agrees on."""
    study = open_study(fresh, clock=ManualClock())
    everyone = people(study, 8)
    for stage in ("meaningful", "entailment"):
        work_through(everyone, lambda person, offer: "no" if _is_first(offer.view) and person.id % 2 else "yes", stage)
    study.close()
    return fresh


def _is_first(view: dict[str, str] | None) -> bool:
    return view is not None and next(iter(view.values())).endswith(" 0")


# The command itself


def test_help_lists_every_command_and_every_command_has_help() -> None:
    text = chorale("--help").stdout
    assert "..." not in text.partition("Commands:")[2], "a summary is cut"
    for command in (*COMMANDS, *OF_KITS):
        assert re.search(rf"^  {command} ", text, re.MULTILINE)
        assert "Usage: " in chorale(command, "--help").stdout
    # The families, which have commands of their own, and then the commands that kits bring.
    assert tuple(re.findall(r"^  (\w+)  ", text, re.MULTILINE)) == (*COMMANDS, *FAMILIES, *OF_KITS)


def all_commands(group: click.Group) -> Iterator[click.Command]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from all_commands(command)
        else:
            yield command


def test_help_names_only_options_that_the_command_has() -> None:
    for command in all_commands(app):
        options = [each for each in command.params if isinstance(each, click.Option)]
        known = {name for each in options for name in (*each.opts, *each.secondary_opts)}
        for option in options:
            # What stands in backquotes is another command with its options.
            own = re.sub(r"`[^`]*`", "", option.help or "")
            assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", own)) <= known, (command.name, option.opts)


def test_the_version() -> None:
    assert chorale("--version").stdout == f"chorale {__version__}\n"


@pytest.mark.parametrize("arguments", [("--nonsense",), ("nonsense",), ("status",), ("status", "x", "--nonsense")])
def test_bad_usage_exits_with_2(arguments: tuple[str, ...]) -> None:
    result = chorale(*arguments, code=2)
    assert result.stdout == ""
    assert "chorale" in result.stderr


def imported_by(*arguments: object) -> set[str]:
    """What a command imports, which is the same on any machine, however busy."""
    command = [sys.executable, "-X", "importtime", "-m", "chorale", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines()}


def test_frames_are_scored_without_dataframes(tmp_path: Path) -> None:
    (tmp_path / "crowd.csv").write_text("sent_id,frame,fss\na,Giving,0.9\na,Motion,0.2\n", "utf-8")
    imported = imported_by("evaluate", "frames", tmp_path / "crowd.csv", tmp_path / "crowd.csv")
    assert "numpy" in imported
    assert not imported & {"polars", "pandas", "scipy", "sqlalchemy"}


def test_help_is_instant() -> None:
    imported = imported_by("--help")
    slow = {"pydantic", "sqlalchemy", "fastapi", "polars", "httpx", "uvicorn", "rich.console", "asyncio", "alembic"}
    assert not imported & slow


@pytest.mark.parametrize("command", ["check", "serve", "status", "export", "verify", "gold", "invite", "password"])
def test_a_folder_that_is_no_study(command: str, tmp_path: Path) -> None:
    for folder, wrong in ((tmp_path, "study.toml"), (tmp_path / "missing", "missing: no such folder.")):
        result = chorale(command, folder, code=2)
        assert result.stdout == ""
        assert wrong in result.stderr
        assert "chorale new" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["status", "export", "verify", "gold"])
def test_a_study_that_was_never_started(command: str, fresh: Path) -> None:
    result = chorale(command, fresh, code=2)
    assert f"chorale serve {fresh}" in result.stderr
    assert not (fresh / "study.db").exists()


def test_a_database_that_is_none(judged: Path) -> None:
    (judged / "other.db").write_text("this is no database, just a text that is long enough to be read as one" * 9)
    assert "not a database" in chorale("status", judged, "--db", f"sqlite:///{judged}/other.db", code=3).stderr
    assert "mysql" in chorale("status", judged, "--db", "mysql://x", code=2).stderr
    assert (
        "can't be opened"
        in chorale("status", judged, "--db", "postgresql+psycopg://nobody@127.0.0.1:1/none", code=2).stderr
    )


@pytest.mark.parametrize("command", ["serve", "invite"])
def test_a_database_that_can_not_be(command: str, fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(fresh)
    before = set(fresh.parent.rglob("*"))
    for address, message in (
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("sqlite:///file:x?mode=memory&uri=true", "names no file"),
        ("sqlite:////nonexistent/x.db", "There is no folder /nonexistent."),
        (f"sqlite:///{fresh}/items.jsonl/x.db", "There is no folder"),
        (f"sqlite:///{fresh}", f"sqlite:///{fresh}/study.db"),
        (f"sqlite:///{fresh}/{'x' * 300}", "too long"),
        ("postgresql://host:port/name", "not a database address"),
    ):
        refused = chorale(command, fresh, "--db", address, code=2)
        assert message in refused.stderr
        assert refused.stdout == ""
    assert set(fresh.parent.rglob("*")) == before


def test_a_folder_that_is_not_writable(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests may run as root, who can write anywhere."""

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refuse)
        assert "Permission denied" in chorale("serve", fresh, code=2).stderr
    (fresh / "study.db").mkdir()
    assert "can't be opened" in chorale("serve", fresh, code=2).stderr


# Making and checking


def test_new_makes_a_study_that_checks(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    made = chorale("new", folder, "--template", "rules")
    assert f"chorale check {folder}" in made.stdout
    plan = chorale_json("check", folder)
    assert plan["ok"] is True
    assert [(stage["name"], stage["items"]) for stage in plan["stages"]] == [("meaningful", 240), ("entailment", 120)]
    first = plan["stages"][0]
    assert (first["judgments"], first["gold_answers"], first["cost"]) == (720, 80, 3200)
    assert (first["hourly_wage"], first["at_most"]) == (1462, False)
    text = chorale("check", folder).stdout
    assert "$32.00" in text
    assert "$14.62" in text


def test_check_says_what_to_look_at(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    chorale("new", folder, "--template", "rules")
    notes = chorale_json("check", folder)["notes"]
    assert len(notes) == 6, "the template has gold enough"
    assert "[institution]" in notes[0]
    assert "[ethics approval]" in notes[0]
    assert "you@example.org" in notes[1]
    assert "applications.jsonl (items: 240) still has the template's items" in notes[2], "two phrases for each row"
    assert "links from prolific are not signed" in notes[3]
    assert "people from prolific get neither a link nor a code" in notes[4]
    assert notes[5].startswith(
        "an explanation after a wrong answer reveals which items are gold (gold.feedback in stages meaningful, "
        "entailment). Workers who exchange information can recognise gold. Set"
    )
    write_small_study(tmp_path / "small", applications=60, gold=6, share=0.2)
    assert [note for note in chorale_json("check", tmp_path / "small")["notes"] if "runs out" in note] == [
        "the gold of stages meaningful, entailment runs out: a worker can do 75 items, and has seen all 6 gold items "
        "after about 30. Write 15 gold items in total, or limit max_per_worker"
    ]
    write_small_study(tmp_path / "less", applications=60, gold=6, share=0.2, meaningful_extra="max_per_worker = 30")
    text = chorale("check", tmp_path / "less").stdout
    assert "- the gold of stage entailment runs out" in text
    assert "the gold of stage meaningful runs out" not in text


def test_new_refuses_a_taken_folder_and_an_unknown_template(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.tex").write_text("years of work")
    assert "not empty" in chorale("new", tmp_path / "taken", "--template", "rules", code=2).stderr
    assert "`rules`" in chorale("new", tmp_path / "new", "--template", "rulez", code=2).stderr
    assert not (tmp_path / "new").exists()
    made = chorale_json("new", tmp_path / "new", "--template", "rules")
    assert str(tmp_path / "new" / "study.toml") in made["files"]


def test_check_tells_every_problem(fresh: Path) -> None:
    settings = fresh / "study.toml"
    settings.write_text(settings.read_text().replace("guidelines.md", "nowhere.md").replace("title =", "titel =", 1))
    (fresh / "items.jsonl").write_text('{"id": "a1", "lhs": "\x1b[31mred"}\n')
    result = chorale("check", fresh, code=2)
    assert result.stdout == ""
    assert "title" in result.stderr
    assert "nowhere.md" in result.stderr
    assert "items.jsonl:1" in result.stderr
    told = chorale_json("check", fresh, code=2)
    assert told["ok"] is False
    assert {problem["file"] for problem in told["problems"]} == {"study.toml", "items.jsonl"}
    assert all(problem["fix"] and "line" in problem and "value" in problem for problem in told["problems"])
    assert result.stderr.count("\n") == len(told["problems"]) + 1
    # A study with problems does not start.
    assert chorale("serve", fresh, code=2).stderr == result.stderr
    assert not (fresh / "study.db").exists()


# A study that runs


def test_status(judged: Path) -> None:
    told = chorale_json("status", judged)
    assert told["title"] == "A small study"
    first, second = told["stages"]
    assert (first["name"], first["items"], first["complete"], first["judgments"]) == ("meaningful", 8, 8, 24)
    assert second["items"] in (3, 4)
    assert told["spent"] == told["ledger"]["base"] == 24 * 3 + second["judgments"] * 4
    assert sum(told["outcomes"]["zeichner"].values()) == 4
    assert "stage_id" not in first
    text = chorale("status", judged).stdout
    assert "8 of 8" in text
    assert "Spent $" in text


def test_commands_do_not_bring_edited_files_in(judged: Path) -> None:
    """A server may be running with the settings the database knows; only `serve` replaces them."""
    before = chorale_json("status", judged)
    settings = judged / "study.toml"
    edited = settings.read_text().replace('title = "A small study"', 'title = "Another"')
    settings.write_text(edited + "\n[[stage]]\nname = 'half-written'\n")
    assert chorale_json("status", judged) == before
    assert chorale_json("verify", judged)["ok"] is True


def test_export_writes_a_file_and_never_overwrites_one(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(judged)
    told = chorale_json("export", judged, "--format", "zeichner")
    assert (told["format"], told["file"]) == ("zeichner", "applications.tsv")
    with Path("applications.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == told["rows"] == told["outcomes"]["entailing"]
    assert {(row["judgment"], row["confidence"]) for row in rows} == {("Yes", "1")}
    again = chorale("export", judged, "--format", "zeichner", code=2)
    assert "--force" in again.stderr
    text = chorale("export", judged, "--format", "zeichner", "--force").stdout
    assert "unfinished" in text
    chorale("export", judged, "--out", "all.jsonl")
    assert (
        len(Path("all.jsonl").read_text().splitlines()) == 24 + 3 * chorale_json("status", judged)["stages"][1]["items"]
    )


def test_export_to_standard_output(judged: Path, tmp_path: Path) -> None:
    chorale("export", judged, "--format", "labels", "--out", tmp_path / "labels.csv")
    lines = chorale("export", judged, "--format", "crowdkit", "--out", "-").stdout.splitlines()
    assert lines[0] == "task,worker,label"
    assert len(lines) > 24
    assert "--json" in chorale("export", judged, "--out", "-", "--json", code=2).stderr
    with sqlite3.connect(judged / "study.db") as database:
        noted = [json.loads(row[0]) for row in database.execute("SELECT evidence FROM event WHERE kind = 'exported'")]
    database.close()
    assert noted == [{"by": "the command line", "format": name} for name in ("labels", "crowdkit")]


def test_export_knows_its_formats(judged: Path, tmp_path: Path) -> None:
    assert "Did you mean `parquet`?" in chorale("export", judged, "--format", "parket", code=2).stderr
    for name in ("jsonl", "parquet", "zeichner"):
        result = chorale("export", judged, "--format", name, "--out", tmp_path / "missing" / "x", code=2)
        assert "can't be written: No such file or directory." in result.stderr


def test_verify_finds_what_was_tampered_with(judged: Path) -> None:
    told = chorale_json("verify", judged)
    assert (told["ok"], told["differences"]) == (True, [])
    assert told["checked"]["items"] >= 11
    assert "Everything that could be checked agrees." in chorale("verify", judged).stdout
    database = sqlite3.connect(judged / "study.db")
    with database:
        database.execute("UPDATE item SET confidence = 0.123, label = '\"no\"' WHERE key = 'a00002:lhs'")
    database.close()
    told = chorale_json("verify", judged, code=1)
    assert told["ok"] is False
    assert any("a00002:lhs" in each and "0.123" in each for each in told["differences"])
    assert "a00002:lhs" in chorale("verify", judged, code=1).stdout


def test_gold_is_listed_made_and_retired(judged: Path) -> None:
    told = chorale_json("gold", judged, "--stage", "meaningful")["stages"][0]
    assert [row["item"] for row in told["gold"]] == ["g0", "g1", "g2", "g3", "g4", "g5"]
    keys = {row["item"] for row in told["unanimous"]}
    assert "a00001:lhs" in keys
    confusing = [row["item"] for row in told["confusing"]]
    text = chorale("gold", judged).stdout
    assert "a00001:lhs" in text
    assert "--promote-unanimous" in text
    key = (confusing or ["a00003:rhs"])[0]
    promoted = chorale_json(
        "gold", judged, "--stage", "meaningful", "--promote", key, "--answer", "no", "--explanation", "It is cut off."
    )
    assert promoted == {"promoted": {"meaningful": 1}, "not_shown": [], "retired": None}
    made = chorale_json("gold", judged, "--promote-unanimous")["promoted"]
    assert made["meaningful"] == len(keys - {key})
    assert "Retired g0" in chorale("gold", judged, "--stage", "meaningful", "--retire", "g0", "--reason", "x").stdout
    rows = chorale_json("gold", judged, "--stage", "meaningful")["stages"][0]["gold"]
    assert {row["item"]: row["active"] for row in rows}["g0"] is False
    assert {row["item"]: row["answer"] for row in rows}[key] == "no"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--stage", "meaningfull"), "Did you mean `meaningful`?"),
        (("--promote", "a00001:lhs"), "--explanation"),
        (("--answer", "yes"), "--promote"),
        (("--retire", "g0"), "--reason"),
        (("--reason", "x"), "--retire"),
        (("--promote", "a00001:lhs", "--answer", "yes", "--explanation", "x"), "--stage meaningful or --stage"),
        (("--stage", "meaningful", "--promote", "zzz", "--answer", "yes", "--explanation", "x"), "zzz"),
        (("--stage", "meaningful", "--promote", "a00001:lhs", "--answer", "maybe", "--explanation", "x"), "maybe"),
        (("--stage", "meaningful", "--retire", "a00001:lhs", "--reason", "x"), "no gold"),
    ],
)
def test_gold_mistakes(judged: Path, options: tuple[str, ...], message: str) -> None:
    assert message in chorale("gold", judged, *options, code=2).stderr


def test_pause_and_resume(judged: Path) -> None:
    assert chorale_json("pause", judged, "meaningful") == {"stage": "meaningful", "state": "paused", "changed": True}
    assert chorale_json("pause", judged, "meaningful")["changed"] is False
    # Why can be told later, even where it is no text.
    assert "The reason was logged" in chorale("pause", judged, "meaningful", "--reason", "caf\udce9").stdout
    assert [stage["state"] for stage in chorale_json("status", judged)["stages"]] == ["paused", "open"]
    for options in ((), ("--reason", " ")):
        assert "--reason" in chorale("resume", judged, "meaningful", *options, code=2).stderr
    assert chorale_json("status", judged)["stages"][0]["state"] == "paused"
    assert "is open" in chorale("resume", judged, "meaningful", "--reason", " found it ").stdout
    with closing(sqlite3.connect(judged / "study.db")) as database:
        [(hurried,), (later,)] = database.execute("SELECT evidence FROM event WHERE kind = 'paused' ORDER BY id")
        [(kept,)] = database.execute("SELECT evidence FROM event WHERE kind = 'resumed'")
    assert json.loads(hurried) == {"by": "the command line"}
    assert json.loads(later) == {"by": "the command line", "reason": "caf?"}
    assert json.loads(kept) == {"by": "the command line", "reason": "found it"}
    # What is open already needs no reason to be.
    assert chorale_json("resume", judged, "meaningful", "--reason", " ")["changed"] is False
    assert "Did you mean" in chorale("pause", judged, "meaningfool", code=2).stderr


def test_a_study_without_gates_has_none_to_close(judged: Path) -> None:
    told = chorale("close", judged, "trained", code=2).stderr
    assert "This study has no gates. To stop a stage, use `chorale pause`." in told


def test_the_docs_name_every_command_without_json_and_every_exit_status() -> None:
    text = (DOCS / "commands.md").read_text("utf-8").partition("<!-- generated")[0]
    sentence = text[text.index("Four commands have no `--json`") :].partition(";")[0]
    named = set(re.findall(r"`([a-z ]+)`", sentence))
    without = {" ".join(path) for path, command in _commands(app, ()) if "--json" not in _options(command)}
    assert named == without and len(without) == 4
    for status in (2, 1, DamagedError.exit_status, INTERRUPTED):
        assert re.search(rf"with {status}\b", text), status


def _commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from _commands(below, (*path, name))


def _options(command: click.Command) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts}


def test_invite(fresh: Path) -> None:
    """Invitations can be made before the study starts."""
    links = chorale("invite", fresh, "--count", "3").stdout.splitlines()
    assert len(set(links)) == 3
    assert all(link.startswith("http://127.0.0.1:8000/join/") for link in links)
    told = chorale_json("invite", fresh, "--expert", "Dana", "--public-url", "https://study.example.org/")
    assert told["links"][0].startswith("https://study.example.org/expert/")
    assert "one at a time" in chorale("invite", fresh, "--expert", "Dana", "--count", "2", code=2).stderr
    for address in ("study.example.org", "http://[", "http://x:abc", "http://x:99999", "http://me@x", "http://x y"):
        for command in ("invite", "serve"):
            assert "https://study.example.org" in chorale(command, fresh, "--public-url", address, code=2).stderr
    assert "name" in chorale("invite", fresh, "--expert", "<b>", code=2).stderr


def test_links_of_a_study_served_beside_others_have_its_path(fresh: Path) -> None:
    with closing(open_study(fresh)) as study:
        study.store.do(lambda tx: set_setting(tx, "site", "https://old.example.org/rules"))
    for address in ("https://new.example.org", "https://new.example.org/", "https://new.example.org/rules"):
        [link] = chorale_json("invite", fresh, "--public-url", address)["links"]
        assert link.startswith("https://new.example.org/rules/join/")
    [link] = chorale_json("invite", fresh, "--public-url", "https://new.example.org/other")["links"]
    assert link.startswith("https://new.example.org/other/join/")
    told = chorale_json("team", fresh, "--invite", "Dana", "--public-url", "https://new.example.org")
    assert told["link"].startswith("https://new.example.org/rules/")


def test_password(fresh: Path) -> None:
    assert chorale_json_with_password(fresh, "correct horse") == {"name": "owner", "new": True}
    assert chorale_json_with_password(fresh, "battery staple") == {"name": "owner", "new": False}
    asked = chorale("password", fresh, input="one long password\nanother long one\n", code=2)
    assert "differ" in asked.stderr
    assert "at least" in chorale("password", fresh, env={"CHORALE_PASSWORD": "short"}, code=2).stderr
    assert "200" in chorale("password", fresh, env={"CHORALE_PASSWORD": "x" * 201}, code=2).stderr
    nobody = chorale("password", fresh, "--name", "nobody", env={"CHORALE_PASSWORD": "long enough!"}, code=2)
    assert "nobody" in nobody.stderr
    assert "CHORALE_PASSWORD" in chorale("password", fresh, input="", code=2).stderr
    # Bytes that are no UTF-8 come in like this.
    assert "UTF-8" in chorale("password", fresh, env={"CHORALE_PASSWORD": "\udcff" * 12}, code=2).stderr
    assert "UTF-8" in chorale("password", fresh, input=b"\xff" * 12 + b"\n", code=2).stderr
    changed = chorale("password", fresh, input="one long password\none long password\n")
    assert "Changed the password. Earlier sessions have ended. User name: owner" in changed.stdout


def test_the_first_password_makes_the_owner(fresh: Path) -> None:
    made = chorale("password", fresh, env={"CHORALE_PASSWORD": "correct horse"})
    assert "Created the owner's account. User name: owner" in made.stdout and "sessions" not in made.stdout


def chorale_json_with_password(folder: Path, password: str) -> dict[str, Any]:
    result = chorale("password", folder, "--json", env={"CHORALE_PASSWORD": password})
    found: dict[str, Any] = json.loads(result.stdout)
    return found


# The server


class Serving:
    """`chorale serve` as people start it."""

    def __init__(self, folder: Path, *options: object) -> None:
        self.port = free_port()
        command = [sys.executable, "-m", "chorale", "serve", folder, "--port", self.port, *options]
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout is not None
        self.printed = ""
        while "Ctrl-C" not in self.printed:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(self.process.communicate()[1])
            self.printed += line

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Without a second try: what has printed its links answers."""
        return httpx.get(f"http://127.0.0.1:{self.port}{path}", trust_env=False, timeout=60, **options)

    def end(self, number: signal.Signals) -> tuple[int, str]:
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=120)
        return self.process.returncode, errors


@pytest.fixture
def serving(judged: Path) -> Iterator[Serving]:
    server = Serving(judged, "--public-url", "https://study.example.org")
    yield server
    if server.process.poll() is None:
        server.end(signal.SIGTERM)


def test_serve_prints_links_and_other_commands_work_meanwhile(serving: Serving, judged: Path) -> None:
    assert "https://study.example.org/join?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID=" in serving.printed
    setup = re.search(r"https://study\.example\.org(/setup/\S+)", serving.printed)
    assert setup is not None
    assert serving.get(setup[1]).status_code == 200
    joined = serving.get("/join?PROLIFIC_PID=somebody&STUDY_ID=s&SESSION_ID=t")
    assert joined.status_code == 303
    assert "secure" in joined.headers["set-cookie"].lower(), "the public address is https"
    assert chorale_json("status", judged)["stages"][0]["complete"] == 8
    assert chorale_json("verify", judged)["ok"] is True
    chorale("pause", judged, "meaningful")
    link = chorale("invite", judged).stdout.strip().removeprefix("https://study.example.org")
    assert serving.get(link).status_code == 303
    assert "already open" in chorale("serve", judged, "--port", serving.port, code=2).stderr
    chorale("new", judged.parent / "another", "--template", "rules")
    taken = chorale("serve", judged.parent / "another", "--port", serving.port, code=2)
    assert "in use" in taken.stderr
    assert "--port" in taken.stderr
    assert serving.end(signal.SIGTERM) == (0, "")


def test_serve_ends_well_at_ctrl_c(serving: Serving) -> None:
    assert serving.get("/").status_code == 200
    assert serving.end(signal.SIGINT) == (0, "")


def test_a_port_is_taken_before_the_site_is_up() -> None:
    with reserve("127.0.0.1", 0) as bound:
        with pytest.raises(UserError, match="in use"):
            reserve("127.0.0.1", port_of(bound))


def test_whoever_names_a_file_for_a_kind_is_told_the_kinds(fresh: Path) -> None:
    assert "Commands: frames, qasrl." in chorale("browse", fresh, code=2).stderr
    assert "Commands: frames, labels, mcq, qasrl, rules, srl." in chorale("evaluate", "system.jsonl", code=2).stderr


def test_whoever_names_the_study_file_is_told_its_folder(fresh: Path) -> None:
    for command in ("check", "status"):
        said = chorale(command, fresh / "study.toml", code=2).stderr
        assert f"Name the folder: {fresh}\n" in said.replace("\n  ", " ")
    other = chorale("check", fresh / "consent.md", code=2).stderr
    assert "Name a study's folder" in other


def test_serve_refuses_several_processes_on_sqlite(fresh: Path) -> None:
    refused = chorale("serve", fresh, "--processes", "2", code=2)
    assert "PostgreSQL" in refused.stderr
    assert "--public-url" in chorale("serve", fresh, "--public-url", code=2).stderr
    assert "without a path" in chorale("serve", fresh, "--public-url", "https://x.org/study", code=2).stderr
    assert "not an address" in chorale("serve", fresh, "--host", "no.such.host.invalid", code=2).stderr


@pytest.mark.slow
def test_serve_with_several_processes_on_postgresql(fresh: Path, postgres_url: str) -> None:
    server = Serving(fresh, "--db", postgres_url, "--processes", 2)
    try:
        answers = [server.get(f"/join?PROLIFIC_PID=person-{number}").status_code for number in range(20)]
        assert answers == [303] * 20
        assert chorale_json("status", fresh, "--db", postgres_url)["stages"][0]["items"] == 8
    finally:
        code, _ = server.end(signal.SIGTERM)
    assert code == 0
