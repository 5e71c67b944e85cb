"""What people install: the wheel has every file it needs, and works where no checkout is."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest

from serving import PATIENCE_SECONDS, free_port, stop_process, wait_until_up

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "chorale"
IN_CODE = {"__pycache__"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Built from a copy, so that nothing the build leaves behind lands in the checkout.
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(PACKAGE, source / "src" / "chorale", ignore=shutil.ignore_patterns("__pycache__"))
    out = tmp_path_factory.mktemp("wheel")
    _run(source, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out))
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel unpacked into it by pip, and nothing else."""
    target = tmp_path_factory.mktemp("installed")
    _run(target, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(target), str(wheel))
    return target


def _run(where: Path, *arguments: str, path: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=where,
        env=_environment(path),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _environment(path: Path | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CHORALE"))}
    kept |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONUNBUFFERED": "1"}
    return kept if path is None else {**kept, "PYTHONPATH": str(path)}


def test_the_wheel_has_every_file_of_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if name.startswith("chorale/")}
    expected = {
        f"chorale/{path.relative_to(PACKAGE).as_posix()}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and not IN_CODE & set(path.parts)
    }
    assert names == expected
    # The same again by name, so that a file can't go missing from both.
    for needed in (
        "chorale/py.typed",
        "chorale/web/templates/base.html",
        "chorale/web/templates/worker/work.html",
        "chorale/web/templates/console/overview.html",
        "chorale/web/static/chorale.css",
        "chorale/web/static/work.js",
        "chorale/kits/rules/tasks/meaningful/form.html",
        "chorale/kits/rules/tasks/entailment/form.html",
        "chorale/kits/forms/task/browser/page.html",
        "chorale/kits/forms/task/browser/form.js",
        "chorale/kits/forms/task/browser/spans.js",
        "chorale/kits/forms/task/browser/form.css",
        "chorale/kits/forms/task/browser/kinds/slider.html",
        "chorale/kits/forms/gallery/image-boxes/pictures/a.svg",
        "chorale/kits/forms/gallery/audio-segments/sounds/a.wav",
        "chorale/store/migrations/env.py",
        "chorale/store/migrations/script.py.mako",
        "chorale/store/migrations/versions/0001_the_foundation.py",
        "chorale/kits/rules/templates/rules/study.toml",
        "chorale/kits/rules/templates/rules/applications.jsonl",
        "chorale/kits/rules/templates/rules/guidelines/meaningful.md",
        "chorale/kits/forms/templates/form/study.toml",
        "chorale/kits/qasrl/templates/qasrl/rounds/round-1.jsonl",
        "chorale/kits/questions/templates/mcq-trial/rehearsal.toml",
    ):
        assert needed in names


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (info,) = {name.split("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        metadata = archive.read(f"{info}/METADATA").decode()
        scripts = archive.read(f"{info}/entry_points.txt").decode()
        assert f"{info}/licenses/LICENSE" in archive.namelist()
    assert "License-Expression: Apache-2.0" in metadata
    assert "Requires-Python: >=3.11" in metadata
    assert "chorale = chorale.cli:main" in scripts


@pytest.fixture(scope="module")
def site(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The site of a new study, made, checked and served by the installed package."""
    where = tmp_path_factory.mktemp("elsewhere")
    imported = _run(where, "-P", "-c", "import chorale; print(chorale.__file__)", path=installed)
    assert Path(imported.strip()).is_relative_to(installed)
    _run(where, "-P", "-m", "chorale", "new", "study", "--template", "rules", path=installed)
    assert "no errors" in _run(where, "-P", "-m", "chorale", "check", "study", path=installed)
    port = free_port()
    with (where / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-P", "-m", "chorale", "serve", "study", "--port", str(port)],
            cwd=where,
            env=_environment(installed),
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            wait_until_up(port, where / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            stop_process(server)
    assert (where / "study" / "study.db").is_file()


def test_the_installed_package_serves_its_pages(site: str) -> None:
    with httpx.Client(base_url=site, follow_redirects=True, trust_env=False, timeout=PATIENCE_SECONDS) as client:
        start = client.get("/")
        assert start.status_code == 200
        assert "Open the link you were given" in start.text
        for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', start.text):
            assert client.get(address).status_code == 200, address
        assert client.get("/static/work.js").headers["content-type"].startswith("text/javascript")
        assert client.get("/login").status_code == 200
        client.get("/join", params={"PROLIFIC_PID": "0123456789abcdef01234567"})
        assert client.post("/consent", data={"agree": "yes"}).status_code == 200
        work = client.get("/stages/meaningful")
        assert work.status_code == 200
        assert "Does this phrase mean something?" in work.text
        assert client.post("/api/stages/meaningful/next").json()["status"] == "item"
