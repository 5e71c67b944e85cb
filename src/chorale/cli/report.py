"""`chorale report`"""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import BY, AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line, print_notes
from chorale.cli.parameters import Option
from chorale.cli.progress import patiently
from chorale.engine.settling import settle_everything
from chorale.engine.started import started_study
from chorale.exchange.croissant import FILE_NAME
from chorale.files.targets import check_target, write_text, writing
from chorale.metrics.options import Resamples, Seed
from chorale.metrics.resampling import Resampling
from chorale.model import UserError
from chorale.monitor.status import note_arms_shown
from chorale.report import ReportOptions, StudyReport, report_page, study_report
from chorale.report.printing import find_browser, write_pdf

USUAL = Path("report.html")


DataCard = Annotated[
    Path | None,
    Option(metavar="DIR", help="Folder for the data, with their metadata as croissant.json."),
]
Licence = Annotated[str | None, Option("--license", metavar="NAME", help="Licence of the data, for the data card.")]


def report(
    directory: StudyFolder,
    out: Annotated[Path | None, Option(help="The HTML page. Default: report.html.")] = None,
    pdf: Annotated[Path | None, Option(help="Also write a PDF (requires Chromium).")] = None,
    data_card: DataCard = None,
    arms: Annotated[bool, Option(help="Report results by arm (logged in the activity log).")] = False,
    charts: Annotated[bool, Option("--charts/--no-charts", help="Include charts.")] = True,
    licence: Licence = None,
    url: Annotated[str | None, Option(metavar="URL", help="Address of the published data, for the data card.")] = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    force: Annotated[bool, Option(help="Overwrite existing files.")] = False,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Write a report on a study: one page with methods, numbers, charts and data card, to read, print and publish."""
    if not (out or pdf or data_card or as_json):
        out = USUAL
    check_target(out, "--out", force=force, endings=(".html", ".htm"))
    check_target(pdf, "--pdf", force=force, endings=(".pdf",))
    _check_folder(data_card, force=force)
    browser = find_browser() if pdf is not None else None
    with started_study(directory, db) as study, _data_folder(data_card) as data, patiently("steps") as progress:
        if arms and study.settings.arms is None:
            raise UserError(f"{directory} has no arms. Leave out --arms, or name them in study.toml under [arms].")
        settle_everything(study)
        if arms:
            study.store.write(lambda tx: note_arms_shown(tx, study, BY, "a report with --arms")).result()
        resampling = Resampling(ci=True, resamples=resamples, seed=seed, progress=progress)
        report_made = study_report(study, directory, data, ReportOptions(charts, arms, licence, url), resampling)
        page = report_page(report_made)
        if out is not None:
            write_text(out, "--out", page)
        if pdf is not None and browser is not None:
            with writing(pdf, "--pdf"):
                write_pdf(page, pdf, browser)
        if data_card is not None:
            card = json.dumps(report_made.croissant, ensure_ascii=False, indent=1) + "\n"
            write_text(data_card / FILE_NAME, "--data-card", card)
    _print_report(report_made, [file for file in (out, pdf, data_card) if file is not None], as_json=as_json)


def _print_report(report_made: StudyReport, files: list[Path], *, as_json: bool) -> None:
    if as_json:
        print_json(report_made.as_json())
        return
    for file in files:
        print_line(f"Wrote {file}.")
    print_notes(report_made.notes)


def _check_folder(folder: Path | None, *, force: bool) -> None:
    if folder is None or not folder.exists():
        return
    if not folder.is_dir():
        raise UserError(f"--data-card {folder} is a file. Name a folder.")
    if any(folder.iterdir()) and not force:
        raise UserError(f"{folder} is not empty. Add --force to overwrite what is in it, or name another --data-card.")


@contextmanager
def _data_folder(folder: Path | None) -> Iterator[Path]:
    """Where the data go: to stay, or only until their digests are known."""
    if folder is None:
        with tempfile.TemporaryDirectory() as passing:
            yield Path(passing)
        return
    with writing(folder, "--data-card"):
        folder.mkdir(parents=True, exist_ok=True)
    yield folder
