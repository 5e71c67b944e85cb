"""`chorale report`"""

import json
import os
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
from chorale.exchange.export import ASKED_BY, note_export
from chorale.files.targets import check_target, write_text, writing
from chorale.metrics.options import Resamples, Seed
from chorale.metrics.resampling import Resampling
from chorale.model import UserError
from chorale.monitor.status import note_arms_shown
from chorale.report import ReportOptions, StudyReport, appendix_page, report_page, study_report
from chorale.report.fragments import report_latex, report_markdown
from chorale.report.printing import find_browser, write_pdf

ENDINGS = {"html": (".html", ".htm"), "pdf": (".pdf",), "markdown": (".md",), "latex": (".tex",)}
"""File extensions of reports, by format."""


DataCard = Annotated[
    Path | None,
    Option(
        metavar="DIR",
        help="Also write the dataset to this folder, with metadata in croissant.json. The activity log records this.",
    ),
]
Licence = Annotated[str | None, Option("--license", metavar="NAME", help="Licence of the dataset, for the data card.")]
Form = Annotated[
    str | None,
    Option(
        "--format",
        metavar="NAME",
        help="html, pdf (requires Chromium or Chrome), or markdown or latex (methods and tables to paste into a "
        "paper). Default: the format that fits the file extension of --out; without --out, html.",
    ),
]


def report(
    directory: StudyFolder,
    out: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="File for the report. Default: report.html, report.pdf, report.md or report.tex, by --format.",
        ),
    ] = None,
    form: Form = None,
    pdf: Annotated[Path | None, Option(metavar="FILE", help="Also write a PDF (requires Chromium or Chrome).")] = None,
    appendix: Annotated[
        Path | None, Option(metavar="FILE", help="Also write the appendix as a PDF (requires Chromium or Chrome).")
    ] = None,
    data_card: DataCard = None,
    arms: Annotated[bool, Option(help="Report results by arm. The activity log records this.")] = False,
    charts: Annotated[bool, Option("--charts/--no-charts", help="Include charts.")] = True,
    licence: Licence = None,
    url: Annotated[str | None, Option(metavar="URL", help="Address of the dataset, for the data card.")] = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    force: Annotated[bool, Option(help="Overwrite existing files.")] = False,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Write a report on a study: results, methods, participant flow, costs and data card."""
    form = _checked_form(form, out)
    if out is None and (form != "html" or not (pdf or appendix or data_card or as_json)):
        out = Path(f"report{ENDINGS[form][0]}")
    check_target(out, "--out", force=force, endings=ENDINGS[form])
    check_target(pdf, "--pdf", force=force, endings=(".pdf",))
    check_target(appendix, "--appendix", force=force, endings=(".pdf",))
    _check_folder(data_card, force=force)
    printed = pdf is not None or appendix is not None or form == "pdf"
    browser = find_browser() if printed else None
    by = os.environ.get(ASKED_BY) or BY
    with started_study(directory, db) as study, _data_folder(data_card) as data, patiently("steps") as progress:
        if arms and study.settings.arms is None:
            raise UserError(f"{directory} has no arms. Leave out --arms, or name them in study.toml under [arms].")
        settle_everything(study)
        if arms:
            study.store.write(lambda tx: note_arms_shown(tx, study, by, "a report with --arms")).result()
        if data_card is not None:
            study.store.write(lambda tx: note_export(tx, study, "dataset", by)).result()
        resampling = Resampling(ci=True, resamples=resamples, seed=seed, progress=progress)
        made = study_report(study, directory, data, ReportOptions(charts, arms, licence, url), resampling)
        if out is not None and form != "pdf":
            write_text(out, "--out", _WRITERS[form](made))
        for file, option, page in (
            (out if form == "pdf" else None, "--out", report_page),
            (pdf, "--pdf", report_page),
            (appendix, "--appendix", appendix_page),
        ):
            if file is not None and browser is not None:
                with writing(file, option):
                    write_pdf(page(made), file, browser)
        if data_card is not None:
            card = json.dumps(made.croissant, ensure_ascii=False, indent=1) + "\n"
            write_text(data_card / FILE_NAME, "--data-card", card)
    _print_report(made, [file for file in (out, pdf, appendix, data_card) if file is not None], as_json=as_json)


_WRITERS = {"html": report_page, "markdown": report_markdown, "latex": report_latex}


def _checked_form(form: str | None, out: Path | None) -> str:
    """The requested format, or the one that matches the file's extension."""
    if form is None:
        if out is None:
            return "html"
        form = next((name for name, endings in ENDINGS.items() if out.suffix.lower() in endings), None)
        if form is None:
            *most, last = (endings[0] for endings in ENDINGS.values())
            raise UserError(f"--out {out}: no report format has this file extension. Use {', '.join(most)} or {last}.")
        return form
    if form not in ENDINGS:
        raise UserError(f"There is no report format `{form}`. Use one of: {', '.join(ENDINGS)}.")
    return form


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
        raise UserError(
            f"{folder} is not empty. Use --force to overwrite its files, or name another folder with --data-card."
        )


@contextmanager
def _data_folder(folder: Path | None) -> Iterator[Path]:
    """The dataset's folder: the one that was named, or a temporary one to compute the digests."""
    if folder is None:
        with tempfile.TemporaryDirectory() as passing:
            yield Path(passing)
        return
    with writing(folder, "--data-card"):
        folder.mkdir(parents=True, exist_ok=True)
    yield folder
