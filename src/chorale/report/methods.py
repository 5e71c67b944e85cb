"""A paragraph for the methods section of a paper, every number in it computed."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chorale import __version__
from chorale.engine.running import Study
from chorale.model import money_text
from chorale.model.plural import plural
from chorale.monitor.costs import CostTerms
from chorale.monitor.status import Status
from chorale.report.protocol import gold_in_words, judgments_in_words


def methods_paragraph(
    study: Study,
    now: Status,
    costs: CostTerms,
    funnel: Mapping[str, Any],
    agreement: Mapping[str, Any],
    imported: Sequence[str] = (),
) -> str:
    """`imported` are the files that the work was imported from, if it was done elsewhere."""
    sentences = [
        _opening(study, now, funnel, imported),
        *_training(now, funnel["gates"]),
        *_stages(study, now),
        *_quality(study, now),
        *_agreement(agreement),
        *_money(study, now, costs),
    ]
    return " ".join(sentences)


def _opening(study: Study, now: Status, funnel: Mapping[str, Any], imported: Sequence[str]) -> str:
    judgments = plural(sum(one.judgments for one in now.stages), "judgment", "judgments")
    worked = plural(funnel["worked"], "person", "people")
    if imported:
        return (
            f"The data are {judgments} by {worked}, collected "
            f"elsewhere and imported into Chorale {__version__} from {', '.join(imported)}."
        )
    judging = len(now.stages) - len(now.rounds)
    did = f"collected {judgments} in {plural(judging, 'stage', 'stages')}"
    if not judging:
        did = f"had people go through {plural(len(now.rounds), 'round', 'rounds')}"
    experts = f", and {plural(funnel['experts'], 'expert', 'experts')}" if funnel["experts"] else ""
    return (
        f"We {did} with Chorale {__version__} (seed {study.settings.study.seed}); {worked} worked, of "
        f"{funnel['arrived']:,} who came{experts}."
    )


def _training(now: Status, gates: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Who went through rounds, and who was let on."""
    rounds = [
        f"{plural(stage.workers, 'person', 'people')} gave {plural(stage.answers, 'answer', 'answers')} to "
        f"{stage.name} ({plural(of.questions, 'question', 'questions')}), and {of.finished:,} finished it"
        for stage in now.stages
        if (of := now.rounds.get(stage.name)) is not None
    ]
    if rounds:
        yield f"In rounds with known answers, {'; '.join(rounds)}."
    decided = [
        f"{counts['passed']:,} of {counts['passed'] + counts['not_passed']:,} passed {name}"
        for name, counts in gates.items()
        if counts["passed"] + counts["not_passed"]
    ]
    if decided:
        yield f"At the gates, {'; '.join(decided)}."


def _stages(study: Study, now: Status) -> Iterator[str]:
    for counts in now.stages:
        stage = study.stage(counts.name)
        if stage.settings.round is not None:
            continue
        if not counts.items:
            yield f"No items came to {stage.name} ({stage.task.name})."
            continue
        made = f" made from {' and '.join(stage.settings.sources)}" if stage.settings.sources else ""
        released = f", and {counts.released:,} results were released" if not stage.settings.grades else ""
        yield (
            f"In {stage.name} ({stage.task.name}), each of {plural(counts.items, 'item', 'items')}{made} was to get "
            f"{judgments_in_words(stage.settings)}; {counts.complete:,} were completed, with {counts.judgments:,} that "
            f"count{released}."
        )


def _quality(study: Study, now: Status) -> Iterator[str]:
    checks = []
    if any(study.stage(one.name).settings.gold is not None for one in now.stages):
        met = plural(sum(one.gold_answers for one in now.stages), "answer", "answers")
        checks.append(f"with {met} to items with known answers")
    if any(study.stage(one.name).settings.quality is not None for one in now.stages):
        checks.append("by workers' agreement with each other (CrowdTruth)")
    dropped = sum(one.dropped for one in now.stages)
    discarded = sum(one.discarded for one in now.stages)
    if not checks and not dropped and not discarded:
        return
    how = f"Quality was checked {' and '.join(checks)}" if checks else "Quality was not checked by a rule"
    gone = f"{plural(dropped, 'time', 'times')} a worker was dropped from a stage" if dropped else "nobody was dropped"
    not_counted = f", and {plural(discarded, 'judgment', 'judgments')} did not count" if discarded else ""
    yield f"{how}; {gone}{not_counted}."
    rules: dict[tuple[str, str], list[str]] = defaultdict(list)
    for stage in now.stages:
        rule = study.stage(stage.name).settings.gold
        if rule is not None and rule.floor:
            rules[gold_in_words(rule)].append(stage.name)
    for stage in now.stages:
        measured = study.stage(stage.name).settings.quality
        if measured is not None and measured.floor is not None:
            yield (
                f"In {stage.name}, workers whose quality (WQS) was below {measured.floor:g} after {measured.after:,} "
                "judgments that others gave too were to be dropped."
            )
    for (of, too_low), names in rules.items():
        yield f"In {' and '.join(names)}, whoever's accuracy on {of} fell {too_low} was to be dropped."


def _agreement(agreement: Mapping[str, Any]) -> Iterator[str]:
    """Beyond chance where that is defined, and elsewhere by how alike answers are to the task."""
    known = [one for one in agreement.get("coefficients", ()) if one.get("value") is not None]
    if known:
        texts = [f"{_with_interval(one, one['coefficient'])} in {one['question']}" for one in known]
        yield f"Agreement was {'; '.join(texts)}."
    elif alike := agreement.get("by_distance", ()):
        texts = [f"{_with_interval(one)} in {': '.join(filter(None, (one['stage'], one['field'])))}" for one in alike]
        yield f"Agreement, as 1 less the mean distance of two answers to one item, was {'; '.join(texts)}."


def _with_interval(scored: Mapping[str, Any], coefficient: str = "") -> str:
    drawn = f"95% interval {scored['ci'][0]:.2f} to {scored['ci'][1]:.2f}" if scored.get("ci") else ""
    details = ", ".join(filter(None, (coefficient, drawn)))
    return f"{scored['value']:.2f} ({details})" if details else f"{scored['value']:.2f}"


def _money(study: Study, now: Status, costs: CostTerms) -> Iterator[str]:
    if not now.spent:
        return
    currency = study.settings.pay.currency
    fees = f", {money_text(now.totals['fee'], currency)} of it fees" if now.totals["fee"] else ""
    if now.totals["model"]:
        fees += f", {money_text(now.totals['model'], currency)} of it calls of models"
    each = ""
    if costs.per_result is not None:
        each = f", or {money_text(round(costs.per_result), currency)} for each of {costs.results:,} {costs.unit}s"
    yield f"The study cost {money_text(now.spent, currency)}{fees}{each}."
    if now.wage.median is not None:
        yield f"The median worker earned {money_text(now.wage.median, currency)} an hour."
