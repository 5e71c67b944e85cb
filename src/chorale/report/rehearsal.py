"""Forecasts as people want them: tables for a terminal or a paper, and one page with pictures."""

from collections.abc import Sequence
from html import escape

from chorale import __version__
from chorale.model import money_text
from chorale.rehearsal import Estimate, Forecast, Forecasts
from chorale.rehearsal.forecasting import (
    ENOUGH_RUNS,
    OF_ARMS,
    OF_GATES,
    OF_RUNS,
    OF_STAGES,
    PEOPLE_IN_STAGES,
    RESULTS_OF_STAGES,
    WORK_OF_STAGES,
    Measure,
    quality_stage,
)
from chorale.rehearsal.varying import WORKERS, shown
from chorale.report.html import html_table
from chorale.report.scoring import ScoreTable, latex_document
from chorale.report.svg import Bar, Point, Shown, bar_chart, line_chart, point_chart

MOST_IN_DETAIL = 12
_BY_KEY = {measure.key: measure for measure in OF_RUNS}
_OF_STAGE = {measure.key: measure for measure in OF_STAGES}
_QUALITY = "released results right"
# What a trade-off is about, beside what was varied.
_TRADED = (
    ("cost_per_result", "cost of a result"),
    ("wage", "an hour pays"),
    ("hours", "hours"),
    ("active", "people who worked"),
    ("needed", "people needed"),
)
UNFINISHED = "*"


# Rows that are left out where there is nothing of the kind.
_IF_ANY = frozenset({"finishing", "bonus", "fee", "found_nothing"})
_WITH_INTERVAL = frozenset({*(measure.key for measure in RESULTS_OF_STAGES), "cost"})


def forecast_tables(told: Forecasts) -> list[ScoreTable]:
    """What to expect; of several variations, what each would change."""
    if len(told.forecasts) > 1:
        return [trade_off_table(told)]
    [forecast] = told.forecasts
    return _in_detail(told, forecast)


def _in_detail(told: Forecasts, forecast: Forecast) -> list[ScoreTable]:
    return [
        study_table(told, forecast),
        *_arms(told, forecast),
        *stage_tables(told, forecast),
        *_gates(told, forecast),
    ]


def study_table(told: Forecasts, forecast: Forecast) -> ScoreTable:
    rows: list[tuple[str, ...]] = []
    for measure in OF_RUNS:
        found = forecast.of(measure)
        if measure.key == "finished":
            rows.append((measure.title, f"{forecast.finished} of {len(forecast.runs)}", ""))
        elif found is not None and (measure.key not in _IF_ANY or found.high):
            low, high = (_shown(value, measure.unit, told.currency) for value in (found.low, found.high))
            title = measure.title
            if measure.key == "cost_per_result":
                title += f" ({', '.join(forecast.final)})"
            rows.append((title, _cell(found, measure.unit, told), low if low == high else f"{low}–{high}"))
    title, columns = f"Forecast of the study{_with(forecast)}", ("", "mean#", f"{_interval(told)}#")
    if len(told.seeds) == 1:
        # One run has no interval, and is no mean.
        return ScoreTable(title, ("", "in one run#"), [row[:2] for row in rows])
    return ScoreTable(title, columns, rows)


def stage_tables(told: Forecasts, forecast: Forecast) -> list[ScoreTable]:
    """A row for each stage: a study may have many. In several tables, since there is much to say about each."""
    several = (
        ("Results of its stages", RESULTS_OF_STAGES),
        ("Work in its stages", WORK_OF_STAGES),
        ("People in its stages", PEOPLE_IN_STAGES),
    )
    tables = (_of_stages(title, measures, told, forecast) for title, measures in several)
    return [table for table in tables if table.rows]


