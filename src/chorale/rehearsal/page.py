"""Forecasts as one page with charts: people by stage, cost over time, quality against cost."""

from collections.abc import Callable
from html import escape

from chorale.metrics.score_html import html_table
from chorale.model import money_text
from chorale.present.html import html_figure, html_page
from chorale.present.svg import PAGE_STYLE, Axis, Bar, Curve, Point, bar_chart, curve_chart, point_chart
from chorale.rehearsal import Forecast, ForecastEstimate, Forecasts, forecasting
from chorale.rehearsal.tables import detailed_tables, forecast_notes, qualities_of, runs_text, trade_off_table

MOST_IN_DETAIL = 12
_OF_RUN = {measure.key: measure for measure in forecasting.OF_RUNS}
_OF_STAGE = {measure.key: measure for measure in forecasting.OF_STAGES}
_OF_GATE = {measure.key: measure for measure in forecasting.OF_GATES}
_KEPT_AND_LOST = (
    ("entered", "entered"),
    ("dropped", "removed"),
    ("left", "left"),
    ("gave_up", "gave up waiting"),
    ("cut_off", "cut off"),
    ("finished", "finished"),
)


def forecast_page(simulation: Forecasts) -> str:
    """A standalone HTML file, without scripts or external resources."""
    several = len(simulation.forecasts) > 1
    parts = [
        f"<h1>Simulation: {escape(simulation.title)}</h1>",
        f"<p>{runs_text(simulation)}{_intervals_hold(simulation)}. {_how_people_err(simulation)}</p>",
    ]
    if notes := forecast_notes(simulation):
        parts.append("<ul>" + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>")
    if several:
        parts.append(html_table(trade_off_table(simulation)))
    parts.append(_quality_against_cost(simulation))
    for number, forecast in enumerate(simulation.forecasts[:MOST_IN_DETAIL], 1):
        if several:
            parts.append(f"<h2>{number}. {escape(forecast.variation.label)}</h2>")
        parts += [html_table(table) for table in detailed_tables(simulation, forecast)]
        parts.append(html_figure("People by stage", _funnel(forecast)))
        parts.append(html_figure("Cost over time, one line per run", _cost_curves(simulation, forecast)))
    if len(simulation.forecasts) > MOST_IN_DETAIL:
        parts.append(f"<p>The first {MOST_IN_DETAIL} variations are shown in detail.</p>")
    return html_page(f"Simulation: {simulation.title}", _STYLE + PAGE_STYLE, "\n".join(parts))


def _how_people_err(simulation: Forecasts) -> str:
    if simulation.difficulty:
        return (
            f"Item difficulty has a spread of {simulation.difficulty:g} in log-odds, so simulated people err together "
            "on hard items. They do not share misunderstandings as real people may."
        )
    return "Simulated people err independently. Real people err together on hard items, so real results can be worse."


def _intervals_hold(simulation: Forecasts) -> str:
    if len(simulation.seeds) == 1:
        return ""
    return (
        ". Intervals contain nine in ten runs"
        if len(simulation.seeds) >= forecasting.ENOUGH_RUNS
        else ". Intervals contain all runs"
    )


def _funnel(forecast: Forecast) -> str:
    bars = []
    for key, label in (("arrived", "joined"), ("active", "worked")):
        bars += _bar(label, forecast.of(_OF_RUN[key]), faint=False)
    for name in forecast.stages:
        for key, label in _KEPT_AND_LOST:
            estimate = forecast.of_stage(name, _OF_STAGE[key])
            # If nobody leaves, there is nothing to show.
            if key in ("entered", "finished") or (estimate is not None and estimate.high):
                bars += _bar(f"{name}: {label}", estimate, faint=key != "entered")
        for gate in forecast.runs[0].gates:
            if gate.after == name:
                bars += _bar(f"{gate.name}: passed", forecast.of_gate(gate.name, _OF_GATE["passed"]), faint=False)
                undecided = forecast.of_gate(gate.name, _OF_GATE["undecided"])
                if undecided is not None and undecided.high:
                    bars += _bar(f"{gate.name}: no decision", undecided, faint=True)
    title = "Number of people who joined the study, entered and finished its stages, and passed the gates after them"
    return bar_chart(title, bars, lambda value: f"{value:,.1f}".removesuffix(".0"))


def _bar(label: str, estimate: ForecastEstimate | None, *, faint: bool) -> list[Bar]:
    return [] if estimate is None else [Bar(label, estimate.mean, estimate.low, estimate.high, faint=faint)]


def _cost_curves(simulation: Forecasts, forecast: Forecast) -> str:
    curves = [Curve("", run.curve, faint=True) for run in forecast.runs if run.curve]
    hours, cost = Axis("hours since the first person joined", zero=True), Axis(shown=_money(simulation), zero=True)
    return curve_chart("Cost over time", curves, hours, cost)


def _quality_against_cost(simulation: Forecasts) -> str:
    """A chart with a point for each run, each variation, or each arm of a trial."""
    measure, points = (
        ("quality of answers, arm by arm", _of_arms(simulation))
        if simulation.forecasts[0].arms
        else _of_variations(simulation)
    )
    if not points:
        return ""
    cost = "cost of an answer" if simulation.forecasts[0].arms else "cost"
    title = f"Quality against cost: {measure}"
    quality = Axis("quality", lambda share: f"{share:.0%}")
    return html_figure(title, point_chart(title, points, Axis(cost, _money(simulation)), quality))


def _of_arms(simulation: Forecasts) -> list[Point]:
    by_key = {measure.key: measure for measure in forecasting.OF_ARMS}
    points = []
    for number, forecast in enumerate(simulation.forecasts, 1):
        for arm in forecast.arms:
            cost, quality = (forecast.of_arm(arm, by_key[key]) for key in ("cost_per_answer", "quality"))
            points += _point(cost, quality, arm if len(simulation.forecasts) == 1 else f"{number} {arm}")
    return points


def _of_variations(simulation: Forecasts) -> tuple[str, list[Point]]:
    if len(simulation.forecasts) > 1:
        measure, estimates = qualities_of(simulation)
        points = []
        for number, (forecast, quality) in enumerate(zip(simulation.forecasts, estimates, strict=True), 1):
            points += _point(forecast.of(_OF_RUN["cost"]), quality, str(number))
        return measure, points
    [forecast] = simulation.forecasts
    # Accuracy against known correct answers takes precedence.
    if forecast.quality is not None:
        pairs = [
            (run.cost, stage.released_accuracy) for run in forecast.runs if (stage := forecasting.quality_stage(run))
        ]
        measure = f"accepted labels correct ({forecast.quality_of})"
    else:
        pairs = [(run.cost, made[1]) for run in forecast.runs if (made := forecasting.quality_of_answers(run))]
        measure = f"quality of answers ({forecast.answers_quality_of})"
    return measure, [Point(cost, quality) for cost, quality in pairs if quality is not None]


def _point(cost: ForecastEstimate | None, quality: ForecastEstimate | None, label: str) -> list[Point]:
    if cost is None or quality is None:
        return []
    return [Point(cost.mean, quality.mean, label, (cost.low, cost.high), (quality.low, quality.high))]


def _money(simulation: Forecasts) -> Callable[[float], str]:
    return lambda amount: money_text(round(amount), simulation.currency)


_STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5b6676; --line: #d5dbe3; --back: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --soft: #a3adbb; --line: #3a4452; --back: #14181f; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
.wide { overflow-x: auto; margin: 1.5rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
caption, figcaption { text-align: left; font-weight: 600; padding: 0.3rem 0; }
th, td { padding: 0.2rem 0.8rem 0.2rem 0; border-bottom: 1px solid var(--line); white-space: pre; }
th { color: var(--soft); font-weight: 500; vertical-align: bottom; } th, td.number { white-space: normal; }
.interval { white-space: nowrap; } .text { text-align: left; } .number { text-align: right; }
figure { margin: 1.5rem 0; } figure .wide { margin: 0; }
svg { display: block; }
footer { color: var(--soft); font-size: 0.85rem; margin-top: 3rem; }
@media print {
  :root { --ink: #000; --soft: #444; --line: #bbb; --back: #fff; }
  body { margin: 0; max-width: none; font-size: 10pt; } figure, table { break-inside: avoid; }
}
"""
