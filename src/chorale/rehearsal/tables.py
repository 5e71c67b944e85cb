"""Forecasts as tables for a terminal or a paper, with notes."""

from collections.abc import Callable, Iterator, Sequence

from chorale import __version__
from chorale.metrics.score_table import ScoreTable
from chorale.model import money_text
from chorale.monitor.costs import RESULT
from chorale.present.latex import latex_document
from chorale.rehearsal import Forecast, ForecastEstimate, Forecasts, Run, forecasting
from chorale.rehearsal.varying import WORKERS, shown

_BY_KEY = {measure.key: measure for measure in forecasting.OF_RUNS}
# Columns of a trade-off, besides the varied settings.
_TRADED = (
    ("cost_per_result", "cost of a label"),
    ("wage", "hourly wage"),
    ("hours", "hours"),
    ("answers", "answers by people"),
    ("active", "people who worked"),
    ("needed", "people needed"),
)
UNFINISHED = "*"
LOW_PAID = 0.1
MOST_NAMED = 3


# Rows, and columns of gates, that are left out if empty.
_IF_ANY = frozenset({"finishing", "bonus", "fee", "models", "by_model", "underpaid", "found_nothing", "ungraded"})
_WITH_INTERVAL = frozenset({*(measure.key for measure in forecasting.RESULTS_OF_STAGES), "cost"})


def forecast_tables(simulation: Forecasts) -> list[ScoreTable]:
    """The tables of a forecast or, for several variations, their comparison."""
    if len(simulation.forecasts) > 1:
        return [trade_off_table(simulation)]
    [forecast] = simulation.forecasts
    return detailed_tables(simulation, forecast)


def detailed_tables(simulation: Forecasts, forecast: Forecast) -> list[ScoreTable]:
    return [
        study_table(simulation, forecast),
        *_arms(simulation, forecast),
        *stage_tables(simulation, forecast),
        *_suggestions(simulation, forecast),
        *_gates(simulation, forecast),
    ]


def study_table(simulation: Forecasts, forecast: Forecast) -> ScoreTable:
    rows: list[tuple[str, ...]] = []
    for measure in forecasting.OF_RUNS:
        estimate = forecast.of(measure)
        if measure.key == "finished":
            rows.append((measure.title, f"{forecast.finished} of {len(forecast.runs)}", ""))
        elif estimate is not None and (measure.key not in _IF_ANY or estimate.high):
            low, high = (
                measure_text(value, measure.unit, simulation.currency) for value in (estimate.low, estimate.high)
            )
            title = measure.title
            if measure.key == "cost_per_result":
                unit = forecast.runs[0].unit
                title = title if unit == RESULT else f"cost per {unit}"
                title += f" ({', '.join(forecast.final)})"
            rows.append((title, _cell(estimate, measure.unit, simulation), low if low == high else f"{low}–{high}"))
    title, columns = f"Forecast of the study{_with(forecast)}", ("measure", "mean#", f"{_interval(simulation)}#")
    if len(simulation.seeds) == 1:
        # One run has neither an interval nor a mean.
        return ScoreTable(title, ("measure", "in one run#"), [row[:2] for row in rows])
    return ScoreTable(title, columns, rows)


def stage_tables(simulation: Forecasts, forecast: Forecast) -> list[ScoreTable]:
    """Several tables with a row for each stage."""
    several = (
        ("Results by stage", forecasting.RESULTS_OF_STAGES),
        ("Work by stage", forecasting.WORK_OF_STAGES),
        ("People by stage", forecasting.PEOPLE_IN_STAGES),
    )
    tables = (_of_stages(title, measures, simulation, forecast) for title, measures in several)
    return [table for table in tables if table.rows]


def _of_stages(
    title: str, measures: Sequence[forecasting.Measure], simulation: Forecasts, forecast: Forecast
) -> ScoreTable:
    by_stage = {name: _cells(forecast.of_stage, name, measures, simulation) for name in forecast.stages}
    # Leave out columns that are empty for all stages.
    used = [
        number for number in range(len(measures)) if any(cells[number] not in ("", "0") for cells in by_stage.values())
    ]
    rows = [(name, *(cells[number] for number in used)) for name, cells in by_stage.items()]
    rows = [row for row in rows if any(row[1:])]
    columns = ("stage", *(f"{measures[number].title}#" for number in used))
    return ScoreTable(f"{title}{_with(forecast)}{_means(simulation, rows)}", columns, rows)


def _arms(simulation: Forecasts, forecast: Forecast) -> list[ScoreTable]:
    """The results of each arm, in a study with arms."""
    if not forecast.arms:
        return []
    rows = [(name, *_cells(forecast.of_arm, name, forecasting.OF_ARMS, simulation)) for name in forecast.arms]
    columns = ("arm", *(f"{measure.title}#" for measure in forecasting.OF_ARMS))
    return [ScoreTable(f"Forecast by arm{_with(forecast)}{_means(simulation, rows)}", columns, rows)]