def _of_stages(title: str, measures: Sequence[Measure], told: Forecasts, forecast: Forecast) -> ScoreTable:
    found = {
        name: [
            _cell(forecast.of_stage(name, measure), measure.unit, told, interval=measure.key in _WITH_INTERVAL)
            for measure in measures
        ]
        for name in forecast.stages
    }
    # Nothing is known of the results of some stages, and some kinds of thing happen in no stage at all.
    used = [
        number for number in range(len(measures)) if any(cells[number] not in ("", "0") for cells in found.values())
    ]
    rows = [(name, *(cells[number] for number in used)) for name, cells in found.items()]
    rows = [row for row in rows if any(row[1:])]
    columns = ("stage", *(f"{measures[number].title}#" for number in used))
    means = "" if len(told.seeds) == 1 else f": means ({_interval(told)})"
    return ScoreTable(f"{title}{_with(forecast)}{means}", columns, rows)


def _arms(told: Forecasts, forecast: Forecast) -> list[ScoreTable]:
    """What comes of each arm, in a study that has some."""
    if not forecast.arms:
        return []
    rows = [
        (
            name,
            *(
                _cell(forecast.of_arm(name, measure), measure.unit, told, interval=measure.key in _WITH_INTERVAL)
                for measure in OF_ARMS
            ),
        )
        for name in forecast.arms
    ]
    columns = ("arm", *(f"{measure.title}#" for measure in OF_ARMS))
    means = "" if len(told.seeds) == 1 else f": means ({_interval(told)})"
    return [ScoreTable(f"Forecast of its arms{_with(forecast)}{means}", columns, rows)]


def _gates(told: Forecasts, forecast: Forecast) -> list[ScoreTable]:
    """Who passes the gates, in a study that has some."""
    if not forecast.gates:
        return []
    rows = [
        (name, *(_cell(forecast.of_gate(name, measure), measure.unit, told, interval=True) for measure in OF_GATES))
        for name in forecast.gates
    ]
    columns = ("gate", *(f"{measure.title}#" for measure in OF_GATES))
    return [ScoreTable(f"Forecast of its gates{_with(forecast)}", columns, rows)]


def trade_off_table(told: Forecasts) -> ScoreTable:
    """A row for each variation. What comes of runs that did not finish has a star."""
    paths = list(told.forecasts[0].variation.values)
    quality_of = next((forecast.quality_of for forecast in told.forecasts if forecast.quality_of), None)
    asked = any(run.needed is not None for forecast in told.forecasts for run in forecast.runs)
    traded = [(key, title) for key, title in _TRADED if key != "needed" or asked]
    rows = [
        (
            str(number),
            *(shown(forecast.variation.values[path]) for path in paths),
            f"{forecast.finished} of {len(forecast.runs)}",
            *_starred(
                forecast,
                [
                    _cell(forecast.quality, "share", told, interval=True),
                    _cell(forecast.released, "share", told),
                    _cell(forecast.of(_BY_KEY["cost"]), "money", told, interval=True),
                    *(_cell(forecast.of(_BY_KEY[key]), _BY_KEY[key].unit, told) for key, _ in traded),
                ],
            ),
        )
        for number, forecast in enumerate(told.forecasts, 1)
    ]
    columns = (
        "#",
        # Breaks in two where a terminal is narrow.
        *("people who may come#" if path == WORKERS else f"{path.replace('.', ' ', 1)}#" for path in paths),
        "runs finished#",
        f"released right{f' ({quality_of})' if quality_of else ''}#",
        f"released ({', '.join(told.forecasts[0].final)})#",
        "cost#",
        *(f"{title}#" for _, title in traded),
    )
    means = "in one run" if len(told.seeds) == 1 else f"means ({_interval(told)})"
    return ScoreTable(f"What each variation would change: {means}", columns, rows)


def _starred(forecast: Forecast, cells: Sequence[str]) -> list[str]:
    star = UNFINISHED if forecast.finished < len(forecast.runs) else ""
    return [f"{cell}{star}" if cell else "" for cell in cells]


def _interval(told: Forecasts) -> str:
    runs = len(told.seeds)
    return "90% interval" if runs >= ENOUGH_RUNS else f"of {runs} runs: lowest–highest"


