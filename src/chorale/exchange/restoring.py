"""Restoring a backup: the database is replaced, the epoch advances, and earlier sessions are no longer valid."""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from chorale.engine.clock import wall_clock
from chorale.engine.entering import EXPERTS_PANEL
from chorale.engine.opening import DATABASE, serving_alone
from chorale.engine.parts import tables_by_kit
from chorale.engine.sessions import RESTORED
from chorale.engine.team import note_deactivation
from chorale.engine.unknown_payouts import SETTING, SOME, note_unknown_payouts
from chorale.exchange.backing_up import BESIDE, check_backup, manifest_of, scratch_folder
from chorale.exchange.backup_files import DATABASE_MEMBER, FILES_FOLDER, Manifest, part_of, write_backup
from chorale.folder.reading import SETTINGS_FILE
from chorale.model import EXPERT, UserError
from chorale.model.plural import plural
from chorale.model.problems import DamagedError
from chorale.store import (
    DatabaseAddress,
    Tx,
    console,
    epochs,
    erasing,
    events,
    invitations,
    open_store,
    requesters,
    sessions,
    store_url,
    team,
    workers,
)
from chorale.store.copying import (
    CopyFacts,
    RowCounts,
    copy_database,
    facts_of_copy,
    in_one_file,
    in_use,
    load_into_postgresql,
    others_connected,
)
from chorale.store.invitations import InvitationRow
from chorale.store.requesters import RequesterRow
from chorale.store.team import Member


@dataclass(frozen=True, slots=True)
class Restored:
    manifest: Manifest
    epoch: int
    answers: int
    """Answers in the restored study."""
    answers_replaced: int | None
    """Answers in the replaced database; None if there was none or it could not be read."""
    kept: Path | None
    """The path of the replaced database."""
    revoked_again: list[str]
    """Names of experts, viewers and annotators whose access was revoked after the backup."""
    erased_since: list[str]
    """Pseudonyms of people who were erased after the backup and are restored with it."""
    payouts_unknown: int | None
    """Number of payouts made after the backup; None if unknown."""
    files_written: list[str]
    files_differing: list[str]
    """Files of the folder that differ from the backup and were not changed."""


class _Present(NamedTuple):
    """The database to be replaced."""

    facts: CopyFacts
    rows: RowCounts
    copy: Path


class _BeforeReplacing(NamedTuple):
    """Links and erasures in the database to be replaced."""

    requesters: list[RequesterRow]
    members: list[Member]
    invitations: list[tuple[InvitationRow, str | None]]
    erased: set[str]


def restore_backup(
    directory: Path,
    database: str | None,
    file: Path,
    passphrase: str | None,
    *,
    replace: bool = False,
    with_files: bool = False,
) -> Restored:
    """Restore a study from a backup. Nothing is changed before the whole backup has been checked."""
    if directory.exists() and not directory.is_dir():
        raise UserError(f"{directory} is not a folder. Name the study's folder, or a new one.")
    url = store_url(database, directory / DATABASE)
    with _made(directory), scratch_folder(directory) as scratch:
        backup = scratch / "backup"
        backup.mkdir()
        manifest = check_backup(file, file, backup, passphrase)
        with _alone(directory, database, url):
            present = _present(url, scratch)
            _check_replacing(directory, url, present, manifest, replace=replace)
            is_new = not (directory / SETTINGS_FILE).is_file()
            unknown = _unknown_payouts(present, facts_of_copy(backup / DATABASE_MEMBER))
            then = None if present is None else _before_replacing(present.copy)
            revoked, erased = _begin_epoch(backup / DATABASE_MEMBER, manifest, file, then, unknown, wall_clock())
            kept = _put_in_place(directory, url, backup / DATABASE_MEMBER, present, wall_clock())
            with_files = with_files or is_new
            written = _write_files(directory, manifest, backup, _stamp(wall_clock())) if with_files else []
        now = facts_of_copy(backup / DATABASE_MEMBER)
    return Restored(
        manifest,
        now.epoch,
        now.responses,
        None if present is None else present.facts.responses,
        kept,
        revoked,
        erased,
        unknown,
        written,
        _differing(directory, manifest),
    )


