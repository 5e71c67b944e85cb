"""Backups that an attacker made are refused in a sentence, and write nothing outside of the study's folder."""

import json
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from chorale.cli import app
from chorale.engine.opening import open_study
from crowd import people
from small_study import write_small_study

Manifest = dict[str, Any]


def restore(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["restore", *map(str, arguments)])


@pytest.fixture
def parts(tmp_path: Path) -> dict[str, bytes]:
    """The parts of a backup."""
    folder, file = tmp_path / "study", tmp_path / "good"
    write_small_study(folder)
    study = open_study(folder)
    people(study, 1)[0].judge()
    study.close()
    made = CliRunner().invoke(app, ["backup", str(folder), str(file), "--fast"])
    assert made.exit_code == 0, made.output
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts: dict[str, bytes], file: Path) -> Path:
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            if name:  # no file in an archive can be without one
                archive.writestr(name, content)
    return file


def with_part(parts: dict[str, bytes], name: str) -> dict[str, bytes]:
    """The backup with one more part, which its manifest describes."""
    manifest = json.loads(parts["manifest.json"])
    manifest["parts"][name] = {"bytes": 4, "sha256": sha256(b"evil").hexdigest()}
    return {**parts, name: b"evil", "manifest.json": json.dumps(manifest).encode()}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("files/{outside}", id="absolute"),
        pytest.param("files/../../evil.txt", id="the folder above"),
        pytest.param("files/..\\..\\evil.txt", id="with backslashes"),
        pytest.param("files/./evil.txt", id="the same folder"),
        pytest.param("files/", id="a folder"),
        pytest.param("files", id="the folder of files"),
        pytest.param("", id="no name"),
        pytest.param("files/study.db", id="a second database"),
        pytest.param("files/study.db-wal", id="changes to the database"),
    ],
)
def test_a_part_outside_of_the_folder_is_refused(parts: dict[str, bytes], tmp_path: Path, name: str) -> None:
    """Before, `files//etc/crontab` was restored as /etc/crontab."""
    outside, target = tmp_path / "evil.txt", tmp_path / "new"
    file = packed(with_part(parts, name.format(outside=outside)), tmp_path / "evil")
    refused = restore(target, file)
    assert refused.exit_code == 2
    assert f"{file} is damaged: it has an unexpected part" in refused.stderr
    assert not outside.exists() and not target.exists()


@pytest.mark.parametrize("settings", ["[[[", "study = 3", "x = " + "[" * 5_000])
def test_a_database_whose_settings_are_none_is_refused(parts: dict[str, bytes], tmp_path: Path, settings: str) -> None:
    database = tmp_path / "database"
    database.write_bytes(parts["study.db"])
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE setting SET value = ? WHERE key = 'study'", [settings])
    content = database.read_bytes()
    manifest = json.loads(parts["manifest.json"])
    manifest["parts"]["study.db"] = {"bytes": len(content), "sha256": sha256(content).hexdigest()}
    changed_parts = {**parts, "study.db": content, "manifest.json": json.dumps(manifest).encode()}
    file = packed(changed_parts, tmp_path / "evil")
    refused = restore(tmp_path / "new", file)
    assert refused.exit_code == 2
    assert f"{file} is damaged: the settings of the study can't be read" in refused.stderr
    # The same database in a study's folder is named as damaged, and replaced if asked.
    folder = tmp_path / "study"
    (folder / "study.db").write_bytes(content)
    good = packed(parts, tmp_path / "good")
    assert "it can't be read" in restore(folder, good).stderr
    assert restore(folder, good, "--replace").exit_code == 0


def nested(_manifest: Manifest) -> bytes:
    return b"[" * 100_000


def changed(**values: object) -> Callable[[Manifest], bytes]:
    return lambda manifest: json.dumps({**manifest, **values}).encode()


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(nested, id="nested"),
        pytest.param(changed(made_at=10**18), id="made in the far future"),
        pytest.param(changed(made_at=-(10**18)), id="made in the far past"),
    ],
)
def test_a_manifest_that_nobody_made_is_refused(
    parts: dict[str, bytes], tmp_path: Path, change: Callable[[Manifest], bytes]
) -> None:
    manifest = change(json.loads(parts["manifest.json"]))
    file = packed({**parts, "manifest.json": manifest}, tmp_path / "evil")
    refused = restore(tmp_path / "new", file)
    assert refused.exit_code == 2 and f"{file} is damaged: " in refused.stderr, refused.exception


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("[" * 4_000, id="nested"),
        pytest.param({"bytes": float("inf")}, id="an endless file"),
        pytest.param({"n": 1}, id="a key without cost"),
        pytest.param({"nonce": "00"}, id="a short nonce"),
        pytest.param({"salt": ""}, id="no salt"),
    ],
)
def test_an_encrypted_backup_with_an_invalid_header_is_refused(
    parts: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: str | dict[str, object]
) -> None:
    pytest.importorskip("cryptography")
    usual = {"version": 1, "salt": "00" * 16, "nonce": "00" * 12, "n": 2, "r": 8, "p": 1, "check": "00", "bytes": 4}
    line = header if isinstance(header, str) else json.dumps({**usual, **header})
    file = tmp_path / "evil"
    file.write_bytes(b"chorale backup, encrypted\n" + line.encode() + b"\n" + bytes(20))
    monkeypatch.setenv("CHORALE_PASSPHRASE", "correct horse battery staple")
    refused = restore(tmp_path / "new", file)
    assert refused.exit_code == 2 and f"{file} is damaged: its first lines" in refused.stderr, refused.exception