def forecast_notes(told: Forecasts) -> list[str]:
    """What the reader of a forecast should know beside it."""
    notes = [*told.notes, *(f"{misfit}." for misfit in told.misfits)]
    for forecast in told.forecasts:
        prefix = f"with {forecast.variation.label}: " if forecast.variation.values else ""
        notes += [f"{prefix}{note}" for note in (*forecast.starved, *forecast.notes)]
    if any(forecast.finished < len(forecast.runs) for forecast in told.forecasts):
        star = f"{UNFINISHED} " if len(told.forecasts) > 1 else ""
        notes.append(f"{star}some runs did not finish: their numbers are of what was done until then.")
    wages = [forecast.of(_BY_KEY["low_wage"]) for forecast in told.forecasts]
    low = sum(wage is not None and wage.mean < told.minimum_hourly for wage in wages)
    if low:
        where = "" if len(wages) == 1 else f" in {low} of {len(wages)} variations"
        minimum = money_text(told.minimum_hourly, told.currency)
        notes.append(f"one worker in ten earns less than your minimum of {minimum} an hour{where}.")
    runs = [run for forecast in told.forecasts for run in forecast.runs]
    # Where a file fits nothing, that was said; where people grade each other's answers, these have a quality.
    is_told = any(quality_stage(run) or any(stage.quality is not None for stage in run.stages) for run in runs)
    if not is_told and not told.misfits:
        notes.append(
            "nothing is known of the right answers, so nothing is said about quality: give stages a truth file "
            "([stage.rehearsal] truth = …)."
        )
    return notes


def forecast_latex(told: Forecasts) -> str:
    seeds = "-".join(str(seed) for seed in dict.fromkeys((told.seeds[0], told.seeds[-1])))
    return latex_document(
        forecast_tables(told), f"rehearsal|seeds:{seeds}|workers:{told.workers or 'varied'}|version:{__version__}"
    )


