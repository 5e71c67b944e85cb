"""What people install is called chorale-crowd, and the files beside it are valid."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import chorale
from chorale.registry.installed import installed

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
HINTED = re.compile(r"pip install[^\n`]*?['\" ](?P<name>[a-z][a-z0-9-]*)\[")


def test_hints_install_our_own_package() -> None:
    # On the package index, `chorale` is a program of somebody else.
    assert PYPROJECT["project"]["name"] == "chorale-crowd"
    files = [path for folder in ("src", "docs") for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".md"}]
    hints = [match["name"] for path in (*files, ROOT / "README.md") for match in HINTED.finditer(path.read_text())]
    assert set(hints) == {"chorale-crowd"}
    assert len(hints) > 1


def test_an_earlier_install_under_the_old_name_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kits = PYPROJECT["project"]["entry-points"]["chorale.kits"]
    info = tmp_path / "chorale-0.0.9.dist-info"
    info.mkdir()
    lines = ["[chorale.kits]", *(f"{name} = {place}" for name, place in kits.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    registry = installed.__wrapped__()
    assert registry.broken == ()
    assert set(kits) <= set(registry.kits)


def test_the_citation_names_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {chorale.__version__}\n" in citation
    assert f"\nlicense: {PYPROJECT['project']['license']}\n" in citation
    assert f"## [{chorale.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_source_distribution_has_the_files_that_readme_and_make_need() -> None:
    """Before, it lacked SECURITY.md, which README links, and mkdocs.yml, without which `make docs` fails."""
    included = set(PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"])
    linked = set(re.findall(r"\]\(([^):#/]+)[^)]*\)", (ROOT / "README.md").read_text()))
    assert {"SECURITY.md", "CHANGELOG.md"} < linked
    assert {*linked, "mkdocs.yml"} <= included


def test_the_container_file_has_no_faults() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    if not hadolint.exists():
        pytest.skip("hadolint is not installed")
    done = subprocess.run([hadolint, ROOT / "deploy" / "Containerfile"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_systemd_unit_has_no_faults(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    unit = (ROOT / "deploy" / "chorale.service").read_text()
    installed_unit = tmp_path / "chorale.service"
    installed_unit.write_text(unit.replace("/srv/chorale/venv/bin/chorale", "/bin/true"))
    done = subprocess.run(["systemd-analyze", "verify", installed_unit], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
