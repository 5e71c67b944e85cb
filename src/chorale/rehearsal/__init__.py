"""Simulates a whole study with simulated people and time, before anybody is paid."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chorale import __version__
from chorale.engine.planning import FORECAST_FILE
from chorale.folder.reading import load_folder
from chorale.folder.truth import truth_that_fits_nothing, unanswered_in_simulations
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
    """The forecasts of a study and its variations."""

    title: str
    currency: str
    minimum_hourly: int
    workers: int | None
    """The number of people; None if it was varied."""
    seeds: tuple[int, ...]
    forecasts: tuple[Forecast, ...]
    notes: tuple[str, ...] = ()
    """Notes on the crowd."""
    misfits: tuple[str, ...] = ()
    """Notes on truth files that match no item."""
    difficulty: float = 0.0
    """The spread of item difficulty; with 0, people err independently."""

    @property
    def people(self) -> str:
        if self.workers is None:
            return "varying numbers of people"
        return "1 person" if self.workers == 1 else f"{self.workers:,} people"

    @property
    def interval(self) -> tuple[float, float]:
        """The quantiles of the runs between which an interval lies: 0.05 and 0.95, or 0 and 1 if there are few runs."""
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
    """Simulate the study in a folder with several seeds, and every variation of it with the same seeds.

    With `find_fewest`, each run is repeated with fewer people to find the minimum number, which takes many runs.
    Nothing is written to the folder or the study's database. With `keep`, the first run is saved in that folder, as a
    separate study.
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
        (*crowd.notes, *unanswered_in_simulations(folder)),
        truth_that_fits_nothing(folder),
        crowd.difficulty,
    )