def forecast_page(told: Forecasts) -> str:
    """One HTML file with everything in it: no scripts, nothing to load."""
    several = len(told.forecasts) > 1
    parts = [
        f"<h1>Rehearsal: {escape(told.title)}</h1>",
        f"<p>{runs_told(told)}{_intervals_hold(told)}. "
        "Simulated people err one by one; real ones err together on hard items, so results of a real crowd can be "
        "worse than these.</p>",
    ]
    if notes := forecast_notes(told):
        parts.append("<ul>" + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>")
    if several:
        parts.append(html_table(trade_off_table(told)))
    parts.append(_figure("Quality against cost", _quality_against_cost(told)))
    for number, forecast in enumerate(told.forecasts[:MOST_IN_DETAIL], 1):
        if several:
            parts.append(f"<h2>{number}. {escape(forecast.variation.label)}</h2>")
        parts += [html_table(table) for table in _in_detail(told, forecast)]
        parts.append(_figure("Who came and who stayed", _funnel(forecast)))
        parts.append(_figure("What had been spent when, a line for each run", _cost_curves(told, forecast)))
    if len(told.forecasts) > MOST_IN_DETAIL:
        parts.append(f"<p>The first {MOST_IN_DETAIL} variations are shown in detail.</p>")
    return _PAGE.format(title=escape(told.title), style=_STYLE, body="\n".join(parts), version=escape(__version__))


def runs_told(told: Forecasts) -> str:
    """How often the study was rehearsed, with which seeds and with how many people."""
    first, last = told.seeds[0], told.seeds[-1]
    runs = f"{len(told.seeds)} simulated runs (seeds {first} to {last})"
    if first == last:
        runs = f"One simulated run (seed {first})"
    return f"{runs}{' of each variation' if len(told.forecasts) > 1 else ''} with {told.people}"


def _intervals_hold(told: Forecasts) -> str:
    if len(told.seeds) == 1:
        return ""
    return ". Intervals hold nine runs in ten" if len(told.seeds) >= ENOUGH_RUNS else ". Intervals hold all of them"


def _funnel(forecast: Forecast) -> str:
    bars = []
    for key, label in (("arrived", "came"), ("active", "worked")):
        bars += _bar(label, forecast.of(_BY_KEY[key]), stronger=True)
    for name in forecast.stages:
        for key, label in (("entered", "entered"), ("dropped", "dropped"), ("left", "left"), ("finished", "finished")):
            found = forecast.of_stage(name, _OF_STAGE[key])
            # Where nobody is lost, there is nothing to see.
            if key in ("entered", "finished") or (found is not None and found.high):
                bars += _bar(f"{name}: {label}", found, stronger=key == "entered")
    for name in forecast.gates:
        bars += _bar(f"{name}: passed", forecast.of_gate(name, OF_GATES[0]), stronger=True)
    title = "How many people came, entered each stage, and finished it"
    return bar_chart(title, bars, lambda value: f"{value:,.1f}".removesuffix(".0"))


def _bar(label: str, found: Estimate | None, *, stronger: bool) -> list[Bar]:
    return [] if found is None else [Bar(label, found.mean, found.low, found.high, stronger)]


def _cost_curves(told: Forecasts, forecast: Forecast) -> str:
    lines = [run.curve for run in forecast.runs if run.curve]
    return line_chart("Cost over time", lines, "hours since the first arrival", _money(told))


def _quality_against_cost(told: Forecasts) -> str:
    title = f"Quality ({_QUALITY}) against cost"
    if len(told.forecasts) > 1:
        points = []
        for number, forecast in enumerate(told.forecasts, 1):
            cost, quality = forecast.of(_BY_KEY["cost"]), forecast.quality
            if cost is not None and quality is not None:
                ranges = (cost.low, cost.high), (quality.low, quality.high)
                points.append(Point(cost.mean, quality.mean, str(number), *ranges))
    else:
        found = [(run.cost, quality_stage(run)) for run in told.forecasts[0].runs]
        points = [
            Point(cost, stage.released_accuracy)
            for cost, stage in found
            if stage is not None and stage.released_accuracy is not None
        ]
    if not points:
        return ""
    return point_chart(title, points, "cost", _money(told), lambda share: f"{share:.0%}")


def _money(told: Forecasts) -> Shown:
    return lambda amount: money_text(round(amount), told.currency)


def _figure(caption: str, picture: str) -> str:
    return f"<figure><figcaption>{escape(caption)}</figcaption>{picture}</figure>" if picture else ""


def _with(forecast: Forecast) -> str:
    return f" with {forecast.variation.label}" if forecast.variation.values else ""


def _cell(found: Estimate | None, unit: str, told: Forecasts, *, interval: bool = False) -> str:
    if found is None:
        return ""
    mean = _shown(found.mean, unit, told.currency)
    if not interval or found.low == found.high:
        return mean
    return f"{mean} ({_shown(found.low, unit, told.currency)}–{_shown(found.high, unit, told.currency)})"


def _shown(value: float, unit: str, currency: str) -> str:
    match unit:
        case "money":
            return money_text(round(value), currency)
        case "share":
            return f"{value:.1%}"
        case "hours":
            return f"{value:,.1f}"
        case "count":
            return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"
    return f"{value:.2f}"


_STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5b6676; --line: #d5dbe3; --back: #fff; --mark: #2b6cb0; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --soft: #a3adbb; --line: #3a4452; --back: #14181f; --mark: #7db3ea; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
.wide { overflow-x: auto; margin: 1.5rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
caption, figcaption { text-align: left; font-weight: 600; padding: 0.3rem 0; }
th, td { padding: 0.2rem 0.8rem 0.2rem 0; border-bottom: 1px solid var(--line); white-space: pre; }
th { color: var(--soft); font-weight: 500; } .text { text-align: left; } .number { text-align: right; }
figure { margin: 1.5rem 0; } svg { width: 100%; max-width: 44rem; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
.bar { fill: var(--mark); opacity: 0.45; } .strong { opacity: 0.9; } .range { stroke: var(--ink); stroke-width: 1.5; }
.grid { stroke: var(--line); } .axis { stroke: var(--soft); } .point { fill: var(--mark); }
.curve { fill: none; stroke: var(--mark); stroke-width: 1.5; opacity: 0.6; }
footer { color: var(--soft); font-size: 0.85rem; margin-top: 3rem; }
@media print {
  :root { --ink: #000; --soft: #444; --line: #bbb; --back: #fff; --mark: #2b6cb0; }
  body { margin: 0; max-width: none; font-size: 10pt; } figure, table { break-inside: avoid; }
  .bar, .point, .curve { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Rehearsal: {title}</title>
<style>{style}</style>
</head>
<body>
{body}
<footer>Made by chorale {version}.</footer>
</body>
</html>
"""