def _suggestions(simulation: Forecasts, forecast: Forecast) -> Iterator[ScoreTable]:
    """The effect of a model's suggestions, as measured in the report."""
    columns = ("measure", *(f"{measure.title}#" for measure in forecasting.OF_SUGGESTIONS))
    for stage in forecast.stages:
        rows = [
            (
                what,
                *(
                    _cell(forecast.of_suggestions(stage, what, measure), "number", simulation, interval=True)
                    for measure in forecasting.OF_SUGGESTIONS
                ),
            )
            for what in forecast.suggestions_in(stage)
        ]
        if rows:
            yield ScoreTable(f"Suggestions in {stage}{_with(forecast)}{_means(simulation, rows)}", columns, rows)


def _cells(
    of: Callable[[str, forecasting.Measure], ForecastEstimate | None],
    name: str,
    measures: Sequence[forecasting.Measure],
    simulation: Forecasts,
) -> list[str]:
    """The measures of one stage or arm."""
    return [
        _cell(of(name, measure), measure.unit, simulation, interval=measure.key in _WITH_INTERVAL)
        for measure in measures
    ]


def _means(simulation: Forecasts, rows: Sequence[Sequence[str]]) -> str:
    """The end of a table's title: says that the numbers are means and, if there are ranges, what they contain."""
    if len(simulation.seeds) == 1:
        return ""
    has_ranges = any("–" in cell for row in rows for cell in row[1:])
    return f": means ({_interval(simulation)})" if has_ranges else ": means"


def _gates(simulation: Forecasts, forecast: Forecast) -> list[ScoreTable]:
    """The results of gates, in a study with gates."""
    if not forecast.gates:
        return []
    by_gate = {
        name: {measure: forecast.of_gate(name, measure) for measure in forecasting.OF_GATES} for name in forecast.gates
    }
    used = [
        measure
        for measure in forecasting.OF_GATES
        if measure.key not in _IF_ANY or any(each and each.high for each in (of[measure] for of in by_gate.values()))
    ]
    rows = [
        (name, *(_cell(of[measure], measure.unit, simulation, interval=True) for measure in used))
        for name, of in by_gate.items()
    ]
    columns = ("gate", *(f"{measure.title}#" for measure in used))
    return [ScoreTable(f"Forecast by gate{_with(forecast)}{_means(simulation, rows)}", columns, rows)]


def trade_off_table(simulation: Forecasts) -> ScoreTable:
    """A row for each variation. Results of unfinished runs have a star."""
    paths = list(simulation.forecasts[0].variation.values)
    measure, qualities = qualities_of(simulation)
    asked = any(run.needed is not None for forecast in simulation.forecasts for run in forecast.runs)
    traded = [(key, title) for key, title in _TRADED if key != "needed" or asked]
    rows = [
        (
            str(number),
            *(shown(forecast.variation.values[path]) for path in paths),
            f"{forecast.finished} of {len(forecast.runs)}",
            *_starred(
                forecast,
                [
                    _cell(quality, "share", simulation, interval=True),
                    _cell(forecast.released, "share", simulation),
                    _cell(forecast.of(_BY_KEY["cost"]), "money", simulation, interval=True),
                    *(_cell(forecast.of(_BY_KEY[key]), _BY_KEY[key].unit, simulation) for key, _ in traded),
                ],
            ),
        )
        for number, (forecast, quality) in enumerate(zip(simulation.forecasts, qualities, strict=True), 1)
    ]
    columns = (
        "no.#",
        # Can be broken on a narrow terminal.
        *("people available#" if path == WORKERS else f"{path.replace('.', ' ', 1)}#" for path in paths),
        "runs finished#",
        f"{measure}#",
        f"labels accepted ({', '.join(simulation.forecasts[0].final)})#",
        "cost#",
        *(f"{title}#" for _, title in traded),
    )
    means = "in one run" if len(simulation.seeds) == 1 else f"means ({_interval(simulation)})"
    return ScoreTable(f"Effect of each variation: {means}", columns, rows)


def qualities_of(simulation: Forecasts) -> tuple[str, list[ForecastEstimate | None]]:
    """The quality of each variation and its measure: accuracy of labels if known, or else quality of answers."""
    known = next((forecast.quality_of for forecast in simulation.forecasts if forecast.quality_of), None)
    made = next((forecast.answers_quality_of for forecast in simulation.forecasts if forecast.answers_quality_of), None)
    if known or not made:
        where = f" ({known})" if known else ""
        return f"accepted labels correct{where}", [forecast.quality for forecast in simulation.forecasts]
    return f"quality of answers ({made})", [forecast.answers_quality for forecast in simulation.forecasts]