@contextmanager
def _made(directory: Path) -> Iterator[None]:
    """Create the folder, and remove it again if it stays empty."""
    is_new = not directory.exists()
    directory.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        if is_new and not any(directory.iterdir()):
            directory.rmdir()


@contextmanager
def _alone(directory: Path, database: str | None, url: DatabaseAddress) -> Iterator[None]:
    """Refuse while a site is running, and prevent one from opening."""
    if url.get_backend_name() == "postgresql":
        if others := others_connected(url):
            raise in_use(url, others)
        yield
        return
    with serving_alone(directory, database, f"The site of {directory} is running. Close it, then restore."):
        yield


def _present(url: DatabaseAddress, scratch: Path) -> _Present | None:
    """The current database; None if there is none or it can't be read."""
    copy = scratch / "present.db"
    if url.get_backend_name() == "sqlite" and not Path(str(url.database)).is_file():
        return None
    # A damaged database may be replaced, and a missing one created.
    with suppress(UserError, DamagedError):
        rows = copy_database(url, copy, tables_by_kit)
        return _Present(facts_of_copy(copy), rows, copy)
    return None


def _check_replacing(
    directory: Path, url: DatabaseAddress, present: _Present | None, manifest: Manifest, *, replace: bool
) -> None:
    is_there = present is not None or (url.get_backend_name() == "sqlite" and Path(str(url.database)).is_file())
    if not is_there:
        return
    if present is not None and manifest.study and present.facts.study not in ("", manifest.study):
        raise UserError(
            f"{directory} contains the study {present.facts.title!r}, but the backup is of {manifest.title!r}. "
            "Restore the backup into a new folder."
        )
    if not replace:
        have = "can't be read" if present is None else f"has {plural(present.facts.responses, 'answer', 'answers')}"
        backed_up = plural(manifest.rows.get("response", 0), "answer", "answers")
        raise UserError(
            f"A database already exists: it {have}, and the backup has {backed_up}. Add --replace to replace it with "
            "the backup. A copy of the existing database is kept."
        )


def _unknown_payouts(present: _Present | None, backup: CopyFacts) -> int | None:
    """Number of payouts missing from the backup, plus those missing since earlier restores; None if unknown."""
    before = SOME if present is None else present.facts.settings.get(SETTING, "0")
    if present is None or before == SOME:
        return None
    return int(before) + len(present.facts.payouts - backup.payouts)


def _begin_epoch(
    copy: Path, manifest: Manifest, file: Path, then: _BeforeReplacing | None, unknown: int | None, now: int
) -> tuple[list[str], list[str]]:
    """Start a new epoch in the copy; returns whose access stays revoked, and who must be erased again."""
    evidence = {"backup made at": manifest.made_at, "file": file.name, "sha256": manifest.parts[DATABASE_MEMBER].sha256}
    with closing(open_store(store_url(f"sqlite:///{copy}", copy))) as store:
        revoked = store.do(partial(_end_what_was, evidence=evidence, then=then, unknown=unknown, now=now))
        back = [] if then is None else store.look(partial(_erased_since, erased=then.erased))
    in_one_file(copy)
    return revoked, back


def _end_what_was(
    tx: Tx, evidence: dict[str, object], then: _BeforeReplacing | None, unknown: int | None, now: int
) -> list[str]:
    ended = sessions.end_all(tx, RESTORED, now)
    requesters.end_all_sessions(tx)
    team.end_all_sessions(tx)
    # A link used after the backup must not set a password again.
    team.end_links(tx, None, RESTORED, now)
    epochs.begin_first(tx, now)
    epoch = epochs.begin(tx, now, epochs.RESTORED, evidence)
    note_unknown_payouts(tx, unknown)
    revoked: list[str] = []
    links = 0
    if then is not None:
        # Access revoked after the backup must not return with the restore.
        revoked = requesters.revoke_also(tx, then.requesters)
        for name in revoked:
            worker = workers.find_by_identity(tx, EXPERTS_PANEL, name)
            granted_at = None if worker is None else console.take_qualification(tx, worker.id, EXPERT)
            if worker is not None and granted_at is not None:
                taken = {"qualification": EXPERT, "granted_at": granted_at, "reason": "revoked after the backup"}
                events.record(tx, now, "disqualified", taken, worker_id=worker.id)
        staff = list(revoked)
        # A password that was changed because it leaked must not work again.
        team.keep_passwords(tx, then.members)
        for member in team.deactivate_also(tx, then.members):
            note_deactivation(tx, now, member, {"by": "restore", "reason": "deactivated after the backup"})
            revoked.append(member.name)
        links, links_revoked = invitations.add_missing(tx, then.invitations)
        evidence = {**evidence, "links added": links, "links revoked": links_revoked, "revoked": staff}
    events.record(tx, now, "restored", {**evidence, "epoch": epoch.number, "sessions ended": ended})
    return revoked


