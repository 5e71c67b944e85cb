"""Scores of semantic role labelling: several systems side by side, as tables and as one object."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chorale.kits.srl.files import Corpus, FrameRelations
from chorale.kits.srl.metrics import ERROR_COUNTS, MetricOutcome, findings
from chorale.kits.srl.metrics.outcome import grouped
from chorale.kits.srl.metrics.wholes import Mode
from chorale.kits.srl.scoring.names import compared_tables, drawn_tables, tables_json
from chorale.kits.srl.scoring.outcomes import SrlOptions, metrics_for, mode_for, outcomes, remarks
from chorale.kits.srl.scoring.tables import RANKED_BY, System, tables_of
from chorale.metrics import Comparison, Counts, Interval, signature
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import jsonable


@dataclass(frozen=True, slots=True)
class ExtraTables:
    """What to show beside the scores."""

    worst: int = 0
    confusion: bool = False


def srl_scores(
    systems: Mapping[str, Corpus],
    gold: Corpus,
    options: SrlOptions,
    *,
    against: tuple[str, Corpus] | None = None,
    resampling: Resampling | None = None,
    shown: ExtraTables | None = None,
    relations: FrameRelations | None = None,
) -> Score:
    """Score every system under every metric."""
    resampling, shown = resampling or Resampling(), shown or ExtraTables()
    others = [] if against is None else [against[1]]
    corpora = [*systems.values(), gold, *others]
    metrics = metrics_for(options, corpora, relations)
    rival = None if against is None else outcomes(against[1], gold, metrics, options, relations)
    scored_systems: list[System] = []
    notes: list[str] = []
    for name, corpus in systems.items():
        scored = outcomes(corpus, gold, metrics, options, relations)
        scored_systems.append(_system(name, corpus, scored, rival, resampling))
        notes += remarks(corpus, gold, scored, options)
    if relations is not None and "semeval07" in metrics:
        notes += _about_frames(gold, relations)
    ranks = _ranks(scored_systems, metrics)
    mode = mode_for(options, corpora)
    worst = {system.name: _worst(system, gold, mode, shown.worst) for system in scored_systems} if shown.worst else {}
    json: dict[str, Any] = {
        "systems": {system.name: _system_json(system, shown, worst.get(system.name)) for system in scored_systems},
        "ranks": ranks,
        "gold": {"name": gold.name, "format": gold.format, "sentences": len(gold.sentences)},
    }
    if against is not None:
        json["against"] = {
            "name": against[0],
            "systems": {system.name: _compared_json(system) for system in scored_systems},
        }
    rival_name = "" if against is None else against[0]
    tables = tables_of(scored_systems, ranks, rival_name, worst, confusion=shown.confusion)
    frames = relations.digest if relations is not None and "semeval07" in metrics else None
    line = _signature(
        scored_systems, gold, options, resampling, metrics, mode, None if against is None else against[1], frames
    )
    values: dict[str, float | None] = {}
    around: dict[str, Interval] = {}
    tests: dict[str, Comparison] = {}
    for system in scored_systems:
        before = "" if len(scored_systems) == 1 else f"{system.name}: "
        for metric, outcome in system.outcomes.items():
            values |= {f"{before}{metric}.{score}": value for score, value in outcome.scores().items()}
            around |= {f"{before}{metric}.{score}": one for score, one in system.intervals.get(metric, {}).items()}
            tests |= {f"{before}{metric}.{score}": one for score, one in system.compared.get(metric, {}).items()}
    main = next((name for name in values if name.endswith(f"{metrics[0]}.{_ranking_score(metrics[0])}")), "")
    return Score(
        json, tables, line, list(dict.fromkeys(notes)), values=values, intervals=around, tests=tests, main=main
    )


def _ranking_score(metric: str) -> str:
    """The score that systems are ranked by."""
    return f"{RANKED_BY[metric]}.f1".lstrip(".")


def _signature(
    scored_systems: Sequence[System],
    gold: Corpus,
    options: SrlOptions,
    resampling: Resampling,
    metrics: Sequence[str],
    mode: Mode,
    rival: Corpus | None,
    frames: str | None,
) -> str:
    corpora = [*(system.corpus for system in scored_systems), gold, *([] if rival is None else [rival])]
    settings = {
        "mode": mode if "primesrl" in metrics else None,
        "predicates": options.predicates,
        "spans": "apart" if options.apart else "joined",
        "formats": tuple(dict.fromkeys(corpus.format for corpus in corpora)),
        "ci": resampling.ci,
        **resampling.settings(compared=rival is not None),
    }
    inputs = {f"system/{system.name}": system.corpus.digest for system in scored_systems} | {"gold": gold.digest}
    if rival is not None:
        inputs |= {"against": rival.digest}
    if frames is not None:
        inputs |= {"framenet": frames}
    return signature(f"srl/{'+'.join(metrics)}", settings, inputs)


def _about_frames(gold: Corpus, relations: FrameRelations) -> list[str]:
    senses = {each.sense for sentence in gold.sentences for each in sentence.predicates}
    unknown = senses - relations.known
    if not unknown:
        return []
    example = min(unknown)
    return [
        f"semeval07: {len(unknown):,} of {len(senses):,} senses of {gold.name} are no frames of FrameNet ({example})."
    ]


def _system(
    name: str,
    corpus: Corpus,
    scored: Mapping[str, MetricOutcome],
    rival: Mapping[str, MetricOutcome] | None,
    resampling: Resampling,
) -> System:
    drawn, compared = {}, {}
    if resampling.ci:
        drawn = {metric: resampling.intervals(outcome.statistics, outcome.metric) for metric, outcome in scored.items()}
    if rival is not None:
        compared = {
            metric: resampling.compare(outcome.statistics, rival[metric].statistics, outcome.metric)
            for metric, outcome in scored.items()
        }
    return System(
        name,
        corpus,
        scored,
        drawn,
        compared,
        drawn_tables(scored, resampling) if resampling.ci else {},
        {} if rival is None else compared_tables(scored, rival, resampling),
        _drawn_errors(scored, resampling) if resampling.ci else {},
        {} if rival is None else _compared_errors(scored, rival, resampling),
    )


def _drawn_errors(scored: Mapping[str, MetricOutcome], resampling: Resampling) -> dict[str, Interval]:
    counted = [one.errors for one in scored.values() if one.errors is not None]
    return resampling.intervals(counted[0], ERROR_COUNTS) if counted else {}


def _compared_errors(
    scored: Mapping[str, MetricOutcome], rival: Mapping[str, MetricOutcome], resampling: Resampling
) -> dict[str, Comparison]:
    both = [(one.errors, rival[name].errors) for name, one in scored.items()]
    for ours, theirs in both:
        if ours is not None and theirs is not None:
            return resampling.compare(ours, theirs, ERROR_COUNTS)
    return {}


def _ranks(systems: Sequence[System], metrics: Sequence[str]) -> dict[str, dict[str, int]]:
    """1 is best; equal scores share a rank."""
    ranks = {}
    for metric in metrics:
        score = _ranking_score(metric)
        scores = {system.name: system.outcomes[metric].scores()[score] for system in systems}
        ranks[metric] = {name: 1 + sum(other > own for other in scores.values()) for name, own in scores.items()}
    return ranks


def _worst(system: System, gold: Corpus, mode: Mode, count: int) -> list[dict[str, Any]]:
    """The sentences with most mistakes, by the first metric, and what they are."""
    first = next(iter(system.outcomes.values()))
    order = sorted(range(len(first.wrong)), key=lambda index: (-int(first.wrong[index]), index))[:count]
    listed = []
    for index in order:
        if not first.wrong[index]:
            break
        theirs, ours = system.corpus.sentences[index], gold.sentences[index]
        errors = [
            {"kind": kind, "predicate": position + 1, "gold": expected, "system": answer}
            for kind, position, expected, answer in findings(theirs, ours, mode)
        ]
        listed.append(
            {
                "sentence": index + 1,
                "line": ours.line,
                "wrong": int(first.wrong[index]),
                "text": ours.text,
                "errors": errors,
            }
        )
    return listed


# JSON


def _system_json(system: System, shown: ExtraTables, worst: list[dict[str, Any]] | None) -> dict[str, Any]:
    json: dict[str, Any] = {}
    for name, outcome in system.outcomes.items():
        json[name] = _outcome_json(name, outcome, shown)
        if name in system.intervals:
            json[name]["ci"] = jsonable(system.intervals[name])
        for table, names in system.table_intervals.get(name, {}).items():
            for label, counts in json[name][table].items():
                counts["ci"] = jsonable(names[label])
        if "errors" in json[name] and system.error_intervals:
            json[name]["errors"]["ci"] = grouped(jsonable(system.error_intervals))
    if worst is not None:
        json["worst"] = worst
    return json


def _compared_json(system: System) -> dict[str, Any]:
    json: dict[str, Any] = {
        metric: {**jsonable(compared), "tables": tables_json(system.table_compared[metric])}
        for metric, compared in system.compared.items()
    }
    if system.error_compared:
        json["primesrl"]["errors"] = grouped(jsonable(system.error_compared))
    return json


def _outcome_json(name: str, outcome: MetricOutcome, shown: ExtraTables) -> dict[str, Any]:
    json: dict[str, Any] = {}
    for score, value in outcome.scores().items():
        group, _, last = score.rpartition(".")
        (json.setdefault(group, {}) if group else json)[last] = value
    totals = {column: _number(value) for column, value in outcome.totals().items()}
    if name == "conll05":
        json |= {column: totals[column] for column in ("correct", "excess", "missed", "propositions")}
        json["perfect_propositions"] = totals["perfect"]
    else:
        json["counts"] = totals
    for table, counts in outcome.tables.items():
        json[table] = {label: _counts_json(name, one) for label, one in counts.items()}
    if outcome.errors is not None:
        json["errors"] = outcome.tallies
    if shown.confusion and outcome.confusion:
        matrix: dict[str, dict[str, int]] = {}
        for (expected, given), count in sorted(outcome.confusion.items()):
            matrix.setdefault(expected, {})[given] = count
        json["confusion"] = matrix
    return json


def _counts_json(metric: str, counts: Counts) -> dict[str, float]:
    json = counts.as_dict()
    if metric != "conll05":
        return json
    names = {"tp": "correct", "fp": "excess", "fn": "missed"}
    return {names.get(key, key): value for key, value in json.items()}


def _number(value: float) -> int | float:
    return int(value) if value == int(value) else value
