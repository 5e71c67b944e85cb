"""Scores of semantic role labelling: several systems side by side, as tables and as one object."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chorale.kits.srl.files import Corpus, FrameRelations, SenseInventory
from chorale.kits.srl.metrics import ERROR_COUNTS, MetricOutcome, Names, findings
from chorale.kits.srl.metrics.outcome import grouped
from chorale.kits.srl.metrics.wholes import CoreRoles, Mode
from chorale.kits.srl.scoring.inventory import inventory_table, outside_inventory
from chorale.kits.srl.scoring.outcomes import SrlOptions, metrics_for, mode_for, outcomes, remarks
from chorale.kits.srl.scoring.tables import RANKED_BY, ByName, OfName, System, tables_of
from chorale.metrics import Comparison, Counts, Interval, counts_metric, signature
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import jsonable
from chorale.metrics.signatures import Setting

_FRACTIONS = counts_metric()


def srl_scores(
    systems: Mapping[str, Corpus],
    gold: Corpus,
    options: SrlOptions,
    *,
    against: tuple[str, Corpus] | None,
    resampling: Resampling,
    worst: int,
    confusion: bool,
    relations: FrameRelations | None,
    inventory: SenseInventory | None = None,
) -> Score:
    """Scores every system on every metric."""
    rival_name, rival_corpus = against or ("", None)
    corpora = [*systems.values(), gold, *([] if rival_corpus is None else [rival_corpus])]
    metrics = metrics_for(options, corpora, relations)
    rival = None if rival_corpus is None else outcomes(rival_corpus, gold, metrics, options, relations)
    scored_systems: list[System] = []
    notes: list[str] = []
    for name, corpus in systems.items():
        scored = outcomes(corpus, gold, metrics, options, relations)
        scored_systems.append(_system(name, corpus, scored, rival, resampling))
        notes += remarks(corpus, gold, scored, options)
    inputs = {f"system/{name}": corpus.digest for name, corpus in systems.items()} | {"gold": gold.digest}
    if rival_corpus is not None:
        inputs["against"] = rival_corpus.digest
    if relations is not None and "semeval07" in metrics:
        notes += _about_frames(gold, relations)
        inputs["framenet"] = relations.digest
    notes += _about_clusters(gold, resampling, compared=against is not None)
    ranks = _ranks(scored_systems, metrics)
    mode = mode_for(options, corpora)
    listed = (
        {system.name: _worst(system, gold, mode, options.core, worst) for system in scored_systems} if worst else {}
    )
    json: dict[str, Any] = {
        "systems": {system.name: _system_json(system, listed, confusion=confusion) for system in scored_systems},
        "ranks": ranks,
        "gold": {"name": gold.name, "format": gold.format, "sentences": len(gold.sentences)},
    }
    if against is not None:
        json["against"] = {"name": rival_name, "systems": {each.name: _compared_json(each) for each in scored_systems}}
    settings = {**_settings(options, mode, metrics, corpora), "ci": resampling.ci}
    tables = tables_of(scored_systems, ranks, rival_name, listed, confusion=confusion)
    if inventory is not None:
        json["frame_files"] = outside_inventory({**systems, "gold": gold}, inventory)
        tables.append(inventory_table(json["frame_files"]))
        inputs["frame_files"] = inventory.digest
    values, around, tests = _by_full_name(scored_systems)
    main = next((name for name in values if name.endswith(f"{metrics[0]}.{_ranking_score(metrics[0])}")), "")
    return Score(
        json,
        tables,
        signature(f"srl/{'+'.join(metrics)}", settings | resampling.settings(compared=against is not None), inputs),
        list(dict.fromkeys(notes)),
        values=values,
        intervals=around,
        tests=tests,
        main=main,
    )


def _settings(options: SrlOptions, mode: Mode, metrics: Sequence[str], corpora: Sequence[Corpus]) -> dict[str, Setting]:
    """Options for the signature."""
    of_primesrl: dict[str, Setting] = {
        "mode": mode,
        "primesrl": "program" if options.program else "paper",
        "core": str(options.core),
    }
    return {
        **(of_primesrl if "primesrl" in metrics else {}),
        "predicates": options.predicates,
        "spans": "apart" if options.apart else "joined",
        "formats": tuple(dict.fromkeys(corpus.format for corpus in corpora)),
    }


def _by_full_name(
    systems: Sequence[System],
) -> tuple[dict[str, float | None], dict[str, Interval], dict[str, Comparison]]:
    """Scores, intervals and comparisons. Names start with the metric, and with the system if there are several."""
    values: dict[str, float | None] = {}
    around: dict[str, Interval] = {}
    tests: dict[str, Comparison] = {}
    for system in systems:
        before = "" if len(systems) == 1 else f"{system.name}: "
        for metric, outcome in system.outcomes.items():
            values |= {f"{before}{metric}.{score}": value for score, value in outcome.scores().items()}
            around |= {f"{before}{metric}.{score}": one for score, one in system.intervals.get(metric, {}).items()}
            tests |= {f"{before}{metric}.{score}": one for score, one in system.compared.get(metric, {}).items()}
    return values, around, tests


def _ranking_score(metric: str) -> str:
    """The score that systems are ranked by."""
    return f"{RANKED_BY[metric]}.f1".lstrip(".")


def _about_clusters(gold: Corpus, resampling: Resampling, *, compared: bool) -> list[str]:
    sentences = [str(number) for number in range(1, len(gold.sentences) + 1)]
    noted = resampling.notes(sentences, compared=compared)
    return [f"{note} Tables by role have no intervals with --cluster." for note in noted]


def _about_frames(gold: Corpus, relations: FrameRelations) -> list[str]:
    senses = {each.sense for sentence in gold.sentences for each in sentence.predicates}
    unknown = senses - relations.known
    if not unknown:
        return []
    of_all = f"{len(unknown):,} of {len(senses):,} senses of {gold.name}"
    are = "is not a frame" if len(unknown) == 1 else "are not frames"
    return [f"semeval07: {of_all} {are} of FrameNet (e.g. {min(unknown)})."]


def _system(
    name: str,
    corpus: Corpus,
    scored: Mapping[str, MetricOutcome],
    rival: Mapping[str, MetricOutcome] | None,
    resampling: Resampling,
) -> System:
    system = System(name, corpus, scored)
    errors = scored["primesrl"].errors if "primesrl" in scored else None
    if resampling.ci:
        system.intervals = {
            metric: resampling.intervals(outcome.statistics, outcome.metric) for metric, outcome in scored.items()
        }
        if resampling.clusters is None:
            system.table_intervals = _drawn_tables(scored, resampling)
        if errors is not None:
            system.error_intervals = resampling.intervals(errors, ERROR_COUNTS)
    if rival is not None:
        system.compared = {
            metric: resampling.compare(outcome.statistics, rival[metric].statistics, outcome.metric)
            for metric, outcome in scored.items()
        }
        if resampling.clusters is None:
            system.table_compared = _compared_tables(scored, rival, resampling)
        if errors is not None and (theirs := rival["primesrl"].errors) is not None:
            system.error_compared = resampling.compare(errors, theirs, ERROR_COUNTS)
    return system


def _drawn_tables(
    outcomes: Mapping[str, MetricOutcome], resampling: Resampling
) -> dict[str, ByName[Mapping[str, Interval]]]:
    """Confidence intervals for each fraction in the tables of each metric."""

    def drawn(names: Names, _metric: str, _table: str) -> dict[str, Mapping[str, Interval]]:
        return {name: resampling.tally_intervals(tally, _FRACTIONS) for name, tally in names.tallies().items()}

    return _of_tables(outcomes, resampling, drawn)


def _compared_tables(
    outcomes: Mapping[str, MetricOutcome], rival: Mapping[str, MetricOutcome], resampling: Resampling
) -> dict[str, ByName[Mapping[str, Comparison]]]:
    def compared(names: Names, metric: str, table: str) -> dict[str, Mapping[str, Comparison]]:
        both = names.tallies_beside(rival[metric].names[table])
        return {name: resampling.tally_compare(tally, _FRACTIONS) for name, tally in both.items()}

    return _of_tables(outcomes, resampling, compared)


def _of_tables(
    outcomes: Mapping[str, MetricOutcome], resampling: Resampling, find: Callable[[Names, str, str], dict[str, OfName]]
) -> dict[str, ByName[OfName]]:
    by_metric: dict[str, dict[str, Mapping[str, OfName]]] = {}
    tables = sum(len(outcome.names) for outcome in outcomes.values())
    for metric, outcome in outcomes.items():
        # Both metrics count semantics in the same way, so either can be used.
        twin = {"conll08": "conll09", "conll09": "conll08"}.get(metric)
        if twin in by_metric:
            by_metric[metric] = by_metric[twin]
            continue
        by_metric[metric] = {}
        for table, names in outcome.names.items():
            by_metric[metric][table] = find(names, metric, table)
            if resampling.progress:
                resampling.progress(sum(map(len, by_metric.values())), tables)
    return {**by_metric}


def _ranks(systems: Sequence[System], metrics: Sequence[str]) -> dict[str, dict[str, int]]:
    """Ranks from 1 (best). Equal scores share a rank."""
    ranks = {}
    for metric in metrics:
        score = _ranking_score(metric)
        scores = {system.name: system.outcomes[metric].scores()[score] for system in systems}
        ranks[metric] = {name: 1 + sum(other > own for other in scores.values()) for name, own in scores.items()}
    return ranks


def _worst(system: System, gold: Corpus, mode: Mode, core: CoreRoles, count: int) -> list[dict[str, Any]]:
    """The sentences with the most errors by the first metric, with their errors."""
    wrong = next(iter(system.outcomes.values())).wrong.tolist()
    order = sorted(range(len(wrong)), key=lambda index: (-wrong[index], index))[:count]
    return [
        {
            "sentence": index + 1,
            "line": gold.sentences[index].line,
            "wrong": wrong[index],
            "text": gold.sentences[index].text,
            "errors": [
                {"kind": kind, "predicate": position + 1, "gold": expected, "system": answer}
                for kind, position, expected, answer in findings(
                    system.corpus.sentences[index], gold.sentences[index], mode, core
                )
            ],
        }
        for index in order
        if wrong[index]
    ]


# JSON


def _system_json(system: System, worst: Mapping[str, list[dict[str, Any]]], *, confusion: bool) -> dict[str, Any]:
    json: dict[str, Any] = {}
    for name, outcome in system.outcomes.items():
        json[name] = _outcome_json(name, outcome, confusion=confusion)
        if name in system.intervals:
            json[name]["ci"] = jsonable(system.intervals[name])
        for table, names in system.table_intervals.get(name, {}).items():
            for label, counts in json[name][table].items():
                counts["ci"] = jsonable(names[label])
        if "errors" in json[name] and system.error_intervals:
            json[name]["errors"]["ci"] = grouped(jsonable(system.error_intervals))
    if system.name in worst:
        json["worst"] = worst[system.name]
    return json


def _compared_json(system: System) -> dict[str, Any]:
    json: dict[str, Any] = {
        metric: {**jsonable(compared), "tables": _tables_json(system.table_compared.get(metric, {}))}
        for metric, compared in system.compared.items()
    }
    if system.error_compared:
        json["primesrl"]["errors"] = grouped(jsonable(system.error_compared))
    return json


def _tables_json(by_table: ByName[Mapping[str, Comparison]]) -> dict[str, Any]:
    return {table: {name: jsonable(scores) for name, scores in names.items()} for table, names in by_table.items()}


def _outcome_json(name: str, outcome: MetricOutcome, *, confusion: bool) -> dict[str, Any]:
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
    if confusion and outcome.confusion:
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