def _erased(tx: Tx) -> set[str]:
    return {erasure.worker for erasure in erasing.erasures(tx)}


def _erased_since(tx: Tx, erased: set[str]) -> list[str]:
    """People who were erased after the backup and are in this database."""
    return sorted(name for name in erased - _erased(tx) if workers.find_by_pseudonym(tx, name) is not None)


def _before_replacing(copy: Path) -> _BeforeReplacing:
    with closing(open_store(store_url(f"sqlite:///{copy}", copy))) as store:

        def read(tx: Tx) -> _BeforeReplacing:
            addresses = invitations.addresses_of(tx)
            rows = [(row, addresses.get(row.nonce)) for row in invitations.all_of_them(tx)]
            return _BeforeReplacing(requesters.requesters(tx), team.members(tx), rows, _erased(tx))

        then = store.read(read).result()
    in_one_file(copy)
    return then


def _put_in_place(directory: Path, url: DatabaseAddress, copy: Path, present: _Present | None, now: int) -> Path | None:
    """Replace the database with the copy; returns where the previous one is kept."""
    if url.get_backend_name() == "sqlite":
        return _put_file(Path(str(url.database)), copy, _stamp(now))
    kept = None
    if present is not None:
        kept = directory / f"replaced-{_stamp(now)}.zip"
        members = {DATABASE_MEMBER: present.copy}
        write_backup(kept, manifest_of(present.copy, present.rows, members, now, url), members, None)
    load_into_postgresql(copy, url, tables_by_kit)
    return kept


def _stamp(now: int) -> str:
    """A timestamp for file names."""
    return f"{datetime.fromtimestamp(now / 1000, UTC):%Y%m%d-%H%M%S}-{now % 1000:03}"


def _put_file(place: Path, copy: Path, stamp: str) -> Path | None:
    """Replace an SQLite file atomically: after an interruption, one of the two is complete."""
    new = place.with_name(f".{place.name}.{stamp}.restoring")
    new.touch(0o600)
    shutil.copyfile(copy, new)
    with new.open("rb") as written:
        os.fsync(written.fileno())
    kept = None
    if place.exists():
        shutil.copymode(place, new)
        kept = place.with_name(f"{place.name}.replaced-{stamp}")
        with suppress(Exception):  # a damaged file is kept unchanged
            in_one_file(place)
        # The old write-ahead log must not stay next to the new file: SQLite would apply it.
        for suffix in BESIDE:
            beside = place.with_name(place.name + suffix)
            if beside.exists():
                beside.rename(kept.with_name(kept.name + suffix))
        try:
            kept.hardlink_to(place)
        except OSError:  # not every file system supports hard links
            shutil.copy(place, kept)
    new.replace(place)
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return kept


def _files_in(manifest: Manifest) -> list[str]:
    return [name.removeprefix(f"{FILES_FOLDER}/") for name in manifest.parts if name != DATABASE_MEMBER]


def _write_files(directory: Path, manifest: Manifest, backup: Path, stamp: str) -> list[str]:
    """Restore files that differ from the backup; the current ones are kept next to them."""
    written = []
    for name in _files_in(manifest):
        place = directory / name
        if place.is_file() and part_of(place) == manifest.parts[f"{FILES_FOLDER}/{name}"]:
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists():
            place.rename(place.with_name(f"{place.name}.replaced-{stamp}"))
        shutil.copyfile(backup / FILES_FOLDER / name, place)
        place.chmod(0o644)
        written.append(name)
    return written


def _differing(directory: Path, manifest: Manifest) -> list[str]:
    """Files that differ from the backup."""
    return [
        name
        for name in _files_in(manifest)
        if not (directory / name).is_file() or part_of(directory / name) != manifest.parts[f"{FILES_FOLDER}/{name}"]
    ]
