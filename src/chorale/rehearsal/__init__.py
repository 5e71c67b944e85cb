"""A whole study against simulated people, in simulated time, before anybody is paid."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chorale import __version__
from chorale.engine.planning import FORECAST_FILE
from chorale.folder.reading import load_folder
from chorale.folder.truth import truth_that_fits_nothing
from chorale.rehearsal.crowd_file import CROWD_FILE, read_crowd
from chorale.rehearsal.forecasting import ENOUGH_RUNS, HIGH, LOW, Forecast, ForecastEstimate
from chorale.rehearsal.keeping import keep_run
from chorale.rehearsal.many import Programme, Progress, perform_all
from chorale.rehearsal.performing import Advance, Performance
from chorale.rehearsal.preparing import USUAL_COLUMNS, Crowd, FitColumns, Rehearsal
from chorale.rehearsal.runs import ArmRun, GateRun, Run, StageRun, SuggestionRun
from chorale.rehearsal.varying import Variation, Vary, parse_vary, variations

__all__ = [
    "CROWD_FILE",
    "FORECAST_FILE",
    "Advance",
    "ArmRun",
    "Crowd",
    "FitColumns",
    "Forecast",
    "ForecastEstimate",
    "Forecasts",
    "GateRun",
    "Performance",
    "Rehearsal",
    "Run",
    "StageRun",
    "SuggestionRun",
    "Variation",
    "Vary",
    "parse_vary",
    "read_crowd",
    "rehearse",
]


@dataclass(frozen=True)
class Forecasts:
    """What rehearsals say of a study, and of the variations of it that were tried."""

    title: str
    currency: str
    minimum_hourly: int
    workers: int | None
    """How many people came; None if that was varied."""
    seeds: tuple[int, ...]
    forecasts: tuple[Forecast, ...]
    notes: tuple[str, ...] = ()
    """What to know of the crowd."""
    misfits: tuple[str, ...] = ()
    """What to know of truth files that fit no item."""
    difficulty: float = 0.0
    """How much items differed in how hard they are: with 0, people err one by one."""

    @property
    def people(self) -> str:
        if self.workers is None:
            return "as many people as each says"
        return "1 person" if self.workers == 1 else f"{self.workers:,} people"

    @property
    def interval(self) -> tuple[float, float]:
        """Which of the runs an estimate's bounds hold: the middle ones, or all where there are few."""
        return (LOW, HIGH) if len(self.seeds) >= ENOUGH_RUNS else (0.0, 1.0)

    def as_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "version": __version__,
            "currency": self.currency,
            "workers": self.workers,
            "seeds": list(self.seeds),
            "interval": list(self.interval),
            "difficulty": self.difficulty,
            "variations": [forecast.as_json() for forecast in self.forecasts],
        }


def rehearse(
    path: Path,
    *,
    seeds: int = 10,
    first_seed: int = 1,
    workers: int | None = None,
    vary: Sequence[Vary] = (),
    fit: Path | None = None,
    fit_columns: FitColumns = USUAL_COLUMNS,
    find_fewest: bool = False,
    processes: int | None = None,
    progress: Progress | None = None,
    keep: Path | None = None,
) -> Forecasts:
    """Simulate the study in a folder with a number of seeds, and every variation of it with the same seeds.

    With `find_fewest`, also with fewer and fewer people, to see how many it takes; that is many runs for each.
    Nothing is written, neither to the folder nor to the study's database. With `keep`, the first run is kept in that
    folder, as a study of its own.
    """
    folder = load_folder(path)
    crowd = read_crowd(folder, workers, fit, fit_columns)
    tried = tuple(variations(folder, vary))
    if keep is not None:
        keep_run(folder, crowd, first_seed, keep)
    programme = Programme(path, tried, crowd, tuple(range(first_seed, first_seed + seeds)), find_fewest, folder)
    runs = perform_all(programme, processes, progress)
    return Forecasts(
        folder.settings.study.title,
        folder.settings.pay.currency,
        folder.settings.pay.minimum_hourly,
        None if any(each.workers for each in tried) else crowd.settings.workers,
        programme.seeds,
        tuple(Forecast(variation, found) for variation, found in zip(tried, runs, strict=True)),
        crowd.notes,
        truth_that_fits_nothing(folder),
        crowd.difficulty,
    )
