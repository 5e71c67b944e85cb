"""PDF files of pages, printed by Chromium without a window."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from chorale.files.tables import replacing
from chorale.model import UserError

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
_PATIENCE = 180


def find_browser() -> str:
    """The browser that can print; UserError without one."""
    browser = next((path for name in _BROWSERS if (path := shutil.which(name)) is not None), None)
    if browser is None:
        raise UserError(
            "A PDF requires Chromium or Chrome, and neither is installed. Install one (Debian and Ubuntu: apt install "
            "chromium), or use --out report.html, open this file in any browser and print it as a PDF."
        )
    return browser


def write_pdf(page: str, path: Path, browser: str) -> None:
    """Print an HTML page to a PDF file."""
    with tempfile.TemporaryDirectory() as folder, replacing(path) as draft:
        source = Path(folder) / "report.html"
        source.write_text(page, "utf-8")
        # A browser does not run as root inside its own sandbox; the page has no scripts and loads nothing.
        alone = ["--no-sandbox"] if os.geteuid() == 0 else []
        command = [
            *(browser, "--headless", *alone, "--disable-gpu", "--no-pdf-header-footer"),
            *(f"--user-data-dir={folder}/profile", f"--print-to-pdf={draft.absolute()}", source.as_uri()),
        ]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False)  # noqa: S603
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _failed(browser, str(error)) from None
        if done.returncode != 0 or not draft.is_file():
            raise _failed(browser, done.stderr.decode("utf-8", "replace").strip()[-300:])


def _failed(browser: str, why: str) -> UserError:
    return UserError(f"{browser} could not print the report: {why}. Write it with --out and print it from a browser.")
