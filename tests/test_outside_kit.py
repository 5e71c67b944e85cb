"""A kit from a package of its own does all that a built-in kit does, and one that is broken stops nobody else.

The kit is `tests/outside_kit`. It is installed once, and its own tests run in a process that has it.
"""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, expect

import chorale
from browsing import CHROMIUM, PATIENCE_MS, PHONE, WIDER_THAN_SCREEN, Watch, Worker, barriers, tab_to
from chorale.cli import app
from chorale.metrics.family import Family
from chorale.model import UserError
from chorale.registry import Command, Kit, ReportSection, installed
from chorale.testing import KIT_CHECKS, ContractError, KitCheck, check_kit
from serving import HOST, free_port, stop_process, wait_until_up
from small_study import write_small_study

TESTS = Path(__file__).parent
OUTSIDE = TESTS / "outside_kit"


def environment(*folders: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders)), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def run(where: Path, *arguments: object, packages: Path, status: int = 0) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=where,
        env=environment(packages),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the kit, installed from its own package."""
    folder = tmp_path_factory.mktemp("outside")
    target = folder / "installed"
    install = ("-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", target, OUTSIDE)
    run(folder, *install, packages=target)
    return target


@pytest.mark.parametrize("kit", installed().kits.values(), ids=list(installed().kits))
@pytest.mark.parametrize("check", KIT_CHECKS, ids=repr)
def test_every_built_in_kit_keeps_its_promises(check: KitCheck, kit: Kit) -> None:
    check(kit)


def test_the_outside_kit_does_all_that_a_built_in_does(packages: Path) -> None:
    assert "ranking" not in installed().kits
    done = run(TESTS.parent, "-m", "pytest", "-q", "-p", "no:cacheprovider", OUTSIDE / "tests", packages=packages)
    assert " passed" in done.stdout


# In a browser


@pytest.fixture
def address(packages: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a study of the kit's template, served by a process that has the kit."""
    run(tmp_path, "-m", "chorale", "new", "study", "--template", "ranking", packages=packages)
    port = free_port()
    serve = [sys.executable, "-m", "chorale", "serve", "study", "--port", str(port)]
    with (
        (tmp_path / "log").open("w+") as log,
        subprocess.Popen(serve, cwd=tmp_path, env=environment(packages), stdout=log, stderr=log, text=True) as site,
    ):
        try:
            wait_until_up(port, tmp_path / "log")
            yield f"http://{HOST}:{port}"
        finally:
            stop_process(site)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`")
def test_texts_are_ordered_by_keyboard_and_by_thumb(
    chromium: Browser, address: str, packages: Path, tmp_path: Path
) -> None:
    invite = ("-m", "chorale", "invite", "study", "--count", "2", "--public-url", address, "--json")
    links = json.loads(run(tmp_path, *invite, packages=packages).stdout)["links"]
    watch = Watch(address)
    workers = []
    for link, options in zip(links, ({"viewport": {"width": 1000, "height": 800}}, PHONE), strict=True):
        context = chromium.new_context(base_url=address, reduced_motion="reduce", **options)
        context.set_default_timeout(PATIENCE_MS)
        watch.over(context)
        expect(context.request.get(link)).to_be_ok()
        expect(context.request.post("/consent", form={"agree": "yes"})).to_be_ok()
        workers.append(Worker(context.new_page()).open("summaries"))
    submitted = _by_keyboard(workers[0])
    with closing(sqlite3.connect(tmp_path / "study" / "study.db")) as database:
        ((answer,),) = database.execute("SELECT answer FROM response").fetchall()
    assert json.loads(answer) == submitted
    _by_thumb(workers[1])
    assert watch.complaints == []


def _by_keyboard(worker: Worker) -> list[str]:
    """Orders the first texts from last to first; their names in that order."""
    page = worker.page
    worker.at_question(1)
    places = page.locator("#task-root .ranking-place")
    names = [str(box.get_attribute("value")) for box in page.locator("#task-root input").all()]
    page.wait_for_timeout(550)  # before that, Enter may be meant for the question before
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.locator("#form-error")).to_contain_text("Choose every text")
    tab_to(page, page.locator("#task-root input").nth(1))
    page.keyboard.press("Space")
    page.keyboard.press("1")
    expect(places).to_have_text(["3.", "2.", "1."])
    page.reload()
    expect(places).to_have_text(["3.", "2.", "1."])
    page.wait_for_timeout(550)
    page.keyboard.press("Enter")
    expect(page.locator("#panel-feedback, [aria-label='Question 2']").filter(visible=True)).to_be_visible()
    return names[::-1]


def _by_thumb(worker: Worker) -> None:
    page = worker.page
    assert page.evaluate(WIDER_THAN_SCREEN) <= 0
    assert barriers(page) == ""
    texts, places = page.locator("#task-root .ranking-text"), page.locator("#task-root .ranking-place")
    for number in (1, 0, 2):
        texts.nth(number).tap()
    expect(places).to_have_text(["2.", "1.", "3."])
    texts.nth(1).tap()
    expect(places).to_have_text(["1.", "", "2."])
    texts.nth(1).tap()
    expect(places).to_have_text(["1.", "3.", "2."])


# Kits that are broken


KIT = "from chorale.registry import Command, Kit\nKIT = Kit(name={name!r}, summary='Broken.', {parts})\n"
BROKEN = {
    "raising": "raise RuntimeError('out of order')\n",
    "no_kit": "KIT = 'a text'\n",
    "same_task": KIT.format(name="same_task", parts="tasks={'form': 'same_task:TASK'}"),
    "same_command": KIT.format(
        name="same_command", parts="commands=(Command(('status',), 'Clash.', 'same_command:status'),)"
    ),
    "no_group": KIT.format(name="no_group", parts="commands=(Command(('nowhere', 'x'), 'Lost.', 'no_group:x'),)"),
}


@pytest.fixture(scope="session")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with packages that each register something wrong."""
    folder = tmp_path_factory.mktemp("broken")
    for name, text in {**BROKEN, "old": "TASK = None\n"}.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
        about = folder / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", "utf-8")
        group, part = ("chorale.tasks", "TASK") if name == "old" else ("chorale.kits", "KIT")
        (about / "entry_points.txt").write_text(f"[{group}]\n{name} = {name}:{part}\n", "utf-8")
    return folder


def test_broken_kits_are_reported_once_and_stop_no_other_study(broken: Path, tmp_path: Path) -> None:
    write_small_study(tmp_path / "study", applications=4, gold=2)
    done = run(tmp_path, "-m", "chorale", "check", "study", packages=broken)
    assert "no errors" in done.stdout
    for message in (
        "The kit `raising` of the package raising could not be loaded: RuntimeError: out of order.",
        "The kit `no_kit` of the package no-kit could not be loaded: TypeError: no_kit:KIT is str,",
        "The kit `old` of the package old could not be loaded: TypeError: it registers a task as `chorale.tasks`;",
        "`chorale nowhere x` (no_group:x) is in a group that no package declares.",
    ):
        assert " ".join(done.stderr.split()).count(message) == 1, done.stderr
    assert "Traceback" not in done.stderr


def test_a_study_that_needs_a_broken_kit_is_refused_with_what_to_do(broken: Path, tmp_path: Path) -> None:
    write_small_study(tmp_path / "study", applications=4, gold=2)
    settings = tmp_path / "study" / "study.toml"
    text = settings.read_text("utf-8")
    settings.write_text(text.replace('task = "rules-meaningful"', 'task = "raising"', 1), "utf-8")
    done = run(tmp_path, "-m", "chorale", "check", "study", packages=broken, status=2)
    assert "there is no such task" in done.stderr
    assert "Or repair the kits that could not be loaded: no-kit, old, raising." in done.stderr
    settings.write_text(text.replace('task = "rules-meaningful"', 'task = "form"', 1), "utf-8")
    done = run(tmp_path, "-m", "chorale", "check", "study", packages=broken, status=2)
    assert "Several kits have the task `form`: forms, same_task." in done.stderr
    assert "Uninstall all but one of the packages they come from." in done.stderr


def test_a_command_that_two_packages_have_is_refused_with_what_to_do(broken: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "-m", "chorale", "status", "study", packages=broken, status=2)
    assert "Several packages have a command `chorale status`" in done.stderr
    assert "Uninstall all but one of them." in done.stderr


# What a kit must keep


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"summary": ""}, "description: it has no summary"),
        ({"tasks": {"x": "nowhere:X"}}, "tasks: the task `x` is not at nowhere:X: No module named 'nowhere'"),
        ({"tasks": {"x": "chorale.kits.forms.task:FORM"}}, "tasks: the task `x` has the name `form`"),
        ({"tasks": {"x": "chorale.model:UserError"}}, "tasks: the task `x` is type, not a chorale.contract.Task"),
        ({"families": {"x": "chorale.kits.srl.family:FAMILY"}}, "families: the metric family `x` has the name `srl`"),
        ({"readers": {"x": "chorale:__version__"}}, "functions: the reader `x` is str, not a function"),
        ({"aggregators": {"x": "chorale:nothing"}}, "functions: the aggregation method `x` is not at chorale:nothing"),
        (
            {"sections": (ReportSection("x", "X", frozenset({"form"}), "chorale:alpha"),)},
            "sections: the report section `x` is about tasks that the kit does not have: form",
        ),
        (
            {"commands": (Command(("x",), "Does x.", "chorale.cli.new:new"),)},
            "commands: the summary of `chorale x` is 'Does x.', and its function's docstring begins with 'Make a new",
        ),
        ({"templates": TESTS / "nowhere"}, "templates: no folder in "),
        ({"site": "chorale:alpha"}, "parts: the part `site` is function, not a chorale.web.parts.SitePart"),
    ],
    ids=lambda given: next(iter(given)) if isinstance(given, dict) else "",
)
def test_a_broken_promise_is_named(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractError) as refused:
        check_kit(Kit(**{"name": "broken", "summary": "It is broken.", **parts}))
    assert f"kit 'broken', {message}" in str(refused.value)
    assert "\n" not in str(refused.value), "one cause, one message"


def test_a_family_scores_its_example(tmp_path: Path) -> None:
    nothing: Any = None
    empty = Family("empty", "It measures nothing.", lambda path: path.read_text(), nothing, example=("a", "b"))
    with pytest.MonkeyPatch.context() as patch, pytest.raises(ContractError, match="families: it raises TypeError"):
        patch.setattr(sys.modules[__name__], "FAMILY", empty, raising=False)
        check_kit(Kit("broken", "It is broken.", families={"empty": f"{__name__}:FAMILY"}))


def test_without_a_kit_that_reads_there_is_no_reader(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"Unknown reader 'ranks'\. No installed kit has a reader\."):
        chorale.alpha(tmp_path / "judgments.txt", reader="ranks")
    done = CliRunner().invoke(app, ["agreement", "judgments.txt", "--reader", "ranks"])
    assert done.exit_code == 2
    assert "no installed kit has a value for this option" in done.output
