"""`chorale restore`"""

from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line, print_notes
from chorale.cli.parameters import Argument, Option
from chorale.cli.passphrases import PassphraseFile, passphrase_to_open
from chorale.engine.sessions import moment_text
from chorale.engine.unknown_payouts import payouts_were
from chorale.exchange.restoring import Restored, restore_backup
from chorale.exchange.sealing import is_sealed
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.present.shell import argument

BackupFile = Annotated[Path, Argument(metavar="FILE", help="The backup file, made with `chorale backup`.")]
Replace = Annotated[bool, Option("--replace", help="Replace the existing database, which is kept under another name.")]
WithFiles = Annotated[
    bool,
    Option(
        "--files",
        help="Also restore the study's files. Existing files that differ are kept under another name. A new folder "
        "always gets the files.",
    ),
]


def restore(
    directory: StudyFolder,
    file: BackupFile,
    replace: Replace = False,
    files: WithFiles = False,
    passphrase_file: PassphraseFile = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Restore a study from a backup. Close the site first. Everybody has to sign in again."""
    if not file.is_file():
        raise UserError(f"There is no file {file}. Name a file made by `chorale backup`.")
    try:
        passphrase = passphrase_to_open(passphrase_file) if is_sealed(file) else None
        restored = restore_backup(directory, db, file, passphrase, replace=replace, with_files=files)
    except OSError as error:
        raise UserError(
            f"{error.filename or directory}: {error.strerror or error}. Check the path and its permissions."
        ) from None
    if as_json:
        print_json(_as_json(restored))
        return
    manifest = restored.manifest
    print_line(
        f"Restored {directory} to its state as of {moment_text(manifest.made_at)}: {_answers(restored.answers)}."
    )
    if restored.answers_replaced is not None:
        print_line(f"  The previous database had {_answers(restored.answers_replaced)}.")
    if restored.kept is not None:
        print_line(f"  It is kept as {restored.kept}.")
    print_line("  Everybody was signed out. Links work as before, except unused links to choose a password.")
    print_line("  Console passwords are those of the backup.")
    if restored.revoked_again:
        print_line(f"  Revoked after the backup, and still revoked: {', '.join(restored.revoked_again)}.")
    if restored.files_written:
        print_line(f"  Files written: {', '.join(restored.files_written)}.")
    print_notes(_notes(restored))
    given = argument(directory) + ("" if db is None else " --db URL")
    print_line(f"Check it with `chorale verify {given}`, then open it with `chorale serve {given}`.")


def _answers(count: int) -> str:
    return plural(count, "answer", "answers")


def _notes(restored: Restored) -> list[str]:
    notes = []
    if restored.erased_since:
        notes.append(
            f"The data of these people were erased after the backup, and are now restored: "
            f"{', '.join(restored.erased_since)}. Run `chorale forget` for each person before you open the site."
        )
    if restored.files_differing:
        names = ", ".join(restored.files_differing)
        notes.append(f"These files differ from the backup and were not changed: {names}. --files restores them.")
    if restored.payouts_unknown:
        notes.append(
            f"{payouts_were(restored.payouts_unknown)} made after the backup. The restored study has no record of "
            "that, so people could be paid twice. "
            "Check the platform's list, then run `chorale pay` with --after-restore."
        )
    return notes


def _as_json(restored: Restored) -> dict[str, object]:
    return {
        "made_at": restored.manifest.made_at,
        "epoch": restored.epoch,
        "answers": restored.answers,
        "answers_replaced": restored.answers_replaced,
        "kept": None if restored.kept is None else str(restored.kept),
        "revoked_again": restored.revoked_again,
        "erased_since": restored.erased_since,
        "payouts_unknown": restored.payouts_unknown,
        "files_written": restored.files_written,
        "files_differing": restored.files_differing,
    }
