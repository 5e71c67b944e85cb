"""`chorale backup`"""

from pathlib import Path
from typing import Annotated

from chorale.audit.verify import Verification
from chorale.audit.verify import verify as recompute
from chorale.cli.arguments import AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Argument, Option
from chorale.cli.passphrases import PassphraseFile, passphrase_to_seal
from chorale.engine.sessions import moment_text
from chorale.engine.settling import settle_everything
from chorale.engine.started import started_study
from chorale.exchange.backing_up import make_backup
from chorale.exchange.backup_files import DATABASE_MEMBER
from chorale.files.targets import check_target, writing
from chorale.metrics.options import Force
from chorale.model.extras import need
from chorale.model.plural import plural
from chorale.present.shell import argument

BackupFile = Annotated[Path, Argument(metavar="FILE", help="The backup file.")]
Encrypt = Annotated[bool, Option("--encrypt", help="Encrypt the file with a passphrase.")]
Fast = Annotated[bool, Option("--fast", help="Check the backup without recomputing the numbers of the study.")]


def backup(
    directory: StudyFolder,
    file: BackupFile,
    encrypt: Encrypt = False,
    passphrase_file: PassphraseFile = None,
    fast: Fast = False,
    force: Force = False,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Back up a study's database and files to one file, and check the backup. The site can stay open."""
    check_target(file, None, force=force)
    if encrypt:
        need("cryptography")
    passphrase = passphrase_to_seal(passphrase_file) if encrypt or passphrase_file is not None else None
    verified: list[Verification] = []

    def examine(copy: Path) -> None:
        if not fast:
            with started_study(directory, f"sqlite:///{copy}") as study:
                settle_everything(study)
                verified.append(study.store.read(lambda tx: recompute(tx, study)).result())

    with writing(file, None):
        manifest = make_backup(directory, db, file, passphrase, examine)
    differences = verified[0].differences if verified else []
    part = manifest.parts[DATABASE_MEMBER]
    if as_json:
        print_json(
            {
                "file": str(file),
                "bytes": file.stat().st_size,
                "encrypted": passphrase is not None,
                "made_at": manifest.made_at,
                "epoch": manifest.epoch,
                "rows": manifest.rows,
                "files": len(manifest.parts) - 1,
                "sha256": part.sha256,
                "recomputed": not fast,
                "differences": differences,
            }
        )
        return
    how = "encrypted" if passphrase is not None else "not encrypted: keep it as safe as the study"
    print_line(f"{file} contains {manifest.title!r} as of {moment_text(manifest.made_at)} ({how}).")
    answers, workers = manifest.rows.get("response", 0), manifest.rows.get("worker", 0)
    held = plural(answers, "answer", "answers"), plural(workers, "worker", "workers")
    print_line(f"  {', '.join(held)}, {plural(len(manifest.parts) - 1, 'file', 'files')} of the study")
    print_line(f"  read back and checked: hashes, pages, references, rows of {len(manifest.rows)} tables")
    print_line(f"  SHA-256 of the database: {part.sha256}")
    if differences:
        print_line(
            f"Warning: {plural(len(differences), 'number', 'numbers')} of the study did not match when recomputed. "
            f"`chorale verify {argument(directory)}` lists the differences. The backup is an exact copy of the study."
        )
    elif not fast:
        print_line("  every number recomputed: everything agrees")
