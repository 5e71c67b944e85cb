"""Reports that are created in the background: `chorale report` in a process of its own, one at a time.

Every report has three files in the folder `reports` of the study: `report-….json` (by whom and when it was started),
`report-….log`, and finally the report itself, for example `report-….html`. A requested dataset is in the folder
`report-…-dataset`.
All state is in these files, so any server process can show the progress of a report. If a server or a report is
killed, the report can be started again.
"""

import contextlib
import fcntl
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from chorale.exchange.export import ASKED_BY
from chorale.files.progress_file import VARIABLE, JobProgress, read_progress
from chorale.model import UserError

FOLDER = "reports"
FORMATS = {"html": ".html", "pdf": ".pdf", "markdown": ".md", "latex": ".tex"}
"""The formats of `chorale report`, with the endings of their files."""
_METADATA = "croissant.json"
"""The last file of a dataset that is written."""
_LAST_LINES = 5
_NICE = 10
"""How much lower the priority of reports is than that of the site."""
_LATEST = 2**47
"""The latest start time that is accepted: far in the future, but still a valid date."""


@dataclass(frozen=True, slots=True)
class ReportWish:
    """The requested format and options of a report."""

    format: str = "html"
    arms: bool = False
    dataset: bool = False
    """Whether to write the dataset with its data card too."""
    licence: str = ""


@dataclass(frozen=True, slots=True)
class ReportJob:
    """A report that was started."""

    name: str
    state: Literal["running", "done", "failed"]
    by: str
    started_at: int
    arms: bool
    format: str = "html"
    has_dataset: bool = False
    progress: JobProgress | None = None
    problem: str = ""
    """The last lines of the log, if the report failed."""


def reports(folder: Path) -> list[ReportJob]:
    """Every report of a study, the newest first."""
    return [_job(path) for path in sorted((folder / FOLDER).glob("report-*.json"), reverse=True)]


def report_file(folder: Path, name: str) -> Path | None:
    """The file of a report that is done."""
    about = folder / FOLDER / f"{name}.json"
    path = about.with_suffix(FORMATS[_about(about)["format"]])
    return path if about.is_file() and path.is_file() else None


def dataset_folder(folder: Path, name: str) -> Path | None:
    """The dataset of a report that has one."""
    path = folder / FOLDER / f"{name}-dataset"
    return path if (path / _METADATA).is_file() else None


def start_report(folder: Path, database: str, by: str, at: int, wish: ReportWish) -> bool:
    """Start a report; False if one is being created already."""
    reports_folder = folder / FOLDER
    try:
        reports_folder.mkdir(exist_ok=True)
        with _alone(reports_folder):
            if any(one.state == "running" for one in reports(folder)):
                return False
            _start(folder, database, by, at, wish)
    except OSError as error:
        raise UserError(
            f"{reports_folder} cannot be written: {error.strerror or error}. Check its permissions."
        ) from None
    return True


@contextlib.contextmanager
def _alone(reports_folder: Path) -> Iterator[None]:
    """Prevent other tabs and server processes from starting a report at the same moment."""
    with (reports_folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _start(folder: Path, database: str, by: str, at: int, wish: ReportWish) -> None:
    stamp = datetime.fromtimestamp(at / 1000, UTC).strftime("%Y%m%d-%H%M%S")
    base = folder / FOLDER / f"report-{stamp}-{at % 1000:03d}"
    out = base.with_suffix(FORMATS[wish.format])
    command = [sys.executable, "-m", "chorale", "report", str(folder), "--out", str(out), "--force"]
    command += ["--arms"] if wish.arms else []
    command += ["--data-card", f"{base}-dataset"] if wish.dataset else []
    command += [f"--license={wish.licence}"] if wish.licence else []
    environment = {**os.environ, "CHORALE_DB": database, ASKED_BY: by, VARIABLE: str(base.with_suffix(".progress"))}
    with base.with_suffix(".log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - our own command
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, process.pid, _NICE)
    about = {"by": by, "started_at": at, "arms": wish.arms, "format": wish.format}
    about |= {"process": process.pid, "began": _began(process.pid)}
    draft = base.with_suffix(".part")
    draft.write_text(json.dumps(about), "utf-8")
    draft.replace(base.with_suffix(".json"))
    # Without this, a report that has ended would stay in the list of processes as if it ran.
    threading.Thread(target=process.wait, daemon=True).start()


def _began(process: int) -> str | None:
    """The start time of a process, by the kernel: it differs between processes that had the same number."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(") ")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def _job(path: Path) -> ReportJob:
    about = _about(path)
    base = {name: about[name] for name in ("by", "started_at", "arms", "format")} | {"name": path.stem}
    if about["began"] and _began(about["process"]) == about["began"]:
        return ReportJob(**base, state="running", progress=read_progress(path.with_suffix(".progress")))
    if path.with_suffix(FORMATS[about["format"]]).is_file():
        return ReportJob(**base, state="done", has_dataset=dataset_folder(path.parent.parent, path.stem) is not None)
    return ReportJob(**base, state="failed", problem=_last_lines(path.with_suffix(".log")))


def _about(path: Path) -> dict[str, Any]:
    """The stored facts about a report. Values that are missing or invalid in a damaged or edited file get defaults."""
    try:
        about = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        about = None
    read = about if isinstance(about, dict) else {}
    usual: dict[str, Any] = {"by": "", "started_at": 0, "arms": False, "format": "html", "process": 0, "began": ""}
    known = {name: read[name] if type(read.get(name)) is type(value) else value for name, value in usual.items()}
    if known["format"] not in FORMATS:
        known["format"] = "html"
    return known if 0 <= known["started_at"] < _LATEST else {**known, "started_at": 0}


def _last_lines(path: Path) -> str:
    try:
        lines = path.read_text("utf-8", errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return "\n".join(lines[-_LAST_LINES:]) or "The report was interrupted. Start it again."