def _starred(forecast: Forecast, cells: Sequence[str]) -> list[str]:
    star = UNFINISHED if forecast.finished < len(forecast.runs) else ""
    return [f"{cell}{star}" if cell else "" for cell in cells]


def _interval(simulation: Forecasts) -> str:
    runs = len(simulation.seeds)
    return f"middle 90% of {runs} runs" if runs >= forecasting.ENOUGH_RUNS else f"lowest–highest of {runs} runs"


def forecast_notes(simulation: Forecasts) -> list[str]:
    """Notes on a forecast."""
    notes = [*simulation.notes, *(f"{misfit}." for misfit in simulation.misfits)]
    for forecast in simulation.forecasts:
        prefix = f"with {forecast.variation.label}: " if forecast.variation.values else ""
        notes += [f"{prefix}{note}" for note in (*forecast.starved, *forecast.notes)]
    if any(forecast.finished < len(forecast.runs) for forecast in simulation.forecasts):
        star = f"{UNFINISHED} " if len(simulation.forecasts) > 1 else ""
        notes.append(f"{star}some runs did not finish: their numbers cover only the completed part.")
    notes += _about_wages(simulation)
    runs = [run for forecast in simulation.forecasts for run in forecast.runs]
    # Files that match nothing already have a note. Answers graded by people have a quality.
    is_known = any(
        forecasting.quality_stage(run) or any(stage.quality is not None for stage in run.stages) for run in runs
    )
    # Without complete items there is nothing to compare with correct answers.
    if not is_known and not simulation.misfits and any(stage.complete for run in runs for stage in run.stages):
        notes.append(
            "the forecast does not include the quality of labels, because no correct answers are known. Set "
            "`truth` in [stage.rehearsal] to a file of correct answers."
        )
    return notes + _about_quality(runs)


def _about_quality(runs: Sequence[Run]) -> list[str]:
    """A note on the quality of answers, if no correct answers are known."""
    stages = [stage for run in runs for stage in run.stages if stage.quality is not None and stage.accuracy is None]
    names = list(dict.fromkeys(stage.name for stage in stages))
    if not names:
        return []
    where = ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} stages"
    return [
        f"“quality of answers” compares answers with those of a perfect simulated worker. In {where}, no correct "
        "answers are known, so this measure does not predict the quality of the data."
    ]


def _about_wages(simulation: Forecasts) -> Iterator[str]:
    """A note on the share of people below the minimum wage, from 10% on."""
    shares = [underpaid.mean for forecast in simulation.forecasts if (underpaid := forecast.of(_BY_KEY["underpaid"]))]
    low = [share for share in shares if share >= LOW_PAID]
    if not low:
        return
    minimum = money_text(simulation.minimum_hourly, simulation.currency)
    less = f"{max(low):.0%} of people earn less than your minimum of {minimum} an hour"
    if len(simulation.forecasts) > 1:
        yield f"in {len(low)} of {len(simulation.forecasts)} variations, {'' if len(low) == 1 else 'up to '}{less}."
        return
    median = simulation.forecasts[0].of(_BY_KEY["wage"])
    if median is not None and median.mean < simulation.minimum_hourly:
        less += f"; the median is {money_text(round(median.mean), simulation.currency)}"
    yield f"{less}."


def forecast_latex(simulation: Forecasts) -> str:
    seeds = "-".join(str(seed) for seed in dict.fromkeys((simulation.seeds[0], simulation.seeds[-1])))
    return latex_document(
        forecast_tables(simulation),
        f"rehearsal|seeds:{seeds}|workers:{simulation.workers or 'varied'}|version:{__version__}",
    )


def runs_text(simulation: Forecasts) -> str:
    """The number of runs, their seeds and their number of people."""
    first, last = simulation.seeds[0], simulation.seeds[-1]
    runs = f"{len(simulation.seeds)} simulated runs (seeds {first} to {last})"
    if first == last:
        runs = f"One simulated run (seed {first})"
    return f"{runs}{' of each variation' if len(simulation.forecasts) > 1 else ''} with {simulation.people}"


def _with(forecast: Forecast) -> str:
    return f" with {forecast.variation.label}" if forecast.variation.values else ""


def _cell(estimate: ForecastEstimate | None, unit: str, simulation: Forecasts, *, interval: bool = False) -> str:
    if estimate is None:
        return ""
    mean, low, high = (
        measure_text(value, unit, simulation.currency) for value in (estimate.mean, estimate.low, estimate.high)
    )
    return f"{mean} ({low}–{high})" if interval and estimate.low != estimate.high else mean


def measure_text(value: float, unit: str, currency: str) -> str:
    """A number of a forecast or a study, formatted by its unit."""
    match unit:
        case "money":
            return money_text(round(value), currency)
        case "share":
            return f"{value:.1%}"
        case "hours":
            return f"{value:,.1f}"
        case "count":
            return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"
    return f"{value:,.2f}"
