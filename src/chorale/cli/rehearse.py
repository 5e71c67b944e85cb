"""`chorale rehearse`"""

import json
from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson, StudyFolder
from chorale.cli.output import print_json, print_line, print_notes
from chorale.cli.parameters import Option
from chorale.cli.progress import patiently
from chorale.cli.scoring import AsLatex
from chorale.cli.terminal import show
from chorale.engine.started import keep_forecast
from chorale.files.targets import check_target, write_text
from chorale.metrics.options import Force
from chorale.metrics.reading.judgments_options import LabelColumn, ReaderName, Separator, TaskColumn, WorkerColumn
from chorale.model import UserError
from chorale.present.scoring import score_table
from chorale.present.shell import argument
from chorale.rehearsal import FORECAST_FILE, FitColumns, Forecasts, parse_vary
from chorale.rehearsal import rehearse as run
from chorale.rehearsal.page import forecast_page
from chorale.rehearsal.tables import forecast_latex, forecast_notes, forecast_tables, runs_text

Workers = Annotated[
    int | None,
    Option(
        help="Number of simulated workers. Default: the number in rehearsal.toml; without one, based on the "
        "study's size.",
        min=1,
        max=100_000,
    ),
]
Needed = Annotated[
    bool,
    Option(
        help="Also find, for each run, the minimum number of workers with which the study finishes. This takes "
        "about seven times as long."
    ),
]
Vary = Annotated[
    list[str] | None,
    Option(
        metavar="SETTING=VALUE,…",
        help="Try these values of a setting, e.g. STAGE.judgments=1,2,3 or workers=20,40. Repeatable; all "
        "combinations are tried.",
    ),
]
Fit = Annotated[
    Path | None,
    Option(
        help=(
            "Give simulated workers the error rates found in this file: judgments (task, worker, label), a "
            "batch file of MTurk or Appen, or recorded answers of a model (stage, item, output). --task, "
            "--worker, --label, --sep and --reader describe this file."
        )
    ),
]
Processes = Annotated[int | None, Option(help="Number of processes. Default: the number of cores.", min=1)]
Save = Annotated[
    bool,
    Option(
        help="Save the forecast as forecast.json in the study's folder, so that reports can compare plan and result."
    ),
]
Keep = Annotated[
    Path | None,
    Option(
        metavar="DIR",
        help="Save the first run as a study in this new folder, so that you can try the console, report and exports.",
    ),
]


def rehearse(
    directory: StudyFolder,
    seeds: Annotated[int, Option(help="Number of simulated runs.", min=1, max=10_000)] = 10,
    seed: Annotated[int, Option(help="Random seed of the first run. Each later run uses the next number.")] = 1,
    workers: Workers = None,
    needed: Needed = False,
    vary: Vary = None,
    fit: Fit = None,
    task: TaskColumn = None,
    worker: WorkerColumn = None,
    label: LabelColumn = None,
    sep: Separator = None,
    reader: ReaderName = None,
    processes: Processes = None,
    out: Annotated[Path | None, Option(help="Write a page with charts, as one HTML file.")] = None,
    save: Save = False,
    keep: Keep = None,
    force: Force = False,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Simulate the whole study many times with simulated workers, and forecast results, cost, wages and duration."""
    columns = FitColumns(task, worker, label, sep, reader)
    if fit is None and any(columns):
        raise UserError("--task, --worker, --label, --sep and --reader describe the file of --fit. Add --fit FILE.")
    if keep is not None and vary:
        raise UserError("--keep saves a run of the study as it is. Leave out --vary or --keep.")
    check_target(out, "--out", force=force, endings=(".html", ".htm"))
    kept = directory / FORECAST_FILE if save else None
    check_target(kept, None, force=force)
    with patiently("runs") as progress:
        forecast = run(
            directory,
            seeds=seeds,
            first_seed=seed,
            workers=workers,
            vary=[parse_vary(option) for option in vary or ()],
            fit=fit,
            fit_columns=columns,
            find_fewest=needed,
            processes=processes,
            progress=progress,
            keep=keep,
        )
    if out is not None:
        write_text(out, "--out", forecast_page(forecast))
    if kept is not None:
        write_text(kept, None, json.dumps(forecast.as_json(), ensure_ascii=False, indent=1) + "\n")
        keep_forecast(directory)
    files = [file for file in (out, kept) if file is not None]
    _print_forecast(forecast, directory, files, keep, as_json=as_json, as_latex=as_latex)


def _about_kept(folder: Path, seed: int) -> str:
    serve, status, report, export = (
        f"`chorale {command} {argument(folder)}`" for command in ("serve", "status", "report", "export")
    )
    return (
        f"Saved the run with seed {seed} in {folder}. All its workers are simulated: do not invite anybody to it. To "
        f"explore it, run {serve}, {status}, {report} and {export}."
    )


def _print_forecast(
    forecast: Forecasts, directory: Path, files: list[Path], kept_run: Path | None, *, as_json: bool, as_latex: bool
) -> None:
    if as_json:
        print_json({"study": str(directory), **forecast.as_json(), "notes": forecast_notes(forecast)})
        return
    if as_latex:
        print_line(forecast_latex(forecast))
    else:
        print_line(f"{runs_text(forecast)}.")
        show(*(score_table(table) for table in forecast_tables(forecast)))
        for file in files:
            print_line(f"Wrote {file}.")
        if kept_run is not None:
            print_line(_about_kept(kept_run, forecast.seeds[0]))
    print_notes(forecast_notes(forecast))
